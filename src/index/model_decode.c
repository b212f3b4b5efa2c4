/* model_decode.c - from a row's codes back to about the row: rows were multiplied by the
 * narrow matrix's dual, so its transpose undoes that. For originals that were not kept; not fast.
 * */
#include <string.h>

#include "index/model_private.h"

static void turn_back(const struct model *model, const float *z, float *row)
{
    struct segment_cursor at = {0};

    memcpy(row, model->mean, model->dim * sizeof *row);
    while (segment_next(model, &at))
        for (uint32_t i = 0; i < at.dims; i++) {
            const int8_t *m = model->matrix_s8 + (size_t)(at.row + i) * model->stride;
            float value = z[at.segment * model->lane + i] * model->matrix_scale[at.row + i];

            for (uint32_t j = 0; j < model->dim; j++)
                row[j] += value * (float)m[j];
        }
}

void model_decode(const struct model *model, const uint8_t *walk, const float *walk_factors,
                  const uint8_t *refine, const float *refine_factors, struct model_scratch *scratch,
                  float *row)
{
    float *z = scratch->rotated;

    memset(z, 0, model_room_dims(model) * sizeof *z);
    plane_add(&model->walk, walk, walk_factors, 1, z);
    if (refine != NULL) plane_add(&model->refine, refine, refine_factors, 1, z);
    if (model->trained) {
        turn_back(model, z, row);
        return;
    }
    rotation_undo(model->seed, model->dim, z, scratch->product);
    for (uint32_t j = 0; j < model->dim; j++)
        row[j] = model->mean[j] + z[j];
}
