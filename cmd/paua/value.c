/* value.c - values of fields as JSON and as text (see value.h). */
#include "value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "cli.h"
#include "vector.h"

#define NUMBER_NBYTES 48

void *value_room_alloc(struct value_room *room, size_t nbytes)
{
    if (room->count == room->capacity) {
        room->capacity = 2 * room->capacity + 64;
        room->blocks = cmd_grow(room->blocks, room->capacity, sizeof *room->blocks);
    }
    room->nbytes += nbytes;
    return room->blocks[room->count++] = cmd_alloc(nbytes + 1, 1);
}

void value_room_reset(struct value_room *room)
{
    for (size_t i = 0; i < room->count; i++)
        free(room->blocks[i]);
    room->count = room->nbytes = 0;
}

void value_room_free(struct value_room *room)
{
    value_room_reset(room);
    free(room->blocks);
    *room = (struct value_room){0};
}

static bool is_unsigned(uint32_t type)
{
    return type >= PAUA_TYPE_UINT8 && type <= PAUA_TYPE_UINT64;
}

static bool is_float(uint32_t type) { return type == PAUA_TYPE_FLOAT || type == PAUA_TYPE_DOUBLE; }

static const char *float_word(double value)
{
    if (isnan(value)) return "NaN";
    return value > 0 ? "Infinity" : "-Infinity";
}

/* The shortest text that reads back as the same float, or double. */
static void float_digits(const paua_value *value, char out[NUMBER_NBYTES])
{
    if (!isfinite(value->as.f64)) {
        strcpy(out, float_word(value->as.f64));
    } else if (value->type == PAUA_TYPE_FLOAT) {
        float_text((float)value->as.f64, out);
    } else {
        snprintf(out, NUMBER_NBYTES, "%.15g", value->as.f64);
        if (strtod(out, NULL) != value->as.f64)
            snprintf(out, NUMBER_NBYTES, "%.17g", value->as.f64);
    }
}

static json_t *bytes_json(const paua_bytes *bytes)
{
    char *text = cmd_alloc(BASE64_NBYTES(bytes->nbytes) + 1, 1);
    json_t *object;

    base64_encode(bytes->data, bytes->nbytes, text);
    object =
        json_pack("{s:o}", "base64", json_made(json_stringn(text, BASE64_NBYTES(bytes->nbytes))));
    free(text);
    return object;
}

static json_t *array_json(const paua_value *value)
{
    json_t *array = json_made(json_array());

    for (uint32_t i = 0; i < value->count; i++) {
        paua_value item = paua_value_item(value, i);

        json_array_append_new(array, value_json(&item));
    }
    return array;
}

json_t *value_json(const paua_value *value)
{
    char text[NUMBER_NBYTES];

    if ((value->type & PAUA_TYPE_ARRAY) != 0) return array_json(value);
    if (is_unsigned(value->type)) return json_u64(value->as.u64);
    if (is_float(value->type)) {
        float_digits(value, text);
        return isfinite(value->as.f64) ? json_made(json_real(strtod(text, NULL))) : json_word(text);
    }
    switch (value->type) {
    case PAUA_TYPE_NONE:
    case PAUA_TYPE_NULL:
        return json_null();
    case PAUA_TYPE_BOOL:
        return json_boolean(value->as.boolean);
    case PAUA_TYPE_STRING:
        return json_text(value->as.bytes.data, value->as.bytes.nbytes);
    case PAUA_TYPE_BYTES:
        return json_made(bytes_json(&value->as.bytes));
    case PAUA_TYPE_TIMESTAMP:
        paua_timestamp_format(value->as.i64, text);
        return json_word(text);
    default:
        return json_made(json_integer(value->as.i64));
    }
}

void value_print_json(FILE *out, const paua_value *value)
{
    char text[NUMBER_NBYTES];
    json_t *json;

    if ((value->type & PAUA_TYPE_ARRAY) != 0) {
        fputc('[', out);
        for (uint32_t i = 0; i < value->count; i++) {
            paua_value item = paua_value_item(value, i);

            if (i > 0) fputc(',', out);
            value_print_json(out, &item);
        }
        fputc(']', out);
    } else if (is_float(value->type) && isfinite(value->as.f64)) {
        float_digits(value, text);
        /* Without a point it would read back as a whole number. */
        fprintf(out, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
    } else {
        json = value_json(value);
        json_dumpf(json, out, JSON_ENCODE_ANY | JSON_COMPACT);
        json_decref(json);
    }
}

static char *hex_text(const paua_bytes *bytes, size_t *nbytes)
{
    const uint8_t *data = bytes->data;
    char *text = cmd_alloc(2 * bytes->nbytes + 4, 1);

    text[0] = 'x';
    text[1] = '\'';
    for (size_t i = 0; i < bytes->nbytes; i++)
        sprintf(text + 2 + 2 * i, "%02x", data[i]);
    *nbytes = 2 * bytes->nbytes + 3;
    text[*nbytes - 1] = '\'';
    return text;
}

static char *json_of(const paua_value *value, size_t *nbytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, nbytes);

    if (out == NULL) exit(fail("out of memory, in this process, print fewer fields"));
    value_print_json(out, value);
    if (fclose(out) != 0) exit(fail("out of memory, in this process, print fewer fields"));
    return text;
}

char *value_text(const paua_value *value, size_t *nbytes)
{
    char number[NUMBER_NBYTES], *text;

    if (value->type == PAUA_TYPE_STRING) {
        text = cmd_alloc(value->as.bytes.nbytes + 1, 1);
        memcpy(text, value->as.bytes.data, value->as.bytes.nbytes);
        *nbytes = value->as.bytes.nbytes;
        return text;
    }
    if (value->type == PAUA_TYPE_BYTES) return hex_text(&value->as.bytes, nbytes);
    if (value->type == PAUA_TYPE_TIMESTAMP) {
        paua_timestamp_format(value->as.i64, number);
        text = cmd_strdup(number);
    } else if (is_float(value->type)) {
        float_digits(value, number);
        text = cmd_strdup(number);
    } else if (is_unsigned(value->type)) {
        text = cmd_format("%llu", (unsigned long long)value->as.u64);
    } else {
        return json_of(value, nbytes);
    }
    *nbytes = strlen(text);
    return text;
}

/* ---- from JSON ---- */

static bool refuse(struct fault *fault, uint32_t type, const char *what)
{
    fault_set(fault, "expected %s, not %s", paua_type_name(type), what);
    return false;
}

static void take_string(struct value_room *room, const char *text, size_t nbytes, paua_value *value)
{
    void *copy = value_room_alloc(room, nbytes);

    memcpy(copy, text, nbytes);
    *value = (paua_value){.type = PAUA_TYPE_STRING};
    value->as.bytes = (paua_bytes){copy, nbytes};
}

/* The three floats that are no numbers in JSON. */
static bool from_word(const char *text, size_t nbytes, paua_value *value)
{
    static const double numbers[] = {NAN, INFINITY, -INFINITY};

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        const char *word = float_word(numbers[i]);

        if (strlen(word) != nbytes || memcmp(word, text, nbytes) != 0) continue;
        *value = (paua_value){.type = PAUA_TYPE_DOUBLE};
        value->as.f64 = numbers[i];
        return true;
    }
    return false;
}

/* A string as a value of a type that JSON has no form of its own for. */
static bool from_string(struct value_room *room, uint32_t type, const char *text, size_t nbytes,
                        paua_value *value, struct fault *fault)
{
    paua_error err;

    if (type == PAUA_TYPE_TIMESTAMP) {
        *value = (paua_value){.type = PAUA_TYPE_TIMESTAMP};
        if (paua_timestamp_parse(text, nbytes, &value->as.i64, &err) == PAUA_OK) return true;
        fault_set(fault, "%s", err.message);
        return false;
    }
    if (is_unsigned(type) && parse_u64(text, nbytes, &value->as.u64)) {
        value->type = PAUA_TYPE_UINT64;
        return true;
    }
    if (is_float(type) && from_word(text, nbytes, value)) return true;
    if (type != 0 && type != PAUA_TYPE_STRING && type != PAUA_TYPE_MIXED)
        return refuse(fault, type, "a string");
    take_string(room, text, nbytes, value);
    return true;
}

static bool from_base64(struct value_room *room, const json_t *object, paua_value *value,
                        struct fault *fault)
{
    const json_t *encoded = json_object_get(object, "base64");
    size_t length = json_string_length(encoded), nbytes, at;
    uint8_t *bytes;

    if (!json_is_string(encoded) || json_object_size(object) != 1) {
        fault_set(fault, "an object is no value, expected {\"base64\": \"...\"} for bytes");
        return false;
    }
    bytes = value_room_alloc(room, length);
    if (!base64_decode(json_string_value(encoded), length, bytes, &nbytes, &at)) {
        fault_set(fault, "no base64 at its character %zu", at);
        return false;
    }
    *value = (paua_value){.type = PAUA_TYPE_BYTES};
    value->as.bytes = (paua_bytes){bytes, nbytes};
    return true;
}

/* Whether element i goes with those before it. One fraction makes fractions of all numbers. */
static bool same_type(paua_value *items, size_t i, uint32_t *type)
{
    const uint32_t whole = PAUA_TYPE_INT64, fraction = PAUA_TYPE_DOUBLE;

    if (items[i].type == *type) return true;
    if ((*type != whole && *type != fraction) ||
        (items[i].type != whole && items[i].type != fraction))
        return false;
    *type = fraction;
    for (size_t k = 0; k <= i; k++) {
        if (items[k].type == fraction) continue;
        items[k].type = PAUA_TYPE_DOUBLE;
        items[k].as.f64 = (double)items[k].as.i64;
    }
    return true;
}

/* Elements of an array that is to become a field's: of its type, or of what the first one is. */
static bool from_array(struct value_room *room, uint32_t type, const json_t *json,
                       paua_value *value, struct fault *fault)
{
    size_t count = json_array_size(json);
    bool known = type != 0;
    uint32_t element = type & ~(uint32_t)PAUA_TYPE_ARRAY;
    paua_value *items = value_room_alloc(room, (count + 1) * sizeof *items);
    struct fault why;

    if (type != 0 && (type & PAUA_TYPE_ARRAY) == 0) return refuse(fault, type, "an array");
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(json, i);

        if (json_is_array(item) || json_is_null(item)) {
            fault_set(fault, "element %zu: an array holds neither arrays nor null", i);
            return false;
        }
        if (!value_from_json(room, known ? element : 0, item, &items[i], &why)) {
            fault_set(fault, "element %zu: %s", i, why.text);
            return false;
        }
        if (element == 0) element = items[i].type;
        if (!known && !same_type(items, i, &element)) {
            fault_set(fault, "element %zu is of type %s, those before it of type %s", i,
                      paua_type_name(items[i].type), paua_type_name(element));
            return false;
        }
    }
    if (element == 0) {
        fault_set(fault, "an empty array has no type, declare the field first");
        return false;
    }
    *value = (paua_value){.type = (uint16_t)(PAUA_TYPE_ARRAY | element), .count = (uint32_t)count};
    value->as.items = items;
    return true;
}

bool value_from_json(struct value_room *room, uint32_t type, const json_t *json, paua_value *value,
                     struct fault *fault)
{
    *value = (paua_value){.type = PAUA_TYPE_NULL};
    switch (json_typeof(json)) {
    case JSON_NULL:
        return true;
    case JSON_ARRAY:
        return from_array(room, type, json, value, fault);
    case JSON_OBJECT:
        return from_base64(room, json, value, fault);
    case JSON_STRING:
        return from_string(room, type, json_string_value(json), json_string_length(json), value,
                           fault);
    case JSON_TRUE:
    case JSON_FALSE:
        *value = (paua_value){.type = PAUA_TYPE_BOOL};
        value->as.boolean = json_is_true(json);
        return true;
    case JSON_INTEGER:
        *value = (paua_value){.type = PAUA_TYPE_INT64};
        value->as.i64 = json_integer_value(json);
        return true;
    case JSON_REAL:
        *value = (paua_value){.type = PAUA_TYPE_DOUBLE};
        value->as.f64 = json_real_value(json);
        return true;
    }
    return false;
}

/* ---- from text ---- */

static bool whole(const char *text, int64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoll(text, &end, 10);
    return *text != 0 && *text != ' ' && *end == 0 && errno == 0;
}

static bool fraction(const char *text, double *number)
{
    char *end;

    *number = strtod(text, &end);
    return *text != 0 && *text != ' ' && *end == 0;
}

/* Whether text of unknown type looks like a number: as one is written, not a code of digits (007,
 * +49) or what only a compiler takes for one. */
static bool looks_numeric(const char *text)
{
    const char *digits = text[0] == '-' ? text + 1 : text;

    if (strspn(text, "+-.0123456789eE") != strlen(text) || text[0] == '+') return false;
    return digits[0] != '0' || digits[1] == 0 || strchr(".eE", digits[1]) != NULL;
}

static bool inferred_from_text(const char *text, size_t nbytes, paua_value *value)
{
    const bool yes = strcmp(text, "true") == 0;

    *value = (paua_value){.type = PAUA_TYPE_NULL};
    if (yes || strcmp(text, "false") == 0) {
        value->type = PAUA_TYPE_BOOL;
        value->as.boolean = yes;
    } else if (looks_numeric(text) && whole(text, &value->as.i64)) {
        value->type = PAUA_TYPE_INT64;
    } else if (looks_numeric(text) && strpbrk(text, ".eE") != NULL &&
               fraction(text, &value->as.f64) && isfinite(value->as.f64)) {
        value->type = PAUA_TYPE_DOUBLE;
    }
    return value->type != PAUA_TYPE_NULL || from_word(text, nbytes, value);
}

/* A number, or a boolean, of a type that is known; the library checks its range. */
static bool number_from_text(uint32_t type, const char *text, paua_value *value)
{
    *value = (paua_value){.type = PAUA_TYPE_NULL};
    if (type == PAUA_TYPE_BOOL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
        value->type = PAUA_TYPE_BOOL;
        value->as.boolean = text[0] == 't';
    } else if (is_unsigned(type) && parse_u64(text, strlen(text), &value->as.u64)) {
        value->type = PAUA_TYPE_UINT64;
    } else if (is_float(type) && fraction(text, &value->as.f64)) {
        value->type = PAUA_TYPE_DOUBLE;
    } else if (!is_float(type) && type != PAUA_TYPE_BOOL && whole(text, &value->as.i64)) {
        value->type = PAUA_TYPE_INT64;
    }
    return value->type != PAUA_TYPE_NULL;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool bytes_from_text(struct value_room *room, const char *text, size_t nbytes,
                            paua_value *value, struct fault *fault)
{
    uint8_t *bytes = value_room_alloc(room, nbytes);
    bool ok = nbytes >= 3 && (text[0] | 32) == 'x' && text[1] == '\'' && text[nbytes - 1] == '\'' &&
              nbytes % 2 != 0;

    for (size_t i = 0; ok && i < (nbytes - 3) / 2; i++) {
        int high = hex_digit(text[2 + 2 * i]), low = hex_digit(text[3 + 2 * i]);

        ok = high >= 0 && low >= 0;
        if (ok) bytes[i] = (uint8_t)(16 * high + low);
    }
    if (!ok) {
        fault_set(fault, "bytes are given as x'00ff'");
        return false;
    }
    *value = (paua_value){.type = PAUA_TYPE_BYTES};
    value->as.bytes = (paua_bytes){bytes, (nbytes - 3) / 2};
    return true;
}

static bool array_from_text(struct value_room *room, uint32_t type, const char *text, size_t nbytes,
                            paua_value *value, struct fault *fault)
{
    json_error_t error;
    json_t *json = json_loadb(text, nbytes, JSON_ALLOW_NUL, &error);
    bool ok;

    if (json == NULL) {
        fault_set(fault, "an array is given as JSON: %s", error.text);
        return false;
    }
    ok = value_from_json(room, type, json, value, fault);
    json_decref(json);
    return ok;
}

bool value_from_text(struct value_room *room, uint32_t type, const char *text, size_t nbytes,
                     paua_value *value, struct fault *fault)
{
    char *copy;

    if (type == PAUA_TYPE_BYTES) return bytes_from_text(room, text, nbytes, value, fault);
    if ((type & PAUA_TYPE_ARRAY) != 0)
        return array_from_text(room, type, text, nbytes, value, fault);
    copy = value_room_alloc(room, nbytes + 1);
    memcpy(copy, text, nbytes);
    copy[nbytes] = 0;
    if (type == 0 && strlen(copy) == nbytes && inferred_from_text(copy, nbytes, value)) return true;
    if (type == 0 || type == PAUA_TYPE_STRING || type == PAUA_TYPE_MIXED ||
        type == PAUA_TYPE_TIMESTAMP)
        return from_string(room, type, copy, nbytes, value, fault);
    if (strlen(copy) == nbytes && number_from_text(type, copy, value)) return true;
    fault_set(fault, "\"%s\" is no %s", copy, paua_type_name(type));
    return false;
}
