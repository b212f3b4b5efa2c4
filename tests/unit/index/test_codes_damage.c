/* test_codes_damage.c - files of codes that were damaged or forged: refused, or harmless.
 *
 * Offsets in a file's model record: see codec/test_model_record.c. */
#include <math.h>

#include "codes_helper.h"
#include "forge.h"

#define COUNT 12u
#define DIM 10u

struct fixture {
    struct temp *temp;
    struct rows rows;
    struct file_ref ref;
    struct bytes bytes; /* of the file as it was written */
    float *values;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    void *temp;

    assert_non_null(f);
    temp_setup(&temp);
    sys_skip_syncs();
    f->temp = temp;
    f->values = rows_make(COUNT, DIM);
    f->rows = (struct rows){f->values, COUNT, DIM, PAUA_COSINE, PAUA_INT8};
    f->ref = rows_write(&f->rows, f->temp->dir, 1);
    f->bytes = temp_read(f->temp, CODES_NAME);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    void *temp = f->temp;

    free(f->values);
    free(f->bytes.data);
    free(f);
    sys_restore();
    return temp_teardown(&temp);
}

/* Opens what lies under the name; a file that is not mapped is read into a block of its length, so
 * that a sanitizer sees every read beyond. */
static paua_status open_any_way(const struct fixture *f, const struct file_ref *ref, bool lean,
                                paua_verify verify)
{
    struct opened_as as = {.no_mmap = true, .lean = lean, .verify = verify};
    struct codes *codes = NULL;
    paua_error err = {0};
    paua_status status = rows_open(DIM, f->temp->dir, ref, as, &codes, &err);

    if (status == PAUA_OK) {
        codes_use(codes);
        codes_unref(codes);
        return PAUA_OK;
    }
    assert_null(codes);
    assert_non_null(strstr(err.message, CODES_NAME));
    assert_true(status == PAUA_ECORRUPT || status == PAUA_EVERSION);
    return status;
}

static void every_flipped_bit_is_refused_where_pages_are_verified(void **state)
{
    struct fixture *f = *state;
    for (size_t bit = 0; bit < 8 * f->bytes.nbytes; bit++) {
        struct opened_as as = {.no_mmap = bit % 2 != 0};
        struct codes *codes = NULL;

        forge_flip(f->temp->dir, CODES_NAME, bit / 8, (uint8_t)(1u << bit % 8));
        if (rows_open(DIM, f->temp->dir, &f->ref, as, &codes, NULL) == PAUA_OK)
            fail_msg("bit %zu", bit);
        forge_flip(f->temp->dir, CODES_NAME, bit / 8, (uint8_t)(1u << bit % 8));
    }
}

static void every_flipped_bit_is_refused_or_harmless_where_pages_are_trusted(void **state)
{
    struct fixture *f = *state;
    size_t refused = 0, used = 0;

    for (size_t bit = 0; bit < 8 * f->bytes.nbytes; bit++) {
        forge_flip(f->temp->dir, CODES_NAME, bit / 8, (uint8_t)(1u << bit % 8));
        if (open_any_way(f, &f->ref, bit % 2 != 0, PAUA_VERIFY_HEADER) == PAUA_OK)
            used++;
        else
            refused++;
        forge_flip(f->temp->dir, CODES_NAME, bit / 8, (uint8_t)(1u << bit % 8));
    }
    assert_true(refused > 1000 && used > 1000);
}

static void every_other_length_is_refused(void **state)
{
    struct fixture *f = *state;
    size_t most = f->bytes.nbytes + 100;
    uint8_t *longer = calloc(most, 1);

    assert_non_null(longer);
    memcpy(longer, f->bytes.data, f->bytes.nbytes);
    temp_write(f->temp, CODES_NAME, longer, most);
    for (size_t length = most; length > 0; length--) {
        struct file_ref ref = f->ref;

        forge_cut(f->temp->dir, CODES_NAME, length);
        if (length == f->bytes.nbytes) continue;
        assert_int_equal(open_any_way(f, &f->ref, false, PAUA_VERIFY_HEADER), PAUA_ECORRUPT);
        ref.nbytes = length; /* the catalogue says so too */
        assert_int_equal(open_any_way(f, &ref, false, PAUA_VERIFY_HEADER), PAUA_ECORRUPT);
    }
    free(longer);
}

static void a_missing_or_exchanged_file_is_refused(void **state)
{
    struct fixture *f = *state;
    struct file_ref newer;

    f->values[3] += 1;
    newer = rows_write(&f->rows, f->temp->dir, 1);
    assert_int_equal(open_any_way(f, &newer, false, PAUA_VERIFY_TOUCH), PAUA_OK);
    assert_int_equal(open_any_way(f, &f->ref, false, PAUA_VERIFY_TOUCH), PAUA_ECORRUPT);
    assert_int_equal(dir_unlink(f->temp->dir, CODES_NAME, NULL), PAUA_OK);
    assert_int_equal(open_any_way(f, &newer, false, PAUA_VERIFY_TOUCH), PAUA_ECORRUPT);
}

/* Writes what was forged, opens it in both ways with good checksums everywhere, and tells whether
 * it was refused. */
static bool refused(const struct fixture *f, const struct forged *forged)
{
    struct file_ref ref = forge_write(forged, f->temp->dir);
    bool whole = open_any_way(f, &ref, false, PAUA_VERIFY_TOUCH) == PAUA_ECORRUPT;

    assert_int_equal(open_any_way(f, &ref, true, PAUA_VERIFY_TOUCH) == PAUA_ECORRUPT, whole);
    assert_int_equal(open_any_way(f, &ref, true, PAUA_VERIFY_HEADER) == PAUA_ECORRUPT, whole);
    return whole;
}

/* The file as it was written, in its place and in parts. */
static void take(const struct fixture *f, struct forged *forged)
{
    struct file_header header = rows_header(DIM);
    struct data_file *file;

    temp_write(f->temp, CODES_NAME, f->bytes.data, f->bytes.nbytes);
    assert_int_equal(data_file_open_sealed(f->temp->dir, &header, &f->ref,
                                           (struct data_file_opts){0}, &file, NULL),
                     PAUA_OK);
    forge_take(forged, file);
    data_file_unref(file);
    assert_int_equal(forged->count, 9);
}

static void a_file_put_together_again_is_opened(void **state)
{
    struct fixture *f = *state;
    struct forged forged;

    take(f, &forged);
    assert_false(refused(f, &forged));
    forge_free(&forged);
}

static void sections_may_come_in_any_order(void **state)
{
    struct fixture *f = *state;
    struct forged forged;

    take(f, &forged);
    for (uint32_t turn = 0; turn < forged.count; turn++) {
        struct forged_section first = forged.sections[0];

        memmove(forged.sections, forged.sections + 1,
                (forged.count - 1) * sizeof forged.sections[0]);
        forged.sections[forged.count - 1] = first;
        assert_false(refused(f, &forged));
    }
    forge_free(&forged);
}

static void a_section_that_is_missing_misplaced_or_of_another_length_is_refused(void **state)
{
    struct fixture *f = *state;

    for (uint32_t i = 0; i < 9; i++)
        for (int how = 0; how < 5; how++) {
            struct forged forged;
            struct forged_section *section;

            take(f, &forged);
            section = &forged.sections[i];
            if (how == 0) section->id = 60;
            if (how == 1) section->gap = 4;
            if (how == 2) section->gap = 32;
            if (how == 3) forge_resize(section, section->nbytes + 4);
            if (how == 4) forge_resize(section, section->nbytes - 4);
            if (!refused(f, &forged)) fail_msg("section %u, %d", section->id, how);
            forge_free(&forged);
        }
}

static void a_record_that_does_not_fit_its_file_is_refused(void **state)
{
    static const struct {
        size_t at, width;
        uint64_t value;
    } cases[] = {
        {12, 4, COUNT - 1},                                        /* rows */
        {12, 4, COUNT + 1}, {12, 4, UINT32_MAX}, {16, 4, DIM - 1}, /* dim */
        {16, 4, DIM + 1},   {16, 4, 64},         {20, 1, 9},       /* metric */
        {21, 1, 0},                                                /* trained */
        {24, 4, 16},        {32, 4, 0},          {36, 4, 0},
        {40, 4, 128},       {80, 4, 64}, /* bytes of codes */
        {92, 4, 0},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct forged forged;

        take(f, &forged);
        forge_record(forge_section(&forged, SECTION_MODEL), cases[i].at, cases[i].value,
                     cases[i].width);
        if (!refused(f, &forged)) fail_msg("case %zu", i);
        forge_free(&forged);
    }
}

static void a_newer_record_is_told_apart_from_damage(void **state)
{
    struct fixture *f = *state;
    struct forged forged;
    struct file_ref ref;

    take(f, &forged);
    forge_record(forge_section(&forged, SECTION_MODEL), 4, 2, 2);
    ref = forge_write(&forged, f->temp->dir);
    assert_int_equal(open_any_way(f, &ref, false, PAUA_VERIFY_TOUCH), PAUA_EVERSION);
    forge_free(&forged);
}

static void a_file_of_other_rows_or_dimensions_is_refused(void **state)
{
    struct fixture *f = *state;
    struct forged forged;
    struct file_ref ref;

    take(f, &forged);
    forged.row_count++;
    assert_true(refused(f, &forged));
    forged.row_count--;
    forged.header.dim++;
    ref = forge_write(&forged, f->temp->dir);
    assert_int_equal(open_any_way(f, &ref, false, PAUA_VERIFY_TOUCH), PAUA_ECORRUPT);
    forge_free(&forged);
}

/* Every float of every array. */
static void numbers_that_are_not_finite_are_refused(void **state)
{
    static const enum section_id ids[] = {SECTION_MEAN, SECTION_ROTATED_MEAN, SECTION_MATRIX_SCALE,
                                          SECTION_WALK_FACTORS, SECTION_REFINE_FACTORS};
    static const float kinds[] = {NAN, INFINITY, -INFINITY};
    struct fixture *f = *state;
    struct forged forged;
    size_t tried = 0;

    take(f, &forged);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        struct forged_section *section = forge_section(&forged, ids[i]);

        for (size_t at = 0; at + 4 <= section->nbytes; at += 4) {
            float before;

            memcpy(&before, section->bytes + at, 4);
            memcpy(section->bytes + at, &kinds[at / 4 % 3], 4);
            if (!refused(f, &forged)) fail_msg("section %d, byte %zu", (int)ids[i], at);
            memcpy(section->bytes + at, &before, 4);
            tried++;
        }
    }
    assert_true(tried > 50);
    forge_free(&forged);
}

/* Sigmas, factors, matrices and means that are finite but senseless must do no harm. */
static void extreme_numbers_are_harmless(void **state)
{
    static const float extremes[] = {3e38f, -3e38f, 1e-45f};
    struct fixture *f = *state;

    for (size_t e = 0; e < sizeof extremes / sizeof extremes[0]; e++)
        for (uint32_t i = 0; i < 9; i++) {
            struct forged forged;
            struct forged_section *section;

            take(f, &forged);
            section = &forged.sections[i];
            if (section->id != SECTION_MEAN && section->id != SECTION_ROTATED_MEAN &&
                section->id != SECTION_MATRIX_S8 && section->id != SECTION_MATRIX_SCALE &&
                section->id != SECTION_WALK_FACTORS && section->id != SECTION_REFINE_FACTORS) {
                forge_free(&forged);
                continue;
            }
            for (size_t at = 0; at + 4 <= section->nbytes; at += 4)
                memcpy(section->bytes + at, &extremes[e], 4);
            assert_false(refused(f, &forged));
            forge_free(&forged);
        }
}

static void damaged_refine_codes_are_found_when_lean_codes_are_read(void **state)
{
    struct fixture *f = *state;
    struct opened_as as = {.lean = true};
    float *values = rows_make(3000, 64);
    struct rows rows = {values, 3000, 64, PAUA_L2, PAUA_INT8};
    struct file_ref ref = rows_write(&rows, f->temp->dir, 1);
    struct bytes bytes = temp_read(f->temp, CODES_NAME);
    struct codes *codes = NULL;
    const uint8_t *row;
    uint8_t room[64];
    paua_error err = {0};

    bytes.data[FILE_HEADER_NBYTES + 5] ^= 1;
    temp_write(f->temp, CODES_NAME, bytes.data, bytes.nbytes);
    assert_int_equal(rows_open(64, f->temp->dir, &ref, as, &codes, &err), PAUA_OK);
    assert_true(codes->refine_nbytes > FILE_PAGE_NBYTES);
    assert_in_range(codes->model.refine.layout.nbytes, 1, sizeof room);
    assert_int_equal(codes_refine_row(codes, 0, room, &row, &err), PAUA_ECORRUPT);
    assert_non_null(strstr(err.message, CODES_NAME));
    assert_int_equal(codes_refine_row(codes, 2999, room, &row, &err), PAUA_OK);
    codes_unref(codes);
    as.lean = false;
    codes = NULL;
    assert_int_equal(rows_open(64, f->temp->dir, &ref, as, &codes, &err), PAUA_ECORRUPT);
    free(bytes.data);
    free(values);
}

int main(void)
{
#define DAMAGED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        DAMAGED(every_flipped_bit_is_refused_where_pages_are_verified),
        DAMAGED(every_flipped_bit_is_refused_or_harmless_where_pages_are_trusted),
        DAMAGED(every_other_length_is_refused),
        DAMAGED(a_missing_or_exchanged_file_is_refused),
        DAMAGED(a_file_put_together_again_is_opened),
        DAMAGED(sections_may_come_in_any_order),
        DAMAGED(a_section_that_is_missing_misplaced_or_of_another_length_is_refused),
        DAMAGED(a_record_that_does_not_fit_its_file_is_refused),
        DAMAGED(a_newer_record_is_told_apart_from_damage),
        DAMAGED(a_file_of_other_rows_or_dimensions_is_refused),
        DAMAGED(numbers_that_are_not_finite_are_refused),
        DAMAGED(extreme_numbers_are_harmless),
        DAMAGED(damaged_refine_codes_are_found_when_lean_codes_are_read),
    };

    return cmocka_run_group_tests_name("index/codes_damage", tests, NULL, NULL);
}
