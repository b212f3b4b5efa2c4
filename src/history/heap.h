/* heap.h - the caller's allocator, and the count of what a history holds.
 *
 * Every block knows its size at its release, so the count is exact. `live` is all that is
 * allocated; `held` is the part that the history itself answers for: pages that views keep alive
 * after their eviction are live, not held. */
#ifndef PAUA_HISTORY_HEAP_H
#define PAUA_HISTORY_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <paua/paua_history.h>

struct heap {
    atomic_size_t refs;
    atomic_size_t live;
    atomic_size_t held;
    atomic_size_t restores;
    paua_history_allocator hooks;
    _Atomic(paua_history_scratch *) scratch; /* one reference, or NULL until needed */
    bool stores_pages; /* pages can be stored away: set before there are any */
};

/* One reference; NULL when out of memory. scratch may be NULL. */
struct heap *heap_make(const paua_history_allocator *hooks, paua_history_scratch *scratch);
struct heap *heap_ref(struct heap *heap);
void heap_unref(struct heap *heap);

/* The scratch, made now if there is none; NULL when out of memory. */
paua_history_scratch *heap_scratch(struct heap *heap);

void *heap_alloc(struct heap *heap, size_t nbytes); /* uninitialized; NULL when out of memory */
void heap_free(struct heap *heap, void *block, size_t nbytes); /* block may be NULL */

/* Shortens a block; NULL, and the block as it was, if the allocator will not. */
void *heap_shrink(struct heap *heap, void *block, size_t old_nbytes, size_t nbytes);

/* A growing array: capacity of elements of `each` bytes, at least doubled up to `needed`. Returns
 * NULL with nothing changed when out of memory, otherwise the block. */
void *heap_grow(struct heap *heap, void *block, size_t *capacity, size_t needed, size_t each);

/* HEAP_GROW(heap, array, capacity, needed): false when out of memory. */
#define HEAP_GROW(heap, array, capacity, needed)                                                   \
    ((needed) <= (capacity) ||                                                                     \
     heap_grow_into(heap, (void *)&(array), &(capacity), needed, sizeof *(array)))

static inline bool heap_grow_into(struct heap *heap, void *array, size_t *capacity, size_t needed,
                                  size_t each)
{
    void *old, *block;

    memcpy(&old, array, sizeof old);
    block = heap_grow(heap, old, capacity, needed, each);
    if (block == NULL) return false;
    memcpy(array, &block, sizeof block);
    return true;
}

#define HEAP_FREE_ARRAY(heap, array, capacity)                                                     \
    do {                                                                                           \
        heap_free(heap, array, (capacity) * sizeof *(array));                                      \
        (array) = NULL;                                                                            \
        (capacity) = 0;                                                                            \
    } while (0)

#endif
