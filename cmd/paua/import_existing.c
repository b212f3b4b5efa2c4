/* import_existing.c - tells rows that are already there from rows that would replace others.
 *
 * An insert says only that a key exists. Here the stored rows of one block are fetched and compared
 * with what the file gives: a vector is the same if it is what the given one is stored as (decoded
 * to, where no originals are kept), a document if its bytes are. What a row does not give is not
 * compared. */
#include <math.h>
#include <string.h>

#include "import.h"
#include "vector.h"

/* Rounding to the nearest half moves a number by at most half a unit in the last of 11 bits, or by
 * half the smallest half. */
static bool same_component(float given, float stored, bool half)
{
    float bound = fabsf(given) * 0x1p-11f;

    if (given == stored) return true;
    if (!half) return false;
    return fabsf(given - stored) <= (bound > 0x1p-25f ? bound : 0x1p-25f);
}

/* Shares of a vector's square by which decoding may miss it, with room: 8 bits a component miss by
 * some ten-thousandths, 4 by a hundredth, 2 by an eighth. */
static double miss_max(paua_precision precision)
{
    if (precision == PAUA_INT8) return 0x1p-6;
    return precision == PAUA_INT2 ? 0x1p-2 : 0x1p-4;
}

/* What comes back without originals was decoded from codes: near the given vector, seldom it, and
 * under cosine without its length. */
static bool near_vector(const float *given, const float *stored, const paua_vector_field *field)
{
    double dot = 0, given_square = 0, stored_square = 0, apart;

    for (uint32_t i = 0; i < field->dim; i++) {
        double x = (double)given[i], y = (double)stored[i];
        dot += x * y;
        given_square += x * x;
        stored_square += y * y;
    }
    if (given_square == 0 || stored_square == 0) return given_square == stored_square;
    if (field->metric == PAUA_COSINE)
        apart = 2 - 2 * dot / (sqrt(given_square) * sqrt(stored_square));
    else
        apart = (given_square + stored_square - 2 * dot) / given_square;
    return apart <= miss_max(field->precision);
}

static bool same_vector(const float *given, const float *stored, const paua_vector_field *field)
{
    bool half = vector_is_half(field);

    if (field->originals == PAUA_ORIGINALS_NONE) return near_vector(given, stored, field);
    for (uint32_t i = 0; i < field->dim; i++) {
        if (!same_component(given[i], stored[i], half)) return false;
    }
    return true;
}

static bool same_vectors(const struct row_block *block, size_t row, const paua_record *record)
{
    for (size_t f = 0; f < block->schema->field_count; f++) {
        const paua_vector_field *field = &block->schema->fields[f];
        const float *given = block->vectors[f] + row * field->dim;
        if ((block->given & 1u << f) == 0) continue;
        if (!same_vector(given, record->vectors[f], field)) return false;
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
