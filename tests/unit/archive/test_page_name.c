/* test_page_name.c - the name in a file of pages: every name, and nothing but names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "archive/page_name.h"
#include "base/bytes.h"
#include "history/frame.h"

#define HASH_AT (PAGE_NAME_NBYTES - 8)

static void mend(uint8_t *bytes) { bytes_put(bytes + HASH_AT, frame_hash(bytes, HASH_AT), 8); }

static void names_of_every_length_come_back(void **state)
{
    char name[PAUA_NAME_NBYTES_MAX + 1] = "", found[PAUA_NAME_NBYTES_MAX + 1];
    uint8_t bytes[PAGE_NAME_NBYTES];

    (void)state;
    for (size_t n = 1; n <= PAUA_NAME_NBYTES_MAX; n++) {
        name[n - 1] = (char)('a' + n % 26);
        page_name_encode(name, bytes);
        assert_int_equal(page_name_decode(bytes, found), PAUA_OK);
        assert_string_equal(found, name);
    }
}

static void every_flipped_bit_is_damage(void **state)
{
    char found[PAUA_NAME_NBYTES_MAX + 1] = "untouched";
    uint8_t bytes[PAGE_NAME_NBYTES];

    (void)state;
    page_name_encode("caf\xC3\xA9 log", bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
        assert_int_equal(page_name_decode(bytes, found), PAUA_ECORRUPT);
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
    }
    assert_string_equal(found, "untouched");
}

/* A byte set to a value that no writer writes there, under a hash that holds. */
static void forged_fields_are_refused(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
        paua_status status;
    } FORGED[] = {
        {0, 'Q', PAUA_ECORRUPT},  {4, 0, PAUA_ECORRUPT},           {4, 2, PAUA_EVERSION},
        {5, 0, PAUA_ECORRUPT},    {5, 4, PAUA_ECORRUPT},           {5, 6, PAUA_ECORRUPT},
        {5, 255, PAUA_ECORRUPT},  {6, 1, PAUA_ECORRUPT},           {7, 1, PAUA_ECORRUPT},
        {9, 0, PAUA_ECORRUPT},    {9, '\n', PAUA_ECORRUPT},        {9, 0x7F, PAUA_ECORRUPT},
        {9, 0xFF, PAUA_ECORRUPT}, {HASH_AT - 1, 1, PAUA_ECORRUPT}, {13, 'x', PAUA_ECORRUPT},
    };
    char found[PAUA_NAME_NBYTES_MAX + 1];
    uint8_t bytes[PAGE_NAME_NBYTES];

    (void)state;
    for (size_t i = 0; i < sizeof FORGED / sizeof FORGED[0]; i++) {
        page_name_encode("shell", bytes);
        bytes[FORGED[i].at] = FORGED[i].value;
        mend(bytes);
        if (page_name_decode(bytes, found) != FORGED[i].status)
            fail_msg("byte %zu as %u", FORGED[i].at, FORGED[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_every_length_come_back),
        cmocka_unit_test(every_flipped_bit_is_damage),
        cmocka_unit_test(forged_fields_are_refused),
    };

    return cmocka_run_group_tests_name("archive/page_name", tests, NULL, NULL);
}
