/* column_file.c - opening a file of columns, and each column when it is first asked for.
 *
 * Opening decodes the directory. A column is one stretch of the file: looked at in the map, or read
 * into memory of its length; its pages' checksums are verified on the way, then its ends and every
 * row and value of it (column_validate), so that reading can trust all of it.
 *
 * Threads  Columns that have been opened are found without a lock; one lock serializes opening. */
#include "column/column_file.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/column_record.h"
#include "column/chunk.h"

_Static_assert(COLUMN_RECORD_CHUNK_ROWS == COLUMN_CHUNK_ROWS, "chunks as stored");
_Static_assert(COLUMN_RECORD_CONSTANT == (int)CHUNK_CONSTANT &&
                   COLUMN_RECORD_SPARSE == (int)CHUNK_SPARSE &&
                   COLUMN_RECORD_PACKED == (int)CHUNK_PACKED &&
                   COLUMN_RECORD_RAW == (int)CHUNK_RAW &&
                   COLUMN_RECORD_UNREPEATED == (int)CHUNK_UNREPEATED,
               "kinds as stored");

/* A column that has been opened. */
struct opened {
    struct column_view view;
    const uint8_t *ends; /* of the dictionary's values */
    size_t end_nbytes;   /* 4 or 8 */
    const uint8_t *bytes;
    void *memory; /* owned: the column, of a file that is not mapped; or NULL */
    struct column_chunk chunks[];
};

struct column_file {
    atomic_uint refs;
    struct data_file *data;
    struct column_directory directory;
    struct column_file_field *fields;
    pthread_mutex_t opening;
    _Atomic(struct opened *) *columns;
};

static paua_status take_directory(struct column_file *file, paua_error *err)
{
    const struct section *columns = data_file_section(file->data, SECTION_COLUMNS);
    const struct section *section = data_file_section(file->data, SECTION_COLUMN_DIRECTORY);
    const uint8_t *bytes;
    void *memory = NULL;
    paua_status status;

    if (columns == NULL || section == NULL)
        return data_file_refuse(file->data, "lacks its columns", err);
    if (!data_file_mapped(file->data)) {
        memory = mem_alloc((size_t)section->nbytes);
        if (memory == NULL) return error_set_nomem(err);
    }
    status =
        data_file_read(file->data, section->offset, (size_t)section->nbytes, memory, &bytes, err);
    if (status == PAUA_OK) {
        status = column_directory_decode(bytes, (size_t)section->nbytes, columns->nbytes,
                                         &file->directory);
        if (status == PAUA_ENOMEM) error_set_nomem(err);
        if (status == PAUA_ECORRUPT)
            data_file_refuse(file->data, "its directory of columns is damaged", err);
        if (status == PAUA_EVERSION)
            error_set(err, status, "%s: was written by a newer version of paua; use that version",
                      data_file_name(file->data));
    }
    mem_free(memory);
    return status;
}

static bool fields_make(struct column_file *file)
{
    uint32_t count = file->directory.field_count;

    file->fields = mem_zalloc((size_t)count + 1, sizeof file->fields[0]);
    file->columns = mem_zalloc((size_t)count + 1, sizeof file->columns[0]);
    if (file->fields == NULL || file->columns == NULL) return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct column_field_record *field = &file->directory.fields[i];

        file->fields[i] =
            (struct column_file_field){.id = field->id, .type = field->type, .name = field->name};
        atomic_init(&file->columns[i], NULL);
    }
    return true;
}

paua_status column_file_open(struct dir *dir, uint32_t collection, uint64_t segment, uint32_t rows,
                             const struct file_ref *ref, struct data_file_opts opts,
                             struct column_file **file, paua_error *err)
{
    struct file_header header = {
        .kind = FILE_COLUMNS, .number = ref->number, .collection = collection};
    struct column_file *draft = mem_zalloc(1, sizeof *draft);
    paua_status status;

    if (draft == NULL) return error_set_nomem(err);
    atomic_init(&draft->refs, 1);
    pthread_mutex_init(&draft->opening, NULL);
    status = data_file_open_sealed(dir, &header, ref, opts, &draft->data, err);
    if (status == PAUA_OK) status = take_directory(draft, err);
    if (status == PAUA_OK &&
        (draft->directory.segment != segment || draft->directory.rows != rows ||
         data_file_row_count(draft->data) != rows))
        status = data_file_refuse(draft->data, "its columns are of other rows", err);
    for (uint32_t i = 0; status == PAUA_OK && i < draft->directory.field_count; i++)
        if (!type_valid(draft->directory.fields[i].type))
            status = data_file_refuse(draft->data, "a column has a type that no field has", err);
    if (status == PAUA_OK && !fields_make(draft)) status = error_set_nomem(err);
    if (status != PAUA_OK) {
        column_file_unref(draft);
        return status;
    }
    *file = draft;
    return PAUA_OK;
}

struct column_file *column_file_ref(struct column_file *file)
{
    atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
    return file;
}

static void opened_free(struct opened *opened)
{
    if (opened == NULL) return;
    mem_free(opened->memory);
    mem_free(opened);
}

void column_file_unref(struct column_file *file)
{
    if (file == NULL) return;
    if (atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) != 1) return;
    for (uint32_t i = 0; file->columns != NULL && i < file->directory.field_count; i++)
        opened_free(atomic_load_explicit(&file->columns[i], memory_order_relaxed));
    mem_free(file->columns);
    mem_free(file->fields);
    column_directory_free(&file->directory);
    data_file_unref(file->data);
    pthread_mutex_destroy(&file->opening);
    mem_free(file);
}

const struct column_file_field *column_file_fields(const struct column_file *file, uint32_t *count)
{
    *count = file->directory.field_count;
    return file->fields;
}

uint64_t column_file_segment(const struct column_file *file) { return file->directory.segment; }

struct data_file *column_file_data(const struct column_file *file) { return file->data; }

/* The field's index; the number of fields if there is none. */
static uint32_t find(const struct column_file *file, uint32_t id)
{
    uint32_t first = 0, end = file->directory.field_count;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;

        if (file->fields[middle].id == id) return middle;
        if (file->fields[middle].id < id)
            first = middle + 1;
        else
            end = middle;
    }
    return file->directory.field_count;
}

bool column_file_has(const struct column_file *file, uint32_t id)
{
    return find(file, id) < file->directory.field_count;
}

uint64_t column_file_nbytes(const struct column_file *file, uint32_t id)
{
    uint32_t i = find(file, id);

    return i < file->directory.field_count ? file->directory.fields[i].nbytes : 0;
}

static void value_at(const void *owner, uint32_t index, const uint8_t **data, size_t *nbytes)
{
    const struct opened *o = owner;
    const uint8_t *end_at = o->ends + index * o->end_nbytes;
    uint64_t begin = 0, end;

    if (o->end_nbytes == 4) {
        if (index > 0) begin = packed_load32(end_at - 4);
        end = packed_load32(end_at);
    } else {
        if (index > 0) begin = packed_load64(end_at - 8);
        end = packed_load64(end_at);
    }
    *data = o->bytes + begin;
    *nbytes = (size_t)(end - begin);
}

/* Ends never fall, and the last is where the bytes end. */
static bool ends_valid(const uint8_t *ends, size_t width, uint64_t count, uint64_t nbytes)
{
    uint64_t last = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t end = width == 4 ? packed_load32(ends + 4 * i) : packed_load64(ends + 8 * i);

        if (end < last || end > nbytes) return false;
        last = end;
    }
    return last == nbytes;
}

static bool lay_chunk(const struct column_chunk_record *record, uint32_t rows,
                      const uint8_t *column, uint64_t *at, struct column_chunk *chunk)
{
    struct column_chunk_layout layout;

    column_chunk_lay(record, rows, *at, &layout);
    *at = layout.end;
    *chunk = (struct column_chunk){.kind = (enum chunk_kind)record->kind,
                                   .width = record->width,
                                   .rows = rows,
                                   .nulls = record->nulls,
                                   .base = record->base,
                                   .least = record->least,
                                   .most = record->most};
    if (chunk->kind == CHUNK_CONSTANT) return true;
    if (chunk->kind == CHUNK_UNREPEATED) {
        chunk->bytes = column + layout.bytes;
        chunk->ends = column + layout.ends;
        chunk->hashes = column + layout.hashes;
        chunk->end_nbytes = (uint32_t)column_end_nbytes(record->nbytes);
        return ends_valid(chunk->ends, chunk->end_nbytes, rows, record->nbytes);
    }
    chunk->codes = column + layout.codes;
    if (chunk->kind == CHUNK_SPARSE) chunk->entries = rows - record->nulls;
    if (chunk->kind == CHUNK_SPARSE || (chunk->kind == CHUNK_RAW && record->nulls > 0))
        chunk->places = column + layout.places;
    return true;
}

/* Makes the view over the column's bytes: what is wrong, or NULL. */
static const char *lay(const struct column_file *file, const struct column_field_record *field,
                       const uint8_t *column, struct opened *o)
{
    uint32_t rows = file->directory.rows, count = column_directory_chunks(rows);
    uint64_t at = 0, ends, bytes;

    for (uint32_t i = 0; i < count; i++)
        if (!lay_chunk(&field->chunks[i], column_chunk_rows(rows, i), column, &at, &o->chunks[i]))
            return "has values that do not follow each other";
    column_dictionary_lay(field->dictionary_count, field->dictionary_nbytes, at, &ends, &bytes);
    o->ends = column + ends;
    o->bytes = column + bytes;
    o->end_nbytes = column_end_nbytes(field->dictionary_nbytes);
    o->view = (struct column_view){
        .type = field->type, .rows = rows, .chunk_count = count, .chunks = o->chunks};
    o->view.dictionary = (struct dictionary_view){
        .count = field->dictionary_count, .sorted = true, .owner = o, .value = value_at};
    if (!ends_valid(o->ends, o->end_nbytes, field->dictionary_count, field->dictionary_nbytes))
        return "has values that do not follow each other";
    return column_validate(&o->view);
}

static paua_status open_column(const struct column_file *file,
                               const struct column_field_record *field, struct opened **opened,
                               paua_error *err)
{
    uint64_t at = data_file_section(file->data, SECTION_COLUMNS)->offset + field->offset;
    size_t chunks = column_directory_chunks(file->directory.rows);
    struct opened *o = mem_zalloc(1, sizeof *o + chunks * sizeof o->chunks[0]);
    static const uint8_t nothing[8];
    const uint8_t *bytes = nothing;
    paua_status status = PAUA_OK;
    const char *wrong;

    if (o == NULL) return error_set_nomem(err);
    if (field->nbytes > 0 && !data_file_mapped(file->data)) {
        o->memory = mem_alloc((size_t)field->nbytes);
        if (o->memory == NULL) status = error_set_nomem(err);
    }
    if (status == PAUA_OK && field->nbytes > 0)
        status = data_file_read(file->data, at, (size_t)field->nbytes, o->memory, &bytes, err);
    if (status == PAUA_OK) {
        wrong = lay(file, field, bytes, o);
        if (wrong != NULL)
            status = error_set(err, PAUA_ECORRUPT, "%s: field %s %s; run paua check",
                               data_file_name(file->data), field->name, wrong);
    }
    if (status != PAUA_OK) {
        opened_free(o);
        return status;
    }
    *opened = o;
    return PAUA_OK;
}

paua_status column_file_column(struct column_file *file, uint32_t id,
                               const struct column_view **view, paua_error *err)
{
    uint32_t i = find(file, id);
    struct opened *o;
    paua_status status = PAUA_OK;

    if (i == file->directory.field_count) {
        *view = NULL;
        return PAUA_OK;
    }
    o = atomic_load_explicit(&file->columns[i], memory_order_acquire);
    if (o == NULL) {
        pthread_mutex_lock(&file->opening);
        o = atomic_load_explicit(&file->columns[i], memory_order_relaxed);
        if (o == NULL) {
            status = open_column(file, &file->directory.fields[i], &o, err);
            if (status == PAUA_OK)
                atomic_store_explicit(&file->columns[i], o, memory_order_release);
        }
        pthread_mutex_unlock(&file->opening);
    }
    if (status == PAUA_OK) *view = &o->view;
    return status;
}
