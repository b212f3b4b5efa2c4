/* test_import.c - rows out of streams of text and of escape sequences. */
#include "support.h"

#include <stdio.h>

#include "history/import_row.h"

struct import {
    paua_history *history;
    paua_history_import_kind kind;
    uint32_t columns;
};

static paua_history_importer *open_importer(const struct import *import)
{
    paua_history_import_opts opts = {
        .size = sizeof opts, .kind = import->kind, .columns = import->columns};
    paua_history_importer *im = NULL;

    assert_ok(paua_history_importer_open(import->history, &opts, &im, &test_err));
    return im;
}

/* Imports bytes, in pieces that are cut at `cut`, into a new history. */
static paua_history *imported(const struct import *import, const char *bytes, size_t nbytes,
                              size_t cut)
{
    struct import into = *import;
    paua_history_importer *im;

    into.history = test_history(NULL);
    im = open_importer(&into);
    assert_ok(paua_history_importer_feed(im, bytes, cut, &test_err));
    assert_ok(paua_history_importer_feed(im, bytes + cut, nbytes - cut, &test_err));
    assert_ok(paua_history_importer_finish(im, &test_err));
    paua_history_importer_close(im);
    test_validate(into.history);
    return into.history;
}

static bool add_row(void *arg, uint64_t index, const paua_history_row *row)
{
    struct test_buffer *out = arg;

    (void)index;
    return test_write(out, row->text, row->text_nbytes) &&
           test_write(out, row->soft ? "~" : "|", 1);
}

/* Texts of all rows; a soft one ends in ~, others in |. */
static struct test_buffer row_texts(paua_history *h)
{
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};
    struct test_buffer out = {0};
    paua_history_view *v = test_view(h);

    test_write(&out, "", 0);
    assert_ok(paua_history_view_each(v, &range, add_row, &out, &test_err));
    paua_history_view_close(v);
    return out;
}

static struct test_buffer exported(paua_history *h, paua_history_format format)
{
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};
    struct test_buffer out = {0};
    paua_history_view *v = test_view(h);

    test_write(&out, "", 0);
    assert_ok(paua_history_view_export(v, &range, format, test_write, &out, &test_err));
    paua_history_view_close(v);
    return out;
}

struct sample {
    const char *bytes;
    size_t nbytes;
    const char *rows;
};
#define S(bytes, rows)                                                                             \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, rows                                                             \
    }
#define FFFD "\xEF\xBF\xBD"
#define KANJI "\xE7\x95\x8C"
#define ACUTE "\xCC\x81"
#define CLOUD "\xE2\x98\x81"
#define EMOJI "\xEF\xB8\x8F"
#define FARMER "\xF0\x9F\xA7\x91\xE2\x80\x8D\xF0\x9F\x8C\xBE"

/* At 10 columns. */
static const struct sample ansi[] = {
    S("", ""),
    S("one\ntwo\r\nthree", "one|two|three|"),
    S("\n\na\n", "||a|"),
    S("0123456789\nx", "0123456789|x|"),
    S("0123456789ab\n", "0123456789~ab|"),
    S("0123456789\r\n0123456789\rab\n", "0123456789|ab23456789|"),
    S("0123456789abcdefghijkl", "0123456789~abcdefghij~kl|"),
    S("trailing  \n", "trailing|"),
    S("          x\n", "          ~x|"),
    /* controls */
    S("12345\rab\n", "ab345|"),
    S("abc\b\bX\n", "aXc|"),
    S("\b\bX\n", "X|"),
    S("0123456789\by\n", "01234567y9|"),
    S("a\tb\n", "a       b|"),
    S("\t\t\tx\n", "         x|"),
    S("0123456789\tx\n", "0123456789~x|"),
    S("abcdefghij\r\tX\n", "abcdefghXj|"),
    S("a\vb\fc\x1B"
      "Dd\x1B"
      "Ee",
      "a|b|c|d|e|"),
    S("a\x07\x01\x7F"
      "b\x1B(0c\x1B[5;5Hd\x1B[2Je\x1B]0;t\x07"
      "f\x1BPq1\x1B\\g",
      "abcdefg|"),
    S("abc\x1B[K\x1B[1Jd", "abcd|"),
    S("a\x1B(Db\x1B#Ec\x1B cd", "abcd|"),
    S("abcdef\rxy\x1B[Kz\n", "xyz|"),
    S("abcdef\rxy\x1B[1Kz\n", "  zdef|"),
    S("abcdef\rxy\x1B[2Kz\n", "  z|"),
    S("0123456789\x1B[Kx\n", "0123456789~x|"),
    S("0123456789\x1B[1Kx\n", "          ~x|"),
    S("abc\r\x1B[?K\x1B[ Kx\n", "xbc|"),
    S("50%\r100%\r\n", "100%|"),
    S("\r\x1B[Kdone\r\x1B[K\n", "|"),
    /* wide characters and clusters */
    S("a" KANJI "b\n", "a" KANJI "b|"),
    S("012345678" KANJI "\n", "012345678~" KANJI "|"),
    S("01234567" KANJI "x\n", "01234567" KANJI "~x|"),
    S(KANJI "\rX\n", "X|"),
    S(KANJI KANJI "\b\bX\n", KANJI "X|"),
    S(KANJI "\b\b\b\bX\n", "X|"),
    S(KANJI "\bX\n", " X|"),
    S("abc\r" KANJI "\n", KANJI "c|"),
    S("a" KANJI "c\r" KANJI "\n", KANJI " c|"),
    S(KANJI "c\r\x1B[K\n", "|"),
    S(KANJI "c\b\b\x1B[Kd\n", " d|"),
    S("e" ACUTE "x" FARMER "y\n", "e" ACUTE "x" FARMER "y|"),
    S("0123456789" ACUTE "\nx", "0123456789" ACUTE "|x|"),
    S(ACUTE "x\n", ACUTE "x|"),
    S("abc\n" ACUTE "x\n", "abc|" ACUTE "x|"),
    S("ab\b" ACUTE "c\n", "a" ACUTE "c|"),
    S("a\r\t\b" ACUTE "\n", "a      " ACUTE "|"),
    S("a" ACUTE "\rb\n", "b|"),
    S("a" ACUTE "\rb" ACUTE "\n", "b" ACUTE "|"),
    S(KANJI "x\b" ACUTE "\n", KANJI ACUTE "x|"),
    S(KANJI "\x1B[1m" ACUTE "\n", KANJI ACUTE "|"),
    S("1" EMOJI "\xE2\x83\xA3x\n", "1" EMOJI "\xE2\x83\xA3x|"),
    S("01234567" CLOUD EMOJI "x\n", "01234567" CLOUD EMOJI "~x|"),
    S("012345678" CLOUD EMOJI "x\n", "012345678~" CLOUD EMOJI "x|"),
    S("0123456789\b" CLOUD EMOJI "\n", "01234567" CLOUD EMOJI "|"),
    S("\xF0\x9F\x87\xB5\xF0\x9F\x87\xB9\xF0\x9F\x87\xB5\n",
      "\xF0\x9F\x87\xB5\xF0\x9F\x87\xB9\xF0\x9F\x87\xB5|"),
    /* what is not UTF-8 */
    S("a\xC0\x80"
      "b\xE4\xB8\x1B[0mc\xF8"
      "d",
      "a" FFFD FFFD "b" FFFD "c" FFFD "d|"),
    S("x\xE4\xB8", "x" FFFD "|"),
    S("a\xC2\x85"
      "b\xC2\x9B"
      "1mc",
      "a|bc|"),
};

static const struct sample text[] = {
    S("one\r\ntwo\n\nthree", "one|two||three|"),
    S("a\tb\n12345678\tx", "a       b|12345678  ~      x|"),
    S("0123456789\tx\n", "0123456789~        x|"),
    S("a\x1B[31mb\x07\bc\x0B\x0C\x7F"
      "d",
      "a[31mbcd|"),
    S("a\xC2\x9B"
      "1m" ACUTE "\xFF",
      "a1m" ACUTE FFFD "|"),
    S("a\x1B]8;;u\x07"
      "b",
      "a]8;;ub|"),
};

static void check(const struct import *import, const struct sample *s)
{
    struct test_buffer whole = {0};

    for (size_t cut = 0; cut <= s->nbytes; cut++) {
        paua_history *h = imported(import, s->bytes, s->nbytes, cut);
        struct test_buffer rows = row_texts(h), bytes = test_encode(h);

        assert_string_equal(rows.bytes, s->rows);
        if (cut == 0) {
            whole = bytes;
        } else {
            assert_int_equal(bytes.nbytes, whole.nbytes);
            assert_memory_equal(bytes.bytes, whole.bytes, whole.nbytes);
            test_buffer_free(&bytes);
        }
        test_buffer_free(&rows);
        paua_history_close(h);
    }
    test_buffer_free(&whole);
}

static void streams_make_the_same_rows_however_they_are_cut(void **state)
{
    const struct import import = {.kind = PAUA_HISTORY_IMPORT_ANSI, .columns = 10};

    (void)state;
    for (size_t i = 0; i < sizeof ansi / sizeof ansi[0]; i++)
        check(&import, &ansi[i]);
}

static void text_has_lines_and_tabs_alone(void **state)
{
    const struct import import = {.kind = PAUA_HISTORY_IMPORT_TEXT, .columns = 10};

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        check(&import, &text[i]);
}

/* ---- styles and links ---- */

#define LINK(id, uri) "\x1B]8;" id ";" uri "\x1B\\"

static const struct sample styled[] = {
    S("\x1B[1;31mred\x1B[m plain\n", "\x1B[0;1;31mred\x1B[0m plain\n"),
    S("\x1B[32ma\nb\x1B[0m\n", "\x1B[0;32ma\x1B[0m\n\x1B[0;32mb\x1B[0m\n"),
    S("\x1B[41m  \n", "\x1B[0;41m  \x1B[0m\n"),
    S("\x1B[31mabc\r\x1B[32mX\n", "\x1B[0;32mX\x1B[0;31mbc\x1B[0m\n"),
    S("\x1B[38:2::1:2:3;58:5:9;4:3mx\n", "\x1B[0;4:3;38:2::1:2:3;58:5:9mx\x1B[0m\n"),
    S("\x1B[31;>mx\x1B[31 mx\x1B[?31mx\n", "xxx\n"),
    S("\x1B[31mx\x1B"
      "cy\n",
      "\x1B[0;31mx\x1B[0my\n"),
    S("\x1B[31me\x1B[32m" ACUTE "f\n", "\x1B[0;31me" ACUTE "\x1B[0;32mf\x1B[0m\n"),
    S("\x1B[31m\tx\n", "        \x1B[0;31mx\x1B[0m\n"),
    S(LINK("id=7", "http://a") "L" LINK("", "") " n\n",
      LINK("id=7", "http://a") "L" LINK("", "") " n\n"),
    S(LINK("", "http://a") "\x1B[1mL\x1B[mM\n" LINK("", "http://b") "N\n",
      LINK("", "http://a") "\x1B[0;1mL\x1B[0mM" LINK("", "") "\n" LINK("", "http://b") "N" LINK(
          "", "") "\n"),
    S(LINK("", "http://a") "L\x1B]8;;http://x\x18ok\n",
      LINK("", "http://a") "Lok" LINK("", "") "\n"),
    S(LINK("", "u") "a\x1B]0;8;;v\x07"
                    "b\x1B]8;;\x07"
                    "c\n",
      LINK("", "u") "ab" LINK("", "") "c\n"),
    S(LINK("", "u") "a\x1B]8;;v\x7F\x07"
                    "b\n",
      LINK("", "u") "a" LINK("", "") "b\n"),
    S(LINK("", "u") "a\x1B"
                    "cb\n",
      LINK("", "u") "a" LINK("", "") "b\n"),
    S("\x1B_8;;u\x1B\\ab\n", "ab\n"),
};

static void styles_and_links_are_kept(void **state)
{
    const struct import import = {.kind = PAUA_HISTORY_IMPORT_ANSI, .columns = 80};

    (void)state;
    for (size_t i = 0; i < sizeof styled / sizeof styled[0]; i++) {
        for (size_t cut = 0; cut <= styled[i].nbytes; cut++) {
            paua_history *h = imported(&import, styled[i].bytes, styled[i].nbytes, cut);
            struct test_buffer out = exported(h, PAUA_HISTORY_ANSI);

            assert_string_equal(out.bytes, styled[i].rows);
            test_buffer_free(&out);
            paua_history_close(h);
        }
    }
}

static void a_link_over_the_limits_is_left_out(void **state)
{
    const struct import import = {.kind = PAUA_HISTORY_IMPORT_ANSI, .columns = 80};
    const size_t filling = 3 * PAUA_HISTORY_LINK_NBYTES_MAX;
    char *bytes = malloc(filling + 100);

    (void)state;
    assert_non_null(bytes);
    for (unsigned i = 0; i < 2; i++) { /* a URI without end, parameters without end */
        size_t at = (size_t)sprintf(
            bytes, "%s", i == 0 ? LINK("", "v") "a\x1B]8;;" : LINK("", "v") "a\x1B]8;x=");
        paua_history *h;
        struct test_buffer out;

        memset(bytes + at, 'u', filling);
        at += filling;
        at += (size_t)sprintf(bytes + at, ";w\x07"
                                          "b\n");
        h = imported(&import, bytes, at, at / 2);
        out = exported(h, PAUA_HISTORY_ANSI);
        assert_string_equal(out.bytes, LINK("", "v") "a" LINK("", "") "b\n");
        test_buffer_free(&out);
        paua_history_close(h);
    }
    free(bytes);
}

/* ---- properties ---- */

/* The first ones are printed in place; the others move the cursor, erase, or may end a line as
 * blanks, which an export leaves out. */
/* clang-format off */
static const char *const pieces[] = {
    "a", " b", "word", "\n", "\r\n", KANJI, "e" ACUTE, FARMER, CLOUD EMOJI, "\xC3\xA9",
    "\x1B[1m", "\x1B[0m", "\x1B[38;5;100m", "\x1B[48:2::9:8:7m", "\x1B[4:3m", "\x1B[7;9m",
    LINK("", "http://a"), LINK("id=1", "http://b"), LINK("", ""), "\x1B[5A", "\xFF",
    "0123456789abcdefghij",
    "\r", "\b", "\t", "\x1B[K", "\x1B[1K", "  ",
};
/* clang-format on */
#define PIECES (sizeof pieces / sizeof pieces[0])
#define PIECES_IN_PLACE (PIECES - 6)

static size_t random_stream(uint64_t *seed, size_t piece_count, char *bytes, size_t room)
{
    size_t nbytes = 0;

    for (;;) {
        const char *piece = pieces[test_random_below(seed, (uint32_t)piece_count)];

        if (nbytes + strlen(piece) > room) return nbytes;
        memcpy(bytes + nbytes, piece, strlen(piece));
        nbytes += strlen(piece);
    }
}

/* Imports a random stream, and what it is exported as: the same lines, and if nothing was written
 * over, wrapped at the same places. */
static void check_round_trip(uint64_t *seed, size_t piece_count)
{
    struct import import = {.kind = PAUA_HISTORY_IMPORT_ANSI,
                            .columns = 2 + test_random_below(seed, 30)};
    char stream[600];
    size_t nbytes = random_stream(seed, piece_count, stream, sizeof stream);
    paua_history *first = imported(&import, stream, nbytes, nbytes / 2), *second;
    struct test_buffer out = exported(first, PAUA_HISTORY_ANSI), a = row_texts(first), b, again;

    second = imported(&import, out.bytes, out.nbytes, out.nbytes / 3);
    again = exported(second, PAUA_HISTORY_ANSI);
    b = row_texts(second);
    assert_string_equal(again.bytes, out.bytes);
    if (piece_count == PIECES_IN_PLACE) assert_string_equal(a.bytes, b.bytes);
    test_buffer_free(&out);
    test_buffer_free(&again);
    test_buffer_free(&a);
    test_buffer_free(&b);
    paua_history_close(first);
    paua_history_close(second);
}

static void exported_ansi_imports_as_equal_rows(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        check_round_trip(&seed, PIECES_IN_PLACE);
        check_round_trip(&seed, PIECES);
    }
}

/* Every style that a row may have, as many as its columns, over and over. */
static void overwritten_styles_are_forgotten(void **state)
{
    struct import import = {.kind = PAUA_HISTORY_IMPORT_ANSI, .columns = 4};
    paua_history_importer *im;
    struct test_buffer out;

    (void)state;
    import.history = test_history(NULL);
    im = open_importer(&import);
    for (unsigned i = 0; i < 70000; i++) {
        char bytes[64];
        int n = snprintf(bytes, sizeof bytes, "%s\x1B[38;2;%u;%u;%umx", i % 4 == 0 ? "\r" : "",
                         i >> 16, i >> 8 & 0xFF, i & 0xFF);

        assert_ok(paua_history_importer_feed(im, bytes, (size_t)n, &test_err));
    }
    assert_ok(paua_history_importer_finish(im, &test_err));
    paua_history_importer_close(im);
    out = exported(import.history, PAUA_HISTORY_ANSI);
    assert_string_equal(out.bytes, "\x1B[0;38:2::1:17:108mx\x1B[0;38:2::1:17:109mx"
                                   "\x1B[0;38:2::1:17:110mx\x1B[0;38:2::1:17:111mx\x1B[0m\n");
    test_buffer_free(&out);
    paua_history_close(import.history);
}

/* More links in one row than it can have, each written over by the next. */
static void links_beyond_the_most_of_a_row_are_left_out(void **state)
{
    struct import import = {.kind = PAUA_HISTORY_IMPORT_ANSI, .columns = 4};
    paua_history_importer *im;
    struct test_buffer out;

    (void)state;
    import.history = test_history(NULL);
    im = open_importer(&import);
    for (unsigned i = 1; i <= IMPORT_LINKS_MAX; i++) {
        char bytes[64];
        int n = snprintf(bytes, sizeof bytes, LINK("", "%u") "%s", i,
                         i == IMPORT_LINKS_MAX - 1 ? "a"
                         : i == IMPORT_LINKS_MAX   ? "b"
                                                   : "x\r");

        assert_ok(paua_history_importer_feed(im, bytes, (size_t)n, &test_err));
    }
    assert_ok(paua_history_importer_feed(im, LINK("", "more") "c\nd", 14, &test_err));
    assert_ok(paua_history_importer_finish(im, &test_err));
    paua_history_importer_close(im);
    out = exported(import.history, PAUA_HISTORY_ANSI);
    assert_string_equal(out.bytes, LINK("", "4095") "a" LINK("", "4096") "b" LINK(
                                       "", "") "c\n" LINK("", "more") "d" LINK("", "") "\n");
    test_buffer_free(&out);
    paua_history_close(import.history);
}

/* Columns, clusters, styles and links as large as can be, all at once. */
static void the_largest_row_is_accepted(void **state)
{
    struct import import = {.kind = PAUA_HISTORY_IMPORT_ANSI,
                            .columns = PAUA_HISTORY_IMPORT_COLUMNS_MAX};
    static char link[PAUA_HISTORY_LINK_NBYTES_MAX], cluster[PAUA_HISTORY_CLUSTER_NBYTES_MAX];
    paua_history_importer *im;
    paua_history_row row;
    paua_history_view *v;

    (void)state;
    memset(link, 'u', sizeof link);
    cluster[0] = cluster[1] = 'e';
    for (size_t i = 2; i < sizeof cluster; i += 2)
        memcpy(cluster + i, ACUTE, 2);
    import.history = test_history(NULL);
    im = open_importer(&import);
    for (unsigned i = 0; i < PAUA_HISTORY_IMPORT_COLUMNS_MAX; i++) {
        char bytes[64];
        int n = snprintf(bytes, sizeof bytes, "\x1B[38;2;1;%u;%um\x1B]8;id=", i >> 8, i & 0xFF);

        assert_ok(paua_history_importer_feed(im, bytes, (size_t)n, &test_err));
        if (i < 64) {
            assert_ok(paua_history_importer_feed(im, link, sizeof link, &test_err));
            assert_ok(paua_history_importer_feed(im, ";", 1, &test_err));
            assert_ok(paua_history_importer_feed(im, link, sizeof link - i, &test_err));
        }
        assert_ok(paua_history_importer_feed(im, ";\x1B\\", 3, &test_err));
        assert_ok(paua_history_importer_feed(im, cluster + 1, sizeof cluster - 1, &test_err));
    }
    assert_ok(paua_history_importer_finish(im, &test_err));
    paua_history_importer_close(im);
    test_validate(import.history);
    v = test_view(import.history);
    assert_int_equal(paua_history_view_rows(v), 1);
    assert_ok(paua_history_view_row(v, 0, &row, &test_err));
    assert_int_equal(row.columns, PAUA_HISTORY_IMPORT_COLUMNS_MAX);
    assert_int_equal(row.text_nbytes, PAUA_HISTORY_IMPORT_COLUMNS_MAX * (sizeof cluster - 1));
    assert_int_equal(row.style_count, PAUA_HISTORY_IMPORT_COLUMNS_MAX + 1);
    assert_int_equal(row.link_count, 32); /* what 256 KiB hold */
    paua_history_view_close(v);
    paua_history_close(import.history);
}

/* ---- failures ---- */

static void wrong_options_are_refused(void **state)
{
    paua_history *h = test_history(NULL);
    paua_history_import_opts opts = {.size = sizeof opts, .columns = 1};
    paua_history_importer *im = NULL;

    (void)state;
    assert_fails(paua_history_importer_open(h, &opts, &im, &test_err), PAUA_EINVAL);
    opts.columns = PAUA_HISTORY_IMPORT_COLUMNS_MAX + 1;
    assert_fails(paua_history_importer_open(h, &opts, &im, &test_err), PAUA_EINVAL);
    opts.columns = 2;
    opts.kind = (paua_history_import_kind)2;
    assert_fails(paua_history_importer_open(h, &opts, &im, &test_err), PAUA_EINVAL);
    opts.kind = PAUA_HISTORY_IMPORT_TEXT;
    opts.time_ms = -1;
    assert_fails(paua_history_importer_open(h, &opts, &im, &test_err), PAUA_EINVAL);
    opts.time_ms = 0;
    assert_fails(paua_history_importer_open(NULL, &opts, &im, &test_err), PAUA_EINVAL);
    assert_null(im);
    paua_history_importer_close(NULL);
    paua_history_close(h);
}

static paua_status refuse_third(void *arg, const paua_history_new_row *row, paua_error *err)
{
    size_t *rows = arg;

    assert_int_equal(row->time_ms, 77);
    if (++*rows < 3) return PAUA_OK;
    if (err != NULL) snprintf(err->message, sizeof err->message, "enough");
    return PAUA_EIO;
}

static void a_refused_row_ends_the_import(void **state)
{
    size_t rows = 0;
    paua_history_import_opts opts = {
        .size = sizeof opts, .time_ms = 77, .append = refuse_third, .append_arg = &rows};
    paua_history_importer *im = NULL;

    (void)state;
    assert_ok(paua_history_importer_open(NULL, &opts, &im, &test_err));
    assert_ok(paua_history_importer_feed(im, "a\nb\n", 4, &test_err));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(paua_history_importer_feed(im, "c\nd\ne\n", 6, &test_err), PAUA_EIO);
        assert_string_equal(test_err.message, "enough");
    }
    assert_int_equal(paua_history_importer_finish(im, &test_err), PAUA_EIO);
    assert_int_equal(rows, 3);
    paua_history_importer_close(im);
}

/* A stream that needs every kind of memory. */
static const char hungry[] = "\x1B[1mab" KANJI "e" ACUTE "\x1B]8;id=i;http://u\x1B\\c\x1B[2md\n"
                             "012345678901234567890\r\x1B[3mx\x1B[4my\n";

static void running_out_of_memory_harms_nothing(void **state)
{
    paua_status status = PAUA_ENOMEM;

    (void)state;
    for (size_t n = 1; status != PAUA_OK; n++) {
        struct test_heap heap = {0};
        struct test_opts opts = {.heap = &heap};
        paua_history_import_opts import = {
            .size = sizeof import, .kind = PAUA_HISTORY_IMPORT_ANSI, .columns = 10};
        paua_history *h = test_history(&opts);
        paua_history_importer *im = NULL;

        heap.until_failure = n;
        status = paua_history_importer_open(h, &import, &im, &test_err);
        if (status == PAUA_OK) {
            status = paua_history_importer_feed(im, hungry, sizeof hungry - 1, &test_err);
            assert_int_equal(paua_history_importer_finish(im, NULL), status);
        }
        assert_true(status == PAUA_OK || status == PAUA_ENOMEM);
        heap.until_failure = 0;
        paua_history_importer_close(im);
        test_validate(h);
        paua_history_close(h);
        assert_int_equal(heap.live, 0);
        assert_true(n < 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_make_the_same_rows_however_they_are_cut),
        cmocka_unit_test(text_has_lines_and_tabs_alone),
        cmocka_unit_test(styles_and_links_are_kept),
        cmocka_unit_test(a_link_over_the_limits_is_left_out),
        cmocka_unit_test(exported_ansi_imports_as_equal_rows),
        cmocka_unit_test(overwritten_styles_are_forgotten),
        cmocka_unit_test(links_beyond_the_most_of_a_row_are_left_out),
        cmocka_unit_test(the_largest_row_is_accepted),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(a_refused_row_ends_the_import),
        cmocka_unit_test(running_out_of_memory_harms_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
