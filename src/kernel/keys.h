/* keys.h - sorting keys, and merging them into a sorted pool: what a walk over a graph does with
 * the rows that it finds.
 *
 * Keys are unsigned numbers, sorted upward (code_key). Results are the same in every tier. Kernels
 * do not allocate, lock or report errors. */
#ifndef PAUA_KERNEL_KEYS_H
#define PAUA_KERNEL_KEYS_H

#include <stddef.h>
#include <stdint.h>

#define KEYS_SLACK 16u

struct keys_kernels {
    const char *tier; /* "portable", "avx512" */

    /* Sorts n keys; spare has room for n. */
    void (*sort)(uint64_t *keys, size_t n, uint64_t *spare);

    /* Merges n >= 1 sorted keys into the sorted pool of count, which has none of them and room for
     * KEYS_SLACK more than both (to be overwritten). Returns the lowest position that changed. */
    size_t (*merge)(uint64_t *pool, size_t count, const uint64_t *found, size_t n);
};

/* The tier of kernels_best(), or of kernels_at(index); never NULL for a tier that exists. AVX2 and
 * NEON use the portable table. */
const struct keys_kernels *keys_kernels_best(void);
const struct keys_kernels *keys_kernels_at(size_t index);

extern const struct keys_kernels keys_kernels_portable;
extern const struct keys_kernels keys_kernels_avx512;

#endif
