/* code_avx2.c - kernels over codes for AVX2 (with FMA: Haswell, Zen 1 and later).
 *
 * Same results as code_portable.c, which is the meaning; this file is only speed. Its plan is
 * code_avx512.c's, four rows at a time.
 *
 * Steps   Codes of up to 4 bits go through vpmaddubsw, whose 16-bit sums hold two lines' halves of
 *         them: 4 x 15 x 128. 8-bit codes would saturate there, so they and their values are
 *         widened to 16 bits first; and so is the matrix of matvec_s8.
 * Lists   unvisited is the plain loop: AVX2 has no compress, and its gather gains nothing alone.
 * Flags   The file is built with the baseline flags; only functions marked AVX2 may use it, so the
 *         linker can never pick a shared inline helper that an older CPU cannot run. */
#include "kernel/code.h"
#include "kernel/code_rows.h"

#if defined(__x86_64__)

#include <string.h>

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define INLINE AVX2 static inline __attribute__((always_inline))

#define FOUR CODE_FOUR
#define HALF 32u /* bytes of a register: half a line */

INLINE __m256i load_half(const uint8_t *from) { return _mm256_loadu_si256((const void *)from); }

/* 16 bytes, widened. */
INLINE __m256i load_wide(const uint8_t *from)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)from));
}

INLINE __m256i load_wide_s8(const int8_t *from)
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)from));
}

INLINE __m256i add_products(__m256i sum, __m256i a, __m256i b)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}

/* Codes, one a byte, from bytes: shifted right, and what their neighbours left masked. */
struct cut {
    __m256i shift, mask;
};

INLINE struct cut cut_of(uint32_t shift, uint32_t mask)
{
    return (struct cut){_mm256_set1_epi32((int)shift), _mm256_set1_epi32((int)mask)};
}

INLINE __m256i cut_half(struct cut cut, __m256i half)
{
    return _mm256_and_si256(_mm256_srlv_epi32(half, cut.shift), cut.mask);
}

/* Adds one step's products, of four rows. */
INLINE void add_step(const struct code_step *step, const int8_t *values,
                     const uint8_t *const row[FOUR], __m256i sums[FOUR])
{
    const __m256i one = _mm256_set1_epi16(1);
    const struct cut cut = cut_of(step->shift, step->mask);
    const __m256i low = _mm256_load_si256((const void *)values);
    const __m256i high = _mm256_load_si256((const void *)(values + HALF));

#pragma GCC unroll 4
    for (size_t r = 0; r < FOUR; r++) {
        const uint8_t *bytes = row[r] + step->offset;
        __m256i a = _mm256_maddubs_epi16(cut_half(cut, load_half(bytes)), low);
        __m256i b = _mm256_maddubs_epi16(cut_half(cut, load_half(bytes + HALF)), high);
        sums[r] = add_products(sums[r], _mm256_add_epi16(a, b), one);
    }
}

INLINE void add_step_of_8(const struct code_step *step, const int8_t *values,
                          const uint8_t *const row[FOUR], __m256i sums[FOUR])
{
#pragma GCC unroll 4
    for (size_t at = 0; at < CODE_LINE_NBYTES; at += HALF / 2) {
        __m256i value = load_wide_s8(values + at);
#pragma GCC unroll 4
        for (size_t r = 0; r < FOUR; r++)
            sums[r] = add_products(sums[r], load_wide(row[r] + step->offset + at), value);
    }
}

/* The sum of the 8 parts of each of four. */
INLINE __m128i total(const __m256i v[FOUR])
{
    __m256i v01 = _mm256_hadd_epi32(v[0], v[1]), v23 = _mm256_hadd_epi32(v[2], v[3]);
    __m256i all = _mm256_hadd_epi32(v01, v23);

    return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

/* S_g of four rows, for each group g. */
INLINE void sum_rows(const struct code_layout *layout, const int8_t *values,
                     const uint8_t *const row[FOUR], __m128i sums[CODE_GROUPS])
{
    const struct code_step *step = layout->steps;

#pragma GCC unroll 3
    for (size_t g = 0; g < CODE_GROUPS; g++) {
        __m256i parts[FOUR] = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                               _mm256_setzero_si256(), _mm256_setzero_si256()};
        const struct code_step *end = layout->steps + layout->step_end[g];
        sums[g] = _mm_setzero_si128();
        if (step == end) continue;
        for (; step < end; step++, values += CODE_LINE_NBYTES) {
            if (step->mask == UINT32_MAX) {
                add_step_of_8(step, values, row, parts);
            } else {
                add_step(step, values, row, parts);
            }
        }
        sums[g] = total(parts);
    }
}

/* The distances of the rows i .. i + 3: the float part in code.h's order. */
INLINE __m128 distance_of_four(const struct code_rows *rows, const struct code_query *query,
                               size_t i)
{
    struct code_block four = code_block_at(rows, i, FOUR);
    __m128i sums[CODE_GROUPS];
    __m128 f[CODE_FACTORS] = {_mm_load_ps(four.factors[0]), _mm_load_ps(four.factors[1]),
                              _mm_load_ps(four.factors[2]), _mm_load_ps(four.factors[3])};

    sum_rows(&rows->plane->layout, query->values, four.row, sums);
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

AVX2 static void distances(const struct code_plane *plane, const struct code_query *query,
                           const uint32_t *ids, size_t first, size_t n, float *out)
{
    const struct code_rows rows = {plane, ids, first, n};
    size_t i = 0;

    code_rows_prefetch(&rows, 0, CODE_AHEAD);
    for (; i + FOUR <= n; i += FOUR)
        _mm_storeu_ps(out + i, distance_of_four(&rows, query, i));
    if (i < n) {
        float few[FOUR];
        _mm_storeu_ps(few, distance_of_four(&rows, query, i));
        memcpy(out + i, few, (n - i) * sizeof few[0]);
    }
}

AVX2 static size_t keys_below(const struct code_plane *plane, const struct code_query *query,
                              const uint32_t *ids, size_t n, float bound, uint64_t *keys)
{
    const struct code_rows rows = {plane, ids, 0, n};
    size_t count = 0;

    code_rows_prefetch(&rows, 0, CODE_AHEAD);
    for (size_t i = 0; i < n; i += FOUR) {
        float four[FOUR];
        _mm_storeu_ps(four, distance_of_four(&rows, query, i));
        count += code_put_keys(four, ids + i, n - i < FOUR ? n - i : FOUR, bound, keys + count);
    }
    return count;
}

AVX2 static void sums(const struct code_layout *layout, const int8_t *values,
                      const uint8_t *const *rows, size_t n, int32_t *sums)
{
    for (size_t i = 0; i < n; i += FOUR) {
        struct code_block four = code_block_of(layout, rows, n, i, FOUR);
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

/* A field's values go to a line of their own first, whose end beyond lane is not theirs. */
AVX2 static void expand(const struct code_layout *layout, const uint8_t *row, const int8_t *lut,
                        int8_t *out)
{
    memset(out, 0, layout->step_count * (size_t)CODE_LINE_NBYTES);
    for (size_t f = 0; f < layout->field_count; f++, lut += 16) {
        const struct code_field *field = &layout->fields[f];
        const uint8_t *line = row + field->offset;
        struct cut cut = cut_of(field->shift, ((1u << field->width) - 1u) * 0x01010101u);
        __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)lut));
        int8_t values[CODE_LINE_NBYTES];
        for (size_t at = 0; at < layout->lane; at += HALF) {
            __m256i codes = cut_half(cut, load_half(line + at));
            _mm256_storeu_si256((void *)(values + at), _mm256_shuffle_epi8(table, codes));
        }
        memcpy(out + field->values_at, values, layout->lane);
    }
}

static size_t unvisited(const uint32_t *list, size_t n, uint32_t *visited, uint32_t *out)
{
    return code_unvisited(list, n, visited, out);
}

AVX2 static void matvec_s8(const int8_t *m, const int16_t *x, size_t rows, size_t stride,
                           int32_t *out)
{
    for (size_t i = 0; i < rows; i += FOUR) {
        __m256i parts[FOUR] = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                               _mm256_setzero_si256(), _mm256_setzero_si256()};
        const int8_t *row[FOUR];
        int32_t four[FOUR];
        for (size_t r = 0; r < FOUR; r++)
            row[r] = m + (i + r < rows ? i + r : rows - 1) * stride;
        for (size_t j = 0; j < stride; j += HALF / 2) {
            __m256i values = _mm256_loadu_si256((const void *)(x + j));
#pragma GCC unroll 4
            for (size_t r = 0; r < FOUR; r++)
                parts[r] = add_products(parts[r], load_wide_s8(row[r] + j), values);
        }
        _mm_storeu_si128((void *)four, total(parts));
        memcpy(out + i, four, (rows - i < FOUR ? rows - i : FOUR) * sizeof four[0]);
    }
}

const struct code_kernels code_kernels_avx2 = {
    .tier = "avx2",
    .distances = distances,
    .keys_below = keys_below,
    .sums = sums,
    .expand = expand,
    .unvisited = unvisited,
    .matvec_s8 = matvec_s8,
};
#endif
