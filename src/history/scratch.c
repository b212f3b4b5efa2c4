/* scratch.c - zstd by its stable interface; see scratch.h.
 *
 * The contexts come from libzstd's own malloc: custom allocators are an experimental part of its
 * interface. Frames carry neither checksum nor dictionary id: pages have a hash of their content,
 * and the prefix is found by the page that needs it. */
#include "history/scratch.h"

#include <zstd_errors.h>

#include "base/error.h"
#include "base/memory.h"

/* Twice the attempts of level 9: pages are 0.2 to 0.6 % smaller for a fifth more time. Level 12
 * would take two to four times as long for 0.3 to 0.9 %, level 15 four to ten times for 2 to 6 %.
 * */
#define THOROUGH_LEVEL 9 /* and no other: those above attempt more by themselves */
#define THOROUGH_SEARCH_LOG 6

paua_history_scratch *scratch_make(void)
{
    static const paua_history_allocator plain = {0};
    paua_history_scratch *s = mem_zalloc(1, sizeof *s);

    if (s == NULL) return NULL;
    s->heap = heap_make(&plain, NULL);
    if (s->heap == NULL) {
        mem_free(s);
        return NULL;
    }
    atomic_init(&s->refs, 1);
    pthread_mutex_init(&s->mutex, NULL);
    builder_init(&s->rows, s->heap);
    return s;
}

paua_history_scratch *scratch_ref(paua_history_scratch *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void scratch_unref(paua_history_scratch *s)
{
    if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) > 1) return;
    ZSTD_freeCCtx(s->compressor);
    ZSTD_freeDCtx(s->decompressor);
    writer_free(&s->payload);
    writer_free(&s->key);
    writer_free(&s->packed);
    writer_free(&s->plain);
    builder_free(&s->rows);
    HEAP_FREE_ARRAY(s->heap, s->ids, s->ids_capacity);
    heap_unref(s->heap);
    pthread_mutex_destroy(&s->mutex);
    mem_free(s);
}

void scratch_lock(paua_history_scratch *s) { pthread_mutex_lock(&s->mutex); }
void scratch_unlock(paua_history_scratch *s) { pthread_mutex_unlock(&s->mutex); }

/* A writer that failed once, or that a huge row has blown up, begins anew. */
static uint8_t *emptied(struct writer *w, size_t nbytes)
{
    if (w->failed || w->capacity > 4 * (size_t)BLOCK_NBYTES_MAX) writer_free(w);
    w->length = 0;
    return writer_room(w, nbytes);
}

paua_status scratch_pack(paua_history_scratch *s, const void *bytes, size_t nbytes,
                         const void *prefix, size_t prefix_nbytes, int level)
{
    uint8_t *room = emptied(&s->packed, nbytes);
    size_t packed;

    if (room == NULL) return PAUA_ENOMEM;
    if (s->compressor == NULL) s->compressor = ZSTD_createCCtx();
    if (s->compressor == NULL) return PAUA_ENOMEM;
    ZSTD_CCtx_reset(s->compressor, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(s->compressor, ZSTD_c_compressionLevel, level);
    if (level == THOROUGH_LEVEL)
        ZSTD_CCtx_setParameter(s->compressor, ZSTD_c_searchLog, THOROUGH_SEARCH_LOG);
    if (prefix_nbytes > 0) ZSTD_CCtx_refPrefix(s->compressor, prefix, prefix_nbytes);
    /* No room for as much as went in: what would not shrink stops early. */
    packed = ZSTD_compress2(s->compressor, room, nbytes - 1, bytes, nbytes);
    if (ZSTD_isError(packed))
        return ZSTD_getErrorCode(packed) == ZSTD_error_memory_allocation ? PAUA_ENOMEM
                                                                         : PAUA_ENOSPACE;
    s->packed.length = packed;
    return PAUA_OK;
}

paua_status scratch_unpack(paua_history_scratch *s, const void *bytes, size_t nbytes,
                           const void *prefix, size_t prefix_nbytes, size_t expected,
                           struct writer *to)
{
    uint8_t *room = emptied(to, expected);
    size_t unpacked;

    if (room == NULL) return PAUA_ENOMEM;
    if (s->decompressor == NULL) s->decompressor = ZSTD_createDCtx();
    if (s->decompressor == NULL) return PAUA_ENOMEM;
    ZSTD_DCtx_reset(s->decompressor, ZSTD_reset_session_and_parameters);
    if (prefix_nbytes > 0) ZSTD_DCtx_refPrefix(s->decompressor, prefix, prefix_nbytes);
    unpacked = ZSTD_decompressDCtx(s->decompressor, room, expected, bytes, nbytes);
    to->length = 0;
    if (ZSTD_isError(unpacked))
        return ZSTD_getErrorCode(unpacked) == ZSTD_error_memory_allocation ? PAUA_ENOMEM
                                                                           : PAUA_ECORRUPT;
    if (unpacked != expected) return PAUA_ECORRUPT;
    to->length = expected;
    return PAUA_OK;
}

/* ---- public ---- */

paua_status paua_history_scratch_open(paua_history_scratch **scratch, paua_error *err)
{
    paua_history_scratch *s = scratch_make();

    if (s == NULL) return error_set_nomem(err);
    *scratch = s;
    return PAUA_OK;
}

void paua_history_scratch_close(paua_history_scratch *scratch)
{
    if (scratch != NULL) scratch_unref(scratch);
}

size_t paua_history_scratch_nbytes(paua_history_scratch *scratch)
{
    paua_history_scratch *s = scratch;
    size_t nbytes;

    scratch_lock(s);
    nbytes = sizeof *s + s->payload.capacity + s->key.capacity + s->packed.capacity +
             s->plain.capacity + atomic_load_explicit(&s->heap->live, memory_order_relaxed);
    if (s->compressor != NULL) nbytes += ZSTD_sizeof_CCtx(s->compressor);
    if (s->decompressor != NULL) nbytes += ZSTD_sizeof_DCtx(s->decompressor);
    scratch_unlock(s);
    return nbytes;
}
