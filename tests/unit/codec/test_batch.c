/* test_batch.c - what src/codec/batch.c promises about bytes it is handed.
 *
 * Offsets in all records: 12 collection, 16 sequence, 24 durable sequence, 32 first row, 40 row
 * count, 44 delete count, 48 key kind, 49 documents?, 50 field count, 51 reserved, 52 first extent
 * (+0 offset, +8 bytes, +16 checksum). In SAMPLE, of string keys: 72 heap extent, 92 keys "a" and
 * "kea" (2 + 1, 2 + 3 bytes), 100 two lengths, 108 two deletes. */
#include "damage.h"

#include "base/memory.h"
#include "codec/batch.h"
#include "codec/record.h"

static const uint8_t LENGTHS[] = {5, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF};
static const uint8_t DELETES[] = {4, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0};

static const struct batch SAMPLE = {.collection = 7,
                                    .sequence = 12,
                                    .durable_sequence = 11,
                                    .first_row = 100,
                                    .row_count = 2,
                                    .delete_count = 2,
                                    .key_kind = PAUA_KEY_STRING,
                                    .has_documents = true,
                                    .field_count = 1,
                                    .vectors = {{.offset = 64, .nbytes = 24, .crc = 0x1111}},
                                    .heap = {.offset = 1000, .nbytes = 5, .crc = 0x2222},
                                    .keys = (const uint8_t *)"\1\0a\3\0kea",
                                    .keys_nbytes = 8,
                                    .lengths = LENGTHS,
                                    .deletes = DELETES};

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return batch_decode(bytes, length, out);
}

static paua_status encode(const void *batch, struct writer *w) { return batch_encode(batch, w); }

static const struct decoder DECODER = {decode, sizeof(struct batch), mend_record};

static void assert_same_extent(const struct extent *a, const struct extent *b)
{
    assert_true(a->offset == b->offset);
    assert_true(a->nbytes == b->nbytes);
    assert_int_equal(a->crc, b->crc);
}

static void assert_same_bytes(const uint8_t *a, const uint8_t *b, size_t nbytes)
{
    if (nbytes > 0) assert_memory_equal(a, b, nbytes);
}

static void assert_round_trip(const struct batch *batch)
{
    struct writer w = {0};
    struct batch back;

    assert_int_equal(batch_encode(batch, &w), PAUA_OK);
    assert_int_equal(batch_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_int_equal(back.collection, batch->collection);
    assert_true(back.sequence == batch->sequence);
    assert_true(back.durable_sequence == batch->durable_sequence);
    assert_true(back.first_row == batch->first_row);
    assert_int_equal(back.row_count, batch->row_count);
    assert_int_equal(back.delete_count, batch->delete_count);
    assert_int_equal(back.key_kind, batch->key_kind);
    assert_int_equal(back.has_documents, batch->has_documents);
    assert_int_equal(back.field_count, batch->field_count);
    for (uint32_t i = 0; i < PAUA_VECTOR_FIELDS_MAX; i++)
        assert_same_extent(&back.vectors[i], &batch->vectors[i]);
    assert_same_extent(&back.heap, &batch->heap);
    assert_int_equal(back.keys_nbytes, batch->keys_nbytes);
    assert_same_bytes(back.keys, batch->keys, batch->keys_nbytes);
    assert_int_equal(back.lengths != NULL, batch->has_documents);
    if (batch->has_documents)
        assert_same_bytes(back.lengths, batch->lengths, 4 * (size_t)batch->row_count);
    assert_int_equal(back.deletes != NULL, batch->delete_count > 0);
    assert_same_bytes(back.deletes, batch->deletes, 8 * (size_t)batch->delete_count);
    writer_free(&w);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(batch_encode(&SAMPLE, &w), PAUA_OK);
    assert_golden(
        w.bytes, w.length,
        "50424154 0100 0000 1bf70fea 07000000 0c00000000000000 0b00000000000000 6400000000000000 "
        "02000000 02000000 01 01 01 00 4000000000000000 1800000000000000 11110000 "
        "e803000000000000 0500000000000000 22220000 "
        "0100 61 0300 6b6561 05000000 ffffffff 0400000000000000 0900000000000000");
    writer_free(&w);
}

static void round_trip_keeps_every_field(void **state)
{
    struct batch numbers = {.collection = UINT32_MAX,
                            .sequence = UINT64_MAX,
                            .durable_sequence = UINT64_MAX,
                            .first_row = UINT64_MAX - 2,
                            .row_count = 2,
                            .key_kind = PAUA_KEY_U64,
                            .field_count = PAUA_VECTOR_FIELDS_MAX,
                            .keys = (const uint8_t *)"12345678abcdefgh",
                            .keys_nbytes = 16};
    static const struct batch vectors = {.collection = 1,
                                         .sequence = 1,
                                         .row_count = UINT32_MAX,
                                         .key_kind = PAUA_KEY_VECTOR,
                                         .field_count = 1,
                                         .vectors = {{0, 4000, 1}}};
    static const struct batch only_deletes = {.collection = 1,
                                              .sequence = 1,
                                              .first_row = 50,
                                              .delete_count = 2,
                                              .key_kind = PAUA_KEY_STRING,
                                              .deletes = DELETES};

    (void)state;
    for (uint32_t i = 0; i < PAUA_VECTOR_FIELDS_MAX; i++)
        numbers.vectors[i] = (struct extent){UINT64_MAX - i, i, i};
    assert_round_trip(&SAMPLE);
    assert_round_trip(&numbers);
    assert_round_trip(&vectors);
    assert_round_trip(&only_deletes);
}

static void keys_lengths_and_deletes_are_read_one_by_one(void **state)
{
    struct writer w = {0}, keys = {0};
    struct batch batch = SAMPLE;
    size_t at = 0;
    paua_key key;

    (void)state;
    assert_int_equal(batch_encode(&SAMPLE, &w), PAUA_OK);
    assert_int_equal(batch_decode(w.bytes, w.length, &batch), PAUA_OK);
    key = batch_next_key(&batch, &at);
    assert_int_equal(key.bytes.nbytes, 1);
    assert_memory_equal(key.bytes.data, "a", 1);
    key = batch_next_key(&batch, &at);
    assert_int_equal(key.bytes.nbytes, 3);
    assert_memory_equal(key.bytes.data, "kea", 3);
    assert_int_equal(at, batch.keys_nbytes);
    assert_int_equal(batch_document_length(&batch, 0), 5);
    assert_int_equal(batch_document_length(&batch, 1), BATCH_NO_DOCUMENT);
    assert_int_equal(batch_delete(&batch, 0), 4);
    assert_int_equal(batch_delete(&batch, 1), 9);
    writer_free(&w);

    batch = (struct batch){.collection = 1, .sequence = 1, .row_count = 2};
    batch_put_key(&keys, PAUA_KEY_U64, &(paua_key){.u64 = UINT64_MAX});
    batch_put_key(&keys, PAUA_KEY_U64, &(paua_key){.u64 = 258});
    batch.keys = keys.bytes;
    batch.keys_nbytes = keys.length;
    at = 0;
    assert_true(batch_next_key(&batch, &at).u64 == UINT64_MAX);
    assert_int_equal(batch_next_key(&batch, &at).u64, 258);
    assert_int_equal(batch_document_length(&batch, 0), BATCH_NO_DOCUMENT);
    writer_free(&keys);
}

static void keys_are_put_in_the_stored_form(void **state)
{
    const paua_key key = {.u64 = 0x0102, .bytes = {"kea", 3}};
    struct writer w = {0};

    (void)state;
    batch_put_key(&w, PAUA_KEY_VECTOR, &key);
    assert_int_equal(w.length, 0);
    batch_put_key(&w, PAUA_KEY_STRING, &key);
    batch_put_key(&w, PAUA_KEY_U64, &key);
    assert_golden(w.bytes, w.length, "0300 6b6561 0201000000000000");
    writer_free(&w);
}

static void vector_keys_read_as_empty(void **state)
{
    const struct batch batch = {.row_count = 1, .key_kind = PAUA_KEY_VECTOR};
    size_t at = 0;

    (void)state;
    assert_null(batch_next_key(&batch, &at).bytes.data);
    assert_int_equal(at, 0);
}

static void every_flipped_bit_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(batch_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&DECODER, w.bytes, w.length);
    writer_free(&w);
}

static void every_other_length_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(batch_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_other_length_is_refused(&DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void forged_fields_with_a_good_checksum_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {4, 2, 2, 0}, /* fields, but none there */
        {4, 2, 3, PAUA_EVERSION},
        {12, 4, 0, 0},  /* collection */
        {16, 8, 0, 0},  /* sequence */
        {16, 8, 10, 0}, /* durable before it is written */
        {24, 8, 13, 0},
        {32, 8, UINT64_MAX - 1, 0}, /* row ids wrap round */
        {40, 4, 0, 0},              /* row count */
        {40, 4, 1, 0},
        {40, 4, 3, 0},
        {40, 4, UINT32_MAX, 0},
        {44, 4, 0, 0}, /* delete count */
        {44, 4, 1, 0},
        {44, 4, 3, 0},
        {44, 4, UINT32_MAX, 0},
        {48, 1, PAUA_KEY_U64, 0}, /* key kind */
        {48, 1, PAUA_KEY_VECTOR, 0},
        {48, 1, 3, 0},
        {49, 1, 0, 0}, /* documents? */
        {49, 1, 2, 0},
        {50, 1, 0, 0}, /* field count */
        {50, 1, 2, 0},
        {50, 1, 17, 0},
        {51, 1, 1, 0},               /* reserved */
        {52, 8, UINT64_MAX - 23, 0}, /* an extent that wraps round */
        {60, 8, UINT64_MAX - 63, 0},
        {72, 8, UINT64_MAX - 4, 0},
        {80, 8, 4, 0}, /* heap shorter than its documents */
        {80, 8, 6, 0},
        {92, 2, 0, 0}, /* key's length */
        {92, 2, 2, 0},
        {92, 2, 1025, 0},
        {92, 2, UINT16_MAX, 0},
        {94, 1, 0xFF, 0}, /* keys that are not UTF-8 */
        {99, 1, 0xC3, 0},
        {100, 4, 4, 0}, /* document's length */
        {100, 4, BATCH_NO_DOCUMENT, 0},
        {104, 4, 1, 0},
        {104, 4, UINT32_MAX - 1, 0},
        {108, 8, 9, 0}, /* deletes twice, and out of order */
        {108, 8, 10, 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(batch_encode(&SAMPLE, &w), PAUA_OK);
    assert_int_equal(w.length, 124);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

/* A batch that is right but for one of these. */
struct variant {
    uint32_t row_count;
    uint32_t key_nbytes; /* of each of its string keys */
    uint32_t field_count;
    uint32_t document_nbytes; /* of each of its documents */
    uint64_t heap_nbytes;
    bool valid;
};

static void write_batch(struct writer *w, const struct variant *v)
{
    record_begin(w, 0x54414250, 1);
    writer_u32(w, 1);
    writer_u64(w, 1);
    writer_u64(w, 0);
    writer_u64(w, 0);
    writer_u32(w, v->row_count);
    writer_u32(w, 0);
    writer_u8(w, PAUA_KEY_STRING);
    writer_u8(w, 1);
    writer_u8(w, (uint8_t)v->field_count);
    writer_u8(w, 0);
    for (uint32_t i = 0; i < v->field_count; i++) {
        writer_u64(w, 0);
        writer_u64(w, 8);
        writer_u32(w, 0);
    }
    writer_u64(w, 0);
    writer_u64(w, v->heap_nbytes);
    writer_u32(w, 0);
    for (uint32_t i = 0; i < v->row_count; i++) {
        writer_u16(w, (uint16_t)v->key_nbytes);
        for (uint32_t j = 0; j < v->key_nbytes; j++)
            writer_u8(w, 'k');
    }
    for (uint32_t i = 0; i < v->row_count; i++)
        writer_u32(w, v->document_nbytes);
    assert_int_equal(record_end(w), PAUA_OK);
}

static void records_that_are_right_but_for_one_rule_are_refused(void **state)
{
    static const struct variant variants[] = {
        {2, 1, 1, 3, 6, true},
        {2, 1024, 16, 0, 0, true},
        {2, 0, 1, 3, 6, false},
        {2, 1025, 1, 3, 6, false},
        {2, 1, 17, 3, 6, false},
        {2, 1, 1, 3, 7, false},
        {1, 1, 1, PAUA_DOCUMENT_NBYTES_MAX, PAUA_DOCUMENT_NBYTES_MAX, true},
        {1, 1, 1, PAUA_DOCUMENT_NBYTES_MAX + 1, PAUA_DOCUMENT_NBYTES_MAX + 1, false},
        {65, 1, 1, PAUA_DOCUMENT_NBYTES_MAX, UINT64_C(65) << 26, true}, /* beyond 2^32 */
        {65, 1, 1, PAUA_DOCUMENT_NBYTES_MAX, UINT64_C(1) << 26, false},
        {2, 1, 1, BATCH_NO_DOCUMENT, 0, true},
        {0, 1, 0, 0, 0, true},
        {0, 1, 0, 0, 1, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        struct writer w = {0};
        struct batch batch;

        write_batch(&w, &variants[i]);
        if (variants[i].valid)
            assert_int_equal(batch_decode(w.bytes, w.length, &batch), PAUA_OK);
        else
            assert_refused(&DECODER, w.bytes, w.length, PAUA_ECORRUPT);
        writer_free(&w);
    }
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
        cmocka_unit_test(keys_lengths_and_deletes_are_read_one_by_one),
        cmocka_unit_test(keys_are_put_in_the_stored_form),
        cmocka_unit_test(vector_keys_read_as_empty),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_other_length_is_refused),
        cmocka_unit_test(forged_fields_with_a_good_checksum_are_refused),
        cmocka_unit_test(records_that_are_right_but_for_one_rule_are_refused),
        cmocka_unit_test(encoding_without_memory_fails),
    };
    return cmocka_run_group_tests_name("codec/batch", tests, NULL, NULL);
}
