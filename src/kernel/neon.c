/* neon.c - the NEON tier, which every 64-bit ARM has; the half-precision conversions as well.
 *
 * Same sums as portable.c, which is the meaning; this file is only speed. Its plan is avx512.c's:
 * one scan_rows whose uses are told apart by constants, the same accumulators a row in every
 * grouping, the same steps and the same reduction: a row's bits do not depend on its company.
 *
 * Scans   Vectors are short (4), so a row has four accumulators. Two rows share the loads of q;
 *         with four, the compiler runs out of its 32 registers. The last 1..3 components go
 *         through a zeroed buffer: nothing is read past a row. No prefetch, which was not measured
 *         on such a machine.
 * Tile    16 queries (four registers) against 5 rows, 20 accumulators, the two halves of the 32
 *         queries one after the other: 9 loads for 20 FMAs. Six rows spill. */
#include "kernel/kernel.h"

#if defined(__aarch64__)
#include <stdbool.h>
#include <string.h>

#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

#define LANES 4u
#define CHAINS 4u /* accumulators a row */
#define GROUP 2u  /* rows that share the loads of q */

enum { DOT = 1, NORM = 2, L2SQ = 4 }; /* what a scan adds up; DOT | NORM is one pass for both */

struct scan {
    const float *q;
    const char *rows;
    size_t stride, dim;
    float *out, *norm;
};

struct sums {
    float32x4_t term[CHAINS], norm[CHAINS];
};

INLINE float32x4_t load_f16(const void *from)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
}

INLINE float32x4_t load(const char *row, size_t at, bool half)
{
    return half ? load_f16(row + at * 2) : vld1q_f32((const void *)(row + at * 4));
}

/* The first n < LANES components at `from`, then zeros. */
INLINE float32x4_t load_few(const void *from, size_t n, bool half)
{
    float few[LANES] = {0};
    uint16_t few_f16[LANES] = {0};

    if (half) {
        memcpy(few_f16, from, n * sizeof few_f16[0]);
        return load_f16(few_f16);
    }
    memcpy(few, from, n * sizeof few[0]);
    return vld1q_f32(few);
}

INLINE float total(const float32x4_t *chain)
{
    return vaddvq_f32(vaddq_f32(vaddq_f32(chain[0], chain[1]), vaddq_f32(chain[2], chain[3])));
}

INLINE void add(int what, float32x4_t q, float32x4_t x, struct sums *sums, size_t chain)
{
    if (what & L2SQ) {
        float32x4_t diff = vsubq_f32(q, x);
        sums->term[chain] = vfmaq_f32(sums->term[chain], diff, diff);
    }
    if (what & DOT) sums->term[chain] = vfmaq_f32(sums->term[chain], q, x);
    if (what & NORM) sums->norm[chain] = vfmaq_f32(sums->norm[chain], x, x);
}

/* One vector of q against `count` rows. */
INLINE void step(const struct scan *s, int what, bool half, size_t count, size_t at,
                 struct sums *sums, size_t chain)
{
    float32x4_t q = what == NORM ? vdupq_n_f32(0) : vld1q_f32(s->q + at);

#pragma GCC unroll 2
    for (size_t r = 0; r < count; r++)
        add(what, q, load(s->rows + r * s->stride, at, half), &sums[r], chain);
}

INLINE void scan_rows(const struct scan *s, int what, bool half, size_t count)
{
    struct sums sums[GROUP];
    size_t at = 0;

#pragma GCC unroll 2
    for (size_t r = 0; r < count; r++)
#pragma GCC unroll 4
        for (size_t chain = 0; chain < CHAINS; chain++)
            sums[r].term[chain] = sums[r].norm[chain] = vdupq_n_f32(0);
    for (; at + CHAINS * LANES <= s->dim; at += CHAINS * LANES)
#pragma GCC unroll 4
        for (size_t chain = 0; chain < CHAINS; chain++)
            step(s, what, half, count, at + chain * LANES, sums, chain);
    for (; at + LANES <= s->dim; at += LANES)
        step(s, what, half, count, at, sums, 0);

    size_t left = s->dim - at;
    float32x4_t q = what == NORM ? vdupq_n_f32(0) : load_few(s->q + at, left, false);
#pragma GCC unroll 2
    for (size_t r = 0; r < count; r++) {
        const char *rest = s->rows + r * s->stride + at * (half ? 2 : 4);
        add(what, q, load_few(rest, left, half), &sums[r], 1);
        if (what != NORM) s->out[r] = total(sums[r].term);
        if (what & NORM) s->norm[r] = total(sums[r].norm);
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
        scan_rows(&s, what, half, GROUP);
        skip_rows(&s, what, GROUP);
    }
    for (; n > 0; n--) {
        scan_rows(&s, what, half, 1);
        skip_rows(&s, what, 1);
    }
}

static void dot_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                    float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL}, DOT, false, n);
}

static void dot_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                    float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL}, DOT, true, n);
}

static void dot_norm_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                         float *out, float *norm)
{
    scan((struct scan){q, rows, stride, dim, out, norm}, DOT | NORM, false, n);
}

static void dot_norm_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                         float *out, float *norm)
{
    scan((struct scan){q, rows, stride, dim, out, norm}, DOT | NORM, true, n);
}

static void l2sq_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                     float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL}, L2SQ, false, n);
}

static void l2sq_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                     float *out)
{
    scan((struct scan){q, rows, stride, dim, out, NULL}, L2SQ, true, n);
}

static void norm_f32(const void *rows, size_t stride, size_t n, size_t dim, float *norm)
{
    scan((struct scan){NULL, rows, stride, dim, NULL, norm}, NORM, false, n);
}

static void norm_f16(const void *rows, size_t stride, size_t n, size_t dim, float *norm)
{
    scan((struct scan){NULL, rows, stride, dim, NULL, norm}, NORM, true, n);
}

#define TILE_ROWS 5u
#define TILE_VECTORS 4u
#define TILE_HALF (KERNEL_TILE_QUERIES / 2)

/* Half of the queries, 16, against `count` rows. */
INLINE void tile_half(const float *packed, const char *rows, size_t stride, size_t count,
                      size_t dim, float *out)
{
    float32x4_t sum[TILE_ROWS][TILE_VECTORS];

#pragma GCC unroll 5
    for (size_t r = 0; r < count; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < TILE_VECTORS; v++)
            sum[r][v] = vdupq_n_f32(0);
    for (size_t j = 0; j < dim; j++, packed += KERNEL_TILE_QUERIES) {
        float32x4_t q[TILE_VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < TILE_VECTORS; v++)
            q[v] = vld1q_f32(packed + v * LANES);
#pragma GCC unroll 5
        for (size_t r = 0; r < count; r++) {
            float x = ((const float *)(const void *)(rows + r * stride))[j];
#pragma GCC unroll 4
            for (size_t v = 0; v < TILE_VECTORS; v++)
                sum[r][v] = vfmaq_n_f32(sum[r][v], q[v], x);
        }
    }
#pragma GCC unroll 5
    for (size_t r = 0; r < count; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < TILE_VECTORS; v++)
            vst1q_f32(out + r * KERNEL_TILE_QUERIES + v * LANES, sum[r][v]);
}

static void dot_tile(const float *packed, const void *rows, size_t stride, size_t n, size_t dim,
                     float *out)
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

INLINE void store_f16(uint16_t *to, float32x4_t values)
{
    vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(values)));
}

static void f16_from_f32(const float *from, size_t n, uint16_t *to)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        store_f16(to + i, vld1q_f32(from + i));
    uint16_t few[LANES];
    store_f16(few, load_few(from + i, n - i, false));
    memcpy(to + i, few, (n - i) * sizeof few[0]);
}

static void f32_from_f16(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        vst1q_f32(to + i, load_f16(from + i));
    float few[LANES];
    vst1q_f32(few, load_few(from + i, n - i, true));
    memcpy(to + i, few, (n - i) * sizeof few[0]);
}

static size_t find_nonfinite(const float *values, size_t n)
{
    const uint32_t exponent = 0x7f800000u;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        uint32x4_t bits =
            vandq_u32(vreinterpretq_u32_f32(vld1q_f32(values + i)), vdupq_n_u32(exponent));
        if (vmaxvq_u32(bits) == exponent) break;
    }
    for (; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        if ((bits & exponent) == exponent) return i;
    }
    return n;
}

const struct kernels kernels_neon = {
    .tier = "neon",
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
