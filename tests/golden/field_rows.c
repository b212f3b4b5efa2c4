#include "golden/field_rows.h"

#include <stdio.h>

enum { N, TEXT, REAL, RAW, TAGS, AT, EXTRA };

const paua_field golden_fields[GOLDEN_FIELDS] = {
    {"n", PAUA_TYPE_INT32},
    {"text", PAUA_TYPE_STRING},
    {"real", PAUA_TYPE_DOUBLE},
    {"raw", PAUA_TYPE_BYTES},
    {"tags", PAUA_TYPE_ARRAY | PAUA_TYPE_STRING},
    {"at", PAUA_TYPE_TIMESTAMP},
    {"extra", PAUA_TYPE_MIXED},
};

bool golden_is_patched(uint32_t row) { return (row >= 5 && row <= 9) || row == 12 || row == 51; }

static paua_value bytes_of(uint16_t type, const char *text)
{
    return (paua_value){.type = type, .as.bytes = {text, strlen(text)}};
}

static paua_value tags_of(uint32_t row, struct golden_room *room)
{
    static const char *const tags[GOLDEN_TAGS_MAX] = {"x", "", "\xC3\xA9"};
    paua_value value = {.type = PAUA_TYPE_ARRAY | PAUA_TYPE_STRING, .count = row % 4};

    for (uint32_t i = 0; i < value.count; i++)
        room->items[i] = bytes_of(PAUA_TYPE_STRING, tags[(row + i) % GOLDEN_TAGS_MAX]);
    value.as.items = room->items;
    return value;
}

paua_value golden_value(uint32_t field, uint32_t row, bool patched, struct golden_room *room)
{
    const paua_value null = {.type = PAUA_TYPE_NULL};

    patched = patched && golden_is_patched(row);
    if (!patched && (row + field) % 7 == 0) return null;
    switch (field) {
    case N:
        return (paua_value){.type = PAUA_TYPE_INT32, .as.i64 = (int)row * 3 - (patched ? 900 : 50)};
    case TEXT:
        snprintf(room->text, sizeof room->text, patched ? "patched %u" : "word %u", row % 5);
        return bytes_of(PAUA_TYPE_STRING, room->text);
    case REAL:
        return (paua_value){.type = PAUA_TYPE_DOUBLE, .as.f64 = (double)row / 8 - 3};
    case RAW:
        snprintf(room->text, sizeof room->text, "%u \xFF once only %u", row, row * 977);
        return bytes_of(PAUA_TYPE_BYTES, room->text);
    case TAGS:
        return tags_of(row, room);
    case AT:
        return (paua_value){.type = PAUA_TYPE_TIMESTAMP,
                            .as.i64 = INT64_C(1700000000000000000) + row};
    default:
        return bytes_of(row % 2 == 0 ? PAUA_TYPE_STRING : PAUA_TYPE_BYTES, "either");
    }
}
