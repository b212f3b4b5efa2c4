/* codes_model.c - a model as a record and back, and the lengths of the arrays that go with it.
 *
 * A record that has been decoded has been checked (codec/model_record.c), so that nothing here can
 * fail but for want of memory. */
#include "base/memory.h"
#include "index/codes_private.h"

_Static_assert(MODEL_RECORD_DIM_TRAINED == MODEL_DIM_TRAINED, "the format follows the model");
_Static_assert(MODEL_RECORD_GROUPS == CODE_GROUPS, "the format follows the kernels");
_Static_assert(MODEL_RECORD_LANE_MAX == CODE_LINE_NBYTES, "the format follows the kernels");

#define FACTORS_NBYTES (CODE_FACTORS * sizeof(float))

void codes_shapes(const struct model_record *record, struct codes_shape shapes[CODES_ARRAYS])
{
    uint64_t rows = record->rows, stride = record->stride;
    uint64_t rotated = (uint64_t)record->segments * record->lane;
    uint64_t refine_rows = record->refine.nbytes > 0 ? rows : 0;
    const struct codes_shape all[CODES_ARRAYS] = {
        [CODES_MEAN] = {SECTION_MEAN, (uint64_t)record->dim * sizeof(float)},
        [CODES_ROTATED_MEAN] = {SECTION_ROTATED_MEAN, rotated * sizeof(float)},
        [CODES_MATRIX_S8] = {SECTION_MATRIX_S8, record->matrix_rows * stride},
        [CODES_MATRIX_SCALE] = {SECTION_MATRIX_SCALE, record->matrix_rows * sizeof(float)},
        [CODES_REFINE] = {SECTION_REFINE, refine_rows * record->refine.nbytes},
        [CODES_WALK] = {SECTION_WALK, rows * record->walk.nbytes},
        [CODES_WALK_FACTORS] = {SECTION_WALK_FACTORS, rows * FACTORS_NBYTES},
        [CODES_REFINE_FACTORS] = {SECTION_REFINE_FACTORS, refine_rows * FACTORS_NBYTES},
    };

    for (uint32_t i = 0; i < CODES_ARRAYS; i++)
        shapes[i] = all[i];
}

static void plane_to_record(const struct plane_model *plane, struct model_record_field *fields,
                            struct model_record_plane *record)
{
    const struct code_layout *layout = &plane->layout;

    *record = (struct model_record_plane){.nbytes = layout->nbytes,
                                          .group_count = plane->group_count,
                                          .field_count = layout->field_count,
                                          .fields = fields};
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct code_field *f = &layout->fields[i];

        fields[i] = (struct model_record_field){.offset = f->offset,
                                                .segment = f->segment,
                                                .shift = f->shift,
                                                .width = f->width,
                                                .group = f->group,
                                                .sigma = plane->sigma[i]};
    }
}

bool model_to_record(const struct model *model, struct model_record *record)
{
    uint32_t walk = model->walk.layout.field_count, refine = model->refine.layout.field_count;
    struct model_record_field *fields = mem_zalloc((size_t)walk + refine, sizeof fields[0]);

    if (fields == NULL) return false;
    *record = (struct model_record){.dim = model->dim,
                                    .metric = model->metric,
                                    .trained = model->trained,
                                    .lane = model->lane,
                                    .segments = model->segments,
                                    .matrix_rows = model->matrix_rows,
                                    .walk_rows = model->walk_rows,
                                    .stride = model->stride,
                                    .seed = model->seed,
                                    .constant = model->constant,
                                    .walk_error = model->walk_error,
                                    .refine_error = model->refine_error};
    plane_to_record(&model->walk, fields, &record->walk);
    plane_to_record(&model->refine, fields + walk, &record->refine);
    return true;
}

static bool plane_from_record(const struct model_record_plane *record, uint32_t lane,
                              struct plane_model *plane)
{
    struct code_field *fields;
    struct code_step *steps;

    plane->layout.lane = lane;
    if (record->field_count == 0) return true;
    fields = mem_zalloc(record->field_count, sizeof fields[0]);
    steps = mem_zalloc(record->field_count, sizeof steps[0]);
    plane->layout.fields = fields;
    plane->layout.steps = steps;
    plane->sigma = mem_zalloc(record->field_count, sizeof plane->sigma[0]);
    if (fields == NULL || steps == NULL || plane->sigma == NULL) return false;
    plane->layout.nbytes = record->nbytes;
    plane->layout.field_count = record->field_count;
    plane->group_count = record->group_count;
    for (uint32_t i = 0; i < record->field_count; i++) {
        const struct model_record_field *f = &record->fields[i];

        fields[i] = (struct code_field){.offset = f->offset,
                                        .shift = f->shift,
                                        .width = f->width,
                                        .group = f->group,
                                        .segment = f->segment};
        plane->sigma[i] = f->sigma;
    }
    code_layout_join(&plane->layout, fields, steps);
    return true;
}

bool model_from_record(const struct model_record *record, struct model *model)
{
    struct model made = {.dim = record->dim,
                         .metric = record->metric,
                         .trained = record->trained,
                         .lane = record->lane,
                         .segments = record->segments,
                         .matrix_rows = record->matrix_rows,
                         .walk_rows = record->walk_rows,
                         .stride = record->stride,
                         .seed = record->seed,
                         .constant = record->constant,
                         .walk_error = record->walk_error,
                         .refine_error = record->refine_error,
                         .borrowed = true};

    if (!plane_from_record(&record->walk, record->lane, &made.walk) ||
        !plane_from_record(&record->refine, record->lane, &made.refine)) {
        model_free(&made);
        return false;
    }
    *model = made;
    return true;
}
