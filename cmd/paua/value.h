/* value.h - values of fields as JSON and as text.
 *
 * JSON: null, booleans, numbers and strings as they are; numbers above 2^63-1 as strings of digits;
 * NaN and the infinities as "NaN", "Infinity", "-Infinity"; timestamps as RFC 3339 strings; bytes
 * as {"base64": "..."}; arrays of these. Text: the same without quotes, bytes as x'00ff'. */
#ifndef PAUA_CMD_VALUE_H
#define PAUA_CMD_VALUE_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>
#include <paua/paua.h>

#include "instream.h"

/* Memory that values borrow from, freed together. Zero-initialize. */
struct value_room {
    void **blocks;
    size_t count, capacity;
    size_t nbytes; /* of all blocks */
};
void *value_room_alloc(struct value_room *room, size_t nbytes);
void value_room_reset(struct value_room *room);
void value_room_free(struct value_room *room);

/* A new JSON value; ends the program if there is no memory. */
json_t *value_json(const paua_value *value);

/* The same, printed with just the digits that floats need. */
void value_print_json(FILE *out, const paua_value *value);

/* Text to free(). */
char *value_text(const paua_value *value, size_t *nbytes);

/* A value of a field's type from JSON. type 0: what the JSON itself says (integers int64, other
 * numbers double, strings, booleans, bytes, arrays of one of these). */
bool value_from_json(struct value_room *room, uint32_t type, const json_t *json, paua_value *value,
                     struct fault *fault);

/* The same from text: CSV, and --set. An array is given as JSON. type 0: int64, double or bool if
 * it is written as one, else string; so are digits that no int64 holds, or that begin with 0. */
bool value_from_text(struct value_room *room, uint32_t type, const char *text, size_t nbytes,
                     paua_value *value, struct fault *fault);

/* Whether a field of a type takes a value that was read; an array is one that was given. */
bool value_fits(uint32_t type, const paua_value *value, struct fault *fault);

#endif
