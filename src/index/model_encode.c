/* model_encode.c - rows to codes: KERNEL_TILE_QUERIES rows at a time through the float matrix, then
 * one by one through the coders of both planes. A row's codes depend on it and the model alone. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "index/model_private.h"

bool room_init(struct model_room **room, const struct model *model)
{
    struct model_room *made = mem_zalloc(1, sizeof *made);
    bool ok = made != NULL;

    if (!ok) return false;
    made->rows = mem_aligned(64, (size_t)KERNEL_TILE_QUERIES * model->stride * sizeof(float));
    ok = made->rows != NULL;
    if (ok && model->trained) ok = panel_init(&made->panel, model->dim, model->matrix_rows);
    ok = ok && coder_init(&made->walk, &model->walk, model->dim) &&
         coder_init(&made->refine, &model->refine, model->dim);
    if (!ok) {
        room_free(made);
        return false;
    }
    *room = made;
    return true;
}

void room_free(struct model_room *room)
{
    if (room == NULL) return;
    panel_free(&room->panel);
    coder_free(&room->walk);
    coder_free(&room->refine);
    mem_free(room->rows);
    mem_free(room);
}

/* Where n rows' codes go. */
struct target {
    uint8_t *walk, *refine;
    float *walk_factors, *refine_factors;
};

static void load(const struct model *model, const float *rows, uint32_t n, struct model_room *room)
{
    for (uint32_t t = 0; t < n; t++) {
        float *x = room->rows + (size_t)t * model->stride;

        vector_load(model->metric, model->dim, rows + (size_t)t * model->dim, x);
        room->aux[t] = vector_centre(model, x);
    }
}

static void rotate(const struct model *model, uint32_t t, struct model_scratch *scratch)
{
    float *z = scratch->rotated;

    if (model->trained) {
        segments_spread(model, model->matrix_rows, scratch->room->panel.product + t,
                        KERNEL_TILE_QUERIES, z);
        return;
    }
    memset(z, 0, model_room_dims(model) * sizeof *z);
    memcpy(z, scratch->room->rows + (size_t)t * model->stride, model->dim * sizeof *z);
    rotation_apply(model->seed, model->dim, z, scratch->product);
}

static void encode_row(const struct model *model, uint32_t t, struct model_scratch *scratch,
                       const struct target *to)
{
    float *factors = to->walk_factors + t * CODE_FACTORS;
    uint8_t *walk = to->walk + (size_t)t * model->walk.layout.nbytes;

    rotate(model, t, scratch);
    coder_encode(&scratch->room->walk, scratch->rotated, walk, factors);
    factors[CODE_GROUPS] = scratch->room->aux[t];
    if (to->refine == NULL) return;
    plane_add(&model->walk, walk, factors, -1, scratch->rotated);
    coder_encode(&scratch->room->refine, scratch->rotated,
                 to->refine + (size_t)t * model->refine.layout.nbytes,
                 to->refine_factors + t * CODE_FACTORS);
    to->refine_factors[t * CODE_FACTORS + CODE_GROUPS] = 0;
}

void model_encode(const struct model *model, const float *rows, size_t n,
                  struct model_scratch *scratch, uint8_t *walk, float *walk_factors,
                  uint8_t *refine, float *refine_factors)
{
    assert(scratch->room != NULL);
    for (size_t at = 0; at < n; at += KERNEL_TILE_QUERIES) {
        uint32_t count = (uint32_t)(n - at < KERNEL_TILE_QUERIES ? n - at : KERNEL_TILE_QUERIES);
        bool refined = model->refine.layout.nbytes > 0 && refine != NULL;
        struct target to = {walk + at * model->walk.layout.nbytes, NULL,
                            walk_factors + at * CODE_FACTORS, NULL};

        if (refined) {
            to.refine = refine + at * model->refine.layout.nbytes;
            to.refine_factors = refine_factors + at * CODE_FACTORS;
        }
        load(model, rows + at * model->dim, count, scratch->room);
        if (model->trained)
            panel_multiply(&scratch->room->panel, model, scratch->room->rows, model->stride, count);
        for (uint32_t t = 0; t < count; t++)
            encode_row(model, t, scratch, &to);
    }
}
