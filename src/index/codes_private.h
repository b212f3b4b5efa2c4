/* codes_private.h - what writing and opening a file of codes share. */
#ifndef PAUA_INDEX_CODES_PRIVATE_H
#define PAUA_INDEX_CODES_PRIVATE_H

#include "codec/model_record.h"
#include "index/codes.h"

#define CODES_ARRAYS 8u

/* The arrays of a file: all of its sections but the record. */
enum codes_array {
    CODES_MEAN,
    CODES_ROTATED_MEAN,
    CODES_MATRIX_S8,
    CODES_MATRIX_SCALE,
    CODES_REFINE,
    CODES_WALK,
    CODES_WALK_FACTORS,
    CODES_REFINE_FACTORS
};

/* By enum codes_array: which section it is, and how long it must be. */
struct codes_shape {
    enum section_id id;
    uint64_t nbytes;
};
void codes_shapes(const struct model_record *record, struct codes_shape shapes[CODES_ARRAYS]);

/* The record of a model, and the model of a record; false when out of memory. The model has no
 * arrays yet. */
bool model_to_record(const struct model *model, struct model_record *record);
bool model_from_record(const struct model_record *record, struct model *model);

#endif
