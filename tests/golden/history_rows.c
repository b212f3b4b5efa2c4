/* history_rows.c - see history_rows.h. Everything that a row can have is in one of them. */
#include "golden/history_rows.h"

#include <stdio.h>

#include "history/payload.h"

static const paua_history_link LINKS[2] = {
    {.uri = "https://example.com/a", .uri_nbytes = 21},
    {.uri = "file:///b", .uri_nbytes = 9, .id = "id-1", .id_nbytes = 4},
};

static const paua_history_style STYLES[6] = {
    {0},
    {.foreground = PAUA_HISTORY_INDEXED(1)},
    {.background = PAUA_HISTORY_RGB(1, 2, 3), .attributes = PAUA_HISTORY_BOLD},
    {.link = 1, .attributes = PAUA_HISTORY_UNDERLINE_CURLY},
    {.link = 2, .underline_colour = PAUA_HISTORY_RGB(255, 0, 128)},
    {.foreground = PAUA_HISTORY_INDEXED(255), .attributes = PAUA_HISTORY_INVERSE},
};

static void append(paua_history *h, paua_history_new_row *row)
{
    row->size = sizeof *row;
    row->styles = STYLES;
    row->style_count = 6;
    row->links = LINKS;
    row->link_count = 2;
    assert_ok(paua_history_append(h, row, 1, NULL, &test_err));
}

/* Text in runs; ids with gaps from row 200 on, times from row 240 on. */
static void append_text(paua_history *h, uint32_t i)
{
    static const char *const WORDS[] = {"plain", "\xE4\xB8\x96\xE7\x95\x8C", "e\xCC\x81t\xC3\xA9",
                                        "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x8C\xBE", "end"};
    char text[120];
    paua_history_run runs[3];
    int nbytes = snprintf(text, sizeof text, "row %u %s and %s", i, WORDS[i % 5], WORDS[i / 5 % 5]);
    paua_history_new_row row = {.width = i % 7 == 0 ? 100 : 80,
                                .text = text,
                                .text_nbytes = (size_t)nbytes,
                                .soft = i % 11 == 0,
                                .id = i < 200 ? 0 : 1000 + 3 * (uint64_t)i,
                                .time_ms = i < 240 ? 0 : 1000000 + 17 * (int64_t)i};

    for (uint16_t r = 0; r < 3; r++)
        runs[r] = (paua_history_run){.nbytes = 4, .style = (uint16_t)((i + r) % 6)};
    row.runs = runs;
    row.run_count = i % 3 == 0 ? 0 : 3;
    append(h, &row);
}

/* Cells that the width rule would cut or size otherwise, and columns behind the content. */
static void append_cells(paua_history *h, uint32_t i)
{
    static const char TEXT[] = "e\xCC\x81";
    paua_history_cell cells[5] = {
        {.codepoint = 'e', .text_at = 0, .text_nbytes = 3, .width = 1, .style = 3},
        {.codepoint = 0x754C, .width = 1},
        {.codepoint = 'x', .width = 2, .style = 2},
        {.width = 0},
        {.codepoint = ' ', .width = 1},
    };
    paua_history_new_row row = {.width = 80,
                                .cells = cells,
                                .cell_count = 5,
                                .text = TEXT,
                                .text_nbytes = 3,
                                .end = 4,
                                .id = i < 200 ? 0 : 1000 + 3 * (uint64_t)i,
                                .time_ms = i < 240 ? 0 : 1000000 + 17 * (int64_t)i};

    append(h, &row);
}

paua_history *golden_history(void)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = GOLDEN_PAGE_ROWS});

    for (uint32_t i = 0; i < GOLDEN_ROWS; i++) {
        if (i % 13 == 5)
            append_cells(h, i);
        else
            append_text(h, i);
    }
    test_idle_twice(h);
    return h;
}

void golden_payload(paua_history *h, size_t at, struct writer *payload)
{
    struct block *block;
    uint16_t ids[64];

    if (at < history_page_count(h)) {
        assert_int_equal(page_pin(h->list->pages[h->list->first + at], false, &block), PAUA_OK);
    } else {
        block = block_ref(history_tail_block(h));
    }
    assert_true(block->style_count + block->link_count + 1 <= 64);
    payload_encode(block, 0, ids, payload);
    assert_false(payload->failed);
    block_unref(block);
}
