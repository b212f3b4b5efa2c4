/* schema.c - a collection's description as stored.
 *
 * Fields of the record "PSCH", version 1:
 *   u32 incompat (feature bits: 1 columns, 2 dynamic), u32 collection, u8 key kind, u8 document
 * kind, u8 field count, u8 reserved 0, name; then for each field: u32 dim, u8 metric, u8 precision,
 * u8 originals, u8 reserved 0, name. A name is u8 length and bytes. Kinds, metrics, precisions and
 * originals are the numbers of the public enums, which are therefore part of the format. */
#include "codec/schema.h"

#include <string.h>

#include "base/utf8.h"
#include "codec/record.h"

#define MAGIC 0x48435350u /* "PSCH" */
#define VERSION 1u
#define INCOMPAT_COLUMNS 1u
#define INCOMPAT_DYNAMIC 2u
#define INCOMPAT_KNOWN (INCOMPAT_COLUMNS | INCOMPAT_DYNAMIC)

size_t schema_component_nbytes(const struct schema_field *field)
{
    return field->originals == PAUA_ORIGINALS_FP16 ? 2 : 4;
}

size_t schema_row_nbytes(const struct schema_field *field)
{
    return schema_component_nbytes(field) * field->dim;
}

bool schema_name_valid(const char *name)
{
    size_t length = strnlen(name, PAUA_NAME_NBYTES_MAX + 1);

    if (length < 1 || length > PAUA_NAME_NBYTES_MAX) return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F) return false;
    return utf8_valid_prefix(name, length) == length;
}

static bool field_valid(const struct schema *schema, uint32_t index)
{
    const struct schema_field *field = &schema->fields[index];

    if (field->dim < 1 || field->dim > PAUA_DIM_MAX) return false;
    if (field->metric < PAUA_L2 || field->metric > PAUA_COSINE) return false;
    if (field->precision > PAUA_INT2) return false;
    if (field->originals < PAUA_ORIGINALS_FP32 || field->originals > PAUA_ORIGINALS_NONE)
        return false;
    if (!schema_name_valid(field->name)) return false;
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(schema->fields[i].name, field->name) == 0) return false;
    return true;
}

static bool schema_valid(const struct schema *schema)
{
    if (schema->collection < 1) return false;
    if (schema->key_kind > PAUA_KEY_VECTOR) return false;
    if (schema->document > PAUA_DOCUMENT_NONE) return false;
    if (schema->dynamic && !schema->columns) return false;
    if (schema->field_count < 1 || schema->field_count > PAUA_VECTOR_FIELDS_MAX) return false;
    if (!schema_name_valid(schema->name)) return false;
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (!field_valid(schema, i)) return false;
    return true;
}

void schema_name_put(struct writer *w, const char *name)
{
    size_t length = strlen(name);

    writer_u8(w, (uint8_t)length);
    writer_bytes(w, name, length);
}

paua_status schema_encode(const struct schema *schema, struct writer *w)
{
    assert(schema_valid(schema));
    record_begin(w, MAGIC, VERSION);
    writer_u32(w,
               (schema->columns ? INCOMPAT_COLUMNS : 0) | (schema->dynamic ? INCOMPAT_DYNAMIC : 0));
    writer_u32(w, schema->collection);
    writer_u8(w, (uint8_t)schema->key_kind);
    writer_u8(w, (uint8_t)schema->document);
    writer_u8(w, (uint8_t)schema->field_count);
    writer_u8(w, 0);
    schema_name_put(w, schema->name);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        const struct schema_field *field = &schema->fields[i];

        writer_u32(w, field->dim);
        writer_u8(w, (uint8_t)field->metric);
        writer_u8(w, (uint8_t)field->precision);
        writer_u8(w, (uint8_t)field->originals);
        writer_u8(w, 0);
        schema_name_put(w, field->name);
    }
    return record_end(w);
}

/* A NUL, which would hide what follows it, is refused here. */
bool schema_name_take(struct reader *r, char *name)
{
    uint8_t length = reader_u8(r);
    const uint8_t *bytes = reader_bytes(r, length);

    if (bytes == NULL || memchr(bytes, 0, length) != NULL) return false;
    memcpy(name, bytes, length);
    return true;
}

static bool take_field(struct reader *r, struct schema_field *field)
{
    field->dim = reader_u32(r);
    field->metric = (paua_metric)reader_u8(r);
    field->precision = (paua_precision)reader_u8(r);
    field->originals = (paua_originals)reader_u8(r);
    if (reader_u8(r) != 0) return false;
    return schema_name_take(r, field->name);
}

paua_status schema_decode(const void *bytes, size_t length, struct schema *schema)
{
    struct schema draft = {0};
    struct reader r;
    uint32_t incompat;
    paua_status status = record_open(bytes, length, MAGIC, VERSION, &r);

    assert(schema != NULL);
    if (status != PAUA_OK) return status;
    incompat = reader_u32(&r);
    if ((incompat & ~INCOMPAT_KNOWN) != 0) return PAUA_EVERSION;
    draft.columns = (incompat & INCOMPAT_COLUMNS) != 0;
    draft.dynamic = (incompat & INCOMPAT_DYNAMIC) != 0;
    draft.collection = reader_u32(&r);
    draft.key_kind = (paua_key_kind)reader_u8(&r);
    draft.document = (paua_document_kind)reader_u8(&r);
    draft.field_count = reader_u8(&r);
    if (reader_u8(&r) != 0) return PAUA_ECORRUPT;
    if (draft.field_count > PAUA_VECTOR_FIELDS_MAX) return PAUA_ECORRUPT;
    if (!schema_name_take(&r, draft.name)) return PAUA_ECORRUPT;
    for (uint32_t i = 0; i < draft.field_count; i++)
        if (!take_field(&r, &draft.fields[i])) return PAUA_ECORRUPT;
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;
    if (!schema_valid(&draft)) return PAUA_ECORRUPT;

    *schema = draft;
    return PAUA_OK;
}
