/* sealing.c - the first pass over byte strings that are being sealed.
 *
 * A chunk whose values mostly came new with it (more than half of 4,096 or more) is to be
 * unrepeated, and what it brought is forgotten: so no more is held than the values of chunks that
 * repeat, and those of one chunk. That is judged when the chunk is complete, since the first
 * thousands of rows may well show each of some thousand values for the first time; but before it
 * has brought more than 16 MiB. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "column/sealing.h"

#define REPEAT_ROWS_MIN 4096u
#define REPEAT_NBYTES_MIN ((size_t)16 << 20)

struct chunk_so_far {
    uint32_t first_code;
    struct pool_mark mark;
    uint32_t present;
};

static void judge(struct sealed_values *v, const struct chunk_so_far *chunk, bool complete,
                  bool *unrepeated)
{
    uint64_t brought = v->dictionary.count - chunk->first_code;
    bool large = v->pool.nbytes - chunk->mark.nbytes >= REPEAT_NBYTES_MIN;

    if (*unrepeated || brought * 2 <= chunk->present) return;
    if (!large && !(complete && chunk->present >= REPEAT_ROWS_MIN)) return;
    *unrepeated = true;
    dictionary_rewind(&v->dictionary, chunk->first_code);
    pool_rewind(&v->pool, chunk->mark);
}

static paua_status take_row(struct sealed_values *v, struct chunk_so_far *chunk, bool *unrepeated,
                            const struct cell *cell, paua_error *err)
{
    if (!cell->present || *unrepeated) return PAUA_OK;
    if (dictionary_intern(&v->dictionary, cell->data, cell->nbytes) == 0)
        return error_set_nomem(err);
    chunk->present++;
    judge(v, chunk, false, unrepeated);
    return PAUA_OK;
}

static paua_status collect(struct sealed_values *v, const struct column_source *source,
                           paua_error *err)
{
    struct chunk_so_far chunk = {0};

    for (uint32_t row = 0; row < source->rows; row++) {
        bool *unrepeated = &v->unrepeated[row / COLUMN_CHUNK_ROWS];
        struct cell cell;
        paua_status status;

        if (row % COLUMN_CHUNK_ROWS == 0)
            chunk = (struct chunk_so_far){.first_code = v->dictionary.count,
                                          .mark = pool_mark(&v->pool)};
        status = source->next(source->arg, row, &cell, err);
        if (status == PAUA_OK) status = take_row(v, &chunk, unrepeated, &cell, err);
        if (status != PAUA_OK) return status;
        if (row % COLUMN_CHUNK_ROWS == COLUMN_CHUNK_ROWS - 1 || row == source->rows - 1)
            judge(v, &chunk, true, unrepeated);
    }
    return PAUA_OK;
}

static int by_value(const void *a, const void *b, void *arg)
{
    const struct dictionary *d = arg;
    struct dictionary_view view = dictionary_look(d);
    const uint8_t *a_data, *b_data;
    size_t a_nbytes, b_nbytes;
    uint32_t i, j;

    memcpy(&i, a, sizeof i);
    memcpy(&j, b, sizeof j);
    view.value(d, i, &a_data, &a_nbytes);
    view.value(d, j, &b_data, &b_nbytes);
    return bytes_compare(a_data, a_nbytes, b_data, b_nbytes);
}

static bool sort(struct sealed_values *v)
{
    uint32_t count = v->dictionary.count;

    v->order = mem_alloc((size_t)count * sizeof v->order[0]);
    v->ranks = mem_alloc((size_t)count * sizeof v->ranks[0]);
    if (v->order == NULL || v->ranks == NULL) return false;
    for (uint32_t i = 0; i < count; i++)
        v->order[i] = i;
    qsort_r(v->order, count, sizeof v->order[0], by_value, &v->dictionary);
    for (uint32_t i = 0; i < count; i++)
        v->ranks[v->order[i]] = i;
    return true;
}

paua_status sealed_values_make(struct sealed_values *values, const struct column_source *source,
                               paua_error *err)
{
    paua_status status;

    *values = (struct sealed_values){0};
    values->dictionary.pool = &values->pool;
    values->unrepeated =
        mem_zalloc(source->rows / COLUMN_CHUNK_ROWS + 1, sizeof values->unrepeated[0]);
    if (values->unrepeated == NULL) return error_set_nomem(err);
    status = collect(values, source, err);
    if (status == PAUA_OK && !sort(values)) status = error_set_nomem(err);
    if (status != PAUA_OK) sealed_values_free(values);
    return status;
}

void sealed_values_free(struct sealed_values *values)
{
    dictionary_free(&values->dictionary);
    pool_free(&values->pool);
    mem_free(values->order);
    mem_free(values->ranks);
    mem_free(values->unrepeated);
    *values = (struct sealed_values){0};
}
