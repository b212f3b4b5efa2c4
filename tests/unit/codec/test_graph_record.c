/* test_graph_record.c - what src/codec/graph_record.c promises about bytes it is handed.
 *
 * Offsets in SAMPLE's record: 12 rows, 16 degree, 20 stride, 24 entry, 28 copies, 32 list, 36
 * occlusion, 40 alpha, 44 checksum of the codes, 48 edges. */
#include "damage.h"

#include <math.h>

#include "codec/graph_record.h"
#include "codec/record.h"

static const struct graph_record SAMPLE = {.rows = 1000,
                                           .degree = 70,
                                           .stride = 80,
                                           .entry = 999,
                                           .copy_count = 12,
                                           .list = 100,
                                           .occlusion = 750,
                                           .alpha = 1.25f,
                                           .codes_crc = 0x12345678,
                                           .edges = 70000};

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return graph_record_decode(bytes, length, out);
}

static paua_status encode(const void *record, struct writer *w)
{
    return graph_record_encode(record, w);
}

static const struct decoder DECODER = {decode, sizeof(struct graph_record), mend_record};

static uint32_t float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void assert_round_trip(const struct graph_record *record)
{
    struct writer w = {0};
    struct graph_record back;

    assert_int_equal(graph_record_encode(record, &w), PAUA_OK);
    assert_int_equal(graph_record_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_int_equal(back.rows, record->rows);
    assert_int_equal(back.degree, record->degree);
    assert_int_equal(back.stride, record->stride);
    assert_int_equal(back.entry, record->entry);
    assert_int_equal(back.copy_count, record->copy_count);
    assert_int_equal(back.list, record->list);
    assert_int_equal(back.occlusion, record->occlusion);
    assert_int_equal(float_bits(back.alpha), float_bits(record->alpha));
    assert_int_equal(back.codes_crc, record->codes_crc);
    assert_true(back.edges == record->edges);
    writer_free(&w);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(graph_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_golden(w.bytes, w.length,
                  "50475246 0100 0000 af72025e e8030000 46000000 50000000 e7030000 0c000000 "
                  "64000000 ee020000 0000a03f 78563412 7011010000000000");
    writer_free(&w);
}

static void a_graph_comes_back_with_every_field(void **state)
{
    struct graph_record least = {
        .rows = 1, .degree = 4, .stride = 16, .list = 1, .occlusion = 1, .alpha = 1};
    struct graph_record most = {.rows = GRAPH_RECORD_ROWS_MAX,
                                .degree = PAUA_DEGREE_MAX,
                                .stride = PAUA_DEGREE_MAX,
                                .entry = GRAPH_RECORD_ROWS_MAX - 1,
                                .copy_count = GRAPH_RECORD_ROWS_MAX - 1,
                                .list = PAUA_LIST_MAX,
                                .occlusion = UINT32_MAX,
                                .alpha = 2,
                                .codes_crc = UINT32_MAX,
                                .edges = (uint64_t)GRAPH_RECORD_ROWS_MAX * PAUA_DEGREE_MAX};

    (void)state;
    assert_round_trip(&SAMPLE);
    assert_round_trip(&least);
    assert_round_trip(&most);
}

static void a_damaged_graph_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(graph_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&DECODER, w.bytes, w.length);
    assert_every_other_length_is_refused(&DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void forged_fields_with_a_good_checksum_are_refused(void **state)
{
    const struct forgery forgeries[] = {
        {4, 2, 2, PAUA_EVERSION},
        {12, 4, 0, 0},   /* rows */
        {12, 4, 999, 0}, /* the entry is the last row */
        {12, 4, UINT32_C(0x80000001), 0},
        {16, 4, 3, 0}, /* degree */
        {16, 4, 64, 0},
        {16, 4, 81, 0},
        {16, 4, 513, 0},
        {20, 4, 64, 0}, /* stride */
        {20, 4, 72, 0},
        {20, 4, 96, 0},
        {20, 4, 0, 0},
        {24, 4, 1000, 0}, /* entry */
        {28, 4, 1000, 0}, /* copies */
        {28, 4, UINT32_MAX, 0},
        {32, 4, 0, 0}, /* list */
        {32, 4, 4097, 0},
        {36, 4, 0, 0},                  /* occlusion */
        {40, 4, float_bits(0.999f), 0}, /* alpha */
        {40, 4, float_bits(2.001f), 0},
        {40, 4, float_bits(NAN), 0},
        {48, 8, 70001, 0}, /* edges */
        {48, 8, UINT64_MAX, 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(graph_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_int_equal(w.length, 56);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void degrees_beyond_the_limits_are_refused(void **state)
{
    struct graph_record least = {
        .rows = 1, .degree = 4, .stride = 16, .list = 1, .occlusion = 1, .alpha = 1};
    struct writer w = {0};

    (void)state;
    assert_int_equal(graph_record_encode(&least, &w), PAUA_OK);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length,
                                 (const struct forgery[]){{16, 4, 3, 0}}, 1);
    bytes_put(w.bytes + 20, 528, 4);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length,
                                 (const struct forgery[]){{16, 4, 513, 0}}, 1);
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
        cmocka_unit_test(a_graph_comes_back_with_every_field),
        cmocka_unit_test(a_damaged_graph_is_refused),
        cmocka_unit_test(forged_fields_with_a_good_checksum_are_refused),
        cmocka_unit_test(degrees_beyond_the_limits_are_refused),
        cmocka_unit_test(encoding_without_memory_fails),
    };
    return cmocka_run_group_tests_name("codec/graph_record", tests, NULL, NULL);
}
