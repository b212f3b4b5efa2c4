/* model.c - what holds a model together: its memory, its scratch, its matrices in fewer bits. */
#include "index/model.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "index/model_private.h"

#define DUAL_STEPS 1u

void model_free(struct model *model)
{
    mem_free(model->matrix);
    if (!model->borrowed) {
        mem_free(model->mean);
        mem_free(model->rotated_mean);
        mem_free((void *)(uintptr_t)model->matrix_s8);
        mem_free((void *)(uintptr_t)model->matrix_scale);
    }
    plane_free(&model->walk);
    plane_free(&model->refine);
    *model = (struct model){0};
}

static size_t lines(size_t nbytes) { return (nbytes + 63) / 64 * 64; }

bool model_scratch_init(struct model_scratch *scratch, const struct model *model)
{
    size_t dims = lines((model_room_dims(model) + CODER_STEP) * sizeof(float));
    size_t input = lines(model->stride * sizeof(float)),
           bytes = lines(model->stride * sizeof(int16_t));
    size_t rows = lines(model->stride * sizeof(float));
    size_t total = 2 * dims + input + bytes + 2 * rows;
    struct model_scratch made = {.memory = mem_aligned(64, total)};
    char *at = made.memory;

    if (at == NULL) return false;
    if ((model->matrix != NULL || !model->trained) && model->walk.spread != NULL &&
        !room_init(&made.room, model)) {
        mem_free(made.memory);
        return false;
    }
    memset(at, 0, total);
    made.rotated = (float *)at;
    made.residual = (float *)(at += dims);
    made.input = (float *)(at += dims);
    made.input_s16 = (int16_t *)(void *)(at += input);
    made.sums = (int32_t *)(at += bytes);
    made.product = (float *)(at += rows);
    *scratch = made;
    return true;
}

void model_scratch_free(struct model_scratch *scratch)
{
    room_free(scratch->room);
    mem_free(scratch->memory);
    *scratch = (struct model_scratch){0};
}

static void narrow_row(const float *row, uint32_t n, int8_t *s8, float *scale)
{
    float most = 0;

    for (uint32_t j = 0; j < n; j++)
        most = fmaxf(most, fabsf(row[j]));
    *scale = most / 127;
    for (uint32_t j = 0; j < n; j++)
        s8[j] = (int8_t)lrintf(most > 0 ? row[j] * (127 / most) : 0);
}

/* Row i of the narrow matrix. */
static void widen_row(const struct model *model, uint32_t i, float *row)
{
    const int8_t *s8 = model->matrix_s8 + (size_t)i * model->stride;

    for (uint32_t j = 0; j < model->stride; j++)
        row[j] = model->matrix_scale[i] * (float)s8[j];
}

/* What finding the dual takes. */
struct dual {
    struct panel panel;
    float *rows; /* KERNEL_TILE_QUERIES x stride */
    float *gram; /* matrix_rows x matrix_rows */
};

/* gram[i * rows + t] = <row i of the matrix, row t of the narrow one>. */
static void dual_gram(const struct model *model, struct dual *dual)
{
    uint32_t rows = model->matrix_rows;

    for (uint32_t at = 0; at < rows; at += KERNEL_TILE_QUERIES) {
        uint32_t n = rows - at < KERNEL_TILE_QUERIES ? rows - at : KERNEL_TILE_QUERIES;

        for (uint32_t t = 0; t < n; t++)
            widen_row(model, at + t, dual->rows + (size_t)t * model->stride);
        panel_multiply(&dual->panel, model, dual->rows, model->stride, n);
        for (uint32_t i = 0; i < rows; i++)
            memcpy(dual->gram + (size_t)i * rows + at,
                   dual->panel.product + (size_t)i * KERNEL_TILE_QUERIES, n * sizeof(float));
    }
}

/* matrix = 2 matrix - gram matrix, some columns at a time. */
static void dual_step(struct model *model, struct dual *dual)
{
    uint32_t rows = model->matrix_rows;
    float *packed = dual->panel.packed;
    const float *product = dual->panel.product;

    for (uint32_t at = 0; at < model->stride; at += KERNEL_TILE_QUERIES) {
        for (uint32_t i = 0; i < rows; i++)
            memcpy(packed + (size_t)i * KERNEL_TILE_QUERIES,
                   model->matrix + (size_t)i * model->stride + at,
                   KERNEL_TILE_QUERIES * sizeof(float));
        kernels_best()->dot_tile(packed, dual->gram, rows * sizeof(float), rows, rows,
                                 dual->panel.product);
        for (size_t i = 0; i < rows; i++) {
            float *to = model->matrix + i * model->stride + at;

            for (uint32_t j = 0; j < KERNEL_TILE_QUERIES; j++)
                to[j] = 2 * to[j] - product[i * KERNEL_TILE_QUERIES + j];
        }
    }
}

/* The matrix becomes the dual of the narrow one, (N N')^-1 N, by the iteration of Newton and Schulz
 * from N: each step squares what is missing, which is some percent at first, so one is enough. */
static bool make_dual(struct model *model)
{
    size_t rows = model->matrix_rows;
    struct dual dual = {
        .rows = mem_aligned(64, (size_t)KERNEL_TILE_QUERIES * model->stride * sizeof(float)),
        .gram = mem_aligned(64, rows * rows * sizeof(float) + 64)};
    bool ok = dual.rows != NULL && dual.gram != NULL &&
              panel_init(&dual.panel, model->dim, model->matrix_rows);

    for (uint32_t i = 0; ok && i < rows; i++)
        widen_row(model, i, model->matrix + (size_t)i * model->stride);
    for (uint32_t step = 0; ok && step < DUAL_STEPS; step++) {
        dual_gram(model, &dual);
        dual_step(model, &dual);
    }
    panel_free(&dual.panel);
    mem_free(dual.rows);
    mem_free(dual.gram);
    return ok;
}

bool model_narrow_matrix(struct model *model)
{
    size_t n = (size_t)model->matrix_rows * model->stride;
    int8_t *s8 = mem_aligned(64, n + 64);
    float *scale = mem_zalloc(model->matrix_rows + 1u, sizeof *scale);

    model->matrix_s8 = s8;
    model->matrix_scale = scale;
    if (s8 == NULL || scale == NULL) return false;
    for (uint32_t i = 0; i < model->matrix_rows; i++)
        narrow_row(model->matrix + (size_t)i * model->stride, model->stride,
                   s8 + (size_t)i * model->stride, &scale[i]);
    return model->matrix_rows == 0 || make_dual(model);
}
