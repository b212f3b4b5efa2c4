/* naive.h - columns as plain arrays, and filters as plain loops: what the column layer must equal.
 *
 * Random columns come in shapes that lead to every kind of chunk; random tests take their bounds
 * from the column's own values. The same seed gives the same column. */
#ifndef PAUA_TESTS_COLUMN_NAIVE_H
#define PAUA_TESTS_COLUMN_NAIVE_H

#include "base/arena.h"
#include "column/match.h"
#include "column/patches.h"
#include "column/view.h"

enum naive_shape {
    SHAPE_CONSTANT, /* one value */
    SHAPE_FEW,      /* of eight, and NULL */
    SHAPE_DENSE,    /* of a few hundred, never NULL */
    SHAPE_SPARSE,   /* a value in forty rows */
    SHAPE_DRIFT,    /* rising with noise: numbers that need moving bases */
    SHAPE_DISTINCT, /* no two alike, some NULL */
    SHAPE_CHANGING, /* another of these each few thousand rows */
    SHAPE_COUNT
};

struct naive {
    uint32_t type;
    uint32_t rows;
    struct cell *cells; /* owned */
    struct arena bytes;
};

uint64_t naive_random(uint64_t *seed);
uint32_t naive_below(uint64_t *seed, uint32_t n);

void naive_make(struct naive *naive, uint64_t seed, uint32_t type, enum naive_shape shape,
                uint32_t rows);
void naive_free(struct naive *naive);

/* A value of the column's kind; what it borrows lives in the column. */
struct cell naive_value(struct naive *naive, uint64_t *seed, enum naive_shape shape, uint32_t row);

/* A random test of any kind, of values like the column's; what it borrows is in the bounds and the
 * column. */
#define NAIVE_BOUNDS_MAX 40u
struct naive_bounds {
    struct key_range ranges[NAIVE_BOUNDS_MAX];
    paua_bytes set[NAIVE_BOUNDS_MAX];
};
void naive_test(struct naive *naive, uint64_t *seed, struct naive_bounds *bounds,
                struct column_test *test);

/* Fails the test unless cells are equal. */
void naive_same_cell(const struct cell *a, const struct cell *b, uint32_t type);

/* Fails the test unless the view has the column's rows (more are NULL), cell by cell, in stretches,
 * and under `count` random tests; patches (may be NULL) are of field 7. */
void naive_check(struct naive *naive, const struct column_view *view, const struct patches *patches,
                 uint64_t seed, unsigned count);

extern const uint32_t naive_types[];
extern const unsigned naive_type_count;

#endif
