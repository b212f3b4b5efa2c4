/* model_record.h - what a file of codes says about itself (magic "PMDL"): how many rows it holds,
 * and the model they were encoded with, all of it but the big arrays. Those are sections whose
 * lengths follow from this record. */
#ifndef PAUA_CODEC_MODEL_RECORD_H
#define PAUA_CODEC_MODEL_RECORD_H

#include <paua/paua.h>

#include "base/bytes.h"

#define MODEL_RECORD_GROUPS 3u
#define MODEL_RECORD_LANE_MAX 64u
#define MODEL_RECORD_WALK_BITS 4u
#define MODEL_RECORD_DIM_TRAINED 2048u
#define MODEL_RECORD_STRIDE_UNIT 64u
#define MODEL_RECORD_SEGMENT_FIELDS 3u /* 7 bits are fields of 4, 2 and 1 */

/* `lane` dimensions: bits shift .. shift + width - 1 of the bytes offset .. offset + lane - 1. */
struct model_record_field {
    uint32_t offset;  /* in the row; a multiple of lane */
    uint32_t segment; /* which `lane` rotated dimensions; never falls from field to field; the
                         fields of one have at most 8 bits */
    uint8_t shift;
    uint8_t width; /* 1, 2, 4 or 8; in the walk plane at most 4 */
    uint8_t group; /* never falls from field to field; none is left out */
    float sigma;   /* above 0 */
};

struct model_record_plane {
    uint32_t nbytes;      /* of a row: at most segments x lane, each line of it with a field. 0:
                             there is no such plane */
    uint32_t group_count; /* 1 to MODEL_RECORD_GROUPS; 0 without a plane */
    uint32_t field_count; /* at most MODEL_RECORD_SEGMENT_FIELDS a segment; 0 without a plane */
    struct model_record_field *fields; /* owned */
};

struct model_record {
    uint32_t rows; /* 1 or more */
    uint32_t dim;
    paua_metric metric;
    bool trained;
    uint32_t lane;     /* 1 to MODEL_RECORD_LANE_MAX */
    uint32_t segments; /* dim divided by lane, rounded up */
    /* Dimensions of the segments that any plane uses, and of those up to the last that the walk
     * plane uses; 0 if not trained. */
    uint32_t matrix_rows, walk_rows;
    uint32_t stride; /* of the matrix: dim rounded up to MODEL_RECORD_STRIDE_UNIT */
    uint64_t seed;
    uint64_t source_digest;
    float constant;
    double walk_error, refine_error;        /* not below 0 */
    struct model_record_plane walk, refine; /* there is always a walk plane */
};

/* Appends the record to an empty writer: PAUA_OK or PAUA_ENOMEM. */
paua_status model_record_encode(const struct model_record *record, struct writer *w);

/* PAUA_OK, PAUA_ECORRUPT, PAUA_EVERSION or PAUA_ENOMEM; *record changes only on PAUA_OK. All that
 * is said above holds then, floats are finite, and no two fields of a plane share bits. */
paua_status model_record_decode(const void *bytes, size_t length, struct model_record *record);
void model_record_free(struct model_record *record);

#endif
