/* value.c - types by name, keys and their order, and what stored values must obey.
 *
 * IEEE 754 totalOrder (section 5.10) on the bits: a negative number's are all inverted, another's
 * get the sign bit set. Then -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN as unsigned
 * integers. */
#include "column/value.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"

#define STRING_LENGTH_NBYTES 4u

static const struct {
    const char *name, *array_name;
    uint8_t width; /* of a number in an array */
} types[] = {
    [PAUA_TYPE_NONE] = {"no type", "array of no type", 0},
    [PAUA_TYPE_NULL] = {"null", "array of null", 0},
    [PAUA_TYPE_BOOL] = {"bool", "array of bool", 1},
    [PAUA_TYPE_INT8] = {"int8", "array of int8", 1},
    [PAUA_TYPE_INT16] = {"int16", "array of int16", 2},
    [PAUA_TYPE_INT32] = {"int32", "array of int32", 4},
    [PAUA_TYPE_INT64] = {"int64", "array of int64", 8},
    [PAUA_TYPE_UINT8] = {"uint8", "array of uint8", 1},
    [PAUA_TYPE_UINT16] = {"uint16", "array of uint16", 2},
    [PAUA_TYPE_UINT32] = {"uint32", "array of uint32", 4},
    [PAUA_TYPE_UINT64] = {"uint64", "array of uint64", 8},
    [PAUA_TYPE_FLOAT] = {"float", "array of float", 4},
    [PAUA_TYPE_DOUBLE] = {"double", "array of double", 8},
    [PAUA_TYPE_TIMESTAMP] = {"timestamp", "array of timestamp", 8},
    [PAUA_TYPE_STRING] = {"string", "array of string", 0},
    [PAUA_TYPE_BYTES] = {"bytes", "array of bytes", 0},
    [PAUA_TYPE_MIXED] = {"mixed", "array of mixed", 0},
};

#define TYPE_COUNT (sizeof types / sizeof types[0])

/* Names that other systems use. int is what holds any integer of theirs. */
static const struct {
    const char *name;
    uint32_t type;
} aliases[] = {
    {"boolean", PAUA_TYPE_BOOL},       {"tinyint", PAUA_TYPE_INT8},
    {"smallint", PAUA_TYPE_INT16},     {"int", PAUA_TYPE_INT64},
    {"integer", PAUA_TYPE_INT64},      {"bigint", PAUA_TYPE_INT64},
    {"uint", PAUA_TYPE_UINT64},        {"float32", PAUA_TYPE_FLOAT},
    {"float64", PAUA_TYPE_DOUBLE},     {"real", PAUA_TYPE_DOUBLE},
    {"datetime", PAUA_TYPE_TIMESTAMP}, {"double precision", PAUA_TYPE_DOUBLE},
    {"text", PAUA_TYPE_STRING},        {"varchar", PAUA_TYPE_STRING},
    {"blob", PAUA_TYPE_BYTES},         {"binary", PAUA_TYPE_BYTES},
};

bool type_valid(uint32_t type)
{
    uint32_t element = type_element(type);

    if (element < PAUA_TYPE_BOOL || element > PAUA_TYPE_MIXED) return false;
    return !type_is_array(type) || element != PAUA_TYPE_MIXED;
}

bool type_is_number(uint32_t type) { return type >= PAUA_TYPE_BOOL && type <= PAUA_TYPE_TIMESTAMP; }

const char *type_name(uint32_t type)
{
    uint32_t element = type_element(type);

    if (element >= TYPE_COUNT) return "unknown type";
    return type_is_array(type) ? types[element].array_name : types[element].name;
}

static bool same_name(const char *name, const char *text, size_t nbytes)
{
    return strlen(name) == nbytes && strncasecmp(name, text, nbytes) == 0;
}

static uint32_t parse_scalar(const char *text, size_t nbytes)
{
    for (uint32_t type = PAUA_TYPE_BOOL; type < TYPE_COUNT; type++)
        if (same_name(types[type].name, text, nbytes)) return type;
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (same_name(aliases[i].name, text, nbytes)) return aliases[i].type;
    return PAUA_TYPE_NONE;
}

uint32_t type_parse(const char *name, size_t nbytes)
{
    static const char prefix[] = "array of ", suffix[] = "[]";
    const size_t prefix_nbytes = sizeof prefix - 1, suffix_nbytes = sizeof suffix - 1;
    uint32_t element;

    if (nbytes > prefix_nbytes && strncasecmp(name, prefix, prefix_nbytes) == 0)
        element = parse_scalar(name + prefix_nbytes, nbytes - prefix_nbytes);
    else if (nbytes > suffix_nbytes &&
             memcmp(name + nbytes - suffix_nbytes, suffix, suffix_nbytes) == 0)
        element = parse_scalar(name, nbytes - suffix_nbytes);
    else
        return parse_scalar(name, nbytes);
    return type_valid(element | PAUA_TYPE_ARRAY) ? element | PAUA_TYPE_ARRAY : PAUA_TYPE_NONE;
}

size_t type_width(uint32_t type)
{
    assert(type_is_number(type));
    return types[type].width;
}

uint64_t key_of_double(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

double double_of_key(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t key_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

float float_of_key(uint64_t key)
{
    uint32_t half = (uint32_t)key, bits = half >> 31 ? half & ~(UINT32_C(1) << 31) : ~half;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

bool value_key_valid(uint32_t type, uint64_t key)
{
    size_t bits = 8 * type_width(type);

    switch (type) {
    case PAUA_TYPE_BOOL:
        return key <= 1;
    case PAUA_TYPE_INT8:
    case PAUA_TYPE_INT16:
    case PAUA_TYPE_INT32:
        return int_of_key(key) >= -(INT64_C(1) << (bits - 1)) &&
               int_of_key(key) < INT64_C(1) << (bits - 1);
    default:
        return bits == 64 || key >> bits == 0;
    }
}

static bool text_valid(const uint8_t *data, size_t nbytes)
{
    return utf8_valid_prefix(data, nbytes) == nbytes;
}

static bool array_valid(uint32_t element, const uint8_t *data, size_t nbytes)
{
    struct reader r = reader_over(data, nbytes);

    if (element == PAUA_TYPE_BOOL) {
        for (size_t i = 0; i < nbytes; i++)
            if (data[i] > 1) return false;
        return true;
    }
    if (type_is_number(element)) return nbytes % type_width(element) == 0;
    while (reader_left(&r) > 0) {
        uint32_t length = reader_u32(&r);
        const uint8_t *bytes = reader_bytes(&r, length);

        if (r.short_read) return false;
        if (element == PAUA_TYPE_STRING && !text_valid(bytes, length)) return false;
    }
    return true;
}

bool value_bytes_valid(uint32_t type, const uint8_t *data, size_t nbytes)
{
    if (nbytes > VALUE_STORED_NBYTES_MAX) return false;
    if (type_is_array(type)) return array_valid(type_element(type), data, nbytes);
    if (type == PAUA_TYPE_STRING) return text_valid(data, nbytes);
    if (type != PAUA_TYPE_MIXED) return true;
    if (nbytes == 0) return false;
    return data[0] == PAUA_TYPE_BYTES ||
           (data[0] == PAUA_TYPE_STRING && text_valid(data + 1, nbytes - 1));
}

uint32_t array_length(uint32_t type, const uint8_t *data, size_t nbytes)
{
    uint32_t element = type_element(type), count = 0;

    assert(type_is_array(type));
    if (type_is_number(element)) return (uint32_t)(nbytes / type_width(element));
    for (size_t at = 0; at < nbytes; count++)
        at += STRING_LENGTH_NBYTES + bytes_get(data + at, STRING_LENGTH_NBYTES);
    return count;
}

int bytes_compare(const uint8_t *a, size_t a_nbytes, const uint8_t *b, size_t b_nbytes)
{
    size_t common = a_nbytes < b_nbytes ? a_nbytes : b_nbytes;
    int order = common > 0 ? memcmp(a, b, common) : 0;

    return order != 0 ? order : (a_nbytes > b_nbytes) - (a_nbytes < b_nbytes);
}
