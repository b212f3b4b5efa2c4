/* test_catalog_sync.c - when the catalogue reaches the disk.
 *
 * fsync() and fdatasync() are replaced in this program, so that SQLite's calls are counted and can
 * be made to fail; PAUA_API because SQLite's library must see them. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit/store/catalog_helper.h"

static unsigned syncs;
static bool sync_fails;

PAUA_API int fsync(int fd)
{
    syncs++;
    if (!sync_fails) return (int)syscall(SYS_fsync, fd);
    errno = EIO;
    return -1;
}

PAUA_API int fdatasync(int fd) { return fsync(fd); }

static unsigned syncs_of_ten_commits(struct catalog *c)
{
    commit_one(c, TABLE_HEAD, 0, "the first makes the log");
    syncs = 0;
    for (uint64_t i = 0; i < 10; i++)
        commit_one(c, TABLE_HEAD, i, "text");
    return syncs;
}

static void only_full_durability_syncs_each_commit(void **state)
{
    static const struct {
        paua_durability durability;
        unsigned syncs;
    } cases[] = {{PAUA_FULL, 10}, {PAUA_BATCH, 0}, {PAUA_OFF, 0}};
    struct temp *temp = *state;

    catalog_close(open_with(temp->dir, &CREATE));
    for (size_t i = 0; i < 3; i++) {
        struct catalog_opts opts = {.durability = cases[i].durability};
        struct catalog *c = open_with(temp->dir, &opts);

        assert_int_equal(syncs_of_ten_commits(c), cases[i].syncs);
        syncs = 0;
        assert_int_equal(catalog_sync(c, NULL), PAUA_OK);
        assert_true(syncs >= 2); /* the log and the file */
        catalog_close(c);
    }
}

static void opening_an_existing_catalogue_syncs_nothing(void **state)
{
    struct temp *temp = *state;
    struct catalog *first = open_with(temp->dir, &CREATE), *second;

    syncs = 0;
    second = open_with(temp->dir, &EXISTING);
    assert_int_equal(syncs, 0);
    catalog_close(second);
    catalog_close(first);
}

static void a_commit_whose_sync_failed_is_uncertain(void **state)
{
    struct temp *temp = *state;
    struct catalog *c = open_with(temp->dir, &CREATE);
    bool uncertain = false;

    assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
    put(c, TABLE_HEAD, 1, "perhaps");
    sync_fails = true;
    assert_int_equal(catalog_commit(c, &uncertain, NULL), PAUA_EIO);
    sync_fails = false;
    assert_true(uncertain);
    assert_record(c, TABLE_HEAD, 1, NULL);
    catalog_close(c);
}

static void a_failed_sync_is_reported(void **state)
{
    struct temp *temp = *state;
    struct catalog_opts opts = {.create = true, .durability = PAUA_OFF};
    struct catalog *c = open_with(temp->dir, &opts);

    commit_one(c, TABLE_HEAD, 1, "text");
    sync_fails = true;
    assert_int_equal(catalog_sync(c, NULL), PAUA_EIO);
    sync_fails = false;
    assert_int_equal(catalog_sync(c, NULL), PAUA_OK);
    catalog_close(c);
}

static void a_backup_is_synced(void **state)
{
    struct temp copy;
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE);

    temp_open(&copy, false);
    syncs = 0;
    assert_int_equal(catalog_backup(c, copy.dir, NULL), PAUA_OK);
    assert_true(syncs >= 2); /* the file and its directory */
    assert_int_equal(dir_unlink(copy.dir, CATALOG_NAME, NULL), PAUA_OK);
    sync_fails = true;
    assert_int_equal(catalog_backup(c, copy.dir, NULL), PAUA_EIO);
    sync_fails = false;
    assert_int_equal(temp_count(&copy), 0);
    catalog_close(c);
    temp_close(&copy);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(only_full_durability_syncs_each_commit),
        TEST(opening_an_existing_catalogue_syncs_nothing),
        TEST(a_commit_whose_sync_failed_is_uncertain),
        TEST(a_failed_sync_is_reported),
        TEST(a_backup_is_synced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
