/* value_convert.h - a stored value in another type, for fields that are retyped. */
#ifndef PAUA_DB_VALUE_CONVERT_H
#define PAUA_DB_VALUE_CONVERT_H

#include "column/value.h"

/* Turns a cell of type `from` that is present into one of type `to`. Numbers convert where nothing
 * is lost; strings are parsed (true and false, numbers, RFC 3339); anything but arrays becomes a
 * string by formatting. `text` and `stored` hold what is made; the cell borrows from them until the
 * next call. PAUA_EINVAL says which value does not convert, PAUA_ENOMEM. */
paua_status value_convert(uint32_t from, uint32_t to, struct writer *text, struct writer *stored,
                          struct cell *cell, paua_error *err);

#endif
