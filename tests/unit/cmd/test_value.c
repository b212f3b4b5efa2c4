/* test_value.c - values of fields become JSON and text and come back as they were. */
#include "util.h"
#include "value.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct value_room room;

static paua_value whole(uint32_t type, int64_t number)
{
    paua_value value = {.type = (uint16_t)type};

    value.as.i64 = number;
    return value;
}

static paua_value fraction(uint32_t type, double number)
{
    paua_value value = {.type = (uint16_t)type};

    value.as.f64 = number;
    return value;
}

static paua_value bytes(uint32_t type, const char *data, size_t nbytes)
{
    paua_value value = {.type = (uint16_t)type};

    value.as.bytes = (paua_bytes){data, nbytes};
    return value;
}

/* Given values may come in a wider type; the library narrows them. */
static double number_of(const paua_value *value)
{
    switch (value->type) {
    case PAUA_TYPE_BOOL:
        return value->as.boolean ? 1 : 0;
    case PAUA_TYPE_FLOAT:
    case PAUA_TYPE_DOUBLE:
        return value->as.f64;
    case PAUA_TYPE_UINT8:
    case PAUA_TYPE_UINT64:
        return (double)value->as.u64;
    default:
        return (double)value->as.i64;
    }
}

static void assert_same(const paua_value *got, const paua_value *wanted)
{
    if (wanted->type == PAUA_TYPE_STRING || wanted->type == PAUA_TYPE_BYTES) {
        assert_int_equal(got->type, wanted->type);
        assert_int_equal(got->as.bytes.nbytes, wanted->as.bytes.nbytes);
        assert_memory_equal(got->as.bytes.data, wanted->as.bytes.data, wanted->as.bytes.nbytes);
    } else if (wanted->type == PAUA_TYPE_UINT64) {
        assert_true(got->as.u64 == wanted->as.u64);
    } else if (wanted->type == PAUA_TYPE_INT64 || wanted->type == PAUA_TYPE_TIMESTAMP) {
        assert_true(got->as.i64 == wanted->as.i64);
    } else if (wanted->type == PAUA_TYPE_FLOAT) {
        float x = (float)got->as.f64, y = (float)wanted->as.f64;

        assert_true(x == y || (isnan(x) && isnan(y)));
    } else {
        double x = number_of(got), y = number_of(wanted);

        assert_true(x == y || (isnan(x) && isnan(y)));
    }
}

static char *printed(const paua_value *value, size_t *nbytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, nbytes);

    assert_non_null(out);
    value_print_json(out, value);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void json_there_and_back(const paua_value *value, const char *expected)
{
    size_t nbytes;
    char *text = printed(value, &nbytes);
    json_t *json = json_loadb(text, nbytes, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    paua_value back;
    struct fault fault;

    assert_string_equal(text, expected);
    assert_non_null(json);
    assert_true(value_from_json(&room, value->type, json, &back, &fault));
    assert_same(&back, value);
    json_decref(json);
    free(text);
}

static void text_there_and_back(const paua_value *value, const char *expected)
{
    size_t nbytes;
    char *text = value_text(value, &nbytes);
    paua_value back;
    struct fault fault;

    assert_int_equal(nbytes, strlen(expected));
    assert_memory_equal(text, expected, nbytes);
    assert_true(value_from_text(&room, value->type, text, nbytes, &back, &fault));
    assert_same(&back, value);
    free(text);
}

static void every_type_comes_back_from_its_json_and_its_text(void **state)
{
    paua_value yes = {.type = PAUA_TYPE_BOOL}, big = {.type = PAUA_TYPE_UINT64};
    const struct {
        paua_value value;
        const char *json, *text;
    } cases[] = {
        {whole(PAUA_TYPE_INT8, -128), "-128", "-128"},
        {whole(PAUA_TYPE_INT16, 32767), "32767", "32767"},
        {whole(PAUA_TYPE_INT32, -1), "-1", "-1"},
        {whole(PAUA_TYPE_INT64, INT64_MIN), "-9223372036854775808", "-9223372036854775808"},
        {whole(PAUA_TYPE_UINT8, 255), "255", "255"},
        {fraction(PAUA_TYPE_DOUBLE, 0.1), "0.1", "0.1"},
        {fraction(PAUA_TYPE_DOUBLE, 0.1 + 0.2), "0.30000000000000004", "0.30000000000000004"},
        {fraction(PAUA_TYPE_DOUBLE, 8), "8.0", "8"},
        {fraction(PAUA_TYPE_DOUBLE, 1e300), "1e+300", "1e+300"},
        {fraction(PAUA_TYPE_FLOAT, (double)8.3f), "8.3", "8.3"},
        {fraction(PAUA_TYPE_FLOAT, 16777216), "16777216.0", "16777216"},
        {fraction(PAUA_TYPE_DOUBLE, NAN), "\"NaN\"", "NaN"},
        {fraction(PAUA_TYPE_FLOAT, INFINITY), "\"Infinity\"", "Infinity"},
        {fraction(PAUA_TYPE_DOUBLE, -INFINITY), "\"-Infinity\"", "-Infinity"},
        {whole(PAUA_TYPE_TIMESTAMP, 500000000), "\"1970-01-01T00:00:00.5Z\"",
         "1970-01-01T00:00:00.5Z"},
        {bytes(PAUA_TYPE_STRING, "a\"b\n", 4), "\"a\\\"b\\n\"", "a\"b\n"},
        {bytes(PAUA_TYPE_STRING, "", 0), "\"\"", ""},
        {bytes(PAUA_TYPE_BYTES, "\0\377", 2), "{\"base64\":\"AP8=\"}", "x'00ff'"},
        {bytes(PAUA_TYPE_BYTES, "", 0), "{\"base64\":\"\"}", "x''"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_there_and_back(&cases[i].value, cases[i].json);
        text_there_and_back(&cases[i].value, cases[i].text);
    }
    yes.as.boolean = true;
    json_there_and_back(&yes, "true");
    text_there_and_back(&yes, "true");
    big.as.u64 = UINT64_MAX;
    json_there_and_back(&big, "\"18446744073709551615\"");
    text_there_and_back(&big, "18446744073709551615");
}

static paua_value parse_json(uint32_t type, const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    paua_value value;
    struct fault fault;

    assert_non_null(json);
    assert_true(value_from_json(&room, type, json, &value, &fault));
    json_decref(json);
    return value;
}

static void arrays_come_back_with_every_element(void **state)
{
    static const char *const texts[] = {"[1,2,3]", "[0.5,2.0]", "[\"a\",\"\"]", "[true,false]",
                                        "[{\"base64\":\"AP8=\"}]"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        paua_value value = parse_json(0, texts[i]), again;
        struct fault fault;
        size_t nbytes;
        char *text = value_text(&value, &nbytes);

        assert_string_equal(text, texts[i]);
        assert_true(value_from_text(&room, value.type, text, nbytes, &again, &fault));
        assert_int_equal(again.type & PAUA_TYPE_ARRAY, PAUA_TYPE_ARRAY);
        assert_int_equal(again.count, value.count);
        free(text);
    }
}

static void an_array_of_whole_numbers_and_one_fraction_is_of_fractions(void **state)
{
    paua_value value = parse_json(0, "[1, 2.5, -3]");

    (void)state;
    assert_int_equal(value.type, PAUA_TYPE_ARRAY | PAUA_TYPE_DOUBLE);
    assert_true(value.as.items[0].as.f64 == 1 && value.as.items[2].as.f64 == -3);
    for (uint32_t i = 0; i < value.count; i++)
        assert_int_equal(value.as.items[i].type, PAUA_TYPE_DOUBLE);
}

static void json_of_no_value_of_the_type_is_refused_with_the_reason(void **state)
{
    static const struct {
        uint32_t type;
        const char *json, *why;
    } cases[] = {
        {PAUA_TYPE_INT32, "\"7\"", "expected int32, not a string"},
        {PAUA_TYPE_BOOL, "\"true\"", "expected bool, not a string"},
        {PAUA_TYPE_DOUBLE, "\"nan\"", "expected double, not a string"},
        {PAUA_TYPE_UINT64, "\"18446744073709551616\"", "expected uint64, not a string"},
        {PAUA_TYPE_BYTES, "\"AP8=\"", "expected bytes, not a string"},
        {PAUA_TYPE_TIMESTAMP, "\"yesterday\"", "yesterday"},
        {PAUA_TYPE_STRING, "[\"a\"]", "expected string, not an array"},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_STRING, "\"a\"", "expected array of string, not a string"},
        {PAUA_TYPE_BYTES, "{\"base64\":\"A\"}", "no base64 at its character"},
        {PAUA_TYPE_BYTES, "{\"base64\":\"AP8=\",\"x\":1}", "an object is no value"},
        {0, "{\"a\":1}", "an object is no value"},
        {0, "[]", "an empty array has no type"},
        {0, "[[1]]", "element 0: an array holds neither arrays nor null"},
        {0, "[1,null]", "element 1: an array holds neither arrays nor null"},
        {0, "[1,\"a\"]", "element 1 is of type string, those before it of type int64"},
        {0, "[true,1]", "element 1 is of type int64, those before it of type bool"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_t *json = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
        struct fault fault = {""};
        paua_value value;

        assert_false(value_from_json(&room, cases[i].type, json, &value, &fault));
        if (strstr(fault.text, cases[i].why) == NULL) fail_msg("%s", fault.text);
        json_decref(json);
    }
}

static void text_of_no_value_of_the_type_is_refused_with_the_reason(void **state)
{
    static const struct {
        uint32_t type;
        const char *text, *why;
    } cases[] = {
        {PAUA_TYPE_INT16, "abc", "\"abc\" is no int16"},
        {PAUA_TYPE_INT16, "", "\"\" is no int16"},
        {PAUA_TYPE_INT16, "1.5", "\"1.5\" is no int16"},
        {PAUA_TYPE_INT64, "9223372036854775808", "is no int64"},
        {PAUA_TYPE_UINT64, "18446744073709551616", "is no uint64"},
        {PAUA_TYPE_DOUBLE, "1,5", "\"1,5\" is no double"},
        {PAUA_TYPE_BOOL, "1", "\"1\" is no bool"},
        {PAUA_TYPE_BYTES, "00ff", "bytes are given as x'00ff'"},
        {PAUA_TYPE_BYTES, "x'0'", "bytes are given as x'00ff'"},
        {PAUA_TYPE_BYTES, "x'0x'", "bytes are given as x'00ff'"},
        {PAUA_TYPE_BYTES, "x'+f'", "bytes are given as x'00ff'"},
        {PAUA_TYPE_TIMESTAMP, "2020-13-01", "2020-13-01"},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_STRING, "a", "an array is given as JSON"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fault fault = {""};
        paua_value value;

        assert_false(value_from_text(&room, cases[i].type, cases[i].text, strlen(cases[i].text),
                                     &value, &fault));
        if (strstr(fault.text, cases[i].why) == NULL) fail_msg("%s", fault.text);
    }
}

static void only_what_is_written_as_a_number_is_taken_for_one(void **state)
{
    static const struct {
        const char *text;
        uint32_t type;
    } cases[] = {
        {"0", PAUA_TYPE_INT64},
        {"-17", PAUA_TYPE_INT64},
        {"9223372036854775807", PAUA_TYPE_INT64},
        {"9223372036854775808", PAUA_TYPE_STRING}, /* a double would lose digits */
        {"0.5", PAUA_TYPE_DOUBLE},
        {"-0", PAUA_TYPE_INT64},
        {"1e5", PAUA_TYPE_DOUBLE},
        {"1e999", PAUA_TYPE_STRING},
        {"NaN", PAUA_TYPE_DOUBLE},
        {"nan", PAUA_TYPE_STRING},
        {"inf", PAUA_TYPE_STRING},
        {"0x10", PAUA_TYPE_STRING},
        {"007", PAUA_TYPE_STRING},
        {"+49", PAUA_TYPE_STRING},
        {" 1", PAUA_TYPE_STRING},
        {"1 ", PAUA_TYPE_STRING},
        {"1-2", PAUA_TYPE_STRING},
        {"-", PAUA_TYPE_STRING},
        {".", PAUA_TYPE_STRING},
        {"true", PAUA_TYPE_BOOL},
        {"True", PAUA_TYPE_STRING},
        {"null", PAUA_TYPE_STRING},
        {"", PAUA_TYPE_STRING},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fault fault;
        paua_value value;

        assert_true(
            value_from_text(&room, 0, cases[i].text, strlen(cases[i].text), &value, &fault));
        if (value.type != cases[i].type)
            fail_msg("%s became %s", cases[i].text, paua_type_name(value.type));
    }
}

static void a_number_with_a_nul_in_it_is_no_number(void **state)
{
    struct fault fault;
    paua_value value;

    (void)state;
    assert_false(value_from_text(&room, PAUA_TYPE_INT64, "5\0x", 3, &value, &fault));
    assert_false(value_from_text(&room, PAUA_TYPE_DOUBLE, "NaN\0", 4, &value, &fault));
    assert_true(value_from_text(&room, 0, "5\0x", 3, &value, &fault));
    assert_int_equal(value.type, PAUA_TYPE_STRING);
    assert_int_equal(value.as.bytes.nbytes, 3);
}

static void a_field_takes_only_values_that_lose_nothing(void **state)
{
    static const struct {
        uint32_t type;
        const char *json;
        bool fits;
    } cases[] = {
        {PAUA_TYPE_INT8, "127", true},
        {PAUA_TYPE_INT8, "128", false},
        {PAUA_TYPE_INT8, "-128", true},
        {PAUA_TYPE_INT8, "-129", false},
        {PAUA_TYPE_INT16, "32768", false},
        {PAUA_TYPE_INT32, "2147483647", true},
        {PAUA_TYPE_INT32, "2147483648", false},
        {PAUA_TYPE_INT64, "9223372036854775807", true},
        {PAUA_TYPE_UINT8, "255", true},
        {PAUA_TYPE_UINT8, "256", false},
        {PAUA_TYPE_UINT8, "-1", false},
        {PAUA_TYPE_UINT64, "-1", false},
        {PAUA_TYPE_UINT64, "\"18446744073709551615\"", true},
        {PAUA_TYPE_UINT32, "\"18446744073709551615\"", false},
        {PAUA_TYPE_INT8, "5.0", true},
        {PAUA_TYPE_INT8, "5.5", false},
        {PAUA_TYPE_INT64, "9223372036854775808.0", false},
        {PAUA_TYPE_UINT8, "-1.0", false},
        {PAUA_TYPE_FLOAT, "0.1", true},
        {PAUA_TYPE_FLOAT, "1e39", false},
        {PAUA_TYPE_FLOAT, "\"Infinity\"", true},
        {PAUA_TYPE_DOUBLE, "9007199254740992", true},
        {PAUA_TYPE_DOUBLE, "9007199254740993", false},
        {PAUA_TYPE_BOOL, "true", true},
        {PAUA_TYPE_BOOL, "1", false},
        {PAUA_TYPE_INT8, "true", false},
        {PAUA_TYPE_TIMESTAMP, "5", false},
        {PAUA_TYPE_STRING, "5", false},
        {PAUA_TYPE_STRING, "{\"base64\":\"AA==\"}", false},
        {PAUA_TYPE_MIXED, "{\"base64\":\"AA==\"}", true},
        {PAUA_TYPE_MIXED, "\"a\"", true},
        {PAUA_TYPE_STRING, "null", true},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_INT8, "[1,127]", true},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_INT8, "[1,128]", false},
        {PAUA_TYPE_ARRAY | PAUA_TYPE_INT8, "1", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        paua_value value = parse_json(cases[i].type, cases[i].json);
        struct fault fault;

        if (value_fits(cases[i].type, &value, &fault) != cases[i].fits)
            fail_msg("%s for %s", cases[i].json, paua_type_name(cases[i].type));
    }
}

static void a_string_must_be_utf_8_and_bytes_need_not(void **state)
{
    const paua_value string = bytes(PAUA_TYPE_STRING, "a\377", 2);
    const paua_value raw = bytes(PAUA_TYPE_BYTES, "a\377", 2);
    struct fault fault;

    (void)state;
    assert_false(value_fits(PAUA_TYPE_STRING, &string, &fault));
    assert_non_null(strstr(fault.text, "no UTF-8 at its byte 1"));
    assert_true(value_fits(PAUA_TYPE_BYTES, &raw, &fault));
}

static int free_room(void **state)
{
    (void)state;
    value_room_free(&room);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back_from_its_json_and_its_text),
        cmocka_unit_test(arrays_come_back_with_every_element),
        cmocka_unit_test(an_array_of_whole_numbers_and_one_fraction_is_of_fractions),
        cmocka_unit_test(json_of_no_value_of_the_type_is_refused_with_the_reason),
        cmocka_unit_test(text_of_no_value_of_the_type_is_refused_with_the_reason),
        cmocka_unit_test(only_what_is_written_as_a_number_is_taken_for_one),
        cmocka_unit_test(a_field_takes_only_values_that_lose_nothing),
        cmocka_unit_test(a_string_must_be_utf_8_and_bytes_need_not),
        cmocka_unit_test(a_number_with_a_nul_in_it_is_no_number),
    };

    return cmocka_run_group_tests(tests, NULL, free_room);
}
