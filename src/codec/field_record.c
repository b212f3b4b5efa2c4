/* field_record.c - fields and column files as stored.
 *
 * Fields of the record "PFLD", version 1: u32 collection, u32 id, u32 type, name (u8 length and
 * bytes). Fields of the record "PCFI", version 1: u32 collection, u64 segment, u32 rows, file (u64
 * number, u64 nbytes, u32 footer checksum). Types are the numbers of the public enum. */
#include "codec/field_record.h"

#include "codec/record.h"
#include "codec/schema.h"

#define FIELD_MAGIC 0x444C4650u /* "PFLD" */
#define REF_MAGIC 0x49464350u   /* "PCFI" */
#define VERSION 1u

static bool field_valid(const struct field *f)
{
    if (f->collection < 1 || f->id < 1) return false;
    return f->type > PAUA_TYPE_NULL && f->type <= UINT16_MAX && schema_name_valid(f->name);
}

paua_status field_encode(const struct field *field, struct writer *w)
{
    assert(field_valid(field));
    record_begin(w, FIELD_MAGIC, VERSION);
    writer_u32(w, field->collection);
    writer_u32(w, field->id);
    writer_u32(w, field->type);
    schema_name_put(w, field->name);
    return record_end(w);
}

paua_status field_decode(const void *bytes, size_t length, struct field *field)
{
    struct field draft = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, FIELD_MAGIC, VERSION, &r);

    assert(field != NULL);
    if (status != PAUA_OK) return status;
    draft.collection = reader_u32(&r);
    draft.id = reader_u32(&r);
    draft.type = reader_u32(&r);
    if (!schema_name_take(&r, draft.name)) return PAUA_ECORRUPT;
    if (r.short_read || r.at != r.end || !field_valid(&draft)) return PAUA_ECORRUPT;

    *field = draft;
    return PAUA_OK;
}

static bool ref_valid(const struct column_ref *c)
{
    return c->collection >= 1 && c->segment >= 1 && c->rows >= 1 && c->file.number >= 1 &&
           c->file.nbytes >= 1;
}

paua_status column_ref_encode(const struct column_ref *ref, struct writer *w)
{
    assert(ref_valid(ref));
    record_begin(w, REF_MAGIC, VERSION);
    writer_u32(w, ref->collection);
    writer_u64(w, ref->segment);
    writer_u32(w, ref->rows);
    writer_u64(w, ref->file.number);
    writer_u64(w, ref->file.nbytes);
    writer_u32(w, ref->file.footer_crc);
    return record_end(w);
}

paua_status column_ref_decode(const void *bytes, size_t length, struct column_ref *ref)
{
    struct column_ref draft = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, REF_MAGIC, VERSION, &r);

    assert(ref != NULL);
    if (status != PAUA_OK) return status;
    draft.collection = reader_u32(&r);
    draft.segment = reader_u64(&r);
    draft.rows = reader_u32(&r);
    draft.file.number = reader_u64(&r);
    draft.file.nbytes = reader_u64(&r);
    draft.file.footer_crc = reader_u32(&r);
    if (r.short_read || r.at != r.end || !ref_valid(&draft)) return PAUA_ECORRUPT;

    *ref = draft;
    return PAUA_OK;
}
