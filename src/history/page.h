/* page.h - a sealed page: hot as a block, cold as a frame, restored as both.
 *
 * Shared by counted references between lists. Its state changes under its lock: readers of views
 * pin it in any thread while the owner visits it. Locks are few, and shared by pages: whoever holds
 * one takes no other page's. */
#ifndef PAUA_HISTORY_PAGE_H
#define PAUA_HISTORY_PAGE_H

#include "history/frame.h"

struct page;
struct page_stored;

/* Where bytes of pages are that memory does not hold: a file. Shared by counted references. */
struct page_store {
    atomic_size_t refs;
    /* The rows of a page that is at *stored, as a block of the page's heap, or NULL, as
     * frame_restore does. Any thread; under the page's lock, so it takes that of no other page.
     * PAUA_ECORRUPT: its bytes are damaged; PAUA_EIO: they could not be read; PAUA_ENOMEM. */
    paua_status (*load)(const struct page_stored *stored, const struct page *page,
                        paua_history_scratch *scratch, const struct sought *sought,
                        struct block **block);
    void (*release)(struct page_store *store); /* the last reference has gone */
};

/* A page's place in its store; what the fields mean is the store's business. */
struct page_stored {
    struct page_store *store; /* one reference */
    uint64_t at;
    uint64_t key_at; /* of the page that it was compressed against; 0: none */
    uint64_t hash;   /* of its payload */
    uint32_t nbytes;
};

/* What is known of a page's rows without reading them. */
struct page_head {
    uint64_t ordinal; /* of its first row among all rows ever appended */
    uint64_t first_id;
    uint64_t last_id;
    int64_t first_time;
    int64_t last_time;
    uint32_t row_count;
    bool last_soft; /* its last row's line goes on in the next page */
    bool has_gaps;  /* ids are not first_id, first_id + 1 ... */
};

/* Behind a page that needs it: one whose ids have gaps or whose rows have times. */
struct page_span {
    uint64_t last_id;
    int64_t first_time;
    int64_t last_time;
};

/* A cold page is little more than this and its frame, so its size is what a short row costs. */
struct page {
    struct heap *heap;
    uint64_t ordinal;
    uint64_t first_id;
    /* Under the page's lock: block and frame. A page has a block, a frame, or both, or is stored
     * and perhaps has a block; damaged: a frame that is none. */
    struct block *block;
    struct frame *frame;
    atomic_uint refs;
    uint16_t row_count;
    bool last_soft : 1;
    bool has_gaps : 1;
    bool has_span : 1;
    bool can_store : 1;
    uint8_t : 0;
    /* Under the page's lock, and hence in a byte of its own. */
    uint8_t visits : 2; /* idle visits since it was read */
    bool incompressible : 1;
    bool damaged : 1;
    bool attached : 1; /* its bytes count as held by the history */
    bool stored : 1;
    uint64_t more[]; /* a page_span, then a page_stored, of those it has */
};

/* A head of a block's rows. */
struct page_head page_head_of(const struct block *b, uint64_t ordinal);

/* Takes over the caller's reference of block, or of frame, or (a hole, or a page that gets stored
 * next) of neither. NULL when out of memory; the references stay the caller's then. */
struct page *page_make(struct heap *heap, const struct page_head *head, struct block *block,
                       struct frame *frame);

static inline const struct page_span *page_span(const struct page *page)
{
    return (const void *)page->more;
}

static inline uint64_t page_last_id(const struct page *page)
{
    return page->has_span ? page_span(page)->last_id : page->first_id + page->row_count - 1;
}

static inline int64_t page_first_time(const struct page *page)
{
    return page->has_span ? page_span(page)->first_time : 0;
}

static inline int64_t page_last_time(const struct page *page)
{
    return page->has_span ? page_span(page)->last_time : 0;
}

static inline struct frame_origin page_origin(const struct page *page)
{
    return (struct frame_origin){page->first_id, page_first_time(page), page->row_count};
}

static inline struct page *page_ref(struct page *page)
{
    atomic_fetch_add_explicit(&page->refs, 1, memory_order_relaxed);
    return page;
}

void page_unref(struct page *page);

/* The page, of a heap with stores_pages, is stored now: memory gives up its frame, and its block
 * unless it is to stay hot. Takes a reference of the store; stored->store is not looked at. */
void page_store_away(struct page *page, struct page_store *store, const struct page_stored *stored,
                     bool hot);

/* Where it is, valid as long as the page; NULL: it is not stored. */
const struct page_stored *page_stored(struct page *page);

static inline struct page_store *page_store_ref(struct page_store *store)
{
    atomic_fetch_add_explicit(&store->refs, 1, memory_order_relaxed);
    return store;
}

static inline void page_store_unref(struct page_store *store) /* NULL does nothing */
{
    if (store == NULL || atomic_fetch_sub_explicit(&store->refs, 1, memory_order_acq_rel) > 1)
        return;
    store->release(store);
}

/* The page leaves its history: its bytes no longer count as held. */
void page_detach(struct page *page);

/* A reference to the page's rows, restored if need be; keep: the page holds on to them as well,
 * until idle visits drop them. Any thread. PAUA_ECORRUPT: the page is damaged; PAUA_ENOMEM. */
paua_status page_pin(struct page *page, bool keep, struct block **block);

/* The same, nothing kept; *block is NULL if the page is cold and no line within it has what is
 * sought (NULL: as page_pin). */
paua_status page_pin_if(struct page *page, const struct sought *sought, struct block **block);

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
