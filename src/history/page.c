/* page.c - states of a page, and the two-visit policy.
 *
 *   hot       block             as sealed
 *   cold      frame             after two visits without a read between
 *   restored  block and frame   after a random read; the next two such visits drop the block, and
 *                               nothing is compressed again
 *
 * A page that does not compress is marked and stays hot. A page whose frame cannot be restored is
 * damaged: every read fails with PAUA_ECORRUPT, at no further cost.
 *
 * Threads: the mutex covers the state, and is held while a page is restored or compressed, so that
 * two readers do not do it twice. Whoever has pinned a block keeps it whatever the page does. Bytes
 * are added to the heap's `held` here and nowhere else. */
#include "history/page.h"

#define VISITS_TO_COLD 2u

static size_t state_nbytes(const struct page *page)
{
    size_t nbytes = sizeof *page;

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

struct page *page_make(struct heap *heap, struct page_place place, struct block *block,
                       struct frame *frame)
{
    struct page *page = heap_alloc(heap, sizeof *page);

    if (page == NULL) return NULL;
    *page = (struct page){.heap = heap_ref(heap),
                          .number = place.number,
                          .ordinal = place.ordinal,
                          .block = block,
                          .frame = frame,
                          .attached = true};
    atomic_init(&page->refs, 1);
    pthread_mutex_init(&page->mutex, NULL);
    if (block != NULL) {
        page->row_count = block->row_count;
        page->first_id = block->first_id;
        page->last_id = block_id(block, block->row_count - 1);
        page->first_time = block->first_time;
        page->last_time = block_time(block, block->row_count - 1);
        page->last_soft = block_soft(block, block->row_count - 1);
        page->has_gaps = block->id_steps != NULL;
    } else {
        page->damaged = frame == NULL;
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
    pthread_mutex_destroy(&page->mutex);
    heap = page->heap;
    heap_free(heap, page, sizeof *page);
    heap_unref(heap);
}

void page_detach(struct page *page)
{
    pthread_mutex_lock(&page->mutex);
    held_sub(page, state_nbytes(page));
    page->attached = false;
    pthread_mutex_unlock(&page->mutex);
}

/* The rows of a page without a block. */
static paua_status restore(struct page *page, bool keep, struct block **block)
{
    paua_history_scratch *scratch;
    paua_status status;

    if (page->damaged) return PAUA_ECORRUPT;
    scratch = heap_scratch(page->heap);
    if (scratch == NULL) return PAUA_ENOMEM;
    status = frame_restore(scratch, page->frame, block);
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

paua_status page_pin(struct page *page, bool keep, struct block **block)
{
    paua_status status = PAUA_OK;

    pthread_mutex_lock(&page->mutex);
    page->visits = 0;
    if (page->block != NULL)
        *block = block_ref(page->block);
    else
        status = restore(page, keep, block);
    pthread_mutex_unlock(&page->mutex);
    return status;
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

    pthread_mutex_lock(&page->mutex);
    if (page->frame == NULL && page->block != NULL && !page->incompressible)
        status = make_frame(page, key);
    if (status == PAUA_OK)
        *frame = page->frame == NULL || page->damaged ? NULL : frame_ref(page->frame);
    pthread_mutex_unlock(&page->mutex);
    return status;
}

void page_parts(struct page *page, struct block **block, struct frame **frame)
{
    pthread_mutex_lock(&page->mutex);
    *block = page->block == NULL ? NULL : block_ref(page->block);
    *frame = page->frame == NULL || page->damaged ? NULL : frame_ref(page->frame);
    pthread_mutex_unlock(&page->mutex);
}

static void drop_block(struct page *page)
{
    held_sub(page, page->block->nbytes);
    block_unref(page->block);
    page->block = NULL;
}

static bool nothing_to_gain(const struct page *page)
{
    return page->block == NULL || (page->frame == NULL && page->incompressible);
}

paua_status page_visit(struct page *page, struct frame *key, bool now)
{
    paua_status status = PAUA_OK;

    pthread_mutex_lock(&page->mutex);
    if (nothing_to_gain(page)) goto done;
    if (!now && ++page->visits < VISITS_TO_COLD) goto done;
    if (page->frame == NULL) status = make_frame(page, key);
    if (status == PAUA_OK && page->frame != NULL) drop_block(page);
done:
    pthread_mutex_unlock(&page->mutex);
    return status;
}

struct page_state page_state(struct page *page)
{
    struct page_state state;

    pthread_mutex_lock(&page->mutex);
    state = (struct page_state){.cold = page->block == NULL,
                                .incompressible = page->incompressible,
                                .idle = !nothing_to_gain(page),
                                .wants_frame = page->block != NULL && page->frame == NULL &&
                                               !page->incompressible,
                                .ripe = page->visits + 1u >= VISITS_TO_COLD,
                                .nbytes = state_nbytes(page)};
    if (page->frame != NULL) state.compressed_nbytes = page->frame->nbytes;
    pthread_mutex_unlock(&page->mutex);
    return state;
}
