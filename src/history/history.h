/* history.h - a history: a list of sealed pages and a tail.
 *
 * Rows are numbered by ordinals, from 0, in the order of their appending; first_ordinal moves on as
 * they are evicted. One thread at a time. */
#ifndef PAUA_HISTORY_HISTORY_H
#define PAUA_HISTORY_HISTORY_H

#include "history/filter.h"

struct paua_history {
    struct heap *heap;
    struct list *list;       /* NULL: no sealed pages */
    struct filters *filters; /* of the oldest pages that are there; NULL: none */
    struct block *tail_copy; /* of the tail as it is now, for views; NULL: none yet */
    struct builder tail;
    paua_history_limits limits;
    uint64_t first_ordinal;
    uint64_t next_ordinal;
    uint64_t next_id;
    uint64_t page_number; /* of the next page */
    int64_t last_time;    /* of the newest row ever; 0: rows have no times yet */
    uint64_t idle_cursor; /* page number at which the next idle visit begins */
    uint32_t page_rows;
    uint32_t page_nbytes;   /* a page closes at these, or at its rows */
    uint32_t filter_rows;   /* filters are made when there are so many rows, ... */
    uint32_t filter_extent; /* ... each for as many as this */
    uint8_t tail_visits;    /* idle visits since the last append */
};

static inline uint32_t history_tail_rows(const paua_history *h)
{
    return (uint32_t)h->tail.slot_count - h->tail.dead_rows;
}

static inline uint64_t history_tail_ordinal(const paua_history *h)
{
    return h->next_ordinal - history_tail_rows(h);
}

/* A page's number tells its group (FRAME_GROUP); eviction does not move it. */
static inline uint64_t history_page_number(const paua_history *h, size_t at)
{
    return h->page_number - (h->list->end - at);
}

static inline size_t history_page_count(const paua_history *h)
{
    return h->list == NULL ? 0 : h->list->end - h->list->first;
}

/* Bytes that the history answers for; and those of an empty one. */
size_t history_held(const paua_history *h);
#define HISTORY_EMPTY_NBYTES (sizeof(paua_history) + sizeof(struct heap))

/* Evicts what limits do not allow (evict.c); keeps the newest row. Best effort when out of memory.
 * */
void history_evict(paua_history *h);
/* Rows before an ordinal, which is at most next_ordinal. */
void history_evict_to(paua_history *h, uint64_t ordinal);
/* Rows older than this. */
void history_evict_before(paua_history *h, int64_t time_ms);

/* The tail's rows as a block, kept until they change: a borrowed pointer; NULL when out of memory.
 * The tail has rows. */
struct block *history_tail_block(paua_history *h);
void history_forget_tail_copy(paua_history *h);

/* The tail becomes a page; it has rows. False, with nothing changed, out of memory. */
bool history_seal(paua_history *h);

/* Every invariant (validate.c). NULL, or what does not hold. */
const char *history_validate(paua_history *h);

#endif
