/* model_world.h - trained models for tests: rows of many shapes, and what their codes say. */
#ifndef PAUA_TESTS_UNIT_INDEX_MODEL_WORLD_H
#define PAUA_TESTS_UNIT_INDEX_MODEL_WORLD_H

#include "support/support.h"

#include "index/model.h"

enum data {
    DATA_FALLING,  /* variance falls from dimension to dimension, far from the origin */
    DATA_FLAT,     /* all dimensions alike */
    DATA_CONSTANT, /* every third dimension is the same in all rows */
    DATA_EQUAL,    /* one row many times */
    DATA_ZERO,
    DATA_SCALED, /* lengths from 1e-2 to 1e2 */
    DATA_COUNT
};

struct shape {
    uint32_t dim, rows;
    paua_metric metric;
    paua_precision precision;
    enum data data;
    float scale; /* of all components; 0 is 1 */
};

struct world {
    struct shape shape;
    float *rows; /* rows x dim */
    struct model model;
    uint8_t *walk, *refine;
    float *walk_factors, *refine_factors;
    struct model_scratch scratch;
    int8_t *values;
    struct refine_query query;
    float *distances, *decoded;
};

float *world_rows(const struct shape *shape);

/* Trains and encodes. */
void world_make(struct world *w, const struct shape *shape, uint32_t threads);
void world_free(struct world *w);

/* D of all rows into w->distances, by the walk plane, or refined. */
void world_walk(struct world *w, const float *query);
void world_refine(struct world *w, const float *query);

/* D from the vectors themselves, in doubles. */
double world_exact(const struct world *w, const float *query, uint32_t row);

/* D from what the codes stand for: of the walk plane, or of both. */
double world_decoded(struct world *w, const float *query, uint32_t row, bool refined);

/* The error a unit of which means that nothing is known: 2 |q - mean| |row - mean|, as the metric
 * takes them. */
double world_unit(const struct world *w, const float *query, uint32_t row);

void shape_print(const struct shape *shape);

#endif
