/* test_read_only_medium.c - a database where nothing can be written: a bind mount made read-only in
 * a mount namespace of the test's own. Skipped where a process may not have one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "concurrency/journal.h"
#include "concurrency/pairs.h"

#define ROUNDS 3u
#define UNSUPPORTED 77

static struct pairs_marks marks = {.writers = 1};

/* The rest of this process sees the directory read-only; nobody else does. */
static void freeze(const char *path)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(path, path, NULL, MS_BIND, NULL) != 0 ||
        mount("none", path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) != 0)
        _exit(UNSUPPORTED);
}

static void probe(void *path) { freeze(path); }

static paua_db *database_make(char path[64])
{
    paua_collection *pairs;
    paua_db *db;

    world_make(path);
    db = world_open(path, (paua_open_opts){.create = true, .no_background = true});
    pairs_create(db, "pairs", &pairs);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        pairs_write(pairs, &marks, 0, round);
        if (round == 2) MUST(paua_optimize(pairs, NULL, &err));
    }
    paua_collection_close(pairs);
    return db;
}

static void read_all(const char *path)
{
    paua_db *db = world_open(path, (paua_open_opts){.read_only = true});
    paua_collection *pairs = world_collection(db, "pairs");
    paua_hits *hits;

    MUST(paua_hits_open(&hits, &err));
    pairs_iterate(pairs, &marks);
    pairs_search(pairs, &marks, hits);
    pairs_fetch(pairs, &marks, 0, 1);
    world_validate(pairs);
    paua_hits_close(hits);
    paua_collection_close(pairs);
    paua_close(db);
    world_check(path);
}

static void writing_is_refused(const char *path)
{
    paua_open_opts opts = {.size = sizeof opts};
    paua_error err = {.message = ""};
    paua_db *db = NULL;

    CHECK(paua_open(path, &opts, &db, &err) == PAUA_EREADONLY);
    CHECK(db == NULL && strstr(err.message, "read-only") != NULL);
    opts.create = true;
    CHECK(paua_open(path, &opts, &db, &err) == PAUA_EREADONLY);
    CHECK(db == NULL && strstr(err.message, "read-only") != NULL);
}

static void use_frozen(void *arg)
{
    freeze(arg);
    read_all(arg);
    writing_is_refused(arg);
}

/* With a log that holds commits and no shared memory beside it, the state cannot be read here: the
 * call must say so, and must not show the older state that the main file has. */
static void use_frozen_log(void *arg)
{
    paua_open_opts opts = {.size = sizeof opts, .read_only = true};
    paua_error err = {.message = ""};
    paua_db *db = NULL;
    paua_status status;

    freeze(arg);
    status = paua_open(arg, &opts, &db, &err);
    CHECK(status == PAUA_EREADONLY && db == NULL);
    CHECK(strstr(err.message, "-wal") != NULL && strstr(err.message, "copy") != NULL);
    writing_is_refused(arg);
}

/* The writer is alive and its shared memory is there: readers follow as anywhere. */
static void use_frozen_beside_writer(void *arg)
{
    freeze(arg);
    read_all(arg);
    writing_is_refused(arg);
}

static void skip_if_unsupported(void)
{
    char path[64];
    bool supported;

    world_make(path);
    supported = world_wait(world_fork(probe, path));
    world_remove(path);
    if (!supported) skip();
}

static void a_cleanly_closed_database_is_read_on_a_read_only_medium(void **state)
{
    char path[64];

    (void)state;
    skip_if_unsupported();
    paua_close(database_make(path));
    assert_true(world_wait(world_fork(use_frozen, path)));
    world_remove(path);
}

static void a_log_that_cannot_be_replayed_is_an_error_with_advice(void **state)
{
    char path[64], copy[96], shm[160];
    paua_db *db;

    (void)state;
    skip_if_unsupported();
    db = database_make(path);
    snprintf(copy, sizeof copy, "%s-copy", path);
    world_copy(path,
               copy); /* as kill -9 leaves it, without the memory that a copy has no use for */
    snprintf(shm, sizeof shm, "%s/catalog.sqlite-shm", copy);
    assert_int_equal(unlink(shm), 0);
    paua_close(db);
    assert_true(world_wait(world_fork(use_frozen_log, copy)));
    paua_close(
        world_open(copy, (paua_open_opts){0})); /* the advice: once where it can be written */
    assert_true(world_wait(world_fork(use_frozen, copy)));
    world_remove(copy);
    world_remove(path);
}

static void a_read_only_mount_beside_a_live_writer_shows_its_commits(void **state)
{
    char path[64];
    paua_db *db;
    paua_collection *pairs;

    (void)state;
    skip_if_unsupported();
    db = database_make(path);
    pairs = world_collection(db, "pairs");
    pairs_write(pairs, &marks, 0, ROUNDS + 1);
    assert_true(world_wait(world_fork(use_frozen_beside_writer, path)));
    paua_collection_close(pairs);
    paua_close(db);
    world_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cleanly_closed_database_is_read_on_a_read_only_medium),
        cmocka_unit_test(a_log_that_cannot_be_replayed_is_an_error_with_advice),
        cmocka_unit_test(a_read_only_mount_beside_a_live_writer_shows_its_commits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
