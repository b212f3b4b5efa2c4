/* value.h - typed values: what a caller gives, how they are ordered, and how they are stored.
 *
 * Every type is of one of two classes. A number (booleans, integers, floats, timestamps) is stored
 * as a key: a uint64 whose unsigned order is the type's order (signed integers with the sign bit
 * flipped; float and double by IEEE 754 totalOrder). Anything else is stored as a byte string:
 *   string, bytes   the bytes themselves
 *   mixed           one byte, PAUA_TYPE_STRING or PAUA_TYPE_BYTES, and then the bytes
 *   array           the elements one after another: numbers little-endian in the element type's own
 *                   width (booleans one byte, 0 or 1; floats as they are), strings and bytes with a
 *                   u32 length before each
 * Byte strings are ordered by memcmp, the shorter first. */
#ifndef PAUA_COLUMN_VALUE_H
#define PAUA_COLUMN_VALUE_H

#include <paua/paua.h>

#include "base/bytes.h"

/* A value as columns hold it: absent, a key, or a byte string, by the class of the column's type.
 * */
struct cell {
    bool present; /* false: NULL */
    uint64_t key;
    const uint8_t *data; /* borrowed */
    size_t nbytes;
};

/* Bytes of the longest stored value: one of PAUA_VALUE_NBYTES_MAX in a mixed field. */
#define VALUE_STORED_NBYTES_MAX (PAUA_VALUE_NBYTES_MAX + 1u)

/* Is it a type that a field can have? (Not PAUA_TYPE_NONE, PAUA_TYPE_NULL, an array of arrays ...)
 * */
bool type_valid(uint32_t type);
bool type_is_number(uint32_t type);
static inline bool type_is_array(uint32_t type) { return (type & PAUA_TYPE_ARRAY) != 0; }
static inline uint32_t type_element(uint32_t type) { return type & ~(uint32_t)PAUA_TYPE_ARRAY; }
/* "int64", "array of string" ...; static. */
const char *type_name(uint32_t type);
/* The reverse, also of SQL's common names ("integer", "text", "real" ...); 0: unknown. */
uint32_t type_parse(const char *name, size_t nbytes);
/* Bytes of a number of this type in an array: 1, 2, 4 or 8. */
size_t type_width(uint32_t type);

/* Turns a caller's value into a cell of a field's type. Numbers convert between numeric types if
 * nothing is lost (int64 5 to uint8; 300 is refused; double 2.0 to int32; integers to float and
 * double up to 2^53; doubles to float, rounded, but not to infinity); booleans and timestamps are
 * no numbers here. Strings are checked for UTF-8, arrays element by element (NULL elements are
 * refused). Strings and bytes without data are NULL. Stored arrays are taken as they are if they
 * are valid. What needs memory (mixed, arrays) is put into an empty `scratch`.
 * PAUA_EINVAL with what is wrong, in words that go after "field NAME: "; PAUA_ENOMEM. */
paua_status value_cell(uint32_t type, const paua_value *value, struct writer *scratch,
                       struct cell *cell, paua_error *err);

/* The reverse; strings, bytes and arrays are borrowed from the cell. */
paua_value value_of_cell(uint32_t type, const struct cell *cell);

/* Does a stored key, or byte string, obey the type's rules? (range, UTF-8, whole elements) */
bool value_key_valid(uint32_t type, uint64_t key);
bool value_bytes_valid(uint32_t type, const uint8_t *data, size_t nbytes);

/* Keys of the types that keys are made of. */
static inline uint64_t key_of_int(int64_t value) { return (uint64_t)value ^ (UINT64_C(1) << 63); }
static inline int64_t int_of_key(uint64_t key) { return (int64_t)(key ^ (UINT64_C(1) << 63)); }
uint64_t key_of_double(double value);
double double_of_key(uint64_t key);
uint64_t key_of_float(float value); /* below 2^32 */
float float_of_key(uint64_t key);

/* Elements of a stored array; bytes were checked. */
uint32_t array_length(uint32_t type, const uint8_t *data, size_t nbytes);

/* memcmp order. */
int bytes_compare(const uint8_t *a, size_t a_nbytes, const uint8_t *b, size_t b_nbytes);

#endif
