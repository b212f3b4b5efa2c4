/* test_golden_recorded.c - the database with histories that an earlier version wrote is read,
 * searched, checked, written on, and made anew without its catalogue. It is copied first: what is
 * committed never changes.
 *
 *   test_golden_recorded DIRECTORY */
#include "golden/recorded_rows.h"
#include "golden/same_rows.h"

#include <stdio.h>
#include <unistd.h>

static const char *folder;

struct fixture {
    struct test_dir dir; /* a copy, in "copy" below it */
    char path[128];
    paua_db *db;
};

static void reopen(struct fixture *f, bool read_only)
{
    const paua_open_opts opts = {
        .size = sizeof opts, .read_only = read_only, .durability = PAUA_OFF, .no_background = true};

    assert_ok(paua_open(f->path, &opts, &f->db, &test_err));
}

static void begin(struct fixture *f, bool read_only)
{
    char from[512];

    test_dir_make(&f->dir);
    snprintf(from, sizeof from, "%s/recorded-v1", folder);
    snprintf(f->path, sizeof f->path, "%s/copy", f->dir.path);
    test_dir_copy(from, f->path);
    reopen(f, read_only);
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

    paua_close(f->db);
    assert_ok(paua_check(f->path, &opts, &test_err));
    assert_int_equal(findings, 0);
    test_dir_remove(&f->dir);
}

static paua_db_history *open_history(struct fixture *f, const char *name, bool read_only)
{
    const paua_db_history_opts opts = {.size = sizeof opts, .read_only = read_only};
    paua_db_history *h;

    assert_ok(paua_db_history_open(f->db, name, &opts, &h, &test_err));
    return h;
}

/* Its first rows are the first `count` of the golden ones. */
static void assert_every(struct fixture *f, uint64_t count, uint64_t rows)
{
    paua_history *golden = golden_rows(folder);
    paua_db_history *h = open_history(f, GOLDEN_EVERY, true);
    paua_history_view *v, *w;

    assert_ok(paua_history_view_open(golden, &w, &test_err));
    assert_ok(paua_db_history_view_open(h, &v, &test_err));
    assert_int_equal(paua_history_view_rows(v), rows);
    for (uint64_t i = 0; i < count; i++) {
        paua_history_row a, b;

        assert_ok(paua_history_view_row(v, i, &a, &test_err));
        assert_ok(paua_history_view_row(w, i, &b, &test_err));
        assert_rows_same(&a, &b);
    }
    paua_history_view_close(v);
    paua_history_view_close(w);
    paua_history_close(golden);
    paua_db_history_close(h);
}

/* Lines first .. last, and no others. */
static void assert_lines(struct fixture *f, uint64_t first, uint64_t last)
{
    paua_db_history *h = open_history(f, GOLDEN_TRIMMED, true);
    paua_history_view *v;

    assert_ok(paua_db_history_view_open(h, &v, &test_err));
    assert_int_equal(paua_history_view_rows(v), last - first + 1);
    for (uint64_t i = first; i <= last; i++) {
        char text[32];
        paua_history_new_row line = golden_line(i, text);
        paua_history_row row;

        assert_ok(paua_history_view_row(v, i - first, &row, &test_err));
        assert_int_equal(row.id, i);
        assert_int_equal(row.time_ms, line.time_ms);
        assert_int_equal(row.text_nbytes, line.text_nbytes);
        assert_memory_equal(row.text, text, row.text_nbytes);
    }
    paua_history_view_close(v);
    paua_db_history_close(h);
}

static void golden_histories_are_read_as_they_were_written(void **state)
{
    struct fixture f;
    paua_db_history_info info = {.size = sizeof info};
    paua_db_history *h;

    (void)state;
    begin(&f, true);
    assert_every(&f, GOLDEN_EVERY_ROWS, GOLDEN_EVERY_ROWS);
    assert_lines(&f, GOLDEN_TRIMMED_LAST - GOLDEN_TRIMMED_ROWS + 1, GOLDEN_TRIMMED_LAST);
    h = open_history(&f, GOLDEN_EVERY, true);
    assert_ok(paua_db_history_get_info(h, &info, &test_err));
    assert_int_equal(info.page_rows, GOLDEN_EVERY_PAGE_ROWS);
    assert_true(info.pages > 8 && info.files == 1 && info.tail_nbytes > 0);
    assert_int_equal(info.damaged_rows, 0);
    paua_db_history_close(h);
    h = open_history(&f, GOLDEN_TRIMMED, true);
    assert_ok(paua_db_history_get_info(h, &info, &test_err));
    assert_int_equal(info.limits.max_rows, GOLDEN_TRIMMED_ROWS);
    paua_db_history_close(h);
    end(&f);
}

static void golden_histories_are_written_on(void **state)
{
    struct fixture f;
    paua_db_history *h;
    char text[32];
    paua_history_new_row row;

    (void)state;
    begin(&f, false);
    h = open_history(&f, GOLDEN_EVERY, false);
    for (uint64_t i = 0; i < 200; i++) {
        row = golden_line(1000000 + i, text);
        assert_ok(paua_db_history_append(h, &row, 1, NULL, &test_err));
    }
    paua_db_history_close(h);
    h = open_history(&f, GOLDEN_TRIMMED, false);
    row = golden_line(GOLDEN_TRIMMED_LAST + 1, text);
    assert_ok(paua_db_history_append(h, &row, 1, NULL, &test_err));
    paua_db_history_close(h);
    paua_close(f.db);
    reopen(&f, true);
    assert_every(&f, GOLDEN_EVERY_ROWS, GOLDEN_EVERY_ROWS + 200);
    assert_lines(&f, GOLDEN_TRIMMED_LAST - GOLDEN_TRIMMED_ROWS + 2, GOLDEN_TRIMMED_LAST + 1);
    end(&f);
}

static void golden_histories_are_found_again_without_the_catalogue(void **state)
{
    static const char *const PARTS[] = {"", "-wal", "-shm"};
    const paua_check_opts opts = {.size = sizeof opts, .rebuild = true};
    struct fixture f;

    (void)state;
    begin(&f, false);
    paua_close(f.db);
    for (size_t i = 0; i < 3; i++) {
        char path[160];

        snprintf(path, sizeof path, "%s/catalog.sqlite%s", f.path, PARTS[i]);
        unlink(path);
    }
    assert_ok(paua_check(f.path, &opts, &test_err));
    reopen(&f, true);
    assert_every(&f, GOLDEN_EVERY_ROWS - 1, GOLDEN_EVERY_ROWS - 1);
    paua_db_history_close(open_history(&f, GOLDEN_TRIMMED, true));
    end(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_histories_are_read_as_they_were_written),
        cmocka_unit_test(golden_histories_are_written_on),
        cmocka_unit_test(golden_histories_are_found_again_without_the_catalogue),
    };

    if (argc != 2) {
        fprintf(stderr, "usage: test_golden_recorded DIRECTORY\n");
        return 2;
    }
    folder = argv[1];
    return cmocka_run_group_tests_name("golden/recorded", tests, NULL, NULL);
}
