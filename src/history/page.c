/* page.c - states of a page, and the two-visit policy.
 *
 *   hot       block             as sealed
 *   cold      frame             after two visits without a read between
 *   restored  block and frame   after a random read; the next two such visits drop the block, and
 *                               nothing is compressed again
 *   stored    a store           its bytes are in a file; a random read restores it as above
 *
 * A page that does not compress is marked and stays hot. A page whose frame cannot be restored is
 * damaged: every read fails with PAUA_ECORRUPT, at no further cost.
 *
 * Threads: a lock covers the state, and is held while a page is restored or compressed, so that two
 * readers do not do it twice. Whoever has pinned a block keeps it whatever the page does. A mutex
 * is 40 bytes, a third of what a cold page would take, so pages share a few that belong to the
 * process: two threads wait for each other needlessly only if both restore or compress, and mostly
 * not even then. Bytes are added to the heap's `held` here and nowhere else. */
#include "history/page.h"

#include <string.h>

#define VISITS_TO_COLD 2u
#define LOCKS 32u

#define LOCK PTHREAD_MUTEX_INITIALIZER
#define LOCKS_OF_4 LOCK, LOCK, LOCK, LOCK
#define LOCKS_OF_16 LOCKS_OF_4, LOCKS_OF_4, LOCKS_OF_4, LOCKS_OF_4
static pthread_mutex_t locks[LOCKS] = {LOCKS_OF_16, LOCKS_OF_16};

static pthread_mutex_t *lock_of(const struct page *page)
{
    uint64_t address = (uintptr_t)page;

    return &locks[address * UINT64_C(0x9E3779B97F4A7C15) >> 59];
}
_Static_assert(LOCKS == 1u << (64 - 59), "as many locks as the hash has values");

static void page_lock(const struct page *page) { pthread_mutex_lock(lock_of(page)); }
static void page_unlock(const struct page *page) { pthread_mutex_unlock(lock_of(page)); }

static size_t more_nbytes(bool has_span, bool can_store)
{
    return (has_span ? sizeof(struct page_span) : 0) + (can_store ? sizeof(struct page_stored) : 0);
}

static size_t page_nbytes(const struct page *page)
{
    return sizeof *page + more_nbytes(page->has_span, page->can_store);
}

static struct page_stored *stored_of(struct page *page)
{
    assert(page->can_store);
    return (void *)(page->more +
                    (page->has_span ? sizeof(struct page_span) / sizeof page->more[0] : 0));
}

static size_t state_nbytes(const struct page *page)
{
    size_t nbytes = page_nbytes(page);

    if (page->block != NULL) nbytes += page->block->nbytes;
    if (page->frame != NULL) nbytes += frame_held(page->frame);
    return nbytes;
}

static void held_add(const struct page *page, size_t nbytes)
{
    if (page->attached) atomic_fetch_add_explicit(&page->heap->held, nbytes, memory_order_relaxed);
}

static void held_sub(const struct page *page, size_t nbytes)
{
    if (page->attached) atomic_fetch_sub_explicit(&page->heap->held, nbytes, memory_order_relaxed);
}

struct page_head page_head_of(const struct block *b, uint64_t ordinal)
{
    return (struct page_head){.ordinal = ordinal,
                              .first_id = b->first_id,
                              .last_id = block_id(b, b->row_count - 1),
                              .first_time = b->first_time,
                              .last_time = block_time(b, b->row_count - 1),
                              .row_count = b->row_count,
                              .last_soft = block_soft(b, b->row_count - 1),
                              .has_gaps = b->id_steps != NULL};
}

struct page *page_make(struct heap *heap, const struct page_head *head, struct block *block,
                       struct frame *frame)
{
    bool has_span = head->has_gaps || head->first_time != 0;
    struct page *page = heap_alloc(heap, sizeof *page + more_nbytes(has_span, heap->stores_pages));

    if (page == NULL) return NULL;
    *page = (struct page){.heap = heap_ref(heap),
                          .ordinal = head->ordinal,
                          .first_id = head->first_id,
                          .block = block,
                          .frame = frame,
                          .row_count = (uint16_t)head->row_count,
                          .last_soft = head->last_soft,
                          .has_gaps = head->has_gaps,
                          .has_span = has_span,
                          .can_store = heap->stores_pages,
                          .damaged = block == NULL && frame == NULL,
                          .attached = true};
    atomic_init(&page->refs, 1);
    if (has_span) {
        const struct page_span span = {head->last_id, head->first_time, head->last_time};

        memcpy(page->more, &span, sizeof span);
    }
    held_add(page, state_nbytes(page));
    return page;
}

void page_unref(struct page *page)
{
    struct heap *heap;

    if (atomic_fetch_sub_explicit(&page->refs, 1, memory_order_acq_rel) > 1) return;
    held_sub(page, state_nbytes(page));
    block_unref(page->block);
    frame_unref(page->frame);
    if (page->stored) page_store_unref(stored_of(page)->store);
    heap = page->heap;
    heap_free(heap, page, page_nbytes(page));
    heap_unref(heap);
}

void page_detach(struct page *page)
{
    page_lock(page);
    held_sub(page, state_nbytes(page));
    page->attached = false;
    page_unlock(page);
}

/* The rows of a page without a block; NULL if it has not what is sought. */
static paua_status restore(struct page *page, bool keep, const struct sought *sought,
                           struct block **block)
{
    paua_history_scratch *scratch;
    paua_status status;

    if (page->damaged) return PAUA_ECORRUPT;
    scratch = heap_scratch(page->heap);
    if (scratch == NULL) return PAUA_ENOMEM;
    if (page->frame != NULL)
        status = frame_restore(scratch, page->frame, page_origin(page), sought, block);
    else
        status = stored_of(page)->store->load(stored_of(page), page, scratch, sought, block);
    if (status == PAUA_EIO) return PAUA_ECORRUPT; /* it may be readable another time */
    if (status == PAUA_OK && keep) {
        page->block = block_ref(*block);
        held_add(page, (*block)->nbytes);
    }
    if (status == PAUA_ECORRUPT || status == PAUA_EVERSION) {
        page->damaged = true;
        status = PAUA_ECORRUPT;
    }
    return status;
}

static paua_status pin(struct page *page, bool keep, const struct sought *sought,
                       struct block **block)
{
    paua_status status = PAUA_OK;

    page_lock(page);
    page->visits = 0;
    if (page->block != NULL)
        *block = block_ref(page->block);
    else
        status = restore(page, keep, sought, block);
    page_unlock(page);
    return status;
}

paua_status page_pin(struct page *page, bool keep, struct block **block)
{
    return pin(page, keep, NULL, block);
}

paua_status page_pin_if(struct page *page, const struct sought *sought, struct block **block)
{
    return pin(page, false, sought, block);
}

static paua_status make_frame(struct page *page, struct frame *key)
{
    paua_history_scratch *scratch = heap_scratch(page->heap);
    struct frame *frame;
    paua_status status;

    if (scratch == NULL) return PAUA_ENOMEM;
    status = frame_make(scratch, page->heap, page->block, key, &frame);
    if (status == PAUA_ECORRUPT) /* the key is damaged; the page is not */
        status = frame_make(scratch, page->heap, page->block, NULL, &frame);
    if (status == PAUA_OK) {
        page->frame = frame;
        held_add(page, frame_held(frame));
    }
    if (status == PAUA_ENOSPACE) page->incompressible = true;
    return status == PAUA_ENOSPACE ? PAUA_OK : status;
}

paua_status page_frame(struct page *page, struct frame *key, struct frame **frame)
{
    paua_status status = PAUA_OK;

    page_lock(page);
    if (page->frame == NULL && !page->stored && page->block != NULL && !page->incompressible)
        status = make_frame(page, key);
    if (status == PAUA_OK)
        *frame = page->frame == NULL || page->damaged ? NULL : frame_ref(page->frame);
    page_unlock(page);
    return status;
}

void page_parts(struct page *page, struct block **block, struct frame **frame)
{
    page_lock(page);
    *block = page->block == NULL ? NULL : block_ref(page->block);
    *frame = page->frame == NULL || page->damaged ? NULL : frame_ref(page->frame);
    page_unlock(page);
}

static void drop_block(struct page *page)
{
    held_sub(page, page->block->nbytes);
    block_unref(page->block);
    page->block = NULL;
}

static bool nothing_to_gain(const struct page *page)
{
    return page->block == NULL || (page->frame == NULL && !page->stored && page->incompressible);
}

void page_store_away(struct page *page, struct page_store *store, const struct page_stored *stored,
                     bool hot)
{
    page_lock(page);
    assert(!page->stored);
    if (page->frame != NULL) held_sub(page, frame_held(page->frame));
    frame_unref(page->frame);
    page->frame = NULL;
    if (page->block != NULL && !hot) drop_block(page);
    *stored_of(page) = *stored;
    stored_of(page)->store = page_store_ref(store);
    page->stored = true;
    page->incompressible = false;
    page->damaged = false;
    page_unlock(page);
}

const struct page_stored *page_stored(struct page *page)
{
    bool stored;

    page_lock(page);
    stored = page->stored;
    page_unlock(page);
    return stored ? stored_of(page) : NULL;
}

paua_status page_visit(struct page *page, struct frame *key, bool now)
{
    paua_status status = PAUA_OK;

    page_lock(page);
    if (nothing_to_gain(page)) goto done;
    if (!now && page->visits + 1u < VISITS_TO_COLD) {
        page->visits++;
        goto done;
    }
    if (page->frame == NULL && !page->stored) status = make_frame(page, key);
    if (status == PAUA_OK && (page->frame != NULL || page->stored)) drop_block(page);
done:
    page_unlock(page);
    return status;
}

struct page_state page_state(struct page *page)
{
    struct page_state state;

    page_lock(page);
    state = (struct page_state){.cold = page->block == NULL,
                                .incompressible = page->incompressible,
                                .idle = !nothing_to_gain(page),
                                .wants_frame = page->block != NULL && page->frame == NULL &&
                                               !page->stored && !page->incompressible,
                                .ripe = page->visits + 1u >= VISITS_TO_COLD,
                                .nbytes = state_nbytes(page)};
    if (page->frame != NULL) state.compressed_nbytes = page->frame->nbytes;
    page_unlock(page);
    return state;
}
