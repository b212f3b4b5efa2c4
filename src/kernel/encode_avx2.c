/* encode_avx2.c - making codes with AVX2.
 *
 * Same sums as encode_portable.c, which is the meaning, bit for bit: sixteen parts are two
 * registers, multiplications and additions stay apart, and parts are added up by halves. Up to
 * three steps share the loads of a group, which leaves twelve sums in registers.
 *
 * Flags   The file is built with the baseline flags; only functions marked AVX2 may use it. */
#include "kernel/encode.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE AVX2 static inline __attribute__((always_inline))

#define TOGETHER 3u
#define LANES 8u

struct parts {
    __m256 low, high;
};

INLINE float reduce(struct parts parts)
{
    __m256 eight = _mm256_add_ps(parts.low, parts.high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));

    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

INLINE __m256 add_product(__m256 sum, __m256 a, __m256 b)
{
    return _mm256_add_ps(sum, _mm256_mul_ps(a, b));
}

AVX2 static struct encode_norms norms(const struct encode_group *group)
{
    __m256 zero = _mm256_setzero_ps();
    struct parts weighted = {zero, zero}, pulled = {zero, zero};

    for (size_t i = 0; i < group->n; i += ENCODE_PARTS) {
        __m256 low = _mm256_loadu_ps(group->values + i);
        __m256 high = _mm256_loadu_ps(group->values + i + LANES);

        low = _mm256_mul_ps(low, low);
        high = _mm256_mul_ps(high, high);
        weighted.low = add_product(weighted.low, _mm256_loadu_ps(group->weight + i), low);
        weighted.high =
            add_product(weighted.high, _mm256_loadu_ps(group->weight + i + LANES), high);
        pulled.low = add_product(pulled.low, _mm256_loadu_ps(group->pull + i), low);
        pulled.high = add_product(pulled.high, _mm256_loadu_ps(group->pull + i + LANES), high);
    }
    return (struct encode_norms){reduce(weighted), reduce(pulled)};
}

INLINE __m256i code(__m256 y, __m256 inverse, __m256 offset)
{
    __m256 top = _mm256_sub_ps(_mm256_add_ps(offset, offset), _mm256_set1_ps(1));
    __m256 c = _mm256_add_ps(_mm256_mul_ps(y, inverse), offset);

    return _mm256_cvttps_epi32(_mm256_max_ps(_mm256_min_ps(c, top), _mm256_setzero_ps()));
}

/* Eight components at `i`: their share of the sums of `count` steps. */
INLINE void add_eight(const struct encode_group *group, size_t i, const float *inverse,
                      size_t count, __m256 *dot, __m256 *norm)
{
    __m256 y = _mm256_loadu_ps(group->values + i), w = _mm256_loadu_ps(group->weight + i);
    __m256 offset = _mm256_loadu_ps(group->offset + i);
    __m256 half = _mm256_sub_ps(offset, _mm256_set1_ps(0.5f));

#pragma GCC unroll 3
    for (size_t k = 0; k < count; k++) {
        __m256i c = code(y, _mm256_set1_ps(inverse[k]), offset);
        __m256 x = _mm256_sub_ps(_mm256_cvtepi32_ps(c), half), weighted = _mm256_mul_ps(w, x);

        dot[k] = add_product(dot[k], weighted, y);
        norm[k] = add_product(norm[k], weighted, x);
    }
}

INLINE void sums_of(const struct encode_group *group, const float *inverse, size_t count,
                    struct encode_sums *sums)
{
    __m256 dot[2][TOGETHER], norm[2][TOGETHER];

#pragma GCC unroll 3
    for (size_t k = 0; k < count; k++)
        dot[0][k] = dot[1][k] = norm[0][k] = norm[1][k] = _mm256_setzero_ps();
    for (size_t i = 0; i < group->n; i += ENCODE_PARTS) {
        add_eight(group, i, inverse, count, dot[0], norm[0]);
        add_eight(group, i + LANES, inverse, count, dot[1], norm[1]);
    }
#pragma GCC unroll 3
    for (size_t k = 0; k < count; k++)
        sums[k] = (struct encode_sums){reduce((struct parts){dot[0][k], dot[1][k]}),
                                       reduce((struct parts){norm[0][k], norm[1][k]})};
}

AVX2 static void sums(const struct encode_group *group, const float *inverse, size_t steps,
                      struct encode_sums *sums)
{
    for (; steps >= TOGETHER; steps -= TOGETHER, inverse += TOGETHER, sums += TOGETHER)
        sums_of(group, inverse, TOGETHER, sums);
    for (; steps > 0; steps--, inverse++, sums++)
        sums_of(group, inverse, 1, sums);
}

AVX2 static void codes(const struct encode_group *group, float inverse, uint8_t *codes)
{
    __m256 step = _mm256_set1_ps(inverse);

    for (size_t i = 0; i < group->n; i += LANES) {
        __m256i c =
            code(_mm256_loadu_ps(group->values + i), step, _mm256_loadu_ps(group->offset + i));
        __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));

        _mm_storel_epi64((void *)(codes + i), _mm_packus_epi16(words, words));
    }
}

const struct encode_kernels encode_kernels_avx2 = {
    .tier = "avx2",
    .norms = norms,
    .sums = sums,
    .codes = codes,
};
#endif
