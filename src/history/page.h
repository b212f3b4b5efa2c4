/* page.h - a sealed page: hot as a block, cold as a frame, restored as both.
 *
 * Shared by counted references between lists. Its state changes under its mutex: readers of views
 * pin it in any thread while the owner visits it. */
#ifndef PAUA_HISTORY_PAGE_H
#define PAUA_HISTORY_PAGE_H

#include "history/frame.h"

struct page {
    atomic_size_t refs;
    struct heap *heap;
    uint64_t number;  /* in its history, from 0; number / FRAME_GROUP is its group */
    uint64_t ordinal; /* of its first row among all rows ever appended */
    uint64_t first_id;
    uint64_t last_id;
    int64_t first_time;
    int64_t last_time;
    uint32_t row_count;
    bool last_soft; /* its last row's line goes on in the next page */
    bool has_gaps;  /* ids are not first_id, first_id + 1 ... */

    pthread_mutex_t mutex;
    /* Below: under the mutex. A page has a block, a frame, or both; damaged: a frame that is none.
     * */
    struct block *block;
    struct frame *frame;
    bool incompressible;
    bool damaged;
    bool attached;  /* its bytes count as held by the history */
    uint8_t visits; /* idle visits since it was read */
};

struct page_place {
    uint64_t number;
    uint64_t ordinal;
};

/* Takes over the caller's reference of block, or of frame, or (a hole) of neither. NULL when out of
 * memory. For a page without a block: the caller fills ids, times and row_count. */
struct page *page_make(struct heap *heap, struct page_place place, struct block *block,
                       struct frame *frame);

static inline struct page *page_ref(struct page *page)
{
    atomic_fetch_add_explicit(&page->refs, 1, memory_order_relaxed);
    return page;
}

void page_unref(struct page *page);

/* The page leaves its history: its bytes no longer count as held. */
void page_detach(struct page *page);

/* A reference to the page's rows, restored if need be; keep: the page holds on to them as well,
 * until idle visits drop them. Any thread. PAUA_ECORRUPT: the page is damaged; PAUA_ENOMEM. */
paua_status page_pin(struct page *page, bool keep, struct block **block);

/* The page's frame, made now if there is none; NULL when the page does not compress. The key is
 * used if one has to be made. Owner's thread. */
paua_status page_frame(struct page *page, struct frame *key, struct frame **frame);

/* References to what the page has now; each may be NULL. A damaged page has neither. */
void page_parts(struct page *page, struct block **block, struct frame **frame);

/* An idle visit, or (now) one that does not wait for a second. The key is used if the page gets
 * compressed: page_state says whether it would be. PAUA_ENOMEM. */
paua_status page_visit(struct page *page, struct frame *key, bool now);

struct page_state {
    bool cold;
    bool incompressible;
    bool idle;        /* a visit could lead to something */
    bool wants_frame; /* the next visit, or one at once, would compress it */
    bool ripe;        /* the next visit acts */
    size_t compressed_nbytes;
    size_t nbytes;
};
struct page_state page_state(struct page *page);

#endif
