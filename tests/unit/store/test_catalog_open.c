/* test_catalog_open.c - opening catalogues that are missing, foreign, newer, damaged or read-only,
 * and what happens when memory or the disk fails.
 *
 * Foreign and damaged databases are made with SQLite directly. Nothing here opens catalog.sqlite by
 * other means while a connection is open. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/memory.h"
#include "unit/store/catalog_helper.h"

/* Runs SQL on the file as a stranger would. */
static void foreign(const struct temp *temp, const char *sql)
{
    char path[128];
    sqlite3 *db;

    temp_join(path, temp, CATALOG_NAME);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_failed_allocation_loses_nothing(void **state)
{
    struct temp *temp = *state;
    struct catalog *c = open_with(temp->dir, &CREATE), *none = NULL;
    paua_bytes record = {0};
    static char big[10000];

    memset(big, 'x', sizeof big);
    commit_one(c, TABLE_HEAD, 1, "one");
    assert_int_equal(catalog_put(c, TABLE_HEAD, 2, big, sizeof big, NULL), PAUA_OK);
    for (uint64_t nth = 1; nth <= 2; nth++) {
        mem_fail_after(nth);
        assert_int_equal(catalog_open(temp->dir, &EXISTING, &none, NULL), PAUA_ENOMEM);
        assert_null(none);
        mem_fail_after(1);
        assert_int_equal(catalog_get(c, TABLE_HEAD, 2, &record, NULL), PAUA_ENOMEM);
        assert_int_equal(catalog_number_put(c, META_COMPAT, 9, NULL), PAUA_ENOMEM);
        mem_fail_after(0);
        assert_null(record.data);
    }
    assert_record(c, TABLE_HEAD, 1, "one");
    catalog_close(c);
}

static void what_was_committed_is_there_after_reopening(void **state)
{
    static const paua_durability durabilities[] = {PAUA_FULL, PAUA_BATCH, PAUA_OFF};
    struct temp *temp = *state;

    for (uint64_t i = 0; i < 3; i++) {
        struct catalog_opts opts = {.create = true, .durability = durabilities[i], .busy_ms = 10};
        struct catalog *c = open_with(temp->dir, &opts);

        commit_one(c, TABLE_SEGMENT, i, "here");
        catalog_close(c);
        c = open_with(temp->dir, i == 0 ? &READ_ONLY : i == 1 ? &IMMUTABLE : &EXISTING);
        for (uint64_t j = 0; j < 3; j++)
            assert_record(c, TABLE_SEGMENT, j, j <= i ? "here" : NULL);
        catalog_close(c);
    }
}

static void a_missing_or_empty_file_is_no_database(void **state)
{
    struct temp *temp = *state;
    struct catalog_opts read_only_create = {.create = true, .read_only = true};

    for (int round = 0; round < 2; round++) {
        assert_open_fails(temp->dir, &EXISTING, PAUA_ENOTFOUND);
        assert_open_fails(temp->dir, &READ_ONLY, PAUA_ENOTFOUND);
        assert_open_fails(temp->dir, &IMMUTABLE, PAUA_ENOTFOUND);
        assert_open_fails(temp->dir, &read_only_create, PAUA_ENOTFOUND);
        assert_int_equal(dir_exists(temp->dir, CATALOG_NAME), round == 1);
        temp_write(temp, CATALOG_NAME, "", 0);
    }
    catalog_close(open_with(temp->dir, &CREATE));
    catalog_close(open_with(temp->dir, &EXISTING));
}

static void foreign_newer_and_damaged_files_are_told_apart(void **state)
{
    static const struct {
        const char *sql;
        paua_status status;
    } cases[] = {
        {"PRAGMA application_id=5", PAUA_EINVAL},
        {"PRAGMA application_id=0", PAUA_EINVAL},
        {"PRAGMA user_version=2", PAUA_EVERSION},
        {"PRAGMA user_version=0", PAUA_ECORRUPT},
        {"DROP TABLE batch", PAUA_ECORRUPT},
        {"DROP TABLE batch; CREATE TABLE batch(id INTEGER PRIMARY KEY, record)", PAUA_ECORRUPT},
        {"ALTER TABLE head RENAME TO haed", PAUA_ECORRUPT},
        {"DROP TABLE meta; CREATE TABLE meta(id INTEGER PRIMARY KEY, record TEXT)", PAUA_ECORRUPT},
        {"DELETE FROM meta", PAUA_ECORRUPT},
        {"UPDATE meta SET record='text' WHERE id=3", PAUA_ECORRUPT},
        {"CREATE TABLE later(x)", PAUA_OK},
        {"ANALYZE", PAUA_OK},
    };
    struct temp *temp = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        catalog_close(open_with(temp->dir, &CREATE));
        foreign(temp, cases[i].sql);
        for (size_t k = 0; k < 3; k++) {
            const struct catalog_opts *opts = k == 0 ? &CREATE : k == 1 ? &READ_ONLY : &IMMUTABLE;

            if (cases[i].status == PAUA_OK)
                catalog_close(open_with(temp->dir, opts));
            else
                assert_open_fails(temp->dir, opts, cases[i].status);
        }
        assert_int_equal(dir_unlink(temp->dir, CATALOG_NAME, NULL), PAUA_OK);
    }
    foreign(temp, "CREATE TABLE theirs(x)");
    assert_open_fails(temp->dir, &CREATE, PAUA_EINVAL);
}

static void feature_bits_decide_who_may_open(void **state)
{
    static const struct {
        enum meta id;
        paua_status writing, reading;
    } cases[] = {{META_COMPAT, PAUA_OK, PAUA_OK},
                 {META_READ_COMPAT, PAUA_EVERSION, PAUA_OK},
                 {META_INCOMPAT, PAUA_EVERSION, PAUA_EVERSION}};
    struct temp *temp = *state;

    for (size_t i = 0; i < 3; i++) {
        struct catalog *c = open_with(temp->dir, &CREATE);

        assert_int_equal(catalog_number_put(c, cases[i].id, 0x80, NULL), PAUA_OK);
        catalog_close(c);
        if (cases[i].writing == PAUA_OK)
            catalog_close(open_with(temp->dir, &EXISTING));
        else
            assert_open_fails(temp->dir, &EXISTING, cases[i].writing);
        if (cases[i].reading == PAUA_OK)
            catalog_close(open_with(temp->dir, &READ_ONLY));
        else
            assert_open_fails(temp->dir, &READ_ONLY, cases[i].reading);
        assert_int_equal(dir_unlink(temp->dir, CATALOG_NAME, NULL), PAUA_OK);
        assert_int_equal(dir_unlink(temp->dir, CATALOG_NAME "-wal", NULL), PAUA_OK);
        assert_int_equal(dir_unlink(temp->dir, CATALOG_NAME "-shm", NULL), PAUA_OK);
    }
}

static void a_file_that_is_no_sqlite_database_is_damage(void **state)
{
    struct temp *temp = *state;
    uint8_t bytes[9000];
    uint64_t seed = 31;

    random_fill(&seed, bytes, sizeof bytes);
    for (size_t length = 2; length < sizeof bytes; length += 1111) { /* SQLite calls 1 byte empty */
        temp_write(temp, CATALOG_NAME, bytes, length);
        assert_open_fails(temp->dir, &CREATE, PAUA_ECORRUPT);
        assert_open_fails(temp->dir, &READ_ONLY, PAUA_ECORRUPT);
        assert_open_fails(temp->dir, &IMMUTABLE, PAUA_ECORRUPT);
    }
}

static void a_foreign_trigger_does_not_fire(void **state)
{
    struct temp *temp = *state;
    struct catalog *c = open_with(temp->dir, &CREATE);

    commit_one(c, TABLE_SEGMENT, 1, "one");
    catalog_close(c);
    foreign(temp, "CREATE TRIGGER t AFTER INSERT ON head BEGIN DELETE FROM segment; END");
    c = open_with(temp->dir, &EXISTING);
    commit_one(c, TABLE_HEAD, 1, "one");
    assert_record(c, TABLE_SEGMENT, 1, "one");
    catalog_close(c);
}

static paua_status count(void *arg, uint64_t id, paua_bytes record)
{
    (void)id;
    (void)record;
    ++*(unsigned *)arg;
    return PAUA_OK;
}

static void a_record_of_another_type_is_damage(void **state)
{
    struct temp *temp = *state;
    unsigned seen = 0;
    struct catalog *c;
    paua_bytes record;

    catalog_close(open_with(temp->dir, &CREATE));
    foreign(temp, "INSERT INTO batch VALUES(1, 'text')");
    c = open_with(temp->dir, &EXISTING);
    assert_int_equal(catalog_get(c, TABLE_BATCH, 1, &record, NULL), PAUA_ECORRUPT);
    assert_int_equal(catalog_each(c, TABLE_BATCH, 0, 9, count, &seen, NULL), PAUA_ECORRUPT);
    assert_int_equal(seen, 0);
    catalog_close(c);
}

static void a_read_only_catalogue_refuses_writing(void **state)
{
    struct temp *temp = *state;
    struct catalog *c;

    catalog_close(open_with(temp->dir, &CREATE));
    for (int round = 0; round < 2; round++) {
        c = open_with(temp->dir, round == 0 ? &READ_ONLY : &IMMUTABLE);
        assert_int_equal(catalog_put(c, TABLE_HEAD, 1, "x", 1, NULL), PAUA_EREADONLY);
        assert_int_equal(catalog_begin_read(c, NULL), PAUA_OK);
        assert_int_equal(catalog_commit(c, NULL, NULL), PAUA_OK);
        assert_int_equal(catalog_sync(c, NULL), PAUA_OK);
        assert_int_equal(catalog_checkpoint(c, NULL), PAUA_OK);
        catalog_close(c);
    }
}

static void immutable_does_not_hide_commits_in_the_log(void **state)
{
    struct temp *temp = *state;
    struct catalog *writer = open_with(temp->dir, &CREATE), *c;

    commit_one(writer, TABLE_HEAD, 1, "in the log");
    c = open_with(temp->dir, &IMMUTABLE);
    assert_record(c, TABLE_HEAD, 1, "in the log");
    catalog_close(c);
    catalog_close(writer);
}

static void odd_directory_names_work_whatever_the_options(void **state)
{
    static const char *const names[] = {"with space", "100%41?mode=memory", "a#b&c=d;e",
                                        "\xC3\xA4\xE2\x82\xAC", "file:x?immutable=1"};
    struct temp *temp = *state;
    char before[512];

    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(temp->path), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct dir *dir;
        struct catalog *c;
        char path[128];

        assert_int_equal(dir_open(names[i], true, false, &dir, NULL), PAUA_OK);
        c = open_with(dir, &CREATE);
        commit_one(c, TABLE_HEAD, 1, "one");
        assert_true(catalog_nbytes(c) > 4096);
        catalog_close(c);
        snprintf(path, sizeof path, "%s/%s", names[i], CATALOG_NAME);
        assert_int_equal(access(path, F_OK), 0);
        c = open_with(dir, &IMMUTABLE);
        assert_record(c, TABLE_HEAD, 1, "one");
        catalog_close(c);
        dir_close(dir);
    }
    assert_int_equal(chdir(before), 0);
}

static void closing_leaves_one_file(void **state)
{
    struct temp *temp = *state;
    struct catalog *c = open_with(temp->dir, &CREATE);

    commit_one(c, TABLE_HEAD, 1, "one");
    assert_true(dir_exists(temp->dir, CATALOG_NAME "-wal"));
    catalog_close(c);
    assert_int_equal(temp_count(temp), 1);
}

static void deleted_records_give_their_space_back(void **state)
{
    struct temp *temp = *state;
    struct catalog *c = open_with(temp->dir, &CREATE);
    static char big[100000];
    uint64_t full;

    memset(big, 'x', sizeof big);
    assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
    for (uint64_t i = 0; i < 50; i++)
        assert_int_equal(catalog_put(c, TABLE_BATCH, i, big, sizeof big, NULL), PAUA_OK);
    assert_int_equal(catalog_commit(c, NULL, NULL), PAUA_OK);
    assert_int_equal(catalog_checkpoint(c, NULL), PAUA_OK);
    full = catalog_nbytes(c);
    assert_true(full >= 50 * sizeof big && full < 55 * sizeof big);
    assert_int_equal(catalog_delete(c, TABLE_BATCH, 0, 48, NULL), PAUA_OK);
    assert_int_equal(catalog_vacuum(c, NULL), PAUA_OK);
    assert_true(catalog_nbytes(c) < full / 20);
    catalog_close(c);
}

/* SQLite's writes, through its own table of system calls. */

static int write_error;

static ssize_t failing_write(int fd, const void *bytes, size_t nbytes)
{
    if (write_error == 0) return write(fd, bytes, nbytes);
    errno = write_error;
    return -1;
}

static ssize_t failing_pwrite(int fd, const void *bytes, size_t nbytes, off_t offset)
{
    if (write_error == 0) return pwrite(fd, bytes, nbytes, offset);
    errno = write_error;
    return -1;
}

static void replace_writes(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)failing_write);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)failing_pwrite);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)failing_pwrite);
}

static void restore_writes(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    vfs->xSetSystemCall(vfs, NULL, NULL);
}

static void a_failed_commit_rolls_back_and_says_if_it_is_sure(void **state)
{
    static const struct {
        int number;
        paua_status status;
        bool uncertain;
    } cases[] = {{EIO, PAUA_EIO, true}, {ENOSPC, PAUA_ENOSPACE, false}};
    struct temp *temp = *state;

    replace_writes();
    for (size_t i = 0; i < 2; i++) {
        struct catalog *c = open_with(temp->dir, &CREATE);
        bool uncertain = !cases[i].uncertain;

        commit_one(c, TABLE_HEAD, 1, "old");
        assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
        put(c, TABLE_HEAD, 1, "new");
        write_error = cases[i].number;
        assert_int_equal(catalog_commit(c, &uncertain, NULL), cases[i].status);
        write_error = 0;
        assert_int_equal(uncertain, cases[i].uncertain);
        assert_record(c, TABLE_HEAD, 1, "old");
        commit_one(c, TABLE_HEAD, 1, "old");
        assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
        assert_int_equal(catalog_commit(c, &uncertain, NULL), PAUA_OK);
        assert_false(uncertain);
        catalog_close(c);
    }
    restore_writes();
}

/* The -shm file is what cannot grow: an I/O error to SQLite, which keeps the reason. */
static void opening_on_a_full_disk_says_so(void **state)
{
    struct temp *temp = *state;

    catalog_close(open_with(temp->dir, &CREATE));
    replace_writes();
    write_error = ENOSPC;
    assert_open_fails(temp->dir, &EXISTING, PAUA_ENOSPACE);
    write_error = 0;
    restore_writes();
    catalog_close(open_with(temp->dir, &EXISTING));
}

static void a_failed_backup_leaves_no_file(void **state)
{
    struct temp copy;
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE);

    temp_open(&copy, false);
    commit_one(c, TABLE_HEAD, 1, "one");
    replace_writes();
    write_error = ENOSPC;
    assert_int_equal(catalog_backup(c, copy.dir, NULL), PAUA_ENOSPACE);
    write_error = 0;
    restore_writes();
    assert_int_equal(temp_count(&copy), 0);
    assert_record(c, TABLE_HEAD, 1, "one");
    catalog_close(c);
    temp_close(&copy);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_failed_allocation_loses_nothing),
        TEST(what_was_committed_is_there_after_reopening),
        TEST(a_missing_or_empty_file_is_no_database),
        TEST(foreign_newer_and_damaged_files_are_told_apart),
        TEST(feature_bits_decide_who_may_open),
        TEST(a_file_that_is_no_sqlite_database_is_damage),
        TEST(a_foreign_trigger_does_not_fire),
        TEST(a_record_of_another_type_is_damage),
        TEST(a_read_only_catalogue_refuses_writing),
        TEST(immutable_does_not_hide_commits_in_the_log),
        TEST(odd_directory_names_work_whatever_the_options),
        TEST(closing_leaves_one_file),
        TEST(deleted_records_give_their_space_back),
        TEST(a_failed_commit_rolls_back_and_says_if_it_is_sure),
        TEST(opening_on_a_full_disk_says_so),
        TEST(a_failed_backup_leaves_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
