/* batch.h - one committed write as stored (magic "PBAT"): where its bytes went, its keys, and which
 * rows it deletes. One record a batch, not a row.
 *
 * Fields: u32 collection, u64 sequence, u64 durable_sequence, u64 first_row, u32 row_count,
 * u32 delete_count, u8 key_kind, u8 has_documents, u8 field_count, u8 reserved 0; then field_count
 * extents and, with has_documents, one more for the heap; then the keys (u64 each, or u16 length
 * and bytes; nothing for vector keys); then, with has_documents, row_count u32 document lengths
 * (BATCH_NO_DOCUMENT: none); then delete_count row ids (u64, strictly rising). A write of fields is
 * a record of version 2, which has u32 length and bytes of batch_columns.h besides.
 * An extent is u64 offset, u64 nbytes, u32 crc32c of the bytes. */
#ifndef PAUA_CODEC_BATCH_H
#define PAUA_CODEC_BATCH_H

#include <paua/paua.h>

#include "base/bytes.h"
#include "codec/batch_columns.h"

#define BATCH_NO_DOCUMENT UINT32_MAX

/* A range of a data file that one batch wrote. */
struct extent {
    uint64_t offset; /* from the start of the file's data */
    uint64_t nbytes;
    uint32_t crc;
};

struct batch {
    uint32_t collection;
    uint64_t sequence;         /* 1, 2, 3 ... in a collection */
    uint64_t durable_sequence; /* all batches up to this one had their files synced before this
                                  commit; equals sequence under PAUA_FULL */
    uint64_t first_row;        /* id of its first row; the others follow */
    uint32_t row_count;
    uint32_t delete_count;
    paua_key_kind key_kind;
    bool has_documents; /* a heap extent and document lengths are stored */
    uint32_t field_count;
    struct extent vectors[PAUA_VECTOR_FIELDS_MAX];
    struct extent heap;
    /* Encoding: borrowed from the caller, in host form. Decoding: borrowed from the record; use the
     * batch_* readers below. */
    const uint8_t *keys; /* encoded keys, keys_nbytes long */
    size_t keys_nbytes;
    const uint8_t *lengths; /* row_count x u32 little-endian, or NULL */
    const uint8_t *deletes; /* delete_count x u64 little-endian, or NULL */
    paua_bytes columns;     /* of batch_columns.h; data NULL: no fields were written */
};

/* Appends one key in the stored form to a writer that collects batch.keys. */
void batch_put_key(struct writer *w, paua_key_kind kind, const paua_key *key);

paua_status batch_encode(const struct batch *batch, struct writer *w);

/* Checks everything (counts against the record's length before use, extents' sizes equal across
 * nothing but themselves, string keys' lengths 1..1,024 and UTF-8, lengths of documents adding up
 * to heap.nbytes and each at most PAUA_DOCUMENT_NBYTES_MAX, deletes strictly rising). Borrows from
 * bytes. *batch changes only on PAUA_OK. */
paua_status batch_decode(const void *bytes, size_t length, struct batch *batch);

/* Reads the next key of a decoded batch; *at starts at 0. Vector keys give an empty key. */
paua_key batch_next_key(const struct batch *batch, size_t *at);
uint32_t batch_document_length(const struct batch *batch, uint32_t row);
uint64_t batch_delete(const struct batch *batch, uint32_t index);

#endif
