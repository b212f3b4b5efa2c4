/* test_history_damage.c - histories whose files or records are damaged: a hole, and the rest stays
 * readable; other processes that write, read, die, and find their disk full. */
#include "recorded.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive/page_file.h"
#include "store/catalog.h"

#define ROWS 5000u

struct fixture {
    struct test_dir dir;
    char file[96];
};

static int setup(void **state)
{
    static struct fixture f;
    paua_db *db;
    paua_db_history *h;

    test_dir_make(&f.dir);
    db = test_open(&f.dir);
    h = recorded_open(db, "h", (paua_db_history_opts){.size = 0});
    recorded_append(h, 0, ROWS);
    paua_db_history_close(h);
    paua_close(db);
    snprintf(f.file, sizeof f.file, "%s/000001.pages", f.dir.path);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    test_dir_remove(&f->dir);
    return 0;
}

static void flip(const char *path, off_t at)
{
    int fd = open(path, O_RDWR);
    uint8_t byte;

    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* Rows that can be read, each of which must be right. */
static uint64_t readable(const struct fixture *f, uint64_t *holes)
{
    paua_db *db = test_open(&f->dir);
    paua_db_history *h = recorded_open(db, "h", (paua_db_history_opts){.read_only = true});
    paua_history_view *view;
    paua_history_row row;
    uint64_t rows = 0;

    assert_ok(paua_db_history_view_open(h, &view, &test_err));
    assert_int_equal(paua_history_view_rows(view), ROWS);
    *holes = 0;
    for (uint64_t i = 0; i < ROWS; i++) {
        char text[32];
        paua_status status = paua_history_view_row(view, i, &row, &test_err);

        if (status == PAUA_ECORRUPT) {
            ++*holes;
            continue;
        }
        assert_int_equal(status, PAUA_OK);
        snprintf(text, sizeof text, "row %llu of ", (unsigned long long)i);
        assert_memory_equal(row.text, text, strlen(text));
        rows++;
    }
    paua_history_view_close(view);
    paua_db_history_close(h);
    paua_close(db);
    return rows;
}

struct findings {
    size_t fatal;
    char file[64];
};

static void finding(void *arg, const paua_finding *found)
{
    struct findings *f = arg;

    f->fatal += found->fatal;
    snprintf(f->file, sizeof f->file, "%s", found->file);
}

static size_t check(const struct fixture *f, char file[64])
{
    struct findings found = {.fatal = 0};
    const paua_check_opts opts = {.size = sizeof opts, .finding = finding, .finding_arg = &found};
    paua_status status = paua_check(f->dir.path, &opts, &test_err);

    assert_int_equal(status, found.fatal > 0 ? PAUA_ECORRUPT : PAUA_OK);
    memcpy(file, found.file, 64);
    return found.fatal;
}

static void a_damaged_byte_costs_its_page_and_those_compressed_against_it(void **state)
{
    struct fixture *f = *state;
    struct stat s;
    uint64_t holes;
    char file[64];

    assert_int_equal(check(f, file), 0);
    assert_int_equal(stat(f->file, &s), 0);
    for (off_t at = PAGES_BEGIN; at < s.st_size; at += s.st_size / 23) {
        flip(f->file, at);
        assert_true(readable(f, &holes) >= ROWS - 8 * 256);
        assert_true(holes >= 256 && holes % 256 == 0);
        assert_int_equal(check(f, file), holes / 256);
        assert_string_equal(file, "000001.pages");
        flip(f->file, at);
    }
    flip(f->file, 3);
    assert_int_equal(readable(f, &holes), ROWS % 256);
    flip(f->file, 3);
    assert_int_equal(readable(f, &holes), ROWS);
}

static void a_file_that_is_short_or_missing_costs_its_pages(void **state)
{
    struct fixture *f = *state;
    struct stat s;
    uint64_t holes;
    char file[64];

    assert_int_equal(stat(f->file, &s), 0);
    assert_int_equal(truncate(f->file, s.st_size - 1), 0);
    assert_int_equal(readable(f, &holes), ROWS - 256);
    assert_int_equal(holes, 256);
    assert_int_equal(truncate(f->file, 10), 0);
    assert_int_equal(readable(f, &holes), ROWS % 256);
    assert_int_equal(unlink(f->file), 0);
    assert_int_equal(readable(f, &holes), ROWS % 256);
    assert_true(check(f, file) > 0);
}

/* Writes `nbytes` in the place of a record, or takes it out. */
static void record_set(const struct fixture *f, enum table table, uint64_t id, const void *bytes,
                       size_t nbytes)
{
    struct catalog_opts opts = {.durability = PAUA_OFF, .busy_ms = 1000};
    struct catalog *catalog;
    struct dir *dir;

    assert_ok(dir_open(f->dir.path, false, false, &dir, &test_err));
    assert_ok(catalog_open(dir, &opts, &catalog, &test_err));
    assert_ok(catalog_begin_write(catalog, &test_err));
    if (bytes == NULL)
        assert_ok(catalog_delete(catalog, table, id, id, &test_err));
    else
        assert_ok(catalog_put(catalog, table, id, bytes, nbytes, &test_err));
    assert_ok(catalog_commit(catalog, NULL, &test_err));
    catalog_close(catalog);
    dir_close(dir);
}

static void a_damaged_group_or_tail_is_a_hole_and_writing_goes_on(void **state)
{
    struct fixture *f = *state;
    uint64_t holes;
    char file[64];
    paua_db *db;
    paua_db_history *h;

    record_set(f, TABLE_HISTORY_GROUP, CATALOG_ID(1, 8), "rubbish", 7);
    assert_int_equal(readable(f, &holes), ROWS - 2048);
    assert_int_equal(check(f, file), 1);
    record_set(f, TABLE_HISTORY_TAIL, 1, NULL, 0);
    assert_int_equal(readable(f, &holes), ROWS - 2048 - ROWS % 256);
    db = test_open(&f->dir);
    h = recorded_open(db, "h", (paua_db_history_opts){.size = 0});
    recorded_append(h, ROWS, 1000);
    paua_db_history_close(h);
    h = recorded_open(db, "h", (paua_db_history_opts){.read_only = true});
    assert_int_equal(recorded_info(h).rows, ROWS + 1000);
    assert_int_equal(recorded_info(h).damaged_rows, 2048 + ROWS % 256);
    paua_db_history_close(h);
    paua_close(db);
    assert_int_equal(recorded_files(f->dir.path, ".pages"), 1);
}

static void a_damaged_history_is_an_error_and_others_open(void **state)
{
    struct fixture *f = *state;
    paua_db_history_opts opts = {.size = sizeof opts, .read_only = true};
    paua_db_history *h;
    paua_db *db = test_open(&f->dir);
    char file[64];

    h = recorded_open(db, "other", (paua_db_history_opts){.size = 0});
    recorded_append(h, 0, 10);
    paua_db_history_close(h);
    paua_close(db);
    record_set(f, TABLE_HISTORY, 1, "rubbish", 7);
    db = test_open(&f->dir);
    assert_fails(paua_db_history_open(db, "h", &opts, &h, &test_err), PAUA_ECORRUPT);
    h = recorded_open(db, "other", opts);
    assert_recorded(h, 0, 10);
    paua_db_history_close(h);
    paua_close(db);
    assert_int_equal(recorded_files(f->dir.path, ".pages"), 1); /* the sweep keeps it */
    assert_true(check(f, file) > 0);
}

/* ---- processes */

/* Another process that appends until it is killed; it writes how many rows are committed. */
static pid_t writer_start(const struct fixture *f, int *from)
{
    int ends[2];
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        paua_db *db = test_open(&f->dir);
        paua_db_history *h = recorded_open(db, "h", (paua_db_history_opts){.size = 0});

        close(ends[0]);
        for (uint64_t rows = ROWS;; rows += 37) {
            recorded_append(h, rows, 37);
            if (paua_db_history_flush(h, NULL) != PAUA_OK) _exit(1);
            uint64_t committed = rows + 37;
            if (write(ends[1], &committed, sizeof committed) != sizeof committed) _exit(1);
        }
    }
    close(ends[1]);
    *from = ends[0];
    return pid;
}

static void
a_reader_follows_another_process_and_nothing_committed_is_lost_when_that_is_killed(void **state)
{
    struct fixture *f = *state;
    uint64_t committed = ROWS, told;
    int from, status;
    pid_t pid = writer_start(f, &from);
    paua_db *db = test_open(&f->dir);
    paua_db_history_opts opts = {.size = sizeof opts, .create = true};
    paua_db_history *h, *second;
    paua_history_view *view;

    h = recorded_open(db, "h", (paua_db_history_opts){.read_only = true});
    for (int i = 0; i < 60; i++) {
        assert_int_equal(read(from, &told, sizeof told), sizeof told);
        committed = told;
        assert_ok(paua_db_history_view_open(h, &view, &test_err));
        assert_true(paua_history_view_rows(view) >= committed);
        assert_int_equal((paua_history_view_rows(view) - ROWS) % 37, 0);
        if (i % 20 == 0) assert_recorded_view(view, 0, paua_history_view_rows(view));
        paua_history_view_close(view);
    }
    assert_fails(paua_db_history_open(db, "h", &opts, &second, &test_err), PAUA_EBUSY);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    while (read(from, &told, sizeof told) == sizeof told)
        committed = told;
    close(from);
    second = recorded_open(db, "h", opts);
    assert_ok(paua_db_history_view_open(second, &view, &test_err));
    assert_true(paua_history_view_rows(view) >= committed);
    assert_recorded_view(view, 0, paua_history_view_rows(view));
    recorded_append(second, paua_history_view_rows(view), 100);
    paua_history_view_close(view);
    paua_db_history_close(second);
    paua_db_history_close(h);
    paua_close(db);
}

/* A limit on the length of files stands for a full disk: a child's, since it cannot be lifted. */
static void a_commit_that_fails_keeps_the_rows_for_the_next_one(void **state)
{
    struct fixture *f = *state;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct rlimit limit;
        paua_db *db = test_open(&f->dir);
        paua_db_history *h = recorded_open(db, "h", (paua_db_history_opts){.commit_ms = 3600000});

        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = 100;
        setrlimit(RLIMIT_FSIZE, &limit);
        recorded_append(h, ROWS, 3000);
        if (paua_db_history_flush(h, &test_err) == PAUA_OK) _exit(2);
        assert_recorded(h, 0, ROWS + 3000);
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_FSIZE, &limit);
        if (paua_db_history_flush(h, &test_err) != PAUA_OK) _exit(3);
        paua_db_history_close(h);
        paua_close(db);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    {
        paua_db *db = test_open(&f->dir);
        paua_db_history *h = recorded_open(db, "h", (paua_db_history_opts){.read_only = true});

        assert_recorded(h, 0, ROWS + 3000);
        paua_db_history_close(h);
        paua_close(db);
    }
}

static void a_backup_has_the_histories_too(void **state)
{
    struct fixture *f = *state;
    struct fixture copy = {.file = ""};
    paua_db *db = test_open(&f->dir);
    uint64_t holes;
    char file[64];

    test_dir_make(&copy.dir);
    assert_ok(paua_backup(db, copy.dir.path, NULL, &test_err));
    paua_close(db);
    assert_int_equal(readable(&copy, &holes), ROWS);
    assert_int_equal(check(&copy, file), 0);
    test_dir_remove(&copy.dir);
}

static void rebuild(const struct fixture *f, paua_status status)
{
    static const char *const parts[] = {"", "-wal", "-shm"};
    const paua_check_opts opts = {.size = sizeof opts, .rebuild = true};
    char path[128];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/catalog.sqlite%s", f->dir.path, parts[i]);
        unlink(path);
    }
    assert_int_equal(paua_check(f->dir.path, &opts, &test_err), status);
}

/* Names of all histories, in the order of a listing, each behind a space. */
static void name_each(void *arg, const paua_db_history_info *info)
{
    char *names = arg;

    strcat(strcat(names, " "), info->name);
}

static void assert_names(const struct fixture *f, const char *expected)
{
    paua_db *db = test_open(&f->dir);
    char names[1024] = "";

    assert_ok(paua_db_history_list(db, name_each, names, &test_err));
    assert_string_equal(names, expected);
    paua_close(db);
}

static void a_damaged_name_is_reported_and_costs_nothing_but_itself(void **state)
{
    struct fixture *f = *state;
    uint64_t holes;
    char file[64];

    for (off_t at = FILE_HEADER_NBYTES; at < (off_t)PAGES_BEGIN; at += 17) {
        flip(f->file, at);
        assert_int_equal(check(f, file), 1);
        assert_string_equal(file, "000001.pages");
        flip(f->file, at);
    }
    flip(f->file, PAGES_BEGIN - 1);
    assert_int_equal(readable(f, &holes), ROWS);
    rebuild(f, PAUA_ECORRUPT);
    assert_names(f, " history-1");
}

static void names_that_are_taken_are_not_given_twice(void **state)
{
    static const char *const NAMES[] = {"history-1", "history-1-2", "caf\xC3\xA9 log"};
    struct fixture *f = *state;
    paua_db *db = test_open(&f->dir);
    uint8_t name[PAGE_NAME_NBYTES];
    int fd;

    for (size_t i = 0; i < 3; i++) {
        paua_db_history *h = recorded_open(db, NAMES[i], (paua_db_history_opts){.size = 0});

        recorded_append(h, 0, 600);
        paua_db_history_close(h);
    }
    paua_close(db);
    flip(f->file, 70);
    rebuild(f, PAUA_ECORRUPT);
    assert_names(f, " history-1-3 history-1 history-1-2 caf\xC3\xA9 log");
    page_name_encode("history-1", name);
    fd = open(f->file, O_RDWR);
    assert_int_equal(pwrite(fd, name, sizeof name, FILE_HEADER_NBYTES), sizeof name);
    close(fd);
    rebuild(f, PAUA_OK);
    assert_names(f, " history-1-3 history-1 history-1-2 caf\xC3\xA9 log");
}

static void pages_are_found_again_when_the_catalogue_is_lost(void **state)
{
    struct fixture *f = *state;
    char file[64];
    paua_db_history *h;
    paua_db *db;

    rebuild(f, PAUA_OK);
    db = test_open(&f->dir);
    h = recorded_open(db, "h", (paua_db_history_opts){.size = 0});
    assert_recorded(h, 0, ROWS - ROWS % 256);
    recorded_append(h, ROWS - ROWS % 256, 600);
    paua_db_history_close(h);
    h = recorded_open(db, "another", (paua_db_history_opts){.size = 0});
    recorded_append(h, 0, 600);
    paua_db_history_close(h);
    paua_close(db);
    assert_int_equal(check(f, file), 0);
    db = test_open(&f->dir);
    h = recorded_open(db, "h", (paua_db_history_opts){.read_only = true});
    assert_recorded(h, 0, ROWS - ROWS % 256 + 600);
    paua_db_history_close(h);
    paua_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_damaged_byte_costs_its_page_and_those_compressed_against_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_short_or_missing_costs_its_pages, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_damaged_group_or_tail_is_a_hole_and_writing_goes_on,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_damaged_history_is_an_error_and_others_open, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            a_reader_follows_another_process_and_nothing_committed_is_lost_when_that_is_killed,
            setup, teardown),
        cmocka_unit_test_setup_teardown(a_commit_that_fails_keeps_the_rows_for_the_next_one, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(pages_are_found_again_when_the_catalogue_is_lost, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_damaged_name_is_reported_and_costs_nothing_but_itself,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_are_taken_are_not_given_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(a_backup_has_the_histories_too, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
