/* list.h - the sealed pages of a history, oldest first, shared with its views.
 *
 * A list that views share is never changed where they look: pages are added behind what they see,
 * and eviction first makes a list of the history's own. So a view costs one reference, whatever the
 * history's length. */
#ifndef PAUA_HISTORY_LIST_H
#define PAUA_HISTORY_LIST_H

#include "history/page.h"

struct list {
    atomic_size_t refs;
    struct heap *heap;
    size_t first; /* pages before are gone */
    size_t end;   /* written by the owner only; views have their own */
    size_t capacity;
    struct page *pages[];
};

static inline struct list *list_ref(struct list *list)
{
    atomic_fetch_add_explicit(&list->refs, 1, memory_order_relaxed);
    return list;
}

void list_unref(struct list *list); /* NULL does nothing */

static inline size_t list_held(const struct list *list)
{
    return list == NULL ? 0 : sizeof *list + list->capacity * sizeof list->pages[0];
}

/* Adds a page, whose reference is taken over; *list may be NULL, and may be replaced. */
bool list_add(struct heap *heap, struct list **list, struct page *page);

/* Removes the oldest page. */
bool list_drop_first(struct heap *heap, struct list **list);

/* Index in [first, end) of the page that has this row (by ordinal), which is in one. */
size_t list_find(const struct list *list, size_t first, size_t end, uint64_t ordinal);

#endif
