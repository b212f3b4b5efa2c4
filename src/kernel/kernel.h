/* kernel.h - the inner loops, and nothing else.
 *
 * A tier is one table of functions built for one set of CPU instructions. Callers take the best
 * table once and call through it. Kernels do not allocate, lock, or report errors: whoever calls
 * has already checked dim and NaN.
 *
 * Rows    n rows of dim components, `stride` BYTES apart (a multiple of the component's size), any
 *         alignment of the component's own size. f16 is IEEE binary16 in a uint16_t.
 * Bound   Against the portable tier a float result may differ by 2 * dim * 2^-24 * sum |term|,
 *         where term is what the portable loop adds up. The result for a row depends on q, that row
 *         and the tier alone: never on n, on the row's place among others, on alignment, or on
 *         which of the functions below computed it - dot, dot_norm, and any grouping of rows give
 *         the same bits. (dot_tile alone is exempt; it is only within the bound.)
 *         Sums overflow to infinity as IEEE says; callers then fall back to double. */
#ifndef PAUA_KERNEL_KERNEL_H
#define PAUA_KERNEL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_TILE_QUERIES 32u /* queries that one dot_tile call takes */

struct kernels {
    const char *tier; /* "portable", "avx2", "avx512", "neon" */

    /* out[i] = sum q[j] * row_i[j] */
    void (*dot_f32)(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                    float *out);
    void (*dot_f16)(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                    float *out);
    /* out[i] = sum q[j] * row_i[j]; norm[i] = sum row_i[j]^2; one pass over the rows */
    void (*dot_norm_f32)(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                         float *out, float *norm);
    void (*dot_norm_f16)(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                         float *out, float *norm);
    /* out[i] = sum (q[j] - row_i[j])^2 */
    void (*l2sq_f32)(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                     float *out);
    void (*l2sq_f16)(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                     float *out);
    /* norm[i] = sum row_i[j]^2, the same bits as dot_norm's */
    void (*norm_f32)(const void *rows, size_t stride, size_t n, size_t dim, float *norm);
    void (*norm_f16)(const void *rows, size_t stride, size_t n, size_t dim, float *norm);

    /* Many queries against many f32 rows: out[i * KERNEL_TILE_QUERIES + t] = sum_j
     * packed[j * KERNEL_TILE_QUERIES + t] * row_i[j]. packed: dim x 32 floats, 64-byte aligned, the
     * queries as columns (unused ones zero). */
    void (*dot_tile)(const float *packed, const void *rows, size_t stride, size_t n, size_t dim,
                     float *out);

    /* Conversions, n components; round to nearest even; overflow gives infinity, as IEEE says. */
    void (*f16_from_f32)(const float *from, size_t n, uint16_t *to);
    void (*f32_from_f16)(const uint16_t *from, size_t n, float *to);

    /* Index of the first NaN or infinity, or n. */
    size_t (*find_nonfinite)(const float *values, size_t n);
};

/* Best tier this CPU can run; PAUA_TIER=name in the environment picks another, for tests. */
const struct kernels *kernels_best(void);

/* All tiers this CPU can run, best first, portable last. NULL past the end. */
const struct kernels *kernels_at(size_t index);

extern const struct kernels kernels_portable;
extern const struct kernels kernels_avx2;
extern const struct kernels kernels_avx512;
extern const struct kernels kernels_neon;

#endif
