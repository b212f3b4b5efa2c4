/* allowed.h - which rows a search may find: those of some keys, of a filter, or of both. */
#ifndef PAUA_DB_ALLOWED_H
#define PAUA_DB_ALLOWED_H

#include "db/view.h"

#define ALLOWED_SEEDS 16u

/* Of one source: only live rows. */
struct allowed {
    bool all;       /* every live row: nothing below counts */
    size_t count;   /* how many */
    uint64_t *bits; /* a bit a row; NULL: keys decide, and the rows are listed */
    uint32_t *rows; /* positions, rising; NULL: not listed, bits tell */
    size_t capacity;
    uint32_t seeds[ALLOWED_SEEDS]; /* rows, evenly apart among them, that a walk starts from */
    uint32_t seed_count;
};

/* An array of one for each source of the view; *allowed becomes NULL if there is no restriction.
 * plan->matched receives how many rows may be found, plan->indexed how many tests indexes answered.
 * keys and filter may be NULL. */
paua_status allowed_find(const struct view *view, const paua_keys *keys, const paua_filter *filter,
                         struct allowed **allowed, paua_plan *plan, paua_error *err);
/* Lists the rows that bits tell, for a plan that looks at each; false when out of memory. */
bool allowed_list(struct allowed *allowed);
/* Picks the seeds among the rows that bits tell. */
void allowed_pick_seeds(struct allowed *allowed);
void allowed_free(const struct view *view, struct allowed *allowed);

#endif
