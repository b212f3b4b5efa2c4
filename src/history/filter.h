/* filter.h - what pages cannot contain, so that searches of long histories skip them.
 *
 * A filter covers the rows of a group of pages (FRAME_GROUP), or of several if rows are few, and
 * never changes. A history's filters are an
 * array, oldest first and without a gap, shared with views by counted references; a shared array is
 * copied before it changes. */
#ifndef PAUA_HISTORY_FILTER_H
#define PAUA_HISTORY_FILTER_H

#include "history/list.h"

#define FILTER_NBYTES 1024u
#define FILTER_TRIGRAMS_MAX 64u

/* A history of fewer rows has none: it is scanned in some 30 ms. */
#define FILTER_ROWS_MIN 262144u
#define FILTER_EXTENT 1024u /* rows that a filter covers at least */

struct filter {
    atomic_size_t refs;
    uint64_t first_ordinal;
    uint64_t end_ordinal;
    uint8_t bits[FILTER_NBYTES];
};

struct filters {
    atomic_size_t refs;
    struct heap *heap;
    size_t count;
    size_t capacity;
    struct filter *items[];
};

/* What a search looks for, as bits of a filter. */
struct filter_needle {
    uint32_t count; /* 0: nothing can be skipped */
    uint16_t bits[FILTER_TRIGRAMS_MAX];
};

static inline struct filters *filters_ref(struct filters *filters)
{
    atomic_fetch_add_explicit(&filters->refs, 1, memory_order_relaxed);
    return filters;
}

void filters_unref(struct filters *filters); /* NULL does nothing */
size_t filters_held(const struct filters *filters);

/* Adds the filter of pages[0 .. count - 1], which follow one another and the last filter's.
 * *filters may be NULL, and may be replaced. PAUA_ENOMEM: nothing changed. */
paua_status filters_add(struct heap *heap, struct filters **filters, struct page *const *pages,
                        size_t count);

/* Adds the filter of rows [first_ordinal, end_ordinal), after those of all filters so far, from
 * FILTER_NBYTES that somebody stored. PAUA_ENOMEM: nothing changed. */
paua_status filters_add_stored(struct heap *heap, struct filters **filters, uint64_t first_ordinal,
                               uint64_t end_ordinal, const void *bits);

/* Drops the filters of rows before this one; best effort when out of memory. */
void filters_drop(struct filters **filters, uint64_t first_ordinal);

/* The filter that covers a row; NULL: none does. */
const struct filter *filters_find(const struct filters *filters, uint64_t ordinal);

/* Bytes that every match contains, in whatever letter case. PAUA_ENOMEM. */
paua_status filter_needle(struct heap *heap, const char *bytes, size_t nbytes,
                          struct filter_needle *needle);

/* Whether the rows may contain it. */
bool filter_may_contain(const struct filter *filter, const struct filter_needle *needle);

#endif
