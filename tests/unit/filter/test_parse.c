/* test_parse.c - what text means, what is refused, and what is said then. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "filter/filter.h"

#define COUNT(items) (sizeof(items) / sizeof(items)[0])

static void assert_means(const char *text, size_t nbytes, const char *meaning,
                         size_t meaning_nbytes)
{
    size_t made_nbytes;
    paua_filter *filter;
    paua_error err;
    char *made;

    if (paua_filter_parse(text, nbytes, &filter, &err) != PAUA_OK)
        fail_msg("%s: %s", text, err.message);
    made = paua_filter_text(filter, &made_nbytes);
    assert_non_null(made);
    assert_int_equal(made_nbytes, meaning_nbytes);
    assert_memory_equal(made, meaning, meaning_nbytes + 1);
    free(made);
    paua_filter_free(filter);
}

static const char *const MEANINGS[][2] = {
    /* operators and their other spellings */
    {"a=1", "a = 1"},
    {"a == 1", "a = 1"},
    {"a<>1", "a != 1"},
    {"a != 1", "a != 1"},
    {"a<1 or a<=1 or a>1 or a>=1", "a < 1 OR a <= 1 OR a > 1 OR a >= 1"},
    {"5 < x", "x > 5"},
    {"5 >= x", "x <= 5"},
    {"'a' = x", "x = 'a'"},
    {"TRUE = x", "x = TRUE"},
    {"a in (1,2)", "a IN (1, 2)"},
    {"a Not In (1)", "a NOT IN (1)"},
    {"a between 1 and 2 and b", "a BETWEEN 1 AND 2 AND b = TRUE"},
    {"a not between 1 and 2", "a NOT BETWEEN 1 AND 2"},
    {"a like 'x%'", "a LIKE 'x%'"},
    {"a not like 'x!%' escape '!'", "a NOT LIKE 'x!%' ESCAPE '!'"},
    {"a like 'x\\' escape ''", "a LIKE 'x\\' ESCAPE ''"},
    {"a like null", "a LIKE NULL"},
    {"a is null", "a IS NULL"},
    {"a IS NOT NULL", "a IS NOT NULL"},
    {"a contain_all (1, 2)", "a CONTAIN_ALL (1, 2)"},
    {"a CONTAIN_ANY ()", "a CONTAIN_ANY ()"},
    {"a not contain_any ('x')", "a NOT CONTAIN_ANY ('x')"},
    {"a NOT contain_all ('x')", "a NOT CONTAIN_ALL ('x')"},
    {"array_length(a) > 2", "array_length(a) > 2"},
    {"2 = Array_Length ( \"a b\" )", "array_length(\"a b\") = 2"},
    /* logic */
    {"a", "a = TRUE"},
    {"not a", "NOT a = TRUE"},
    {"NOT a = 1 AND b", "NOT a = 1 AND b = TRUE"},
    {"NOT (a AND b)", "NOT (a = TRUE AND b = TRUE)"},
    {"a or b and c or d", "a = TRUE OR b = TRUE AND c = TRUE OR d = TRUE"},
    {"(a or b) and c", "(a = TRUE OR b = TRUE) AND c = TRUE"},
    {"(a and b) and c", "(a = TRUE AND b = TRUE) AND c = TRUE"},
    {"((((a))))", "a = TRUE"},
    {"true or false", "TRUE OR FALSE"},
    {"not not a", "NOT NOT a = TRUE"},
    /* names */
    {"\"we\"\"ird name\" = 1", "\"we\"\"ird name\" = 1"},
    {"\"plain\" = 1", "plain = 1"},
    {"\"and\" = 1", "\"and\" = 1"},
    {"_a.b$1 = 1", "_a.b$1 = 1"},
    {"\xC3\xA9t\xC3\xA9 = 1", "\xC3\xA9t\xC3\xA9 = 1"},
    {"timestamp = 1 and array_length = 2 and x = 3",
     "timestamp = 1 AND array_length = 2 AND x = 3"},
    {"android = 1 or nothing or inform or trueish",
     "android = 1 OR nothing = TRUE OR inform = TRUE OR trueish = TRUE"},
    /* values */
    {"a = 'it''s'", "a = 'it''s'"},
    {"a = ''", "a = ''"},
    {"a = 'x\ny'", "a = 'x\ny'"},
    {"a = 'back\\slash'", "a = 'back\\slash'"},
    {"a = x''", "a = X''"},
    {"a = X'00fF'", "a = X'00ff'"},
    {"a = null", "a = NULL"},
    {"a = timestamp '2026-11-30'", "a = TIMESTAMP '2026-11-30T00:00:00Z'"},
    {"a = TIMESTAMP/* when */'2026-11-30T21:40:00.5+01:00'",
     "a = TIMESTAMP '2026-11-30T20:40:00.5Z'"},
    {"a = +1", "a = 1"},
    {"a = - 1", "a = -1"},
    {"a<-5", "a < -5"},
    {"a = 007", "a = 7"},
    {"a = 9223372036854775807", "a = 9223372036854775807"},
    {"a = 9223372036854775808", "a = 9223372036854775808"},
    {"a = -9223372036854775808", "a = -9223372036854775808"},
    {"a = -9223372036854775809", "a = -9.223372036854776e+18"},
    {"a = 18446744073709551615", "a = 18446744073709551615"},
    {"a = 18446744073709551616", "a = 1.8446744073709552e+19"},
    {"a = .5", "a = 0.5"},
    {"a = 5.", "a = 5.0"},
    {"a = 5.e-1", "a = 0.5"},
    {"a = 1E3", "a = 1000.0"},
    {"a = 1e308", "a = 1e+308"},
    {"a = -0.0", "a = -0.0"},
    {"a = -0", "a = 0"},
    {"a = 0.1", "a = 0.1"},
    {"a = 0.30000000000000004", "a = 0.30000000000000004"},
    {"a = 4.9e-324", "a = 4.94065645841247e-324"},
    {"a = 1e-400", "a = 0.0"},
    {"a in (nan, -NaN, inf, -Infinity, +inf)", "a IN (nan, -nan, inf, -inf, inf)"},
    /* space and comments */
    {"\t\r\n\v\fa\n=\n1\n", "a = 1"},
    {"-- first\na = 1 -- last", "a = 1"},
    {"a /* * / ** */ = /**/ 1 /***/", "a = 1"},
    {"a = 5--1\n", "a = 5"},
};

static void text_means_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(MEANINGS); i++) {
        const char *text = MEANINGS[i][0], *meaning = MEANINGS[i][1];

        assert_means(text, strlen(text), meaning, strlen(meaning));
        assert_means(meaning, strlen(meaning), meaning, strlen(meaning));
    }
    assert_means("a='x\0y'", 7, "a = 'x\0y'", 9);
}

static void assert_refused(const char *text, size_t nbytes, const char *message)
{
    paua_filter *filter = (paua_filter *)&filter, *before = filter;
    paua_error err = {.status = PAUA_OK};

    if (paua_filter_parse(text, nbytes, &filter, &err) != PAUA_EINVAL) fail_msg("%s", text);
    assert_int_equal(err.status, PAUA_EINVAL);
    assert_string_equal(err.message, message);
    assert_ptr_equal(filter, before);
}

#define AFTER_FIELD "a comparison, NOT, IN, BETWEEN, LIKE, IS, CONTAIN_ALL, CONTAIN_ANY"
#define CONDITION "a field, a value, NOT or \"(\""

static const char *const MISTAKES[][2] = {
    {"", "line 1, column 1: unexpected end; expected " CONDITION},
    {"a = 1 ANDD", "line 1, column 7: unexpected \"ANDD\"; expected AND, OR or the end"},
    {"a = 1 AND", "line 1, column 10: unexpected end; expected " CONDITION},
    {"a = 1\nAND\n  b ~ 2", "line 3, column 5: unexpected \"~\""},
    {"\xC3\xA9 = '\xE2\x82\xAC' \xC3\xBC",
     "line 1, column 9: unexpected \"\xC3\xBC\"; expected AND, OR or the end"},
    {"a b", "line 1, column 3: unexpected \"b\"; expected " AFTER_FIELD ", AND, OR or the end"},
    {"(a", "line 1, column 3: unexpected end; expected " AFTER_FIELD ", \")\", AND or OR"},
    {"a = 1)", "line 1, column 6: unexpected \")\"; expected AND, OR or the end"},
    {"a = b",
     "line 1, column 5: unexpected \"b\"; expected a value; strings are written '...', and "
     "fields are compared with values only"},
    {"a = \"b\"",
     "line 1, column 5: unexpected \"b\"; expected a value; strings are written '...', and "
     "fields are compared with values only"},
    {"1 = 1", "line 1, column 5: unexpected \"1\"; expected a field; one side of a comparison is a "
              "field"},
    {"a = 'x' 'y'", "line 1, column 9: unexpected 'y'; expected AND, OR or the end"},
    {"a IN ()", "line 1, column 7: unexpected \")\"; expected a value"},
    {"a IN (1 2)", "line 1, column 9: unexpected \"2\"; expected \")\" or \",\""},
    {"a IN 1", "line 1, column 6: unexpected \"1\"; expected \"(\""},
    {"a BETWEEN 1 OR 2", "line 1, column 13: unexpected \"OR\"; expected AND"},
    {"a IS 1", "line 1, column 6: unexpected \"1\"; expected NULL or NOT"},
    {"a NOT 1", "line 1, column 7: unexpected \"1\"; expected IN, BETWEEN, LIKE, CONTAIN_ALL or "
                "CONTAIN_ANY"},
    {"a LIKE 1", "line 1, column 8: LIKE takes a string, not 1"},
    {"a LIKE 'x\\'",
     "line 1, column 8: the pattern ends with its escape character; write it twice to mean it"},
    {"a LIKE 'x' ESCAPE 'ab'", "line 1, column 19: ESCAPE takes one character, or none"},
    {"a LIKE 'x' ESCAPE NULL", "line 1, column 19: ESCAPE takes a string, not NULL"},
    {"array_length(a) LIKE 'x'",
     "line 1, column 14: array_length() is a number; LIKE is for strings"},
    {"array_length(a) CONTAIN_ALL (1)",
     "line 1, column 14: array_length() is a number; CONTAIN_ALL and CONTAIN_ANY take an "
     "array"},
    {"a = 'abc", "line 1, column 5: what is quoted by ' from here has no end"},
    {"\"a = 1", "line 1, column 1: what is quoted by \" from here has no end"},
    {"\"\" = 1", "line 1, column 1: \"\" is no field's name"},
    {"a /* b", "line 1, column 3: the comment that begins here has no end"},
    {"a = 12ab", "line 1, column 5: \"12ab\" is not a number"},
    {"a = 1e", "line 1, column 5: \"1e\" is not a number"},
    {"a = 0x10", "line 1, column 5: \"0x10\" is not a number"},
    {"a = 1e309",
     "line 1, column 5: \"1e309\" is beyond the numbers; the greatest is 1.8e308, or inf"},
    {"a = X'0'", "line 1, column 5: X'...' has an odd number of digits; two make a byte"},
    {"a = X'0g'", "line 1, column 5: X'...' holds something else than hex digits, or has no end"},
    {"a = TIMESTAMP '30.11.2026'",
     "line 1, column 15: '30.11.2026' is no timestamp; write it as 2026-11-30T21:40:00.5Z "
     "(RFC 3339)"},
    {"a = 1; b", "line 1, column 6: unexpected \";\""},
    {"a ! b", "line 1, column 3: unexpected \"!\""},
    {"a = 1 'a very long string that will not all be told, since nobody would read it all'",
     "line 1, column 7: unexpected 'a very long string that will not all be told, since nobody "
     "...; expected AND, OR or the end"},
};

static void a_mistake_is_told_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(MISTAKES); i++)
        assert_refused(MISTAKES[i][0], strlen(MISTAKES[i][0]), MISTAKES[i][1]);
    assert_refused("a = 1\0", 6, "line 1, column 6: unexpected \"?\"");
    assert_refused("a = '\xFF'", 7, "line 1, column 6: byte FF is not UTF-8");
    assert_refused("a = 1\n\xC3", 7, "line 2, column 1: byte C3 is not UTF-8");
    assert_refused(NULL, 5, "no text, or nowhere to put the filter");
}

/* "((...a...))", or with NOTs, or both in turn. */
static char *nested(unsigned depth, unsigned parens_of_4)
{
    char *text = malloc(5 * depth + 100), *at = text;
    unsigned closing = 0;

    assert_non_null(text);
    for (unsigned i = 0; i < depth; i++) {
        if (i % 4 < parens_of_4) {
            at = stpcpy(at, "(");
            closing++;
        } else {
            at = stpcpy(at, "NOT ");
        }
    }
    at = stpcpy(at, "a");
    for (unsigned i = 0; i < closing; i++)
        at = stpcpy(at, ")");
    return text;
}

static void nesting_is_limited(void **state)
{
    (void)state;
    for (unsigned parens = 0; parens <= 4; parens++) {
        char *text = nested(FILTER_DEPTH_MAX, parens), message[128];
        paua_filter *filter;

        assert_int_equal(paua_filter_parse(text, strlen(text), &filter, NULL), PAUA_OK);
        paua_filter_free(filter);
        free(text);
        text = nested(FILTER_DEPTH_MAX + 1, parens);
        snprintf(message, sizeof message,
                 "line 1, column %u: parentheses and NOTs are nested more than 200 deep",
                 50 * (parens + 4 * (4 - parens)) + 1);
        assert_refused(text, strlen(text), message);
        free(text);
    }
}

static void conditions_side_by_side_are_not_nested(void **state)
{
    char text[20000] = "a", *at = text + 1;
    paua_filter *filter;

    (void)state;
    for (int i = 0; i < 500; i++)
        at = stpcpy(at, i % 2 == 0 ? " AND NOT (NOT a)" : " OR NOT a IN (1)");
    assert_int_equal(paua_filter_parse(text, strlen(text), &filter, NULL), PAUA_OK);
    paua_filter_free(filter);
    /* ORs of ANDs, all the way down. */
    at = stpcpy(text, "a");
    for (unsigned i = 0; i < FILTER_DEPTH_MAX; i++)
        at = stpcpy(at, " OR a AND (a");
    memset(at, ')', FILTER_DEPTH_MAX);
    at[FILTER_DEPTH_MAX] = '\0';
    assert_int_equal(paua_filter_parse(text, strlen(text), &filter, NULL), PAUA_OK);
    paua_filter_free(filter);
}

static void text_of_a_mebibyte_is_parsed_and_a_byte_more_is_refused(void **state)
{
    char *text = malloc(FILTER_NBYTES_MAX + 2);
    paua_filter *filter;

    (void)state;
    memset(text, ' ', FILTER_NBYTES_MAX + 2);
    memcpy(text, "a IN (1", 7);
    for (size_t i = 7; i + 3 < FILTER_NBYTES_MAX; i += 2)
        memcpy(text + i, ",1", 2);
    text[FILTER_NBYTES_MAX - 1] = ')';
    assert_int_equal(paua_filter_parse(text, FILTER_NBYTES_MAX, &filter, NULL), PAUA_OK);
    paua_filter_free(filter);
    assert_refused(text, FILTER_NBYTES_MAX + 1,
                   "the filter has 1048577 bytes; at most 1048576 are allowed");
    for (size_t i = 0; i + 5 <= FILTER_NBYTES_MAX; i += 5)
        memcpy(text + i, "a OR ", 5);
    text[FILTER_NBYTES_MAX - 1] = 'a'; /* the rest is one byte */
    assert_int_equal(paua_filter_parse(text, FILTER_NBYTES_MAX, &filter, NULL), PAUA_OK);
    paua_filter_free(filter);
    free(text);
}

static void running_out_of_memory_is_told(void **state)
{
    static const char text[] = "a = 1 OR b IN ('x', 2.5) AND NOT c LIKE 'x%'";

    (void)state;
    for (uint64_t n = 1;; n++) {
        paua_filter *filter = NULL;
        paua_error err;
        paua_status status;

        mem_fail_after(n);
        status = paua_filter_parse(text, strlen(text), &filter, &err);
        mem_fail_after(0);
        if (status == PAUA_OK) {
            char *made;

            assert_true(n > 3);
            mem_fail_after(1);
            assert_null(paua_filter_text(filter, NULL));
            mem_fail_after(0);
            made = paua_filter_text(filter, NULL);
            assert_string_equal(made, text);
            free(made);
            paua_filter_free(filter);
            break;
        }
        assert_int_equal(status, PAUA_ENOMEM);
        assert_null(filter);
    }
}

static void a_point_is_a_point_wherever_the_program_runs(void **state)
{
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C"};

    (void)state;
    for (size_t i = 0; i < COUNT(locales); i++) {
        setlocale(LC_ALL, locales[i]); /* if it is installed */
        assert_means("a = 5.25", 8, "a = 5.25", 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_means_what_it_says),
        cmocka_unit_test(a_mistake_is_told_with_its_place),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(conditions_side_by_side_are_not_nested),
        cmocka_unit_test(text_of_a_mebibyte_is_parsed_and_a_byte_more_is_refused),
        cmocka_unit_test(running_out_of_memory_is_told),
        cmocka_unit_test(a_point_is_a_point_wherever_the_program_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
