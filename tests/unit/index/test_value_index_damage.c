/* test_value_index_damage.c - files of values that were damaged or forged: refused with a message,
 * or harmless.
 *
 * What is not mapped is read into blocks of its length, so that a sanitizer sees every read beyond.
 * Offsets in a file's record: see codec/test_value_index_record.c. */
#include "values_fixture.h"

static void an_index_comes_back_as_it_was_written(void **state)
{
    struct values_fixture *f = *state;

    for (int way = 0; way < 8; way++) {
        const struct values_written *w = &f->written[way % 2];
        struct values_as as = {way % 4 < 2, way < 4 ? PAUA_VERIFY_TOUCH : PAUA_VERIFY_HEADER};
        struct value_index *index;
        struct bytes again;
        struct file_ref ref;

        values_restore(f, w);
        assert_int_equal(values_open(f->temp.dir, &w->ref, VALUES_ROWS, as, &index, NULL), PAUA_OK);
        assert_int_equal(index->memory != NULL, as.no_mmap);
        assert_int_equal((uintptr_t)index->places % 64, 0);
        assert_null(values_fault(f, index));
        values_check(index, f->view, &f->naive, 1, 30);
        value_index_unref(index);
        assert_int_equal(values_write(f->temp.dir, f->view, VALUES_ROWS, w->kind, &ref, NULL),
                         PAUA_OK);
        again = temp_read(&f->temp, VALUES_NAME);
        assert_int_equal(again.nbytes, w->bytes.nbytes);
        assert_memory_equal(again.data, w->bytes.data, again.nbytes);
        free(again.data);
    }
}

static void every_flipped_bit_is_refused_where_pages_are_verified(void **state)
{
    struct values_fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        const struct values_written *w = &f->written[i];

        values_restore(f, w);
        for (size_t bit = 0; bit < 8 * w->bytes.nbytes; bit++) {
            struct values_as as = {bit % 2 != 0, PAUA_VERIFY_TOUCH};
            struct value_index *index = NULL;

            forge_flip(f->temp.dir, VALUES_NAME, bit / 8, (uint8_t)(1u << bit % 8));
            if (values_open(f->temp.dir, &w->ref, VALUES_ROWS, as, &index, NULL) == PAUA_OK)
                fail_msg("bit %zu", bit);
            forge_flip(f->temp.dir, VALUES_NAME, bit / 8, (uint8_t)(1u << bit % 8));
        }
    }
}

static void flipped_bits_are_refused_or_harmless_where_pages_are_trusted(void **state)
{
    struct values_fixture *f = *state;
    size_t refused = 0, used = 0;

    for (int i = 0; i < 2; i++) {
        const struct values_written *w = &f->written[i];

        values_restore(f, w);
        for (size_t bit = 0; bit < 8 * w->bytes.nbytes; bit++) {
            forge_flip(f->temp.dir, VALUES_NAME, bit / 8, (uint8_t)(1u << bit % 8));
            if (values_open_any_way(f, &w->ref, PAUA_VERIFY_HEADER) == PAUA_OK)
                used++;
            else
                refused++;
            forge_flip(f->temp.dir, VALUES_NAME, bit / 8, (uint8_t)(1u << bit % 8));
        }
    }
    assert_true(refused > 4000 && used > 1000);
}

static void every_other_length_is_refused(void **state)
{
    struct values_fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        const struct values_written *w = &f->written[i];
        size_t most = w->bytes.nbytes + 100;
        uint8_t *longer = calloc(most, 1);

        assert_non_null(longer);
        memcpy(longer, w->bytes.data, w->bytes.nbytes);
        temp_write(&f->temp, VALUES_NAME, longer, most);
        for (size_t length = most; length > 0; length--) {
            struct file_ref ref = w->ref;

            forge_cut(f->temp.dir, VALUES_NAME, length);
            if (length == w->bytes.nbytes) continue;
            assert_int_equal(values_open_any_way(f, &w->ref, PAUA_VERIFY_HEADER), PAUA_ECORRUPT);
            ref.nbytes = length; /* the catalogue says so too */
            assert_int_equal(values_open_any_way(f, &ref, PAUA_VERIFY_HEADER), PAUA_ECORRUPT);
        }
        free(longer);
    }
}

static void a_missing_or_exchanged_file_is_refused(void **state)
{
    struct values_fixture *f = *state;

    values_restore(f, &f->written[0]);
    assert_int_equal(values_open_any_way(f, &f->written[1].ref, PAUA_VERIFY_TOUCH), PAUA_ECORRUPT);
    assert_int_equal(dir_unlink(f->temp.dir, VALUES_NAME, NULL), PAUA_OK);
    assert_int_equal(values_open_any_way(f, &f->written[0].ref, PAUA_VERIFY_TOUCH), PAUA_ECORRUPT);
}

static void a_section_that_is_missing_misplaced_or_of_another_length_is_refused(void **state)
{
    struct values_fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        struct forged forged;
        uint32_t sections = i == 0 ? 5 : 2;

        values_take(f, i, &forged);
        assert_false(values_refused(f, &forged));
        forge_free(&forged);
        for (uint32_t at = 0; at < 5 * sections; at++) {
            struct forged_section *section;
            uint32_t how = at / sections;

            values_take(f, i, &forged);
            section = &forged.sections[at % sections];
            if (how == 0) section->id = 60;
            if (how == 1) section->gap = 4;
            if (how == 2) section->gap = 32;
            if (how == 3) forge_resize(section, section->nbytes + 4);
            if (how == 4) forge_resize(section, section->nbytes - 4);
            if (!values_refused(f, &forged)) fail_msg("section %u, %u", section->id, how);
            forge_free(&forged);
        }
    }
}

static void a_record_that_does_not_fit_its_file_is_refused(void **state)
{
    static const struct {
        size_t at, width;
        uint64_t value;
    } cases[] = {
        {12, 1, PAUA_INDEX_FLAT},
        {16, 4, VALUES_ROWS - 1},
        {16, 4, VALUES_ROWS + 1},
        {16, 4, UINT32_MAX},
        {20, 4, 0},
        {20, 4, 1},
        {20, 4, 25},
        {20, 4, VALUES_ROWS},
        {20, 4, VALUES_ROWS + 1},
        {28, 8, 1},
        {28, 8, UINT32_MAX},
        {28, 8, UINT64_MAX},
    };
    struct values_fixture *f = *state;

    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        struct forged forged;

        values_take(f, (int)(i % 2), &forged);
        forge_record(forge_section(&forged, SECTION_VALUE_INDEX), cases[i / 2].at,
                     cases[i / 2].value, cases[i / 2].width);
        if (!values_refused(f, &forged)) fail_msg("case %zu", i);
        forge_free(&forged);
    }
}

static void an_index_of_the_other_kind_is_refused_or_harmless(void **state)
{
    struct values_fixture *f = *state;
    struct forged forged;

    values_take(f, 1, &forged);
    forge_record(forge_section(&forged, SECTION_VALUE_INDEX), 12, PAUA_INDEX_BITMAP, 1);
    assert_true(values_refused(f, &forged));
    forge_free(&forged);
    values_take(f, 0, &forged);
    forge_record(forge_section(&forged, SECTION_VALUE_INDEX), 28, 0, 8);
    forge_record(forge_section(&forged, SECTION_VALUE_INDEX), 12, PAUA_INDEX_SORTED, 1);
    assert_false(values_refused(f, &forged)); /* lacks rows */
    forge_free(&forged);
}

static void a_newer_record_is_told_apart_from_damage(void **state)
{
    struct values_fixture *f = *state;
    struct forged forged;
    struct file_ref ref;

    values_take(f, 0, &forged);
    forge_record(forge_section(&forged, SECTION_VALUE_INDEX), 4, 2, 2);
    ref = forge_write(&forged, f->temp.dir);
    assert_int_equal(values_open_any_way(f, &ref, PAUA_VERIFY_TOUCH), PAUA_EVERSION);
    forge_free(&forged);
}

static void a_file_of_other_rows_is_refused(void **state)
{
    struct values_fixture *f = *state;
    struct forged forged;

    values_take(f, 0, &forged);
    forged.row_count++;
    assert_true(values_refused(f, &forged));
    forge_free(&forged);
}

static void totals_above_the_rows_are_refused(void **state)
{
    struct values_fixture *f = *state;
    struct forged forged;
    struct forged_section *totals;

    values_take(f, 0, &forged);
    totals = forge_section(&forged, SECTION_VALUE_TOTALS);
    for (size_t at = 4 * 4; at < totals->nbytes; at += 4)
        bytes_put(totals->bytes + at, bytes_get(totals->bytes + at, 4) + 6, 4);
    assert_true(values_refused(f, &forged));
    for (size_t at = 4 * 4; at < totals->nbytes; at += 4)
        bytes_put(totals->bytes + at, bytes_get(totals->bytes + at, 4) - 1, 4);
    assert_false(values_refused(f, &forged)); /* as many as there are rows */
    forge_free(&forged);
}

static void sets_longer_than_their_last_end_are_refused(void **state)
{
    struct values_fixture *f = *state;
    struct forged forged;
    struct forged_section *sets;

    values_take(f, 0, &forged);
    sets = forge_section(&forged, SECTION_VALUE_SETS);
    forge_resize(sets, sets->nbytes + 1);
    forge_record(forge_section(&forged, SECTION_VALUE_INDEX), 28, sets->nbytes, 8);
    assert_true(values_refused(f, &forged));
    forge_free(&forged);
}

/* Tries numbers at one place of a section: whether each is refused. */
static void assert_refuses(struct values_fixture *f, enum section_id id, size_t place, size_t width,
                           const uint64_t *values, size_t count)
{
    struct forged forged;
    struct forged_section *section;

    values_take(f, 0, &forged);
    section = forge_section(&forged, id);
    for (size_t i = 0; i < count; i++) {
        bytes_put(section->bytes + place * width, values[i], width);
        if (!values_refused(f, &forged))
            fail_msg("section %d, place %zu: %llu", (int)id, place, (unsigned long long)values[i]);
    }
    forge_free(&forged);
}

static void rows_that_there_are_not_are_refused_wherever_they_stand(void **state)
{
    static const uint64_t values[] = {VALUES_ROWS, VALUES_ROWS + 1, 0x80000000u, UINT32_MAX};
    struct values_fixture *f = *state;

    for (size_t place = 0; place < 24; place++)
        assert_refuses(f, SECTION_VALUE_ROWS, place, 4, &values[place % 4], 1);
}

/* Values 0 to 4 have 7 or 8 rows each, the 19 others one. */
static void totals_and_ends_that_do_not_follow_each_other_are_refused(void **state)
{
    struct values_fixture *f = *state;
    struct forged forged;
    uint32_t totals[24];
    uint64_t ends[24];

    values_take(f, 0, &forged);
    assert_int_equal(forge_section(&forged, SECTION_VALUE_TOTALS)->nbytes, sizeof totals);
    memcpy(totals, forge_section(&forged, SECTION_VALUE_TOTALS)->bytes, sizeof totals);
    memcpy(ends, forge_section(&forged, SECTION_VALUE_ENDS)->bytes, sizeof ends);
    forge_free(&forged);
    assert_true(totals[4] + 19 == totals[23] && ends[4] == ends[23]);
    for (size_t i = 0; i < 24; i++) {
        uint32_t before = i > 0 ? totals[i - 1] : 0;
        uint64_t wrong[] = {before, before - 1, before + VALUES_ROWS + 1, UINT32_MAX,
                            i < 5 ? before + 1 : totals[i] + 1};
        uint64_t begin = i > 0 ? ends[i - 1] : 0;
        uint64_t wrong_ends[] = {begin - 1, ends[23] + 1, UINT64_MAX, i < 5 ? begin : begin + 1};

        assert_refuses(f, SECTION_VALUE_TOTALS, i, 4, wrong, 5);
        assert_refuses(f, SECTION_VALUE_ENDS, i, 8, wrong_ends, 4);
    }
}

int main(void)
{
#define WRITTEN(test) cmocka_unit_test_setup_teardown(test, values_setup, values_teardown)
    const struct CMUnitTest tests[] = {
        WRITTEN(an_index_comes_back_as_it_was_written),
        WRITTEN(every_flipped_bit_is_refused_where_pages_are_verified),
        WRITTEN(flipped_bits_are_refused_or_harmless_where_pages_are_trusted),
        WRITTEN(every_other_length_is_refused),
        WRITTEN(a_missing_or_exchanged_file_is_refused),
        WRITTEN(a_section_that_is_missing_misplaced_or_of_another_length_is_refused),
        WRITTEN(a_record_that_does_not_fit_its_file_is_refused),
        WRITTEN(an_index_of_the_other_kind_is_refused_or_harmless),
        WRITTEN(a_newer_record_is_told_apart_from_damage),
        WRITTEN(a_file_of_other_rows_is_refused),
        WRITTEN(rows_that_there_are_not_are_refused_wherever_they_stand),
        WRITTEN(totals_above_the_rows_are_refused),
        WRITTEN(sets_longer_than_their_last_end_are_refused),
        WRITTEN(totals_and_ends_that_do_not_follow_each_other_are_refused),
    };

    return cmocka_run_group_tests_name("index/value_index_damage", tests, NULL, NULL);
}
