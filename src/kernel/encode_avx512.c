/* encode_avx512.c - making codes with AVX-512 (F, BW, VL).
 *
 * Same sums as encode_portable.c, which is the meaning, bit for bit: sixteen parts are one
 * register, multiplications and additions stay apart, and parts are added up by halves. Up to four
 * steps share the loads of a group, which leaves eight sums in registers.
 *
 * Flags   The file is built with the baseline flags; only functions marked AVX512 may use it. */
#include "kernel/encode.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define INLINE AVX512 static inline __attribute__((always_inline))

#define TOGETHER 4u

INLINE float reduce(__m512 parts)
{
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(parts), _mm512_extractf32x8_ps(parts, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));

    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

AVX512 static struct encode_norms norms(const struct encode_group *group)
{
    __m512 weighted = _mm512_setzero_ps(), pulled = _mm512_setzero_ps();

    for (size_t i = 0; i < group->n; i += ENCODE_PARTS) {
        __m512 y = _mm512_loadu_ps(group->values + i), square = _mm512_mul_ps(y, y);

        weighted =
            _mm512_add_ps(weighted, _mm512_mul_ps(_mm512_loadu_ps(group->weight + i), square));
        pulled = _mm512_add_ps(pulled, _mm512_mul_ps(_mm512_loadu_ps(group->pull + i), square));
    }
    return (struct encode_norms){reduce(weighted), reduce(pulled)};
}

INLINE __m512i code(__m512 y, __m512 inverse, __m512 offset, __m512 top)
{
    __m512 c = _mm512_add_ps(_mm512_mul_ps(y, inverse), offset);

    return _mm512_cvttps_epi32(_mm512_max_ps(_mm512_min_ps(c, top), _mm512_setzero_ps()));
}

INLINE __m512 top_of(__m512 offset)
{
    return _mm512_sub_ps(_mm512_add_ps(offset, offset), _mm512_set1_ps(1));
}

INLINE void sums_of(const struct encode_group *group, const float *inverse, size_t count,
                    struct encode_sums *sums)
{
    __m512 dot[TOGETHER], norm[TOGETHER];

#pragma GCC unroll 4
    for (size_t k = 0; k < count; k++)
        dot[k] = norm[k] = _mm512_setzero_ps();
    for (size_t i = 0; i < group->n; i += ENCODE_PARTS) {
        __m512 y = _mm512_loadu_ps(group->values + i), w = _mm512_loadu_ps(group->weight + i);
        __m512 offset = _mm512_loadu_ps(group->offset + i), top = top_of(offset);
        __m512 half = _mm512_sub_ps(offset, _mm512_set1_ps(0.5f));

#pragma GCC unroll 4
        for (size_t k = 0; k < count; k++) {
            __m512i c = code(y, _mm512_set1_ps(inverse[k]), offset, top);
            __m512 x = _mm512_sub_ps(_mm512_cvtepi32_ps(c), half), weighted = _mm512_mul_ps(w, x);

            dot[k] = _mm512_add_ps(dot[k], _mm512_mul_ps(weighted, y));
            norm[k] = _mm512_add_ps(norm[k], _mm512_mul_ps(weighted, x));
        }
    }
#pragma GCC unroll 4
    for (size_t k = 0; k < count; k++)
        sums[k] = (struct encode_sums){reduce(dot[k]), reduce(norm[k])};
}

AVX512 static void sums(const struct encode_group *group, const float *inverse, size_t steps,
                        struct encode_sums *sums)
{
    for (; steps >= TOGETHER; steps -= TOGETHER, inverse += TOGETHER, sums += TOGETHER)
        sums_of(group, inverse, TOGETHER, sums);
    for (; steps > 0; steps--, inverse++, sums++)
        sums_of(group, inverse, 1, sums);
}

AVX512 static void codes(const struct encode_group *group, float inverse, uint8_t *codes)
{
    for (size_t i = 0; i < group->n; i += ENCODE_PARTS) {
        __m512 y = _mm512_loadu_ps(group->values + i);
        __m512 offset = _mm512_loadu_ps(group->offset + i);
        __m512i c = code(y, _mm512_set1_ps(inverse), offset, top_of(offset));

        _mm_storeu_si128((void *)(codes + i), _mm512_cvtepi32_epi8(c));
    }
}

const struct encode_kernels encode_kernels_avx512 = {
    .tier = "avx512",
    .norms = norms,
    .sums = sums,
    .codes = codes,
};
#endif
