/* code_avx512.c - kernels over codes for AVX-512 with VNNI (Ice Lake, Zen 4 and later).
 *
 * Same results as code_portable.c, which is the meaning; this file is only speed.
 *
 * Rows    Eight rows at a time share each step's values, shift and mask. A step of a row costs
 *         a load, a shift, an and, and one vpdpbusd into the sum of its group, which takes unsigned
 *         bytes times signed bytes without saturation. The sums of eight rows are added up
 *         transposed, so that a group's eight sums, the eight factors and the distances are one
 *         register each.
 * Misses  The rows are scattered over memory: later ones are prefetched (code_rows.h). A core
 *         waits for 16 lines of them at a time, which is what bounds a walk on a quiet machine;
 *         where another thread shares the core, it is the number of instructions.
 * Tail    The last one to seven rows are computed as eight, the last one repeated.
 * Lists   Visited bits are gathered 16 at a time; what passes is tested again and set one by one,
 *         since a list may name a row twice. Setting bits only after all were gathered matters: a
 *         gather waits for stores before it. Results are compressed in a register and stored
 *         whole: compressing to memory is slow on Zen 4.
 * Matrix  Widened to 16 bits on the way; the matrix's bytes come from the second cache at best, and
 *         cost more than that.
 * Flags   The file is built with the baseline flags; only functions marked AVX512 may use it, so
 *         the linker can never pick a shared inline helper that an older CPU cannot run. */
#include "kernel/code.h"
#include "kernel/code_rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define INLINE AVX512 static inline __attribute__((always_inline))

#define FOUR CODE_FOUR
#define EIGHT CODE_EIGHT

/* Of four: parts 0 and 2, 1 and 3 of each 128 bits are added up; part i is of number i then. */
INLINE __m512i quarter(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));

    return _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
}

/* The sum of the 16 parts of each of four. */
INLINE __m128i total_of_four(const __m512i v[FOUR])
{
    __m512i all = quarter(v[0], v[1], v[2], v[3]);
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));

    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* The sum of the 16 parts of each of eight. */
INLINE __m256i total_of_eight(const __m512i v[EIGHT])
{
    __m512i a = quarter(v[0], v[1], v[2], v[3]), b = quarter(v[4], v[5], v[6], v[7]);
    __m512i halves =
        _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
    __m512i all = _mm512_add_epi32(_mm512_shuffle_i32x4(halves, halves, 0x88),
                                   _mm512_shuffle_i32x4(halves, halves, 0xdd));

    return _mm512_castsi512_si256(all);
}

/* sum + products of unsigned codes and signed values, four to a part. With the intrinsic, gcc 12
 * copies every sum from register to register twice a step. */
INLINE __m512i dpbusd(__m512i sum, __m512i codes, __m512i value)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(codes), "v"(value));
    return sum;
}

/* Adds the products of the steps of one group; returns where the values of the next begin. Steps of
 * each form follow each other (code_layout.c). */
INLINE const int8_t *add_steps(const struct code_step *step, const struct code_step *end,
                               const int8_t *values, const uint8_t *const row[EIGHT],
                               __m512i sums[EIGHT])
{
    for (; step < end && step->mask == UINT32_MAX; step++, values += CODE_LINE_NBYTES) {
        const __m512i value = _mm512_load_si512(values);
#pragma GCC unroll 8
        for (size_t r = 0; r < EIGHT; r++)
            sums[r] = dpbusd(sums[r], _mm512_loadu_si512(row[r] + step->offset), value);
    }
    for (; step < end && step->shift == 0; step++, values += CODE_LINE_NBYTES) {
        const __m512i value = _mm512_load_si512(values);
        const __m512i mask = _mm512_set1_epi32((int)step->mask);
#pragma GCC unroll 8
        for (size_t r = 0; r < EIGHT; r++) {
            __m512i bytes = _mm512_loadu_si512(row[r] + step->offset);
            sums[r] = dpbusd(sums[r], _mm512_and_si512(bytes, mask), value);
        }
    }
    for (; step < end; step++, values += CODE_LINE_NBYTES) {
        const __m512i value = _mm512_load_si512(values);
        const __m512i mask = _mm512_set1_epi32((int)step->mask);
        const __m512i shift = _mm512_set1_epi32((int)step->shift);
#pragma GCC unroll 8
        for (size_t r = 0; r < EIGHT; r++) {
            __m512i bytes = _mm512_srlv_epi32(_mm512_loadu_si512(row[r] + step->offset), shift);
            sums[r] = dpbusd(sums[r], _mm512_and_si512(bytes, mask), value);
        }
    }
    return values;
}

/* S_g of eight rows, for each group g. */
INLINE void sum_rows(const struct code_layout *layout, const int8_t *values,
                     const uint8_t *const row[EIGHT], __m256i sums[CODE_GROUPS])
{
    const struct code_step *step = layout->steps;

    for (size_t g = 0; g < CODE_GROUPS; g++) {
        const struct code_step *end = layout->steps + layout->step_end[g];
        __m512i parts[EIGHT];
#pragma GCC unroll 8
        for (size_t r = 0; r < EIGHT; r++)
            parts[r] = _mm512_setzero_si512();
        values = add_steps(step, end, values, row, parts);
        step = end;
        sums[g] = total_of_eight(parts);
    }
}

/* Row r in the low half, r + 4 in the high one. */
INLINE __m256 load_factors(const float *const factors[EIGHT], size_t r)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(factors[r])),
                                _mm_load_ps(factors[r + FOUR]), 1);
}

/* Four times four, in each half. */
INLINE void transpose(__m256 v[FOUR])
{
    __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(v[0], v[1]));
    __m256d b = _mm256_castps_pd(_mm256_unpackhi_ps(v[0], v[1]));
    __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(v[2], v[3]));
    __m256d d = _mm256_castps_pd(_mm256_unpackhi_ps(v[2], v[3]));

    v[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
    v[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
    v[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
    v[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
}

/* The distances of eight rows: the float part, in code.h's order. */
INLINE __m256 weigh(const struct code_query *query, const float *const factors[EIGHT],
                    const __m256i sums[CODE_GROUPS])
{
    __m256 f[CODE_FACTORS] = {load_factors(factors, 0), load_factors(factors, 1),
                              load_factors(factors, 2), load_factors(factors, 3)};

    transpose(f);
    __m256 d = _mm256_add_ps(_mm256_set1_ps(query->base), f[CODE_GROUPS]);
#pragma GCC unroll 3
    for (size_t g = 0; g < CODE_GROUPS; g++) {
        __m256 t = _mm256_mul_ps(_mm256_cvtepi32_ps(sums[g]), _mm256_set1_ps(query->scale[g]));
        t = _mm256_add_ps(t, _mm256_set1_ps(query->shift[g]));
        d = _mm256_add_ps(d, _mm256_mul_ps(f[g], t));
    }
    return d;
}

/* The distances of the rows i .. i + 7; past the end, of the last one again. */
INLINE __m256 distance_of_eight(const struct code_rows *rows, const struct code_query *query,
                                size_t i)
{
    struct code_block block = code_block_at(rows, i, EIGHT);
    __m256i sums[CODE_GROUPS];

    sum_rows(&rows->plane->layout, query->values, block.row, sums);
    return weigh(query, block.factors, sums);
}

/* The lanes that `left` of up to eight rows fill. */
INLINE __mmask8 lanes_of(size_t left)
{
    return (__mmask8)(left < EIGHT ? (1u << left) - 1u : 0xffu);
}

AVX512 static void distances(const struct code_plane *plane, const struct code_query *query,
                             const uint32_t *ids, size_t first, size_t n, float *out)
{
    const struct code_rows rows = {plane, ids, first, n};

    code_rows_prefetch(&rows, 0, CODE_AHEAD);
    for (size_t i = 0; i < n; i += EIGHT)
        _mm256_mask_storeu_ps(out + i, lanes_of(n - i), distance_of_eight(&rows, query, i));
}

/* code_key of eight rows. */
INLINE __m512i keys_of(__m256 distances, __m256i ids)
{
    __m256i bits = _mm256_castps_si256(distances);
    __m256i flip = _mm256_or_si256(_mm256_srai_epi32(bits, 31), _mm256_set1_epi32(INT32_MIN));
    __m512i high = _mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm256_xor_si256(bits, flip)), 32);

    return _mm512_or_si512(high, _mm512_slli_epi64(_mm512_cvtepu32_epi64(ids), 1));
}

AVX512 static size_t keys_below(const struct code_plane *plane, const struct code_query *query,
                                const uint32_t *ids, size_t n, float bound, uint64_t *keys)
{
    const struct code_rows rows = {plane, ids, 0, n};
    size_t count = 0;

    code_rows_prefetch(&rows, 0, CODE_AHEAD);
    for (size_t i = 0; i < n; i += EIGHT) {
        __mmask8 lanes = lanes_of(n - i);
        __m256 d = distance_of_eight(&rows, query, i);
        __mmask8 below = _mm256_mask_cmp_ps_mask(lanes, d, _mm256_set1_ps(bound), _CMP_LT_OQ);
        __m512i key = keys_of(d, _mm256_maskz_loadu_epi32(lanes, ids + i));
        _mm512_storeu_si512(keys + count, _mm512_maskz_compress_epi64(below, key));
        count += (size_t)__builtin_popcount(below);
    }
    return count;
}

AVX512 static void sums(const struct code_layout *layout, const int8_t *values,
                        const uint8_t *const *rows, size_t n, int32_t *sums)
{
    for (size_t i = 0; i < n; i += EIGHT) {
        struct code_block block = code_block_of(layout, rows, n, i, EIGHT);
        __m256i s[CODE_GROUPS];
        sum_rows(layout, values, block.row, s);
        __m256 of_row[FOUR] = {_mm256_castsi256_ps(s[0]), _mm256_castsi256_ps(s[1]),
                               _mm256_castsi256_ps(s[2]), _mm256_setzero_ps()};
        transpose(of_row);
#pragma GCC unroll 8
        for (size_t r = 0; r < EIGHT; r++) {
            __m128 one = r < FOUR ? _mm256_castps256_ps128(of_row[r])
                                  : _mm256_extractf128_ps(of_row[r - FOUR], 1);
            if (i + r < n) _mm_storeu_ps((float *)(void *)(sums + (i + r) * CODE_FACTORS), one);
        }
    }
}

AVX512 static void expand(const struct code_layout *layout, const uint8_t *row, const int8_t *lut,
                          int8_t *out)
{
    const __mmask64 lanes = ~(__mmask64)0 >> (64 - layout->lane);

    memset(out, 0, layout->step_count * (size_t)CODE_LINE_NBYTES);
    for (size_t f = 0; f < layout->field_count; f++, lut += 16) {
        const struct code_field *field = &layout->fields[f];
        __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)lut));
        __m512i line = _mm512_loadu_si512(row + field->offset);
        __m512i shifted = _mm512_srlv_epi32(line, _mm512_set1_epi32(field->shift));
        __m512i mask = _mm512_set1_epi8((char)((1u << field->width) - 1u));
        __m512i codes = _mm512_and_si512(shifted, mask);
        _mm512_mask_storeu_epi8(out + field->values_at, lanes, _mm512_shuffle_epi8(table, codes));
    }
}

AVX512 static size_t unvisited(const uint32_t *list, size_t n, uint32_t *visited, uint32_t *out)
{
    const __m512i one = _mm512_set1_epi32(1), low = _mm512_set1_epi32(31);
    size_t count = 0;

    for (size_t i = 0; i < n; i += 16) {
        __m512i ids = _mm512_loadu_si512(list + i);
        __m512i words = _mm512_i32gather_epi32(_mm512_srli_epi32(ids, 5), visited, 4);
        __m512i bits = _mm512_sllv_epi32(one, _mm512_and_si512(ids, low));
        __mmask16 fresh = _mm512_testn_epi32_mask(words, bits);
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi32(fresh, ids));
        count += (size_t)__builtin_popcount(fresh);
    }
    return code_unvisited(out, count, visited, out);
}

INLINE __m512i load_wide_s8(const int8_t *from)
{
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const void *)from));
}

AVX512 static void matvec_s8(const int8_t *m, const int16_t *x, size_t rows, size_t stride,
                             int32_t *out)
{
    for (size_t i = 0; i < rows; i += FOUR) {
        const int8_t *row[FOUR];
        __m512i parts[FOUR] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                               _mm512_setzero_si512(), _mm512_setzero_si512()};
        for (size_t r = 0; r < FOUR; r++)
            row[r] = m + (i + r < rows ? i + r : rows - 1) * stride;
        for (size_t j = 0; j < stride; j += 32) {
            const int8_t *later = m + (i + 2 * FOUR) * stride + FOUR * j; /* after the next four */
            __m512i values = _mm512_loadu_si512(x + j);
            __builtin_prefetch(later);
            __builtin_prefetch(later + CODE_LINE_NBYTES);
#pragma GCC unroll 4
            for (size_t r = 0; r < FOUR; r++)
                parts[r] = _mm512_dpwssd_epi32(parts[r], load_wide_s8(row[r] + j), values);
        }
        _mm_mask_storeu_epi32(out + i, lanes_of(rows - i), total_of_four(parts));
    }
}

const struct code_kernels code_kernels_avx512 = {
    .tier = "avx512vnni",
    .distances = distances,
    .keys_below = keys_below,
    .sums = sums,
    .expand = expand,
    .unvisited = unvisited,
    .matvec_s8 = matvec_s8,
};
#endif
