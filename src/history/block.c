/* block.c - reading rows where they lie. See block.h for the layout, builder_block.c for the
 * making. */
#include "history/block.h"

void block_row(const struct block *b, uint32_t row, paua_history_row *out)
{
    uint32_t text_begin = block_text_begin(b, row), text_end = block_text_end(b, row);
    uint32_t run_begin = block_run_begin(b, row), low = 0, high = b->shape_count;

    assert(row < b->row_count);
    *out = (paua_history_row){.id = block_id(b, row),
                              .time_ms = block_time(b, row),
                              .width = block_width(b, row),
                              .columns = block_columns(b, row),
                              .soft = block_soft(b, row),
                              .text_nbytes = text_end - text_begin,
                              .text = b->text + text_begin,
                              .run_count = block_run_end(b, row) - run_begin,
                              .style_count = b->style_count,
                              .styles = b->styles,
                              .links = b->links,
                              .link_count = b->link_count,
                              .shapes_at = text_begin};
    if (out->run_count > 0) out->runs = b->runs + run_begin;
    out->end = b->ends == NULL ? out->columns : b->ends[row];

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (b->shapes[middle].at < text_begin)
            low = middle + 1;
        else
            high = middle;
    }
    out->shapes = b->shapes + low;
    while (low + out->shape_count < b->shape_count &&
           b->shapes[low + out->shape_count].at < text_end)
        out->shape_count++;
}

uint32_t block_find_id(const struct block *b, uint64_t id)
{
    uint32_t low = 0, high = b->row_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (block_id(b, middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t block_find_time(const struct block *b, int64_t time_ms)
{
    uint32_t low = 0, high = b->row_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (block_time(b, middle) < time_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t block_row_at(const struct block *b, uint32_t at)
{
    uint32_t low = 0, high = b->row_count - 1;

    assert(at < b->text_nbytes);
    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (block_text_end(b, middle) <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void block_unref(struct block *b)
{
    struct heap *heap;

    if (b == NULL || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) > 1) return;
    heap = b->heap;
    heap_free(heap, b, b->nbytes);
    heap_unref(heap);
}
