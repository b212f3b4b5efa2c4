/* test_durability.c - what a commit says was synced has been synced, also by somebody else. */
#include "support/support.h"

#include <sys/wait.h>
#include <unistd.h>

#include "store/sys.h"

static int (*fdatasync_before)(int fd);
static int syncs;

static int fdatasync_counted(int fd)
{
    syncs++;
    return fdatasync_before(fd);
}

/* A process that writes without syncing, and is gone before it could. */
static void write_and_die(const struct test_dir *dir)
{
    paua_open_opts opts = {
        .size = sizeof opts, .create = true, .durability = PAUA_BATCH, .batch_ms = 600000};
    struct test_schema schema = {.dim = 2, .metric = PAUA_L2};
    const float values[] = {1, 2, 3, 4};
    paua_db *db;

    if (paua_open(dir->path, &opts, &db, NULL) != PAUA_OK) _exit(1);
    test_insert_u64(test_create(db, "c", &schema), 0, 2, values);
    _exit(0);
}

/* Its record vouches for all batches before it. */
static void a_durable_deletion_syncs_rows_that_another_writer_left_unsynced(void **state)
{
    paua_open_opts full = {.size = sizeof full};
    struct test_dir dir;
    paua_collection *c;
    paua_db *db;
    pid_t child;
    int ended;

    (void)state;
    test_dir_make(&dir);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) write_and_die(&dir);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    fdatasync_before = sys.fdatasync;
    sys.fdatasync = fdatasync_counted;
    assert_ok(paua_open(dir.path, &full, &db, &test_err));
    assert_ok(paua_collection_open(db, "c", &c, &test_err));
    syncs = 0;
    test_delete_u64(c, 0);
    assert_true(syncs > 0);
    syncs = 0;
    test_delete_u64(c, 1); /* nothing is left to sync */
    assert_int_equal(syncs, 0);
    paua_collection_close(c);
    paua_close(db);
    sys.fdatasync = fdatasync_before;
    test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_durable_deletion_syncs_rows_that_another_writer_left_unsynced),
    };

    return cmocka_run_group_tests_name("db/durability", tests, NULL, NULL);
}
