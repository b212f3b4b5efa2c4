/* avx2.c - the AVX2 tier (with FMA and F16C: Haswell, Zen 1 and later).
 *
 * Same sums as portable.c, which is the meaning; this file is only speed. Its plan is avx512.c's:
 * one scan_rows whose uses are told apart by constants, two accumulators a row in every grouping,
 * the same steps and the same reduction, so that a row's bits do not depend on its company.
 *
 * Scans   Four rows share the loads of q; two where dot and norm are summed together, because four
 *         would need more than the 16 registers. There is no masked load of 16-bit components, so
 *         the last 1..7 go through a zeroed buffer. The same place of the next group is prefetched.
 * Tile    16 queries (two registers) against 6 rows, 12 accumulators, the two halves of the 32
 *         queries one after the other: 8 loads for 12 FMAs, where 32 queries against 3 rows would
 *         leave no register for the broadcast.
 * Flags   The file is built with the baseline flags; only functions marked AVX2 may use it, so the
 *         linker can never pick a shared inline helper that an older CPU cannot run. */
#include "kernel/kernel.h"

#if defined(__x86_64__)
#include <stdbool.h>
#include <string.h>

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma,f16c")))
#define INLINE AVX2 static inline __attribute__((always_inline))

#define LANES 8u
#define GROUP_MAX 4u

enum { DOT = 1, NORM = 2, L2SQ = 4 }; /* what a scan adds up; DOT | NORM is one pass for both */

struct scan {
    const float *q;
    const char *rows;
    size_t stride, dim;
    float *out, *norm;
    size_t ahead; /* bytes to the row that is prefetched meanwhile; 0 is no row but this one */
};

struct sums {
    __m256 term, norm;
};

INLINE __m256 load_f16(const void *from) { return _mm256_cvtph_ps(_mm_loadu_si128(from)); }

INLINE __m256 load(const char *row, size_t at, bool half)
{
    return half ? load_f16(row + at * 2) : _mm256_loadu_ps((const void *)(row + at * 4));
}

/* The first n < LANES components at `from`, then zeros. */
INLINE __m256 load_few(const void *from, size_t n, bool half)
{
    static const int32_t masks[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};

    if (half) {
        uint16_t few[LANES] = {0};
        memcpy(few, from, n * sizeof few[0]);
        return load_f16(few);
    }
    return _mm256_maskload_ps(from, _mm256_loadu_si256((const void *)(masks + LANES - n)));
}

INLINE float total(__m256 v)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));

    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

INLINE void add(int what, __m256 q, __m256 x, struct sums *sums)
{
    if (what & L2SQ) {
        __m256 diff = _mm256_sub_ps(q, x);
        sums->term = _mm256_fmadd_ps(diff, diff, sums->term);
    }
    if (what & DOT) sums->term = _mm256_fmadd_ps(q, x, sums->term);
    if (what & NORM) sums->norm = _mm256_fmadd_ps(x, x, sums->norm);
}

/* One vector of q against `count` rows. */
INLINE void step(const struct scan *s, int what, bool half, size_t count, size_t at,
                 struct sums *sums)
{
    __m256 q = what == NORM ? _mm256_setzero_ps() : _mm256_loadu_ps(s->q + at);

#pragma GCC unroll 4
    for (size_t r = 0; r < count; r++)
        add(what, q, load(s->rows + r * s->stride, at, half), &sums[r]);
}

/* What the two steps at `at` touch, a group of rows further on. */
INLINE void prefetch(const struct scan *s, bool half, size_t count, size_t at)
{
#pragma GCC unroll 4
    for (size_t r = 0; r < count; r++) {
        _mm_prefetch(s->rows + s->ahead + r * s->stride + at * (half ? 2 : 4), _MM_HINT_T0);
    }
}

INLINE void scan_rows(const struct scan *s, int what, bool half, size_t count)
{
    struct sums even[GROUP_MAX], odd[GROUP_MAX];
    size_t at = 0;

#pragma GCC unroll 4
    for (size_t r = 0; r < count; r++)
        even[r].term = even[r].norm = odd[r].term = odd[r].norm = _mm256_setzero_ps();
    for (; at + 2 * LANES <= s->dim; at += 2 * LANES) {
        prefetch(s, half, count, at);
        step(s, what, half, count, at, even);
        step(s, what, half, count, at + LANES, odd);
    }
    if (at + LANES <= s->dim) {
        step(s, what, half, count, at, even);
        at += LANES;
    }
    size_t left = s->dim - at;
    __m256 q = what == NORM ? _mm256_setzero_ps() : load_few(s->q + at, left, false);
#pragma GCC unroll 4
    for (size_t r = 0; r < count; r++) {
        const char *rest = s->rows + r * s->stride + at * (half ? 2 : 4);
        add(what, q, load_few(rest, left, half), &odd[r]);
        if (what != NORM) s->out[r] = total(_mm256_add_ps(even[r].term, odd[r].term));
        if (what & NORM) s->norm[r] = total(_mm256_add_ps(even[r].norm, odd[r].norm));
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
    const size_t group = what == (DOT | NORM) ? 2 : GROUP_MAX;

    for (; n >= group; n -= group) {
        s.ahead = n >= 2 * group ? group * s.stride : 0;
        scan_rows(&s, what, half, group);
        skip_rows(&s, what, group);
    }
    for (; n > 0; n--) {
        scan_rows(&s, what, half, 1);
        skip_rows(&s, what, 1);
    }
}

AVX2 static void dot_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                         float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL, 0}, DOT, false, n);
}

AVX2 static void dot_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                         float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL, 0}, DOT, true, n);
}

AVX2 static void dot_norm_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                              float *out, float *norm)
{
    scan((struct scan){q, rows, stride, dim, out, norm, 0}, DOT | NORM, false, n);
}

AVX2 static void dot_norm_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                              float *out, float *norm)
{
    scan((struct scan){q, rows, stride, dim, out, norm, 0}, DOT | NORM, true, n);
}

AVX2 static void l2sq_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                          float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL, 0}, L2SQ, false, n);
}

AVX2 static void l2sq_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                          float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL, 0}, L2SQ, true, n);
}

AVX2 static void norm_f32(const void *rows, size_t stride, size_t n, size_t dim, float *norm)
{
    scan((struct scan){NULL, rows, stride, dim, NULL, norm, 0}, NORM, false, n);
}

AVX2 static void norm_f16(const void *rows, size_t stride, size_t n, size_t dim, float *norm)
{
    scan((struct scan){NULL, rows, stride, dim, NULL, norm, 0}, NORM, true, n);
}

#define TILE_ROWS 6u
#define TILE_HALF (KERNEL_TILE_QUERIES / 2)

/* Half of the queries, 16, against `count` rows. */
INLINE void tile_half(const float *packed, const char *rows, size_t stride, size_t count,
                      size_t dim, float *out)
{
    __m256 low[TILE_ROWS], high[TILE_ROWS];

#pragma GCC unroll 6
    for (size_t r = 0; r < count; r++)
        low[r] = high[r] = _mm256_setzero_ps();
    for (size_t j = 0; j < dim; j++, packed += KERNEL_TILE_QUERIES) {
        __m256 q_low = _mm256_load_ps(packed), q_high = _mm256_load_ps(packed + LANES);
#pragma GCC unroll 6
        for (size_t r = 0; r < count; r++) {
            __m256 x = _mm256_broadcast_ss((const float *)(const void *)(rows + r * stride) + j);
            low[r] = _mm256_fmadd_ps(x, q_low, low[r]);
            high[r] = _mm256_fmadd_ps(x, q_high, high[r]);
        }
    }
#pragma GCC unroll 6
    for (size_t r = 0; r < count; r++) {
        _mm256_storeu_ps(out + r * KERNEL_TILE_QUERIES, low[r]);
        _mm256_storeu_ps(out + r * KERNEL_TILE_QUERIES + LANES, high[r]);
    }
}

AVX2 static void dot_tile(const float *packed, const void *rows, size_t stride, size_t n,
                          size_t dim, float *out)
{
    const char *row = rows;

    for (; n >= TILE_ROWS; n -= TILE_ROWS) {
        tile_half(packed, row, stride, TILE_ROWS, dim, out);
        tile_half(packed + TILE_HALF, row, stride, TILE_ROWS, dim, out + TILE_HALF);
        row += TILE_ROWS * stride;
        out += TILE_ROWS * (size_t)KERNEL_TILE_QUERIES;
    }
    for (; n > 0; n--) {
        tile_half(packed, row, stride, 1, dim, out);
        tile_half(packed + TILE_HALF, row, stride, 1, dim, out + TILE_HALF);
        row += stride;
        out += KERNEL_TILE_QUERIES;
    }
}

AVX2 static void f16_from_f32(const float *from, size_t n, uint16_t *to)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((void *)(to + i), half);
    }
    uint16_t few[LANES];
    __m256 rest = load_few(from + i, n - i, false);
    _mm_storeu_si128((void *)few, _mm256_cvtps_ph(rest, _MM_FROUND_TO_NEAREST_INT));
    memcpy(to + i, few, (n - i) * sizeof few[0]);
}

AVX2 static void f32_from_f16(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        _mm256_storeu_ps(to + i, load_f16(from + i));
    float few[LANES];
    _mm256_storeu_ps(few, load_few(from + i, n - i, true));
    memcpy(to + i, few, (n - i) * sizeof few[0]);
}

INLINE unsigned nonfinite_lanes(__m256 values)
{
    const __m256i exponent = _mm256_set1_epi32(0x7f800000);
    __m256i bits = _mm256_and_si256(_mm256_castps_si256(values), exponent);

    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(bits, exponent)));
}

AVX2 static size_t find_nonfinite(const float *values, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        unsigned bad = nonfinite_lanes(_mm256_loadu_ps(values + i));
        if (bad != 0) return i + (size_t)__builtin_ctz(bad);
    }
    unsigned bad = nonfinite_lanes(load_few(values + i, n - i, false));
    return bad != 0 ? i + (size_t)__builtin_ctz(bad) : n;
}

const struct kernels kernels_avx2 = {
    .tier = "avx2",
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
