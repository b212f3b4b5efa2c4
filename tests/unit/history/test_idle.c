/* test_idle.c - pages turn cold after two visits, and come back. */
#include "support.h"

static paua_history *ten_pages(struct test_heap *heap)
{
    struct test_opts opts = {.heap = heap, .page_rows = 32};
    paua_history *h = test_history(&opts);

    test_append_numbered(h, 0, 325);
    assert_int_equal(test_stats(h).pages, 10);
    return h;
}

static void a_page_turns_cold_at_the_second_visit(void **state)
{
    paua_history *h = ten_pages(NULL);
    size_t left;

    (void)state;
    assert_ok(paua_history_idle(h, 100, &left, &test_err));
    assert_int_equal(test_stats(h).cold_pages, 0);
    assert_int_equal(left, 9);
    assert_ok(paua_history_idle(h, 4, &left, &test_err));
    assert_int_equal(test_stats(h).cold_pages, 4);
    assert_int_equal(left, 5);
    assert_ok(paua_history_idle(h, 100, &left, &test_err));
    assert_int_equal(test_stats(h).cold_pages, 9); /* the newest stays hot */
    assert_int_equal(left, 0);
    test_validate(h);
    paua_history_close(h);
}

static void a_read_between_two_visits_keeps_a_page_hot(void **state)
{
    paua_history *h = ten_pages(NULL);
    paua_history_view *v = test_view(h);

    (void)state;
    assert_ok(paua_history_idle(h, 100, NULL, &test_err));
    assert_row(v, 40, "row 40");
    assert_ok(paua_history_idle(h, 100, NULL, &test_err));
    assert_int_equal(test_stats(h).cold_pages, 8);
    assert_ok(paua_history_idle(h, 100, NULL, &test_err));
    assert_int_equal(test_stats(h).cold_pages, 9);
    paua_history_view_close(v);
    paua_history_close(h);
}

static void a_restored_page_is_dropped_again_without_compressing(void **state)
{
    struct test_heap heap = {0};
    paua_history *h = ten_pages(&heap);
    paua_history_view *v;
    uint64_t cold;

    (void)state;
    test_idle_twice(h);
    cold = test_stats(h).nbytes;
    v = test_view(h);
    assert_row(v, 100, "row 100");
    assert_row(v, 101, "row 101");
    assert_int_equal(test_stats(h).restores, 1);
    assert_int_equal(test_stats(h).cold_pages, 8);
    paua_history_view_close(v);
    assert_int_equal(test_stats(h).cold_pages, 8); /* the history keeps it */
    heap.until_failure = 1;                        /* which needs no memory to give up */
    test_idle_twice(h);
    heap.until_failure = 0;
    assert_int_equal(test_stats(h).cold_pages, 9);
    history_forget_tail_copy(h);
    assert_int_equal(test_stats(h).nbytes, cold);
    paua_history_close(h);
}

static bool count_row(void *arg, uint64_t index, const paua_history_row *row)
{
    (void)index;
    (void)row;
    ++*(size_t *)arg;
    return true;
}

static void a_walk_restores_one_page_at_a_time_and_keeps_none(void **state)
{
    struct test_heap heap = {0};
    paua_history *h = ten_pages(&heap);
    paua_history_view *v;
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};
    size_t rows = 0, before;

    (void)state;
    test_idle_twice(h);
    v = test_view(h);
    before = heap.live;
    assert_ok(paua_history_view_each(v, &range, count_row, &rows, &test_err));
    assert_int_equal(rows, 325);
    assert_int_equal(test_stats(h).cold_pages, 9);
    assert_int_equal(heap.live, before); /* the tail's copy is pinned now, not one more */
    paua_history_view_close(v);
    paua_history_close(h);
}

/* Random letters do not shrink to their half, random everything does not shrink at all. */
static void a_page_that_does_not_compress_is_marked_and_kept(void **state)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = 1});
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 5; i++) {
        char text[8];

        for (size_t k = 0; k < sizeof text - 1; k++)
            text[k] = (char)('!' + test_random_below(&seed, 90));
        text[sizeof text - 1] = '\0';
        test_append(h, 10, text);
    }
    test_idle_twice(h);
    test_idle_twice(h);
    assert_int_equal(test_stats(h).cold_pages, 0);
    assert_int_equal(test_stats(h).incompressible_pages, 3);
    test_validate(h);
    paua_history_close(h);
}

static void an_idle_tail_is_cut_to_its_size(void **state)
{
    paua_history *h = test_history(NULL);
    uint64_t full, trimmed;

    (void)state;
    test_append_numbered(h, 0, 257);
    full = test_stats(h).tail_nbytes;
    assert_ok(paua_history_idle(h, 0, NULL, &test_err));
    assert_int_equal(test_stats(h).tail_nbytes, full);
    test_append_numbered(h, 257, 1);
    assert_ok(paua_history_idle(h, 0, NULL, &test_err));
    assert_int_equal(test_stats(h).tail_nbytes, full);
    assert_ok(paua_history_idle(h, 0, NULL, &test_err));
    trimmed = test_stats(h).tail_nbytes;
    assert_true(trimmed < 200 && trimmed < full / 20);
    test_append_numbered(h, 258, 600);
    test_validate(h);
    paua_history_close(h);
}

static void going_cold_seals_a_tail_that_is_worth_a_page(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_view *v;

    (void)state;
    test_append_numbered(h, 0, 63);
    assert_ok(paua_history_go_cold(h, &test_err));
    assert_int_equal(test_stats(h).pages, 0);
    test_append_numbered(h, 63, 1);
    assert_ok(paua_history_go_cold(h, &test_err));
    assert_int_equal(test_stats(h).pages, 1);
    assert_int_equal(test_stats(h).cold_pages, 1);
    assert_int_equal(test_stats(h).tail_nbytes, 0);
    test_append_numbered(h, 64, 300);
    test_validate(h);
    v = test_view(h);
    assert_numbered(v, 0, 364);
    paua_history_view_close(v);
    paua_history_close(h);
}

static void going_cold_takes_every_page_at_once(void **state)
{
    struct test_heap heap = {0};
    paua_history *h = ten_pages(&heap);
    paua_history_view *v;

    (void)state;
    assert_ok(paua_history_go_cold(h, &test_err));
    assert_int_equal(test_stats(h).cold_pages, 10);
    assert_true(test_stats(h).tail_nbytes < 300);
    test_validate(h);
    test_append_numbered(h, 325, 100);
    v = test_view(h);
    assert_numbered(v, 0, 425);
    paua_history_view_close(v);
    paua_history_close(h);
    assert_int_equal(heap.live, 0);
}

/* Pages are compressed against the first of their eight; that one may go first. */
static void a_group_outlives_its_key_page(void **state)
{
    struct test_heap heap = {0};
    paua_history *h = ten_pages(&heap);
    paua_history_limits limits = {.max_rows = 325 - 40};
    paua_history_view *v;

    (void)state;
    test_idle_twice(h);
    paua_history_set_limits(h, &limits);
    assert_int_equal(test_stats(h).pages, 9);
    v = test_view(h);
    assert_numbered(v, 40, 285);
    paua_history_view_close(v);
    test_idle_twice(h);
    test_idle_twice(h);
    test_validate(h);
    limits.max_rows = 3;
    paua_history_set_limits(h, &limits);
    test_validate(h);
    paua_history_close(h);
    assert_int_equal(heap.live, 0);
}

static void histories_share_a_scratch(void **state)
{
    paua_history_scratch *scratch = NULL;
    paua_history *h[3];
    size_t used;

    (void)state;
    assert_ok(paua_history_scratch_open(&scratch, &test_err));
    for (int i = 0; i < 3; i++) {
        h[i] = test_history(&(struct test_opts){.scratch = scratch, .page_rows = 32});
        test_append_numbered(h[i], 0, 400);
        test_idle_twice(h[i]);
        if (i == 0) used = paua_history_scratch_nbytes(scratch);
    }
    assert_true(paua_history_scratch_nbytes(scratch) <= used + 4096);
    paua_history_scratch_close(scratch); /* the histories keep it */
    for (int i = 0; i < 3; i++) {
        paua_history_view *v = test_view(h[i]);

        assert_numbered(v, 0, 400);
        paua_history_close(h[i]);
        assert_row(v, 77, "row 77");
        paua_history_view_close(v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_turns_cold_at_the_second_visit),
        cmocka_unit_test(a_read_between_two_visits_keeps_a_page_hot),
        cmocka_unit_test(a_restored_page_is_dropped_again_without_compressing),
        cmocka_unit_test(a_walk_restores_one_page_at_a_time_and_keeps_none),
        cmocka_unit_test(a_page_that_does_not_compress_is_marked_and_kept),
        cmocka_unit_test(an_idle_tail_is_cut_to_its_size),
        cmocka_unit_test(going_cold_seals_a_tail_that_is_worth_a_page),
        cmocka_unit_test(going_cold_takes_every_page_at_once),
        cmocka_unit_test(a_group_outlives_its_key_page),
        cmocka_unit_test(histories_share_a_scratch),
    };

    return cmocka_run_group_tests_name("history/idle", tests, NULL, NULL);
}
