/* append.c - rows go into the tail, and a full tail becomes a page.
 *
 * A row is staged in the tail first and measured there. If it makes the page too large it is
 * undone, the tail sealed, and the row staged again, alone. Sealing changes no row, so that a row
 * refused afterwards has changed nothing that anyone can see. */
#include "history/history.h"

#include <string.h>

#include "base/error.h"

void history_forget_tail_copy(paua_history *h)
{
    block_unref(h->tail_copy);
    h->tail_copy = NULL;
}

struct block *history_tail_block(paua_history *h)
{
    if (h->tail_copy == NULL) h->tail_copy = builder_block(&h->tail, h->heap);
    return h->tail_copy;
}

bool history_seal(paua_history *h)
{
    struct block *block = history_tail_block(h);
    struct page_head head;
    struct page *page;

    if (block == NULL) return false;
    head = page_head_of(block, history_tail_ordinal(h));
    page = page_make(h->heap, &head, block, NULL);
    if (page == NULL) return false;
    if (!list_add(h->heap, &h->list, page)) {
        block_ref(block);
        page_unref(page);
        return false;
    }
    h->tail_copy = NULL; /* the page has it now */
    h->page_number++;
    builder_reset(&h->tail);
    return true;
}

/* Id and time of a new row. */
static paua_status settle(const paua_history *h, const paua_history_new_row *row, uint64_t *id,
                          int64_t *time_ms, paua_error *err)
{
    if (row->time_ms < 0) return error_set(err, PAUA_EINVAL, "a time is not negative");
    if (row->id == UINT64_MAX || h->next_id == UINT64_MAX)
        return error_set(err, PAUA_EINVAL, "ids end below UINT64_MAX");
    if (row->id != 0 && row->id < h->next_id)
        return error_set(err, PAUA_EINVAL, "id %llu is not above the last one",
                         (unsigned long long)row->id);
    *id = row->id == 0 ? h->next_id : row->id;
    *time_ms = row->time_ms < h->last_time ? h->last_time : row->time_ms;
    return PAUA_OK;
}

/* Bytes that the tail would make as a page, exactly only when it matters. */
static bool over(const struct builder *tail, size_t nbytes)
{
    return builder_block_bound(tail) > nbytes && builder_block_nbytes(tail) > nbytes;
}

/* Whether the row that was staged can be kept at all. */
static paua_status size_valid(const paua_history *h, paua_error *err)
{
    const struct builder *tail = &h->tail;
    uint64_t max = h->limits.max_nbytes;

    if (builder_block_bound(tail) > PAUA_HISTORY_ROW_NBYTES_MAX &&
        builder_last_row_nbytes(tail) > PAUA_HISTORY_ROW_NBYTES_MAX)
        return error_set(err, PAUA_EINVAL, "a row takes at most 1 MiB");
    if (max > 0 && max < history_held(h) &&
        max < HISTORY_EMPTY_NBYTES + builder_last_row_nbytes(tail))
        return error_set(err, PAUA_ENOSPACE, "the row alone is over the limit of %llu bytes",
                         (unsigned long long)max);
    return PAUA_OK;
}

/* Undoes the row that was staged, seals what was before it, and stages it alone. */
static paua_status append_alone(paua_history *h, const struct builder_mark *mark,
                                const paua_history_new_row *row, uint64_t id, int64_t time_ms,
                                paua_error *err)
{
    builder_undo(&h->tail, mark);
    if (!history_seal(h)) return error_set_nomem(err);
    return builder_append(&h->tail, row, id, time_ms, err);
}

static paua_status append_one(paua_history *h, const paua_history_new_row *row, paua_error *err)
{
    struct builder *tail = &h->tail;
    struct builder_mark mark;
    uint64_t id = 0;
    int64_t time_ms = 0;
    paua_status status = settle(h, row, &id, &time_ms, err);

    if (status != PAUA_OK) return status;
    if (history_tail_rows(h) > 0 &&
        (history_tail_rows(h) >= h->page_rows || !builder_accepts(tail, id, time_ms)) &&
        !history_seal(h))
        return error_set_nomem(err);
    if (history_tail_rows(h) == 0) builder_reset(tail);

    mark = builder_mark(tail);
    status = builder_append(tail, row, id, time_ms, err);
    if (status == PAUA_OK) {
        status = size_valid(h, err);
        if (status != PAUA_OK) builder_undo(tail, &mark);
    }
    if (status == PAUA_OK && history_tail_rows(h) > 1 && over(tail, h->page_nbytes))
        status = append_alone(h, &mark, row, id, time_ms, err);
    if (status != PAUA_OK) return status;
    history_forget_tail_copy(h);
    h->next_ordinal++;
    h->next_id = id + 1;
    h->last_time = time_ms;
    h->tail_visits = 0;
    return PAUA_OK;
}

paua_status paua_history_append(paua_history *h, const paua_history_new_row *rows, size_t count,
                                size_t *appended, paua_error *err)
{
    size_t stride = count == 0 ? 0 : rows->size, done = 0;
    paua_status status = PAUA_OK;

    while (status == PAUA_OK && done < count) {
        paua_history_new_row row = {0};

        memcpy(&row, (const char *)rows + done * stride, stride < sizeof row ? stride : sizeof row);
        status = append_one(h, &row, err);
        if (status == PAUA_OK) {
            history_evict(h);
            done++;
        } else if (err != NULL) {
            err->row = done;
        }
    }
    if (appended != NULL) *appended = done;
    return status;
}
