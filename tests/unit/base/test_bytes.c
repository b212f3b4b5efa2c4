/* test_bytes.c - readers stay inside their bytes, writers say when memory is out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/memory.h"

static const uint64_t NUMBERS[] = {0,
                                   1,
                                   127,
                                   128,
                                   255,
                                   256,
                                   16383,
                                   16384,
                                   65535,
                                   UINT32_MAX,
                                   UINT64_C(1) << 62,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX};

#define NUMBER_COUNT (sizeof NUMBERS / sizeof NUMBERS[0])

static void fields_come_back_little_endian(void **state)
{
    static const uint8_t expected[] = {0x12, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 0xEF,
                                       0xCD, 0xAB, 0x90, 0x78, 0x56, 0x34, 0x12};
    struct writer w = {0};
    struct reader r;

    (void)state;
    writer_u8(&w, 0x12);
    writer_u16(&w, 0x1234);
    writer_u32(&w, 0x12345678);
    writer_u64(&w, UINT64_C(0x1234567890ABCDEF));
    assert_false(w.failed);
    assert_int_equal(w.length, sizeof expected);
    assert_memory_equal(w.bytes, expected, sizeof expected);

    r = reader_over(w.bytes, w.length);
    assert_int_equal(reader_u8(&r), 0x12);
    assert_int_equal(reader_u16(&r), 0x1234);
    assert_int_equal(reader_u32(&r), 0x12345678);
    assert_int_equal(reader_u64(&r), UINT64_C(0x1234567890ABCDEF));
    assert_false(r.short_read);
    assert_int_equal(reader_left(&r), 0);
    writer_free(&w);
    assert_null(w.bytes);
}

static void every_width_is_put_and_got(void **state)
{
    (void)state;
    for (size_t width = 1; width <= 8; width++) {
        uint64_t value = UINT64_C(0xF1E2D3C4B5A69788) >> (64 - 8 * width);
        uint8_t bytes[9];

        memset(bytes, 0xA5, sizeof bytes);
        bytes_put(bytes, value, width);
        assert_int_equal(bytes_get(bytes, width), value);
        assert_int_equal(bytes[width], 0xA5);
        struct reader r = reader_over(bytes, width);
        assert_int_equal(reader_uint(&r, width), value);
    }
}

static void a_short_read_gives_zero_and_is_remembered(void **state)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5};
    struct reader r = reader_over(bytes, sizeof bytes);

    (void)state;
    assert_int_equal(reader_u32(&r), 0x04030201);
    assert_int_equal(reader_u16(&r), 0);
    assert_true(r.short_read);
    assert_int_equal(reader_u8(&r), 0); /* though a byte was left before */
    assert_true(r.short_read);
    assert_int_equal(reader_left(&r), 0);
}

static void lengths_beyond_the_end_give_no_pointer(void **state)
{
    static const uint8_t bytes[] = {1, 2, 3};
    static const uint64_t lengths[] = {4, 5, SIZE_MAX, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct reader r = reader_over(bytes, sizeof bytes);

        assert_null(reader_bytes(&r, lengths[i]));
        assert_true(r.short_read);
    }
    struct reader r = reader_over(bytes, sizeof bytes);
    assert_ptr_equal(reader_bytes(&r, 3), bytes);
    assert_non_null(reader_bytes(&r, 0));
    assert_false(r.short_read);
}

static void nothing_at_all_can_be_read(void **state)
{
    struct reader r = reader_over(NULL, 0);

    (void)state;
    assert_int_equal(reader_left(&r), 0);
    assert_non_null(reader_bytes(&r, 0));
    assert_int_equal(reader_u8(&r), 0);
    assert_true(r.short_read);
}

static void varints_come_back_and_every_prefix_is_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        struct writer w = {0};

        writer_varint(&w, NUMBERS[i]);
        struct reader r = reader_over(w.bytes, w.length);
        assert_int_equal(reader_varint(&r), NUMBERS[i]);
        assert_false(r.short_read);
        assert_int_equal(reader_left(&r), 0);
        for (size_t cut = 0; cut < w.length; cut++) {
            r = reader_over(w.bytes, cut);
            assert_int_equal(reader_varint(&r), 0);
            assert_true(r.short_read);
        }
        writer_free(&w);
    }
}

static void varints_in_a_longer_form_or_above_64_bits_are_refused(void **state)
{
    static const struct {
        size_t length;
        uint8_t bytes[11];
    } bad[] = {
        {2, {0x80, 0x00}},
        {3, {0xFF, 0x80, 0x00}},
        {10, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}},
        {10, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02}},
        {11, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x00}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct reader r = reader_over(bad[i].bytes, bad[i].length);

        assert_int_equal(reader_varint(&r), 0);
        assert_true(r.short_read);
        assert_int_equal(reader_left(&r), 0);
    }
}

static void a_writer_that_ran_out_of_memory_stays_failed_and_keeps_its_bytes(void **state)
{
    static const uint8_t more[100] = {0};
    struct writer w = {0};

    (void)state;
    writer_u8(&w, 7);
    mem_fail_after(1);
    writer_bytes(&w, more, sizeof more);
    mem_fail_after(0);
    assert_true(w.failed);
    assert_int_equal(w.length, 1);
    assert_null(writer_room(&w, 1));
    writer_u64(&w, 1);
    writer_varint(&w, 1);
    assert_int_equal(w.length, 1);
    assert_int_equal(w.bytes[0], 7);
    writer_free(&w);
    assert_false(w.failed);
}

static void a_length_that_overflows_fails_the_writer(void **state)
{
    struct writer w = {0};

    (void)state;
    writer_u8(&w, 7);
    assert_null(writer_room(&w, SIZE_MAX));
    assert_true(w.failed);
    writer_free(&w);
}

static void room_for_nothing_is_no_failure(void **state)
{
    struct writer w = {0};

    (void)state;
    writer_bytes(&w, NULL, 0);
    assert_non_null(writer_room(&w, 0));
    assert_int_equal(w.length, 0);
    assert_false(w.failed);
    writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_little_endian),
        cmocka_unit_test(every_width_is_put_and_got),
        cmocka_unit_test(a_short_read_gives_zero_and_is_remembered),
        cmocka_unit_test(lengths_beyond_the_end_give_no_pointer),
        cmocka_unit_test(nothing_at_all_can_be_read),
        cmocka_unit_test(varints_come_back_and_every_prefix_is_short),
        cmocka_unit_test(varints_in_a_longer_form_or_above_64_bits_are_refused),
        cmocka_unit_test(a_writer_that_ran_out_of_memory_stays_failed_and_keeps_its_bytes),
        cmocka_unit_test(a_length_that_overflows_fails_the_writer),
        cmocka_unit_test(room_for_nothing_is_no_failure),
    };
    return cmocka_run_group_tests_name("base/bytes", tests, NULL, NULL);
}
