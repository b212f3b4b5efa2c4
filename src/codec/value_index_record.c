/* value_index_record.c - the description of an index of a field's values as stored.
 *
 * Fields of the record "PVIX", version 1:
 *   u8 kind, 3 reserved bytes 0, u32 rows, u32 entries, u32 checksum of the column file's footer,
 *   u64 bytes of the sets.
 * Kinds are numbers of the public enum. Encode asserts what decode checks. */
#include "codec/value_index_record.h"

#include "codec/record.h"

#define MAGIC 0x58495650u /* "PVIX" */
#define VERSION 1u

static bool record_valid(const struct value_index_record *record)
{
    if (record->kind != PAUA_INDEX_BITMAP && record->kind != PAUA_INDEX_SORTED) return false;
    if (record->rows < 1 || record->entries > record->rows) return false;
    return record->kind == PAUA_INDEX_BITMAP || record->sets_nbytes == 0;
}

paua_status value_index_record_encode(const struct value_index_record *record, struct writer *w)
{
    assert(record_valid(record));
    record_begin(w, MAGIC, VERSION);
    writer_u32(w, (uint8_t)record->kind);
    writer_u32(w, record->rows);
    writer_u32(w, record->entries);
    writer_u32(w, record->columns_crc);
    writer_u64(w, record->sets_nbytes);
    return record_end(w);
}

paua_status value_index_record_decode(const void *bytes, size_t length,
                                      struct value_index_record *record)
{
    struct value_index_record draft = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, MAGIC, VERSION, &r);

    assert(record != NULL);
    if (status != PAUA_OK) return status;
    draft.kind = (paua_index_kind)reader_u32(&r);
    draft.rows = reader_u32(&r);
    draft.entries = reader_u32(&r);
    draft.columns_crc = reader_u32(&r);
    draft.sets_nbytes = reader_u64(&r);
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;
    if (!record_valid(&draft)) return PAUA_ECORRUPT;

    *record = draft;
    return PAUA_OK;
}
