/* test_payload.c - a page's rows as bytes: one form for one content, and nothing else is accepted.
 *
 * A payload has no checksum of its own; its frame has. So damage is judged by the rule that what is
 * decoded encodes to the very bytes it came from. */
#include "support.h"

#include "history/fold.h"
#include "history/payload.h"

static const paua_history_style STYLES[] = {
    {0},
    {.foreground = PAUA_HISTORY_INDEXED(1), .link = 1},
    {.background = PAUA_HISTORY_RGB(1, 2, 3), .attributes = PAUA_HISTORY_BOLD},
    {.underline_colour = PAUA_HISTORY_INDEXED(9),
     .attributes = PAUA_HISTORY_UNDERLINE_CURLY,
     .link = 2},
};
static const paua_history_link LINKS[] = {{"http://a", "i", 8, 1}, {"b:", "", 2, 0}};

/* Rows with everything that a payload has a table for. */
static paua_history *sample(void)
{
    static const paua_history_run runs[] = {{2, 1}, {1, 0}, {2, 2}, {1, 3}};
    static const paua_history_cell cells[] = {
        {.codepoint = 'w', .width = 2}, {0}, {.codepoint = 0x754C, .width = 1, .style = 2}};
    paua_history *h = test_history(NULL);
    paua_history_new_row row = {.size = sizeof row,
                                .width = 8,
                                .text = "abcdef",
                                .text_nbytes = 6,
                                .runs = runs,
                                .run_count = 4,
                                .styles = STYLES,
                                .style_count = 4,
                                .links = LINKS,
                                .link_count = 2,
                                .time_ms = 5};

    row.soft = true;
    assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    row.text = "ab\xC3\xA9";
    row.text_nbytes = 4;
    row.end = 1;
    row.soft = false;
    row.id = 9;
    row.time_ms = 300;
    assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    row = (paua_history_new_row){.size = sizeof row,
                                 .width = 300,
                                 .cells = cells,
                                 .cell_count = 3,
                                 .styles = STYLES,
                                 .style_count = 4,
                                 .links = LINKS,
                                 .link_count = 2};
    assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
    test_append(h, 8, "");
    return h;
}

static struct writer encode(const struct block *b, uint32_t first)
{
    struct writer w = {0};
    uint16_t *ids = malloc((b->style_count + b->link_count + 1) * sizeof *ids);

    assert_non_null(ids);
    payload_encode(b, first, ids, &w);
    assert_false(w.failed);
    free(ids);
    return w;
}

static struct writer sample_payload(paua_history *h) { return encode(history_tail_block(h), 0); }

/* Decodes a copy of exactly these bytes; accepted ones must encode to the same. */
static paua_status decode(const uint8_t *bytes, size_t nbytes, uint32_t rows)
{
    static const paua_history_allocator plain;
    struct heap *heap = heap_make(&plain, NULL);
    uint8_t *exact = malloc(nbytes + (nbytes == 0));
    struct builder b;
    paua_status status;

    assert_non_null(heap);
    assert_non_null(exact);
    if (nbytes > 0) memcpy(exact, bytes, nbytes);
    builder_init(&b, heap);
    status = payload_decode(exact, nbytes, rows, 1, 5, &b);
    if (status == PAUA_OK) {
        struct block *block = builder_block(&b, heap);
        struct writer again;

        assert_non_null(block);
        again = encode(block, 0);
        if (again.length != nbytes || memcmp(again.bytes, exact, nbytes) != 0)
            fail_msg("accepted, and would be written otherwise");
        writer_free(&again);
        block_unref(block);
    }
    builder_free(&b);
    heap_unref(heap);
    free(exact);
    return status;
}

static void the_bytes_are_the_documented_ones(void **state)
{
    static const uint8_t EXPECTED[] = {
        1,    0x3F, 4,    8,                   /* rule, all tables, rows, width */
        3,    17,   1,    1,    1,             /* styles: indexed 1, link 1 */
        10,   2,    3,    2,    1,    1,    0, /* rgb background, bold */
        28,   1,    9,    0,    0x30, 2,       /* underline colour, attributes, link 2 */
        2,    1,    'i',  8,    'h',  't',  't',  'p',  ':',  '/',  '/',  'a',
        0,    2,    'b',  ':',        /* links */
        8,    0xAC, 2,    8,          /* widths of the other rows */
        0,    2,    0,    0,          /* columns behind the end */
        7,    0,    0,                /* gaps between ids */
        0xA7, 2,    0,    0,          /* times */
        1,    6,                      /* soft rows, and their bytes */
        2,    10,   0x80, 1,    0x02, /* shapes: "w" two wide, U+754C one wide */
        0x0F, 'a',  'b',  0x0E, 'c',  0x10, 'd',  'e',  0x11, 'f',  0x0F, 'a',
        'b',  0x0E, 0xC3, 0xA9, '\n', 'w',  0x10, 0xE7, 0x95, 0x8C, '\n', '\n'};
    paua_history *h = sample();
    struct writer w = sample_payload(h);

    (void)state;
    assert_memory_equal(w.bytes, EXPECTED, w.length < sizeof EXPECTED ? w.length : sizeof EXPECTED);
    assert_int_equal(w.length, sizeof EXPECTED);
    assert_int_equal(decode(w.bytes, w.length, 4), PAUA_OK);
    assert_int_equal(decode(w.bytes, w.length, 3), PAUA_ECORRUPT);
    writer_free(&w);
    paua_history_close(h);
}

static void every_flipped_bit_is_refused_or_means_itself(void **state)
{
    paua_history *h = sample();
    struct writer w = sample_payload(h);

    (void)state;
    for (size_t bit = 0; bit < 8 * w.length; bit++) {
        w.bytes[bit / 8] = (uint8_t)(w.bytes[bit / 8] ^ 1u << bit % 8);
        decode(w.bytes, w.length, 4);
        w.bytes[bit / 8] = (uint8_t)(w.bytes[bit / 8] ^ 1u << bit % 8);
    }
    writer_free(&w);
    paua_history_close(h);
}

static void every_byte_of_every_value_is_refused_or_means_itself(void **state)
{
    paua_history *h = sample();
    struct writer w = sample_payload(h);

    (void)state;
    for (size_t at = 0; at < w.length; at++) {
        uint8_t was = w.bytes[at];

        for (unsigned value = 0; value < 256; value++) {
            w.bytes[at] = (uint8_t)value;
            decode(w.bytes, w.length, 4);
        }
        w.bytes[at] = was;
    }
    writer_free(&w);
    paua_history_close(h);
}

static void every_other_length_is_refused(void **state)
{
    paua_history *h = sample();
    struct writer w = sample_payload(h);
    size_t length = w.length;

    (void)state;
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(decode(w.bytes, cut, 4), PAUA_ECORRUPT);
    for (size_t more = 1; more < 20; more++) {
        writer_u8(&w, more % 2 == 0 ? 'x' : '\n');
        assert_int_equal(decode(w.bytes, w.length, 4), PAUA_ECORRUPT);
    }
    writer_free(&w);
    paua_history_close(h);
}

static bool may_contain_case(const uint8_t *bytes, size_t nbytes, const char *text, bool any_case)
{
    const struct sought sought = {text, strlen(text), any_case};
    struct writer plain = {0};
    uint8_t *exact = malloc(nbytes + (nbytes == 0));
    bool may;

    assert_non_null(exact);
    if (nbytes > 0) memcpy(exact, bytes, nbytes);
    may = payload_may_contain(exact, nbytes, &sought, &plain);
    writer_free(&plain);
    free(exact);
    return may;
}

static bool may_contain(const uint8_t *bytes, size_t nbytes, const char *text)
{
    return may_contain_case(bytes, nbytes, text, false);
}

static void letters_of_either_case_will_do_in_ascii(void **state)
{
    paua_history *h = test_history(NULL);
    struct writer w;

    (void)state;
    test_append(h, 20, "@AbZ[`yz{");
    w = sample_payload(h);
    assert_true(may_contain_case(w.bytes, w.length, "@abz[`yz{", true));
    assert_false(may_contain_case(w.bytes, w.length, "@abz[@yz{", true));
    assert_false(may_contain(w.bytes, w.length, "abz"));
    writer_free(&w);
    test_append(h, 20, "\xC3\x89"); /* a letter beyond ASCII that stays there */
    w = sample_payload(h);
    assert_true(may_contain_case(w.bytes, w.length, "@abz[`yz{", true));
    assert_false(may_contain_case(w.bytes, w.length, "k", true));
    writer_free(&w);
    test_append(h, 20, "\xE2\x84\xAA"); /* the Kelvin sign folds to k */
    w = sample_payload(h);
    assert_true(may_contain_case(w.bytes, w.length, "k", true));
    writer_free(&w);
    paua_history_close(h);
}

/* Of a row that has no other letter, nothing is said that folding would not say: for every
 * character there is. */
static void no_character_folds_to_a_letter_unseen(void **state)
{
    paua_history *h = test_history(NULL);
    struct fold fold;

    (void)state;
    fold_init(&fold, h->heap);
    for (uint32_t point = 0x80; point < 0x110000; point++) {
        uint8_t bytes[] = {1, 0, 1, 9, 0, 0, 0, 0, 0, 0, '\n'}, *text = bytes + 6;
        char letter[2] = "";
        size_t nbytes = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

        if (point >= 0xD800 && point < 0xE000) continue;
        for (size_t i = nbytes - 1; i > 0; i--)
            text[i] = (uint8_t)(0x80 | (point >> 6 * (nbytes - 1 - i) & 0x3F));
        text[0] = (uint8_t)((nbytes == 2   ? 0xC0
                             : nbytes == 3 ? 0xE0
                                           : 0xF0) |
                            point >> 6 * (nbytes - 1));
        assert_true(fold_text(&fold, (const char *)text, nbytes));
        for (size_t i = 0; i < fold.nbytes; i++) {
            if ((uint8_t)fold.text[i] >= 0x80) continue;
            letter[0] = fold.text[i];
            if (!may_contain_case(bytes, 6 + nbytes, letter, true))
                fail_msg("U+%04X folds to %s", point, letter);
        }
    }
    fold_free(&fold);
    paua_history_close(h);
}

static void text_is_found_over_styles_and_soft_wraps_and_nowhere_else(void **state)
{
    static const char *const HAS[] = {"a", "abcdefab\xC3\xA9", "cd", "fa", "w\xE7\x95\x8C"};
    static const char *const HAS_NOT[] = {"http", "i", "b:", "\xC3\xA9w", "ac", "ww", "\xA9\xC3"};
    paua_history *h = sample();
    struct writer w = sample_payload(h);

    (void)state;
    for (size_t i = 0; i < sizeof HAS / sizeof HAS[0]; i++)
        if (!may_contain(w.bytes, w.length, HAS[i])) fail_msg("%s is not found", HAS[i]);
    for (size_t i = 0; i < sizeof HAS_NOT / sizeof HAS_NOT[0]; i++)
        if (may_contain(w.bytes, w.length, HAS_NOT[i])) fail_msg("%s is found", HAS_NOT[i]);
    writer_free(&w);
    paua_history_close(h);
}

/* Style 13 and those after it are tokens of several bytes, some of which are letters. */
static void numbers_of_styles_are_no_text(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_style styles[200] = {{0}};
    paua_history_run runs[199];
    char text[199];
    struct writer w;

    (void)state;
    for (uint16_t i = 1; i < 200; i++) {
        styles[i].foreground = PAUA_HISTORY_RGB(0, 0, i);
        runs[i - 1] = (paua_history_run){1, i};
        text[i - 1] = 'x';
    }
    assert_ok(paua_history_append(h,
                                  &(paua_history_new_row){.size = sizeof(paua_history_new_row),
                                                          .width = 200,
                                                          .text = text,
                                                          .text_nbytes = sizeof text,
                                                          .runs = runs,
                                                          .run_count = 199,
                                                          .styles = styles,
                                                          .style_count = 200},
                                  1, NULL, &test_err));
    w = sample_payload(h);
    assert_true(may_contain(w.bytes, w.length, "xxxxxxxxxxxxxxxxxxxx"));
    for (char letter = ' '; letter < 'x'; letter++)
        assert_false(may_contain(w.bytes, w.length, (char[]){letter, '\0'}));
    writer_free(&w);
    paua_history_close(h);
}

static void a_text_is_looked_for_in_any_bytes(void **state)
{
    paua_history *h = sample();
    struct writer w = sample_payload(h);

    (void)state;
    for (size_t cut = 0; cut < w.length; cut++) /* whatever the answer is */
        may_contain(w.bytes, cut, "abcdef");
    assert_true(may_contain(w.bytes, 3, "abcdef"));
    for (size_t bit = 0; bit < 8 * w.length; bit++) {
        w.bytes[bit / 8] = (uint8_t)(w.bytes[bit / 8] ^ 1u << bit % 8);
        may_contain(w.bytes, w.length, "abcdef");
        w.bytes[bit / 8] = (uint8_t)(w.bytes[bit / 8] ^ 1u << bit % 8);
    }
    writer_free(&w);
    paua_history_close(h);
}

/* Each breaks one rule of the format, as bytes whole. */
static const struct {
    const char *what;
    const char *bytes;
    size_t nbytes;
    uint32_t rows;
    paua_status status;
} PAYLOADS[] = {
#define CASE(what, rows, bytes)                                                                    \
    {                                                                                              \
        what, bytes, sizeof bytes - 1, rows, PAUA_ECORRUPT                                         \
    }
    {"the plainest row", "\1\0\1\5\0\0ab\n", 9, 1, PAUA_OK},
    {"a newer width rule", "\2\0\1\5\0\0ab\n", 9, 1, PAUA_EVERSION},
    CASE("width rule 0", 1, "\0\0\1\5\0\0ab\n"),
    CASE("an unknown table", 1, "\1\x40\1\5\0\0ab\n"),
    CASE("no rows", 0, "\1\0\0\5\0\0"),
    CASE("width 0", 1, "\1\0\1\0\0\0\n"),
    CASE("width over 65535", 1, "\1\0\1\x80\x80\4\0\0\n"),
    CASE("a row wider than its terminal", 1, "\1\0\1\1\0\0ab\n"),
    CASE("a long varint", 1, "\1\0\1\x85\0\0\0ab\n"),
    CASE("a style nobody uses", 1, "\1\0\1\5\1\1\1\7\0ab\n"),
    CASE("a style of nothing", 1,
         "\1\0\1\5\1\0\0\x0F"
         "ab\n"),
    CASE("a style with an unknown field", 1,
         "\1\0\1\5\1\x21\1\7\0\x0F"
         "ab\n"),
    CASE("a colour of no kind", 1,
         "\1\0\1\5\1\1\3\7\0\x0F"
         "ab\n"),
    CASE("attributes of no kind", 1,
         "\1\0\1\5\1\x08\0\2\0\x0F"
         "ab\n"),
    CASE("attributes given as none", 1,
         "\1\0\1\5\1\x09\1\7\0\0\0\x0F"
         "ab\n"),
    CASE("the same style twice", 1,
         "\1\0\1\5\2\1\1\7\1\1\7\0\x0F"
         "a\x10"
         "b\n"),
    CASE("styles used in another order", 1,
         "\1\0\1\5\2\1\1\7\1\1\6\0\x10"
         "a\x0F"
         "b\n"),
    CASE("a style that is not there", 1,
         "\1\0\1\5\1\1\1\7\0\x0F"
         "a\x10"
         "b\n"),
    CASE("a style token without effect", 1,
         "\1\0\1\5\1\1\1\7\0\x0F"
         "a\x0F"
         "b\n"),
    CASE("the default style at a line's start", 1,
         "\1\0\1\5\0\0\x0E"
         "ab\n"),
    CASE("a style token without text", 1, "\1\0\1\5\1\1\1\7\0ab\x0F\n"),
    CASE("two style tokens in a row", 1,
         "\1\0\1\5\2\1\1\7\1\1\6\0\x0F\x10"
         "ab\n"),
    CASE("a near style written far", 1, "\1\0\1\5\1\1\1\7\0\x0D\0ab\n"),
    CASE("a control byte", 1, "\1\0\1\5\0\0a\tb\n"),
    CASE("another control byte", 1,
         "\1\0\1\5\0\0a\x1B"
         "b\n"),
    CASE("DEL", 1,
         "\1\0\1\5\0\0a\x7F"
         "b\n"),
    CASE("C1", 1,
         "\1\0\1\5\0\0a\xC2\x80"
         "b\n"),
    CASE("invalid UTF-8", 1,
         "\1\0\1\5\0\0a\xFF"
         "b\n"),
    CASE("a style token in a character", 1, "\1\0\1\5\1\1\1\7\0\xC3\x0F\xA9\n"),
    CASE("a style token in a cluster", 1, "\1\0\1\5\1\1\1\7\0e\x0F\xCC\x81\n"),
    CASE("text after the last row", 1, "\1\0\1\5\0\0ab\nc"),
    CASE("no end of line", 1, "\1\0\1\5\0\0ab"),
    CASE("a link nobody uses", 1, "\1\0\1\5\0\1\0\1uab\n"),
    CASE("a link that is not there", 1,
         "\1\0\1\5\1\x10\1\0\x0F"
         "ab\n"),
    CASE("link 0", 1,
         "\1\0\1\5\1\x10\0\0\x0F"
         "ab\n"),
    CASE("links used in another order", 1,
         "\1\0\1\5\1\x10\2\2\0\1u\0\1v\x0F"
         "ab\n"),
    CASE("the same link twice", 1,
         "\1\0\1\5\2\x10\1\x10\2\2\0\1u\0\1u\x0F"
         "a\x10"
         "b\n"),
    CASE("a link without a URI", 1,
         "\1\0\1\5\1\x10\1\1\0\0\x0F"
         "ab\n"),
    CASE("a link with a control byte", 1,
         "\1\0\1\5\1\x10\1\1\0\1\n\x0F"
         "ab\n"),
    CASE("widths that are the same", 2, "\1\1\2\5\0\0\5a\nb\n"),
    CASE("ends without a gap", 1, "\1\2\1\5\0\0\0ab\n"),
    CASE("an end before the row", 1, "\1\2\1\5\0\0\3ab\n"),
    CASE("ids without a gap", 2, "\1\4\2\5\0\0\0a\nb\n"),
    CASE("ids over 32 bits", 2,
         "\1\4\2\5\0\0\xFF\xFF\xFF\xFF\x0F"
         "a\nb\n"),
    CASE("times that are the same", 2, "\1\x08\2\5\0\0\0a\nb\n"),
    CASE("wraps without one", 1, "\1\x10\1\5\0\0\0ab\n"),
    CASE("a wrap of a row that is not there", 1, "\1\x10\1\5\0\0\3\2ab"),
    CASE("a wrap that is longer than its line", 2, "\1\x10\2\5\0\0\1\3ab\nc\n"),
    CASE("a wrap in a character", 2, "\1\x10\2\5\0\0\1\1\xC3\xA9\n"),
    CASE("no shapes", 1, "\1\x20\1\5\0\0\0ab\n"),
    CASE("a shape that the rule has", 1, "\1\x20\1\5\0\0\1\0\0ab\n"),
    CASE("a shape in a cluster", 1, "\1\x20\1\5\0\0\1\1\0e\xCC\x81\n"),
    CASE("a shape that splits a character", 1, "\1\x20\1\5\0\0\1\0\1e\xCC\x81\n"),
    CASE("a shape beyond its row", 2, "\1\x20\2\5\0\0\1\1\2ab\ncd\n"),
    CASE("a shape beyond the text", 1,
         "\1\x20\1\5\0\0\1\5\x80"
         "ab\n"),
    CASE("two shapes of one cluster", 1,
         "\1\x20\1\5\0\0\2\0\x80\0\x80"
         "ab\n"),
    CASE("a style with link 0", 1,
         "\1\0\1\5\1\x11\1\7\0\0\x0F"
         "ab\n"),
    CASE("an empty row of width 0", 2, "\1\1\2\5\0\0\0a\n\n"),
    CASE("times over 32 bits", 3,
         "\1\x08\3\5\0\0\xFF\xFF\xFF\xFF\x0F\xFF\xFF\xFF\xFF\x0F"
         "a\n\n\n"),
#undef CASE
};

static void payloads_that_break_one_rule_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof PAYLOADS / sizeof PAYLOADS[0]; i++) {
        paua_status status =
            decode((const uint8_t *)PAYLOADS[i].bytes, PAYLOADS[i].nbytes, PAYLOADS[i].rows);

        if (status != PAYLOADS[i].status)
            fail_msg("%s: %s", PAYLOADS[i].what, paua_strstatus(status));
    }
}

/* What a payload is relative to leaves room for its steps. */
static void ids_and_times_do_not_overflow(void **state)
{
    static const uint8_t ROWS[] = "\1\x08\2\5\0\0\1a\n\n"; /* two rows, 1 ms apart */
    static const struct {
        uint64_t first_id;
        int64_t first_time;
        paua_status status;
    } CASES[] = {
        {1, 1, PAUA_OK},
        {UINT64_MAX - 2, INT64_MAX - 1, PAUA_OK},
        {UINT64_MAX - 1, 1, PAUA_ECORRUPT},
        {1, INT64_MAX, PAUA_ECORRUPT},
        {0, 1, PAUA_ECORRUPT},
        {1, 0, PAUA_ECORRUPT}, /* no times, and yet steps */
    };
    static const paua_history_allocator plain;
    struct heap *heap = heap_make(&plain, NULL);

    (void)state;
    assert_non_null(heap);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct builder b;

        builder_init(&b, heap);
        assert_int_equal(
            payload_decode(ROWS, sizeof ROWS - 1, 2, CASES[i].first_id, CASES[i].first_time, &b),
            CASES[i].status);
        builder_free(&b);
    }
    heap_unref(heap);
}

static void rows_from_the_middle_of_a_block_are_a_payload_of_their_own(void **state)
{
    paua_history *h = sample();
    const struct block *b = history_tail_block(h);
    struct writer w = encode(b, 2);

    (void)state;
    assert_int_equal(decode(w.bytes, w.length, 2), PAUA_OK);
    writer_free(&w);
    paua_history_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_documented_ones),
        cmocka_unit_test(every_flipped_bit_is_refused_or_means_itself),
        cmocka_unit_test(every_byte_of_every_value_is_refused_or_means_itself),
        cmocka_unit_test(text_is_found_over_styles_and_soft_wraps_and_nowhere_else),
        cmocka_unit_test(letters_of_either_case_will_do_in_ascii),
        cmocka_unit_test(no_character_folds_to_a_letter_unseen),
        cmocka_unit_test(numbers_of_styles_are_no_text),
        cmocka_unit_test(a_text_is_looked_for_in_any_bytes),
        cmocka_unit_test(every_other_length_is_refused),
        cmocka_unit_test(payloads_that_break_one_rule_are_refused),
        cmocka_unit_test(ids_and_times_do_not_overflow),
        cmocka_unit_test(rows_from_the_middle_of_a_block_are_a_payload_of_their_own),
    };

    return cmocka_run_group_tests_name("history/payload", tests, NULL, NULL);
}
