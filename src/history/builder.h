/* builder.h - rows as they gather: the tail of a history, a page while it is decoded, a logical
 * line while it is joined.
 *
 * The same form as a block, text and runs and never cells, but in arrays that grow. A row is staged
 * whole or not at all: what a failing call had begun is undone. A builder is emptied and used
 * again; its arrays keep their memory up to BLOCK_NBYTES_MAX each. */
#ifndef PAUA_HISTORY_BUILDER_H
#define PAUA_HISTORY_BUILDER_H

#include "history/block.h"

/* One row of a builder; ends count from the builder's beginning. */
struct slot {
    uint32_t text_end;
    uint32_t run_end;
    uint32_t id_step;
    uint32_t time_step;
    uint16_t width;
    uint16_t columns;
    uint16_t end;
    uint8_t soft;
    uint8_t ascii;
};

/* A link's id and URI lie one after the other in strings. */
struct link_slot {
    uint32_t at;
    uint32_t id_nbytes;
    uint32_t uri_nbytes;
};

/* Finds an entry of an array by its hash; entries are index + 1, 0 is free. Made for the ninth. */
struct finder {
    uint16_t *entries;
    size_t capacity; /* 0, or a power of two at least twice the number of entries */
};

struct builder {
    struct heap *heap;
    uint64_t first_id;  /* of slot 0 */
    int64_t first_time; /* of slot 0; 0: rows have no times */
    uint32_t dead_rows; /* evicted at the front, until builder_compact */
    char *text;
    struct slot *slots;
    paua_history_run *runs;
    paua_history_style *styles; /* [0] is that of id 1; id 0 is the default */
    struct link_slot *links;    /* [0] is that of link 1 */
    char *strings;
    shape *shapes;
    size_t text_nbytes, slot_count, run_count, style_count, link_count, strings_nbytes, shape_count;
    size_t text_capacity, slot_capacity, run_capacity, style_capacity, link_capacity;
    size_t strings_capacity, shape_capacity;
    struct finder style_finder, link_finder;
};

/* Lengths to return to. */
struct builder_mark {
    size_t text_nbytes, slot_count, run_count, style_count, link_count, strings_nbytes, shape_count;
};

void builder_init(struct builder *b, struct heap *heap);
void builder_free(struct builder *b);
void builder_reset(struct builder *b);        /* empty; keeps memory of ordinary size */
size_t builder_held(const struct builder *b); /* bytes allocated */

struct builder_mark builder_mark(const struct builder *b);
void builder_undo(struct builder *b, const struct builder_mark *mark);

/* Whether a row of this id and time can follow in this builder: steps fit, times are all or none.
 * */
bool builder_accepts(const struct builder *b, uint64_t id, int64_t time_ms);

/* Stages a row (builder_row.c); id and time are settled, and accepted. On failure nothing changed.
 * */
paua_status builder_append(struct builder *b, const paua_history_new_row *row, uint64_t id,
                           int64_t time_ms, paua_error *err);

/* Bytes of the block that the live rows would make, by the sizes of structs in block.h. */
size_t builder_block_nbytes(const struct builder *b);

/* The same or more, at no cost. */
size_t builder_block_bound(const struct builder *b);

/* Bytes that the last row would need alone in a trimmed builder. */
size_t builder_last_row_nbytes(const struct builder *b);

/* The live rows as a block of this heap (builder_block.c); at least one, at most BLOCK_ROWS_MAX.
 * NULL when out of memory. */
struct block *builder_block(const struct builder *b, struct heap *heap);

/* Drops dead rows and what only they used. Returns false, with nothing changed, out of memory. */
bool builder_compact(struct builder *b);

/* Rebuilds the tables of both dictionaries, after entries have moved. */
void builder_refind(struct builder *b);

/* Gives back memory beyond what is used, where the allocator obliges. */
void builder_trim(struct builder *b);

/* ---- for those who fill a builder ---- */

/* Room for so many more bytes of text; false when out of memory. */
static inline bool builder_text_room(struct builder *b, size_t nbytes)
{
    return HEAP_GROW(b->heap, b->text, b->text_capacity, b->text_nbytes + nbytes);
}

/* Lengthens the last run of the row that began at run_begin, or adds one. */
bool builder_push_run(struct builder *b, size_t run_begin, size_t nbytes, uint32_t style);
/* Drops runs of the default style from the end of the row that began at run_begin. */
void builder_drop_default_runs(struct builder *b, size_t run_begin);
bool builder_push_shape(struct builder *b, size_t at, uint32_t nbytes, uint32_t width);
bool builder_push_slot(struct builder *b, const struct slot *slot);

/* Id of a canonical style (link already one of the builder's), added if it is new; 0 for the
 * default, -1 when out of memory or over 65,535. */
int32_t builder_style(struct builder *b, const paua_history_style *style);
int32_t builder_link(struct builder *b, const paua_history_link *link);
/* Colours and attributes are of known kinds, unused bits zero; the link is not looked at. */
bool builder_style_valid(const paua_history_style *style);

#endif
