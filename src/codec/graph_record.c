/* graph_record.c - the description of a graph as stored.
 *
 * Fields of the record "PGRF", version 1:
 *   u32 rows, u32 degree, u32 stride, u32 entry, u32 copy count, u32 list, u32 occlusion,
 *   f32 alpha, u32 checksum of the codes' footer, u64 edges.
 * Encode asserts what decode checks. */
#include "codec/graph_record.h"

#include "codec/floats.h"
#include "codec/record.h"

#define MAGIC 0x46524750u /* "PGRF" */
#define VERSION 1u
#define DEGREE_MIN 4u

static bool record_valid(const struct graph_record *record)
{
    if (record->rows < 1 || record->rows > GRAPH_RECORD_ROWS_MAX) return false;
    if (record->degree < DEGREE_MIN || record->degree > PAUA_DEGREE_MAX) return false;
    if (record->stride != (record->degree + GRAPH_RECORD_STRIDE_UNIT - 1) /
                              GRAPH_RECORD_STRIDE_UNIT * GRAPH_RECORD_STRIDE_UNIT)
        return false;
    if (record->entry >= record->rows || record->copy_count >= record->rows) return false;
    if (record->list < 1 || record->list > PAUA_LIST_MAX || record->occlusion < 1) return false;
    if (!(record->alpha >= 1 && record->alpha <= 2)) return false;
    return record->edges <= (uint64_t)record->rows * record->degree;
}

paua_status graph_record_encode(const struct graph_record *record, struct writer *w)
{
    assert(record_valid(record));
    record_begin(w, MAGIC, VERSION);
    writer_u32(w, record->rows);
    writer_u32(w, record->degree);
    writer_u32(w, record->stride);
    writer_u32(w, record->entry);
    writer_u32(w, record->copy_count);
    writer_u32(w, record->list);
    writer_u32(w, record->occlusion);
    writer_f32(w, record->alpha);
    writer_u32(w, record->codes_crc);
    writer_u64(w, record->edges);
    return record_end(w);
}

paua_status graph_record_decode(const void *bytes, size_t length, struct graph_record *record)
{
    struct graph_record draft = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, MAGIC, VERSION, &r);

    assert(record != NULL);
    if (status != PAUA_OK) return status;
    draft.rows = reader_u32(&r);
    draft.degree = reader_u32(&r);
    draft.stride = reader_u32(&r);
    draft.entry = reader_u32(&r);
    draft.copy_count = reader_u32(&r);
    draft.list = reader_u32(&r);
    draft.occlusion = reader_u32(&r);
    draft.alpha = reader_f32(&r);
    draft.codes_crc = reader_u32(&r);
    draft.edges = reader_u64(&r);
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;
    if (!record_valid(&draft)) return PAUA_ECORRUPT;

    *record = draft;
    return PAUA_OK;
}
