/* columns.c - the metadata benchmark's store of ours: one column a key, and names of keys.
 *
 * A result borrows from the columns: a byte string never moves while its column lives, and in the
 * database a view keeps it alive. So giving a row out copies nothing. */
#include <stdlib.h>
#include <string.h>

#include "column/column.h"
#include "column/match.h"
#include "stores.h"

#define BLOCK_ROWS 512u

struct store {
    const struct workload *workload; /* for names and counts alone */
    struct column **columns;
    struct match_scratch scratch;
};

static struct store *build(const struct workload *w)
{
    struct store *store = checked(calloc(1, sizeof *store));

    store->workload = w;
    store->columns = checked(calloc(w->keys, sizeof store->columns[0]));
    for (uint32_t key = 0; key < w->keys; key++) {
        store->columns[key] = checked(column_new(PAUA_TYPE_STRING));
        for (uint32_t row = 0; row < w->rows; row++) {
            paua_bytes value = workload_value(w, row, key);
            struct cell cell = {.present = true, .data = value.data, .nbytes = value.nbytes};

            if (value.data == NULL) continue;
            if (column_put(store->columns[key], row, &cell) != PAUA_OK) checked(NULL);
        }
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
    bool full;          /* every row has every key */
    paua_value *values; /* of all keys, row by row */
    paua_bytes *keys;   /* of one row: what it has */
    paua_value *given;
};

/* Whether a column has a value in each row of a block (of which no two chunks have a part). */
static bool is_full(const struct column_view *view, const struct block *block)
{
    uint32_t index = block->first / COLUMN_CHUNK_ROWS, at = block->first % COLUMN_CHUNK_ROWS;

    return index < view->chunk_count && view->chunks[index].nulls == 0 &&
           at + block->count <= view->chunks[index].rows;
}

static void read_block(struct store *store, struct block *block)
{
    uint32_t keys = store->workload->keys;

    block->full = true;
    for (uint32_t key = 0; key < keys; key++) {
        struct column_view view;

        column_look(store->columns[key], &view);
        block->full &= is_full(&view, block);
        column_values(&view, block->first, block->count, block->values + key, keys);
    }
}

/* The keys that a row has. */
static void give_row(const struct workload *w, struct block *block, uint32_t i, pairs_fn each,
                     void *arg)
{
    const paua_value *values = block->values + (size_t)i * w->keys;
    uint32_t count = 0;

    for (uint32_t key = 0; key < w->keys; key++) {
        if (values[key].type == PAUA_TYPE_NULL) continue;
        block->keys[count] = w->names[key];
        block->given[count++] = values[key];
    }
    each(arg, block->first + i, block->keys, block->given, count);
}

static void give_block(const struct workload *w, struct block *block, pairs_fn each, void *arg)
{
    for (uint32_t i = 0; block->full && i < block->count; i++)
        each(arg, block->first + i, w->names, block->values + (size_t)i * w->keys, w->keys);
    for (uint32_t i = 0; !block->full && i < block->count; i++)
        give_row(w, block, i, each, arg);
}

static void walk(struct store *store, pairs_fn each, void *arg)
{
    const struct workload *w = store->workload;
    struct block block = {.keys = checked(malloc(w->keys * sizeof block.keys[0])),
                          .given = checked(malloc(w->keys * sizeof block.given[0]))};

    block.values = checked(malloc((size_t)w->keys * BLOCK_ROWS * sizeof block.values[0]));
    for (; block.first < w->rows; block.first += BLOCK_ROWS) {
        uint32_t left = w->rows - block.first;

        block.count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        read_block(store, &block);
        give_block(w, &block, each, arg);
    }
    free(block.keys);
    free(block.given);
    free(block.values);
}

const struct store_kind columns_kind = {.prefix = "",
                                        .build = build,
                                        .free = release,
                                        .nbytes = nbytes,
                                        .filter = filter,
                                        .materialize = walk,
                                        .walk = walk};
