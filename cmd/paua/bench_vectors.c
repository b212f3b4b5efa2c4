/* bench_vectors.c - paua bench vectors: a collection's life with its codes and graph, measured.
 *
 * Order     insert (streamed, 1,000 rows a call), optimize, close, reopen with the first answer,
 *           warm-up, the concurrent workers, the serial searches, sizes and memory; then, after
 *           everything is measured, the truth and the recall.
 * Stages    No maintenance runs beside the inserts, so that optimize_s is the whole of merging,
 *           training, encoding and building. Searches read the reopened database, read-only.
 * Memory    One process does all of it, so that the peak is the peak of the whole run. It holds the
 *           queries, their ids and two histograms; the block that rows are read into is gone before
 *           optimizing. Peaks (VmHWM) are read after each stage and only rise.
 * Recall    The share of the first k true ids that the serial searches found.
 * Rejected  The best of several passes (flatters); a truth from the database under test (it may not
 *           keep its originals). */
#include "bench_vectors.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "field.h"
#include "progress.h"

#define BATCH_ROWS 1000u
#define WARM_SEARCHES 100u
#define SERIAL_SEARCHES 1000u
#define WORKERS_MAX 256u

static int open_base(struct vectors *vectors, bool create, paua_db **db,
                     paua_collection **collection)
{
    paua_open_opts opts = vectors->open;
    paua_error err;
    paua_status status;

    opts.create = create;
    opts.read_only = !create;
    if (paua_open(vectors->dir.database, &opts, db, &err) != PAUA_OK) return fail_with(&err);
    status = create ? paua_collection_create(*db, "base", &vectors->schema, collection, &err)
                    : paua_collection_open(*db, "base", collection, &err);
    if (status == PAUA_OK) return EXIT_OK;
    paua_close(*db);
    return fail_with(&err);
}

static int optimize(struct vectors *vectors, paua_collection *collection)
{
    struct progress progress;
    paua_optimize_opts opts = {.size = sizeof opts,
                               .threads = vectors->threads,
                               .progress = progress_callback,
                               .progress_arg = &progress,
                               .cancel = &interrupt_cancel};
    paua_error err;
    double start = now_s();
    int rc = EXIT_OK;

    bench_say(vectors->cli, "optimizing");
    progress_begin(&progress, vectors->cli, "rows", false);
    if (paua_optimize(collection, &opts, &err) != PAUA_OK) rc = fail_with(&err);
    progress_end(&progress);
    vectors->optimize_s = now_s() - start;
    return rc;
}

static int build(struct vectors *vectors)
{
    paua_collection *collection;
    paua_db *db;
    double start = now_s();
    int rc = open_base(vectors, true, &db, &collection);

    if (rc != EXIT_OK) return rc;
    bench_say(vectors->cli, "inserting %s", vectors->load.path);
    rc = bench_load(&vectors->load, collection);
    vectors->insert_s = now_s() - start;
    /* What the block left behind is no memory of the library's. */
    malloc_trim(0);
    vectors->after_insert = bench_memory_now();
    if (rc == EXIT_OK && !vectors->load.cut) rc = vectors_truth_check(vectors, vectors->load.rows);
    if (rc == EXIT_OK) rc = optimize(vectors, collection);
    paua_collection_close(collection);
    paua_close(db);
    vectors->after_optimize = bench_memory_now();
    return rc;
}

static int search_one(struct vectors *vectors, paua_collection *collection, paua_hits *hits,
                      size_t query)
{
    const struct bench_queries *queries = &vectors->queries;
    paua_error err;

    if (paua_search(collection, queries->vectors + query % queries->count * queries->dim, 1, 0,
                    &vectors->search, hits, &err) == PAUA_OK)
        return EXIT_OK;
    return fail_with(&err);
}

static int warm_up(struct vectors *vectors, paua_collection *collection, paua_hits *hits)
{
    int rc = EXIT_OK;

    for (size_t i = 0; i < WARM_SEARCHES && rc == EXIT_OK; i++)
        rc = search_one(vectors, collection, hits, i);
    return rc;
}

static int serial(struct vectors *vectors, paua_collection *collection, paua_hits *hits)
{
    size_t count = vectors->queries.count;
    size_t searches = count > SERIAL_SEARCHES ? count : SERIAL_SEARCHES;
    double begin = now_s();
    int rc = EXIT_OK;

    bench_say(vectors->cli, "%zu single searches", searches);
    for (size_t i = 0; i < searches && rc == EXIT_OK; i++) {
        double start = now_s();
        rc = search_one(vectors, collection, hits, i);
        latency_add(vectors->serial, now_s() - start);
        if (i < count && rc == EXIT_OK) bench_ids_take(&vectors->found, i, hits);
    }
    vectors->serial_s = now_s() - begin;
    return rc;
}

static void take_index(void *arg, const paua_index *index)
{
    struct vectors *vectors = arg;

    vectors->params = index->params;
    vectors->walk_nbytes = index->walk_nbytes;
    vectors->refine_nbytes = index->refine_nbytes;
    vectors->factor_nbytes = index->factor_nbytes;
    vectors->graph_nbytes = index->graph_nbytes;
}

static int measure_searches(struct vectors *vectors, paua_collection *collection, double start)
{
    paua_hits *hits;
    paua_error err;
    int rc;

    if (paua_hits_open(&hits, &err) != PAUA_OK) return fail_with(&err);
    rc = search_one(vectors, collection, hits, 0);
    vectors->reopen_ms = 1e3 * (now_s() - start);
    if (rc == EXIT_OK) rc = warm_up(vectors, collection, hits);
    if (rc == EXIT_OK) rc = vectors_concurrent(vectors, collection);
    if (rc == EXIT_OK) rc = serial(vectors, collection, hits);
    paua_hits_close(hits);
    vectors->after_search = bench_memory_now();
    vectors->params.kind = PAUA_INDEX_NONE;
    if (rc == EXIT_OK && paua_index_list(collection, take_index, vectors, &err) != PAUA_OK)
        rc = fail_with(&err);
    return rc;
}

static int reopen(struct vectors *vectors)
{
    paua_collection *collection;
    paua_db *db;
    double start = now_s();
    int rc;

    bench_say(vectors->cli, "reopening");
    vectors->disk_nbytes = bench_disk_nbytes(vectors->dir.database);
    start = now_s();
    rc = open_base(vectors, false, &db, &collection);
    if (rc != EXIT_OK) return rc;
    rc = measure_searches(vectors, collection, start);
    paua_collection_close(collection);
    paua_close(db);
    return rc;
}

static int measure(struct vectors *vectors)
{
    int rc = bench_queries_read(vectors->query, &vectors->schema, SIZE_MAX, &vectors->queries);

    if (rc != EXIT_OK) return rc;
    bench_ids_begin(&vectors->found, vectors->queries.count, vectors->search.k);
    bench_ids_begin(&vectors->true_ids, vectors->queries.count, vectors->search.k);
    vectors->serial = cmd_alloc(1, sizeof *vectors->serial);
    vectors->concurrent = cmd_alloc(1, sizeof *vectors->concurrent);
    rc = vectors_truth_check(vectors, UINT64_MAX);
    if (rc == EXIT_OK) rc = build(vectors);
    if (rc == EXIT_OK) rc = reopen(vectors);
    if (rc == EXIT_OK) rc = vectors_truth(vectors);
    if (rc == EXIT_OK) {
        vectors->recall = bench_recall(&vectors->true_ids, &vectors->found);
        vectors_report(vectors);
    }
    free(vectors->serial);
    free(vectors->concurrent);
    bench_ids_free(&vectors->found);
    bench_ids_free(&vectors->true_ids);
    bench_queries_free(&vectors->queries);
    return rc;
}

static bool take_search(struct vectors *vectors)
{
    const struct args *args = &vectors->cli->args;

    vectors->search = (paua_search_opts){.size = sizeof vectors->search,
                                         .k = 100,
                                         .threads = 1,
                                         .cancel = &interrupt_cancel,
                                         .refine = args_has(args, "refine")};
    if (!args_u32(args, "k", 1, 1000000, &vectors->search.k) ||
        !args_u32(args, "ef", 1, INT32_MAX, &vectors->search.ef))
        return false;
    vectors->workers = 8;
    vectors->seconds = 30;
    return args_u32(args, "workers", 1, WORKERS_MAX, &vectors->workers) &&
           args_double(args, "seconds", 0.05, 86400, &vectors->seconds);
}

static bool take_options(struct vectors *vectors)
{
    const struct args *args = &vectors->cli->args;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    vectors->load = (struct bench_load){.cli = vectors->cli,
                                        .path = args_value(args, "base"),
                                        .rows_most = UINT64_MAX,
                                        .batch_most = BATCH_ROWS};
    vectors->query = args_value(args, "query");
    vectors->truth = args_value(args, "truth");
    vectors->field = (paua_vector_field){.name = "vector", .metric = PAUA_COSINE};
    vectors->threads = cores < 1 ? 1 : (uint32_t)cores;
    if (!field_take_options(args, &vectors->field) ||
        !field_settle_numbers(args, &vectors->field, 1) ||
        !args_u32(args, "threads", 1, 1024, &vectors->threads) ||
        !args_u64(args, "rows", 1, UINT64_MAX - 1, &vectors->load.rows_most))
        return false;
    vectors->schema = (paua_schema){.size = sizeof vectors->schema,
                                    .document = PAUA_DOCUMENT_NONE,
                                    .fields = &vectors->field,
                                    .field_count = 1};
    vectors->open = vectors->cli->open;
    vectors->open.lean = args_has(args, "lean");
    vectors->open.map_originals = args_has(args, "map-originals");
    vectors->open.no_background = true;
    return take_search(vectors);
}

int bench_vectors(struct cli *cli)
{
    struct vectors vectors = {.cli = cli};
    int rc;

    if (!take_options(&vectors)) return EXIT_USAGE;
    if (vectors.load.path == NULL || vectors.query == NULL)
        return usage("bench vectors: give --base FILE and --query FILE, see paua help bench");
    rc = bench_dim(vectors.load.path, &vectors.field.dim);
    if (rc == EXIT_OK) rc = bench_dir_make(cli, &vectors.dir);
    if (rc != EXIT_OK) return rc;
    interrupt_watch();
    rc = measure(&vectors);
    bench_dir_remove(&vectors.dir);
    return rc;
}
