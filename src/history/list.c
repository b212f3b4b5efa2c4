/* list.c - see list.h. */
#include "history/list.h"

#include <string.h>

#define CAPACITY_MIN 4u

void list_unref(struct list *list)
{
    struct heap *heap;

    if (list == NULL || atomic_fetch_sub_explicit(&list->refs, 1, memory_order_acq_rel) > 1) return;
    for (size_t i = list->first; i < list->end; i++)
        page_unref(list->pages[i]);
    heap = list->heap;
    heap_free(heap, list, list_held(list));
    heap_unref(heap);
}

/* A new list of the pages from `first` on, with room for `more`. */
static bool replace(struct heap *heap, struct list **list, size_t first, size_t more)
{
    struct list *old = *list, *made;
    size_t count = old == NULL ? 0 : old->end - first;
    size_t capacity = count + more < CAPACITY_MIN ? CAPACITY_MIN : count + more;

    made = heap_alloc(heap, sizeof *made + capacity * sizeof made->pages[0]);
    if (made == NULL) return false;
    *made = (struct list){.heap = heap_ref(heap), .end = count, .capacity = capacity};
    atomic_init(&made->refs, 1);
    for (size_t i = 0; i < count; i++)
        made->pages[i] = page_ref(old->pages[first + i]);
    list_unref(old);
    *list = made;
    return true;
}

bool list_add(struct heap *heap, struct list **list, struct page *page)
{
    struct list *l = *list;

    if (l == NULL || l->end == l->capacity) {
        size_t count = l == NULL ? 0 : l->end - l->first;

        if (!replace(heap, list, l == NULL ? 0 : l->first, 1 + count / 2)) return false;
        l = *list;
    }
    l->pages[l->end++] = page;
    return true;
}

bool list_drop_first(struct heap *heap, struct list **list)
{
    struct list *l = *list;
    struct page *page;
    bool replaced;

    assert(l != NULL && l->first < l->end);
    if (atomic_load_explicit(&l->refs, memory_order_acquire) == 1) {
        page_detach(l->pages[l->first]);
        page_unref(l->pages[l->first++]);
        return true;
    }
    page = page_ref(l->pages[l->first]); /* the list may go */
    replaced = replace(heap, list, l->first + 1, 1);
    if (replaced) page_detach(page);
    page_unref(page);
    return replaced;
}

size_t list_find(const struct list *list, size_t first, size_t end, uint64_t ordinal)
{
    assert(first < end && list->pages[first]->ordinal <= ordinal);
    while (end - first > 1) {
        size_t middle = first + (end - first) / 2;

        if (list->pages[middle]->ordinal <= ordinal)
            first = middle;
        else
            end = middle;
    }
    return first;
}
