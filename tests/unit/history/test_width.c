/* test_width.c - rule version 1, which stored rows depend on for good. */
#include "support.h"

#include "base/utf8.h"
#include "history/width.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static void the_table_is_the_one_of_version_1(void **state)
{
    static uint8_t widths[0x110000];
    static const struct {
        uint32_t point, width;
    } KNOWN[] = {{'a', 1},     {0xAD, 1},    {0x300, 0},    {0x600, 1},   {0x1100, 2},
                 {0x1160, 0},  {0x200D, 0},  {0x2329, 2},   {0x754C, 2},  {0xAC00, 2},
                 {0xFE0F, 0},  {0xFF01, 2},  {0x1F1E6, 1},  {0x1F44D, 2}, {0x1F971, 2},
                 {0x20000, 2}, {0x3FFFD, 2}, {0x10FFFF, 1}, {0xE0100, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
        if (width_of(KNOWN[i].point) != KNOWN[i].width) fail_msg("U+%X", KNOWN[i].point);
    for (uint32_t point = 0; point < 0x110000; point++) {
        widths[point] = (uint8_t)width_of(point);
        assert_true(widths[point] <= 2);
    }
    assert_true(XXH3_64bits(widths, sizeof widths) == UINT64_C(0x29221F23CE6C9C02));
}

static void clusters_are_cut_where_the_rule_says(void **state)
{
    static const struct {
        const char *text;
        uint32_t nbytes, width;
    } CASES[] = {
        {"ab", 1, 1},
        {"e\xCC\x81x", 3, 1},
        {"\xE7\x95\x8C\xE7\x95\x8C", 3, 2},
        {"\xCC\x81\xCC\x81z", 4, 1}, /* nothing to join: a cell of its own */
        {"\xF0\x9F\xA7\x91\xE2\x80\x8D\xF0\x9F\x8C\xBEy", 11, 2},   /* farmer */
        {"\xF0\x9F\xA7\x91\xE2\x80\x8Dy", 7, 2},                    /* ASCII never joins */
        {"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xAB", 8, 2}, /* two of three regionals */
        {"\xF0\x9F\x87\xA9x", 4, 1},
        {"\xE2\x9D\xA4\xEF\xB8\x8F", 6, 2}, /* emoji presentation */
        {"\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", 8, 2},
        {"\xE2\x9D\xA4\xF0\x9F\x8F\xBD", 3, 1}, /* no skin tone on a narrow one */
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        uint32_t nbytes,
            width = width_cluster(CASES[i].text, (uint32_t)strlen(CASES[i].text), &nbytes);

        if (nbytes != CASES[i].nbytes || width != CASES[i].width)
            fail_msg("case %zu: %u bytes, %u wide", i, nbytes, width);
    }
}

static void no_cluster_is_over_its_limit(void **state)
{
    char text[400] = "e";
    uint32_t nbytes;

    (void)state;
    for (size_t i = 1; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "\xCC\x81", 2);
    width_cluster(text, 399, &nbytes);
    assert_int_equal(nbytes, 127);
}

static void code_points_survive_encoding_and_decoding(void **state)
{
    (void)state;
    for (uint32_t point = 0; point < 0x110000; point++) {
        char text[4];
        uint32_t nbytes, used = utf8_encode(point, text);

        if (width_decode(text, &nbytes) != point || nbytes != used) fail_msg("U+%X", point);
    }
}

static void text_with_controls_is_not_valid(void **state)
{
    static const char *const BAD[] = {"\x1B",     "a\nb",         "\x7F",     "a\xC2\x80",
                                      "\xC2\x9F", "\xED\xA0\x80", "\xC0\x80", "\xE7\x95"};

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (width_text_valid(BAD[i], strlen(BAD[i]))) fail_msg("case %zu", i);
    assert_false(width_text_valid("\0", 1));
    assert_true(width_text_valid("\xC2\xA0 ~\xE7\x95\x8C", 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_the_one_of_version_1),
        cmocka_unit_test(clusters_are_cut_where_the_rule_says),
        cmocka_unit_test(no_cluster_is_over_its_limit),
        cmocka_unit_test(code_points_survive_encoding_and_decoding),
        cmocka_unit_test(text_with_controls_is_not_valid),
    };

    return cmocka_run_group_tests_name("history/width", tests, NULL, NULL);
}
