/* copies.c - see copies.h. Rows are sorted by a hash, and equal hashes by row, so that the first of
 * each run is the one that the others are copies of. */
#include "index/copies.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/memory.h"

struct hashed {
    uint64_t hash;
    uint32_t row;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;

    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int by_of(const void *a, const void *b)
{
    const struct graph_copy *x = a, *y = b;

    if (x->of != y->of) return x->of < y->of ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool rows_equal(const struct code_plane *plane, uint32_t a, uint32_t b)
{
    size_t nbytes = plane->layout.nbytes;

    return memcmp(plane->codes + a * nbytes, plane->codes + b * nbytes, nbytes) == 0 &&
           memcmp(plane->factors + (size_t)a * CODE_FACTORS,
                  plane->factors + (size_t)b * CODE_FACTORS, CODE_FACTORS * sizeof(float)) == 0;
}

/* Which earlier row of a run of equal hashes equals items[i]; NULL: none. */
static const struct hashed *original_of(const struct code_plane *plane, const struct hashed *run,
                                        const struct hashed *item)
{
    for (const struct hashed *h = run; h < item; h++)
        if (rows_equal(plane, h->row, item->row)) return h;
    return NULL;
}

paua_status copies_find(const struct code_plane *plane, uint32_t rows, struct graph_copy **copies,
                        uint32_t *count, paua_error *err)
{
    struct hashed *items = mem_alloc((rows + 1u) * sizeof *items);
    struct graph_copy *found = NULL;
    size_t n = 0, capacity = 0;
    const struct hashed *run = items;

    if (items == NULL) return error_set_nomem(err);
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t seed =
            XXH3_64bits(plane->factors + (size_t)row * CODE_FACTORS, CODE_FACTORS * sizeof(float));

        items[row].hash = XXH3_64bits_withSeed(plane->codes + (size_t)row * plane->layout.nbytes,
                                               plane->layout.nbytes, seed);
        items[row].row = row;
    }
    qsort(items, rows, sizeof *items, by_hash);
    for (const struct hashed *item = items; item < items + rows; item++) {
        const struct hashed *original;

        if (item->hash != run->hash) run = item;
        original = original_of(plane, run, item);
        if (original == NULL) continue;
        if (mem_grow((void **)&found, &capacity, n + 1, sizeof *found) != 0) {
            mem_free(items);
            mem_free(found);
            return error_set_nomem(err);
        }
        found[n++] = (struct graph_copy){.row = item->row, .of = original->row};
    }
    mem_free(items);
    if (n > 0) qsort(found, n, sizeof *found, by_of);
    *copies = found;
    *count = (uint32_t)n;
    return PAUA_OK;
}

uint32_t copies_of(const struct graph *graph, uint32_t row, const struct graph_copy **first)
{
    uint32_t low = 0, high = graph->copy_count, n = 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (graph->copies[middle].of < row)
            low = middle + 1;
        else
            high = middle;
    }
    *first = graph->copies + low;
    while (low + n < graph->copy_count && graph->copies[low + n].of == row)
        n++;
    return n;
}
