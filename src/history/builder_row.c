/* builder_row.c - one row into a builder: from cells, or from text and runs.
 *
 * Everything that a caller can get wrong is checked here, while the row is written behind what is
 * already there; a failure undoes it by the mark. Cells of plain ASCII in one style go through one
 * short loop. Whatever else a row has sets `special`, and the row is then walked once more with the
 * clusters as given beside the clusters as the rule would cut them: where the two differ, the
 * builder gets a shape. */
#include "history/builder.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "history/width.h"

#define COLOUR_KIND(colour) ((colour) >> 24)
#define ATTRIBUTES_MASK (0x01FFu | PAUA_HISTORY_UNDERLINE_MASK)

struct intake {
    struct builder *b;
    const paua_history_new_row *row;
    paua_error *err;
    size_t text_begin;
    size_t run_begin;
    size_t memo_index; /* of the style looked up last; SIZE_MAX: none */
    uint32_t memo_id;
    uint32_t columns; /* written so far */
    bool special;
};

static paua_status refuse(const struct intake *in, const char *what)
{
    return error_set(in->err, PAUA_EINVAL, "%s", what);
}

static bool colour_valid(uint32_t colour)
{
    if (COLOUR_KIND(colour) == 0) return colour == 0;
    if (COLOUR_KIND(colour) == 1) return (colour & 0xFFFFFF) < 256;
    return COLOUR_KIND(colour) == 2;
}

bool builder_style_valid(const paua_history_style *style)
{
    return colour_valid(style->foreground) && colour_valid(style->background) &&
           colour_valid(style->underline_colour) && (style->attributes & ~ATTRIBUTES_MASK) == 0 &&
           (style->attributes & PAUA_HISTORY_UNDERLINE_MASK) <= PAUA_HISTORY_UNDERLINE_DASHED;
}

static paua_status settle_link(struct intake *in, paua_history_style *style)
{
    const paua_history_link *link;
    int32_t id;

    if (style->link == 0) return PAUA_OK;
    if (style->link > in->row->link_count) return refuse(in, "a style's link is not in links");
    link = &in->row->links[style->link - 1];
    if (link->uri_nbytes == 0 || link->uri_nbytes > PAUA_HISTORY_LINK_NBYTES_MAX ||
        link->id_nbytes > PAUA_HISTORY_LINK_NBYTES_MAX)
        return refuse(in, "a link's URI has 1 to 4096 bytes, its id at most 4096");
    if (!width_text_valid(link->uri, link->uri_nbytes) ||
        (link->id_nbytes > 0 && !width_text_valid(link->id, link->id_nbytes)))
        return refuse(in, "a link is not UTF-8, or has a control character");
    id = builder_link(in->b, link);
    if (id < 0) return error_set_nomem(in->err);
    style->link = (uint16_t)id;
    return PAUA_OK;
}

/* The builder's id of the caller's style `index`. */
static paua_status settle_style(struct intake *in, size_t index, uint32_t *id)
{
    paua_history_style style = {0};
    paua_status status;
    int32_t found = 0;

    if (index == in->memo_index) {
        *id = in->memo_id;
        return PAUA_OK;
    }
    if (in->row->style_count > 0 || index > 0) {
        if (index >= in->row->style_count) return refuse(in, "a style is not in styles");
        style = in->row->styles[index];
        if (!builder_style_valid(&style))
            return refuse(in, "a style has a colour or attribute of no kind");
        status = settle_link(in, &style);
        if (status != PAUA_OK) return status;
        found = builder_style(in->b, &style);
        if (found < 0) return error_set_nomem(in->err);
    }
    in->memo_index = index;
    in->memo_id = *id = (uint32_t)found;
    return PAUA_OK;
}

static bool index_is_default(const paua_history_new_row *row, size_t index)
{
    static const paua_history_style plain;

    if (index >= row->style_count) return index == 0; /* beyond: refused when it is reached */
    return memcmp(&row->styles[index], &plain, sizeof plain) == 0;
}

/* ---- cells ---- */

/* Columns up to the last cell that is not a default blank. */
static uint32_t cells_extent(const paua_history_new_row *row)
{
    uint32_t extent = row->cell_count;
    size_t plain_index = SIZE_MAX;

    while (extent > 0) {
        const paua_history_cell *c = &row->cells[extent - 1];

        if (c->width != 1 || c->text_nbytes != 0 || (c->codepoint != 0 && c->codepoint != ' '))
            break;
        if (c->style != plain_index) {
            if (!index_is_default(row, c->style)) break;
            plain_index = c->style;
        }
        extent--;
    }
    return extent;
}

/* Length of a special cell's cluster; 0 after a refusal. */
static uint32_t special_cell(struct intake *in, const paua_history_cell *c, char *to,
                             paua_status *status)
{
    const paua_history_new_row *row = in->row;

    *status = PAUA_EINVAL;
    if (c->text_nbytes > 0) {
        if (c->text_nbytes > PAUA_HISTORY_CLUSTER_NBYTES_MAX || c->text_at > row->text_nbytes ||
            c->text_nbytes > row->text_nbytes - c->text_at) {
            refuse(in, "a cluster is over 128 bytes or outside the text");
            return 0;
        }
        memcpy(to, row->text + c->text_at, c->text_nbytes);
        if (!width_text_valid(to, c->text_nbytes)) {
            refuse(in, "a cluster is not UTF-8, or has a control character");
            return 0;
        }
        *status = PAUA_OK;
        return c->text_nbytes;
    }
    if (c->codepoint > 0x10FFFF || (c->codepoint >= 0xD800 && c->codepoint < 0xE000) ||
        (c->codepoint != 0 && width_is_control(c->codepoint))) {
        refuse(in, "a cell's code point is a control character or none of Unicode");
        return 0;
    }
    *status = PAUA_OK;
    return utf8_encode(c->codepoint == 0 ? ' ' : c->codepoint, to);
}

/* Cells from `at` on that are one printable ASCII character in the given style, copied to `to`. */
static uint32_t copy_plain(const paua_history_cell *cells, uint32_t at, uint32_t end,
                           uint16_t style, char *to)
{
    uint32_t first = at;

    for (; at < end; at++) {
        const paua_history_cell *c = &cells[at];
        uint32_t point = c->codepoint == 0 ? ' ' : c->codepoint;

        if (point - 0x20 >= 0x5F || c->style != style || c->text_nbytes != 0 || c->width != 1)
            break;
        to[at - first] = (char)point;
    }
    return at - first;
}

/* One cell that is not plain, and its right half. */
static paua_status take_special(struct intake *in, uint32_t at, uint32_t extent, uint32_t style)
{
    const paua_history_cell *c = &in->row->cells[at];
    struct builder *b = in->b;
    paua_status status;
    uint32_t nbytes;

    if (c->width != 1 && c->width != 2) return refuse(in, "a right half without a left one");
    if (c->width == 2 && (at + 1 == extent || in->row->cells[at + 1].width != 0))
        return refuse(in, "a wide cell without its right half");
    if (!builder_text_room(b, PAUA_HISTORY_CLUSTER_NBYTES_MAX)) return error_set_nomem(in->err);
    nbytes = special_cell(in, c, b->text + b->text_nbytes, &status);
    if (status != PAUA_OK) return status;
    if (!builder_push_run(b, in->run_begin, nbytes, style)) return error_set_nomem(in->err);
    b->text_nbytes += nbytes;
    in->special = true;
    in->columns += c->width;
    return PAUA_OK;
}

static paua_status take_cells(struct intake *in, uint32_t extent)
{
    const paua_history_cell *cells = in->row->cells;
    struct builder *b = in->b;
    uint32_t at = 0, style = 0;

    while (at < extent) {
        paua_status status = settle_style(in, cells[at].style, &style);
        uint32_t plain;

        if (status != PAUA_OK) return status;
        if (!builder_text_room(b, extent - at)) return error_set_nomem(in->err);
        plain = copy_plain(cells, at, extent, cells[at].style, b->text + b->text_nbytes);
        if (plain > 0) {
            if (!builder_push_run(b, in->run_begin, plain, style)) return error_set_nomem(in->err);
            b->text_nbytes += plain;
            in->columns += plain;
            at += plain;
            continue;
        }
        status = take_special(in, at, extent, style);
        if (status != PAUA_OK) return status;
        at += cells[at].width;
    }
    return PAUA_OK;
}

/* Shapes of the cells that the rule would not cut as they are. */
static bool shape_cells(struct intake *in, uint32_t extent)
{
    struct builder *b = in->b;
    size_t at = in->text_begin;
    char unused[4];

    for (uint32_t i = 0; i < extent; i++) {
        const paua_history_cell *c = &in->row->cells[i];
        uint32_t nbytes = c->text_nbytes, by_rule, width;

        if (c->width == 0) continue;
        if (nbytes == 0) nbytes = c->codepoint < 0x80 ? 1 : utf8_encode(c->codepoint, unused);
        width = width_cluster(b->text + at, (uint32_t)(b->text_nbytes - at), &by_rule);
        if ((by_rule != nbytes || width != c->width) &&
            !builder_push_shape(b, at, nbytes, c->width))
            return false;
        at += nbytes;
    }
    assert(at == b->text_nbytes);
    return true;
}

/* ---- text ---- */

/* Where the caller's runs are while text is walked. */
struct run_cursor {
    size_t next;
    size_t left; /* bytes of the run before `next` not yet passed */
    size_t style;
};

static void run_cursor_pass(struct run_cursor *at, const paua_history_new_row *row, size_t nbytes)
{
    while (nbytes >= at->left) {
        nbytes -= at->left;
        if (at->next == row->run_count) {
            at->left = SIZE_MAX;
            at->style = SIZE_MAX; /* past all runs: the default */
            return;
        }
        at->left = row->runs[at->next].nbytes;
        at->style = row->runs[at->next++].style;
    }
    at->left -= nbytes;
}

/* Runs and columns of text, ASCII by stretches of one style, other text by clusters. */
static paua_status take_text(struct intake *in, bool ascii)
{
    const paua_history_new_row *row = in->row;
    struct run_cursor cursor = {0};
    size_t at = 0;

    run_cursor_pass(&cursor, row, 0);
    while (at < row->text_nbytes) {
        uint32_t nbytes, width, style = 0;

        if (cursor.style != SIZE_MAX) {
            paua_status status = settle_style(in, cursor.style, &style);

            if (status != PAUA_OK) return status;
        }
        if (ascii) {
            size_t left = row->text_nbytes - at;

            nbytes = width = (uint32_t)(left < cursor.left ? left : cursor.left);
        } else {
            width = width_cluster(row->text + at, (uint32_t)(row->text_nbytes - at), &nbytes);
        }
        if (!builder_push_run(in->b, in->run_begin, nbytes, style)) return error_set_nomem(in->err);
        in->columns += width;
        at += nbytes;
        run_cursor_pass(&cursor, row, nbytes);
    }
    return PAUA_OK;
}

/* A cluster of text that had to be cut at 128 bytes begins anew with what joins it. */
static bool clusters_within_limit(const char *text, size_t nbytes)
{
    for (size_t at = 0; at < nbytes;) {
        uint32_t step, unused;

        width_cluster(text + at, (uint32_t)(nbytes - at), &step);
        at += step;
        if (step > PAUA_HISTORY_CLUSTER_NBYTES_MAX - 4 && at < nbytes &&
            width_of(width_decode(text + at, &unused)) == 0)
            return false;
    }
    return true;
}

/* Bytes of the row's text without its default blanks at the end; runs are settled. A space is a
 * cluster of its own wherever it stands. */
static size_t text_kept(const struct intake *in)
{
    const paua_history_new_row *row = in->row;
    size_t kept = row->text_nbytes, styled = 0;

    for (size_t i = in->run_begin; i < in->b->run_count; i++)
        styled += in->b->runs[i].nbytes;
    while (kept > styled && row->text[kept - 1] == ' ')
        kept--;
    return kept;
}

/* Stores the columns of all the text that was given. */
static paua_status append_text(struct intake *in, uint32_t *extent)
{
    const paua_history_new_row *row = in->row;
    struct builder *b = in->b;
    paua_status status;
    size_t kept;

    *extent = 0;
    if (row->text_nbytes == 0) return PAUA_OK;
    if (row->text_nbytes > PAUA_HISTORY_ROW_NBYTES_MAX)
        return refuse(in, "a row has at most 1 MiB of text");
    if (!width_text_valid(row->text, row->text_nbytes))
        return refuse(in, "the text is not UTF-8, or has a control character");
    in->special = !width_is_ascii(row->text, row->text_nbytes);
    if (in->special && !clusters_within_limit(row->text, row->text_nbytes))
        return refuse(in, "a cluster has more than 128 bytes");
    status = take_text(in, !in->special);
    if (status != PAUA_OK) return status;
    if (in->columns > row->width) return refuse(in, "the text has more columns than the row");

    builder_drop_default_runs(b, in->run_begin);
    kept = text_kept(in);
    if (!builder_text_room(b, row->text_nbytes)) return error_set_nomem(in->err);
    memcpy(b->text + b->text_nbytes, row->text, kept);
    b->text_nbytes += kept;
    *extent = in->columns;
    in->columns -= (uint32_t)(row->text_nbytes - kept);
    return PAUA_OK;
}

/* ---- both ---- */

/* Spaces up to the end that the caller gave, and the row's slot. */
static paua_status finish(struct intake *in, uint32_t extent, uint64_t id, int64_t time_ms)
{
    const paua_history_new_row *row = in->row;
    struct builder *b = in->b;
    uint32_t end = row->end;
    struct slot slot;

    if (end == 0) end = row->soft ? extent : in->columns;
    builder_drop_default_runs(b, in->run_begin);
    if (end > in->columns) {
        if (!builder_text_room(b, end - in->columns)) return error_set_nomem(in->err);
        memset(b->text + b->text_nbytes, ' ', end - in->columns);
        b->text_nbytes += end - in->columns;
        in->columns = end;
    }
    if (b->text_nbytes > UINT32_MAX / 2) return error_set_nomem(in->err);
    slot = (struct slot){.text_end = (uint32_t)b->text_nbytes,
                         .run_end = (uint32_t)b->run_count,
                         .width = (uint16_t)row->width,
                         .columns = (uint16_t)in->columns,
                         .end = (uint16_t)end,
                         .soft = row->soft,
                         .ascii = !in->special};
    if (b->slot_count > 0) {
        slot.id_step = (uint32_t)(id - b->first_id);
        slot.time_step = (uint32_t)(time_ms - b->first_time);
    }
    if (!builder_push_slot(b, &slot)) return error_set_nomem(in->err);
    if (b->slot_count == 1) {
        b->first_id = id;
        b->first_time = time_ms;
    }
    return PAUA_OK;
}

static paua_status row_valid(const struct intake *in)
{
    const paua_history_new_row *row = in->row;

    if (row->width < 1 || row->width > PAUA_HISTORY_COLUMNS_MAX)
        return refuse(in, "a row is 1 to 65535 columns wide");
    if (row->end > row->width) return refuse(in, "a row's end is beyond its width");
    if (row->cells != NULL && row->cell_count > row->width)
        return refuse(in, "a row has more cells than columns");
    if (row->cells == NULL && row->cell_count > 0) return refuse(in, "cell_count without cells");
    if (row->text == NULL && row->text_nbytes > 0) return refuse(in, "text_nbytes without text");
    if (row->runs == NULL && row->run_count > 0) return refuse(in, "run_count without runs");
    if (row->styles == NULL && row->style_count > 0)
        return refuse(in, "style_count without styles");
    if (row->links == NULL && row->link_count > 0) return refuse(in, "link_count without links");
    return PAUA_OK;
}

paua_status builder_append(struct builder *b, const paua_history_new_row *row, uint64_t id,
                           int64_t time_ms, paua_error *err)
{
    struct intake in = {.b = b,
                        .row = row,
                        .err = err,
                        .text_begin = b->text_nbytes,
                        .run_begin = b->run_count,
                        .memo_index = SIZE_MAX};
    struct builder_mark mark = builder_mark(b);
    uint32_t extent = row->cell_count;
    paua_status status = row_valid(&in);

    assert(builder_accepts(b, id, time_ms));
    if (status != PAUA_OK) return status;
    if (row->cells != NULL) {
        uint32_t last = cells_extent(row);

        status = take_cells(&in, last);
        if (status == PAUA_OK && in.special && !shape_cells(&in, last))
            status = error_set_nomem(err);
    } else {
        status = append_text(&in, &extent);
    }
    if (status == PAUA_OK) status = finish(&in, extent, id, time_ms);
    if (status != PAUA_OK) builder_undo(b, &mark);
    return status;
}
