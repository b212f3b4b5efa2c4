/* test_regex.c - regular expressions: what they find, what they refuse, and that none hangs. A
 * library built without PCRE2 refuses them all. */
#include "support.h"

#include <stdio.h>

#include "history/regex.h"

struct query {
    const char *pattern;
    bool ignore_case, whole_word, backward, rows_only;
};

static paua_history_search_opts opts_of(const struct query *q)
{
    return (paua_history_search_opts){.size = sizeof(paua_history_search_opts),
                                      .pattern = q->pattern,
                                      .pattern_nbytes = strlen(q->pattern),
                                      .ignore_case = q->ignore_case,
                                      .whole_word = q->whole_word,
                                      .backward = q->backward,
                                      .rows_only = q->rows_only,
                                      .regex = true};
}

static paua_status open_search(paua_history *h, struct query q, paua_history_search **s)
{
    paua_history_search_opts opts = opts_of(&q);
    paua_history_view *v = test_view(h);
    paua_status status;

    test_err = (paua_error){0};
    status = paua_history_search_open(v, &opts, s, &test_err);
    paua_history_view_close(v);
    return status;
}

struct found {
    char text[4000];
    size_t used;
};

static void note_match(struct found *f, const paua_history_match *m)
{
    for (uint32_t i = 0; i < m->highlight_count; i++)
        f->used += (size_t)snprintf(f->text + f->used, sizeof f->text - f->used, "%s%llu:%u-%u",
                                    f->used == 0 ? "" : (i == 0 ? " " : "+"),
                                    (unsigned long long)m->highlights[i].row,
                                    m->highlights[i].begin, m->highlights[i].end);
    assert_true(f->used < sizeof f->text);
}

/* All highlights, as "row:begin-end"; a line that takes too long as "!row". */
static void find_all(paua_history *h, struct query q, uint64_t slice, struct found *f)
{
    paua_history_search *s = NULL;
    paua_history_found found = PAUA_HISTORY_MORE;

    *f = (struct found){0};
    assert_ok(open_search(h, q, &s));
    while (found != PAUA_HISTORY_DONE) {
        paua_history_match m;
        paua_status status = paua_history_search_next(s, slice, &found, &m, NULL, &test_err);

        if (status == PAUA_ETIMEOUT) {
            assert_int_equal(test_err.status, PAUA_ETIMEOUT);
            f->used += (size_t)snprintf(f->text + f->used, sizeof f->text - f->used, "%s!%llu",
                                        f->used == 0 ? "" : " ", (unsigned long long)test_err.row);
            continue;
        }
        assert_int_equal(status, PAUA_OK);
        if (slice == 0) assert_int_not_equal(found, PAUA_HISTORY_MORE);
        if (found == PAUA_HISTORY_MATCH) note_match(f, &m);
    }
    paua_history_search_close(s);
}

static void assert_found(paua_history *h, struct query q, const char *expected)
{
    struct found f;

    find_all(h, q, 0, &f);
    if (strcmp(f.text, expected) != 0) fail_msg("%s: %s, not %s", q.pattern, f.text, expected);
}

/* Two rows a page, so that lines cross pages; the last two rows are the tail. */
static paua_history *sample(bool cold)
{
    static const struct {
        const char *text;
        bool soft;
    } ROWS[] = {
        {"error 17 at ab", true},
        {"cd.c:12", false},
        {"no error here", false},
        {"aaa", true},
        {"aaa", true},
        {"b", false},
        {"", false},
        {"\xE7\x95\x8C\xE7\x95\x8Cx y", false},
        {"ERROR 8", false},
    };
    paua_history *h = test_history(&(struct test_opts){.page_rows = 2});

    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        (ROWS[i].soft ? test_append_soft : test_append)(h, 20, ROWS[i].text);
    if (cold) test_idle_twice(h);
    return h;
}

static void an_expression_finds_what_it_says(void **state)
{
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        paua_history *h = sample(cold == 1);

        assert_found(h, (struct query){.pattern = "[a-d]+\\.c:[0-9]+"}, "0:12-14+1:0-7");
        assert_found(h, (struct query){.pattern = "[a-d]+\\.c:[0-9]+", .backward = true},
                     "0:12-14+1:0-7");
        assert_found(h, (struct query){.pattern = "[a-d]+\\.c:[0-9]+", .rows_only = true}, "1:0-7");
        assert_found(h, (struct query){.pattern = "error \\d+"}, "0:0-8");
        assert_found(h, (struct query){.pattern = "error \\d+", .ignore_case = true},
                     "0:0-8 8:0-7");
        assert_found(h, (struct query){.pattern = "a{2,}b"}, "3:0-3+4:0-3+5:0-1");
        assert_found(h, (struct query){.pattern = "\xE7\x95\x8C+"}, "7:0-4");
        assert_found(h, (struct query){.pattern = "x.y"}, "7:4-7");
        assert_found(h, (struct query){.pattern = "absent|missing"}, "");
        paua_history_close(h);
    }
}

static void anchors_are_the_ends_of_lines_or_of_rows(void **state)
{
    paua_history *h = sample(true);

    (void)state;
    assert_found(h, (struct query){.pattern = "^a"}, "3:0-1");
    assert_found(h, (struct query){.pattern = "^a", .rows_only = true}, "3:0-1 4:0-1");
    assert_found(h, (struct query){.pattern = "[a2]$"}, "1:6-7");
    assert_found(h, (struct query){.pattern = "[a2]$", .rows_only = true}, "1:6-7 3:2-3 4:2-3");
    assert_found(h, (struct query){.pattern = "12.*no"}, "");
    paua_history_close(h);
}

static void matches_are_never_empty(void **state)
{
    paua_history *h = sample(true);

    (void)state;
    assert_found(h, (struct query){.pattern = "8*"}, "8:6-7");
    assert_found(h, (struct query){.pattern = "^$"}, "");
    assert_found(h, (struct query){.pattern = "^"}, "");
    assert_found(h, (struct query){.pattern = "(?=8)"}, "");
    assert_found(h, (struct query){.pattern = "R 8\\K"}, "");
    assert_found(h, (struct query){.pattern = "R \\K8"}, "8:6-7");
    assert_found(h, (struct query){.pattern = "(?<=R )8", .backward = true}, "8:6-7");
    paua_history_close(h);
}

static void whole_words_end_where_words_end(void **state)
{
    paua_history *h = test_history(NULL);

    (void)state;
    test_append(h, 40, "ab abc cab ab");
    test_append_soft(h, 40, "ab");
    test_append(h, 40, "ab|x ab");
    assert_found(h, (struct query){.pattern = "a.|q", .whole_word = true}, "0:0-2 0:11-13 2:5-7");
    assert_found(h, (struct query){.pattern = "a.", .whole_word = true, .rows_only = true},
                 "0:0-2 0:11-13 1:0-2 2:0-2 2:5-7");
    paua_history_close(h);
}

static void patterns_that_are_wrong_say_where(void **state)
{
    static const struct {
        const char *pattern;
        const char *where;
    } CASES[] = {
        {"ab(cd", "byte 5"}, {"ab)", "byte 2"},      {"[a-", "byte 3"},   {"*a", "byte 0"},
        {"a{2,1}", "byte "}, {"(?<n>a)(?<n>b)", ""}, {"\\C", "byte 2"},   {"(?&x)", ""},
        {"\\x{110000}", ""}, {"(?<=a*)b", ""},       {"(*NO_SUCH)a", ""},
    };
    paua_history *h = sample(true);

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        paua_history_search *s = NULL;

        assert_int_equal(open_search(h, (struct query){.pattern = CASES[i].pattern}, &s),
                         PAUA_EINVAL);
        assert_null(s);
        assert_non_null(strstr(test_err.message, "the pattern is wrong at byte "));
        if (strstr(test_err.message, CASES[i].where) == NULL)
            fail_msg("%s: %s", CASES[i].pattern, test_err.message);
    }
    paua_history_close(h);
}

static void no_pattern_hangs(void **state)
{
    static const char *const PATTERNS[] = {"(a|aa)+$", "(a*)*$", "(.*)*[^b]$", "(a|a|a)+[^b]$"};
    paua_history *h = test_history(&(struct test_opts){.page_rows = 4});
    char text[101];

    (void)state;
    memset(text, 'a', 60);
    memcpy(text + 60, "b", 2);
    test_append(h, 100, "aa");
    test_append(h, 100, text);
    test_append(h, 100, "aa");
    for (size_t i = 0; i < sizeof PATTERNS / sizeof PATTERNS[0]; i++) {
        struct query q = {.pattern = PATTERNS[i]};

        assert_found(h, q, "0:0-2 !1 2:0-2");
        q.backward = true;
        assert_found(h, q, "2:0-2 !1 0:0-2");
    }
    paua_history_close(h);
}

static void a_long_line_is_told_backward_in_full(void **state)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = 3});
    struct query q = {.pattern = "a."};
    struct found there, back;
    size_t count = 0;

    (void)state;
    for (int i = 0; i < 20; i++)
        test_append_soft(h, 20, "abacadaeafagahai....");
    test_append(h, 20, "ax");
    find_all(h, q, 0, &there);
    q.backward = true;
    find_all(h, q, 0, &back);
    assert_int_equal(there.used, back.used);
    for (char *word = there.text; *word != '\0'; count++) {
        size_t nbytes = strcspn(word, " "), before = (size_t)(word - there.text);

        assert_memory_equal(back.text + back.used - before - nbytes, word, nbytes);
        word += nbytes + (word[nbytes] == ' ');
    }
    assert_int_equal(count, 161);
    paua_history_close(h);
}

static void slices_change_nothing_but_when(void **state)
{
    static const char *const PATTERNS[] = {"[a-c]", "error|b", "\\w+", "a+b?"};
    paua_history *h = sample(true);

    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof PATTERNS[0]; i++)
        for (int backward = 0; backward < 2; backward++) {
            struct query q = {.pattern = PATTERNS[i], .backward = backward == 1};
            struct found whole, sliced;

            find_all(h, q, 0, &whole);
            find_all(h, q, 1, &sliced);
            assert_string_equal(whole.text, sliced.text);
            assert_true(whole.used > 0);
        }
    paua_history_close(h);
}

static void memory_that_runs_out_loses_nothing(void **state)
{
    struct test_heap heap = {0};
    paua_history *h = test_history(&(struct test_opts){.heap = &heap, .page_rows = 2});
    struct query q = {.pattern = "r[0o]w"};
    size_t before;

    (void)state;
    test_append_numbered(h, 0, 8);
    test_idle_twice(h);
    paua_history_view_close(test_view(h)); /* the history keeps a copy of its tail */
    before = heap.live;
    for (size_t n = 1;; n++) {
        paua_history_search_opts opts = opts_of(&q);
        paua_history_search *s = NULL;
        paua_history_view *v = test_view(h);
        paua_status status;

        heap.until_failure = n;
        status = paua_history_search_open(v, &opts, &s, &test_err);
        heap.until_failure = 0;
        paua_history_view_close(v);
        if (status == PAUA_OK) {
            paua_history_search_close(s);
            break;
        }
        assert_int_equal(status, PAUA_ENOMEM);
        assert_int_equal(heap.live, before);
    }
    paua_history_close(h);
    assert_int_equal(heap.live, 0);
}

static void without_pcre2_expressions_are_refused(void **state)
{
    paua_history *h = sample(true);
    paua_history_search *s = NULL;

    (void)state;
    assert_int_equal(open_search(h, (struct query){.pattern = "a"}, &s), PAUA_ENOTSUP);
    assert_non_null(strstr(test_err.message, "without regular expressions"));
    assert_null(s);
    paua_history_close(h);
}

static void what_every_match_contains_is_read_off(void **state)
{
    static const struct {
        const char *pattern;
        const char *literal;
    } CASES[] = {
        {"error", "error"},     {"err(or)?s", "err"},
        {"a.bcd", "bcd"},       {"abc*d", "ab"},
        {"abc+d", "abc"},       {"abc?", "ab"},
        {"abc{0,2}def", "def"}, {"a|bc", ""},
        {"(a|b)cd", "cd"},      {"[a|b]cd", "cd"},
        {"[]a]cd", "cd"},       {"[[:alpha:]]cd", ""},
        {"\\d+ms", "ms"},       {"x\\.c", "x.c"},
        {"\\Qa|b\\E", ""},      {"(?i)abc", ""},
        {"(?:ab)cde", "cde"},   {"(?#x)abc", ""},
        {"ab(?=c)d", ""},       {"\\x41bc", ""},
        {"(\\))cd", "cd"},      {"([)])cd", "cd"},
        {"a\xC3\xA9?bc", "bc"}, {"^abc$", "abc"},
        {"(*UTF)abc", ""},      {"", ""},
        {"ab\\", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char literal[REGEX_LITERAL_NBYTES_MAX];
        size_t n = regex_literal(CASES[i].pattern, strlen(CASES[i].pattern), literal);

        if (n != strlen(CASES[i].literal) || memcmp(literal, CASES[i].literal, n) != 0)
            fail_msg("%s: %.*s", CASES[i].pattern, (int)n, literal);
    }
}

/* Patterns of pieces that change what others mean: a match that lacks its literal is a lie. */
static void whatever_matches_contains_the_literal(void **state)
{
    static const char *const PIECES[] = {
        "a",   "b",   "ab",  "ba", "c",    ".",   "*",   "+",    "?",   "|",         "(",    ")",
        "[",   "]",   "^",   "$",  "\\",   "{2}", "{",   "{,1}", "}",   "(?:",       "-",    "\\b",
        "\\.", "\\Q", "\\E", "[^", "(?i)", "(?=", "(?!", "\\K",  "(?|", "(*COMMIT)", "(?x)", "#"};
    paua_history *h = test_history(NULL);
    uint64_t random = 3;
    size_t matches = 0, literals = 0;

    (void)state;
    for (int i = 0; i < 30000; i++) {
        char pattern[100] = "", line[16] = "", literal[REGEX_LITERAL_NBYTES_MAX];
        struct regex *r = NULL;
        size_t begin = 0, end = 0, n;
        bool found = false;

        for (uint32_t k = 1 + test_random_below(&random, 9); k > 0; k--)
            strcat(pattern, PIECES[test_random_below(&random, sizeof PIECES / sizeof PIECES[0])]);
        for (uint32_t k = 0; k < 12; k++)
            line[k] = "aabbc.#Qd"[test_random_below(&random, 9)];
        n = regex_literal(pattern, strlen(pattern), literal);
        if (regex_make(h->heap, pattern, strlen(pattern), &(struct regex_opts){0}, &r, NULL) !=
            PAUA_OK)
            continue;
        if (regex_find(r, line, 12, 0, &found, &begin, &end) == PAUA_OK && found) {
            matches++;
            literals += n > 0;
            if (n > 0 && memmem(line, 12, literal, n) == NULL)
                fail_msg("%s matches %s without %.*s", pattern, line, (int)n, literal);
        }
        regex_free(r);
    }
    assert_true(matches > 1000 && literals > 100);
    paua_history_close(h);
}

static bool built_in(void)
{
    paua_history *h = sample(false);
    paua_history_search *s = NULL;
    paua_status status = open_search(h, (struct query){.pattern = "a"}, &s);

    if (status == PAUA_OK) paua_history_search_close(s);
    paua_history_close(h);
    return status != PAUA_ENOTSUP;
}

int main(void)
{
    const struct CMUnitTest with[] = {
        cmocka_unit_test(an_expression_finds_what_it_says),
        cmocka_unit_test(anchors_are_the_ends_of_lines_or_of_rows),
        cmocka_unit_test(matches_are_never_empty),
        cmocka_unit_test(whole_words_end_where_words_end),
        cmocka_unit_test(patterns_that_are_wrong_say_where),
        cmocka_unit_test(no_pattern_hangs),
        cmocka_unit_test(a_long_line_is_told_backward_in_full),
        cmocka_unit_test(slices_change_nothing_but_when),
        cmocka_unit_test(memory_that_runs_out_loses_nothing),
        cmocka_unit_test(what_every_match_contains_is_read_off),
        cmocka_unit_test(whatever_matches_contains_the_literal),
    };
    const struct CMUnitTest without[] = {
        cmocka_unit_test(without_pcre2_expressions_are_refused),
        cmocka_unit_test(what_every_match_contains_is_read_off),
    };

    if (!built_in()) return cmocka_run_group_tests_name("history/regex", without, NULL, NULL);
    return cmocka_run_group_tests_name("history/regex", with, NULL, NULL);
}
