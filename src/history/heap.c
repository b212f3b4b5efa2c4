/* heap.c - allocation through the caller's hooks, counted.
 *
 * The heap object is shared by a history, its pages and its views, since any of them may be the
 * last to go. It also keeps the scratch: a view that outlives its history still restores pages.
 * Counters are relaxed atomics: they are figures, they publish nothing. */
#include "history/heap.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "history/scratch.h"

#define GROW_MIN 4u

static void *default_resize(void *arg, void *block, size_t old_nbytes, size_t nbytes)
{
    (void)arg;
    (void)old_nbytes;
    return mem_realloc(block, nbytes);
}

static void default_release(void *arg, void *block, size_t nbytes)
{
    (void)arg;
    (void)nbytes;
    mem_free(block);
}

static const paua_history_allocator DEFAULT = {default_resize, default_release, NULL};

static void count(struct heap *heap, size_t added, size_t removed)
{
    atomic_fetch_add_explicit(&heap->live, added, memory_order_relaxed);
    atomic_fetch_sub_explicit(&heap->live, removed, memory_order_relaxed);
}

struct heap *heap_make(const paua_history_allocator *hooks, paua_history_scratch *scratch)
{
    const paua_history_allocator *used = hooks->resize != NULL ? hooks : &DEFAULT;
    struct heap *heap = used->resize(used->arg, NULL, 0, sizeof *heap);

    if (heap == NULL) return NULL;
    heap->hooks = *used;
    heap->stores_pages = false;
    atomic_init(&heap->refs, 1);
    atomic_init(&heap->live, sizeof *heap);
    atomic_init(&heap->held, 0);
    atomic_init(&heap->restores, 0);
    atomic_init(&heap->scratch, scratch == NULL ? NULL : scratch_ref(scratch));
    return heap;
}

struct heap *heap_ref(struct heap *heap)
{
    atomic_fetch_add_explicit(&heap->refs, 1, memory_order_relaxed);
    return heap;
}

void heap_unref(struct heap *heap)
{
    paua_history_allocator hooks = heap->hooks;
    paua_history_scratch *scratch;

    if (atomic_fetch_sub_explicit(&heap->refs, 1, memory_order_acq_rel) > 1) return;
    assert(atomic_load_explicit(&heap->live, memory_order_relaxed) == sizeof *heap);
    scratch = atomic_load_explicit(&heap->scratch, memory_order_relaxed);
    if (scratch != NULL) scratch_unref(scratch);
    hooks.release(hooks.arg, heap, sizeof *heap);
}

paua_history_scratch *heap_scratch(struct heap *heap)
{
    paua_history_scratch *scratch = atomic_load_explicit(&heap->scratch, memory_order_acquire);
    paua_history_scratch *made;

    if (scratch != NULL) return scratch;
    made = scratch_make();
    if (made == NULL) return NULL;
    if (atomic_compare_exchange_strong_explicit(&heap->scratch, &scratch, made,
                                                memory_order_acq_rel, memory_order_acquire))
        return made;
    scratch_unref(made);
    return scratch;
}

void *heap_alloc(struct heap *heap, size_t nbytes)
{
    void *block;

    assert(nbytes > 0);
    block = heap->hooks.resize(heap->hooks.arg, NULL, 0, nbytes);
    if (block != NULL) count(heap, nbytes, 0);
    return block;
}

void heap_free(struct heap *heap, void *block, size_t nbytes)
{
    if (block == NULL) return;
    count(heap, 0, nbytes);
    heap->hooks.release(heap->hooks.arg, block, nbytes);
}

void *heap_shrink(struct heap *heap, void *block, size_t old_nbytes, size_t nbytes)
{
    void *shorter;

    assert(nbytes > 0 && nbytes < old_nbytes);
    shorter = heap->hooks.resize(heap->hooks.arg, block, old_nbytes, nbytes);
    if (shorter != NULL) count(heap, nbytes, old_nbytes);
    return shorter;
}

void *heap_grow(struct heap *heap, void *block, size_t *capacity, size_t needed, size_t each)
{
    size_t room = *capacity <= SIZE_MAX / 2 ? 2 * *capacity : SIZE_MAX;
    void *grown;

    assert(needed > *capacity && each > 0);
    if (room < needed) room = needed;
    if (room < GROW_MIN) room = GROW_MIN;
    if (room > PTRDIFF_MAX / each) return NULL;
    grown = heap->hooks.resize(heap->hooks.arg, block, *capacity * each, room * each);
    if (grown == NULL) return NULL;
    count(heap, room * each, *capacity * each);
    *capacity = room;
    return grown;
}
