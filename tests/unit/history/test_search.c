/* test_search.c - what is found, where, in which order, and what reading it costs. */
#include "support.h"

#include <stdio.h>

struct query {
    const char *pattern;
    bool ignore_case, whole_word, backward, rows_only, from_given;
    uint64_t from;
    int64_t since_ms, until_ms;
};

static paua_history_search *open_search(paua_history *h, const struct query *q)
{
    paua_history_search_opts opts = {.size = sizeof opts,
                                     .pattern = q->pattern,
                                     .pattern_nbytes = strlen(q->pattern),
                                     .ignore_case = q->ignore_case,
                                     .whole_word = q->whole_word,
                                     .backward = q->backward,
                                     .rows_only = q->rows_only,
                                     .from_given = q->from_given,
                                     .from = q->from,
                                     .since_ms = q->since_ms,
                                     .until_ms = q->until_ms};
    paua_history_search *s = NULL;
    paua_history_view *v = test_view(h);

    assert_ok(paua_history_search_open(v, &opts, &s, &test_err));
    paua_history_view_close(v);
    return s;
}

/* All highlights, as "row:begin-end"; pieces of one match are joined by "+". */
static void assert_found(paua_history *h, struct query q, const char *expected)
{
    paua_history_search *s = open_search(h, &q);
    paua_history_found found = PAUA_HISTORY_MORE;
    char text[400] = "";
    size_t used = 0;

    while (found != PAUA_HISTORY_DONE) {
        paua_history_match m;

        assert_ok(paua_history_search_next(s, 0, &found, &m, NULL, &test_err));
        assert_int_not_equal(found, PAUA_HISTORY_MORE);
        for (uint32_t i = 0; found == PAUA_HISTORY_MATCH && i < m.highlight_count; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu:%u-%u",
                                     used == 0 ? ""
                                     : i == 0  ? " "
                                               : "+",
                                     (unsigned long long)m.highlights[i].row, m.highlights[i].begin,
                                     m.highlights[i].end);
    }
    if (strcmp(text, expected) != 0) fail_msg("%s: %s, not %s", q.pattern, text, expected);
    paua_history_search_close(s);
}

/* Two rows a page, so that lines cross pages. */
static paua_history *sample(void)
{
    static const struct {
        const char *text;
        bool soft;
    } ROWS[] = {
        {"The quick brown", true},
        {" fox", false},
        {"jumps over the", false},
        {"lazy dogdog", true},
        {"dog and", true},
        {"the end", false},
        {"Stra\xC3\x9F"
         "e \xE7\x95\x8C the",
         false},
        {"STRASSE", false},
    };
    paua_history *h = test_history(&(struct test_opts){.page_rows = 2});

    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        (ROWS[i].soft ? test_append_soft : test_append)(h, 20, ROWS[i].text);
    test_idle_twice(h);
    return h;
}

static void matches_come_in_order_with_their_columns(void **state)
{
    paua_history *h = sample();

    (void)state;
    assert_found(h, (struct query){.pattern = "the"}, "2:11-14 5:0-3 6:10-13");
    assert_found(h, (struct query){.pattern = "the", .backward = true}, "6:10-13 5:0-3 2:11-14");
    assert_found(h, (struct query){.pattern = "\xE7\x95\x8C"}, "6:7-9");
    assert_found(h, (struct query){.pattern = "nothing"}, "");
    assert_found(h, (struct query){.pattern = "nothing", .backward = true}, "");
    paua_history_close(h);
}

static void a_match_runs_over_soft_wraps_and_no_others(void **state)
{
    paua_history *h = sample();

    (void)state;
    assert_found(h, (struct query){.pattern = "brown fox"}, "0:10-15+1:0-4");
    assert_found(h, (struct query){.pattern = "brown fox", .backward = true}, "0:10-15+1:0-4");
    assert_found(h, (struct query){.pattern = "foxjumps"}, "");
    assert_found(h, (struct query){.pattern = "dogdogdog andthe"}, "3:5-11+4:0-7+5:0-3");
    assert_found(h, (struct query){.pattern = "dogdogdog andthe", .backward = true},
                 "3:5-11+4:0-7+5:0-3");
    assert_found(h, (struct query){.pattern = "brown fox", .rows_only = true}, "");
    assert_found(h, (struct query){.pattern = "dog", .rows_only = true}, "3:5-8 3:8-11 4:0-3");
    assert_found(h, (struct query){.pattern = "dog", .rows_only = true, .backward = true},
                 "4:0-3 3:8-11 3:5-8");
    paua_history_close(h);
}

static void letter_case_is_folded_in_full(void **state)
{
    paua_history *h = sample();

    (void)state;
    assert_found(h, (struct query){.pattern = "the", .ignore_case = true},
                 "0:0-3 2:11-14 5:0-3 6:10-13");
    assert_found(h, (struct query){.pattern = "strasse", .ignore_case = true}, "6:0-6 7:0-7");
    assert_found(h,
                 (struct query){.pattern = "STRA\xC3\x9F"
                                           "E",
                                .ignore_case = true,
                                .backward = true},
                 "7:0-7 6:0-6");
    assert_found(h, (struct query){.pattern = "se", .ignore_case = true},
                 "7:5-7"); /* not half of a letter */
    assert_found(h, (struct query){.pattern = "FOX", .ignore_case = true, .backward = true},
                 "1:1-4");
    paua_history_close(h);
}

static void characters_that_fold_to_several_match_whole(void **state)
{
    paua_history *h = test_history(NULL);

    (void)state;
    test_append(h, 40, "\xC4\xB0X \xEF\xAC\x81ne \xE1\xBA\x9E."); /* I with dot, fi, sharp S */
    assert_found(h, (struct query){.pattern = "x FINE ss.", .ignore_case = true}, "0:1-9");
    assert_found(h, (struct query){.pattern = "ne", .ignore_case = true}, "0:4-6");
    assert_found(h, (struct query){.pattern = "FI", .ignore_case = true}, "0:3-4");
    assert_found(h, (struct query){.pattern = "i", .ignore_case = true}, "");
    assert_found(h, (struct query){.pattern = "ine", .ignore_case = true}, "");
    assert_found(h, (struct query){.pattern = "s", .ignore_case = true}, "");
    assert_found(h, (struct query){.pattern = "SS", .ignore_case = true, .backward = true},
                 "0:7-8");
    assert_found(h, (struct query){.pattern = ".", .ignore_case = true}, "0:8-9");
    paua_history_close(h);
}

static void whole_words_have_no_letters_beside_them(void **state)
{
    paua_history *h = test_history(NULL);

    (void)state;
    test_append(h, 40, "the other thef the_ (the) 7the the");
    test_append(h, 40, "the");
    test_append_soft(h, 3, "the");
    test_append(h, 10, "re");
    test_append(h, 40, "\xC3\xA9the the\xC3\xA9 the\xE2\x80\xA6");
    assert_found(h, (struct query){.pattern = "the", .whole_word = true},
                 "0:0-3 0:21-24 0:31-34 1:0-3 4:10-13");
    assert_found(h, (struct query){.pattern = "the", .whole_word = true, .rows_only = true},
                 "0:0-3 0:21-24 0:31-34 1:0-3 2:0-3 4:10-13");
    assert_found(h, (struct query){.pattern = "(the)", .whole_word = true}, "0:20-25");
    paua_history_close(h);
}

static void a_search_begins_where_it_is_told(void **state)
{
    paua_history *h = sample();

    (void)state;
    assert_found(h, (struct query){.pattern = "the", .from_given = true, .from = 5},
                 "5:0-3 6:10-13");
    assert_found(h,
                 (struct query){.pattern = "the", .from_given = true, .from = 5, .backward = true},
                 "5:0-3 2:11-14");
    assert_found(h, (struct query){.pattern = "the", .from_given = true, .from = 99}, "");
    assert_found(
        h, (struct query){.pattern = "the", .from_given = true, .from = 0, .backward = true}, "");
    paua_history_close(h);
}

static void times_bound_a_search(void **state)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = 4});

    (void)state;
    for (int64_t i = 0; i < 10; i++) {
        paua_history_new_row row = {
            .size = sizeof row, .width = 9, .text = "x", .text_nbytes = 1, .time_ms = 100 * i};

        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    }
    assert_found(h, (struct query){.pattern = "x", .since_ms = 700}, "7:0-1 8:0-1 9:0-1");
    assert_found(h, (struct query){.pattern = "x", .until_ms = 100}, "0:0-1 1:0-1");
    assert_found(h,
                 (struct query){.pattern = "x", .since_ms = 250, .until_ms = 400, .backward = true},
                 "4:0-1 3:0-1");
    assert_found(h, (struct query){.pattern = "x", .since_ms = 901}, "");
    assert_found(h, (struct query){.pattern = "x", .since_ms = 500, .until_ms = 400}, "");
    paua_history_close(h);
}

static void matches_do_not_overlap(void **state)
{
    paua_history *h = test_history(NULL);

    (void)state;
    test_append(h, 20, "aaaaa");
    assert_found(h, (struct query){.pattern = "aa"}, "0:0-2 0:2-4");
    assert_found(h, (struct query){.pattern = "aa", .backward = true}, "0:3-5 0:1-3");
    paua_history_close(h);
}

static void a_search_goes_in_slices_and_holds_one_page(void **state)
{
    struct test_heap heap = {0};
    struct test_opts opts = {.heap = &heap};
    struct query query = {.pattern = "row \xC3\xA9", .ignore_case = true}; /* pages are restored */
    const char *sweep = getenv("PAUA_SWEEP");
    uint64_t rows = sweep != NULL && strcmp(sweep, "whole") == 0 ? 1000000 : 20000;
    paua_history *h;
    paua_history_search *s;
    paua_history_found found = PAUA_HISTORY_MORE;
    paua_history_match match;
    size_t slices = 0, before;

    (void)state;
    h = test_history(&opts);
    test_append_numbered(h, 0, rows);
    for (int i = 0; i < 2; i++) /* without filters, which would spare the search its work */
        for (uint64_t left = rows / 256; left > 1; left--)
            assert_ok(paua_history_idle(h, 1, NULL, &test_err));
    s = open_search(h, &query);
    before = heap.peak = heap.live;
    while (found == PAUA_HISTORY_MORE) {
        assert_ok(paua_history_search_next(s, 1000, &found, &match, NULL, &test_err));
        slices++;
    }
    assert_true(heap.peak <= before + BLOCK_NBYTES_MAX);
    assert_int_equal(found, PAUA_HISTORY_DONE);
    assert_true(slices >= rows / 1000 - 1 - rows / 10000 && slices <= rows / 1000 + 2);
    assert_int_equal(test_stats(h).cold_pages, (rows - 1) / 256 - 1);
    paua_history_search_close(s);
    paua_history_close(h);
}

static void a_compressed_page_without_the_text_is_passed_over_before_it_is_rows(void **state)
{
    struct test_heap heap = {0};
    struct test_opts opts = {.heap = &heap, .page_rows = 64};
    struct query queries[] = {{.pattern = "row x"},
                              {.pattern = "row x", .backward = true},
                              {.pattern = "ROW x", .ignore_case = true}};
    paua_history *h = test_history(&opts);

    (void)state;
    test_append_numbered(h, 0, 1000);
    test_idle_twice(h);
    for (int i = 0; i < 3; i++) {
        paua_history_search *s = open_search(h, &queries[i]);
        paua_history_found found;
        paua_history_match match;

        heap.peak = heap.live;
        assert_ok(paua_history_search_next(s, 0, &found, &match, NULL, &test_err));
        assert_int_equal(found, PAUA_HISTORY_DONE);
        assert_int_equal(heap.peak, heap.live);
        paua_history_search_close(s);
    }
    assert_found(h, (struct query){.pattern = "row 500"}, "500:0-7");
    assert_found(h, (struct query){.pattern = "ROw 500", .ignore_case = true}, "500:0-7");
    assert_found(h, (struct query){.pattern = "row 64", .from_given = true, .from = 600},
                 "640:0-6 641:0-6 642:0-6 643:0-6 644:0-6 645:0-6 646:0-6 647:0-6 648:0-6 649:0-6");
    assert_found(
        h, (struct query){.pattern = "row 64", .backward = true, .from_given = true, .from = 600},
        "64:0-6");
    paua_history_close(h);
}

static void patterns_that_cannot_be_are_refused(void **state)
{
    static char long_one[4097];
    paua_history *h = test_history(NULL);
    paua_history_view *v = test_view(h);
    paua_history_search *s = NULL;
    paua_history_search_opts opts = {.size = sizeof opts};

    (void)state;
    memset(long_one, 'a', sizeof long_one);
    assert_fails(paua_history_search_open(v, &opts, &s, &test_err), PAUA_EINVAL);
    opts.pattern = "";
    assert_fails(paua_history_search_open(v, &opts, &s, &test_err), PAUA_EINVAL);
    opts.pattern = long_one;
    opts.pattern_nbytes = sizeof long_one;
    assert_fails(paua_history_search_open(v, &opts, &s, &test_err), PAUA_EINVAL);
    opts.pattern = "a\n";
    opts.pattern_nbytes = 2;
    assert_fails(paua_history_search_open(v, &opts, &s, &test_err), PAUA_EINVAL);
    opts.pattern = "\xFF";
    opts.pattern_nbytes = 1;
    assert_fails(paua_history_search_open(v, &opts, &s, &test_err), PAUA_EINVAL);
    paua_history_view_close(v);
    paua_history_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_come_in_order_with_their_columns),
        cmocka_unit_test(a_match_runs_over_soft_wraps_and_no_others),
        cmocka_unit_test(letter_case_is_folded_in_full),
        cmocka_unit_test(characters_that_fold_to_several_match_whole),
        cmocka_unit_test(whole_words_have_no_letters_beside_them),
        cmocka_unit_test(a_search_begins_where_it_is_told),
        cmocka_unit_test(times_bound_a_search),
        cmocka_unit_test(matches_do_not_overlap),
        cmocka_unit_test(a_search_goes_in_slices_and_holds_one_page),
        cmocka_unit_test(a_compressed_page_without_the_text_is_passed_over_before_it_is_rows),
        cmocka_unit_test(patterns_that_cannot_be_are_refused),
    };

    return cmocka_run_group_tests_name("history/search", tests, NULL, NULL);
}
