/* read_jsonl.c - JSON lines: {"key": ..., "vector": [...], "document": "..."} a row.
 *
 * Several vectors are given as "vectors": {"name": [...]}, fields as "fields": {"name": value}, or
 * as other members of the line. Documents of collections of bytes are base64. A line that breaks
 * any of this is refused alone: the next newline begins the next row. Cost: the line's JSON tree
 * lives until the next row, about 50 bytes a component. */
#include "reader.h"

#include <string.h>

#include "base64.h"
#include "util.h"
#include "vector.h"

/* A document of 64 MiB, every byte of it escaped as \u0000, and room for vectors. */
#define LINE_NBYTES_MAX ((size_t)6 * PAUA_DOCUMENT_NBYTES_MAX + ((size_t)64 << 20))

static bool take_field(struct reader_state *reader, size_t field, const json_t *array,
                       struct row *row, struct fault *fault)
{
    const paua_vector_field *about = &reader->schema->fields[field];
    struct fault why;

    if (!vector_from_json(array, about->dim, row->vectors[field], &why)) {
        fault_set(fault, "field \"%s\": %s", about->name, why.text);
        return false;
    }
    row->given |= 1u << field;
    return true;
}

static bool take_fields(struct reader_state *reader, const json_t *vectors, struct row *row,
                        struct fault *fault)
{
    size_t found = 0;

    if (!json_is_object(vectors)) {
        fault_set(fault, "\"vectors\" is no object, expected {\"field\": [...]}");
        return false;
    }
    for (size_t f = 0; f < reader->schema->field_count; f++) {
        const json_t *array = json_object_get(vectors, reader->schema->fields[f].name);
        if (array == NULL) continue;
        if (!take_field(reader, f, array, row, fault)) return false;
        found++;
    }
    if (found == json_object_size(vectors)) return true;
    fault_set(fault, "\"vectors\" names a field that the collection does not have");
    return false;
}

static bool take_document(struct reader_state *reader, const json_t *document, struct row *row,
                          struct fault *fault)
{
    size_t length = json_string_length(document);
    const char *text = json_string_value(document);
    size_t at = 0;
    uint8_t *bytes;

    if (!json_is_string(document)) {
        fault_set(fault, "\"document\" is no string");
        return false;
    }
    row->document = (paua_bytes){.data = text, .nbytes = length};
    if (reader->schema->document != PAUA_DOCUMENT_BYTES) return true;
    bytes = reader_scratch(reader, length + 1);
    if (!base64_decode(text, length, bytes, &row->document.nbytes, &at)) {
        fault_set(fault, "\"document\" is no base64 at its character %zu", at);
        return false;
    }
    row->document.data = bytes;
    return true;
}

static bool take_object(const json_t *fields, struct row *row, struct fault *fault)
{
    row->fields = fields;
    if (json_is_object(fields)) return true;
    fault_set(fault, "\"fields\" is no object, expected {\"name\": value}");
    return false;
}

static bool take_members(struct reader_state *reader, struct row *row, struct fault *fault)
{
    const char *name;
    json_t *value;

    json_object_foreach(reader->json, name, value)
    {
        bool ok = true;
        if (strcmp(name, "key") == 0)
            row->key = value;
        else if (strcmp(name, "vector") == 0)
            ok = take_field(reader, reader->field, value, row, fault);
        else if (strcmp(name, "vectors") == 0)
            ok = take_fields(reader, value, row, fault);
        else if (strcmp(name, "document") == 0)
            ok = json_is_null(value) || take_document(reader, value, row, fault);
        else if (strcmp(name, "fields") == 0)
            ok = take_object(value, row, fault);
        if (!ok) return false;
    }
    row->members = reader->json;
    return true;
}

static enum row_result jsonl_row(struct reader_state *reader, struct row *row, struct fault *fault)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
    const char *line;
    size_t nbytes;
    json_error_t error;
    enum line_result result = instream_line(&reader->in, LINE_NBYTES_MAX, &line, &nbytes, fault);

    if (result == LINE_END) return ROW_END;
    if (result == LINE_FAULT) return ROW_BROKEN;
    json_decref(reader->json);
    reader->json = json_loadb(line, nbytes, flags, &error);
    if (reader->json == NULL) {
        fault_set(fault, "no JSON, %s at character %d of the line", error.text, error.position);
        return ROW_BAD;
    }
    if (!json_is_object(reader->json)) {
        fault_set(fault, "the line is no object, expected {\"key\": ..., \"vector\": [...]}");
        return ROW_BAD;
    }
    return take_members(reader, row, fault) ? ROW_OK : ROW_BAD;
}

const struct file_format format_jsonl = {.name = "jsonl", .row = jsonl_row};
