/* group_hits.h - a search that keeps only the nearest few rows of each value of a field. */
#ifndef PAUA_DB_GROUP_HITS_H
#define PAUA_DB_GROUP_HITS_H

#include "db/search.h"

struct grouping {
    const struct field *field;
    uint32_t most; /* rows of one value; NULL is a value too */
    uint32_t k;    /* rows in all */
    uint64_t rows; /* that may be found */
};

/* As search_run, with lists of at most k rows, of which at most `most` have the same value. On
 * success the search holds the k and ef of the last round. */
paua_status group_search(struct search *search, const struct grouping *grouping, struct topk *best,
                         struct topk *spare, struct search_workers *workers, paua_error *err);

#endif
