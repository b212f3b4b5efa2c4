/* model.h - what a set of rows was quantized by: mean, axes, and two planes of codes.
 *
 * A vector x (of length 1 under cosine; a zero vector stays zero) becomes z = M (x - mean), where
 * the rows of M are about orthonormal: principal axes in segments of `lane` dimensions by falling
 * variance, turned at random within each segment. Where no axes could be trained (more than
 * MODEL_DIM_TRAINED dimensions), z is a seeded random rotation of x - mean by signs and Hadamard
 * transforms, whose segments are about alike.
 *
 * Walk plane    few bits a segment (fields of at most 4): graphs walk on it and lists of neighbours
 *               are pruned by it. It uses the first segments.
 * Refine plane  codes of z minus what the walk plane says, up to 8 bits: rescores what was found.
 *               Absent (layout.nbytes 0) where the budget is used up.
 * Fields        follow each other by segment. A width that is no power of two is several fields of
 *               one segment, the upper bits first; the sum of what they stand for is the value.
 *
 * Distances. With q' = q - mean, all metrics are
 *   D(q, x) = constant + aux(q) + aux(x) - 2 <N q', z>
 * N is M in 8 bits, and rows are multiplied by N's dual (for which <N q', z> = <q', x - mean>), so
 * that nothing is lost by rounding it.
 *   l2       aux = |z|^2 (|q'|^2),         constant 0;               distance = D
 *   ip       aux = -2 <mean, z> (rotated), constant -2 |mean|^2;     distance = D / 2 = -<q, x>
 *   cosine   the same,                     constant 2 - 2 |mean|^2;  distance = D / 2
 * aux is exact: it is taken from the original vector. A zero query under cosine has no direction:
 * callers scan exactly.
 *
 * Source: segments and bits by variance: SAQ, arXiv 2509.12086; codes that are scaled for the best
 * cosine and made unbiased by one factor: Extended RaBitQ, SIGMOD 2025. */
#ifndef PAUA_INDEX_MODEL_H
#define PAUA_INDEX_MODEL_H

#include <stdbool.h>

#include <paua/paua.h>

#include "kernel/code.h"

#define MODEL_DIM_TRAINED 2048u

struct plane_model {
    struct code_layout layout; /* fields and steps owned by the model */
    uint32_t group_count;
    float *sigma;  /* one a field; value = factor of the group * sigma * code */
    float *spread; /* one a field: deviation of the whole codes' components in units of sigma; only
                      while building; NULL in a model read from a file */
};

struct model {
    uint32_t dim;
    paua_metric metric;
    uint32_t lane,
        segments; /* segments x lane >= dim: rotated dimensions, the last may be padding */
    bool trained; /* false: signs and Hadamard */
    uint64_t seed;
    float constant;      /* of D, above */
    float *mean;         /* dim */
    float *rotated_mean; /* segments x lane: M mean */
    /* Rows of M that some field uses, in the order of segments; matrix_rows of them. */
    uint32_t matrix_rows, walk_rows; /* the first walk_rows are those that the walk plane uses */
    uint32_t stride;                 /* components from row to row: dim rounded up to 64 */
    float *matrix; /* what rows are multiplied by: only while building; NULL in a model read
                                  from a file */
    const int8_t *matrix_s8;   /* matrix_rows x stride: row i is matrix_scale[i] * s8 */
    const float *matrix_scale; /* matrix_rows */
    struct plane_model walk, refine;
    double walk_error, refine_error; /* mean share of |z|^2 that the planes miss, of trained rows */
    bool borrowed; /* mean, rotated_mean and the matrices belong to a file; what the planes point to
                      is the model's all the same */
};

/* Bytes of codes a row that a precision may take in all planes together. */
uint32_t model_budget(paua_precision precision, uint32_t dim);

/* Fills n rows of dim floats, row-major, for positions first .. first + n - 1. */
typedef paua_status (*model_rows_fn)(void *arg, uint32_t first, uint32_t n, float *rows,
                                     paua_error *err);

struct model_source {
    model_rows_fn rows; /* called by several threads at once */
    void *arg;
    uint32_t count;
    uint32_t dim;
    paua_metric metric;
    paua_precision precision;
    uint32_t threads;
    const paua_cancel *cancel; /* may be NULL */
};

/* Trains on an even sample: mean, axes, walk plane (the smallest whose pool of 2k holds 0.999 of
 * the true k nearest of held-out rows), refine plane. Deterministic: depends on the rows alone, not
 * on threads. The model is filled with owned arrays; model_free() in any case. Cost: about a
 * second at 768 dimensions; memory: dim^2 doubles three times, and the sample in pieces. */
paua_status model_train(const struct model_source *source, struct model *model, paua_error *err);
void model_free(struct model *model);

/* Room for one encoding or one query; 64-byte aligned inside. */
struct model_scratch {
    float *rotated;     /* segments x lane + padding */
    float *residual;    /* the same */
    float *input;       /* stride */
    int16_t *input_s16; /* stride */
    float input_unit;   /* of input_s16 */
    int32_t *sums;
    float *product;          /* dim; of the matrix and a vector */
    struct model_room *room; /* what encoding needs; NULL where there is no float matrix */
    void *memory;
};
bool model_scratch_init(struct model_scratch *scratch, const struct model *model);
void model_scratch_free(struct model_scratch *scratch);

/* Encodes n rows of dim floats (as given, not normalized) with the float matrix: walk codes and
 * factors, refine codes and factors (NULL without a refine plane). */
void model_encode(const struct model *model, const float *rows, size_t n,
                  struct model_scratch *scratch, uint8_t *walk, float *walk_factors,
                  uint8_t *refine, float *refine_factors);

/* A query against the walk plane. values: walk.layout.step_count x 64, 64-byte aligned. Leaves in
 * scratch what model_query_refine needs. */
void model_query_walk(const struct model *model, const float *query, struct model_scratch *scratch,
                      int8_t *values, struct code_query *out);

/* Row `row` of the walk plane as a query, for pruning: D(row, x). lut: from model_prune_lut. */
struct prune_lut {
    int8_t *lut;              /* field_count x 16 */
    float unit[CODE_FACTORS]; /* of a value, by group */
};
void model_prune_lut(const struct model *model, struct prune_lut *lut, int8_t *room);
void model_query_row(const struct model *model, const struct code_plane *plane,
                     const struct prune_lut *lut, uint32_t row, int8_t *values,
                     struct code_query *out);

/* 8-bit values against one plane's codes. */
struct refine_part {
    int8_t *values; /* step_count x 64, 64-byte aligned; the caller's */
    float scale[CODE_FACTORS], shift[CODE_FACTORS];
};

/* A query against the refine plane; and what the walk plane's 8 bits missed of it, against the walk
 * codes. */
struct refine_query {
    struct refine_part refine, missed;
    bool coarse; /* missed is not used */
};
void model_query_refine(const struct model *model, struct model_scratch *scratch,
                        struct refine_query *out);

/* Candidates to refine, by the addresses of their codes and factors. */
struct refine_rows {
    const uint8_t *const *walk;
    const float *const *walk_factors;   /* CODE_FACTORS each */
    const uint8_t *const *refine;       /* NULL without a refine plane */
    const float *const *refine_factors; /* the same */
};

/* D of n candidates: distances[i] (their D by the walk plane) made better by the rest of the query
 * and by their refine codes. Also worth calling without a refine plane. Exact integers inside, so
 * the same bits in every tier. */
void model_refine(const struct model *model, const struct refine_query *query,
                  const struct refine_rows *rows, size_t n, float *distances);

/* Decodes a row from its codes: dim floats (of length about 1 under cosine). refine may be NULL. */
void model_decode(const struct model *model, const uint8_t *walk, const float *walk_factors,
                  const uint8_t *refine, const float *refine_factors, struct model_scratch *scratch,
                  float *row);

/* D to the metric's own unit. */
static inline double model_distance(const struct model *model, float d)
{
    return model->metric == PAUA_L2 ? (d > 0 ? (double)d : 0.0) : (double)d / 2;
}

#endif
