/* text.c - bytes of unknown origin made safe and short enough for a terminal.
 *
 * What       Documents, keys and file names hold anything. Escape sequences in them must not reach
 *            the terminal, and a table's line must not be longer than the terminal is wide.
 * Graphemes  A line is cut only where a new grapheme begins: not before a character of no width
 *            (combining marks, joiners, variation selectors), not after a zero-width joiner, not
 *            before a skin tone, and not between two regional indicators. This is the part of
 *            Unicode's UAX 29 that shows; widths are those of the C library.
 * Escapes    C0, DEL and C1 controls, the bidirectional controls (which reorder what follows), and
 *            bytes that are no UTF-8. */
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "util.h"

#define ZERO_WIDTH_JOINER 0x200du
#define ELLIPSIS_COLUMNS 3u

/* One step through the text: a character as it is, or an escape for one byte or control. */
struct glyph {
    size_t nbytes;
    size_t columns;
    uint32_t point; /* 0 for an escape */
    char escape[12];
};

size_t text_decode(const uint8_t *bytes, size_t nbytes, uint32_t *point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t lead = bytes[0];
    size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t value = length == 1 ? lead : lead & (0x7fu >> length);

    if (length == 0 || lead > 0xf4 || length > nbytes) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (bytes[i] & 0x3f);
    }
    if (value < smallest[length] || value > 0x10ffff) return 0;
    if (value >= 0xd800 && value <= 0xdfff) return 0;
    *point = value;
    return length;
}

bool text_valid(const void *bytes, size_t nbytes, size_t *at)
{
    const uint8_t *text = bytes;
    uint32_t point;

    for (size_t i = 0; i < nbytes;) {
        size_t length = text_decode(text + i, nbytes - i, &point);
        if (length == 0) {
            *at = i;
            return false;
        }
        i += length;
    }
    return true;
}

static bool must_escape(uint32_t point)
{
    if (point < 0x20) return true;
    if (point >= 0x7f && point < 0xa0) return true;
    if (point >= 0x202a && point <= 0x202e) return true;
    return point >= 0x2066 && point <= 0x2069;
}

static void escape_glyph(struct glyph *glyph, uint32_t point, bool valid)
{
    static const char controls[] = "\n\t\r";
    static const char letters[] = "ntr";
    const char *control = point == 0 || !valid ? NULL : strchr(controls, (int)point);

    if (control != NULL && point < 0x20) {
        snprintf(glyph->escape, sizeof glyph->escape, "\\%c", letters[control - controls]);
    } else if (valid && point > 0xff) {
        snprintf(glyph->escape, sizeof glyph->escape, "\\u%04x", point);
    } else {
        snprintf(glyph->escape, sizeof glyph->escape, "\\x%02x", point);
    }
    glyph->columns = strlen(glyph->escape);
    glyph->point = 0;
}

static struct glyph next_glyph(const uint8_t *bytes, size_t nbytes)
{
    struct glyph glyph = {0};
    uint32_t point = 0;
    int columns;

    glyph.nbytes = text_decode(bytes, nbytes, &point);
    if (glyph.nbytes == 0) {
        glyph.nbytes = 1;
        escape_glyph(&glyph, bytes[0], false);
    } else if (must_escape(point)) {
        escape_glyph(&glyph, point, true);
    } else {
        columns = wcwidth((wchar_t)point);
        glyph.columns = columns < 0 ? 1 : (size_t)columns;
        glyph.point = point;
    }
    return glyph;
}

static bool is_regional(uint32_t point) { return point >= 0x1f1e6 && point <= 0x1f1ff; }

/* Whether a new grapheme begins with `now`; regionals: how many stand in a row before it. */
static bool grapheme_begins(uint32_t before, const struct glyph *now, size_t regionals)
{
    if (now->point == 0) return true;
    if (now->columns == 0) return false;
    if (before == ZERO_WIDTH_JOINER) return false;
    if (now->point >= 0x1f3fb && now->point <= 0x1f3ff) return false;
    return !(is_regional(now->point) && regionals % 2 == 1);
}

/* Bytes of the longest prefix of whole graphemes that fills at most `width` columns. */
static size_t prefix_nbytes(const uint8_t *bytes, size_t nbytes, size_t width, size_t *columns)
{
    size_t used = 0, kept = 0, kept_columns = 0, regionals = 0;
    uint32_t before = 0;
    size_t at = 0;

    while (at < nbytes) {
        struct glyph glyph = next_glyph(bytes + at, nbytes - at);
        if (grapheme_begins(before, &glyph, regionals)) {
            kept = at;
            kept_columns = used;
        }
        if (used + glyph.columns > width) break;
        used += glyph.columns;
        at += glyph.nbytes;
        regionals = is_regional(glyph.point) ? regionals + 1 : 0;
        before = glyph.point;
    }
    *columns = at == nbytes ? used : kept_columns;
    return at == nbytes ? nbytes : kept;
}

static void print_glyphs(FILE *out, const uint8_t *bytes, size_t nbytes)
{
    for (size_t at = 0; at < nbytes;) {
        struct glyph glyph = next_glyph(bytes + at, nbytes - at);
        if (glyph.point == 0)
            fputs(glyph.escape, out);
        else
            fwrite(bytes + at, 1, glyph.nbytes, out);
        at += glyph.nbytes;
    }
}

size_t text_print(FILE *out, const void *bytes, size_t nbytes, size_t width)
{
    size_t columns = 0;
    size_t fits = prefix_nbytes(bytes, nbytes, width, &columns);
    size_t dots;

    if (fits == nbytes) {
        if (out != NULL) print_glyphs(out, bytes, nbytes);
        return columns;
    }
    dots = width < ELLIPSIS_COLUMNS ? width : ELLIPSIS_COLUMNS;
    fits = prefix_nbytes(bytes, nbytes, width - dots, &columns);
    if (out != NULL) {
        print_glyphs(out, bytes, fits);
        fprintf(out, "%.*s", (int)dots, "...");
    }
    return columns + dots;
}

size_t text_terminal_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    uint64_t value = 0;

    if (columns != NULL && parse_u64(columns, strlen(columns), &value) && value > 0) return value;
    if (isatty(STDOUT_FILENO) == 0) return TEXT_NO_LIMIT;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}
