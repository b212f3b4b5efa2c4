/* filtered.h - which rows of a view a filter finds. */
#ifndef PAUA_DB_FILTERED_H
#define PAUA_DB_FILTERED_H

#include "db/view.h"

/* Binds a filter to a view's fields. PAUA_EINVAL says what does not fit. */
paua_status filtered_bind(const struct view *view, const paua_filter *filter,
                          struct bound_filter **bound, paua_error *err);

/* The live rows of one source that a filter finds: (rows + 63) / 64 words, and how many. */
paua_status filtered_rows(const struct view *view, uint32_t source,
                          const struct bound_filter *filter, uint64_t *bitmap, uint64_t *count,
                          struct filter_scratch *scratch, paua_error *err);

struct place_list {
    struct place *items; /* owned; mem_free() */
    size_t count, capacity;
};

/* All of them, oldest first; filter NULL: every live row. */
paua_status filtered_places(const struct view *view, const struct bound_filter *filter,
                            struct place_list *list, paua_error *err);

/* How many there are. */
paua_status filtered_count(const struct view *view, const struct bound_filter *filter,
                           uint64_t *count, paua_error *err);

#endif
