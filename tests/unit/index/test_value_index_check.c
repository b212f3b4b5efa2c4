/* test_value_index_check.c - value_index_validate() notices whatever an index that opens may have
 * that is not the column's; finding with it is harmless.
 *
 * Files are forged with good checksums. */
#include "values_fixture.h"

#include "codec/rowset.h"
#include "column/column.h"

/* Opens what was forged, with good checksums, and tells what validation says. */
static void assert_fault(struct values_fixture *f, const struct forged *forged,
                         const char *expected)
{
    struct file_ref ref = forge_write(forged, f->temp.dir);
    struct value_index *index = NULL;
    const char *wrong;

    assert_int_equal(values_open(f->temp.dir, &ref, VALUES_ROWS,
                                 (struct values_as){.no_mmap = true}, &index, NULL),
                     PAUA_OK);
    wrong = values_fault(f, index);
    if (wrong == NULL) fail_msg("not noticed: %s", expected);
    assert_string_equal(wrong, expected);
    values_use(f, index, 1);
    value_index_unref(index);
}

static uint32_t place_get(struct forged *forged, size_t i)
{
    return (uint32_t)bytes_get(forge_section(forged, SECTION_VALUE_ROWS)->bytes + 4 * i, 4);
}

static void place_put(struct forged *forged, size_t i, uint32_t row)
{
    bytes_put(forge_section(forged, SECTION_VALUE_ROWS)->bytes + 4 * i, row, 4);
}

static void exchange(struct forged *forged, size_t i, size_t j)
{
    uint32_t row = place_get(forged, i);

    place_put(forged, i, place_get(forged, j));
    place_put(forged, j, row);
}

static void drop_last(struct forged *forged)
{
    struct forged_section *rows = forge_section(forged, SECTION_VALUE_ROWS);

    forge_resize(rows, rows->nbytes - 4);
    forge_record(forge_section(forged, SECTION_VALUE_INDEX), 20, rows->nbytes / 4, 4);
}

static void wrong_orders_of_rows_are_noticed(void **state)
{
    static const char order[] = "has rows that are not in the order of their values";
    struct values_fixture *f = *state;

    for (int how = 0; how < 8; how++) {
        struct forged forged;

        values_take(f, how >= 5 ? 0 : 1, &forged);
        if (how == 0) exchange(&forged, 0, 1);   /* of one value */
        if (how == 1) exchange(&forged, 2, 30);  /* of two */
        if (how == 2) exchange(&forged, 53, 54); /* the last two */
        if (how == 3) place_put(&forged, 1, place_get(&forged, 0));
        if (how == 4) place_put(&forged, 20, place_get(&forged, 3));
        if (how == 5) exchange(&forged, 10, 11);
        if (how == 6) place_put(&forged, 11, place_get(&forged, 10));
        if (how == 7) place_put(&forged, 5, place_get(&forged, 4) + 5); /* a value twice */
        assert_fault(f, &forged, order);
        forge_free(&forged);
    }
}

static void rows_without_a_value_and_missing_rows_are_noticed(void **state)
{
    struct values_fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        struct forged forged;

        values_take(f, i, &forged);
        place_put(&forged, 12, 5);
        assert_fault(f, &forged, "has a row that has no value");
        forge_free(&forged);
        if (i == 0) continue;
        values_take(f, i, &forged);
        drop_last(&forged);
        assert_fault(f, &forged, "lacks rows that have a value");
        forge_free(&forged);
    }
}

/* Puts another set in the place of the first, of as many bytes. */
static void put_set(struct forged *forged, const uint32_t *rows, size_t count)
{
    struct forged_section *sets = forge_section(forged, SECTION_VALUE_SETS);
    size_t nbytes = (size_t)bytes_get(forge_section(forged, SECTION_VALUE_ENDS)->bytes, 8);
    roaring_bitmap_t *set = roaring_bitmap_of_ptr(count, rows);
    struct writer w = {0};

    assert_int_equal(rowset_encode(set, &w), PAUA_OK);
    assert_int_equal(w.length, nbytes);
    memcpy(sets->bytes, w.bytes, w.length);
    writer_free(&w);
    roaring_bitmap_free(set);
}

/* Value 0 has rows 0, 10, 15, 20 ... 35, of which 5 is NULL. */
static void wrong_sets_are_noticed(void **state)
{
    static const struct {
        uint32_t rows[8];
        size_t count;
        const char *fault;
    } cases[] = {
        {{0, 10, 15, 20, 25, 30, 36}, 7, "has a row in the set of a value that is not its own"},
        {{0, 10, 15, 20, 25, 30, 38}, 7, "has a row in the set of a value that is not its own"},
        {{0, 5, 10, 15, 20, 25, 35}, 7, "has a row in the set of a value that is not its own"},
        {{1, 10, 15, 20, 25, 30, 35}, 7, "has a set that does not begin with its first row"},
        {{0, 10, 15, 20, 25, 30, 37, 38}, 8, "has a set of more or fewer rows than it says"},
        {{0, 9, 19, 29, 31, 38}, 6, "has a set of more or fewer rows than it says"},
    };
    struct values_fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct forged forged;

        values_take(f, 0, &forged);
        put_set(&forged, cases[i].rows, cases[i].count);
        assert_fault(f, &forged, cases[i].fault);
        forge_free(&forged);
    }
}

/* Finding all rows fails, and names the file. */
static void assert_find_refuses(struct values_fixture *f, const struct forged *forged)
{
    struct key_range all = {0, UINT64_MAX};
    struct column_test test = {.kind = TEST_KEYS, .ranges = &all, .range_count = 1};
    struct file_ref ref = forge_write(forged, f->temp.dir);
    struct value_index *index;
    uint64_t bitmap[1];
    paua_error err;
    bool done;

    assert_int_equal(values_open(f->temp.dir, &ref, VALUES_ROWS,
                                 (struct values_as){.no_mmap = true}, &index, NULL),
                     PAUA_OK);
    assert_int_equal(value_index_find(index, f->view, &test, bitmap, &done, &err), PAUA_ECORRUPT);
    assert_false(done);
    assert_non_null(strstr(err.message, VALUES_NAME));
    value_index_unref(index);
}

static void a_set_that_is_no_set_is_noticed_and_refused(void **state)
{
    struct values_fixture *f = *state;
    struct forged forged;
    size_t nbytes;

    values_take(f, 0, &forged);
    nbytes = forge_section(&forged, SECTION_VALUE_SETS)->nbytes;
    for (size_t at = 0; at < nbytes; at++) {
        uint8_t *byte = forge_section(&forged, SECTION_VALUE_SETS)->bytes + at;

        *byte ^= 1;
        assert_fault(f, &forged, "has a set of rows that is damaged");
        assert_find_refuses(f, &forged);
        *byte ^= 1;
    }
    forge_free(&forged);
}

static void forged_totals_are_noticed_and_refused(void **state)
{
    struct values_fixture *f = *state;
    struct forged forged;
    struct forged_section *totals;

    for (size_t i = 0; i < 4; i++) {
        values_take(f, 0, &forged);
        totals = forge_section(&forged, SECTION_VALUE_TOTALS);
        bytes_put(totals->bytes + 4 * i, bytes_get(totals->bytes + 4 * i, 4) + 1, 4);
        assert_fault(f, &forged, "has a set of more or fewer rows than it says");
        assert_find_refuses(f, &forged);
        forge_free(&forged);
    }
}

/* A NULL row has the key 0 where it is not asked whether it is there. */
static void a_row_without_a_value_in_the_set_of_zero_is_noticed(void **state)
{
    static const uint32_t others[] = {0, 1, 3};
    struct values_fixture *f = *state;
    struct column *column = column_new(PAUA_TYPE_UINT64);
    struct cell zero = {.present = true};
    struct column_view view;
    struct value_index *index;
    struct data_file *file;
    struct file_ref ref;
    struct forged forged;
    const char *wrong;

    assert_non_null(column);
    for (uint32_t row = 0; row < 4; row++)
        if (row != 1) assert_int_equal(column_put(column, row, &zero), PAUA_OK);
    column_look(column, &view);
    assert_int_equal(values_write(f->temp.dir, &view, 4, PAUA_INDEX_BITMAP, &ref, NULL), PAUA_OK);
    assert_int_equal(data_file_open_sealed(f->temp.dir, &VALUES_HEADER, &ref,
                                           (struct data_file_opts){0}, &file, NULL),
                     PAUA_OK);
    forge_take(&forged, file);
    data_file_unref(file);
    put_set(&forged, others, 3);
    ref = forge_write(&forged, f->temp.dir);
    assert_int_equal(values_open(f->temp.dir, &ref, 4, (struct values_as){0}, &index, NULL),
                     PAUA_OK);
    assert_int_equal(value_index_validate(index, &view, &wrong), PAUA_OK);
    assert_string_equal(wrong, "has a row in the set of a value that is not its own");
    value_index_unref(index);
    forge_free(&forged);
    column_free(column);
}

/* Rows of nonsense: one everywhere, and at random. */
static void rows_that_make_no_sense_are_harmless(void **state)
{
    struct values_fixture *f = *state;
    uint64_t seed = 5;

    for (int how = 0; how < 60; how++) {
        struct forged forged;

        values_take(f, how % 2, &forged);
        for (size_t i = 0; i < forge_section(&forged, SECTION_VALUE_ROWS)->nbytes / 4; i++)
            place_put(&forged, i, how < 15 ? (uint32_t)how : random_next(&seed) % VALUES_ROWS);
        assert_false(values_refused(f, &forged));
        forge_free(&forged);
    }
}

static void rows_of_a_column_that_there_is_not_are_noticed(void **state)
{
    struct key_range all = {0, UINT64_MAX};
    struct column_test test = {.kind = TEST_KEYS, .ranges = &all, .range_count = 1};
    struct values_fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        struct value_index *index;
        const char *wrong = NULL;

        values_restore(f, &f->written[i]);
        assert_int_equal(values_open(f->temp.dir, &f->written[i].ref, VALUES_ROWS,
                                     (struct values_as){0}, &index, NULL),
                         PAUA_OK);
        assert_int_equal(value_index_validate(index, NULL, &wrong), PAUA_OK);
        assert_string_equal(wrong, "has rows of a column that there is not");
        values_check_test(index, NULL, &test);
        value_index_unref(index);
    }
}

int main(void)
{
#define WRITTEN(test) cmocka_unit_test_setup_teardown(test, values_setup, values_teardown)
    const struct CMUnitTest tests[] = {
        WRITTEN(wrong_orders_of_rows_are_noticed),
        WRITTEN(rows_without_a_value_and_missing_rows_are_noticed),
        WRITTEN(wrong_sets_are_noticed),
        WRITTEN(a_set_that_is_no_set_is_noticed_and_refused),
        WRITTEN(forged_totals_are_noticed_and_refused),
        WRITTEN(a_row_without_a_value_in_the_set_of_zero_is_noticed),
        WRITTEN(rows_that_make_no_sense_are_harmless),
        WRITTEN(rows_of_a_column_that_there_is_not_are_noticed),
    };

    return cmocka_run_group_tests_name("index/value_index_check", tests, NULL, NULL);
}
