/* bench_history_restore.c - paua bench history --small and --restore.
 *
 * Small     A history limited to four rows, after one row of three cells.
 * 16x80     vev-vt's sequence: a history of 64 soft rows of 80 times 'a' in pages of 16, the first
 *           cell with a cluster of two code points and a link; one iteration is to restore the
 *           oldest page, here with all its cells, and two idle visits of everything, after which it
 *           is cold again. restore_us is of one iteration.
 * 256x120   a page of plain-ascii to cells; the idle visits between are not timed. */
#include "bench_history.h"

#include <stdlib.h>

#define ITERATIONS 5000u
#define PAGE_ITERATIONS 1000u
#define OLD_ROWS 64u
#define OLD_COLS 80u
#define OLD_CHUNK_ROWS 16u

int history_bench_small(struct history_bench *bench)
{
    static const paua_history_cell cells[3] = {{.codepoint = 'a', .width = 1},
                                               {.codepoint = 'b', .width = 1},
                                               {.codepoint = 'c', .width = 1}};
    const paua_history_limits limits = {.max_rows = 4};
    const paua_history_new_row row = {
        .size = sizeof row, .width = 3, .cell_count = 3, .cells = cells};
    paua_history *history;
    paua_error err;
    int rc = history_bench_open(bench, &limits, &history);

    if (rc != EXIT_OK) return rc;
    if (paua_history_append(history, &row, 1, NULL, &err) != PAUA_OK) rc = fail_with(&err);
    if (rc == EXIT_OK && bench->cli->json)
        json_line(json_made(json_pack("{s:I, s:I, s:s}", "rows", (json_int_t)1, "small_bytes",
                                      (json_int_t)bench->meter.live, "version", paua_version())));
    else if (rc == EXIT_OK)
        printf("a history of four rows, with one row of three cells: %zu bytes\n",
               bench->meter.live);
    paua_history_close(history);
    return rc;
}

static int append_old_rows(paua_history *history)
{
    static const paua_history_style styles[2] = {{0}, {.link = 1}};
    static const paua_history_link link = {"https://example.com", "", 19, 0};
    paua_history_cell cells[OLD_COLS];
    const paua_history_new_row row = {.size = sizeof row,
                                      .width = OLD_COLS,
                                      .soft = true,
                                      .cell_count = OLD_COLS,
                                      .cells = cells,
                                      .text = "e\xCC\x81",
                                      .text_nbytes = 3,
                                      .styles = styles,
                                      .style_count = 2,
                                      .links = &link,
                                      .link_count = 1};
    paua_error err;

    for (uint32_t x = 0; x < OLD_COLS; x++)
        cells[x] = (paua_history_cell){.codepoint = 'a', .width = 1};
    cells[0] = (paua_history_cell){.codepoint = 'e', .style = 1, .text_nbytes = 3, .width = 1};
    for (uint32_t i = 0; i < OLD_ROWS; i++)
        if (paua_history_append(history, &row, 1, NULL, &err) != PAUA_OK) return fail_with(&err);
    return EXIT_OK;
}

static int append_pages(struct history_bench *bench, paua_history *history)
{
    struct history_fill fill;
    paua_error err;
    int rc = EXIT_OK;

    history_fill_begin(&fill, 0, bench->cols);
    for (uint64_t at = 0; at < 4 * (uint64_t)bench->chunk_rows && rc == EXIT_OK; at += FILL_ROWS) {
        history_fill_rows(&fill, at);
        if (paua_history_append(history, fill.rows, FILL_ROWS, NULL, &err) != PAUA_OK)
            rc = fail_with(&err);
    }
    history_fill_end(&fill);
    return rc;
}

static int idle_twice(paua_history *history)
{
    paua_error err;

    for (int i = 0; i < 2; i++)
        if (paua_history_idle(history, 100, NULL, &err) != PAUA_OK) return fail_with(&err);
    return EXIT_OK;
}

/* The oldest page's rows, to cells. Through a view of its own, since one that stays holds on to the
 * page it read last. */
static int restore(const struct history_bench *bench, const paua_history_view *view,
                   paua_history_cell *cells)
{
    paua_history_view *clone;
    paua_history_row row;
    paua_status status = PAUA_OK;
    paua_error err;

    if (paua_history_view_clone(view, &clone, &err) != PAUA_OK) return fail_with(&err);
    for (uint32_t i = 0; i < bench->chunk_rows && status == PAUA_OK; i++) {
        status = paua_history_view_row(clone, i, &row, &err);
        if (status == PAUA_OK)
            paua_history_row_cells(&row, cells + (size_t)i * bench->cols, bench->cols);
    }
    paua_history_view_close(clone);
    return status == PAUA_OK ? EXIT_OK : fail_with(&err);
}

/* Mean time of an iteration, in microseconds. */
static int measure(struct history_bench *bench, paua_history *history,
                   const paua_history_view *view, bool visits, double *us)
{
    size_t page = (size_t)bench->chunk_rows * bench->cols;
    paua_history_cell *cells = cmd_alloc(page, sizeof *cells);
    uint32_t count = visits ? ITERATIONS : PAGE_ITERATIONS;
    double spent = 0, begin = now_s();
    int rc = EXIT_OK;

    for (uint32_t i = 0; i < count && rc == EXIT_OK; i++) {
        double start = visits ? 0 : now_s();

        rc = restore(bench, view, cells);
        if (!visits) spent += now_s() - start;
        if (rc == EXIT_OK) rc = idle_twice(history);
    }
    if (visits) spent = now_s() - begin;
    *us = 1e6 * spent / count;
    free(cells);
    return rc;
}

static void report(const struct history_bench *bench, const char *size, double us,
                   uint64_t allocated)
{
    size_t scratch = paua_history_scratch_nbytes(bench->scratch);

    if (bench->cli->json)
        json_line(
            json_made(json_pack("{s:s, s:f, s:I, s:I, s:s}", "restore", size, "restore_us",
                                six_digits(us), "restore_allocated_bytes", (json_int_t)allocated,
                                "scratch_bytes", (json_int_t)scratch, "version", paua_version())));
    else
        printf("restore %s: %.3f us, %llu bytes allocated, %zu bytes of shared scratch\n", size, us,
               (unsigned long long)allocated, scratch);
}

static int measure_view(struct history_bench *bench, paua_history *history, const char *size,
                        bool visits)
{
    uint32_t count = visits ? ITERATIONS : PAGE_ITERATIONS;
    paua_history_view *view;
    paua_error err;
    double us = 0;
    int rc = idle_twice(history);

    if (rc != EXIT_OK) return rc;
    if (paua_history_view_open(history, &view, &err) != PAUA_OK) return fail_with(&err);
    rc = measure(bench, history, view, visits, &us); /* warm-up */
    bench->meter.allocated = 0;
    if (rc == EXIT_OK) rc = measure(bench, history, view, visits, &us);
    if (rc == EXIT_OK) report(bench, size, us, bench->meter.allocated / count);
    paua_history_view_close(view);
    return rc;
}

int history_bench_restore(struct history_bench *bench, const char *size)
{
    static const char *const sizes[] = {"16x80", "256x120", NULL};
    uint32_t choice = 0;
    paua_history *history;
    int rc;

    if (!args_choice(&bench->cli->args, "restore", sizes, &choice)) return EXIT_USAGE;
    bench->chunk_rows = choice == 0 ? OLD_CHUNK_ROWS : PAUA_HISTORY_PAGE_ROWS_MAX;
    bench->cols = choice == 0 ? OLD_COLS : 120;
    rc = history_bench_open(bench, NULL, &history);
    if (rc != EXIT_OK) return rc;
    rc = choice == 0 ? append_old_rows(history) : append_pages(bench, history);
    if (rc == EXIT_OK) rc = measure_view(bench, history, size, choice == 0);
    paua_history_close(history);
    return rc;
}
