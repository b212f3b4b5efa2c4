/* test_catalog_shared.c - several connections to one catalogue, in one process and in many. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit/store/catalog_helper.h"

#define PROCESS_COUNT 6
#define TAKES 40

static const struct catalog_opts PATIENT = {.create = true, .busy_ms = 20000};

static bool has(struct catalog *c, uint64_t id)
{
    paua_bytes record;

    return catalog_get(c, TABLE_HEAD, id, &record, NULL) == PAUA_OK;
}

static uint64_t version(struct catalog *c)
{
    uint64_t value = 0;

    assert_int_equal(catalog_version(c, &value, NULL), PAUA_OK);
    return value;
}

static void the_version_changes_when_another_connection_commits(void **state)
{
    struct temp *temp = *state;
    struct catalog *a = open_with(temp->dir, &PATIENT), *b = open_with(temp->dir, &PATIENT);
    uint64_t before = version(a);

    assert_int_equal(version(a), before);
    commit_one(a, TABLE_HEAD, 1, "own");
    assert_int_equal(version(a), before);
    commit_one(b, TABLE_HEAD, 2, "other's");
    assert_int_not_equal(version(a), before);
    assert_true(has(a, 2));
    catalog_close(a);
    catalog_close(b);
}

static void a_read_transaction_sees_one_state(void **state)
{
    struct temp *temp = *state;
    struct catalog *a = open_with(temp->dir, &PATIENT), *b = open_with(temp->dir, &PATIENT);
    uint64_t start;

    assert_int_equal(catalog_begin_read(a, NULL), PAUA_OK);
    commit_one(b, TABLE_HEAD, 1, "later");
    assert_false(has(a, 1));
    start = clock_now_ns();
    assert_int_equal(catalog_checkpoint(b, NULL), PAUA_OK);
    assert_true(clock_now_ns() - start < 5000000000u); /* it does not wait for the reader */
    assert_false(has(a, 1));
    assert_true(has(b, 1));
    catalog_rollback(a);
    assert_true(has(a, 1));
    catalog_close(a);
    catalog_close(b);
}

/* catalog_get outside a transaction must not keep its snapshot: the log could never be reset. */
static void reading_leaves_no_snapshot_behind(void **state)
{
    struct temp *temp = *state;
    struct catalog *a = open_with(temp->dir, &PATIENT), *b = open_with(temp->dir, &PATIENT);
    uint64_t whole, id = 1;

    commit_one(b, TABLE_HEAD, 1, "x");
    assert_true(has(a, 1));
    assert_int_equal(catalog_checkpoint(b, NULL), PAUA_OK);
    whole = catalog_nbytes(b);
    commit_one(b, TABLE_HEAD, ++id, "x");
    assert_true(catalog_nbytes(b) > whole);
    assert_int_equal(catalog_checkpoint(b, NULL), PAUA_OK);
    assert_int_equal(catalog_nbytes(b), whole);
    catalog_close(a);
    catalog_close(b);
}

static void a_second_writer_waits_as_long_as_asked(void **state)
{
    struct catalog_opts impatient = {.create = true, .busy_ms = 100};
    struct temp *temp = *state;
    struct catalog *a = open_with(temp->dir, &PATIENT), *b = open_with(temp->dir, &impatient);
    uint64_t start, waited;

    assert_int_equal(catalog_begin_write(a, NULL), PAUA_OK);
    for (int round = 0; round < 2; round++) {
        start = clock_now_ns();
        assert_int_equal(catalog_begin_write(b, NULL), PAUA_EBUSY);
        waited = clock_now_ns() - start;
        assert_true(waited >= 100000000u && waited < 3000000000u);
    }
    catalog_rollback(a);
    commit_one(b, TABLE_HEAD, 1, "now");
    catalog_close(a);
    catalog_close(b);
}

static void *commit_soon(void *arg)
{
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 30000000};

    nanosleep(&pause, NULL);
    assert_int_equal(catalog_commit(arg, NULL, NULL), PAUA_OK);
    return NULL;
}

static void a_second_writer_goes_on_when_the_first_has_committed(void **state)
{
    struct temp *temp = *state;
    struct catalog *a = open_with(temp->dir, &PATIENT), *b = open_with(temp->dir, &PATIENT);
    pthread_t thread;

    assert_int_equal(catalog_begin_write(a, NULL), PAUA_OK);
    assert_int_equal(catalog_put(a, TABLE_HEAD, 1, "x", 1, NULL), PAUA_OK);
    assert_int_equal(pthread_create(&thread, NULL, commit_soon, a), 0);
    assert_int_equal(catalog_begin_write(b, NULL), PAUA_OK);
    assert_true(has(b, 1));
    catalog_rollback(b);
    assert_int_equal(pthread_join(thread, NULL), 0);
    catalog_close(a);
    catalog_close(b);
}

static void a_backup_holds_the_state_of_its_read_transaction(void **state)
{
    struct temp *temp = *state, copy;
    struct catalog *a = open_with(temp->dir, &PATIENT), *b = open_with(temp->dir, &PATIENT),
                   *copied;

    temp_open(&copy, false);
    commit_one(a, TABLE_HEAD, 1, "before");
    assert_int_equal(catalog_begin_read(a, NULL), PAUA_OK);
    commit_one(b, TABLE_HEAD, 2, "after");
    assert_int_equal(catalog_backup(a, copy.dir, NULL), PAUA_OK);
    catalog_rollback(a);
    assert_int_equal(temp_count(&copy), 1);
    copied = open_with(copy.dir, &PATIENT);
    assert_true(has(copied, 1));
    assert_false(has(copied, 2));
    catalog_close(copied);
    catalog_close(a);
    catalog_close(b);
    temp_close(&copy);
}

/* Runs `body` in PROCESS_COUNT children at once; each must return true. */
static void in_processes(const struct temp *temp, bool (*body)(struct dir *dir, uint64_t id))
{
    pid_t children[PROCESS_COUNT];
    int gate[2];
    char byte;

    assert_int_equal(pipe(gate), 0);
    for (uint64_t i = 0; i < PROCESS_COUNT; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] != 0) continue;
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 0) _exit(1);
        _exit(body(temp->dir, i + 1) ? 0 : 1);
    }
    close(gate[0]);
    close(gate[1]); /* all of them go on */
    for (size_t i = 0; i < PROCESS_COUNT; i++) {
        int status;

        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

static bool create_and_put(struct dir *dir, uint64_t id)
{
    struct catalog *c;
    bool good = catalog_open(dir, &PATIENT, &c, NULL) == PAUA_OK;

    if (!good) return false;
    good = catalog_begin_write(c, NULL) == PAUA_OK &&
           catalog_put(c, TABLE_HEAD, id, "x", 1, NULL) == PAUA_OK &&
           catalog_commit(c, NULL, NULL) == PAUA_OK;
    catalog_close(c);
    return good;
}

static void processes_that_create_at_once_share_one_database(void **state)
{
    struct temp *temp = *state;

    for (int round = 0; round < 20; round++) {
        struct catalog *c;

        in_processes(temp, create_and_put);
        c = open_with(temp->dir, &PATIENT);
        for (uint64_t id = 1; id <= PROCESS_COUNT; id++)
            assert_true(has(c, id));
        catalog_close(c);
        assert_int_equal(dir_unlink(temp->dir, CATALOG_NAME, NULL), PAUA_OK);
    }
}

static bool take_numbers(struct dir *dir, uint64_t id)
{
    struct catalog_opts opts = {.durability = PAUA_OFF, .busy_ms = 20000};
    struct catalog *c;
    bool good = catalog_open(dir, &opts, &c, NULL) == PAUA_OK;
    uint64_t taken;

    if (!good) return false;
    for (int i = 0; i < TAKES && good; i++)
        good = catalog_begin_write(c, NULL) == PAUA_OK &&
               catalog_number_take(c, META_NEXT_FILE, 1, &taken, NULL) == PAUA_OK &&
               catalog_put(c, TABLE_HEAD, taken, &id, sizeof id, NULL) == PAUA_OK &&
               catalog_commit(c, NULL, NULL) == PAUA_OK;
    catalog_close(c);
    return good;
}

static void processes_never_take_the_same_number(void **state)
{
    struct temp *temp = *state;
    struct catalog *c;
    uint64_t next;

    catalog_close(open_with(temp->dir, &PATIENT));
    in_processes(temp, take_numbers);
    c = open_with(temp->dir, &PATIENT);
    assert_int_equal(catalog_number_get(c, META_NEXT_FILE, &next, NULL), PAUA_OK);
    assert_int_equal(next, 1 + PROCESS_COUNT * TAKES);
    for (uint64_t id = 1; id < next; id++)
        assert_true(has(c, id));
    catalog_close(c);
}

/* The child commits record 1, writes record 2 without committing, and is killed. */
static void after_a_kill_what_was_committed_is_there_and_no_more(void **state)
{
    struct temp *temp = *state;
    struct catalog *c;
    char byte = 0;
    int pipe_fds[2];
    pid_t child;

    assert_int_equal(pipe(pipe_fds), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct catalog_opts opts = {.create = true, .durability = PAUA_OFF};

        if (catalog_open(temp->dir, &opts, &c, NULL) != PAUA_OK) _exit(1);
        catalog_begin_write(c, NULL);
        catalog_put(c, TABLE_HEAD, 1, "x", 1, NULL);
        catalog_commit(c, NULL, NULL);
        catalog_begin_write(c, NULL);
        catalog_put(c, TABLE_HEAD, 2, "x", 1, NULL);
        if (write(pipe_fds[1], "x", 1) != 1) _exit(1);
        for (;;)
            pause();
    }
    close(pipe_fds[1]);
    assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
    close(pipe_fds[0]);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    c = open_with(temp->dir, &PATIENT);
    assert_true(has(c, 1));
    assert_false(has(c, 2));
    catalog_close(c);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_version_changes_when_another_connection_commits),
        TEST(a_read_transaction_sees_one_state),
        TEST(reading_leaves_no_snapshot_behind),
        TEST(a_second_writer_waits_as_long_as_asked),
        TEST(a_second_writer_goes_on_when_the_first_has_committed),
        TEST(a_backup_holds_the_state_of_its_read_transaction),
        TEST(processes_that_create_at_once_share_one_database),
        TEST(processes_never_take_the_same_number),
        TEST(after_a_kill_what_was_committed_is_there_and_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
