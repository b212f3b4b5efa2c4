/* indexed.h - a collection of clustered vectors with an index, for tests of what searches find. */
#ifndef PAUA_TESTS_INDEXED_H
#define PAUA_TESTS_INDEXED_H

#include "support/support.h"

#define DIM 40u
#define ROWS 3000u
#define K 10u
#define QUERIES 40u

struct fixture {
    struct test_dir dir;
    paua_db *db;
    paua_collection *c; /* "c", once filled */
    float *data;        /* ROWS x DIM, then QUERIES x DIM: clusters, off centre */
};

int setup(void **state);
int teardown(void **state);

/* Vamana of degree 16 at int8, l2. */
extern const struct test_schema vamana;

/* Makes the collection, inserts ROWS rows with their numbers as keys, and optimizes. */
void fill(struct fixture *f, const struct test_schema *schema);
void reopen(struct fixture *f, const paua_open_opts *opts);
const float *query(const struct fixture *f, uint32_t i);

/* Searches all queries: keys and distances are QUERIES x k; counts one a query. */
void search(struct fixture *f, const paua_search_opts *opts, uint64_t *keys, double *distances,
            size_t *counts);

struct found {
    uint64_t keys[QUERIES * K];
    double distances[QUERIES * K];
    size_t counts[QUERIES];
};
void find(struct fixture *f, const paua_search_opts *opts, struct found *found);

extern const paua_search_opts indexed; /* the K nearest through the index */
extern const paua_search_opts exact;   /* and without */

/* The share of what an exact search finds that this search finds. */
double recall_now(struct fixture *f, const paua_search_opts *opts);

struct listed {
    uint32_t count;
    paua_index last;
    uint64_t rows; /* of all indexes */
};
struct listed list(struct fixture *f);

/* Files of the database with this suffix. */
size_t files_of(const struct fixture *f, const char *suffix);

#endif
