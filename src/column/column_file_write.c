/* column_file_write.c - sealing columns into a file.
 *
 * Byte strings are read once for their dictionary (sealing.h). Then every column's rows are taken a
 * chunk at a time into an array of keys (codes of byte strings count as keys from 1 on), the chunk
 * gets the form that is smallest, and its arrays are appended; the bytes of an unrepeated chunk go
 * straight to the file. The dictionary follows in its order.
 *
 * Memory  A chunk's keys and codes, 1.5 MiB, and the dictionary. */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/column_record.h"
#include "column/chunk.h"
#include "column/sealing.h"

#define ALIGNMENT 8u

struct column_writer {
    struct file_writer *file;
    struct column_directory directory; /* fields owned here, each with its own chunks */
    size_t fields_room;
    uint64_t *keys;   /* of a chunk */
    uint8_t *present; /* a byte a row */
    uint8_t *out;     /* 8 bytes a row */
};

/* The chunk that is being written. */
struct taken {
    uint32_t rows, nulls;
    uint64_t least, most;
};

paua_status column_writer_open(struct dir *dir, uint64_t number, uint32_t collection,
                               uint64_t segment, uint32_t rows, struct column_writer **writer,
                               paua_error *err)
{
    struct file_header header = {.kind = FILE_COLUMNS, .number = number, .collection = collection};
    struct column_writer *w = mem_zalloc(1, sizeof *w);
    paua_status status;

    assert(rows > 0);
    if (w == NULL) return error_set_nomem(err);
    w->directory = (struct column_directory){.segment = segment, .rows = rows};
    w->keys = mem_alloc(COLUMN_CHUNK_ROWS * sizeof w->keys[0]);
    w->present = mem_alloc(COLUMN_CHUNK_ROWS);
    w->out = mem_alloc(COLUMN_CHUNK_ROWS * sizeof w->keys[0]);
    status = w->keys != NULL && w->present != NULL && w->out != NULL
                 ? file_writer_create(dir, &header, true, &w->file, err)
                 : error_set_nomem(err);
    if (status != PAUA_OK) {
        column_writer_close(w);
        return status;
    }
    *writer = w;
    return PAUA_OK;
}

void column_writer_close(struct column_writer *writer)
{
    if (writer == NULL) return;
    if (writer->file != NULL) file_writer_close(writer->file);
    for (uint32_t i = 0; i < writer->directory.field_count; i++)
        mem_free(writer->directory.fields[i].chunks);
    mem_free(writer->directory.fields);
    mem_free(writer->keys);
    mem_free(writer->present);
    mem_free(writer->out);
    mem_free(writer);
}

static paua_status append(struct column_writer *w, const void *bytes, size_t nbytes,
                          paua_error *err)
{
    paua_status status = nbytes > 0 ? file_writer_append(w->file, bytes, nbytes, err) : PAUA_OK;

    return status == PAUA_OK ? file_writer_align(w->file, ALIGNMENT, err) : status;
}

static uint32_t width_of(const struct taken *t, bool numbers)
{
    return width_for(numbers ? t->most - t->least : t->most - 1);
}

static void choose(const struct taken *t, bool numbers, struct column_chunk_record *chunk)
{
    uint64_t present = t->rows - t->nulls;
    uint32_t width = width_of(t, numbers), sparse_width = width != 0 ? width : CHUNK_KEY_BITS;
    uint64_t dense = (uint64_t)t->rows * sparse_width;

    *chunk = (struct column_chunk_record){
        .nulls = t->nulls, .base = 1, .least = t->least, .most = t->most};
    if (present == 0 || (t->nulls == 0 && t->least == t->most)) return;
    chunk->kind = width != 0 ? COLUMN_RECORD_PACKED : COLUMN_RECORD_RAW;
    chunk->width = width;
    if (4 * present * (16 + sparse_width) < 3 * dense) {
        chunk->kind = COLUMN_RECORD_SPARSE;
        chunk->width = sparse_width;
    }
    if (numbers && width != 0) chunk->base = t->least;
}

static paua_status put_places(struct column_writer *w, uint32_t rows, paua_error *err)
{
    uint32_t count = 0;

    for (uint32_t at = 0; at < rows; at++) {
        uint16_t place = (uint16_t)at;

        if (w->present[at]) memcpy(w->out + 2 * (size_t)count++, &place, 2);
    }
    return append(w, w->out, 2 * (size_t)count, err);
}

static paua_status put_presence(struct column_writer *w, uint32_t rows, paua_error *err)
{
    memset(w->out, 0, (rows + 7) / 8);
    for (uint32_t at = 0; at < rows; at++)
        packed_set(w->out, 1, at, w->present[at]);
    return append(w, w->out, (rows + 7) / 8, err);
}

/* Keys of absent rows are anything; they are stored as 0. */
static paua_status put_codes(struct column_writer *w, const struct column_chunk_record *chunk,
                             uint32_t rows, paua_error *err)
{
    uint32_t width = chunk->kind == COLUMN_RECORD_RAW ? CHUNK_KEY_BITS : chunk->width, count = 0;

    memset(w->out, 0, codes_nbytes(rows, width));
    for (uint32_t at = 0; at < rows; at++) {
        uint32_t to = chunk->kind == COLUMN_RECORD_SPARSE ? count : at;

        if (!w->present[at]) continue;
        if (width == CHUNK_KEY_BITS)
            memcpy(w->out + 8 * (size_t)to, &w->keys[at], 8);
        else
            packed_set(w->out, width, to, (uint32_t)(w->keys[at] - chunk->base + 1));
        count++;
    }
    return append(w, w->out,
                  codes_nbytes(chunk->kind == COLUMN_RECORD_SPARSE ? count : rows, width), err);
}

static paua_status put_chunk(struct column_writer *w, const struct taken *t, bool numbers,
                             struct column_chunk_record *chunk, paua_error *err)
{
    paua_status status;

    choose(t, numbers, chunk);
    if (chunk->kind == COLUMN_RECORD_CONSTANT) return PAUA_OK;
    status = put_codes(w, chunk, t->rows, err);
    if (status == PAUA_OK && chunk->kind == COLUMN_RECORD_SPARSE)
        status = put_places(w, t->rows, err);
    if (status == PAUA_OK && chunk->kind == COLUMN_RECORD_RAW && chunk->nulls > 0)
        status = put_presence(w, t->rows, err);
    return status;
}

static void take_key(struct column_writer *w, struct taken *t, const struct cell *cell,
                     uint64_t key)
{
    bool any = t->rows > t->nulls;

    w->present[t->rows] = cell->present;
    w->keys[t->rows++] = key;
    if (!cell->present) {
        t->nulls++;
        return;
    }
    if (!any || key < t->least) t->least = key;
    if (!any || key > t->most) t->most = key;
}

/* Takes a chunk's keys; values NULL: the column is one of numbers. */
static paua_status take_chunk(struct column_writer *w, const struct column_source *source,
                              const struct sealed_values *values, uint32_t first, uint32_t rows,
                              struct taken *t, paua_error *err)
{
    *t = (struct taken){.least = 1};
    for (uint32_t at = 0; at < rows; at++) {
        struct cell cell;
        paua_status status = source->next(source->arg, first + at, &cell, err);
        uint64_t key = cell.key;

        if (status != PAUA_OK) return status;
        if (values != NULL && cell.present) {
            key = dictionary_find(&values->dictionary, cell.data, cell.nbytes);
            if (key == 0)
                return error_set(err, PAUA_EIO, "values changed while they were being sealed");
            key = values->ranks[key - 1] + 1;
        }
        take_key(w, t, &cell, key);
    }
    return PAUA_OK;
}

/* Bytes first, as they come; ends are gathered in the keys, hashes in the codes. */
static paua_status put_unrepeated(struct column_writer *w, const struct column_source *source,
                                  uint32_t first, uint32_t rows, struct column_chunk_record *chunk,
                                  paua_error *err)
{
    uint8_t *ends = (uint8_t *)w->keys; /* narrower, if they are, behind what is still read */
    size_t width;
    paua_status status;

    *chunk = (struct column_chunk_record){
        .kind = COLUMN_RECORD_UNREPEATED, .base = 1, .most = UINT64_MAX};
    for (uint32_t at = 0; at < rows; at++) {
        struct cell cell;
        uint32_t hash = 0;

        status = source->next(source->arg, first + at, &cell, err);
        if (status == PAUA_OK && cell.present) {
            hash = value_hash(cell.data, cell.nbytes);
            chunk->nbytes += cell.nbytes;
            if (cell.nbytes > 0) status = file_writer_append(w->file, cell.data, cell.nbytes, err);
        }
        if (status != PAUA_OK) return status;
        chunk->nulls += !cell.present;
        w->keys[at] = chunk->nbytes;
        bytes_put(w->out + 4 * (size_t)at, hash, 4);
    }
    width = column_end_nbytes(chunk->nbytes);
    for (uint32_t at = 0; at < rows; at++)
        bytes_put(ends + width * at, w->keys[at], width);
    status = append(w, NULL, 0, err);
    if (status == PAUA_OK) status = append(w, ends, width * rows, err);
    if (status == PAUA_OK) status = append(w, w->out, 4 * (size_t)rows, err);
    return status;
}

static paua_status put_dictionary(struct column_writer *w, const struct sealed_values *values,
                                  struct column_field_record *field, paua_error *err)
{
    struct dictionary_view d = dictionary_look(&values->dictionary);
    paua_status status = PAUA_OK;
    const uint8_t *data;
    size_t nbytes, width;
    uint64_t end = 0;

    for (uint32_t i = 0; i < d.count; i++) {
        d.value(d.owner, i, &data, &nbytes);
        field->dictionary_nbytes += nbytes;
    }
    field->dictionary_count = d.count;
    width = column_end_nbytes(field->dictionary_nbytes);
    for (uint32_t i = 0; i < d.count && status == PAUA_OK; i++) {
        uint8_t stored[8];

        d.value(d.owner, values->order[i], &data, &nbytes);
        end += nbytes;
        bytes_put(stored, end, 8);
        status = file_writer_append(w->file, stored, width, err);
    }
    if (status == PAUA_OK) status = append(w, NULL, 0, err);
    for (uint32_t i = 0; i < d.count && status == PAUA_OK; i++) {
        d.value(d.owner, values->order[i], &data, &nbytes);
        if (nbytes > 0) status = file_writer_append(w->file, data, nbytes, err);
    }
    return status == PAUA_OK ? append(w, NULL, 0, err) : status;
}

static paua_status put_column(struct column_writer *w, struct column_field_record *field,
                              const struct column_source *source,
                              const struct sealed_values *values, paua_error *err)
{
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; i < column_directory_chunks(source->rows) && status == PAUA_OK; i++) {
        uint32_t first = i * COLUMN_CHUNK_ROWS, rows = column_chunk_rows(source->rows, i);
        struct taken taken;

        if (values != NULL && values->unrepeated[i]) {
            status = put_unrepeated(w, source, first, rows, &field->chunks[i], err);
            continue;
        }
        status = take_chunk(w, source, values, first, rows, &taken, err);
        if (status == PAUA_OK)
            status = put_chunk(w, &taken, values == NULL, &field->chunks[i], err);
    }
    if (status == PAUA_OK && values != NULL) status = put_dictionary(w, values, field, err);
    return status;
}

/* Room for one more field, with its chunks. */
static struct column_field_record *field_add(struct column_writer *w, uint32_t id, uint32_t type,
                                             const char *name)
{
    struct column_directory *d = &w->directory;
    struct column_field_record *field;
    void *fields = d->fields;

    assert(d->field_count == 0 || d->fields[d->field_count - 1].id < id);
    assert(strlen(name) <= COLUMN_RECORD_NAME_NBYTES_MAX && d->field_count < PAUA_FIELDS_MAX);
    if (mem_grow(&fields, &w->fields_room, (size_t)d->field_count + 1, sizeof *field) != 0)
        return NULL;
    d->fields = fields;
    field = &d->fields[d->field_count];
    *field = (struct column_field_record){
        .id = id, .type = type, .offset = file_writer_data_nbytes(w->file)};
    memcpy(field->name, name, strlen(name));
    field->chunks = mem_zalloc(column_directory_chunks(d->rows), sizeof field->chunks[0]);
    if (field->chunks == NULL) return NULL;
    d->field_count++;
    return field;
}

paua_status column_writer_field(struct column_writer *writer, uint32_t id, uint32_t type,
                                const char *name, column_source_fn next, void *arg, paua_error *err)
{
    struct column_source source = {.next = next, .arg = arg, .rows = writer->directory.rows};
    struct column_field_record *field = field_add(writer, id, type, name);
    struct sealed_values values;
    paua_status status;

    if (field == NULL) return error_set_nomem(err);
    if (type_is_number(type)) {
        status = put_column(writer, field, &source, NULL, err);
    } else {
        status = sealed_values_make(&values, &source, err);
        if (status != PAUA_OK) return status;
        status = put_column(writer, field, &source, &values, err);
        sealed_values_free(&values);
    }
    field->nbytes = file_writer_data_nbytes(writer->file) - field->offset;
    return status;
}

paua_status column_writer_seal(struct column_writer *writer, struct file_ref *ref, paua_error *err)
{
    uint64_t columns_nbytes = file_writer_data_nbytes(writer->file);
    struct file_footer footer = {.row_count = writer->directory.rows, .section_count = 2};
    struct writer w = {0};
    paua_status status = column_directory_encode(&writer->directory, &w);

    if (status != PAUA_OK) {
        writer_free(&w);
        return error_set_nomem(err);
    }
    footer.sections[0] = (struct section){.id = SECTION_COLUMNS, .nbytes = columns_nbytes};
    footer.sections[1] = (struct section){
        .id = SECTION_COLUMN_DIRECTORY, .offset = columns_nbytes, .nbytes = w.length};
    status = file_writer_append(writer->file, w.bytes, w.length, err);
    if (status == PAUA_OK) status = file_writer_seal(writer->file, &footer, ref, err);
    writer_free(&w);
    return status;
}
