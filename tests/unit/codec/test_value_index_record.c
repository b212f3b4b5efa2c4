/* test_value_index_record.c - what src/codec/value_index_record.c promises about bytes that it is
 * handed.
 *
 * Offsets in SAMPLE's record: 12 kind, 16 rows, 20 entries, 24 checksum of the columns, 28 bytes of
 * the sets. */
#include "damage.h"

#include "codec/record.h"
#include "codec/value_index_record.h"

static const struct value_index_record SAMPLE = {.kind = PAUA_INDEX_BITMAP,
                                                 .rows = 1000,
                                                 .entries = 70,
                                                 .columns_crc = 0x12345678,
                                                 .sets_nbytes = UINT64_C(0x1234567890)};

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return value_index_record_decode(bytes, length, out);
}

static paua_status encode(const void *record, struct writer *w)
{
    return value_index_record_encode(record, w);
}

static const struct decoder DECODER = {decode, sizeof(struct value_index_record), mend_record};

static void assert_round_trip(const struct value_index_record *record)
{
    struct writer w = {0};
    struct value_index_record back;

    assert_int_equal(value_index_record_encode(record, &w), PAUA_OK);
    assert_int_equal(value_index_record_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_int_equal(back.kind, record->kind);
    assert_int_equal(back.rows, record->rows);
    assert_int_equal(back.entries, record->entries);
    assert_int_equal(back.columns_crc, record->columns_crc);
    assert_true(back.sets_nbytes == record->sets_nbytes);
    writer_free(&w);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(value_index_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_golden(
        w.bytes, w.length,
        "50564958 0100 0000 d9cb9db5 04000000 e8030000 46000000 78563412 9078563412000000");
    writer_free(&w);
}

static void an_index_comes_back_with_every_field(void **state)
{
    struct value_index_record least = {.kind = PAUA_INDEX_SORTED, .rows = 1};
    struct value_index_record full = {
        .kind = PAUA_INDEX_SORTED, .rows = UINT32_MAX, .entries = UINT32_MAX};
    struct value_index_record most = {.kind = PAUA_INDEX_BITMAP,
                                      .rows = UINT32_MAX,
                                      .entries = UINT32_MAX,
                                      .columns_crc = UINT32_MAX,
                                      .sets_nbytes = UINT64_MAX};

    (void)state;
    assert_round_trip(&SAMPLE);
    assert_round_trip(&least);
    assert_round_trip(&full);
    assert_round_trip(&most);
}

static void a_damaged_record_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(value_index_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&DECODER, w.bytes, w.length);
    assert_every_other_length_is_refused(&DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void forged_fields_with_a_good_checksum_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {4, 2, 2, PAUA_EVERSION},
        {12, 1, PAUA_INDEX_DEFAULT, 0},
        {12, 1, PAUA_INDEX_VAMANA, 0},
        {12, 1, PAUA_INDEX_FLAT, 0},
        {12, 1, PAUA_INDEX_NONE, 0},
        {12, 1, PAUA_INDEX_SORTED, 0}, /* it has no sets */
        {12, 1, PAUA_INDEX_SORTED + 1, 0},
        {12, 1, 255, 0},
        {13, 1, 1, 0}, /* reserved */
        {14, 1, 1, 0},
        {15, 1, 128, 0},
        {16, 4, 0, 0}, /* rows */
        {16, 4, 69, 0},
        {20, 4, 1001, 0}, /* entries */
        {20, 4, UINT32_MAX, 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(value_index_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_int_equal(w.length, 36);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void forged_fields_of_an_empty_index_are_refused(void **state)
{
    static const struct value_index_record empty = {.kind = PAUA_INDEX_SORTED, .rows = 1};
    static const struct forgery forgeries[] = {
        {12, 1, PAUA_INDEX_DEFAULT, 0},
        {12, 1, PAUA_INDEX_NONE, 0},
        {12, 1, PAUA_INDEX_SORTED + 1, 0},
        {13, 1, 1, 0},
        {15, 1, 128, 0},
        {16, 4, 0, 0},
        {28, 8, 1, 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(value_index_record_encode(&empty, &w), PAUA_OK);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void encoding_without_memory_fails(void **state)
{
    (void)state;
    assert_encode_needs_memory(encode, &SAMPLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_committed_ones),
        cmocka_unit_test(an_index_comes_back_with_every_field),
        cmocka_unit_test(a_damaged_record_is_refused),
        cmocka_unit_test(forged_fields_with_a_good_checksum_are_refused),
        cmocka_unit_test(forged_fields_of_an_empty_index_are_refused),
        cmocka_unit_test(encoding_without_memory_fails),
    };
    return cmocka_run_group_tests_name("codec/value_index_record", tests, NULL, NULL);
}
