/* values_fixture.c - see values_fixture.h. */
#include "values_fixture.h"

/* Values 0 to 4 in the first 40 rows, some of them NULL; then values of which each has one row. */
static void fill(struct naive *naive)
{
    naive_make(naive, 1, PAUA_TYPE_INT16, SHAPE_CONSTANT, VALUES_ROWS);
    for (uint32_t row = 0; row < VALUES_ROWS; row++)
        naive->cells[row] =
            (struct cell){.present = row % 11 != 5,
                          .key = key_of_int(row < 40 ? row * 7 % 5 : 100 - (int64_t)row)};
}

int values_setup(void **state)
{
    struct values_fixture *f = calloc(1, sizeof *f);
    struct file_ref ref;

    assert_non_null(f);
    temp_open(&f->temp, true);
    sys_skip_syncs();
    fill(&f->naive);
    assert_int_equal(sealed_write(f->temp.dir, &f->naive, 1, &ref, NULL), PAUA_OK);
    assert_int_equal(sealed_open(f->temp.dir, &ref, VALUES_ROWS, true, &f->columns, NULL), PAUA_OK);
    assert_int_equal(column_file_column(f->columns, sealed_id(0), &f->view, NULL), PAUA_OK);
    for (int i = 0; i < 2; i++) {
        struct values_written *w = &f->written[i];

        w->kind = VALUES_KINDS[i];
        assert_int_equal(values_write(f->temp.dir, f->view, VALUES_ROWS, w->kind, &w->ref, NULL),
                         PAUA_OK);
        w->bytes = temp_read(&f->temp, VALUES_NAME);
    }
    *state = f;
    return 0;
}

int values_teardown(void **state)
{
    struct values_fixture *f = *state;

    for (int i = 0; i < 2; i++)
        free(f->written[i].bytes.data);
    column_file_unref(f->columns);
    naive_free(&f->naive);
    temp_close(&f->temp);
    free(f);
    return 0;
}

void values_restore(const struct values_fixture *f, const struct values_written *w)
{
    temp_write(&f->temp, VALUES_NAME, w->bytes.data, w->bytes.nbytes);
}

const char *values_fault(const struct values_fixture *f, const struct value_index *index)
{
    const char *wrong = "";

    assert_int_equal(value_index_validate(index, f->view, &wrong), PAUA_OK);
    return wrong;
}

void values_use(struct values_fixture *f, const struct value_index *index, uint64_t seed)
{
    struct naive_bounds bounds;
    struct column_test test;
    uint64_t bitmap[1];

    if (values_fault(f, index) == NULL) {
        values_check(index, f->view, &f->naive, seed, 4);
        return;
    }
    for (int i = 0; i < 6; i++) {
        paua_error err = {0};
        paua_status status;
        bool done;

        naive_test(&f->naive, &seed, &bounds, &test);
        status = value_index_find(index, f->view, &test, bitmap, &done, &err);
        assert_true(status == PAUA_OK || status == PAUA_ECORRUPT);
        if (status == PAUA_ECORRUPT) assert_non_null(strstr(err.message, VALUES_NAME));
        if (status == PAUA_OK && done) assert_true(bitmap[0] >> VALUES_ROWS == 0);
    }
}

paua_status values_open_any_way(struct values_fixture *f, const struct file_ref *ref,
                                paua_verify verify)
{
    struct values_as as = {.no_mmap = true, .verify = verify};
    struct value_index *index = NULL;
    paua_error err = {0};
    paua_status status = values_open(f->temp.dir, ref, VALUES_ROWS, as, &index, &err);

    if (status == PAUA_OK) {
        values_use(f, index, ref->footer_crc);
        value_index_unref(index);
        return PAUA_OK;
    }
    assert_null(index);
    assert_non_null(strstr(err.message, VALUES_NAME));
    assert_true(status == PAUA_ECORRUPT || status == PAUA_EVERSION);
    return status;
}

void values_take(const struct values_fixture *f, int i, struct forged *forged)
{
    struct data_file *file;

    values_restore(f, &f->written[i]);
    assert_int_equal(data_file_open_sealed(f->temp.dir, &VALUES_HEADER, &f->written[i].ref,
                                           (struct data_file_opts){0}, &file, NULL),
                     PAUA_OK);
    forge_take(forged, file);
    data_file_unref(file);
    assert_int_equal(forged->count, i == 0 ? 5 : 2);
}

bool values_refused(struct values_fixture *f, const struct forged *forged)
{
    struct file_ref ref = forge_write(forged, f->temp.dir);
    bool refused = values_open_any_way(f, &ref, PAUA_VERIFY_TOUCH) == PAUA_ECORRUPT;

    assert_int_equal(values_open_any_way(f, &ref, PAUA_VERIFY_HEADER) == PAUA_ECORRUPT, refused);
    return refused;
}
