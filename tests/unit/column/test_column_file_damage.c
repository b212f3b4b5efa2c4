/* test_column_file_damage.c - files of columns that were damaged or forged: refused with a message,
 * or harmless.
 *
 * What is not mapped is read into blocks of its length, so that a sanitizer sees every read beyond.
 * Whatever opens must give every row and filter, without a crash, and be valid. */
#include "sealed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"

#define ROWS 40u
#define FIELDS 7u

struct fixture {
    struct dir *dir;
    struct naive fields[FIELDS];
    struct file_ref ref;
    struct sealed_parts parts;
    uint8_t *bytes; /* of the file */
};

static int setup(void **state)
{
    static const struct {
        uint32_t type;
        enum naive_shape shape;
    } kinds[FIELDS] = {
        {PAUA_TYPE_STRING, SHAPE_FEW},     {PAUA_TYPE_INT8, SHAPE_FEW},
        {PAUA_TYPE_INT64, SHAPE_DISTINCT}, {PAUA_TYPE_MIXED, SHAPE_SPARSE},
        {PAUA_TYPE_UINT64, SHAPE_SPARSE},  {PAUA_TYPE_ARRAY | PAUA_TYPE_STRING, SHAPE_DENSE},
        {PAUA_TYPE_BOOL, SHAPE_CONSTANT}};
    struct fixture *f = calloc(1, sizeof *f);
    int fd;

    assert_non_null(f);
    assert_int_equal(dir_open_memory(&f->dir, NULL), PAUA_OK);
    for (uint32_t i = 0; i < FIELDS; i++)
        naive_make(&f->fields[i], i + 1, kinds[i].type, kinds[i].shape, ROWS);
    assert_int_equal(sealed_write(f->dir, f->fields, FIELDS, &f->ref, NULL), PAUA_OK);
    sealed_take(f->dir, &f->ref, &f->parts);
    f->bytes = malloc((size_t)f->ref.nbytes);
    assert_non_null(f->bytes);
    assert_int_equal(dir_open_file(f->dir, SEALED_NAME, DIR_READ, &fd, NULL), PAUA_OK);
    assert_int_equal(fd_pread(fd, SEALED_NAME, f->bytes, (size_t)f->ref.nbytes, 0, NULL), PAUA_OK);
    fd_close(fd);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    for (uint32_t i = 0; i < FIELDS; i++)
        naive_free(&f->fields[i]);
    sealed_free(&f->parts);
    dir_close(f->dir);
    free(f->bytes);
    free(f);
    return 0;
}

static void rewrite(const struct fixture *f, const uint8_t *bytes, size_t nbytes)
{
    int fd;

    assert_int_equal(dir_open_file(f->dir, SEALED_NAME, DIR_WRITE, &fd, NULL), PAUA_OK);
    assert_int_equal(ftruncate(fd, (off_t)nbytes), 0);
    assert_int_equal(fd_pwrite(fd, SEALED_NAME, bytes, nbytes, 0, NULL), PAUA_OK);
    fd_close(fd);
}

/* Reads and filters all of a column that has been opened. */
static void use(const struct column_view *view)
{
    static const struct key_range all = {1, UINT64_MAX - 1};
    struct column_test tests[] = {
        {.kind = TEST_NULL},
        {.kind = TEST_NOT_NULL},
        {.kind = TEST_KEYS, .ranges = &all, .range_count = 1},
        {.kind = TEST_BYTES, .low = {"value", 5}},
    };
    struct match_scratch scratch = {0};
    struct cell cells[ROWS];
    uint64_t bitmap[1 + ROWS / 64];

    assert_null(column_validate(view));
    column_cells(view, 0, ROWS, cells);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (i < 2 || type_is_number(view->type) == (i == 2))
            assert_int_equal(column_match(view, NULL, 0, &tests[i], ROWS, bitmap, &scratch),
                             PAUA_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        paua_value value = value_of_cell(view->type, &cells[row]);

        for (uint32_t i = 0; i < value.count && value.stored; i++)
            paua_value_item(&value, i);
    }
    match_scratch_free(&scratch);
}

/* Opens the file and its columns: the worst status; what opens is used. */
static paua_status open_all(const struct fixture *f, const struct file_ref *ref)
{
    paua_status worst = PAUA_OK, status;
    struct column_file *file = NULL;
    const struct column_file_field *fields;
    paua_error err = {0};
    uint32_t count;

    status = sealed_open(f->dir, ref, ROWS, false, &file, &err);
    if (status != PAUA_OK) {
        assert_null(file);
        assert_non_null(strstr(err.message, SEALED_NAME));
        return status;
    }
    fields = column_file_fields(file, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct column_view *view = NULL;

        status = column_file_column(file, fields[i].id, &view, &err);
        if (status == PAUA_OK) {
            use(view);
        } else {
            assert_null(view);
            assert_non_null(strstr(err.message, SEALED_NAME));
            worst = status;
        }
    }
    column_file_unref(file);
    return worst;
}

/* Padding between arrays is covered by checksums, as all is. */
static void every_flipped_bit_is_refused(void **state)
{
    const struct fixture *f = *state;
    uint8_t *bytes = mem_dup(f->bytes, (size_t)f->ref.nbytes);

    assert_non_null(bytes);
    for (size_t at = 0; at < f->ref.nbytes; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[at] ^= (uint8_t)(1u << bit);
            rewrite(f, bytes, (size_t)f->ref.nbytes);
            if (open_all(f, &f->ref) == PAUA_OK) fail_msg("bit %u of byte %zu", bit, at);
            bytes[at] ^= (uint8_t)(1u << bit);
        }
    }
    rewrite(f, bytes, (size_t)f->ref.nbytes);
    assert_int_equal(open_all(f, &f->ref), PAUA_OK);
    mem_free(bytes);
}

static void every_other_length_is_refused(void **state)
{
    const struct fixture *f = *state;
    size_t nbytes = (size_t)f->ref.nbytes;
    uint8_t *longer = mem_zalloc(nbytes + 70, 1);

    assert_non_null(longer);
    memcpy(longer, f->bytes, nbytes);
    for (size_t length = 0; length < nbytes + 70; length++) {
        struct file_ref ref = f->ref;

        if (length == nbytes) continue;
        rewrite(f, longer, length);
        assert_true(open_all(f, &ref) != PAUA_OK);
        ref.nbytes = length;
        assert_true(open_all(f, &ref) != PAUA_OK);
    }
    mem_free(longer);
}

/* With good checksums only a look at what the columns say can tell: refused or harmless. */
static void forged_columns_are_refused_or_harmless(void **state)
{
    struct fixture *f = *state;
    unsigned refused = 0;

    for (size_t at = 0; at < f->parts.columns_nbytes; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct file_ref ref;
            paua_status status;

            f->parts.columns[at] ^= (uint8_t)(1u << bit);
            ref = sealed_put(f->dir, &f->parts);
            status = open_all(f, &ref);
            assert_true(status == PAUA_OK || status == PAUA_ECORRUPT);
            refused += status != PAUA_OK;
            f->parts.columns[at] ^= (uint8_t)(1u << bit);
        }
    }
    assert_true(refused > f->parts.columns_nbytes);
}

static void forged_directories_are_refused_or_harmless(void **state)
{
    struct fixture *f = *state;
    unsigned refused = 0;

    for (size_t at = 12; at < f->parts.directory_nbytes; at++) {
        for (unsigned bit = 0; bit < 9; bit++) {
            uint8_t kept = f->parts.directory[at];
            struct file_ref ref;
            paua_status status;

            f->parts.directory[at] = (uint8_t)(bit < 8 ? kept ^ 1u << bit : 0xFF);
            ref = sealed_put(f->dir, &f->parts);
            status = open_all(f, &ref);
            assert_true(status == PAUA_OK || status == PAUA_ECORRUPT);
            refused += status != PAUA_OK;
            f->parts.directory[at] = kept;
        }
    }
    assert_true(refused > 6 * f->parts.directory_nbytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_flipped_bit_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(every_other_length_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(forged_columns_are_refused_or_harmless, setup, teardown),
        cmocka_unit_test_setup_teardown(forged_directories_are_refused_or_harmless, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
