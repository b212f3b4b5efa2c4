/* test_history.c - histories in a database: what is committed, what is found again, who may write.
 */
#include "recorded.h"

#include <pthread.h>
#include <unistd.h>

#include "db/histories.h"

struct fixture {
    struct test_dir dir;
    paua_db *db;
};

static int setup(void **state)
{
    static struct fixture f;

    test_dir_make(&f.dir);
    f.db = test_open(&f.dir);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    paua_close(f->db);
    test_dir_remove(&f->dir);
    return 0;
}

static void reopen(struct fixture *f)
{
    paua_close(f->db);
    f->db = test_open(&f->dir);
}

/* Rows of no page, of one page and its tail, of groups and more. */
static void rows_are_found_again_after_reopening(void **state)
{
    static const uint64_t counts[] = {1, 255, 256, 257, 2048, 2049, 5000};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char name[8] = {(char)('a' + i), 0};
        paua_db_history *h = recorded_open(f->db, name, (paua_db_history_opts){.size = 0});

        recorded_append(h, 0, counts[i]);
        assert_recorded(h, 0, counts[i]);
        paua_db_history_close(h);
        reopen(f);
        h = recorded_open(f->db, name, (paua_db_history_opts){.size = 0});
        assert_recorded(h, 0, counts[i]);
        recorded_append(h, counts[i], 300);
        assert_recorded(h, 0, counts[i] + 300);
        paua_db_history_close(h);
        reopen(f);
        h = recorded_open(f->db, name, (paua_db_history_opts){.read_only = true});
        assert_recorded(h, 0, counts[i] + 300);
        assert_int_equal(recorded_info(h).damaged_rows, 0);
        paua_db_history_close(h);
    }
}

static void a_reader_follows_what_is_committed(void **state)
{
    struct fixture *f = *state;
    paua_db_history *w = recorded_open(f->db, "h", (paua_db_history_opts){.commit_ms = 3600000});
    paua_db_history *r = recorded_open(f->db, "h", (paua_db_history_opts){.read_only = true});
    paua_history_view *view;
    uint64_t rows = 0;

    assert_recorded(r, 0, 0);
    for (uint64_t step = 1; step < 3000; step = step * 2 + 1) {
        recorded_append(w, rows, step);
        assert_ok(paua_db_history_view_open(r, &view, &test_err));
        assert_int_equal(paua_history_view_rows(view), rows);
        assert_ok(paua_db_history_flush(w, &test_err));
        rows += step;
        assert_recorded(r, 0, rows);
        assert_recorded_view(view, 0, rows - step);
        paua_history_view_close(view);
    }
    paua_db_history_close(w);
    assert_recorded(r, 0, rows);
    paua_db_history_close(r);
}

static void rows_that_wait_long_enough_are_committed(void **state)
{
    struct fixture *f = *state;
    paua_db_history *w = recorded_open(f->db, "h", (paua_db_history_opts){.commit_ms = 30});
    paua_db_history *r = recorded_open(f->db, "h", (paua_db_history_opts){.read_only = true});
    uint32_t wait = 0;

    assert_ok(paua_db_history_tick(w, &wait, &test_err));
    assert_int_equal(wait, UINT32_MAX);
    recorded_append(w, 0, 3);
    assert_int_equal(recorded_info(w).waiting_rows, 3);
    while (wait != 0) {
        assert_ok(paua_db_history_tick(w, &wait, &test_err));
        if (wait == UINT32_MAX) break;
        assert_true(wait <= 30);
        usleep(1000 * wait);
    }
    assert_recorded(r, 0, 3);
    paua_db_history_close(r);
    paua_db_history_close(w);
}

static void enough_bytes_are_committed_at_once_and_so_is_every_append_if_asked(void **state)
{
    struct fixture *f = *state;
    paua_db_history *w = recorded_open(
        f->db, "h", (paua_db_history_opts){.commit_ms = 3600000, .commit_nbytes = 99});
    paua_db_history *r = recorded_open(f->db, "h", (paua_db_history_opts){.read_only = true});

    recorded_append(w, 0, 1);
    assert_recorded(r, 0, 0);
    recorded_append(w, 1, 1);
    assert_recorded(r, 0, 2);
    paua_db_history_close(w);
    w = recorded_open(f->db, "h", (paua_db_history_opts){.commit_ms = 3600000, .at_once = true});
    recorded_append(w, 2, 1);
    assert_recorded(r, 0, 3);
    paua_db_history_close(r);
    paua_db_history_close(w);
}

static void a_history_has_one_writer_and_says_which(void **state)
{
    struct fixture *f = *state;
    paua_db_history_opts opts = {.size = sizeof opts, .create = true};
    paua_db_history *w = recorded_open(f->db, "h", opts), *second;
    paua_db *other = test_open(&f->dir);

    assert_fails(paua_db_history_open(f->db, "h", &opts, &second, &test_err), PAUA_EBUSY);
    assert_fails(paua_db_history_open(other, "h", &opts, &second, &test_err), PAUA_EBUSY);
    assert_non_null(strstr(test_err.message, "history h is being written by process"));
    assert_fails(paua_db_history_remove(other, "h", &test_err), PAUA_EBUSY);
    second = recorded_open(other, "i", opts);
    recorded_append(second, 0, 10);
    paua_db_history_close(second);
    paua_db_history_close(w);
    second = recorded_open(other, "h", opts);
    recorded_append(second, 0, 5);
    paua_db_history_close(second);
    w = recorded_open(f->db, "h", opts);
    assert_recorded(w, 0, 5);
    paua_db_history_close(w);
    paua_close(other);
}

static void a_private_history_never_reaches_the_disk(void **state)
{
    struct fixture *f = *state;
    paua_db_history *h = recorded_open(f->db, "secret", (paua_db_history_opts){.is_private = true});
    paua_db_history_opts opts = {.size = sizeof opts, .read_only = true};
    paua_db_history *other;
    uint64_t before = test_dir_nbytes(&f->dir);

    recorded_append(h, 0, 3000);
    assert_ok(paua_db_history_flush(h, &test_err));
    assert_recorded(h, 0, 3000);
    assert_true(recorded_info(h).is_private);
    assert_int_equal(test_dir_nbytes(&f->dir), before);
    assert_fails(paua_db_history_open(f->db, "secret", &opts, &other, &test_err), PAUA_ENOTFOUND);
    paua_db_history_close(h);
}

static void limits_in_rows_and_age_are_kept_row_by_row(void **state)
{
    struct fixture *f = *state;
    paua_db_history *h =
        recorded_open(f->db, "h", (paua_db_history_opts){.limits = {.max_rows = 1000}});
    paua_history_limits limits = {.max_age_ms = 99};

    recorded_append(h, 0, 20000);
    assert_recorded(h, 19000, 1000);
    paua_db_history_close(h);
    h = recorded_open(f->db, "h", (paua_db_history_opts){.size = 0});
    assert_recorded(h, 19000, 1000);
    assert_true(recorded_info(h).files <= 3);
    assert_ok(paua_db_history_trim(h, &limits, 0, &test_err));
    assert_recorded(h, 19900, 100);
    limits = (paua_history_limits){.max_rows = 10};
    assert_ok(paua_db_history_set_limits(h, &limits, 0, &test_err));
    recorded_append(h, 20000, 5);
    paua_db_history_close(h);
    h = recorded_open(f->db, "h", (paua_db_history_opts){.size = 0});
    assert_int_equal(recorded_info(h).limits.max_rows, 10);
    assert_recorded(h, 19995, 10);
    paua_db_history_close(h);
}

static void a_limit_in_bytes_removes_whole_files(void **state)
{
    struct fixture *f = *state;
    paua_db_history_opts opts = {.limits = {.max_nbytes = 40000}, .commit_nbytes = 20000};
    paua_db_history *h = recorded_open(f->db, "h", opts);
    paua_db_history *r = recorded_open(f->db, "h", (paua_db_history_opts){.read_only = true});
    uint64_t rows = 0;
    paua_db_history_info info;

    for (int i = 0; i < 40; i++, rows += 1000) {
        recorded_append(h, rows, 1000);
        info = recorded_info(r);
        assert_recorded(r, 0 + (recorded_info(r).next_id - 1 - info.rows), info.rows);
    }
    assert_ok(paua_db_history_flush(h, &test_err));
    info = recorded_info(h);
    assert_true(info.file_nbytes <= 40000);
    assert_true(info.files > 1 && info.rows > 2000 && info.rows < rows);
    assert_int_equal(recorded_files(f->dir.path, ".pages"), info.files);
    assert_recorded(h, rows - info.rows, info.rows);
    paua_db_history_close(h);
    paua_db_history_close(r);
    h = recorded_open(f->db, "h", opts);
    assert_recorded(h, rows - info.rows, info.rows);
    paua_db_history_close(h);
}

static void clearing_and_removing_leave_no_file(void **state)
{
    struct fixture *f = *state;
    paua_db_history *h = recorded_open(f->db, "h", (paua_db_history_opts){.size = 0}), *r;
    paua_history_view *view;

    recorded_append(h, 0, 3000);
    assert_ok(paua_db_history_flush(h, &test_err));
    r = recorded_open(f->db, "h", (paua_db_history_opts){.read_only = true});
    assert_ok(paua_db_history_view_open(r, &view, &test_err));
    assert_int_equal(recorded_files(f->dir.path, ".pages"), 1);
    assert_ok(paua_db_history_clear(h, &test_err));
    assert_int_equal(recorded_files(f->dir.path, ".pages"), 0);
    assert_recorded(r, 3000, 0);
    assert_recorded_view(view, 0, 3000);
    paua_history_view_close(view);
    recorded_append(h, 3000, 3000);
    assert_recorded(h, 3000, 3000);
    paua_db_history_close(h);
    assert_recorded(r, 3000, 3000);
    assert_int_equal(recorded_files(f->dir.path, ".pages"), 1);
    assert_ok(paua_db_history_remove(f->db, "h", &test_err));
    assert_int_equal(recorded_files(f->dir.path, ".pages"), 0);
    assert_fails(paua_db_history_view_open(r, &view, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_db_history_remove(f->db, "h", &test_err), PAUA_ENOTFOUND);
    paua_db_history_close(r);
}

static void histories_live_in_a_database_in_memory_too(void **state)
{
    paua_db *db = test_open_memory();
    paua_db_history *h = recorded_open(db, "h", (paua_db_history_opts){.size = 0}), *r;

    (void)state;
    recorded_append(h, 0, 5000);
    assert_ok(paua_db_history_flush(h, &test_err));
    r = recorded_open(db, "h", (paua_db_history_opts){.read_only = true});
    assert_recorded(r, 0, 5000);
    paua_db_history_close(h);
    paua_db_history_close(r);
    h = recorded_open(db, "h", (paua_db_history_opts){.size = 0});
    assert_recorded(h, 0, 5000);
    paua_db_history_close(h);
    paua_close(db);
}

struct listed {
    char names[64];
    uint64_t rows, pages, file_nbytes;
};

static void listed_add(void *arg, const paua_db_history_info *info)
{
    struct listed *l = arg;

    strcat(strcat(l->names, info->name), " ");
    l->rows += info->rows;
    l->pages += info->pages;
    l->file_nbytes += info->file_nbytes;
}

static void a_listing_tells_what_each_takes(void **state)
{
    struct fixture *f = *state;
    struct listed l = {.rows = 0};
    paua_db_history *h;

    for (size_t i = 0; i < 3; i++) {
        h = recorded_open(f->db, (const char *[]){"pear", "apple", "fig"}[i],
                          (paua_db_history_opts){.size = 0});
        recorded_append(h, 0, 600);
        paua_db_history_close(h);
    }
    assert_ok(paua_db_history_list(f->db, listed_add, &l, &test_err));
    assert_string_equal(l.names, "pear apple fig ");
    assert_int_equal(l.rows, 1800);
    assert_int_equal(l.pages, 6);
    assert_true(l.file_nbytes > 3 * 64 && l.file_nbytes < test_dir_nbytes(&f->dir));
}

static uint64_t matches(paua_db_history *h, const char *pattern)
{
    const paua_history_search_opts opts = {
        .size = sizeof opts, .pattern = pattern, .pattern_nbytes = strlen(pattern)};
    paua_history_found found = PAUA_HISTORY_MORE;
    paua_history_search *search;
    paua_history_match match;
    paua_history_view *view;
    uint64_t count = 0;

    assert_ok(paua_db_history_view_open(h, &view, &test_err));
    assert_ok(paua_history_search_open(view, &opts, &search, &test_err));
    while (found != PAUA_HISTORY_DONE) {
        assert_ok(paua_history_search_next(search, 0, &found, &match, NULL, &test_err));
        count += found == PAUA_HISTORY_MATCH;
    }
    paua_history_search_close(search);
    paua_history_view_close(view);
    return count;
}

static void a_reader_searches_with_the_filters_that_the_writer_stored(void **state)
{
    struct fixture *f = *state;
    paua_db_history *w = recorded_open(f->db, "h", (paua_db_history_opts){.commit_ms = 3600000});
    paua_db_history *r = recorded_open(f->db, "h", (paua_db_history_opts){.read_only = true});
    paua_history_stats before = {.size = sizeof before}, after = {.size = sizeof after};

    r->archive.history->filter_rows = 1000; /* as if that were long */
    for (uint64_t rows = 0; rows < 9000; rows += 1500) {
        recorded_append(w, rows, 1500);
        assert_ok(paua_db_history_flush(w, &test_err));
        assert_int_equal(matches(r, "row 1234 "), 1);
    }
    assert_int_equal(r->archive.history->filters->count, 9000 / 2048);
    paua_db_history_get_stats(r, &before);
    assert_int_equal(matches(r, "nowhere at all"), 0);
    paua_db_history_get_stats(r, &after);
    assert_int_equal(after.restores - before.restores, 9000 / 256 - 9000 / 2048 * 8);
    paua_db_history_close(r);
    paua_db_history_close(w);
}

static void *append_all(void *arg)
{
    paua_error err;

    for (uint64_t rows = 0; rows < 6000; rows += 100)
        if (recorded_try(arg, rows, 100, &err) != PAUA_OK) return arg;
    return NULL;
}

static void other_threads_read_while_one_appends(void **state)
{
    struct fixture *f = *state;
    paua_db_history *w = recorded_open(f->db, "h", (paua_db_history_opts){.commit_nbytes = 9999});
    paua_db_history *r = recorded_open(f->db, "h", (paua_db_history_opts){.read_only = true});
    paua_history_view *view;
    pthread_t thread;
    uint64_t rows = 0, left;
    void *failed;

    assert_int_equal(pthread_create(&thread, NULL, append_all, w), 0);
    for (int i = 0; rows < 6000; i++) {
        paua_db_history *h = i % 2 == 0 ? w : r;

        assert_ok(paua_db_history_view_open(h, &view, &test_err));
        assert_true(h == r || paua_history_view_rows(view) >= rows);
        if (h == w) rows = paua_history_view_rows(view);
        if (i % 8 < 2) assert_recorded_view(view, 0, paua_history_view_rows(view));
        paua_history_view_close(view);
        assert_ok(paua_db_history_idle(h, 10, &left, &test_err));
    }
    pthread_join(thread, &failed);
    assert_null(failed);
    paua_db_history_close(w);
    assert_recorded(r, 0, 6000);
    paua_db_history_close(r);
}

static void wrong_arguments_are_refused(void **state)
{
    struct fixture *f = *state;
    paua_db_history_opts opts = {.size = sizeof opts};
    paua_db_history *h;

    assert_fails(paua_db_history_open(f->db, "h", &opts, &h, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_db_history_open(f->db, "", &opts, &h, &test_err), PAUA_EINVAL);
    assert_fails(paua_db_history_open(f->db, "a\nb", &opts, &h, &test_err), PAUA_EINVAL);
    assert_fails(paua_db_history_open(NULL, "h", &opts, &h, &test_err), PAUA_EINVAL);
    opts.page_rows = 257;
    assert_fails(paua_db_history_open(f->db, "h", &opts, &h, &test_err), PAUA_EINVAL);
    opts = (paua_db_history_opts){.size = sizeof opts, .read_only = true, .create = true};
    assert_fails(paua_db_history_open(f->db, "h", &opts, &h, &test_err), PAUA_EINVAL);
    h = recorded_open(f->db, "h", (paua_db_history_opts){.size = 0});
    paua_db_history_close(h);
    h = recorded_open(f->db, "h", (paua_db_history_opts){.read_only = true});
    assert_fails(recorded_try(h, 0, 1, &test_err), PAUA_EREADONLY);
    assert_fails(paua_db_history_clear(h, &test_err), PAUA_EREADONLY);
    paua_db_history_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_found_again_after_reopening, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reader_follows_what_is_committed, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_that_wait_long_enough_are_committed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            enough_bytes_are_committed_at_once_and_so_is_every_append_if_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(a_history_has_one_writer_and_says_which, setup, teardown),
        cmocka_unit_test_setup_teardown(a_private_history_never_reaches_the_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(limits_in_rows_and_age_are_kept_row_by_row, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_limit_in_bytes_removes_whole_files, setup, teardown),
        cmocka_unit_test_setup_teardown(clearing_and_removing_leave_no_file, setup, teardown),
        cmocka_unit_test(histories_live_in_a_database_in_memory_too),
        cmocka_unit_test_setup_teardown(a_listing_tells_what_each_takes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reader_searches_with_the_filters_that_the_writer_stored,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(other_threads_read_while_one_appends, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_arguments_are_refused, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
