/* index_record.c - definitions of indexes and their artifacts as stored.
 *
 * Fields of the record "PIDX", version 1, or 2 if the field is no vector:
 *   u32 collection, u32 number, u32 field, u8 kind, 3 reserved bytes 0, u32 degree, u32 list,
 *   u32 occlusion, f32 alpha, name (u8 length and bytes).
 * Fields of the record "PART", version 1, or 2 if it holds a field's values:
 *   u32 collection, u64 segment, u32 field, u32 index, u32 rows, file (as in manifest.c),
 *   u64 digest of its source.
 * Kinds are numbers of the public enum. A definition holds the parameters that are in force, never
 * "default", so that a later library with other defaults builds the same graph. */
#include "codec/index_record.h"

#include "codec/floats.h"
#include "codec/record.h"
#include "codec/schema.h"

#define DEFINITION_MAGIC 0x58444950u /* "PIDX" */
#define ARTIFACT_MAGIC 0x54524150u   /* "PART" */
#define VERSION_VECTORS 1u
#define VERSION_VALUES 2u
#define DEGREE_MIN 4u
#define LIST_MIN 4u
#define OCCLUSION_MAX 65536u

static bool params_valid(const struct index_definition *d)
{
    if (d->kind == PAUA_INDEX_FLAT || index_kind_is_values(d->kind))
        return d->degree == 0 && d->list == 0 && d->occlusion == 0 && d->alpha == 0;
    if (d->kind != PAUA_INDEX_VAMANA) return false;
    if (d->degree < DEGREE_MIN || d->degree > PAUA_DEGREE_MAX) return false;
    if (d->list < LIST_MIN || d->list > PAUA_LIST_MAX) return false;
    if (d->occlusion < 1 || d->occlusion > OCCLUSION_MAX) return false;
    return d->alpha >= 1 && d->alpha <= 2;
}

static bool definition_valid(const struct index_definition *d)
{
    if (d->collection < 1 || d->number < 1) return false;
    if (index_kind_is_values(d->kind) ? d->field < 1 : d->field >= PAUA_VECTOR_FIELDS_MAX)
        return false;
    return params_valid(d) && schema_name_valid(d->name);
}

/* Opens a record of either version. */
static paua_status either_open(const void *bytes, size_t length, uint32_t magic, struct reader *r,
                               bool *values)
{
    paua_status status = record_open(bytes, length, magic, VERSION_VECTORS, r);

    *values = status == PAUA_EVERSION;
    return *values ? record_open(bytes, length, magic, VERSION_VALUES, r) : status;
}

paua_status index_definition_encode(const struct index_definition *definition, struct writer *w)
{
    assert(definition_valid(definition));
    record_begin(w, DEFINITION_MAGIC,
                 index_kind_is_values(definition->kind) ? VERSION_VALUES : VERSION_VECTORS);
    writer_u32(w, definition->collection);
    writer_u32(w, definition->number);
    writer_u32(w, definition->field);
    writer_u32(w, (uint8_t)definition->kind);
    writer_u32(w, definition->degree);
    writer_u32(w, definition->list);
    writer_u32(w, definition->occlusion);
    writer_f32(w, definition->alpha);
    schema_name_put(w, definition->name);
    return record_end(w);
}

paua_status index_definition_decode(const void *bytes, size_t length,
                                    struct index_definition *definition)
{
    struct index_definition draft = {0};
    struct reader r;
    bool values;
    paua_status status = either_open(bytes, length, DEFINITION_MAGIC, &r, &values);

    assert(definition != NULL);
    if (status != PAUA_OK) return status;
    draft.collection = reader_u32(&r);
    draft.number = reader_u32(&r);
    draft.field = reader_u32(&r);
    draft.kind = (paua_index_kind)reader_u8(&r);
    if (reader_u8(&r) != 0 || reader_u16(&r) != 0) return PAUA_ECORRUPT;
    draft.degree = reader_u32(&r);
    draft.list = reader_u32(&r);
    draft.occlusion = reader_u32(&r);
    draft.alpha = reader_f32(&r);
    if (!schema_name_take(&r, draft.name)) return PAUA_ECORRUPT;
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;
    if (index_kind_is_values(draft.kind) != values) return PAUA_ECORRUPT;
    if (!definition_valid(&draft)) return PAUA_ECORRUPT;

    *definition = draft;
    return PAUA_OK;
}

/* What is made of one file knows it by a checksum of 32 bits. */
static bool artifact_valid(const struct artifact *a)
{
    if (a->collection < 1 || a->segment < 1 || a->rows < 1) return false;
    if (a->values ? a->index == 0 || a->field < 1 : a->field >= PAUA_VECTOR_FIELDS_MAX)
        return false;
    if (a->file.number < 1 || a->file.nbytes < 1) return false;
    return a->index == 0 || a->source_digest <= UINT32_MAX;
}

enum file_kind artifact_file_kind(const struct artifact *artifact)
{
    if (artifact->index == 0) return FILE_CODES;
    return artifact->values ? FILE_VALUES : FILE_GRAPH;
}

paua_status artifact_encode(const struct artifact *artifact, struct writer *w)
{
    assert(artifact_valid(artifact));
    record_begin(w, ARTIFACT_MAGIC, artifact->values ? VERSION_VALUES : VERSION_VECTORS);
    writer_u32(w, artifact->collection);
    writer_u64(w, artifact->segment);
    writer_u32(w, artifact->field);
    writer_u32(w, artifact->index);
    writer_u32(w, artifact->rows);
    writer_u64(w, artifact->file.number);
    writer_u64(w, artifact->file.nbytes);
    writer_u32(w, artifact->file.footer_crc);
    writer_u64(w, artifact->source_digest);
    return record_end(w);
}

paua_status artifact_decode(const void *bytes, size_t length, struct artifact *artifact)
{
    struct artifact draft = {0};
    struct reader r;
    paua_status status = either_open(bytes, length, ARTIFACT_MAGIC, &r, &draft.values);

    assert(artifact != NULL);
    if (status != PAUA_OK) return status;
    draft.collection = reader_u32(&r);
    draft.segment = reader_u64(&r);
    draft.field = reader_u32(&r);
    draft.index = reader_u32(&r);
    draft.rows = reader_u32(&r);
    draft.file.number = reader_u64(&r);
    draft.file.nbytes = reader_u64(&r);
    draft.file.footer_crc = reader_u32(&r);
    draft.source_digest = reader_u64(&r);
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;
    if (!artifact_valid(&draft)) return PAUA_ECORRUPT;

    *artifact = draft;
    return PAUA_OK;
}
