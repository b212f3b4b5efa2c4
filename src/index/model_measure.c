/* model_measure.c - what codes of each width miss of each segment, by trying them on some rows.
 *
 * The error of an inner product in a segment grows with the query's variance there times what the
 * codes miss of the row. Queries are taken to be distributed like rows. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "index/model_train.h"
#include "kernel/encode.h"

#define STEPS ENCODE_STEPS_MAX
#define STEP_RATIO 1.12f
#define ENERGY_LEAST 1e-60

/* Bit w: width w may be used. A walk wants few fields; short vectors want exact widths more. */
#define WALK_WIDTHS 0x17u       /* 0, 1, 2 and 4 bits */
#define WALK_WIDTHS_SHORT 0x3fu /* 0 to 5 bits */
#define DIM_SHORT 128u
#define REFINE_WIDTHS 0x1ffu /* 0 to 8 bits */

/* The greatest step worth trying for each width: for a Gauss distribution some 1.25 times the best;
 * for what a finer code left over, which is even, the best is less than half of that. */
static const float step_most[LAYOUT_WIDTHS] = {0,     2.0f,  1.25f,  0.73f, 0.42f,
                                               0.24f, 0.13f, 0.071f, 0.039f};

struct measuring {
    const struct sample *sample;
    const float *rows; /* n x stride */
    const double *query_energy;
    struct measures *to;
    float *scale; /* of each row to unit deviation, over all segments alike */
    uint32_t n, segments;
};

/* Rows' lengths vary, and the coder follows them; so here too, by all segments together, since a
 * few components say little about a row's length. */
static void set_scales(const struct measuring *m)
{
    const struct model *model = m->sample->model;

    for (uint32_t i = 0; i < m->n; i++) {
        const float *z = m->rows + (size_t)i * m->sample->stride;
        double sum = 0;
        uint32_t dims = 0;

        for (uint32_t s = 0; s < m->segments; s++) {
            uint32_t first = s * model->lane, n = model_segment_dims(model->dim, model->lane, s);
            double square = 0;

            if (!(m->to->energy[s] > 0)) continue;
            for (uint32_t j = first; j < first + n; j++)
                square += (double)z[j] * z[j];
            sum += square / m->to->energy[s] * n;
            dims += n;
        }
        m->scale[i] = sum > 0 ? (float)sqrt(dims / sum) : 0;
    }
}

/* Products of codes and components of a segment, over all rows, for each step. */
struct totals {
    double dot[STEPS], norm[STEPS], square;
};

static void add_row(struct encode_group *group, const float *inverse, struct totals *totals)
{
    struct encode_sums sums[STEPS];

    encode_kernels_best()->sums(group, inverse, STEPS, sums);
    totals->square += encode_kernels_best()->norms(group).weighted;
    for (uint32_t k = 0; k < STEPS; k++) {
        totals->dot[k] += sums[k].dot;
        totals->norm[k] += sums[k].norm;
    }
}

static void add_rows(const struct measuring *m, uint32_t segment, uint32_t w, const float *inverse,
                     struct totals *totals)
{
    const struct model *model = m->sample->model;
    uint32_t dims = model_segment_dims(model->dim, model->lane, segment);
    float values[CODE_LINE_NBYTES] = {0}, weight[CODE_LINE_NBYTES] = {0}, offset[CODE_LINE_NBYTES];
    struct encode_group group = {values, weight, offset, weight,
                                 (dims + ENCODE_PARTS - 1) / ENCODE_PARTS * ENCODE_PARTS};
    float unit = (float)(1 / sqrt(m->to->energy[segment] / dims));

    for (uint32_t j = 0; j < group.n; j++) {
        weight[j] = j < dims ? 1 : 0;
        offset[j] = (float)(1u << w) / 2;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        const float *z = m->rows + (size_t)i * m->sample->stride + segment * model->lane;

        for (uint32_t j = 0; j < dims; j++)
            values[j] = z[j] * (m->scale[i] * unit);
        add_row(&group, inverse, totals);
    }
}

static void measure_width(const struct measuring *m, uint32_t segment, uint32_t w)
{
    float inverse[STEPS], step = step_most[w];
    double least = INFINITY, whole = m->to->cost[segment][0];
    struct totals totals = {0};

    for (uint32_t k = 0; k < STEPS; k++, step /= STEP_RATIO)
        inverse[k] = 1 / step;
    if (m->to->energy[segment] > ENERGY_LEAST) add_rows(m, segment, w, inverse, &totals);
    m->to->step[segment][w] = 1 / inverse[STEPS / 2];
    m->to->cost[segment][w] = 0;
    for (uint32_t k = 0; k < STEPS; k++) {
        double cosine = totals.dot[k] * totals.dot[k] / (totals.norm[k] * totals.square);
        double missed = (1 - cosine) / cosine;

        if (!(missed < least)) continue;
        least = missed;
        m->to->step[segment][w] = 1 / inverse[k];
        m->to->cost[segment][w] = whole * missed;
    }
}

static paua_status measure_segment(void *arg, uint32_t segment, paua_error *err)
{
    const struct measuring *m = arg;
    const struct model *model = m->sample->model;
    uint32_t dims = model_segment_dims(model->dim, model->lane, segment);

    (void)err;
    m->to->cost[segment][0] = m->query_energy[segment] * m->to->energy[segment] / dims;
    for (uint32_t w = 1; w < LAYOUT_WIDTHS; w++)
        measure_width(m, segment, w);
    return PAUA_OK;
}

void energies(const struct sample *sample, const float *rows, uint32_t n, double *energy)
{
    const struct model *model = sample->model;

    memset(energy, 0, model->segments * sizeof *energy);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t s = 0; s < model->segments; s++) {
            const float *z = rows + (size_t)i * sample->stride + s * model->lane;
            uint32_t dims = model_segment_dims(model->dim, model->lane, s);

            for (uint32_t j = 0; j < dims; j++)
                energy[s] += (double)z[j] * z[j] / n;
        }
}

paua_status measure(const struct sample *sample, const float *rows, uint32_t n,
                    const double *query_energy, struct measures *to, paua_error *err)
{
    struct measuring m = {.sample = sample, .rows = rows, .query_energy = query_energy, .to = to};
    paua_status status;

    m.n = n;
    m.segments = sample->model->segments;
    m.scale = mem_alloc(n * sizeof *m.scale);
    if (m.scale == NULL) return error_set_nomem(err);
    energies(sample, rows, n, to->energy);
    set_scales(&m);
    status = sample_each_block(sample, m.segments, measure_segment, &m, err);
    mem_free(m.scale);
    return status;
}

/* Deviations never 0, nor too far apart to square their ratio. */
static void deviations(const struct model *model, const struct measures *measures, double *sigma)
{
    double most = 0;

    for (uint32_t s = 0; s < model->segments; s++) {
        sigma[s] = sqrt(measures->energy[s] / model_segment_dims(model->dim, model->lane, s));
        most = sigma[s] > most ? sigma[s] : most;
    }
    for (uint32_t s = 0; s < model->segments; s++)
        sigma[s] = fmax(sigma[s], most > 0 ? most * 1e-6 : 1);
}

/* Variance falls from segment to segment, so this changes ties only; the walk plane's segments have
 * to come first. */
static void fall(uint8_t *widths, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j > 0 && widths[j] > widths[j - 1]; j--) {
            uint8_t width = widths[j];

            widths[j] = widths[j - 1];
            widths[j - 1] = width;
        }
}

static bool plane_of(const struct model *model, const struct measures *measures,
                     const uint8_t *widths, struct plane_model *plane)
{
    double deviation[SEGMENTS_MAX];
    float sigma[SEGMENTS_MAX], spread[SEGMENTS_MAX];

    deviations(model, measures, deviation);
    for (uint32_t s = 0; s < model->segments; s++) {
        float step = widths[s] > 0 ? measures->step[s][widths[s]] : 1;

        sigma[s] = (float)(deviation[s] * step);
        spread[s] = 1 / step;
    }
    return plane_make(plane, model->lane, model->segments, widths, sigma, spread);
}

bool walk_plane(const struct model *model, const struct measures *measures, uint32_t nbytes,
                struct plane_model *plane)
{
    uint32_t bits = nbytes / model->lane * 8;
    uint32_t allow = model->dim < DIM_SHORT ? WALK_WIDTHS_SHORT : WALK_WIDTHS;
    uint8_t widths[SEGMENTS_MAX];

    if (!layout_assign(measures->cost, model->segments, allow, bits, widths)) return false;
    fall(widths, model->segments);
    return plane_of(model, measures, widths, plane);
}

bool refine_plane(const struct model *model, const struct measures *measures, uint32_t nbytes,
                  struct plane_model *plane)
{
    uint32_t bits = nbytes / model->lane * 8;
    uint8_t widths[SEGMENTS_MAX];

    if (!layout_assign(measures->cost, model->segments, REFINE_WIDTHS, bits, widths)) return false;
    return plane_of(model, measures, widths, plane);
}
