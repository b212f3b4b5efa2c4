/* value_index_match.c - the rows that pass a test, by an index of the values.
 *
 * Every range of keys, member of a set, or stretch between two byte strings is a span of entries:
 * its begin is found by binary search, its end by steps that double from there, since most spans
 * are short. Ranges and members rise, so each search begins where the last span ended. Only when
 * all spans are known, and with them the rows, is it decided whether the index is worth it, and the
 * bitmap touched.
 *
 * Values are read from the column at the entry's row; one of a damaged file that is NULL passes for
 * the key 0 or the empty string. Whatever the order is, spans stay inside the entries.
 * Threads   Nothing is shared but what never changes. */
#include "index/value_index.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/rowset.h"
#include "index/value_cost.h"

#define SPANS_FEW 8u /* that need no memory */

struct span {
    uint32_t first, end; /* entries */
};

/* A place among values: before those that equal it, or after them. */
struct bound {
    uint64_t key;     /* numbers */
    paua_bytes bytes; /* byte strings; data NULL: before, or after, all there are */
    bool after;
};

struct finding {
    const struct value_index *index;
    const struct column_view *view;
    const struct column_test *test;
    struct span few[SPANS_FEW];
    struct span *spans; /* few, or owned */
    size_t span_count;
    uint64_t *bitmap;
    paua_error *err;
};

/* ---- spans ---- */

static size_t spans_of(const struct column_test *test)
{
    if (test->kind == TEST_KEYS) return test->range_count;
    return test->kind == TEST_SET ? test->set_count : 1;
}

static void bounds_of(const struct column_test *test, size_t i, struct bound *low,
                      struct bound *high)
{
    *low = (struct bound){.after = false};
    *high = (struct bound){.after = true};
    if (test->kind == TEST_KEYS) {
        low->key = test->ranges[i].low;
        high->key = test->ranges[i].high;
    } else if (test->kind == TEST_SET) {
        low->bytes = high->bytes = test->set[i];
    } else {
        *low = (struct bound){.bytes = test->low, .after = test->low_open};
        *high = (struct bound){.bytes = test->high, .after = !test->high_open};
    }
}

/* Does the value of an entry come before the bound? */
static bool is_before(const struct finding *f, uint32_t entry, const struct bound *bound)
{
    struct cell cell;
    int order;

    column_cell(f->view, f->index->places[entry], &cell);
    if (f->test->kind == TEST_KEYS)
        return cell.key < bound->key || (bound->after && cell.key == bound->key);
    order = bytes_compare(cell.data, cell.nbytes, bound->bytes.data, bound->bytes.nbytes);
    return order < 0 || (bound->after && order == 0);
}

/* The first of entries first .. end - 1 that is not before the bound, or end. */
static uint32_t search(const struct finding *f, uint32_t first, uint32_t end,
                       const struct bound *bound)
{
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;

        if (is_before(f, middle, bound))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* The same, quicker if it is near `first`. */
static uint32_t search_near(const struct finding *f, uint32_t first, uint32_t end,
                            const struct bound *bound)
{
    for (uint32_t step = 1; step < end - first; step *= 2) {
        if (!is_before(f, first + step - 1, bound))
            return search(f, first, first + step - 1, bound);
        first += step;
    }
    return search(f, first, end, bound);
}

static void find_spans(struct finding *f)
{
    bool bytes = f->test->kind != TEST_KEYS;
    uint32_t entries = f->index->entries, from = 0;

    for (size_t i = 0; i < f->span_count; i++) {
        struct span *span = &f->spans[i];
        struct bound low, high;

        bounds_of(f->test, i, &low, &high);
        *span = (struct span){from, entries};
        if (!bytes || low.bytes.data != NULL) span->first = search(f, from, entries, &low);
        if (!bytes || high.bytes.data != NULL)
            span->end = search_near(f, span->first, entries, &high);
        from = span->end;
    }
}

/* ---- rows ---- */

static uint32_t total_before(const struct value_index *index, uint32_t entry)
{
    return entry > 0 ? index->totals[entry - 1] : 0;
}

static uint64_t rows_of(const struct value_index *index, const struct span *span)
{
    if (index->kind == PAUA_INDEX_SORTED) return span->end - span->first;
    return total_before(index, span->end) - total_before(index, span->first);
}

static inline void set_bit(uint64_t *bitmap, uint32_t row)
{
    bitmap[row / 64] |= UINT64_C(1) << row % 64;
}

static paua_status add_set(const struct finding *f, uint32_t entry, uint32_t rows)
{
    const struct value_index *index = f->index;
    uint64_t begin = entry > 0 ? index->ends[entry - 1] : 0, members;

    if (rowset_mark(index->sets + begin, (size_t)(index->ends[entry] - begin), index->rows,
                    f->bitmap, &members) != PAUA_OK)
        return data_file_refuse(index->file, "a set of rows in it is damaged", f->err);
    if (members != rows)
        return data_file_refuse(index->file, "a set in it has more or fewer rows than it says",
                                f->err);
    return PAUA_OK;
}

static paua_status add_entries(const struct finding *f, const struct span *span)
{
    const struct value_index *index = f->index;
    paua_status status = PAUA_OK;

    for (uint32_t entry = span->first; status == PAUA_OK && entry < span->end; entry++) {
        uint32_t rows =
            index->totals != NULL ? index->totals[entry] - total_before(index, entry) : 1;

        if (rows == 1)
            set_bit(f->bitmap, index->places[entry]);
        else
            status = add_set(f, entry, rows);
    }
    return status;
}

static paua_status add_rows(const struct finding *f, bool *done)
{
    paua_status status = PAUA_OK;

    memset(f->bitmap, 0, ((size_t)f->index->rows + 63) / 64 * sizeof f->bitmap[0]);
    for (size_t i = 0; status == PAUA_OK && i < f->span_count; i++)
        status = add_entries(f, &f->spans[i]);
    if (status == PAUA_OK) *done = true;
    return status;
}

/* ---- whether ---- */

static bool answers(const struct column_test *test)
{
    return test->kind == TEST_KEYS || test->kind == TEST_BYTES ||
           (test->kind == TEST_SET && !test->negated);
}

static double rows_cost(const struct finding *f)
{
    double cost = 0;

    for (size_t i = 0; i < f->span_count; i++) {
        const struct span *span = &f->spans[i];

        cost += value_rows_cost(f->index, span->end - span->first, rows_of(f->index, span));
    }
    return cost;
}

/* Unless it costs more than `most`. */
static paua_status find(struct finding *f, double most, bool *done)
{
    double cost = value_search_cost(f->index, f->span_count);
    paua_status status = PAUA_OK;

    if (f->view == NULL) f->span_count = 0;
    f->spans = f->few;
    if (cost > most) goto done;
    if (f->span_count > SPANS_FEW) {
        f->spans = mem_alloc(f->span_count * sizeof f->spans[0]);
        if (f->spans == NULL) return error_set_nomem(f->err);
    }
    find_spans(f);
    if (cost + rows_cost(f) <= most) status = add_rows(f, done);
done:
    if (f->spans != f->few) mem_free(f->spans);
    return status;
}

paua_status value_index_find(const struct value_index *index, const struct column_view *view,
                             const struct column_test *test, uint64_t *bitmap, bool *done,
                             paua_error *err)
{
    struct finding f = {.index = index, .view = view, .test = test, .bitmap = bitmap, .err = err};

    *done = false;
    if (!answers(test)) return PAUA_OK;
    assert(view == NULL || type_is_number(view->type) == (test->kind == TEST_KEYS));
    f.span_count = spans_of(test);
    return find(&f, INFINITY, done);
}

paua_status value_index_match(const struct value_index *index, const struct column_view *view,
                              const struct column_test *test, uint64_t *bitmap, bool *done,
                              paua_error *err)
{
    struct finding f = {.index = index, .view = view, .test = test, .bitmap = bitmap, .err = err};

    *done = false;
    if (!answers(test)) return PAUA_OK;
    assert(view == NULL || type_is_number(view->type) == (test->kind == TEST_KEYS));
    f.span_count = spans_of(test);
    return find(&f, value_scan_cost(view, test) * VALUE_COST_SHARE, done);
}
