/* test_parallel.c - each share is done exactly once, whatever threads there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/parallel.h"

#define WORKERS_MAX 64u

struct shares {
    _Atomic uint32_t done[WORKERS_MAX];
    _Atomic uint32_t signals_open; /* workers on other threads that could be interrupted */
    _Atomic uint32_t elsewhere;    /* shares done on other threads */
    pthread_t caller;
};

static void do_share(void *arg, uint32_t worker)
{
    struct shares *shares = arg;
    sigset_t blocked;

    shares->done[worker]++;
    if (pthread_equal(pthread_self(), shares->caller)) return;
    shares->elsewhere++;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGUSR1)) shares->signals_open++;
}

static void check_run(struct shares *shares, uint32_t threads)
{
    memset(shares, 0, sizeof *shares);
    shares->caller = pthread_self();
    parallel_run(threads, do_share, shares);
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        assert_int_equal(shares->done[i], i < threads ? 1 : 0);
}

static void each_share_is_done_once(void **state)
{
    static const uint32_t counts[] = {1, 2, 3, 8, WORKERS_MAX};
    struct shares shares;

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_run(&shares, counts[i]);
        assert_int_equal(shares.elsewhere, counts[i] - 1);
    }
}

static void without_memory_the_caller_does_every_share(void **state)
{
    struct shares shares;

    (void)state;
    mem_fail_after(1);
    check_run(&shares, 8);
    mem_fail_after(0);
    assert_int_equal(shares.elsewhere, 0);
}

static void workers_take_no_signals_and_the_callers_mask_comes_back(void **state)
{
    struct shares shares;
    sigset_t before, after;

    (void)state;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    check_run(&shares, 4);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(shares.signals_open, 0);
    for (int number = 1; number < 32; number++)
        assert_int_equal(sigismember(&after, number), sigismember(&before, number));
}

static void there_is_at_least_one_core(void **state)
{
    (void)state;
    assert_true(parallel_cores() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_share_is_done_once),
        cmocka_unit_test(without_memory_the_caller_does_every_share),
        cmocka_unit_test(workers_take_no_signals_and_the_callers_mask_comes_back),
        cmocka_unit_test(there_is_at_least_one_core),
    };
    return cmocka_run_group_tests_name("base/parallel", tests, NULL, NULL);
}
