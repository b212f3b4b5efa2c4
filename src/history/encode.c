/* encode.c - a view as bytes.
 *
 * A page that is cold is copied, if the page it was compressed against was written copied too and
 * is at most seven pages back. Others are compressed for the occasion, alone and quickly, and stay
 * in memory as they are. The first page is written without the rows that were evicted from it.
 * Nothing is locked while the caller's function runs. */
#include "base/error.h"
#include "history/payload.h"
#include "history/stored.h"
#include "history/view.h"

#define QUICK_LEVEL 3

struct encoding {
    const paua_history_view *view;
    paua_history_scratch *scratch;
    paua_history_write_fn write;
    void *arg;
    paua_error *err;
    struct writer out;
    const struct frame *copied[FRAME_GROUP]; /* frames of the pages before, the last one first */
};

static paua_status put_out(struct encoding *e)
{
    if (e->out.failed) return error_set_nomem(e->err);
    if (!e->write(e->arg, e->out.bytes, e->out.length))
        return error_set(e->err, PAUA_ECANCELED, "writing was stopped");
    e->out.length = 0;
    return PAUA_OK;
}

/* Remembers what was written for a page: its frame, or NULL. */
static void remember(struct encoding *e, const struct frame *frame)
{
    for (size_t i = FRAME_GROUP - 1; i > 0; i--)
        e->copied[i] = e->copied[i - 1];
    e->copied[0] = frame;
}

/* How many pages back a frame was copied; 0: it was not. */
static uint32_t distance_to(const struct encoding *e, const struct frame *key)
{
    for (uint32_t i = 0; i + 1 < FRAME_GROUP; i++)
        if (e->copied[i] == key) return i + 1;
    return 0;
}

/* Rows first .. of a block, compressed if that helps. */
static paua_status put_block(struct encoding *e, const struct block *b, uint32_t first,
                             bool is_tail)
{
    paua_history_scratch *s = e->scratch;
    struct stored_page page = {.is_tail = is_tail,
                               .last_soft = block_soft(b, b->row_count - 1),
                               .last_id = block_id(b, b->row_count - 1),
                               .last_time = block_time(b, b->row_count - 1)};
    paua_status status;

    page.head = (struct frame_head){.first_id = block_id(b, first),
                                    .first_time = block_time(b, first),
                                    .row_count = b->row_count - first};
    page.has_gaps = page.last_id - page.head.first_id != page.head.row_count - 1u;
    scratch_lock(s);
    status = frame_payload(s, b, first);
    if (status == PAUA_OK) {
        page.head.payload_nbytes = (uint32_t)s->payload.length;
        page.head.hash = frame_hash(s->payload.bytes, s->payload.length);
        status = scratch_pack(s, s->payload.bytes, s->payload.length, NULL, 0, QUICK_LEVEL);
    }
    if (status == PAUA_OK) {
        page.form = STORED_ZSTD;
        page.nbytes = (uint32_t)s->packed.length;
        stored_page_encode(&page, s->packed.bytes, &e->out);
    } else if (status == PAUA_ENOSPACE) {
        page.nbytes = page.head.payload_nbytes;
        stored_page_encode(&page, s->payload.bytes, &e->out);
        status = PAUA_OK;
    }
    scratch_unlock(s);
    return status == PAUA_OK ? put_out(e) : error_set_nomem(e->err);
}

static paua_status put_frame(struct encoding *e, const struct page *page, const struct frame *frame,
                             uint32_t distance)
{
    struct stored_page stored = {.form = distance == 0 ? STORED_ZSTD : STORED_ZSTD_KEYED,
                                 .last_soft = page->last_soft,
                                 .has_gaps = page->has_gaps,
                                 .key_distance = distance,
                                 .nbytes = frame->nbytes,
                                 .last_id = page_last_id(page),
                                 .last_time = page_last_time(page),
                                 .head = {.hash = frame->hash,
                                          .first_id = page->first_id,
                                          .first_time = page_first_time(page),
                                          .row_count = page->row_count,
                                          .payload_nbytes = frame->payload_nbytes}};

    stored_page_encode(&stored, frame->bytes, &e->out);
    return put_out(e);
}

static paua_status put_page(struct encoding *e, struct page *page)
{
    const paua_history_view *v = e->view;
    uint32_t skip = page->ordinal < v->first_ordinal ? (uint32_t)(v->first_ordinal - page->ordinal)
                                                     : 0,
             distance = 0;
    struct block *block;
    struct frame *frame;
    paua_status status;
    bool copy;

    page_parts(page, &block, &frame);
    if (frame != NULL && frame->key != NULL) distance = distance_to(e, frame->key);
    copy = frame != NULL && skip == 0 && (frame->key == NULL || distance > 0);
    remember(e, copy && frame->key == NULL ? frame : NULL);
    if (copy) {
        status = put_frame(e, page, frame, distance);
    } else {
        status = block != NULL ? PAUA_OK : page_pin(page, false, &block);
        if (status == PAUA_ECORRUPT) error_set(e->err, status, "a page is damaged");
        if (status == PAUA_ENOMEM) error_set_nomem(e->err);
        if (status == PAUA_OK) status = put_block(e, block, skip, false);
    }
    block_unref(block);
    frame_unref(frame);
    return status;
}

static paua_status put_view(struct encoding *e)
{
    const paua_history_view *v = e->view;
    struct stored_history head = {.row_count = v->row_count,
                                  .next_id = v->next_id,
                                  .last_time = v->last_time,
                                  .page_count = (uint32_t)(v->end_page - v->first_page),
                                  .has_tail = v->tail != NULL};
    paua_status status;

    stored_history_encode(&head, &e->out);
    status = put_out(e);
    for (size_t i = v->first_page; i < v->end_page && status == PAUA_OK; i++)
        status = put_page(e, v->list->pages[i]);
    if (status == PAUA_OK && v->tail != NULL) status = put_block(e, v->tail, 0, true);
    return status;
}

paua_status paua_history_encode(const paua_history_view *view, paua_history_write_fn write,
                                void *arg, paua_error *err)
{
    struct encoding e = {.view = view, .write = write, .arg = arg, .err = err};
    paua_status status;

    e.scratch = heap_scratch(view->heap);
    if (e.scratch == NULL) return error_set_nomem(err);
    status = put_view(&e);
    writer_free(&e.out);
    return status;
}
