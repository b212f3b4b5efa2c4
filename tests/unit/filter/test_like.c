/* test_like.c - patterns are matched character by character, and never take long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter/like.h"

static bool matches(const char *pattern, const char *escape, const char *text, size_t nbytes)
{
    paua_bytes given = {pattern, strlen(pattern)}, compiled;
    paua_bytes escapes = {escape, escape != NULL ? strlen(escape) : 0};
    struct arena arena = {0};
    bool matched;

    assert_true(like_valid(&given, escape != NULL ? &escapes : NULL));
    assert_true(like_compile(&given, escape != NULL ? &escapes : NULL, &arena, &compiled));
    matched = like_matches(&compiled, (const uint8_t *)text, nbytes);
    arena_free(&arena);
    return matched;
}

static void a_pattern_matches_what_it_describes_and_nothing_else(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"%", "", true},
        {"%", "anything", true},
        {"%%%", "", true},
        {"_", "", false},
        {"_", "a", true},
        {"_", "ab", false},
        {"abc", "abc", true},
        {"abc", "ABC", false},
        {"abc", "ab", false},
        {"abc", "abcd", false},
        {"a%", "a", true},
        {"a%", "ba", false},
        {"%c", "abc", true},
        {"%c", "abcd", false},
        {"%b%", "abc", true},
        {"%b%", "ac", false},
        {"a_c", "abc", true},
        {"a_c", "abbc", false},
        {"a%c%e", "abcde", true},
        {"a%c%e", "ace", true},
        {"a%c%e", "acd", false},
        {"%ab%ab", "ab", false},
        {"%ab%ab", "abab", true},
        {"%aab", "aaab", true},
        {"_%", "", false},
        {"%_", "x", true},
        {"%__", "x", false},
        {"%a_%", "aa", true},
        {"%a_%", "ba", false},
        /* characters, not bytes */
        {"_", "\xC3\xA9", true},
        {"_", "\xE2\x82\xAC", true},
        {"_", "\xF0\x9F\x90\x9A", true},
        {"__", "\xC3\xA9", false},
        {"__", "\xC3\xA9x", true},
        {"_\xC3\xA9_", "a\xC3\xA9z", true},
        {"%\xC3\xA9", "\xC3\xA8\xC3\xA9", true},
        {"%_x", "\xF0\x9F\x90\x9Ax", true},
        {"%__x", "\xF0\x9F\x90\x9Ax", false},
        {"%___x%", "\xF0\x9F\x90\x9Ayxz", false},
        {"e_", "e\xCC\x81", true}, /* composed otherwise */
        /* escapes */
        {"a\\%", "a%", true},
        {"a\\%", "ab", false},
        {"a\\_c", "a_c", true},
        {"a\\_c", "abc", false},
        {"\\\\", "\\", true},
        {"\\a\\b", "ab", true},
        {"\\\xC3\xA9", "\xC3\xA9", true},
        {"%\\%%", "50% off", true},
        {"%\\%%", "50 off", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (matches(cases[i].pattern, NULL, cases[i].text, strlen(cases[i].text)) !=
            cases[i].matches)
            fail_msg("'%s' LIKE '%s'", cases[i].text, cases[i].pattern);
    }
    assert_true(matches("a_b", NULL, "a\0b", 3));
    assert_true(matches("a%", NULL, "a\0b", 3));
}

static void any_character_can_be_the_escape(void **state)
{
    (void)state;
    assert_true(matches("a!%", "!", "a%", 2));
    assert_false(matches("a!%", "!", "ab", 2));
    assert_true(matches("!!", "!", "!", 1));
    assert_true(matches("a\\%", "!", "a\\b", 3)); /* the backslash is none now */
    assert_true(matches("\xC3\xA9%", "\xC3\xA9", "%", 1));
    assert_true(matches("\xC3\xA9\xC3\xA9", "\xC3\xA9", "\xC3\xA9", 2));
    assert_true(matches("%%a", "%", "%a", 2));
    assert_false(matches("%%a", "%", "xa", 2));
    assert_true(matches("a\\_", "", "a\\b", 3)); /* no escapes */
}

static void an_escape_that_escapes_nothing_is_invalid(void **state)
{
    static const struct {
        const char *pattern, *escape;
        bool valid;
    } cases[] = {{"a\\", "\\", false}, {"a\\\\", "\\", true},  {"\\", "\\", false},
                 {"", "\\", true},     {"a!", "!", false},     {"a\\", "!", true},
                 {"a\\", "", true},    {"\\\\\\", "\\", false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        paua_bytes pattern = {cases[i].pattern, strlen(cases[i].pattern)};
        paua_bytes escape = {cases[i].escape, strlen(cases[i].escape)};

        assert_int_equal(like_valid(&pattern, &escape), cases[i].valid);
    }
}

static void one_character_or_none_is_an_escape(void **state)
{
    static const struct {
        const char *escape;
        bool valid;
    } cases[] = {
        {"", true}, {"!", true}, {"\xE2\x82\xAC", true}, {"ab", false}, {"\xC3\xA9x", false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        paua_bytes escape = {cases[i].escape, strlen(cases[i].escape)};

        assert_int_equal(like_escape_valid(&escape), cases[i].valid);
    }
}

/* 40 wildcards in a text where each could stop at 20,000 places: exponential matchers, or those
 * that go back to every wildcard, would take hours. */
static void a_hostile_pattern_takes_no_time(void **state)
{
    size_t nbytes = 20000;
    char *text = malloc(nbytes), pattern[128] = "";

    (void)state;
    memset(text, 'a', nbytes);
    for (int i = 0; i < 40; i++)
        strcat(pattern, "%a");
    strcat(pattern, "%b");
    assert_false(matches(pattern, NULL, text, nbytes));
    memcpy(pattern + strlen(pattern) - 1, "_", 1);
    assert_true(matches(pattern, NULL, text, nbytes));
    strcpy(pattern, "%aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab%");
    assert_false(matches(pattern, NULL, text, nbytes));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_matches_what_it_describes_and_nothing_else),
        cmocka_unit_test(any_character_can_be_the_escape),
        cmocka_unit_test(an_escape_that_escapes_nothing_is_invalid),
        cmocka_unit_test(one_character_or_none_is_an_escape),
        cmocka_unit_test(a_hostile_pattern_takes_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
