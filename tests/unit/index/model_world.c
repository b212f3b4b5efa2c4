/* model_world.c - see model_world.h. */
#include "model_world.h"

#include <math.h>

#include "base/memory.h"
#include "index/model_private.h"

static float component(enum data data, uint64_t *seed, uint32_t row, uint32_t j)
{
    float x[4];

    test_random_floats(seed, x, 4);
    float near_gauss = x[0] + x[1] + x[2] + x[3];

    switch (data) {
    case DATA_FALLING:
        return 0.5f + near_gauss / (1 + (float)j / 8);
    case DATA_CONSTANT:
        return j % 3 == 1 ? 0.25f : near_gauss;
    case DATA_EQUAL:
        return (float)(j % 7) - 2.5f;
    case DATA_ZERO:
        return 0;
    case DATA_SCALED:
        return near_gauss * powf(10, (float)(row % 5) - 2);
    default:
        return near_gauss;
    }
}

float *world_rows(const struct shape *shape)
{
    size_t n = (size_t)shape->rows * shape->dim;
    float *rows = malloc(n * sizeof *rows), scale = shape->scale > 0 ? shape->scale : 1;
    uint64_t seed = shape->dim * 31u + shape->rows;

    assert_non_null(rows);
    for (uint32_t i = 0; i < shape->rows; i++)
        for (uint32_t j = 0; j < shape->dim; j++)
            rows[(size_t)i * shape->dim + j] = component(shape->data, &seed, i, j) * scale;
    return rows;
}

static paua_status read_rows(void *arg, uint32_t first, uint32_t n, float *to, paua_error *err)
{
    const struct world *w = arg;

    (void)err;
    assert_true(first + n <= w->shape.rows);
    memcpy(to, w->rows + (size_t)first * w->shape.dim, (size_t)n * w->shape.dim * sizeof *to);
    return PAUA_OK;
}

static void *aligned(size_t nbytes)
{
    void *block = mem_aligned(64, nbytes + 64);

    assert_non_null(block);
    memset(block, 0, nbytes + 64);
    return block;
}

static void encode(struct world *w)
{
    const struct model *m = &w->model;
    size_t n = w->shape.rows;

    w->walk = aligned(n * m->walk.layout.nbytes);
    w->walk_factors = aligned(n * CODE_FACTORS * sizeof(float));
    w->refine = aligned(n * m->refine.layout.nbytes);
    w->refine_factors = aligned(n * CODE_FACTORS * sizeof(float));
    model_encode(m, w->rows, n, &w->scratch, w->walk, w->walk_factors, w->refine,
                 w->refine_factors);
}

void world_make(struct world *w, const struct shape *shape, uint32_t threads)
{
    struct model_source source = {.rows = read_rows,
                                  .arg = w,
                                  .count = shape->rows,
                                  .dim = shape->dim,
                                  .metric = shape->metric,
                                  .precision = shape->precision,
                                  .threads = threads};

    *w = (struct world){.shape = *shape, .rows = world_rows(shape)};
    assert_ok(model_train(&source, &w->model, &test_err));
    assert_true(model_scratch_init(&w->scratch, &w->model));
    encode(w);
    w->values = aligned((size_t)w->model.walk.layout.step_count * CODE_LINE_NBYTES);
    w->query.missed.values = aligned((size_t)w->model.walk.layout.step_count * CODE_LINE_NBYTES);
    w->query.refine.values = aligned((size_t)w->model.refine.layout.step_count * CODE_LINE_NBYTES);
    w->distances = aligned(shape->rows * sizeof(float));
    w->decoded = aligned(shape->dim * sizeof(float));
}

void world_free(struct world *w)
{
    void *const blocks[] = {w->walk,
                            w->refine,
                            w->walk_factors,
                            w->refine_factors,
                            w->values,
                            w->query.missed.values,
                            w->query.refine.values,
                            w->distances,
                            w->decoded};

    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        mem_free(blocks[i]);
    free(w->rows);
    model_scratch_free(&w->scratch);
    model_free(&w->model);
}

void world_walk(struct world *w, const float *query)
{
    struct code_plane plane = {w->model.walk.layout, w->walk, w->walk_factors};
    struct code_query q;

    model_query_walk(&w->model, query, &w->scratch, w->values, &q);
    code_kernels_best()->distances(&plane, &q, NULL, 0, w->shape.rows, w->distances);
}

void world_refine(struct world *w, const float *query)
{
    world_walk(w, query);
    model_query_refine(&w->model, &w->scratch, &w->query);
    for (uint32_t i = 0; i < w->shape.rows; i++) {
        const uint8_t *walk = w->walk + (size_t)i * w->model.walk.layout.nbytes;
        const uint8_t *refine = w->refine + (size_t)i * w->model.refine.layout.nbytes;
        const float *walk_factors = w->walk_factors + (size_t)i * CODE_FACTORS;
        const float *refine_factors = w->refine_factors + (size_t)i * CODE_FACTORS;
        struct refine_rows rows = {&walk, &walk_factors, &refine, &refine_factors};

        model_refine(&w->model, &w->query, &rows, 1, &w->distances[i]);
    }
}

/* The vector as the metric takes it, less the mean. */
static void centred(const struct world *w, const float *vector, double *to)
{
    double square = 0;

    for (uint32_t j = 0; j < w->shape.dim; j++)
        square += (double)vector[j] * vector[j];
    for (uint32_t j = 0; j < w->shape.dim; j++) {
        to[j] = vector[j];
        if (w->shape.metric == PAUA_COSINE && square > 0) to[j] /= sqrt(square);
        to[j] -= w->model.mean[j];
    }
}

static double product(const double *a, const double *b, uint32_t dim)
{
    double sum = 0;

    for (uint32_t j = 0; j < dim; j++)
        sum += a[j] * b[j];
    return sum;
}

double world_exact(const struct world *w, const float *query, uint32_t row)
{
    const float *x = w->rows + (size_t)row * w->shape.dim;
    double d = test_distance(w->shape.metric, query, x, w->shape.dim);

    return w->shape.metric == PAUA_L2 ? d : 2 * d;
}

double world_decoded(struct world *w, const float *query, uint32_t row, bool refined)
{
    double *q = malloc(2 * w->shape.dim * sizeof *q), *z = q + w->shape.dim, d;
    const float *factors = w->walk_factors + (size_t)row * CODE_FACTORS;
    const struct model *m = &w->model;

    model_decode(m, w->walk + (size_t)row * m->walk.layout.nbytes, factors,
                 refined ? w->refine + (size_t)row * m->refine.layout.nbytes : NULL,
                 w->refine_factors + (size_t)row * CODE_FACTORS, &w->scratch, w->decoded);
    centred(w, query, q);
    for (uint32_t j = 0; j < w->shape.dim; j++)
        z[j] = (double)w->decoded[j] - m->mean[j];
    d = m->constant + (double)factors[CODE_GROUPS] - 2 * product(q, z, w->shape.dim);
    for (uint32_t j = 0; j < w->shape.dim; j++)
        z[j] = m->mean[j];
    d +=
        w->shape.metric == PAUA_L2 ? product(q, q, w->shape.dim) : -2 * product(q, z, w->shape.dim);
    free(q);
    return d;
}

double world_unit(const struct world *w, const float *query, uint32_t row)
{
    double *q = malloc(2 * w->shape.dim * sizeof *q), *x = q + w->shape.dim, unit;

    centred(w, query, q);
    centred(w, w->rows + (size_t)row * w->shape.dim, x);
    unit = 2 * sqrt(product(q, q, w->shape.dim) * product(x, x, w->shape.dim));
    free(q);
    return unit;
}

void shape_print(const struct shape *s)
{
    print_message("dim %u, rows %u, metric %d, precision %d, data %d, scale %g\n", s->dim, s->rows,
                  (int)s->metric, (int)s->precision, (int)s->data, (double)s->scale);
}
