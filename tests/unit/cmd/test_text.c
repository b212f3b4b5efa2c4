/* test_text.c - text made safe for a terminal, base64, and numbers as text. */
#include "base64.h"
#include "text.h"
#include "util.h"
#include "vector.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

struct printed {
    const char *bytes;
    size_t width;
    const char *text;
    size_t columns;
};

static void check_printed(const struct printed *want)
{
    char *text = NULL;
    size_t nbytes = 0;
    FILE *out = open_memstream(&text, &nbytes);
    size_t columns = text_print(out, want->bytes, strlen(want->bytes), want->width);

    fclose(out);
    assert_string_equal(text, want->text);
    assert_int_equal(columns, want->columns);
    assert_int_equal(text_print(NULL, want->bytes, strlen(want->bytes), want->width), columns);
    free(text);
}

static void controls_and_broken_utf8_are_escaped(void **state)
{
    static const struct printed cases[] = {
        {"plain", TEXT_NO_LIMIT, "plain", 5},
        {"a\tb\nc\rd", TEXT_NO_LIMIT, "a\\tb\\nc\\rd", 10},
        {"\x1b[31m", TEXT_NO_LIMIT, "\\x1b[31m", 8},
        {"\x7f\xc2\x9b", TEXT_NO_LIMIT, "\\x7f\\x9b", 8},
        {"\xff\xc0\x80", TEXT_NO_LIMIT, "\\xff\\xc0\\x80", 12},
        {"\xed\xa0\x80", TEXT_NO_LIMIT, "\\xed\\xa0\\x80", 12},
        {"\xf4\x90\x80\x80", TEXT_NO_LIMIT, "\\xf4\\x90\\x80\\x80", 16},
        {"\xe2\x80\xae", TEXT_NO_LIMIT, "\\u202e", 6},
        {"\xe6\x97\xa5", TEXT_NO_LIMIT, "\xe6\x97\xa5", 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_printed(&cases[i]);
}

static void long_text_is_cut_before_a_whole_grapheme(void **state)
{
    static const struct printed cases[] = {
        {"abcdef", 6, "abcdef", 6},
        {"abcdefg", 6, "abc...", 6},
        {"abcdefg", 2, "..", 2},
        {"abcdefg", 0, "", 0},
        /* e with two combining marks is one column and is not torn */
        {"abe\xcc\x81\xcc\xa3xyz", 6, "abe\xcc\x81\xcc\xa3xyz", 6},
        {"abe\xcc\x81\xcc\xa3xyz", 5, "ab...", 5},
        /* two columns that would end beyond the limit */
        {"ab\xe6\x97\xa5xyz", 6, "ab...", 5},
        /* woman, joiner, girl: one grapheme */
        {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7xyzxyz", 6, "...", 3},
        /* a flag is two regional indicators */
        {"\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa\xf0\x9f\x87\xab\xf0\x9f\x87\xb7", 3, "...", 3},
        /* escapes are cut whole */
        {"ab\x1bxyz", 8, "ab...", 5},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_printed(&cases[i]);
}

static void the_first_byte_that_is_no_utf8_is_named(void **state)
{
    size_t at = 99;

    (void)state;
    assert_true(text_valid("a\xc3\xa9\0b", 5, &at));
    assert_int_equal(at, 99);
    assert_false(text_valid("ab\xc3(", 4, &at));
    assert_int_equal(at, 2);
    assert_false(text_valid("ab\xe6\x97", 4, &at));
    assert_int_equal(at, 2);
}

static void base64_round_trips_every_length(void **state)
{
    uint8_t bytes[64], back[64];
    char text[BASE64_NBYTES(64)];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 151 + 7);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        size_t got = 99, at = 0;
        base64_encode(bytes, n, text);
        assert_true(base64_decode(text, BASE64_NBYTES(n), back, &got, &at));
        assert_int_equal(got, n);
        assert_memory_equal(back, bytes, n);
    }
}

static void base64_refuses_what_is_none(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } cases[] = {{"A", 1},  {"AAA", 3},  {"A===", 1}, {"AA=A", 2},     {"=", 1},
                 {"A=", 2}, {"AA*A", 2}, {"====", 0}, {"AA==AAAA", 2}, {"AAA\n", 3}};
    uint8_t out[16];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t nbytes = 99, at = 99;
        assert_false(base64_decode(cases[i].text, strlen(cases[i].text), out, &nbytes, &at));
        assert_int_equal(nbytes, 99);
        assert_int_equal(at, cases[i].at);
    }
}

static void floats_read_back_as_they_were(void **state)
{
    uint32_t state_bits = 1;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[FLOAT_TEXT_NBYTES];
        size_t length;
        float value;
        state_bits = state_bits * 1664525 + 1013904223;
        memcpy(&value, &state_bits, sizeof value);
        if (!isfinite(value)) continue;
        length = float_text(value, text);
        assert_int_equal(length, strlen(text));
        assert_true(strtof(text, NULL) == value);
    }
}

static void every_half_becomes_its_float(void **state)
{
    (void)state;
    assert_true(half_to_float(0x3c00) == 1.0f);
    assert_true(half_to_float(0xc000) == -2.0f);
    assert_true(half_to_float(0x7bff) == 65504.0f);
    assert_true(half_to_float(0x0001) == 0x1p-24f);
    assert_true(half_to_float(0x83ff) == -0x1.ff8p-15f);
    assert_true(signbit(half_to_float(0x8000)) != 0);
    assert_true(isinf(half_to_float(0x7c00)));
    assert_true(isnan(half_to_float(0x7c01)));
    for (uint32_t h = 1; h < 0x7c00; h++)
        assert_true(half_to_float((uint16_t)h) > half_to_float((uint16_t)(h - 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controls_and_broken_utf8_are_escaped),
        cmocka_unit_test(long_text_is_cut_before_a_whole_grapheme),
        cmocka_unit_test(the_first_byte_that_is_no_utf8_is_named),
        cmocka_unit_test(base64_round_trips_every_length),
        cmocka_unit_test(base64_refuses_what_is_none),
        cmocka_unit_test(floats_read_back_as_they_were),
        cmocka_unit_test(every_half_becomes_its_float),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
