/* fuzz_payload.c - pages' rows: the first byte is their number less one. What is accepted must
 * encode to the very bytes it came from, every cluster of it must be readable, and its text found.
 * */
#include "fuzz.h"

#include "history/payload.h"

static void read_through(const struct block *b)
{
    static paua_history_cell cells[PAUA_HISTORY_COLUMNS_MAX];

    for (uint32_t i = 0; i < b->row_count; i++) {
        paua_history_row row;
        uint32_t count;

        block_row(b, i, &row);
        count = paua_history_row_cells(&row, cells, PAUA_HISTORY_COLUMNS_MAX);
        FUZZ_REQUIRE(row.columns <= row.width && row.end <= row.columns && count == row.width);
        for (uint32_t c = 0; c < count; c++)
            FUZZ_REQUIRE(cells[c].style < row.style_count);
    }
}

static void require_same(const struct block *b, const uint8_t *data, size_t size)
{
    uint16_t *ids = malloc((b->style_count + b->link_count + 1) * sizeof *ids);
    struct writer w = {0};

    FUZZ_REQUIRE(ids != NULL);
    payload_encode(b, 0, ids, &w);
    FUZZ_REQUIRE(!w.failed && w.length == size && memcmp(w.bytes, data, size) == 0);
    writer_free(&w);
    free(ids);
}

/* Text of any row is found, in what was accepted; in what was not, nothing happens. */
static void look_for_text(const struct block *b, const uint8_t *data, size_t size)
{
    struct writer plain = {0};
    struct sought sought = {.text = "x", .nbytes = 1, .any_case = size % 2 == 0};

    if (b == NULL) payload_may_contain(data, size, &sought, &plain);
    sought.any_case = false;
    for (uint32_t i = 0; b != NULL && i < b->row_count; i++) {
        sought.text = b->text + block_text_begin(b, i);
        sought.nbytes = block_text_end(b, i) - block_text_begin(b, i);
        if (sought.nbytes > 0) FUZZ_REQUIRE(payload_may_contain(data, size, &sought, &plain));
    }
    writer_free(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const paua_history_allocator plain;
    struct heap *heap;
    struct builder rows;
    uint8_t *copy;

    if (size == 0) return 0;
    heap = heap_make(&plain, NULL);
    FUZZ_REQUIRE(heap != NULL);
    copy = fuzz_copy(data + 1, size - 1);
    builder_init(&rows, heap);
    if (payload_decode(copy, size - 1, data[0] + 1u, 1, 5, &rows) == PAUA_OK) {
        struct block *b = builder_block(&rows, heap);

        FUZZ_REQUIRE(b != NULL);
        read_through(b);
        require_same(b, copy, size - 1);
        look_for_text(b, copy, size - 1);
        block_unref(b);
    } else {
        look_for_text(NULL, copy, size - 1);
    }
    builder_free(&rows);
    heap_unref(heap);
    free(copy);
    return 0;
}
