/* random.c - fields' values and filters made at random, from few values, so that they meet, and
 * from those where types end. */
#include "naive.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "column/value.h"

uint32_t random_below(struct random *random, uint32_t n)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return (uint32_t)((random->state >> 32) * n >> 32);
}

#define COUNT(items) ((uint32_t)(sizeof(items) / sizeof(items)[0]))

static const int64_t WHOLE[] = {0,
                                1,
                                -1,
                                2,
                                5,
                                6,
                                127,
                                128,
                                -128,
                                -129,
                                255,
                                256,
                                32767,
                                32768,
                                -32768,
                                -32769,
                                65535,
                                65536,
                                INT32_MAX,
                                INT32_MAX + INT64_C(1),
                                INT32_MIN,
                                INT32_MIN - INT64_C(1),
                                UINT32_MAX,
                                UINT32_MAX + INT64_C(1),
                                (INT64_C(1) << 24) + 1,
                                INT64_C(1) << 53,
                                (INT64_C(1) << 53) + 1,
                                -(INT64_C(1) << 53) - 1,
                                INT64_MAX,
                                INT64_MAX - 1,
                                INT64_MIN,
                                INT64_MIN + 1};
static const uint64_t LARGE[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63,
                                 (UINT64_C(1) << 63) + 1};
static const char *const STRINGS[] = {"",
                                      "a",
                                      "b",
                                      "ab",
                                      "abc",
                                      "abd",
                                      "ABC",
                                      "a%c",
                                      "a_c",
                                      "a\\",
                                      "it's",
                                      "\xC3\xA9",
                                      "z",
                                      "aXXc",
                                      "\"q\"",
                                      "abc\xE2\x82\xAC",
                                      "\xF0\x9F\x90\x9A"};
static const char *const PATTERNS[] = {
    "",   "%",  "_",   "a%",   "%c",        "a_c",   "a\\%c", "a\\_c",     "%b%",    "abc",
    "__", "%_", "_%_", "a%%c", "%\xC3\xA9", "a\\\\", "_abc",  "\xC3\xA9%", "%a%b%c%"};
static const char *const TIMES[] = {"1970-01-01", "2026-11-30T21:40:00Z",
                                    "2026-11-30T22:40:00+01:00", "1969-12-31T23:59:59.999999999Z"};

static double random_double(struct random *random)
{
    static const double numbers[] = {0.0,    -0.0,    0.5,     -0.5,   5.5,     0.1,     1e20,
                                     1e300,  -1e300,  1e308,   3.4e38, FLT_MAX, 5e-324,  1e-40,
                                     0x1p63, -0x1p63, 0x1p64,  0x1p53, DBL_MAX, 254.5,   255.5,
                                     -128.5, 127.5,   FLT_MIN, 3.5e38, 0x1p24f, -3.5e38, 0x1.8p1};
    uint32_t i = random_below(random, COUNT(numbers) + 4);

    if (i < COUNT(numbers)) return numbers[i];
    return i % 2 == 0 ? copysign((double)NAN, i % 4 == 0 ? 1.0 : -1.0)
                      : copysign((double)INFINITY, i % 4 == 1 ? 1.0 : -1.0);
}

static paua_value text_value(uint16_t type, const char *text)
{
    return (paua_value){.type = type, .as.bytes = {text, strlen(text)}};
}

static paua_value random_number(struct random *random)
{
    switch (random_below(random, 5)) {
    case 0:
        return (paua_value){.type = PAUA_TYPE_UINT64,
                            .as.u64 = LARGE[random_below(random, COUNT(LARGE))]};
    case 1:
    case 2:
        return (paua_value){.type = PAUA_TYPE_DOUBLE, .as.f64 = random_double(random)};
    default:
        return (paua_value){.type = PAUA_TYPE_INT64,
                            .as.i64 = WHOLE[random_below(random, COUNT(WHOLE))]};
    }
}

/* One that the type can be compared with; not NULL. */
static paua_value random_literal(struct random *random, uint32_t type)
{
    int64_t time = 0;

    switch (type) {
    case PAUA_TYPE_BOOL:
        return (paua_value){.type = PAUA_TYPE_BOOL, .as.boolean = random_below(random, 2) != 0};
    case PAUA_TYPE_STRING:
    case PAUA_TYPE_BYTES:
        return text_value((uint16_t)type, STRINGS[random_below(random, COUNT(STRINGS))]);
    case PAUA_TYPE_MIXED:
        return random_literal(random,
                              random_below(random, 3) != 0 ? PAUA_TYPE_STRING : PAUA_TYPE_BYTES);
    case PAUA_TYPE_TIMESTAMP:
        if (random_below(random, 2) != 0)
            return text_value(PAUA_TYPE_STRING, TIMES[random_below(random, COUNT(TIMES))]);
        paua_timestamp_parse(TIMES[1], strlen(TIMES[1]), &time, NULL);
        return (paua_value){.type = PAUA_TYPE_TIMESTAMP,
                            .as.i64 = random_below(random, 2) != 0
                                          ? time
                                          : WHOLE[random_below(random, COUNT(WHOLE))]};
    default:
        return random_number(random);
    }
}

/* A value of a type that is no array. */
static paua_value random_scalar(struct random *random, uint32_t type, struct arena *arena)
{
    struct writer scratch = {0};
    paua_value value, stored;
    struct cell cell;
    paua_status status;

    do {
        value = random_literal(random, type);
        if (type == PAUA_TYPE_TIMESTAMP && value.type == PAUA_TYPE_STRING)
            value.type = paua_timestamp_parse(value.as.bytes.data, value.as.bytes.nbytes,
                                              &value.as.i64, NULL) == PAUA_OK
                             ? PAUA_TYPE_TIMESTAMP
                             : PAUA_TYPE_NULL;
        scratch.length = 0;
        status = value_cell(type, &value, &scratch, &cell, NULL);
    } while (status != PAUA_OK); /* the type has no such number */
    stored = value_of_cell(type, &cell);
    if (!type_is_number(type))
        stored.as.bytes.data = arena_copy(arena, stored.as.bytes.data, stored.as.bytes.nbytes);
    writer_free(&scratch);
    return stored;
}

paua_value random_value(struct random *random, uint32_t type, struct arena *arena)
{
    paua_value value = {.type = (uint16_t)type, .count = random_below(random, 4)};
    paua_value *items;

    if (random_below(random, 6) == 0) return (paua_value){.type = PAUA_TYPE_NULL};
    if (!type_is_array(type)) return random_scalar(random, type, arena);
    items = arena_alloc(arena, 4 * sizeof *items);
    assert_non_null(items);
    for (uint32_t i = 0; i < value.count; i++)
        items[i] = random_scalar(random, type_element(type), arena);
    value.as.items = items;
    return value;
}

static paua_op random_op(struct random *random, uint32_t type, bool length)
{
    static const paua_op null[] = {PAUA_IS_NULL, PAUA_IS_NOT_NULL};
    static const paua_op orders[] = {PAUA_EQ, PAUA_NE, PAUA_LT,      PAUA_LE,          PAUA_GT,
                                     PAUA_GE, PAUA_IN, PAUA_BETWEEN, PAUA_NOT_BETWEEN, PAUA_NOT_IN};
    static const paua_op contains[] = {PAUA_CONTAIN_ALL, PAUA_NOT_CONTAIN_ALL, PAUA_CONTAIN_ANY,
                                       PAUA_NOT_CONTAIN_ANY};

    if (random_below(random, 10) == 0) return null[random_below(random, 2)];
    if (type_is_array(type) && !length) return contains[random_below(random, COUNT(contains))];
    if ((type == PAUA_TYPE_STRING || type == PAUA_TYPE_MIXED) && random_below(random, 3) == 0)
        return random_below(random, 2) != 0 ? PAUA_LIKE : PAUA_NOT_LIKE;
    return orders[random_below(random, COUNT(orders))];
}

static size_t random_count(struct random *random, paua_op op)
{
    switch (op) {
    case PAUA_IS_NULL:
    case PAUA_IS_NOT_NULL:
        return 0;
    case PAUA_BETWEEN:
    case PAUA_NOT_BETWEEN:
        return 2;
    case PAUA_IN:
    case PAUA_NOT_IN:
        return 1 + random_below(random, 5);
    case PAUA_CONTAIN_ALL:
    case PAUA_NOT_CONTAIN_ALL:
    case PAUA_CONTAIN_ANY:
    case PAUA_NOT_CONTAIN_ANY:
        return random_below(random, 4);
    default:
        return 1;
    }
}

paua_filter *random_compare(struct random *random, uint32_t field)
{
    uint32_t type = FIELDS[field].type;
    bool length = type_is_array(type) && random_below(random, 3) == 0;
    paua_op op = random_op(random, type, length);
    size_t count = random_count(random, op);
    paua_filter *filter = NULL;
    paua_value values[6];
    paua_error err;

    for (size_t i = 0; i < count; i++) {
        if (random_below(random, 12) == 0)
            values[i] = (paua_value){.type = PAUA_TYPE_NULL};
        else if (op == PAUA_LIKE || op == PAUA_NOT_LIKE)
            values[i] =
                text_value(PAUA_TYPE_STRING, PATTERNS[random_below(random, COUNT(PATTERNS))]);
        else if (length)
            values[i] = random_number(random);
        else
            values[i] = random_literal(random, type_element(type));
    }
    if ((op == PAUA_LIKE || op == PAUA_NOT_LIKE) && random_below(random, 4) == 0)
        values[count++] = text_value(PAUA_TYPE_STRING, random_below(random, 2) != 0 ? "b" : "");
    if (paua_filter_compare(FIELDS[field].name, length, op, values, count, &filter, &err) !=
        PAUA_OK)
        fail_msg("%s", err.message);
    return filter;
}

paua_filter *random_filter(struct random *random, uint32_t levels)
{
    uint32_t kind = levels > 0 ? random_below(random, 8) : 7, count = random_below(random, 4);
    uint32_t field = random_below(random, FIELD_COUNT);
    bool alike = random_below(random, 3) == 0; /* all of one field: binding merges them */
    paua_filter *parts[4], *filter = NULL;
    paua_error err;

    if (kind >= 6) return random_compare(random, field);
    if (kind == 0) {
        parts[0] = random_filter(random, levels - 1);
        assert_int_equal(paua_filter_not(parts[0], &filter, &err), PAUA_OK);
        return filter;
    }
    for (uint32_t i = 0; i < count; i++)
        parts[i] = alike ? random_compare(random, field) : random_filter(random, levels - 1);
    if (kind <= 3)
        assert_int_equal(paua_filter_all(parts, count, &filter, &err), PAUA_OK);
    else
        assert_int_equal(paua_filter_any(parts, count, &filter, &err), PAUA_OK);
    return filter;
}
