/* search_codes.h - one query against the codes and the graph of one segment. */
#ifndef PAUA_DB_SEARCH_CODES_H
#define PAUA_DB_SEARCH_CODES_H

#include "db/allowed.h"
#include "db/segment.h"
#include "index/codes.h"
#include "index/flat.h"
#include "index/graph.h"

/* What a search goes by in one segment. */
struct code_source {
    const struct codes *codes; /* NULL: every original is compared */
    const struct graph *graph; /* NULL: every code is compared */
};

struct code_search {
    const struct segment *segment;
    uint32_t field;
    struct code_source source;
    const roaring_bitmap_t *deleted; /* NULL: none */
    const struct allowed *allowed;   /* only these rows; NULL: all that live */
    bool walk;                     /* through the graph, if there is one; else codes are scanned */
    _Atomic uint32_t *short_walks; /* counts walks that ended short; may be NULL */
    const struct flat_query *query;
    uint32_t k;
    uint32_t ef;        /* candidates kept; >= k */
    bool rescore;       /* compare the best with their originals */
    bool map_originals; /* in the map, not by pread */
};

struct code_hit {
    double distance;
    uint32_t row;
};

/* Reused by the searches of one thread, whatever segment they search. Zero-initialize. */
struct code_scratch {
    struct walk_scratch walk;
    struct model_scratch model;
    uint32_t model_dim, model_steps; /* that it has room for */
    int8_t *values;                  /* of the walk plane; and of refinement: high, low, walk */
    uint64_t *keys;
    size_t keys_capacity;
    struct code_hit *hits;
    size_t hits_capacity;
    uint8_t *rows; /* a block of refine codes or originals */
    size_t rows_nbytes;
};
void code_scratch_free(struct code_scratch *scratch);

/* The best candidates, nearest first, but in no order with `rescore`: at least min(k, live and
 * allowed rows) of them. *hits lies in the scratch. Allocates only when the scratch is too small;
 * no lock; no system call but pread. */
paua_status search_codes(const struct code_search *search, struct code_scratch *scratch,
                         const struct code_hit **hits, size_t *count, paua_error *err);

#endif
