/* value_public.c - what callers use of values: elements of arrays, and types by name. */
#include <string.h>

#include "column/value.h"

static paua_value stored_number(uint32_t type, const uint8_t *at)
{
    size_t width = type_width(type), shift = 64 - 8 * width;
    uint64_t bits = bytes_get(at, width);
    paua_value value = {.type = (uint16_t)type};
    uint32_t half = (uint32_t)bits;
    float single;

    if (type == PAUA_TYPE_BOOL) {
        value.as.boolean = bits != 0;
    } else if (type == PAUA_TYPE_FLOAT) {
        memcpy(&single, &half, sizeof single);
        value.as.f64 = (double)single;
    } else if (type == PAUA_TYPE_DOUBLE) {
        memcpy(&value.as.f64, &bits, sizeof value.as.f64);
    } else if (type >= PAUA_TYPE_UINT8 && type <= PAUA_TYPE_UINT64) {
        value.as.u64 = bits;
    } else {
        value.as.i64 = (int64_t)(bits << shift) >> shift;
    }
    return value;
}

static paua_value stored_bytes(uint32_t type, const uint8_t *at, uint32_t i)
{
    for (; i > 0; i--)
        at += 4 + bytes_get(at, 4);
    return (paua_value){.type = (uint16_t)type, .as.bytes = {at + 4, (size_t)bytes_get(at, 4)}};
}

paua_value paua_value_item(const paua_value *array, uint32_t i)
{
    uint32_t type = type_element(array->type);
    const uint8_t *bytes;

    assert(type_is_array(array->type) && i < array->count);
    if (!array->stored) return array->as.items[i];
    bytes = array->as.bytes.data;
    return type_is_number(type) ? stored_number(type, bytes + i * type_width(type))
                                : stored_bytes(type, bytes, i);
}

const char *paua_type_name(uint32_t type) { return type_name(type); }

uint32_t paua_type_parse(const char *name)
{
    return name != NULL ? type_parse(name, strlen(name)) : PAUA_TYPE_NONE;
}
