/* filehead.c - header, footer and trailer of every data file. Header and trailer are in filehead.h.
 *
 * Fields of the footer's record "PFTR", version 1:
 *   u64 data bytes, u32 row count, u32 section count, u32 bytes of ids, u32 bytes of manifest,
 *   u32 bytes of schema, u32 reserved 0; for each section u16 id, u16 reserved 0, u64 offset,
 *   u64 bytes; then u32 checksum of each page of the data; then ids, manifest and schema.
 * How many pages there are follows from the data's length. A description of no bytes is an absent
 * one. Nothing is allocated: checksums and descriptions stay in the record. Encode asserts what
 * decode checks. */
#include "codec/filehead.h"

#include <string.h>

#include "base/crc32c.h"
#include "codec/record.h"

#define HEADER_MAGIC "PAUAFILE"
#define HEADER_MAGIC_NBYTES 8u
#define HEADER_VERSION 1u
#define HEADER_AT_CRC 60u
#define HEADER_RESERVED_NBYTES 12u
#define INCOMPAT_KNOWN 0u
#define FOOTER_MAGIC 0x52544650u /* "PFTR" */
#define FOOTER_VERSION 1u
#define TRAILER_MAGIC 0x444E4550u /* "PEND" */
#define TRAILER_AT_CRC 16u
#define PAGE_CRC_NBYTES 4u

const char *file_kind_suffix(enum file_kind kind)
{
    static const char *const suffixes[] = {".f32",   ".f16",     ".heap",  ".keys",  ".codes",
                                           ".graph", ".columns", ".pages", ".values"};

    assert(kind >= FILE_VECTORS_F32 && kind <= FILE_VALUES);
    return suffixes[kind - FILE_VECTORS_F32];
}

static bool header_valid(const struct file_header *header)
{
    uint32_t component_nbytes = header->kind == FILE_VECTORS_F32   ? 4
                                : header->kind == FILE_VECTORS_F16 ? 2
                                                                   : 0;

    if (header->kind < FILE_VECTORS_F32 || header->kind > FILE_VALUES) return false;
    if (header->number < 1 || header->collection < 1) return false;
    if (header->kind == FILE_VALUES) return header->row_nbytes == 0 && header->dim == 0;
    if (header->kind == FILE_HEAP || header->kind == FILE_KEYS || header->kind >= FILE_COLUMNS)
        return header->field == 0 && header->row_nbytes == 0 && header->dim == 0;
    if (header->field >= PAUA_VECTOR_FIELDS_MAX) return false;
    if (header->dim < 1 || header->dim > PAUA_DIM_MAX) return false;
    return header->row_nbytes == header->dim * component_nbytes;
}

void file_header_encode(const struct file_header *header, uint8_t bytes[FILE_HEADER_NBYTES])
{
    assert(header_valid(header) && (header->incompat & ~INCOMPAT_KNOWN) == 0);
    memset(bytes, 0, FILE_HEADER_NBYTES);
    memcpy(bytes, HEADER_MAGIC, HEADER_MAGIC_NBYTES);
    bytes_put(bytes + 8, HEADER_VERSION, 2);
    bytes_put(bytes + 10, header->kind, 1);
    bytes_put(bytes + 12, header->compat, 4);
    bytes_put(bytes + 16, header->read_compat, 4);
    bytes_put(bytes + 20, header->incompat, 4);
    bytes_put(bytes + 24, header->number, 8);
    bytes_put(bytes + 32, header->collection, 4);
    bytes_put(bytes + 36, header->field, 4);
    bytes_put(bytes + 40, header->row_nbytes, 4);
    bytes_put(bytes + 44, header->dim, 4);
    bytes_put(bytes + HEADER_AT_CRC, crc32c(0, bytes, HEADER_AT_CRC), 4);
}

static bool all_zero(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != 0) return false;
    return true;
}

paua_status file_header_decode(const void *bytes, size_t length, struct file_header *header)
{
    struct reader r = reader_over(bytes, length);
    struct file_header draft = {0};
    uint16_t version;

    assert(header != NULL);
    if (length != FILE_HEADER_NBYTES) return PAUA_ECORRUPT;
    if (memcmp(reader_bytes(&r, HEADER_MAGIC_NBYTES), HEADER_MAGIC, HEADER_MAGIC_NBYTES) != 0)
        return PAUA_ECORRUPT;
    if (bytes_get((const uint8_t *)bytes + HEADER_AT_CRC, 4) != crc32c(0, bytes, HEADER_AT_CRC))
        return PAUA_ECORRUPT;
    version = reader_u16(&r);
    draft.kind = (enum file_kind)reader_u8(&r);
    if (version != HEADER_VERSION) return PAUA_EVERSION;
    if (reader_u8(&r) != 0) return PAUA_ECORRUPT;
    draft.compat = reader_u32(&r);
    draft.read_compat = reader_u32(&r);
    draft.incompat = reader_u32(&r);
    if ((draft.incompat & ~INCOMPAT_KNOWN) != 0) return PAUA_EVERSION;
    draft.number = reader_u64(&r);
    draft.collection = reader_u32(&r);
    draft.field = reader_u32(&r);
    draft.row_nbytes = reader_u32(&r);
    draft.dim = reader_u32(&r);
    if (!all_zero(reader_bytes(&r, HEADER_RESERVED_NBYTES), HEADER_RESERVED_NBYTES))
        return PAUA_ECORRUPT;
    if (!header_valid(&draft)) return PAUA_ECORRUPT;

    *header = draft;
    return PAUA_OK;
}

static uint64_t pages_needed(uint64_t data_nbytes)
{
    return data_nbytes / FILE_PAGE_NBYTES + (data_nbytes % FILE_PAGE_NBYTES != 0);
}

static bool sections_valid(const struct file_footer *footer)
{
    uint64_t end = 0;

    if (footer->section_count > FILE_SECTIONS_MAX) return false;
    for (uint32_t i = 0; i < footer->section_count; i++) {
        const struct section *section = &footer->sections[i];

        if (section->id == 0 || section->offset < end) return false;
        if (section->offset > footer->data_nbytes) return false;
        if (section->nbytes > footer->data_nbytes - section->offset) return false;
        for (uint32_t j = 0; j < i; j++)
            if (footer->sections[j].id == section->id) return false;
        end = section->offset + section->nbytes;
    }
    return true;
}

paua_status file_footer_encode(const struct file_footer *footer, struct writer *w)
{
    assert(sections_valid(footer));
    assert(footer->page_count == pages_needed(footer->data_nbytes));
    assert(footer->ids.nbytes <= UINT32_MAX && footer->manifest.nbytes <= UINT32_MAX &&
           footer->schema.nbytes <= UINT32_MAX);
    record_begin(w, FOOTER_MAGIC, FOOTER_VERSION);
    writer_u64(w, footer->data_nbytes);
    writer_u32(w, footer->row_count);
    writer_u32(w, footer->section_count);
    writer_u32(w, (uint32_t)footer->ids.nbytes);
    writer_u32(w, (uint32_t)footer->manifest.nbytes);
    writer_u32(w, (uint32_t)footer->schema.nbytes);
    writer_u32(w, 0);
    for (uint32_t i = 0; i < footer->section_count; i++) {
        writer_u16(w, footer->sections[i].id);
        writer_u16(w, 0);
        writer_u64(w, footer->sections[i].offset);
        writer_u64(w, footer->sections[i].nbytes);
    }
    writer_bytes(w, footer->page_crcs, (size_t)footer->page_count * PAGE_CRC_NBYTES);
    writer_bytes(w, footer->ids.data, footer->ids.nbytes);
    writer_bytes(w, footer->manifest.data, footer->manifest.nbytes);
    writer_bytes(w, footer->schema.data, footer->schema.nbytes);
    return record_end(w);
}

static bool take_sections(struct reader *r, struct file_footer *footer)
{
    if (footer->section_count > FILE_SECTIONS_MAX) return false;
    for (uint32_t i = 0; i < footer->section_count; i++) {
        footer->sections[i].id = reader_u16(r);
        if (reader_u16(r) != 0) return false;
        footer->sections[i].offset = reader_u64(r);
        footer->sections[i].nbytes = reader_u64(r);
    }
    return true;
}

static paua_bytes take_description(struct reader *r, uint32_t nbytes)
{
    if (nbytes == 0) return (paua_bytes){0};
    return (paua_bytes){.data = reader_bytes(r, nbytes), .nbytes = nbytes};
}

paua_status file_footer_decode(const void *bytes, size_t length, struct file_footer *footer)
{
    struct file_footer draft = {0};
    uint32_t ids_nbytes, manifest_nbytes, schema_nbytes;
    struct reader r;
    paua_status status = record_open(bytes, length, FOOTER_MAGIC, FOOTER_VERSION, &r);

    assert(footer != NULL);
    if (status != PAUA_OK) return status;
    draft.data_nbytes = reader_u64(&r);
    draft.row_count = reader_u32(&r);
    draft.section_count = reader_u32(&r);
    ids_nbytes = reader_u32(&r);
    manifest_nbytes = reader_u32(&r);
    schema_nbytes = reader_u32(&r);
    if (reader_u32(&r) != 0) return PAUA_ECORRUPT;
    if (!take_sections(&r, &draft) || !sections_valid(&draft)) return PAUA_ECORRUPT;
    if (pages_needed(draft.data_nbytes) > UINT32_MAX) return PAUA_ECORRUPT;
    draft.page_count = (uint32_t)pages_needed(draft.data_nbytes);
    draft.page_crcs = reader_bytes(&r, (uint64_t)draft.page_count * PAGE_CRC_NBYTES);
    draft.ids = take_description(&r, ids_nbytes);
    draft.manifest = take_description(&r, manifest_nbytes);
    draft.schema = take_description(&r, schema_nbytes);
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;

    *footer = draft;
    return PAUA_OK;
}

static bool trailer_valid(const struct file_trailer *trailer)
{
    return trailer->footer_nbytes >= RECORD_HEADER_NBYTES &&
           trailer->footer_offset >= FILE_HEADER_NBYTES &&
           trailer->footer_offset <= UINT64_MAX - trailer->footer_nbytes - FILE_TRAILER_NBYTES;
}

void file_trailer_encode(const struct file_trailer *trailer, uint8_t bytes[FILE_TRAILER_NBYTES])
{
    assert(trailer_valid(trailer));
    bytes_put(bytes, trailer->footer_offset, 8);
    bytes_put(bytes + 8, trailer->footer_nbytes, 4);
    bytes_put(bytes + 12, trailer->footer_crc, 4);
    bytes_put(bytes + TRAILER_AT_CRC, crc32c(0, bytes, TRAILER_AT_CRC), 4);
    bytes_put(bytes + 20, TRAILER_MAGIC, 4);
}

paua_status file_trailer_decode(const void *bytes, size_t length, struct file_trailer *trailer)
{
    struct reader r = reader_over(bytes, length);
    struct file_trailer draft;

    assert(trailer != NULL);
    if (length != FILE_TRAILER_NBYTES) return PAUA_ECORRUPT;
    draft.footer_offset = reader_u64(&r);
    draft.footer_nbytes = reader_u32(&r);
    draft.footer_crc = reader_u32(&r);
    if (reader_u32(&r) != crc32c(0, bytes, TRAILER_AT_CRC)) return PAUA_ECORRUPT;
    if (reader_u32(&r) != TRAILER_MAGIC) return PAUA_ECORRUPT;
    if (!trailer_valid(&draft)) return PAUA_ECORRUPT;

    *trailer = draft;
    return PAUA_OK;
}
