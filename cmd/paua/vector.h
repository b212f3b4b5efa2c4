/* vector.h - vectors as text, and the checks that every row of an import passes. */
#ifndef PAUA_CMD_VECTOR_H
#define PAUA_CMD_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <paua/paua.h>

#include "instream.h"

float half_to_float(uint16_t half);

/* Numbers of a JSON array of exactly dim; otherwise the fault says what was expected. */
bool vector_from_json(const json_t *array, size_t dim, float *vector, struct fault *fault);
bool vector_from_text(const char *text, size_t nbytes, size_t dim, float *vector,
                      struct fault *fault);

/* Whether a field stores its vectors in half precision; also of a field not yet created. */
bool vector_is_half(const paua_vector_field *field);

/* Whether a field can store the vector: all finite, and within half precision if that is its own.
 * If not, the fault names the component. */
bool vector_storable(const float *vector, const paua_vector_field *field, struct fault *fault);

/* The shortest decimal of 6 or 9 digits that reads back as the same float. Returns its length. */
#define FLOAT_TEXT_NBYTES 20
size_t float_text(float value, char out[FLOAT_TEXT_NBYTES]);

#endif
