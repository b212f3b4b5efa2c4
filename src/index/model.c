/* model.c - what holds a model together: its memory, its scratch, its matrices in fewer bits. */
#include "index/model.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "index/model_private.h"

void model_free(struct model *model)
{
    mem_free(model->matrix);
    if (!model->borrowed) {
        mem_free(model->mean);
        mem_free(model->rotated_mean);
        mem_free((void *)(uintptr_t)model->matrix_bf16);
        mem_free((void *)(uintptr_t)model->matrix_s8);
        mem_free((void *)(uintptr_t)model->matrix_scale);
        mem_free((void *)(uintptr_t)model->matrix_sums);
    }
    plane_free(&model->walk);
    plane_free(&model->refine);
    *model = (struct model){0};
}

static size_t lines(size_t nbytes) { return (nbytes + 63) / 64 * 64; }

bool model_scratch_init(struct model_scratch *scratch, const struct model *model)
{
    size_t dims = lines((model_room_dims(model) + CODER_STEP) * sizeof(float));
    size_t input = lines(model->stride * sizeof(float)), bytes = lines(model->stride);
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
    made.input_u8 = (uint8_t *)(at += input);
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

static uint16_t narrow(float value)
{
    union {
        float f;
        uint32_t u;
    } bits = {.f = value};

    return (uint16_t)((bits.u + 0x7fffu + (bits.u >> 16 & 1)) >> 16);
}

static void narrow_row(const float *row, uint32_t n, int8_t *s8, float *scale, int32_t *sum)
{
    float most = 0;

    for (uint32_t j = 0; j < n; j++)
        most = fmaxf(most, fabsf(row[j]));
    *scale = most / 127;
    *sum = 0;
    for (uint32_t j = 0; j < n; j++) {
        s8[j] = (int8_t)lrintf(most > 0 ? row[j] * (127 / most) : 0);
        *sum += s8[j];
    }
}

bool model_narrow_matrix(struct model *model)
{
    size_t n = (size_t)model->matrix_rows * model->stride;
    uint16_t *bf16 = mem_aligned(64, n * sizeof *bf16 + 64);
    int8_t *s8 = mem_aligned(64, n + 64);
    float *scale = mem_zalloc(model->matrix_rows + 1u, sizeof *scale);
    int32_t *sums = mem_zalloc(model->matrix_rows + 1u, sizeof *sums);

    model->matrix_bf16 = bf16;
    model->matrix_s8 = s8;
    model->matrix_scale = scale;
    model->matrix_sums = sums;
    if (bf16 == NULL || s8 == NULL || scale == NULL || sums == NULL) return false;
    for (size_t i = 0; i < n; i++)
        bf16[i] = narrow(model->matrix[i]);
    for (uint32_t i = 0; i < model->matrix_rows; i++)
        narrow_row(model->matrix + (size_t)i * model->stride, model->stride,
                   s8 + (size_t)i * model->stride, &scale[i], &sums[i]);
    return true;
}
