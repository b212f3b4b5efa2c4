/* source.c - the rows of an import (see source.h). */
#include "source.h"

#include <string.h>

#include "text.h"
#include "util.h"

struct line {
    const char *text;
    size_t nbytes;
};

static enum row_result next_line(struct instream *in, size_t max, uint64_t ordinal,
                                 struct line *line, struct fault *fault)
{
    enum line_result result = instream_line(in, max, &line->text, &line->nbytes, fault);

    if (result == LINE_OK) return ROW_OK;
    if (result == LINE_END)
        fault_set(fault, "%s: it has %llu lines, expected one a row", in->name,
                  (unsigned long long)ordinal);
    return ROW_BROKEN;
}

static bool add_json_key(struct key_list *keys, const json_t *key, struct fault *fault)
{
    if (json_is_string(key))
        return key_list_add(keys, json_string_value(key), json_string_length(key), fault);
    if (keys->kind == PAUA_KEY_U64 && json_is_integer(key) && json_integer_value(key) >= 0) {
        key_list_add_u64(keys, (uint64_t)json_integer_value(key));
        return true;
    }
    fault_set(fault, "\"key\" is not a %s",
              keys->kind == PAUA_KEY_U64 ? "whole number from 0 to 2^64-1" : "string");
    return false;
}

static bool add_key(struct source *source, struct row_block *block, const struct row *row,
                    const struct line *line, struct fault *fault)
{
    struct key_list *keys = &block->keys;

    if (source->schema->key_kind == PAUA_KEY_VECTOR) return true;
    if (source->has_keys) return key_list_add(keys, line->text, line->nbytes, fault);
    if (row->key != NULL) return add_json_key(keys, row->key, fault);
    if (source->schema->key_kind == PAUA_KEY_STRING) {
        fault_set(fault, "the row has no \"key\", expected a string");
        return false;
    }
    key_list_add_u64(keys, source->first_key + source->ordinal);
    return true;
}

static bool check_document(const struct source *source, const paua_bytes *document,
                           struct fault *fault)
{
    size_t at = 0;

    if (document->data == NULL) return true;
    if (source->schema->document == PAUA_DOCUMENT_NONE) {
        fault_set(fault, "the row has a document, but the collection keeps none");
        return false;
    }
    if (document->nbytes > PAUA_DOCUMENT_NBYTES_MAX) {
        fault_set(fault, "the document has %zu bytes, expected at most %u", document->nbytes,
                  PAUA_DOCUMENT_NBYTES_MAX);
        return false;
    }
    if (source->schema->document == PAUA_DOCUMENT_BYTES) return true;
    if (text_valid(document->data, document->nbytes, &at)) return true;
    fault_set(fault, "the document is no UTF-8 at its byte %zu (use --document bytes collections)",
              at);
    return false;
}

/* All rows of a file give the same fields, since a batch gives a field for all its rows or none. */
static bool check_given(struct source *source, const struct row *row, struct fault *fault)
{
    if (!source->given_known) source->given = row->given;
    source->given_known = true;
    if (row->given == 0 && !source->upsert) {
        fault_set(fault, "the row has no vector");
        return false;
    }
    if (row->given == source->given) return true;
    fault_set(fault, "the row gives other vector fields than the file's first row");
    return false;
}

/* One field of a row, whose value must suit it. */
static bool take_value(struct source *source, struct row_block *block, const char *name,
                       const json_t *json, struct fault *fault)
{
    struct field_entry *entry = field_table_take(&source->fields, name, fault);
    uint32_t type;
    struct fault why;
    paua_value value;

    if (entry == NULL) return false;
    type = entry->made ? entry->type : 0;
    if (json_is_array(json) && json_array_size(json) == 0) {
        /* It does not say of what. */
        type = entry->type;
        entry->empty_array = true;
        if (source->fields.may_loosen && !entry->made) return true;
    }
    /* NaN and the infinities are strings, and say nothing of themselves. */
    if (!entry->made && json_is_string(json) &&
        (entry->type == PAUA_TYPE_INT64 || entry->type == PAUA_TYPE_DOUBLE) &&
        value_from_json(&block->room, PAUA_TYPE_DOUBLE, json, &value, &why))
        type = PAUA_TYPE_DOUBLE;
    if (value_from_json(&block->room, type, json, &value, &why) &&
        value_fits(entry->made ? entry->type : value.type, &value, &why) &&
        field_entry_widen(entry, &value, &why)) {
        /* null of a field that no row has given a value: there is no such field yet. */
        if (entry->made || entry->type != 0) *block_value(block, entry->name) = value;
        return true;
    }
    fault_set(fault, "field \"%s\": %s", name, why.text);
    return false;
}

/* The same from text. Quotes make a string of what looks like a number. */
static bool take_text(struct source *source, struct row_block *block, const struct row_text *text,
                      struct fault *fault)
{
    struct field_entry *entry = field_table_take(&source->fields, text->name, fault);
    uint32_t type;
    struct fault why;
    paua_value value;

    if (entry == NULL) return false;
    type = entry->made ? entry->type : text->quoted ? (uint32_t)PAUA_TYPE_STRING : 0;
    if (value_from_text(&block->room, type, text->text, text->nbytes, &value, &why) &&
        value_fits(entry->made ? entry->type : value.type, &value, &why) &&
        field_table_widen_text(&source->fields, entry, &value, &why)) {
        *block_value(block, entry->name) = value;
        return true;
    }
    fault_set(fault, "field \"%s\": %s", text->name, why.text);
    return false;
}

static bool is_member_of_rows(const char *name)
{
    static const char *const known[] = {"key", "vector", "vectors", "document", "fields"};

    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strcmp(name, known[i]) == 0) return true;
    return false;
}

static bool take_fields(struct source *source, struct row_block *block, const struct row *row,
                        struct fault *fault)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)row->members, name, value)
    {
        if (!is_member_of_rows(name) && !take_value(source, block, name, value, fault))
            return false;
    }
    json_object_foreach((json_t *)row->fields, name, value)
    {
        if (!take_value(source, block, name, value, fault)) return false;
    }
    for (size_t i = 0; i < row->text_count; i++)
        if (!take_text(source, block, &row->texts[i], fault)) return false;
    return true;
}

static enum row_result bad_row(const struct source *source, const struct fault *why,
                               struct fault *fault)
{
    fault_set(fault, "%s: row %llu at byte %llu: %s", source->reader.in.name,
              (unsigned long long)source->reader.next_row - 1,
              (unsigned long long)source->reader.row_offset, why->text);
    return ROW_BAD;
}

enum row_result source_row(struct source *source, struct row_block *block, struct fault *fault)
{
    struct row row;
    struct line key = {0}, document = {0};
    struct fault why, line_fault;
    enum row_result lines = ROW_OK;
    enum row_result result;

    for (size_t f = 0; f < source->schema->field_count; f++)
        row.vectors[f] = block_slot(block, f);
    result = reader_row(&source->reader, &row, fault);
    if (result == ROW_END || result == ROW_BROKEN) return result;
    if (source->has_keys)
        lines = next_line(&source->keys, KEY_LINE_NBYTES_MAX, source->ordinal, &key, &line_fault);
    if (lines == ROW_OK && source->has_documents)
        lines = next_line(&source->documents, (size_t)PAUA_DOCUMENT_NBYTES_MAX, source->ordinal,
                          &document, &line_fault);
    if (lines != ROW_OK) {
        *fault = line_fault;
        return lines;
    }
    if (source->has_documents) {
        /* An empty line is no document, so that exported lines read back as they were. */
        row.document = (paua_bytes){.data = document.nbytes > 0 ? document.text : NULL,
                                    .nbytes = document.nbytes};
    }
    if (result == ROW_OK) {
        if (!check_given(source, &row, &why) || !check_document(source, &row.document, &why) ||
            !take_fields(source, block, &row, &why) || !add_key(source, block, &row, &key, &why)) {
            block_forget_values(block);
            result = bad_row(source, &why, fault);
        } else {
            block_take(block, source->ordinal, row.given, row.document);
        }
    }
    source->ordinal++;
    return result;
}

bool source_seekable(const struct source *source)
{
    if (source->has_keys && !source->keys.seekable) return false;
    if (source->has_documents && !source->documents.seekable) return false;
    return source->reader.in.seekable;
}

struct source_mark source_mark(const struct source *source)
{
    return (struct source_mark){.ordinal = source->ordinal,
                                .keys_offset = source->keys.offset,
                                .documents_offset = source->documents.offset};
}

bool source_return(struct source *source, struct source_mark mark, struct fault *fault)
{
    if (!reader_again(&source->reader, fault)) return false;
    if (source->has_keys && !instream_seek(&source->keys, mark.keys_offset, fault)) return false;
    if (source->has_documents && !instream_seek(&source->documents, mark.documents_offset, fault))
        return false;
    source->ordinal = mark.ordinal;
    return true;
}

static bool line_end(struct instream *in, uint64_t ordinal, struct fault *fault)
{
    const char *text;
    size_t nbytes;
    uint64_t at = in->offset;
    enum line_result result =
        instream_line(in, (size_t)PAUA_DOCUMENT_NBYTES_MAX, &text, &nbytes, fault);

    if (result == LINE_OK)
        fault_set(fault, "%s: line %llu at byte %llu: the vectors end after %llu rows", in->name,
                  (unsigned long long)ordinal + 1, (unsigned long long)at,
                  (unsigned long long)ordinal);
    return result == LINE_END;
}

bool source_lines_end(struct source *source, struct fault *fault)
{
    if (source->has_keys && !line_end(&source->keys, source->ordinal, fault)) return false;
    return !source->has_documents || line_end(&source->documents, source->ordinal, fault);
}
