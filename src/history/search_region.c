/* search_region.c - the text to search next: the lines of one page, or one line of several.
 *
 * Rows of a page lie one behind the other, so the lines that are whole within a page are one piece
 * of text. A line that crosses into another page is joined apart. Going backward is the same from
 * the other end. Time and starting row have become bounds on rows before, so that nothing is read
 * in vain. */
#include "history/search.h"

/* The pinned rows [first, end) become the region. */
static void use_pin(paua_history_search *s, uint64_t first, uint64_t end)
{
    const struct block *b = s->view->pin;
    uint32_t begin = block_text_begin(b, view_row_in_pin(s->view, first));

    s->region_joined = false;
    s->region_first = first;
    s->region_end = end;
    s->text = b->text + begin;
    s->text_nbytes = block_text_end(b, view_row_in_pin(s->view, end - 1)) - begin;
}

static void use_line(paua_history_search *s)
{
    s->region_joined = s->line.is_joined;
    s->region_first = s->line.first;
    s->region_end = s->line.first + s->line.count;
    s->text = s->line.row.text;
    s->text_nbytes = s->line.row.text_nbytes;
}

static bool soft_in_pin(const paua_history_search *s, uint64_t row)
{
    return block_soft(s->view->pin, view_row_in_pin(s->view, row));
}

/* Whether a line of the pin's first row began before it, as far as the search goes. */
static paua_status begins_before(paua_history_search *s, uint64_t row, bool *before)
{
    *before = false;
    return row == s->low ? PAUA_OK : view_soft(s->view, row - 1, false, before);
}

static paua_status load_forward(paua_history_search *s)
{
    paua_history_view *v = s->view;
    uint64_t end = v->pin_end < s->high ? v->pin_end : s->high;
    paua_status status = PAUA_OK;

    if (end < s->high && !s->rows_only)
        while (end > s->low && soft_in_pin(s, end - 1))
            end--;
    if (end > s->low) {
        use_pin(s, s->low, end);
    } else {
        status = line_read(&s->line, v, s->low, s->high);
        if (status == PAUA_OK) use_line(s);
    }
    if (status == PAUA_OK) s->low = s->region_end;
    return status;
}

/* The line that ends with row high - 1, or its last piece. */
static paua_status load_line_before(paua_history_search *s)
{
    uint64_t first;
    paua_status status = line_begin(s->view, s->high - 1, s->low, false, &first);

    while (status == PAUA_OK) {
        status = line_read(&s->line, s->view, first, s->high);
        first += s->line.count;
        if (first == s->high) break;
    }
    if (status == PAUA_OK) use_line(s);
    return status;
}

static paua_status load_backward(paua_history_search *s)
{
    paua_history_view *v = s->view;
    uint64_t begin = v->pin_begin > s->low ? v->pin_begin : s->low, pin_begin = begin;
    bool before = false;
    paua_status status = PAUA_OK;

    if (!s->rows_only) status = begins_before(s, begin, &before);
    if (status == PAUA_OK) status = view_pin(v, s->high - 1, false);
    if (status != PAUA_OK) return status;
    if (before) {
        while (begin < s->high && soft_in_pin(s, begin))
            begin++;
        if (begin < s->high) begin++;
    }
    assert(begin >= pin_begin);
    if (begin < s->high)
        use_pin(s, begin, s->high);
    else
        status = load_line_before(s);
    if (status == PAUA_OK) s->high = s->region_first;
    return status;
}

static const struct page *page_at(const paua_history_view *v, size_t at)
{
    return v->list->pages[at];
}

/* Rows of the view before a page. */
static uint64_t index_of(const paua_history_view *v, size_t at)
{
    return page_at(v, at)->ordinal <= v->first_ordinal ? 0
                                                       : page_at(v, at)->ordinal - v->first_ordinal;
}

/* The same after it. */
static uint64_t end_of(const paua_history_view *v, size_t at)
{
    return page_at(v, at)->ordinal + page_at(v, at)->row_count - v->first_ordinal;
}

/* Whether the rows that come next are of a page, not read yet, whose lines go beyond it no further
 * than the search does: *at is its place in the list. */
static bool next_page_closed(const paua_history_search *s, size_t *at)
{
    const paua_history_view *v = s->view;
    uint64_t index = s->backward ? s->high - 1 : s->low;

    if (s->sought.nbytes == 0 || index >= v->tail_index) return false;
    if (index >= v->pin_begin && index < v->pin_end) return false;
    *at = list_find(v->list, v->first_page, v->end_page, v->first_ordinal + index);
    if (s->rows_only) return true;
    if (s->backward)
        return *at == v->first_page || index_of(v, *at) <= s->low ||
               !page_at(v, *at - 1)->last_soft;
    return !page_at(v, *at)->last_soft || end_of(v, *at) >= s->high;
}

/* The rows that were looked at, up to those of a page, are done with. */
static void pass_over(paua_history_search *s, uint64_t begin, uint64_t end)
{
    if (s->backward)
        s->high = begin > s->low ? begin : s->low;
    else
        s->low = end < s->high ? end : s->high;
}

static paua_status load(paua_history_search *s)
{
    paua_history_view *v = s->view;
    size_t at = 0;
    bool lacks = false;
    paua_status status;

    if (next_page_closed(s, &at))
        status = view_pin_if(v, at, &s->sought, &lacks);
    else
        status = view_pin(v, s->backward ? s->high - 1 : s->low, false);
    if (lacks) pass_over(s, index_of(v, at), end_of(v, at));
    if (lacks) return PAUA_OK;
    if (status == PAUA_ECORRUPT) {
        uint64_t left = s->high - s->low;

        pass_over(s, v->pin_begin, v->pin_end);
        s->damaged_rows += left - (s->high - s->low);
        return PAUA_OK;
    }
    if (status == PAUA_OK) status = s->backward ? load_backward(s) : load_forward(s);
    if (status != PAUA_OK) return PAUA_ENOMEM;
    if (s->ignore_case && !fold_text(&s->folded, s->text, s->text_nbytes)) return PAUA_ENOMEM;
    s->at = s->backward ? (s->ignore_case ? s->folded.nbytes : s->text_nbytes) : 0;
    s->has_region = true;
    return PAUA_OK;
}

/* ---- filters ---- */

/* Lines that begin and end in the filter's rows can be skipped: from s->low up to the page whose
 * last line goes on behind them. */
static uint64_t skip_forward_to(const paua_history_search *s, const struct filter *f)
{
    const paua_history_view *v = s->view;
    uint64_t to = f->end_ordinal - v->first_ordinal;
    size_t at = list_find(v->list, v->first_page, v->end_page, f->end_ordinal - 1);

    while (!s->rows_only && to > s->low && page_at(v, at)->last_soft) {
        to = index_of(v, at);
        if (at-- == v->first_page) break;
    }
    return to < s->high ? to : s->high;
}

/* The same from s->high down: to the first page that no line goes on into. */
static uint64_t skip_backward_to(const paua_history_search *s, const struct filter *f)
{
    const paua_history_view *v = s->view;
    uint64_t ordinal = f->first_ordinal < v->first_ordinal ? v->first_ordinal : f->first_ordinal;
    size_t at = list_find(v->list, v->first_page, v->end_page, ordinal);

    while (!s->rows_only && at > v->first_page && at < v->end_page && page_at(v, at - 1)->last_soft)
        at++;
    if (at == v->end_page) return s->high;
    return index_of(v, at) > s->low ? index_of(v, at) : s->low;
}

/* Passes over rows without what every match contains. */
static void skip(paua_history_search *s)
{
    uint64_t left = s->high - s->low;

    while (s->needle.count > 0 && s->low < s->high) {
        const paua_history_view *v = s->view;
        uint64_t index = s->backward ? s->high - 1 : s->low, to;
        const struct filter *f = filters_find(v->filters, v->first_ordinal + index);

        if (f == NULL || filter_may_contain(f, &s->needle)) break;
        to = s->backward ? skip_backward_to(s, f) : skip_forward_to(s, f);
        if (s->backward ? to >= s->high : to <= s->low) break;
        if (s->backward)
            s->high = to;
        else
            s->low = to;
    }
    s->skipped = left - (s->high - s->low);
}

paua_status search_load(paua_history_search *s, bool *more)
{
    uint64_t low = s->low, high = s->high;
    paua_status status;

    s->has_region = false;
    skip(s);
    *more = s->low < s->high;
    if (!*more) return PAUA_OK;
    status = load(s);
    if (status != PAUA_OK) { /* to be read again */
        s->low = low;
        s->high = high;
    }
    return status;
}
