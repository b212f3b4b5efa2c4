/* parallel.c - threads that live as long as one call.
 *
 * Starting a thread costs some 20 microseconds, little beside the scans and merges that are worth
 * sharing; so there is no pool, no idle thread, and nothing to shut down or to lose in a fork. All
 * signals are blocked while threads are started, so that handlers keep running on the program's own
 * threads. If memory or threads run out the work is still done, only by fewer. */
#include "base/parallel.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/memory.h"

struct worker {
    pthread_t thread;
    void (*work)(void *arg, uint32_t worker);
    void *arg;
    uint32_t index;
    bool started;
};

uint32_t parallel_cores(void)
{
    cpu_set_t allowed;
    long online;

    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return (uint32_t)CPU_COUNT(&allowed);
    /* More cores than the set has room for. */
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

static void *worker_main(void *arg)
{
    struct worker *worker = arg;

    worker->work(worker->arg, worker->index);
    return NULL;
}

static void workers_start(struct worker *workers, uint32_t count)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 0; i < count; i++)
        workers[i].started =
            pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void parallel_run(uint32_t threads, void (*work)(void *arg, uint32_t worker), void *arg)
{
    struct worker *workers = NULL;
    uint32_t others = threads - 1;

    assert(threads >= 1);
    if (others > 0) workers = mem_zalloc(others, sizeof *workers);
    for (uint32_t i = 0; workers != NULL && i < others; i++)
        workers[i] = (struct worker){.work = work, .arg = arg, .index = i};
    if (workers != NULL) workers_start(workers, others);

    work(arg, others);
    for (uint32_t i = 0; i < others; i++)
        if (workers == NULL || !workers[i].started) work(arg, i);
    for (uint32_t i = 0; workers != NULL && i < others; i++)
        if (workers[i].started) pthread_join(workers[i].thread, NULL);
    mem_free(workers);
}
