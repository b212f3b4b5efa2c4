/* payload_decode.c - a payload as rows in a builder: strict and total.
 *
 * A payload is accepted only if payload_encode would write the very same bytes for its rows: tables
 * only where needed, styles and links distinct and in the order of their first use, no style token
 * without effect, every shape one that the rule needs. The text is copied 16 bytes at a time up
 * to the next control byte; what that cannot show (UTF-8, clusters, columns) is measured row by row
 * afterwards, and for rows of plain ASCII there is nothing to measure.
 *
 * Memory: numbers that ask for it are compared with the bytes that are left first. */
#include "history/payload.h"

#include <string.h>

#include "base/utf8.h"
#include "history/span.h"
#include "history/width.h"

struct decoding {
    struct reader r;
    struct builder *b;
    uint32_t rows;
    uint32_t flags;
    uint32_t style_count;                 /* in the dictionary */
    uint32_t styles_seen;                 /* used so far */
    uint32_t wrap_nbytes[BLOCK_ROWS_MAX]; /* text of soft rows */
    uint16_t end_gaps[BLOCK_ROWS_MAX];    /* columns behind the end */
};

static bool get_colour(struct reader *r, uint32_t *colour)
{
    uint8_t kind = reader_u8(r);

    if (kind == 1)
        *colour = PAUA_HISTORY_INDEXED(reader_u8(r));
    else
        *colour = UINT32_C(0x02000000) | (uint32_t)reader_uint(r, 3);
    return kind == 1 || kind == 2;
}

/* Next number, at most max; anything else ends the reading. */
static uint32_t get_number(struct reader *r, uint32_t max)
{
    uint64_t value = reader_varint(r);

    if (value <= max) return (uint32_t)value;
    r->short_read = true;
    r->at = r->end;
    return 0;
}

static bool get_style(struct reader *r, paua_history_style *style)
{
    uint8_t has = reader_u8(r);
    bool colours = true;

    *style = (paua_history_style){0};
    if (has == 0 || has > 31) return false;
    if (has & 1) colours &= get_colour(r, &style->foreground);
    if (has & 2) colours &= get_colour(r, &style->background);
    if (has & 4) colours &= get_colour(r, &style->underline_colour);
    if (has & 8) style->attributes = reader_u16(r);
    if (has & 16) style->link = (uint16_t)get_number(r, UINT16_MAX);
    if (r->short_read || !colours) return false;
    if ((has & 8 && style->attributes == 0) || (has & 16 && style->link == 0)) return false;
    return builder_style_valid(style);
}

/* Styles and links are all new to the builder: a known one is a duplicate. */
static paua_status get_styles(struct decoding *d, uint32_t *link_count)
{
    *link_count = 0;
    d->style_count = get_number(&d->r, UINT16_MAX);
    if (d->style_count > reader_left(&d->r)) return PAUA_ECORRUPT;
    for (uint32_t i = 1; i <= d->style_count; i++) {
        paua_history_style style;
        int32_t id;

        if (!get_style(&d->r, &style)) return PAUA_ECORRUPT;
        if (style.link > *link_count + 1) return PAUA_ECORRUPT;
        if (style.link > *link_count) *link_count = style.link;
        id = builder_style(d->b, &style);
        if (id < 0) return PAUA_ENOMEM;
        if ((uint32_t)id != i) return PAUA_ECORRUPT;
    }
    return PAUA_OK;
}

static paua_status get_links(struct decoding *d, uint32_t used)
{
    uint32_t count = get_number(&d->r, UINT16_MAX);

    if (count != used) return PAUA_ECORRUPT;
    for (uint32_t i = 1; i <= count; i++) {
        paua_history_link link = {0};
        int32_t id;

        link.id_nbytes = get_number(&d->r, PAUA_HISTORY_LINK_NBYTES_MAX);
        link.id = (const char *)reader_bytes(&d->r, link.id_nbytes);
        link.uri_nbytes = get_number(&d->r, PAUA_HISTORY_LINK_NBYTES_MAX);
        link.uri = (const char *)reader_bytes(&d->r, link.uri_nbytes);
        if (d->r.short_read || link.uri_nbytes == 0) return PAUA_ECORRUPT;
        if (!width_text_valid(link.id, link.id_nbytes) ||
            !width_text_valid(link.uri, link.uri_nbytes))
            return PAUA_ECORRUPT;
        id = builder_link(d->b, &link);
        if (id < 0) return PAUA_ENOMEM;
        if ((uint32_t)id != i) return PAUA_ECORRUPT;
    }
    return PAUA_OK;
}

/* Ids and times: steps from row to row, their sums within 32 bits. Slots have ids without gaps. */
static bool get_steps(struct decoding *d, uint64_t first_id, int64_t first_time)
{
    struct slot *slots = d->b->slots;
    uint64_t ids = d->rows - 1, times = 0;

    if (d->flags & PAYLOAD_IDS) {
        ids = 0;
        for (uint32_t i = 1; i < d->rows; i++) {
            ids += (uint64_t)get_number(&d->r, UINT32_MAX) + 1;
            if (ids > UINT32_MAX) return false;
            slots[i].id_step = (uint32_t)ids;
        }
        if (ids == d->rows - 1) return false;
    }
    if (ids >= UINT64_MAX - first_id) return false;
    if (!(d->flags & PAYLOAD_TIMES)) return true;
    for (uint32_t i = 1; i < d->rows; i++) {
        times += get_number(&d->r, UINT32_MAX);
        if (times > UINT32_MAX || (uint64_t)(INT64_MAX - first_time) < times) return false;
        slots[i].time_step = (uint32_t)times;
    }
    return times > 0 && first_time != 0;
}

static bool get_wraps(struct decoding *d)
{
    const uint8_t *bits;
    bool any = false;

    if (!(d->flags & PAYLOAD_WRAPS)) return true;
    bits = reader_bytes(&d->r, (d->rows + 7) / 8);
    if (bits == NULL) return false;
    if (d->rows % 8 != 0 && bits[d->rows / 8] >> d->rows % 8 != 0) return false;
    for (uint32_t i = 0; i < d->rows; i++) {
        d->b->slots[i].soft = bits[i / 8] >> i % 8 & 1;
        any |= d->b->slots[i].soft != 0;
    }
    for (uint32_t i = 0; i < d->rows; i++)
        if (d->b->slots[i].soft) d->wrap_nbytes[i] = get_number(&d->r, PAUA_HISTORY_ROW_NBYTES_MAX);
    return any;
}

static paua_status get_shapes(struct decoding *d)
{
    uint32_t count, at = 0;

    if (!(d->flags & PAYLOAD_SHAPES)) return PAUA_OK;
    count = get_number(&d->r, UINT32_MAX);
    if (count == 0 || count > reader_left(&d->r) / 2) return PAUA_ECORRUPT;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t step = get_number(&d->r, PAUA_HISTORY_ROW_NBYTES_MAX);
        uint8_t byte = reader_u8(&d->r);

        if (d->r.short_read || (i > 0 && step == 0)) return PAUA_ECORRUPT;
        if (step > PAUA_HISTORY_ROW_NBYTES_MAX - at) return PAUA_ECORRUPT;
        at += step;
        if (!builder_push_shape(d->b, at, (byte & 0x7Fu) + 1, (byte >> 7) + 1u)) return PAUA_ENOMEM;
    }
    return PAUA_OK;
}

/* Everything before the text, into empty slots. */
static paua_status get_tables(struct decoding *d, uint32_t width, uint64_t first_id,
                              int64_t first_time)
{
    bool differ = false, gaps = false;

    if (!HEAP_GROW(d->b->heap, d->b->slots, d->b->slot_capacity, d->rows)) return PAUA_ENOMEM;
    d->b->slot_count = d->rows;
    for (uint32_t i = 0; i < d->rows; i++) {
        struct slot *slot = &d->b->slots[i];

        *slot = (struct slot){.id_step = i, .width = (uint16_t)width};
        if (i > 0 && d->flags & PAYLOAD_WIDTHS)
            slot->width = (uint16_t)get_number(&d->r, PAUA_HISTORY_COLUMNS_MAX);
        if (slot->width == 0) return PAUA_ECORRUPT;
        differ |= slot->width != width;
    }
    if (differ != ((d->flags & PAYLOAD_WIDTHS) != 0)) return PAUA_ECORRUPT;
    for (uint32_t i = 0; i < d->rows && d->flags & PAYLOAD_ENDS; i++) {
        d->end_gaps[i] = (uint16_t)get_number(&d->r, PAUA_HISTORY_COLUMNS_MAX);
        gaps |= d->end_gaps[i] > 0;
    }
    if (gaps != ((d->flags & PAYLOAD_ENDS) != 0)) return PAUA_ECORRUPT;
    if (!get_steps(d, first_id, first_time) || !get_wraps(d)) return PAUA_ECORRUPT;
    return get_shapes(d);
}

/* ---- text ---- */

/* A token: the next style, which has to be another one and to be used. */
static bool get_token(struct decoding *d, uint8_t byte, uint32_t *style)
{
    uint32_t next;

    if (byte >= PAYLOAD_STYLE_NEAR && byte < PAYLOAD_STYLE_NEAR + PAYLOAD_NEAR_STYLES)
        next = byte - PAYLOAD_STYLE_NEAR;
    else if (byte == PAYLOAD_STYLE_FAR)
        next = get_number(&d->r, UINT16_MAX - PAYLOAD_NEAR_STYLES) + PAYLOAD_NEAR_STYLES;
    else
        return false;
    if (d->r.short_read || next == *style || next > d->styles_seen + 1 || next > d->style_count)
        return false;
    if (next > d->styles_seen) d->styles_seen = next;
    *style = next;
    return d->r.at < d->r.end && *d->r.at >= 0x20;
}

/* The text of one row. *style goes on from row to row within a line. */
static paua_status get_row(struct decoding *d, uint32_t row, uint32_t *style)
{
    struct builder *b = d->b;
    struct slot *slot = &b->slots[row];
    size_t begin = b->text_nbytes, run_begin = b->run_count;
    size_t want = slot->soft ? d->wrap_nbytes[row] : SIZE_MAX;

    while (b->text_nbytes - begin < want) {
        size_t left = want - (b->text_nbytes - begin);
        size_t span = span_copy(d->r.at, d->r.end, left, b->text + b->text_nbytes);
        uint8_t byte;

        if (span > 0 && !builder_push_run(b, run_begin, span, *style)) return PAUA_ENOMEM;
        b->text_nbytes += span;
        d->r.at += span;
        if (span == left) break;
        byte = reader_u8(&d->r);
        if (d->r.short_read) return PAUA_ECORRUPT;
        if (byte == PAYLOAD_LINE_END && !slot->soft) break;
        if (!get_token(d, byte, style)) return PAUA_ECORRUPT;
    }
    builder_drop_default_runs(b, run_begin);
    slot->text_end = (uint32_t)b->text_nbytes;
    slot->run_end = (uint32_t)b->run_count;
    if (!slot->soft) *style = 0;
    return PAUA_OK;
}

/* Whether all text is valid: control bytes have ended spans of it already, but for DEL and C1. */
static bool text_valid(const struct builder *b)
{
    const uint8_t *text = (const uint8_t *)b->text;
    uint32_t controls = 0;

    for (size_t i = 0; i + 1 < b->text_nbytes; i++)
        controls |= (uint32_t)(text[i] == 0xC2) & (uint32_t)(text[i + 1] < 0xA0);
    return controls == 0 && utf8_valid_prefix(text, b->text_nbytes) == b->text_nbytes;
}

/* Clusters of a row of valid text: *columns is their sum; runs end where clusters do; shapes differ
 * from the rule, and all are met. False for text that cannot be. */
static bool measure(struct builder *b, size_t begin, const struct slot *slot, size_t run,
                    size_t *next_shape, uint32_t *columns)
{
    const uint8_t *text = (const uint8_t *)b->text;
    size_t at = begin, run_end = begin, end = slot->text_end;
    size_t shape_at = *next_shape < b->shape_count ? b->shapes[*next_shape].at : SIZE_MAX;
    uint32_t sum = 0;

    if (at < end && (text[at] & 0xC0) == 0x80) return false;
    while (at < end) {
        uint32_t nbytes = 1, width = 1;
        size_t plain = width_plain(b->text, at, shape_at < end ? shape_at : end, end);

        if (plain > 0) {
            at += plain;
            sum += (uint32_t)plain;
            continue;
        }
        if (text[at] >= 0x80 || (at + 1 < end && text[at + 1] >= 0x80))
            width = width_cluster(b->text + at, (uint32_t)(end - at), &nbytes);
        if (at == shape_at) {
            const shape *s = &b->shapes[(*next_shape)++];

            if (s->nbytes == nbytes && s->width == width) return false;
            if (s->nbytes > end - at) return false;
            if (at + s->nbytes < end && (text[at + s->nbytes] & 0xC0) == 0x80) return false;
            nbytes = s->nbytes;
            width = s->width;
            shape_at = *next_shape < b->shape_count ? b->shapes[*next_shape].at : SIZE_MAX;
        }
        while (run < slot->run_end && run_end <= at)
            run_end += b->runs[run++].nbytes;
        at += nbytes;
        if (run_end > at - nbytes && run_end < at) return false;
        sum += width;
    }
    *columns = sum;
    return true;
}

static bool measure_rows(struct decoding *d)
{
    struct builder *b = d->b;
    bool all_ascii = width_is_ascii(b->text, b->text_nbytes);
    size_t begin = 0, run = 0, next_shape = 0;

    if (!all_ascii && !text_valid(b)) return false;
    for (uint32_t i = 0; i < d->rows; i++) {
        struct slot *slot = &b->slots[i];
        uint32_t columns = slot->text_end - (uint32_t)begin;
        bool shaped = next_shape < b->shape_count && b->shapes[next_shape].at < slot->text_end;

        slot->ascii = !shaped && (all_ascii || width_is_ascii(b->text + begin, columns));
        if (!slot->ascii && !measure(b, begin, slot, run, &next_shape, &columns)) return false;
        if (columns > slot->width || d->end_gaps[i] > columns) return false;
        slot->columns = (uint16_t)columns;
        slot->end = (uint16_t)(columns - d->end_gaps[i]);
        begin = slot->text_end;
        run = slot->run_end;
    }
    return next_shape == b->shape_count;
}

static paua_status get_text(struct decoding *d)
{
    struct builder *b = d->b;
    uint32_t style = 0;

    if (!builder_text_room(b, reader_left(&d->r) + SPAN_STEP)) return PAUA_ENOMEM;
    for (uint32_t row = 0; row < d->rows; row++) {
        paua_status status = get_row(d, row, &style);

        if (status != PAUA_OK) return status;
    }
    if (reader_left(&d->r) != 0 || d->styles_seen != d->style_count) return PAUA_ECORRUPT;
    if (b->text_nbytes > 0 && memchr(b->text, 0x7F, b->text_nbytes) != NULL) return PAUA_ECORRUPT;
    return measure_rows(d) ? PAUA_OK : PAUA_ECORRUPT;
}

paua_status payload_decode(const void *bytes, size_t nbytes, uint32_t row_count, uint64_t first_id,
                           int64_t first_time, struct builder *b)
{
    struct decoding d = {.r = reader_over(bytes, nbytes), .b = b};
    uint32_t version = reader_u8(&d.r), width, link_count;
    paua_status status;

    assert(b->slot_count == 0);
    if (version > WIDTH_RULE_VERSION) return PAUA_EVERSION;
    d.flags = reader_u8(&d.r);
    d.rows = get_number(&d.r, BLOCK_ROWS_MAX);
    width = get_number(&d.r, PAUA_HISTORY_COLUMNS_MAX);
    if (d.r.short_read || version == 0 || (d.flags & ~PAYLOAD_FLAGS) != 0 || width == 0)
        return PAUA_ECORRUPT;
    if (d.rows == 0 || d.rows != row_count || first_id == 0) return PAUA_ECORRUPT;
    b->first_id = first_id;
    b->first_time = first_time;
    status = get_styles(&d, &link_count);
    if (status == PAUA_OK) status = get_links(&d, link_count);
    if (status == PAUA_OK) status = get_tables(&d, width, first_id, first_time);
    if (status == PAUA_OK) status = d.r.short_read ? PAUA_ECORRUPT : get_text(&d);
    if (status != PAUA_OK) return status;
    if (d.rows == 1 ? builder_last_row_nbytes(b) > PAUA_HISTORY_ROW_NBYTES_MAX
                    : builder_block_bound(b) > BLOCK_NBYTES_MAX &&
                          builder_block_nbytes(b) > BLOCK_NBYTES_MAX)
        return PAUA_ECORRUPT;
    return PAUA_OK;
}
