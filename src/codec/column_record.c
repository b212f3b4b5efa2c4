/* column_record.c - the directory of a file of columns as stored.
 *
 * Fields of the record "PCOL", version 1:
 *   u64 segment, u32 rows, u32 fields; then for each:
 *     u32 id, u32 type, u64 offset, u64 nbytes, u32 dictionary count, u64 dictionary bytes,
 *     u16 length of the name, the name; then for each chunk:
 *       u8 kind, u8 width, u16 0, u32 nulls, u64 base, u64 least, u64 most, u64 bytes
 *
 * Decoding checks that the arrays are exactly as long as the columns, and the columns as the
 * section; what is in the arrays is checked by whoever reads them. All chunks are in one block,
 * allocated when the record has been seen to be long enough for them. */
#include "codec/column_record.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "codec/record.h"

#define COLUMN_MAGIC UINT32_C(0x4C4F4350) /* "PCOL" */
#define COLUMN_VERSION 1u
#define FIELD_NBYTES_MIN 39u
#define CHUNK_NBYTES 40u
#define ALIGNMENT 8u
#define VALUE_NBYTES_MAX (PAUA_VALUE_NBYTES_MAX + 1u) /* a mixed one's type is before it */
#define COLUMN_NBYTES_MAX (UINT64_C(1) << 56)         /* sums stay far from overflow */

static uint64_t aligned(uint64_t at) { return (at + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1); }

void column_chunk_lay(const struct column_chunk_record *chunk, uint32_t rows, uint64_t at,
                      struct column_chunk_layout *layout)
{
    uint64_t entries = chunk->kind == COLUMN_RECORD_SPARSE ? rows - chunk->nulls : rows;

    *layout = (struct column_chunk_layout){.codes = at, .bytes = at};
    switch (chunk->kind) {
    case COLUMN_RECORD_CONSTANT:
        break;
    case COLUMN_RECORD_SPARSE:
        layout->places = aligned(at + (entries * chunk->width + 7) / 8);
        at = layout->places + 2 * entries;
        break;
    case COLUMN_RECORD_PACKED:
        at += (entries * chunk->width + 7) / 8;
        break;
    case COLUMN_RECORD_RAW:
        layout->places = at + 8 * entries;
        at = layout->places + (chunk->nulls > 0 ? (entries + 7) / 8 : 0);
        break;
    case COLUMN_RECORD_UNREPEATED:
        layout->ends = aligned(at + chunk->nbytes);
        layout->hashes = aligned(layout->ends + column_end_nbytes(chunk->nbytes) * entries);
        at = layout->hashes + 4 * entries;
        break;
    }
    layout->end = aligned(at);
}

uint64_t column_dictionary_lay(uint32_t count, uint64_t nbytes, uint64_t at, uint64_t *ends,
                               uint64_t *bytes)
{
    *ends = at;
    *bytes = aligned(at + count * column_end_nbytes(nbytes));
    return aligned(*bytes + nbytes);
}

static bool power_of_two(uint32_t width) { return width != 0 && (width & (width - 1)) == 0; }

/* Within what its kind allows. */
static bool chunk_valid(const struct column_chunk_record *c, uint32_t rows)
{
    bool none = c->least == 1 && c->most == 0;

    if (c->nulls > rows || (c->least > c->most && !none)) return false;
    if (c->nbytes != 0 && c->kind != COLUMN_RECORD_UNREPEATED) return false;
    switch (c->kind) {
    case COLUMN_RECORD_CONSTANT:
        if (c->width != 0 || c->base != 1) return false;
        return none ? c->nulls == rows : c->nulls == 0 && c->least == c->most;
    case COLUMN_RECORD_SPARSE:
        return power_of_two(c->width) && c->width <= 64 && c->nulls < rows && !none;
    case COLUMN_RECORD_PACKED:
        return power_of_two(c->width) && c->width <= 32 && c->nulls < rows && !none;
    case COLUMN_RECORD_RAW:
        return c->width == 0 && c->base == 1 && c->nulls < rows && !none;
    case COLUMN_RECORD_UNREPEATED:
        return c->width == 0 && c->base == 1 && c->least == 0 && c->most == UINT64_MAX &&
               c->nbytes <= (uint64_t)rows * VALUE_NBYTES_MAX;
    }
    return false;
}

static bool name_valid(const char *name, size_t nbytes)
{
    if (nbytes == 0 || nbytes > COLUMN_RECORD_NAME_NBYTES_MAX) return false;
    if (utf8_valid_prefix(name, nbytes) != nbytes) return false;
    for (size_t i = 0; i < nbytes; i++)
        if ((uint8_t)name[i] < 0x20 || name[i] == 0x7F) return false;
    return true;
}

/* Whether a field's chunks and dictionary fill its column. */
static bool field_fits(const struct column_field_record *field, uint32_t rows)
{
    struct column_chunk_layout layout;
    uint64_t at = 0, ends, bytes;

    if (field->dictionary_nbytes > COLUMN_NBYTES_MAX) return false;
    for (uint32_t i = 0; i < column_directory_chunks(rows); i++) {
        column_chunk_lay(&field->chunks[i], column_chunk_rows(rows, i), at, &layout);
        at = layout.end;
    }
    at =
        column_dictionary_lay(field->dictionary_count, field->dictionary_nbytes, at, &ends, &bytes);
    return at == field->nbytes;
}

static bool directory_valid(const struct column_directory *d, uint64_t section_nbytes)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct column_field_record *field = &d->fields[i];

        if (i > 0 && field->id <= d->fields[i - 1].id) return false;
        if (field->offset != at || !field_fits(field, d->rows)) return false;
        if (field->nbytes > section_nbytes - at) return false;
        at += field->nbytes;
        for (uint32_t j = 0; j < column_directory_chunks(d->rows); j++)
            if (!chunk_valid(&field->chunks[j], column_chunk_rows(d->rows, j))) return false;
    }
    return at == section_nbytes;
}

static void chunk_put(const struct column_chunk_record *chunk, struct writer *w)
{
    writer_u8(w, (uint8_t)chunk->kind);
    writer_u8(w, (uint8_t)chunk->width);
    writer_u16(w, 0);
    writer_u32(w, chunk->nulls);
    writer_u64(w, chunk->base);
    writer_u64(w, chunk->least);
    writer_u64(w, chunk->most);
    writer_u64(w, chunk->nbytes);
}

static void field_put(const struct column_field_record *field, uint32_t chunks, struct writer *w)
{
    size_t name_nbytes = strlen(field->name);

    assert(name_valid(field->name, name_nbytes));
    writer_u32(w, field->id);
    writer_u32(w, field->type);
    writer_u64(w, field->offset);
    writer_u64(w, field->nbytes);
    writer_u32(w, field->dictionary_count);
    writer_u64(w, field->dictionary_nbytes);
    writer_u16(w, (uint16_t)name_nbytes);
    writer_bytes(w, field->name, name_nbytes);
    for (uint32_t i = 0; i < chunks; i++)
        chunk_put(&field->chunks[i], w);
}

paua_status column_directory_encode(const struct column_directory *directory, struct writer *w)
{
    record_begin(w, COLUMN_MAGIC, COLUMN_VERSION);
    writer_u64(w, directory->segment);
    writer_u32(w, directory->rows);
    writer_u32(w, directory->field_count);
    for (uint32_t i = 0; i < directory->field_count; i++)
        field_put(&directory->fields[i], column_directory_chunks(directory->rows), w);
    return record_end(w);
}

static bool take_chunk(struct reader *r, struct column_chunk_record *chunk)
{
    chunk->kind = (enum column_record_kind)reader_u8(r);
    chunk->width = reader_u8(r);
    if (reader_u16(r) != 0) return false;
    chunk->nulls = reader_u32(r);
    chunk->base = reader_u64(r);
    chunk->least = reader_u64(r);
    chunk->most = reader_u64(r);
    chunk->nbytes = reader_u64(r);
    return !r->short_read && chunk->kind <= COLUMN_RECORD_UNREPEATED;
}

static bool take_field(struct reader *r, struct column_field_record *field, uint32_t chunks)
{
    const uint8_t *name;
    uint16_t name_nbytes;

    field->id = reader_u32(r);
    field->type = reader_u32(r);
    field->offset = reader_u64(r);
    field->nbytes = reader_u64(r);
    field->dictionary_count = reader_u32(r);
    field->dictionary_nbytes = reader_u64(r);
    name_nbytes = reader_u16(r);
    name = reader_bytes(r, name_nbytes);
    if (r->short_read || !name_valid((const char *)name, name_nbytes)) return false;
    memcpy(field->name, name, name_nbytes);
    for (uint32_t i = 0; i < chunks; i++)
        if (!take_chunk(r, &field->chunks[i])) return false;
    return true;
}

static bool take_fields(struct reader *r, struct column_directory *d,
                        struct column_chunk_record *chunks)
{
    uint32_t each = column_directory_chunks(d->rows);

    for (uint32_t i = 0; i < d->field_count; i++) {
        d->fields[i].chunks = chunks + (size_t)i * each;
        if (!take_field(r, &d->fields[i], each)) return false;
    }
    return r->at == r->end;
}

paua_status column_directory_decode(const void *bytes, size_t length, uint64_t section_nbytes,
                                    struct column_directory *directory)
{
    struct column_directory draft = {0};
    struct column_chunk_record *chunks;
    struct reader r;
    paua_status status = record_open(bytes, length, COLUMN_MAGIC, COLUMN_VERSION, &r);
    uint64_t each;

    assert(directory != NULL);
    if (status != PAUA_OK) return status;
    draft.segment = reader_u64(&r);
    draft.rows = reader_u32(&r);
    draft.field_count = reader_u32(&r);
    each = column_directory_chunks(draft.rows);
    if (r.short_read || draft.rows == 0 || draft.field_count > PAUA_FIELDS_MAX ||
        draft.field_count * (FIELD_NBYTES_MIN + each * CHUNK_NBYTES) > reader_left(&r))
        return PAUA_ECORRUPT;
    draft.fields = mem_zalloc((size_t)draft.field_count + 1, sizeof draft.fields[0]);
    chunks = mem_zalloc((size_t)(draft.field_count * each) + 1, sizeof chunks[0]);
    if (draft.fields == NULL || chunks == NULL) {
        mem_free(draft.fields);
        mem_free(chunks);
        return PAUA_ENOMEM;
    }
    draft.fields[0].chunks = chunks; /* so that it is freed even if there is no field */
    if (!take_fields(&r, &draft, chunks) || !directory_valid(&draft, section_nbytes)) {
        column_directory_free(&draft);
        return PAUA_ECORRUPT;
    }
    *directory = draft;
    return PAUA_OK;
}

void column_directory_free(struct column_directory *directory)
{
    if (directory->fields != NULL) mem_free(directory->fields[0].chunks);
    mem_free(directory->fields);
    *directory = (struct column_directory){0};
}
