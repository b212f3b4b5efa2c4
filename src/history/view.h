/* view.h - the rows of a history at one moment: a window on its list, and a copy of its tail.
 *
 * A view reads one page at a time and keeps it pinned until it moves on. */
#ifndef PAUA_HISTORY_VIEW_H
#define PAUA_HISTORY_VIEW_H

#include "history/history.h"

struct paua_history_view {
    struct heap *heap;
    struct list *list;       /* NULL: all rows are in the tail */
    struct filters *filters; /* NULL: none */
    size_t first_page;       /* indices into list->pages */
    size_t end_page;
    struct block *tail; /* NULL: no rows in it */
    uint64_t first_ordinal;
    uint64_t row_count;
    uint64_t tail_index; /* row_count of the pages */
    uint64_t next_id;
    int64_t last_time;

    struct block *pin; /* rows [pin_begin, pin_end) of the view; NULL: none, or they are damaged */
    uint64_t pin_begin;
    uint64_t pin_end;
    uint32_t pin_skip; /* rows of the block that come before pin_begin: evicted ones */
};

/* Pins the rows around index, which is below row_count. PAUA_ECORRUPT: they are damaged, from
 * pin_begin to pin_end. keep: a restored page is kept by the history. */
paua_status view_pin(paua_history_view *v, uint64_t index, bool keep);
void view_unpin(paua_history_view *v);

/* Pins the rows of list->pages[at], none kept. If the page is cold and no line within it has what
 * is sought, nothing is pinned, and *lacks is true. */
paua_status view_pin_if(paua_history_view *v, size_t at, const struct sought *sought, bool *lacks);

/* Of a pinned row. */
static inline uint32_t view_row_in_pin(const paua_history_view *v, uint64_t index)
{
    assert(v->pin != NULL && index >= v->pin_begin && index < v->pin_end);
    return (uint32_t)(index - v->pin_begin) + v->pin_skip;
}

/* Whether a row's line goes on in the next one; a damaged row's does not. PAUA_ENOMEM. */
paua_status view_soft(paua_history_view *v, uint64_t index, bool keep, bool *soft);

/* A row that stands for the damaged rows from index on; the view has just failed to pin them. */
paua_history_row view_hole(const paua_history_view *v, uint64_t index);

/* PAUA_ECORRUPT, in words. */
paua_status view_damaged(const paua_history_view *v, paua_error *err);

#endif
