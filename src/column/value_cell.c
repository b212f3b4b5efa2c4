/* value_cell.c - callers' values to cells and back.
 *
 * A number is first taken as what it is (signed, unsigned or real), then made one of the field's
 * type if that loses nothing. Arrays convert element by element, into the caller's scratch. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "column/value.h"

#define DOUBLE_INT_MAX (INT64_C(1) << 53) /* up to here every integer is a double */

static paua_status refuse_type(uint32_t type, const paua_value *value, paua_error *err)
{
    return error_set(err, PAUA_EINVAL, "a value of type %s for a field of type %s",
                     type_name(value->type), type_name(type));
}

static bool is_signed(uint32_t type) { return type >= PAUA_TYPE_INT8 && type <= PAUA_TYPE_INT64; }
static bool is_unsigned(uint32_t type)
{
    return type >= PAUA_TYPE_UINT8 && type <= PAUA_TYPE_UINT64;
}
static bool is_real(uint32_t type) { return type == PAUA_TYPE_FLOAT || type == PAUA_TYPE_DOUBLE; }

static bool to_signed(const paua_value *value, int64_t *number)
{
    if (is_signed(value->type)) {
        *number = value->as.i64;
        return true;
    }
    if (is_unsigned(value->type)) {
        *number = (int64_t)value->as.u64;
        return value->as.u64 <= INT64_MAX;
    }
    if (!(value->as.f64 >= -0x1p63 && value->as.f64 < 0x1p63)) return false;
    *number = (int64_t)value->as.f64;
    return (double)*number == value->as.f64;
}

static bool to_unsigned(const paua_value *value, uint64_t *number)
{
    if (is_signed(value->type)) {
        *number = (uint64_t)value->as.i64;
        return value->as.i64 >= 0;
    }
    if (is_unsigned(value->type)) {
        *number = value->as.u64;
        return true;
    }
    if (!(value->as.f64 >= 0 && value->as.f64 < 0x1p64)) return false;
    *number = (uint64_t)value->as.f64;
    return (double)*number == value->as.f64;
}

static bool to_real(const paua_value *value, double *number)
{
    if (is_signed(value->type)) {
        *number = (double)value->as.i64;
        return value->as.i64 >= -DOUBLE_INT_MAX && value->as.i64 <= DOUBLE_INT_MAX;
    }
    if (is_unsigned(value->type)) {
        *number = (double)value->as.u64;
        return value->as.u64 <= DOUBLE_INT_MAX;
    }
    *number = value->as.f64;
    return true;
}

static paua_status refuse_number(uint32_t type, const paua_value *value, paua_error *err)
{
    if (is_signed(value->type))
        return error_set(err, PAUA_EINVAL, "%lld cannot be a value of type %s",
                         (long long)value->as.i64, type_name(type));
    if (is_unsigned(value->type))
        return error_set(err, PAUA_EINVAL, "%llu cannot be a value of type %s",
                         (unsigned long long)value->as.u64, type_name(type));
    return error_set(err, PAUA_EINVAL, "%.17g cannot be a value of type %s", value->as.f64,
                     type_name(type));
}

static bool convert(uint32_t type, const paua_value *value, uint64_t *key)
{
    int64_t integer;
    double real;
    bool kept;

    if (is_signed(type)) {
        if (!to_signed(value, &integer)) return false;
        *key = key_of_int(integer);
        return value_key_valid(type, *key);
    }
    if (is_unsigned(type)) return to_unsigned(value, key) && value_key_valid(type, *key);
    kept = to_real(value, &real);
    if (type == PAUA_TYPE_FLOAT) {
        *key = key_of_float((float)real);
        return kept && (!isinf((float)real) || isinf(real));
    }
    *key = key_of_double(real);
    return kept;
}

static paua_status number_key(uint32_t type, const paua_value *value, uint64_t *key,
                              paua_error *err)
{
    bool numeric = is_signed(value->type) || is_unsigned(value->type) || is_real(value->type);

    if (type == PAUA_TYPE_BOOL && value->type == PAUA_TYPE_BOOL) {
        *key = value->as.boolean ? 1 : 0;
        return PAUA_OK;
    }
    if (type == PAUA_TYPE_TIMESTAMP && value->type == PAUA_TYPE_TIMESTAMP) {
        *key = key_of_int(value->as.i64);
        return PAUA_OK;
    }
    if (!numeric || type == PAUA_TYPE_BOOL || type == PAUA_TYPE_TIMESTAMP)
        return refuse_type(type, value, err);
    return convert(type, value, key) ? PAUA_OK : refuse_number(type, value, err);
}

/* A string or bytes as the field's type has them; data is there. */
static paua_status check_bytes(uint32_t type, const paua_value *value, paua_error *err)
{
    const paua_bytes *bytes = &value->as.bytes;
    bool text = value->type == PAUA_TYPE_STRING;
    size_t valid;

    if (!text && value->type != PAUA_TYPE_BYTES) return refuse_type(type, value, err);
    if (type != PAUA_TYPE_MIXED && type != value->type) return refuse_type(type, value, err);
    if (bytes->data == NULL && bytes->nbytes > 0)
        return error_set(err, PAUA_EINVAL, "%zu bytes, but data is NULL", bytes->nbytes);
    if (bytes->nbytes > PAUA_VALUE_NBYTES_MAX)
        return error_set(err, PAUA_EINVAL, "a value of %zu bytes; at most %u are allowed",
                         bytes->nbytes, PAUA_VALUE_NBYTES_MAX);
    valid = text ? utf8_valid_prefix(bytes->data, bytes->nbytes) : bytes->nbytes;
    if (valid == bytes->nbytes) return PAUA_OK;
    return error_set(err, PAUA_EINVAL, "not valid UTF-8 at byte %zu", valid);
}

static paua_status bytes_cell(uint32_t type, const paua_value *value, struct writer *scratch,
                              struct cell *cell, paua_error *err)
{
    const paua_bytes *bytes = &value->as.bytes;
    paua_status status = check_bytes(type, value, err);

    if (status != PAUA_OK) return status;
    if (type != PAUA_TYPE_MIXED) {
        *cell = (struct cell){.present = true, .data = bytes->data, .nbytes = bytes->nbytes};
        return PAUA_OK;
    }
    writer_u8(scratch, (uint8_t)value->type);
    writer_bytes(scratch, bytes->data, bytes->nbytes);
    if (scratch->failed) return error_set_nomem(err);
    *cell = (struct cell){.present = true, .data = scratch->bytes, .nbytes = scratch->length};
    return PAUA_OK;
}

/* The bits that an array keeps of a number. */
static uint64_t stored_number(uint32_t type, uint64_t key)
{
    size_t bits = 8 * type_width(type);
    uint64_t value = key;

    if (is_signed(type) || type == PAUA_TYPE_TIMESTAMP) value = (uint64_t)int_of_key(key);
    if (type == PAUA_TYPE_FLOAT) value = key >> 31 ? key & 0x7FFFFFFF : ~key;
    if (type == PAUA_TYPE_DOUBLE) value = key >> 63 ? key & INT64_MAX : ~key;
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static paua_status element_put(uint32_t type, const paua_value *item, struct writer *scratch,
                               paua_error *err)
{
    paua_status status;
    uint64_t key;

    if (type_is_number(type)) {
        status = number_key(type, item, &key, err);
        if (status == PAUA_OK) writer_uint(scratch, stored_number(type, key), type_width(type));
        return status;
    }
    if (item->type == PAUA_TYPE_NULL || item->type == PAUA_TYPE_NONE)
        return refuse_type(type, item, err);
    status = check_bytes(type, item, err);
    if (status != PAUA_OK) return status;
    if (item->as.bytes.data == NULL) return error_set(err, PAUA_EINVAL, "an element without data");
    writer_u32(scratch, (uint32_t)item->as.bytes.nbytes);
    writer_bytes(scratch, item->as.bytes.data, item->as.bytes.nbytes);
    return PAUA_OK;
}

/* The same error with the element's place before it. */
static paua_status refuse_element(uint32_t i, paua_status status, paua_error *err)
{
    paua_error inner;

    if (err == NULL || status != PAUA_EINVAL) return status;
    inner = *err;
    return error_set(err, status, "element %u: %s", i, inner.message);
}

static paua_status array_convert(uint32_t type, const paua_value *value, struct writer *scratch,
                                 struct cell *cell, paua_error *err)
{
    if (value->count > 0 && !value->stored && value->as.items == NULL)
        return error_set(err, PAUA_EINVAL, "an array without its elements");
    writer_room(scratch, 0); /* even an empty array has an address */
    for (uint32_t i = 0; i < value->count; i++) {
        paua_value item = paua_value_item(value, i);
        paua_status status = element_put(type_element(type), &item, scratch, err);

        if (status != PAUA_OK) return refuse_element(i, status, err);
        if (scratch->length > PAUA_VALUE_NBYTES_MAX)
            return error_set(err, PAUA_EINVAL, "an array of more than %u bytes",
                             PAUA_VALUE_NBYTES_MAX);
    }
    if (scratch->failed) return error_set_nomem(err);
    *cell = (struct cell){.present = true, .data = scratch->bytes, .nbytes = scratch->length};
    return PAUA_OK;
}

static paua_status array_cell(uint32_t type, const paua_value *value, struct writer *scratch,
                              struct cell *cell, paua_error *err)
{
    const paua_bytes *bytes = &value->as.bytes;

    if (!type_is_array(value->type)) return refuse_type(type, value, err);
    if (value->stored) {
        if (!type_valid(value->type) || bytes->data == NULL ||
            bytes->nbytes > PAUA_VALUE_NBYTES_MAX ||
            !value_bytes_valid(value->type, bytes->data, bytes->nbytes) ||
            array_length(value->type, bytes->data, bytes->nbytes) != value->count)
            return error_set(err, PAUA_EINVAL, "a stored array that is not valid");
        if (value->type == type) {
            *cell = (struct cell){.present = true, .data = bytes->data, .nbytes = bytes->nbytes};
            return PAUA_OK;
        }
    }
    return array_convert(type, value, scratch, cell, err);
}

paua_status value_cell(uint32_t type, const paua_value *value, struct writer *scratch,
                       struct cell *cell, paua_error *err)
{
    uint64_t key;
    paua_status status;

    assert(type_valid(type) && scratch->length == 0);
    if (value->type == PAUA_TYPE_NULL || value->type == PAUA_TYPE_NONE) {
        *cell = (struct cell){0};
        return PAUA_OK;
    }
    if (type_is_array(type)) return array_cell(type, value, scratch, cell, err);
    if (type_is_number(type)) {
        status = number_key(type, value, &key, err);
        if (status == PAUA_OK) *cell = (struct cell){.present = true, .key = key};
        return status;
    }
    if ((value->type == PAUA_TYPE_STRING || value->type == PAUA_TYPE_BYTES) &&
        value->as.bytes.data == NULL && value->as.bytes.nbytes == 0) {
        *cell = (struct cell){0};
        return PAUA_OK;
    }
    return bytes_cell(type, value, scratch, cell, err);
}

paua_value value_of_cell(uint32_t type, const struct cell *cell)
{
    paua_value value = {.type = (uint16_t)type};

    assert(type_valid(type));
    if (!cell->present) return (paua_value){.type = PAUA_TYPE_NULL};
    if (type_is_array(type)) {
        value.stored = 1;
        value.count = array_length(type, cell->data, cell->nbytes);
    }
    if (type == PAUA_TYPE_MIXED) {
        value.type = cell->data[0];
        value.as.bytes = (paua_bytes){cell->data + 1, cell->nbytes - 1};
    } else if (type == PAUA_TYPE_BOOL) {
        value.as.boolean = cell->key != 0;
    } else if (type == PAUA_TYPE_FLOAT) {
        value.as.f64 = (double)float_of_key(cell->key);
    } else if (type == PAUA_TYPE_DOUBLE) {
        value.as.f64 = double_of_key(cell->key);
    } else if (is_unsigned(type)) {
        value.as.u64 = cell->key;
    } else if (type_is_number(type)) {
        value.as.i64 = int_of_key(cell->key);
    } else {
        value.as.bytes = (paua_bytes){cell->data, cell->nbytes};
    }
    return value;
}
