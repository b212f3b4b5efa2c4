/* idle.c - pages turn cold, a few visits at a time.
 *
 * Visits go round the pages in order; the cursor is a page's number, which eviction does not move.
 * A page that is about to be compressed needs the key of its group: the frame of the oldest page of
 * the group that is still there, or that page's own key if its group's first has gone. The key's
 * frame is made even while its page stays hot, since others are compressed against it.
 *
 * Visits that are left go to filters (filter.c), a visit a page.
 *
 * The tail's arrays are as large as the fullest page there has been. A tail to which nothing was
 * appended between two calls is cut to its size. A history that is told to go cold seals its tail
 * if that is worth a page: hiding and showing a pane row by row must not make a page of each. */
#include "history/history.h"

#include "base/error.h"

#define VISITS_TO_TRIM 2u
#define SEALED_EARLY_ROWS 64u

/* The key of list->pages[page_at], or NULL if it stands alone; one reference. */
static paua_status find_key(paua_history *h, size_t page_at, struct frame **key)
{
    size_t in_group = (size_t)(history_page_number(h, page_at) % FRAME_GROUP);
    size_t at = page_at - h->list->first >= in_group ? page_at - in_group : h->list->first;
    struct frame *frame;
    struct page *oldest;
    paua_status status;

    *key = NULL;
    oldest = h->list->pages[at];
    if (at == page_at) return PAUA_OK;
    status = page_frame(oldest, NULL, &frame);
    if (status != PAUA_OK || frame == NULL) return status;
    if (frame->key != NULL) {
        *key = frame_ref(frame->key);
        frame_unref(frame);
    } else {
        *key = frame;
    }
    return PAUA_OK;
}

static paua_status visit(paua_history *h, size_t at, bool now)
{
    struct page *page = h->list->pages[at];
    struct page_state state = page_state(page);
    struct frame *key = NULL;
    paua_status status = PAUA_OK;

    if (state.wants_frame && (now || state.ripe)) status = find_key(h, at, &key);
    if (status == PAUA_OK) status = page_visit(page, key, now);
    frame_unref(key);
    return status;
}

/* The pages that the next filter would cover: whole groups, so many that it pays, with a page after
 * them. Stores where they begin; returns their number, 0: there are not enough yet. */
static size_t filter_pages(const paua_history *h, size_t *first)
{
    const struct filters *f = h->filters;
    uint64_t ordinal = f == NULL ? 0 : f->items[f->count - 1]->end_ordinal;
    size_t at = h->list->first;
    uint32_t rows = 0;

    if (f != NULL && ordinal > h->list->pages[at]->ordinal)
        at = list_find(h->list, at, h->list->end, ordinal);
    *first = at;
    for (; at + 1 < h->list->end; at++) {
        rows += h->list->pages[at]->row_count;
        if (rows >= h->filter_extent && history_page_number(h, at + 1) % FRAME_GROUP == 0)
            return at + 1 - *first;
    }
    return 0;
}

/* Makes filters for pages that have turned cold, as long as there are visits left for it. */
static paua_status make_filters(paua_history *h, size_t visits, size_t *left)
{
    size_t first, count;

    *left = 0;
    if (h->next_ordinal - h->first_ordinal < h->filter_rows) return PAUA_OK;
    while ((count = filter_pages(h, &first)) > 0) {
        paua_status status;

        *left = count;
        for (size_t i = 0; i < count; i++)
            if (page_state(h->list->pages[first + i]).idle) return PAUA_OK;
        if (visits == 0) return PAUA_OK;
        status = filters_add(h->heap, &h->filters, h->list->pages + first, count);
        if (status != PAUA_OK) return status;
        visits -= count < visits ? count : visits;
        *left = 0;
    }
    return PAUA_OK;
}

static void trim_tail(paua_history *h)
{
    history_forget_tail_copy(h);
    if (builder_compact(&h->tail)) builder_trim(&h->tail);
}

paua_status paua_history_idle(paua_history *h, size_t max_pages, size_t *left, paua_error *err)
{
    size_t count = history_page_count(h), visited = 0, workable = 0, unfiltered = 0;
    paua_status status = PAUA_OK;

    if (h->tail_visits < VISITS_TO_TRIM && ++h->tail_visits == VISITS_TO_TRIM) trim_tail(h);
    if (count > 0) count--; /* the newest stays hot */
    if (count > 0) {
        uint64_t oldest = history_page_number(h, h->list->first);
        size_t at = h->idle_cursor > oldest ? (size_t)((h->idle_cursor - oldest) % count) : 0;

        for (size_t i = 0; i < count && visited < max_pages && status == PAUA_OK; i++) {
            struct page *page = h->list->pages[h->list->first + at];

            if (page_state(page).idle) {
                status = visit(h, h->list->first + at, false);
                visited++;
            }
            h->idle_cursor = oldest + at + 1;
            at = at + 1 == count ? 0 : at + 1;
        }
        for (size_t i = 0; i < count && left != NULL; i++)
            workable += page_state(h->list->pages[h->list->first + i]).idle;
        if (status == PAUA_OK) status = make_filters(h, max_pages - visited, &unfiltered);
    }
    if (status != PAUA_OK) return error_set_nomem(err);
    if (left != NULL) *left = workable + unfiltered;
    return PAUA_OK;
}

paua_status paua_history_go_cold(paua_history *h, paua_error *err)
{
    if (history_tail_rows(h) >= SEALED_EARLY_ROWS && !history_seal(h)) return error_set_nomem(err);
    for (size_t i = 0; i < history_page_count(h); i++)
        if (visit(h, h->list->first + i, true) != PAUA_OK) return error_set_nomem(err);
    trim_tail(h);
    return PAUA_OK;
}
