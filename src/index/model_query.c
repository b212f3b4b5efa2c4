/* model_query.c - queries: what they become against each plane.
 *
 * Walk     8 bits: the query's transform by an 8-bit matrix, then 8-bit values with one unit a
 *          group. That is off by 1 or 2 % of the query, enough to walk.
 * Refine   16 bits: the transform again, by a bfloat16 matrix for all rows that some field uses.
 *          Against the refine codes it is cut into two 8-bit values, high * 128 + low; against the
 *          walk codes, whose distances are known, only what the walk's values missed.
 * Coarsely Codes of at most 4 bits a dimension err by more than values of 8 bits do. Where there
 *          are many dimensions, and the larger matrix would cost a sixth of a search, queries
 *          against them are refined by the 8-bit matrix and 8-bit values: .0010 of recall at 768.
 * Halves   A code c stands for c - half, so a sum S over codes is too great by the sum of half *
 *          value. A row of ones has the greatest code everywhere, which is twice the half: its S is
 *          twice that sum, by the same kernels. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "index/model_private.h"

#define LUT_CODES 16u /* of a field */
#define VALUE_MAX 127.0f
#define COARSE_DIM 256u
#define WIDE_MAX 16256.0f /* 127 * 128 */

/* The longest row of a plane whose codes have at most 8 bits a component, and the slack. */
static const uint8_t ones[65536 + CODE_LINE_NBYTES + CODE_SLACK_NBYTES] = {
    [0 ... 65536 + CODE_LINE_NBYTES + CODE_SLACK_NBYTES - 1] = 0xff};

static void twice_halves(const struct code_layout *layout, const int8_t *values, int32_t *sums)
{
    const uint8_t *row = ones;

    assert(layout->nbytes <= sizeof ones - CODE_SLACK_NBYTES);
    code_kernels_best()->sums(layout, values, &row, 1, sums);
}

void plane_scale(const struct code_layout *layout, const int8_t *values, const float *unit,
                 float *scale, float *shift)
{
    int32_t twice[CODE_FACTORS] = {0};

    if (layout->field_count > 0) twice_halves(layout, values, twice);
    for (uint32_t g = 0; g < CODE_GROUPS; g++) {
        scale[g] = -2 * unit[g];
        shift[g] = unit[g] * (float)twice[g];
    }
    scale[CODE_GROUPS] = shift[CODE_GROUPS] = 0;
}

/* What a group's values are measured in: value = component * share / step, share = sigma over its
 * greatest in the group; so that squares of tiny sigmas are not needed before the end. */
struct units {
    float sigma[CODE_GROUPS], step[CODE_GROUPS];
};

static void greatest_sigmas(const struct plane_model *plane, float *sigma)
{
    memset(sigma, 0, CODE_GROUPS * sizeof *sigma);
    for (uint32_t f = 0; f < plane->layout.field_count; f++) {
        uint32_t g = plane->layout.fields[f].group;

        sigma[g] = plane->sigma[f] > sigma[g] ? plane->sigma[f] : sigma[g];
    }
}

static void units_init(struct units *units, const struct plane_model *plane, const float *z,
                       float steps)
{
    const struct code_layout *layout = &plane->layout;
    float most[CODE_GROUPS] = {0};

    greatest_sigmas(plane, units->sigma);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const float *from = z + (size_t)layout->fields[f].segment * layout->lane;
        uint32_t g = layout->fields[f].group;
        float greatest = 0;

        for (uint32_t j = 0; j < layout->lane; j++)
            greatest = fabsf(from[j]) > greatest ? fabsf(from[j]) : greatest;
        greatest *= plane->sigma[f] / units->sigma[g];
        most[g] = greatest > most[g] ? greatest : most[g];
    }
    for (uint32_t g = 0; g < CODE_GROUPS; g++)
        units->step[g] = most[g] >= FLT_MIN * steps ? most[g] / steps : 0; /* too small to tell */
}

static float units_a_component(const struct units *units, const struct plane_model *plane,
                               uint32_t f)
{
    uint32_t g = plane->layout.fields[f].group;

    return units->step[g] > 0 ? plane->sigma[f] / units->sigma[g] / units->step[g] : 0;
}

void plane_query(const struct plane_model *plane, const float *z, int8_t *values, float *scale,
                 float *shift, float *used)
{
    const struct code_layout *layout = &plane->layout;
    struct units units;
    float unit[CODE_GROUPS];

    units_init(&units, plane, z, VALUE_MAX);
    memset(values, 0, (size_t)layout->field_count * CODE_LINE_NBYTES);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        size_t at = (size_t)layout->fields[f].segment * layout->lane;
        float in = units_a_component(&units, plane, f), out = in > 0 ? 1 / in : 0;
        bool upper = f == 0 || layout->fields[f - 1].segment != layout->fields[f].segment;

        for (uint32_t j = 0; j < layout->lane; j++) {
            int32_t value = (int32_t)lrintf(z[at + j] * in);

            values[f * CODE_LINE_NBYTES + j] = (int8_t)value;
            if (used != NULL && upper) used[at + j] = (float)value * out;
        }
    }
    for (uint32_t g = 0; g < CODE_GROUPS; g++)
        unit[g] = units.step[g] * units.sigma[g];
    plane_scale(layout, values, unit, scale, shift);
}

static void wide_values(const struct plane_model *plane, const float *z, const struct units *units,
                        struct refine_query *out)
{
    const struct code_layout *layout = &plane->layout;

    memset(out->high, 0, (size_t)layout->field_count * CODE_LINE_NBYTES);
    memset(out->low, 0, (size_t)layout->field_count * CODE_LINE_NBYTES);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const float *from = z + (size_t)layout->fields[f].segment * layout->lane;
        float in = units_a_component(units, plane, f);

        for (uint32_t j = 0; j < layout->lane; j++) {
            int32_t value = (int32_t)lrintf(from[j] * in), high = (value + 64) >> 7;

            out->high[f * CODE_LINE_NBYTES + j] = (int8_t)high;
            out->low[f * CODE_LINE_NBYTES + j] = (int8_t)(value - high * 128);
        }
    }
}

/* plane_query in 16 bits. */
static void wide_query(const struct plane_model *plane, const float *z, struct refine_query *out)
{
    const struct code_layout *layout = &plane->layout;
    int32_t high[CODE_FACTORS] = {0}, low[CODE_FACTORS] = {0};
    struct units units;

    units_init(&units, plane, z, WIDE_MAX);
    wide_values(plane, z, &units, out);
    if (layout->field_count > 0) {
        twice_halves(layout, out->high, high);
        twice_halves(layout, out->low, low);
    }
    for (uint32_t g = 0; g < CODE_GROUPS; g++) {
        float unit = units.step[g] * units.sigma[g];

        out->scale[g] = -2 * unit;
        out->shift[g] = (float)(unit * (double)((int64_t)high[g] * 128 + low[g]));
    }
    out->scale[CODE_GROUPS] = out->shift[CODE_GROUPS] = 0;
}

/* product[i] = (M x)[i] in 8 bits, for rows first .. end - 1 of the matrix. */
static void multiply_s8(const struct model *model, struct model_scratch *scratch, uint32_t first,
                        uint32_t end)
{
    float out = scratch->input_unit;

    code_kernels_best()->matvec_s8(model->matrix_s8 + (size_t)first * model->stride,
                                   model->matrix_sums + first, scratch->input_u8, end - first,
                                   model->stride, scratch->sums);
    for (uint32_t i = first; i < end; i++)
        scratch->product[i] = (float)scratch->sums[i - first] * (model->matrix_scale[i] * out);
}

/* z = M x in 8 bits, for the rows of the walk plane. */
static void rotate_s8(const struct model *model, struct model_scratch *scratch)
{
    float most = 0, in;

    for (uint32_t j = 0; j < model->dim; j++)
        most = fabsf(scratch->input[j]) > most ? fabsf(scratch->input[j]) : most;
    in = VALUE_MAX / most;
    if (!isfinite(in)) in = 0;
    scratch->input_unit = most / VALUE_MAX;
    for (uint32_t j = 0; j < model->dim; j++)
        scratch->input_u8[j] = (uint8_t)((int32_t)(scratch->input[j] * in + 128.5f));
    multiply_s8(model, scratch, 0, model->walk_rows);
    segments_spread(model, model->walk_rows, scratch->product, 1, scratch->rotated);
}

static void rotate_by_signs(const struct model *model, struct model_scratch *scratch, float *z)
{
    memset(z, 0, model_room_dims(model) * sizeof *z);
    memcpy(z, scratch->input, model->dim * sizeof *z);
    rotation_apply(model->seed, model->dim, z, scratch->product);
}

void model_query_walk(const struct model *model, const float *query, struct model_scratch *scratch,
                      int8_t *values, struct code_query *out)
{
    vector_load(model->metric, model->dim, query, scratch->input);
    out->base = model_scalar((double)model->constant + vector_centre(model, scratch->input));
    out->values = values;
    if (model->trained)
        rotate_s8(model, scratch);
    else
        rotate_by_signs(model, scratch, scratch->rotated);
    plane_query(&model->walk, scratch->rotated, values, out->scale, out->shift, scratch->rotated);
}

/* Takes what the walk's values stand for, in rotated, out of z. */
static void keep_missed(const struct model *model, struct model_scratch *scratch)
{
    const struct code_layout *layout = &model->walk.layout;

    for (uint32_t f = 0; f < layout->field_count; f += plane_run(layout, f).fields) {
        size_t at = (size_t)layout->fields[f].segment * layout->lane;

        for (uint32_t j = 0; j < layout->lane; j++)
            scratch->residual[at + j] -= scratch->rotated[at + j];
    }
}

/* At most 4 bits a dimension in both planes, and so many that it matters. */
static bool is_coarse(const struct model *model)
{
    return model->trained && model->dim >= COARSE_DIM &&
           2 * (model->walk.layout.nbytes + model->refine.layout.nbytes) <= model->dim;
}

/* product still holds the rows of the walk plane. */
static void coarse_query(const struct model *model, struct model_scratch *scratch,
                         struct refine_query *out)
{
    multiply_s8(model, scratch, model->walk_rows, model->matrix_rows);
    segments_spread(model, model->matrix_rows, scratch->product, 1, scratch->residual);
    plane_query(&model->refine, scratch->residual, out->high, out->scale, out->shift, NULL);
}

void model_query_refine(const struct model *model, struct model_scratch *scratch,
                        struct refine_query *out)
{
    out->coarse = is_coarse(model);
    if (out->coarse) {
        coarse_query(model, scratch, out);
        return;
    }
    if (model->trained) {
        code_kernels_best()->matvec_bf16(model->matrix_bf16, scratch->input, model->matrix_rows,
                                         model->stride, scratch->product);
        segments_spread(model, model->matrix_rows, scratch->product, 1, scratch->residual);
    } else {
        rotate_by_signs(model, scratch, scratch->residual);
    }
    wide_query(&model->refine, scratch->residual, out);
    keep_missed(model, scratch);
    plane_query(&model->walk, scratch->residual, out->walk, out->walk_scale, out->walk_shift, NULL);
}

/* sigma of field f over the greatest in its group. */
static float share(const struct plane_model *plane, const float *sigma, uint32_t f)
{
    return plane->sigma[f] / sigma[plane->layout.fields[f].group];
}

/* What the greatest code of a run stands for, in units of the group's greatest sigma. */
static float run_greatest(const struct plane_model *plane, const float *sigma, uint32_t f,
                          struct run run)
{
    return share(plane, sigma, f + run.fields - 1) * (float)((1u << run.bits) - 1) / 2;
}

void model_prune_lut(const struct model *model, struct prune_lut *lut, int8_t *room)
{
    const struct plane_model *plane = &model->walk;
    const struct code_layout *layout = &plane->layout;
    float sigma[CODE_GROUPS], most[CODE_GROUPS] = {0};
    struct run run;

    greatest_sigmas(plane, sigma);
    for (uint32_t f = 0; f < layout->field_count; f += run.fields) {
        uint32_t g = layout->fields[f].group;

        run = plane_run(layout, f);
        most[g] = fmaxf(most[g], share(plane, sigma, f) * run_greatest(plane, sigma, f, run));
    }
    lut->lut = room;
    lut->unit[CODE_GROUPS] = 0;
    for (uint32_t g = 0; g < CODE_GROUPS; g++)
        lut->unit[g] = most[g] / VALUE_MAX * sigma[g] * sigma[g];
    memset(room, 0, (size_t)layout->field_count * LUT_CODES);
    for (uint32_t f = 0, upper = 0; f < layout->field_count; f++) {
        uint32_t codes = 1u << layout->fields[f].width;
        float in;

        if (layout->fields[f].segment != layout->fields[upper].segment) upper = f;
        in = share(plane, sigma, f) * share(plane, sigma, upper) * VALUE_MAX /
             most[layout->fields[f].group];
        for (uint32_t c = 0; c < codes; c++)
            room[f * LUT_CODES + c] = (int8_t)lrintf(((float)c - (float)(codes - 1) / 2) * in);
    }
}

/* A field of a code in several parts is worth the whole code times its own sigma, but expand knows
 * its own part only, in units of the upper field. */
static void join_parts(const struct code_layout *layout, uint32_t f, struct run run, int8_t *values)
{
    int8_t *at = values + (size_t)f * CODE_LINE_NBYTES;

    for (uint32_t j = 0; j < layout->lane; j++) {
        int32_t whole = 0, bits = 0;

        for (uint32_t i = 0; i < run.fields; i++)
            whole += at[i * CODE_LINE_NBYTES + j];
        whole = whole > 127 ? 127 : whole < -127 ? -127 : whole;
        at[j] = (int8_t)whole;
        for (uint32_t i = 1; i < run.fields; i++) {
            bits += layout->fields[f + i].width;
            at[i * CODE_LINE_NBYTES + j] = (int8_t)((whole + (1 << bits >> 1)) >> bits);
        }
    }
}

void model_query_row(const struct model *model, const struct code_plane *plane,
                     const struct prune_lut *lut, uint32_t row, int8_t *values,
                     struct code_query *out)
{
    const float *factors = plane->factors + (size_t)row * CODE_FACTORS;
    float unit[CODE_GROUPS];
    struct run run;

    code_kernels_best()->expand(&plane->layout, plane->codes + (size_t)row * plane->layout.nbytes,
                                lut->lut, values);
    for (uint32_t f = 0; f < plane->layout.field_count; f += run.fields) {
        run = plane_run(&plane->layout, f);
        if (run.fields > 1) join_parts(&plane->layout, f, run, values);
    }
    for (uint32_t g = 0; g < CODE_GROUPS; g++)
        unit[g] = factors[g] * lut->unit[g];
    plane_scale(&plane->layout, values, unit, out->scale, out->shift);
    out->base = model_scalar((double)model->constant + factors[CODE_GROUPS]);
    out->values = values;
}

#define REFINE_BLOCK 64u

static float add_groups(float d, const float *factors, const float *sums, const float *scale,
                        const float *shift)
{
    for (uint32_t g = 0; g < CODE_GROUPS; g++)
        d += factors[g] * (sums[g] * scale[g] + shift[g]);
    return d;
}

/* For coarse queries: by the high values alone. */
static void refine_block_coarsely(const struct model *model, const struct refine_query *query,
                                  const struct refine_rows *rows, size_t first, size_t n,
                                  float *distances)
{
    int32_t sums[REFINE_BLOCK * CODE_FACTORS];

    if (model->refine.layout.field_count == 0) return;
    code_kernels_best()->sums(&model->refine.layout, query->high, rows->refine + first, n, sums);
    for (size_t i = 0; i < n; i++) {
        float wide[CODE_GROUPS];

        for (uint32_t g = 0; g < CODE_GROUPS; g++)
            wide[g] = (float)sums[i * CODE_FACTORS + g];
        distances[first + i] = add_groups(distances[first + i], rows->refine_factors[first + i],
                                          wide, query->scale, query->shift);
    }
}

static void refine_block(const struct model *model, const struct refine_query *query,
                         const struct refine_rows *rows, size_t first, size_t n, float *distances)
{
    const struct code_kernels *kernels = code_kernels_best();
    int32_t walk[REFINE_BLOCK * CODE_FACTORS], high[REFINE_BLOCK * CODE_FACTORS];
    int32_t low[REFINE_BLOCK * CODE_FACTORS];
    bool refined = model->refine.layout.field_count > 0;

    kernels->sums(&model->walk.layout, query->walk, rows->walk + first, n, walk);
    if (refined) {
        kernels->sums(&model->refine.layout, query->high, rows->refine + first, n, high);
        kernels->sums(&model->refine.layout, query->low, rows->refine + first, n, low);
    }
    for (size_t i = 0; i < n; i++) {
        float sums[CODE_GROUPS], d = distances[first + i];
        size_t at = i * CODE_FACTORS;

        for (uint32_t g = 0; g < CODE_GROUPS; g++)
            sums[g] = (float)walk[at + g];
        d = add_groups(d, rows->walk_factors[first + i], sums, query->walk_scale,
                       query->walk_shift);
        for (uint32_t g = 0; refined && g < CODE_GROUPS; g++)
            sums[g] = (float)((int64_t)high[at + g] * 128 + low[at + g]);
        if (refined)
            d = add_groups(d, rows->refine_factors[first + i], sums, query->scale, query->shift);
        distances[first + i] = d;
    }
}

void model_refine(const struct model *model, const struct refine_query *query,
                  const struct refine_rows *rows, size_t n, float *distances)
{
    for (size_t at = 0; at < n; at += REFINE_BLOCK) {
        size_t some = n - at < REFINE_BLOCK ? n - at : REFINE_BLOCK;

        if (query->coarse)
            refine_block_coarsely(model, query, rows, at, some, distances);
        else
            refine_block(model, query, rows, at, some, distances);
    }
}
