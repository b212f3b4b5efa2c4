/* test_output.c - cells, reflow, and text, ANSI, HTML and JSON, as exact output. */
#include "support.h"

static const paua_history_style STYLES[] = {
    {0},
    {.foreground = PAUA_HISTORY_INDEXED(1), .attributes = PAUA_HISTORY_BOLD},
    {.foreground = PAUA_HISTORY_RGB(1, 2, 3),
     .background = PAUA_HISTORY_INDEXED(12),
     .underline_colour = PAUA_HISTORY_INDEXED(200),
     .attributes = PAUA_HISTORY_UNDERLINE_CURLY | PAUA_HISTORY_INVERSE},
    {.link = 1},
    {.link = 2},
};
static const paua_history_link LINKS[] = {{"https://a/?x=\"&y", "id", 16, 2},
                                          {"javascript:alert(1)", "", 19, 0}};

static void append_styled(paua_history *h, const char *text, const paua_history_run *runs,
                          size_t count)
{
    paua_history_new_row row = {.size = sizeof row,
                                .width = 40,
                                .text = text,
                                .text_nbytes = strlen(text),
                                .runs = runs,
                                .run_count = count,
                                .styles = STYLES,
                                .style_count = 5,
                                .links = LINKS,
                                .link_count = 2};

    assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
}

static void assert_export(paua_history *h, paua_history_format format, const char *expected)
{
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};
    struct test_buffer out = {0};
    paua_history_view *v = test_view(h);

    assert_ok(paua_history_view_export(v, &range, format, test_write, &out, &test_err));
    assert_string_equal(out.bytes, expected);
    test_buffer_free(&out);
    paua_history_view_close(v);
}

static void rows_are_exported_with_their_styles(void **state)
{
    static const paua_history_run runs[] = {{3, 1}, {1, 0}, {2, 2}, {2, 0}};
    static const paua_history_run links[] = {{1, 3}, {1, 0}, {1, 4}};
    static const paua_history_run blanks[] = {{2, 1}};
    paua_history *h = test_history(NULL);

    (void)state;
    append_styled(h, "red <&> x", runs, 4);
    append_styled(h, "a b", links, 3);
    append_styled(h, "  ", blanks, 1);
    test_append_soft(h, 4, "soft");
    test_append(h, 4, " end");
    assert_export(h, PAUA_HISTORY_TEXT, "red <&> x\na b\n\nsoft end\n");
    assert_export(h, PAUA_HISTORY_ANSI,
                  "\x1b[0;1;31mred\x1b[0m \x1b[0;7;4:3;38:2::1:2:3;104;58:5:200m<&\x1b[0m> x\n"
                  "\x1b]8;id=id;https://a/?x=\"&y\x1b\\a\x1b]8;;\x1b\\ \x1b]8;;javascript:alert(1)"
                  "\x1b\\b\x1b]8;;\x1b\\\n"
                  "\x1b[0;1;31m  \x1b[0m\n"
                  "soft end\n");
    assert_export(
        h, PAUA_HISTORY_HTML,
        "<span style=\"color:#cd0000;font-weight:bold;\">red</span> "
        "<span style=\"color:#5c5cff;background:#010203;text-decoration-line: underline;"
        "text-decoration-style:wavy;text-decoration-color:#ff00d7;\">&lt;&amp;</span>&gt; x\n"
        "<a href=\"https://a/?x=&quot;&amp;y\">a</a> b\n"
        "<span style=\"color:#cd0000;font-weight:bold;\">  </span>\n"
        "soft end\n");
    assert_export(
        h, PAUA_HISTORY_JSON,
        "{\"row\":1,\"width\":40,\"text\":\"red <&> x\",\"styles\":[{\"begin\":0,\"end\":3,"
        "\"foreground\":1,\"bold\":true},{\"begin\":4,\"end\":6,\"foreground\":\"#010203\","
        "\"background\":12,\"underline_colour\":200,\"inverse\":true,\"underline\":\"curly\"}]}\n"
        "{\"row\":2,\"width\":40,\"text\":\"a b\",\"styles\":[{\"begin\":0,\"end\":1,"
        "\"link\":\"https://a/?x=\\\"&y\"},{\"begin\":2,\"end\":3,"
        "\"link\":\"javascript:alert(1)\"}]}\n"
        "{\"row\":3,\"width\":40,\"text\":\"  \",\"styles\":[{\"begin\":0,\"end\":2,"
        "\"foreground\":1,\"bold\":true}]}\n"
        "{\"row\":4,\"width\":4,\"soft\":true,\"text\":\"soft\"}\n"
        "{\"row\":5,\"width\":4,\"text\":\" end\"}\n");
    paua_history_close(h);
}

static void json_has_times_and_escapes_what_it_must(void **state)
{
    static const char TEXT[] = "\\ \"\xC3\xA9\" /";
    const paua_history_new_row row = {.size = sizeof row,
                                      .id = UINT64_C(12345678901234),
                                      .time_ms = INT64_C(1700000000000),
                                      .width = 40,
                                      .text = TEXT,
                                      .text_nbytes = strlen(TEXT)};
    paua_history *h = test_history(NULL);

    (void)state;
    assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    assert_export(h, PAUA_HISTORY_JSON,
                  "{\"row\":12345678901234,\"time_ms\":1700000000000,\"width\":40,"
                  "\"text\":\"\\\\ \\\"\xC3\xA9\\\" /\"}\n");
    paua_history_close(h);
}

static void an_export_stops_when_told_to(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};
    struct test_buffer out = {.until_stop = 2};
    paua_history_view *v;

    (void)state;
    test_append_numbered(h, 0, 3000);
    v = test_view(h);
    assert_fails(
        paua_history_view_export(v, &range, PAUA_HISTORY_TEXT, test_write, &out, &test_err),
        PAUA_ECANCELED);
    assert_true(out.nbytes > 0 && out.nbytes < 10000);
    assert_fails(
        paua_history_view_export(v, &range, (paua_history_format)4, test_write, &out, &test_err),
        PAUA_EINVAL);
    test_buffer_free(&out);
    paua_history_view_close(v);
    paua_history_close(h);
}

static void cells_are_what_the_row_shows(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_view *v;
    paua_history_row row;
    paua_history_cell cells[10];

    (void)state;
    test_append(h, 7,
                "a\xE7\x95\x8C"
                "e\xCC\x81");
    v = test_view(h);
    assert_ok(paua_history_view_row(v, 0, &row, &test_err));
    assert_int_equal(row.columns, 4);
    assert_int_equal(paua_history_row_cells(&row, cells, 10), 7);
    assert_true(cells[0].codepoint == 'a' && cells[0].width == 1 && cells[0].text_nbytes == 0);
    assert_true(cells[1].codepoint == 0x754C && cells[1].width == 2);
    assert_true(cells[2].codepoint == 0 && cells[2].width == 0);
    assert_true(cells[3].codepoint == 'e' && cells[3].text_at == 4 && cells[3].text_nbytes == 3);
    assert_true(cells[4].codepoint == 0 && cells[4].width == 1);
    assert_int_equal(paua_history_row_cells(&row, cells, 2), 2);
    assert_true(cells[1].width == 2);
    paua_history_view_close(v);
    paua_history_close(h);
}

static void assert_reflow(paua_history *h, uint32_t width, const char *const *rows, size_t count)
{
    paua_history_view *v = test_view(h);
    paua_history_reflow *f = NULL;

    assert_ok(paua_history_reflow_open(v, width, 0, UINT64_MAX, &f, &test_err));
    assert_int_equal(paua_history_reflow_rows(f), count);
    for (size_t i = 0; i < 2 * count; i++) {
        size_t index = i < count ? i : 2 * count - 1 - i; /* down and up */
        paua_history_row row;

        assert_ok(paua_history_reflow_row(f, index, &row, NULL, &test_err));
        assert_int_equal(row.text_nbytes, strlen(rows[index]));
        assert_memory_equal(row.text, rows[index], row.text_nbytes);
        assert_int_equal(row.width, width);
    }
    paua_history_reflow_close(f);
    paua_history_view_close(v);
}

static void lines_are_laid_out_at_any_width(void **state)
{
    static const char *const AT_5[] = {"01234", "56789", "ab", "", "x"};
    static const char *const AT_12[] = {"0123456789ab", "", "x"};
    paua_history *h = test_history(&(struct test_opts){.page_rows = 1});

    (void)state;
    test_append_soft(h, 10, "0123456789");
    test_append(h, 10, "ab");
    test_append(h, 10, "");
    test_append(h, 10, "x");
    assert_reflow(h, 5, AT_5, 5);
    assert_reflow(h, 12, AT_12, 3);
    paua_history_close(h);
}

static void wide_clusters_are_not_cut(void **state)
{
    static const char *const AT_3[] = {"a\xE7\x95\x8C",
                                       "\xE7\x95\x8C"
                                       "b",
                                       "e\xCC\x81"};
    static const char *const AT_2[] = {"a", "\xE7\x95\x8C", "\xE7\x95\x8C", "be\xCC\x81"};
    paua_history *h = test_history(NULL);
    paua_history_view *v;
    paua_history_reflow *f = NULL;

    (void)state;
    test_append(h, 10,
                "a\xE7\x95\x8C\xE7\x95\x8C"
                "be\xCC\x81");
    assert_reflow(h, 3, AT_3, 3);
    assert_reflow(h, 2, AT_2, 4);
    v = test_view(h);
    assert_fails(paua_history_reflow_open(v, 1, 0, 1, &f, &test_err), PAUA_EINVAL);
    assert_fails(paua_history_reflow_open(v, 65536, 0, 1, &f, &test_err), PAUA_EINVAL);
    paua_history_view_close(v);
    paua_history_close(h);
}

static void a_window_is_reflowed_by_whole_lines(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_view *v;
    paua_history_reflow *f = NULL;
    paua_history_row row;
    uint64_t origin, found;

    (void)state;
    test_append_numbered(h, 0, 1000);
    test_append_soft(h, 6, "wrapp");
    test_append(h, 6, "ed");
    test_append_numbered(h, 1002, 100);
    v = test_view(h);
    assert_ok(paua_history_reflow_open(v, 4, 1001, 50, &f, &test_err));
    assert_int_equal(paua_history_reflow_rows(f), 2 + 49 * 2);
    assert_ok(paua_history_reflow_row(f, 1, &row, &origin, &test_err));
    assert_memory_equal(row.text, "ped", 3);
    assert_int_equal(origin, 1000);
    assert_ok(paua_history_reflow_find(f, 1001, &found, &test_err));
    assert_int_equal(found, 1); /* "ed" begins in the second */
    assert_ok(paua_history_reflow_find(f, 1002, &found, &test_err));
    assert_int_equal(found, 2);
    assert_ok(paua_history_reflow_row(f, found, &row, &origin, &test_err));
    assert_memory_equal(row.text, "row ", 4);
    assert_fails(paua_history_reflow_find(f, 999, &found, &test_err), PAUA_EINVAL);
    paua_history_reflow_close(f);
    paua_history_view_close(v);
    paua_history_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_exported_with_their_styles),
        cmocka_unit_test(json_has_times_and_escapes_what_it_must),
        cmocka_unit_test(an_export_stops_when_told_to),
        cmocka_unit_test(cells_are_what_the_row_shows),
        cmocka_unit_test(lines_are_laid_out_at_any_width),
        cmocka_unit_test(wide_clusters_are_not_cut),
        cmocka_unit_test(a_window_is_reflowed_by_whole_lines),
    };

    return cmocka_run_group_tests_name("history/output", tests, NULL, NULL);
}
