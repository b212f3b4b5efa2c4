/* portable.c - the meaning of every kernel, in plain C; the other tiers are only speed.
 *
 * Sums run from the first component to the last in float, one accumulator, so anybody can recompute
 * a result by hand. Conversions follow IEEE 754: ties to even, and a NaN keeps its sign and the
 * upper bits of its payload and becomes quiet, which is what vcvtps2ph and fcvtn do as well; so
 * conversions are bit-exact across tiers. */
#include "kernel/kernel.h"

#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static float widen(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, magnitude = half & 0x7fffu;

    if (magnitude >= 0x7c00u) {
        uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0;
        return float_of(sign | 0x7f800000u | quiet | (magnitude & 0x3ffu) << 13);
    }
    /* The product sets the exponent's bias right, and is exact for subnormal halves as well. */
    return float_of(sign | bits_of(float_of(magnitude << 13) * 0x1p112f));
}

/* value >> shift, to nearest, ties to even */
static uint32_t shift_rounded(uint32_t value, uint32_t shift)
{
    uint32_t odd = value >> shift & 1u;

    return (value + (1u << (shift - 1)) - 1u + odd) >> shift;
}

static uint16_t narrow(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    uint32_t half;

    if (magnitude > 0x7f800000u) {
        half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    } else if (magnitude >= 0x477ff000u) { /* 65520 and up, and infinity */
        half = 0x7c00u;
    } else if (magnitude >= 0x38800000u) { /* normal: a carry out of the fraction is right */
        half = shift_rounded(magnitude - (112u << 23), 13);
    } else if (magnitude > 0x33000000u) { /* subnormal: above 2^-25, half of the least one */
        uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
        half = shift_rounded(fraction, 126u - (magnitude >> 23));
    } else {
        half = 0;
    }
    return (uint16_t)(sign | half);
}

static const void *row_at(const void *rows, size_t stride, size_t i)
{
    return (const char *)rows + i * stride;
}

static void dot_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                    float *out)
{
    for (size_t i = 0; i < n; i++) {
        const float *row = row_at(rows, stride, i);
        float sum = 0.0f;
        for (size_t j = 0; j < dim; j++)
            sum += q[j] * row[j];
        out[i] = sum;
    }
}

static void dot_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                    float *out)
{
    for (size_t i = 0; i < n; i++) {
        const uint16_t *row = row_at(rows, stride, i);
        float sum = 0.0f;
        for (size_t j = 0; j < dim; j++)
            sum += q[j] * widen(row[j]);
        out[i] = sum;
    }
}

static void norm_f32(const void *rows, size_t stride, size_t n, size_t dim, float *norm)
{
    for (size_t i = 0; i < n; i++) {
        const float *row = row_at(rows, stride, i);
        float sum = 0.0f;
        for (size_t j = 0; j < dim; j++)
            sum += row[j] * row[j];
        norm[i] = sum;
    }
}

static void norm_f16(const void *rows, size_t stride, size_t n, size_t dim, float *norm)
{
    for (size_t i = 0; i < n; i++) {
        const uint16_t *row = row_at(rows, stride, i);
        float sum = 0.0f;
        for (size_t j = 0; j < dim; j++)
            sum += widen(row[j]) * widen(row[j]);
        norm[i] = sum;
    }
}

/* Row by row, so that the second pass finds the row in the cache. */
static void dot_norm_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                         float *out, float *norm)
{
    for (size_t i = 0; i < n; i++) {
        dot_f32(q, row_at(rows, stride, i), stride, 1, dim, out + i);
        norm_f32(row_at(rows, stride, i), stride, 1, dim, norm + i);
    }
}

static void dot_norm_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                         float *out, float *norm)
{
    for (size_t i = 0; i < n; i++) {
        dot_f16(q, row_at(rows, stride, i), stride, 1, dim, out + i);
        norm_f16(row_at(rows, stride, i), stride, 1, dim, norm + i);
    }
}

static void l2sq_f32(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                     float *out)
{
    for (size_t i = 0; i < n; i++) {
        const float *row = row_at(rows, stride, i);
        float sum = 0.0f;
        for (size_t j = 0; j < dim; j++) {
            float diff = q[j] - row[j];
            sum += diff * diff;
        }
        out[i] = sum;
    }
}

static void l2sq_f16(const float *q, const void *rows, size_t stride, size_t n, size_t dim,
                     float *out)
{
    for (size_t i = 0; i < n; i++) {
        const uint16_t *row = row_at(rows, stride, i);
        float sum = 0.0f;
        for (size_t j = 0; j < dim; j++) {
            float diff = q[j] - widen(row[j]);
            sum += diff * diff;
        }
        out[i] = sum;
    }
}

static void dot_tile(const float *packed, const void *rows, size_t stride, size_t n, size_t dim,
                     float *out)
{
    for (size_t i = 0; i < n; i++) {
        const float *row = row_at(rows, stride, i);
        float sum[KERNEL_TILE_QUERIES] = {0};
        for (size_t j = 0; j < dim; j++)
            for (size_t t = 0; t < KERNEL_TILE_QUERIES; t++)
                sum[t] += packed[j * KERNEL_TILE_QUERIES + t] * row[j];
        memcpy(out + i * KERNEL_TILE_QUERIES, sum, sizeof sum);
    }
}

static void f16_from_f32(const float *from, size_t n, uint16_t *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = narrow(from[i]);
}

static void f32_from_f16(const uint16_t *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = widen(from[i]);
}

static size_t find_nonfinite(const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((bits_of(values[i]) & 0x7f800000u) == 0x7f800000u) return i;
    return n;
}

const struct kernels kernels_portable = {
    .tier = "portable",
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
