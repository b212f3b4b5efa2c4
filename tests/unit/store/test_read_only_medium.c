/* test_read_only_medium.c - a database on a medium that cannot be written.
 *
 * Root may write whatever the permissions say, so the medium is a read-only bind mount in a mount
 * namespace of our own. Where that is not allowed, the tests are skipped. */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/locks.h"
#include "unit/store/catalog_helper.h"

static bool may_mount;

static int enter_namespace(void **state)
{
    (void)state;
    may_mount =
        unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    return 0;
}

/* Mounts the directory onto itself, read-only; *dir sees it so. False: not allowed here. */
static bool make_read_only(const struct temp *temp, bool read_only_handle, struct dir **dir)
{
    if (!may_mount || mount(temp->path, temp->path, NULL, MS_BIND, NULL) != 0) return false;
    if (mount(NULL, temp->path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0) {
        umount(temp->path);
        return false;
    }
    assert_int_equal(dir_open(temp->path, false, read_only_handle, dir, NULL), PAUA_OK);
    return true;
}

static void make_writable(const struct temp *temp, struct dir *dir)
{
    dir_close(dir);
    assert_int_equal(umount(temp->path), 0);
}

static void files_are_read_and_not_written(void **state)
{
    struct temp *temp = *state;
    struct dir *dir;
    int fd;

    temp_write(temp, "a", "A", 1);
    if (!make_read_only(temp, false, &dir)) skip();
    assert_int_equal(dir_open_file(dir, "a", DIR_READ, &fd, NULL), PAUA_OK);
    fd_close(fd);
    assert_int_equal(dir_open_file(dir, "a", DIR_WRITE, &fd, NULL), PAUA_EREADONLY);
    assert_int_equal(dir_open_file(dir, "b", DIR_CREATE, &fd, NULL), PAUA_EREADONLY);
    assert_int_equal(dir_rename(dir, "a", "b", NULL), PAUA_EREADONLY);
    assert_int_equal(dir_unlink(dir, "a", NULL), PAUA_EREADONLY);
    make_writable(temp, dir);
}

static void locks_are_for_looking_only(void **state)
{
    struct temp *temp = *state;
    struct locks *locks;
    struct dir *dir;

    for (int round = 0; round < 2; round++) {
        if (!make_read_only(temp, false, &dir)) skip();
        assert_int_equal(locks_open(dir, false, &locks, NULL), PAUA_OK);
        assert_false(locks_writable(locks));
        assert_false(locks_writer_present(locks));
        locks_close(locks);
        make_writable(temp, dir);
        assert_int_equal(locks_open(temp->dir, false, &locks, NULL), PAUA_OK);
        assert_true(locks_writable(locks));
        locks_close(locks);
    }
}

static void a_closed_catalogue_opens_immutable_and_not_for_writing(void **state)
{
    struct temp *temp = *state;
    struct catalog *c = open_with(temp->dir, &CREATE);
    struct dir *dir;

    commit_one(c, TABLE_HEAD, 1, "one");
    catalog_close(c);
    if (!make_read_only(temp, false, &dir)) skip();
    c = open_with(dir, &IMMUTABLE);
    assert_record(c, TABLE_HEAD, 1, "one");
    catalog_close(c);
    assert_open_fails(dir, &EXISTING, PAUA_EREADONLY);
    assert_open_fails(dir, &CREATE, PAUA_EREADONLY);
    make_writable(temp, dir);
    assert_int_equal(temp_count(temp), 1);
}

static void a_missing_catalogue_cannot_be_created(void **state)
{
    struct temp *temp = *state;
    struct dir *dir;

    if (!make_read_only(temp, false, &dir)) skip();
    assert_open_fails(dir, &CREATE, PAUA_EREADONLY);
    assert_open_fails(dir, &IMMUTABLE, PAUA_ENOTFOUND);
    make_writable(temp, dir);
}

/* A writer was killed: the log has commits, and the -shm file may or may not have survived. */
static void commits_in_the_log_are_shown_or_refused_but_never_hidden(void **state)
{
    struct temp *temp = *state;
    int status;
    pid_t child = fork();
    struct catalog *c = NULL;
    struct dir *dir;
    paua_error err;

    assert_true(child >= 0);
    if (child == 0) {
        commit_one(open_with(temp->dir, &CREATE), TABLE_HEAD, 1, "in the log");
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(dir_exists(temp->dir, CATALOG_NAME "-wal"));
    assert_int_equal(dir_unlink(temp->dir, CATALOG_NAME "-shm", NULL), PAUA_OK);
    if (!make_read_only(temp, true, &dir)) skip();
    assert_int_equal(catalog_open(dir, &IMMUTABLE, &c, &err), PAUA_EREADONLY);
    assert_null(c);
    assert_non_null(strstr(err.message, "-wal"));
    assert_non_null(strstr(err.message, "copy the directory"));
    make_writable(temp, dir);
    c = open_with(temp->dir, &EXISTING);
    assert_record(c, TABLE_HEAD, 1, "in the log");
    catalog_close(c);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(files_are_read_and_not_written),
        TEST(locks_are_for_looking_only),
        TEST(a_closed_catalogue_opens_immutable_and_not_for_writing),
        TEST(a_missing_catalogue_cannot_be_created),
        TEST(commits_in_the_log_are_shown_or_refused_but_never_hidden),
    };

    return cmocka_run_group_tests(tests, enter_namespace, NULL);
}
