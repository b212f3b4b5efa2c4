/* history.c - opening and closing, limits, figures. */
#include "history/history.h"

#include <string.h>

#include "base/error.h"

static uint32_t page_nbytes_for(const paua_history_limits *limits)
{
    uint64_t share = limits->max_nbytes / 8;

    /* Bytes are given back a page at a time: a small limit gets small pages. */
    if (limits->max_nbytes == 0 || share > BLOCK_NBYTES_MAX) return BLOCK_NBYTES_MAX;
    return share < 1024 ? 1024 : (uint32_t)share;
}

paua_status paua_history_open(const paua_history_opts *opts, paua_history **history,
                              paua_error *err)
{
    paua_history_opts o = {0};
    struct heap *heap;
    paua_history *h;

    if (opts != NULL) memcpy(&o, opts, opts->size < sizeof o ? opts->size : sizeof o);
    if (o.page_rows > PAUA_HISTORY_PAGE_ROWS_MAX)
        return error_set(err, PAUA_EINVAL, "page_rows is at most 256");
    if ((o.allocator.resize == NULL) != (o.allocator.release == NULL))
        return error_set(err, PAUA_EINVAL, "an allocator needs both resize and release");
    if (o.first_id == UINT64_MAX) return error_set(err, PAUA_EINVAL, "first_id is too high");
    heap = heap_make(&o.allocator, o.scratch);
    if (heap == NULL) return error_set_nomem(err);
    h = heap_alloc(heap, sizeof *h);
    if (h == NULL) {
        heap_unref(heap);
        return error_set_nomem(err);
    }
    *h = (paua_history){.heap = heap,
                        .limits = o.limits,
                        .next_id = o.first_id == 0 ? 1 : o.first_id,
                        .page_rows = o.page_rows == 0 ? PAUA_HISTORY_PAGE_ROWS_MAX : o.page_rows,
                        .page_nbytes = page_nbytes_for(&o.limits),
                        .filter_rows = FILTER_ROWS_MIN,
                        .filter_extent = FILTER_EXTENT};
    builder_init(&h->tail, heap);
    *history = h;
    return PAUA_OK;
}

static void drop_pages(paua_history *h)
{
    for (size_t i = 0; i < history_page_count(h); i++)
        page_detach(h->list->pages[h->list->first + i]);
    list_unref(h->list);
    h->list = NULL;
    filters_unref(h->filters);
    h->filters = NULL;
}

void paua_history_close(paua_history *h)
{
    struct heap *heap;

    if (h == NULL) return;
    heap = h->heap;
    drop_pages(h);
    history_forget_tail_copy(h);
    builder_free(&h->tail);
    heap_free(heap, h, sizeof *h);
    heap_unref(heap);
}

void paua_history_set_limits(paua_history *h, const paua_history_limits *limits)
{
    h->limits = *limits;
    h->page_nbytes = page_nbytes_for(limits);
    history_evict(h);
}

void paua_history_clear(paua_history *h)
{
    drop_pages(h);
    history_forget_tail_copy(h);
    builder_free(&h->tail);
    h->first_ordinal = h->next_ordinal;
}

paua_status paua_history_expire(paua_history *h, int64_t now_ms, paua_error *err)
{
    if (now_ms <= 0) return error_set(err, PAUA_EINVAL, "a time is above 0");
    if (h->limits.max_age_ms > 0 && h->limits.max_age_ms < (uint64_t)now_ms)
        history_evict_before(h, now_ms - (int64_t)h->limits.max_age_ms);
    return PAUA_OK;
}

size_t history_held(const paua_history *h)
{
    return HISTORY_EMPTY_NBYTES + list_held(h->list) + filters_held(h->filters) +
           builder_held(&h->tail) + (h->tail_copy == NULL ? 0 : h->tail_copy->nbytes) +
           atomic_load_explicit(&h->heap->held, memory_order_relaxed);
}

static uint64_t first_id(const paua_history *h)
{
    struct page *page;
    struct block *block;
    uint64_t id;

    if (h->first_ordinal == h->next_ordinal) return 0;
    if (history_page_count(h) == 0) {
        const struct builder *tail = &h->tail;

        return tail->first_id + tail->slots[tail->dead_rows].id_step;
    }
    page = h->list->pages[h->list->first];
    id = page->first_id + (h->first_ordinal - page->ordinal);
    if (page->has_gaps && page_pin(page, true, &block) == PAUA_OK) {
        id = block_id(block, (uint32_t)(h->first_ordinal - page->ordinal));
        block_unref(block);
    }
    return id;
}

void paua_history_get_stats(const paua_history *h, paua_history_stats *stats)
{
    paua_history_stats s = {
        .size = stats->size,
        .rows = h->next_ordinal - h->first_ordinal,
        .first_id = first_id(h),
        .next_id = h->next_id,
        .nbytes = history_held(h),
        .live_nbytes = atomic_load_explicit(&h->heap->live, memory_order_relaxed),
        .tail_nbytes = builder_held(&h->tail),
        .pages = history_page_count(h),
        .restores = atomic_load_explicit(&h->heap->restores, memory_order_relaxed)};

    for (size_t i = 0; i < s.pages; i++) {
        struct page_state state = page_state(h->list->pages[h->list->first + i]);

        s.compressed_nbytes += state.compressed_nbytes;
        s.cold_pages += state.cold;
        s.incompressible_pages += state.incompressible;
    }
    memcpy(stats, &s, stats->size < sizeof s ? stats->size : sizeof s);
}
