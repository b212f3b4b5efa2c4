/* code_avx512.c - kernels over codes for AVX-512 with VNNI (Ice Lake, Zen 4 and later).
 *
 * Same results as code_portable.c, which is the meaning; this file is only speed.
 *
 * Rows    Four rows at a time share each field's values, shift and mask. A field of a row costs
 *         a load, a shift, an and, and one vpdpbusd into the accumulator of its group, which takes
 *         unsigned bytes times signed bytes without saturation. The accumulators of four rows are
 *         added up transposed, so that a group's four sums, the four factors and the distances are
 *         one register each. 8-bit fields need no shift and mask. `lane` is a constant in each
 *         instance; shorter lines are loaded in shorter registers, so that no load crosses into the
 *         next row's cache line. What a load takes beyond lane is multiplied by zero.
 * Misses  The rows are scattered over memory, and waiting for them is most of the time: later rows
 *         are prefetched (code_rows.h).
 * Tail    The last one to three rows are computed as four, the last one repeated.
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

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define INLINE AVX512 static inline __attribute__((always_inline))

#define FOUR CODE_FOUR

INLINE __m512i load_line(const uint8_t *line, size_t lane)
{
    switch (lane) {
    case 64:
        return _mm512_loadu_si512(line);
    case 32:
        return _mm512_zextsi256_si512(_mm256_loadu_si256((const void *)line));
    case 16:
        return _mm512_zextsi128_si512(_mm_loadu_si128((const void *)line));
    default:
        return _mm512_zextsi128_si512(_mm_loadl_epi64((const void *)line));
    }
}

/* A field's codes, one a byte, from a line: shifted right, and what its neighbours left masked. */
struct cut {
    __m512i shift, mask;
};

INLINE struct cut cut_of(const struct code_field *field)
{
    return (struct cut){_mm512_set1_epi32(field->shift),
                        _mm512_set1_epi8((char)((1u << field->width) - 1u))};
}

INLINE __m512i cut_line(struct cut cut, __m512i line)
{
    return _mm512_and_si512(_mm512_srlv_epi32(line, cut.shift), cut.mask);
}

INLINE void add_field(const struct code_field *field, const int8_t *values,
                      const uint8_t *const row[FOUR], size_t lane, __m512i sums[FOUR])
{
    __m512i value = _mm512_load_si512(values);

    if (field->width == 8) {
#pragma GCC unroll 4
        for (size_t r = 0; r < FOUR; r++)
            sums[r] = _mm512_dpbusd_epi32(sums[r], load_line(row[r] + field->offset, lane), value);
        return;
    }
    struct cut cut = cut_of(field);
#pragma GCC unroll 4
    for (size_t r = 0; r < FOUR; r++) {
        __m512i codes = cut_line(cut, load_line(row[r] + field->offset, lane));
        sums[r] = _mm512_dpbusd_epi32(sums[r], codes, value);
    }
}

/* The sum of the 16 parts of each of four. */
INLINE __m128i total(const __m512i v[FOUR])
{
    __m512i v01 =
        _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    __m512i v23 =
        _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    __m512i all =
        _mm512_add_epi32(_mm512_unpacklo_epi64(v01, v23), _mm512_unpackhi_epi64(v01, v23));
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));

    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

INLINE void sum_rows_of_lane(const struct code_layout *layout, const int8_t *values,
                             const uint8_t *const row[FOUR], size_t lane, __m128i sums[CODE_GROUPS])
{
    const struct code_field *field = layout->fields, *end = field + layout->field_count;

#pragma GCC unroll 3
    for (size_t g = 0; g < CODE_GROUPS; g++) {
        __m512i parts[FOUR] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                               _mm512_setzero_si512(), _mm512_setzero_si512()};
        sums[g] = _mm_setzero_si128();
        if (field == end || field->group != g) continue;
        for (; field < end && field->group == g; field++, values += CODE_LINE_NBYTES)
            add_field(field, values, row, lane, parts);
        sums[g] = total(parts);
    }
}

/* S_g of four rows, for each group g. */
INLINE void sum_rows(const struct code_layout *layout, const int8_t *values,
                     const uint8_t *const row[FOUR], __m128i sums[CODE_GROUPS])
{
    switch (layout->lane) {
    case 64:
        sum_rows_of_lane(layout, values, row, 64, sums);
        break;
    case 32:
        sum_rows_of_lane(layout, values, row, 32, sums);
        break;
    case 16:
        sum_rows_of_lane(layout, values, row, 16, sums);
        break;
    default:
        sum_rows_of_lane(layout, values, row, 8, sums);
    }
}

/* The distances of four rows: the float part, in code.h's order. */
INLINE __m128 weigh(const struct code_query *query, const float *const factors[FOUR],
                    const __m128i sums[CODE_GROUPS])
{
    __m128 f[CODE_FACTORS] = {_mm_load_ps(factors[0]), _mm_load_ps(factors[1]),
                              _mm_load_ps(factors[2]), _mm_load_ps(factors[3])};

    _MM_TRANSPOSE4_PS(f[0], f[1], f[2], f[3]);
    __m128 d = _mm_add_ps(_mm_set1_ps(query->base), f[CODE_GROUPS]);
#pragma GCC unroll 3
    for (size_t g = 0; g < CODE_GROUPS; g++) {
        __m128 t = _mm_mul_ps(_mm_cvtepi32_ps(sums[g]), _mm_set1_ps(query->scale[g]));
        t = _mm_add_ps(t, _mm_set1_ps(query->shift[g]));
        d = _mm_add_ps(d, _mm_mul_ps(f[g], t));
    }
    return d;
}

/* The distances of the rows i .. i + 3; past the end, of the last one again. */
INLINE __m128 distance_of_four(const struct code_rows *rows, const struct code_query *query,
                               size_t i)
{
    struct code_four four = code_four_at(rows, i);
    __m128i sums[CODE_GROUPS];

    sum_rows(&rows->plane->layout, query->values, four.row, sums);
    return weigh(query, four.factors, sums);
}

/* The lanes that n - i of up to four rows fill. */
INLINE __mmask8 lanes_of(size_t left) { return (__mmask8)(left < FOUR ? (1u << left) - 1u : 0xfu); }

AVX512 static void distances(const struct code_plane *plane, const struct code_query *query,
                             const uint32_t *ids, size_t first, size_t n, float *out)
{
    const struct code_rows rows = {plane, ids, first, n};

    for (size_t i = 0; i < n; i += FOUR) {
        __m128 d = distance_of_four(&rows, query, i);
        _mm_mask_storeu_ps(out + i, lanes_of(n - i), d);
    }
}

AVX512 static size_t keys_below(const struct code_plane *plane, const struct code_query *query,
                                const uint32_t *ids, size_t n, float bound, uint64_t *keys)
{
    const struct code_rows rows = {plane, ids, 0, n};
    size_t count = 0;

    for (size_t i = 0; i < n; i += FOUR) {
        __mmask8 lanes = lanes_of(n - i);
        __m128 d = distance_of_four(&rows, query, i);
        __mmask8 below = _mm_mask_cmp_ps_mask(lanes, d, _mm_set1_ps(bound), _CMP_LT_OQ);
        __m128i bits = _mm_castps_si128(d), id = _mm_maskz_loadu_epi32(lanes, ids + i);
        __m128i flip = _mm_or_si128(_mm_srai_epi32(bits, 31), _mm_set1_epi32(INT32_MIN));
        __m256i high = _mm256_slli_epi64(_mm256_cvtepu32_epi64(_mm_xor_si128(bits, flip)), 32);
        __m256i key = _mm256_or_si256(high, _mm256_slli_epi64(_mm256_cvtepu32_epi64(id), 1));
        _mm256_storeu_si256((void *)(keys + count), _mm256_maskz_compress_epi64(below, key));
        count += (size_t)__builtin_popcount(below);
    }
    return count;
}

AVX512 static void sums(const struct code_layout *layout, const int8_t *values,
                        const uint8_t *const *rows, size_t n, int32_t *sums)
{
    for (size_t i = 0; i < n; i += FOUR) {
        struct code_four four = code_four_of(layout, rows, n, i);
        __m128i s[CODE_GROUPS];
        sum_rows(layout, values, four.row, s);
        __m128 of_row[FOUR] = {_mm_castsi128_ps(s[0]), _mm_castsi128_ps(s[1]),
                               _mm_castsi128_ps(s[2]), _mm_setzero_ps()};
        _MM_TRANSPOSE4_PS(of_row[0], of_row[1], of_row[2], of_row[3]);
#pragma GCC unroll 4
        for (size_t r = 0; r < FOUR; r++)
            if (i + r < n)
                _mm_storeu_ps((float *)(void *)(sums + (i + r) * CODE_FACTORS), of_row[r]);
    }
}

AVX512 static void expand(const struct code_layout *layout, const uint8_t *row, const int8_t *lut,
                          int8_t *out)
{
    __mmask64 lanes = ~(__mmask64)0 >> (64 - layout->lane);

    for (size_t f = 0; f < layout->field_count; f++, lut += 16, out += CODE_LINE_NBYTES) {
        const struct code_field *field = &layout->fields[f];
        __m512i line = _mm512_maskz_loadu_epi8(lanes, row + field->offset);
        __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)lut));
        __m512i codes = cut_line(cut_of(field), line);
        _mm512_store_si512(out, _mm512_maskz_shuffle_epi8(lanes, table, codes));
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
            __m512i values = _mm512_loadu_si512(x + j);
#pragma GCC unroll 4
            for (size_t r = 0; r < FOUR; r++)
                parts[r] = _mm512_dpwssd_epi32(parts[r], load_wide_s8(row[r] + j), values);
        }
        _mm_mask_storeu_epi32(out + i, lanes_of(rows - i), total(parts));
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
