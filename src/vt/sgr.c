/* sgr.c - SGR parameters, one group at a time: a parameter with its sub-parameters, or, for colours
 * in the old form, with the parameters that follow it.
 *
 * Source    ECMA-48 8.3.117; ISO 8613-6 for colours; kitty's and VTE's 4:1 to 4:5 and 58 for
 *           underlines. Where sources differ: 21 is a double underline (ECMA-48), not "bold off";
 *           22 ends bold and faint, 25 both kinds of blinking.
 * Colours   In the colon form a colour space may stand before red, green and blue, or be left out,
 *           which many programs do; sub-parameters after them (tolerances) are passed over. */
#include "vt/sgr.h"

#include <string.h>

#define CHANNEL_MAX 255u

/* Attributes that 1 to 9 set; 4 has kinds. */
static const uint16_t attributes[10] = {
    [1] = PAUA_HISTORY_BOLD,      [2] = PAUA_HISTORY_FAINT,       [3] = PAUA_HISTORY_ITALIC,
    [5] = PAUA_HISTORY_BLINK,     [6] = PAUA_HISTORY_RAPID_BLINK, [7] = PAUA_HISTORY_INVERSE,
    [8] = PAUA_HISTORY_INVISIBLE, [9] = PAUA_HISTORY_STRIKE};

static const uint16_t ended[10] = {[2] = PAUA_HISTORY_BOLD | PAUA_HISTORY_FAINT,
                                   [3] = PAUA_HISTORY_ITALIC,
                                   [4] = PAUA_HISTORY_UNDERLINE_MASK,
                                   [5] = PAUA_HISTORY_BLINK | PAUA_HISTORY_RAPID_BLINK,
                                   [7] = PAUA_HISTORY_INVERSE,
                                   [8] = PAUA_HISTORY_INVISIBLE,
                                   [9] = PAUA_HISTORY_STRIKE};

static void set(paua_history_style *style, uint16_t attribute)
{
    style->attributes = (uint16_t)(style->attributes | attribute);
}

static void clear(paua_history_style *style, uint16_t attribute)
{
    style->attributes = (uint16_t)(style->attributes & ~attribute);
}

static void underline(paua_history_style *style, uint32_t kind)
{
    if (kind > PAUA_HISTORY_UNDERLINE_DASHED >> 12) return;
    clear(style, PAUA_HISTORY_UNDERLINE_MASK);
    set(style, (uint16_t)(kind << 12));
}

/* The colour of a kind (2: RGB, 5: indexed) and `count` values; false if they make none. */
static bool colour_of(uint32_t kind, const uint16_t *values, size_t count, uint32_t *colour)
{
    if (kind == 5 && count >= 1 && values[0] <= CHANNEL_MAX) {
        *colour = PAUA_HISTORY_INDEXED(values[0]);
        return true;
    }
    if (kind != 2 || count < 3 || values[0] > CHANNEL_MAX || values[1] > CHANNEL_MAX ||
        values[2] > CHANNEL_MAX)
        return false;
    *colour = PAUA_HISTORY_RGB(values[0], values[1], values[2]);
    return true;
}

static uint32_t *colour_field(paua_history_style *style, uint32_t base)
{
    return base == 38   ? &style->foreground
           : base == 48 ? &style->background
                        : &style->underline_colour;
}

/* 38, 48 or 58 with the parameters after it; returns how many of those it took. */
static size_t colour_by_semicolons(const uint16_t *params, size_t left, uint32_t *colour)
{
    size_t wanted;

    if (left == 0) return 0;
    wanted = params[0] == 2 ? 3 : params[0] == 5 ? 1 : 0;
    if (wanted > left - 1) wanted = left - 1;
    colour_of(params[0], params + 1, wanted, colour);
    return 1 + wanted;
}

/* The same with sub-parameters, `count` of them. */
static void colour_by_colons(const uint16_t *subs, size_t count, uint32_t *colour)
{
    size_t space = count >= 5 && subs[0] == 2; /* the colour space */

    if (count > 0) colour_of(subs[0], subs + 1 + space, count - 1 - space, colour);
}

static void plain_group(paua_history_style *style, uint32_t value)
{
    uint32_t tens = value / 10, ones = value % 10;

    if (value == 0)
        *style = (paua_history_style){.link = style->link};
    else if (value == 4 || value == 21)
        underline(style, value == 4 ? 1 : 2);
    else if (value < 10)
        set(style, attributes[ones]);
    else if (tens == 2)
        clear(style, ended[ones]);
    else if (value == 53)
        set(style, PAUA_HISTORY_OVERLINE);
    else if (value == 55)
        clear(style, PAUA_HISTORY_OVERLINE);
    else if (value == 39 || value == 49 || value == 59)
        *colour_field(style, value - 1) = 0;
    else if ((tens == 3 || tens == 4) && ones < 8)
        *colour_field(style, 10 * tens + 8) = PAUA_HISTORY_INDEXED(ones);
    else if ((tens == 9 || tens == 10) && ones < 8)
        *colour_field(style, tens == 9 ? 38 : 48) = PAUA_HISTORY_INDEXED(8 + ones);
}

static bool is_colour(uint32_t value) { return value == 38 || value == 48 || value == 58; }

/* Number of sub-parameters of params[at]. */
static size_t sub_count(const struct vt_sequence *s, size_t at)
{
    size_t end = at + 1;

    while (end < s->param_count && (s->colons >> end & 1) != 0)
        end++;
    return end - at - 1;
}

/* Parameters after params[at] that stand alone. */
static size_t alone_count(const struct vt_sequence *s, size_t at)
{
    size_t end = at + 1;

    while (end < s->param_count && (s->colons >> end & 1) == 0 && sub_count(s, end) == 0)
        end++;
    return end - at - 1;
}

void sgr_apply(const struct vt_sequence *s, paua_history_style *style)
{
    if (s->param_count == 0) plain_group(style, 0);
    for (size_t at = 0; at < s->param_count;) {
        const uint16_t *params = s->params + at;
        size_t subs = sub_count(s, at), taken = 1 + subs;

        if (is_colour(params[0]) && subs > 0)
            colour_by_colons(params + 1, subs, colour_field(style, params[0]));
        else if (is_colour(params[0]))
            taken += colour_by_semicolons(params + 1, alone_count(s, at),
                                          colour_field(style, params[0]));
        else if (params[0] == 4 && subs == 1)
            underline(style, params[1]);
        else if (subs == 0)
            plain_group(style, params[0]);
        at += taken;
    }
}
