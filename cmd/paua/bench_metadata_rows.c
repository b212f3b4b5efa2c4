/* bench_metadata_rows.c - paua bench metadata --shape collection: the rows of the founding workload
 * end to end, with a vector of 16 dimensions each, written durably, 1,000 a call, filtered,
 * optimized, and opened again.
 *
 * filter_us   one paua_count with an equality, parsed before: the median of many.
 * live_bytes  the process's heap for the collection and what of its column files is mapped, once
 *             optimized.
 * reopen_ms   from opening the database to the first count. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_data.h"

#define DIM 16u
#define BATCH_ROWS 1000u
#define COUNTS 501u
#define KEYS_MAX 64u
#define TEXT_NBYTES 40u

struct metadata {
    struct cli *cli;
    struct bench_dir dir;
    uint64_t rows;
    uint32_t keys, values;
    char names[KEYS_MAX][TEXT_NBYTES];
    char (*texts)[TEXT_NBYTES]; /* keys x values */
    paua_field columns[KEYS_MAX];
    double insert_ms, optimize_ms, filter_ms, reopen_ms;
    uint64_t live_nbytes, disk_nbytes;
};

static void names_make(struct metadata *m)
{
    m->texts = cmd_alloc((size_t)m->keys * m->values, TEXT_NBYTES);
    for (uint32_t k = 0; k < m->keys; k++) {
        snprintf(m->names[k], TEXT_NBYTES, "meta_key_%u", k);
        m->columns[k] = (paua_field){m->names[k], PAUA_TYPE_STRING};
        for (uint32_t v = 0; v < m->values; v++)
            snprintf(m->texts[(size_t)k * m->values + v], TEXT_NBYTES, "meta_value_%u_%u", k, v);
    }
}

struct batch_memory {
    uint64_t keys[BATCH_ROWS];
    float vectors[BATCH_ROWS][DIM];
    paua_value values[KEYS_MAX][BATCH_ROWS];
};

static int insert_batch(const struct metadata *m, paua_collection *collection, uint64_t first,
                        size_t n, struct batch_memory *memory)
{
    paua_column columns[KEYS_MAX];
    const paua_vectors vectors = {memory->vectors[0], 0};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = n, .u64 = memory->keys},
                      .vectors = &vectors,
                      .vectors_count = 1,
                      .columns = columns,
                      .column_count = m->keys};
    paua_error err;

    for (size_t i = 0; i < n; i++) {
        uint64_t row = first + i;

        memory->keys[i] = row;
        for (uint32_t d = 0; d < DIM; d++)
            memory->vectors[i][d] = (float)((row * 31 + d * 17) % 1009) / 1009;
        for (uint32_t k = 0; k < m->keys; k++) {
            const char *text = m->texts[(size_t)k * m->values + (row + k * row / 7) % m->values];

            memory->values[k][i] = (paua_value){.type = PAUA_TYPE_STRING};
            memory->values[k][i].as.bytes = (paua_bytes){text, strlen(text)};
        }
    }
    for (uint32_t k = 0; k < m->keys; k++)
        columns[k] = (paua_column){m->names[k], memory->values[k]};
    if (paua_insert(collection, &rows, NULL, NULL, &err) != PAUA_OK) return fail_with(&err);
    return EXIT_OK;
}

static int insert_all(struct metadata *m, paua_collection *collection)
{
    struct batch_memory *memory = cmd_alloc(1, sizeof *memory);
    double start = now_s();
    int rc = EXIT_OK;

    for (uint64_t first = 0; first < m->rows && rc == EXIT_OK; first += BATCH_ROWS) {
        uint64_t left = m->rows - first;

        rc = insert_batch(m, collection, first, left < BATCH_ROWS ? (size_t)left : BATCH_ROWS,
                          memory);
    }
    m->insert_ms = 1e3 * (now_s() - start);
    free(memory);
    return rc;
}

static int count_once(paua_collection *collection, const paua_filter *filter)
{
    uint64_t count;
    paua_error err;

    if (paua_count(collection, filter, &count, &err) != PAUA_OK) return fail_with(&err);
    return EXIT_OK;
}

static int count_many(struct metadata *m, paua_collection *collection, paua_filter *filter)
{
    double samples[COUNTS];
    int rc = EXIT_OK;

    for (size_t i = 0; i < COUNTS && rc == EXIT_OK; i++) {
        double start = now_s();

        rc = count_once(collection, filter);
        samples[i] = 1e3 * (now_s() - start);
    }
    m->filter_ms = bench_quantile(samples, COUNTS, 0.5);
    return rc;
}

static int sizes(struct metadata *m, paua_collection *collection)
{
    paua_stats stats = {.size = sizeof stats};
    paua_error err;

    if (paua_collection_stats(collection, &stats, &err) != PAUA_OK) return fail_with(&err);
    m->live_nbytes = stats.heap_nbytes + stats.column_nbytes;
    return EXIT_OK;
}

static int build(struct metadata *m, paua_filter *filter)
{
    const paua_vector_field vector = {
        .name = "vector", .dim = DIM, .metric = PAUA_COSINE, .index.kind = PAUA_INDEX_NONE};
    const paua_schema schema = {.size = sizeof schema,
                                .document = PAUA_DOCUMENT_NONE,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = m->columns,
                                .column_count = m->keys};
    paua_open_opts opts = m->cli->open;
    paua_collection *collection;
    paua_db *db;
    paua_error err;
    double start;
    int rc;

    opts.create = opts.no_background = true;
    if (paua_open(m->dir.database, &opts, &db, &err) != PAUA_OK) return fail_with(&err);
    if (paua_collection_create(db, "rows", &schema, &collection, &err) != PAUA_OK) {
        paua_close(db);
        return fail_with(&err);
    }
    rc = insert_all(m, collection);
    start = now_s();
    if (rc == EXIT_OK && paua_optimize(collection, NULL, &err) != PAUA_OK) rc = fail_with(&err);
    m->optimize_ms = 1e3 * (now_s() - start);
    if (rc == EXIT_OK) rc = count_many(m, collection, filter);
    if (rc == EXIT_OK) rc = sizes(m, collection);
    paua_collection_close(collection);
    paua_close(db);
    m->disk_nbytes = bench_disk_nbytes(m->dir.database);
    return rc;
}

static int reopen(struct metadata *m, paua_filter *filter)
{
    paua_open_opts opts = m->cli->open;
    paua_collection *collection;
    paua_db *db;
    paua_error err;
    double start = now_s();
    int rc;

    opts.read_only = true;
    if (paua_open(m->dir.database, &opts, &db, &err) != PAUA_OK) return fail_with(&err);
    if (paua_collection_open(db, "rows", &collection, &err) != PAUA_OK) {
        paua_close(db);
        return fail_with(&err);
    }
    rc = count_once(collection, filter);
    m->reopen_ms = 1e3 * (now_s() - start);
    paua_collection_close(collection);
    paua_close(db);
    return rc;
}

static int measure(struct metadata *m)
{
    paua_filter *filter;
    paua_error err;
    char text[96];
    int rc;

    snprintf(text, sizeof text, "meta_key_0 = 'meta_value_0_%u'", m->values / 2);
    if (paua_filter_parse(text, strlen(text), &filter, &err) != PAUA_OK) return fail_with(&err);
    rc = build(m, filter);
    if (rc == EXIT_OK) rc = reopen(m, filter);
    paua_filter_free(filter);
    if (rc == EXIT_OK)
        json_line(json_pack(
            "{s:s, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:f, s:f}", "shape", "collection", "rows",
            (json_int_t)m->rows, "keys", (json_int_t)m->keys, "values", (json_int_t)m->values,
            "insert_ms", six_digits(m->insert_ms), "optimize_ms", six_digits(m->optimize_ms),
            "live_bytes", (json_int_t)m->live_nbytes, "disk_bytes", (json_int_t)m->disk_nbytes,
            "filter_us", six_digits(1e3 * m->filter_ms), "reopen_ms", six_digits(m->reopen_ms)));
    return rc;
}

int bench_metadata_rows(struct cli *cli)
{
    struct metadata m = {.cli = cli, .rows = 100000, .keys = 4, .values = 8};
    int rc;

    if (!args_u64(&cli->args, "rows", 1, UINT32_MAX, &m.rows) ||
        !args_u32(&cli->args, "keys", 1, KEYS_MAX, &m.keys) ||
        !args_u32(&cli->args, "values", 1, 1000000, &m.values))
        return EXIT_USAGE;
    rc = bench_dir_make(cli, &m.dir);
    if (rc != EXIT_OK) return rc;
    names_make(&m);
    rc = measure(&m);
    free(m.texts);
    bench_dir_remove(&m.dir);
    return rc;
}
