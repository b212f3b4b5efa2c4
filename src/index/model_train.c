/* model_train.c - from a source of rows to a model.
 *
 * Steps     An even sample is read, centred and scaled; its principal axes are found and turned
 *           within segments (long vectors get a random rotation instead); the sample is rotated;
 *           both planes are chosen on it; the matrix is cut to the rows that they use.
 * Memory    The sample (64 MiB), and three times dim^2 doubles while axes are found.
 * Threads   Work is cut into blocks that do not depend on their number, and sums are taken in
 *           order: the model depends on the rows alone. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "index/model_train.h"

#define SEED 0x70617561u

static void set_constant(struct model *model)
{
    double square = 0;

    for (uint32_t j = 0; j < model->dim; j++)
        square += (double)model->mean[j] * model->mean[j];
    if (model->metric == PAUA_L2)
        model->constant = 0;
    else
        model->constant = model_scalar((model->metric == PAUA_COSINE ? 2 : 0) - 2 * square);
}

static bool rotate_mean(struct model *model)
{
    uint32_t dims = model_room_dims(model);
    float *room = mem_alloc(model->dim * sizeof *room);

    model->rotated_mean = mem_zalloc(dims, sizeof *model->rotated_mean);
    if (room == NULL || model->rotated_mean == NULL) {
        mem_free(room);
        return false;
    }
    if (model->trained) {
        for (uint32_t i = 0; i < model->dim; i++)
            kernels_best()->dot_f32(model->mean, model->matrix + (size_t)i * model->stride, 0, 1,
                                    model->dim, &model->rotated_mean[i]);
    } else {
        memcpy(model->rotated_mean, model->mean, model->dim * sizeof *model->mean);
        rotation_apply(model->seed, model->dim, model->rotated_mean, room);
    }
    mem_free(room);
    return true;
}

/* Never to 0, nor to where 1 / sigma is infinite: rows may be denormal. */
static void rescale(struct plane_model *plane, double scale)
{
    for (uint32_t f = 0; f < plane->layout.field_count; f++)
        plane->sigma[f] = (float)fmax(plane->sigma[f] * scale, FLT_MIN);
}

/* Keeps the rows of the matrix that some field uses. */
static void cut_matrix(struct model *model)
{
    struct segment_cursor at = {0};

    model->walk_rows = model->matrix_rows = 0;
    while (segment_next(model, &at)) {
        memmove(model->matrix + (size_t)at.row * model->stride,
                model->matrix + (size_t)at.segment * model->lane * model->stride,
                (size_t)at.dims * model->stride * sizeof *model->matrix);
        model->matrix_rows = at.row + at.dims;
        if (at.walk == model->walk.layout.field_count && model->walk_rows == 0)
            model->walk_rows = model->matrix_rows;
    }
}

static paua_status finish(struct model *model, double scale, paua_error *err)
{
    set_constant(model);
    if (!rotate_mean(model)) return error_set_nomem(err);
    rescale(&model->walk, scale);
    rescale(&model->refine, scale);
    if (!model->trained) return PAUA_OK;
    cut_matrix(model);
    return model_narrow_matrix(model) ? PAUA_OK : error_set_nomem(err);
}

static paua_status begin(const struct model_source *source, struct model *model, paua_error *err)
{
    *model = (struct model){.dim = source->dim, .metric = source->metric, .seed = SEED};
    model->lane = layout_lane(source->dim, model_budget(source->precision, source->dim));
    model->segments = (source->dim + model->lane - 1) / model->lane;
    model->stride = (source->dim + 63) / 64 * 64;
    model->trained = source->dim <= MODEL_DIM_TRAINED;
    model->mean = mem_zalloc(source->dim, sizeof *model->mean);
    return model->mean != NULL ? PAUA_OK : error_set_nomem(err);
}

paua_status model_train(const struct model_source *source, struct model *model, paua_error *err)
{
    struct sample sample = {.source = source, .model = model};
    paua_status status = begin(source, model, err);

    sample.stride = (model->segments * model->lane + 63) / 64 * 64;
    if (status == PAUA_OK) status = sample_read(&sample, err);
    if (status == PAUA_OK && model->trained) status = axes_train(&sample, err);
    if (status == PAUA_OK) status = sample_rotate(&sample, err);
    if (status == PAUA_OK) status = planes_choose(&sample, err);
    if (status == PAUA_OK) status = finish(model, sample.scale, err);
    sample_free(&sample);
    return status;
}
