/* avx512.c - the AVX-512 tier (F, BW, VL: Skylake-X, Zen 4 and later).
 *
 * Same sums as portable.c, which is the meaning; this file is only speed.
 *
 * Scans   One function, scan_rows, has every one-query loop; what it adds up, the component type
 *         and the number of rows are constants at each use, so each use compiles to its own loop.
 *         Four rows share the loads of q. A row has two accumulators whatever the grouping, is cut
 *         into the same steps and reduced in the same order, so its bits do not depend on its
 *         company. The last 1..15 components come through masked loads: nothing is read past a row.
 *         The same place of the next four rows is prefetched: over memory this is worth 5 to 15 %
 *         for f32, 60 % and more for f16, and costs up to 10 % in the cache. Rejected: a fixed
 *         distance (fetches what the next row of the group has just read), T1 and NTA (slower).
 * Tile    A matrix-product micro-kernel: 32 queries in two registers against 14 rows broadcast, 28
 *         accumulators; two FMAs a load, so the FMA units are the limit.
 * Flags   The file is built with the baseline flags; only functions marked AVX512 may use it, so
 *         the linker can never pick a shared inline helper that an older CPU cannot run. */
#include "kernel/kernel.h"

#if defined(__x86_64__)
#include <stdbool.h>

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))
#define INLINE AVX512 static inline __attribute__((always_inline))

#define LANES 16u
#define GROUP 4u /* rows that share the loads of q */

enum { DOT = 1, NORM = 2, L2SQ = 4 }; /* what a scan adds up; DOT | NORM is one pass for both */

struct scan {
    const float *q;
    const char *rows;
    size_t stride, dim;
    float *out, *norm;
    size_t ahead; /* bytes to the row that is prefetched meanwhile; 0 is no row but this one */
};

struct sums {
    __m512 term, norm;
};

/* The lanes that the next vector of `left` components fills. */
INLINE __mmask16 lanes_of(size_t left)
{
    return (__mmask16)(left >= LANES ? 0xffffu : (1u << left) - 1u);
}

INLINE __m512 load(const char *row, size_t at, bool half)
{
    if (half) return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(row + at * 2)));
    return _mm512_loadu_ps(row + at * 4);
}

INLINE __m512 load_masked(__mmask16 lanes, const char *row, size_t at, bool half)
{
    if (half) return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes, row + at * 2));
    return _mm512_maskz_loadu_ps(lanes, row + at * 4);
}

INLINE void add(int what, __m512 q, __m512 x, struct sums *sums)
{
    if (what & L2SQ) {
        __m512 diff = _mm512_sub_ps(q, x);
        sums->term = _mm512_fmadd_ps(diff, diff, sums->term);
    }
    if (what & DOT) sums->term = _mm512_fmadd_ps(q, x, sums->term);
    if (what & NORM) sums->norm = _mm512_fmadd_ps(x, x, sums->norm);
}

/* One vector of q against `count` rows. */
INLINE void step(const struct scan *s, int what, bool half, size_t count, size_t at,
                 struct sums *sums)
{
    __m512 q = what == NORM ? _mm512_setzero_ps() : _mm512_loadu_ps(s->q + at);

#pragma GCC unroll 4
    for (size_t r = 0; r < count; r++)
        add(what, q, load(s->rows + r * s->stride, at, half), &sums[r]);
}

/* What the two steps at `at` touch, a group of rows further on. */
INLINE void prefetch(const struct scan *s, bool half, size_t count, size_t at)
{
#pragma GCC unroll 4
    for (size_t r = 0; r < count; r++) {
        const char *row = s->rows + s->ahead + r * s->stride + at * (half ? 2 : 4);
        _mm_prefetch(row, _MM_HINT_T0);
        if (!half) _mm_prefetch(row + 64, _MM_HINT_T0);
    }
}

INLINE void scan_rows(const struct scan *s, int what, bool half, size_t count)
{
    struct sums even[GROUP], odd[GROUP];
    size_t at = 0;

#pragma GCC unroll 4
    for (size_t r = 0; r < count; r++)
        even[r].term = even[r].norm = odd[r].term = odd[r].norm = _mm512_setzero_ps();
    for (; at + 2 * LANES <= s->dim; at += 2 * LANES) {
        prefetch(s, half, count, at);
        step(s, what, half, count, at, even);
        step(s, what, half, count, at + LANES, odd);
    }
    if (at + LANES <= s->dim) {
        step(s, what, half, count, at, even);
        at += LANES;
    }
    __mmask16 left = lanes_of(s->dim - at);
    __m512 q = what == NORM ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(left, s->q + at);
#pragma GCC unroll 4
    for (size_t r = 0; r < count; r++) {
        add(what, q, load_masked(left, s->rows + r * s->stride, at, half), &odd[r]);
        if (what != NORM)
            s->out[r] = _mm512_reduce_add_ps(_mm512_add_ps(even[r].term, odd[r].term));
        if (what & NORM)
            s->norm[r] = _mm512_reduce_add_ps(_mm512_add_ps(even[r].norm, odd[r].norm));
    }
}

INLINE void skip_rows(struct scan *s, int what, size_t count)
{
    s->rows += count * s->stride;
    if (what != NORM) s->out += count;
    if (what & NORM) s->norm += count;
}

INLINE void scan(struct scan s, int what, bool half, size_t n)
{
    for (; n >= GROUP; n -= GROUP) {
        s.ahead = n >= 2 * GROUP ? GROUP * s.stride : 0;
        scan_rows(&s, what, half, GROUP);
        skip_rows(&s, what, GROUP);
    }
    for (; n > 0; n--) {
        scan_rows(&s, what, half, 1);
        skip_rows(&s, what, 1);
    }
}

AVX512 static void dot_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                           float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL, 0}, DOT, false, n);
}

AVX512 static void dot_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                           float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL, 0}, DOT, true, n);
}

AVX512 static void dot_norm_f32(const float *q, const void *rows, size_t stride, size_t n,
                                size_t dim, float *out, float *norm)
{
    scan((struct scan){q, rows, stride, dim, out, norm, 0}, DOT | NORM, false, n);
}

AVX512 static void dot_norm_f16(const float *q, const void *rows, size_t stride, size_t n,
                                size_t dim, float *out, float *norm)
{
    scan((struct scan){q, rows, stride, dim, out, norm, 0}, DOT | NORM, true, n);
}

AVX512 static void l2sq_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                            float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL, 0}, L2SQ, false, n);
}

AVX512 static void l2sq_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                            float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL, 0}, L2SQ, true, n);
}

AVX512 static void norm_f32(const void *rows, size_t stride, size_t n, size_t dim, float *norm)
{
    scan((struct scan){NULL, rows, stride, dim, NULL, norm, 0}, NORM, false, n);
}

AVX512 static void norm_f16(const void *rows, size_t stride, size_t n, size_t dim, float *norm)
{
    scan((struct scan){NULL, rows, stride, dim, NULL, norm, 0}, NORM, true, n);
}

#define TILE_ROWS 14u

INLINE void tile_rows(const float *packed, const char *rows, size_t stride, size_t count,
                      size_t dim, float *out)
{
    __m512 low[TILE_ROWS], high[TILE_ROWS];

#pragma GCC unroll 14
    for (size_t r = 0; r < count; r++)
        low[r] = high[r] = _mm512_setzero_ps();
    for (size_t j = 0; j < dim; j++, packed += KERNEL_TILE_QUERIES) {
        __m512 q_low = _mm512_load_ps(packed), q_high = _mm512_load_ps(packed + LANES);
#pragma GCC unroll 14
        for (size_t r = 0; r < count; r++) {
            __m512 x = _mm512_set1_ps(((const float *)(const void *)(rows + r * stride))[j]);
            low[r] = _mm512_fmadd_ps(x, q_low, low[r]);
            high[r] = _mm512_fmadd_ps(x, q_high, high[r]);
        }
    }
#pragma GCC unroll 14
    for (size_t r = 0; r < count; r++) {
        _mm512_storeu_ps(out + r * KERNEL_TILE_QUERIES, low[r]);
        _mm512_storeu_ps(out + r * KERNEL_TILE_QUERIES + LANES, high[r]);
    }
}

AVX512 static void dot_tile(const float *packed, const void *rows, size_t stride, size_t n,
                            size_t dim, float *out)
{
    const char *row = rows;

    for (; n >= TILE_ROWS; n -= TILE_ROWS) {
        tile_rows(packed, row, stride, TILE_ROWS, dim, out);
        row += TILE_ROWS * stride;
        out += TILE_ROWS * (size_t)KERNEL_TILE_QUERIES;
    }
    for (; n >= 4; n -= 4) {
        tile_rows(packed, row, stride, 4, dim, out);
        row += 4 * stride;
        out += 4 * (size_t)KERNEL_TILE_QUERIES;
    }
    for (; n > 0; n--) {
        tile_rows(packed, row, stride, 1, dim, out);
        row += stride;
        out += KERNEL_TILE_QUERIES;
    }
}

AVX512 static void f16_from_f32(const float *from, size_t n, uint16_t *to)
{
    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 lanes = lanes_of(n - i);
        __m512 values = _mm512_maskz_loadu_ps(lanes, from + i);
        __m256i halves = _mm512_maskz_cvtps_ph(lanes, values, _MM_FROUND_TO_NEAREST_INT);
        _mm256_mask_storeu_epi16(to + i, lanes, halves);
    }
}

AVX512 static void f32_from_f16(const uint16_t *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 lanes = lanes_of(n - i);
        __m256i halves = _mm256_maskz_loadu_epi16(lanes, from + i);
        _mm512_mask_storeu_ps(to + i, lanes, _mm512_cvtph_ps(halves));
    }
}

AVX512 static size_t find_nonfinite(const float *values, size_t n)
{
    const __m512i exponent = _mm512_set1_epi32(0x7f800000);

    for (size_t i = 0; i < n; i += LANES) {
        __m512i bits = _mm512_maskz_loadu_epi32(lanes_of(n - i), values + i);
        unsigned bad = _mm512_cmpeq_epi32_mask(_mm512_and_si512(bits, exponent), exponent);
        if (bad != 0) return i + (size_t)__builtin_ctz(bad);
    }
    return n;
}

const struct kernels kernels_avx512 = {
    .tier = "avx512",
    .dot_f32 = dot_f32,
    .dot_f16 = dot_f16,
    .dot_norm_f32 = dot_norm_f32,
    .dot_norm_f16 = dot_norm_f16,
    .l2sq_f32 = l2sq_f32,
    .l2sq_f16 = l2sq_f16,
    .norm_f32 = norm_f32,
    .norm_f16 = norm_f16,
    .dot_tile = dot_tile,
    .f16_from_f32 = f16_from_f32,
    .f32_from_f16 = f32_from_f16,
    .find_nonfinite = find_nonfinite,
};
#endif
