/* test_golden_values.c - the database with indexes of fields that an earlier version wrote: its
 * indexes are read and checked, answer filters, and are built anew. It is copied first: what is
 * committed never changes.
 *
 * So few rows are scanned rather than looked up; the linker puts __wrap_value_index_match() in
 * place of value_index_match(), which leaves that estimate out and counts. */
#include "golden/value_rows.h"

#include "index/value_index.h"

static const char *golden_folder;
static uint32_t answers; /* of indexes */

paua_status __wrap_value_index_match(const struct value_index *index,
                                     const struct column_view *view, const struct column_test *test,
                                     uint64_t *bitmap, bool *done, paua_error *err);

paua_status __wrap_value_index_match(const struct value_index *index,
                                     const struct column_view *view, const struct column_test *test,
                                     uint64_t *bitmap, bool *done, paua_error *err)
{
    paua_status status = value_index_find(index, view, test, bitmap, done, err);

    answers += status == PAUA_OK && *done;
    return status;
}

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
    snprintf(from, sizeof from, "%s/values-v1", golden_folder);
    snprintf(f->path, sizeof f->path, "%s/copy", f->dir.path);
    test_dir_copy(from, f->path);
    assert_ok(paua_open(f->path, &opts, &f->db, &test_err));
    assert_ok(paua_collection_open(f->db, "values", &f->c, &test_err));
}

static void end(struct fixture *f)
{
    test_validate(f->c);
    paua_collection_close(f->c);
    paua_close(f->db);
    assert_ok(paua_check(f->path, NULL, &test_err));
    test_dir_remove(&f->dir);
}

/* By an index, and as often as `holds` says. */
static void expect_count(paua_collection *c, const char *text, bool (*holds)(uint32_t row))
{
    uint32_t before = answers;
    paua_filter *filter;
    uint64_t count, want = 0;

    for (uint32_t row = 0; row < GOLDEN_VALUE_ROWS; row++)
        want += holds(row);
    assert_true(want > 0);
    assert_ok(paua_filter_parse(text, strlen(text), &filter, &test_err));
    assert_ok(paua_count(c, filter, &count, &test_err));
    assert_int_equal(count, want);
    assert_true(answers > before);
    paua_filter_free(filter);
}

static bool few_is(uint32_t row)
{
    return golden_few(row).type != PAUA_TYPE_NULL && golden_few(row).as.i64 == -2;
}
static bool few_below(uint32_t row)
{
    return golden_few(row).type != PAUA_TYPE_NULL && golden_few(row).as.i64 < 1;
}
static bool many_between(uint32_t row)
{
    return golden_many(row).as.f64 >= -1.5 && golden_many(row).as.f64 <= 20.25;
}
static bool text_four(uint32_t row) { return row % 4 == 0; }
static bool text_one(uint32_t row) { return row == 1001 || row == 7 || row == 333; }

static void expect_answers(paua_collection *c)
{
    expect_count(c, "few = -2", few_is);
    expect_count(c, "few < 1", few_below);
    expect_count(c, "many BETWEEN -1.5 AND 20.25", many_between);
    expect_count(c, "text = '4'", text_four);
    expect_count(c, "text IN ('1001', '7', '333', 'none')", text_one);
}

static void expect_covered(void *arg, const paua_index *index)
{
    assert_int_equal(index->rows, GOLDEN_VALUE_ROWS);
    assert_int_equal(index->rows_due, 0);
    ++*(uint32_t *)arg;
}

static void expect_indexes(paua_collection *c)
{
    uint32_t count = 0;

    assert_ok(paua_index_list(c, expect_covered, &count, &test_err));
    assert_int_equal(count, 3);
}

static void indexes_answer_as_they_were_written(void **state)
{
    struct fixture f;

    (void)state;
    for (uint32_t way = 0; way < 4; way++) {
        begin(&f, way % 2 == 0, way / 2 == 0);
        expect_indexes(f.c);
        expect_answers(f.c);
        end(&f);
    }
}

/* A value is changed and changed back, with a fold after each. */
static void indexes_are_built_anew_after_a_change(void **state)
{
    const paua_value few[] = {{.type = PAUA_TYPE_INT8, .as.i64 = 3}, golden_few(8)};
    const uint64_t key = 8;
    struct fixture f;

    (void)state;
    begin(&f, false, false);
    for (uint32_t i = 0; i < 2; i++) {
        const paua_column column = {"few", &few[i]};
        paua_rows rows = test_rows(test_u64(&key, 1), NULL, NULL);

        rows.columns = &column;
        rows.column_count = 1;
        assert_ok(paua_update(f.c, &rows, NULL, NULL, &test_err));
        assert_ok(paua_optimize(f.c, NULL, &test_err));
    }
    expect_indexes(f.c);
    expect_answers(f.c);
    end(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_answer_as_they_were_written),
        cmocka_unit_test(indexes_are_built_anew_after_a_change),
    };

    if (argc != 2) return 2;
    golden_folder = argv[1];
    return cmocka_run_group_tests_name("golden/values", tests, NULL, NULL);
}
