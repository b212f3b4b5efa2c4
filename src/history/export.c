/* export.c - rows as plain text, as escape sequences, as HTML; export_json.c has JSON.
 *
 * Lines are written into one buffer of some KiB that is handed on when full. Each line ends in the
 * default style, so that any run of lines stands by itself. What gets into HTML is escaped, and a
 * link becomes an anchor only with a scheme that runs nothing. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "history/export.h"
#include "history/line.h"

#define PIECE_NBYTES_MAX 512u /* of formatted output */

static void flush(struct output *o)
{
    if (o->used > 0 && !o->stopped && !o->write(o->arg, o->buffer, o->used)) o->stopped = true;
    o->used = 0;
}

void export_put(struct output *o, const char *bytes, size_t nbytes)
{
    while (nbytes > 0 && !o->stopped) {
        size_t taken = EXPORT_BUFFER_NBYTES - o->used;

        if (taken > nbytes) taken = nbytes;
        memcpy(o->buffer + o->used, bytes, taken);
        o->used += taken;
        bytes += taken;
        nbytes -= taken;
        if (o->used == EXPORT_BUFFER_NBYTES) flush(o);
    }
}

void export_format(struct output *o, const char *format, ...)
{
    char piece[PIECE_NBYTES_MAX];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    assert(length >= 0 && length < (int)sizeof piece);
    export_put(o, piece, (size_t)length);
}

/* ---- escape sequences ---- */

/* One colour as SGR parameters: base is 38, 48 or 58; the first sixteen have short forms. */
static void put_sgr_colour(struct output *o, uint32_t colour, unsigned base)
{
    unsigned index = colour & 0xFF;

    if (colour == 0) return;
    if (colour >> 24 == 2)
        export_format(o, ";%u:2::%u:%u:%u", base, colour >> 16 & 0xFF, colour >> 8 & 0xFF, index);
    else if (base != 58 && index < 8)
        export_format(o, ";%u", base - 8 + index);
    else if (base != 58 && index < 16)
        export_format(o, ";%u", base + 52 + index - 8);
    else
        export_format(o, ";%u:5:%u", base, index);
}

static void put_sgr(struct output *o, const paua_history_style *style)
{
    static const struct {
        unsigned bit, sgr;
    } ATTRIBUTES[] = {
        {PAUA_HISTORY_BOLD, 1},      {PAUA_HISTORY_FAINT, 2},       {PAUA_HISTORY_ITALIC, 3},
        {PAUA_HISTORY_BLINK, 5},     {PAUA_HISTORY_RAPID_BLINK, 6}, {PAUA_HISTORY_INVERSE, 7},
        {PAUA_HISTORY_INVISIBLE, 8}, {PAUA_HISTORY_STRIKE, 9},      {PAUA_HISTORY_OVERLINE, 53}};
    unsigned underline = (style->attributes & PAUA_HISTORY_UNDERLINE_MASK) >> 12;

    export_put(o, "\x1b[0", 3);
    for (size_t i = 0; i < sizeof ATTRIBUTES / sizeof ATTRIBUTES[0]; i++)
        if (style->attributes & ATTRIBUTES[i].bit) export_format(o, ";%u", ATTRIBUTES[i].sgr);
    if (underline == 1) export_put(o, ";4", 2);
    if (underline > 1) export_format(o, ";4:%u", underline);
    put_sgr_colour(o, style->foreground, 38);
    put_sgr_colour(o, style->background, 48);
    put_sgr_colour(o, style->underline_colour, 58);
    export_put(o, "m", 1);
}

static void put_osc8(struct output *o, const paua_history_link *link)
{
    export_put(o, "\x1b]8;", 4);
    if (link != NULL && link->id_nbytes > 0) {
        export_put(o, "id=", 3);
        export_put(o, link->id, link->id_nbytes);
    }
    export_put(o, ";", 1);
    if (link != NULL) export_put(o, link->uri, link->uri_nbytes);
    export_put(o, "\x1b\\", 2);
}

static void put_ansi(struct output *o, const paua_history_row *row, uint32_t text_nbytes)
{
    static const paua_history_style plain;
    const paua_history_style *last = &plain;
    uint32_t at = 0;

    for (uint32_t i = 0; i <= row->run_count; i++) {
        const paua_history_style *style = &row->styles[i < row->run_count ? row->runs[i].style : 0];
        uint32_t n = i < row->run_count ? row->runs[i].nbytes : text_nbytes - at;

        if (style->link != last->link)
            put_osc8(o, style->link == 0 ? NULL : &row->links[style->link - 1]);
        if (memcmp(style, last, offsetof(paua_history_style, link)) != 0) put_sgr(o, style);
        last = style;
        export_put(o, row->text + at, n);
        at += n;
    }
}

/* ---- HTML ---- */

static void put_escaped(struct output *o, const char *text, uint32_t nbytes)
{
    for (uint32_t i = 0; i < nbytes; i++) {
        if (text[i] == '&')
            export_put(o, "&amp;", 5);
        else if (text[i] == '<')
            export_put(o, "&lt;", 4);
        else if (text[i] == '>')
            export_put(o, "&gt;", 4);
        else if (text[i] == '"')
            export_put(o, "&quot;", 6);
        else
            export_put(o, text + i, 1);
    }
}

/* xterm's palette. */
static uint32_t rgb_of(uint32_t colour)
{
    static const uint32_t FIRST[16] = {0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD,
                                       0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00,
                                       0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF};
    static const uint32_t LEVELS[6] = {0, 95, 135, 175, 215, 255};
    uint32_t index = colour & 0xFF;

    if (colour >> 24 == 2) return colour & 0xFFFFFF;
    if (index < 16) return FIRST[index];
    if (index >= 232) return (8 + 10 * (index - 232)) * 0x010101u;
    index -= 16;
    return LEVELS[index / 36] << 16 | LEVELS[index / 6 % 6] << 8 | LEVELS[index % 6];
}

static void put_css(struct output *o, const paua_history_style *style)
{
    static const char *const UNDERLINES[] = {"", "solid", "double", "wavy", "dotted", "dashed"};
    uint16_t a = style->attributes;
    unsigned underline = (a & PAUA_HISTORY_UNDERLINE_MASK) >> 12;
    bool inverse = (a & PAUA_HISTORY_INVERSE) != 0;
    uint32_t front = inverse ? style->background : style->foreground;
    uint32_t back = inverse ? style->foreground : style->background;

    if (front != 0) export_format(o, "color:#%06x;", rgb_of(front));
    if (front == 0 && inverse) export_format(o, "color:Canvas;");
    if (back != 0) export_format(o, "background:#%06x;", rgb_of(back));
    if (back == 0 && inverse) export_format(o, "background:CanvasText;");
    if (a & PAUA_HISTORY_BOLD) export_format(o, "font-weight:bold;");
    if (a & PAUA_HISTORY_FAINT) export_format(o, "opacity:.6;");
    if (a & PAUA_HISTORY_ITALIC) export_format(o, "font-style:italic;");
    if (a & PAUA_HISTORY_INVISIBLE) export_format(o, "visibility:hidden;");
    if (underline > 0 || a & (PAUA_HISTORY_STRIKE | PAUA_HISTORY_OVERLINE))
        export_format(o, "text-decoration-line:%s%s%s;", underline > 0 ? " underline" : "",
                      a & PAUA_HISTORY_STRIKE ? " line-through" : "",
                      a & PAUA_HISTORY_OVERLINE ? " overline" : "");
    if (underline > 1) export_format(o, "text-decoration-style:%s;", UNDERLINES[underline]);
    if (underline > 0 && style->underline_colour != 0)
        export_format(o, "text-decoration-color:#%06x;", rgb_of(style->underline_colour));
}

static bool scheme_harmless(const paua_history_link *link)
{
    static const char *const SCHEMES[] = {"http://", "https://", "ftp://", "mailto:"};

    for (size_t i = 0; i < sizeof SCHEMES / sizeof SCHEMES[0]; i++)
        if (link->uri_nbytes > strlen(SCHEMES[i]) &&
            memcmp(link->uri, SCHEMES[i], strlen(SCHEMES[i])) == 0)
            return true;
    return false;
}

static void put_html(struct output *o, const paua_history_row *row, uint32_t text_nbytes)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i <= row->run_count; i++) {
        uint32_t id = i < row->run_count ? row->runs[i].style : 0;
        uint32_t n = i < row->run_count ? row->runs[i].nbytes : text_nbytes - at;
        const paua_history_style *style = &row->styles[id];
        const paua_history_link *link = style->link == 0 ? NULL : &row->links[style->link - 1];
        bool anchor = link != NULL && scheme_harmless(link);
        bool span = (style->foreground | style->background | style->attributes) != 0;

        if (anchor) {
            export_format(o, "<a href=\"");
            put_escaped(o, link->uri, link->uri_nbytes);
            export_format(o, "\">");
        }
        if (span) {
            export_format(o, "<span style=\"");
            put_css(o, style);
            export_format(o, "\">");
        }
        put_escaped(o, row->text + at, n);
        at += n;
        if (span) export_format(o, "</span>");
        if (anchor) export_format(o, "</a>");
    }
}

/* ---- lines ---- */

/* Bytes of a line without the default blanks at its end. */
static uint32_t trimmed(const paua_history_row *row)
{
    uint32_t styled = 0, nbytes = row->text_nbytes;

    for (uint32_t i = 0; i < row->run_count; i++)
        styled += row->runs[i].nbytes;
    while (nbytes > styled && row->text[nbytes - 1] == ' ')
        nbytes--;
    return nbytes;
}

/* Plain text drops styled blanks as well. */
static uint32_t trimmed_text(const paua_history_row *row)
{
    uint32_t nbytes = row->text_nbytes;

    while (nbytes > 0 && row->text[nbytes - 1] == ' ')
        nbytes--;
    return nbytes;
}

static bool put_line(void *arg, uint64_t index, const paua_history_row *row)
{
    struct output *o = arg;

    if (row->damaged_rows > 0) {
        if (o->open_line) export_put(o, "\n", 1);
        export_format(o, "[%llu rows from %llu on are damaged]",
                      (unsigned long long)row->damaged_rows, (unsigned long long)index);
    } else if (o->format == PAUA_HISTORY_TEXT) {
        export_put(o, row->text, row->soft ? row->text_nbytes : trimmed_text(row));
    } else if (o->format == PAUA_HISTORY_ANSI) {
        put_ansi(o, row, row->soft ? row->text_nbytes : trimmed(row));
    } else {
        put_html(o, row, row->soft ? row->text_nbytes : trimmed(row));
    }
    o->open_line = row->soft;
    if (!row->soft) export_put(o, "\n", 1);
    return !o->stopped;
}

static bool put_json(void *arg, uint64_t index, const paua_history_row *row)
{
    struct output *o = arg;

    (void)index;
    export_json(o, row);
    export_put(o, "\n", 1);
    return !o->stopped;
}

paua_status paua_history_view_export(paua_history_view *view, const paua_history_range *range,
                                     paua_history_format format, paua_history_write_fn write,
                                     void *arg, paua_error *err)
{
    paua_history_range r = {0};
    struct output *o;
    paua_status status;

    memcpy(&r, range, range->size < sizeof r ? range->size : sizeof r);
    r.size = sizeof r;
    r.holes = true;
    r.lines = r.lines || format != PAUA_HISTORY_JSON;
    if (format != PAUA_HISTORY_TEXT && format != PAUA_HISTORY_ANSI && format != PAUA_HISTORY_HTML &&
        format != PAUA_HISTORY_JSON)
        return error_set(err, PAUA_EINVAL, "no such format");
    o = heap_alloc(view->heap, sizeof *o);
    if (o == NULL) return error_set_nomem(err);
    o->write = write;
    o->arg = arg;
    o->format = format;
    o->stopped = o->open_line = false;
    o->used = 0;
    status =
        paua_history_view_each(view, &r, format == PAUA_HISTORY_JSON ? put_json : put_line, o, err);
    if (status == PAUA_OK && o->open_line) export_put(o, "\n", 1);
    if (status == PAUA_OK) flush(o);
    if (status == PAUA_OK && o->stopped)
        status = error_set(err, PAUA_ECANCELED, "writing was stopped");
    heap_free(view->heap, o, sizeof *o);
    return status;
}
