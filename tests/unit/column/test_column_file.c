/* Sealed columns: equal to the plain arrays that they were made from. */
#include "sealed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "column/column.h"

static int setup(void **state)
{
    struct dir *dir;

    assert_int_equal(dir_open_memory(&dir, NULL), PAUA_OK);
    *state = dir;
    return 0;
}

static int teardown(void **state)
{
    dir_close(*state);
    return 0;
}

/* Seals the fields, opens them mapped and not, and compares. */
static void check_sealed(struct dir *dir, struct naive *fields, uint32_t count, unsigned tests)
{
    struct file_ref ref;
    paua_error err;

    assert_int_equal(sealed_write(dir, fields, count, &ref, &err), PAUA_OK);
    for (unsigned mapped = 0; mapped < 2; mapped++) {
        struct column_file *file;

        assert_int_equal(sealed_open(dir, &ref, fields[0].rows, mapped == 1, &file, &err), PAUA_OK);
        for (uint32_t i = 0; i < count; i++) {
            const struct column_view *view = NULL;

            if (column_file_column(file, sealed_id(i), &view, &err) != PAUA_OK)
                fail_msg("%s", err.message);
            assert_non_null(view);
            assert_int_equal(view->type, fields[i].type);
            naive_check(&fields[i], view, NULL, i, mapped ? 0 : tests);
        }
        column_file_unref(file);
    }
}

static void every_type_and_shape_is_sealed_as_it_is(void **state)
{
    struct naive fields[16];

    for (enum naive_shape shape = 0; shape < SHAPE_COUNT; shape++) {
        for (unsigned t = 0; t < naive_type_count; t++)
            naive_make(&fields[t], t * 77 + shape, naive_types[t], shape, 5000);
        check_sealed(*state, fields, naive_type_count, 8);
        for (unsigned t = 0; t < naive_type_count; t++)
            naive_free(&fields[t]);
    }
}

static void columns_of_several_chunks_are_sealed_as_they_are(void **state)
{
    for (enum naive_shape shape = 0; shape < SHAPE_COUNT; shape += 2) {
        struct naive fields[2];

        naive_make(&fields[0], shape, PAUA_TYPE_STRING, shape, 2 * COLUMN_CHUNK_ROWS + 1);
        naive_make(&fields[1], shape, PAUA_TYPE_INT64, shape, 2 * COLUMN_CHUNK_ROWS + 1);
        check_sealed(*state, fields, 2, 4);
        naive_free(&fields[0]);
        naive_free(&fields[1]);
    }
}

/* Growing and sealed columns give the same cells and matches: both equal the same array. */
static void a_growing_column_seals_into_what_it_was(void **state)
{
    struct column *column = column_new(PAUA_TYPE_MIXED);
    struct naive naive;
    struct column_view view;

    naive_make(&naive, 5, PAUA_TYPE_MIXED, SHAPE_CHANGING, 30000);
    for (uint32_t row = 0; row < naive.rows; row++)
        assert_int_equal(column_put(column, row, &naive.cells[row]), PAUA_OK);
    column_look(column, &view);
    naive_check(&naive, &view, NULL, 3, 10);
    for (uint32_t row = 0; row < naive.rows; row++)
        column_cell(&view, row, &naive.cells[row]);
    check_sealed(*state, &naive, 1, 10);
    column_free(column);
    naive_free(&naive);
}

static void what_is_not_there_is_null(void **state)
{
    struct naive naive;
    struct file_ref ref;
    struct column_file *file;
    const struct column_view *view = NULL;
    const struct column_file_field *fields;
    uint32_t count;

    naive_make(&naive, 1, PAUA_TYPE_INT8, SHAPE_FEW, 100);
    assert_int_equal(sealed_write(*state, &naive, 1, &ref, NULL), PAUA_OK);
    assert_int_equal(sealed_open(*state, &ref, 100, true, &file, NULL), PAUA_OK);
    fields = column_file_fields(file, &count);
    assert_int_equal(count, 1);
    assert_int_equal(fields[0].id, sealed_id(0));
    assert_int_equal(fields[0].type, PAUA_TYPE_INT8);
    assert_string_equal(fields[0].name, "field 0");
    assert_true(column_file_segment(file) == SEALED_SEGMENT);
    assert_int_equal(column_file_column(file, 4, &view, NULL), PAUA_OK);
    assert_null(view);
    assert_true(column_file_nbytes(file, 4) == 0);
    assert_true(column_file_nbytes(file, sealed_id(0)) == 56);
    column_file_unref(file);
    naive_free(&naive);
}

static void a_file_of_other_rows_is_refused(void **state)
{
    struct data_file_opts opts = {.verify = PAUA_VERIFY_TOUCH};
    struct naive naive;
    struct file_ref ref;
    struct column_file *file = NULL;
    paua_error err;

    naive_make(&naive, 1, PAUA_TYPE_INT8, SHAPE_FEW, 100);
    assert_int_equal(sealed_write(*state, &naive, 1, &ref, NULL), PAUA_OK);
    assert_int_equal(sealed_open(*state, &ref, 99, true, &file, &err), PAUA_ECORRUPT);
    assert_non_null(strstr(err.message, SEALED_NAME));
    assert_int_equal(column_file_open(*state, SEALED_COLLECTION, SEALED_SEGMENT + 1, 100, &ref,
                                      opts, &file, &err),
                     PAUA_ECORRUPT);
    assert_int_equal(column_file_open(*state, SEALED_COLLECTION + 1, SEALED_SEGMENT, 100, &ref,
                                      opts, &file, &err),
                     PAUA_ECORRUPT);
    assert_null(file);
    naive_free(&naive);
}

static void sealing_chooses_the_smallest_form(void **state)
{
    static const struct {
        uint32_t type;
        enum naive_shape shape;
        enum chunk_kind kind;
    } cases[] = {
        {PAUA_TYPE_STRING, SHAPE_CONSTANT, CHUNK_CONSTANT},
        {PAUA_TYPE_STRING, SHAPE_FEW, CHUNK_PACKED},
        {PAUA_TYPE_INT64, SHAPE_DRIFT, CHUNK_PACKED},
        {PAUA_TYPE_STRING, SHAPE_SPARSE, CHUNK_SPARSE},
        {PAUA_TYPE_DOUBLE, SHAPE_SPARSE, CHUNK_SPARSE},
        {PAUA_TYPE_INT64, SHAPE_DISTINCT, CHUNK_RAW},
        {PAUA_TYPE_STRING, SHAPE_DISTINCT, CHUNK_UNREPEATED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct column_view *view;
        struct column_file *file;
        struct naive naive;
        struct file_ref ref;

        naive_make(&naive, i, cases[i].type, cases[i].shape, 8000);
        assert_int_equal(sealed_write(*state, &naive, 1, &ref, NULL), PAUA_OK);
        assert_int_equal(sealed_open(*state, &ref, 8000, true, &file, NULL), PAUA_OK);
        assert_int_equal(column_file_column(file, sealed_id(0), &view, NULL), PAUA_OK);
        assert_int_equal(view->chunks[0].kind, cases[i].kind);
        column_file_unref(file);
        naive_free(&naive);
    }
}

static void count_files(void *arg, const char *name, uint64_t nbytes)
{
    (void)name;
    (void)nbytes;
    ++*(unsigned *)arg;
}

static void sealing_without_memory_leaves_no_file(void **state)
{
    struct naive fields[3];
    struct file_ref ref = {0};
    paua_status status = PAUA_ENOMEM;
    unsigned files = 0, refused = 0;

    naive_make(&fields[0], 1, PAUA_TYPE_STRING, SHAPE_FEW, 300);
    naive_make(&fields[1], 2, PAUA_TYPE_INT32, SHAPE_DISTINCT, 300);
    naive_make(&fields[2], 3, PAUA_TYPE_BYTES, SHAPE_DISTINCT, 300);
    for (uint64_t n = 1; status != PAUA_OK; n++) {
        mem_fail_after(n);
        status = sealed_write(*state, fields, 3, &ref, NULL);
        mem_fail_after(0);
        if (status == PAUA_OK) break;
        assert_int_equal(status, PAUA_ENOMEM);
        assert_int_equal(dir_list(*state, count_files, &files, NULL), PAUA_OK);
        assert_int_equal(files, 0);
        refused++;
    }
    assert_true(refused > 20);
    for (unsigned i = 0; i < 3; i++)
        naive_free(&fields[i]);
}

static void opening_without_memory_fails_and_can_be_tried_again(void **state)
{
    struct naive naive;
    struct file_ref ref;
    struct column_file *file = NULL;
    const struct column_view *view = NULL;
    paua_status status = PAUA_ENOMEM;

    naive_make(&naive, 3, PAUA_TYPE_BYTES, SHAPE_FEW, 300);
    assert_int_equal(sealed_write(*state, &naive, 1, &ref, NULL), PAUA_OK);
    for (uint64_t n = 1; status != PAUA_OK; n++) {
        mem_fail_after(n);
        status = sealed_open(*state, &ref, 300, false, &file, NULL);
        mem_fail_after(0);
        assert_true(status == PAUA_OK || status == PAUA_ENOMEM);
    }
    status = PAUA_ENOMEM;
    for (uint64_t n = 1; status != PAUA_OK; n++) {
        mem_fail_after(n);
        status = column_file_column(file, sealed_id(0), &view, NULL);
        mem_fail_after(0);
        assert_true(status == PAUA_OK || (status == PAUA_ENOMEM && view == NULL));
    }
    naive_check(&naive, view, NULL, 1, 3);
    column_file_unref(file);
    naive_free(&naive);
}

static paua_status fail_at_row(void *arg, uint32_t row, struct cell *cell, paua_error *err)
{
    uint32_t *left = arg;

    (void)err;
    *cell = (struct cell){.present = true, .data = (const uint8_t *)"v", .nbytes = 1, .key = row};
    return (*left)-- == 0 ? PAUA_EIO : PAUA_OK;
}

#define LONG_NBYTES ((size_t)64 << 20)

/* Values of 64 MiB, each with its row at its beginning. */
static paua_status next_long(void *arg, uint32_t row, struct cell *cell, paua_error *err)
{
    (void)err;
    memcpy(arg, &row, sizeof row);
    *cell = (struct cell){.present = true, .data = arg, .nbytes = LONG_NBYTES};
    return PAUA_OK;
}

/* Takes 10 GiB of memory, and half a minute. */
static void more_than_4_gib_of_a_chunk_are_sealed_as_they_are(void **state)
{
    const char *sweep = getenv("PAUA_SWEEP");
    const uint32_t rows = 66;
    const struct column_view *view;
    struct column_writer *writer;
    struct column_file *file;
    struct file_ref ref;
    uint8_t *value;

    if (sweep == NULL || strcmp(sweep, "whole") != 0) skip();
    value = calloc(1, LONG_NBYTES);
    assert_non_null(value);
    assert_int_equal(column_writer_open(*state, SEALED_NUMBER, SEALED_COLLECTION, SEALED_SEGMENT,
                                        rows, &writer, NULL),
                     PAUA_OK);
    assert_int_equal(
        column_writer_field(writer, 1, PAUA_TYPE_BYTES, "long", next_long, value, NULL), PAUA_OK);
    assert_int_equal(column_writer_seal(writer, &ref, NULL), PAUA_OK);
    column_writer_close(writer);
    assert_int_equal(sealed_open(*state, &ref, rows, true, &file, NULL), PAUA_OK);
    assert_int_equal(column_file_column(file, 1, &view, NULL), PAUA_OK);
    assert_int_equal(view->chunks[0].end_nbytes, 8);
    for (uint32_t row = 0; row < rows; row++) {
        struct cell cell;

        column_cell(view, row, &cell);
        assert_true(cell.present && cell.nbytes == LONG_NBYTES);
        assert_memory_equal(cell.data, &row, sizeof row);
    }
    column_file_unref(file);
    free(value);
}

static void a_source_that_fails_leaves_no_file(void **state)
{
    for (uint32_t type = PAUA_TYPE_INT32; type <= PAUA_TYPE_BYTES; type += 10) {
        for (uint32_t left = 0; left < 15; left += 7) {
            struct column_writer *writer;
            uint32_t remaining = left;
            unsigned files = 0;

            if (type_is_number(type) && left >= 10) continue;
            assert_int_equal(column_writer_open(*state, 9, 1, 1, 10, &writer, NULL), PAUA_OK);
            assert_int_equal(
                column_writer_field(writer, 1, type, "f", fail_at_row, &remaining, NULL), PAUA_EIO);
            column_writer_close(writer);
            assert_int_equal(dir_list(*state, count_files, &files, NULL), PAUA_OK);
            assert_int_equal(files, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type_and_shape_is_sealed_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_of_several_chunks_are_sealed_as_they_are, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_growing_column_seals_into_what_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_null, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_of_other_rows_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(sealing_chooses_the_smallest_form, setup, teardown),
        cmocka_unit_test_setup_teardown(sealing_without_memory_leaves_no_file, setup, teardown),
        cmocka_unit_test_setup_teardown(opening_without_memory_fails_and_can_be_tried_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(more_than_4_gib_of_a_chunk_are_sealed_as_they_are, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_source_that_fails_leaves_no_file, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
