/* test_history.c - random operations on a history, compared with an array of rows. */
#include "history_model.h"

#include <stdio.h>

#define VIEWS 4u

struct held {
    paua_history_view *view;
    size_t first;
    size_t count;
};

struct world {
    struct model m;
    struct test_heap heap;
    paua_history_scratch *scratch;
    paua_history *h;
    struct held views[VIEWS];
};

static void evict(struct world *w)
{
    paua_history_stats stats = test_stats(w->h);

    w->m.first = w->m.count - (size_t)stats.rows;
    assert_true(stats.next_id > (w->m.count == 0 ? 0 : w->m.rows[w->m.count - 1].id));
    if (stats.rows > 0) assert_true(stats.first_id == w->m.rows[w->m.first].id);
}

static void check_held(struct world *w, struct held *held, bool walk)
{
    if (held->view != NULL) model_compare_view(&w->m, held->first, held->count, held->view, walk);
}

static void drop_held(struct held *held)
{
    paua_history_view_close(held->view);
    *held = (struct held){0};
}

static void hold(struct world *w, uint32_t which)
{
    struct held *held = &w->views[which];

    check_held(w, held, test_random_below(&w->m.seed, 2) == 0);
    drop_held(held);
    held->view = test_view(w->h);
    held->first = w->m.first;
    held->count = w->m.count - w->m.first;
}

/* ---- reflow ---- */

/* Lays a line of the model out naively and compares row by row. */
static void check_line(const struct world *w, size_t line, size_t count, uint32_t width,
                       paua_history_reflow *f, uint64_t *next)
{
    uint32_t used = 0;
    paua_history_row row = {0};
    uint32_t at = 0;
    bool open = false;

    for (size_t r = line; r < line + count; r++) {
        for (uint32_t i = 0; i < w->m.rows[r].columns; i++) {
            const struct model_cell *cell = &w->m.rows[r].cells[i];

            if (cell->width == 0) continue;
            if (!open || used + cell->width > width) {
                if (open) assert_int_equal(at, row.text_nbytes);
                assert_ok(paua_history_reflow_row(f, (*next)++, &row, NULL, &test_err));
                open = true;
                used = at = 0;
            }
            assert_true(at + cell->nbytes <= row.text_nbytes);
            assert_memory_equal(row.text + at, cell->text, cell->nbytes);
            assert_int_equal(row.styles[paua_history_row_style(&row, at)].foreground,
                             cell->style.foreground);
            {
                uint32_t nbytes;

                assert_int_equal(paua_history_row_cluster(&row, at, &nbytes), cell->width);
                assert_int_equal(nbytes, cell->nbytes);
            }
            at += cell->nbytes;
            used += cell->width;
        }
    }
    if (open)
        assert_int_equal(at, row.text_nbytes);
    else
        ++*next; /* an empty line is a row */
}

static void check_reflow(struct world *w)
{
    uint32_t width = 2 + test_random_below(&w->m.seed, 60);
    paua_history_view *v = test_view(w->h);
    paua_history_reflow *f = NULL;
    uint64_t next = 0;

    assert_ok(paua_history_reflow_open(v, width, 0, UINT64_MAX, &f, &test_err));
    paua_history_view_close(v);
    for (size_t line = w->m.first; line < w->m.count;) {
        size_t count = model_line(&w->m, line, w->m.count);
        uint64_t found;

        assert_ok(paua_history_reflow_find(f, line - w->m.first, &found, &test_err));
        assert_true(found == next);
        check_line(w, line, count, width, f, &next);
        line += count;
    }
    assert_true(next == paua_history_reflow_rows(f));
    for (int i = 0; i < 20 && next > 0; i++) {
        paua_history_row row;
        uint64_t index = test_random_below(&w->m.seed, (uint32_t)next), origin;

        assert_ok(paua_history_reflow_row(f, index, &row, &origin, &test_err));
        assert_true(row.columns <= width && origin < w->m.count - w->m.first);
    }
    paua_history_reflow_close(f);
}

/* ---- search ---- */

/* Matches of a pattern in the model's lines, forward, not overlapping. */
static size_t naive_matches(const struct world *w, const char *pattern, uint64_t *rows,
                            uint32_t *ats, size_t max)
{
    static char text[1 << 20];
    size_t found = 0, n = strlen(pattern);

    for (size_t line = w->m.first; line < w->m.count;) {
        size_t count = model_line(&w->m, line, w->m.count), used = 0;
        const char *at = text, *hit;

        for (size_t r = line; r < line + count; r++)
            used += model_text(&w->m.rows[r], text + used);
        while ((hit = memmem(at, used - (size_t)(at - text), pattern, n)) != NULL && found < max) {
            size_t offset = (size_t)(hit - text), r = line, begin = 0;
            char row_text[MODEL_COLUMNS_MAX * 32];

            while (begin + model_text(&w->m.rows[r], row_text) <= offset)
                begin += model_text(&w->m.rows[r++], row_text);
            rows[found] = r - w->m.first;
            ats[found++] = (uint32_t)(offset - begin);
            at = hit + n;
        }
        line += count;
    }
    return found;
}

static size_t library_matches(paua_history_view *v, const paua_history_search_opts *opts,
                              uint64_t slice, uint64_t *rows, uint32_t *ats, size_t max)
{
    paua_history_search *s = NULL;
    paua_history_found found = PAUA_HISTORY_MORE;
    paua_history_match match;
    size_t count = 0;

    assert_ok(paua_history_search_open(v, opts, &s, &test_err));
    while (found != PAUA_HISTORY_DONE && count < max) {
        assert_ok(paua_history_search_next(s, slice, &found, &match, NULL, &test_err));
        if (found != PAUA_HISTORY_MATCH) continue;
        assert_true(match.highlight_count > 0 && match.highlights[0].row == match.row);
        rows[count] = match.row;
        ats[count++] = match.text_at;
    }
    paua_history_search_close(s);
    return count;
}

static void check_search(struct world *w)
{
    enum { MAX = 4000 };
    static uint64_t rows[MAX], naive_rows[MAX];
    static uint32_t ats[MAX], naive_ats[MAX];
    static const char *const PATTERNS[] = {"Zab", "b\xE7\x95\x8C", "a Z", "bbZ",
                                           "\xC3\xA9"
                                           "a"};
    paua_history_search_opts opts = {.size = sizeof opts};
    paua_history_view *v = test_view(w->h);
    uint64_t slice = test_random_below(&w->m.seed, 3) * 100;
    size_t naive, count;

    opts.pattern = PATTERNS[test_random_below(&w->m.seed, 5)];
    opts.pattern_nbytes = strlen(opts.pattern);
    naive = naive_matches(w, opts.pattern, naive_rows, naive_ats, MAX);
    count = library_matches(v, &opts, slice, rows, ats, MAX);
    assert_int_equal(count, naive);
    assert_memory_equal(rows, naive_rows, count * sizeof rows[0]);
    assert_memory_equal(ats, naive_ats, count * sizeof ats[0]);

    opts.backward = true; /* these patterns cannot overlap themselves */
    count = library_matches(v, &opts, slice, rows, ats, MAX);
    if (naive < MAX) {
        assert_int_equal(count, naive);
        for (size_t i = 0; i < count; i++) {
            assert_true(rows[i] == naive_rows[count - 1 - i]);
            assert_true(ats[i] == naive_ats[count - 1 - i]);
        }
    }
    paua_history_view_close(v);
}

/* ---- all together ---- */

static void check_ids(struct world *w)
{
    paua_history_view *v = test_view(w->h);

    for (int i = 0; i < 20 && w->m.first < w->m.count; i++) {
        size_t row =
            w->m.first + test_random_below(&w->m.seed, (uint32_t)(w->m.count - w->m.first));
        uint64_t index;

        assert_ok(paua_history_view_find_id(v, w->m.rows[row].id, &index, &test_err));
        assert_true(index == row - w->m.first);
        if (w->m.rows[row].time_ms == 0) continue;
        assert_ok(paua_history_view_find_time(v, w->m.rows[row].time_ms, &index, &test_err));
        while (row > w->m.first && w->m.rows[row - 1].time_ms == w->m.rows[row].time_ms)
            row--;
        assert_true(index == row - w->m.first);
    }
    paua_history_view_close(v);
}

/* The history is stored, closed, and made again. */
static void store_and_load(struct world *w)
{
    struct test_buffer bytes = test_encode(w->h);
    paua_history_decode_opts opts = {.size = sizeof opts};

    paua_history_close(w->h);
    opts.history = (paua_history_opts){
        .size = sizeof opts.history, .scratch = w->scratch, .allocator = test_allocator(&w->heap)};
    assert_ok(paua_history_decode(bytes.bytes, bytes.nbytes, &opts, &w->h, NULL, &test_err));
    test_buffer_free(&bytes);
}

static void step(struct world *w)
{
    uint32_t what = test_random_below(&w->m.seed, 100);

    if (what < 60) {
        for (uint32_t n = test_random_below(&w->m.seed, 120); n > 0; n--)
            model_append(&w->m, w->h);
    } else if (what < 75) {
        assert_ok(paua_history_idle(w->h, test_random_below(&w->m.seed, 8), NULL, &test_err));
    } else if (what < 78) {
        assert_ok(paua_history_go_cold(w->h, &test_err));
    } else if (what < 82) {
        paua_history_limits limits = {.max_rows = test_random_below(&w->m.seed, 3000)};

        if (test_random_below(&w->m.seed, 3) == 0)
            limits.max_nbytes = 20000 + test_random_below(&w->m.seed, 100000);
        paua_history_set_limits(w->h, &limits);
    } else if (what < 92) {
        hold(w, test_random_below(&w->m.seed, VIEWS));
    } else if (what < 94) {
        check_reflow(w);
    } else if (what < 97) {
        check_search(w);
    } else if (what < 98) {
        store_and_load(w);
    } else {
        check_ids(w);
    }
    evict(w);
}

static void run(uint64_t seed, bool wild, int steps)
{
    struct world w = {0};
    paua_history_opts opts = {.size = sizeof opts};

    print_message("seed %llu\n", (unsigned long long)seed);
    model_init(&w.m, seed, wild);
    assert_ok(paua_history_scratch_open(&w.scratch, &test_err));
    opts.scratch = w.scratch;
    opts.allocator = test_allocator(&w.heap);
    opts.page_rows = seed % 3 == 0 ? 16 : 0;
    assert_ok(paua_history_open(&opts, &w.h, &test_err));
    w.h->filter_rows = seed % 2 == 0 ? 64 : UINT32_MAX;
    w.h->filter_extent = 32;
    for (int i = 0; i < steps; i++) {
        step(&w);
        if (i % 8 == 0) test_validate(w.h);
    }
    for (uint32_t i = 0; i < VIEWS; i++)
        check_held(&w, &w.views[i], true);
    paua_history_close(w.h);
    for (uint32_t i = 0; i < VIEWS; i++) {
        check_held(&w, &w.views[i], i % 2 == 0);
        drop_held(&w.views[i]);
    }
    assert_int_equal(w.heap.live, 0);
    paua_history_scratch_close(w.scratch);
    model_free(&w.m);
}

static void rows_by_the_rule_are_those_of_the_array(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        run(seed, false, 120);
}

static void wild_rows_are_those_of_the_array(void **state)
{
    (void)state;
    for (uint64_t seed = 101; seed <= 108; seed++)
        run(seed, true, 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_by_the_rule_are_those_of_the_array),
        cmocka_unit_test(wild_rows_are_those_of_the_array),
    };

    return cmocka_run_group_tests_name("property/history", tests, NULL, NULL);
}
