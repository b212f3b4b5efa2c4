/* column.c - one field of rows that are being added.
 *
 * A byte string gets a code from the dictionary, and codes go into chunks as numbers do. Once more
 * than half of a chunk's 4,096 or more values came new with it, its rows keep places in the pool
 * instead, and the dictionary forgets what this chunk brought: values that do not repeat cost their
 * bytes, a length, a place and a hash. Each chunk begins anew with the dictionary, so that a column
 * whose nature changes is not held to its beginning.
 *
 * Rows that are put together have all their codes looked up first, which lets the processor work
 * on several at once. Rows that are taken back take along the codes that no other row has, and,
 * back to a mark, their bytes in the pool.
 *
 * Invariants  Codes above a chunk's first_code are used by that chunk and later ones only. What
 *             rows below marked_rows need is in the pool as it was marked.
 * Cost        A byte string: one hash and, mostly, one comparison. */
#include "column/column.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "column/growing.h"

#define TOGETHER_ROWS 256u    /* whose codes are looked up before they are put */
#define REPEAT_ROWS_MIN 4096u /* from so many values on it is asked whether they repeat */

struct column {
    uint32_t type;
    bool numbers; /* is it one of them? */
    uint32_t rows;
    struct column_chunk *chunks;
    struct chunk_memory *memory; /* of each chunk */
    size_t chunks_room, memory_room;
    uint32_t chunk_count;
    struct pool pool;
    struct dictionary dictionary;
    uint32_t marked_rows;
    struct pool_mark mark; /* what the rows below marked_rows need is in it */
};

struct column *column_new(uint32_t type)
{
    struct column *column = mem_zalloc(1, sizeof *column);

    assert(type_valid(type));
    if (column == NULL) return NULL;
    column->type = type;
    column->numbers = type_is_number(type);
    column->dictionary.pool = &column->pool;
    return column;
}

void column_free(struct column *column)
{
    if (column == NULL) return;
    for (uint32_t i = 0; i < column->chunk_count; i++)
        chunk_memory_free(&column->memory[i]);
    mem_free(column->chunks);
    mem_free(column->memory);
    dictionary_free(&column->dictionary);
    pool_free(&column->pool);
    mem_free(column);
}

uint32_t column_rows(const struct column *column) { return column->rows; }

static struct growing growing_at(struct column *column, uint32_t index)
{
    return (struct growing){.chunk = &column->chunks[index],
                            .memory = &column->memory[index],
                            .numbers = column->numbers};
}

/* Makes chunks up to `index`; those before it become complete. */
static bool open_chunk(struct column *column, uint32_t index)
{
    void *chunks = column->chunks, *memory = column->memory;
    size_t needed = (size_t)index + 1;

    if (mem_grow(&chunks, &column->chunks_room, needed, sizeof column->chunks[0]) != 0)
        return false;
    column->chunks = chunks;
    if (mem_grow(&memory, &column->memory_room, needed, sizeof column->memory[0]) != 0)
        return false;
    column->memory = memory;
    while (column->chunk_count <= index) {
        if (column->chunk_count > 0 && !growing_finish(growing_at(column, column->chunk_count - 1)))
            return false;
        growing_begin(growing_at(column, column->chunk_count), column->dictionary.count);
        column->chunk_count++;
    }
    return true;
}

static bool put_unrepeated(struct column *column, struct growing g, uint32_t at,
                           const struct cell *cell)
{
    uint32_t place;

    return pool_add(&column->pool, cell->data, cell->nbytes, &place) &&
           growing_add_unrepeated(g, at, place, value_hash(cell->data, cell->nbytes));
}

/* Whether a chunk's values turn out not to repeat. */
static bool unrepeated(const struct dictionary *d, const struct growing *g)
{
    uint32_t present = g->chunk->rows - g->chunk->nulls;

    return present >= REPEAT_ROWS_MIN && g->chunk->kind == CHUNK_PACKED &&
           ((uint64_t)d->count - g->memory->first_code) * 2 > present;
}

static bool put_code(struct column *column, uint32_t index, uint32_t at, const struct cell *cell)
{
    struct dictionary *d = &column->dictionary;
    uint32_t known = d->count, code = dictionary_intern(d, cell->data, cell->nbytes);
    struct growing g;

    if (code == 0) return false;
    if (d->count == known &&
        growing_add_quickly(&column->chunks[index], &column->memory[index], at, code))
        return true;
    g = growing_at(column, index);
    if (!growing_add(g, at, code)) return false;
    if (d->count > known && unrepeated(d, &g) && growing_unrepeat(g, d))
        dictionary_rewind(d, g.memory->first_code);
    return true;
}

static bool put_present(struct column *column, uint32_t index, uint32_t at, const struct cell *cell)
{
    if (column->numbers) return growing_add(growing_at(column, index), at, cell->key);
    if (column->chunks[index].kind == CHUNK_UNREPEATED)
        return put_unrepeated(column, growing_at(column, index), at, cell);
    return put_code(column, index, at, cell);
}

paua_status column_put(struct column *column, uint32_t row, const struct cell *cell)
{
    uint32_t index = row / COLUMN_CHUNK_ROWS;

    assert(row >= column->rows && row < UINT32_MAX);
    if (cell->present) {
        if (index >= column->chunk_count && !open_chunk(column, index)) return PAUA_ENOMEM;
        if (!put_present(column, index, row % COLUMN_CHUNK_ROWS, cell)) return PAUA_ENOMEM;
    }
    column->rows = row + 1;
    return PAUA_OK;
}

/* Puts rows as long as their values are known ones, and there is little to think about: how many
 * those were. */
static uint32_t put_known(struct column *column, uint32_t row, const struct cell *cells, uint32_t n)
{
    uint32_t index = row / COLUMN_CHUNK_ROWS, at = row % COLUMN_CHUNK_ROWS;
    uint32_t codes[TOGETHER_ROWS];
    struct growing g;

    if (column->numbers || index >= column->chunk_count) return 0;
    g = growing_at(column, index);
    if (g.chunk->kind != CHUNK_PACKED) return 0;
    if (n > TOGETHER_ROWS) n = TOGETHER_ROWS;
    if (n > COLUMN_CHUNK_ROWS - at) n = COLUMN_CHUNK_ROWS - at;
    n = dictionary_find_many(&column->dictionary, cells, n, code_max(g.chunk->width), codes);
    if (n == 0 || !growing_add_codes(g, at, codes, n)) return 0;
    column->rows = row + n;
    return n;
}

paua_status column_put_rows(struct column *column, uint32_t first, const struct cell *cells,
                            uint32_t n)
{
    uint32_t before = column->rows;

    assert(first >= before && n < UINT32_MAX - first);
    for (uint32_t done = 0, known; done < n; done += known) {
        known = 1;
        if (!cells[done].present) continue;
        known = put_known(column, first + done, cells + done, n - done);
        if (known > 0) continue;
        if (column_put(column, first + done, &cells[done]) != PAUA_OK) {
            column_truncate(column, before);
            return PAUA_ENOMEM;
        }
        known = 1;
    }
    if (n > 0) column->rows = first + n;
    return PAUA_OK;
}

void column_mark(struct column *column)
{
    column->marked_rows = column->rows;
    column->mark = pool_mark(&column->pool);
}

/* The largest code that is in use. Codes come by arrival, so that those above are of rows that are
 * gone. */
static uint32_t last_code(const struct column *column)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < column->chunk_count; i++) {
        const struct column_chunk *chunk = &column->chunks[i];

        if (chunk->kind != CHUNK_UNREPEATED && chunk->most > last) last = chunk->most;
    }
    return (uint32_t)last;
}

static void forget_bytes(struct column *column)
{
    uint32_t last = last_code(column);

    dictionary_rewind(&column->dictionary, last);
    for (uint32_t i = 0; i < column->chunk_count; i++)
        if (column->memory[i].first_code > last) column->memory[i].first_code = last;
    if (column->rows > column->marked_rows) return;
    pool_rewind(&column->pool, column->mark);
    column->marked_rows = column->rows;
}

void column_truncate(struct column *column, uint32_t rows)
{
    uint32_t left = (uint32_t)(((uint64_t)rows + COLUMN_CHUNK_ROWS - 1) / COLUMN_CHUNK_ROWS);

    if (rows >= column->rows) return;
    while (column->chunk_count > left)
        chunk_memory_free(&column->memory[--column->chunk_count]);
    if (column->chunk_count > 0 && column->chunk_count == left)
        growing_truncate(growing_at(column, left - 1), rows - (left - 1) * COLUMN_CHUNK_ROWS);
    column->rows = rows;
    if (!column->numbers) forget_bytes(column);
}

void column_look(const struct column *column, struct column_view *view)
{
    *view = (struct column_view){.type = column->type,
                                 .rows = column->rows,
                                 .chunk_count = column->chunk_count,
                                 .chunks = column->chunks,
                                 .dictionary = dictionary_look(&column->dictionary),
                                 .blocks = (const uint8_t *const *)column->pool.blocks};
}

size_t column_nbytes(const struct column *column)
{
    size_t nbytes = sizeof *column + column->chunks_room * sizeof column->chunks[0] +
                    column->memory_room * sizeof column->memory[0] +
                    dictionary_nbytes(&column->dictionary) + column->pool.nbytes +
                    column->pool.capacity * sizeof column->pool.blocks[0];

    for (uint32_t i = 0; i < column->chunk_count; i++)
        nbytes += chunk_memory_nbytes(&column->memory[i]);
    return nbytes;
}
