/* view.c - opening views, and rows by index. */
#include "history/view.h"

#include "base/error.h"

static paua_history_view *make(struct heap *heap, struct list *list, struct filters *filters,
                               struct block *tail)
{
    paua_history_view *v = heap_alloc(heap, sizeof *v);

    if (v == NULL) return NULL;
    *v = (paua_history_view){.heap = heap_ref(heap)};
    if (list != NULL) v->list = list_ref(list);
    if (filters != NULL) v->filters = filters_ref(filters);
    if (tail != NULL) v->tail = block_ref(tail);
    return v;
}

paua_status paua_history_view_open(paua_history *h, paua_history_view **view, paua_error *err)
{
    struct block *tail = NULL;
    paua_history_view *v;

    if (history_tail_rows(h) > 0) {
        tail = history_tail_block(h);
        if (tail == NULL) return error_set_nomem(err);
    }
    v = make(h->heap, history_page_count(h) == 0 ? NULL : h->list, h->filters, tail);
    if (v == NULL) return error_set_nomem(err);
    v->first_ordinal = h->first_ordinal;
    v->row_count = h->next_ordinal - h->first_ordinal;
    v->tail_index = v->row_count - history_tail_rows(h);
    v->next_id = h->next_id;
    v->last_time = h->last_time;
    if (v->list != NULL) {
        v->first_page = v->list->first;
        v->end_page = v->list->end;
    }
    *view = v;
    return PAUA_OK;
}

paua_status paua_history_view_clone(const paua_history_view *view, paua_history_view **clone,
                                    paua_error *err)
{
    paua_history_view *v = make(view->heap, view->list, view->filters, view->tail);

    if (v == NULL) return error_set_nomem(err);
    v->first_page = view->first_page;
    v->end_page = view->end_page;
    v->first_ordinal = view->first_ordinal;
    v->row_count = view->row_count;
    v->tail_index = view->tail_index;
    v->next_id = view->next_id;
    v->last_time = view->last_time;
    *clone = v;
    return PAUA_OK;
}

void paua_history_view_close(paua_history_view *v)
{
    struct heap *heap;

    if (v == NULL) return;
    heap = v->heap;
    block_unref(v->pin);
    block_unref(v->tail);
    filters_unref(v->filters);
    list_unref(v->list);
    heap_free(heap, v, sizeof *v);
    heap_unref(heap);
}

uint64_t paua_history_view_rows(const paua_history_view *v) { return v->row_count; }

void view_unpin(paua_history_view *v)
{
    block_unref(v->pin);
    v->pin = NULL;
    v->pin_begin = v->pin_end = 0;
}

/* The rows of a page, or that they are damaged. */
static void set_pin(paua_history_view *v, const struct page *page, struct block *block)
{
    uint32_t skip =
        page->ordinal < v->first_ordinal ? (uint32_t)(v->first_ordinal - page->ordinal) : 0;

    v->pin = block;
    v->pin_begin = page->ordinal + skip - v->first_ordinal;
    v->pin_end = v->pin_begin + page->row_count - skip;
    v->pin_skip = skip;
}

paua_status view_pin_if(paua_history_view *v, size_t at, const struct sought *sought, bool *lacks)
{
    struct page *page = v->list->pages[at];
    struct block *block = NULL;
    paua_status status;

    view_unpin(v);
    status = page_pin_if(page, sought, &block);
    if (status == PAUA_ENOMEM) return status;
    *lacks = status == PAUA_OK && block == NULL;
    if (!*lacks) set_pin(v, page, block);
    return status;
}

paua_status view_pin(paua_history_view *v, uint64_t index, bool keep)
{
    struct page *page;
    struct block *block = NULL;
    paua_status status;

    assert(index < v->row_count);
    if (index >= v->pin_begin && index < v->pin_end)
        return v->pin != NULL ? PAUA_OK : PAUA_ECORRUPT;
    if (index >= v->tail_index) {
        block_unref(v->pin);
        v->pin = block_ref(v->tail);
        v->pin_begin = v->tail_index;
        v->pin_end = v->row_count;
        v->pin_skip = 0;
        return PAUA_OK;
    }
    page = v->list->pages[list_find(v->list, v->first_page, v->end_page, v->first_ordinal + index)];
    view_unpin(v); /* before the next page is restored: one at a time is held */
    status = page_pin(page, keep, &block);
    if (status != PAUA_ENOMEM) set_pin(v, page, block);
    return status;
}

paua_status view_damaged(const paua_history_view *v, paua_error *err)
{
    return error_set(err, PAUA_ECORRUPT, "rows %llu to %llu are damaged",
                     (unsigned long long)v->pin_begin, (unsigned long long)v->pin_end - 1);
}

paua_status paua_history_view_row(paua_history_view *v, uint64_t index, paua_history_row *row,
                                  paua_error *err)
{
    paua_status status;

    if (index >= v->row_count)
        return error_set(err, PAUA_EINVAL, "there is no row %llu", (unsigned long long)index);
    status = view_pin(v, index, true);
    if (status == PAUA_ECORRUPT) return view_damaged(v, err);
    if (status != PAUA_OK) return error_set_nomem(err);
    block_row(v->pin, view_row_in_pin(v, index), row);
    return PAUA_OK;
}

paua_history_row view_hole(const paua_history_view *v, uint64_t index)
{
    static const paua_history_style plain;
    uint64_t ordinal = v->first_ordinal + index;
    const struct page *page =
        v->list->pages[list_find(v->list, v->first_page, v->end_page, ordinal)];
    paua_history_row row = {.damaged_rows = v->pin_end - index,
                            .id = page->first_id + (ordinal - page->ordinal),
                            .time_ms = page_first_time(page),
                            .width = 1,
                            .text = "",
                            .style_count = 1,
                            .styles = &plain};

    return row;
}

paua_status view_soft(paua_history_view *v, uint64_t index, bool keep, bool *soft)
{
    paua_status status;

    if (index < v->tail_index && !(index >= v->pin_begin && index < v->pin_end)) {
        uint64_t ordinal = v->first_ordinal + index;
        const struct page *page =
            v->list->pages[list_find(v->list, v->first_page, v->end_page, ordinal)];

        if (ordinal + 1 == page->ordinal + page->row_count) {
            *soft = page->last_soft;
            return PAUA_OK;
        }
    }
    status = view_pin(v, index, keep);
    if (status == PAUA_ENOMEM) return status;
    *soft = status == PAUA_OK && block_soft(v->pin, view_row_in_pin(v, index));
    return PAUA_OK;
}
