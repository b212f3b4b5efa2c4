/* test_append.c - what goes in, what is refused, and that refusing changes nothing. */
#include "support.h"

#include <stdio.h>

#define CELL(c)                                                                                    \
    {                                                                                              \
        .codepoint = (c), .width = 1                                                               \
    }

static paua_history_new_row text_row(const char *text)
{
    return (paua_history_new_row){.size = sizeof(paua_history_new_row),
                                  .width = 20,
                                  .text = text,
                                  .text_nbytes = strlen(text)};
}

static paua_history_new_row cell_row(const paua_history_cell *cells, uint32_t count)
{
    return (paua_history_new_row){
        .size = sizeof(paua_history_new_row), .width = 20, .cells = cells, .cell_count = count};
}

/* The row is refused and the history stays byte for byte what it was. */
static void assert_row_refused(paua_history *h, paua_history_new_row row, const char *why)
{
    struct test_buffer before = test_encode(h), after;
    size_t appended = 9;

    assert_fails(paua_history_append(h, &row, 1, &appended, &test_err), PAUA_EINVAL);
    if (strstr(test_err.message, why) == NULL) fail_msg("%s, not %s", test_err.message, why);
    assert_int_equal(appended, 0);
    assert_int_equal(test_err.row, 0);
    test_validate(h);
    after = test_encode(h);
    assert_int_equal(before.nbytes, after.nbytes);
    assert_memory_equal(before.bytes, after.bytes, before.nbytes);
    test_buffer_free(&before);
    test_buffer_free(&after);
}

static void rows_that_cannot_be_are_refused_without_a_trace(void **state)
{
    static char huge[PAUA_HISTORY_ROW_NBYTES_MAX + 1];
    static const paua_history_cell two[] = {CELL('a'), CELL('b')};
    paua_history *h = test_history(NULL);
    paua_history_new_row row;

    (void)state;
    memset(huge, 'x', sizeof huge);
    test_append_numbered(h, 0, 3);

    row = text_row("a");
    row.width = 0;
    assert_row_refused(h, row, "1 to 65535 columns");
    row.width = 65536;
    assert_row_refused(h, row, "1 to 65535 columns");
    row = text_row("a");
    row.end = 21;
    assert_row_refused(h, row, "beyond its width");
    row = text_row("123456789012345678901");
    assert_row_refused(h, row, "more columns than the row");
    row = text_row("");
    row.text = huge;
    row.text_nbytes = sizeof huge;
    assert_row_refused(h, row, "1 MiB");
    row = cell_row(two, 2);
    row.width = 1;
    assert_row_refused(h, row, "more cells than columns");
    row = text_row("a");
    row.text = NULL;
    assert_row_refused(h, row, "without text");
    row = text_row("a");
    row.cell_count = 1;
    assert_row_refused(h, row, "without cells");
    row = text_row("a");
    row.run_count = 1;
    assert_row_refused(h, row, "without runs");
    row = text_row("a");
    row.style_count = 1;
    assert_row_refused(h, row, "without styles");
    row = text_row("a");
    row.link_count = 1;
    assert_row_refused(h, row, "without links");
    row = text_row("a");
    row.id = 3; /* the last one's */
    assert_row_refused(h, row, "not above the last");
    row.id = UINT64_MAX;
    assert_row_refused(h, row, "ids end below");
    row = text_row("a");
    row.time_ms = -1;
    assert_row_refused(h, row, "time is not negative");
    paua_history_close(h);
}

static void text_that_is_not_text_is_refused(void **state)
{
    static const char *const BAD[] = {"a\tb", "\x1B[m", "\x7F", "\xC2\x85", "\xFF", "\xE7\x95"};
    char zalgo[200] = "e";
    paua_history *h = test_history(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        assert_row_refused(h, text_row(BAD[i]), "control character");
    for (size_t i = 1; i + 2 < sizeof zalgo; i += 2)
        memcpy(zalgo + i, "\xCC\x81", 2);
    assert_row_refused(h, text_row(zalgo), "more than 128 bytes");
    zalgo[127] = '\0';
    test_append(h, 20, zalgo);
    paua_history_close(h);
}

static void cells_that_cannot_be_are_refused(void **state)
{
    static const struct {
        paua_history_cell cells[2];
        const char *why;
    } CASES[] = {
        {{{.width = 0}, CELL('a')}, "right half without"},
        {{CELL('a'), {.width = 0}}, "right half without"},
        {{{.codepoint = 'a', .width = 2}, CELL('b')}, "without its right half"},
        {{CELL('b'), {.codepoint = 'a', .width = 2}}, "without its right half"},
        {{{.codepoint = 'a', .width = 3}, CELL('b')}, "right half without"},
        {{CELL('\n'), CELL('b')}, "control character"},
        {{CELL(0x7F), CELL('b')}, "control character"},
        {{CELL(0x85), CELL('b')}, "control character"},
        {{CELL(0xD800), CELL('b')}, "none of Unicode"},
        {{CELL(0x110000), CELL('b')}, "none of Unicode"},
        {{{.codepoint = 'a', .width = 1, .style = 1}, CELL('b')}, "not in styles"},
        {{{.width = 1, .text_nbytes = 129}, CELL('b')}, "over 128 bytes"},
        {{{.width = 1, .text_at = 3, .text_nbytes = 2}, CELL('b')}, "outside the text"},
        {{{.width = 1, .text_at = UINT32_MAX, .text_nbytes = 2}, CELL('b')}, "outside the text"},
        {{{.width = 1, .text_at = 3, .text_nbytes = 1}, CELL('b')}, "control character"},
    };
    paua_history *h = test_history(NULL);

    (void)state;
    test_append_numbered(h, 0, 2);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        paua_history_new_row row = cell_row(CASES[i].cells, 2);

        row.text = "abc\x01";
        row.text_nbytes = 4;
        assert_row_refused(h, row, CASES[i].why);
    }
    paua_history_close(h);
}

static void styles_and_links_that_cannot_be_are_refused(void **state)
{
    static char long_uri[PAUA_HISTORY_LINK_NBYTES_MAX + 1];
    static const struct {
        paua_history_style style;
        const char *why;
    } STYLES[] = {
        {{.foreground = 1}, "of no kind"},
        {{.background = 0x01000100}, "of no kind"},
        {{.underline_colour = 0x03000000}, "of no kind"},
        {{.attributes = 0x0200}, "of no kind"},
        {{.attributes = 0x6000}, "of no kind"},
        {{.attributes = 0x8000}, "of no kind"},
        {{.link = 2}, "not in links"},
    };
    static const paua_history_link LINKS[] = {
        {"", "", 0, 0},
        {long_uri, "", sizeof long_uri, 0},
        {"a", long_uri, 1, sizeof long_uri},
        {"a\nb", "", 3, 0},
        {"\xFF", "", 1, 0},
        {"a", "\x1B", 1, 1},
    };
    paua_history_run run = {.nbytes = 1};
    paua_history *h = test_history(NULL);
    paua_history_new_row row = text_row("a");
    paua_history_link fine = {"x", "", 1, 0};
    paua_history_style linked = {.link = 1};

    (void)state;
    memset(long_uri, 'u', sizeof long_uri);
    row.runs = &run;
    row.run_count = row.style_count = row.link_count = 1;
    row.links = &fine;
    for (size_t i = 0; i < sizeof STYLES / sizeof STYLES[0]; i++) {
        row.styles = &STYLES[i].style;
        assert_row_refused(h, row, STYLES[i].why);
    }
    row.styles = &linked;
    for (size_t i = 0; i < sizeof LINKS / sizeof LINKS[0]; i++) {
        row.links = &LINKS[i];
        assert_row_refused(h, row, "link");
    }
    paua_history_close(h);
}

static void a_batch_goes_in_up_to_the_row_that_is_refused(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_new_row rows[4] = {text_row("row 0"), text_row("row 1"), text_row("\n"),
                                    text_row("row 3")};
    paua_history_view *v;
    size_t appended = 0;

    (void)state;
    assert_fails(paua_history_append(h, rows, 4, &appended, &test_err), PAUA_EINVAL);
    assert_int_equal(appended, 2);
    assert_int_equal(test_err.row, 2);
    v = test_view(h);
    assert_numbered(v, 0, 2);
    paua_history_view_close(v);
    assert_ok(paua_history_append(h, NULL, 0, &appended, &test_err));
    assert_int_equal(appended, 0);
    paua_history_close(h);
}

static void ends_keep_blanks_and_trailing_ones_go(void **state)
{
    static const struct {
        const char *text;
        uint32_t end;
        bool soft;
        const char *stored;
        uint32_t stored_end;
    } CASES[] = {
        {"ab  ", 0, false, "ab", 2},   {"ab  ", 3, false, "ab ", 3},
        {"ab", 5, false, "ab   ", 5},  {"ab  ", 0, true, "ab  ", 4},
        {"", 0, false, "", 0},         {"   ", 0, false, "", 0},
        {"abcd", 2, false, "abcd", 2}, {"\xE7\x95\x8C ", 3, false, "\xE7\x95\x8C ", 3},
    };
    paua_history *h = test_history(NULL);
    paua_history_view *v;

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        paua_history_new_row row = text_row(CASES[i].text);

        row.end = CASES[i].end;
        row.soft = CASES[i].soft;
        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    }
    v = test_view(h);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        paua_history_row row;

        assert_row(v, i, CASES[i].stored);
        assert_ok(paua_history_view_row(v, i, &row, &test_err));
        assert_int_equal(row.end, CASES[i].stored_end);
        assert_int_equal(row.soft, CASES[i].soft);
    }
    paua_history_view_close(v);
    paua_history_close(h);
}

static void a_run_that_ends_in_a_cluster_ends_after_it(void **state)
{
    static const paua_history_style styles[] = {{.attributes = PAUA_HISTORY_BOLD},
                                                {.attributes = PAUA_HISTORY_ITALIC}};
    static const paua_history_run runs[] = {{1, 0}, {0, 1}, {3, 1}};
    paua_history *h = test_history(NULL);
    paua_history_new_row row = text_row("e\xCC\x81xy");
    paua_history_row out;
    paua_history_view *v;

    (void)state;
    row.styles = styles;
    row.style_count = 2;
    row.runs = runs;
    row.run_count = 3;
    assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    v = test_view(h);
    assert_ok(paua_history_view_row(v, 0, &out, &test_err));
    assert_int_equal(out.run_count, 2);
    assert_int_equal(out.runs[0].nbytes, 3);
    assert_int_equal(out.styles[out.runs[0].style].attributes, PAUA_HISTORY_BOLD);
    assert_int_equal(out.runs[1].nbytes, 1);
    assert_int_equal(paua_history_row_style(&out, 4), 0);
    paua_history_view_close(v);
    paua_history_close(h);
}

static void ids_are_the_callers_or_the_next(void **state)
{
    paua_history_opts opts = {.size = sizeof opts, .first_id = 100};
    paua_history *h = NULL;
    paua_history_view *v;
    paua_history_row out;
    static const uint64_t given[] = {0, 0, 200, 0, UINT64_C(1) << 40, 0};
    static const uint64_t expected[] = {
        100, 101, 200, 201, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 1};

    (void)state;
    assert_ok(paua_history_open(&opts, &h, &test_err));
    for (size_t i = 0; i < 6; i++) {
        paua_history_new_row row = text_row("x");

        row.id = given[i];
        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    }
    v = test_view(h);
    for (size_t i = 0; i < 6; i++) {
        assert_ok(paua_history_view_row(v, i, &out, &test_err));
        assert_true(out.id == expected[i]);
    }
    assert_true(test_stats(h).next_id == expected[5] + 1);
    assert_int_equal(test_stats(h).pages, 1); /* a gap of over 32 bits closes a page */
    paua_history_view_close(v);
    paua_history_close(h);
}

static void times_never_run_back(void **state)
{
    static const int64_t given[] = {0, 5, 3, 0, 9, INT64_MAX};
    static const int64_t expected[] = {0, 5, 5, 5, 9, INT64_MAX};
    paua_history *h = test_history(NULL);
    paua_history_view *v;
    paua_history_row out;

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        paua_history_new_row row = text_row("x");

        row.time_ms = given[i];
        assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    }
    v = test_view(h);
    for (size_t i = 0; i < 6; i++) {
        assert_ok(paua_history_view_row(v, i, &out, &test_err));
        assert_true(out.time_ms == expected[i]);
    }
    paua_history_view_close(v);
    paua_history_close(h);
}

static void a_row_of_the_greatest_width_goes_in(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_cell *cells = calloc(PAUA_HISTORY_COLUMNS_MAX, sizeof *cells);
    paua_history_style *styles = calloc(PAUA_HISTORY_COLUMNS_MAX, sizeof *styles);
    paua_history_new_row row = cell_row(cells, PAUA_HISTORY_COLUMNS_MAX);
    paua_history_view *v;
    paua_history_row out;

    (void)state;
    assert_non_null(cells);
    assert_non_null(styles);
    for (uint32_t i = 0; i < PAUA_HISTORY_COLUMNS_MAX; i++)
        cells[i] = (paua_history_cell){.codepoint = 'a' + i % 26, .width = 1};
    row.width = PAUA_HISTORY_COLUMNS_MAX;
    assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    test_append(h, 80, "after");
    for (uint32_t i = 0; i < PAUA_HISTORY_COLUMNS_MAX; i++) {
        cells[i].style = (uint16_t)i;
        styles[i].foreground = PAUA_HISTORY_RGB(1, i >> 8, i & 255);
    }
    row.styles = styles;
    row.style_count = PAUA_HISTORY_COLUMNS_MAX;
    assert_row_refused(h, row, "1 MiB"); /* each cell with a style of its own is too much */
    row.style_count = 40000;
    row.cell_count = 40000;
    assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    test_append(h, 80, "last");
    assert_ok(paua_history_go_cold(h, &test_err));
    test_validate(h);
    v = test_view(h);
    assert_ok(paua_history_view_row(v, 0, &out, &test_err));
    assert_int_equal(out.columns, PAUA_HISTORY_COLUMNS_MAX);
    assert_row(v, 1, "after");
    assert_ok(paua_history_view_row(v, 2, &out, &test_err));
    assert_int_equal(out.style_count, 40001);
    assert_int_equal(out.styles[paua_history_row_style(&out, 39999)].foreground,
                     styles[39999].foreground);
    paua_history_view_close(v);
    paua_history_close(h);
    free(cells);
    free(styles);
}

static void options_that_cannot_be_are_refused(void **state)
{
    paua_history *h = NULL;
    struct test_heap heap = {0};
    paua_history_opts opts = {.size = sizeof opts, .page_rows = 257};

    (void)state;
    assert_fails(paua_history_open(&opts, &h, &test_err), PAUA_EINVAL);
    opts = (paua_history_opts){.size = sizeof opts, .allocator = test_allocator(&heap)};
    opts.allocator.release = NULL;
    assert_fails(paua_history_open(&opts, &h, &test_err), PAUA_EINVAL);
    opts = (paua_history_opts){.size = sizeof opts, .first_id = UINT64_MAX};
    assert_fails(paua_history_open(&opts, &h, &test_err), PAUA_EINVAL);
    assert_null(h);
    paua_history_close(NULL);
    paua_history_view_close(NULL);
    paua_history_reflow_close(NULL);
    paua_history_search_close(NULL);
    paua_history_scratch_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_cannot_be_are_refused_without_a_trace),
        cmocka_unit_test(text_that_is_not_text_is_refused),
        cmocka_unit_test(cells_that_cannot_be_are_refused),
        cmocka_unit_test(styles_and_links_that_cannot_be_are_refused),
        cmocka_unit_test(a_batch_goes_in_up_to_the_row_that_is_refused),
        cmocka_unit_test(ends_keep_blanks_and_trailing_ones_go),
        cmocka_unit_test(a_run_that_ends_in_a_cluster_ends_after_it),
        cmocka_unit_test(ids_are_the_callers_or_the_next),
        cmocka_unit_test(times_never_run_back),
        cmocka_unit_test(a_row_of_the_greatest_width_goes_in),
        cmocka_unit_test(options_that_cannot_be_are_refused),
    };

    return cmocka_run_group_tests_name("history/append", tests, NULL, NULL);
}
