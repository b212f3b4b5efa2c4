/* frame.c - compressing and restoring pages.
 *
 * Level 9 against the first page of a group of eight makes pages 8 to 23 % smaller than alone,
 * needs no training, and costs one more decompression on a random read. The scratch remembers the
 * payload of the key it used last, so that reading a group in a row decompresses its key once.
 * Rejected: chains (each page against the one before: a restore would cost up to eight), larger
 * groups (matches get far), trained dictionaries (nothing gained on listings, 25 to 100 ms to
 * train). */
#include "history/frame.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t frame_hash(const void *payload, size_t nbytes) { return XXH3_64bits(payload, nbytes); }

paua_status frame_payload(paua_history_scratch *s, const struct block *b, uint32_t first)
{
    size_t ids = (size_t)b->style_count + b->link_count + 1;

    if (!HEAP_GROW(s->heap, s->ids, s->ids_capacity, ids)) return PAUA_ENOMEM;
    if (s->payload.failed) writer_free(&s->payload);
    s->payload.length = 0;
    payload_encode(b, first, s->ids, &s->payload);
    return s->payload.failed ? PAUA_ENOMEM : PAUA_OK;
}

/* The key's payload into s->key. */
static paua_status load_key(paua_history_scratch *s, const struct frame *key)
{
    paua_status status;

    assert(key->key == NULL);
    if (s->has_key && s->key_serial == key->serial && s->key_hash == key->hash) return PAUA_OK;
    s->has_key = false;
    status = scratch_unpack(s, key->bytes, key->nbytes, NULL, 0, key->payload_nbytes, &s->key);
    if (status != PAUA_OK) return status;
    if (frame_hash(s->key.bytes, s->key.length) != key->hash) return PAUA_ECORRUPT;
    s->key_serial = key->serial;
    s->key_hash = key->hash;
    s->has_key = true;
    return PAUA_OK;
}

struct frame *frame_adopt(paua_history_scratch *s, struct heap *heap, const struct frame_head *head,
                          struct frame *key, const void *bytes, uint32_t nbytes)
{
    struct frame *frame = heap_alloc(heap, sizeof *frame + nbytes);

    if (frame == NULL) return NULL;
    *frame = (struct frame){.heap = heap_ref(heap),
                            .key = key == NULL ? NULL : frame_ref(key),
                            .serial = ++s->serials,
                            .hash = head->hash,
                            .payload_nbytes = head->payload_nbytes,
                            .nbytes = nbytes};
    atomic_init(&frame->refs, 1);
    if (nbytes > 0) memcpy(frame->bytes, bytes, nbytes);
    return frame;
}

static paua_status make_locked(paua_history_scratch *s, struct heap *heap, const struct block *b,
                               struct frame *key, struct frame **frame)
{
    struct frame_head head = {
        .first_id = b->first_id, .first_time = b->first_time, .row_count = b->row_count};
    struct frame *made;
    paua_status status = frame_payload(s, b, 0);

    if (status == PAUA_OK && key != NULL) status = load_key(s, key);
    if (status != PAUA_OK) return status;
    status =
        scratch_pack(s, s->payload.bytes, s->payload.length, s->key.bytes,
                     key == NULL ? 0 : s->key.length, key == NULL ? FRAME_KEY_LEVEL : FRAME_LEVEL);
    if (status != PAUA_OK) return status;
    head.hash = frame_hash(s->payload.bytes, s->payload.length);
    head.payload_nbytes = (uint32_t)s->payload.length;
    made = frame_adopt(s, heap, &head, key, s->packed.bytes, (uint32_t)s->packed.length);
    if (made == NULL) return PAUA_ENOMEM;
    *frame = made;
    return PAUA_OK;
}

paua_status frame_make(paua_history_scratch *s, struct heap *heap, const struct block *b,
                       struct frame *key, struct frame **frame)
{
    paua_status status;

    scratch_lock(s);
    status = make_locked(s, heap, b, key, frame);
    scratch_unlock(s);
    return status;
}

paua_status frame_block(paua_history_scratch *s, struct heap *heap, const void *payload,
                        size_t nbytes, const struct frame_head *head, const struct sought *sought,
                        struct block **block)
{
    struct builder *rows = &s->rows;
    struct block *made = NULL;
    paua_status status;

    if (frame_hash(payload, nbytes) != head->hash) return PAUA_ECORRUPT;
    if (sought != NULL && !payload_may_contain(payload, nbytes, sought, &s->plain)) {
        *block = NULL;
        return PAUA_OK;
    }
    builder_reset(rows);
    status =
        payload_decode(payload, nbytes, head->row_count, head->first_id, head->first_time, rows);
    if (status != PAUA_OK) return status;
    made = builder_block(rows, heap);
    if (made == NULL) return PAUA_ENOMEM;
    *block = made;
    return PAUA_OK;
}

static paua_status restore_locked(paua_history_scratch *s, const struct frame *frame,
                                  struct frame_origin origin, const struct sought *sought,
                                  struct block **block)
{
    struct frame_head head = {.hash = frame->hash,
                              .first_id = origin.first_id,
                              .first_time = origin.first_time,
                              .row_count = origin.row_count};
    paua_status status = frame->key == NULL ? PAUA_OK : load_key(s, frame->key);

    if (status != PAUA_OK) return status;
    status =
        scratch_unpack(s, frame->bytes, frame->nbytes, s->key.bytes,
                       frame->key == NULL ? 0 : s->key.length, frame->payload_nbytes, &s->payload);
    if (status != PAUA_OK) return status;
    return frame_block(s, frame->heap, s->payload.bytes, s->payload.length, &head, sought, block);
}

paua_status frame_restore(paua_history_scratch *s, struct frame *frame, struct frame_origin origin,
                          const struct sought *sought, struct block **block)
{
    paua_status status;

    scratch_lock(s);
    status = restore_locked(s, frame, origin, sought, block);
    scratch_unlock(s);
    if (status == PAUA_OK)
        atomic_fetch_add_explicit(&frame->heap->restores, 1, memory_order_relaxed);
    return status;
}

void frame_unref(struct frame *frame)
{
    struct heap *heap;

    if (frame == NULL || atomic_fetch_sub_explicit(&frame->refs, 1, memory_order_acq_rel) > 1)
        return;
    frame_unref(frame->key);
    heap = frame->heap;
    heap_free(heap, frame, frame_held(frame));
    heap_unref(heap);
}
