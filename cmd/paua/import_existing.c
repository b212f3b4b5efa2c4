/* import_existing.c - tells rows that are already there from rows that would replace others.
 *
 * An insert says only that a key exists. Here the stored rows of one block are fetched and compared
 * with what the file gives: a vector is the same if it is what the given one is stored as, a
 * document if its bytes are. What a row does not give is not compared. */
#include <math.h>
#include <string.h>

#include "import.h"

/* Rounding to the nearest half moves a number by at most half a unit in the last of 11 bits, or by
 * half the smallest half. */
static bool same_component(float given, float stored, paua_precision precision)
{
    float bound = fabsf(given) * 0x1p-11f;

    if (given == stored) return true;
    if (precision != PAUA_FP16) return false;
    return fabsf(given - stored) <= (bound > 0x1p-25f ? bound : 0x1p-25f);
}

static bool same_vectors(const struct row_block *block, size_t row, const paua_record *record)
{
    for (size_t f = 0; f < block->schema->field_count; f++) {
        const paua_vector_field *field = &block->schema->fields[f];
        const float *given = block->vectors[f] + row * field->dim;
        if ((block->given & 1u << f) == 0) continue;
        for (uint32_t i = 0; i < field->dim; i++) {
            if (!same_component(given[i], record->vectors[f][i], field->precision)) return false;
        }
    }
    return true;
}

static bool same_row(const struct row_block *block, size_t row, const paua_record *record)
{
    const struct document_span *span = &block->spans[row];

    if (!record->found || !same_vectors(block, row, record)) return false;
    if (!span->present) return true;
    if (record->document.data == NULL || record->document.nbytes != span->nbytes) return false;
    return span->nbytes == 0 ||
           memcmp(record->document.data, block->bytes + span->at, span->nbytes) == 0;
}

static void add_key_of(struct key_list *list, const struct row_block *block, size_t row)
{
    if (list->kind == PAUA_KEY_VECTOR)
        key_list_add_vector(list, block->vectors[0] + row * list->dim);
    else
        key_list_add_from(list, &block->keys, row);
}

static int compare_rows(struct import *import, paua_cursor *cursor)
{
    char text[512];
    int rc = EXIT_OK;

    for (size_t i = 0; i < import->block.count && rc == EXIT_OK; i++) {
        const paua_record *record;
        paua_error err;
        if (import->statuses[i] != PAUA_EEXISTS) continue;
        if (paua_cursor_next(cursor, &record, &err) != PAUA_OK) return fail_with(&err);
        if (record != NULL && same_row(&import->block, i, record)) {
            import->already++;
            continue;
        }
        snprintf(text, sizeof text,
                 "%s: row %llu: its key exists with another vector or document (--upsert replaces)",
                 import->source.reader.in.name, (unsigned long long)import->block.ordinals[i]);
        rc = import_refuse(import, text);
    }
    return rc;
}

int import_compare_existing(struct import *import)
{
    struct key_list list;
    paua_keys keys;
    paua_cursor *cursor;
    paua_read_opts opts = {.size = sizeof opts, .no_document = !import->block.any_document};
    paua_error err;
    int rc;

    key_list_begin(&list, import->session->schema);
    for (size_t i = 0; i < import->block.count; i++) {
        if (import->statuses[i] == PAUA_EEXISTS) add_key_of(&list, &import->block, i);
    }
    keys = key_list_view(&list, 0, list.count);
    if (paua_fetch(import->session->collection, &keys, &opts, &cursor, &err) == PAUA_OK) {
        rc = compare_rows(import, cursor);
        paua_cursor_close(cursor);
    } else {
        rc = fail_with(&err);
    }
    key_list_free(&list);
    return rc;
}
