/* import_existing.c - tells rows that are already there from rows that would replace others.
 *
 * An insert says only that a key exists. Here the stored rows of one block are fetched and compared
 * with what the file gives: a vector is the same if it is what the given one is stored as (decoded
 * to, where no originals are kept), a document if its bytes are. What a row does not give is not
 * compared. */
#include <math.h>
#include <stdlib.h>
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

static bool is_whole(const paua_value *value)
{
    return value->type >= PAUA_TYPE_BOOL && value->type <= PAUA_TYPE_UINT64;
}

static bool is_number(const paua_value *value)
{
    return value->type >= PAUA_TYPE_BOOL && value->type <= PAUA_TYPE_TIMESTAMP;
}

/* A whole number as its sign and its size: nothing that 64 bits hold is rounded. */
static bool same_whole(const paua_value *given, const paua_value *stored)
{
    const paua_value *values[] = {given, stored};
    uint64_t bits[2];
    bool negative[2];

    for (size_t i = 0; i < 2; i++) {
        bool is_unsigned = values[i]->type >= PAUA_TYPE_UINT8;

        bits[i] = values[i]->type == PAUA_TYPE_BOOL ? values[i]->as.boolean
                  : is_unsigned                     ? values[i]->as.u64
                                                    : (uint64_t)values[i]->as.i64;
        negative[i] = values[i]->type != PAUA_TYPE_BOOL && !is_unsigned && values[i]->as.i64 < 0;
    }
    return bits[0] == bits[1] && negative[0] == negative[1];
}

static double as_double(const paua_value *value)
{
    if (value->type == PAUA_TYPE_BOOL) return value->as.boolean ? 1 : 0;
    if (value->type == PAUA_TYPE_FLOAT || value->type == PAUA_TYPE_DOUBLE) return value->as.f64;
    if (value->type >= PAUA_TYPE_UINT8 && value->type <= PAUA_TYPE_UINT64)
        return (double)value->as.u64;
    return (double)value->as.i64;
}

static bool same_number(const paua_value *given, const paua_value *stored)
{
    double x = as_double(given), y = as_double(stored);

    if (given->type == PAUA_TYPE_TIMESTAMP || stored->type == PAUA_TYPE_TIMESTAMP)
        return given->type == stored->type && given->as.i64 == stored->as.i64;
    if (is_whole(given) && is_whole(stored)) return same_whole(given, stored);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return stored->type == PAUA_TYPE_FLOAT ? (float)x == (float)y : x == y;
}

/* The given value may be of a wider type than the field's. */
static bool same_value(const paua_value *given, const paua_value *stored)
{
    if (is_number(given) && is_number(stored)) return same_number(given, stored);
    if ((given->type & stored->type & PAUA_TYPE_ARRAY) != 0) {
        bool same = given->count == stored->count;

        for (uint32_t i = 0; i < given->count && same; i++) {
            paua_value x = paua_value_item(given, i), y = paua_value_item(stored, i);

            same = same_value(&x, &y);
        }
        return same;
    }
    if (given->type != stored->type) return false;
    return given->type == PAUA_TYPE_NULL ||
           (given->as.bytes.nbytes == stored->as.bytes.nbytes &&
            (given->as.bytes.nbytes == 0 ||
             memcmp(given->as.bytes.data, stored->as.bytes.data, given->as.bytes.nbytes) == 0));
}

static bool same_values(const struct row_block *block, size_t row, const paua_record *record,
                        const paua_field *fields, size_t field_count)
{
    for (size_t c = 0; c < block->column_count; c++) {
        const paua_value *given = &block->columns[c].values[row];

        for (size_t f = 0; f < field_count && given->type != PAUA_TYPE_NONE; f++)
            if (strcmp(fields[f].name, block->columns[c].name) == 0 &&
                !same_value(given, &record->values[f]))
                return false;
    }
    return true;
}

static bool same_row(const struct row_block *block, size_t row, paua_cursor *cursor,
                     const paua_record *record)
{
    const struct document_span *span = &block->spans[row];
    size_t field_count;
    const paua_field *fields = paua_cursor_fields(cursor, &field_count);

    if (!record->found || !same_vectors(block, row, record)) return false;
    if (!same_values(block, row, record, fields, field_count)) return false;
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
        if (record != NULL && same_row(&import->block, i, cursor, record)) {
            import->already++;
            continue;
        }
        snprintf(text, sizeof text,
                 "%s: row %llu: its key exists with another vector, document or field (--upsert "
                 "replaces)",
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
