/* bench_exact.c - paua bench exact: import, reopen and exact search, with their yardsticks.
 *
 * Order      the bare machine (in children), import, close, reopen with the first answer, warm-up,
 *            200 single searches, one batch of 1,000 queries three times, recall, sizes.
 * Recall     the share of the true nearest ids that were found, over all queries of the file.
 * Memory     the base file is streamed; only the queries are held. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "bench_data.h"
#include "field.h"

#define SERIAL_SEARCHES 200u
#define WARM_SEARCHES 20u
#define BATCH_QUERIES 1000u
#define BATCH_RUNS 3u

struct exact {
    struct cli *cli;
    struct bench_dir dir;
    paua_vector_field field;
    paua_schema schema;
    paua_search_opts opts;
    struct bench_load load;
    struct bench_queries queries; /* of the file */
    float *batch;                 /* BATCH_QUERIES of them, those of the file over and over */
    double import_s, reopen_ms, serial_ms, serial_p95_ms, batch_s, recall;
    double read_gb_per_s, copy_fsync_s;
    uint64_t disk_nbytes;
};

static int read_queries(struct exact *exact, const char *path)
{
    struct bench_queries *queries = &exact->queries;
    size_t dim = exact->field.dim;
    int rc = bench_queries_read(path, &exact->schema, BATCH_QUERIES, queries);

    if (rc != EXIT_OK) return rc;
    exact->batch = cmd_alloc(BATCH_QUERIES, dim * sizeof(float));
    for (size_t i = 0; i < BATCH_QUERIES; i++)
        memcpy(exact->batch + i * dim, queries->vectors + i % queries->count * dim,
               dim * sizeof(float));
    return EXIT_OK;
}

static int import(struct exact *exact)
{
    paua_open_opts opts = exact->cli->open;
    paua_collection *collection;
    paua_error err;
    paua_db *db;
    double start = now_s();
    int rc;

    bench_say(exact->cli, "importing %s", exact->load.path);
    opts.create = true;
    if (paua_open(exact->dir.database, &opts, &db, &err) != PAUA_OK) return fail_with(&err);
    if (paua_collection_create(db, "base", &exact->schema, &collection, &err) == PAUA_OK) {
        rc = bench_load(&exact->load, collection);
        exact->import_s = now_s() - start;
        paua_collection_close(collection);
    } else {
        rc = fail_with(&err);
    }
    paua_close(db);
    return rc;
}

static int search(struct exact *exact, paua_collection *collection, paua_hits *hits, size_t first,
                  size_t count, uint32_t threads)
{
    paua_search_opts opts = exact->opts;
    paua_error err;

    opts.threads = threads;
    if (paua_search(collection, exact->batch + first * exact->field.dim, count, 0, &opts, hits,
                    &err) == PAUA_OK)
        return EXIT_OK;
    return fail_with(&err);
}

static int measure_serial(struct exact *exact, paua_collection *collection, paua_hits *hits)
{
    double samples[SERIAL_SEARCHES];

    bench_say(exact->cli, "%u single searches", SERIAL_SEARCHES);
    for (size_t i = 0; i < WARM_SEARCHES; i++) {
        if (search(exact, collection, hits, i, 1, 1) != EXIT_OK) return EXIT_FAILED;
    }
    for (size_t i = 0; i < SERIAL_SEARCHES; i++) {
        double start = now_s();
        if (search(exact, collection, hits, i, 1, 1) != EXIT_OK) return EXIT_FAILED;
        samples[i] = 1e3 * (now_s() - start);
    }
    exact->serial_ms = bench_quantile(samples, SERIAL_SEARCHES, 0.5);
    exact->serial_p95_ms = bench_quantile(samples, SERIAL_SEARCHES, 0.95);
    return EXIT_OK;
}

static int measure_batch(struct exact *exact, paua_collection *collection, paua_hits *hits)
{
    for (size_t i = 0; i < BATCH_RUNS; i++) {
        double start = now_s();
        bench_say(exact->cli, "a batch of %u queries", BATCH_QUERIES);
        if (search(exact, collection, hits, 0, BATCH_QUERIES, exact->opts.threads) != EXIT_OK)
            return EXIT_FAILED;
        if (i == 0 || now_s() - start < exact->batch_s) exact->batch_s = now_s() - start;
    }
    return EXIT_OK;
}

static int measure_recall(struct exact *exact, const paua_hits *hits, const char *path)
{
    struct bench_ids truth, found;
    int rc;

    bench_ids_begin(&truth, exact->queries.count, exact->opts.k);
    bench_ids_begin(&found, exact->queries.count, exact->opts.k);
    bench_ids_take(&found, 0, hits);
    rc = bench_truth_read(path, exact->load.rows, &truth);
    if (rc == EXIT_OK) exact->recall = bench_recall(&truth, &found);
    bench_ids_free(&truth);
    bench_ids_free(&found);
    return rc;
}

static int measure_searches(struct exact *exact, paua_db *db, double start)
{
    const char *truth = args_value(&exact->cli->args, "truth");
    paua_collection *collection = NULL;
    paua_hits *hits = NULL;
    paua_error err;
    int rc;

    if (paua_collection_open(db, "base", &collection, &err) != PAUA_OK ||
        paua_hits_open(&hits, &err) != PAUA_OK) {
        paua_collection_close(collection);
        return fail_with(&err);
    }
    rc = search(exact, collection, hits, 0, 1, 1);
    exact->reopen_ms = 1e3 * (now_s() - start);
    if (rc == EXIT_OK) rc = measure_serial(exact, collection, hits);
    if (rc == EXIT_OK) rc = measure_batch(exact, collection, hits);
    exact->recall = -1;
    /* The truth is that of the whole file. */
    if (rc == EXIT_OK && truth != NULL && !exact->load.cut) rc = measure_recall(exact, hits, truth);
    paua_hits_close(hits);
    paua_collection_close(collection);
    return rc;
}

static int reopen(struct exact *exact)
{
    paua_open_opts opts = exact->cli->open;
    paua_error err;
    paua_db *db;
    double start = now_s();
    int rc;

    bench_say(exact->cli, "reopening");
    opts.read_only = true;
    if (paua_open(exact->dir.database, &opts, &db, &err) != PAUA_OK) return fail_with(&err);
    rc = measure_searches(exact, db, start);
    paua_close(db);
    return rc;
}

static void print_result(const struct exact *exact)
{
    json_t *recall = exact->recall < 0 ? json_null() : json_real(exact->recall);

    json_line(json_pack(
        "{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:I, s:I, s:s, s:I, s:s, s:f, s:f}", "rows",
        (json_int_t)exact->load.rows, "dim", (json_int_t)exact->field.dim, "import_s",
        six_digits(exact->import_s), "reopen_ms", six_digits(exact->reopen_ms), "serial_ms",
        six_digits(exact->serial_ms), "serial_p95_ms", six_digits(exact->serial_p95_ms), "batch_s",
        six_digits(exact->batch_s), "recall", json_made(recall), "disk_bytes",
        (json_int_t)exact->disk_nbytes, "peak_rss_kib", (json_int_t)bench_memory_now().peak_kib,
        "tier", paua_tier(), "threads", (json_int_t)exact->opts.threads, "version", paua_version(),
        "read_gb_per_s", six_digits(exact->read_gb_per_s), "copy_fsync_s",
        six_digits(exact->copy_fsync_s)));
}

static int measure(struct exact *exact, const char *query)
{
    const char *base = exact->load.path;
    int rc;

    bench_say(exact->cli, "measuring the bare machine");
    rc = bench_bare_read(base, &exact->read_gb_per_s);
    if (rc == EXIT_OK) rc = bench_bare_copy(base, exact->dir.path, &exact->copy_fsync_s);
    if (rc == EXIT_OK) rc = read_queries(exact, query);
    if (rc == EXIT_OK) rc = import(exact);
    if (rc == EXIT_OK) exact->disk_nbytes = bench_disk_nbytes(exact->dir.database);
    if (rc == EXIT_OK) rc = reopen(exact);
    if (rc == EXIT_OK) print_result(exact);
    free(exact->batch);
    bench_queries_free(&exact->queries);
    return rc;
}

static int take_options(struct exact *exact)
{
    const struct args *args = &exact->cli->args;

    exact->opts = (paua_search_opts){.size = sizeof exact->opts, .k = 100, .threads = 1};
    exact->opts.exact = true;
    exact->load = (struct bench_load){
        .cli = exact->cli, .path = args_value(args, "base"), .rows_most = UINT64_MAX};
    exact->load.batch_most = SIZE_MAX;
    exact->field = (paua_vector_field){.name = "vector", .metric = PAUA_COSINE};
    if (!field_take_options(args, &exact->field) ||
        !args_u32(args, "k", 1, 1000000, &exact->opts.k) ||
        !args_u32(args, "threads", 1, 1024, &exact->opts.threads) ||
        !args_u64(args, "rows", 1, UINT64_MAX - 1, &exact->load.rows_most))
        return EXIT_USAGE;
    if (exact->field.precision > PAUA_FP16)
        return usage("option --precision: bench exact compares fp32 or fp16, give one of them");
    /* No codes, so that nothing but exact search and its files is measured. */
    exact->field.index = (paua_index_params){.kind = PAUA_INDEX_NONE};
    exact->schema = (paua_schema){.size = sizeof exact->schema,
                                  .document = PAUA_DOCUMENT_NONE,
                                  .fields = &exact->field,
                                  .field_count = 1};
    return EXIT_OK;
}

int bench_exact(struct cli *cli)
{
    struct exact exact = {.cli = cli};
    const char *query = args_value(&cli->args, "query");
    int rc = take_options(&exact);

    if (rc != EXIT_OK) return rc;
    if (exact.load.path == NULL || query == NULL)
        return usage("bench exact: give --base FILE and --query FILE, see paua help bench");
    rc = bench_dim(exact.load.path, &exact.field.dim);
    if (rc == EXIT_OK) rc = bench_dir_make(cli, &exact.dir);
    if (rc != EXIT_OK) return rc;
    rc = measure(&exact, query);
    bench_dir_remove(&exact.dir);
    return rc;
}
