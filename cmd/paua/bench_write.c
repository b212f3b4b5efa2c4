/* bench_write.c - paua bench write: durable single rows from waiting threads, and batches.
 *
 * Threads    each inserts one row a call and waits until it is durable; all share one collection,
 *            so that waiting calls can share one sync. Keys are disjoint by thread.
 * Yardstick  a bare commit loop runs before, between and after the runs, and is averaged: a disk's
 *            speed drifts within seconds. */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DIM 768u
#define BATCH_ROWS 1000u
#define THREADS_MAX 64u
#define SAMPLES_MAX 1000000u

struct load {
    paua_collection *collection;
    double seconds;
    atomic_bool failed;
    double *samples; /* commit times of a run with one thread, else NULL */
    size_t sample_count;
};

struct writer_thread {
    pthread_t thread;
    struct load *load;
    uint64_t key; /* next; thread t of n counts t, t + n, ... */
    uint64_t step;
    uint64_t rows;
};

static const paua_vector_field field = {
    .name = "vector", .dim = DIM, .metric = PAUA_COSINE, .precision = PAUA_FP32};

/* Any numbers do: what is measured does not look at them. */
static void make_vectors(float *vectors, size_t count, uint64_t seed)
{
    uint64_t state = seed * 2 + 1;

    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        vectors[i] = (float)(state >> 40) * 0x1p-23f - 1.0f;
    }
}

static bool insert(paua_collection *collection, const uint64_t *keys, const float *vectors,
                   size_t count)
{
    paua_vectors given = {.data = vectors};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = count, .u64 = keys},
                      .vectors = &given,
                      .vectors_count = 1};
    paua_error err;

    if (paua_insert(collection, &rows, NULL, NULL, &err) == PAUA_OK) return true;
    fail_with(&err);
    return false;
}

static void *write_rows(void *arg)
{
    struct writer_thread *writer = arg;
    struct load *load = writer->load;
    double start = now_s(), now = start;
    float vector[DIM];

    make_vectors(vector, DIM, writer->key);
    while (now - start < load->seconds && !atomic_load(&load->failed)) {
        double before = now;
        if (!insert(load->collection, &writer->key, vector, 1)) {
            atomic_store(&load->failed, true);
            break;
        }
        now = now_s();
        writer->key += writer->step;
        writer->rows++;
        if (load->samples != NULL && load->sample_count < SAMPLES_MAX)
            load->samples[load->sample_count++] = 1e3 * (now - before);
    }
    return NULL;
}

static int run_threads(struct load *load, size_t count, double *rows_per_s)
{
    struct writer_thread writers[THREADS_MAX];
    double start = now_s();
    uint64_t rows = 0;
    size_t started = 0;

    for (; started < count; started++) {
        writers[started] = (struct writer_thread){.load = load, .key = started, .step = count};
        if (pthread_create(&writers[started].thread, NULL, write_rows, &writers[started]) == 0)
            continue;
        fail("cannot start thread %zu, in this process, raise the limit of processes", started);
        atomic_store(&load->failed, true);
        break;
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(writers[i].thread, NULL);
        rows += writers[i].rows;
    }
    *rows_per_s = (double)rows / (now_s() - start);
    return atomic_load(&load->failed) ? EXIT_FAILED : EXIT_OK;
}

static int run_batches(struct load *load, double *rows_per_s)
{
    float *vectors = cmd_alloc((size_t)BATCH_ROWS * DIM, sizeof *vectors);
    uint64_t *keys = cmd_alloc(BATCH_ROWS, sizeof *keys);
    double start, spent = 0;
    uint64_t rows = 0;
    bool ok = true;

    make_vectors(vectors, (size_t)BATCH_ROWS * DIM, 1);
    start = now_s();
    while (ok && spent < load->seconds) {
        for (size_t i = 0; i < BATCH_ROWS; i++)
            keys[i] = rows + i;
        ok = insert(load->collection, keys, vectors, BATCH_ROWS);
        rows += BATCH_ROWS;
        spent = now_s() - start;
    }
    *rows_per_s = (double)rows / spent;
    free(vectors);
    free(keys);
    return ok ? EXIT_OK : EXIT_FAILED;
}

/* One run in a collection of its own; threads == 0: batches. */
static int run_load(const struct cli *cli, paua_db *db, size_t threads, struct load *load,
                    double *rows_per_s)
{
    paua_schema schema = {
        .size = sizeof schema, .document = PAUA_DOCUMENT_NONE, .fields = &field, .field_count = 1};
    char name[32];
    paua_error err;
    int rc;

    snprintf(name, sizeof name, "threads-%zu", threads);
    bench_say(cli, threads == 0 ? "batches of 1,000 rows" : "%zu threads, one row a call", threads);
    if (paua_collection_create(db, name, &schema, &load->collection, &err) != PAUA_OK)
        return fail_with(&err);
    rc = threads == 0 ? run_batches(load, rows_per_s) : run_threads(load, threads, rows_per_s);
    paua_collection_close(load->collection);
    return rc;
}

static int run_all(struct cli *cli, paua_db *db, const char *dir, double seconds)
{
    static const size_t threads[] = {1, 8, 64, 0};
    static const char *const names[] = {"rows_per_s_durable_1", "rows_per_s_durable_8",
                                        "rows_per_s_durable_64", "rows_per_s_batch"};
    double *samples = cmd_alloc(SAMPLES_MAX, sizeof *samples);
    json_t *result = json_made(json_object());
    double bare = 0, bare_sum = 0, rate = 0;
    int rc = bench_bare_commits(dir, seconds / COUNT_OF(threads), &bare_sum);

    for (size_t i = 0; i < COUNT_OF(threads) && rc == EXIT_OK; i++) {
        struct load load = {.seconds = seconds, .samples = threads[i] == 1 ? samples : NULL};
        rc = run_load(cli, db, threads[i], &load, &rate);
        json_object_set_new(result, names[i], json_real(six_digits(rate)));
        if (threads[i] == 1) {
            json_object_set_new(
                result, "commit_p50_ms",
                json_real(six_digits(bench_quantile(samples, load.sample_count, 0.5))));
            json_object_set_new(
                result, "commit_p99_ms",
                json_real(six_digits(bench_quantile(samples, load.sample_count, 0.99))));
        }
        if (rc == EXIT_OK) rc = bench_bare_commits(dir, seconds / COUNT_OF(threads), &bare);
        bare_sum += bare;
    }
    json_object_set_new(result, "bare_commits_per_s",
                        json_real(six_digits(bare_sum / (double)(COUNT_OF(threads) + 1))));
    if (rc == EXIT_OK)
        json_line(result);
    else
        json_decref(result);
    free(samples);
    return rc;
}

int bench_write(struct cli *cli)
{
    paua_open_opts opts = cli->open;
    struct bench_dir dir;
    uint64_t run_ms = 3000;
    paua_error err;
    paua_db *db;
    int rc;

    if (!args_u64(&cli->args, "ms", 1, 600000, &run_ms)) return EXIT_USAGE;
    rc = bench_dir_make(cli, &dir);
    if (rc != EXIT_OK) return rc;
    opts.create = true;
    if (paua_open(dir.database, &opts, &db, &err) == PAUA_OK) {
        rc = run_all(cli, db, dir.path, 1e-3 * (double)run_ms);
        paua_close(db);
    } else {
        rc = fail_with(&err);
    }
    bench_dir_remove(&dir);
    return rc;
}
