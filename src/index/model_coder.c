/* model_coder.c - one plane's codes: from rotated components to bits, and back.
 *
 * Encoding  A group's components y (in units of sigma) become codes floor(y / step) + 1/2, cut at
 *           the ends. The step is swept around what the row's own length in the group suggests, and
 *           the one with the best cosine between code and row is kept. The factor |z|^2 / <code, z>
 *           then makes <code, z> exact: the estimate of an inner product has no bias along the row,
 *           and its error is what the cosine misses.
 * Extremes  Lengths in units of sigma may be anything up to 1e48 (a row unlike the trained ones):
 *           the greatest component is taken out first. No factor is ever infinite or NaN. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "index/model_private.h"
#include "kernel/encode.h"

#define CODER_SWEEP 9u
#define SWEEP_FIRST 0.75f
#define SWEEP_STEP 0.07f

static uint32_t padded(uint32_t n) { return (n + CODER_STEP - 1) / CODER_STEP * CODER_STEP; }

static void coder_starts(struct coder *coder)
{
    const struct code_layout *layout = &coder->plane->layout;
    uint32_t counts[CODE_GROUPS] = {0};

    for (uint32_t f = 0; f < layout->field_count; f += plane_run(layout, f).fields)
        counts[layout->fields[f].group] += layout->lane;
    for (uint32_t g = 0; g < CODE_GROUPS; g++)
        coder->start[g + 1] = coder->start[g] + padded(counts[g]);
}

/* What the components of one segment are measured by: sigma of its lowest field, `last`. */
static void coder_segment(struct coder *coder, uint32_t last, uint32_t bits, uint32_t at,
                          uint32_t dims, float real)
{
    const struct plane_model *plane = coder->plane;
    const struct code_field *field = &plane->layout.fields[last];
    float sigma = plane->sigma[last], spread = plane->spread[last];
    float share = sigma / coder->sigma_max[field->group];

    for (uint32_t j = 0; j < plane->layout.lane; j++) {
        coder->inverse[at + j] = j < dims ? 1 / sigma : 0;
        coder->weight[at + j] = j < dims ? share * share : 0;
        coder->pull[at + j] = j < dims ? 1 / (spread * spread * real) : 0;
        coder->offset[at + j] = (float)(1u << bits) / 2;
    }
}

static void coder_fill(struct coder *coder, uint32_t dim)
{
    const struct plane_model *plane = coder->plane;
    const struct code_layout *layout = &plane->layout;
    uint32_t at[CODE_GROUPS], real[CODE_GROUPS] = {0};
    struct run run;

    memcpy(at, coder->start, sizeof at);
    for (uint32_t f = 0; f < layout->field_count; f += run.fields) {
        uint32_t g = layout->fields[f].group;

        run = plane_run(layout, f);
        real[g] += model_segment_dims(dim, layout->lane, layout->fields[f].segment);
        coder->sigma_max[g] = fmaxf(coder->sigma_max[g], plane->sigma[f + run.fields - 1]);
    }
    for (uint32_t f = 0; f < layout->field_count; f += run.fields) {
        uint32_t g = layout->fields[f].group;

        run = plane_run(layout, f);
        coder_segment(coder, f + run.fields - 1, run.bits, at[g],
                      model_segment_dims(dim, layout->lane, layout->fields[f].segment),
                      (float)real[g]);
        at[g] += layout->lane;
    }
}

bool coder_init(struct coder *coder, const struct plane_model *plane, uint32_t dim)
{
    struct coder made = {.plane = plane};
    size_t n;
    float *floats;

    coder_starts(&made);
    n = made.start[CODE_GROUPS] + CODER_STEP;
    made.memory = floats = mem_aligned(64, n * (5 * sizeof *floats + 1));
    if (floats == NULL) return false;
    memset(floats, 0, n * (5 * sizeof *floats + 1));
    made.inverse = floats;
    made.weight = floats + n;
    made.offset = floats + 2 * n;
    made.pull = floats + 3 * n;
    made.values = floats + 4 * n;
    made.codes = (uint8_t *)(floats + 5 * n);
    coder_fill(&made, dim);
    *coder = made;
    return true;
}

void coder_free(struct coder *coder)
{
    mem_free(coder->memory);
    coder->memory = NULL;
}

static void gather(struct coder *coder, const float *z)
{
    const struct code_layout *layout = &coder->plane->layout;
    uint32_t at[CODE_GROUPS];

    memcpy(at, coder->start, sizeof at);
    for (uint32_t f = 0; f < layout->field_count; f += plane_run(layout, f).fields) {
        const struct code_field *field = &layout->fields[f];
        const float *from = z + (size_t)field->segment * layout->lane;
        uint32_t to = at[field->group];

        for (uint32_t j = 0; j < layout->lane; j++)
            coder->values[to + j] = from[j] * coder->inverse[to + j];
        at[field->group] += layout->lane;
    }
}

/* Up to eight codes at a time: bits that a shift brings from the next byte are masked off. */
static void scatter_field(const uint8_t *from, uint32_t below, const struct code_field *field,
                          uint32_t lane, uint8_t *codes)
{
    uint64_t mask = ((1u << field->width) - 1u) * UINT64_C(0x0101010101010101), word = 0, line = 0;

    for (uint32_t j = 0; j < lane; j += 8) {
        size_t some = lane - j < 8 ? lane - j : 8;

        memcpy(&word, from + j, some);
        memcpy(&line, codes + field->offset + j, some);
        line |= (word >> below & mask) << field->shift;
        memcpy(codes + field->offset + j, &line, some);
    }
}

static void scatter(const struct coder *coder, uint8_t *codes)
{
    const struct code_layout *layout = &coder->plane->layout;
    uint32_t at[CODE_GROUPS];
    struct run run;

    memcpy(at, coder->start, sizeof at);
    memset(codes, 0, layout->nbytes);
    for (uint32_t f = 0; f < layout->field_count; f += run.fields) {
        const uint8_t *from = coder->codes + at[layout->fields[f].group];
        uint32_t below = 0;

        run = plane_run(layout, f);
        for (uint32_t i = run.fields; i-- > 0; below += layout->fields[f + i].width)
            scatter_field(from, below, &layout->fields[f + i], layout->lane, codes);
        at[layout->fields[f].group] += layout->lane;
    }
}

/* Takes the greatest component out of values whose squares floats cannot add up. */
static float tame(float *values, uint32_t n)
{
    float most = 0;

    for (uint32_t i = 0; i < n; i++)
        most = fabsf(values[i]) > most ? fabsf(values[i]) : most;
    if (most == 0) return 0;
    for (uint32_t i = 0; i < n; i++)
        values[i] /= most;
    return most;
}

static bool carried(struct encode_norms norms)
{
    return norms.weighted > 1e-18f && norms.weighted < 1e18f && norms.pulled > 1e-18f &&
           norms.pulled < 1e18f;
}

/* The inverse step of the best cosine around `step`, and the product of codes and values with it;
 * a product of 0 where none is positive. */
static float sweep(const struct encode_group *group, float step, float *dot)
{
    struct encode_sums sums[CODER_SWEEP];
    float inverse[CODER_SWEEP], most = 0, best = 1 / step;

    for (uint32_t k = 0; k < CODER_SWEEP; k++)
        inverse[k] = 1 / (step * (SWEEP_FIRST + SWEEP_STEP * (float)k));
    encode_kernels_best()->sums(group, inverse, CODER_SWEEP, sums);
    *dot = 0;
    for (uint32_t k = 0; k < CODER_SWEEP; k++) {
        if (!(sums[k].dot > 0) || sums[k].dot * sums[k].dot <= most * sums[k].norm) continue;
        most = sums[k].dot * sums[k].dot / sums[k].norm;
        best = inverse[k];
        *dot = sums[k].dot;
    }
    return best;
}

/* The codes of one group; returns its factor. */
static float encode_group(struct coder *coder, uint32_t g)
{
    uint32_t first = coder->start[g], n = coder->start[g + 1] - first;
    struct encode_group group = {coder->values + first, coder->weight + first,
                                 coder->offset + first, coder->pull + first, n};
    struct encode_norms norms;
    float scale = 1, inverse, dot, most;

    if (n == 0) return 0;
    norms = encode_kernels_best()->norms(&group);
    if (!carried(norms)) {
        scale = tame(coder->values + first, n);
        norms = encode_kernels_best()->norms(&group);
    }
    if (scale == 0 || !(norms.weighted > 0)) {
        memset(coder->codes + first, 0, n);
        return 0;
    }
    inverse = sweep(&group, sqrtf(norms.pulled), &dot);
    encode_kernels_best()->codes(&group, inverse, coder->codes + first);
    if (!(dot > 0)) return 0;
    most = (float)(2 * MODEL_NORM_MAX) / coder->sigma_max[g];
    return fminf(norms.weighted / dot * scale, most);
}

void coder_encode(struct coder *coder, const float *z, uint8_t *codes, float *factors)
{
    gather(coder, z);
    for (uint32_t g = 0; g < CODE_GROUPS; g++)
        factors[g] = encode_group(coder, g);
    scatter(coder, codes);
}

void plane_add(const struct plane_model *plane, const uint8_t *codes, const float *factors,
               float sign, float *z)
{
    const struct code_layout *layout = &plane->layout;

    for (uint32_t f = 0; f < layout->field_count; f++) {
        const struct code_field *field = &layout->fields[f];
        float unit = sign * factors[field->group] * plane->sigma[f];
        float half = (float)((1u << field->width) - 1u) / 2;
        float *to = z + (size_t)field->segment * layout->lane;

        for (uint32_t j = 0; j < layout->lane; j++)
            to[j] += unit * ((float)plane_code(field, codes, j) - half);
    }
}
