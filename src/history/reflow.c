/* reflow.c - logical lines at another width.
 *
 * Nothing is laid out in advance but counted: opening walks the lines once and notes, about every
 * 256 rows, which row of the new layout a line begins with. A row is then found from the note
 * before it. The line at hand stays joined, with the places where it breaks, so that walking
 * through it costs a copy of its runs a row. A line breaks at clusters; one that is wide and does
 * not fit goes to the next row. */
#include "base/error.h"
#include "history/line.h"

#define NOTE_ROWS 256u

struct note {
    uint64_t row;      /* of the view; a line begins here */
    uint64_t reflowed; /* what it is in the new layout */
};

/* Where a row of the new layout begins in its line. */
struct line_break {
    uint32_t text_at;
    uint32_t column;
    uint32_t run;        /* the run that text_at lies in */
    uint32_t run_passed; /* bytes of it that come before */
};

struct paua_history_reflow {
    struct heap *heap;
    paua_history_view *view;
    struct line line;
    struct note *notes;
    size_t note_count, note_capacity;
    struct line_break *breaks; /* of the line at hand: one a row, and one behind the last */
    size_t break_count, break_capacity;
    paua_history_run *runs; /* of the row at hand */
    size_t run_count, run_capacity;
    uint64_t first;
    uint64_t end;
    uint64_t row_count;
    uint64_t line_reflowed; /* first row of the line at hand */
    bool has_line;
    uint32_t width;
};

static bool add_break(paua_history_reflow *f, struct line_break at)
{
    if (!HEAP_GROW(f->heap, f->breaks, f->break_capacity, f->break_count + 1)) return false;
    f->breaks[f->break_count++] = at;
    return true;
}

/* Moves on by bytes of text, which may pass several runs. */
static void pass(const paua_history_row *row, struct line_break *at, uint32_t nbytes)
{
    at->text_at += nbytes;
    while (at->run < row->run_count && nbytes >= row->runs[at->run].nbytes - at->run_passed) {
        nbytes -= row->runs[at->run].nbytes - at->run_passed;
        at->run++;
        at->run_passed = 0;
    }
    at->run_passed += nbytes;
}

/* Breaks of the line at hand. */
static bool lay_out(paua_history_reflow *f)
{
    const paua_history_row *row = &f->line.row;
    struct line_break at = {0};
    bool plain = row->columns == row->text_nbytes && row->shape_count == 0;
    uint32_t used = 0;

    f->break_count = 0;
    if (!add_break(f, at)) return false;
    while (at.text_at < row->text_nbytes) {
        uint32_t nbytes, width, left = row->text_nbytes - at.text_at;

        if (plain) {
            nbytes = width = left < f->width ? left : f->width;
        } else {
            width = paua_history_row_cluster(row, at.text_at, &nbytes);
        }
        if (used > 0 && used + width > f->width) {
            if (!add_break(f, at)) return false;
            used = 0;
        }
        pass(row, &at, nbytes);
        at.column += width;
        used += width;
    }
    return add_break(f, at);
}

/* Rows of the new layout that the line makes. */
static uint64_t count_rows(const paua_history_row *row, uint32_t width)
{
    uint64_t rows = 1;
    uint32_t used = 0;

    if (row->columns == row->text_nbytes && row->shape_count == 0)
        return row->columns == 0 ? 1 : (row->columns + width - 1) / width;
    for (uint32_t at = 0, nbytes; at < row->text_nbytes; at += nbytes) {
        uint32_t columns = paua_history_row_cluster(row, at, &nbytes);

        if (used > 0 && used + columns > width) {
            rows++;
            used = 0;
        }
        used += columns;
    }
    return rows;
}

/* Counts the rows of all lines, leaving notes. */
static paua_status count_all(paua_history_reflow *f)
{
    uint64_t noted = 0;

    for (uint64_t row = f->first; row < f->end; row += f->line.count) {
        paua_status status = line_read(&f->line, f->view, row, f->end);

        if (status != PAUA_OK) return status;
        if (f->note_count == 0 || row - noted >= NOTE_ROWS) {
            if (!HEAP_GROW(f->heap, f->notes, f->note_capacity, f->note_count + 1))
                return PAUA_ENOMEM;
            f->notes[f->note_count++] = (struct note){.row = row, .reflowed = f->row_count};
            noted = row;
        }
        f->row_count += count_rows(&f->line.row, f->width);
    }
    return PAUA_OK;
}

/* Whole lines around the rows that were asked for. */
static paua_status settle_range(paua_history_reflow *f, uint64_t first, uint64_t count)
{
    uint64_t rows = f->view->row_count;
    bool soft = true;
    paua_status status;

    f->first = first < rows ? first : rows;
    f->end = count < rows - f->first ? f->first + count : rows;
    if (f->first == f->end) return PAUA_OK;
    status = line_begin(f->view, f->first, 0, false, &f->first);
    while (status == PAUA_OK && f->end < rows && soft) {
        status = view_soft(f->view, f->end - 1, false, &soft);
        if (status == PAUA_OK && soft) f->end++;
    }
    return status;
}

paua_status paua_history_reflow_open(const paua_history_view *view, uint32_t width, uint64_t first,
                                     uint64_t count, paua_history_reflow **reflow, paua_error *err)
{
    paua_history_reflow *f;
    paua_status status;

    if (width < 2 || width > PAUA_HISTORY_COLUMNS_MAX)
        return error_set(err, PAUA_EINVAL, "a width to reflow to is 2 to 65535");
    f = heap_alloc(view->heap, sizeof *f);
    if (f == NULL) return error_set_nomem(err);
    *f = (paua_history_reflow){.heap = heap_ref(view->heap), .width = width};
    line_init(&f->line, f->heap);
    status = paua_history_view_clone(view, &f->view, err);
    if (status == PAUA_OK) status = settle_range(f, first, count);
    if (status == PAUA_OK) status = count_all(f);
    if (status != PAUA_OK) {
        paua_history_reflow_close(f);
        return error_set_nomem(err);
    }
    *reflow = f;
    return PAUA_OK;
}

void paua_history_reflow_close(paua_history_reflow *f)
{
    struct heap *heap;

    if (f == NULL) return;
    heap = f->heap;
    line_free(&f->line);
    HEAP_FREE_ARRAY(heap, f->notes, f->note_capacity);
    HEAP_FREE_ARRAY(heap, f->breaks, f->break_capacity);
    HEAP_FREE_ARRAY(heap, f->runs, f->run_capacity);
    paua_history_view_close(f->view);
    heap_free(heap, f, sizeof *f);
    heap_unref(heap);
}

uint64_t paua_history_reflow_rows(const paua_history_reflow *f) { return f->row_count; }

/* The line that `row` of the view or `reflowed` row is in becomes the line at hand. */
static paua_status load_line(paua_history_reflow *f, uint64_t key, bool by_row)
{
    size_t low = 0, high = f->note_count;
    struct note at;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;

        if ((by_row ? f->notes[middle].row : f->notes[middle].reflowed) <= key)
            low = middle;
        else
            high = middle;
    }
    at = f->notes[low];
    f->has_line = false;
    for (;;) {
        paua_status status = line_read(&f->line, f->view, at.row, f->end);
        uint64_t rows;

        if (status != PAUA_OK) return status;
        rows = count_rows(&f->line.row, f->width);
        if (key < (by_row ? at.row + f->line.count : at.reflowed + rows)) break;
        at.row += f->line.count;
        at.reflowed += rows;
    }
    if (!lay_out(f)) return PAUA_ENOMEM;
    f->line_reflowed = at.reflowed;
    f->has_line = true;
    return PAUA_OK;
}

/* Drops the shapes before shapes_at. */
static void skip_shapes(paua_history_row *row)
{
    uint32_t low = 0, high = row->shape_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (row->shapes[middle].at < row->shapes_at)
            low = middle + 1;
        else
            high = middle;
    }
    row->shapes += low;
    row->shape_count -= low;
}

/* The row that begins at a break, up to the next one. */
static bool make_row(paua_history_reflow *f, size_t which, paua_history_row *out)
{
    const paua_history_row *line = &f->line.row;
    struct line_break from = f->breaks[which], to = f->breaks[which + 1];
    paua_history_row row = *line;
    uint32_t left = to.text_at - from.text_at, passed = from.run_passed;

    f->run_count = 0;
    for (uint32_t i = from.run; i < line->run_count && left > 0; i++) {
        uint32_t n = line->runs[i].nbytes - passed;

        if (n > left) n = left;
        passed = 0;
        left -= n;
        if (!HEAP_GROW(f->heap, f->runs, f->run_capacity, f->run_count + 1)) return false;
        f->runs[f->run_count++] =
            (paua_history_run){.nbytes = (uint16_t)n, .style = line->runs[i].style};
    }
    row.text += from.text_at;
    row.text_nbytes = to.text_at - from.text_at;
    row.shapes_at += from.text_at;
    skip_shapes(&row);
    row.runs = f->runs;
    row.run_count = (uint32_t)f->run_count;
    row.width = f->width;
    row.columns = to.column - from.column;
    row.soft = which + 2 < f->break_count || line->soft;
    row.end = line->end > from.column ? line->end - from.column : 0;
    if (row.end > row.columns) row.end = row.columns;
    *out = row;
    return true;
}

paua_status paua_history_reflow_row(paua_history_reflow *f, uint64_t index, paua_history_row *row,
                                    uint64_t *origin, paua_error *err)
{
    if (index >= f->row_count)
        return error_set(err, PAUA_EINVAL, "there is no row %llu", (unsigned long long)index);
    if (!f->has_line || index < f->line_reflowed ||
        index - f->line_reflowed + 1 >= f->break_count) {
        if (load_line(f, index, false) != PAUA_OK) return error_set_nomem(err);
    }
    if (f->line.row.damaged_rows > 0)
        return error_set(err, PAUA_ECORRUPT, "rows %llu to %llu are damaged",
                         (unsigned long long)f->line.first,
                         (unsigned long long)(f->line.first + f->line.count - 1));
    if (!make_row(f, (size_t)(index - f->line_reflowed), row)) return error_set_nomem(err);
    if (origin != NULL) *origin = f->line.first;
    return PAUA_OK;
}

/* Bytes of text of rows [first, row) of the view. */
static paua_status text_before(paua_history_view *v, uint64_t first, uint64_t row, uint32_t *nbytes)
{
    *nbytes = 0;
    for (uint64_t i = first; i < row; i++) {
        paua_status status = view_pin(v, i, false);
        uint32_t in_pin;

        if (status != PAUA_OK) return status;
        in_pin = view_row_in_pin(v, i);
        *nbytes += block_text_end(v->pin, in_pin) - block_text_begin(v->pin, in_pin);
    }
    return PAUA_OK;
}

paua_status paua_history_reflow_find(paua_history_reflow *f, uint64_t index, uint64_t *reflowed,
                                     paua_error *err)
{
    uint32_t at;
    size_t which = 0;

    if (index < f->first || index >= f->end)
        return error_set(err, PAUA_EINVAL, "row %llu is outside", (unsigned long long)index);
    if (load_line(f, index, true) != PAUA_OK) return error_set_nomem(err);
    if (f->line.row.damaged_rows == 0) {
        f->has_line = f->line.is_joined; /* otherwise its row goes with the view's pin */
        if (text_before(f->view, f->line.first, index, &at) != PAUA_OK) return error_set_nomem(err);
        while (which + 2 < f->break_count && f->breaks[which + 1].text_at <= at)
            which++;
    }
    *reflowed = f->line_reflowed + which;
    return PAUA_OK;
}
