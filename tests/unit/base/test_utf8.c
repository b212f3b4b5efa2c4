/* test_utf8.c - every code point, and the forms that RFC 3629 forbids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

/* The encoding as section 3 of the RFC defines it; lengths beyond the shortest on request. */
static size_t encode(uint32_t point, size_t nbytes, uint8_t *bytes)
{
    static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0};

    for (size_t i = nbytes; i > 1; i--, point >>= 6)
        bytes[i - 1] = (uint8_t)(0x80 | (point & 0x3F));
    bytes[0] = (uint8_t)(leads[nbytes] | point);
    return nbytes;
}

static size_t shortest(uint32_t point)
{
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

static void exactly_the_code_points_but_surrogates_are_valid_in_their_shortest_form(void **state)
{
    (void)state;
    for (uint32_t point = 0; point < 0x1FFFFF; point++)
        for (size_t nbytes = shortest(point); nbytes <= 4; nbytes++) {
            bool valid = nbytes == shortest(point) && point <= 0x10FFFF &&
                         !(point >= 0xD800 && point <= 0xDFFF);
            uint8_t bytes[4];

            encode(point, nbytes, bytes);
            if ((utf8_valid_prefix(bytes, nbytes) == nbytes) != valid)
                fail_msg("U+%X in %zu bytes", (unsigned)point, nbytes);
        }
}

static void every_string_of_two_bytes_is_judged_as_its_pieces(void **state)
{
    (void)state;
    for (uint32_t value = 0; value < 0x10000; value++) {
        const uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};
        size_t expected = 0;

        if (bytes[0] < 0x80) expected = bytes[1] < 0x80 ? 2 : 1;
        if (bytes[0] >= 0xC2 && bytes[0] < 0xE0 && bytes[1] >> 6 == 2) expected = 2;
        if (utf8_valid_prefix(bytes, 2) != expected) fail_msg("%04X", (unsigned)value);
    }
}

static void a_character_cut_short_ends_the_prefix_before_it(void **state)
{
    static const uint32_t points[] = {0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF};

    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        for (size_t cut = 1; cut < shortest(points[i]); cut++) {
            uint8_t *bytes = malloc(3 + cut); /* exact, so that a sanitizer sees a read beyond */
            uint8_t whole[4];

            memcpy(bytes, "abc", 3);
            encode(points[i], shortest(points[i]), whole);
            memcpy(bytes + 3, whole, cut);
            assert_int_equal(utf8_valid_prefix(bytes, 3 + cut), 3);
            free(bytes);
        }
}

static void each_wrong_byte_ends_the_prefix_where_it_is(void **state)
{
    static const char text[] =
        "plain words, then caf\xC3\xA9 and \xE2\x82\xAC and more plain words";
    static const uint8_t wrong[] = {0x80, 0xBF, 0xC0, 0xC1, 0xF5, 0xFF};
    const size_t length = sizeof text - 1;

    (void)state;
    assert_int_equal(utf8_valid_prefix(text, length), length);
    for (size_t at = 0; at < length; at++)
        for (size_t i = 0; i < sizeof wrong; i++) {
            char broken[sizeof text];

            memcpy(broken, text, sizeof text);
            if ((unsigned char)text[at] >= 0x80) continue;
            broken[at] = (char)wrong[i];
            assert_int_equal(utf8_valid_prefix(broken, length), at);
        }
    assert_int_equal(utf8_valid_prefix("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_the_code_points_but_surrogates_are_valid_in_their_shortest_form),
        cmocka_unit_test(every_string_of_two_bytes_is_judged_as_its_pieces),
        cmocka_unit_test(a_character_cut_short_ends_the_prefix_before_it),
        cmocka_unit_test(each_wrong_byte_ends_the_prefix_where_it_is),
    };
    return cmocka_run_group_tests_name("base/utf8", tests, NULL, NULL);
}
