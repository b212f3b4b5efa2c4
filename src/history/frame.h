/* frame.h - a page's payload in as few bytes as it takes, kept in memory or stored.
 *
 * A frame is compressed alone, or against the payload of its group's first frame (the key), which
 * it keeps alive. It never changes; references are counted. */
#ifndef PAUA_HISTORY_FRAME_H
#define PAUA_HISTORY_FRAME_H

#include "history/payload.h"
#include "history/scratch.h"

#define FRAME_LEVEL 9
#define FRAME_KEY_LEVEL 15 /* of pages without a key, one in eight */
#define FRAME_GROUP 8u     /* pages that share a key */

/* What is not here its page knows: a frame is kept a page, so every byte counts. */
struct frame {
    struct heap *heap;
    struct frame *key; /* one reference, or NULL; a key has none itself */
    uint64_t hash;     /* XXH3 of the payload */
    atomic_uint refs;
    uint32_t serial; /* in its scratch; with the hash it tells keys apart */
    uint32_t payload_nbytes;
    uint32_t nbytes;
    uint8_t bytes[];
};

/* Compresses a block. PAUA_ENOSPACE: it does not get smaller; PAUA_ECORRUPT: the key is damaged.
 * Takes the scratch's lock, as everything below does. */
paua_status frame_make(paua_history_scratch *s, struct heap *heap, const struct block *b,
                       struct frame *key, struct frame **frame);

/* What a frame read from stored bytes says of itself. */
struct frame_head {
    uint64_t hash;
    uint64_t first_id;
    int64_t first_time;
    uint32_t row_count;
    uint32_t payload_nbytes;
};

/* A frame of bytes that somebody stored, unchecked until it is restored. NULL: out of memory. The
 * scratch is locked by the caller. */
struct frame *frame_adopt(paua_history_scratch *s, struct heap *heap, const struct frame_head *head,
                          struct frame *key, const void *bytes, uint32_t nbytes);

/* What the payload is relative to. */
struct frame_origin {
    uint64_t first_id;
    int64_t first_time;
    uint32_t row_count;
};

/* The rows again, as a block of the frame's heap. With something sought (or NULL) that no line
 * within the page has, *block is NULL instead: that is known before rows are made. PAUA_ECORRUPT,
 * PAUA_EVERSION, PAUA_ENOMEM. */
paua_status frame_restore(paua_history_scratch *s, struct frame *frame, struct frame_origin origin,
                          const struct sought *sought, struct block **block);

static inline struct frame *frame_ref(struct frame *frame)
{
    atomic_fetch_add_explicit(&frame->refs, 1, memory_order_relaxed);
    return frame;
}

void frame_unref(struct frame *frame); /* NULL does nothing */

static inline size_t frame_held(const struct frame *frame) { return sizeof *frame + frame->nbytes; }

/* A block of heap memory from a payload in bytes, or NULL as above; the scratch is locked by the
 * caller. */
paua_status frame_block(paua_history_scratch *s, struct heap *heap, const void *payload,
                        size_t nbytes, const struct frame_head *head, const struct sought *sought,
                        struct block **block);

/* Payload of rows first .. of a block, in s->payload; the scratch is locked by the caller. */
paua_status frame_payload(paua_history_scratch *s, const struct block *b, uint32_t first);

uint64_t frame_hash(const void *payload, size_t nbytes);

#endif
