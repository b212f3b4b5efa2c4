/* Values: what converts into what, and that keys keep a type's order. */
#include "naive.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

static paua_value of_int(uint32_t type, int64_t number)
{
    return (paua_value){.type = (uint16_t)type, .as.i64 = number};
}

static paua_value of_uint(uint32_t type, uint64_t number)
{
    return (paua_value){.type = (uint16_t)type, .as.u64 = number};
}

static paua_value of_real(double number)
{
    return (paua_value){.type = PAUA_TYPE_DOUBLE, .as.f64 = number};
}

static paua_value of_text(uint32_t type, const char *text, size_t nbytes)
{
    return (paua_value){.type = (uint16_t)type, .as.bytes = {text, nbytes}};
}

static paua_status convert(uint32_t type, const paua_value *value, paua_value *back)
{
    struct writer scratch = {0};
    struct cell cell = {.nbytes = 99};
    paua_error err = {0};
    paua_status status = value_cell(type, value, &scratch, &cell, &err);

    if (status == PAUA_OK && back != NULL) *back = value_of_cell(type, &cell);
    if (status != PAUA_OK) {
        assert_int_equal(cell.nbytes, 99);
        assert_true(err.message[0] != '\0');
    }
    if (status == PAUA_OK && cell.present && type_is_number(type))
        assert_true(value_key_valid(type, cell.key));
    if (status == PAUA_OK && cell.present && !type_is_number(type))
        assert_true(value_bytes_valid(type, cell.data, cell.nbytes));
    writer_free(&scratch);
    return status;
}

static void numbers_convert_exactly_or_not_at_all(void **state)
{
    static const int64_t two53 = INT64_C(1) << 53;
    const struct {
        uint32_t type;
        paua_value value;
        bool converts;
    } cases[] = {
        {PAUA_TYPE_UINT8, of_int(PAUA_TYPE_INT64, 5), true},
        {PAUA_TYPE_UINT8, of_int(PAUA_TYPE_INT64, 255), true},
        {PAUA_TYPE_UINT8, of_int(PAUA_TYPE_INT64, 256), false},
        {PAUA_TYPE_UINT8, of_int(PAUA_TYPE_INT64, -1), false},
        {PAUA_TYPE_INT8, of_int(PAUA_TYPE_INT64, -128), true},
        {PAUA_TYPE_INT8, of_int(PAUA_TYPE_INT64, -129), false},
        {PAUA_TYPE_INT8, of_uint(PAUA_TYPE_UINT64, 127), true},
        {PAUA_TYPE_INT8, of_uint(PAUA_TYPE_UINT64, 128), false},
        {PAUA_TYPE_INT16, of_real(-32768), true},
        {PAUA_TYPE_INT16, of_real(-32769), false},
        {PAUA_TYPE_INT32, of_real(2.0), true},
        {PAUA_TYPE_INT32, of_real(2.5), false},
        {PAUA_TYPE_INT64, of_real(-0x1p63), true},
        {PAUA_TYPE_INT64, of_real(0x1p63), false},
        {PAUA_TYPE_INT64, of_real((double)NAN), false},
        {PAUA_TYPE_INT64, of_real((double)INFINITY), false},
        {PAUA_TYPE_INT64, of_int(PAUA_TYPE_INT64, INT64_MIN), true},
        {PAUA_TYPE_INT64, of_uint(PAUA_TYPE_UINT64, INT64_MAX), true},
        {PAUA_TYPE_INT64, of_uint(PAUA_TYPE_UINT64, UINT64_MAX), false},
        {PAUA_TYPE_UINT64, of_uint(PAUA_TYPE_UINT64, UINT64_MAX), true},
        {PAUA_TYPE_UINT64, of_real(0x1p63), true},
        {PAUA_TYPE_UINT64, of_real(0x1p64), false},
        {PAUA_TYPE_UINT64, of_real(-1), false},
        {PAUA_TYPE_UINT16, of_uint(PAUA_TYPE_UINT32, 65536), false},
        {PAUA_TYPE_UINT32, of_uint(PAUA_TYPE_UINT64, UINT32_MAX), true},
        {PAUA_TYPE_DOUBLE, of_int(PAUA_TYPE_INT64, two53), true},
        {PAUA_TYPE_DOUBLE, of_int(PAUA_TYPE_INT64, two53 + 1), false},
        {PAUA_TYPE_DOUBLE, of_int(PAUA_TYPE_INT64, -two53 - 1), false},
        {PAUA_TYPE_DOUBLE, of_uint(PAUA_TYPE_UINT64, (uint64_t)two53 + 1), false},
        {PAUA_TYPE_DOUBLE, of_real((double)NAN), true},
        {PAUA_TYPE_FLOAT, of_real(0.1), true},
        {PAUA_TYPE_FLOAT, of_real(1e300), false},
        {PAUA_TYPE_FLOAT, of_real((double)-INFINITY), true},
        {PAUA_TYPE_FLOAT, of_real((double)NAN), true},
        {PAUA_TYPE_BOOL, of_int(PAUA_TYPE_INT64, 1), false},
        {PAUA_TYPE_INT8, {.type = PAUA_TYPE_BOOL, .as.boolean = true}, false},
        {PAUA_TYPE_BOOL, {.type = PAUA_TYPE_BOOL, .as.boolean = true}, true},
        {PAUA_TYPE_TIMESTAMP, of_int(PAUA_TYPE_INT64, 1), false},
        {PAUA_TYPE_INT64, of_int(PAUA_TYPE_TIMESTAMP, 1), false},
        {PAUA_TYPE_TIMESTAMP, of_int(PAUA_TYPE_TIMESTAMP, INT64_MIN), true},
        {PAUA_TYPE_INT64, of_text(PAUA_TYPE_STRING, "1", 1), false},
        {PAUA_TYPE_STRING, of_int(PAUA_TYPE_INT64, 1), false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        paua_status status = convert(cases[i].type, &cases[i].value, NULL);

        if (status != (cases[i].converts ? PAUA_OK : PAUA_EINVAL)) fail_msg("case %zu", i);
    }
}

static void a_value_comes_back_as_it_went_in(void **state)
{
    static const int64_t numbers[] = {0, 1, -1, 100, -100};
    static const double reals[] = {0.0, -0.0, 1.5, -2.25, 1e30, -1e-30};
    paua_value back;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (uint32_t type = PAUA_TYPE_INT8; type <= PAUA_TYPE_INT64; type++) {
            paua_value value = of_int(type, numbers[i]);

            assert_int_equal(convert(type, &value, &back), PAUA_OK);
            assert_int_equal(back.type, type);
            assert_true(back.as.i64 == numbers[i]);
        }
        for (uint32_t type = PAUA_TYPE_UINT8; type <= PAUA_TYPE_UINT64; type++) {
            paua_value value = of_uint(type, i * 50);

            assert_int_equal(convert(type, &value, &back), PAUA_OK);
            assert_true(back.type == type && back.as.u64 == i * 50);
        }
    }
    for (size_t i = 0; i < 6; i++) {
        paua_value value = of_real(reals[i]);
        double rounded = (double)(float)reals[i];

        assert_int_equal(convert(PAUA_TYPE_DOUBLE, &value, &back), PAUA_OK);
        assert_memory_equal(&back.as.f64, &reals[i], sizeof reals[i]);
        assert_int_equal(convert(PAUA_TYPE_FLOAT, &value, &back), PAUA_OK);
        assert_memory_equal(&back.as.f64, &rounded, sizeof rounded);
    }
}

/* IEEE 754 totalOrder: -NaN, -inf, numbers, -0, +0, numbers, inf, NaN. */
static void keys_of_floats_are_in_total_order(void **state)
{
    double nan = (double)NAN, inf = (double)INFINITY;
    double order[] = {-nan, -inf,   -1e300, -2.0, -1.0,  -1e-300, -0.0,
                      0.0,  1e-300, 1.0,    2.0,  1e300, inf,     nan};

    (void)state;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        double back = double_of_key(key_of_double(order[i]));

        assert_memory_equal(&back, &order[i], sizeof back);
        if (i > 0) assert_true(key_of_double(order[i - 1]) < key_of_double(order[i]));
        assert_true(key_of_float((float)order[i]) <= UINT32_MAX);
        if (i > 0) assert_true(key_of_float((float)order[i - 1]) <= key_of_float((float)order[i]));
    }
    assert_true(key_of_float(-0.0f) < key_of_float(0.0f));
    assert_true(key_of_int(-1) < key_of_int(0) && key_of_int(INT64_MIN) == 0);
}

static void strings_are_checked_and_bytes_are_not(void **state)
{
    paua_value bad = of_text(PAUA_TYPE_STRING, "ok\xFF", 3), back, null = {.type = PAUA_TYPE_NULL};
    paua_value raw = of_text(PAUA_TYPE_BYTES, "ok\xFF", 3), absent = {.type = PAUA_TYPE_STRING};

    (void)state;
    assert_int_equal(convert(PAUA_TYPE_STRING, &bad, NULL), PAUA_EINVAL);
    assert_int_equal(convert(PAUA_TYPE_MIXED, &bad, NULL), PAUA_EINVAL);
    assert_int_equal(convert(PAUA_TYPE_BYTES, &bad, NULL), PAUA_EINVAL);
    assert_int_equal(convert(PAUA_TYPE_STRING, &raw, NULL), PAUA_EINVAL);
    assert_int_equal(convert(PAUA_TYPE_BYTES, &raw, &back), PAUA_OK);
    assert_int_equal(back.as.bytes.nbytes, 3);
    assert_int_equal(convert(PAUA_TYPE_STRING, &null, &back), PAUA_OK);
    assert_int_equal(back.type, PAUA_TYPE_NULL);
    assert_int_equal(convert(PAUA_TYPE_STRING, &absent, &back), PAUA_OK);
    assert_int_equal(back.type, PAUA_TYPE_NULL);
    bad = of_text(PAUA_TYPE_BYTES, "", PAUA_VALUE_NBYTES_MAX + 1);
    assert_int_equal(convert(PAUA_TYPE_BYTES, &bad, NULL), PAUA_EINVAL);
}

static void mixed_values_of_different_type_differ(void **state)
{
    struct writer a = {0}, b = {0};
    struct cell text, bytes;
    paua_value value = of_text(PAUA_TYPE_STRING, "x", 1), back;

    (void)state;
    assert_int_equal(value_cell(PAUA_TYPE_MIXED, &value, &a, &text, NULL), PAUA_OK);
    value.type = PAUA_TYPE_BYTES;
    assert_int_equal(value_cell(PAUA_TYPE_MIXED, &value, &b, &bytes, NULL), PAUA_OK);
    assert_true(bytes_compare(text.data, text.nbytes, bytes.data, bytes.nbytes) != 0);
    back = value_of_cell(PAUA_TYPE_MIXED, &text);
    assert_int_equal(back.type, PAUA_TYPE_STRING);
    assert_int_equal(back.as.bytes.nbytes, 1);
    writer_free(&a);
    writer_free(&b);
}

static void arrays_hold_what_was_put_in(void **state)
{
    static const int64_t numbers[] = {-128, 0, 127};
    paua_value items[3], array = {.count = 3, .as.items = items}, back;
    struct writer scratch = {0};
    struct cell cell;

    (void)state;
    for (uint32_t type = PAUA_TYPE_BOOL; type <= PAUA_TYPE_BYTES; type++) {
        uint32_t array_type = PAUA_TYPE_ARRAY | type;

        array.type = (uint16_t)array_type;
        for (uint32_t i = 0; i < 3; i++) {
            items[i] = (paua_value){.type = (uint16_t)type};
            if (type == PAUA_TYPE_BOOL)
                items[i].as.boolean = i == 1;
            else if (type >= PAUA_TYPE_UINT8 && type <= PAUA_TYPE_UINT64)
                items[i].as.u64 = i * 100;
            else if (type == PAUA_TYPE_FLOAT || type == PAUA_TYPE_DOUBLE)
                items[i].as.f64 = i * -0.5;
            else if (type == PAUA_TYPE_STRING || type == PAUA_TYPE_BYTES)
                items[i].as.bytes = (paua_bytes){"abc", i};
            else
                items[i].as.i64 = numbers[i];
        }
        writer_free(&scratch);
        assert_int_equal(value_cell(array_type, &array, &scratch, &cell, NULL), PAUA_OK);
        assert_true(value_bytes_valid(array_type, cell.data, cell.nbytes));
        back = value_of_cell(array_type, &cell);
        assert_true(back.type == array_type && back.stored == 1 && back.count == 3);
        for (uint32_t i = 0; i < 3; i++) {
            paua_value item = paua_value_item(&back, i);

            assert_int_equal(item.type, type);
            if (type == PAUA_TYPE_STRING || type == PAUA_TYPE_BYTES) {
                assert_int_equal(item.as.bytes.nbytes, i);
                assert_memory_equal(item.as.bytes.data, "abc", i);
            } else if (type == PAUA_TYPE_BOOL) {
                assert_int_equal(item.as.boolean, items[i].as.boolean);
            } else {
                assert_true(item.as.u64 == items[i].as.u64);
            }
        }
        /* A stored array can be put again. */
        assert_int_equal(convert(array_type, &back, NULL), PAUA_OK);
    }
    writer_free(&scratch);
}

static void arrays_that_are_wrong_are_refused(void **state)
{
    paua_value items[2] = {of_int(PAUA_TYPE_INT64, 1), {.type = PAUA_TYPE_NULL}};
    paua_value array = {.type = PAUA_TYPE_ARRAY | PAUA_TYPE_INT64, .count = 2, .as.items = items};
    paua_value stored = {.type = PAUA_TYPE_ARRAY | PAUA_TYPE_INT32, .stored = 1, .count = 1};
    struct writer scratch = {0};
    struct cell cell;
    paua_error err;

    (void)state;
    assert_int_equal(value_cell(array.type, &array, &scratch, &cell, &err), PAUA_EINVAL);
    assert_non_null(strstr(err.message, "element 1: "));
    writer_free(&scratch);
    items[1] = of_text(PAUA_TYPE_STRING, "x", 1);
    assert_int_equal(convert(array.type, &array, NULL), PAUA_EINVAL);
    array.as.items = NULL;
    assert_int_equal(convert(array.type, &array, NULL), PAUA_EINVAL);
    array.count = 0;
    assert_int_equal(convert(array.type, &array, NULL), PAUA_OK);
    assert_int_equal(convert(PAUA_TYPE_INT64, &array, NULL), PAUA_EINVAL);
    array = of_int(PAUA_TYPE_INT64, 5);
    assert_int_equal(convert(PAUA_TYPE_ARRAY | PAUA_TYPE_INT64, &array, NULL), PAUA_EINVAL);
    stored.as.bytes = (paua_bytes){"\1\0\0", 3};
    assert_int_equal(convert(stored.type, &stored, NULL), PAUA_EINVAL);
    stored.as.bytes.nbytes = 4;
    assert_int_equal(convert(stored.type, &stored, NULL), PAUA_OK);
    assert_int_equal(convert(PAUA_TYPE_ARRAY | PAUA_TYPE_UINT8, &stored, NULL), PAUA_OK);
    stored.count = 2;
    assert_int_equal(convert(stored.type, &stored, NULL), PAUA_EINVAL);
}

static void stored_bytes_that_break_a_types_rules_are_told(void **state)
{
    static const struct {
        uint32_t type;
        const char *bytes;
        size_t nbytes;
        bool valid;
    } cases[] = {
        {PAUA_TYPE_STRING, "", 0, true},
        {PAUA_TYPE_STRING, "\xC3\xA9", 2, true},
        {PAUA_TYPE_STRING, "\xC3", 1, false},
        {PAUA_TYPE_BYTES, "\xC3", 1, true},
        {PAUA_TYPE_MIXED, "", 0, false},
        {PAUA_TYPE_MIXED, "\x0E", 1, true},
        {PAUA_TYPE_MIXED, "\x0E\xFF", 2, false},
        {PAUA_TYPE_MIXED, "\x0F\xFF", 2, true},
        {PAUA_TYPE_MIXED, "\x0Dx", 2, false},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_BOOL, "\1\0\1", 3, true},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_BOOL, "\2", 1, false},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_INT16, "\1\0\1", 3, false},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_INT16, "\1\0\1\0", 4, true},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_STRING, "\1\0\0\0x\0\0\0\0", 9, true},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_STRING, "\1\0\0\0x\0\0\0", 8, false},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_STRING, "\2\0\0\0x", 5, false},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_STRING, "\1\0\0\0\xFF", 5, false},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_BYTES, "\1\0\0\0\xFF", 5, true},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_BYTES, "\xFF\xFF\xFF\xFF", 4, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t *exact = mem_dup(cases[i].bytes, cases[i].nbytes); /* watched by a sanitizer */

        if (value_bytes_valid(cases[i].type, exact, cases[i].nbytes) != cases[i].valid)
            fail_msg("case %zu", i);
        mem_free(exact);
    }
}

static void types_have_names_that_parse(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 256; type++) {
        const char *name = paua_type_name(type);

        if (type_valid(type))
            assert_int_equal(paua_type_parse(name), type);
        else
            assert_int_equal(paua_type_parse(name), PAUA_TYPE_NONE);
    }
    assert_int_equal(paua_type_parse("INTEGER"), PAUA_TYPE_INT64);
    assert_int_equal(paua_type_parse("text"), PAUA_TYPE_STRING);
    assert_int_equal(paua_type_parse("real"), PAUA_TYPE_DOUBLE);
    assert_int_equal(paua_type_parse("text[]"), PAUA_TYPE_ARRAY | PAUA_TYPE_STRING);
    assert_int_equal(paua_type_parse("array of Integer"), PAUA_TYPE_ARRAY | PAUA_TYPE_INT64);
    assert_int_equal(paua_type_parse("array of mixed"), PAUA_TYPE_NONE);
    assert_int_equal(paua_type_parse("array of array of int8"), PAUA_TYPE_NONE);
    assert_int_equal(paua_type_parse("int9"), PAUA_TYPE_NONE);
    assert_int_equal(paua_type_parse(""), PAUA_TYPE_NONE);
    assert_int_equal(paua_type_parse(NULL), PAUA_TYPE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_convert_exactly_or_not_at_all),
        cmocka_unit_test(a_value_comes_back_as_it_went_in),
        cmocka_unit_test(keys_of_floats_are_in_total_order),
        cmocka_unit_test(strings_are_checked_and_bytes_are_not),
        cmocka_unit_test(mixed_values_of_different_type_differ),
        cmocka_unit_test(arrays_hold_what_was_put_in),
        cmocka_unit_test(arrays_that_are_wrong_are_refused),
        cmocka_unit_test(stored_bytes_that_break_a_types_rules_are_told),
        cmocka_unit_test(types_have_names_that_parse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
