/* builder_block.c - a builder's live rows as one exact block, and a builder without its dead rows.
 *
 * A block's arrays follow its struct in one allocation, those of the strictest alignment first.
 * What every row shares or does without is left out: see block.h. The default style goes in as [0].
 * */
#include "history/builder.h"

#include <string.h>

/* What the live rows of a builder need. */
struct plan {
    uint32_t rows, first_slot;
    uint32_t text_begin, run_begin, shape_begin;
    uint32_t text_nbytes, run_count, shape_count;
    bool widths, columns, ends, id_steps, time_steps, wraps;
    size_t nbytes;
};

static uint32_t shapes_before(const struct builder *b, uint32_t text_at)
{
    uint32_t count = 0;

    while (count < b->shape_count && b->shapes[count].at < text_at)
        count++;
    return count;
}

static struct plan plan_rows(const struct builder *b)
{
    struct plan p = {.first_slot = b->dead_rows, .rows = (uint32_t)b->slot_count - b->dead_rows};
    const struct slot *first = b->slots + p.first_slot, *last = b->slots + b->slot_count - 1;
    size_t nbytes = sizeof(struct block);

    assert(p.rows > 0 && p.rows <= BLOCK_ROWS_MAX);
    if (p.first_slot > 0) {
        p.text_begin = first[-1].text_end;
        p.run_begin = first[-1].run_end;
        p.shape_begin = shapes_before(b, p.text_begin);
    }
    p.text_nbytes = last->text_end - p.text_begin;
    p.run_count = last->run_end - p.run_begin;
    p.shape_count = (uint32_t)b->shape_count - p.shape_begin;
    for (uint32_t i = 0; i < p.rows; i++) {
        p.widths |= first[i].width != first->width;
        p.columns |= first[i].ascii == 0;
        p.ends |= first[i].end != first[i].columns;
        p.id_steps |= first[i].id_step != first->id_step + i;
        p.time_steps |= first[i].time_step != first->time_step;
        p.wraps |= first[i].soft != 0;
    }
    nbytes += b->link_count * sizeof(paua_history_link);
    nbytes += (b->style_count + 1) * sizeof(paua_history_style);
    nbytes += p.shape_count * sizeof(shape) + p.run_count * sizeof(paua_history_run);
    nbytes += (size_t)(p.id_steps + p.time_steps) * p.rows * sizeof(uint32_t);
    nbytes += (size_t)(p.widths + p.columns + p.ends) * p.rows * sizeof(uint16_t);
    nbytes += (size_t)(1 + (p.run_count > 0)) * (p.rows - 1) * sizeof(uint16_t);
    if (p.wraps) nbytes += (p.rows + 7) / 8;
    p.nbytes = nbytes + b->strings_nbytes + p.text_nbytes;
    return p;
}

size_t builder_block_nbytes(const struct builder *b)
{
    return plan_rows(b).nbytes - sizeof(struct block) + BLOCK_HEAD_NBYTES +
           b->link_count * (BLOCK_LINK_NBYTES - sizeof(paua_history_link));
}

size_t builder_block_bound(const struct builder *b)
{
    return BLOCK_HEAD_NBYTES + b->link_count * BLOCK_LINK_NBYTES +
           (b->style_count + 1) * sizeof(paua_history_style) + b->shape_count * sizeof(shape) +
           b->run_count * sizeof(paua_history_run) +
           b->slot_count * (2 * sizeof(uint32_t) + 5 * sizeof(uint16_t) + 1) + b->strings_nbytes +
           b->text_nbytes;
}

size_t builder_last_row_nbytes(const struct builder *b)
{
    const struct slot *slot = b->slots + b->slot_count - 1;
    uint32_t text_begin = b->slot_count == 1 ? 0 : slot[-1].text_end;
    uint32_t run_begin = b->slot_count == 1 ? 0 : slot[-1].run_end;
    size_t nbytes = slot->text_end - text_begin + sizeof *slot;
    uint8_t styles[UINT16_MAX / 8 + 1] = {0}, links[UINT16_MAX / 8 + 1] = {0};

    nbytes += (slot->run_end - run_begin) * sizeof(paua_history_run);
    nbytes += (b->shape_count - shapes_before(b, text_begin)) * sizeof(shape);
    for (uint32_t i = run_begin; i < slot->run_end; i++) {
        uint32_t style = b->runs[i].style, link;

        if (style == 0 || (styles[style / 8] >> style % 8 & 1) != 0) continue;
        styles[style / 8] = (uint8_t)(styles[style / 8] | 1u << style % 8);
        nbytes += sizeof(paua_history_style);
        link = b->styles[style - 1].link;
        if (link == 0 || (links[link / 8] >> link % 8 & 1) != 0) continue;
        links[link / 8] = (uint8_t)(links[link / 8] | 1u << link % 8);
        nbytes += sizeof(struct link_slot) + b->links[link - 1].id_nbytes;
        nbytes += b->links[link - 1].uri_nbytes;
    }
    return nbytes;
}

/* The next part of a block's memory. */
static void *carve(char **at, size_t nbytes)
{
    void *part = *at;

    *at += nbytes;
    return part;
}

static void fill_links(const struct builder *b, struct block *block, char **at)
{
    paua_history_link *links = carve(at, b->link_count * sizeof *links);

    block->links = b->link_count == 0 ? NULL : links;
    block->link_count = (uint32_t)b->link_count;
}

/* Strings come behind all arrays; the links then point at them. */
static void fill_strings(const struct builder *b, struct block *block, char **at)
{
    paua_history_link *links = (paua_history_link *)(block + 1);
    char *strings = carve(at, b->strings_nbytes);

    if (b->strings_nbytes > 0) memcpy(strings, b->strings, b->strings_nbytes);
    for (size_t i = 0; i < b->link_count; i++) {
        const struct link_slot *slot = &b->links[i];

        links[i] = (paua_history_link){.id = strings + slot->at,
                                       .uri = strings + slot->at + slot->id_nbytes,
                                       .id_nbytes = slot->id_nbytes,
                                       .uri_nbytes = slot->uri_nbytes};
    }
}

static void fill_styles(const struct builder *b, struct block *block, char **at)
{
    paua_history_style *styles = carve(at, (b->style_count + 1) * sizeof *styles);

    styles[0] = (paua_history_style){0};
    if (b->style_count > 0) memcpy(styles + 1, b->styles, b->style_count * sizeof *styles);
    block->styles = styles;
    block->style_count = (uint32_t)b->style_count + 1;
}

static void fill_shapes(const struct builder *b, struct block *block, const struct plan *p,
                        char **at)
{
    shape *shapes = carve(at, p->shape_count * sizeof *shapes);

    for (uint32_t i = 0; i < p->shape_count; i++) {
        shapes[i] = b->shapes[p->shape_begin + i];
        shapes[i].at -= p->text_begin;
    }
    block->shapes = shapes;
    block->shape_count = p->shape_count;
}

static void fill_steps(const struct slot *first, struct block *block, const struct plan *p,
                       char **at)
{
    uint32_t *ids = carve(at, p->id_steps ? p->rows * sizeof *ids : 0);
    uint32_t *times = carve(at, p->time_steps ? p->rows * sizeof *times : 0);

    if (p->id_steps) block->id_steps = ids;
    if (p->time_steps) block->time_steps = times;
    for (uint32_t i = 0; i < p->rows; i++) {
        if (p->id_steps) ids[i] = first[i].id_step - first->id_step;
        if (p->time_steps) times[i] = first[i].time_step - first->time_step;
    }
}

static void fill_geometry(const struct slot *first, struct block *block, const struct plan *p,
                          char **at)
{
    uint16_t *widths = carve(at, p->widths ? p->rows * sizeof *widths : 0);
    uint16_t *columns = carve(at, p->columns ? p->rows * sizeof *columns : 0);
    uint16_t *ends = carve(at, p->ends ? p->rows * sizeof *ends : 0);
    uint16_t *row_ends = carve(at, (p->rows - 1) * sizeof *row_ends);
    uint16_t *run_ends = carve(at, p->run_count > 0 ? (p->rows - 1) * sizeof *run_ends : 0);
    uint8_t *wraps = carve(at, p->wraps ? (p->rows + 7) / 8 : 0);

    block->widths = p->widths ? widths : NULL;
    block->columns = p->columns ? columns : NULL;
    block->ends = p->ends ? ends : NULL;
    block->row_ends = row_ends;
    block->run_ends = p->run_count > 0 ? run_ends : NULL;
    block->wraps = p->wraps ? wraps : NULL;
    block->width = first->width;
    if (p->wraps) memset(wraps, 0, (p->rows + 7) / 8);
    for (uint32_t i = 0; i < p->rows; i++) {
        if (p->widths) widths[i] = first[i].width;
        if (p->columns) columns[i] = first[i].columns;
        if (p->ends) ends[i] = first[i].end;
        if (i + 1 < p->rows) row_ends[i] = (uint16_t)(first[i].text_end - p->text_begin);
        if (i + 1 < p->rows && p->run_count > 0)
            run_ends[i] = (uint16_t)(first[i].run_end - p->run_begin);
        if (first[i].soft) wraps[i / 8] = (uint8_t)(wraps[i / 8] | 1u << i % 8);
    }
}

struct block *builder_block(const struct builder *b, struct heap *heap)
{
    struct plan p = plan_rows(b);
    const struct slot *first = b->slots + p.first_slot;
    struct block *block;
    paua_history_run *runs;
    char *at, *text;

    assert(p.rows == 1 || p.nbytes <= BLOCK_NBYTES_MAX);
    block = heap_alloc(heap, p.nbytes);
    if (block == NULL) return NULL;
    *block = (struct block){.heap = heap_ref(heap),
                            .nbytes = p.nbytes,
                            .first_id = b->first_id + first->id_step,
                            .first_time = b->first_time + first->time_step,
                            .row_count = p.rows,
                            .text_nbytes = p.text_nbytes,
                            .run_count = p.run_count};
    atomic_init(&block->refs, 1);
    at = (char *)(block + 1);
    fill_links(b, block, &at);
    fill_styles(b, block, &at);
    fill_shapes(b, block, &p, &at);
    fill_steps(first, block, &p, &at);
    runs = carve(&at, p.run_count * sizeof *runs);
    if (p.run_count > 0) memcpy(runs, b->runs + p.run_begin, p.run_count * sizeof *runs);
    block->runs = runs;
    fill_geometry(first, block, &p, &at);
    fill_strings(b, block, &at);
    text = carve(&at, p.text_nbytes);
    if (p.text_nbytes > 0) memcpy(text, b->text + p.text_begin, p.text_nbytes);
    block->text = text;
    assert(at == (char *)block + p.nbytes);
    return block;
}

/* ---- dropping dead rows ---- */

/* Moves the used entries together; to[i] becomes the new id of the old id i, 0 for an unused one.
 * */
static void compact_links(struct builder *b, uint16_t *to)
{
    size_t kept = 0, strings = 0;

    for (size_t i = 0; i < b->link_count; i++) {
        struct link_slot slot = b->links[i];
        size_t nbytes = (size_t)slot.id_nbytes + slot.uri_nbytes;

        if (to[i + 1] == 0) continue;
        memmove(b->strings + strings, b->strings + slot.at, nbytes);
        slot.at = (uint32_t)strings;
        strings += nbytes;
        b->links[kept++] = slot;
        to[i + 1] = (uint16_t)kept;
    }
    b->link_count = kept;
    b->strings_nbytes = strings;
}

static void compact_styles(struct builder *b, uint16_t *to, uint16_t *link_to)
{
    size_t kept = 0;

    memset(to, 0, (b->style_count + 1) * sizeof *to);
    memset(link_to, 0, (b->link_count + 1) * sizeof *link_to);
    for (size_t i = 0; i < b->run_count; i++)
        to[b->runs[i].style] = 1;
    for (size_t i = 0; i < b->style_count; i++)
        if (to[i + 1] != 0) link_to[b->styles[i].link] = 1;
    compact_links(b, link_to);
    for (size_t i = 0; i < b->style_count; i++) {
        if (to[i + 1] == 0) continue;
        b->styles[kept] = b->styles[i];
        if (b->styles[kept].link > 0) b->styles[kept].link = link_to[b->styles[kept].link];
        to[i + 1] = (uint16_t)++kept;
    }
    b->style_count = kept;
    for (size_t i = 0; i < b->run_count; i++)
        if (b->runs[i].style > 0) b->runs[i].style = to[b->runs[i].style];
}

static void compact_rows(struct builder *b, const struct slot *before, uint32_t shapes)
{
    const struct slot *first = b->slots + b->dead_rows;
    uint32_t id_step = first->id_step, time_step = first->time_step;

    b->first_id += id_step;
    if (b->first_time != 0) b->first_time += time_step;
    b->text_nbytes -= before->text_end;
    b->run_count -= before->run_end;
    b->shape_count -= shapes;
    b->slot_count -= b->dead_rows;
    if (b->text_nbytes > 0) memmove(b->text, b->text + before->text_end, b->text_nbytes);
    if (b->run_count > 0)
        memmove(b->runs, b->runs + before->run_end, b->run_count * sizeof b->runs[0]);
    for (size_t i = 0; i < b->shape_count; i++) {
        b->shapes[i] = b->shapes[i + shapes];
        b->shapes[i].at -= before->text_end;
    }
    for (size_t i = 0; i < b->slot_count; i++) {
        struct slot slot = b->slots[i + b->dead_rows];

        slot.text_end -= before->text_end;
        slot.run_end -= before->run_end;
        slot.id_step -= id_step;
        slot.time_step -= time_step;
        b->slots[i] = slot;
    }
    b->dead_rows = 0;
}

bool builder_compact(struct builder *b)
{
    size_t entries = b->style_count + b->link_count + 2;
    struct slot before;
    uint16_t *to;

    if (b->dead_rows == 0) return true;
    if (b->dead_rows == b->slot_count) {
        builder_reset(b);
        return true;
    }
    to = heap_alloc(b->heap, entries * sizeof *to);
    if (to == NULL) return false;
    before = b->slots[b->dead_rows - 1];
    compact_rows(b, &before, shapes_before(b, before.text_end));
    compact_styles(b, to, to + b->style_count + 1);
    builder_refind(b);
    heap_free(b->heap, to, entries * sizeof *to);
    return true;
}
