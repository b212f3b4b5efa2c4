/* write_jsonl.c - JSON lines, as import reads them.
 *
 * Vectors are printed by hand: a JSON tree of them would cost more than reading the rows. */
#include "writer.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base64.h"
#include "cli.h"
#include "keys.h"
#include "value.h"
#include "vector.h"

static const struct writer_format *const formats[] = {&writer_fvecs, &writer_npy, &writer_jsonl};

const struct writer_format *writer_by_name(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    }
    return NULL;
}

static void print_json(FILE *out, json_t *value)
{
    json_dumpf(value, out, JSON_ENCODE_ANY | JSON_COMPACT);
    json_decref(value);
}

static void print_vector(FILE *out, const float *vector, uint32_t dim)
{
    char text[FLOAT_TEXT_NBYTES];

    for (uint32_t i = 0; i < dim; i++) {
        size_t length = float_text(vector[i], text);
        fputc(i == 0 ? '[' : ',', out);
        fwrite(text, 1, length, out);
    }
    fputc(']', out);
}

static void print_vectors(const struct writer_state *writer, const paua_record *record)
{
    const paua_schema *schema = writer->schema;
    FILE *out = writer->out->stream;

    if (schema->field_count == 1 || writer->one_field) {
        fputs("\"vector\":", out);
        print_vector(out, record->vectors[writer->field], schema->fields[writer->field].dim);
        return;
    }
    fputs("\"vectors\":", out);
    for (size_t f = 0; f < schema->field_count; f++) {
        fputc(f == 0 ? '{' : ',', out);
        print_json(out, json_word(schema->fields[f].name));
        fputc(':', out);
        print_vector(out, record->vectors[f], schema->fields[f].dim);
    }
    fputc('}', out);
}

static void print_document(const struct writer_state *writer, const paua_bytes *document)
{
    FILE *out = writer->out->stream;
    char *text;

    if (writer->schema->document != PAUA_DOCUMENT_BYTES) {
        print_json(out, json_text(document->data, document->nbytes));
        return;
    }
    text = cmd_alloc(BASE64_NBYTES(document->nbytes), 1);
    base64_encode(document->data, document->nbytes, text);
    fprintf(out, "\"%.*s\"", (int)BASE64_NBYTES(document->nbytes), text);
    free(text);
}

static void print_fields(const struct writer_state *writer, const paua_record *record,
                         const char *separator)
{
    FILE *out = writer->out->stream;
    bool any = false;

    for (size_t f = 0; f < writer->field_count && record->values != NULL; f++) {
        if (record->values[f].type == PAUA_TYPE_NULL) continue;
        if (any)
            fputc(',', out);
        else
            fprintf(out, "%s\"fields\":{", separator);
        print_json(out, json_word(writer->fields[f].name));
        fputc(':', out);
        value_print_json(out, &record->values[f]);
        any = true;
    }
    if (any) fputc('}', out);
}

static void jsonl_row(struct writer_state *writer, const paua_record *record)
{
    FILE *out = writer->out->stream;
    const char *separator = "";

    fputc('{', out);
    if (writer->schema->key_kind != PAUA_KEY_VECTOR) {
        fputs("\"key\":", out);
        print_json(out, key_json(writer->schema, &record->key));
        separator = ",";
    }
    if (!writer->no_vector) {
        fputs(separator, out);
        print_vectors(writer, record);
        separator = ",";
    }
    if (record->document.data != NULL) {
        fprintf(out, "%s\"document\":", separator);
        print_document(writer, &record->document);
        separator = ",";
    }
    print_fields(writer, record, separator);
    fputs("}\n", out);
}

const struct writer_format writer_jsonl = {.name = "jsonl", .row = jsonl_row};
