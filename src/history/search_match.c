/* search_match.c - where in the rows a match is, and whether it counts. */
#include "history/search.h"

/* Row of the pin that byte `at` of the region is in. */
static uint32_t pin_row_at(const paua_history_search *s, size_t at)
{
    const struct block *b = s->view->pin;

    return block_row_at(b, (uint32_t)((size_t)(s->text - b->text) + at));
}

/* Whether bytes at - 1 and at of the region are of one line (or row). */
static bool connected(const paua_history_search *s, size_t at)
{
    uint32_t before, after;

    if (at == 0 || at >= s->text_nbytes) return false;
    if (s->region_joined) return true;
    before = pin_row_at(s, at - 1);
    after = pin_row_at(s, at);
    if (before == after) return true;
    if (s->rows_only) return false;
    for (; before < after; before++)
        if (!block_soft(s->view->pin, before)) return false;
    return true;
}

struct search_span search_line_at(const paua_history_search *s, size_t at)
{
    const struct block *b = s->view->pin;
    size_t text_at = (size_t)(s->text - (s->region_joined ? s->text : b->text));
    uint32_t first, last, row, end;

    if (s->region_joined) return (struct search_span){0, s->text_nbytes};
    first = view_row_in_pin(s->view, s->region_first);
    end = view_row_in_pin(s->view, s->region_end - 1);
    row = last = pin_row_at(s, at);
    while (!s->rows_only && row > first && block_soft(b, row - 1))
        row--;
    while (!s->rows_only && last < end && block_soft(b, last))
        last++;
    return (struct search_span){block_text_begin(b, row) - text_at,
                                block_text_end(b, last) - text_at};
}

uint64_t search_row_at(const paua_history_search *s, size_t at)
{
    if (s->region_joined) return s->region_first;
    return s->view->pin_begin + (pin_row_at(s, at) - s->view->pin_skip);
}

bool search_acceptable(const paua_history_search *s, size_t begin, size_t end)
{
    if (!s->region_joined) {
        uint32_t row = pin_row_at(s, begin), last = pin_row_at(s, end - 1);

        if (s->rows_only && row != last) return false;
        for (; row < last; row++)
            if (!block_soft(s->view->pin, row)) return false;
    }
    if (!s->whole_word) return true;
    if (connected(s, begin) && fold_word_before(s->text, begin) &&
        fold_word_at(s->text, s->text_nbytes, begin))
        return false;
    return !(connected(s, end) && fold_word_at(s->text, s->text_nbytes, end) &&
             fold_word_before(s->text, end));
}

/* Columns of bytes [begin, end) of a row, widened to whole clusters. */
static paua_history_highlight columns_of(const paua_history_row *row, uint64_t index, size_t begin,
                                         size_t end)
{
    paua_history_highlight h = {.row = index};
    uint32_t column = 0;

    if (row->columns == row->text_nbytes && row->shape_count == 0) {
        h.begin = (uint32_t)begin;
        h.end = (uint32_t)end;
        return h;
    }
    for (uint32_t at = 0, nbytes; at < end; at += nbytes) {
        uint32_t width = paua_history_row_cluster(row, at, &nbytes);

        if (at + nbytes <= begin) h.begin = column + width;
        column += width;
    }
    h.end = column;
    return h;
}

/* The row that byte `at` of the region is in: its index and where its text begins in the region. */
static paua_status find_row(paua_history_search *s, size_t at, uint64_t *index, size_t *begin)
{
    *begin = 0;
    *index = s->region_first;
    if (!s->region_joined) {
        const struct block *b = s->view->pin;
        uint32_t row = pin_row_at(s, at);

        *index = s->view->pin_begin + (row - s->view->pin_skip);
        *begin = block_text_begin(b, row) - (size_t)(s->text - b->text);
        return PAUA_OK;
    }
    for (;; ++*index) {
        paua_status status = view_pin(s->view, *index, false);
        uint32_t row, nbytes;

        if (status != PAUA_OK) return PAUA_ENOMEM;
        row = view_row_in_pin(s->view, *index);
        nbytes = block_text_end(s->view->pin, row) - block_text_begin(s->view->pin, row);
        if (at < *begin + nbytes) return PAUA_OK;
        *begin += nbytes;
    }
}

paua_status search_locate(paua_history_search *s, size_t begin, size_t end,
                          paua_history_match *match)
{
    uint64_t index;
    size_t row_begin, count = 0;
    paua_history_match m = {.nbytes = (uint32_t)(end - begin)};
    paua_status status = find_row(s, begin, &index, &row_begin);

    if (status != PAUA_OK) return status;
    m.row = index;
    m.text_at = (uint32_t)(begin - row_begin);
    for (; row_begin < end; index++) {
        paua_history_row row;

        if (view_pin(s->view, index, false) != PAUA_OK) return PAUA_ENOMEM;
        block_row(s->view->pin, view_row_in_pin(s->view, index), &row);
        if (row.text_nbytes > 0) {
            size_t to = end - row_begin < row.text_nbytes ? end - row_begin : row.text_nbytes;

            if (!HEAP_GROW(s->heap, s->highlights, s->highlights_capacity, count + 1))
                return PAUA_ENOMEM;
            s->highlights[count++] =
                columns_of(&row, index, begin > row_begin ? begin - row_begin : 0, to);
        }
        row_begin += row.text_nbytes;
    }
    m.highlights = s->highlights;
    m.highlight_count = (uint32_t)count;
    *match = m;
    return PAUA_OK;
}
