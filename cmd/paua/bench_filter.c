/* bench_filter.c - paua bench filter: filtered searches at selectivities from one row in a thousand
 * to every row, by an integer, by a range of integers, and by a string.
 *
 * Fields    Drawn from the row's number by a mix of bits, so that they have nothing to do with the
 *           vectors: for each share an integer and a string that so many rows have, and one integer
 *           that is different in every row, for ranges.
 * Order     insert, give the rows their fields, optimize, reopen read-only, and for each filter a
 *           warm-up, the serial searches, and then the same searches exactly. The serial searches
 *           go by turns with the same ones without a filter, so that whatever else the machine does
 *           slows both down alike, and the two rates can be compared.
 * Recall    The share of the exact answer, under the same filter, that was found. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_data.h"
#include "field.h"

#define BATCH_ROWS 1000u
#define UPDATE_ROWS 10000u
#define WARM_SEARCHES 20u
#define SEARCHES 300u
#define TURN_SEARCHES 30u
#define EXACT_SEARCHES 100u
#define SHARES 8u

static const double shares[SHARES] = {0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 0.99, 1};
static const char *const kinds[] = {"integer", "range", "string", "none"};
#define NO_FILTER 3u

struct filtering {
    struct cli *cli;
    struct bench_dir dir;
    struct bench_load load;
    paua_vector_field field;
    paua_schema schema;
    paua_field columns[2 * SHARES + 1];
    char names[2 * SHARES][8];
    struct bench_queries queries;
    paua_search_opts search;
    json_t *results;
};

/* splitmix64's finalizer: a number in [0, 1) for a row. */
static double draw(uint64_t row)
{
    uint64_t x = row + UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static void schema_make(struct filtering *f)
{
    for (uint32_t s = 0; s < SHARES; s++) {
        snprintf(f->names[s], sizeof f->names[s], "i%u", s);
        snprintf(f->names[SHARES + s], sizeof f->names[s], "s%u", s);
        f->columns[s] = (paua_field){f->names[s], PAUA_TYPE_INT32};
        f->columns[SHARES + s] = (paua_field){f->names[SHARES + s], PAUA_TYPE_STRING};
    }
    f->columns[2 * SHARES] = (paua_field){"r", PAUA_TYPE_INT32};
    f->schema = (paua_schema){.size = sizeof f->schema,
                              .document = PAUA_DOCUMENT_NONE,
                              .fields = &f->field,
                              .field_count = 1,
                              .columns = f->columns,
                              .column_count = 2 * SHARES + 1};
}

/* Gives rows first .. first + n - 1 their fields. */
static int give_fields(struct filtering *f, paua_collection *collection, uint64_t first, size_t n,
                       paua_value *values, uint64_t *keys)
{
    paua_column columns[2 * SHARES + 1];
    paua_rows rows = {.size = sizeof rows, .columns = columns, .column_count = 2 * SHARES + 1};
    paua_error err;

    for (size_t i = 0; i < n; i++) {
        double at = draw(first + i);

        keys[i] = first + i;
        for (uint32_t s = 0; s < SHARES; s++) {
            paua_value *integer = &values[s * UPDATE_ROWS + i];
            paua_value *string = &values[(SHARES + s) * UPDATE_ROWS + i];
            const char *text = at < shares[s] ? "yes" : "no";

            *integer = (paua_value){.type = PAUA_TYPE_INT32};
            integer->as.i64 = at < shares[s] ? 1 : 0;
            *string = (paua_value){.type = PAUA_TYPE_STRING};
            string->as.bytes = (paua_bytes){text, strlen(text)};
        }
        values[2 * SHARES * UPDATE_ROWS + i] = (paua_value){.type = PAUA_TYPE_INT32};
        values[2 * SHARES * UPDATE_ROWS + i].as.i64 = (int64_t)(at * (double)f->load.rows);
    }
    for (uint32_t c = 0; c < 2 * SHARES + 1; c++)
        columns[c] = (paua_column){f->columns[c].name, values + (size_t)c * UPDATE_ROWS};
    rows.keys = (paua_keys){.count = n, .u64 = keys};
    if (paua_update(collection, &rows, NULL, NULL, &err) != PAUA_OK) return fail_with(&err);
    return EXIT_OK;
}

static int fields_all(struct filtering *f, paua_collection *collection)
{
    paua_value *values = cmd_alloc((2 * SHARES + 1) * UPDATE_ROWS, sizeof *values);
    uint64_t *keys = cmd_alloc(UPDATE_ROWS, sizeof *keys);
    int rc = EXIT_OK;

    bench_say(f->cli, "giving the rows their fields");
    for (uint64_t first = 0; first < f->load.rows && rc == EXIT_OK; first += UPDATE_ROWS) {
        uint64_t left = f->load.rows - first;

        rc = give_fields(f, collection, first, left < UPDATE_ROWS ? (size_t)left : UPDATE_ROWS,
                         values, keys);
    }
    free(values);
    free(keys);
    return rc;
}

static int build(struct filtering *f)
{
    paua_open_opts opts = f->cli->open;
    paua_optimize_opts optimize = {.size = sizeof optimize, .cancel = &interrupt_cancel};
    static const paua_index_params sorted = {.kind = PAUA_INDEX_SORTED};
    paua_collection *collection;
    paua_db *db;
    paua_error err;
    int rc = EXIT_OK;

    opts.create = true;
    opts.no_background = true;
    if (paua_open(f->dir.database, &opts, &db, &err) != PAUA_OK) return fail_with(&err);
    if (paua_collection_create(db, "base", &f->schema, &collection, &err) != PAUA_OK) {
        paua_close(db);
        return fail_with(&err);
    }
    bench_say(f->cli, "inserting %s", f->load.path);
    rc = bench_load(&f->load, collection);
    if (rc == EXIT_OK) rc = fields_all(f, collection);
    if (rc == EXIT_OK) bench_say(f->cli, "optimizing");
    if (rc == EXIT_OK && paua_optimize(collection, &optimize, &err) != PAUA_OK)
        rc = fail_with(&err);
    if (rc == EXIT_OK && args_has(&f->cli->args, "indexed") &&
        paua_index_create(collection, "r", "r", &sorted, &optimize, &err) != PAUA_OK)
        rc = fail_with(&err);
    paua_collection_close(collection);
    paua_close(db);
    return rc;
}

/* `count` queries from `first` on, one after the other; what they take is added to seconds, which
 * may be NULL. */
static int search_some(struct filtering *f, paua_collection *collection, paua_hits *hits,
                       const paua_search_opts *opts, size_t first, size_t count,
                       struct bench_ids *ids, size_t *least, double *seconds)
{
    double start = now_s();

    for (size_t i = first; i < first + count; i++) {
        size_t query = i % f->queries.count;
        paua_error err;

        if (paua_search(collection, f->queries.vectors + query * f->queries.dim, 1, 0, opts, hits,
                        &err) != PAUA_OK)
            return fail_with(&err);
        if (least != NULL && paua_hits_count(hits, 0) < *least) *least = paua_hits_count(hits, 0);
        if (ids != NULL && i < ids->count) bench_ids_take(ids, i, hits);
    }
    if (seconds != NULL) *seconds += now_s() - start;
    return EXIT_OK;
}

/* The serial searches: without a filter and with it, by turns. */
static int search_by_turns(struct filtering *f, paua_collection *collection, paua_hits *hits,
                           const paua_search_opts *opts, struct bench_ids *found, size_t *least,
                           double *plain_s, double *seconds)
{
    int rc = EXIT_OK;

    for (size_t first = 0; first < SEARCHES && rc == EXIT_OK; first += TURN_SEARCHES) {
        rc =
            search_some(f, collection, hits, &f->search, first, TURN_SEARCHES, NULL, NULL, plain_s);
        if (rc == EXIT_OK)
            rc =
                search_some(f, collection, hits, opts, first, TURN_SEARCHES, found, least, seconds);
    }
    return rc;
}

static void filter_text(const struct filtering *f, size_t kind, uint32_t s, char text[64])
{
    if (kind == 0)
        snprintf(text, 64, "i%u = 1", s);
    else if (kind == 1)
        snprintf(text, 64, "r >= 0 AND r < %.0f", shares[s] * (double)f->load.rows);
    else
        snprintf(text, 64, "s%u = 'yes'", s);
}

static const char *plan_name(const paua_plan *plan)
{
    if (plan->walked > 0) return plan->scanned > 0 ? "walk and scan" : "walk";
    return plan->scanned > 0 ? "scan" : "compare";
}

static int measure(struct filtering *f, paua_collection *collection, paua_hits *hits, size_t kind,
                   uint32_t s)
{
    paua_search_opts opts = f->search, exact;
    paua_plan plan = {.size = sizeof plan};
    struct bench_ids found, truth;
    size_t searches = f->queries.count < EXACT_SEARCHES ? f->queries.count : EXACT_SEARCHES;
    size_t least = SIZE_MAX;
    paua_filter *filter = NULL;
    paua_error err;
    char text[64];
    double plain_s = 0, seconds = 0;
    int rc;

    filter_text(f, kind, s, text);
    if (kind != NO_FILTER && paua_filter_parse(text, strlen(text), &filter, &err) != PAUA_OK)
        return fail_with(&err);
    opts.filter = filter;
    exact = opts;
    exact.exact = true;
    bench_ids_begin(&found, searches, opts.k);
    bench_ids_begin(&truth, searches, opts.k);
    rc = search_some(f, collection, hits, &opts, 0, WARM_SEARCHES, NULL, NULL, NULL);
    if (rc == EXIT_OK)
        rc = search_by_turns(f, collection, hits, &opts, &found, &least, &plain_s, &seconds);
    if (rc == EXIT_OK && paua_hits_plan(hits, &plan, &err) != PAUA_OK) rc = fail_with(&err);
    if (rc == EXIT_OK)
        rc = search_some(f, collection, hits, &exact, 0, searches, &truth, NULL, NULL);
    if (rc == EXIT_OK)
        json_array_append_new(
            f->results,
            json_made(json_pack(
                "{s:f, s:s, s:s, s:f, s:f, s:f, s:I, s:I, s:f}", "selectivity", shares[s], "kind",
                kinds[kind], "plan", plan_name(&plan), "serial_qps", six_digits(SEARCHES / seconds),
                "unfiltered_qps", six_digits(SEARCHES / plain_s), "recall",
                six_digits(bench_recall(&truth, &found)), "returned_min", (json_int_t)least,
                "matched", (json_int_t)plan.matched, "filter_us", six_digits(plan.filter_us))));
    bench_ids_free(&found);
    bench_ids_free(&truth);
    paua_filter_free(filter);
    return rc;
}

static int measure_all(struct filtering *f, paua_collection *collection, paua_hits *hits)
{
    int rc = measure(f, collection, hits, NO_FILTER, SHARES - 1);

    for (uint32_t s = 0; s < SHARES && rc == EXIT_OK; s++) {
        bench_say(f->cli, "%g %% of the rows", 100 * shares[s]);
        for (size_t kind = 0; kind < NO_FILTER && rc == EXIT_OK; kind++)
            rc = measure(f, collection, hits, kind, s);
    }
    return rc;
}

static int reopen(struct filtering *f)
{
    paua_open_opts opts = f->cli->open;
    paua_collection *collection;
    paua_hits *hits;
    paua_db *db;
    paua_error err;
    int rc = EXIT_OK;

    opts.read_only = true;
    if (paua_open(f->dir.database, &opts, &db, &err) != PAUA_OK) return fail_with(&err);
    if (paua_collection_open(db, "base", &collection, &err) != PAUA_OK) {
        paua_close(db);
        return fail_with(&err);
    }
    if (paua_hits_open(&hits, &err) == PAUA_OK) {
        rc = measure_all(f, collection, hits);
        paua_hits_close(hits);
    } else {
        rc = fail_with(&err);
    }
    paua_collection_close(collection);
    paua_close(db);
    return rc;
}

static void report(const struct filtering *f)
{
    size_t i;
    json_t *result;

    json_array_foreach(f->results, i, result)
    {
        if (f->cli->json) break;
        printf("%6.4g %% %-8s %-8s %8.0f/s, %8.0f/s without  recall %.4f  at least %lld rows\n",
               100 * json_real_value(json_object_get(result, "selectivity")),
               json_string_value(json_object_get(result, "kind")),
               json_string_value(json_object_get(result, "plan")),
               json_real_value(json_object_get(result, "serial_qps")),
               json_real_value(json_object_get(result, "unfiltered_qps")),
               json_real_value(json_object_get(result, "recall")),
               (long long)json_integer_value(json_object_get(result, "returned_min")));
    }
    json_line(json_incref(f->results));
}

static int run(struct filtering *f)
{
    int rc =
        bench_queries_read(args_value(&f->cli->args, "query"), &f->schema, SIZE_MAX, &f->queries);

    if (rc != EXIT_OK) return rc;
    f->results = json_made(json_array());
    rc = build(f);
    if (rc == EXIT_OK) rc = reopen(f);
    if (rc == EXIT_OK) report(f);
    json_decref(f->results);
    bench_queries_free(&f->queries);
    return rc;
}

int bench_filter(struct cli *cli)
{
    const struct args *args = &cli->args;
    struct filtering f = {.cli = cli, .field = {.name = "vector", .metric = PAUA_COSINE}};
    int rc;

    f.load = (struct bench_load){.cli = cli,
                                 .path = args_value(args, "base"),
                                 .rows_most = UINT64_MAX,
                                 .batch_most = BATCH_ROWS};
    f.search = (paua_search_opts){
        .size = sizeof f.search, .k = 100, .threads = 1, .cancel = &interrupt_cancel};
    if (!field_take_options(args, &f.field) || !field_settle_numbers(args, &f.field, 1) ||
        !args_u64(args, "rows", 1, UINT64_MAX - 1, &f.load.rows_most) ||
        !args_u32(args, "k", 1, 1000000, &f.search.k) ||
        !args_u32(args, "ef", 1, INT32_MAX, &f.search.ef))
        return EXIT_USAGE;
    if (f.load.path == NULL || args_value(args, "query") == NULL)
        return usage("bench filter: give --base FILE and --query FILE, see paua help bench");
    rc = bench_dim(f.load.path, &f.field.dim);
    if (rc == EXIT_OK) rc = bench_dir_make(cli, &f.dir);
    if (rc != EXIT_OK) return rc;
    interrupt_watch();
    schema_make(&f);
    rc = run(&f);
    bench_dir_remove(&f.dir);
    return rc;
}
