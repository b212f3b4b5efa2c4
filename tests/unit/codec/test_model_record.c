/* test_model_record.c - what src/codec/model_record.c promises about bytes it is handed.
 *
 * Offsets in SAMPLE's record: 12 rows, 16 dim, 20 metric, 21 trained, 22 reserved, 24 lane, 28
 * segments, 32 matrix rows, 36 walk rows, 40 stride, 44 seed, 52 source digest, 60 constant, 64
 * walk error, 72 refine error, 80 walk plane (+0 bytes, +4 groups, +8 fields), 92 refine plane;
 * walk's fields at 104, 120, 136, refine's at 152, 168, 184: +0 offset, +4 segment, +8 shift, +9
 * width, +10 group, +11 reserved, +12 sigma. */
#include "damage.h"

#include <math.h>

#include "base/memory.h"
#include "codec/model_record.h"
#include "codec/record.h"

/* 20 dimensions in lanes of 8: the last segment has 4. Two fields make the refine plane's first
 * segment one of 6 bits. */
static struct model_record_field walk_fields[] = {
    {.offset = 0, .segment = 0, .shift = 0, .width = 4, .group = 0, .sigma = 2},
    {.offset = 0, .segment = 1, .shift = 4, .width = 4, .group = 0, .sigma = 1.5f},
    {.offset = 8, .segment = 2, .shift = 0, .width = 2, .group = 1, .sigma = 0.5f},
};
static struct model_record_field refine_fields[] = {
    {.offset = 0, .segment = 0, .shift = 0, .width = 4, .group = 0, .sigma = 0.5f},
    {.offset = 0, .segment = 0, .shift = 4, .width = 2, .group = 0, .sigma = 0.125f},
    {.offset = 8, .segment = 2, .shift = 0, .width = 1, .group = 1, .sigma = 0.125f},
};

static const struct model_record SAMPLE = {
    .rows = 1000,
    .dim = 20,
    .metric = PAUA_COSINE,
    .trained = true,
    .lane = 8,
    .segments = 3,
    .matrix_rows = 20,
    .walk_rows = 20,
    .stride = 64,
    .seed = 0x123456789ABCDEF0,
    .source_digest = 0xFEDCBA9876543210,
    .constant = 1.75f,
    .walk_error = 0.5,
    .refine_error = 0.25,
    .walk = {.nbytes = 16, .group_count = 2, .field_count = 3, .fields = walk_fields},
    .refine = {.nbytes = 16, .group_count = 2, .field_count = 3, .fields = refine_fields}};

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return model_record_decode(bytes, length, out);
}

static paua_status encode(const void *record, struct writer *w)
{
    return model_record_encode(record, w);
}

static const struct decoder DECODER = {decode, sizeof(struct model_record), mend_record};

static uint32_t float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What is decoded encodes to the same bytes. */
static void assert_round_trip(const struct model_record *record)
{
    struct writer w = {0}, again = {0};
    struct model_record back;

    assert_int_equal(model_record_encode(record, &w), PAUA_OK);
    assert_int_equal(model_record_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_int_equal(back.rows, record->rows);
    assert_int_equal(back.dim, record->dim);
    assert_int_equal(back.walk.field_count, record->walk.field_count);
    assert_int_equal(back.refine.field_count, record->refine.field_count);
    assert_int_equal(model_record_encode(&back, &again), PAUA_OK);
    assert_int_equal(again.length, w.length);
    assert_memory_equal(again.bytes, w.bytes, w.length);
    model_record_free(&back);
    writer_free(&w);
    writer_free(&again);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(model_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_golden(w.bytes, w.length,
                  "504d444c 0100 0000 a0de1637 e8030000 14000000 03 01 0000 08000000 03000000 "
                  "14000000 14000000 40000000 f0debc9a78563412 1032547698badcfe 0000e03f "
                  "000000000000e03f 000000000000d03f 10000000 02000000 03000000 10000000 02000000 "
                  "03000000 00000000 00000000 00 04 00 00 00000040 00000000 01000000 04 04 00 00 "
                  "0000c03f 08000000 02000000 00 02 01 00 0000003f 00000000 00000000 00 04 00 00 "
                  "0000003f 00000000 00000000 04 02 00 00 0000003e 08000000 02000000 00 01 01 00 "
                  "0000003e");
    writer_free(&w);
}

static void a_model_comes_back_with_every_field(void **state)
{
    struct model_record walk_only = SAMPLE, untrained = SAMPLE, partly = SAMPLE;

    (void)state;
    assert_round_trip(&SAMPLE);
    walk_only.refine = (struct model_record_plane){0};
    assert_round_trip(&walk_only);
    untrained.trained = false;
    untrained.matrix_rows = untrained.walk_rows = 0;
    assert_round_trip(&untrained);

    /* The refine plane's last segment is in no walk plane and has 4 dimensions. */
    partly.walk = (struct model_record_plane){8, 1, 2, walk_fields};
    partly.walk_rows = 16;
    assert_round_trip(&partly);

    /* The walk plane lacks the first segment, but the matrix has its rows before the others. */
    partly.walk = (struct model_record_plane){8, 1, 1, walk_fields + 1};
    partly.walk_rows = 16;
    assert_round_trip(&partly);
}

static void as_many_dimensions_as_there_may_be_come_back(void **state)
{
    enum { SEGMENTS = 1024 };
    static struct model_record_field fields[SEGMENTS];
    struct model_record most = {.rows = UINT32_MAX,
                                .dim = PAUA_DIM_MAX,
                                .metric = PAUA_L2,
                                .lane = 64,
                                .segments = SEGMENTS,
                                .stride = 65536,
                                .walk = {SEGMENTS * 32, 3, SEGMENTS, fields}};
    struct writer w = {0};

    (void)state;
    for (uint32_t i = 0; i < SEGMENTS; i++)
        fields[i] = (struct model_record_field){.offset = i / 2 * 64,
                                                .segment = i,
                                                .shift = (uint8_t)(i % 2 * 4),
                                                .width = 4,
                                                .group = (uint8_t)(i * 3 / SEGMENTS),
                                                .sigma = 1};
    assert_round_trip(&most);
    assert_int_equal(model_record_encode(&most, &w), PAUA_OK);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length,
                                 (const struct forgery[]){{16, 4, PAUA_DIM_MAX + 1, 0}}, 1);
    writer_free(&w);
}

static void a_damaged_model_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(model_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&DECODER, w.bytes, w.length);
    assert_every_other_length_is_refused(&DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void a_forged_shape_is_refused(void **state)
{
    const struct forgery forgeries[] = {
        {4, 2, 2, PAUA_EVERSION},
        {12, 4, 0, 0}, /* rows */
        {16, 4, 0, 0}, /* dim */
        {16, 4, 16, 0},
        {16, 4, 19, 0}, /* another number of rows in the matrix */
        {16, 4, 25, 0},
        {16, 4, 65536, 0},
        {16, 4, UINT32_MAX - 3, 0}, /* rounding up wraps round */
        {20, 1, 0, 0},              /* metric */
        {20, 1, 4, 0},
        {21, 1, 0, 0}, /* trained */
        {21, 1, 2, 0},
        {22, 2, 1, 0}, /* reserved */
        {24, 4, 0, 0}, /* lane */
        {24, 4, 4, 0},
        {24, 4, 16, 0},
        {24, 4, 9, 0},
        {24, 4, 128, 0},
        {28, 4, 2, 0}, /* segments */
        {28, 4, 4, 0},
        {32, 4, 19, 0}, /* matrix rows */
        {32, 4, 24, 0},
        {32, 4, 0, 0},
        {36, 4, 19, 0}, /* walk rows */
        {36, 4, 24, 0},
        {40, 4, 0, 0}, /* stride */
        {40, 4, 63, 0},
        {40, 4, 20, 0},
        {40, 4, 128, 0},
        {60, 4, float_bits(NAN), 0}, /* constant */
        {60, 4, float_bits(-INFINITY), 0},
        {64, 8, double_bits(NAN), 0}, /* errors */
        {64, 8, double_bits(-0.1), 0},
        {64, 8, double_bits(INFINITY), 0},
        {72, 8, double_bits(NAN), 0},
        {72, 8, double_bits(-0.1), 0},
        {72, 8, double_bits(INFINITY), 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(model_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_int_equal(w.length, 200);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void forged_planes_are_refused(void **state)
{
    const struct forgery forgeries[] = {
        {80, 4, 0, 0}, /* walk's bytes */
        {80, 4, 8, 0},
        {80, 4, 12, 0},
        {80, 4, 24, 0}, /* a line without a field */
        {80, 4, 32, 0}, /* more lines than segments */
        {80, 4, UINT32_MAX - 7, 0},
        {84, 4, 0, 0}, /* groups */
        {84, 4, 1, 0},
        {84, 4, 3, 0},
        {84, 4, 4, 0},
        {88, 4, 0, 0}, /* fields */
        {88, 4, 2, 0},
        {88, 4, 4, 0},
        {88, 4, UINT32_MAX, 0},
        {92, 4, 0, 0}, /* refine's bytes */
        {92, 4, 8, 0},
        {92, 4, 24, 0},
        {96, 4, 1, 0},
        {100, 4, 0, 0},
        {100, 4, 2, 0},
        {100, 4, 4, 0},
        {100, 4, UINT32_MAX - 2, 0},
        {104, 4, 4, 0}, /* offset, not of a line */
        {104, 4, 16, 0},
        {104, 4, UINT32_MAX - 7, 0},
        {136, 4, 0, 0}, /* shares bits, and leaves the second line empty */
        {108, 4, 2, 0}, /* segments */
        {124, 4, 0, 0},
        {124, 4, 2, 0},
        {140, 4, 3, 0},
        {140, 4, UINT32_MAX, 0},
        {112, 1, 1, 0}, /* shift: shares a bit */
        {112, 1, 5, 0},
        {128, 1, 5, 0},
        {128, 1, 252, 0}, /* wraps round in 8 bits */
        {113, 1, 0, 0},   /* width */
        {113, 1, 3, 0},
        {113, 1, 8, 0},
        {145, 1, 8, 0}, /* too wide to walk on, though it fits */
        {161, 1, 16, 0},
        {161, 1, 8, 0},
        {114, 1, 1, 0}, /* groups */
        {130, 1, 2, 0},
        {146, 1, 2, 0},
        {146, 1, 255, 0},
        {115, 1, 1, 0}, /* reserved */
        {179, 1, 1, 0},
        {116, 4, 0, 0}, /* sigma */
        {116, 4, float_bits(-1), 0},
        {180, 4, float_bits(NAN), 0},
        {180, 4, float_bits(INFINITY), 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(model_record_encode(&SAMPLE, &w), PAUA_OK);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void a_segment_of_more_than_8_bits_is_refused(void **state)
{
    static struct model_record_field fields[] = {
        {.offset = 0, .segment = 0, .shift = 0, .width = 4, .group = 0, .sigma = 1},
        {.offset = 8, .segment = 0, .shift = 0, .width = 4, .group = 0, .sigma = 1},
        {.offset = 8, .segment = 1, .shift = 4, .width = 4, .group = 0, .sigma = 1},
    };
    static struct model_record_field walk = {.width = 4, .sigma = 1};
    struct model_record record = {.rows = 1,
                                  .dim = 16,
                                  .metric = PAUA_L2,
                                  .lane = 8,
                                  .segments = 2,
                                  .stride = 64,
                                  .walk = {8, 1, 1, &walk},
                                  .refine = {16, 1, 3, fields}};
    struct writer w = {0};

    (void)state;
    assert_int_equal(model_record_encode(&record, &w), PAUA_OK);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length,
                                 (const struct forgery[]){{129, 1, 8, 0}}, 1);
    writer_free(&w);
}

/* Two fields of one segment in lines of their own. */
static void a_row_of_more_bytes_than_dimensions_is_refused(void **state)
{
    static struct model_record_field fields[] = {
        {.offset = 0, .segment = 0, .shift = 0, .width = 4, .group = 0, .sigma = 1},
        {.offset = 0, .segment = 0, .shift = 4, .width = 4, .group = 0, .sigma = 1},
    };
    struct model_record record = {.rows = 1,
                                  .dim = 8,
                                  .metric = PAUA_L2,
                                  .lane = 8,
                                  .segments = 1,
                                  .stride = 64,
                                  .walk = {8, 1, 2, fields}};
    struct writer w = {0};

    (void)state;
    assert_int_equal(model_record_encode(&record, &w), PAUA_OK);
    bytes_put(w.bytes + 120, 8, 4); /* the second field's offset */
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length,
                                 (const struct forgery[]){{80, 4, 16, 0}}, 1);
    writer_free(&w);
}

/* What the matrix of a trained model would not fit either. */
static void segments_of_an_untrained_model_that_are_none_or_fall_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {108, 4, 2, 0}, {124, 4, 3, 0}, {140, 4, 0, 0},         {140, 4, 3, 0},
        {16, 4, 0, 0},  {16, 4, 25, 0}, {140, 4, UINT32_MAX, 0}};
    struct model_record untrained = SAMPLE;
    struct writer w = {0};

    (void)state;
    untrained.trained = false;
    untrained.matrix_rows = untrained.walk_rows = 0;
    assert_int_equal(model_record_encode(&untrained, &w), PAUA_OK);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void more_than_three_groups_or_fields_of_a_segment_are_refused(void **state)
{
    static struct model_record_field fields[] = {
        {.offset = 0, .segment = 0, .shift = 0, .width = 2, .group = 0, .sigma = 1},
        {.offset = 0, .segment = 0, .shift = 2, .width = 2, .group = 1, .sigma = 1},
        {.offset = 0, .segment = 0, .shift = 4, .width = 2, .group = 2, .sigma = 1},
        {.offset = 0, .segment = 1, .shift = 6, .width = 2, .group = 2, .sigma = 1},
    };
    struct model_record record = {.rows = 1,
                                  .dim = 16,
                                  .metric = PAUA_L2,
                                  .lane = 8,
                                  .segments = 2,
                                  .stride = 64,
                                  .walk = {8, 3, 4, fields}};
    struct writer w = {0};

    (void)state;
    assert_int_equal(model_record_encode(&record, &w), PAUA_OK);
    bytes_put(w.bytes + 162, 3, 1); /* the last field's group */
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length,
                                 (const struct forgery[]){{84, 4, 4, 0}}, 1);
    bytes_put(w.bytes + 162, 2, 1);
    bytes_put(w.bytes + 28, 1, 4); /* one segment of 8 dimensions, with 4 fields */
    bytes_put(w.bytes + 156, 0, 4);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length,
                                 (const struct forgery[]){{16, 4, 8, 0}}, 1);
    writer_free(&w);
}

/* Codes of untrained models have no matrix, and axes are not trained for so many dimensions. */
static void a_matrix_where_there_can_be_none_is_refused(void **state)
{
    struct model_record untrained = SAMPLE;
    struct writer w = {0};

    (void)state;
    untrained.trained = false;
    untrained.matrix_rows = untrained.walk_rows = 0;
    assert_int_equal(model_record_encode(&untrained, &w), PAUA_OK);
    assert_forgeries_are_refused(
        &DECODER, w.bytes, w.length,
        (const struct forgery[]){{21, 1, 1, 0}, {32, 4, 20, 0}, {36, 4, 20, 0}}, 3);
    writer_free(&w);
}

static void axes_of_more_than_2048_dimensions_are_refused(void **state)
{
    static struct model_record_field field = {.width = 1, .sigma = 1};
    struct model_record large = {.rows = 1,
                                 .dim = 2049,
                                 .metric = PAUA_L2,
                                 .lane = 64,
                                 .segments = 33,
                                 .stride = 2112,
                                 .walk = {64, 1, 1, &field}};
    struct writer w = {0};

    (void)state;
    assert_int_equal(model_record_encode(&large, &w), PAUA_OK);
    bytes_put(w.bytes + 32, 64, 4);
    bytes_put(w.bytes + 36, 64, 4);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length,
                                 (const struct forgery[]){{21, 1, 1, 0}}, 1);
    writer_free(&w);
}

static void coding_without_memory_fails(void **state)
{
    struct model_record record;
    struct writer w = {0};
    paua_status status = PAUA_ENOMEM;

    (void)state;
    assert_encode_needs_memory(encode, &SAMPLE);
    assert_int_equal(model_record_encode(&SAMPLE, &w), PAUA_OK);
    for (uint64_t n = 1; status != PAUA_OK; n++) {
        mem_fail_after(n);
        status = model_record_decode(w.bytes, w.length, &record);
        mem_fail_after(0);
        assert_true(status == PAUA_OK ? n > 3 : status == PAUA_ENOMEM);
    }
    model_record_free(&record);
    writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_committed_ones),
        cmocka_unit_test(a_model_comes_back_with_every_field),
        cmocka_unit_test(as_many_dimensions_as_there_may_be_come_back),
        cmocka_unit_test(a_damaged_model_is_refused),
        cmocka_unit_test(a_forged_shape_is_refused),
        cmocka_unit_test(forged_planes_are_refused),
        cmocka_unit_test(a_segment_of_more_than_8_bits_is_refused),
        cmocka_unit_test(a_row_of_more_bytes_than_dimensions_is_refused),
        cmocka_unit_test(segments_of_an_untrained_model_that_are_none_or_fall_are_refused),
        cmocka_unit_test(more_than_three_groups_or_fields_of_a_segment_are_refused),
        cmocka_unit_test(a_matrix_where_there_can_be_none_is_refused),
        cmocka_unit_test(axes_of_more_than_2048_dimensions_are_refused),
        cmocka_unit_test(coding_without_memory_fails),
    };
    return cmocka_run_group_tests_name("codec/model_record", tests, NULL, NULL);
}
