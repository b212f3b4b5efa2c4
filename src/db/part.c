/* part.c - see part.h. A document is found by the offset kept for every 64th row plus the lengths
 * of the rows between, which share at most five cache lines. */
#include "db/part.h"

#include "base/error.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "codec/rowset.h"
#include "db/files.h"

static void part_free(struct part_data *data)
{
    for (uint32_t f = 0; f < data->schema->field_count; f++)
        data_file_unref(data->vectors[f]);
    data_file_unref(data->heap);
    if (data->ids != NULL) roaring_bitmap_free(data->ids);
    mem_free(data);
}

struct part_data *part_ref(struct part_data *data)
{
    atomic_fetch_add(&data->refs, 1);
    return data;
}

void part_unref(struct part_data *data)
{
    if (data != NULL && atomic_fetch_sub(&data->refs, 1) == 1) part_free(data);
}

static paua_status files_check(const struct part_data *data, paua_error *err)
{
    uint64_t rows = data->part.row_count;

    for (uint32_t f = 0; f < data->schema->field_count; f++) {
        const struct data_file *file = data->vectors[f];
        const struct section *section = data_file_section(file, SECTION_ROWS);
        if (data_file_row_count(file) != rows)
            return data_file_refuse(file, "does not hold the rows its segment names", err);
        if (data->schema->fields[f].originals == PAUA_ORIGINALS_NONE && section == NULL) continue;
        if (!data_file_has_section(file, SECTION_ROWS,
                                   rows * schema_row_nbytes(&data->schema->fields[f])) ||
            section->offset != 0)
            return data_file_refuse(file, "does not hold the rows its segment names", err);
    }
    if (data->heap == NULL) return PAUA_OK;
    if (data_file_row_count(data->heap) != rows ||
        data_file_section(data->heap, SECTION_DOCUMENTS) == NULL ||
        !data_file_has_section(data->heap, SECTION_LENGTHS, rows * 4) ||
        !data_file_has_section(data->heap, SECTION_BASES,
                               (rows + HEAP_BASE_ROWS - 1) / HEAP_BASE_ROWS * 8))
        return data_file_refuse(data->heap, "does not hold the documents its segment names", err);
    return PAUA_OK;
}

/* The ids that remain are stored with the first field's vectors. */
static paua_status ids_load(struct part_data *data, paua_error *err)
{
    const struct part *part = &data->part;
    uint64_t span = part->last_row - part->first_row + 1;
    paua_bytes stored = data_file_ids(data->vectors[0]);
    paua_status status;

    if (span == part->row_count) return PAUA_OK;
    if (stored.data == NULL) return data_file_refuse(data->vectors[0], "lacks its row ids", err);
    status = rowset_decode(stored.data, stored.nbytes, span, &data->ids);
    if (status == PAUA_ENOMEM) return error_set_nomem(err);
    if (status != PAUA_OK)
        return data_file_refuse(data->vectors[0], "its row ids are damaged", err);
    if (roaring_bitmap_get_cardinality(data->ids) != part->row_count ||
        roaring_bitmap_minimum(data->ids) != 0 || roaring_bitmap_maximum(data->ids) != span - 1)
        return data_file_refuse(data->vectors[0], "its row ids are not those its segment names",
                                err);
    return PAUA_OK;
}

bool part_has_vectors(const struct part_data *data, uint32_t field)
{
    return data_file_section(data->vectors[field], SECTION_ROWS) != NULL;
}

/* Originals that need not be kept may have given way to a stub of the same number. */
static paua_status vectors_open(struct dir *dir, const struct schema *schema,
                                const struct part *part, uint32_t field, struct data_file_opts opts,
                                struct data_file **file, paua_error *err)
{
    struct file_header header = files_vector_header(schema, field, part->vectors[field].number);
    struct file_ref found;
    paua_status status;

    if (schema->fields[field].originals != PAUA_ORIGINALS_NONE)
        return data_file_open_sealed(dir, &header, &part->vectors[field], opts, file, err);
    status = data_file_open_any(dir, header.number, header.kind, opts, file, &found, err);
    if (status != PAUA_OK) return status == PAUA_ENOTFOUND ? PAUA_ECORRUPT : status;
    if (data_file_header(*file)->collection == header.collection &&
        data_file_header(*file)->field == field && data_file_header(*file)->dim == header.dim)
        return PAUA_OK;
    status = data_file_refuse(*file, "belongs to another collection or field", err);
    data_file_unref(*file);
    *file = NULL;
    return status;
}

paua_status part_open(struct dir *dir, const struct schema *schema, const struct part *part,
                      struct data_file_opts opts, struct part_data **data, paua_error *err)
{
    struct part_data *d = mem_zalloc(1, sizeof *d);
    paua_status status = PAUA_OK;

    if (d == NULL) return error_set_nomem(err);
    d->refs = 1;
    d->schema = schema;
    d->part = *part;
    for (uint32_t f = 0; f < schema->field_count && status == PAUA_OK; f++) {
        status = vectors_open(dir, schema, part, f, opts, &d->vectors[f], err);
    }
    if (status == PAUA_OK && part->heap.number != 0) {
        struct file_header header = files_heap_header(schema, part->heap.number);
        status = data_file_open_sealed(dir, &header, &part->heap, opts, &d->heap, err);
    }
    if (status == PAUA_OK) status = files_check(d, err);
    if (status == PAUA_OK) status = ids_load(d, err);
    if (status != PAUA_OK) {
        part_unref(d);
        return status;
    }
    *data = d;
    return PAUA_OK;
}

uint64_t part_row_id(const struct part_data *data, uint32_t row)
{
    uint32_t relative = row;

    if (data->ids != NULL) roaring_bitmap_select(data->ids, row, &relative);
    return data->part.first_row + relative;
}

uint32_t part_find_row(const struct part_data *data, uint64_t id)
{
    uint32_t relative;

    if (id < data->part.first_row || id > data->part.last_row) return UINT32_MAX;
    relative = (uint32_t)(id - data->part.first_row);
    if (data->ids == NULL) return relative;
    if (!roaring_bitmap_contains(data->ids, relative)) return UINT32_MAX;
    return (uint32_t)roaring_bitmap_rank(data->ids, relative) - 1;
}

/* Reads a range of a section into the map or into scratch. */
static paua_status section_read(struct data_file *file, uint64_t offset, size_t nbytes,
                                struct writer *scratch, const uint8_t **bytes, paua_error *err)
{
    void *room = NULL;

    if (!data_file_mapped(file)) {
        scratch->length = 0;
        room = writer_room(scratch, nbytes == 0 ? 1 : nbytes);
        if (room == NULL) return error_set_nomem(err);
    }
    return data_file_read(file, offset, nbytes, room, bytes, err);
}

paua_status part_vectors(const struct part_data *data, uint32_t field, uint32_t row, uint32_t n,
                         struct writer *scratch, const uint8_t **bytes, paua_error *err)
{
    size_t row_nbytes = schema_row_nbytes(&data->schema->fields[field]);

    return section_read(data->vectors[field], (uint64_t)row * row_nbytes, n * row_nbytes, scratch,
                        bytes, err);
}

/* Offset and length of a document in SECTION_DOCUMENTS. */
static paua_status document_place(const struct part_data *data, uint32_t row, uint64_t *offset,
                                  uint32_t *nbytes, paua_error *err)
{
    const struct section *bases = data_file_section(data->heap, SECTION_BASES);
    const struct section *lengths = data_file_section(data->heap, SECTION_LENGTHS);
    uint32_t first = row / HEAP_BASE_ROWS * HEAP_BASE_ROWS, n = row - first + 1;
    uint8_t base_room[8], length_room[4 * HEAP_BASE_ROWS];
    const uint8_t *at;
    paua_status status;

    status = data_file_read(data->heap, bases->offset + 8u * (row / HEAP_BASE_ROWS), 8, base_room,
                            &at, err);
    if (status != PAUA_OK) return status;
    *offset = bytes_get(at, 8);
    status = data_file_read(data->heap, lengths->offset + 4u * (uint64_t)first, 4u * n, length_room,
                            &at, err);
    if (status != PAUA_OK) return status;
    for (uint32_t i = 0; i < n; i++) {
        *nbytes = (uint32_t)bytes_get(at + 4u * i, 4);
        if (i + 1 < n && *nbytes != BATCH_NO_DOCUMENT) *offset += *nbytes;
    }
    return PAUA_OK;
}

paua_status part_document(const struct part_data *data, uint32_t row, struct writer *scratch,
                          paua_bytes *document, paua_error *err)
{
    const struct section *documents;
    const uint8_t *bytes;
    uint64_t offset;
    uint32_t nbytes;
    paua_status status;

    *document = (paua_bytes){0};
    if (data->heap == NULL) return PAUA_OK;
    status = document_place(data, row, &offset, &nbytes, err);
    if (status != PAUA_OK || nbytes == BATCH_NO_DOCUMENT) return status;
    documents = data_file_section(data->heap, SECTION_DOCUMENTS);
    if (offset > documents->nbytes || nbytes > documents->nbytes - offset)
        return data_file_refuse(data->heap, "a document reaches past the others", err);
    status = section_read(data->heap, documents->offset + offset, nbytes, scratch, &bytes, err);
    if (status == PAUA_OK) *document = (paua_bytes){bytes, nbytes};
    return status;
}
