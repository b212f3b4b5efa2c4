/* reader.c - what the readers of all formats share. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"
#include "vector.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors in files are little-endian");

static const struct file_format *const formats[] = {&format_fvecs, &format_bvecs, &format_npy,
                                                    &format_jsonl, &format_csv};

const struct file_format *format_by_name(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    }
    return NULL;
}

const struct file_format *format_by_suffix(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot == NULL ? NULL : format_by_name(dot + 1);
}

static bool begin(struct reader_state *reader, struct fault *fault)
{
    struct fault why;

    reader->next_row = 0;
    reader->row_offset = reader->in.offset;
    if (reader->format->begin == NULL || reader->format->begin(reader, &why)) return true;
    fault_set(fault, "%s: %s", reader->in.name, why.text);
    return false;
}

bool reader_start(struct reader_state *reader, const struct file_format *format, const char *path,
                  const paua_schema *schema, size_t field, struct fault *fault)
{
    struct reader_state draft = {.format = format, .schema = schema, .field = field};

    if (!instream_open(&draft.in, path, fault)) return false;
    draft.start = draft.in.offset;
    if (!begin(&draft, fault)) {
        reader_end(&draft);
        return false;
    }
    *reader = draft;
    return true;
}

void reader_end(struct reader_state *reader)
{
    instream_close(&reader->in);
    free(reader->scratch);
    json_decref(reader->json);
    csv_end(reader);
    *reader = (struct reader_state){0};
}

bool reader_again(struct reader_state *reader, struct fault *fault)
{
    if (!instream_seek(&reader->in, reader->start, fault)) return false;
    return begin(reader, fault);
}

bool reader_file_dim(const struct file_format *format, const char *path, uint32_t *dim,
                     struct fault *fault)
{
    struct reader_state reader = {.format = format};
    struct fault why;
    uint32_t found = 0;
    bool ok;

    if (format->dim == NULL) {
        fault_set(fault, "%s: %s files do not say their dimension, give fvecs, bvecs or npy", path,
                  format->name);
        return false;
    }
    if (!instream_open(&reader.in, path, fault)) return false;
    ok = format->dim(&reader, &found, &why);
    if (!ok) {
        fault_set(fault, "%s: %s", path, why.text);
    } else if (found < 1 || found > PAUA_DIM_MAX) {
        fault_set(fault, "%s: the dimension is %u, expected 1 to %u (is it a %s file?)", path,
                  found, PAUA_DIM_MAX, format->name);
        ok = false;
    }
    reader_end(&reader);
    if (ok) *dim = found;
    return ok;
}

uint8_t *reader_scratch(struct reader_state *reader, size_t nbytes)
{
    if (nbytes > reader->scratch_nbytes) {
        reader->scratch = cmd_grow(reader->scratch, nbytes, 1);
        reader->scratch_nbytes = nbytes;
    }
    return reader->scratch;
}

uint32_t reader_dim(const struct reader_state *reader)
{
    return reader->schema->fields[reader->field].dim;
}

static enum row_result check_row(const struct reader_state *reader, const struct row *row,
                                 struct fault *why)
{
    for (size_t f = 0; f < reader->schema->field_count; f++) {
        if ((row->given & 1u << f) == 0) continue;
        if (!vector_storable(row->vectors[f], &reader->schema->fields[f], why)) return ROW_BAD;
    }
    return ROW_OK;
}

enum row_result reader_row(struct reader_state *reader, struct row *row, struct fault *fault)
{
    struct fault why;
    enum row_result result;
    uint64_t number = reader->next_row;

    row->given = 0;
    row->key = NULL;
    row->document = (paua_bytes){0};
    row->members = row->fields = NULL;
    row->text_count = 0;
    reader->row_offset = reader->in.offset;
    result = reader->format->row(reader, row, &why);
    if (result == ROW_OK) result = check_row(reader, row, &why);
    if (result == ROW_BAD || result == ROW_BROKEN)
        fault_set(fault, "%s: row %llu at byte %llu: %s", reader->in.name,
                  (unsigned long long)number, (unsigned long long)reader->row_offset, why.text);
    if (result != ROW_END) reader->next_row++;
    return result;
}

enum row_result reader_exactly(struct reader_state *reader, void *bytes, size_t nbytes, bool end_ok,
                               struct fault *fault)
{
    size_t got = 0;

    if (!instream_read(&reader->in, bytes, nbytes, &got, fault)) return ROW_BROKEN;
    if (got == nbytes) return ROW_OK;
    if (got == 0 && end_ok) return ROW_END;
    fault_set(fault, "the file ends after %llu bytes, expected %zu more",
              (unsigned long long)reader->in.offset, nbytes - got);
    return ROW_BROKEN;
}

enum row_result reader_vecs_dim(struct reader_state *reader, size_t component_nbytes,
                                struct fault *fault)
{
    uint32_t expected = reader_dim(reader);
    size_t nbytes;
    int32_t dim = 0;
    enum row_result result = reader_exactly(reader, &dim, sizeof dim, true, fault);

    if (result != ROW_OK || (uint32_t)dim == expected) return result;
    if (dim < 1 || (uint32_t)dim > PAUA_DIM_MAX) {
        fault_set(fault, "the dimension is %d, expected %u (is it a %s file?)", dim, expected,
                  reader->format->name);
        return ROW_BROKEN;
    }
    nbytes = (size_t)dim * component_nbytes;
    result = reader_exactly(reader, reader_scratch(reader, nbytes), nbytes, false, fault);
    if (result != ROW_OK) return result;
    fault_set(fault, "the dimension is %d, expected %u", dim, expected);
    return ROW_BAD;
}

bool reader_vecs_file_dim(struct reader_state *reader, uint32_t *dim, struct fault *fault)
{
    int32_t first = 0;

    if (reader_exactly(reader, &first, sizeof first, false, fault) != ROW_OK) return false;
    *dim = (uint32_t)first;
    return true;
}
