/* evict.c - the oldest rows give way.
 *
 * Rows and age move first_ordinal on row by row; a page goes when its last row has gone, and dead
 * rows of the tail when they are as many as the live ones, so that each append pays for one row at
 * most twice. A limit in bytes is one on real memory, which a sealed page gives back as a whole:
 * its rows go together, and history.c makes pages small where the limit is. When only the tail is
 * left it is cut to size.
 *
 * The newest row is never evicted: a limit below one row refuses the row instead (append.c). */
#include "history/history.h"

#define DEAD_ROWS_MIN 8u

/* Drops pages whose rows are all gone, and sees to the tail. */
static void sweep(paua_history *h)
{
    struct builder *tail = &h->tail;

    while (history_page_count(h) > 0) {
        const struct page *page = h->list->pages[h->list->first];

        if (page->ordinal + page->row_count > h->first_ordinal) return;
        if (!list_drop_first(h->heap, &h->list)) return;
        filters_drop(&h->filters, h->first_ordinal);
    }
    if (tail->slot_count == 0 || history_tail_ordinal(h) >= h->first_ordinal) return;
    history_forget_tail_copy(h);
    tail->dead_rows += (uint32_t)(h->first_ordinal - history_tail_ordinal(h));
    if (tail->dead_rows >= DEAD_ROWS_MIN && tail->dead_rows >= history_tail_rows(h))
        builder_compact(tail);
}

/* Rows up to an ordinal go. */
void history_evict_to(paua_history *h, uint64_t ordinal)
{
    assert(ordinal <= h->next_ordinal);
    if (ordinal <= h->first_ordinal) return;
    h->first_ordinal = ordinal;
    sweep(h);
}

/* The first row of the tail that is not older. */
static uint64_t tail_ordinal_from(const paua_history *h, int64_t time_ms)
{
    const struct builder *tail = &h->tail;
    uint64_t ordinal = history_tail_ordinal(h);

    for (size_t i = tail->dead_rows; i < tail->slot_count; i++, ordinal++)
        if (tail->first_time + tail->slots[i].time_step >= time_ms) break;
    return ordinal;
}

void history_evict_before(paua_history *h, int64_t time_ms)
{
    while (history_page_count(h) > 0) {
        struct page *page = h->list->pages[h->list->first];
        struct block *block;
        uint64_t end = page->ordinal + page->row_count;

        if (page_first_time(page) == 0 || page_first_time(page) >= time_ms) return;
        if (page_last_time(page) >= time_ms) {
            if (page_pin(page, true, &block) != PAUA_OK) return;
            end = page->ordinal + block_find_time(block, time_ms);
            block_unref(block);
        }
        history_evict_to(h, end);
        if (history_page_count(h) > 0 && h->list->pages[h->list->first] == page) return;
    }
    if (history_tail_rows(h) > 0 && h->tail.first_time != 0)
        history_evict_to(h, tail_ordinal_from(h, time_ms));
}

/* Rows at the tail's front whose bytes make up for `excess`; at least one, but not the last. */
static uint32_t tail_rows_for(const paua_history *h, size_t excess)
{
    const struct builder *tail = &h->tail;
    size_t last = tail->slot_count - 1, i = tail->dead_rows;
    size_t text = i == 0 ? 0 : tail->slots[i - 1].text_end;

    while (i < last &&
           tail->slots[i].text_end - text + (i - tail->dead_rows + 1) * sizeof tail->slots[0] <
               excess)
        i++;
    return (uint32_t)((i < last ? i + 1 : i) - tail->dead_rows);
}

static void evict_for_bytes(paua_history *h)
{
    uint64_t max = h->limits.max_nbytes;

    while (history_held(h) > max && history_page_count(h) > 0) {
        const struct page *page = h->list->pages[h->list->first];
        uint64_t end = page->ordinal + page->row_count;
        size_t before = history_page_count(h);

        history_evict_to(h, end < h->next_ordinal ? end : h->next_ordinal - 1);
        if (history_page_count(h) == before) return;
    }
    if (history_held(h) <= max) return;
    list_unref(h->list);
    h->list = NULL;
    history_forget_tail_copy(h);
    while (history_held(h) > max) {
        size_t excess;

        if (!builder_compact(&h->tail)) return;
        builder_trim(&h->tail);
        if (history_held(h) <= max || history_tail_rows(h) <= 1) return;
        excess = history_held(h) - (size_t)max;
        history_evict_to(h, h->first_ordinal + tail_rows_for(h, excess));
    }
}

void history_evict(paua_history *h)
{
    uint64_t rows = h->next_ordinal - h->first_ordinal;
    uint64_t max_age = h->limits.max_age_ms;

    if (h->limits.max_rows > 0 && rows > h->limits.max_rows)
        history_evict_to(h, h->next_ordinal - h->limits.max_rows);
    if (max_age > 0 && max_age < (uint64_t)h->last_time)
        history_evict_before(h, h->last_time - (int64_t)max_age);
    if (h->limits.max_nbytes > 0 && rows > 0) evict_for_bytes(h);
}
