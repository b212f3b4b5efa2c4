/* head.c - the state of one collection as stored.
 *
 * Fields of the record "PHED", version 1:
 *   u32 collection, u64 generation, u64 next row, u64 first sequence, u64 last sequence,
 *   u64 tail's first row, u32 segment count, u32 digest of the segments, u64 tail's heap file,
 *   u32 field count; then for each field u64 tail's vector file.
 * Encode asserts what decode checks. */
#include "codec/head.h"

#include "base/crc32c.h"
#include "codec/record.h"

#define MAGIC 0x44454850u /* "PHED" */
#define VERSION 1u

static bool head_valid(const struct head *head)
{
    if (head->collection < 1) return false;
    if (head->field_count < 1 || head->field_count > PAUA_VECTOR_FIELDS_MAX) return false;
    if (head->tail_first_row > head->next_row) return false;
    if (head->first_sequence < 1) return false;
    if (head->first_sequence - 1 > head->last_sequence) return false;

    /* The tail's files come and go together. */
    for (uint32_t i = 1; i < head->field_count; i++)
        if ((head->tail_vectors[i] != 0) != (head->tail_vectors[0] != 0)) return false;
    return head->tail_heap == 0 || head->tail_vectors[0] != 0;
}

paua_status head_encode(const struct head *head, struct writer *w)
{
    assert(head_valid(head));
    record_begin(w, MAGIC, VERSION);
    writer_u32(w, head->collection);
    writer_u64(w, head->generation);
    writer_u64(w, head->next_row);
    writer_u64(w, head->first_sequence);
    writer_u64(w, head->last_sequence);
    writer_u64(w, head->tail_first_row);
    writer_u32(w, head->segment_count);
    writer_u32(w, head->segments_digest);
    writer_u64(w, head->tail_heap);
    writer_u32(w, head->field_count);
    for (uint32_t i = 0; i < head->field_count; i++)
        writer_u64(w, head->tail_vectors[i]);
    return record_end(w);
}

paua_status head_decode(const void *bytes, size_t length, struct head *head)
{
    struct head draft = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, MAGIC, VERSION, &r);

    assert(head != NULL);
    if (status != PAUA_OK) return status;
    draft.collection = reader_u32(&r);
    draft.generation = reader_u64(&r);
    draft.next_row = reader_u64(&r);
    draft.first_sequence = reader_u64(&r);
    draft.last_sequence = reader_u64(&r);
    draft.tail_first_row = reader_u64(&r);
    draft.segment_count = reader_u32(&r);
    draft.segments_digest = reader_u32(&r);
    draft.tail_heap = reader_u64(&r);
    draft.field_count = reader_u32(&r);
    if (draft.field_count > PAUA_VECTOR_FIELDS_MAX) return PAUA_ECORRUPT;
    for (uint32_t i = 0; i < draft.field_count; i++)
        draft.tail_vectors[i] = reader_u64(&r);
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;
    if (!head_valid(&draft)) return PAUA_ECORRUPT;

    *head = draft;
    return PAUA_OK;
}

uint32_t head_digest(uint32_t digest, uint64_t segment, uint32_t record_crc, uint32_t deleted_crc)
{
    uint8_t bytes[16];

    bytes_put(bytes, segment, 8);
    bytes_put(bytes + 8, record_crc, 4);
    bytes_put(bytes + 12, deleted_crc, 4);
    return crc32c(digest, bytes, sizeof bytes);
}
