/* keys_portable.c - the meaning of sorting and merging keys, in plain C.
 *
 * Most hops of a walk find one key or a few, the first ones up to 190. Of a few, each is put into
 * its place; many are sorted and merged without a branch that depends on keys. */
#include "kernel/keys.h"
#include "kernel/keys_runs.h"

#define SORT_FEW 4u
#define MERGE_FEW 16u

static inline void order(uint64_t *keys, size_t i, size_t j)
{
    uint64_t a = keys[i], b = keys[j];

    keys[i] = a < b ? a : b;
    keys[j] = a < b ? b : a;
}

/* n <= SORT_FEW. */
static inline void sort_few(uint64_t *keys, size_t n)
{
    switch (n) {
    case 4:
        order(keys, 0, 1);
        order(keys, 2, 3);
        order(keys, 0, 2);
        order(keys, 1, 3);
        order(keys, 1, 2);
        break;
    case 3:
        order(keys, 0, 1);
        order(keys, 1, 2);
        order(keys, 0, 1);
        break;
    case 2:
        order(keys, 0, 1);
        break;
    default:
        break;
    }
}

static void sort(uint64_t *keys, size_t n, uint64_t *spare)
{
    keys_sort_pieces(keys, n, spare, SORT_FEW, sort_few);
}

/* n >= 1. */
static size_t merge_few(uint64_t *pool, size_t count, const uint64_t *found, size_t n)
{
    while (n > 0) {
        size_t rank = keys_rank(pool, count, found[--n]);

        memmove(pool + rank + n + 1, pool + rank, (count - rank) * sizeof *pool);
        pool[rank + n] = found[n];
        count = rank;
    }
    return count;
}

static size_t merge(uint64_t *pool, size_t count, const uint64_t *found, size_t n)
{
    size_t at = count + n;

    if (n <= MERGE_FEW) return merge_few(pool, count, found, n);
    while (count > 0 && n > 0) {
        uint64_t a = pool[count - 1], b = found[n - 1];
        bool first = a > b;

        pool[--at] = first ? a : b;
        count -= first;
        n -= !first;
    }
    memcpy(pool, found, n * sizeof *pool);
    return n > 0 ? 0 : count;
}

const struct keys_kernels keys_kernels_portable = {
    .tier = "portable",
    .sort = sort,
    .merge = merge,
};
