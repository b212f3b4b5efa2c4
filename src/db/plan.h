/* plan.h - how each segment is searched, and saying so. */
#ifndef PAUA_DB_PLAN_H
#define PAUA_DB_PLAN_H

#include "db/search.h"

enum plan_kind {
    PLAN_COMPARE, /* originals */
    PLAN_SCAN,    /* codes of the rows that match */
    PLAN_WALK     /* through the graph */
};

/* How a source of a search will be searched, once its codes and its rows are known. */
enum plan_kind plan_of(const struct search *search, uint32_t source);

/* Makes what the plans need of the rows that may be found: seeds, or lists. */
paua_status plan_prepare(const struct search *search, paua_error *err);

/* Fills segments, walked, scanned, compared and the reason; rows and matched are set. */
void plan_note(const struct search *search, paua_plan *plan);

#endif
