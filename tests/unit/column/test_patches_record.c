/* test_patches_record.c - patches as the catalogue stores them: "PPAT", damaged in every way.
 *
 * Fields from offset 12: u32 fields; then u32 field, u32 type, u32 count, and patches. */
#include "naive.h"

#include "base/memory.h"
#include "unit/codec/damage.h"

#define ROWS 50u

/* Field 4 is a uint8, 9 a string, 12 was dropped. */
static uint32_t type_of(void *arg, uint32_t field)
{
    (void)arg;
    return field == 4 ? PAUA_TYPE_UINT8 : field == 9 ? PAUA_TYPE_STRING : PAUA_TYPE_NONE;
}

static uint32_t type_before(void *arg, uint32_t field)
{
    return field == 12 ? PAUA_TYPE_ARRAY | PAUA_TYPE_INT32 : type_of(arg, field);
}

static struct patches *sample(void)
{
    static const struct {
        uint32_t field, row;
        struct cell cell;
    } puts[] = {
        {4, 3, {.present = true, .key = 200}},
        {4, 49, {.present = false}},
        {9, 0, {.present = true, .data = (const uint8_t *)"h\xC3\xA9", .nbytes = 3}},
        {9, 7, {.present = true, .data = (const uint8_t *)"", .nbytes = 0}},
        {12, 1, {.present = true, .data = (const uint8_t *)"\1\0\0\0", .nbytes = 4}},
    };
    struct patch_edit *edit = patch_edit_begin(NULL);
    struct patches *patches;

    for (size_t i = 0; i < sizeof puts / sizeof puts[0]; i++)
        assert_int_equal(patch_edit_put(edit, puts[i].field, puts[i].row, &puts[i].cell), PAUA_OK);
    assert_int_equal(patch_edit_apply(edit, &patches), PAUA_OK);
    patch_edit_end(edit);
    return patches;
}

static void encode(uint32_t (*types)(void *, uint32_t), struct writer *w)
{
    struct patches *patches = sample();

    assert_int_equal(patches_encode(patches, types, NULL, w), PAUA_OK);
    patches_unref(patches);
}

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return patches_decode(bytes, length, ROWS, type_of, NULL, out);
}

static const struct decoder decoder = {
    .decode = decode, .out_nbytes = sizeof(struct patches *), .mend = mend_record};

static void patches_come_back_without_those_of_dropped_fields(void **state)
{
    struct patches *patches = NULL;
    struct writer w = {0};
    struct cell cell;

    (void)state;
    encode(type_before, &w);
    assert_int_equal(decode(w.bytes, w.length, &patches), PAUA_OK);
    assert_true(patches_count(patches) == 4);
    assert_true(patches_find(patches, 4, 3, &cell) && cell.present && cell.key == 200);
    assert_true(patches_find(patches, 4, 49, &cell) && !cell.present);
    assert_true(patches_find(patches, 9, 0, &cell) && cell.nbytes == 3);
    assert_memory_equal(cell.data, "h\xC3\xA9", 3);
    assert_true(patches_find(patches, 9, 7, &cell) && cell.present && cell.nbytes == 0);
    assert_non_null(cell.data);
    assert_false(patches_find(patches, 12, 1, &cell));
    patches_unref(patches);
    writer_free(&w);
}

static void no_patches_are_a_record_too(void **state)
{
    struct patches *patches = (struct patches *)state;
    struct writer w = {0};

    assert_int_equal(patches_encode(NULL, type_of, NULL, &w), PAUA_OK);
    assert_int_equal(w.length, 16);
    assert_int_equal(decode(w.bytes, w.length, &patches), PAUA_OK);
    assert_null(patches);
    writer_free(&w);
}

static void the_record_is_the_one_that_was_stored(void **state)
{
    struct writer w = {0};

    (void)state;
    encode(type_of, &w);
    assert_golden(w.bytes, w.length,
                  "50504154 0100 0000 dd78c34a 02000000 "
                  "04000000 07000000 02000000 03000000 01 c800000000000000 31000000 00 "
                  "09000000 0e000000 02000000 00000000 01 03000000 68c3a9 07000000 01 00000000");
    writer_free(&w);
}

static void damaged_records_are_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    encode(type_before, &w);
    assert_every_flipped_bit_is_refused(&decoder, w.bytes, w.length);
    assert_every_other_length_is_refused(&decoder, w.bytes, w.length, true);
    writer_free(&w);
}

static void forged_records_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {.at = 4, .width = 2, .value = 2, .status = PAUA_EVERSION},
        {.at = 12, .width = 4, .value = 1},                /* fewer fields than there are */
        {.at = 12, .width = 4, .value = 3},                /* more */
        {.at = 12, .width = 4, .value = UINT32_MAX},       /* many more */
        {.at = 16, .width = 4, .value = 9},                /* the same field twice */
        {.at = 16, .width = 4, .value = 10},               /* fields that fall */
        {.at = 20, .width = 4, .value = PAUA_TYPE_UINT16}, /* another type */
        {.at = 20, .width = 4, .value = PAUA_TYPE_NULL},   /* no type of fields */
        {.at = 24, .width = 4, .value = 0},                /* no patches */
        {.at = 24, .width = 4, .value = 1},
        {.at = 24, .width = 4, .value = UINT32_MAX},
        {.at = 28, .width = 4, .value = 50},         /* a row that is none */
        {.at = 28, .width = 4, .value = 49},         /* the same row twice */
        {.at = 32, .width = 1, .value = 2},          /* neither there nor not */
        {.at = 33, .width = 8, .value = 256},        /* not of the type */
        {.at = 63, .width = 4, .value = UINT32_MAX}, /* a string that goes on */
        {.at = 68, .width = 1, .value = 'x'},        /* not UTF-8 */
    };
    struct writer w = {0};

    (void)state;
    encode(type_of, &w);
    assert_forgeries_are_refused(&decoder, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void decoding_without_memory_says_so(void **state)
{
    struct patches *patches = NULL;
    paua_status status = PAUA_ENOMEM;
    struct writer w = {0};
    unsigned refused = 0;

    (void)state;
    encode(type_of, &w);
    for (uint64_t n = 1; status != PAUA_OK; n++) {
        mem_fail_after(n);
        status = decode(w.bytes, w.length, &patches);
        mem_fail_after(0);
        assert_true(status == PAUA_OK || (status == PAUA_ENOMEM && patches == NULL));
        refused += status != PAUA_OK;
    }
    assert_int_equal(refused, 3);
    patches_unref(patches);
    writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_come_back_without_those_of_dropped_fields),
        cmocka_unit_test(no_patches_are_a_record_too),
        cmocka_unit_test(the_record_is_the_one_that_was_stored),
        cmocka_unit_test(damaged_records_are_refused),
        cmocka_unit_test(forged_records_are_refused),
        cmocka_unit_test(decoding_without_memory_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
