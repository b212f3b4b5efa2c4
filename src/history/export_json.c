/* export_json.c - a row as a JSON object (RFC 8259) in one line; see PAUA_HISTORY_JSON.
 *
 * Text and links are valid UTF-8 without control characters, so that nothing but quotation marks
 * and backslashes has to be escaped. */
#include "history/export.h"

#include <assert.h>
#include <string.h>

static void put_string(struct output *o, const char *text, uint32_t nbytes)
{
    uint32_t from = 0;

    export_put(o, "\"", 1);
    for (uint32_t i = 0; i < nbytes; i++) {
        if (text[i] != '"' && text[i] != '\\') continue;
        export_put(o, text + from, i - from);
        export_put(o, "\\", 1);
        from = i;
    }
    export_put(o, text + from, nbytes - from);
    export_put(o, "\"", 1);
}

static void put_colour(struct output *o, const char *name, uint32_t colour)
{
    if (colour >> 24 == 1) export_format(o, ",\"%s\":%u", name, colour & 0xFF);
    if (colour >> 24 == 2) export_format(o, ",\"%s\":\"#%06x\"", name, colour & 0xFFFFFF);
}

static void put_attributes(struct output *o, uint16_t attributes)
{
    static const struct {
        uint16_t bit;
        const char *name;
    } FLAGS[] = {{PAUA_HISTORY_BOLD, "bold"},
                 {PAUA_HISTORY_FAINT, "faint"},
                 {PAUA_HISTORY_ITALIC, "italic"},
                 {PAUA_HISTORY_BLINK, "blink"},
                 {PAUA_HISTORY_RAPID_BLINK, "rapid_blink"},
                 {PAUA_HISTORY_INVERSE, "inverse"},
                 {PAUA_HISTORY_INVISIBLE, "invisible"},
                 {PAUA_HISTORY_STRIKE, "strike"},
                 {PAUA_HISTORY_OVERLINE, "overline"}};
    static const char *const UNDERLINES[] = {NULL, "single", "double", "curly", "dotted", "dashed"};
    unsigned underline = (attributes & PAUA_HISTORY_UNDERLINE_MASK) >> 12;

    for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++)
        if ((attributes & FLAGS[i].bit) != 0) export_format(o, ",\"%s\":true", FLAGS[i].name);
    if (underline > 0) export_format(o, ",\"underline\":\"%s\"", UNDERLINES[underline]);
}

static void put_style(struct output *o, const paua_history_row *row, uint32_t begin, uint32_t end,
                      const paua_history_style *style)
{
    export_format(o, "{\"begin\":%u,\"end\":%u", begin, end);
    put_colour(o, "foreground", style->foreground);
    put_colour(o, "background", style->background);
    put_colour(o, "underline_colour", style->underline_colour);
    put_attributes(o, style->attributes);
    if (style->link > 0) {
        export_put(o, ",\"link\":", 8);
        put_string(o, row->links[style->link - 1].uri, row->links[style->link - 1].uri_nbytes);
    }
    export_put(o, "}", 1);
}

static void put_styles(struct output *o, const paua_history_row *row)
{
    const char *before = ",\"styles\":[";
    uint32_t at = 0;

    for (uint32_t i = 0; i < row->run_count; at += row->runs[i++].nbytes) {
        const paua_history_run *run = &row->runs[i];

        if (run->style == 0) continue;
        export_put(o, before, strlen(before));
        put_style(o, row, at, at + run->nbytes, &row->styles[run->style]);
        before = ",";
    }
    if (row->run_count > 0) export_put(o, "]", 1);
}

void export_json(struct output *o, const paua_history_row *row)
{
    export_format(o, "{\"row\":%llu", (unsigned long long)row->id);
    if (row->damaged_rows > 0) {
        export_format(o, ",\"damaged_rows\":%llu}", (unsigned long long)row->damaged_rows);
        return;
    }
    assert(row->run_count == 0 || row->runs[row->run_count - 1].style != 0);
    if (row->time_ms != 0) export_format(o, ",\"time_ms\":%lld", (long long)row->time_ms);
    export_format(o, ",\"width\":%u", row->width);
    if (row->soft) export_put(o, ",\"soft\":true", 12);
    export_put(o, ",\"text\":", 8);
    put_string(o, row->text, row->text_nbytes);
    put_styles(o, row);
    export_put(o, "}", 1);
}
