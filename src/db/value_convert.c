/* value_convert.c - see value_convert.h. Everything passes through the public form of a value, so
 * that it obeys the rules that written values do. */
#include "db/value_convert.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define TEXT_NBYTES 64u
#define SHOWN_NBYTES 60

static bool is_text(uint32_t type)
{
    return type == PAUA_TYPE_STRING || type == PAUA_TYPE_BYTES || type == PAUA_TYPE_MIXED;
}

static void format_real(const paua_value *value, char text[TEXT_NBYTES])
{
    const bool single = value->type == PAUA_TYPE_FLOAT;
    const double number = value->as.f64;

    if (!isfinite(number)) {
        strcpy(text, isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
        return;
    }
    snprintf(text, TEXT_NBYTES, single ? "%.6g" : "%.15g", number);
    if (single ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number) return;
    snprintf(text, TEXT_NBYTES, single ? "%.9g" : "%.17g", number);
}

/* A number as text, in as many digits as it takes to read the same number back. */
static void format(const paua_value *value, char text[TEXT_NBYTES])
{
    switch (value->type) {
    case PAUA_TYPE_BOOL:
        snprintf(text, TEXT_NBYTES, "%s", value->as.boolean ? "true" : "false");
        break;
    case PAUA_TYPE_FLOAT:
    case PAUA_TYPE_DOUBLE:
        format_real(value, text);
        break;
    case PAUA_TYPE_TIMESTAMP:
        paua_timestamp_format(value->as.i64, text);
        break;
    case PAUA_TYPE_UINT8:
    case PAUA_TYPE_UINT16:
    case PAUA_TYPE_UINT32:
    case PAUA_TYPE_UINT64:
        snprintf(text, TEXT_NBYTES, "%" PRIu64, value->as.u64);
        break;
    default:
        snprintf(text, TEXT_NBYTES, "%" PRId64, value->as.i64);
    }
}

/* strtod() reports these as out of range, which only zero and infinity are. */
static bool is_subnormal(const paua_value *value)
{
    return value->type == PAUA_TYPE_DOUBLE && fpclassify(value->as.f64) == FP_SUBNORMAL;
}

/* Text as a number of type `to`, in its widest form; false if it is none. */
static bool parse(const char *text, uint32_t to, paua_value *value)
{
    char *end;

    errno = 0;
    if (to == PAUA_TYPE_BOOL) {
        value->type = PAUA_TYPE_BOOL;
        value->as.boolean = strcmp(text, "true") == 0;
        return value->as.boolean || strcmp(text, "false") == 0;
    }
    if (to == PAUA_TYPE_TIMESTAMP) {
        value->type = PAUA_TYPE_TIMESTAMP;
        return paua_timestamp_parse(text, strlen(text), &value->as.i64, NULL) == PAUA_OK;
    }
    if (text[0] == '\0' || text[0] == ' ') return false;
    if (to == PAUA_TYPE_FLOAT || to == PAUA_TYPE_DOUBLE) {
        value->type = PAUA_TYPE_DOUBLE;
        value->as.f64 = strtod(text, &end);
    } else if (to >= PAUA_TYPE_UINT8 && to <= PAUA_TYPE_UINT64) {
        value->type = PAUA_TYPE_UINT64;
        value->as.u64 = strtoull(text, &end, 10);
        if (text[0] == '-') return false;
    } else {
        value->type = PAUA_TYPE_INT64;
        value->as.i64 = strtoll(text, &end, 10);
    }
    return *end == '\0' && (errno == 0 || is_subnormal(value));
}

static paua_status refuse(const paua_value *value, uint32_t to, paua_error *err)
{
    char text[TEXT_NBYTES];

    if (value->type == PAUA_TYPE_STRING || value->type == PAUA_TYPE_BYTES) {
        int shown =
            value->as.bytes.nbytes < SHOWN_NBYTES ? (int)value->as.bytes.nbytes : SHOWN_NBYTES;

        return error_set(err, PAUA_EINVAL, "the value \"%.*s\" is no %s; change it first", shown,
                         (const char *)value->as.bytes.data, paua_type_name(to));
    }
    if (type_is_array(value->type))
        return error_set(err, PAUA_EINVAL, "an array does not become %s", paua_type_name(to));
    format(value, text);
    return error_set(err, PAUA_EINVAL, "the value %s is no %s; change it first", text,
                     paua_type_name(to));
}

/* Bytes given as text, with a NUL after them; NULL if they hold one, or when out of memory. */
static const char *as_text(struct writer *text, const paua_bytes *bytes)
{
    text->length = 0;
    writer_bytes(text, bytes->data, bytes->nbytes);
    writer_u8(text, 0);
    if (text->failed || strlen((const char *)text->bytes) != bytes->nbytes) return NULL;
    return (const char *)text->bytes;
}

paua_status value_convert(uint32_t from, uint32_t to, struct writer *text, struct writer *stored,
                          struct cell *cell, paua_error *err)
{
    paua_value value = value_of_cell(from, cell), made = value;
    paua_error ignored;
    char number[TEXT_NBYTES];
    const char *given;
    paua_status status;

    if (is_text(to) && type_is_number(from)) {
        format(&value, number);
        text->length = 0;
        writer_bytes(text, number, strlen(number));
        if (text->failed) return error_set_nomem(err);
        made = (paua_value){.type = PAUA_TYPE_STRING};
        made.as.bytes = (paua_bytes){text->bytes, text->length};
    } else if (is_text(from) && type_is_number(to)) {
        given = value.type == PAUA_TYPE_STRING ? as_text(text, &value.as.bytes) : NULL;
        if (text->failed) return error_set_nomem(err);
        if (given == NULL || !parse(given, to, &made)) return refuse(&value, to, err);
    } else if (to == PAUA_TYPE_BYTES && value.type == PAUA_TYPE_STRING) {
        made.type = PAUA_TYPE_BYTES;
    } else if (to == PAUA_TYPE_STRING && value.type == PAUA_TYPE_BYTES) {
        made.type = PAUA_TYPE_STRING;
    }
    stored->length = 0;
    status = value_cell(to, &made, stored, cell, &ignored);
    if (status == PAUA_ENOMEM) return error_set_nomem(err);
    return status == PAUA_OK ? PAUA_OK : refuse(&value, to, err);
}
