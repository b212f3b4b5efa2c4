/* model_query.c - queries: what they become against each plane.
 *
 * Matrix   M in 8 bits, a unit a row, times the query in 14: exact, in integers. Rows were encoded
 *          by the dual of the very same 8-bit matrix (model.c), so that rounding it costs no
 *          accuracy: it did cost .0013 of recall at 768 dimensions and 8-bit codes, and bfloat16
 *          in its place doubled the bytes that each query reads and took 30 us instead of 11.
 * Walk     8-bit values with one unit a group, for the rows of the matrix that the walk plane uses.
 *          That is off by 1 or 2 % of the query, enough to walk.
 * Refine   The rest of the matrix, and 8-bit values against the refine codes. What the walk's
 *          values missed goes against the walk codes: it matters more than finer values against
 *          the refine codes, whose components are small (.0026 against .0002 of recall).
 * Coarsely Codes of at most 4 bits a dimension err by more than that, if there are many dimensions:
 *          it is left out there, and gives .0004.
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

/* The longest row of a plane whose codes have at most 8 bits a component, and the slack. */
static const uint8_t ones[65536 + CODE_LINE_NBYTES + CODE_SLACK_NBYTES] = {
    [0 ... 65536 + CODE_LINE_NBYTES + CODE_SLACK_NBYTES - 1] = 0xff};

/* The nearest integer, of ties the even one, of a value below 2^22: in the sum, bits of halves have
 * no place. lrintf is a call. What is no number gives any integer. */
static inline int32_t nearest(float value)
{
    union {
        float f;
        uint32_t u;
    } sum = {.f = value + 0x1.8p23f}, zero = {.f = 0x1.8p23f};

    return (int32_t)(sum.u - zero.u);
}

/* The greatest magnitude; as integers, since floats are compared one after the other. What is no
 * number is greatest. */
static float greatest(const float *x, uint32_t n)
{
    union {
        float f;
        int32_t i;
    } value, most = {.f = 0};

    for (uint32_t j = 0; j < n; j++) {
        value.f = fabsf(x[j]);
        most.i = value.i > most.i ? value.i : most.i;
    }
    return most.f;
}

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

    if (layout->step_count > 0) twice_halves(layout, values, twice);
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
        float here = greatest(from, layout->lane) * (plane->sigma[f] / units->sigma[g]);

        most[g] = here > most[g] ? here : most[g];
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
    memset(values, 0, (size_t)layout->step_count * CODE_LINE_NBYTES);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        size_t at = (size_t)layout->fields[f].segment * layout->lane;
        float in = units_a_component(&units, plane, f), out = in > 0 ? 1 / in : 0;
        bool upper = f == 0 || layout->fields[f - 1].segment != layout->fields[f].segment;

        for (uint32_t j = 0; j < layout->lane; j++) {
            int32_t value = nearest(z[at + j] * in);

            values[layout->fields[f].values_at + j] = (int8_t)value;
            if (used != NULL && upper) used[at + j] = (float)value * out;
        }
    }
    for (uint32_t g = 0; g < CODE_GROUPS; g++)
        unit[g] = units.step[g] * units.sigma[g];
    plane_scale(layout, values, unit, scale, shift);
}

/* input as integers, for multiply(). */
static void narrow_input(const struct model *model, struct model_scratch *scratch)
{
    float most = greatest(scratch->input, model->dim), in = (float)CODE_VECTOR_MAX / most;

    if (!isfinite(in)) in = 0;
    scratch->input_unit = most / (float)CODE_VECTOR_MAX;
    for (uint32_t j = 0; j < model->dim; j++)
        scratch->input_s16[j] = (int16_t)nearest(scratch->input[j] * in);
}

/* product[i] = (M x)[i], for rows first .. end - 1 of the matrix. */
static void multiply(const struct model *model, struct model_scratch *scratch, uint32_t first,
                     uint32_t end)
{
    float out = scratch->input_unit;

    code_kernels_best()->matvec_s8(model->matrix_s8 + (size_t)first * model->stride,
                                   scratch->input_s16, end - first, model->stride, scratch->sums);
    for (uint32_t i = first; i < end; i++)
        scratch->product[i] = (float)scratch->sums[i - first] * (model->matrix_scale[i] * out);
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
    if (model->trained) {
        narrow_input(model, scratch);
        multiply(model, scratch, 0, model->walk_rows);
        segments_spread(model, model->walk_rows, scratch->product, 1, scratch->rotated);
    } else {
        rotate_by_signs(model, scratch, scratch->rotated);
    }
    plane_query(&model->walk, scratch->rotated, values, out->scale, out->shift, scratch->rotated);
}

/* Takes what the walk's values stand for, in rotated, out of z. */
static void keep_missed(const struct model *model, const float *used, float *z)
{
    const struct code_layout *layout = &model->walk.layout;

    for (uint32_t f = 0; f < layout->field_count; f += plane_run(layout, f).fields) {
        size_t at = (size_t)layout->fields[f].segment * layout->lane;

        for (uint32_t j = 0; j < layout->lane; j++)
            z[at + j] -= used[at + j];
    }
}

/* At most 4 bits a dimension in both planes, and many of them: what the walk's values missed is
 * little beside what the codes did. */
static bool is_coarse(const struct model *model)
{
    return model->dim >= COARSE_DIM &&
           2 * (model->walk.layout.nbytes + model->refine.layout.nbytes) <= model->dim;
}

static void part_query(const struct plane_model *plane, const float *z, struct refine_part *part)
{
    plane_query(plane, z, part->values, part->scale, part->shift, NULL);
}

void model_query_refine(const struct model *model, struct model_scratch *scratch,
                        struct refine_query *out)
{
    float *z = scratch->residual;

    if (model->trained) { /* product still holds the rows of the walk plane */
        multiply(model, scratch, model->walk_rows, model->matrix_rows);
        segments_spread(model, model->matrix_rows, scratch->product, 1, z);
    } else {
        rotate_by_signs(model, scratch, z);
    }
    part_query(&model->refine, z, &out->refine);
    out->coarse = is_coarse(model);
    if (out->coarse) return;
    keep_missed(model, scratch->rotated, z);
    part_query(&model->walk, z, &out->missed);
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
    const struct code_field *part = &layout->fields[f];

    for (uint32_t j = 0; j < layout->lane; j++) {
        int32_t whole = 0, bits = 0;

        for (uint32_t i = 0; i < run.fields; i++)
            whole += values[part[i].values_at + j];
        whole = whole > 127 ? 127 : whole < -127 ? -127 : whole;
        values[part->values_at + j] = (int8_t)whole;
        for (uint32_t i = 1; i < run.fields; i++) {
            bits += part[i].width;
            values[part[i].values_at + j] = (int8_t)((whole + (1 << bits >> 1)) >> bits);
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

/* Adds what a part says about n rows of a plane to their distances. */
static void add_part(const struct plane_model *plane, const struct refine_part *part,
                     const uint8_t *const *rows, const float *const *factors, size_t n,
                     float *distances)
{
    int32_t sums[REFINE_BLOCK * CODE_FACTORS];

    code_kernels_best()->sums(&plane->layout, part->values, rows, n, sums);
    for (size_t i = 0; i < n; i++)
        for (uint32_t g = 0; g < CODE_GROUPS; g++)
            distances[i] += factors[i][g] *
                            ((float)sums[i * CODE_FACTORS + g] * part->scale[g] + part->shift[g]);
}

void model_refine(const struct model *model, const struct refine_query *query,
                  const struct refine_rows *rows, size_t n, float *distances)
{
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < REFINE_BLOCK ? n - at : REFINE_BLOCK;
        if (!query->coarse)
            add_part(&model->walk, &query->missed, rows->walk + at, rows->walk_factors + at, some,
                     distances + at);
        if (model->refine.layout.field_count > 0)
            add_part(&model->refine, &query->refine, rows->refine + at, rows->refine_factors + at,
                     some, distances + at);
    }
}
