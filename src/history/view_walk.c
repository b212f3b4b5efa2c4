/* view_walk.c - rows and lines of a range, and rows by id and time. */
#include <string.h>

#include "base/error.h"
#include "history/line.h"

/* Fields that the caller's version of the struct has; clipped to the view. */
static paua_history_range settle_range(const paua_history_view *v, const paua_history_range *range)
{
    paua_history_range r = {0};

    memcpy(&r, range, range->size < sizeof r ? range->size : sizeof r);
    if (r.first > v->row_count) r.first = v->row_count;
    if (r.count > v->row_count - r.first) r.count = v->row_count - r.first;
    return r;
}

static paua_status each_line(paua_history_view *v, const paua_history_range *r,
                             paua_history_row_fn each, void *arg, struct line *line,
                             paua_error *err)
{
    uint64_t end = r->first + r->count;

    for (uint64_t index = r->first; index < end; index += line->count) {
        if (line_read(line, v, index, end) != PAUA_OK) return error_set_nomem(err);
        if (line->row.damaged_rows > 0 && !r->holes) return view_damaged(v, err);
        if (!each(arg, index, &line->row)) break;
    }
    return PAUA_OK;
}

static paua_status each_row(paua_history_view *v, const paua_history_range *r,
                            paua_history_row_fn each, void *arg, paua_error *err)
{
    uint64_t end = r->first + r->count;

    for (uint64_t index = r->first; index < end;) {
        paua_history_row row;
        paua_status status = view_pin(v, index, false);

        if (status == PAUA_ENOMEM) return error_set_nomem(err);
        if (status == PAUA_ECORRUPT) {
            if (!r->holes) return view_damaged(v, err);
            row = view_hole(v, index);
            if (row.damaged_rows > end - index) row.damaged_rows = end - index;
            if (!each(arg, index, &row)) break;
            index += row.damaged_rows;
            continue;
        }
        for (uint64_t stop = v->pin_end < end ? v->pin_end : end; index < stop; index++) {
            block_row(v->pin, view_row_in_pin(v, index), &row);
            if (!each(arg, index, &row)) return PAUA_OK;
        }
    }
    return PAUA_OK;
}

paua_status paua_history_view_each(paua_history_view *v, const paua_history_range *range,
                                   paua_history_row_fn each, void *arg, paua_error *err)
{
    paua_history_range r = settle_range(v, range);
    struct line line;
    paua_status status;

    if (!r.lines) return each_row(v, &r, each, arg, err);
    line_init(&line, v->heap);
    status = each_line(v, &r, each, arg, &line, err);
    line_free(&line);
    return status;
}

/* Rows of the view before those of list->pages[at]. */
static uint64_t page_index(const paua_history_view *v, size_t at)
{
    const struct page *page = v->list->pages[at];

    return page->ordinal <= v->first_ordinal ? 0 : page->ordinal - v->first_ordinal;
}

/* The first page of the window for which `key` is reached; end_page if there is none. */
static size_t page_reaching(const paua_history_view *v, int64_t time_ms, uint64_t id, bool by_id)
{
    size_t low = v->first_page, high = v->end_page;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct page *page = v->list->pages[middle];

        if (by_id ? page_last_id(page) < id : page_last_time(page) < time_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Pins page `at` of the window, or the tail for end_page; stores its first row's index. */
static paua_status pin_page(paua_history_view *v, size_t at, uint64_t *begin, paua_error *err)
{
    paua_status status;

    *begin = at == v->end_page ? v->tail_index : page_index(v, at);
    if (*begin == v->row_count) return error_set(err, PAUA_ENOTFOUND, "no such row");
    status = view_pin(v, *begin, true);
    if (status == PAUA_ECORRUPT) return view_damaged(v, err);
    return status == PAUA_OK ? PAUA_OK : error_set_nomem(err);
}

paua_status paua_history_view_find_id(paua_history_view *v, uint64_t id, uint64_t *index,
                                      paua_error *err)
{
    size_t at = page_reaching(v, 0, id, true);
    uint64_t begin;
    uint32_t row;
    paua_status status;

    if (at < v->end_page && !v->list->pages[at]->has_gaps) {
        const struct page *page = v->list->pages[at];
        uint64_t ordinal = page->ordinal + (id - page->first_id);

        if (id < page->first_id || ordinal < v->first_ordinal)
            return error_set(err, PAUA_ENOTFOUND, "no row has this id");
        *index = ordinal - v->first_ordinal;
        return PAUA_OK;
    }
    status = pin_page(v, at, &begin, err);
    if (status != PAUA_OK) return status;
    row = block_find_id(v->pin, id);
    if (row == v->pin->row_count || row < v->pin_skip || block_id(v->pin, row) != id)
        return error_set(err, PAUA_ENOTFOUND, "no row has this id");
    *index = begin + row - v->pin_skip;
    return PAUA_OK;
}

paua_status paua_history_view_find_time(paua_history_view *v, int64_t time_ms, uint64_t *index,
                                        paua_error *err)
{
    size_t at = page_reaching(v, time_ms, 0, false);
    uint64_t begin;
    uint32_t row;
    paua_status status = pin_page(v, at, &begin, err);

    if (status != PAUA_OK) return status;
    row = block_find_time(v->pin, time_ms);
    if (row < v->pin_skip) row = v->pin_skip;
    if (row == v->pin->row_count) return error_set(err, PAUA_ENOTFOUND, "all rows are older");
    *index = begin + row - v->pin_skip;
    return PAUA_OK;
}

paua_status paua_history_view_line(paua_history_view *v, uint64_t index, uint64_t *first,
                                   uint64_t *count, paua_error *err)
{
    uint64_t begin, end = index;
    bool soft = true;
    paua_status status;

    if (index >= v->row_count)
        return error_set(err, PAUA_EINVAL, "there is no row %llu", (unsigned long long)index);
    status = view_pin(v, index, true);
    if (status == PAUA_ECORRUPT) return view_damaged(v, err);
    if (status == PAUA_OK) status = line_begin(v, index, 0, true, &begin);
    while (status == PAUA_OK && soft && end < v->row_count)
        status = view_soft(v, end++, true, &soft);
    if (status != PAUA_OK) return error_set_nomem(err);
    *first = begin;
    *count = end - begin;
    return PAUA_OK;
}
