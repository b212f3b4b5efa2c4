/* test_limits.c - eviction, real bytes, and what small histories cost. */
#include "support.h"

static void the_newest_rows_are_kept_row_by_row(void **state)
{
    struct test_opts opts = {.limits = {.max_rows = 300}};
    paua_history *h = test_history(&opts);

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        test_append_numbered(h, i, 1);
        assert_int_equal(test_stats(h).rows, i < 300 ? i + 1 : 300);
        assert_true(test_stats(h).first_id == (i < 300 ? 1 : i - 298));
    }
    test_validate(h);
    {
        paua_history_view *v = test_view(h);

        assert_numbered(v, 700, 300);
        paua_history_view_close(v);
    }
    paua_history_close(h);
}

static void limits_change_at_run_time(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_limits limits = {.max_rows = 10};
    paua_history_view *v;

    (void)state;
    test_append_numbered(h, 0, 600);
    paua_history_set_limits(h, &limits);
    test_validate(h);
    limits.max_rows = 400;
    paua_history_set_limits(h, &limits);
    test_append_numbered(h, 600, 5);
    v = test_view(h);
    assert_numbered(v, 590, 15);
    paua_history_view_close(v);
    paua_history_clear(h);
    assert_int_equal(test_stats(h).rows, 0);
    test_append_numbered(h, 605, 2);
    v = test_view(h);
    assert_numbered(v, 605, 2);
    paua_history_view_close(v);
    paua_history_close(h);
}

static void rows_go_by_age(void **state)
{
    struct test_opts opts = {.limits = {.max_age_ms = 1000}, .page_rows = 32};
    paua_history *h = test_history(&opts);

    (void)state;
    for (int64_t i = 0; i < 500; i++) {
        paua_history_new_row row = {
            .size = sizeof row, .width = 10, .text = "x", .text_nbytes = 1, .time_ms = 1 + i * 10};

        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
        assert_int_equal(test_stats(h).rows, i < 100 ? i + 1 : 101);
        if (i % 50 == 0) test_idle_twice(h);
    }
    test_validate(h);
    assert_ok(paua_history_expire(h, 4991 + 500, &test_err));
    assert_int_equal(test_stats(h).rows, 51);
    assert_ok(paua_history_expire(h, 100000, &test_err));
    assert_int_equal(test_stats(h).rows, 0);
    assert_fails(paua_history_expire(h, 0, &test_err), PAUA_EINVAL);
    test_append(h, 10, "y");
    assert_int_equal(test_stats(h).rows, 1);
    test_validate(h);
    paua_history_close(h);
}

/* After every append no more is allocated than the limit. */
static void a_limit_in_bytes_is_one_on_real_memory(void **state)
{
    static const uint64_t limits[] = {800, 1500, 4000, 20000, 100000};

    (void)state;
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        struct test_heap heap = {0};
        struct test_opts opts = {.heap = &heap, .limits = {.max_nbytes = limits[k]}};
        paua_history *h = test_history(&opts);
        paua_history_view *v;

        for (uint64_t i = 0; i < 3000; i++) {
            test_append_numbered(h, i, 1);
            if (heap.live > limits[k])
                fail_msg("%zu bytes under %llu", heap.live, (unsigned long long)limits[k]);
            assert_true(test_stats(h).nbytes == heap.live);
        }
        test_validate(h);
        assert_true(heap.live > limits[k] / 4);
        v = test_view(h);
        assert_numbered(v, 3000 - test_stats(h).rows, test_stats(h).rows);
        paua_history_view_close(v);
        paua_history_close(h);
        assert_int_equal(heap.live, 0);
    }
}

/* Rows 0 .. 599, one each 10 ms, of which some pages are cold. */
static paua_history *timed_history(void)
{
    paua_history *h = test_history(NULL);

    for (int64_t i = 0; i < 600; i++) {
        paua_history_new_row row = {.size = sizeof row,
                                    .width = 20,
                                    .text = "some text",
                                    .text_nbytes = 9,
                                    .time_ms = 1000 + 10 * i};

        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    }
    test_idle_twice(h);
    return h;
}

static void bytes_and_age_change_at_run_time_too(void **state)
{
    paua_history *h = timed_history();
    paua_history_limits limits = {.max_age_ms = 3000};

    (void)state;
    paua_history_set_limits(h, &limits);
    test_validate(h);
    assert_int_equal(test_stats(h).rows, 301);
    limits.max_age_ms = 5000; /* what has gone does not come back */
    paua_history_set_limits(h, &limits);
    assert_int_equal(test_stats(h).rows, 301);
    limits = (paua_history_limits){.max_nbytes = 4096};
    paua_history_set_limits(h, &limits);
    assert_true(test_stats(h).nbytes <= 4096 && test_stats(h).rows >= 1);
    test_validate(h);
    assert_int_equal(test_stats(h).next_id, 601);
    limits = (paua_history_limits){.max_nbytes = 1};
    paua_history_set_limits(h, &limits); /* the newest row stays */
    assert_int_equal(test_stats(h).rows, 1);
    limits = (paua_history_limits){0};
    paua_history_set_limits(h, &limits);
    test_append_numbered(h, 0, 1000);
    test_validate(h);
    assert_int_equal(test_stats(h).rows, 1001);
    paua_history_close(h);
}

static void a_row_over_the_limit_alone_is_refused(void **state)
{
    char text[600];
    struct test_opts opts = {.limits = {.max_nbytes = HISTORY_EMPTY_NBYTES + 500}};
    paua_history *h = test_history(&opts);
    paua_history_new_row row = {
        .size = sizeof row, .width = 600, .text = text, .text_nbytes = sizeof text};
    uint64_t rows;

    (void)state;
    memset(text, 'x', sizeof text);
    test_append_numbered(h, 0, 5);
    rows = test_stats(h).rows;
    assert_fails(paua_history_append(h, &row, 1, NULL, &test_err), PAUA_ENOSPACE);
    assert_int_equal(test_stats(h).rows, rows);
    test_validate(h);
    paua_history_close(h);
}

static void a_small_history_is_small(void **state)
{
    struct test_heap heap = {0};
    struct test_opts opts = {.heap = &heap, .limits = {.max_rows = 4}};
    paua_history *h = test_history(&opts);

    (void)state;
    test_append(h, 3, "abc");
    assert_true(heap.live <= 1024);
    assert_true(h->tail.text_capacity <= 12);
    for (int i = 0; i < 1000; i++)
        test_append(h, 3, "abc");
    assert_true(heap.live <= 1600);
    paua_history_close(h);
}

static void dead_rows_of_the_tail_pin_nothing(void **state)
{
    struct test_heap heap = {0};
    struct test_opts opts = {.heap = &heap, .limits = {.max_rows = 4}};
    paua_history *h = test_history(&opts);
    char uri[2000];
    paua_history_link link = {uri, "", sizeof uri, 0};
    paua_history_style style = {.link = 1};
    paua_history_run run = {.nbytes = 1};
    paua_history_new_row row = {.size = sizeof row,
                                .width = 5,
                                .text = "a",
                                .text_nbytes = 1,
                                .runs = &run,
                                .run_count = 1,
                                .styles = &style,
                                .style_count = 1,
                                .links = &link,
                                .link_count = 1};

    (void)state;
    memset(uri, 'u', sizeof uri);
    for (unsigned i = 0; i < 500; i++) {
        memcpy(uri, &(char[]){(char)('a' + i % 26), (char)('a' + i / 26)}, 2);
        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
        assert_true(h->tail.strings_nbytes <= 16 * sizeof uri);
    }
    for (int i = 0; i < 12; i++)
        test_append(h, 5, "b");
    assert_int_equal(h->tail.link_count, 0);
    assert_int_equal(h->tail.strings_nbytes, 0);
    test_validate(h);
    paua_history_close(h);
}

/* The bars for 10,000 rows of 120 plain columns. */
static void plain_rows_cost_their_text(void **state)
{
    struct test_heap heap = {0};
    struct test_opts opts = {.heap = &heap};
    paua_history *h;

    (void)state;
    assert_ok(paua_history_scratch_open(&opts.scratch, &test_err));
    h = test_history(&opts);
    for (uint32_t y = 0; y < 10000; y++) {
        paua_history_cell cells[120];
        paua_history_new_row row = {
            .size = sizeof row, .width = 120, .cells = cells, .cell_count = 120};

        for (uint32_t x = 0; x < 120; x++)
            cells[x] = (paua_history_cell){.codepoint = 'a' + (x + y) % 26, .width = 1};
        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    }
    assert_true(heap.live <= 1300000);
    test_idle_twice(h);
    assert_true(heap.live <= 100000);
    assert_int_equal(test_stats(h).cold_pages, 38);
    paua_history_close(h);
    paua_history_scratch_close(opts.scratch);
    assert_int_equal(heap.live, 0);
}

/* Every allocation as the one that fails: typed errors, nothing lost, nothing leaked. */
static void running_out_of_memory_changes_nothing(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        struct test_heap heap = {0};
        struct test_opts opts = {.heap = &heap, .page_rows = 8};
        paua_history *h = test_history(&opts);
        paua_history_view *v = NULL;
        uint64_t rows = 0;
        bool failed;
        size_t left;

        heap.until_failure = n;
        for (int i = 0; i < 40; i++) {
            paua_history_new_row row = {.size = sizeof row, .width = 9, .text = "row"};
            paua_status status;

            row.text_nbytes = 3;
            status = paua_history_append(h, &row, 1, NULL, &test_err);
            assert_true(status == PAUA_OK || status == PAUA_ENOMEM);
            rows += status == PAUA_OK;
            assert_true(test_stats(h).rows == rows);
            if (i % 16 == 0) paua_history_idle(h, 10, &left, &test_err);
            if (i == 20 && v == NULL) paua_history_view_open(h, &v, NULL);
        }
        failed = heap.until_failure == 1;
        heap.until_failure = 0;
        test_validate(h);
        paua_history_close(h);
        paua_history_view_close(v);
        assert_int_equal(heap.live, 0);
        if (!failed) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_rows_are_kept_row_by_row),
        cmocka_unit_test(limits_change_at_run_time),
        cmocka_unit_test(bytes_and_age_change_at_run_time_too),
        cmocka_unit_test(rows_go_by_age),
        cmocka_unit_test(a_limit_in_bytes_is_one_on_real_memory),
        cmocka_unit_test(a_row_over_the_limit_alone_is_refused),
        cmocka_unit_test(a_small_history_is_small),
        cmocka_unit_test(dead_rows_of_the_tail_pin_nothing),
        cmocka_unit_test(plain_rows_cost_their_text),
        cmocka_unit_test(running_out_of_memory_changes_nothing),
    };

    return cmocka_run_group_tests_name("history/limits", tests, NULL, NULL);
}
