/* code_rows.h - what the tiers of code.h share: which rows come next, and the two loops that are
 * plain C in more than one tier. For the files of this folder only. */
#ifndef PAUA_KERNEL_CODE_ROWS_H
#define PAUA_KERNEL_CODE_ROWS_H

#include "kernel/code.h"

#define CODE_FOUR 4u /* rows that are computed together where registers are few */
#define CODE_EIGHT 8u

/* Rows are scattered over memory, and waiting for them is much of the time: those this many places
 * on are prefetched, up to so many bytes of each; a longer one the CPU then follows by itself. */
#define CODE_AHEAD 16u
#define CODE_AHEAD_NBYTES 640u

/* The rows that a call is about. */
struct code_rows {
    const struct code_plane *plane;
    const uint32_t *ids; /* or NULL: first, first + 1, .. */
    size_t first, n;
};

/* Some of them, by address. */
struct code_block {
    const uint8_t *row[CODE_EIGHT];
    const float *factors[CODE_EIGHT];
};

static inline size_t code_row_at(const struct code_rows *rows, size_t i)
{
    return rows->ids != NULL ? rows->ids[i] : rows->first + i;
}

/* Inlined by force: gcc takes a function that only prefetches for one without effect, and drops
 * calls of it. */
#define CODE_FETCHES static inline __attribute__((always_inline))

CODE_FETCHES void code_prefetch(const struct code_layout *layout, const uint8_t *row)
{
    for (size_t at = 0; at < layout->nbytes && at < CODE_AHEAD_NBYTES; at += CODE_LINE_NBYTES)
        __builtin_prefetch(row + at);
    if (layout->nbytes % CODE_LINE_NBYTES != 0) __builtin_prefetch(row + layout->nbytes - 1);
}

/* Rows first .. end - 1, as far as there are so many. */
CODE_FETCHES void code_rows_prefetch(const struct code_rows *rows, size_t first, size_t end)
{
    const struct code_plane *plane = rows->plane;

    for (size_t r = first; r < end && r < rows->n; r++) {
        size_t id = code_row_at(rows, r);
        __builtin_prefetch(plane->factors + id * CODE_FACTORS);
        code_prefetch(&plane->layout, plane->codes + id * plane->layout.nbytes);
    }
}

/* The rows i .. i + count - 1; past the end, the last one again. Prefetches later ones: the first
 * CODE_AHEAD rows are the caller's to prefetch. */
CODE_FETCHES struct code_block code_block_at(const struct code_rows *rows, size_t i, size_t count)
{
    const struct code_plane *plane = rows->plane;
    const uint32_t *ids = rows->ids == NULL ? NULL : rows->ids + i;
    uint32_t few[CODE_EIGHT];
    struct code_block block;

    code_rows_prefetch(rows, i + CODE_AHEAD, i + CODE_AHEAD + count);
    if (ids == NULL || rows->n - i < count) {
        for (size_t r = 0; r < count; r++)
            few[r] = (uint32_t)code_row_at(rows, i + r < rows->n ? i + r : rows->n - 1);
        ids = few;
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < count; r++) {
        block.row[r] = plane->codes + ids[r] * (size_t)plane->layout.nbytes;
        block.factors[r] = plane->factors + ids[r] * (size_t)CODE_FACTORS;
    }
    return block;
}

/* The same of rows given by their addresses; no factors. */
CODE_FETCHES struct code_block code_block_of(const struct code_layout *layout,
                                             const uint8_t *const *rows, size_t n, size_t i,
                                             size_t count)
{
    struct code_block block = {.factors = {NULL}};

    for (size_t r = i + CODE_AHEAD; r < i + CODE_AHEAD + count && r < n; r++)
        code_prefetch(layout, rows[r]);
#pragma GCC unroll 8
    for (size_t r = 0; r < count; r++)
        block.row[r] = rows[i + r < n ? i + r : n - 1];
    return block;
}

/* keys_below of n rows whose distances are known. */
static inline size_t code_put_keys(const float *d, const uint32_t *ids, size_t n, float bound,
                                   uint64_t *keys)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        keys[count] = code_key(d[i], ids[i]); /* overwritten if not nearer: nothing to mispredict */
        count += d[i] < bound;
    }
    return count;
}

/* unvisited of struct code_kernels */
static inline size_t code_unvisited(const uint32_t *list, size_t n, uint32_t *visited,
                                    uint32_t *out)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t *word = visited + list[i] / 32, bit = 1u << list[i] % 32;
        out[count] = list[i]; /* overwritten if visited, as above */
        count += (*word & bit) == 0;
        *word |= bit;
    }
    return count;
}

#endif
