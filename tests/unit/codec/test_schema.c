/* test_schema.c - what src/codec/schema.c promises about names, limits and bytes it is handed.
 *
 * Offsets in SAMPLE's record: 12 incompat, 16 collection, 20 key kind, 21 document, 22 field count,
 * 23 reserved, 24 name; fields at 32 and 42: +0 dim, +4 metric, +5 precision, +6 originals, +7
 * reserved, +8 name. */
#include "damage.h"

#include "base/memory.h"
#include "codec/record.h"
#include "codec/schema.h"

static const struct schema SAMPLE = {.collection = 7,
                                     .name = "glosses",
                                     .key_kind = PAUA_KEY_STRING,
                                     .document = PAUA_DOCUMENT_TEXT,
                                     .field_count = 2,
                                     .fields = {{.name = "v",
                                                 .dim = 768,
                                                 .metric = PAUA_COSINE,
                                                 .precision = PAUA_FP16,
                                                 .originals = PAUA_ORIGINALS_FP16},
                                                {.name = "caf\xC3\xA9",
                                                 .dim = 3,
                                                 .metric = PAUA_L2,
                                                 .precision = PAUA_INT4,
                                                 .originals = PAUA_ORIGINALS_FP32}}};

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return schema_decode(bytes, length, out);
}

static paua_status encode(const void *schema, struct writer *w) { return schema_encode(schema, w); }

static const struct decoder DECODER = {decode, sizeof(struct schema), mend_record};

static void assert_round_trip(const struct schema *schema)
{
    struct writer w = {0};
    struct schema back;

    assert_int_equal(schema_encode(schema, &w), PAUA_OK);
    assert_int_equal(schema_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_memory_equal(&back, schema, sizeof back);
    writer_free(&w);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(schema_encode(&SAMPLE, &w), PAUA_OK);
    assert_golden(w.bytes, w.length,
                  "50534348 0100 0000 6f898ca7 00000000 07000000 01 00 02 00 07676c6f73736573"
                  "00030000 03 01 02 00 0176 03000000 01 03 01 00 05636166c3a9");
    writer_free(&w);
}

static void round_trip_keeps_every_field(void **state)
{
    struct schema full = SAMPLE;

    (void)state;
    assert_round_trip(&SAMPLE);
    full.collection = UINT32_MAX;
    full.key_kind = PAUA_KEY_VECTOR;
    full.document = PAUA_DOCUMENT_NONE;
    full.field_count = PAUA_VECTOR_FIELDS_MAX;
    memset(full.name, 'n', PAUA_NAME_NBYTES_MAX);
    memset(full.fields, 0, sizeof full.fields);
    for (uint32_t i = 0; i < PAUA_VECTOR_FIELDS_MAX; i++) {
        memset(full.fields[i].name, 'a' + (int)i, PAUA_NAME_NBYTES_MAX);
        full.fields[i].dim = i == 0 ? PAUA_DIM_MAX : i;
        full.fields[i].metric = (paua_metric)(PAUA_L2 + i % 3);
        full.fields[i].precision = (paua_precision)(i % 5);
        full.fields[i].originals = (paua_originals)(PAUA_ORIGINALS_FP32 + i % 3);
    }
    assert_round_trip(&full);
}

static void every_flipped_bit_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(schema_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&DECODER, w.bytes, w.length);
    writer_free(&w);
}

static void every_other_length_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(schema_encode(&SAMPLE, &w), PAUA_OK);
    assert_every_other_length_is_refused(&DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void forged_fields_with_a_good_checksum_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {4, 2, 2, PAUA_EVERSION},
        {12, 4, 2, 0}, /* dynamic, but without columns */
        {12, 4, 4, PAUA_EVERSION},
        {12, 4, UINT32_C(1) << 31, PAUA_EVERSION},
        {16, 4, 0, 0},  /* collection */
        {20, 1, 3, 0},  /* key kind */
        {21, 1, 3, 0},  /* document kind */
        {22, 1, 0, 0},  /* field count */
        {22, 1, 1, 0},  /* leaves bytes over */
        {22, 1, 3, 0},  /* runs past the end */
        {22, 1, 17, 0}, /* too many */
        {22, 1, 255, 0},
        {23, 1, 1, 0}, /* reserved */
        {24, 1, 0, 0}, /* name's length */
        {24, 1, 6, 0},
        {24, 1, 255, 0},
        {25, 1, 0, 0},    /* NUL in a name */
        {25, 1, 0x1F, 0}, /* control characters */
        {31, 1, 0x7F, 0},
        {31, 1, 0xC3, 0}, /* not UTF-8 */
        {32, 4, 0, 0},    /* dim */
        {32, 4, 65536, 0},
        {32, 4, UINT32_MAX, 0},
        {36, 1, 0, 0}, /* metric */
        {36, 1, 4, 0},
        {37, 1, 5, 0}, /* precision */
        {37, 1, 255, 0},
        {38, 1, 0, 0}, /* originals */
        {38, 1, 4, 0},
        {39, 1, 1, 0},    /* reserved */
        {41, 1, 0x01, 0}, /* field's name */
        {46, 1, 0, 0},    /* the second field is checked as the first is */
        {48, 2, 256, 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(schema_encode(&SAMPLE, &w), PAUA_OK);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

/* A record with as many fields as asked, named by one letter each, from `letters`. */
static void write_schema(struct writer *w, uint8_t field_count, const char *name,
                         const char *letters)
{
    static const uint8_t fixed[8] = {4, 0, 0, 0, PAUA_IP, PAUA_FP32, PAUA_ORIGINALS_FP32, 0};

    record_begin(w, 0x48435350, 1);
    writer_u32(w, 0);
    writer_u32(w, 1);
    writer_u16(w, 0);
    writer_u8(w, field_count);
    writer_u8(w, 0);
    writer_u8(w, (uint8_t)strlen(name));
    writer_bytes(w, name, strlen(name));
    for (uint8_t i = 0; i < field_count; i++) {
        writer_bytes(w, fixed, sizeof fixed);
        writer_u8(w, 1);
        writer_u8(w, (uint8_t)letters[i]);
    }
    assert_int_equal(record_end(w), PAUA_OK);
}

static void records_that_are_right_but_for_one_rule_are_refused(void **state)
{
    static const struct {
        const char *name, *letters;
        bool valid;
    } cases[] = {
        {"n", "abcdefghijklmnop", true},
        {"n", "abcdefghijklmnopq", false}, /* 17 fields */
        {"n", "", false},
        {"", "a", false},
        {"n", "aa", false}, /* a name twice */
        {"n", "abca", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writer w = {0};
        struct schema schema;

        write_schema(&w, (uint8_t)strlen(cases[i].letters), cases[i].name, cases[i].letters);
        if (cases[i].valid)
            assert_int_equal(schema_decode(w.bytes, w.length, &schema), PAUA_OK);
        else
            assert_refused(&DECODER, w.bytes, w.length, PAUA_ECORRUPT);
        writer_free(&w);
    }
}

static void names_are_utf8_of_1_to_255_bytes_without_control_characters(void **state)
{
    char longest[PAUA_NAME_NBYTES_MAX + 2] = {0};

    (void)state;
    memset(longest, 'x', PAUA_NAME_NBYTES_MAX);
    assert_true(schema_name_valid(longest));
    longest[PAUA_NAME_NBYTES_MAX] = 'x';
    assert_false(schema_name_valid(longest));
    assert_false(schema_name_valid(""));
    assert_true(schema_name_valid(" "));
    assert_true(schema_name_valid("\xF0\x9F\xA6\x9C keas"));
    assert_false(schema_name_valid("a\x1Fz"));
    assert_false(schema_name_valid("a\tz"));
    assert_false(schema_name_valid("a\x7Fz"));
    assert_true(schema_name_valid("a\x7Ez"));
    assert_false(schema_name_valid("\xED\xA0\x80"));
    assert_false(schema_name_valid("a\xC3"));
}

static void sizes_follow_originals_and_dimension(void **state)
{
    struct schema_field none = SAMPLE.fields[0];

    (void)state;
    none.originals = PAUA_ORIGINALS_NONE;
    assert_int_equal(schema_component_nbytes(&none), 4);
    assert_int_equal(schema_component_nbytes(&SAMPLE.fields[0]), 2);
    assert_int_equal(schema_component_nbytes(&SAMPLE.fields[1]), 4);
    assert_int_equal(schema_row_nbytes(&SAMPLE.fields[0]), 1536);
    assert_int_equal(schema_row_nbytes(&SAMPLE.fields[1]), 12);
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
        cmocka_unit_test(names_are_utf8_of_1_to_255_bytes_without_control_characters),
        cmocka_unit_test(sizes_follow_originals_and_dimension),
        cmocka_unit_test(encoding_without_memory_fails),
    };
    return cmocka_run_group_tests_name("codec/schema", tests, NULL, NULL);
}
