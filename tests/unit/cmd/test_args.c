/* test_args.c - the command line's parser. */
#include "args.h"
#include "util.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct option_spec options[] = {
    {"number", 'n', "N", "a number"},
    {"flag", 0, NULL, "a flag"},
    {"word", 0, "WORD", "a word"},
    {NULL, 0, NULL, NULL},
};
static const struct command command = {
    .name = "test", .operands = "A [B]", .options = options, .operand_min = 1, .operand_max = 2};

#define PARSE(args, ...)                                                                           \
    (args_parse(&command, (int)COUNT_OF(((char *[]){__VA_ARGS__})), (char *[]){__VA_ARGS__}, args, \
                &(int){0}))

static void options_take_values_with_a_space_an_equals_sign_or_glued_to_a_letter(void **state)
{
    struct args args;
    uint64_t number = 0;

    (void)state;
    assert_int_equal(PARSE(&args, "--number", "1", "x", "--word=a=b", "-n2", "-n", "-3"), EXIT_OK);
    assert_string_equal(args_value_at(&args, "number", 0), "1");
    assert_string_equal(args_value_at(&args, "number", 1), "2");
    assert_string_equal(args_value(&args, "number"), "-3");
    assert_null(args_value_at(&args, "number", 3));
    assert_string_equal(args_value(&args, "word"), "a=b");
    assert_int_equal(args.operand_count, 1);
    assert_false(args_u64(&args, "number", 0, 9, &number));
    args_free(&args);
}

static void two_dashes_end_options_and_one_is_an_operand(void **state)
{
    struct args args;

    (void)state;
    assert_int_equal(PARSE(&args, "-", "--", "--flag"), EXIT_OK);
    assert_int_equal(args.operand_count, 2);
    assert_string_equal(args.operands[0], "-");
    assert_string_equal(args.operands[1], "--flag");
    assert_false(args_has(&args, "flag"));
    assert_int_equal(args_check_operands(&command, &args), EXIT_OK);
    args_free(&args);
}

static void wrong_lines_are_usage_errors(void **state)
{
    struct args args;

    (void)state;
    assert_int_equal(PARSE(&args, "--flgg"), EXIT_USAGE);
    args_free(&args);
    assert_int_equal(PARSE(&args, "--flag=1"), EXIT_USAGE);
    args_free(&args);
    assert_int_equal(PARSE(&args, "--number"), EXIT_USAGE);
    args_free(&args);
    assert_int_equal(PARSE(&args, "-x"), EXIT_USAGE);
    args_free(&args);
    assert_int_equal(PARSE(&args, "a", "b", "c"), EXIT_OK);
    assert_int_equal(args_check_operands(&command, &args), EXIT_USAGE);
    args_free(&args);
    assert_int_equal(PARSE(&args, "--json"), EXIT_OK);
    assert_int_equal(args_check_operands(&command, &args), EXIT_USAGE);
    assert_true(args_has(&args, "json"));
    args_free(&args);
}

static void numbers_must_lie_in_their_range(void **state)
{
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {{"3", true},   {"7", true},   {"2", false},
                 {"8", false},  {"", false},   {"5x", false},
                 {"+5", false}, {" 5", false}, {"18446744073709551621", false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct args args;
        uint64_t number = 99;
        assert_int_equal(PARSE(&args, "--number", (char *)(uintptr_t)cases[i].text), EXIT_OK);
        assert_int_equal(args_u64(&args, "number", 3, 7, &number), cases[i].ok);
        assert_int_equal(number == 99, !cases[i].ok);
        args_free(&args);
    }
}

static void fractions_must_lie_in_their_range(void **state)
{
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {{"1", true},     {"2", true},     {"1.25", true},  {"0.99", false},
                 {"2.01", false}, {"nan", false},  {"inf", false},  {"", false},
                 {"1.5x", false}, {"1.5 ", false}, {"1e400", false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct args args;
        double value = 99;
        assert_int_equal(PARSE(&args, "--word", (char *)(uintptr_t)cases[i].text), EXIT_OK);
        assert_int_equal(args_double(&args, "word", 1, 2, &value), cases[i].ok);
        assert_int_equal(value == 99, !cases[i].ok);
        assert_true(args_double(&args, "number", 1, 2, &value));
        args_free(&args);
    }
}

static void the_nearest_word_is_suggested_only_if_it_is_near(void **state)
{
    static const char *const words[] = {"search", "import", "rm", "ls"};
    const size_t count = COUNT_OF(words);

    (void)state;
    assert_string_equal(nearest_word("serach", words, count), "search");
    assert_string_equal(nearest_word("improt", words, count), "import");
    assert_string_equal(nearest_word("searchh", words, count), "search");
    assert_string_equal(nearest_word("l", words, count), "ls");
    assert_null(nearest_word("frobnicate", words, count));
    assert_null(nearest_word("", words, 2));
}

static void whole_numbers_end_at_two_to_the_64(void **state)
{
    uint64_t value = 1;

    (void)state;
    assert_true(parse_u64("18446744073709551615", 20, &value));
    assert_true(value == UINT64_MAX);
    assert_false(parse_u64("18446744073709551616", 20, &value));
    assert_true(value == UINT64_MAX);
    assert_true(parse_u64("0", 1, &value));
    assert_true(value == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_take_values_with_a_space_an_equals_sign_or_glued_to_a_letter),
        cmocka_unit_test(two_dashes_end_options_and_one_is_an_operand),
        cmocka_unit_test(wrong_lines_are_usage_errors),
        cmocka_unit_test(numbers_must_lie_in_their_range),
        cmocka_unit_test(fractions_must_lie_in_their_range),
        cmocka_unit_test(the_nearest_word_is_suggested_only_if_it_is_near),
        cmocka_unit_test(whole_numbers_end_at_two_to_the_64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
