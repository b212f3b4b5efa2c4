/* bench_exact.c - paua bench exact: import, reopen and exact search, with their yardsticks.
 *
 * Order      the bare machine (in children), import, close, reopen with the first answer, warm-up,
 *            200 single searches, one batch of 1,000 queries three times, recall, sizes.
 * Recall     the share of the true nearest ids that were found, over all queries of the file.
 * Memory     the base file is streamed; only the queries are held. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "source.h"

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
    uint64_t rows_max;
    float *queries; /* BATCH_QUERIES of them, those of the file over and over */
    size_t query_count;
    uint64_t rows;
    double import_s, reopen_ms, serial_ms, serial_p95_ms, batch_s, recall;
    double read_gb_per_s, copy_fsync_s;
    uint64_t disk_nbytes;
};

/* The dimension that the first row of an fvecs file announces. */
static int take_dim(struct exact *exact, const char *path)
{
    struct instream in;
    struct fault fault;
    int32_t dim = 0;
    size_t got = 0;
    bool ok = instream_open(&in, path, &fault);

    if (!ok) return fail("%s", fault.text);
    ok = instream_read(&in, &dim, sizeof dim, &got, &fault) && got == sizeof dim;
    instream_close(&in);
    if (!ok || dim < 1 || (uint32_t)dim > PAUA_DIM_MAX)
        return fail("%s: it is no fvecs file, give --base and --query as fvecs", path);
    exact->field.dim = (uint32_t)dim;
    return EXIT_OK;
}

static int read_queries(struct exact *exact, const char *path)
{
    size_t dim = exact->field.dim;
    struct reader_state reader;
    struct fault fault;
    enum row_result result = ROW_OK;

    if (!reader_start(&reader, &format_fvecs, path, &exact->schema, 0, &fault))
        return fail("%s", fault.text);
    exact->queries = cmd_alloc(BATCH_QUERIES, dim * sizeof(float));
    while (result == ROW_OK && exact->query_count < BATCH_QUERIES) {
        struct row row;
        row.vectors[0] = exact->queries + exact->query_count * dim;
        result = reader_row(&reader, &row, &fault);
        if (result == ROW_OK) exact->query_count++;
    }
    reader_end(&reader);
    if (result == ROW_BAD || result == ROW_BROKEN) return fail("%s", fault.text);
    if (exact->query_count == 0) return fail("%s: it holds no queries", path);
    for (size_t i = exact->query_count; i < BATCH_QUERIES; i++)
        memcpy(exact->queries + i * dim, exact->queries + (i - exact->query_count) * dim,
               dim * sizeof(float));
    return EXIT_OK;
}

static int insert_block(struct exact *exact, paua_collection *collection, struct row_block *block)
{
    paua_rows rows = block_rows(block);
    paua_error err;

    if (block->count == 0) return EXIT_OK;
    if (paua_insert(collection, &rows, NULL, NULL, &err) != PAUA_OK) return fail_with(&err);
    exact->rows += block->count;
    bench_say(exact->cli, "  %llu rows", (unsigned long long)exact->rows);
    return EXIT_OK;
}

static int import_rows(struct exact *exact, paua_collection *collection, const char *path)
{
    struct source source = {.schema = &exact->schema};
    struct row_block block;
    struct fault fault;
    enum row_result result = ROW_OK;
    int rc = EXIT_OK;

    if (!reader_start(&source.reader, &format_fvecs, path, &exact->schema, 0, &fault))
        return fail("%s", fault.text);
    block_begin(&block, &exact->schema, block_default_rows(&exact->schema));
    while (rc == EXIT_OK && result == ROW_OK && source.ordinal < exact->rows_max) {
        block_reset(&block);
        while (result == ROW_OK && !block_full(&block) && source.ordinal < exact->rows_max)
            result = source_row(&source, &block, &fault);
        rc = insert_block(exact, collection, &block);
    }
    if (rc == EXIT_OK && (result == ROW_BAD || result == ROW_BROKEN)) rc = fail("%s", fault.text);
    block_free(&block);
    reader_end(&source.reader);
    return rc;
}

static int import(struct exact *exact, const char *path)
{
    paua_open_opts opts = exact->cli->open;
    paua_collection *collection;
    paua_error err;
    paua_db *db;
    double start = now_s();
    int rc;

    bench_say(exact->cli, "importing %s", path);
    opts.create = true;
    if (paua_open(exact->dir.database, &opts, &db, &err) != PAUA_OK) return fail_with(&err);
    if (paua_collection_create(db, "base", &exact->schema, &collection, &err) == PAUA_OK) {
        rc = import_rows(exact, collection, path);
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
    if (paua_search(collection, exact->queries + first * exact->field.dim, count, 0, &opts, hits,
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

/* How many of the first `wanted` true ids are among a query's hits. */
static size_t count_found(const paua_hits *hits, size_t query, const int32_t *ids, size_t wanted)
{
    size_t found = 0;

    for (size_t i = 0; i < paua_hits_count(hits, query); i++) {
        uint64_t key = paua_hits_at(hits, query, i).key.u64;
        for (size_t j = 0; j < wanted; j++) {
            if ((uint64_t)ids[j] != key) continue;
            found++;
            break;
        }
    }
    return found;
}

static int measure_recall(struct exact *exact, const paua_hits *hits, const char *path)
{
    struct instream in;
    struct fault fault;
    int32_t *ids = NULL;
    uint64_t found = 0, wanted = 0;
    bool ok = instream_open(&in, path, &fault);

    if (!ok) return fail("%s", fault.text);
    for (size_t q = 0; ok && q < exact->query_count; q++) {
        int32_t count = 0;
        size_t got = 0, use;
        ok = instream_read(&in, &count, sizeof count, &got, &fault) && got == sizeof count &&
             count > 0 && count <= 1000000;
        if (!ok) break;
        ids = cmd_grow(ids, (size_t)count, sizeof *ids);
        ok = instream_read(&in, ids, (size_t)count * sizeof *ids, &got, &fault) &&
             got == (size_t)count * sizeof *ids;
        use = (size_t)count < exact->opts.k ? (size_t)count : exact->opts.k;
        if (use > exact->rows) use = exact->rows;
        if (ok) found += count_found(hits, q, ids, use);
        wanted += use;
    }
    instream_close(&in);
    free(ids);
    if (!ok) return fail("%s: it is no ivecs file with a row for each query", path);
    exact->recall = (double)found / (double)wanted;
    return EXIT_OK;
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
    if (rc == EXIT_OK && truth != NULL && exact->rows_max == UINT64_MAX)
        rc = measure_recall(exact, hits, truth);
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
        (json_int_t)exact->rows, "dim", (json_int_t)exact->field.dim, "import_s",
        bench_round(exact->import_s), "reopen_ms", bench_round(exact->reopen_ms), "serial_ms",
        bench_round(exact->serial_ms), "serial_p95_ms", bench_round(exact->serial_p95_ms),
        "batch_s", bench_round(exact->batch_s), "recall", json_made(recall), "disk_bytes",
        (json_int_t)exact->disk_nbytes, "peak_rss_kib", (json_int_t)bench_peak_rss_kib(), "tier",
        paua_tier(), "threads", (json_int_t)exact->opts.threads, "version", paua_version(),
        "read_gb_per_s", bench_round(exact->read_gb_per_s), "copy_fsync_s",
        bench_round(exact->copy_fsync_s)));
}

static int measure(struct exact *exact, const char *base, const char *query)
{
    int rc;

    bench_say(exact->cli, "measuring the bare machine");
    rc = bench_bare_read(base, &exact->read_gb_per_s);
    if (rc == EXIT_OK) rc = bench_bare_copy(base, exact->dir.path, &exact->copy_fsync_s);
    if (rc == EXIT_OK) rc = read_queries(exact, query);
    if (rc == EXIT_OK) rc = import(exact, base);
    if (rc == EXIT_OK) exact->disk_nbytes = bench_disk_nbytes(exact->dir.database);
    if (rc == EXIT_OK) rc = reopen(exact);
    if (rc == EXIT_OK) print_result(exact);
    free(exact->queries);
    return rc;
}

static int take_options(struct exact *exact)
{
    const struct args *args = &exact->cli->args;
    uint32_t metric = PAUA_COSINE - 1, precision = PAUA_FP32;

    exact->opts = (paua_search_opts){.size = sizeof exact->opts, .k = 100, .threads = 1};
    exact->rows_max = UINT64_MAX;
    exact->field.name = "vector";
    if (!args_choice(args, "metric", metric_names + 1, &metric) ||
        !args_choice(args, "precision", precision_names, &precision) ||
        !args_u32(args, "k", 1, 1000000, &exact->opts.k) ||
        !args_u32(args, "threads", 1, 1024, &exact->opts.threads) ||
        !args_u64(args, "rows", 1, UINT64_MAX - 1, &exact->rows_max))
        return EXIT_USAGE;
    exact->field.metric = (paua_metric)(metric + 1);
    exact->field.precision = (paua_precision)precision;
    exact->schema = (paua_schema){.size = sizeof exact->schema,
                                  .document = PAUA_DOCUMENT_NONE,
                                  .fields = &exact->field,
                                  .field_count = 1};
    return EXIT_OK;
}

int bench_exact(struct cli *cli)
{
    struct exact exact = {.cli = cli};
    const char *base = args_value(&cli->args, "base");
    const char *query = args_value(&cli->args, "query");
    int rc = take_options(&exact);

    if (rc != EXIT_OK) return rc;
    if (base == NULL || query == NULL)
        return usage("bench exact: give --base FILE and --query FILE, see paua help bench");
    rc = take_dim(&exact, base);
    if (rc == EXIT_OK) rc = bench_dir_make(cli, &exact.dir);
    if (rc != EXIT_OK) return rc;
    rc = measure(&exact, base, query);
    bench_dir_remove(&exact.dir);
    return rc;
}
