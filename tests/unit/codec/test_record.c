/* test_record.c - the envelope that every record shares. */
#include "damage.h"

#include "base/crc32c.h"
#include "base/memory.h"
#include "codec/record.h"

#define MAGIC 0x54534554u /* "TEST" */
#define VERSION 3u

static paua_status open_record(const void *bytes, size_t length, void *out)
{
    return record_open(bytes, length, MAGIC, VERSION, out);
}

static const struct decoder DECODER = {open_record, sizeof(struct reader), mend_record};

static void make_record(struct writer *w)
{
    record_begin(w, MAGIC, VERSION);
    writer_u32(w, 0x11223344);
    writer_bytes(w, "abc", 3);
    assert_int_equal(record_end(w), PAUA_OK);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    struct writer w = {0};

    (void)state;
    make_record(&w);
    assert_golden(w.bytes, w.length, "54455354 0300 0000 e8a8a91c 44332211 616263");
    assert_int_equal(record_crc(w.bytes), crc32c(0,
                                                 "\x44\x33\x22\x11"
                                                 "abc",
                                                 7));
    writer_free(&w);
}

static void an_opened_record_gives_its_fields(void **state)
{
    struct writer w = {0};
    struct reader r;

    (void)state;
    make_record(&w);
    assert_int_equal(record_open(w.bytes, w.length, MAGIC, VERSION, &r), PAUA_OK);
    assert_int_equal(reader_left(&r), 7);
    assert_int_equal(reader_u32(&r), 0x11223344);
    assert_memory_equal(reader_bytes(&r, 3), "abc", 3);
    assert_false(r.short_read);
    writer_free(&w);
}

static void a_record_without_fields_opens(void **state)
{
    struct writer w = {0};
    struct reader r;

    (void)state;
    record_begin(&w, MAGIC, VERSION);
    assert_int_equal(record_end(&w), PAUA_OK);
    assert_int_equal(w.length, RECORD_HEADER_NBYTES);
    assert_int_equal(record_open(w.bytes, w.length, MAGIC, VERSION, &r), PAUA_OK);
    assert_int_equal(reader_left(&r), 0);
    writer_free(&w);
}

static void every_flipped_bit_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    make_record(&w);
    assert_every_flipped_bit_is_refused(&DECODER, w.bytes, w.length);
    writer_free(&w);
}

static void every_other_length_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    make_record(&w);
    assert_every_other_length_is_refused(&DECODER, w.bytes, w.length, false);
    writer_free(&w);
}

static void another_magic_or_a_reserved_bit_is_refused(void **state)
{
    static const struct forgery forgeries[] = {{0, 4, MAGIC + 1, 0}, {6, 2, 1, 0}, {6, 2, 256, 0}};
    struct writer w = {0};

    (void)state;
    make_record(&w);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries, 3);
    writer_free(&w);
}

static void another_version_is_told_from_damage_by_the_checksum(void **state)
{
    static const struct forgery newer = {4, 2, VERSION + 1, PAUA_EVERSION};
    struct writer w = {0};

    (void)state;
    make_record(&w);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, &newer, 1);
    w.bytes[4]++;
    w.bytes[14] ^= 1;
    assert_refused(&DECODER, w.bytes, w.length, PAUA_ECORRUPT);
    writer_free(&w);
}

static void a_record_that_ran_out_of_memory_is_not_ended(void **state)
{
    struct writer w = {0};

    (void)state;
    mem_fail_after(1);
    record_begin(&w, MAGIC, VERSION);
    mem_fail_after(0);
    assert_int_equal(record_end(&w), PAUA_ENOMEM);
    writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_committed_ones),
        cmocka_unit_test(an_opened_record_gives_its_fields),
        cmocka_unit_test(a_record_without_fields_opens),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_other_length_is_refused),
        cmocka_unit_test(another_magic_or_a_reserved_bit_is_refused),
        cmocka_unit_test(another_version_is_told_from_damage_by_the_checksum),
        cmocka_unit_test(a_record_that_ran_out_of_memory_is_not_ended),
    };
    return cmocka_run_group_tests_name("codec/record", tests, NULL, NULL);
}
