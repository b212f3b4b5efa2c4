/* manifest.c - one segment as stored.
 *
 * Fields of the record "PSEG", version 1:
 *   u32 collection, u64 segment, u64 generation, u32 field count, u32 part count, file of keys;
 *   then for each part: u32 row count, u64 first row, u64 last row, one file for each field, file
 *   of documents.
 * A file is u64 number, u64 bytes, u32 checksum of its footer; all zero where there is none.
 *
 * The parts are allocated only after the record has been found exactly as long as their number
 * says, so a forged number cannot ask for more than a few times the record's own size. Encode
 * asserts what decode checks. */
#include "codec/manifest.h"

#include "base/memory.h"
#include "codec/record.h"

#define MAGIC 0x47455350u /* "PSEG" */
#define VERSION 1u
#define FILE_REF_NBYTES 20u
#define PART_FIXED_NBYTES 20u

static bool file_ref_valid(const struct file_ref *ref)
{
    if (ref->number == 0) return ref->nbytes == 0 && ref->footer_crc == 0;
    return ref->nbytes > 0;
}

static bool part_valid(const struct part *part, uint32_t field_count)
{
    if (part->row_count < 1) return false;
    if (part->last_row < part->first_row) return false;
    if (part->last_row - part->first_row >= UINT32_MAX) return false;
    if (part->last_row - part->first_row + 1 < part->row_count) return false;
    for (uint32_t i = 0; i < field_count; i++)
        if (part->vectors[i].number == 0 || !file_ref_valid(&part->vectors[i])) return false;
    return file_ref_valid(&part->heap);
}

static bool manifest_valid(const struct manifest *manifest)
{
    uint64_t rows = 0;

    if (manifest->collection < 1 || manifest->segment < 1) return false;
    if (manifest->field_count < 1 || manifest->field_count > PAUA_VECTOR_FIELDS_MAX) return false;
    if (manifest->part_count < 1 || manifest->part_count > MANIFEST_PARTS_MAX) return false;
    if (!file_ref_valid(&manifest->keys)) return false;
    for (uint32_t i = 0; i < manifest->part_count; i++) {
        const struct part *part = &manifest->parts[i];

        if (!part_valid(part, manifest->field_count)) return false;
        if (i > 0 && part->first_row <= manifest->parts[i - 1].last_row) return false;
        rows += part->row_count;
    }
    return rows <= UINT32_MAX;
}

static void put_file_ref(struct writer *w, const struct file_ref *ref)
{
    writer_u64(w, ref->number);
    writer_u64(w, ref->nbytes);
    writer_u32(w, ref->footer_crc);
}

paua_status manifest_encode(const struct manifest *manifest, struct writer *w)
{
    assert(manifest_valid(manifest));
    record_begin(w, MAGIC, VERSION);
    writer_u32(w, manifest->collection);
    writer_u64(w, manifest->segment);
    writer_u64(w, manifest->generation);
    writer_u32(w, manifest->field_count);
    writer_u32(w, manifest->part_count);
    put_file_ref(w, &manifest->keys);
    for (uint32_t i = 0; i < manifest->part_count; i++) {
        const struct part *part = &manifest->parts[i];

        writer_u32(w, part->row_count);
        writer_u64(w, part->first_row);
        writer_u64(w, part->last_row);
        for (uint32_t field = 0; field < manifest->field_count; field++)
            put_file_ref(w, &part->vectors[field]);
        put_file_ref(w, &part->heap);
    }
    return record_end(w);
}

static struct file_ref take_file_ref(struct reader *r)
{
    struct file_ref ref;

    ref.number = reader_u64(r);
    ref.nbytes = reader_u64(r);
    ref.footer_crc = reader_u32(r);
    return ref;
}

static void take_part(struct reader *r, uint32_t field_count, struct part *part)
{
    part->row_count = reader_u32(r);
    part->first_row = reader_u64(r);
    part->last_row = reader_u64(r);
    for (uint32_t field = 0; field < field_count; field++)
        part->vectors[field] = take_file_ref(r);
    part->heap = take_file_ref(r);
}

paua_status manifest_decode(const void *bytes, size_t length, struct manifest *manifest)
{
    struct manifest draft = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, MAGIC, VERSION, &r);

    assert(manifest != NULL);
    if (status != PAUA_OK) return status;
    draft.collection = reader_u32(&r);
    draft.segment = reader_u64(&r);
    draft.generation = reader_u64(&r);
    draft.field_count = reader_u32(&r);
    draft.part_count = reader_u32(&r);
    draft.keys = take_file_ref(&r);
    if (r.short_read) return PAUA_ECORRUPT;
    if (draft.field_count > PAUA_VECTOR_FIELDS_MAX) return PAUA_ECORRUPT;
    if (draft.part_count > MANIFEST_PARTS_MAX) return PAUA_ECORRUPT;
    if (reader_left(&r) !=
        draft.part_count * (PART_FIXED_NBYTES + (draft.field_count + 1) * FILE_REF_NBYTES))
        return PAUA_ECORRUPT;

    draft.parts = mem_zalloc(draft.part_count, sizeof *draft.parts);
    if (draft.parts == NULL) return PAUA_ENOMEM;
    for (uint32_t i = 0; i < draft.part_count; i++)
        take_part(&r, draft.field_count, &draft.parts[i]);
    if (!manifest_valid(&draft)) {
        manifest_free(&draft);
        return PAUA_ECORRUPT;
    }
    *manifest = draft;
    return PAUA_OK;
}

uint32_t manifest_rows(const struct manifest *manifest)
{
    uint32_t rows = 0;

    for (uint32_t i = 0; i < manifest->part_count; i++)
        rows += manifest->parts[i].row_count;
    return rows;
}

void manifest_free(struct manifest *manifest)
{
    mem_free(manifest->parts);
    *manifest = (struct manifest){0};
}
