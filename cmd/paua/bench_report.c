/* bench_report.c - paua bench vectors: the result for a person, as CSV, and as one JSON line.
 *
 * CSV    Column names and units are those that other programs of this kind write, so that rows can
 *        stand in one table; what they have no column for follows at the end. */
#include "bench_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct figures {
    uint32_t ef;
    double serial_qps, concurrent_qps;
    double row_nbytes; /* codes, factors and graph */
    const char *precision, *originals, *index, *metric, *truth;
    char cpu[96];
};

/* The name that the system gives the processor. */
static void read_cpu(char *name, size_t nbytes)
{
    FILE *info = fopen("/proc/cpuinfo", "re");
    char line[256];

    snprintf(name, nbytes, "unknown");
    if (info == NULL) return;
    while (fgets(line, sizeof line, info) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) != 0 || colon == NULL) continue;
        line[strcspn(line, "\n")] = 0;
        colon += strspn(colon, ": \t");
        snprintf(name, nbytes, "%s", colon);
        break;
    }
    fclose(info);
}

static double per_second(uint64_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

static const char *originals_of(const paua_vector_field *field)
{
    if (field->originals != PAUA_ORIGINALS_DEFAULT) return originals_names[field->originals];
    return field->precision == PAUA_FP16 ? "fp16" : "fp32";
}

static struct figures figures_of(const struct vectors *vectors)
{
    uint32_t k = vectors->search.k;
    uint64_t nbytes = vectors->walk_nbytes + vectors->refine_nbytes + vectors->factor_nbytes +
                      vectors->graph_nbytes;
    struct figures figures = {
        .ef = vectors->search.ef,
        .serial_qps = per_second(vectors->serial->count, vectors->serial_s),
        .concurrent_qps = per_second(vectors->concurrent->count, vectors->concurrent_s),
        .row_nbytes = vectors->load.rows == 0 ? 0 : (double)nbytes / (double)vectors->load.rows,
        .precision = precision_names[vectors->field.precision],
        .originals = originals_of(&vectors->field),
        .index = index_kind_names[vectors->params.kind],
        .metric = metric_names[vectors->field.metric],
        .truth = vectors->truth_computed ? "computed" : "file",
    };

    /* What the library takes for 0. */
    if (figures.ef == 0) figures.ef = k > 100 ? 2 * k : 200;
    read_cpu(figures.cpu, sizeof figures.cpu);
    return figures;
}

/* ---- JSON */

static void add_integer(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_u64(value));
}

static void add_real(json_t *object, const char *name, double value)
{
    json_object_set_new(object, name, json_made(json_real(six_digits(value))));
}

static void add_word(json_t *object, const char *name, const char *word)
{
    json_object_set_new(object, name, json_word(word));
}

static void add_flag(json_t *object, const char *name, bool value)
{
    json_object_set_new(object, name, json_boolean(value));
}

static void add_latency(json_t *object, const char *prefix, const struct latency *latency)
{
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}};
    char name[32];

    for (size_t i = 0; i < COUNT_OF(quantiles); i++) {
        snprintf(name, sizeof name, "%s_%s_ms", prefix, quantiles[i].name);
        add_real(object, name, latency_quantile_ms(latency, quantiles[i].share));
    }
}

static void add_question(json_t *object, const struct vectors *vectors,
                         const struct figures *figures)
{
    const paua_index_params *params = &vectors->params;

    add_integer(object, "rows", vectors->load.rows);
    add_integer(object, "dim", vectors->field.dim);
    add_word(object, "metric", figures->metric);
    add_word(object, "precision", figures->precision);
    add_word(object, "originals", figures->originals);
    add_word(object, "index", figures->index);
    add_integer(object, "degree", params->degree);
    add_integer(object, "list", params->list);
    add_integer(object, "occlusion", params->occlusion);
    add_real(object, "alpha", (double)params->alpha);
    add_integer(object, "k", vectors->search.k);
    add_integer(object, "ef", figures->ef);
    add_flag(object, "refine", vectors->search.refine);
    add_flag(object, "lean", vectors->open.lean);
    add_flag(object, "no_mmap", vectors->open.no_mmap);
    add_flag(object, "map_originals", vectors->open.map_originals);
    add_integer(object, "threads", vectors->threads);
    add_integer(object, "workers", vectors->workers);
    add_real(object, "seconds", vectors->seconds);
}

static void add_bytes(json_t *object, const struct vectors *vectors, const struct figures *figures)
{
    add_integer(object, "walk_bytes", vectors->walk_nbytes);
    add_integer(object, "refine_bytes", vectors->refine_nbytes);
    add_integer(object, "factor_bytes", vectors->factor_nbytes);
    add_integer(object, "graph_bytes", vectors->graph_nbytes);
    add_real(object, "bytes_per_row", figures->row_nbytes);
    add_integer(object, "disk_bytes", vectors->disk_nbytes);
    add_integer(object, "peak_rss_kib", vectors->after_search.peak_kib);
    add_integer(object, "rss_after_insert_kib", vectors->after_insert.peak_kib);
    add_integer(object, "rss_after_optimize_kib", vectors->after_optimize.peak_kib);
    add_integer(object, "rss_after_search_kib", vectors->after_search.peak_kib);
    add_integer(object, "rss_anon_kib", vectors->after_search.anon_kib);
    add_integer(object, "rss_file_kib", vectors->after_search.file_kib);
    add_integer(object, "rss_shmem_kib", vectors->after_search.shmem_kib);
}

static void print_json(const struct vectors *vectors, const struct figures *figures)
{
    json_t *object = json_made(json_object());

    add_question(object, vectors, figures);
    add_real(object, "insert_s", vectors->insert_s);
    add_real(object, "optimize_s", vectors->optimize_s);
    add_real(object, "reopen_ms", vectors->reopen_ms);
    add_integer(object, "serial_queries", vectors->serial->count);
    add_real(object, "serial_qps", figures->serial_qps);
    add_latency(object, "serial", vectors->serial);
    add_integer(object, "concurrent_queries", vectors->concurrent->count);
    add_real(object, "concurrent_qps", figures->concurrent_qps);
    add_latency(object, "concurrent", vectors->concurrent);
    add_real(object, "recall", vectors->recall);
    add_word(object, "truth", figures->truth);
    add_bytes(object, vectors, figures);
    add_word(object, "tier", paua_tier());
    add_word(object, "cpu", figures->cpu);
    add_word(object, "version", paua_version());
    json_line(object);
}

/* ---- CSV */

struct csv {
    FILE *heads, *cells;
    bool begun;
};

static void csv_head(struct csv *csv, const char *head)
{
    if (csv->begun) {
        fputc(',', csv->heads);
        fputc(',', csv->cells);
    }
    fputs(head, csv->heads);
    csv->begun = true;
}

static void csv_number(struct csv *csv, const char *head, double value)
{
    csv_head(csv, head);
    fprintf(csv->cells, "%.15g", value);
}

static void csv_real(struct csv *csv, const char *head, double value)
{
    csv_number(csv, head, six_digits(value));
}

static void csv_word(struct csv *csv, const char *head, const char *word)
{
    csv_head(csv, head);
    fputc('"', csv->cells);
    for (; *word != 0; word++) {
        if (*word == '"') fputc('"', csv->cells);
        fputc(*word, csv->cells);
    }
    fputc('"', csv->cells);
}

static void csv_flag(struct csv *csv, const char *head, bool value)
{
    csv_word(csv, head, value ? "true" : "false");
}

static void csv_question(struct csv *csv, const struct vectors *vectors,
                         const struct figures *figures)
{
    const char *slash = strrchr(vectors->load.path, '/');

    csv_word(csv, "machine", figures->cpu);
    csv_word(csv, "backend", "paua");
    csv_word(csv, "backend_version", paua_version());
    csv_word(csv, "case", slash != NULL ? slash + 1 : vectors->load.path);
    csv_word(csv, "index_type", figures->index);
    csv_word(csv, "quantize_type", figures->precision);
    csv_flag(csv, "use_refiner", vectors->search.refine);
    csv_flag(csv, "enable_mmap", !vectors->open.no_mmap);
    csv_number(csv, "vamana_max_degree", vectors->params.degree);
    csv_number(csv, "vamana_build_list", vectors->params.list);
    csv_number(csv, "vamana_query_list", figures->ef);
    csv_real(csv, "vamana_alpha", (double)vectors->params.alpha);
    csv_number(csv, "vamana_max_occlusion_size", vectors->params.occlusion);
    csv_number(csv, "k", vectors->search.k);
    csv_number(csv, "batch_size", (double)vectors->load.batch_most);
    csv_number(csv, "optimize_concurrency", vectors->threads);
    csv_number(csv, "query_concurrency", vectors->workers);
    csv_real(csv, "concurrency_duration_sec", vectors->seconds);
}

static void csv_latency(struct csv *csv, const char *prefix, const struct latency *latency)
{
    static const char *const names[] = {"avg", "p50", "p95", "p99"};
    const double values[] = {latency_mean_ms(latency), latency_quantile_ms(latency, 0.5),
                             latency_quantile_ms(latency, 0.95),
                             latency_quantile_ms(latency, 0.99)};
    char head[48];

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(head, sizeof head, "%s_latency_%s_ms", prefix, names[i]);
        csv_real(csv, head, values[i]);
    }
}

static void csv_answer(struct csv *csv, const struct vectors *vectors,
                       const struct figures *figures)
{
    double peak_kib = (double)vectors->after_search.peak_kib;

    csv_number(csv, "inserted_count", (double)vectors->load.rows);
    csv_real(csv, "insert_duration_sec", vectors->insert_s);
    csv_real(csv, "optimize_duration_sec", vectors->optimize_s);
    csv_real(csv, "load_duration_sec", vectors->insert_s + vectors->optimize_s);
    csv_real(csv, "insert_rows_per_sec", per_second(vectors->load.rows, vectors->insert_s));
    csv_number(csv, "serial_queries", (double)vectors->serial->count);
    csv_real(csv, "serial_qps", figures->serial_qps);
    csv_real(csv, "recall_at_k_pct", 100 * vectors->recall);
    csv_latency(csv, "serial", vectors->serial);
    csv_number(csv, "concurrent_queries", (double)vectors->concurrent->count);
    csv_real(csv, "concurrent_qps", figures->concurrent_qps);
    csv_latency(csv, "concurrent", vectors->concurrent);
    csv_number(csv, "peak_rss_kib", peak_kib);
    csv_real(csv, "peak_rss_mib", peak_kib / 1024);
    csv_word(csv, "metric", figures->metric);
    csv_word(csv, "originals", figures->originals);
    csv_flag(csv, "lean", vectors->open.lean);
    csv_flag(csv, "map_originals", vectors->open.map_originals);
    csv_number(csv, "dim", vectors->field.dim);
    csv_real(csv, "bytes_per_row", figures->row_nbytes);
    csv_number(csv, "disk_bytes", (double)vectors->disk_nbytes);
    csv_word(csv, "tier", paua_tier());
}

static void print_csv(const struct vectors *vectors, const struct figures *figures)
{
    char *cells = NULL;
    size_t nbytes = 0;
    struct csv csv = {.heads = stdout, .cells = open_memstream(&cells, &nbytes)};

    if (csv.cells == NULL) exit(fail("out of memory, making CSV, give --json instead"));
    csv_question(&csv, vectors, figures);
    csv_answer(&csv, vectors, figures);
    fclose(csv.cells);
    printf("\n%s\n", cells);
    free(cells);
}

/* ---- a table for a person */

static void print_latency(const char *label, const struct latency *latency, double qps)
{
    printf("  %-12s %.0f queries/s, p50 %.3f ms, p95 %.3f ms, p99 %.3f ms\n", label, qps,
           latency_quantile_ms(latency, 0.5), latency_quantile_ms(latency, 0.95),
           latency_quantile_ms(latency, 0.99));
}

static double mib(uint64_t kib) { return (double)kib / 1024; }

static void print_sizes(const struct vectors *vectors, const struct figures *figures)
{
    char walk[HUMAN_NBYTES], refine[HUMAN_NBYTES], factors[HUMAN_NBYTES], graphs[HUMAN_NBYTES];
    char disk[HUMAN_NBYTES];

    printf("  %-12s walk %s, refine %s, factors %s, graph %s: %.1f bytes a row\n", "codes",
           human_bytes(vectors->walk_nbytes, walk), human_bytes(vectors->refine_nbytes, refine),
           human_bytes(vectors->factor_nbytes, factors), human_bytes(vectors->graph_nbytes, graphs),
           figures->row_nbytes);
    printf("  %-12s %s\n", "disk", human_bytes(vectors->disk_nbytes, disk));
    printf("  %-12s peak %.1f MiB (inserted %.1f, optimized %.1f); at the end anonymous %.1f,"
           " file %.1f, shared %.1f\n",
           "memory", mib(vectors->after_search.peak_kib), mib(vectors->after_insert.peak_kib),
           mib(vectors->after_optimize.peak_kib), mib(vectors->after_search.anon_kib),
           mib(vectors->after_search.file_kib), mib(vectors->after_search.shmem_kib));
}

static void print_text(const struct vectors *vectors, const struct figures *figures)
{
    char label[32];

    printf("%llu rows of %u components, %s, %s, originals %s, %s, k %u, ef %u\n",
           (unsigned long long)vectors->load.rows, vectors->field.dim, figures->metric,
           figures->precision, figures->originals, figures->index, vectors->search.k, figures->ef);
    printf("  %-12s %.2f s\n", "insert", vectors->insert_s);
    printf("  %-12s %.2f s, %u threads\n", "optimize", vectors->optimize_s, vectors->threads);
    printf("  %-12s %.2f ms to the first answer\n", "reopen", vectors->reopen_ms);
    print_latency("serial", vectors->serial, figures->serial_qps);
    snprintf(label, sizeof label, "%u workers", vectors->workers);
    print_latency(label, vectors->concurrent, figures->concurrent_qps);
    snprintf(label, sizeof label, "recall@%u", vectors->search.k);
    printf("  %-12s %.4f, truth %s\n", label, vectors->recall,
           vectors->truth_computed ? "computed by exact search" : "from the file");
    print_sizes(vectors, figures);
    printf("  %-12s %s, %s, paua %s\n", "machine", figures->cpu, paua_tier(), paua_version());
}

void vectors_report(const struct vectors *vectors)
{
    struct figures figures = figures_of(vectors);
    bool csv = args_has(&vectors->cli->args, "csv");

    if (csv)
        print_csv(vectors, &figures);
    else if (!vectors->cli->json)
        print_text(vectors, &figures);
    if (!csv || vectors->cli->json) print_json(vectors, &figures);
}
