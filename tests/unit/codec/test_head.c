/* test_head.c - what src/codec/head.c promises about bytes it is handed.
 *
 * Offsets in SAMPLE's record: 12 collection, 16 generation, 24 next row, 32 first sequence, 40 last
 * sequence, 48 tail's first row, 56 segment count, 60 digest, 64 tail's heap, 72 field count, 76
 * and 84 tail's vector files. */
#include "damage.h"

#include "codec/head.h"
#include "codec/record.h"

static const struct head SAMPLE = {.collection = 7,
                                   .generation = 9,
                                   .next_row = 1000,
                                   .first_sequence = 5,
                                   .last_sequence = 6,
                                   .tail_first_row = 990,
                                   .field_count = 2,
                                   .tail_vectors = {17, 18},
                                   .tail_heap = 19,
                                   .segment_count = 3,
                                   .segments_digest = 0xABCD1234};

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return head_decode(bytes, length, out);
}

static paua_status encode(const void *head, struct writer *w) { return head_encode(head, w); }

static const struct decoder DECODER = {decode, sizeof(struct head), mend_record};

static void assert_round_trip(const struct head *head)
{
    struct writer w = {0};
    struct head back;

    memset(&back, 0, sizeof back);
    assert_int_equal(head_encode(head, &w), PAUA_OK);
    assert_int_equal(head_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_int_equal(back.collection, head->collection);
    assert_true(back.generation == head->generation);
    assert_true(back.next_row == head->next_row);
    assert_true(back.first_sequence == head->first_sequence);
    assert_true(back.last_sequence == head->last_sequence);
    assert_true(back.tail_first_row == head->tail_first_row);
    assert_int_equal(back.field_count, head->field_count);
    assert_memory_equal(back.tail_vectors, head->tail_vectors, sizeof back.tail_vectors);
    assert_true(back.tail_heap == head->tail_heap);
    assert_int_equal(back.segment_count, head->segment_count);
    assert_int_equal(back.segments_digest, head->segments_digest);
    writer_free(&w);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(head_encode(&SAMPLE, &w), PAUA_OK);
    assert_golden(w.bytes, w.length,
                  "50484544 0100 0000 701a3933 07000000 0900000000000000 e803000000000000"
                  "0500000000000000 0600000000000000 de03000000000000 03000000 3412cdab"
                  "1300000000000000 02000000 1100000000000000 1200000000000000");
    writer_free(&w);
}

static void round_trip_keeps_every_field(void **state)
{
    static const struct head fresh = {.collection = 1, .first_sequence = 1, .field_count = 1};
    static const struct head all_sealed = {.collection = 1,
                                           .generation = UINT64_MAX,
                                           .next_row = UINT64_MAX,
                                           .first_sequence = UINT64_MAX,
                                           .last_sequence = UINT64_MAX - 1,
                                           .tail_first_row = UINT64_MAX,
                                           .field_count = 16,
                                           .segment_count = UINT32_MAX,
                                           .segments_digest = UINT32_MAX};

    (void)state;
    assert_round_trip(&SAMPLE);
    assert_round_trip(&fresh);
    assert_round_trip(&all_sealed);
}

static void every_flipped_bit_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(head_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&DECODER, w.bytes, w.length);
    writer_free(&w);
}

static void every_other_length_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(head_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_other_length_is_refused(&DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void forged_fields_with_a_good_checksum_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {4, 2, 2, PAUA_EVERSION},
        {12, 4, 0, 0},   /* collection */
        {24, 8, 989, 0}, /* next row before the tail */
        {32, 8, 0, 0},   /* sequences begin at 1 */
        {32, 8, 8, 0},   /* a gap before the first batch to come */
        {32, 8, UINT64_MAX, 0},
        {40, 8, 3, 0},
        {48, 8, 1001, 0}, /* the tail begins after the next row */
        {72, 4, 0, 0},    /* field count */
        {72, 4, 1, 0},    /* leaves bytes over */
        {72, 4, 3, 0},    /* runs past the end */
        {72, 4, 17, 0},   /* too many */
        {72, 4, UINT32_MAX, 0},
        {76, 8, 0, 0}, /* files of some fields only */
        {84, 8, 0, 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(head_encode(&SAMPLE, &w), PAUA_OK);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

/* A heap file beside no vector files at all, and fields that are none or too many. */
static void records_that_are_right_but_for_one_rule_are_refused(void **state)
{
    static const struct {
        uint32_t field_count;
        uint64_t heap;
        bool valid;
    } cases[] = {{1, 0, true}, {1, 5, false}, {0, 0, false}, {16, 0, true}, {17, 0, false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writer w = {0};
        struct head head;

        record_begin(&w, 0x44454850, 1);
        writer_u32(&w, 1);
        for (int field = 0; field < 5; field++)
            writer_u64(&w, field == 2); /* first sequence */
        writer_u64(&w, 0);
        writer_u64(&w, cases[i].heap);
        writer_u32(&w, cases[i].field_count);
        for (uint32_t field = 0; field < cases[i].field_count; field++)
            writer_u64(&w, 0);
        assert_int_equal(record_end(&w), PAUA_OK);
        if (cases[i].valid)
            assert_int_equal(head_decode(w.bytes, w.length, &head), PAUA_OK);
        else
            assert_refused(&DECODER, w.bytes, w.length, PAUA_ECORRUPT);
        writer_free(&w);
    }
}

static void sequences_that_wrap_round_are_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(head_encode(&SAMPLE, &w), PAUA_OK);
    bytes_put(w.bytes + 32, 0, 8);
    bytes_put(w.bytes + 40, UINT64_MAX, 8);
    mend_record(w.bytes, w.length);
    assert_refused(&DECODER, w.bytes, w.length, PAUA_ECORRUPT);
    writer_free(&w);
}

static void a_digest_notices_each_change_and_each_exchange(void **state)
{
    uint32_t digest = head_digest(head_digest(0, 1, 10, 0), 2, 20, 21);

    (void)state;
    assert_int_equal(head_digest(head_digest(0, 1, 10, 0), 2, 20, 21), digest);
    assert_int_not_equal(head_digest(head_digest(0, 2, 20, 21), 1, 10, 0), digest);
    assert_int_not_equal(head_digest(0, 2, 20, 21), digest);
    assert_int_not_equal(head_digest(0, 1, 10, 0), digest);
    assert_int_not_equal(head_digest(head_digest(0, 3, 10, 0), 2, 20, 21), digest);
    assert_int_not_equal(head_digest(head_digest(0, 1, 11, 0), 2, 20, 21), digest);
    assert_int_not_equal(head_digest(head_digest(0, 1, 10, 1), 2, 20, 21), digest);
}

static void a_digest_is_the_committed_one(void **state)
{
    (void)state;
    assert_int_equal(head_digest(0, UINT64_C(0x0102030405060708), 0x11121314, 0x21222324),
                     0xE88053A5);
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
        cmocka_unit_test(round_trip_keeps_every_field),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_other_length_is_refused),
        cmocka_unit_test(forged_fields_with_a_good_checksum_are_refused),
        cmocka_unit_test(records_that_are_right_but_for_one_rule_are_refused),
        cmocka_unit_test(sequences_that_wrap_round_are_refused),
        cmocka_unit_test(a_digest_notices_each_change_and_each_exchange),
        cmocka_unit_test(a_digest_is_the_committed_one),
        cmocka_unit_test(encoding_without_memory_fails),
    };
    return cmocka_run_group_tests_name("codec/head", tests, NULL, NULL);
}
