/* test_build.c - filters built by calls are those that their text says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "naive.h"

static bool same_value(const paua_value *a, const paua_value *b)
{
    if (a->type != b->type) return false;
    switch (a->type) {
    case PAUA_TYPE_NULL:
        return true;
    case PAUA_TYPE_BOOL:
        return a->as.boolean == b->as.boolean;
    case PAUA_TYPE_STRING:
    case PAUA_TYPE_BYTES:
        return a->as.bytes.nbytes == b->as.bytes.nbytes &&
               memcmp(a->as.bytes.data, b->as.bytes.data, a->as.bytes.nbytes) == 0;
    default: /* bits, so that -0 and NaN count */
        return a->as.u64 == b->as.u64;
    }
}

static bool same_compare(const struct compare *a, const struct compare *b)
{
    if (a->op != b->op || a->length != b->length || a->count != b->count ||
        a->name_nbytes != b->name_nbytes || memcmp(a->name, b->name, a->name_nbytes) != 0)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_value(&a->literals[i].value, &b->literals[i].value)) return false;
    return true;
}

static bool same_node(const struct node *a, const struct node *b)
{
    const struct node *x, *y;

    if (a->kind != b->kind || a->nesting != b->nesting) return false;
    if (a->kind == NODE_TRUE || a->kind == NODE_FALSE) return true;
    if (a->kind == NODE_COMPARE) return same_compare(&a->as.compare, &b->as.compare);
    for (x = a->as.first, y = b->as.first; x != NULL && y != NULL; x = x->next, y = y->next)
        if (!same_node(x, y)) return false;
    return x == y;
}

static void assert_round_trip(const paua_filter *filter)
{
    char *text = paua_filter_text(filter, NULL);
    paua_filter *parsed;
    paua_error err;

    assert_non_null(text);
    if (paua_filter_parse(text, strlen(text), &parsed, &err) != PAUA_OK)
        fail_msg("%s: %s", text, err.message);
    if (!same_node(filter->root, parsed->root)) fail_msg("%s", text);
    paua_filter_free(parsed);
    free(text);
}

static void text_of_a_filter_parses_to_the_same_filter(void **state)
{
    struct random random = {0xA0761D6478BD642F};

    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        paua_filter *filter = random_filter(&random, i % 6);

        assert_round_trip(filter);
        paua_filter_free(filter);
    }
}

static paua_value whole(int64_t value)
{
    return (paua_value){.type = PAUA_TYPE_INT64, .as.i64 = value};
}

static paua_filter *number_filter(const char *field, paua_op op, int64_t number)
{
    paua_value value = whole(number);
    paua_filter *filter = NULL;

    assert_int_equal(paua_filter_compare(field, false, op, &value, 1, &filter, NULL), PAUA_OK);
    return filter;
}

static void assert_text(const paua_filter *filter, const char *expected)
{
    char *text = paua_filter_text(filter, NULL);

    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void values_of_every_type_become_text(void **state)
{
    static const struct {
        paua_value value;
        const char *text;
    } cases[] = {
        {{.type = PAUA_TYPE_NULL}, "a = NULL"},
        {{.type = PAUA_TYPE_BOOL, .as.boolean = true}, "a = TRUE"},
        {{.type = PAUA_TYPE_INT8, .as.i64 = -128}, "a = -128"},
        {{.type = PAUA_TYPE_INT64, .as.i64 = INT64_MIN}, "a = -9223372036854775808"},
        {{.type = PAUA_TYPE_UINT8, .as.u64 = 7}, "a = 7"},
        {{.type = PAUA_TYPE_UINT64, .as.u64 = UINT64_MAX}, "a = 18446744073709551615"},
        {{.type = PAUA_TYPE_FLOAT, .as.f64 = 0.5}, "a = 0.5"},
        {{.type = PAUA_TYPE_DOUBLE, .as.f64 = 3}, "a = 3.0"},
        {{.type = PAUA_TYPE_DOUBLE, .as.f64 = -INFINITY}, "a = -inf"},
        {{.type = PAUA_TYPE_TIMESTAMP, .as.i64 = 1},
         "a = TIMESTAMP '1970-01-01T00:00:00.000000001Z'"},
        {{.type = PAUA_TYPE_STRING, .as.bytes = {"it's", 4}}, "a = 'it''s'"},
        {{.type = PAUA_TYPE_BYTES, .as.bytes = {"\0\xFF", 2}}, "a = X'00ff'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        paua_filter *filter;

        assert_int_equal(
            paua_filter_compare("a", false, PAUA_EQ, &cases[i].value, 1, &filter, NULL), PAUA_OK);
        assert_text(filter, cases[i].text);
        assert_round_trip(filter);
        paua_filter_free(filter);
    }
}

static void conditions_are_combined_as_they_were_given(void **state)
{
    paua_filter *parts[3] = {number_filter("a", PAUA_EQ, 1), number_filter("b", PAUA_LT, 2),
                             number_filter("c c", PAUA_GE, 3)};
    paua_filter *filter, *both[2], *none[1];

    (void)state;
    assert_int_equal(paua_filter_any(parts, 2, &both[0], NULL), PAUA_OK);
    assert_int_equal(paua_filter_not(parts[2], &both[1], NULL), PAUA_OK);
    assert_int_equal(paua_filter_all(both, 2, &filter, NULL), PAUA_OK);
    assert_text(filter, "(a = 1 OR b < 2) AND NOT \"c c\" >= 3");
    none[0] = filter;
    assert_int_equal(paua_filter_all(none, 1, &filter, NULL), PAUA_OK); /* itself */
    assert_text(filter, "(a = 1 OR b < 2) AND NOT \"c c\" >= 3");
    paua_filter_free(filter);
    assert_int_equal(paua_filter_all(NULL, 0, &filter, NULL), PAUA_OK);
    assert_text(filter, "TRUE");
    paua_filter_free(filter);
    assert_int_equal(paua_filter_any(NULL, 0, &filter, NULL), PAUA_OK);
    assert_text(filter, "FALSE");
    paua_filter_free(filter);
    paua_filter_free(NULL);
}

static void what_is_refused_stays_the_callers(void **state)
{
    paua_filter *a = number_filter("a", PAUA_EQ, 1), *twice[2] = {a, a}, *missing[2] = {a, NULL};
    paua_filter *filter = a, *before = filter;
    paua_error err;

    (void)state;
    assert_int_equal(paua_filter_all(twice, 2, &filter, &err), PAUA_EINVAL);
    assert_string_equal(err.message, "a filter is combined with itself; parse or build it twice");
    assert_int_equal(paua_filter_any(missing, 2, &filter, &err), PAUA_EINVAL);
    assert_int_equal(paua_filter_any(missing, 2, &filter, &err), PAUA_EINVAL); /* and again */
    assert_int_equal(paua_filter_not(NULL, &filter, &err), PAUA_EINVAL);
    assert_ptr_equal(filter, before);
    assert_text(a, "a = 1");
    for (uint32_t i = 0; i < FILTER_DEPTH_MAX; i++)
        assert_int_equal(paua_filter_not(a, &a, NULL), PAUA_OK);
    assert_round_trip(a);
    assert_int_equal(paua_filter_not(a, &a, &err), PAUA_EINVAL);
    assert_string_equal(err.message, "conditions are nested too deep");
    paua_filter_free(a);
}

static void a_comparison_without_sense_is_refused(void **state)
{
    const paua_value one = whole(1), text = {.type = PAUA_TYPE_STRING, .as.bytes = {"x\\", 2}};
    const paua_value array = {
        .type = PAUA_TYPE_ARRAY | PAUA_TYPE_INT64, .count = 1, .as.items = &one};
    const paua_value bad = {.type = PAUA_TYPE_STRING, .as.bytes = {"\xFF", 1}};
    const paua_value absent = {.type = PAUA_TYPE_BYTES, .as.bytes = {NULL, 0}};
    const struct {
        const char *field;
        bool length;
        paua_op op;
        const paua_value *values;
        size_t count;
        const char *message;
    } cases[] = {
        {"", false, PAUA_EQ, &one, 1, "no field, no values, or nowhere to put the filter"},
        {NULL, false, PAUA_EQ, &one, 1, "no field, no values, or nowhere to put the filter"},
        {"a", false, PAUA_EQ, NULL, 1, "no field, no values, or nowhere to put the filter"},
        {"a", false, (paua_op)0, &one, 1, "0 is no operator"},
        {"a", false, (paua_op)(PAUA_NOT_CONTAIN_ANY + 1), &one, 1, "19 is no operator"},
        {"\xFF", false, PAUA_EQ, &one, 1, "a field's name is not UTF-8"},
        {"a", false, PAUA_EQ, &one, 0, "0 values are not what this operator takes"},
        {"a", false, PAUA_IN, &one, 0, "0 values are not what this operator takes"},
        {"a", false, PAUA_BETWEEN, &one, 1, "1 values are not what this operator takes"},
        {"a", false, PAUA_IS_NULL, &one, 1, "1 values are not what this operator takes"},
        {"a", false, PAUA_LIKE, &one, 1, "LIKE takes a string, not 1"},
        {"a", false, PAUA_LIKE, &text, 1,
         "the pattern ends with its escape character; write it twice to mean it"},
        {"a", true, PAUA_CONTAIN_ANY, &one, 1,
         "array_length() is a number; CONTAIN_ALL and CONTAIN_ANY take an array"},
        {"a", false, PAUA_EQ, &array, 1,
         "a filter's value is of type array of int64; fields are not compared with that"},
        {"a", false, PAUA_EQ, &bad, 1, "a filter's string is not UTF-8"},
        {"a", false, PAUA_EQ, &absent, 1, "a filter's value is absent, or above 64 MiB"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        paua_filter *filter;
        paua_error err;

        assert_int_equal(paua_filter_compare(cases[i].field, cases[i].length, cases[i].op,
                                             cases[i].values, cases[i].count, &filter, &err),
                         PAUA_EINVAL);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void running_out_of_memory_changes_nothing(void **state)
{
    const paua_value value = {.type = PAUA_TYPE_STRING, .as.bytes = {"text", 4}};
    paua_filter *parts[2], *filter = NULL;

    (void)state;
    for (int i = 0; i < 2; i++)
        for (uint64_t n = 1; parts[i] = NULL, true; n++) {
            paua_status status;

            mem_fail_after(n);
            status = paua_filter_compare("a", false, PAUA_EQ, &value, 1, &parts[i], NULL);
            mem_fail_after(0);
            if (status == PAUA_OK) break;
            assert_int_equal(status, PAUA_ENOMEM);
        }
    for (uint64_t n = 1; n < 100; n++) {
        paua_status status;

        mem_fail_after(n);
        status = paua_filter_any(parts, 2, &filter, NULL);
        mem_fail_after(0);
        if (status == PAUA_OK) break;
        assert_int_equal(status, PAUA_ENOMEM);
        assert_text(parts[0], "a = 'text'");
    }
    assert_text(filter, "a = 'text' OR a = 'text'");
    paua_filter_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_a_filter_parses_to_the_same_filter),
        cmocka_unit_test(values_of_every_type_become_text),
        cmocka_unit_test(conditions_are_combined_as_they_were_given),
        cmocka_unit_test(what_is_refused_stays_the_callers),
        cmocka_unit_test(a_comparison_without_sense_is_refused),
        cmocka_unit_test(running_out_of_memory_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
