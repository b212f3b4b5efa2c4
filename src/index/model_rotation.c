/* model_rotation.c - turns at random that everybody can make again from a seed.
 *
 * Long vectors  A dense matrix of 65,535 dimensions would take 16 GiB. Instead, four rounds of:
 *               signs; a shuffle (component i comes from i * stride modulo dim, stride coprime to
 *               dim); a Hadamard transform of the first p components, in every other round of the
 *               last p, p the greatest power of two within dim. Each step keeps lengths, so the
 *               whole does. Cost: 4 p log2 p additions.
 * Segments      A few dimensions (at most 64) get a dense matrix: Gauss, then Gram-Schmidt.
 *
 * Source: subsampled randomized Hadamard transforms, Ailon and Chazelle, STOC 2006. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "index/model_private.h"

#define ROUNDS 4u

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* About dim / golden ratio, so that neighbours end far apart. */
static uint32_t shuffle_stride(uint32_t dim)
{
    uint32_t stride = (uint32_t)(0.6180339887 * dim) | 1u;

    while (common_divisor(stride, dim) != 1)
        stride++;
    return stride;
}

static void signs(uint64_t seed, uint32_t round, uint32_t dim, float *x)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < dim; i++, bits >>= 1) {
        if (i % 64 == 0) bits = mix(seed ^ (uint64_t)round << 32 ^ i / 64);
        if (bits & 1) x[i] = -x[i];
    }
}

static void hadamard(float *x, uint32_t p)
{
    float scale = 1 / sqrtf((float)p);

    for (uint32_t half = 1; half < p; half *= 2)
        for (uint32_t i = 0; i < p; i += 2 * half)
            for (uint32_t j = i; j < i + half; j++) {
                float a = x[j], b = x[j + half];

                x[j] = a + b;
                x[j + half] = a - b;
            }
    for (uint32_t i = 0; i < p; i++)
        x[i] *= scale;
}

static uint32_t power_within(uint32_t dim)
{
    uint32_t p = 1;

    while (p <= dim / 2)
        p *= 2;
    return p;
}

void rotation_apply(uint64_t seed, uint32_t dim, float *x, float *room)
{
    uint32_t p = power_within(dim), stride = shuffle_stride(dim);

    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t from = 0;

        signs(seed, round, dim, x);
        for (uint32_t i = 0; i < dim; i++) {
            room[i] = x[from];
            from += stride;
            if (from >= dim) from -= dim;
        }
        memcpy(x, room, dim * sizeof *x);
        hadamard(round % 2 == 0 ? x : x + (dim - p), p);
    }
}

void rotation_undo(uint64_t seed, uint32_t dim, float *x, float *room)
{
    uint32_t p = power_within(dim), stride = shuffle_stride(dim);

    for (uint32_t round = ROUNDS; round-- > 0;) {
        uint32_t to = 0;

        hadamard(round % 2 == 0 ? x : x + (dim - p), p);
        for (uint32_t i = 0; i < dim; i++) {
            room[to] = x[i];
            to += stride;
            if (to >= dim) to -= dim;
        }
        memcpy(x, room, dim * sizeof *x);
        signs(seed, round, dim, x);
    }
}

static double uniform(uint64_t *state)
{
    *state += 1;
    return ((double)(mix(*state) >> 11) + 0.5) * 0x1p-53;
}

static double gauss(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));

    return radius * cos(6.283185307179586 * uniform(state));
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void subtract_part(double *a, const double *b, uint32_t n)
{
    double part = dot(a, b, n);

    for (uint32_t i = 0; i < n; i++)
        a[i] -= part * b[i];
}

void rotation_dense(uint64_t seed, uint32_t n, double *matrix)
{
    uint64_t state = mix(seed);

    assert(n > 0 && n <= CODE_LINE_NBYTES);
    for (uint32_t i = 0; i < n;) {
        double *row = matrix + (size_t)i * n, length;

        for (uint32_t j = 0; j < n; j++)
            row[j] = gauss(&state);
        for (uint32_t twice = 0; twice < 2; twice++) /* the second time mends rounding */
            for (uint32_t k = 0; k < i; k++)
                subtract_part(row, matrix + (size_t)k * n, n);
        length = sqrt(dot(row, row, n));
        if (length < 1e-3) continue; /* lies in the others' span: draw again */
        for (uint32_t j = 0; j < n; j++)
            row[j] /= length;
        i++;
    }
}
