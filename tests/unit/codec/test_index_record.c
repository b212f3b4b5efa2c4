/* test_index_record.c - what src/codec/index_record.c promises about definitions and artifacts.
 *
 * Offsets in DEFINITION's record: 12 collection, 16 number, 20 field, 24 kind, 25 reserved, 28
 * degree, 32 list, 36 occlusion, 40 alpha, 44 name.
 * In ARTIFACT's: 12 collection, 16 segment, 24 field, 28 index, 32 rows, 36 file's number, 44 its
 * bytes, 52 its footer's checksum, 56 source digest. */
#include "damage.h"

#include <math.h>

#include "codec/index_record.h"
#include "codec/record.h"

static const struct index_definition DEFINITION = {.collection = 7,
                                                   .number = 3,
                                                   .field = 1,
                                                   .kind = PAUA_INDEX_VAMANA,
                                                   .degree = 64,
                                                   .list = 100,
                                                   .occlusion = 750,
                                                   .alpha = 1.25f,
                                                   .name = "near"};

static const struct index_definition FLAT = {
    .collection = UINT32_MAX, .number = UINT32_MAX, .kind = PAUA_INDEX_FLAT, .name = "f"};

static const struct artifact ARTIFACT = {.collection = 7,
                                         .segment = 99,
                                         .field = 1,
                                         .index = 3,
                                         .rows = 100000,
                                         .file = {17, 123456, 0x12345678},
                                         .source_digest = 0xCAFE0001};

static const struct index_definition VALUES_DEFINITION = {
    .collection = 7, .number = 4, .field = 0x1234, .kind = PAUA_INDEX_SORTED, .name = "by_year"};

static const struct artifact VALUES_ARTIFACT = {.collection = 7,
                                                .segment = 99,
                                                .field = 0x1234,
                                                .index = 4,
                                                .values = true,
                                                .rows = 100000,
                                                .file = {18, 654321, 0x87654321},
                                                .source_digest = 0xCAFE0002};

static paua_status decode_definition(const void *bytes, size_t length, void *out)
{
    return index_definition_decode(bytes, length, out);
}

static paua_status encode_definition(const void *definition, struct writer *w)
{
    return index_definition_encode(definition, w);
}

static paua_status decode_artifact(const void *bytes, size_t length, void *out)
{
    return artifact_decode(bytes, length, out);
}

static paua_status encode_artifact(const void *artifact, struct writer *w)
{
    return artifact_encode(artifact, w);
}

static const struct decoder DEFINITION_DECODER = {decode_definition,
                                                  sizeof(struct index_definition), mend_record};
static const struct decoder ARTIFACT_DECODER = {decode_artifact, sizeof(struct artifact),
                                                mend_record};

static uint32_t float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void assert_definition_round_trip(const struct index_definition *definition)
{
    struct writer w = {0};
    struct index_definition back;

    assert_int_equal(index_definition_encode(definition, &w), PAUA_OK);
    assert_int_equal(index_definition_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_int_equal(back.collection, definition->collection);
    assert_int_equal(back.number, definition->number);
    assert_int_equal(back.field, definition->field);
    assert_int_equal(back.kind, definition->kind);
    assert_int_equal(back.degree, definition->degree);
    assert_int_equal(back.list, definition->list);
    assert_int_equal(back.occlusion, definition->occlusion);
    assert_int_equal(float_bits(back.alpha), float_bits(definition->alpha));
    assert_string_equal(back.name, definition->name);
    writer_free(&w);
}

static void assert_artifact_round_trip(const struct artifact *artifact)
{
    struct writer w = {0};
    struct artifact back;

    assert_int_equal(artifact_encode(artifact, &w), PAUA_OK);
    assert_int_equal(artifact_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_int_equal(back.collection, artifact->collection);
    assert_true(back.segment == artifact->segment);
    assert_int_equal(back.field, artifact->field);
    assert_int_equal(back.index, artifact->index);
    assert_int_equal(back.rows, artifact->rows);
    assert_true(back.file.number == artifact->file.number);
    assert_true(back.file.nbytes == artifact->file.nbytes);
    assert_int_equal(back.file.footer_crc, artifact->file.footer_crc);
    assert_true(back.source_digest == artifact->source_digest);
    assert_true(back.values == artifact->values);
    writer_free(&w);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    struct writer definition = {0}, artifact = {0};

    (void)state;
    assert_int_equal(index_definition_encode(&DEFINITION, &definition), PAUA_OK);
    assert_golden(definition.bytes, definition.length,
                  "50494458 0100 0000 9b6e9a7f 07000000 03000000 01000000 01000000 40000000 "
                  "64000000 ee020000 0000a03f 046e656172");
    assert_int_equal(artifact_encode(&ARTIFACT, &artifact), PAUA_OK);
    assert_golden(artifact.bytes, artifact.length,
                  "50415254 0100 0000 0c1b99e3 07000000 6300000000000000 01000000 03000000 "
                  "a0860100 1100000000000000 40e2010000000000 78563412 0100feca00000000");
    writer_free(&definition);
    writer_free(&artifact);
}

static void a_definition_comes_back_with_every_field(void **state)
{
    struct index_definition most = DEFINITION, least = DEFINITION;

    (void)state;
    most.field = PAUA_VECTOR_FIELDS_MAX - 1;
    most.degree = PAUA_DEGREE_MAX;
    most.list = PAUA_LIST_MAX;
    most.occlusion = 65536;
    most.alpha = 2;
    memset(most.name, 'n', PAUA_NAME_NBYTES_MAX);
    least.number = 1;
    least.degree = least.list = 4;
    least.occlusion = 1;
    least.alpha = 1;
    assert_definition_round_trip(&DEFINITION);
    assert_definition_round_trip(&FLAT);
    assert_definition_round_trip(&most);
    assert_definition_round_trip(&least);
}

static void an_artifact_comes_back_with_every_field(void **state)
{
    struct artifact codes = ARTIFACT;

    (void)state;
    codes.index = 0;
    codes.segment = codes.source_digest = codes.file.number = codes.file.nbytes = UINT64_MAX;
    codes.rows = UINT32_MAX;
    assert_artifact_round_trip(&ARTIFACT);
    assert_artifact_round_trip(&codes);
}

static void a_damaged_definition_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(index_definition_encode(&DEFINITION, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&DEFINITION_DECODER, w.bytes, w.length);
    assert_every_other_length_is_refused(&DEFINITION_DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void a_damaged_artifact_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(artifact_encode(&ARTIFACT, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&ARTIFACT_DECODER, w.bytes, w.length);
    assert_every_other_length_is_refused(&ARTIFACT_DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void a_forged_definition_is_refused(void **state)
{
    const struct forgery forgeries[] = {
        {4, 2, 3, PAUA_EVERSION},
        {12, 4, 0, 0},  /* collection */
        {16, 4, 0, 0},  /* number */
        {20, 4, 16, 0}, /* field */
        {20, 4, UINT32_MAX, 0},
        {24, 1, PAUA_INDEX_DEFAULT, 0}, /* kind */
        {24, 1, PAUA_INDEX_FLAT, 0},    /* has no parameters */
        {24, 1, PAUA_INDEX_NONE, 0},
        {24, 1, 255, 0},
        {25, 1, 1, 0}, /* reserved */
        {26, 2, 256, 0},
        {28, 4, 3, 0}, /* degree */
        {28, 4, 513, 0},
        {32, 4, 3, 0}, /* list */
        {32, 4, 4097, 0},
        {36, 4, 0, 0}, /* occlusion */
        {36, 4, 65537, 0},
        {40, 4, float_bits(0.999f), 0}, /* alpha */
        {40, 4, float_bits(2.001f), 0},
        {40, 4, float_bits(-1.5f), 0},
        {40, 4, float_bits(NAN), 0},
        {40, 4, float_bits(INFINITY), 0},
        {44, 1, 3, 0}, /* name */
        {44, 1, 5, 0},
        {44, 1, 0, 0},
        {46, 1, 0, 0},
        {46, 1, 0x1F, 0},
        {48, 1, 0xC3, 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(index_definition_encode(&DEFINITION, &w), PAUA_OK);
    assert_int_equal(w.length, 49);
    assert_forgeries_are_refused(&DEFINITION_DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void a_flat_index_with_parameters_of_a_graph_is_refused(void **state)
{
    const struct forgery forgeries[] = {{24, 1, PAUA_INDEX_VAMANA, 0},
                                        {28, 4, 64, 0},
                                        {32, 4, 100, 0},
                                        {36, 4, 750, 0},
                                        {40, 4, float_bits(1.2f), 0}};
    struct writer w = {0};

    (void)state;
    assert_int_equal(index_definition_encode(&FLAT, &w), PAUA_OK);
    assert_forgeries_are_refused(&DEFINITION_DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void a_forged_artifact_is_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {4, 2, 3, PAUA_EVERSION},
        {12, 4, 0, 0},  /* collection */
        {16, 8, 0, 0},  /* segment */
        {24, 4, 16, 0}, /* field */
        {32, 4, 0, 0},  /* rows */
        {36, 8, 0, 0},  /* file */
        {44, 8, 0, 0},
        {60, 4, 1, 0}, /* a graph's source is a checksum of 32 bits */
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(artifact_encode(&ARTIFACT, &w), PAUA_OK);
    assert_int_equal(w.length, 64);
    assert_forgeries_are_refused(&ARTIFACT_DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

/* ---- version 2: of a field that is no vector ---- */

static void the_bytes_of_an_index_of_values_are_the_committed_ones(void **state)
{
    struct writer definition = {0}, artifact = {0};

    (void)state;
    assert_int_equal(index_definition_encode(&VALUES_DEFINITION, &definition), PAUA_OK);
    assert_golden(definition.bytes, definition.length,
                  "50494458 0200 0000 b5ae909c 07000000 04000000 34120000 05000000 00000000 "
                  "00000000 00000000 00000000 0762795f79656172");
    assert_int_equal(artifact_encode(&VALUES_ARTIFACT, &artifact), PAUA_OK);
    assert_golden(artifact.bytes, artifact.length,
                  "50415254 0200 0000 eebecb97 07000000 6300000000000000 34120000 04000000 "
                  "a0860100 1200000000000000 f1fb090000000000 21436587 0200feca00000000");
    writer_free(&definition);
    writer_free(&artifact);
}

static void an_index_of_values_comes_back_with_every_field(void **state)
{
    struct index_definition definition = VALUES_DEFINITION;
    struct artifact artifact = VALUES_ARTIFACT;

    (void)state;
    assert_definition_round_trip(&VALUES_DEFINITION);
    definition.kind = PAUA_INDEX_BITMAP;
    definition.field = definition.number = UINT32_MAX;
    memset(definition.name, 'n', PAUA_NAME_NBYTES_MAX);
    assert_definition_round_trip(&definition);
    definition.field = 1;
    assert_definition_round_trip(&definition);
    assert_artifact_round_trip(&VALUES_ARTIFACT);
    artifact.field = artifact.index = artifact.rows = UINT32_MAX;
    artifact.source_digest = UINT32_MAX;
    assert_artifact_round_trip(&artifact);
    artifact.source_digest = 0; /* of a segment without columns */
    artifact.field = artifact.index = artifact.rows = 1;
    assert_artifact_round_trip(&artifact);
}

static void the_kind_of_an_artifacts_file_follows_from_what_it_holds(void **state)
{
    struct artifact codes = ARTIFACT;

    (void)state;
    codes.index = 0;
    assert_int_equal(artifact_file_kind(&codes), FILE_CODES);
    assert_int_equal(artifact_file_kind(&ARTIFACT), FILE_GRAPH);
    assert_int_equal(artifact_file_kind(&VALUES_ARTIFACT), FILE_VALUES);
}

static void damaged_records_of_an_index_of_values_are_refused(void **state)
{
    struct writer definition = {0}, artifact = {0};

    (void)state;
    assert_int_equal(index_definition_encode(&VALUES_DEFINITION, &definition), PAUA_OK);
    assert_every_flipped_bit_is_refused(&DEFINITION_DECODER, definition.bytes, definition.length);
    assert_every_other_length_is_refused(&DEFINITION_DECODER, definition.bytes, definition.length,
                                         true);
    assert_int_equal(artifact_encode(&VALUES_ARTIFACT, &artifact), PAUA_OK);
    assert_every_flipped_bit_is_refused(&ARTIFACT_DECODER, artifact.bytes, artifact.length);
    assert_every_other_length_is_refused(&ARTIFACT_DECODER, artifact.bytes, artifact.length, true);
    writer_free(&definition);
    writer_free(&artifact);
}

static void a_forged_definition_of_an_index_of_values_is_refused(void **state)
{
    const struct forgery forgeries[] = {
        {4, 2, 3, PAUA_EVERSION},
        {4, 2, 0, PAUA_EVERSION},
        {4, 2, 1, 0},  /* a version that does not fit the kind */
        {12, 4, 0, 0}, /* collection */
        {16, 4, 0, 0}, /* number */
        {20, 4, 0, 0}, /* field */
        {24, 1, PAUA_INDEX_DEFAULT, 0},
        {24, 1, PAUA_INDEX_VAMANA, 0},
        {24, 1, PAUA_INDEX_FLAT, 0},
        {24, 1, PAUA_INDEX_NONE, 0},
        {24, 1, PAUA_INDEX_SORTED + 1, 0},
        {25, 1, 1, 0}, /* reserved */
        {26, 2, 1, 0},
        {28, 4, 64, 0}, /* what only graphs have */
        {32, 4, 100, 0},
        {36, 4, 750, 0},
        {40, 4, float_bits(1.2f), 0},
        {44, 1, 6, 0}, /* name */
        {44, 1, 8, 0},
        {44, 1, 0, 0},
        {45, 1, 0x1F, 0},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(index_definition_encode(&VALUES_DEFINITION, &w), PAUA_OK);
    assert_forgeries_are_refused(&DEFINITION_DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

/* Version 2 is for fields that are no vectors alone, of whatever kind the rest could be. */
static void the_second_version_of_a_vector_index_is_refused(void **state)
{
    static const struct forgery second[] = {{4, 2, 2, PAUA_ECORRUPT}};
    struct writer vamana = {0}, flat = {0};

    (void)state;
    assert_int_equal(index_definition_encode(&DEFINITION, &vamana), PAUA_OK);
    assert_forgeries_are_refused(&DEFINITION_DECODER, vamana.bytes, vamana.length, second, 1);
    assert_int_equal(index_definition_encode(&FLAT, &flat), PAUA_OK);
    assert_forgeries_are_refused(&DEFINITION_DECODER, flat.bytes, flat.length, second, 1);
    writer_free(&vamana);
    writer_free(&flat);
}

static void a_forged_artifact_of_values_is_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {4, 2, 3, PAUA_EVERSION},
        {4, 2, 1, 0},  /* of vectors: there are not so many fields of them */
        {12, 4, 0, 0}, /* collection */
        {16, 8, 0, 0}, /* segment */
        {24, 4, 0, 0}, /* field */
        {28, 4, 0, 0}, /* codes have no values */
        {32, 4, 0, 0}, /* rows */
        {36, 8, 0, 0}, /* file */
        {44, 8, 0, 0},
        {60, 4, 1, 0}, /* the source's checksum has 32 bits */
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(artifact_encode(&VALUES_ARTIFACT, &w), PAUA_OK);
    assert_forgeries_are_refused(&ARTIFACT_DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void encoding_without_memory_fails(void **state)
{
    (void)state;
    assert_encode_needs_memory(encode_definition, &DEFINITION);
    assert_encode_needs_memory(encode_artifact, &ARTIFACT);
    assert_encode_needs_memory(encode_definition, &VALUES_DEFINITION);
    assert_encode_needs_memory(encode_artifact, &VALUES_ARTIFACT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_committed_ones),
        cmocka_unit_test(a_definition_comes_back_with_every_field),
        cmocka_unit_test(an_artifact_comes_back_with_every_field),
        cmocka_unit_test(a_damaged_definition_is_refused),
        cmocka_unit_test(a_damaged_artifact_is_refused),
        cmocka_unit_test(a_forged_definition_is_refused),
        cmocka_unit_test(a_flat_index_with_parameters_of_a_graph_is_refused),
        cmocka_unit_test(a_forged_artifact_is_refused),
        cmocka_unit_test(the_bytes_of_an_index_of_values_are_the_committed_ones),
        cmocka_unit_test(an_index_of_values_comes_back_with_every_field),
        cmocka_unit_test(the_kind_of_an_artifacts_file_follows_from_what_it_holds),
        cmocka_unit_test(damaged_records_of_an_index_of_values_are_refused),
        cmocka_unit_test(a_forged_definition_of_an_index_of_values_is_refused),
        cmocka_unit_test(the_second_version_of_a_vector_index_is_refused),
        cmocka_unit_test(a_forged_artifact_of_values_is_refused),
        cmocka_unit_test(encoding_without_memory_fails),
    };
    return cmocka_run_group_tests_name("codec/index_record", tests, NULL, NULL);
}
