/* view.c - reading a column row by row.
 *
 * Many rows at a time: codes are unpacked into an array first, and where the dictionary is small
 * its values are looked up once, not for every row. */
#include "column/view.h"

#include <assert.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "column/chunk.h"
#include "column/pool.h"

#define STEP 256u       /* rows at a time */
#define VALUES_MAX 256u /* a small dictionary */

uint32_t value_hash(const uint8_t *data, size_t nbytes)
{
    uint32_t hash = (uint32_t)XXH3_64bits(data, nbytes);

    return hash != 0 ? hash : 1;
}

uint32_t width_for(uint64_t span)
{
    for (uint32_t width = 1; width <= 32; width *= 2)
        if (span < code_max(width)) return width;
    return 0;
}

uint32_t sparse_entry(const struct column_chunk *chunk, uint32_t at)
{
    uint32_t first = 0, end = chunk->entries;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;

        if (sparse_place(chunk, middle) < at)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

bool chunk_key(const struct column_chunk *chunk, uint32_t at, uint64_t *key)
{
    uint32_t code, index;

    assert(chunk->kind != CHUNK_UNREPEATED);
    if (at >= chunk->rows) return false;
    switch (chunk->kind) {
    case CHUNK_SPARSE:
        index = sparse_entry(chunk, at);
        if (index == chunk->entries || sparse_place(chunk, index) != at) return false;
        *key = sparse_key(chunk, index);
        return true;
    case CHUNK_PACKED:
        code = packed_get(chunk->codes, chunk->width, at);
        *key = chunk->base + code - 1;
        return code != 0;
    case CHUNK_RAW:
        *key = packed_load64(chunk->codes + 8 * (size_t)at);
        return raw_present(chunk, at);
    default:
        *key = chunk->least;
        return chunk->least <= chunk->most;
    }
}

static uint64_t end_of(const struct column_chunk *chunk, uint32_t at)
{
    return chunk->end_nbytes == 8 ? packed_load64(chunk->ends + 8 * (size_t)at)
                                  : packed_load32(chunk->ends + 4 * (size_t)at);
}

void chunk_bytes(const struct column_view *view, const struct column_chunk *chunk, uint32_t at,
                 const uint8_t **data, size_t *nbytes)
{
    uint64_t begin;

    if (chunk->bytes == NULL) {
        pool_value(view->blocks, packed_load32(chunk->ends + 4 * (size_t)at), data, nbytes);
        return;
    }
    begin = at > 0 ? end_of(chunk, at - 1) : 0;
    *data = chunk->bytes + begin;
    *nbytes = (size_t)(end_of(chunk, at) - begin);
}

void cell_of_key(const struct column_view *view, uint64_t key, struct cell *cell)
{
    const struct dictionary_view *d = &view->dictionary;

    *cell = (struct cell){.present = true};
    if (type_is_number(view->type))
        cell->key = key;
    else
        d->value(d->owner, (uint32_t)key - 1, &cell->data, &cell->nbytes);
}

static void unrepeated_cell(const struct column_view *view, const struct column_chunk *chunk,
                            uint32_t at, struct cell *cell)
{
    *cell = (struct cell){0};
    if (packed_load32(chunk->hashes + 4 * (size_t)at) == 0) return;
    cell->present = true;
    chunk_bytes(view, chunk, at, &cell->data, &cell->nbytes);
}

void column_cell(const struct column_view *view, uint32_t row, struct cell *cell)
{
    uint32_t index = row / COLUMN_CHUNK_ROWS, at = row % COLUMN_CHUNK_ROWS;
    const struct column_chunk *chunk = &view->chunks[index];
    uint64_t key;

    if (index >= view->chunk_count || at >= chunk->rows)
        *cell = (struct cell){0};
    else if (chunk->kind == CHUNK_UNREPEATED)
        unrepeated_cell(view, chunk, at, cell);
    else if (chunk_key(chunk, at, &key))
        cell_of_key(view, key, cell);
    else
        *cell = (struct cell){0};
}

static void unpack(const struct column_chunk *chunk, uint32_t first, uint32_t n, uint32_t *codes)
{
    for (uint32_t i = 0; i < n; i++)
        codes[i] = packed_get(chunk->codes, chunk->width, first + i);
}

/* With a constant width the compiler leaves one lookup and one copy a row. */
static inline __attribute__((always_inline)) void copy_values(const uint8_t *codes, uint32_t width,
                                                              uint32_t first, uint32_t n,
                                                              const struct cell *values,
                                                              struct cell *cells)
{
    for (uint32_t i = 0; i < n; i++)
        cells[i] = values[packed_get(codes, width, first + i)];
}

/* By a table of the dictionary's values: for one that is small. */
static void packed_by_table(const struct column_view *view, const struct column_chunk *chunk,
                            uint32_t first, uint32_t n, struct cell *cells)
{
    struct cell values[VALUES_MAX + 1];

    values[0] = (struct cell){0};
    for (uint32_t i = 0; i < view->dictionary.count; i++)
        cell_of_key(view, i + 1, &values[i + 1]);
    switch (chunk->width) {
    case 1:
        copy_values(chunk->codes, 1, first, n, values, cells);
        return;
    case 2:
        copy_values(chunk->codes, 2, first, n, values, cells);
        return;
    case 4:
        copy_values(chunk->codes, 4, first, n, values, cells);
        return;
    case 8:
        copy_values(chunk->codes, 8, first, n, values, cells);
        return;
    default:
        copy_values(chunk->codes, chunk->width, first, n, values, cells);
    }
}

static void packed_cells(const struct column_view *view, const struct column_chunk *chunk,
                         uint32_t first, uint32_t n, struct cell *cells)
{
    bool numbers = type_is_number(view->type);
    uint32_t codes[STEP];

    if (!numbers && view->dictionary.count <= VALUES_MAX && view->dictionary.count * 2 <= n) {
        packed_by_table(view, chunk, first, n, cells);
        return;
    }
    for (uint32_t done = 0; done < n; done += STEP) {
        uint32_t step = n - done < STEP ? n - done : STEP;

        unpack(chunk, first + done, step, codes);
        for (uint32_t i = 0; i < step; i++) {
            if (codes[i] == 0)
                cells[done + i] = (struct cell){0};
            else
                cell_of_key(view, chunk->base + codes[i] - 1, &cells[done + i]);
        }
    }
}

static void sparse_cells(const struct column_view *view, const struct column_chunk *chunk,
                         uint32_t first, uint32_t n, struct cell *cells)
{
    uint32_t index = sparse_entry(chunk, first);

    memset(cells, 0, n * sizeof cells[0]);
    for (; index < chunk->entries && sparse_place(chunk, index) < first + n; index++)
        cell_of_key(view, sparse_key(chunk, index), &cells[sparse_place(chunk, index) - first]);
}

static void chunk_cells(const struct column_view *view, const struct column_chunk *chunk,
                        uint32_t first, uint32_t n, struct cell *cells)
{
    struct cell cell = {0};

    switch (chunk->kind) {
    case CHUNK_CONSTANT:
        if (chunk->least <= chunk->most) cell_of_key(view, chunk->least, &cell);
        for (uint32_t i = 0; i < n; i++)
            cells[i] = cell;
        return;
    case CHUNK_SPARSE:
        sparse_cells(view, chunk, first, n, cells);
        return;
    case CHUNK_PACKED:
        packed_cells(view, chunk, first, n, cells);
        return;
    case CHUNK_RAW:
        for (uint32_t i = 0; i < n; i++)
            cells[i] =
                raw_present(chunk, first + i)
                    ? (struct cell){.present = true,
                                    .key = packed_load64(chunk->codes + 8 * (size_t)(first + i))}
                    : cell;
        return;
    case CHUNK_UNREPEATED:
        for (uint32_t i = 0; i < n; i++)
            unrepeated_cell(view, chunk, first + i, &cells[i]);
        return;
    }
}

void column_cells(const struct column_view *view, uint32_t first, uint32_t n, struct cell *cells)
{
    while (n > 0) {
        uint32_t index = first / COLUMN_CHUNK_ROWS, at = first % COLUMN_CHUNK_ROWS;
        uint32_t rows = index < view->chunk_count ? view->chunks[index].rows : 0;
        uint32_t step = n;

        if (at < rows && step > rows - at) step = rows - at;
        if (at >= rows && step > COLUMN_CHUNK_ROWS - at) step = COLUMN_CHUNK_ROWS - at;
        if (at < rows)
            chunk_cells(view, &view->chunks[index], at, step, cells);
        else
            memset(cells, 0, step * sizeof cells[0]);
        first += step;
        cells += step;
        n -= step;
    }
}
