/* validate.c - every invariant of a history that a bug of ours could break; for tests, and for
 * whoever doubts. What decoders check is assumed of payloads here only as far as blocks show it. */
#include "history/history.h"
#include "history/width.h"

#define CHECK(condition, what)                                                                     \
    do {                                                                                           \
        if (!(condition)) return what;                                                             \
    } while (0)

static const char *row_validate(const struct block *b, uint32_t row)
{
    paua_history_row r;
    uint32_t columns = 0, styled = 0, shapes = 0;

    CHECK(block_text_begin(b, row) <= block_text_end(b, row), "row ends descend");
    CHECK(block_run_begin(b, row) <= block_run_end(b, row), "run ends descend");
    CHECK(row == 0 || block_id(b, row) > block_id(b, row - 1), "ids do not ascend");
    CHECK(row == 0 || block_time(b, row) >= block_time(b, row - 1), "times run back");
    block_row(b, row, &r);
    CHECK(width_text_valid(r.text, r.text_nbytes), "a row's text is not valid");
    for (uint32_t i = 0; i < r.run_count; i++) {
        CHECK(r.runs[i].style < b->style_count, "a run's style is not there");
        CHECK(r.runs[i].nbytes > 0, "an empty run");
        styled += r.runs[i].nbytes;
    }
    CHECK(styled <= r.text_nbytes, "runs go beyond their row");
    CHECK(r.run_count == 0 || r.runs[r.run_count - 1].style != 0, "a default run at the end");
    for (uint32_t at = 0, nbytes; at < r.text_nbytes; at += nbytes) {
        shapes += shapes < r.shape_count && r.shapes[shapes].at - r.shapes_at == at;
        columns += paua_history_row_cluster(&r, at, &nbytes);
    }
    CHECK(shapes == r.shape_count, "a shape that no cluster begins with");
    CHECK(columns == r.columns, "a row's columns are not those of its text");
    CHECK(r.columns <= r.width && r.end <= r.columns, "a row is wider than its terminal");
    return NULL;
}

static const char *block_validate(const struct block *b)
{
    CHECK(b->row_count >= 1 && b->row_count <= BLOCK_ROWS_MAX, "a block's rows");
    CHECK(b->row_count == 1 || b->nbytes <= BLOCK_NBYTES_MAX, "a block's size");
    for (uint32_t i = 1; i < b->style_count; i++)
        CHECK(b->styles[i].link <= b->link_count, "a style's link is not there");
    for (uint32_t row = 0; row < b->row_count; row++) {
        const char *what = row_validate(b, row);

        if (what != NULL) return what;
    }
    return NULL;
}

static const char *page_validate(struct page *page)
{
    struct block *b;
    const char *what;
    paua_status status = page_pin(page, false, &b);

    if (status != PAUA_OK) return status == PAUA_ENOMEM || page->damaged ? NULL : "a page's state";
    what = block_validate(b);
    if (what == NULL && (b->row_count != page->row_count || b->first_id != page->first_id ||
                         block_id(b, b->row_count - 1) != page_last_id(page) ||
                         b->first_time != page_first_time(page) ||
                         block_time(b, b->row_count - 1) != page_last_time(page) ||
                         block_soft(b, b->row_count - 1) != page->last_soft ||
                         (b->id_steps != NULL) != page->has_gaps))
        what = "a page is not what it says";
    block_unref(b);
    return what;
}

static const char *pages_validate(paua_history *h, size_t *nbytes)
{
    uint64_t next = 0, id = 0;

    for (size_t i = 0; i < history_page_count(h); i++) {
        struct page *page = h->list->pages[h->list->first + i];
        const char *what = page_validate(page);

        if (what != NULL) return what;
        CHECK(page->attached, "a page of the history is detached");
        CHECK(i == 0 || page->ordinal == next, "a gap between pages");
        CHECK(page->first_id > id, "ids do not ascend from page to page");
        CHECK(i > 0 || (page->ordinal <= h->first_ordinal &&
                        page->ordinal + page->row_count > h->first_ordinal),
              "the first page is not that of the first row");
        next = page->ordinal + page->row_count;
        id = page_last_id(page);
        *nbytes += page_state(page).nbytes;
    }
    CHECK(history_page_count(h) == 0 || next == history_tail_ordinal(h), "the tail's place");
    CHECK(id < h->next_id, "the next id");
    return NULL;
}

const char *history_validate(paua_history *h)
{
    size_t nbytes = 0;
    const char *what = pages_validate(h, &nbytes);

    if (what != NULL) return what;
    CHECK(nbytes == atomic_load_explicit(&h->heap->held, memory_order_relaxed), "bytes held");
    CHECK(h->first_ordinal <= h->next_ordinal, "ordinals");
    CHECK(h->tail.dead_rows <= h->tail.slot_count, "the tail's rows");
    CHECK(h->limits.max_rows == 0 || h->next_ordinal - h->first_ordinal <= h->limits.max_rows,
          "more rows than the limit");
    if (history_tail_rows(h) == 0) return NULL;
    CHECK(history_page_count(h) > 0 || history_tail_ordinal(h) == h->first_ordinal,
          "the tail's first row");
    CHECK(history_tail_rows(h) <= h->page_rows, "the tail is too long");
    return history_tail_block(h) == NULL ? NULL : block_validate(h->tail_copy);
}
