/* columns.c - the metadata benchmark's store of ours: one column a key, and names of keys.
 *
 * A result borrows from the columns: a byte string never moves while its column lives, and in the
 * database a view keeps it alive. So giving a row out copies nothing. */
#include <stdlib.h>
#include <string.h>

#include "column/column.h"
#include "column/match.h"
#include "column/reader.h"
#include "stores.h"

#define BLOCK_ROWS 128u /* values of a few keys stay in the nearest cache */
#define TOGETHER_ROWS 256u

struct store {
    const struct workload *workload; /* for names and counts alone */
    struct column **columns;
    struct match_scratch scratch;
};

static void fill(struct column *column, const struct workload *w, uint32_t key)
{
    struct cell cells[TOGETHER_ROWS];

    for (uint32_t row = 0; row < w->rows; row += TOGETHER_ROWS) {
        uint32_t n = w->rows - row < TOGETHER_ROWS ? w->rows - row : TOGETHER_ROWS;

        for (uint32_t i = 0; i < n; i++) {
            paua_bytes value = workload_value(w, row + i, key);

            cells[i] = (struct cell){
                .present = value.data != NULL, .data = value.data, .nbytes = value.nbytes};
        }
        if (column_put_rows(column, row, cells, n) != PAUA_OK) checked(NULL);
    }
}

static struct store *build(const struct workload *w)
{
    struct store *store = checked(calloc(1, sizeof *store));

    store->workload = w;
    store->columns = checked(calloc(w->keys, sizeof store->columns[0]));
    for (uint32_t key = 0; key < w->keys; key++) {
        store->columns[key] = checked(column_new(PAUA_TYPE_STRING));
        fill(store->columns[key], w, key);
    }
    return store;
}

static void release(struct store *store)
{
    for (uint32_t key = 0; key < store->workload->keys; key++)
        column_free(store->columns[key]);
    match_scratch_free(&store->scratch);
    free(store->columns);
    free(store);
}

static size_t nbytes(const struct store *store)
{
    size_t sum = 0;

    for (uint32_t key = 0; key < store->workload->keys; key++)
        sum += column_nbytes(store->columns[key]);
    return sum;
}

static void filter(struct store *store, paua_bytes key, paua_bytes value, uint64_t *bitmap)
{
    const struct workload *w = store->workload;
    struct column_test test = {
        .kind = TEST_BYTES, .low = {value.data, value.nbytes}, .high = {value.data, value.nbytes}};
    struct column_view view;

    for (uint32_t i = 0; i < w->keys; i++) {
        if (w->names[i].nbytes != key.nbytes || memcmp(w->names[i].data, key.data, key.nbytes) != 0)
            continue;
        column_look(store->columns[i], &view);
        if (column_match(&view, NULL, 0, &test, w->rows, bitmap, &store->scratch) != PAUA_OK)
            checked(NULL);
    }
}

struct block {
    uint32_t first, count;
    struct column_reader *readers; /* one a key */
    paua_value *values;            /* room for those of all rows, row by row */
    paua_bytes *keys;              /* of each row: those that it has */
    uint32_t given[BLOCK_ROWS];    /* of each row: how many those are */
    paua_value some[BLOCK_ROWS];   /* of one key */
    uint16_t rows[BLOCK_ROWS];     /* whose values those are */
};

/* Whether a column has a value in each row of a block (of which no two chunks have a part). */
static bool is_full(const struct column_view *view, const struct block *block)
{
    uint32_t index = block->first / COLUMN_CHUNK_ROWS, at = block->first % COLUMN_CHUNK_ROWS;

    return index < view->chunk_count && view->chunks[index].nulls == 0 &&
           at + block->count <= view->chunks[index].rows;
}

static bool all_full(const struct workload *w, const struct block *block)
{
    for (uint32_t key = 0; key < w->keys; key++)
        if (!is_full(block->readers[key].view, block)) return false;
    return true;
}

/* Every row has every key. */
static void give_full(const struct workload *w, struct block *block, pairs_fn each, void *arg)
{
    for (uint32_t key = 0; key < w->keys; key++)
        column_reader_values(&block->readers[key], block->first, block->count, block->values + key,
                             w->keys);
    for (uint32_t i = 0; i < block->count; i++)
        each(arg, block->first + i, w->names, block->values + (size_t)i * w->keys, w->keys);
}

/* What a key has goes to the ends of its rows. */
static void give_present(const struct workload *w, struct block *block, pairs_fn each, void *arg)
{
    memset(block->given, 0, sizeof block->given);
    for (uint32_t key = 0; key < w->keys; key++) {
        uint32_t count = column_reader_present(&block->readers[key], block->first, block->count,
                                               block->rows, block->some);

        for (uint32_t i = 0; i < count; i++) {
            size_t to = (size_t)block->rows[i] * w->keys + block->given[block->rows[i]]++;

            block->keys[to] = w->names[key];
            block->values[to] = block->some[i];
        }
    }
    for (uint32_t i = 0; i < block->count; i++)
        each(arg, block->first + i, block->keys + (size_t)i * w->keys,
             block->values + (size_t)i * w->keys, block->given[i]);
}

static void walk(struct store *store, pairs_fn each, void *arg)
{
    const struct workload *w = store->workload;
    struct column_view *views = checked(malloc(w->keys * sizeof views[0]));
    struct block *block = checked(calloc(1, sizeof *block));

    block->readers = checked(malloc(w->keys * sizeof block->readers[0]));
    block->keys = checked(malloc((size_t)w->keys * BLOCK_ROWS * sizeof block->keys[0]));
    block->values = checked(malloc((size_t)w->keys * BLOCK_ROWS * sizeof block->values[0]));
    for (uint32_t key = 0; key < w->keys; key++) {
        column_look(store->columns[key], &views[key]);
        column_reader_begin(&block->readers[key], &views[key]);
    }
    for (; block->first < w->rows; block->first += BLOCK_ROWS) {
        uint32_t left = w->rows - block->first;

        block->count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        if (all_full(w, block))
            give_full(w, block, each, arg);
        else
            give_present(w, block, each, arg);
    }
    free(block->readers);
    free(block->keys);
    free(block->values);
    free(block);
    free(views);
}

const struct store_kind columns_kind = {.prefix = "",
                                        .build = build,
                                        .free = release,
                                        .nbytes = nbytes,
                                        .filter = filter,
                                        .materialize = walk,
                                        .walk = walk};
