/* bench_history.c - paua bench history: a terminal history built, turned cold and searched.
 *
 * Fixtures  vev-vt's (bench_history_fill.c), so that figures can be laid beside its own. Rows are
 *           made outside the clock, FILL_ROWS at a time, and appended in one call.
 * Streams   A recorded stream goes through the importer in pieces of 64 KiB.
 * Bytes     Live heap by the library's allocator hook: everything that the history holds. What all
 *           histories share, the compression contexts, is scratch_bytes.
 * hot       after the build. cold: after two idle visits of every page, which is how vev-vt counts,
 *           or, of a stream, after paua_history_go_cold, as for a pane that is hidden. The newest
 *           page and the tail are included in either.
 * Build     The median of several, each of a new history. allocated_bytes is of one.
 * Search    for letters that are nowhere, once through all rows, hot and then cold; the median. */
#include "bench_history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUILDS 7u
#define SEARCHES 5u
#define PIECE_NBYTES 65536u
#define NOWHERE "qzxjvkwpf"

struct figures {
    uint64_t rows;
    double build_ms;
    size_t hot_nbytes, cold_nbytes, compressed_nbytes, cold_pages, allocated;
    double hot_rows_per_s, cold_rows_per_s;
};

/* The bytes of a stream; NULL: rows come from the fixture. */
struct stream {
    const char *path;
    char *bytes;
    size_t nbytes;
};

int history_bench_open(struct history_bench *bench, const paua_history_limits *limits,
                       paua_history **history)
{
    paua_history_opts opts = {.size = sizeof opts,
                              .allocator = history_meter_allocator(&bench->meter),
                              .scratch = bench->scratch,
                              .page_rows = bench->chunk_rows};
    paua_error err;

    if (limits != NULL) opts.limits = *limits;
    if (paua_history_open(&opts, history, &err) == PAUA_OK) return EXIT_OK;
    return fail_with(&err);
}

static int stream_read(struct stream *stream)
{
    FILE *file = fopen(stream->path, "rbe");
    size_t capacity = 0, got;

    if (file == NULL) return fail("%s: %s", stream->path, strerror(errno));
    do {
        if (stream->nbytes == capacity) {
            capacity = capacity == 0 ? PIECE_NBYTES : 2 * capacity;
            stream->bytes = cmd_grow(stream->bytes, capacity, 1);
        }
        got = fread(stream->bytes + stream->nbytes, 1, capacity - stream->nbytes, file);
        stream->nbytes += got;
    } while (got > 0);
    if (ferror(file)) {
        fclose(file);
        return fail("%s: cannot read", stream->path);
    }
    fclose(file);
    return EXIT_OK;
}

/* ---- building */

static int build_from_stream(const struct history_bench *bench, const struct stream *stream,
                             paua_history *history, double *spent)
{
    paua_history_import_opts opts = {
        .size = sizeof opts, .kind = PAUA_HISTORY_IMPORT_ANSI, .columns = bench->cols};
    paua_history_importer *importer;
    double start = now_s();
    paua_error err;
    paua_status status = paua_history_importer_open(history, &opts, &importer, &err);

    if (status != PAUA_OK) return fail_with(&err);
    for (size_t at = 0; at < stream->nbytes && status == PAUA_OK; at += PIECE_NBYTES) {
        size_t left = stream->nbytes - at;

        status = paua_history_importer_feed(importer, stream->bytes + at,
                                            left < PIECE_NBYTES ? left : PIECE_NBYTES, &err);
    }
    if (status == PAUA_OK) status = paua_history_importer_finish(importer, &err);
    paua_history_importer_close(importer);
    *spent = now_s() - start;
    return status == PAUA_OK ? EXIT_OK : fail_with(&err);
}

static int build_from_fixture(const struct history_bench *bench, struct history_fill *fill,
                              paua_history *history, double *spent)
{
    paua_error err;

    *spent = 0;
    for (uint64_t at = 0; at < bench->rows; at += FILL_ROWS) {
        uint64_t left = bench->rows - at;
        double start;

        history_fill_rows(fill, at);
        start = now_s();
        if (paua_history_append(history, fill->rows, left < FILL_ROWS ? (size_t)left : FILL_ROWS,
                                NULL, &err) != PAUA_OK)
            return fail_with(&err);
        *spent += now_s() - start;
    }
    return EXIT_OK;
}

/* Builds BUILDS times and keeps the last. */
static int build(struct history_bench *bench, const struct stream *stream, struct figures *figures,
                 paua_history **history)
{
    double samples[BUILDS];
    struct history_fill fill;
    int rc = EXIT_OK;

    history_fill_begin(&fill, bench->fixture, bench->cols);
    for (size_t i = 0; i < BUILDS && rc == EXIT_OK; i++) {
        paua_history_close(*history);
        *history = NULL;
        bench->meter.allocated = 0;
        rc = history_bench_open(bench, NULL, history);
        if (rc == EXIT_OK)
            rc = stream->path != NULL ? build_from_stream(bench, stream, *history, &samples[i])
                                      : build_from_fixture(bench, &fill, *history, &samples[i]);
    }
    history_fill_end(&fill);
    if (rc != EXIT_OK) return rc;
    figures->build_ms = 1e3 * bench_quantile(samples, BUILDS, 0.5);
    figures->allocated = bench->meter.allocated;
    figures->hot_nbytes = bench->meter.live;
    return EXIT_OK;
}

/* ---- searching */

static int search_once(const paua_history_view *view)
{
    const paua_history_search_opts opts = {
        .size = sizeof opts, .pattern = NOWHERE, .pattern_nbytes = sizeof NOWHERE - 1};
    paua_history_search *search;
    paua_history_match match;
    paua_history_found found = PAUA_HISTORY_MATCH;
    paua_status status;
    paua_error err;

    if (paua_history_search_open(view, &opts, &search, &err) != PAUA_OK) return fail_with(&err);
    do
        status = paua_history_search_next(search, 0, &found, &match, NULL, &err);
    while (status == PAUA_OK && found != PAUA_HISTORY_DONE);
    paua_history_search_close(search);
    return status == PAUA_OK ? EXIT_OK : fail_with(&err);
}

static int search_all(paua_history *history, uint64_t rows, double *rows_per_s)
{
    double samples[SEARCHES];
    paua_history_view *view;
    paua_error err;
    int rc = EXIT_OK;

    if (paua_history_view_open(history, &view, &err) != PAUA_OK) return fail_with(&err);
    for (size_t i = 0; i < SEARCHES && rc == EXIT_OK; i++) {
        double start = now_s();

        rc = search_once(view);
        samples[i] = now_s() - start;
    }
    paua_history_view_close(view);
    if (rc == EXIT_OK) *rows_per_s = (double)rows / bench_quantile(samples, SEARCHES, 0.5);
    return rc;
}

/* ---- the whole */

static int go_cold(paua_history *history, bool hidden)
{
    paua_status status = PAUA_OK;
    paua_error err;

    if (hidden) {
        status = paua_history_go_cold(history, &err);
    } else {
        for (int visit = 0; visit < 2 && status == PAUA_OK; visit++)
            status = paua_history_idle(history, SIZE_MAX, NULL, &err);
    }
    return status == PAUA_OK ? EXIT_OK : fail_with(&err);
}

static int measure(struct history_bench *bench, const struct stream *stream,
                   struct figures *figures, paua_history **history)
{
    paua_history_stats stats = {.size = sizeof stats};
    int rc = build(bench, stream, figures, history);

    if (rc != EXIT_OK) return rc;
    paua_history_get_stats(*history, &stats);
    figures->rows = stats.rows;
    rc = search_all(*history, stats.rows, &figures->hot_rows_per_s);
    if (rc == EXIT_OK) rc = go_cold(*history, stream->path != NULL);
    if (rc != EXIT_OK) return rc;
    paua_history_get_stats(*history, &stats);
    figures->cold_nbytes = bench->meter.live;
    figures->compressed_nbytes = stats.compressed_nbytes;
    figures->cold_pages = stats.cold_pages;
    return search_all(*history, stats.rows, &figures->cold_rows_per_s);
}

static double a_row(size_t nbytes, uint64_t rows)
{
    return rows == 0 ? 0 : (double)nbytes / (double)rows;
}

static void print_json(const struct history_bench *bench, const struct stream *stream,
                       const struct figures *f)
{
    json_t *object = json_made(json_object());

    if (stream->path != NULL)
        json_object_set_new(object, "stream", json_word(stream->path));
    else
        json_object_set_new(object, "fixture", json_word(fixture_names[bench->fixture]));
    json_object_update_new(
        object,
        json_made(json_pack(
            "{s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:s}", "rows",
            (json_int_t)f->rows, "cols", (json_int_t)bench->cols, "chunk_rows",
            (json_int_t)bench->chunk_rows, "build_ms", six_digits(f->build_ms), "hot_bytes",
            (json_int_t)f->hot_nbytes, "cold_bytes", (json_int_t)f->cold_nbytes, "compressed_bytes",
            (json_int_t)f->compressed_nbytes, "cold_pages", (json_int_t)f->cold_pages,
            "hot_bytes_per_row", six_digits(a_row(f->hot_nbytes, f->rows)), "cold_bytes_per_row",
            six_digits(a_row(f->cold_nbytes, f->rows)), "search_cold_rows_per_s",
            six_digits(f->cold_rows_per_s), "search_hot_rows_per_s", six_digits(f->hot_rows_per_s),
            "allocated_bytes", (json_int_t)f->allocated, "scratch_bytes",
            (json_int_t)paua_history_scratch_nbytes(bench->scratch), "version", paua_version())));
    json_line(object);
}

static void print_text(const struct history_bench *bench, const struct stream *stream,
                       const struct figures *f)
{
    char hot[HUMAN_NBYTES], cold[HUMAN_NBYTES], packed[HUMAN_NBYTES], allocated[HUMAN_NBYTES];
    char scratch[HUMAN_NBYTES];

    printf("%llu rows, %s, %u columns, %u rows a page\n", (unsigned long long)f->rows,
           stream->path != NULL ? stream->path : fixture_names[bench->fixture], bench->cols,
           bench->chunk_rows);
    printf("  %-8s %.2f ms, %s allocated\n", "build", f->build_ms,
           human_bytes(f->allocated, allocated));
    printf("  %-8s %s, %.1f bytes a row\n", "hot", human_bytes(f->hot_nbytes, hot),
           a_row(f->hot_nbytes, f->rows));
    printf("  %-8s %s, %.2f bytes a row; %zu pages in %s\n", "cold",
           human_bytes(f->cold_nbytes, cold), a_row(f->cold_nbytes, f->rows), f->cold_pages,
           human_bytes(f->compressed_nbytes, packed));
    printf("  %-8s cold %.2f, hot %.2f million rows/s\n", "search", f->cold_rows_per_s / 1e6,
           f->hot_rows_per_s / 1e6);
    printf("  %-8s %s, shared by all histories\n", "scratch",
           human_bytes(paua_history_scratch_nbytes(bench->scratch), scratch));
}

static int bench_rows(struct history_bench *bench)
{
    struct stream stream = {.path = args_value(&bench->cli->args, "stream")};
    struct figures figures = {0};
    paua_history *history = NULL;
    int rc = stream.path != NULL ? stream_read(&stream) : EXIT_OK;

    if (rc == EXIT_OK) rc = measure(bench, &stream, &figures, &history);
    if (rc == EXIT_OK && bench->cli->json) print_json(bench, &stream, &figures);
    if (rc == EXIT_OK && !bench->cli->json) print_text(bench, &stream, &figures);
    paua_history_close(history);
    free(stream.bytes);
    return rc;
}

static bool take_options(struct history_bench *bench)
{
    const struct args *args = &bench->cli->args;

    bench->rows = 10000;
    bench->cols = 120;
    bench->chunk_rows = PAUA_HISTORY_PAGE_ROWS_MAX;
    return args_u64(args, "rows", 1, UINT32_MAX, &bench->rows) &&
           args_u32(args, "cols", 2, PAUA_HISTORY_IMPORT_COLUMNS_MAX, &bench->cols) &&
           args_u32(args, "chunk-rows", 1, PAUA_HISTORY_PAGE_ROWS_MAX, &bench->chunk_rows) &&
           args_choice(args, "fixture", fixture_names, &bench->fixture);
}

int bench_history(struct cli *cli)
{
    struct history_bench bench = {.cli = cli};
    const char *restore = args_value(&cli->args, "restore");
    paua_error err;
    int rc;

    if (!take_options(&bench)) return EXIT_USAGE;
    if (paua_history_scratch_open(&bench.scratch, &err) != PAUA_OK) return fail_with(&err);
    if (args_has(&cli->args, "small"))
        rc = history_bench_small(&bench);
    else if (restore != NULL)
        rc = history_bench_restore(&bench, restore);
    else
        rc = bench_rows(&bench);
    paua_history_scratch_close(bench.scratch);
    return rc;
}
