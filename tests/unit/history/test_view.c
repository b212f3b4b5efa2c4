/* test_view.c - views stay what they were; rows by id, by time and by line. */
#include "support.h"

static void a_view_outlives_appends_eviction_and_closing(void **state)
{
    struct test_heap heap = {0};
    paua_history *h = test_history(&(struct test_opts){.heap = &heap, .page_rows = 32});
    paua_history_limits limits = {.max_rows = 1};
    paua_history_view *early, *late, *clone = NULL;

    (void)state;
    test_append_numbered(h, 0, 100);
    early = test_view(h);
    test_append_numbered(h, 100, 100);
    late = test_view(h);
    test_idle_twice(h);
    paua_history_set_limits(h, &limits);
    assert_numbered(early, 0, 100);
    assert_numbered(late, 0, 200);
    test_validate(h);
    paua_history_close(h);
    assert_numbered(early, 0, 100);
    assert_ok(paua_history_view_clone(late, &clone, &test_err));
    paua_history_view_close(late);
    assert_numbered(clone, 0, 200);
    paua_history_view_close(early);
    paua_history_view_close(clone);
    assert_int_equal(heap.live, 0);
}

static void a_row_is_valid_until_the_view_moves(void **state)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = 32});
    paua_history_view *v;
    paua_history_row row;

    (void)state;
    test_append_numbered(h, 0, 100);
    test_idle_twice(h);
    v = test_view(h);
    assert_ok(paua_history_view_row(v, 3, &row, &test_err));
    test_idle_twice(h); /* the page drops it, the view does not */
    paua_history_close(h);
    assert_memory_equal(row.text, "row 3", 5);
    assert_fails(paua_history_view_row(v, 100, &row, &test_err), PAUA_EINVAL);
    paua_history_view_close(v);
}

static void views_of_one_moment_share_the_copy_of_the_tail(void **state)
{
    struct test_heap heap = {0};
    paua_history *h = test_history(&(struct test_opts){.heap = &heap});
    paua_history_view *views[10];
    size_t one;

    (void)state;
    test_append_numbered(h, 0, 200);
    views[0] = test_view(h);
    one = heap.live;
    for (int i = 1; i < 10; i++)
        views[i] = test_view(h);
    assert_true(heap.live - one < 9 * 256);
    for (int i = 0; i < 10; i++)
        paua_history_view_close(views[i]);
    paua_history_close(h);
}

static void an_empty_history_has_an_empty_view(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_view *v = test_view(h);
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};
    paua_history_reflow *f = NULL;
    paua_history_search *s = NULL;
    paua_history_search_opts opts = {.size = sizeof opts, .pattern = "a", .pattern_nbytes = 1};
    paua_history_found found = PAUA_HISTORY_MORE;
    paua_history_match match;
    struct test_buffer text = {0};
    paua_history_row row;
    uint64_t index;

    (void)state;
    assert_int_equal(paua_history_view_rows(v), 0);
    assert_fails(paua_history_view_row(v, 0, &row, &test_err), PAUA_EINVAL);
    assert_fails(paua_history_view_find_id(v, 1, &index, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_history_view_find_time(v, 1, &index, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_history_view_line(v, 0, &index, &index, &test_err), PAUA_EINVAL);
    assert_ok(paua_history_view_export(v, &range, PAUA_HISTORY_TEXT, test_write, &text, &test_err));
    assert_int_equal(text.nbytes, 0);
    assert_ok(paua_history_reflow_open(v, 80, 0, UINT64_MAX, &f, &test_err));
    assert_int_equal(paua_history_reflow_rows(f), 0);
    assert_fails(paua_history_reflow_row(f, 0, &row, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_history_reflow_find(f, 0, &index, &test_err), PAUA_EINVAL);
    assert_ok(paua_history_search_open(v, &opts, &s, &test_err));
    assert_ok(paua_history_search_next(s, 0, &found, &match, NULL, &test_err));
    assert_int_equal(found, PAUA_HISTORY_DONE);
    assert_ok(paua_history_idle(h, 10, NULL, &test_err));
    assert_ok(paua_history_go_cold(h, &test_err));
    test_validate(h);
    paua_history_search_close(s);
    paua_history_reflow_close(f);
    paua_history_view_close(v);
    paua_history_close(h);
}

static void rows_are_found_by_id_and_time(void **state)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = 16});
    paua_history_limits limits = {.max_rows = 90};
    paua_history_view *v;
    uint64_t index;

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        paua_history_new_row row = {.size = sizeof row, .width = 9, .text = "x", .text_nbytes = 1};

        row.id = i < 50 ? 0 : 1000 + 3 * i; /* gaps from the 51st row on */
        row.time_ms = (int64_t)(i / 10) * 100;
        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    }
    test_idle_twice(h);
    paua_history_set_limits(h, &limits);
    v = test_view(h);
    assert_ok(paua_history_view_find_id(v, 11, &index, &test_err));
    assert_int_equal(index, 0);
    assert_ok(paua_history_view_find_id(v, 50, &index, &test_err));
    assert_int_equal(index, 39);
    assert_ok(paua_history_view_find_id(v, 1000 + 3 * 60, &index, &test_err));
    assert_int_equal(index, 50);
    assert_ok(paua_history_view_find_id(v, 1000 + 3 * 99, &index, &test_err));
    assert_int_equal(index, 89);
    assert_fails(paua_history_view_find_id(v, 10, &index, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_history_view_find_id(v, 51, &index, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_history_view_find_id(v, 1001 + 3 * 60, &index, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_history_view_find_id(v, 5000, &index, &test_err), PAUA_ENOTFOUND);
    assert_ok(paua_history_view_find_time(v, 300, &index, &test_err));
    assert_int_equal(index, 20);
    assert_ok(paua_history_view_find_time(v, 301, &index, &test_err));
    assert_int_equal(index, 30);
    assert_ok(paua_history_view_find_time(v, 1, &index, &test_err));
    assert_int_equal(index, 0);
    assert_fails(paua_history_view_find_time(v, 901, &index, &test_err), PAUA_ENOTFOUND);
    paua_history_view_close(v);
    paua_history_close(h);
}

struct seen {
    char text[200];
    uint64_t count;
};

static bool note(void *arg, uint64_t index, const paua_history_row *row)
{
    struct seen *seen = arg;
    size_t used = strlen(seen->text);

    (void)index;
    memcpy(seen->text + used, row->text, row->text_nbytes);
    memcpy(seen->text + used + row->text_nbytes, row->soft ? "+" : "|", 2);
    return --seen->count > 0;
}

static void soft_rows_join_to_lines(void **state)
{
    static const char *const ROWS[] = {"one", "two a", " two b", "", "three"};
    paua_history *h = test_history(&(struct test_opts){.page_rows = 2});
    paua_history_range range = {.size = sizeof range, .count = 99, .lines = true};
    struct seen seen = {.count = 99};
    paua_history_view *v;
    uint64_t first, count;

    (void)state;
    for (int i = 0; i < 5; i++)
        (i == 1 || i == 2 ? test_append_soft : test_append)(h, 9, ROWS[i]);
    test_idle_twice(h);
    v = test_view(h);
    assert_ok(paua_history_view_each(v, &range, note, &seen, &test_err));
    assert_string_equal(seen.text, "one|two a two b|three|");
    for (uint64_t i = 1; i < 4; i++) {
        assert_ok(paua_history_view_line(v, i, &first, &count, &test_err));
        assert_true(first == 1 && count == 3);
    }
    assert_ok(paua_history_view_line(v, 4, &first, &count, &test_err));
    assert_true(first == 4 && count == 1);
    seen = (struct seen){.count = 99};
    range.first = 2;
    range.count = 1;
    assert_ok(paua_history_view_each(v, &range, note, &seen, &test_err));
    assert_string_equal(seen.text, " two b+");
    seen = (struct seen){.count = 2}; /* stops after two */
    range = (paua_history_range){.size = sizeof range, .count = 99};
    assert_ok(paua_history_view_each(v, &range, note, &seen, &test_err));
    assert_string_equal(seen.text, "one|two a+");
    paua_history_view_close(v);
    paua_history_close(h);
}

struct joined {
    const char *rows[3]; /* the last one is not soft */
    const char *text;
    uint32_t columns, widths[8];
};

static bool check_joined(void *arg, uint64_t index, const paua_history_row *row)
{
    const struct joined *want = arg;
    uint32_t cluster = 0;

    assert_int_equal(index, 0);
    assert_int_equal(row->text_nbytes, strlen(want->text));
    assert_memory_equal(row->text, want->text, row->text_nbytes);
    assert_int_equal(row->columns, want->columns);
    for (uint32_t at = 0, nbytes; at < row->text_nbytes; at += nbytes)
        assert_int_equal(paua_history_row_cluster(row, at, &nbytes), want->widths[cluster++]);
    assert_int_equal(want->widths[cluster], 0);
    return true;
}

/* What follows the end of a row would join its last cluster, or is not ASCII at the least. */
static void clusters_of_joined_rows_stay_apart(void **state)
{
    static const struct joined LINES[] = {
        {{"\xE7\x95\x8C", "\xE7\x95\x8C", "x"}, "\xE7\x95\x8C\xE7\x95\x8Cx", 5, {2, 2, 1}},
        {{"ab", "\xCC\x81", "c"},
         "ab\xCC\x81"
         "c",
         4,
         {1, 1, 1, 1}},
        {{"a", "\xCC\x81", "\xCC\x81"}, "a\xCC\x81\xCC\x81", 3, {1, 1, 1}},
        {{"\xF0\x9F\x87\xA9", "\xF0\x9F\x87\xAA", ""},
         "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
         2,
         {1, 1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
        paua_history_range range = {.size = sizeof range, .count = UINT64_MAX, .lines = true};
        struct joined want = LINES[i];
        paua_history *h = test_history(NULL);
        paua_history_view *v;

        test_append_soft(h, 2, want.rows[0]);
        test_append_soft(h, 2, want.rows[1]);
        test_append(h, 2, want.rows[2]);
        v = test_view(h);
        assert_ok(paua_history_view_each(v, &range, check_joined, &want, &test_err));
        paua_history_view_close(v);
        paua_history_close(h);
    }
}

static void a_line_of_over_a_mebibyte_comes_in_pieces(void **state)
{
    enum { ROWS = 300, WIDTH = 5000 };
    static char text[WIDTH];
    paua_history *h = test_history(NULL);
    paua_history_new_row row = {
        .size = sizeof row, .width = WIDTH, .text = text, .text_nbytes = WIDTH, .soft = true};
    struct test_buffer out = {0};
    paua_history_range range = {.size = sizeof range, .count = ROWS + 1};
    paua_history_view *v;

    (void)state;
    memset(text, 'x', sizeof text);
    for (int i = 0; i < ROWS; i++)
        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    test_append(h, WIDTH, "end");
    v = test_view(h);
    assert_ok(paua_history_view_export(v, &range, PAUA_HISTORY_TEXT, test_write, &out, &test_err));
    assert_int_equal(out.nbytes, (size_t)ROWS * WIDTH + 4); /* and one line feed */
    test_buffer_free(&out);
    paua_history_view_close(v);
    paua_history_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_outlives_appends_eviction_and_closing),
        cmocka_unit_test(a_row_is_valid_until_the_view_moves),
        cmocka_unit_test(views_of_one_moment_share_the_copy_of_the_tail),
        cmocka_unit_test(an_empty_history_has_an_empty_view),
        cmocka_unit_test(rows_are_found_by_id_and_time),
        cmocka_unit_test(soft_rows_join_to_lines),
        cmocka_unit_test(clusters_of_joined_rows_stay_apart),
        cmocka_unit_test(a_line_of_over_a_mebibyte_comes_in_pieces),
    };

    return cmocka_run_group_tests_name("history/view", tests, NULL, NULL);
}
