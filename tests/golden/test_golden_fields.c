/* test_golden_fields.c - the database with fields that an earlier version wrote is read, filtered,
 * checked, and written on. It is copied first: what is committed never changes. */
#include "golden/field_rows.h"

#include <stdio.h>

static const char *golden_folder;

struct fixture {
    struct test_dir dir; /* a copy, in "copy" below it */
    char path[128];
    paua_db *db;
    paua_collection *c;
};

static void begin(struct fixture *f, bool read_only, bool no_mmap)
{
    const paua_open_opts opts = {.size = sizeof opts,
                                 .read_only = read_only,
                                 .no_mmap = no_mmap,
                                 .durability = PAUA_OFF,
                                 .no_background = true};
    char from[512];

    test_dir_make(&f->dir);
    snprintf(from, sizeof from, "%s/fields-v1", golden_folder);
    snprintf(f->path, sizeof f->path, "%s/copy", f->dir.path);
    test_dir_copy(from, f->path);
    assert_ok(paua_open(f->path, &opts, &f->db, &test_err));
    assert_ok(paua_collection_open(f->db, "fields", &f->c, &test_err));
}

static void finding_print(void *arg, const paua_finding *finding)
{
    ++*(uint32_t *)arg;
    print_error("%s: %s\n", finding->file, finding->what);
}

static void end(struct fixture *f)
{
    uint32_t findings = 0;
    const paua_check_opts opts = {
        .size = sizeof opts, .finding = finding_print, .finding_arg = &findings};

    test_validate(f->c);
    paua_collection_close(f->c);
    paua_close(f->db);
    assert_ok(paua_check(f->path, &opts, &test_err));
    assert_int_equal(findings, 0);
    test_dir_remove(&f->dir);
}

static void expect_bytes(const paua_value *value, const paua_value *want)
{
    assert_int_equal(value->as.bytes.nbytes, want->as.bytes.nbytes);
    assert_memory_equal(value->as.bytes.data, want->as.bytes.data, want->as.bytes.nbytes);
}

static void expect_cell(const paua_value *value, const paua_value *want)
{
    assert_int_equal(value->type, want->type);
    if (want->type == PAUA_TYPE_INT32 || want->type == PAUA_TYPE_TIMESTAMP)
        assert_true(value->as.i64 == want->as.i64);
    else if (want->type == PAUA_TYPE_DOUBLE)
        assert_true(value->as.f64 == want->as.f64);
    else if (want->type == PAUA_TYPE_STRING || want->type == PAUA_TYPE_BYTES)
        expect_bytes(value, want);
    if ((want->type & PAUA_TYPE_ARRAY) == 0) return;
    assert_int_equal(value->count, want->count);
    for (uint32_t i = 0; i < want->count; i++) {
        paua_value item = paua_value_item(value, i);

        expect_bytes(&item, &want->as.items[i]);
    }
}

static void expect_rows(paua_collection *c)
{
    const paua_record *record;
    const paua_field *fields;
    paua_cursor *cursor;
    size_t count;

    assert_ok(paua_iterate(c, NULL, &cursor, &test_err));
    fields = paua_cursor_fields(cursor, &count);
    assert_int_equal(count, GOLDEN_FIELDS);
    for (uint32_t f = 0; f < GOLDEN_FIELDS; f++) {
        assert_string_equal(fields[f].name, golden_fields[f].name);
        assert_int_equal(fields[f].type, golden_fields[f].type);
    }
    for (uint32_t row = 0; row < GOLDEN_FIELD_ROWS; row++) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        assert_true(record != NULL && record->key.u64 == row);
        for (uint32_t f = 0; f < GOLDEN_FIELDS; f++) {
            struct golden_room room;
            paua_value want = golden_value(f, row, f < 2, &room);

            expect_cell(&record->values[f], &want);
        }
    }
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_null(record);
    paua_cursor_close(cursor);
}

static void expect_count(paua_collection *c, const char *text, uint64_t want)
{
    paua_filter *filter;
    uint64_t count;

    assert_ok(paua_filter_parse(text, strlen(text), &filter, &test_err));
    assert_ok(paua_count(c, filter, &count, &test_err));
    assert_int_equal(count, want);
    paua_filter_free(filter);
}

static void expect_all(paua_collection *c)
{
    expect_rows(c);
    expect_count(c, "n < -700", 7);
    expect_count(c, "text LIKE 'patched%'", 7);
    expect_count(c, "extra = 'either' OR extra = X'656974686572'", 51);
    expect_count(c, "real IS NULL", 8);
}

static void a_database_with_fields_reads_as_it_was_written(void **state)
{
    struct fixture f;

    (void)state;
    for (uint32_t way = 0; way < 4; way++) {
        begin(&f, way % 2 == 0, way / 2 == 0);
        expect_all(f.c);
        end(&f);
    }
}

static void a_database_with_fields_can_be_written_on_and_optimized(void **state)
{
    const paua_value n = {.type = PAUA_TYPE_INT32, .as.i64 = 3 * 20 - 50};
    const paua_value other = {.type = PAUA_TYPE_INT32, .as.i64 = 5};
    const paua_value *const turns[] = {&other, &n};
    const uint64_t key = 20;
    struct fixture f;

    (void)state;
    begin(&f, false, false);
    for (uint32_t i = 0; i < 2; i++) {
        const paua_column column = {"n", turns[i]};
        paua_rows rows = test_rows(test_u64(&key, 1), NULL, NULL);

        rows.columns = &column;
        rows.column_count = 1;
        assert_ok(paua_update(f.c, &rows, NULL, NULL, &test_err));
        assert_ok(paua_optimize(f.c, NULL, &test_err));
    }
    expect_all(f.c);
    end(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_with_fields_reads_as_it_was_written),
        cmocka_unit_test(a_database_with_fields_can_be_written_on_and_optimized),
    };

    if (argc != 2) return 2;
    golden_folder = argv[1];
    return cmocka_run_group_tests_name("golden/fields", tests, NULL, NULL);
}
