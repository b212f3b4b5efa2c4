/* test_manifest.c - what src/codec/manifest.c promises about bytes it is handed.
 *
 * Offsets in SAMPLE's record: 12 collection, 16 segment, 24 generation, 32 field count, 36 part
 * count, 40 file of keys; parts at 60 and 120: +0 row count, +4 first row, +12 last row, +20 vector
 * file, +40 heap file. A file is +0 number, +8 bytes, +16 checksum. */
#include "damage.h"

#include "base/memory.h"
#include "codec/manifest.h"
#include "codec/record.h"

static struct part sample_parts[] = {
    {.row_count = 100,
     .first_row = 50,
     .last_row = 149,
     .vectors = {{.number = 17, .nbytes = 4000, .footer_crc = 0x1111}},
     .heap = {.number = 18, .nbytes = 5000, .footer_crc = 0x2222}},
    {.row_count = 90,
     .first_row = 150,
     .last_row = 300,
     .vectors = {{.number = 19, .nbytes = 3000, .footer_crc = 0x3333}}},
};

static const struct manifest SAMPLE = {.collection = 7,
                                       .segment = 3,
                                       .generation = 9,
                                       .field_count = 1,
                                       .part_count = 2,
                                       .parts = sample_parts,
                                       .keys = {.number = 20, .nbytes = 700, .footer_crc = 0x4444}};

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return manifest_decode(bytes, length, out);
}

static paua_status encode(const void *manifest, struct writer *w)
{
    return manifest_encode(manifest, w);
}

static const struct decoder DECODER = {decode, sizeof(struct manifest), mend_record};

static void assert_same_ref(const struct file_ref *a, const struct file_ref *b)
{
    assert_true(a->number == b->number);
    assert_true(a->nbytes == b->nbytes);
    assert_int_equal(a->footer_crc, b->footer_crc);
}

static void assert_round_trip(const struct manifest *manifest)
{
    struct writer w = {0};
    struct manifest back;

    assert_int_equal(manifest_encode(manifest, &w), PAUA_OK);
    assert_int_equal(manifest_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_int_equal(back.collection, manifest->collection);
    assert_true(back.segment == manifest->segment);
    assert_true(back.generation == manifest->generation);
    assert_int_equal(back.field_count, manifest->field_count);
    assert_int_equal(back.part_count, manifest->part_count);
    assert_same_ref(&back.keys, &manifest->keys);
    for (uint32_t i = 0; i < back.part_count; i++) {
        const struct part *a = &back.parts[i], *b = &manifest->parts[i];

        assert_int_equal(a->row_count, b->row_count);
        assert_true(a->first_row == b->first_row);
        assert_true(a->last_row == b->last_row);
        for (uint32_t field = 0; field < PAUA_VECTOR_FIELDS_MAX; field++)
            assert_same_ref(&a->vectors[field], &b->vectors[field]);
        assert_same_ref(&a->heap, &b->heap);
    }
    manifest_free(&back);
    assert_null(back.parts);
    writer_free(&w);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(manifest_encode(&SAMPLE, &w), PAUA_OK);
    assert_golden(
        w.bytes, w.length,
        "50534547 0100 0000 5b8897d4 07000000 0300000000000000 0900000000000000 01000000 02000000 "
        "1400000000000000 bc02000000000000 44440000 "
        "64000000 3200000000000000 9500000000000000 "
        "1100000000000000 a00f000000000000 11110000 "
        "1200000000000000 8813000000000000 22220000 "
        "5a000000 9600000000000000 2c01000000000000 "
        "1300000000000000 b80b000000000000 33330000 "
        "0000000000000000 0000000000000000 00000000");
    writer_free(&w);
}

static void round_trip_keeps_every_field(void **state)
{
    struct part part = {
        .row_count = UINT32_MAX, .first_row = UINT64_MAX - UINT32_MAX + 1, .last_row = UINT64_MAX};
    struct manifest largest = {.collection = UINT32_MAX,
                               .segment = UINT64_MAX,
                               .generation = UINT64_MAX,
                               .field_count = PAUA_VECTOR_FIELDS_MAX,
                               .part_count = 1,
                               .parts = &part};

    (void)state;
    for (uint32_t i = 0; i < PAUA_VECTOR_FIELDS_MAX; i++)
        part.vectors[i] = (struct file_ref){UINT64_MAX - i, i + 1, i};
    assert_round_trip(&SAMPLE);
    assert_round_trip(&largest);
}

static void rows_are_those_of_all_parts(void **state)
{
    (void)state;
    assert_int_equal(manifest_rows(&SAMPLE), 190);
}

static void every_flipped_bit_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(manifest_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&DECODER, w.bytes, w.length);
    writer_free(&w);
}

static void every_other_length_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(manifest_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_other_length_is_refused(&DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void forged_fields_with_a_good_checksum_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {4, 2, 2, PAUA_EVERSION},
        {12, 4, 0, 0},                       /* collection */
        {16, 8, 0, 0},                       /* segment */
        {32, 4, 0, 0},                       /* field count */
        {32, 4, 2, 0},                       /* runs past the end */
        {32, 4, 17, 0},                      /* too many */
        {32, 4, 0xFFFFFFFF, 0},              /* times 20 wraps round in 32 bits */
        {36, 4, 0, 0},                       /* part count */
        {36, 4, 1, 0},                       /* leaves bytes over */
        {36, 4, 3, 0},                       /* runs past the end */
        {36, 4, 65537, 0},                   /* too many */
        {36, 4, 2 + (UINT32_C(1) << 30), 0}, /* times 60 wraps round in 32 bits */
        {40, 8, 0, 0},                       /* no key file, but its length */
        {48, 8, 0, 0},                       /* a key file of no bytes */
        {60, 4, 0, 0},                       /* no rows in a part */
        {60, 4, 101, 0},                     /* more rows than ids */
        {64, 8, 150, 0},                     /* last id before the first */
        {72, 8, 148, 0},                     /* more rows than ids */
        {72, 8, 150, 0},                     /* ids of two parts overlap */
        {124, 8, 149, 0},
        {132, 8, 150 + (uint64_t)UINT32_MAX, 0}, /* 2^32 ids in a part */
        {132, 8, UINT64_MAX, 0},
        {80, 8, 0, 0},  /* no vector file */
        {88, 8, 0, 0},  /* a vector file of no bytes */
        {100, 8, 0, 0}, /* no heap file, but its length */
        {108, 8, 0, 0}, /* a heap file of no bytes */
        {168, 8, 1, 0}, /* no heap file, but its length */
        {176, 4, 1, 0}, /* no heap file, but its checksum */
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(manifest_encode(&SAMPLE, &w), PAUA_OK);
    assert_int_equal(w.length, 180);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

/* A record of parts of `rows` rows each, `gap` ids between them, one field, no heap. */
static void write_manifest(struct writer *w, uint32_t field_count, uint32_t part_count,
                           uint32_t rows, uint64_t keys_number)
{
    uint64_t next = 1;

    record_begin(w, 0x47455350, 1);
    writer_u32(w, 1);
    writer_u64(w, 1);
    writer_u64(w, 0);
    writer_u32(w, field_count);
    writer_u32(w, part_count);
    writer_u64(w, keys_number);
    writer_u64(w, keys_number);
    writer_u32(w, 0);
    for (uint32_t i = 0; i < part_count; i++) {
        static const uint8_t no_heap[20] = {0};

        writer_u32(w, rows);
        writer_u64(w, next);
        writer_u64(w, next + rows - 1);
        next += rows;
        for (uint32_t field = 0; field < field_count; field++) {
            writer_u64(w, i + 1);
            writer_u64(w, 100);
            writer_u32(w, field);
        }
        writer_bytes(w, no_heap, sizeof no_heap);
    }
    assert_int_equal(record_end(w), PAUA_OK);
}

static void records_that_are_right_but_for_one_rule_are_refused(void **state)
{
    static const struct {
        uint32_t field_count, part_count, rows;
        bool valid;
    } cases[] = {
        {1, 1, 1, true},
        {16, 2, 10, true},
        {17, 2, 10, false},
        {0, 2, 10, false},
        {1, 0, 10, false},
        {1, 65536, 10, true},
        {1, 65537, 10, false},
        {1, 1, UINT32_MAX, true},
        {1, 2, UINT32_MAX / 2, true},
        {1, 2, UINT32_MAX / 2 + 1, false}, /* 2^32 rows */
        {1, 3, UINT32_MAX, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writer w = {0};
        struct manifest manifest;

        write_manifest(&w, cases[i].field_count, cases[i].part_count, cases[i].rows, i % 2);
        if (cases[i].valid) {
            assert_int_equal(manifest_decode(w.bytes, w.length, &manifest), PAUA_OK);
            manifest_free(&manifest);
        } else {
            assert_refused(&DECODER, w.bytes, w.length, PAUA_ECORRUPT);
        }
        writer_free(&w);
    }
}

static void ids_that_wrap_round_are_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(manifest_encode(&SAMPLE, &w), PAUA_OK);
    bytes_put(w.bytes + 124, UINT64_MAX, 8);
    bytes_put(w.bytes + 132, 88, 8); /* 90 ids, as many as rows */
    mend_record(w.bytes, w.length);
    assert_refused(&DECODER, w.bytes, w.length, PAUA_ECORRUPT);
    writer_free(&w);
}

static void encoding_without_memory_fails(void **state)
{
    (void)state;
    assert_encode_needs_memory(encode, &SAMPLE);
}

static void decoding_without_memory_fails_and_changes_nothing(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(manifest_encode(&SAMPLE, &w), PAUA_OK);
    mem_fail_after(1);
    assert_refused(&DECODER, w.bytes, w.length, PAUA_ENOMEM);
    mem_fail_after(0);
    writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_committed_ones),
        cmocka_unit_test(round_trip_keeps_every_field),
        cmocka_unit_test(rows_are_those_of_all_parts),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_other_length_is_refused),
        cmocka_unit_test(forged_fields_with_a_good_checksum_are_refused),
        cmocka_unit_test(records_that_are_right_but_for_one_rule_are_refused),
        cmocka_unit_test(ids_that_wrap_round_are_refused),
        cmocka_unit_test(encoding_without_memory_fails),
        cmocka_unit_test(decoding_without_memory_fails_and_changes_nothing),
    };
    return cmocka_run_group_tests_name("codec/manifest", tests, NULL, NULL);
}
