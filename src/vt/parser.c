/* parser.c - runs the escape state machine over a stream.
 *
 * Layers    Bytes become code points (UTF-8, or Latin-1), code points become one of 17 classes, and
 *           the table (parser_table.c) gives action and next state. What a state does on its way in
 *           and out is here: a sequence is cleared when one begins, a string is reported, or a
 *           device control string unhooked, when it is left.
 * UTF-8     The decoder of the WHATWG encoding standard, which replaces each maximal subpart of an
 *           ill-formed sequence by one U+FFFD (Unicode 3.9, "U+FFFD substitution"). A C1 control is
 *           one as a code point only (C2 80 to C2 9F): a stray byte 9B is not CSI.
 * Speed     Text in the ground state, and payloads, are passed on as they lie in the input, found
 *           eight bytes at a time. All else goes through the table byte by byte.
 * Strings   An ESC that is not followed by a backslash ends a string too, and opens its sequence,
 *           as in the VT500 and xterm.
 * Rejected  Reporting C1 controls apart from ESC sequences: every user would need each twice.
 *           Raw bytes in payloads: whoever stores them would need to check them again. */
#include "vt/parser.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "vt/parser_table.h"

#define REPLACEMENT 0xFFFDu

/* Each of the 8 bytes of a word. */
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static uint8_t first_state(const struct vt_parser *p)
{
    return p->opts.plain ? VT_PLAIN : VT_GROUND;
}

static void sequence_clear(struct vt_parser *p)
{
    p->sequence.marker = 0;
    p->sequence.intermediate_count = 0;
    p->sequence.param_count = 0;
    p->sequence.params_lost = false;
    p->sequence.colons = 0;
    p->sequence.given = 0;
    p->sequence_refused = false;
}

void vt_parser_init(struct vt_parser *parser, const struct vt_parser_opts *opts)
{
    assert(opts->actions != NULL && (opts->buffer != NULL || opts->buffer_nbytes == 0));
    *parser = (struct vt_parser){.opts = *opts};
    parser->state = first_state(parser);
}

/* ---- actions ---- */

static void print(struct vt_parser *p, const char *text, size_t nbytes)
{
    p->opts.actions->print(p->opts.arg, text, nbytes);
}

/* How much of the next part of a string or payload is kept: up to max in all. A code point that
 * does not fit whole (not divisible) is left out, and so is all that follows. */
static size_t fitting(struct vt_parser *p, size_t nbytes, uint64_t max, bool divisible)
{
    uint64_t room = p->string_cut ? 0 : max - p->string_nbytes;

    p->string_nbytes += nbytes;
    if (nbytes <= room) return nbytes;
    p->string_cut = true;
    return divisible ? (size_t)room : 0;
}

static void put(struct vt_parser *p, const char *bytes, size_t nbytes, bool divisible)
{
    size_t taken = fitting(p, nbytes, p->opts.dcs_nbytes_max, divisible);

    if (taken > 0) p->opts.actions->dcs_put(p->opts.arg, bytes, taken);
}

static void append(struct vt_parser *p, const char *bytes, size_t nbytes, bool divisible)
{
    size_t taken = fitting(p, nbytes, p->opts.buffer_nbytes, divisible);

    if (taken > 0) memcpy(p->opts.buffer + p->buffer_used, bytes, taken);
    p->buffer_used += taken;
}

static void collect(struct vt_parser *p, uint32_t point)
{
    struct vt_sequence *s = &p->sequence;

    if (s->intermediate_count == VT_INTERMEDIATES_MAX)
        p->sequence_refused = true;
    else
        s->intermediates[s->intermediate_count++] = (uint8_t)point;
}

static void param_add(struct vt_sequence *s)
{
    if (s->param_count == VT_PARAMS_MAX) {
        s->params_lost = true;
        return;
    }
    s->params[s->param_count++] = 0;
}

static void param(struct vt_parser *p, uint32_t point)
{
    struct vt_sequence *s = &p->sequence;
    uint32_t value;

    if (s->param_count == 0) param_add(s);
    if (s->params_lost) return;
    if (point == ':' || point == ';') {
        param_add(s);
        if (point == ':' && !s->params_lost) s->colons |= UINT32_C(1) << (s->param_count - 1);
        return;
    }
    value = 10 * (uint32_t)s->params[s->param_count - 1] + (point - '0');
    s->params[s->param_count - 1] =
        (uint16_t)(value > VT_PARAM_VALUE_MAX ? VT_PARAM_VALUE_MAX : value);
    s->given |= UINT32_C(1) << (s->param_count - 1);
}

static void string_open(struct vt_parser *p, uint32_t opener)
{
    static const uint8_t kinds[] = {
        ['X' - 'X'] = VT_SOS, [']' - 'X'] = VT_OSC, ['^' - 'X'] = VT_PM, ['_' - 'X'] = VT_APC};

    p->string_kind = kinds[opener - 'X'];
    p->string_nbytes = 0;
    p->string_cut = false;
    p->buffer_used = 0;
}

/* On the way out of a state. */
static void leave(struct vt_parser *p, uint8_t state, bool canceled)
{
    const struct vt_actions *actions = p->opts.actions;

    if (state == VT_DCS_PASSTHROUGH) {
        actions->dcs_unhook(p->opts.arg, p->string_nbytes, canceled);
    } else if ((state == VT_OSC_STRING || state == VT_STRING) && !canceled) {
        actions->string(p->opts.arg, (enum vt_string)p->string_kind, p->opts.buffer, p->buffer_used,
                        p->string_nbytes);
    }
}

/* On the way into a state, by the code point `point`. */
static void enter(struct vt_parser *p, uint8_t state, uint32_t point)
{
    if (state == VT_ESCAPE || state == VT_CSI_ENTRY || state == VT_DCS_ENTRY)
        sequence_clear(p);
    else if (state == VT_OSC_STRING || state == VT_STRING)
        string_open(p, point);
}

static void dispatch(struct vt_parser *p, uint8_t action, uint32_t point)
{
    const struct vt_actions *actions = p->opts.actions;

    p->sequence.final = (uint8_t)point;
    if (action == VT_HOOK) {
        p->string_nbytes = 0;
        p->string_cut = false;
        actions->dcs_hook(p->opts.arg, &p->sequence);
    } else if (action == VT_DISPATCH_CSI) {
        actions->csi(p->opts.arg, &p->sequence);
    } else {
        actions->esc(p->opts.arg, &p->sequence);
    }
}

static void act(struct vt_parser *p, uint8_t action, uint32_t point)
{
    char bytes[4];

    switch (action) {
    case VT_PRINT:
        print(p, bytes, utf8_encode(point, bytes));
        break;
    case VT_EXECUTE:
        p->opts.actions->execute(p->opts.arg, (uint8_t)point);
        break;
    case VT_COLLECT:
        collect(p, point);
        break;
    case VT_MARK:
        p->sequence.marker = (uint8_t)point;
        break;
    case VT_PARAM:
        param(p, point);
        break;
    case VT_PUT:
        put(p, bytes, utf8_encode(point, bytes), false);
        break;
    case VT_APPEND:
        append(p, bytes, utf8_encode(point, bytes), false);
        break;
    default:
        break;
    }
}

static void accept(struct vt_parser *p, uint32_t point)
{
    uint8_t class = point < 0xA0 ? vt_classes[point] : VT_CLASS_TEXT;
    uint8_t from = p->state;
    struct vt_transition to = vt_table[from][class];

    if (to.action == VT_C1) {
        accept(p, 0x1B);
        accept(p, point - 0x40);
        return;
    }
    p->state = to.next;
    if (from != to.next) {
        leave(p, from, class == VT_CLASS_CANCEL);
        enter(p, to.next, point);
    }
    if (to.action == VT_DISPATCH_ESC || to.action == VT_DISPATCH_CSI || to.action == VT_HOOK) {
        if (!p->sequence_refused)
            dispatch(p, to.action, point);
        else if (to.action == VT_HOOK)
            p->state = VT_DCS_IGNORE;
    } else {
        act(p, to.action, point);
    }
}

/* ---- bytes ---- */

static void step(struct vt_parser *p, uint8_t byte);

/* The first byte of a character beyond ASCII. */
static void utf8_begin(struct vt_parser *p, uint8_t byte)
{
    if (byte < 0xC2 || byte > 0xF4) {
        accept(p, REPLACEMENT);
        return;
    }
    p->utf8_needed = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    p->utf8_point = byte & (0x3Fu >> p->utf8_needed);
    p->utf8_low = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;
    p->utf8_high = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;
}

static void utf8_continue(struct vt_parser *p, uint8_t byte)
{
    if (byte < p->utf8_low || byte > p->utf8_high) {
        p->utf8_needed = 0;
        accept(p, REPLACEMENT);
        step(p, byte);
        return;
    }
    p->utf8_low = 0x80;
    p->utf8_high = 0xBF;
    p->utf8_point = p->utf8_point << 6 | (byte & 0x3F);
    if (--p->utf8_needed == 0) accept(p, p->utf8_point);
}

static void step(struct vt_parser *p, uint8_t byte)
{
    if (p->utf8_needed > 0)
        utf8_continue(p, byte);
    else if (byte < 0x80 || p->opts.eight_bit)
        accept(p, byte);
    else
        utf8_begin(p, byte);
}

/* Number of leading bytes from 0x20 to 0x7E. */
static size_t ascii_run(const uint8_t *bytes, size_t nbytes)
{
    size_t at = 0;

    for (; nbytes - at >= 8; at += 8) {
        uint64_t word;

        /* No byte carries into the next unless one is 0x80 or above, which ends the run anyway. */
        memcpy(&word, bytes + at, sizeof word);
        if ((((word + EACH(0x60)) & ~(word + EACH(0x01)) & ~word) & EACH(0x80)) != EACH(0x80))
            break;
    }
    while (at < nbytes && bytes[at] >= 0x20 && bytes[at] < 0x7F)
        at++;
    return at;
}

/* Number of leading bytes that are whole printable characters. */
static size_t text_run(const struct vt_parser *p, const uint8_t *bytes, size_t nbytes)
{
    size_t at = ascii_run(bytes, nbytes);

    while (at < nbytes && bytes[at] >= 0xC2 && !p->opts.eight_bit) {
        size_t character = utf8_character(bytes + at, nbytes - at);

        if (character == 0 || (bytes[at] == 0xC2 && bytes[at + 1] < 0xA0)) break;
        at += character;
        if (at < nbytes && bytes[at] < 0x80) at += ascii_run(bytes + at, nbytes - at);
    }
    return at;
}

/* Deals with what can be passed on as it lies, and returns its length; 0: nothing can. */
static size_t pass_on(struct vt_parser *p, const uint8_t *bytes, size_t nbytes)
{
    size_t run;

    switch (p->state) {
    case VT_GROUND:
    case VT_PLAIN:
        run = text_run(p, bytes, nbytes);
        if (run > 0) print(p, (const char *)bytes, run);
        return run;
    case VT_DCS_PASSTHROUGH:
        run = ascii_run(bytes, nbytes);
        if (run > 0) put(p, (const char *)bytes, run, true);
        return run;
    case VT_OSC_STRING:
    case VT_STRING:
        run = ascii_run(bytes, nbytes);
        if (run > 0) append(p, (const char *)bytes, run, true);
        return run;
    default:
        return 0;
    }
}

void vt_parser_feed(struct vt_parser *parser, const void *bytes, size_t nbytes)
{
    const uint8_t *at = bytes, *end = nbytes > 0 ? at + nbytes : at;

    while (at < end) {
        size_t run = parser->utf8_needed > 0 ? 0 : pass_on(parser, at, (size_t)(end - at));

        if (run > 0)
            at += run;
        else
            step(parser, *at++);
    }
}

void vt_parser_finish(struct vt_parser *parser)
{
    if (parser->utf8_needed > 0) {
        parser->utf8_needed = 0;
        accept(parser, REPLACEMENT);
    }
    leave(parser, parser->state, true);
    parser->state = first_state(parser);
}
