/* bench_workers.c - paua bench vectors: searches from many threads at once.
 *
 * Threads   Workers share the collection and the queries and nothing that they write: each has its
 *           hits, its histogram and its place among the queries (evenly apart, so that no two ask
 *           the same at once). The clock starts before the first thread is made. A worker that
 *           fails stops the others. */
#include "bench_vectors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct crowd {
    struct vectors *vectors;
    paua_collection *collection;
    double end_s;
    atomic_bool stopped;
};

struct worker {
    pthread_t thread;
    struct crowd *crowd;
    paua_hits *hits;
    size_t next; /* query */
    struct latency latency;
    paua_status status;
    paua_error err;
};

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct crowd *crowd = worker->crowd;
    const struct vectors *vectors = crowd->vectors;
    const struct bench_queries *queries = &vectors->queries;
    double now = now_s();

    while (now < crowd->end_s && !atomic_load_explicit(&crowd->stopped, memory_order_relaxed)) {
        double before = now;
        worker->status =
            paua_search(crowd->collection, queries->vectors + worker->next * queries->dim, 1, 0,
                        &vectors->search, worker->hits, &worker->err);
        if (worker->status != PAUA_OK) {
            atomic_store(&crowd->stopped, true);
            break;
        }
        now = now_s();
        latency_add(&worker->latency, now - before);
        worker->next = worker->next + 1 == queries->count ? 0 : worker->next + 1;
    }
    return NULL;
}

static int open_workers(struct crowd *crowd, struct worker *workers, size_t count)
{
    paua_error err;

    for (size_t i = 0; i < count; i++) {
        workers[i].crowd = crowd;
        workers[i].next = i * crowd->vectors->queries.count / count;
        if (paua_hits_open(&workers[i].hits, &err) != PAUA_OK) return fail_with(&err);
    }
    return EXIT_OK;
}

static int run_workers(struct crowd *crowd, struct worker *workers, size_t count)
{
    struct vectors *vectors = crowd->vectors;
    double start = now_s();
    size_t started = 0;
    int rc = EXIT_OK;

    crowd->end_s = start + vectors->seconds;
    while (started < count && rc == EXIT_OK) {
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0) {
            started++;
            continue;
        }
        atomic_store(&crowd->stopped, true);
        rc =
            fail("cannot start worker %zu, in this process, raise the limit of processes", started);
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    vectors->concurrent_s = now_s() - start;
    for (size_t i = 0; i < started; i++) {
        if (rc == EXIT_OK && workers[i].status != PAUA_OK) rc = fail_with(&workers[i].err);
        latency_merge(vectors->concurrent, &workers[i].latency);
    }
    return rc;
}

int vectors_concurrent(struct vectors *vectors, paua_collection *collection)
{
    size_t count = vectors->workers;
    struct crowd crowd = {.vectors = vectors, .collection = collection};
    struct worker *workers = cmd_alloc(count, sizeof *workers);
    int rc;

    bench_say(vectors->cli, "%zu workers, %g s", count, vectors->seconds);
    rc = open_workers(&crowd, workers, count);
    if (rc == EXIT_OK) rc = run_workers(&crowd, workers, count);
    for (size_t i = 0; i < count; i++)
        paua_hits_close(workers[i].hits);
    free(workers);
    return rc;
}
