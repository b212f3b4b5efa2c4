/* test_key_index.c - key files: each key leads to its row, no other does, and damage is noticed. */
#include "support/support.h"

#include <stdio.h>

#include "base/error.h"
#include "db/files.h"
#include "db/key_index.h"

#define ROWS_MAX 5000u

static const uint32_t counts[] = {1, 2, 15, 16, 17, 33, ROWS_MAX};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct fixture {
    struct dir *dir;
    struct schema schema;
    struct data_file *file;
    struct file_ref ref;
    uint32_t rows;
    uint32_t asked[ROWS_MAX]; /* how often each key was asked for */
};

/* The key of a row: short and long strings, numbers near both ends, vectors of 3 halves. */
static struct key key_of(paua_key_kind kind, uint32_t row, struct writer *scratch)
{
    char text[1100];
    int length;

    scratch->length = 0;
    if (kind == PAUA_KEY_U64) {
        writer_u64(scratch, row % 2 == 0 ? row : UINT64_MAX - row);
    } else if (kind == PAUA_KEY_STRING) {
        length = snprintf(text, sizeof text, "%u%0*d", row, row % 61 == 0 ? 1000 : 1, 0);
        writer_bytes(scratch, text, (size_t)length);
    } else {
        writer_u16(scratch, (uint16_t)row);
        writer_u32(scratch, row * 7);
    }
    assert_false(scratch->failed);
    return (struct key){scratch->bytes, scratch->length};
}

static paua_status source(void *arg, uint32_t row, struct writer *scratch, struct key *key,
                          paua_error *err)
{
    struct fixture *f = arg;

    (void)err;
    assert_true(row < f->rows);
    f->asked[row]++;
    *key = key_of(f->schema.key_kind, row, scratch);
    return PAUA_OK;
}

static void fixture_make(struct fixture *f, paua_key_kind kind, uint32_t rows, bool no_mmap)
{
    struct data_file_opts opts = {.no_mmap = no_mmap};
    struct file_writer *writer;
    struct file_footer footer = {.row_count = rows};
    struct file_header header;

    *f = (struct fixture){.rows = rows};
    f->schema = (struct schema){.collection = 3, .name = "c", .key_kind = kind, .field_count = 1};
    f->schema.fields[0] = (struct schema_field){.name = "v",
                                                .dim = 3,
                                                .metric = PAUA_L2,
                                                .precision = PAUA_FP16,
                                                .originals = PAUA_ORIGINALS_FP16};
    header = files_keys_header(&f->schema, 9);
    assert_ok(dir_open_memory(&f->dir, &test_err));
    assert_ok(file_writer_create(f->dir, &header, true, &writer, &test_err));
    assert_ok(key_index_write(&f->schema, writer, rows, source, f, &footer, &test_err));
    assert_ok(file_writer_seal(writer, &footer, &f->ref, &test_err));
    file_writer_close(writer);
    assert_ok(data_file_open_sealed(f->dir, &header, &f->ref, opts, &f->file, &test_err));
    assert_ok(key_index_check(&f->schema, f->file, rows, &test_err));
}

static void fixture_free(struct fixture *f)
{
    data_file_unref(f->file);
    dir_close(f->dir);
}

struct match {
    const struct fixture *f;
    struct key wanted;
    struct writer scratch;
    uint32_t row, calls;
};

static paua_status match_key(void *arg, uint32_t row, bool *found, paua_error *err)
{
    struct match *m = arg;

    (void)err;
    m->calls++;
    *found = key_equal(m->wanted, key_of(m->f->schema.key_kind, row, &m->scratch));
    if (*found) m->row = row;
    return PAUA_OK;
}

/* The row that a look-up gives, and in *calls how many rows it looked at. */
static uint32_t probe(const struct fixture *f, struct key key, uint32_t *calls)
{
    struct match m = {.f = f, .wanted = key, .row = UINT32_MAX};

    assert_ok(key_index_probe(f->file, key_hash(key), match_key, &m, &test_err));
    writer_free(&m.scratch);
    *calls = m.calls;
    return m.row;
}

/* Calls each(fixture) for every kind, count and way of reading. */
static void fixtures_each(void (*each)(struct fixture *f))
{
    static struct fixture f;

    for (int kind = PAUA_KEY_U64; kind <= PAUA_KEY_VECTOR; kind++)
        for (size_t i = 0; i < COUNT(counts); i++)
            for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
                fixture_make(&f, (paua_key_kind)kind, counts[i], no_mmap != 0);
                each(&f);
                fixture_free(&f);
            }
}

static void keys_found(struct fixture *f)
{
    struct writer scratch = {0};
    uint32_t calls, total = 0;

    for (uint32_t row = 0; row < f->rows; row++) {
        assert_int_equal(probe(f, key_of(f->schema.key_kind, row, &scratch), &calls), row);
        total += calls;
        assert_true(f->asked[row] <= 3);
    }
    assert_true(total <= f->rows + f->rows / 100 + 3); /* hardly a false match */
    writer_free(&scratch);
}

static void every_key_leads_to_its_row(void **state)
{
    (void)state;
    fixtures_each(keys_found);
}

static void strangers(struct fixture *f)
{
    struct writer scratch = {0};
    uint32_t calls, total = 0;

    for (uint32_t row = f->rows; row < f->rows + 2000; row++) {
        assert_int_equal(probe(f, key_of(f->schema.key_kind, row, &scratch), &calls), UINT32_MAX);
        total += calls;
    }
    assert_true(total <= 20); /* one in 4,096 tags is a false match */
    writer_free(&scratch);
}

static void no_other_key_leads_to_a_row(void **state)
{
    (void)state;
    fixtures_each(strangers);
}

static void keys_read(struct fixture *f)
{
    struct writer scratch = {0}, wanted = {0};

    if (f->schema.key_kind == PAUA_KEY_VECTOR) return; /* kept with the vectors alone */
    for (uint32_t row = 0; row < f->rows; row++) {
        struct key key;

        assert_ok(key_index_key(&f->schema, f->file, row, &scratch, &key, &test_err));
        assert_true(key_equal(key, key_of(f->schema.key_kind, row, &wanted)));
    }
    writer_free(&scratch);
    writer_free(&wanted);
}

static void the_key_of_a_row_is_byte_for_byte_what_was_written(void **state)
{
    (void)state;
    fixtures_each(keys_read);
}

static void wrong_counts(struct fixture *f)
{
    assert_fails(key_index_check(&f->schema, f->file, f->rows + 1, &test_err), PAUA_ECORRUPT);
    if (f->rows > 1)
        assert_fails(key_index_check(&f->schema, f->file, f->rows - 1, &test_err), PAUA_ECORRUPT);
}

static void a_file_of_another_number_of_rows_is_refused(void **state)
{
    (void)state;
    fixtures_each(wrong_counts);
}

static void a_file_of_another_kind_of_key_is_refused(void **state)
{
    static struct fixture f;
    struct schema other;

    (void)state;
    fixture_make(&f, PAUA_KEY_VECTOR, 20, false);
    other = f.schema;
    other.key_kind = PAUA_KEY_STRING;
    assert_fails(key_index_check(&other, f.file, 20, &test_err), PAUA_ECORRUPT);
    other.key_kind = PAUA_KEY_U64;
    assert_fails(key_index_check(&other, f.file, 20, &test_err), PAUA_ECORRUPT);
    fixture_free(&f);
}

static paua_status failing_source(void *arg, uint32_t row, struct writer *scratch, struct key *key,
                                  paua_error *err)
{
    if (row == 3) return error_set(err, PAUA_EIO, "no such luck");
    return source(arg, row, scratch, key, err);
}

static void a_key_that_cannot_be_read_ends_the_writing(void **state)
{
    static struct fixture f;
    struct file_footer footer = {.row_count = 5};
    struct file_writer *writer;
    struct file_header header;

    (void)state;
    fixture_make(&f, PAUA_KEY_U64, 5, false);
    header = files_keys_header(&f.schema, 10);
    assert_ok(file_writer_create(f.dir, &header, true, &writer, &test_err));
    assert_fails(key_index_write(&f.schema, writer, 5, failing_source, &f, &footer, &test_err),
                 PAUA_EIO);
    file_writer_close(writer);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_leads_to_its_row),
        cmocka_unit_test(no_other_key_leads_to_a_row),
        cmocka_unit_test(the_key_of_a_row_is_byte_for_byte_what_was_written),
        cmocka_unit_test(a_file_of_another_number_of_rows_is_refused),
        cmocka_unit_test(a_file_of_another_kind_of_key_is_refused),
        cmocka_unit_test(a_key_that_cannot_be_read_ends_the_writing),
    };

    return cmocka_run_group_tests_name("db/key_index", tests, NULL, NULL);
}
