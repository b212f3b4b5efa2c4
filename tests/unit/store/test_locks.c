/* test_locks.c - who excludes whom: handles of one process, and processes. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "store/locks.h"
#include "unit/store/temp.h"

static struct locks *open_locks(const struct temp *temp, bool read_only)
{
    struct locks *locks;

    assert_int_equal(locks_open(temp->dir, read_only, &locks, NULL), PAUA_OK);
    return locks;
}

static void a_collection_has_one_writer_among_the_handles_of_a_process(void **state)
{
    struct locks *a = open_locks(*state, false), *b = open_locks(*state, false);
    char pid[32];
    paua_error err;

    assert_true(locks_writable(a));
    assert_int_equal(locks_take_collection(a, 1, "one", NULL), PAUA_OK);
    assert_int_equal(locks_take_collection(b, 1, "one", &err), PAUA_EBUSY);
    snprintf(pid, sizeof pid, "process %ld (", (long)getpid());
    assert_non_null(strstr(err.message, "collection one is being written by "));
    assert_non_null(strstr(err.message, pid));
    assert_non_null(strstr(err.message, "test_"));
    assert_int_equal(locks_take_collection(b, 0, "zero", NULL), PAUA_OK);
    assert_int_equal(locks_take_collection(b, 2, "two", NULL), PAUA_OK);
    assert_int_equal(locks_take_collection(b, 1, "one", NULL), PAUA_EBUSY);
    locks_drop_collection(a, 1);
    assert_int_equal(locks_take_collection(b, 1, "one", NULL), PAUA_OK);
    assert_int_equal(locks_take_collection(a, 2, "two", NULL), PAUA_EBUSY);
    locks_close(b);
    assert_int_equal(locks_take_collection(a, 2, "two", NULL), PAUA_OK);
    locks_close(a);
}

static void the_highest_collection_number_can_be_locked(void **state)
{
    struct locks *a = open_locks(*state, false), *b = open_locks(*state, false);

    assert_int_equal(locks_take_collection(a, (1u << 22) - 1, "last", NULL), PAUA_OK);
    assert_int_equal(locks_take_collection(b, (1u << 22) - 1, "last", NULL), PAUA_EBUSY);
    assert_int_equal(locks_take_collection(b, (1u << 22) - 2, "before", NULL), PAUA_OK);
    locks_close(a);
    locks_close(b);
}

static void closing_another_descriptor_of_the_file_drops_nothing(void **state)
{
    struct temp *temp = *state;
    struct locks *a = open_locks(temp, false), *b = open_locks(temp, false);
    int fd;

    assert_int_equal(locks_take_collection(a, 1, "one", NULL), PAUA_OK);
    assert_int_equal(dir_open_file(temp->dir, "locks", DIR_READ, &fd, NULL), PAUA_OK);
    fd_close(fd);
    assert_int_equal(locks_take_collection(b, 1, "one", NULL), PAUA_EBUSY);
    locks_close(a);
    locks_close(b);
}

/* A child that takes what `take` takes, says so, and lives until killed. */
static pid_t hold_in_child(const struct temp *temp, paua_status (*take)(struct locks *))
{
    char byte = 0;
    int pipe_fds[2];
    pid_t child;

    assert_int_equal(pipe(pipe_fds), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct locks *locks;

        if (locks_open(temp->dir, false, &locks, NULL) != PAUA_OK || take(locks) != PAUA_OK)
            _exit(1);
        if (write(pipe_fds[1], "x", 1) != 1) _exit(1);
        for (;;)
            pause();
    }
    close(pipe_fds[1]);
    assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
    close(pipe_fds[0]);
    return child;
}

static void end(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static paua_status take_five(struct locks *locks)
{
    return locks_take_collection(locks, 5, "five", NULL);
}

static void a_writer_in_another_process_is_named_and_its_death_frees_the_lock(void **state)
{
    pid_t child = hold_in_child(*state, take_five);
    struct locks *locks = open_locks(*state, false);
    char pid[32];
    paua_error err;

    assert_int_equal(locks_take_collection(locks, 5, "five", &err), PAUA_EBUSY);
    snprintf(pid, sizeof pid, "process %ld (", (long)child);
    assert_non_null(strstr(err.message, pid));
    end(child);
    assert_int_equal(locks_take_collection(locks, 5, "five", NULL), PAUA_OK);
    locks_close(locks);
}

static void a_damaged_slot_only_loses_the_name(void **state)
{
    static const struct {
        const char *slot;
        size_t nbytes;
        const char *holder;
    } cases[] = {
        {"\0", 1, "by another process;"},
        {"12x\0cmd", 7, "by another process;"},
        {"99999999999\0cmd", 15, "by another process;"},
        {"-1\0cmd", 6, "by another process;"},
        {"123\0", 4, "by process 123;"},
        {"123\0\xFF\xFE\x01\n", 8,
         "by process 123 (?"
         "?"
         "?"
         "?);"},
        {"123\0cut \xE2\x82", 10,
         "by process 123 (cut ?"
         "?);"},
    };
    struct temp *temp = *state;
    struct locks *a = open_locks(temp, false), *b = open_locks(temp, false);
    char slot[128];
    paua_error err;
    int fd;

    assert_int_equal(locks_take_collection(a, 1, "one", NULL), PAUA_OK);
    assert_int_equal(dir_open_file(temp->dir, "locks", DIR_WRITE, &fd, NULL), PAUA_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(slot, 0, sizeof slot);
        memcpy(slot, cases[i].slot, cases[i].nbytes);
        assert_int_equal(fd_pwrite(fd, "locks", slot, sizeof slot, 4096 + 128, NULL), PAUA_OK);
        assert_int_equal(locks_take_collection(b, 1, "one", &err), PAUA_EBUSY);
        assert_non_null(strstr(err.message, cases[i].holder));
    }
    memset(slot, '7', sizeof slot);
    for (size_t digits = 0; digits <= sizeof slot; digits += 16) {
        assert_int_equal(fd_pwrite(fd, "locks", slot, sizeof slot, 4096 + 128, NULL), PAUA_OK);
        assert_int_equal(locks_take_collection(b, 1, "one", &err), PAUA_EBUSY);
        assert_int_equal(utf8_valid_prefix(err.message, strlen(err.message)), strlen(err.message));
        memset(slot, 0x80 | (int)digits, digits);
    }
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(locks_take_collection(b, 1, "one", &err), PAUA_EBUSY);
    assert_non_null(strstr(err.message, "by another process;"));
    fd_close(fd);
    locks_close(a);
    locks_close(b);
}

static void presence_is_shared_by_writers_and_excludes_a_sweeper(void **state)
{
    struct locks *a = open_locks(*state, false), *b = open_locks(*state, false);

    assert_false(locks_writer_present(a));
    assert_int_equal(locks_share_presence(a, NULL), PAUA_OK);
    assert_false(locks_writer_present(a));
    assert_true(locks_writer_present(b));
    assert_int_equal(locks_share_presence(b, NULL), PAUA_OK);
    assert_int_equal(locks_try_exclusive(a, NULL), PAUA_EBUSY);
    assert_true(locks_writer_present(b)); /* a still has its share */
    locks_drop_presence(b);
    assert_int_equal(locks_try_exclusive(a, NULL), PAUA_OK);
    assert_true(locks_writer_present(b));
    locks_drop_presence(a);
    assert_false(locks_writer_present(b));
    locks_close(a);
    locks_close(b);
}

static void a_share_waits_a_second_for_a_sweeper(void **state)
{
    struct locks *a = open_locks(*state, false), *b = open_locks(*state, false);
    uint64_t start = clock_now_ns(), waited;

    assert_int_equal(locks_try_exclusive(a, NULL), PAUA_OK);
    assert_int_equal(locks_share_presence(b, NULL), PAUA_EBUSY);
    waited = clock_now_ns() - start;
    assert_true(waited >= 1000000000u && waited < 5000000000u);
    locks_close(a);
    locks_close(b);
}

static void *drop_soon(void *arg)
{
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 50000000};

    nanosleep(&pause, NULL);
    locks_drop_presence(arg);
    return NULL;
}

static void a_share_is_had_once_the_sweeper_is_done(void **state)
{
    struct locks *a = open_locks(*state, false), *b = open_locks(*state, false);
    pthread_t thread;

    assert_int_equal(locks_try_exclusive(a, NULL), PAUA_OK);
    assert_int_equal(pthread_create(&thread, NULL, drop_soon, a), 0);
    assert_int_equal(locks_share_presence(b, NULL), PAUA_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    locks_close(a);
    locks_close(b);
}

static paua_status share(struct locks *locks) { return locks_share_presence(locks, NULL); }

static void a_handle_that_only_looks_sees_a_writer_but_takes_nothing(void **state)
{
    struct temp *temp = *state;
    struct locks *looking = open_locks(temp, true);
    pid_t child;

    assert_false(dir_exists(temp->dir, "locks"));
    assert_false(locks_writable(looking));
    assert_false(locks_writer_present(looking));
    locks_drop_presence(looking);
    locks_drop_collection(looking, 1);
    locks_close(looking);

    child = hold_in_child(temp, share);
    looking = open_locks(temp, true);
    assert_true(locks_writer_present(looking));
    assert_int_equal(locks_share_presence(looking, NULL), PAUA_EREADONLY);
    assert_int_equal(locks_try_exclusive(looking, NULL), PAUA_EREADONLY);
    assert_int_equal(locks_take_collection(looking, 1, "one", NULL), PAUA_EREADONLY);
    end(child);
    assert_false(locks_writer_present(looking));
    locks_close(looking);
}

/* As root, permissions refuse nothing, so the refusal is injected. */
static void a_medium_that_refuses_writing_is_opened_for_looking(void **state)
{
    struct temp *temp = *state;
    struct locks *locks;

    locks_close(open_locks(temp, false));
    sys_fail_after(1, EROFS);
    locks = open_locks(temp, false);
    assert_false(locks_writable(locks));
    locks_close(locks);
    sys_fail_after(1, ENOSPC);
    assert_int_equal(locks_open(temp->dir, false, &locks, NULL), PAUA_ENOSPACE);
}

static void in_memory_everything_succeeds(void **state)
{
    struct temp memory;
    struct locks *a, *b;

    (void)state;
    temp_open(&memory, true);
    a = open_locks(&memory, false);
    b = open_locks(&memory, false);
    assert_true(locks_writable(a));
    assert_int_equal(locks_take_collection(a, 1, "one", NULL), PAUA_OK);
    assert_int_equal(locks_take_collection(b, 1, "one", NULL), PAUA_OK);
    assert_int_equal(locks_try_exclusive(a, NULL), PAUA_OK);
    assert_int_equal(locks_share_presence(b, NULL), PAUA_OK);
    assert_false(locks_writer_present(b));
    locks_close(a);
    locks_close(b);
    locks_close(NULL);
    temp_close(&memory);
}

static void a_failed_allocation_is_an_error(void **state)
{
    struct temp *temp = *state;
    struct locks *locks = NULL;

    mem_fail_after(1);
    assert_int_equal(locks_open(temp->dir, false, &locks, NULL), PAUA_ENOMEM);
    mem_fail_after(0);
    assert_null(locks);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_collection_has_one_writer_among_the_handles_of_a_process),
        TEST(the_highest_collection_number_can_be_locked),
        TEST(closing_another_descriptor_of_the_file_drops_nothing),
        TEST(a_writer_in_another_process_is_named_and_its_death_frees_the_lock),
        TEST(a_damaged_slot_only_loses_the_name),
        TEST(presence_is_shared_by_writers_and_excludes_a_sweeper),
        TEST(a_share_waits_a_second_for_a_sweeper),
        TEST(a_share_is_had_once_the_sweeper_is_done),
        TEST(a_handle_that_only_looks_sees_a_writer_but_takes_nothing),
        TEST(a_medium_that_refuses_writing_is_opened_for_looking),
        TEST(in_memory_everything_succeeds),
        TEST(a_failed_allocation_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
