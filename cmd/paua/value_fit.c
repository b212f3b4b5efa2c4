/* value_fit.c - whether a field takes a value, told before anything is written.
 *
 * The library refuses such values too, but row by row and while rows before them are written
 * already; an import that reads its file twice wants to know in the first pass. The rule is the
 * library's: a number must become one of the field's type without loss (a float may round). */
#include "value.h"

#include <math.h>
#include <stdlib.h>

#include "text.h"

static bool is_signed(uint32_t type) { return type >= PAUA_TYPE_INT8 && type <= PAUA_TYPE_INT64; }
static bool is_unsigned(uint32_t type)
{
    return type >= PAUA_TYPE_UINT8 && type <= PAUA_TYPE_UINT64;
}
static bool is_real(uint32_t type) { return type == PAUA_TYPE_FLOAT || type == PAUA_TYPE_DOUBLE; }

static bool signed_fits(uint32_t type, int64_t number)
{
    const unsigned bits = 8u << (type - PAUA_TYPE_INT8);
    const int64_t max = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;

    return number <= max && number >= -max - 1;
}

static bool unsigned_fits(uint32_t type, uint64_t number)
{
    const unsigned bits = 8u << (type - PAUA_TYPE_UINT8);

    return bits == 64 || number >> bits == 0;
}

static bool real_fits(uint32_t type, double number)
{
    if (type == PAUA_TYPE_FLOAT) return !isfinite(number) || isfinite((float)number);
    if (type == PAUA_TYPE_DOUBLE) return true;
    if (number != trunc(number)) return false;
    if (is_signed(type))
        return number >= -0x1p63 && number < 0x1p63 && signed_fits(type, (int64_t)number);
    return number >= 0 && number < 0x1p64 && unsigned_fits(type, (uint64_t)number);
}

static bool number_fits(uint32_t type, const paua_value *value)
{
    const int64_t exact = INT64_C(1) << 53; /* up to here every integer is a double */

    if (is_real(value->type)) return real_fits(type, value->as.f64);
    if (is_signed(value->type)) {
        if (is_real(type)) return value->as.i64 >= -exact && value->as.i64 <= exact;
        if (is_signed(type)) return signed_fits(type, value->as.i64);
        return value->as.i64 >= 0 && unsigned_fits(type, (uint64_t)value->as.i64);
    }
    if (is_real(type)) return value->as.u64 <= (uint64_t)exact;
    if (is_unsigned(type)) return unsigned_fits(type, value->as.u64);
    return value->as.u64 <= INT64_MAX && signed_fits(type, (int64_t)value->as.u64);
}

static bool is_number(uint32_t type)
{
    return is_signed(type) || is_unsigned(type) || is_real(type);
}

static bool wrong_type(uint32_t type, const paua_value *value, struct fault *fault)
{
    fault_set(fault, "expected %s, not a value of type %s", paua_type_name(type),
              paua_type_name(value->type));
    return false;
}

static bool bytes_fit(const paua_value *value, struct fault *fault)
{
    size_t at;

    if (value->as.bytes.nbytes > PAUA_VALUE_NBYTES_MAX) {
        fault_set(fault, "the value has %zu bytes, expected at most %u", value->as.bytes.nbytes,
                  PAUA_VALUE_NBYTES_MAX);
        return false;
    }
    if (value->type == PAUA_TYPE_BYTES ||
        text_valid(value->as.bytes.data, value->as.bytes.nbytes, &at))
        return true;
    fault_set(fault,
              "the string is no UTF-8 at its byte %zu (bytes are given as x'00ff', or "
              "{\"base64\": \"...\"})",
              at);
    return false;
}

static bool items_fit(uint32_t type, const paua_value *array, struct fault *fault)
{
    struct fault why;

    for (uint32_t i = 0; i < array->count; i++) {
        if (value_fits(type & ~(uint32_t)PAUA_TYPE_ARRAY, &array->as.items[i], &why)) continue;
        fault_set(fault, "element %u: %s", i, why.text);
        return false;
    }
    return true;
}

bool value_fits(uint32_t type, const paua_value *value, struct fault *fault)
{
    char *text;
    size_t nbytes;

    if (value->type == PAUA_TYPE_NONE || value->type == PAUA_TYPE_NULL) return true;
    if ((type & value->type & PAUA_TYPE_ARRAY) != 0) return items_fit(type, value, fault);
    if (is_number(type) && is_number(value->type)) {
        if (number_fits(type, value)) return true;
        text = value_text(value, &nbytes);
        fault_set(fault, "%s is no %s", text, paua_type_name(type));
        free(text);
        return false;
    }
    if (value->type == PAUA_TYPE_STRING || value->type == PAUA_TYPE_BYTES) {
        if (type != value->type && type != PAUA_TYPE_MIXED) return wrong_type(type, value, fault);
        return bytes_fit(value, fault);
    }
    return type == value->type || wrong_type(type, value, fault);
}
