/* payload.c - a block as a payload.
 *
 * One block has one payload: tables are there only where rows need them, styles and links are
 * numbered by their first use, and unused ones left out. Style tokens stand inline because run
 * lengths repeat what the text already says: once compressed they cost 5 to 21 % more. */
#include "history/payload.h"

#include <string.h>

#include "history/width.h"

static void put_colour(struct writer *w, uint32_t colour)
{
    if (colour >> 24 == 1) {
        writer_u8(w, 1);
        writer_u8(w, (uint8_t)colour);
    } else {
        writer_u8(w, 2);
        writer_uint(w, colour & 0xFFFFFF, 3);
    }
}

static void put_style(struct writer *w, const paua_history_style *style, uint32_t link)
{
    uint8_t has = 0;

    if (style->foreground != 0) has |= 1;
    if (style->background != 0) has |= 2;
    if (style->underline_colour != 0) has |= 4;
    if (style->attributes != 0) has |= 8;
    if (link != 0) has |= 16;
    writer_u8(w, has);
    if (style->foreground != 0) put_colour(w, style->foreground);
    if (style->background != 0) put_colour(w, style->background);
    if (style->underline_colour != 0) put_colour(w, style->underline_colour);
    if (style->attributes != 0) writer_u16(w, style->attributes);
    if (link != 0) writer_varint(w, link);
}

/* Numbers styles and links by first use: ids[style], then ids of links behind. Writes both tables.
 * */
static void put_dictionaries(const struct block *b, uint32_t first, uint16_t *ids, struct writer *w)
{
    uint16_t *order = ids, *links = ids + b->style_count;
    uint32_t style_count = 0, link_count = 0;
    uint32_t run_begin = block_run_begin(b, first);

    memset(ids, 0, (b->style_count + b->link_count + 1) * sizeof *ids);
    for (uint32_t i = run_begin; i < b->run_count; i++)
        if (b->runs[i].style != 0 && order[b->runs[i].style] == 0)
            order[b->runs[i].style] = (uint16_t)++style_count;
    writer_varint(w, style_count);
    for (uint32_t i = run_begin, seen = 0; seen < style_count; i++) {
        const paua_history_style *style = &b->styles[b->runs[i].style];

        if (order[b->runs[i].style] != seen + 1) continue;
        seen++;
        if (style->link != 0 && links[style->link] == 0)
            links[style->link] = (uint16_t)++link_count;
        put_style(w, style, style->link == 0 ? 0 : links[style->link]);
    }
    writer_varint(w, link_count);
    for (uint32_t i = run_begin, seen = 0; seen < link_count; i++) {
        uint32_t link = b->styles[b->runs[i].style].link;

        if (link == 0 || links[link] != seen + 1) continue;
        seen++;
        writer_varint(w, b->links[link - 1].id_nbytes);
        writer_bytes(w, b->links[link - 1].id, b->links[link - 1].id_nbytes);
        writer_varint(w, b->links[link - 1].uri_nbytes);
        writer_bytes(w, b->links[link - 1].uri, b->links[link - 1].uri_nbytes);
    }
}

/* Which tables the rows from `first` on need. */
static uint8_t needed(const struct block *b, uint32_t first, uint32_t shape_count)
{
    uint8_t flags = shape_count > 0 ? PAYLOAD_SHAPES : 0;

    for (uint32_t row = first; row < b->row_count; row++) {
        if (block_width(b, row) != block_width(b, first)) flags |= PAYLOAD_WIDTHS;
        if (b->ends != NULL && b->ends[row] != block_columns(b, row)) flags |= PAYLOAD_ENDS;
        if (block_id(b, row) != block_id(b, first) + (row - first)) flags |= PAYLOAD_IDS;
        if (block_time(b, row) != block_time(b, first)) flags |= PAYLOAD_TIMES;
        if (block_soft(b, row)) flags |= PAYLOAD_WRAPS;
    }
    return flags;
}

static void put_wraps(const struct block *b, uint32_t first, struct writer *w)
{
    uint8_t bits[BLOCK_ROWS_MAX / 8] = {0};

    for (uint32_t row = first; row < b->row_count; row++)
        if (block_soft(b, row))
            bits[(row - first) / 8] = (uint8_t)(bits[(row - first) / 8] | 1u << (row - first) % 8);
    writer_bytes(w, bits, (b->row_count - first + 7) / 8);
    for (uint32_t row = first; row < b->row_count; row++)
        if (block_soft(b, row)) writer_varint(w, block_text_end(b, row) - block_text_begin(b, row));
}

static void put_tables(const struct block *b, uint32_t first, uint32_t first_shape, uint8_t flags,
                       struct writer *w)
{
    for (uint32_t row = first + 1; row < b->row_count && (flags & PAYLOAD_WIDTHS); row++)
        writer_varint(w, block_width(b, row));
    for (uint32_t row = first; row < b->row_count && (flags & PAYLOAD_ENDS); row++)
        writer_varint(w, block_columns(b, row) - b->ends[row]);
    for (uint32_t row = first + 1; row < b->row_count && (flags & PAYLOAD_IDS); row++)
        writer_varint(w, block_id(b, row) - block_id(b, row - 1) - 1);
    for (uint32_t row = first + 1; row < b->row_count && (flags & PAYLOAD_TIMES); row++)
        writer_varint(w, (uint64_t)(block_time(b, row) - block_time(b, row - 1)));
    if (flags & PAYLOAD_WRAPS) put_wraps(b, first, w);
    if (flags & PAYLOAD_SHAPES) {
        uint32_t at = block_text_begin(b, first);

        writer_varint(w, b->shape_count - first_shape);
        for (uint32_t i = first_shape; i < b->shape_count; at = b->shapes[i++].at) {
            const shape *s = &b->shapes[i];

            writer_varint(w, s->at - at);
            writer_u8(w, (uint8_t)((s->nbytes - 1u) | (s->width - 1u) << 7));
        }
    }
}

static void put_style_token(uint32_t style, struct writer *w)
{
    if (style < PAYLOAD_NEAR_STYLES) {
        writer_u8(w, (uint8_t)(PAYLOAD_STYLE_NEAR + style));
    } else {
        writer_u8(w, PAYLOAD_STYLE_FAR);
        writer_varint(w, style - PAYLOAD_NEAR_STYLES);
    }
}

/* One row's text; *style is what the text before it had, and becomes what it ends with. */
static void put_row(const struct block *b, uint32_t row, const uint16_t *ids, uint32_t *style,
                    struct writer *w)
{
    uint32_t at = block_text_begin(b, row), end = block_text_end(b, row);

    for (uint32_t i = block_run_begin(b, row); i < block_run_end(b, row); i++) {
        uint32_t next = ids[b->runs[i].style];

        if (next != *style) put_style_token(next, w);
        *style = next;
        writer_bytes(w, b->text + at, b->runs[i].nbytes);
        at += b->runs[i].nbytes;
    }
    if (at == end) return;
    if (*style != 0) put_style_token(0, w);
    *style = 0;
    writer_bytes(w, b->text + at, end - at);
}

void payload_encode(const struct block *b, uint32_t first, uint16_t *ids, struct writer *w)
{
    uint32_t first_shape = 0, style = 0;
    uint8_t flags;

    assert(first < b->row_count);
    while (first_shape < b->shape_count && b->shapes[first_shape].at < block_text_begin(b, first))
        first_shape++;
    flags = needed(b, first, b->shape_count - first_shape);
    writer_u8(w, WIDTH_RULE_VERSION);
    writer_u8(w, flags);
    writer_varint(w, b->row_count - first);
    writer_varint(w, block_width(b, first));
    put_dictionaries(b, first, ids, w);
    put_tables(b, first, first_shape, flags, w);
    for (uint32_t row = first; row < b->row_count; row++) {
        put_row(b, row, ids, &style, w);
        if (block_soft(b, row)) continue;
        writer_u8(w, PAYLOAD_LINE_END);
        style = 0;
    }
}
