/* encode.h - the inner loops of making codes: what code.h is for comparing them.
 *
 * A group of n components (a multiple of 16) has values y, each with a weight, an offset (half the
 * number of its codes) and a pull. With an inverse step s a component's code is
 *   c = trunc(min(max(y * s + offset, 0), 2 * offset - 1)),  standing for x = c - (offset - 1/2).
 * Sums are taken in 16 parts by position modulo 16, unfused, and the parts are added up pairwise
 * (16 to 8, to 4, to 2, to 1), so that every tier gives the same bits. */
#ifndef PAUA_KERNEL_ENCODE_H
#define PAUA_KERNEL_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#define ENCODE_PARTS 16u
#define ENCODE_STEPS_MAX 12u

struct encode_group {
    const float *values, *weight, *offset, *pull;
    size_t n;
};

struct encode_norms {
    float weighted; /* sum of weight * y^2 */
    float pulled;   /* sum of pull * y^2 */
};

struct encode_sums {
    float dot;  /* sum of (weight * x) * y */
    float norm; /* sum of (weight * x) * x */
};

struct encode_kernels {
    const char *tier; /* "portable", "avx2", "avx512" */
    struct encode_norms (*norms)(const struct encode_group *group);
    /* sums[k] for inverse step k of `steps` <= ENCODE_STEPS_MAX */
    void (*sums)(const struct encode_group *group, const float *inverse, size_t steps,
                 struct encode_sums *sums);
    void (*codes)(const struct encode_group *group, float inverse, uint8_t *codes);
};

/* The tier of kernels_best(), or of kernels_at(index); NULL past the last. */
const struct encode_kernels *encode_kernels_best(void);
const struct encode_kernels *encode_kernels_at(size_t index);

extern const struct encode_kernels encode_kernels_portable;
extern const struct encode_kernels encode_kernels_avx2;
extern const struct encode_kernels encode_kernels_avx512;

#endif
