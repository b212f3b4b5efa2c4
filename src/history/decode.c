/* decode.c - a history from bytes.
 *
 * Every page is restored once, so that what is accepted is known to be readable; compressed pages
 * then stay as they came, and cost no more than their bytes. Heads must hold, since they say where
 * the next page is; bytes that do not are an error, or, salvaging, a hole of known rows. A page
 * whose key is in a hole is one too. */
#include <string.h>

#include "base/error.h"
#include "history/history.h"
#include "history/payload.h"
#include "history/stored.h"

struct decoding {
    struct reader r;
    paua_history *h;
    paua_history_scratch *scratch;
    paua_error *err;
    bool salvage;
    uint64_t damaged_rows;
    int64_t last_time;
};

static paua_status corrupt(const struct decoding *d, const char *what)
{
    return error_set(d->err, PAUA_ECORRUPT, "stored history: %s", what);
}

/* The frame `distance` pages before the one that comes next; NULL if it cannot be a key. */
static struct frame *key_at(const struct decoding *d, uint32_t distance)
{
    const struct list *list = d->h->list;
    struct page *page;

    if (list == NULL || distance > list->end - list->first) return NULL;
    page = list->pages[list->end - distance];
    return page->frame != NULL && page->frame->key == NULL ? page->frame : NULL;
}

/* The block of a page, which must say what its head says. */
static paua_status restore(struct decoding *d, const struct stored_page *p, const uint8_t *bytes,
                           struct frame *key, struct block **block, struct frame **frame)
{
    struct frame_origin origin = {p->head.first_id, p->head.first_time, p->head.row_count};
    struct block *b = NULL;
    struct frame *f = NULL;
    paua_status status;

    scratch_lock(d->scratch);
    if (p->form == STORED_PLAIN) {
        status = frame_block(d->scratch, d->h->heap, bytes, p->nbytes, &p->head, NULL, &b);
    } else {
        f = frame_adopt(d->scratch, d->h->heap, &p->head, key, bytes, p->nbytes);
        status = f == NULL ? PAUA_ENOMEM : PAUA_OK;
    }
    scratch_unlock(d->scratch);
    if (f != NULL) status = frame_restore(d->scratch, f, origin, NULL, &b);
    if (status == PAUA_OK &&
        (block_id(b, b->row_count - 1) != p->last_id || (b->id_steps != NULL) != p->has_gaps ||
         block_time(b, b->row_count - 1) != p->last_time ||
         block_soft(b, b->row_count - 1) != p->last_soft))
        status = PAUA_ECORRUPT;
    if (status != PAUA_OK) {
        block_unref(b);
        frame_unref(f);
        return status;
    }
    *block = b;
    *frame = f;
    return PAUA_OK;
}

/* Adds a page to the history; takes over both references. */
static bool add_page(struct decoding *d, const struct stored_page *p, struct block *block,
                     struct frame *frame)
{
    paua_history *h = d->h;
    const struct page_head head = {.ordinal = h->next_ordinal,
                                   .first_id = p->head.first_id,
                                   .last_id = p->last_id,
                                   .first_time = p->head.first_time,
                                   .last_time = p->last_time,
                                   .row_count = p->head.row_count,
                                   .last_soft = p->last_soft && (block != NULL || frame != NULL),
                                   .has_gaps = p->has_gaps};
    struct page *page = page_make(h->heap, &head, frame == NULL ? block : NULL, frame);

    if (frame != NULL) block_unref(block);
    if (page == NULL) {
        if (frame == NULL) block_unref(block);
        frame_unref(frame);
        return false;
    }
    if (!list_add(h->heap, &h->list, page)) {
        page_unref(page);
        return false;
    }
    h->page_number++;
    return true;
}

static paua_status take_page(struct decoding *d, const struct stored_page *p, const uint8_t *bytes,
                             bool intact)
{
    struct frame *key = NULL, *frame = NULL;
    struct block *block = NULL;
    paua_status status = intact ? PAUA_OK : PAUA_ECORRUPT;

    if (status == PAUA_OK && p->form == STORED_ZSTD_KEYED) {
        key = key_at(d, p->key_distance);
        if (key == NULL) status = PAUA_ECORRUPT;
    }
    if (status == PAUA_OK) status = restore(d, p, bytes, key, &block, &frame);
    if (status == PAUA_ENOMEM) return error_set_nomem(d->err);
    if (status == PAUA_EVERSION) return error_set(d->err, status, "a page is of a newer version");
    if (status != PAUA_OK) {
        if (!d->salvage) return corrupt(d, "a page is damaged");
        d->damaged_rows += p->head.row_count;
    }
    return add_page(d, p, block, frame) ? PAUA_OK : error_set_nomem(d->err);
}

/* The tail's payload, which the caller has in bytes, into the history's tail. */
static paua_status fill_tail(struct decoding *d, const struct stored_page *p, const void *payload,
                             size_t nbytes)
{
    struct builder *tail = &d->h->tail;
    const struct slot *last;
    paua_status status;

    if (frame_hash(payload, nbytes) != p->head.hash) return PAUA_ECORRUPT;
    status = payload_decode(payload, nbytes, p->head.row_count, p->head.first_id,
                            p->head.first_time, tail);
    if (status != PAUA_OK) return status;
    last = &tail->slots[tail->slot_count - 1];
    if (tail->first_id + last->id_step != p->last_id ||
        tail->first_time + last->time_step != p->last_time || (last->soft != 0) != p->last_soft)
        return PAUA_ECORRUPT;
    return PAUA_OK;
}

static paua_status take_tail(struct decoding *d, const struct stored_page *p, const uint8_t *bytes,
                             bool intact)
{
    paua_history_scratch *s = d->scratch;
    paua_status status = intact ? PAUA_OK : PAUA_ECORRUPT;

    if (status == PAUA_OK) {
        scratch_lock(s);
        if (p->form == STORED_PLAIN)
            status = fill_tail(d, p, bytes, p->nbytes);
        else
            status =
                scratch_unpack(s, bytes, p->nbytes, NULL, 0, p->head.payload_nbytes, &s->payload);
        if (status == PAUA_OK && p->form == STORED_ZSTD)
            status = fill_tail(d, p, s->payload.bytes, s->payload.length);
        scratch_unlock(s);
    }
    if (status == PAUA_OK) return PAUA_OK;
    builder_reset(&d->h->tail);
    if (status == PAUA_ENOMEM) return error_set_nomem(d->err);
    if (status == PAUA_EVERSION) return error_set(d->err, status, "the tail is of a newer version");
    if (!d->salvage) return corrupt(d, "the tail is damaged");
    d->damaged_rows += p->head.row_count;
    return add_page(d, p, NULL, NULL) ? PAUA_OK : error_set_nomem(d->err);
}

/* One page, or the tail, in its place behind what was read before. */
static paua_status take_next(struct decoding *d, bool want_tail)
{
    paua_history *h = d->h;
    struct stored_page p;
    const uint8_t *bytes;
    bool intact;
    paua_status status = stored_page_decode(&d->r, &p, &bytes, &intact);

    if (status == PAUA_EVERSION) return error_set(d->err, status, "a page is of a newer version");
    if (status != PAUA_OK) return corrupt(d, "the head of a page is damaged");
    if (p.is_tail != want_tail) return corrupt(d, "a page is not where it belongs");
    if (p.head.first_id < h->next_id && h->next_ordinal > 0) return corrupt(d, "ids do not ascend");
    if (p.head.first_time < d->last_time) return corrupt(d, "times run back");
    status = want_tail ? take_tail(d, &p, bytes, intact) : take_page(d, &p, bytes, intact);
    if (status != PAUA_OK) return status;
    h->next_ordinal += p.head.row_count;
    h->next_id = p.last_id + 1;
    d->last_time = p.last_time;
    return PAUA_OK;
}

static paua_status take_all(struct decoding *d)
{
    struct stored_history head;
    paua_history *h = d->h;
    paua_status status = stored_history_decode(&d->r, &head);

    if (status == PAUA_EVERSION) return error_set(d->err, status, "written by a newer version");
    if (status != PAUA_OK) return corrupt(d, "its head is damaged");
    if (head.page_count > reader_left(&d->r) / STORED_PAGE_NBYTES)
        return corrupt(d, "it is cut short");
    for (uint32_t i = 0; i < head.page_count && status == PAUA_OK; i++)
        status = take_next(d, false);
    if (status == PAUA_OK && head.has_tail) status = take_next(d, true);
    if (status != PAUA_OK) return status;
    if (reader_left(&d->r) != 0) return corrupt(d, "bytes are left over");
    if (h->next_ordinal != head.row_count) return corrupt(d, "it has not the rows that it says");
    if ((h->next_ordinal > 0 && head.next_id < h->next_id) || head.last_time < d->last_time)
        return corrupt(d, "its head does not fit its pages");
    h->next_id = head.next_id;
    h->last_time = head.last_time;
    return PAUA_OK;
}

paua_status paua_history_decode(const void *bytes, size_t nbytes,
                                const paua_history_decode_opts *opts, paua_history **history,
                                uint64_t *damaged_rows, paua_error *err)
{
    paua_history_decode_opts o = {0};
    struct decoding d = {.r = reader_over(bytes, nbytes), .err = err};
    paua_status status;

    if (opts != NULL) memcpy(&o, opts, opts->size < sizeof o ? opts->size : sizeof o);
    d.salvage = o.salvage;
    status = paua_history_open(o.history.size == 0 ? NULL : &o.history, &d.h, err);
    if (status != PAUA_OK) return status;
    d.scratch = heap_scratch(d.h->heap);
    status = d.scratch == NULL ? error_set_nomem(err) : take_all(&d);
    if (status != PAUA_OK) {
        paua_history_close(d.h);
        return status;
    }
    history_evict(d.h);
    *history = d.h;
    if (damaged_rows != NULL) *damaged_rows = d.damaged_rows;
    return PAUA_OK;
}
