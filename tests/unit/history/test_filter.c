/* test_filter.c - filters of long histories: searches find the same with them and read less. */
#include "support.h"

#include "history/view.h"

#define ROWS 2300u

/* Words that are in some groups only, rows that wrap over pages and groups, scripts that fold. */
static paua_history *long_history(struct test_heap *heap)
{
    static const char *const WORDS[] = {"alpha",
                                        "Beta",
                                        "gamma",
                                        "delta",
                                        "omega",
                                        "ab",
                                        "Stra\xC3\x9F"
                                        "e",
                                        "\xCE\xA9mega"};
    paua_history *h = test_history(&(struct test_opts){.heap = heap, .page_rows = 2});
    uint64_t random = 7;

    h->filter_rows = ROWS / 2;
    h->filter_extent = 2 * FRAME_GROUP;
    for (uint32_t i = 0; i < ROWS; i++) {
        char text[120] = "----------------------------------------";

        for (uint32_t k = test_random_below(&random, 4); k > 0; k--) {
            uint32_t word = test_random_below(&random, 8);

            if (word < 3 || i / 100 % 8 == word) strcat(text, WORDS[word]);
            if (test_random_below(&random, 3) == 0) strcat(text, " ");
        }
        (test_random_below(&random, 3) == 0 ? test_append_soft : test_append)(h, 110, text);
    }
    test_append(h, 60, "end");
    return h;
}

static size_t make_filters(paua_history *h)
{
    size_t left = 1, calls = 0;

    for (; left > 0 && calls < 10000; calls++)
        assert_ok(paua_history_idle(h, 16, &left, &test_err));
    assert_int_equal(left, 0);
    return h->filters == NULL ? 0 : h->filters->count;
}

/* Hash of all matches, and their number. */
static uint64_t search(paua_history *h, const paua_history_search_opts *opts, size_t *count,
                       uint64_t *damaged)
{
    paua_history_search *s = NULL;
    paua_history_view *v = test_view(h);
    paua_history_found found = PAUA_HISTORY_MORE;
    uint64_t hash = 1;

    assert_ok(paua_history_search_open(v, opts, &s, &test_err));
    paua_history_view_close(v);
    *count = 0;
    while (found != PAUA_HISTORY_DONE) {
        paua_history_match m;

        assert_ok(paua_history_search_next(s, 300, &found, &m, damaged, &test_err));
        if (found != PAUA_HISTORY_MATCH) continue;
        ++*count;
        for (uint32_t i = 0; i < m.highlight_count; i++)
            hash = (hash ^ (m.highlights[i].row << 20 | m.highlights[i].begin << 10 |
                            m.highlights[i].end)) *
                   UINT64_C(0x9E3779B97F4A7C15);
    }
    paua_history_search_close(s);
    return hash;
}

static bool has_regex(paua_history *h)
{
    paua_history_search_opts opts = {
        .size = sizeof opts, .pattern = "a", .pattern_nbytes = 1, .regex = true};
    paua_history_search *s = NULL;
    paua_history_view *v = test_view(h);
    paua_status status = paua_history_search_open(v, &opts, &s, NULL);

    paua_history_view_close(v);
    if (status == PAUA_OK) paua_history_search_close(s);
    return status == PAUA_OK;
}

static void a_filtered_search_finds_the_same(void **state)
{
    static const char *const PATTERNS[] = {"delta",   "ALPHA",   "alphaBeta",  "gammaalpha",
                                           "abalpha", "strasse", "omegadelta", "ab",
                                           "zzz",     "end",     "BETA ",      "\xCE\xA9mega"};
    enum { COUNT = sizeof PATTERNS / sizeof PATTERNS[0], WAYS = 16 };
    static uint64_t before[COUNT * WAYS], after[COUNT * WAYS];
    paua_history *h = long_history(NULL);
    int ways = has_regex(h) ? WAYS : WAYS / 2;
    size_t total = 0;

    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) assert_true(make_filters(h) > ROWS / 2 / FRAME_GROUP - 3);
        for (size_t i = 0; i < (size_t)COUNT * (size_t)ways; i++) {
            size_t way = i / COUNT, count;
            const char *pattern = PATTERNS[i % COUNT];
            paua_history_search_opts opts = {.size = sizeof opts,
                                             .pattern = pattern,
                                             .pattern_nbytes = strlen(pattern),
                                             .ignore_case = (way & 1) != 0,
                                             .backward = (way & 2) != 0,
                                             .rows_only = (way & 4) != 0,
                                             .regex = (way & 8) != 0};

            (pass == 0 ? before : after)[i] = search(h, &opts, &count, NULL);
            total += count;
        }
    }
    assert_memory_equal(before, after, sizeof before);
    assert_true(total > 5000);
    paua_history_close(h);
}

static void a_word_that_is_not_there_restores_few_pages(void **state)
{
    paua_history_search_opts opts = {
        .size = sizeof opts, .pattern = "qwertzuiop", .pattern_nbytes = 10};
    paua_history *h = long_history(NULL);
    uint64_t before;
    size_t count;

    (void)state;
    make_filters(h);
    assert_true(test_stats(h).cold_pages > ROWS / 2 - 10);
    for (int backward = 0; backward < 2; backward++) {
        opts.backward = backward == 1;
        before = test_stats(h).restores;
        search(h, &opts, &count, NULL);
        assert_int_equal(count, 0);
        assert_true(test_stats(h).restores > before);
        assert_true(test_stats(h).restores - before < ROWS / 2 * 2 / 3);
    }
    opts.rows_only = true;
    before = test_stats(h).restores;
    search(h, &opts, &count, NULL);
    assert_true(test_stats(h).restores - before <= 2 * FRAME_GROUP);
    paua_history_close(h);
}

static void short_histories_have_no_filters(void **state)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = 2});

    (void)state;
    test_append_numbered(h, 0, 2000);
    assert_int_equal(make_filters(h), 0);
    h->filter_rows = 2001;
    assert_int_equal(make_filters(h), 0);
    test_append_numbered(h, 2000, 1);
    assert_int_equal(make_filters(h), 1); /* of 1,024 rows at least */
    test_append_numbered(h, 2001, 60);
    assert_int_equal(make_filters(h), 2);
    assert_int_equal(h->filters->items[0]->end_ordinal, 1024);
    assert_int_equal(h->filters->items[1]->end_ordinal, 2048);
    paua_history_close(h);
}

static void filters_go_with_their_rows_and_stay_with_views(void **state)
{
    struct test_heap heap = {0};
    paua_history *h = long_history(&heap);
    paua_history_limits limits = {.max_rows = 700};
    paua_history_view *v;
    size_t before;

    (void)state;
    before = make_filters(h);
    assert_int_equal(test_stats(h).live_nbytes, heap.live);
    v = test_view(h);
    paua_history_set_limits(h, &limits);
    test_validate(h);
    assert_true(h->filters->count < before / 2);
    assert_true(h->filters->items[0]->end_ordinal > h->first_ordinal);
    assert_int_equal(v->filters->count, before);
    paua_history_view_close(v);
    limits.max_rows = 300;
    paua_history_set_limits(h, &limits);
    assert_true(h->filters->items[0]->end_ordinal > h->first_ordinal);
    paua_history_clear(h);
    assert_null(h->filters);
    paua_history_close(h);
    assert_int_equal(heap.live, 0);
}

static void damaged_rows_are_counted_all_the_same(void **state)
{
    paua_history_search_opts opts = {
        .size = sizeof opts, .pattern = "qwertzuiop", .pattern_nbytes = 10, .rows_only = true};
    paua_history *h = long_history(NULL);
    uint64_t damaged = 0;
    size_t count;

    (void)state;
    test_idle_twice(h);
    filters_unref(h->filters); /* made of what was not damaged yet */
    h->filters = NULL;
    for (size_t i = 0; i < 40; i++) {
        struct page *page = h->list->pages[h->list->first + 300 + i];

        if (page->frame == NULL || page->frame->key != NULL) continue;
        page->frame->bytes[page->frame->nbytes - 1] ^= 1;
        make_filters(h);
        search(h, &opts, &count, &damaged);
        assert_true(damaged >= page->row_count);
        paua_history_close(h);
        return;
    }
    fail_msg("no page to damage");
}

static void memory_that_runs_out_makes_no_filter(void **state)
{
    struct test_heap heap = {0};
    paua_history *h = long_history(&heap);
    size_t n = 1;

    (void)state;
    test_idle_twice(h);
    filters_unref(h->filters);
    h->filters = NULL;
    for (;; n++) {
        size_t before = heap.live;
        paua_status status;

        heap.until_failure = n;
        status = filters_add(h->heap, &h->filters, h->list->pages + h->list->first, FRAME_GROUP);
        heap.until_failure = 0;
        if (status == PAUA_OK) break;
        assert_int_equal(status, PAUA_ENOMEM);
        assert_int_equal(heap.live, before);
        assert_null(h->filters);
    }
    assert_true(n > 10);
    paua_history_close(h);
    assert_int_equal(heap.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filtered_search_finds_the_same),
        cmocka_unit_test(a_word_that_is_not_there_restores_few_pages),
        cmocka_unit_test(short_histories_have_no_filters),
        cmocka_unit_test(filters_go_with_their_rows_and_stay_with_views),
        cmocka_unit_test(damaged_rows_are_counted_all_the_same),
        cmocka_unit_test(memory_that_runs_out_makes_no_filter),
    };

    return cmocka_run_group_tests_name("history/filter", tests, NULL, NULL);
}
