/* match.c - which rows of a column pass a test: one value, all chunks, and patches over them.
 *
 * Chunks are matched one after the other into their words of the bitmap (match_chunk.c); rows past
 * the column's are NULL; patched rows then get the answer for their new value. */
#include "column/match.h"

#include <string.h>

#include "base/memory.h"
#include "column/matching.h"

size_t range_at(const struct column_test *test, uint64_t key)
{
    size_t first = 0, end = test->range_count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (test->ranges[middle].high < key)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static bool in_set(const struct column_test *test, const uint8_t *data, size_t nbytes)
{
    size_t first = 0, end = test->set_count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const paua_bytes *member = &test->set[middle];
        int order = bytes_compare(member->data, member->nbytes, data, nbytes);

        if (order == 0) return true;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return false;
}

static bool between(const struct column_test *test, const uint8_t *data, size_t nbytes)
{
    int order;

    if (test->low.data != NULL) {
        order = bytes_compare(data, nbytes, test->low.data, test->low.nbytes);
        if (order < 0 || (order == 0 && test->low_open)) return false;
    }
    if (test->high.data == NULL) return true;
    order = bytes_compare(data, nbytes, test->high.data, test->high.nbytes);
    return order < 0 || (order == 0 && !test->high_open);
}

bool bytes_pass(const struct column_test *test, const uint8_t *data, size_t nbytes)
{
    switch (test->kind) {
    case TEST_BYTES:
        return between(test, data, nbytes);
    case TEST_SET:
        return in_set(test, data, nbytes) != test->negated;
    case TEST_CALL:
        return test->call(test->arg, data, nbytes);
    default:
        return false;
    }
}

bool test_passes(const struct column_test *test, const struct cell *cell)
{
    size_t i;

    if (test->kind == TEST_NULL) return !cell->present;
    if (!cell->present) return false;
    if (test->kind == TEST_NOT_NULL) return true;
    if (test->kind != TEST_KEYS) return bytes_pass(test, cell->data, cell->nbytes);
    i = range_at(test, cell->key);
    return i < test->range_count && test->ranges[i].low <= cell->key;
}

void match_scratch_free(struct match_scratch *scratch)
{
    mem_free(scratch->codes);
    *scratch = (struct match_scratch){0};
}

static void set_bit(uint64_t *bitmap, uint32_t row, bool pass)
{
    uint64_t bit = UINT64_C(1) << row % 64;

    bitmap[row / 64] = pass ? bitmap[row / 64] | bit : bitmap[row / 64] & ~bit;
}

/* Rows from `first` on: NULL. */
static void match_nulls(const struct column_test *test, uint32_t first, uint32_t rows,
                        uint64_t *bitmap)
{
    size_t begin = ((size_t)first + 63) / 64, end = ((size_t)rows + 63) / 64;

    if (first >= rows) return;
    if (first % 64 != 0 && test->kind == TEST_NULL)
        bitmap[first / 64] |= ~UINT64_C(0) << first % 64;
    if (begin < end)
        memset(bitmap + begin, test->kind == TEST_NULL ? 0xFF : 0,
               (end - begin) * sizeof bitmap[0]);
    if (rows % 64 != 0) bitmap[end - 1] &= (UINT64_C(1) << rows % 64) - 1;
}

static paua_status match_chunks(struct matching *m, uint32_t rows, uint64_t *bitmap)
{
    uint32_t done = 0;

    for (uint32_t i = 0; i < m->view->chunk_count && done < rows; i++) {
        const struct column_chunk *chunk = &m->view->chunks[i];
        uint32_t n = chunk->rows < rows - done ? chunk->rows : rows - done;
        paua_status status = PAUA_OK;

        if (n > 0) status = matching_chunk(m, chunk, n, bitmap + done / 64);
        if (status != PAUA_OK) return status;
        done += n;
    }
    match_nulls(m->test, done, rows, bitmap);
    return PAUA_OK;
}

void column_match_patches(const struct patches *patches, uint32_t field,
                          const struct column_test *test, uint32_t rows, uint64_t *bitmap)
{
    uint32_t count = patches_field_count(patches, field);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = patches_row(patches, field, i);
        struct cell cell;

        if (row >= rows) return;
        patches_cell(patches, field, i, &cell);
        set_bit(bitmap, row, test_passes(test, &cell));
    }
}

paua_status column_match(const struct column_view *view, const struct patches *patches,
                         uint32_t field, const struct column_test *test, uint32_t rows,
                         uint64_t *bitmap, struct match_scratch *scratch)
{
    struct matching m = {
        .view = view, .test = test, .kernels = packed_kernels(), .scratch = scratch};
    paua_status status = PAUA_OK;

    if (view == NULL)
        match_nulls(test, 0, rows, bitmap);
    else
        status = match_chunks(&m, rows, bitmap);
    if (status == PAUA_OK) column_match_patches(patches, field, test, rows, bitmap);
    return status;
}
