/* test_bind.c - fields are looked up, types compared, and numbers cut where they should be. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "filter/bind.h"
#include "naive.h"

static paua_status bind(const char *text, bool unknown_is_null, struct bound_filter **bound,
                        paua_error *err)
{
    paua_filter *filter;
    paua_status status = paua_filter_parse(text, strlen(text), &filter, err);

    if (status != PAUA_OK) fail_msg("%s: %s", text, err->message);
    status = filter_bind(filter, &TEST_FIELDS, unknown_is_null, bound, err);
    paua_filter_free(filter);
    return status;
}

static void a_condition_that_the_field_does_not_have_is_an_error(void **state)
{
    static const char *const cases[][2] = {
        {"i9 = 1", "line 1, column 1: there is no field \"i9\"; did you mean \"i8\"?"},
        {"b AND\n I64 = 1",
         "line 2, column 2: there is no field \"I64\"; did you mean \"i64\" or \"u64\"?"},
        {"nothing_like_it = 1", "line 1, column 1: there is no field \"nothing_like_it\""},
        {"TRUE OR i9 = 1", "line 1, column 9: there is no field \"i9\"; did you mean \"i8\"?"},
        {"i8 = 'x'", "line 1, column 6: field \"i8\" is of type int8; 'x' is a string"},
        {"i8 IN (1, TRUE)", "line 1, column 11: field \"i8\" is of type int8; TRUE is a boolean"},
        {"i8", "line 1, column 1: field \"i8\" is of type int8; TRUE is a boolean"},
        {"d BETWEEN 1 AND X'00'",
         "line 1, column 17: field \"d\" is of type double; X'00' is bytes"},
        {"b = 1", "line 1, column 5: field \"b\" is of type bool; 1 is a number"},
        {"t = 5", "line 1, column 5: field \"t\" is of type timestamp; 5 is a number"},
        {"t = 'soon'",
         "line 1, column 5: 'soon' is no timestamp; write it as 2026-11-30T21:40:00.5Z (RFC 3339)"},
        {"s = 5.5", "line 1, column 5: field \"s\" is of type string; 5.5 is a number"},
        {"s = TIMESTAMP '1970-01-01'",
         "line 1, column 15: field \"s\" is of type string; TIMESTAMP '1970-01-01T00:00:00Z' is a "
         "timestamp"},
        {"s = X'00'", "line 1, column 5: field \"s\" is of type string; X'00' is bytes"},
        {"y = 'x'", "line 1, column 5: field \"y\" is of type bytes; 'x' is a string"},
        {"m = 5", "line 1, column 5: field \"m\" is of type mixed; 5 is a number"},
        {"y LIKE 'x'", "line 1, column 1: field \"y\" is of type bytes, which has no LIKE"},
        {"i8 NOT LIKE 'x'",
         "line 1, column 1: field \"i8\" is of type int8, which has no NOT LIKE"},
        {"i8 CONTAIN_ANY (1)",
         "line 1, column 1: field \"i8\" is of type int8, which has no CONTAIN_ANY"},
        {"s CONTAIN_ALL ('a')",
         "line 1, column 1: field \"s\" is of type string, which has no CONTAIN_ALL"},
        {"array_length(s) = 1",
         "line 1, column 14: field \"s\" is of type string; array_length() is for arrays"},
        {"as = 'a'",
         "line 1, column 1: field \"as\" is of type array of string, which has no =; arrays have "
         "CONTAIN_ALL, CONTAIN_ANY, IS NULL and array_length()"},
        {"as CONTAIN_ANY ('a', 5)",
         "line 1, column 22: field \"as\" is of type array of string; 5 is a number"},
        {"ai CONTAIN_ALL ('a')",
         "line 1, column 17: field \"ai\" is of type array of int16; 'a' is a string"},
        {"array_length(as) = 'a'",
         "line 1, column 20: field \"as\" is of type array of string; 'a' is a string"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bound_filter *bound = NULL;
        paua_error err;

        if (bind(cases[i][0], false, &bound, &err) != PAUA_EINVAL) fail_msg("%s", cases[i][0]);
        assert_string_equal(err.message, cases[i][1]);
        assert_null(bound);
    }
}

static void a_filter_without_text_has_errors_without_places(void **state)
{
    paua_value value = {.type = PAUA_TYPE_BOOL};
    struct bound_filter *bound;
    paua_filter *filter;
    paua_error err;

    (void)state;
    assert_int_equal(paua_filter_compare("i9", false, PAUA_EQ, &value, 1, &filter, NULL), PAUA_OK);
    assert_int_equal(filter_bind(filter, &TEST_FIELDS, false, &bound, &err), PAUA_EINVAL);
    assert_string_equal(err.message, "there is no field \"i9\"; did you mean \"i8\"?");
    paua_filter_free(filter);
}

static bool passes_nothing(const struct bound_filter *bound)
{
    return !filter_passes(bound, NULL, NULL); /* asks for no cell, or crashes */
}

static void an_unknown_field_may_be_one_that_no_row_has(void **state)
{
    static const struct {
        const char *text;
        bool passes;
    } cases[] = {{"what = 1", false},
                 {"what != 1", false},
                 {"NOT what = 1", false},
                 {"what IS NULL", true},
                 {"what IS NOT NULL", false},
                 {"NOT what IS NOT NULL", true},
                 {"what", false},
                 {"array_length(what) IS NULL", true},
                 {"what CONTAIN_ALL ()", false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bound_filter *bound;
        paua_error err;

        assert_int_equal(bind(cases[i].text, true, &bound, &err), PAUA_OK);
        assert_int_equal(passes_nothing(bound), !cases[i].passes);
        assert_int_equal(bound_filter_field(bound, 0), UINT32_MAX);
        bound_filter_free(bound);
    }
    bound_filter_free(NULL);
}

static void a_bound_filter_tells_the_fields_that_it_reads(void **state)
{
    struct bound_filter *bound;
    paua_error err;

    (void)state;
    assert_int_equal(
        bind("u64 = 1 OR (i8 > 2 AND u64 < 5) OR i16 = NULL OR b OR NOT b", false, &bound, &err),
        PAUA_OK);
    assert_int_equal(bound_filter_field(bound, 0), 0);
    assert_int_equal(bound_filter_field(bound, 1), 1);
    assert_int_equal(bound_filter_field(bound, 2), 8);
    assert_int_equal(bound_filter_field(bound, 3), UINT32_MAX);
    bound_filter_free(bound);
}

static void running_out_of_memory_is_told(void **state)
{
    static const char text[] =
        "(i8 = 1 OR s LIKE '%b%' OR s LIKE 'b%') AND m IN ('a', X'00') AND NOT d BETWEEN 1 AND 2 "
        "AND (i8 = 1 OR i8 = 2 OR b) AND (y = X'00' OR y = X'01') AND s >= 'a' AND s < 'c' "
        "AND ai CONTAIN_ALL (1, 2) AND array_length(as) > 1 AND s NOT BETWEEN 'a' AND 'b'";
    paua_filter *filter;

    (void)state;
    assert_int_equal(paua_filter_parse(text, strlen(text), &filter, NULL), PAUA_OK);
    for (uint64_t n = 1;; n++) {
        struct bound_filter *bound = NULL;
        paua_error err;
        paua_status status;

        mem_fail_after(n);
        status = filter_bind(filter, &TEST_FIELDS, false, &bound, &err);
        mem_fail_after(0);
        bound_filter_free(bound);
        if (status == PAUA_OK) {
            assert_true(n > 3);
            break;
        }
        assert_int_equal(status, PAUA_ENOMEM);
        assert_null(bound);
    }
    paua_filter_free(filter);
}

/* ---- plans ---- */

static void what_is_known_beforehand_is_not_tested(void **state)
{
    static const struct {
        const char *text;
        enum step_kind kind;
        enum test_kind test;
    } cases[] = {
        {"i8 < 300", STEP_TEST, TEST_NOT_NULL},
        {"i8 = 5.5", STEP_NONE, TEST_NULL},
        {"i8 != 5.5", STEP_TEST, TEST_NOT_NULL},
        {"u64 >= 0", STEP_TEST, TEST_NOT_NULL},
        {"d = nan", STEP_NONE, TEST_NULL},
        {"i8 BETWEEN 5 AND 4", STEP_NONE, TEST_NULL},
        {"s BETWEEN 'b' AND 'a'", STEP_NONE, TEST_NULL},
        {"i8 = 1", STEP_TEST, TEST_KEYS},
        {"s LIKE '%'", STEP_TEST, TEST_NOT_NULL},
        {"s LIKE 'abc'", STEP_TEST, TEST_SET},
        {"s LIKE 'a\\%%'", STEP_TEST, TEST_BYTES},
        {"s LIKE '%a'", STEP_TEST, TEST_CALL},
        {"m LIKE '%'", STEP_TEST, TEST_BYTES},
        {"as CONTAIN_ALL ()", STEP_TEST, TEST_NOT_NULL},
        {"array_length(as) < 0", STEP_NONE, TEST_NULL},
        {"array_length(as) > 0", STEP_TEST, TEST_CALL},
        {"array_length(as) >= 0", STEP_TEST, TEST_NOT_NULL},
        {"b OR TRUE", STEP_EVERY, TEST_NULL},
        {"b AND i8 = NULL", STEP_NONE, TEST_NULL},
        {"b IS NULL AND TRUE", STEP_TEST, TEST_NULL},
        {"NOT (b IS NULL OR FALSE)", STEP_TEST, TEST_NOT_NULL},
        {"NOT (b AND i8 = 1)", STEP_ANY, TEST_NULL},
        {"s NOT BETWEEN 'a' AND 'b'", STEP_ANY, TEST_NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bound_filter *bound;
        paua_error err;

        assert_int_equal(bind(cases[i].text, false, &bound, &err), PAUA_OK);
        if (bound->root->kind != cases[i].kind ||
            (cases[i].kind == STEP_TEST && bound->root->as.test.kind != cases[i].test))
            fail_msg("%s", cases[i].text);
        bound_filter_free(bound);
    }
}

static void ranges_that_meet_are_one(void **state)
{
    static const struct {
        const char *text;
        size_t ranges;
    } cases[] = {{"i8 IN (3, 1, 2, 2)", 1},
                 {"i8 IN (1, 3)", 2},
                 {"i8 NOT IN (1, 3)", 3},
                 {"i8 != 5", 2},
                 {"i8 NOT IN (-128, 127)", 1},
                 {"d IN (0, -0.0)", 1},
                 {"i8 NOT BETWEEN 5 AND 7", 2},
                 {"i8 BETWEEN 4.5 AND 7.5", 1},
                 {"u64 NOT IN (18446744073709551615)", 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bound_filter *bound;
        paua_error err;

        assert_int_equal(bind(cases[i].text, false, &bound, &err), PAUA_OK);
        assert_int_equal(bound->root->kind, STEP_TEST);
        if (bound->root->as.test.range_count != cases[i].ranges) fail_msg("%s", cases[i].text);
        bound_filter_free(bound);
    }
}

static void tests_of_one_field_beside_each_other_are_one(void **state)
{
    static const struct {
        const char *text;
        enum test_kind kind;
        size_t count; /* of ranges, or of the set */
    } cases[] = {
        {"i8 = 1 OR i8 = 3 OR i8 = 5", TEST_KEYS, 3},
        {"i8 = 1 OR (i8 = 3 OR i8 IN (2, 3))", TEST_KEYS, 1},
        {"i8 < 3 OR i8 > 5 OR i8 = 6", TEST_KEYS, 2},
        {"i8 >= 1 AND i8 < 5", TEST_KEYS, 1},
        {"i8 != 1 AND i8 != 3 AND i8 != 5", TEST_KEYS, 4},
        {"u64 >= 5 AND u64 <= 18446744073709551614 AND u64 != 7", TEST_KEYS, 2},
        {"d > 1 AND d <= inf", TEST_KEYS, 1},
        {"NOT (i8 = 1 OR i8 = 3)", TEST_KEYS, 3},
        {"s = 'b' OR s = 'a' OR s IN ('c', 'b')", TEST_SET, 3},
        {"NOT (s = 'b' OR s = 'a')", TEST_SET, 2},
        {"m = 'a' OR m = X'61'", TEST_SET, 2},
        {"s >= 'a' AND s < 'b'", TEST_BYTES, 0},
        {"m > 'a' AND m < 'b' AND m <= 'c'", TEST_BYTES, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct column_test *test;
        struct bound_filter *bound;
        paua_error err;

        assert_int_equal(bind(cases[i].text, false, &bound, &err), PAUA_OK);
        test = &bound->root->as.test;
        if (bound->root->kind != STEP_TEST || test->kind != cases[i].kind ||
            test->range_count + test->set_count != cases[i].count)
            fail_msg("%s", cases[i].text);
        bound_filter_free(bound);
    }
}

/* What one of two tests may find where the other finds nothing, and of two fields. */
static void tests_that_cannot_be_one_stay_apart(void **state)
{
    static const struct {
        const char *text;
        enum step_kind kind;
    } cases[] = {{"s = 'a' AND s = 'b'", STEP_ALL},    {"s != 'a' OR s != 'b'", STEP_ANY},
                 {"s = 'a' OR s > 'b'", STEP_ANY},     {"s < 'a' OR s > 'b'", STEP_ANY},
                 {"i8 = 1 OR i16 = 1", STEP_ANY},      {"i8 = 1 OR i8 IS NULL", STEP_ANY},
                 {"i8 = 1 AND i8 = 2", STEP_NONE},     {"i8 = 1 AND i8 = 2 AND b", STEP_NONE},
                 {"s >= 'b' AND s < 'b'", STEP_NONE},  {"s > 'b' AND s <= 'b'", STEP_NONE},
                 {"m > 'a' AND m > X'00'", STEP_NONE}, {"d < 1 AND d >= 1 OR b", STEP_TEST}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bound_filter *bound;
        paua_error err;

        assert_int_equal(bind(cases[i].text, false, &bound, &err), PAUA_OK);
        if (bound->root->kind != cases[i].kind) fail_msg("%s", cases[i].text);
        bound_filter_free(bound);
    }
}

static void cheap_conditions_run_first_in_few_bitmaps(void **state)
{
    static const struct {
        const char *text;
        uint32_t temporary;
    } cases[] = {
        {"b", 0},
        {"b AND i8 = 1 AND i16 = 1 AND i32 = 1", 1},
        {"s LIKE '%a%' OR (b IS NULL AND i8 IS NULL)", 1},
        {"s LIKE '%a%' AND (b IS NULL AND i8 IS NULL OR b IS NULL AND i16 IS NULL)", 2},
        {"i8 = 1 OR i8 = 2 OR i8 IN (4, 6) OR NOT i8 != 9", 0},
        {"b AND (i8 = 1 OR (i16 = 1 AND (i32 = 1 OR i64 = 1)))", 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bound_filter *bound;
        const struct step *step;
        paua_error err;

        assert_int_equal(bind(cases[i].text, false, &bound, &err), PAUA_OK);
        if (bound->root->temporary != cases[i].temporary)
            fail_msg("%s: %u", cases[i].text, bound->root->temporary);
        if (bound->root->kind != STEP_TEST)
            for (step = bound->root->as.first; step->next != NULL; step = step->next)
                assert_true(step->cost <= step->next->cost);
        bound_filter_free(bound);
    }
}

/* ---- cuts ---- */

#define INT(number)                                                                                \
    {                                                                                              \
        .type = PAUA_TYPE_INT64, .as.i64 = (number)                                                \
    }
#define UINT(number)                                                                               \
    {                                                                                              \
        .type = PAUA_TYPE_UINT64, .as.u64 = (number)                                               \
    }
#define REAL(number)                                                                               \
    {                                                                                              \
        .type = PAUA_TYPE_DOUBLE, .as.f64 = (number)                                               \
    }

/* The last number below and the first above a literal, of an integer type. */
static void an_integer_field_is_cut_exactly(void **state)
{
    static const struct {
        uint32_t type;
        paua_value value;
        bool has_below, has_equal, has_above;
        int64_t below, above; /* of unsigned types the bits */
    } cases[] = {
        {PAUA_TYPE_INT8, INT(5), true, true, true, 4, 6},
        {PAUA_TYPE_INT8, INT(127), true, true, false, 126, 0},
        {PAUA_TYPE_INT8, INT(128), true, false, false, 127, 0},
        {PAUA_TYPE_INT8, INT(-128), false, true, true, 0, -127},
        {PAUA_TYPE_INT8, INT(-129), false, false, true, 0, -128},
        {PAUA_TYPE_INT8, REAL(5.5), true, false, true, 5, 6},
        {PAUA_TYPE_INT8, REAL(-5.5), true, false, true, -6, -5},
        {PAUA_TYPE_INT8, REAL(127.5), true, false, false, 127, 0},
        {PAUA_TYPE_INT8, REAL(-128.5), false, false, true, 0, -128},
        {PAUA_TYPE_INT8, REAL(-0.0), true, true, true, -1, 1},
        {PAUA_TYPE_INT8, REAL(1e300), true, false, false, 127, 0},
        {PAUA_TYPE_INT8, REAL(-INFINITY), false, false, true, 0, -128},
        {PAUA_TYPE_INT8, UINT(UINT64_MAX), true, false, false, 127, 0},
        {PAUA_TYPE_INT64, INT(INT64_MIN), false, true, true, 0, INT64_MIN + 1},
        {PAUA_TYPE_INT64, INT(INT64_MAX), true, true, false, INT64_MAX - 1, 0},
        {PAUA_TYPE_INT64, UINT(UINT64_C(1) << 63), true, false, false, INT64_MAX, 0},
        {PAUA_TYPE_INT64, REAL(0x1p63), true, false, false, INT64_MAX, 0},
        {PAUA_TYPE_INT64, REAL(-0x1p63), false, true, true, 0, INT64_MIN + 1},
        {PAUA_TYPE_INT64, REAL(0x1p53), true, true, true, (INT64_C(1) << 53) - 1,
         (INT64_C(1) << 53) + 1},
        {PAUA_TYPE_UINT8, INT(-1), false, false, true, 0, 0},
        {PAUA_TYPE_UINT8, REAL(-0.5), false, false, true, 0, 0},
        {PAUA_TYPE_UINT8, INT(0), false, true, true, 0, 1},
        {PAUA_TYPE_UINT8, INT(255), true, true, false, 254, 0},
        {PAUA_TYPE_UINT8, INT(256), true, false, false, 255, 0},
        {PAUA_TYPE_UINT64, UINT(UINT64_MAX), true, true, false, -2, 0},
        {PAUA_TYPE_UINT64, REAL(0x1p64), true, false, false, -1, 0},
        {PAUA_TYPE_UINT64, REAL(0x1p63), true, true, true, INT64_MAX, INT64_MIN + 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cuts cuts = cuts_of(cases[i].type, &cases[i].value);
        bool is_signed = cases[i].type <= PAUA_TYPE_INT64;
        uint64_t flip = is_signed ? UINT64_C(1) << 63 : 0;

        if (cuts.has_below != cases[i].has_below || cuts.has_equal != cases[i].has_equal ||
            cuts.has_above != cases[i].has_above)
            fail_msg("case %zu", i);
        if (cuts.has_below) assert_int_equal(cuts.below.high ^ flip, (uint64_t)cases[i].below);
        if (cuts.has_above) assert_int_equal(cuts.above.low ^ flip, (uint64_t)cases[i].above);
        if (cuts.has_below) assert_int_equal(cuts.below.low, type_keys(cases[i].type).low);
        if (cuts.has_above) assert_int_equal(cuts.above.high, type_keys(cases[i].type).high);
    }
}

static void a_float_field_is_cut_exactly(void **state)
{
    static const struct {
        uint32_t type;
        paua_value value;
        bool has_equal;
        double below, above;
    } cases[] = {
        {PAUA_TYPE_DOUBLE, REAL(0.0), true, -4.9e-324, 4.9e-324},
        {PAUA_TYPE_DOUBLE, REAL(-0.0), true, -4.9e-324, 4.9e-324},
        {PAUA_TYPE_DOUBLE, INT(0), true, -4.9e-324, 4.9e-324},
        {PAUA_TYPE_DOUBLE, INT((INT64_C(1) << 53) + 1), false, 0x1p53, 0x1p53 + 2},
        {PAUA_TYPE_DOUBLE, INT(-(INT64_C(1) << 53) - 1), false, -0x1p53 - 2, -0x1p53},
        {PAUA_TYPE_DOUBLE, INT(INT64_MAX), false, 0x1p63 - 1024, 0x1p63},
        {PAUA_TYPE_DOUBLE, UINT(UINT64_MAX), false, 0x1p64 - 2048, 0x1p64},
        {PAUA_TYPE_DOUBLE, INT(INT64_MIN), true, -0x1p63 - 2048, -0x1p63 + 1024},
        {PAUA_TYPE_DOUBLE, REAL(DBL_MAX), true, 0x1.ffffffffffffep1023, INFINITY},
        {PAUA_TYPE_FLOAT, REAL(0.0), true, -0x1p-149, 0x1p-149},
        {PAUA_TYPE_FLOAT, INT((1 << 24) + 1), false, 0x1p24, 0x1p24 + 2},
        {PAUA_TYPE_FLOAT, UINT(UINT64_MAX), false, 0x1p64 - 0x1p40, 0x1p64},
        {PAUA_TYPE_FLOAT, REAL(1e300), false, FLT_MAX, INFINITY},
        {PAUA_TYPE_FLOAT, REAL(-1e300), false, -INFINITY, -FLT_MAX},
        {PAUA_TYPE_FLOAT, REAL(1.0), true, 1 - 0x1p-24, 1 + 0x1p-23},
        {PAUA_TYPE_FLOAT, REAL(1 + 0x1p-30), true, 1 - 0x1p-24, 1 + 0x1p-23}, /* rounded */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cuts cuts = cuts_of(cases[i].type, &cases[i].value);
        bool narrow = cases[i].type == PAUA_TYPE_FLOAT;
        double below =
            narrow ? (double)float_of_key(cuts.below.high) : double_of_key(cuts.below.high);
        double above =
            narrow ? (double)float_of_key(cuts.above.low) : double_of_key(cuts.above.low);

        if (cuts.has_equal != cases[i].has_equal || !cuts.has_below || !cuts.has_above ||
            cuts.nan || below != cases[i].below || above != cases[i].above)
            fail_msg("case %zu: %a %a", i, below, above);
    }
}

static void nan_is_above_or_below_all_numbers_and_equal_to_nothing(void **state)
{
    const paua_value nan_above = REAL((double)NAN), nan_below = REAL(-(double)NAN);
    struct cuts cuts = cuts_of(PAUA_TYPE_DOUBLE, &nan_above);

    (void)state;
    assert_true(cuts.nan && cuts.has_equal);
    assert_true(cuts.below.high >= key_of_double(INFINITY));
    cuts = cuts_of(PAUA_TYPE_FLOAT, &nan_below);
    assert_true(cuts.nan && cuts.has_equal);
    assert_true(cuts.above.low <= key_of_float(-INFINITY));
    cuts = cuts_of(PAUA_TYPE_INT32, &nan_above);
    assert_true(cuts.has_below && !cuts.has_equal && !cuts.has_above);
    cuts = cuts_of(PAUA_TYPE_UINT32, &nan_below);
    assert_true(!cuts.has_below && !cuts.has_equal && cuts.has_above);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_condition_that_the_field_does_not_have_is_an_error),
        cmocka_unit_test(a_filter_without_text_has_errors_without_places),
        cmocka_unit_test(an_unknown_field_may_be_one_that_no_row_has),
        cmocka_unit_test(a_bound_filter_tells_the_fields_that_it_reads),
        cmocka_unit_test(running_out_of_memory_is_told),
        cmocka_unit_test(what_is_known_beforehand_is_not_tested),
        cmocka_unit_test(ranges_that_meet_are_one),
        cmocka_unit_test(tests_of_one_field_beside_each_other_are_one),
        cmocka_unit_test(tests_that_cannot_be_one_stay_apart),
        cmocka_unit_test(cheap_conditions_run_first_in_few_bitmaps),
        cmocka_unit_test(an_integer_field_is_cut_exactly),
        cmocka_unit_test(a_float_field_is_cut_exactly),
        cmocka_unit_test(nan_is_above_or_below_all_numbers_and_equal_to_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
