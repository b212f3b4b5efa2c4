/* block.c - reading rows where they lie. See block.h for the layout, builder_block.c for the
 * making. */
#include "history/block.h"

/* Shapes of text [begin, end): how many, and the first's place in *low. */
static uint32_t shapes_in(const struct block *b, uint32_t begin, uint32_t end, uint32_t *low)
{
    uint32_t first = 0, high = b->shape_count, count = 0;

    while (first < high) {
        uint32_t middle = (first + high) / 2;

        if (b->shapes[middle].at < begin)
            first = middle + 1;
        else
            high = middle;
    }
    while (first + count < b->shape_count && b->shapes[first + count].at < end)
        count++;
    *low = first;
    return count;
}

void block_row(const struct block *b, uint32_t row, paua_history_row *out)
{
    uint32_t text_begin = block_text_begin(b, row), text_end = block_text_end(b, row);
    uint32_t run_begin = block_run_begin(b, row), run_end = block_run_end(b, row);
    uint32_t columns = block_columns(b, row), first_shape = 0;

    assert(row < b->row_count);
    /* Field by field: gcc clears a struct of this size first if one is left out, in 20 cycles. */
    out->id = block_id(b, row);
    out->time_ms = block_time(b, row);
    out->damaged_rows = 0;
    out->width = block_width(b, row);
    out->columns = columns;
    out->end = b->ends == NULL ? columns : b->ends[row];
    out->soft = block_soft(b, row);
    out->text_nbytes = text_end - text_begin;
    out->text = b->text + text_begin;
    out->runs = run_end == run_begin ? NULL : b->runs + run_begin;
    out->run_count = run_end - run_begin;
    out->style_count = b->style_count;
    out->styles = b->styles;
    out->links = b->links;
    out->link_count = b->link_count;
    out->shape_count = b->shape_count == 0 ? 0 : shapes_in(b, text_begin, text_end, &first_shape);
    out->shapes = b->shapes + first_shape;
    out->shapes_at = text_begin;
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
