/* sets.h - sets of vectors for tests of recall: real sentence embeddings, and generated shapes. */
#ifndef PAUA_TESTS_SETS_H
#define PAUA_TESTS_SETS_H

#include "support/support.h"

#define SET_K 100u /* nearest rows that recall is about */
#define SET_QUERIES 50u

struct set {
    uint32_t dim, rows;
    float *data; /* rows x dim, then SET_QUERIES x dim; malloc */
};

/* Every 96th of the glosses in a .npy file (half precision, 768 dimensions) is a query, the others
 * are rows. */
struct set set_glosses(const char *path);

/* 100 dimensions in 200 clusters of uneven size, with falling variance and lognormal norms. */
struct set set_clustered(uint32_t rows);

/* The shapes on which graphs go wrong. */
enum shape {
    SHAPE_TENFOLD,   /* every row ten times */
    SHAPE_TIGHT,     /* clusters whose rows are a thousand times nearer than clusters */
    SHAPE_LOGNORMAL, /* norms of very different size */
    SHAPE_DRIFT,     /* the mean and the axes move from the first row to the last */
    SHAPE_OUTLIER    /* one row is a hundred million times longer than all others */
};
#define SHAPE_DIM 32u
struct set set_shape(enum shape shape, uint32_t rows);

static inline const float *set_queries(const struct set *set)
{
    return set->data + (size_t)set->rows * set->dim;
}

/* Keys of hits: SET_QUERIES lists of k. */
struct lists {
    uint32_t k;
    uint64_t *keys; /* malloc */
};
struct lists lists_search(paua_collection *c, const struct set *set, const paua_search_opts *opts);

/* The share of the SET_K nearest rows of `truth` that are in `found`. */
double lists_recall(const struct lists *truth, const struct lists *found);

#endif
