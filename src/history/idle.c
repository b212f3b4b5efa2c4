/* idle.c - pages turn cold, a few visits at a time.
 *
 * Visits go round the pages in order; the cursor is a page's number, which eviction does not move.
 * A page that is about to be compressed needs the key of its group: the frame of the oldest page of
 * the group that is still there, or that page's own key if its group's first has gone. The key's
 * frame is made even while its page stays hot, since others are compressed against it. */
#include "history/history.h"

#include "base/error.h"

/* The key of a page of this history, or NULL if it stands alone; one reference. */
static paua_status find_key(paua_history *h, const struct page *page, struct frame **key)
{
    size_t at = h->list->first;
    struct frame *frame;
    struct page *oldest;
    paua_status status;

    *key = NULL;
    if (page->number - h->list->pages[at]->number >= page->number % FRAME_GROUP)
        at += (size_t)(page->number - page->number % FRAME_GROUP - h->list->pages[at]->number);
    oldest = h->list->pages[at];
    if (oldest == page) return PAUA_OK;
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

static paua_status visit(paua_history *h, struct page *page, bool now)
{
    struct page_state state = page_state(page);
    struct frame *key = NULL;
    paua_status status = PAUA_OK;

    if (state.wants_frame && (now || state.ripe)) status = find_key(h, page, &key);
    if (status == PAUA_OK) status = page_visit(page, key, now);
    frame_unref(key);
    return status;
}

paua_status paua_history_idle(paua_history *h, size_t max_pages, size_t *left, paua_error *err)
{
    size_t count = history_page_count(h), visited = 0, workable = 0;
    paua_status status = PAUA_OK;

    if (count > 0) count--; /* the newest stays hot */
    if (count > 0) {
        uint64_t oldest = h->list->pages[h->list->first]->number;
        size_t at = h->idle_cursor > oldest ? (size_t)((h->idle_cursor - oldest) % count) : 0;

        for (size_t i = 0; i < count && visited < max_pages && status == PAUA_OK; i++) {
            struct page *page = h->list->pages[h->list->first + at];

            if (page_state(page).idle) {
                status = visit(h, page, false);
                visited++;
            }
            h->idle_cursor = page->number + 1;
            at = at + 1 == count ? 0 : at + 1;
        }
        for (size_t i = 0; i < count && left != NULL; i++)
            workable += page_state(h->list->pages[h->list->first + i]).idle;
    }
    if (status != PAUA_OK) return error_set_nomem(err);
    if (left != NULL) *left = workable;
    return PAUA_OK;
}

paua_status paua_history_go_cold(paua_history *h, paua_error *err)
{
    for (size_t i = 0; i < history_page_count(h); i++)
        if (visit(h, h->list->pages[h->list->first + i], true) != PAUA_OK)
            return error_set_nomem(err);
    history_forget_tail_copy(h);
    builder_compact(&h->tail);
    builder_trim(&h->tail);
    return PAUA_OK;
}
