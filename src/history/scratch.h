/* scratch.h - one set of compression contexts and buffers for any number of histories.
 *
 * A level-9 compression context is 1 MB; a history may be 1 KB. So contexts are shared, made when
 * first needed, and let in one thread at a time. Lock order: a page's mutex, then the scratch. */
#ifndef PAUA_HISTORY_SCRATCH_H
#define PAUA_HISTORY_SCRATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <zstd.h>

#include "base/bytes.h"
#include "history/builder.h"

struct paua_history_scratch {
    atomic_size_t refs;
    pthread_mutex_t mutex;
    /* Everything below belongs to whoever holds the mutex. */
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
    struct writer payload; /* of the page at hand */
    struct writer key;     /* with has_key: payload of the frame of these two numbers */
    struct writer packed;
    struct writer plain; /* text of a page that is looked through */
    uint64_t key_hash;
    uint32_t key_serial;
    uint32_t serials; /* given to frames so far */
    bool has_key;
    struct heap *heap;
    struct builder rows; /* a page while it is decoded */
    uint16_t *ids;       /* for renumbering styles */
    size_t ids_capacity;
};

paua_history_scratch *scratch_make(void); /* NULL when out of memory */
paua_history_scratch *scratch_ref(paua_history_scratch *scratch);
void scratch_unref(paua_history_scratch *scratch);
void scratch_lock(paua_history_scratch *scratch);
void scratch_unlock(paua_history_scratch *scratch);

/* Compresses bytes into scratch->packed, with a prefix of prefix_nbytes (0: none). PAUA_ENOSPACE if
 * that does not make them smaller. */
paua_status scratch_pack(paua_history_scratch *s, const void *bytes, size_t nbytes,
                         const void *prefix, size_t prefix_nbytes, int level);

/* The reverse, into `to`, which is emptied first: exactly `expected` bytes, otherwise
 * PAUA_ECORRUPT. */
paua_status scratch_unpack(paua_history_scratch *s, const void *bytes, size_t nbytes,
                           const void *prefix, size_t prefix_nbytes, size_t expected,
                           struct writer *to);

#endif
