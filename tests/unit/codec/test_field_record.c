/* test_field_record.c - what src/codec/field_record.h promises about fields and column files.
 *
 * Offsets in FIELD's record: 12 collection, 16 id, 20 type, 24 name. In REF's: 12 collection, 16
 * segment, 24 rows, 28 file's number, 36 its bytes, 44 its footer's checksum. */
#include "damage.h"

#include "codec/field_record.h"
#include "codec/record.h"

static const struct field FIELD = {
    .collection = 7, .id = 33, .type = PAUA_TYPE_INT16, .name = "year"};
static const struct column_ref REF = {
    .collection = 7, .segment = 99, .rows = 16384, .file = {34, 4096, 0x12345678}};

static paua_status decode_field(const void *bytes, size_t length, void *out)
{
    return field_decode(bytes, length, out);
}

static paua_status encode_field(const void *field, struct writer *w)
{
    return field_encode(field, w);
}

static paua_status decode_ref(const void *bytes, size_t length, void *out)
{
    return column_ref_decode(bytes, length, out);
}

static paua_status encode_ref(const void *ref, struct writer *w)
{
    return column_ref_encode(ref, w);
}

static const struct decoder FIELD_DECODER = {decode_field, sizeof(struct field), mend_record};
static const struct decoder REF_DECODER = {decode_ref, sizeof(struct column_ref), mend_record};

static void what_was_stored_comes_back(void **state)
{
    struct writer field = {0}, ref = {0};
    struct field field_back;
    struct column_ref ref_back;

    (void)state;
    assert_int_equal(field_encode(&FIELD, &field), PAUA_OK);
    assert_int_equal(field_decode(field.bytes, field.length, &field_back), PAUA_OK);
    assert_int_equal(field_back.collection, FIELD.collection);
    assert_int_equal(field_back.id, FIELD.id);
    assert_int_equal(field_back.type, FIELD.type);
    assert_string_equal(field_back.name, FIELD.name);
    assert_int_equal(column_ref_encode(&REF, &ref), PAUA_OK);
    assert_int_equal(column_ref_decode(ref.bytes, ref.length, &ref_back), PAUA_OK);
    assert_int_equal(ref_back.collection, REF.collection);
    assert_true(ref_back.segment == REF.segment);
    assert_int_equal(ref_back.rows, REF.rows);
    assert_true(ref_back.file.number == REF.file.number);
    assert_true(ref_back.file.nbytes == REF.file.nbytes);
    assert_int_equal(ref_back.file.footer_crc, REF.file.footer_crc);
    writer_free(&field);
    writer_free(&ref);
}

static void a_damaged_record_is_refused(void **state)
{
    struct writer field = {0}, ref = {0};

    (void)state;
    assert_int_equal(field_encode(&FIELD, &field), PAUA_OK);
    assert_every_flipped_bit_is_refused(&FIELD_DECODER, field.bytes, field.length);
    assert_every_other_length_is_refused(&FIELD_DECODER, field.bytes, field.length, true);
    assert_int_equal(column_ref_encode(&REF, &ref), PAUA_OK);
    assert_every_flipped_bit_is_refused(&REF_DECODER, ref.bytes, ref.length);
    assert_every_other_length_is_refused(&REF_DECODER, ref.bytes, ref.length, true);
    writer_free(&field);
    writer_free(&ref);
}

static void a_forged_record_is_refused(void **state)
{
    static const struct forgery fields[] = {
        {4, 2, 2, PAUA_EVERSION},
        {12, 4, 0, 0},        /* collection */
        {16, 4, 0, 0},        /* id */
        {20, 4, 0, 0},        /* type: none */
        {20, 4, 1, 0},        /* type: null */
        {20, 4, 1u << 16, 0}, /* type: does not fit */
        {24, 1, 0, 0},        /* no name */
        {24, 1, 3, 0},        /* a byte too many */
        {24, 1, 5, 0},        /* cut short */
        {25, 1, '\n', 0},     /* a control character */
        {25, 1, 0, 0},        /* a NUL */
        {25, 1, 0xFF, 0},     /* no UTF-8 */
    };
    static const struct forgery refs[] = {
        {4, 2, 2, PAUA_EVERSION},
        {12, 4, 0, 0},
        {16, 8, 0, 0},
        {24, 4, 0, 0},
        {28, 8, 0, 0},
        {36, 8, 0, 0},
    };
    struct writer field = {0}, ref = {0};

    (void)state;
    assert_int_equal(field_encode(&FIELD, &field), PAUA_OK);
    assert_forgeries_are_refused(&FIELD_DECODER, field.bytes, field.length, fields,
                                 sizeof fields / sizeof fields[0]);
    assert_int_equal(column_ref_encode(&REF, &ref), PAUA_OK);
    assert_forgeries_are_refused(&REF_DECODER, ref.bytes, ref.length, refs,
                                 sizeof refs / sizeof refs[0]);
    writer_free(&field);
    writer_free(&ref);
}

static void encoding_reports_want_of_memory(void **state)
{
    (void)state;
    assert_encode_needs_memory(encode_field, &FIELD);
    assert_encode_needs_memory(encode_ref, &REF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_stored_comes_back),
        cmocka_unit_test(a_damaged_record_is_refused),
        cmocka_unit_test(a_forged_record_is_refused),
        cmocka_unit_test(encoding_reports_want_of_memory),
    };

    return cmocka_run_group_tests_name("codec/field_record", tests, NULL, NULL);
}
