/* reader.c - reading a column's rows as values, in rising order, many at a time. See reader.h.
 *
 * Cost  A row of a packed chunk with a small dictionary: one lookup and one copy. A sparse chunk
 *       costs its entries, and one comparison a call. */
#include "column/reader.h"

#include <assert.h>

#include "column/chunk.h"

#define STEP 128u /* rows whose cells are made before their values */

static const paua_value null_value = {.type = PAUA_TYPE_NULL};

void column_reader_begin(struct column_reader *reader, const struct column_view *view)
{
    reader->view = view;
    reader->chunk = UINT32_MAX;
    reader->entry = 0;
    reader->has_table = false;
}

static bool table_make(struct column_reader *reader)
{
    const struct column_view *view = reader->view;

    if (reader->has_table) return true;
    if (type_is_number(view->type) || view->dictionary.count > READER_VALUES_MAX) return false;
    reader->table[0] = null_value;
    for (uint32_t i = 1; i <= view->dictionary.count; i++) {
        struct cell cell;

        cell_of_key(view, i, &cell);
        reader->table[i] = value_of_cell(view->type, &cell);
    }
    reader->has_table = true;
    return true;
}

static paua_value value_of_key(const struct column_reader *reader, uint64_t key)
{
    struct cell cell;

    if (reader->has_table) return reader->table[key];
    cell_of_key(reader->view, key, &cell);
    return value_of_cell(reader->view->type, &cell);
}

/* With a constant width the compiler leaves one lookup and one copy a row. */
static inline __attribute__((always_inline)) void spread(const uint8_t *codes, uint32_t width,
                                                         uint32_t first, uint32_t n,
                                                         const paua_value *table,
                                                         paua_value *values, size_t stride)
{
    for (uint32_t i = 0; i < n; i++)
        values[i * stride] = table[packed_get(codes, width, (size_t)first + i)];
}

/* The most usual width: two codes a byte. */
static void spread_halves(const uint8_t *codes, uint32_t n, const paua_value *table,
                          paua_value *values, size_t stride)
{
    for (uint32_t i = 0; i + 1 < n; i += 2, values += 2 * stride) {
        uint8_t both = codes[i / 2];

        values[0] = table[both & 15];
        values[stride] = table[both >> 4];
    }
    if (n % 2 != 0) values[0] = table[codes[n / 2] & 15];
}

static void spread_packed(const struct column_chunk *chunk, uint32_t at, uint32_t n,
                          const paua_value *table, paua_value *values, size_t stride)
{
    if (chunk->width == 4 && at % 2 == 0)
        spread_halves(chunk->codes + at / 2, n, table, values, stride);
    else if (chunk->width == 2)
        spread(chunk->codes, 2, at, n, table, values, stride);
    else
        spread(chunk->codes, chunk->width, at, n, table, values, stride);
}

static void spread_cells(const struct column_view *view, uint32_t first, uint32_t n,
                         paua_value *values, size_t stride)
{
    struct cell cells[STEP];

    for (uint32_t done = 0; done < n; done += STEP) {
        uint32_t step = n - done < STEP ? n - done : STEP;

        column_cells(view, first + done, step, cells);
        for (uint32_t i = 0; i < step; i++)
            values[(done + i) * stride] = value_of_cell(view->type, &cells[i]);
    }
}

static void spread_one(const paua_value *value, uint32_t n, paua_value *values, size_t stride)
{
    for (uint32_t i = 0; i < n; i++)
        values[i * stride] = *value;
}

/* The first entry of a sparse chunk that is not before row `at`: mostly where the last one was. */
static uint32_t entry_at(struct column_reader *reader, uint32_t index, uint32_t at)
{
    const struct column_chunk *chunk = &reader->view->chunks[index];

    if (reader->chunk == index &&
        (reader->entry == 0 || sparse_place(chunk, reader->entry - 1) < at) &&
        (reader->entry == chunk->entries || sparse_place(chunk, reader->entry) >= at))
        return reader->entry;
    reader->chunk = index;
    return sparse_entry(chunk, at);
}

/* Entries of a sparse chunk that are of rows at .. at + n - 1, values[i * stride] being that of the
 * i-th one, or, with `rows` NULL, of the i-th row. */
static uint32_t take_sparse(struct column_reader *reader, uint32_t index, uint32_t at, uint32_t n,
                            uint16_t *rows, paua_value *values, size_t stride)
{
    const struct column_chunk *chunk = &reader->view->chunks[index];
    uint32_t entry = entry_at(reader, index, at), count = 0;

    for (; entry < chunk->entries; entry++) {
        uint32_t row = sparse_place(chunk, entry) - at;

        if (row >= n) break;
        values[(rows == NULL ? row : count) * stride] =
            value_of_key(reader, sparse_key(chunk, entry));
        if (rows != NULL) rows[count] = (uint16_t)row;
        count++;
    }
    reader->entry = entry;
    return count;
}

static void chunk_values(struct column_reader *reader, uint32_t index, uint32_t at, uint32_t n,
                         paua_value *values, size_t stride)
{
    const struct column_chunk *chunk = &reader->view->chunks[index];
    paua_value value = null_value;

    if (chunk->kind == CHUNK_CONSTANT) {
        if (chunk->least <= chunk->most) value = value_of_key(reader, chunk->least);
        spread_one(&value, n, values, stride);
    } else if (chunk->kind == CHUNK_SPARSE) {
        spread_one(&value, n, values, stride);
        take_sparse(reader, index, at, n, NULL, values, stride);
    } else if (chunk->kind == CHUNK_PACKED && table_make(reader)) {
        spread_packed(chunk, at, n, reader->table, values, stride);
    } else {
        spread_cells(reader->view, index * COLUMN_CHUNK_ROWS + at, n, values, stride);
    }
}

/* A part of rows that lies in one chunk, or past all rows of one. */
struct piece {
    uint32_t index, at, n;
    bool exists;
};

static struct piece piece_at(const struct column_view *view, uint32_t row, uint32_t n)
{
    struct piece p = {.index = row / COLUMN_CHUNK_ROWS, .at = row % COLUMN_CHUNK_ROWS};
    uint32_t rows = p.index < view->chunk_count ? view->chunks[p.index].rows : 0;
    uint32_t left = p.at < rows ? rows - p.at : COLUMN_CHUNK_ROWS - p.at;

    p.exists = p.at < rows;
    p.n = n < left ? n : left;
    return p;
}

void column_reader_values(struct column_reader *reader, uint32_t first, uint32_t n,
                          paua_value *values, size_t stride)
{
    for (uint32_t done = 0; done < n;) {
        struct piece p = piece_at(reader->view, first + done, n - done);

        if (p.exists)
            chunk_values(reader, p.index, p.at, p.n, values + done * stride, stride);
        else
            spread_one(&null_value, p.n, values + done * stride, stride);
        done += p.n;
    }
}

/* Any chunk but a sparse one. */
static uint32_t take_present(struct column_reader *reader, const struct piece *p, uint16_t *rows,
                             paua_value *values)
{
    paua_value some[STEP];
    uint32_t count = 0;

    for (uint32_t done = 0; done < p->n; done += STEP) {
        uint32_t step = p->n - done < STEP ? p->n - done : STEP;

        chunk_values(reader, p->index, p->at + done, step, some, 1);
        for (uint32_t i = 0; i < step; i++) {
            if (some[i].type == PAUA_TYPE_NULL) continue;
            rows[count] = (uint16_t)(done + i);
            values[count++] = some[i];
        }
    }
    return count;
}

uint32_t column_reader_present(struct column_reader *reader, uint32_t first, uint32_t n,
                               uint16_t *rows, paua_value *values)
{
    uint32_t count = 0;

    assert(n <= COLUMN_CHUNK_ROWS);
    for (uint32_t done = 0; done < n;) {
        struct piece p = piece_at(reader->view, first + done, n - done);
        uint32_t found = 0;

        if (p.exists && reader->view->chunks[p.index].kind == CHUNK_SPARSE) {
            table_make(reader);
            found = take_sparse(reader, p.index, p.at, p.n, rows + count, values + count, 1);
        } else if (p.exists) {
            found = take_present(reader, &p, rows + count, values + count);
        }
        for (uint32_t i = 0; i < found; i++)
            rows[count + i] = (uint16_t)(rows[count + i] + done);
        count += found;
        done += p.n;
    }
    return count;
}
