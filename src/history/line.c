/* line.c - joining rows.
 *
 * A line of one row, which most are, is that row where it lies. A longer one is copied together,
 * since its rows may be of different pages with dictionaries of their own: styles and links are
 * found again in the line's, a default style that the rows left out at their ends becomes a run
 * where the next row follows, and clusters stay as they were in their rows. */
#include "history/line.h"

#include <string.h>

#include "history/width.h"

void line_init(struct line *line, struct heap *heap)
{
    *line = (struct line){0};
    builder_init(&line->joined, heap);
}

void line_free(struct line *line)
{
    struct heap *heap = line->joined.heap;

    builder_free(&line->joined);
    HEAP_FREE_ARRAY(heap, line->styles, line->styles_capacity);
    HEAP_FREE_ARRAY(heap, line->links, line->links_capacity);
}

/* A row's style as the line's; -1 when out of memory. */
static int32_t line_style(struct builder *b, const paua_history_row *row, uint32_t index)
{
    paua_history_style style = row->styles[index];

    if (style.link > 0) {
        int32_t link = builder_link(b, &row->links[style.link - 1]);

        if (link < 0) return -1;
        style.link = (uint16_t)link;
    }
    return builder_style(b, &style);
}

static bool add_runs(struct builder *b, const paua_history_row *row)
{
    size_t styled = 0;

    for (uint32_t i = 0; i < row->run_count; i++) {
        int32_t style = line_style(b, row, row->runs[i].style);

        if (style < 0 || !builder_push_run(b, 0, row->runs[i].nbytes, (uint32_t)style))
            return false;
        styled += row->runs[i].nbytes;
    }
    return styled == row->text_nbytes || builder_push_run(b, 0, row->text_nbytes - styled, 0);
}

/* A row's last cluster ended with the row. Where what follows would join it by the rule, it gets a
 * shape. `follows` is the next row, whose text is behind b->text_nbytes already. */
static bool keep_last_cluster(struct line *line, const paua_history_row *follows)
{
    struct builder *b = &line->joined;
    size_t shape_count = b->shape_count - line->last_row_shapes;
    paua_history_row row = {.text = b->text + line->last_row_at,
                            .text_nbytes = (uint32_t)(b->text_nbytes - line->last_row_at),
                            .shapes = shape_count == 0 ? NULL : b->shapes + line->last_row_shapes,
                            .shape_count = (uint32_t)shape_count,
                            .shapes_at = (uint32_t)line->last_row_at};
    uint32_t at = 0, nbytes = 0, width = 0, by_rule;

    for (; at < row.text_nbytes; at += nbytes)
        width = paua_history_row_cluster(&row, at, &nbytes);
    at -= nbytes;
    if (width_cluster(row.text + at, nbytes + follows->text_nbytes, &by_rule) == width &&
        by_rule == nbytes)
        return true;
    if (row.shape_count > 0 && row.shapes[row.shape_count - 1].at == row.shapes_at + at)
        return true;
    return builder_push_shape(b, row.shapes_at + at, nbytes, width);
}

static bool add_row(struct line *line, const paua_history_row *row)
{
    struct builder *b = &line->joined;

    if (!builder_text_room(b, row->text_nbytes)) return false;
    if (row->text_nbytes > 0) memcpy(b->text + b->text_nbytes, row->text, row->text_nbytes);
    if (row->text_nbytes > 0 && (uint8_t)row->text[0] >= 0x80 &&
        b->text_nbytes > line->last_row_at && !keep_last_cluster(line, row))
        return false;
    if (row->text_nbytes > 0) line->last_row_shapes = b->shape_count;
    for (uint32_t i = 0; i < row->shape_count; i++)
        if (!builder_push_shape(b, row->shapes[i].at - row->shapes_at + b->text_nbytes,
                                row->shapes[i].nbytes, row->shapes[i].width))
            return false;
    if (!add_runs(b, row)) return false;
    if (row->text_nbytes > 0) line->last_row_at = b->text_nbytes;
    b->text_nbytes += row->text_nbytes;
    line->row.end = line->row.columns + row->end;
    line->row.columns += row->columns;
    line->row.soft = row->soft;
    line->count++;
    return true;
}

/* What was joined, as a row. */
static bool finish(struct line *line)
{
    struct builder *b = &line->joined;
    paua_history_row *row = &line->row;

    if (!HEAP_GROW(b->heap, line->styles, line->styles_capacity, b->style_count + 1) ||
        !HEAP_GROW(b->heap, line->links, line->links_capacity, b->link_count))
        return false;
    builder_drop_default_runs(b, 0);
    line->styles[0] = (paua_history_style){0};
    if (b->style_count > 0)
        memcpy(line->styles + 1, b->styles, b->style_count * sizeof b->styles[0]);
    for (size_t i = 0; i < b->link_count; i++) {
        const struct link_slot *slot = &b->links[i];

        line->links[i] = (paua_history_link){.id = b->strings + slot->at,
                                             .uri = b->strings + slot->at + slot->id_nbytes,
                                             .id_nbytes = slot->id_nbytes,
                                             .uri_nbytes = slot->uri_nbytes};
    }
    row->text = b->text_nbytes == 0 ? "" : b->text;
    row->text_nbytes = (uint32_t)b->text_nbytes;
    row->runs = b->runs;
    row->run_count = (uint32_t)b->run_count;
    row->styles = line->styles;
    row->style_count = (uint32_t)b->style_count + 1;
    row->links = line->links;
    row->link_count = (uint32_t)b->link_count;
    row->shapes = b->shapes;
    row->shape_count = (uint32_t)b->shape_count;
    row->shapes_at = 0;
    return true;
}

/* Rows from line->first on, of which there is more than one. */
static paua_status join(struct line *line, paua_history_view *v, uint64_t end)
{
    struct builder *b = &line->joined;
    paua_history_row row = line->row;

    builder_reset(b);
    line->last_row_at = line->last_row_shapes = 0;
    line->is_joined = true;
    line->count = 0;
    line->row = (paua_history_row){.id = row.id, .time_ms = row.time_ms, .width = row.width};
    for (uint64_t index = line->first;;) {
        paua_status status;

        if (!add_row(line, &row)) return PAUA_ENOMEM;
        if (!row.soft || ++index == end) break;
        status = view_pin(v, index, false);
        if (status == PAUA_ECORRUPT) break;
        if (status != PAUA_OK) return status;
        block_row(v->pin, view_row_in_pin(v, index), &row);
        if (b->text_nbytes + row.text_nbytes > LINE_NBYTES_MAX ||
            b->style_count + row.style_count > UINT16_MAX ||
            b->link_count + row.link_count > UINT16_MAX)
            break;
    }
    return finish(line) ? PAUA_OK : PAUA_ENOMEM;
}

paua_status line_read(struct line *line, paua_history_view *v, uint64_t first, uint64_t end)
{
    paua_status status = view_pin(v, first, false);

    assert(first < end && end <= v->row_count);
    line->first = first;
    line->is_joined = false;
    if (status == PAUA_ECORRUPT) {
        line->row = view_hole(v, first);
        if (line->row.damaged_rows > end - first) line->row.damaged_rows = end - first;
        line->count = line->row.damaged_rows;
        return PAUA_OK;
    }
    if (status != PAUA_OK) return status;
    block_row(v->pin, view_row_in_pin(v, first), &line->row);
    line->count = 1;
    return line->row.soft && first + 1 < end ? join(line, v, end) : PAUA_OK;
}

paua_status line_begin(paua_history_view *v, uint64_t index, uint64_t low, bool keep,
                       uint64_t *first)
{
    while (index > low) {
        bool soft;
        paua_status status = view_soft(v, index - 1, keep, &soft);

        if (status != PAUA_OK) return status;
        if (!soft) break;
        index--;
    }
    *first = index;
    return PAUA_OK;
}
