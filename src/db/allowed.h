/* allowed.h - which rows a search may find: those of some keys, those that a filter finds, or both.
 * */
#ifndef PAUA_DB_ALLOWED_H
#define PAUA_DB_ALLOWED_H

#include "db/view.h"

/* Of one source: only live rows. */
struct allowed {
    bool all;       /* every live row: nothing below counts */
    uint32_t *rows; /* positions, rising */
    size_t count, capacity;
    uint64_t *bits; /* a bit a row; NULL: keys alone decide, and they are few */
};

/* An array of one for each source of the view; *allowed becomes NULL if there is no restriction.
 * matched receives how many rows may be found. keys and filter may be NULL. */
paua_status allowed_find(const struct view *view, const paua_keys *keys, const paua_filter *filter,
                         struct allowed **allowed, uint64_t *matched, paua_error *err);
void allowed_free(const struct view *view, struct allowed *allowed);

#endif
