/* test_field.c - vector fields and their indexes as the command line writes them. */
#include "field.h"
#include "util.h"
#include "vector.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct option_spec options[] = {
    {"metric", 0, "cosine|l2|ip", ""},
    {"precision", 0, "fp32|fp16|int8|int4|int2", ""},
    {"originals", 0, "fp32|fp16|none", ""},
    {"index", 0, "vamana|flat|none", ""},
    INDEX_NUMBER_OPTIONS,
    {NULL, 0, NULL, NULL},
};
static const struct command command = {.name = "test", .operands = "", .options = options};

#define PARSE(args, ...)                                                                           \
    assert_int_equal(args_parse(&command, (int)COUNT_OF(((char *[]){__VA_ARGS__})),                \
                                (char *[]){__VA_ARGS__}, args, &(int){0}),                         \
                     EXIT_OK)

static const paua_vector_field model = {.name = "model",
                                        .dim = 7,
                                        .metric = PAUA_IP,
                                        .precision = PAUA_INT8,
                                        .originals = PAUA_ORIGINALS_FP16,
                                        .index = {.kind = PAUA_INDEX_FLAT, .degree = 9}};

static void assert_fields_equal(const paua_vector_field *a, const paua_vector_field *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(a->metric, b->metric);
    assert_int_equal(a->precision, b->precision);
    assert_int_equal(a->originals, b->originals);
    assert_int_equal(a->index.kind, b->index.kind);
    assert_int_equal(a->index.degree, b->index.degree);
}

static void a_field_is_read_from_the_right_and_leaves_out_what_it_likes(void **state)
{
    static const struct {
        const char *text;
        paua_vector_field field;
    } cases[] = {
        {"a:3", {"a", 3, PAUA_IP, PAUA_INT8, PAUA_ORIGINALS_FP16, {.kind = PAUA_INDEX_FLAT}}},
        {"a:65535:l2",
         {"a", 65535, PAUA_L2, PAUA_INT8, PAUA_ORIGINALS_FP16, {.kind = PAUA_INDEX_FLAT}}},
        {"a:1:cosine:int2",
         {"a", 1, PAUA_COSINE, PAUA_INT2, PAUA_ORIGINALS_FP16, {.kind = PAUA_INDEX_FLAT}}},
        {"a:1:ip:fp32:none",
         {"a", 1, PAUA_IP, PAUA_FP32, PAUA_ORIGINALS_NONE, {.kind = PAUA_INDEX_FLAT}}},
        {"a:1:ip:int4:fp32:vamana",
         {"a", 1, PAUA_IP, PAUA_INT4, PAUA_ORIGINALS_FP32, {.kind = PAUA_INDEX_VAMANA}}},
        {"a:b:l2:5:l2:int4:none:none",
         {"a:b:l2", 5, PAUA_L2, PAUA_INT4, PAUA_ORIGINALS_NONE, {.kind = PAUA_INDEX_NONE}}},
        {"7:8", {"7", 8, PAUA_IP, PAUA_INT8, PAUA_ORIGINALS_FP16, {.kind = PAUA_INDEX_FLAT}}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[64];
        paua_vector_field field = model, want = cases[i].field;
        want.index.degree = 9;
        snprintf(text, sizeof text, "%s", cases[i].text);
        assert_true(field_parse(text, &field));
        assert_fields_equal(&field, &want);
    }
}

static void what_is_no_field_changes_nothing(void **state)
{
    static const char *const cases[] = {
        "",
        "a",
        "7",
        "a:",
        "a:0",
        "a:65536",
        "a:-1",
        "a:x",
        "a:3:default",
        "a:3:fp16",
        "a:3:l2:l2",
        "a:3:l2:int3",
        "a:3:l2:int8:default",
        "a:3:l2:int8:fp32:default",
        "a:3:l2:int8:fp32:hnsw",
        "a:3:l2:int8:fp32:flat:flat",
        "a:3:l2:int8:flat",
        "a:3:",
        "a:99999999999999999999",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[64];
        paua_vector_field field = model;
        snprintf(text, sizeof text, "%s", cases[i]);
        assert_false(field_parse(text, &field));
        assert_fields_equal(&field, &model);
        assert_string_equal(text, cases[i]);
    }
}

static void options_set_what_is_given_and_keep_the_rest(void **state)
{
    paua_vector_field field = model;
    struct args args;

    (void)state;
    PARSE(&args, "--precision", "int4", "--alpha", "1.5", "--list", "4096");
    assert_true(field_take_options(&args, &field));
    args_free(&args);
    assert_int_equal(field.metric, PAUA_IP);
    assert_int_equal(field.precision, PAUA_INT4);
    assert_int_equal(field.originals, PAUA_ORIGINALS_FP16);
    assert_int_equal(field.index.kind, PAUA_INDEX_FLAT);
    assert_int_equal(field.index.degree, 9);
    assert_int_equal(field.index.list, 4096);
    assert_true(field.index.alpha == 1.5f);

    PARSE(&args, "--metric", "l2", "--originals", "none", "--index", "none", "--occlusion", "1",
          "--degree", "512");
    assert_true(field_take_options(&args, &field));
    args_free(&args);
    assert_int_equal(field.metric, PAUA_L2);
    assert_int_equal(field.originals, PAUA_ORIGINALS_NONE);
    assert_int_equal(field.index.kind, PAUA_INDEX_NONE);
    assert_int_equal(field.index.occlusion, 1);
    assert_int_equal(field.index.degree, 512);
}

static void wrong_options_change_nothing_but_numbers(void **state)
{
    static const char *const cases[][2] = {
        {"--metric", "default"}, {"--precision", "int3"}, {"--originals", "default"},
        {"--index", "default"},  {"--degree", "3"},       {"--degree", "513"},
        {"--list", "3"},         {"--list", "4097"},      {"--occlusion", "65537"},
        {"--occlusion", "0"},    {"--alpha", "0.5"},      {"--alpha", "2.5"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        paua_vector_field field = model;
        struct args args;
        PARSE(&args, (char *)(uintptr_t)cases[i][0], (char *)(uintptr_t)cases[i][1]);
        assert_false(field_take_options(&args, &field));
        assert_fields_equal(&field, &model);
        args_free(&args);
    }
}

static void numbers_of_an_index_need_an_index_that_has_them(void **state)
{
    paua_vector_field fields[2] = {model, model};
    struct args args;

    (void)state;
    PARSE(&args, "--alpha", "1.5");
    assert_false(field_settle_numbers(&args, fields, 2));
    assert_int_equal(fields[0].index.degree, 0);
    fields[0].index.degree = 9;
    fields[1].index = (paua_index_params){.degree = 9};
    assert_true(field_settle_numbers(&args, fields, 2));
    assert_int_equal(fields[0].index.degree, 0);
    assert_int_equal(fields[0].index.kind, PAUA_INDEX_FLAT);
    assert_int_equal(fields[1].index.degree, 9);
    args_free(&args);

    PARSE(&args, "--precision", "int8");
    assert_true(field_settle_numbers(&args, fields, 1));
    args_free(&args);
}

static void halves_are_stored_where_originals_say_so(void **state)
{
    static const struct {
        paua_precision precision;
        paua_originals originals;
        bool half;
    } cases[] = {
        {PAUA_FP32, PAUA_ORIGINALS_DEFAULT, false}, {PAUA_FP16, PAUA_ORIGINALS_DEFAULT, true},
        {PAUA_INT8, PAUA_ORIGINALS_DEFAULT, false}, {PAUA_FP16, PAUA_ORIGINALS_FP32, false},
        {PAUA_INT2, PAUA_ORIGINALS_FP16, true},     {PAUA_FP16, PAUA_ORIGINALS_NONE, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        paua_vector_field field = {
            .dim = 1, .precision = cases[i].precision, .originals = cases[i].originals};
        struct fault fault;
        float large = 70000.0f;
        assert_int_equal(vector_is_half(&field), cases[i].half);
        assert_int_equal(vector_storable(&large, &field, &fault), !cases[i].half);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_is_read_from_the_right_and_leaves_out_what_it_likes),
        cmocka_unit_test(what_is_no_field_changes_nothing),
        cmocka_unit_test(options_set_what_is_given_and_keep_the_rest),
        cmocka_unit_test(wrong_options_change_nothing_but_numbers),
        cmocka_unit_test(numbers_of_an_index_need_an_index_that_has_them),
        cmocka_unit_test(halves_are_stored_where_originals_say_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
