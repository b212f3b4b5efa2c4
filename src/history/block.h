/* block.h - some rows as they are read: immutable, in one allocation, shared by counted references.
 *
 * A sealed page is a block until it turns cold, and becomes one again when it is restored; a view's
 * copy of the tail is one too. All rows' text is contiguous, so that a search scans a page at once.
 * */
#ifndef PAUA_HISTORY_BLOCK_H
#define PAUA_HISTORY_BLOCK_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <paua/paua_history.h>

#include "history/heap.h"

#define BLOCK_ROWS_MAX PAUA_HISTORY_PAGE_ROWS_MAX
#define BLOCK_NBYTES_MAX 65536u /* of a block of more than one row */

/* Sizes are limited as if these were the sizes of structs, since a page written where pointers have
 * 32 bits must not be too large where they have 64. */
#define BLOCK_HEAD_NBYTES 256u
#define BLOCK_LINK_NBYTES 24u

/* A cluster that the rule would cut or size otherwise. */
struct paua_history_shape {
    uint32_t at; /* in the block's text */
    uint8_t nbytes;
    uint8_t width;
    uint16_t reserved;
};
typedef struct paua_history_shape shape;

/* The last entry of row_ends and run_ends is not stored: it is text_nbytes, run_count. Hence a
 * block of several rows needs 16 bits for them, and a block of one row needs none. */
struct block {
    atomic_size_t refs;
    struct heap *heap;
    size_t nbytes;
    uint64_t first_id;
    int64_t first_time; /* 0: rows have no times */
    uint32_t row_count;
    uint32_t text_nbytes;
    uint32_t run_count;
    uint32_t style_count; /* at least 1: [0] is the default */
    uint32_t link_count;
    uint32_t shape_count;
    uint16_t width; /* of every row, unless there are widths */
    const char *text;
    const uint16_t *row_ends;
    const uint16_t *run_ends;   /* NULL: no runs */
    const uint16_t *widths;     /* NULL: all the same */
    const uint16_t *columns;    /* NULL: all text is ASCII, one column a byte */
    const uint16_t *ends;       /* NULL: content ends where text does */
    const uint32_t *id_steps;   /* above first_id; NULL: 0, 1, 2 ... */
    const uint32_t *time_steps; /* above first_time; NULL: all 0 */
    const uint8_t *wraps;       /* a bit a row: soft; NULL: none is */
    const paua_history_run *runs;
    const paua_history_style *styles;
    const paua_history_link *links;
    const shape *shapes;
};

_Static_assert(sizeof(struct block) <= BLOCK_HEAD_NBYTES, "a block's head is larger than stated");
_Static_assert(sizeof(paua_history_link) <= BLOCK_LINK_NBYTES, "a link is larger than stated");

static inline uint32_t block_text_begin(const struct block *b, uint32_t row)
{
    return row == 0 ? 0 : b->row_ends[row - 1];
}

static inline uint32_t block_text_end(const struct block *b, uint32_t row)
{
    return row + 1 == b->row_count ? b->text_nbytes : b->row_ends[row];
}

static inline uint32_t block_run_begin(const struct block *b, uint32_t row)
{
    return row == 0 || b->run_ends == NULL ? 0 : b->run_ends[row - 1];
}

static inline uint32_t block_run_end(const struct block *b, uint32_t row)
{
    return row + 1 == b->row_count || b->run_ends == NULL ? b->run_count : b->run_ends[row];
}

static inline uint64_t block_id(const struct block *b, uint32_t row)
{
    return b->first_id + (b->id_steps == NULL ? row : b->id_steps[row]);
}

static inline int64_t block_time(const struct block *b, uint32_t row)
{
    return b->first_time + (b->time_steps == NULL ? 0 : b->time_steps[row]);
}

static inline bool block_soft(const struct block *b, uint32_t row)
{
    return b->wraps != NULL && (b->wraps[row / 8] >> row % 8 & 1) != 0;
}

static inline uint32_t block_width(const struct block *b, uint32_t row)
{
    return b->widths == NULL ? b->width : b->widths[row];
}

static inline uint32_t block_columns(const struct block *b, uint32_t row)
{
    return b->columns == NULL ? block_text_end(b, row) - block_text_begin(b, row) : b->columns[row];
}

/* A row as the public struct, borrowed from the block. */
void block_row(const struct block *b, uint32_t row, paua_history_row *out);

/* The first row at or after `row` that has this id or a higher one; row_count if there is none. */
uint32_t block_find_id(const struct block *b, uint64_t id);
uint32_t block_find_time(const struct block *b, int64_t time_ms);

/* The row that the byte `at` of the text belongs to; at < text_nbytes. */
uint32_t block_row_at(const struct block *b, uint32_t at);

static inline struct block *block_ref(struct block *b)
{
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

void block_unref(struct block *b); /* NULL does nothing */

#endif
