/* test_crc32c.c - both paths against the definition, bit by bit, and the vectors of RFC 3720. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/crc32c.h"

#define BUFFER_NBYTES (64u * 1024 + 64)

static uint8_t buffer[BUFFER_NBYTES];

typedef uint32_t (*crc_fn)(uint32_t crc, const void *bytes, size_t length);

static const crc_fn PATHS[] = {crc32c, crc32c_portable};

#define PATH_COUNT (sizeof PATHS / sizeof PATHS[0])

/* The polynomial's definition, one byte more. */
static uint32_t definition_add(uint32_t crc, uint8_t byte)
{
    uint32_t remainder = ~crc ^ byte;

    for (int bit = 0; bit < 8; bit++)
        remainder = (remainder >> 1) ^ (0x82F63B78u & (0u - (remainder & 1u)));
    return ~remainder;
}

static int fill_buffer(void **state)
{
    uint64_t random = 0x9E3779B97F4A7C15;

    (void)state;
    for (size_t i = 0; i < BUFFER_NBYTES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        buffer[i] = (uint8_t)(random >> 56);
    }
    return 0;
}

static void the_vectors_of_rfc_3720_hold(void **state)
{
    static const uint8_t read_command[48] = {
        0x01, 0xC0, 0, 0,    0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 4, 0,
        0,    0,    0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 2,    0, 0, 0, 0, 0, 0, 0};
    uint8_t zeros[32] = {0}, ones[32], rising[32], falling[32];

    (void)state;
    memset(ones, 0xFF, sizeof ones);
    for (uint8_t i = 0; i < 32; i++) {
        rising[i] = i;
        falling[i] = (uint8_t)(31 - i);
    }
    for (size_t path = 0; path < PATH_COUNT; path++) {
        assert_int_equal(PATHS[path](0, "", 0), 0);
        assert_int_equal(PATHS[path](0, "123456789", 9), 0xE3069283);
        assert_int_equal(PATHS[path](0, zeros, 32), 0x8A9136AA);
        assert_int_equal(PATHS[path](0, ones, 32), 0x62A8AB43);
        assert_int_equal(PATHS[path](0, rising, 32), 0x46DD794E);
        assert_int_equal(PATHS[path](0, falling, 32), 0x113FDB5C);
        assert_int_equal(PATHS[path](0, read_command, 48), 0xD9963A56);
    }
}

static void every_length_at_every_alignment_follows_the_definition(void **state)
{
    (void)state;
    for (size_t align = 0; align < 9; align++) {
        uint32_t expected = 0;

        for (size_t length = 0; length <= 1100; length++) {
            for (size_t path = 0; path < PATH_COUNT; path++)
                assert_int_equal(PATHS[path](0, buffer + align, length), expected);
            expected = definition_add(expected, buffer[align + length]);
        }
    }
}

/* Long enough for the parts of both lengths, and each combination of them. */
static void long_buffers_follow_the_definition(void **state)
{
    uint32_t expected = 0;

    (void)state;
    for (size_t length = 0; length <= 64u * 1024; length++) {
        if (length % 331 == 0 || length % 4096 < 3)
            for (size_t path = 0; path < PATH_COUNT; path++)
                assert_int_equal(PATHS[path](0, buffer + 3, length), expected);
        expected = definition_add(expected, buffer[3 + length]);
    }
}

static void pieces_give_the_checksum_of_the_whole(void **state)
{
    const size_t length = 40000;

    (void)state;
    for (size_t path = 0; path < PATH_COUNT; path++) {
        uint32_t whole = PATHS[path](0, buffer, length);

        for (size_t cut = 0; cut <= length; cut += cut < 40 ? 1 : 1237) {
            uint32_t crc = PATHS[path](0, buffer, cut);

            assert_int_equal(PATHS[path](crc, buffer + cut, length - cut), whole);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_rfc_3720_hold),
        cmocka_unit_test(every_length_at_every_alignment_follows_the_definition),
        cmocka_unit_test(long_buffers_follow_the_definition),
        cmocka_unit_test(pieces_give_the_checksum_of_the_whole),
    };
    return cmocka_run_group_tests_name("base/crc32c", tests, fill_buffer, NULL);
}
