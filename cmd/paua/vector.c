/* vector.c - vectors as text, and the checks that every row of an import passes. */
#include "vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Halves from here on round to infinity. */
#define HALF_OVERFLOW 65520.0f

float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 0x1fu;
    uint32_t fraction = half & 0x3ffu;
    uint32_t bits;
    float value;

    if (exponent == 0) {
        value = ldexpf((float)fraction, -24);
        return sign != 0 ? -value : value;
    }
    bits = exponent == 31 ? sign | 0x7f800000u | fraction << 13
                          : sign | (exponent + 112) << 23 | fraction << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool vector_from_json(const json_t *array, size_t dim, float *vector, struct fault *fault)
{
    if (!json_is_array(array)) {
        fault_set(fault, "expected a list of %zu numbers", dim);
        return false;
    }
    if (json_array_size(array) != dim) {
        fault_set(fault, "the vector has %zu components, expected %zu", json_array_size(array),
                  dim);
        return false;
    }
    for (size_t i = 0; i < dim; i++) {
        const json_t *item = json_array_get(array, i);
        if (!json_is_number(item)) {
            fault_set(fault, "component %zu of the vector is no number", i);
            return false;
        }
        vector[i] = (float)json_number_value(item);
    }
    return true;
}

bool vector_from_text(const char *text, size_t nbytes, size_t dim, float *vector,
                      struct fault *fault)
{
    json_error_t error;
    json_t *array = json_loadb(text, nbytes, JSON_DECODE_ANY, &error);
    bool ok;

    if (array == NULL) {
        fault_set(fault, "the vector is no JSON (%s at character %d), expected [1, 2, ...]",
                  error.text, error.position);
        return false;
    }
    ok = vector_from_json(array, dim, vector, fault);
    json_decref(array);
    return ok;
}

/* Whether any component is at or above the limit, or NaN: without branches, so that it compiles to
 * vector code. Bits of finite floats order like their magnitudes; infinity and NaN lie above. */
static bool any_above(const float *vector, size_t dim, uint32_t limit_bits)
{
    uint32_t above = 0;

    for (size_t i = 0; i < dim; i++) {
        uint32_t bits;
        memcpy(&bits, &vector[i], sizeof bits);
        above |= (bits & 0x7fffffffu) >= limit_bits;
    }
    return above != 0;
}

bool vector_is_half(const paua_vector_field *field)
{
    if (field->originals == PAUA_ORIGINALS_DEFAULT) return field->precision == PAUA_FP16;
    return field->originals == PAUA_ORIGINALS_FP16;
}

bool vector_storable(const float *vector, const paua_vector_field *field, struct fault *fault)
{
    float limit = vector_is_half(field) ? HALF_OVERFLOW : INFINITY;
    uint32_t limit_bits;

    memcpy(&limit_bits, &limit, sizeof limit_bits);
    if (!any_above(vector, field->dim, limit_bits)) return true;
    for (uint32_t i = 0; i < field->dim; i++) {
        if (!isfinite(vector[i]))
            fault_set(fault, "component %u is %s, expected a finite number", i,
                      isnan(vector[i]) ? "NaN" : "infinite");
        else if (fabsf(vector[i]) >= limit)
            fault_set(fault, "component %u is %g, fp16 holds at most 65504", i, (double)vector[i]);
        else
            continue;
        break;
    }
    return false;
}

size_t float_text(float value, char out[FLOAT_TEXT_NBYTES])
{
    int length = snprintf(out, FLOAT_TEXT_NBYTES, "%.6g", (double)value);

    if (strtof(out, NULL) != value)
        length = snprintf(out, FLOAT_TEXT_NBYTES, "%.9g", (double)value);
    return (size_t)length;
}
