/* search.h - search over a view: the work of paua_search behind its argument checks. */
#ifndef PAUA_DB_SEARCH_H
#define PAUA_DB_SEARCH_H

#include "base/topk.h"
#include "db/allowed.h"
#include "db/db.h"
#include "db/search_codes.h"

struct search {
    const struct view *view;
    uint32_t field;
    uint32_t k;
    bool has_radius;
    double radius;
    struct allowed *allowed;         /* one a source, or NULL: every row */
    const struct code_source *codes; /* one a segment, or NULL: every original is compared */
    uint32_t ef;
    bool rescore, map_originals;   /* see struct code_search */
    _Atomic uint32_t *short_walks; /* see struct code_search */
    uint64_t deadline_ns;          /* 0: none */
    uint32_t timeout_ms;           /* for the message */
    const paua_cancel *cancel;
    struct flat_query *queries; /* n */
    size_t n;
    uint32_t threads;
};

/* What the threads of a search need besides, reused by the next one. Zero-initialize. */
struct search_workers {
    struct worker *items;
    uint32_t count;
};
void search_workers_free(struct search_workers *workers);

/* Fills best[0 .. n - 1] with sorted candidates (source and row name places in the view). `spare`
 * is an array of extra heaps for threads that share a query, threads x n long, reused by the
 * caller. */
paua_status search_run(const struct search *search, struct topk *best, struct topk *spare,
                       struct search_workers *workers, paua_error *err);

/* Ties by key; arg is a struct tie_context. */
struct tie_context {
    const struct view *view;
    struct writer a, b;
    paua_status status; /* first failure to read a key */
    paua_error *err;
};
int search_tie(void *arg, const struct candidate *a, const struct candidate *b);

#endif
