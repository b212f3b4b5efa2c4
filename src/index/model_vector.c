/* model_vector.c - vectors on their way into the rotated dimensions. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "index/model_private.h"

#define PACK_BLOCK 64u /* components whose columns stay in the nearest cache */
#define PARTS 8u       /* sums side by side, so that additions need not wait for each other */

/* |x|^2: in floats where they carry it, else in doubles. */
static double square_of(const float *x, uint32_t dim)
{
    double sum = 0;
    float square;

    kernels_best()->norm_f32(x, 0, 1, dim, &square);
    if (square > 1e-30f && square < 1e30f) return square;
    for (uint32_t j = 0; j < dim; j++)
        sum += (double)x[j] * x[j];
    return sum;
}

void vector_load(paua_metric metric, uint32_t dim, const float *from, float *to)
{
    double length = sqrt(square_of(from, dim)), scale;

    if (length == 0 || (metric != PAUA_COSINE && length <= MODEL_NORM_MAX)) {
        memmove(to, from, dim * sizeof *to);
        return;
    }
    scale = (metric == PAUA_COSINE ? 1 : MODEL_NORM_MAX) / length;
    for (uint32_t j = 0; j < dim; j++)
        to[j] = (float)(from[j] * scale);
}

static double total(const double parts[PARTS])
{
    return ((parts[0] + parts[4]) + (parts[2] + parts[6])) +
           ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

float vector_centre(const struct model *model, float *x)
{
    double square[PARTS] = {0}, along[PARTS] = {0};

    for (uint32_t j = 0; j < model->dim; j += PARTS) {
        uint32_t n = model->dim - j < PARTS ? model->dim - j : PARTS;

        for (uint32_t k = 0; k < n; k++) {
            double z = (double)x[j + k] - model->mean[j + k];

            square[k] += z * z;
            along[k] += z * model->mean[j + k];
            x[j + k] = (float)z;
        }
    }
    return model_scalar(model->metric == PAUA_L2 ? total(square) : -2 * total(along));
}

bool panel_init(struct panel *panel, uint32_t dim, uint32_t rows)
{
    size_t packed = (size_t)dim * KERNEL_TILE_QUERIES, product = (size_t)rows * KERNEL_TILE_QUERIES;
    float *memory = mem_aligned(64, (packed + product + 16) * sizeof *memory);

    if (memory == NULL) return false;
    *panel = (struct panel){.packed = memory, .product = memory + packed, .memory = memory};
    return true;
}

void panel_free(struct panel *panel)
{
    mem_free(panel->memory);
    *panel = (struct panel){0};
}

void panel_pack(struct panel *panel, const float *x, size_t stride, uint32_t n, uint32_t dim)
{
    if (n < KERNEL_TILE_QUERIES)
        memset(panel->packed, 0, (size_t)dim * KERNEL_TILE_QUERIES * sizeof *panel->packed);
    for (uint32_t first = 0; first < dim; first += PACK_BLOCK) {
        uint32_t end = first + PACK_BLOCK < dim ? first + PACK_BLOCK : dim;

        for (uint32_t t = 0; t < n; t++)
            for (uint32_t j = first; j < end; j++)
                panel->packed[(size_t)j * KERNEL_TILE_QUERIES + t] = x[t * stride + j];
    }
}

void panel_multiply(struct panel *panel, const struct model *model, const float *x, size_t stride,
                    uint32_t n)
{
    assert(n > 0 && n <= KERNEL_TILE_QUERIES);
    panel_pack(panel, x, stride, n, model->dim);
    kernels_best()->dot_tile(panel->packed, model->matrix, model->stride * sizeof(float),
                             model->matrix_rows, model->dim, panel->product);
}

static uint32_t segment_at(const struct plane_model *plane, uint32_t f)
{
    return f < plane->layout.field_count ? plane->layout.fields[f].segment : UINT32_MAX;
}

bool segment_next(const struct model *model, struct segment_cursor *cursor)
{
    uint32_t walk = segment_at(&model->walk, cursor->walk);
    uint32_t refine = segment_at(&model->refine, cursor->refine);

    cursor->row += cursor->dims;
    cursor->segment = walk < refine ? walk : refine;
    if (cursor->segment == UINT32_MAX) return false;
    if (walk == cursor->segment)
        cursor->walk += plane_run(&model->walk.layout, cursor->walk).fields;
    if (refine == cursor->segment)
        cursor->refine += plane_run(&model->refine.layout, cursor->refine).fields;
    cursor->dims = model_segment_dims(model->dim, model->lane, cursor->segment);
    return true;
}

void segments_spread(const struct model *model, uint32_t rows, const float *product, size_t step,
                     float *z)
{
    struct segment_cursor at = {0};

    memset(z, 0, model_room_dims(model) * sizeof *z);
    while (segment_next(model, &at) && at.row < rows)
        for (uint32_t j = 0; j < at.dims; j++)
            z[at.segment * model->lane + j] = product[(at.row + j) * step];
}
