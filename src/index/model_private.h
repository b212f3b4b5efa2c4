/* model_private.h - what the files that implement model.h share. */
#ifndef PAUA_INDEX_MODEL_PRIVATE_H
#define PAUA_INDEX_MODEL_PRIVATE_H

#include "index/model.h"
#include "kernel/kernel.h"

/* Longer vectors are taken as this long, so that no product of two of them leaves the floats. */
#define MODEL_NORM_MAX 5e17
#define MODEL_SCALAR_MAX 1e37 /* of aux, base and constant */

/* Component values of one segment beyond dim are padding: always 0, in no sum. */
static inline uint32_t model_segment_dims(uint32_t dim, uint32_t lane, uint32_t segment)
{
    uint32_t left = dim - segment * lane;

    return left < lane ? left : lane;
}

static inline uint32_t model_room_dims(const struct model *model)
{
    return model->segments * model->lane;
}

static inline float model_scalar(double value)
{
    return (float)(value > MODEL_SCALAR_MAX    ? MODEL_SCALAR_MAX
                   : value < -MODEL_SCALAR_MAX ? -MODEL_SCALAR_MAX
                                               : value);
}

/* model_layout.c: bits to fields, lines and groups. */

#define LAYOUT_WIDTHS 9u /* 0 to 8 bits */

/* Dimensions of a segment, where codes may take `budget` bytes. */
uint32_t layout_lane(uint32_t dim, uint32_t budget);

/* Widths that minimize the sum of cost[segment][width] in so many bits, a component of each segment
 * taken together. allow: bit w says that width w may be used; 0 and 1 always may, and at least one
 * segment gets a width. False when out of memory. */
bool layout_assign(const double (*cost)[LAYOUT_WIDTHS], uint32_t segments, uint32_t allow,
                   uint32_t bits, uint8_t *widths);

/* Fields for the segments with a width; sigma[s] and spread[s] are those of the whole codes. No
 * width anywhere makes an empty plane. *plane is overwritten. False when out of memory. */
bool plane_make(struct plane_model *plane, uint32_t lane, uint32_t segments, const uint8_t *widths,
                const float *sigma, const float *spread);
void plane_free(struct plane_model *plane);

/* model_rotation.c: turns at random. */

/* x in place: signs, a shuffle and a Hadamard transform, four times over; the inverse undoes it.
 * room: dim floats. Lengths stay. */
void rotation_apply(uint64_t seed, uint32_t dim, float *x, float *room);
void rotation_undo(uint64_t seed, uint32_t dim, float *x, float *room);

/* A random orthogonal matrix, n x n row-major. */
void rotation_dense(uint64_t seed, uint32_t n, double *matrix);

/* model_coder.c: one plane's codes from rotated components, and back. */

/* A plane laid out by component for encoding: fields side by side, each group padded to a multiple
 * of CODER_STEP. */
#define CODER_STEP 16u

struct coder {
    const struct plane_model *plane;
    uint32_t start[CODE_GROUPS + 1]; /* of each group's components */
    float *inverse;                  /* a component: 1 / sigma; 0 for padding */
    float *weight;                   /* sigma^2 over its greatest in the group; 0 for padding */
    float *offset;                   /* half the number of codes */
    float *pull;                     /* 1 / spread^2, over the real components of the group */
    float sigma_max[CODE_GROUPS];
    float *values; /* the row that is being encoded, in units of sigma */
    uint8_t *codes;
    void *memory;
};

bool coder_init(struct coder *coder, const struct plane_model *plane, uint32_t dim);
void coder_free(struct coder *coder);

/* z: segments x lane. codes: layout.nbytes; factors: the first CODE_GROUPS are set. */
void coder_encode(struct coder *coder, const float *z, uint8_t *codes, float *factors);

/* z += sign * what the codes say, at the components of the plane's segments. */
void plane_add(const struct plane_model *plane, const uint8_t *codes, const float *factors,
               float sign, float *z);

/* A segment's fields from f on: how many, and their bits together. */
struct run {
    uint32_t fields, bits;
};
static inline struct run plane_run(const struct code_layout *layout, uint32_t f)
{
    struct run run = {0, 0};

    while (f + run.fields < layout->field_count &&
           layout->fields[f + run.fields].segment == layout->fields[f].segment)
        run.bits += layout->fields[f + run.fields++].width;
    return run;
}

/* One field's code of component j. */
static inline uint32_t plane_code(const struct code_field *field, const uint8_t *codes, uint32_t j)
{
    return (uint32_t)(codes[field->offset + j] >> field->shift) & ((1u << field->width) - 1u);
}

/* Query values in 8 bits from z, with scale and shift so that they give -2 <z, row>; writes what
 * the values stand for back to `used` (may be NULL), at the components of the plane's segments. */
void plane_query(const struct plane_model *plane, const float *z, int8_t *values, float *scale,
                 float *shift, float *used);

/* scale and shift of values that stand for unit[group] each, so that S gives -2 <z, row>. */
void plane_scale(const struct code_layout *layout, const int8_t *values, const float *unit,
                 float *scale, float *shift);

/* model_vector.c: rows and queries before and after the rotation. */

/* Copies a vector, at length 1 under cosine (zero stays zero), at MODEL_NORM_MAX at most
 * otherwise. */
void vector_load(paua_metric metric, uint32_t dim, const float *from, float *to);

/* x becomes x - mean; returns its aux. */
float vector_centre(const struct model *model, float *x);

/* Panels of KERNEL_TILE_QUERIES vectors through rows of a matrix. */
struct panel {
    float *packed;  /* dim x KERNEL_TILE_QUERIES */
    float *product; /* rows x KERNEL_TILE_QUERIES */
    void *memory;
};
bool panel_init(struct panel *panel, uint32_t dim, uint32_t rows);
void panel_free(struct panel *panel);
/* Vectors as columns; unused ones zero. */
void panel_pack(struct panel *panel, const float *x, size_t stride, uint32_t n, uint32_t dim);
/* product[i * KERNEL_TILE_QUERIES + t] = <row i of the matrix, vector t>; n <= KERNEL_TILE_QUERIES
 * vectors, stride floats apart. A vector's products do not depend on the others. */
void panel_multiply(struct panel *panel, const struct model *model, const float *x, size_t stride,
                    uint32_t n);

/* The segments that some field uses, in order, each with its first row in the matrix. Begins
 * zeroed. */
struct segment_cursor {
    uint32_t segment, row, dims;
    uint32_t walk, refine; /* fields to come */
};
bool segment_next(const struct model *model, struct segment_cursor *cursor);

/* Products with the first rows of the matrix, `step` floats apart, to their places in z; the rest
 * of z is 0. */
void segments_spread(const struct model *model, uint32_t rows, const float *product, size_t step,
                     float *z);

/* model_encode.c */
struct model_room {
    struct panel panel; /* trained models */
    struct coder walk, refine;
    float *rows; /* KERNEL_TILE_QUERIES x stride */
    float aux[KERNEL_TILE_QUERIES];
};
bool room_init(struct model_room **room, const struct model *model);
void room_free(struct model_room *room);

/* Adds the 8-bit matrix to a model with a float matrix, which becomes its dual. False when out of
 * memory. */
bool model_narrow_matrix(struct model *model);

#endif
