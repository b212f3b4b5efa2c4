/* code_neon.c - kernels over codes for 64-bit ARM, any of them.
 *
 * Same results as code_portable.c, which is the meaning; this file is only speed. Its plan is
 * code_avx512.c's: four rows at a time, 16 bytes a register, sums added up transposed.
 *
 * Steps   Codes of up to 4 bits are multiplied as signed bytes into 16-bit sums, which hold a
 *         line's 8 products of them: 8 x 15 x 128. 8-bit codes and their values are widened first.
 * Not     sdot, which a later architecture has, is not used: one table serves every CPU, and no
 *         such machine was measured. */
#include "kernel/code.h"
#include "kernel/code_rows.h"

#if defined(__aarch64__)
#include <string.h>

#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

#define FOUR CODE_FOUR
#define PIECE 16u /* bytes of a register: a part of a line */

/* Codes, one a byte, from bytes: shifted right, and what their neighbours left masked. */
struct cut {
    int8x16_t shift;
    uint8x16_t mask;
};

INLINE struct cut cut_of(uint32_t shift, uint32_t mask)
{
    return (struct cut){vdupq_n_s8((int8_t)(-(int)shift)), vdupq_n_u8((uint8_t)mask)};
}

INLINE uint8x16_t cut_piece(struct cut cut, uint8x16_t piece)
{
    return vandq_u8(vshlq_u8(piece, cut.shift), cut.mask);
}

/* Adds one step's products, of four rows. */
INLINE void add_step(const struct code_step *step, const int8_t *values,
                     const uint8_t *const row[FOUR], int32x4_t sums[FOUR])
{
    struct cut cut = cut_of(step->shift, step->mask);
    int16x8_t products[FOUR];

#pragma GCC unroll 4
    for (size_t r = 0; r < FOUR; r++)
        products[r] = vdupq_n_s16(0);
    for (size_t at = 0; at < CODE_LINE_NBYTES; at += PIECE) {
        int8x16_t value = vld1q_s8(values + at);
#pragma GCC unroll 4
        for (size_t r = 0; r < FOUR; r++) {
            uint8x16_t piece = vld1q_u8(row[r] + step->offset + at);
            int8x16_t codes = vreinterpretq_s8_u8(cut_piece(cut, piece));
            products[r] = vmlal_s8(products[r], vget_low_s8(codes), vget_low_s8(value));
            products[r] = vmlal_high_s8(products[r], codes, value);
        }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < FOUR; r++)
        sums[r] = vpadalq_s16(sums[r], products[r]);
}

/* sum + a * b, of 16-bit components */
INLINE int32x4_t add_products(int32x4_t sum, int16x8_t a, int16x8_t b)
{
    return vmlal_high_s16(vmlal_s16(sum, vget_low_s16(a), vget_low_s16(b)), a, b);
}

INLINE int32x4_t add_products_u8(int32x4_t sum, uint8x16_t codes, int16x8_t low, int16x8_t high)
{
    sum = add_products(sum, vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(codes))), low);
    return add_products(sum, vreinterpretq_s16_u16(vmovl_high_u8(codes)), high);
}

INLINE void add_step_of_8(const struct code_step *step, const int8_t *values,
                          const uint8_t *const row[FOUR], int32x4_t sums[FOUR])
{
    for (size_t at = 0; at < CODE_LINE_NBYTES; at += PIECE) {
        int8x16_t value = vld1q_s8(values + at);
        int16x8_t low = vmovl_s8(vget_low_s8(value)), high = vmovl_high_s8(value);
#pragma GCC unroll 4
        for (size_t r = 0; r < FOUR; r++)
            sums[r] = add_products_u8(sums[r], vld1q_u8(row[r] + step->offset + at), low, high);
    }
}

/* The sum of the 4 parts of each of four. */
INLINE int32x4_t total(const int32x4_t v[FOUR])
{
    return vpaddq_s32(vpaddq_s32(v[0], v[1]), vpaddq_s32(v[2], v[3]));
}

/* S_g of four rows, for each group g. */
INLINE void sum_rows(const struct code_layout *layout, const int8_t *values,
                     const uint8_t *const row[FOUR], int32x4_t sums[CODE_GROUPS])
{
    const struct code_step *step = layout->steps;

    for (size_t g = 0; g < CODE_GROUPS; g++) {
        int32x4_t parts[FOUR] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        const struct code_step *end = layout->steps + layout->step_end[g];
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
INLINE float32x4_t distance_of_four(const struct code_rows *rows, const struct code_query *query,
                                    size_t i)
{
    struct code_block four = code_block_at(rows, i, FOUR);
    int32x4_t sums[CODE_GROUPS];
    float together[FOUR * CODE_FACTORS];

    sum_rows(&rows->plane->layout, query->values, four.row, sums);
    for (size_t r = 0; r < FOUR; r++)
        vst1q_f32(together + r * CODE_FACTORS, vld1q_f32(four.factors[r]));
    float32x4x4_t f = vld4q_f32(together); /* transposed */
    float32x4_t d = vaddq_f32(vdupq_n_f32(query->base), f.val[CODE_GROUPS]);
    for (size_t g = 0; g < CODE_GROUPS; g++) {
        float32x4_t t = vmulq_n_f32(vcvtq_f32_s32(sums[g]), query->scale[g]);
        t = vaddq_f32(t, vdupq_n_f32(query->shift[g]));
        d = vaddq_f32(d, vmulq_f32(f.val[g], t));
    }
    return d;
}

static void distances(const struct code_plane *plane, const struct code_query *query,
                      const uint32_t *ids, size_t first, size_t n, float *out)
{
    const struct code_rows rows = {plane, ids, first, n};
    size_t i = 0;

    code_rows_prefetch(&rows, 0, CODE_AHEAD);
    for (; i + FOUR <= n; i += FOUR)
        vst1q_f32(out + i, distance_of_four(&rows, query, i));
    if (i < n) {
        float few[FOUR];
        vst1q_f32(few, distance_of_four(&rows, query, i));
        memcpy(out + i, few, (n - i) * sizeof few[0]);
    }
}

static size_t keys_below(const struct code_plane *plane, const struct code_query *query,
                         const uint32_t *ids, size_t n, float bound, uint64_t *keys)
{
    const struct code_rows rows = {plane, ids, 0, n};
    size_t count = 0;

    code_rows_prefetch(&rows, 0, CODE_AHEAD);
    for (size_t i = 0; i < n; i += FOUR) {
        float four[FOUR];
        vst1q_f32(four, distance_of_four(&rows, query, i));
        count += code_put_keys(four, ids + i, n - i < FOUR ? n - i : FOUR, bound, keys + count);
    }
    return count;
}

static void sums(const struct code_layout *layout, const int8_t *values, const uint8_t *const *rows,
                 size_t n, int32_t *sums)
{
    for (size_t i = 0; i < n; i += FOUR) {
        struct code_block four = code_block_of(layout, rows, n, i, FOUR);
        int32x4_t s[CODE_GROUPS];
        int32_t of_rows[FOUR * CODE_FACTORS];
        sum_rows(layout, values, four.row, s);
        vst4q_s32(of_rows, ((int32x4x4_t){{s[0], s[1], s[2], vdupq_n_s32(0)}}));
        memcpy(sums + i * CODE_FACTORS, of_rows,
               (n - i < FOUR ? n - i : FOUR) * CODE_FACTORS * sizeof of_rows[0]);
    }
}

/* A field's values go to a line of their own first, whose end beyond lane is not theirs. */
static void expand(const struct code_layout *layout, const uint8_t *row, const int8_t *lut,
                   int8_t *out)
{
    memset(out, 0, layout->step_count * (size_t)CODE_LINE_NBYTES);
    for (size_t f = 0; f < layout->field_count; f++, lut += 16) {
        const struct code_field *field = &layout->fields[f];
        struct cut cut = cut_of(field->shift, (1u << field->width) - 1u);
        int8x16_t table = vld1q_s8(lut);
        int8_t values[CODE_LINE_NBYTES];
        for (size_t at = 0; at < layout->lane; at += PIECE) {
            uint8x16_t codes = cut_piece(cut, vld1q_u8(row + field->offset + at));
            vst1q_s8(values + at, vqtbl1q_s8(table, codes));
        }
        memcpy(out + field->values_at, values, layout->lane);
    }
}

static size_t unvisited(const uint32_t *list, size_t n, uint32_t *visited, uint32_t *out)
{
    return code_unvisited(list, n, visited, out);
}

static void matvec_s8(const int8_t *m, const int16_t *x, size_t rows, size_t stride, int32_t *out)
{
    for (size_t i = 0; i < rows; i += FOUR) {
        int32x4_t parts[FOUR] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        const int8_t *row[FOUR];
        int32_t four[FOUR];
        for (size_t r = 0; r < FOUR; r++)
            row[r] = m + (i + r < rows ? i + r : rows - 1) * stride;
        for (size_t j = 0; j < stride; j += PIECE) {
            int16x8_t low = vld1q_s16(x + j), high = vld1q_s16(x + j + PIECE / 2);
#pragma GCC unroll 4
            for (size_t r = 0; r < FOUR; r++) {
                int8x16_t c = vld1q_s8(row[r] + j);
                parts[r] = add_products(parts[r], vmovl_s8(vget_low_s8(c)), low);
                parts[r] = add_products(parts[r], vmovl_high_s8(c), high);
            }
        }
        vst1q_s32(four, total(parts));
        memcpy(out + i, four, (rows - i < FOUR ? rows - i : FOUR) * sizeof four[0]);
    }
}

const struct code_kernels code_kernels_neon = {
    .tier = "neon",
    .distances = distances,
    .keys_below = keys_below,
    .sums = sums,
    .expand = expand,
    .unvisited = unvisited,
    .matvec_s8 = matvec_s8,
};
#endif
