/* keys_runs.h - what the tiers of keys.h share. For the files of this folder only. */
#ifndef PAUA_KERNEL_KEYS_RUNS_H
#define PAUA_KERNEL_KEYS_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Merges two runs whose lengths differ by 1 at most, from both ends at once: so neither end comes
 * to the end of a run, and no branch depends on keys. */
static inline void keys_merge_halves(const uint64_t *from, size_t middle, size_t n, uint64_t *to)
{
    const uint64_t *low = from, *high = from + middle;
    const uint64_t *low_last = high - 1, *high_last = from + n - 1;
    uint64_t *last = to + n - 1;

    for (size_t i = n / 2; i > 0; i--) {
        uint64_t a = *low, b = *high;
        bool second = b < a;

        *to++ = second ? b : a;
        high += second;
        low += !second;
        a = *low_last;
        b = *high_last;
        second = b < a;
        *last-- = second ? a : b;
        low_last -= second;
        high_last -= !second;
    }
    if (n % 2 != 0) *to = low <= low_last ? *low : *high;
}

/* Sorts pieces of at most `few` keys, as equal as can be, and merges them. */
static inline __attribute__((always_inline)) void
keys_sort_pieces(uint64_t *keys, size_t n, uint64_t *spare, size_t few,
                 void (*sort_few)(uint64_t *keys, size_t n))
{
    uint64_t *from = keys, *to = spare;
    uint32_t level = 0; /* 2^level pieces */

    while (n > few << level)
        level++;
    for (size_t i = 0; i < (size_t)1 << level; i++)
        sort_few(keys + (i * n >> level), ((i + 1) * n >> level) - (i * n >> level));
    for (; level > 0; level--) {
        uint64_t *swap = from;

        for (size_t i = 0; i < (size_t)1 << level; i += 2) {
            size_t first = i * n >> level, middle = (i + 1) * n >> level;

            keys_merge_halves(from + first, middle - first, ((i + 2) * n >> level) - first,
                              to + first);
        }
        from = to;
        to = swap;
    }
    if (from != keys) memcpy(keys, from, n * sizeof *keys);
}

/* How many of n sorted keys are no greater; no branch depends on keys. */
static inline size_t keys_rank(const uint64_t *keys, size_t n, uint64_t key)
{
    const uint64_t *from = keys;

    if (n == 0) return 0;
    for (; n > 1; n -= n / 2)
        from += (n / 2) & (0 - (size_t)(from[n / 2 - 1] <= key));
    return (size_t)(from - keys) + (*from <= key);
}

#endif
