/* value_order.h - the rows that have a value, in the order of their values. */
#ifndef PAUA_INDEX_VALUE_ORDER_H
#define PAUA_INDEX_VALUE_ORDER_H

#include "index/value_index.h"

struct value_entry {
    uint64_t key; /* a number's, a code, or the first 8 bytes of a byte string */
    uint32_t row;
    uint32_t total; /* for whoever writes */
};

struct value_order {
    const struct value_index_source *source; /* borrowed */
    struct value_entry *entries;             /* owned; by value, then by row */
    uint32_t count;
    bool exact; /* equal keys are equal values */
};

/* PAUA_OK, PAUA_ENOMEM or PAUA_ECANCELED; value_order_free() either way. Memory: 16 bytes an entry.
 * Cost: a sort in place, mostly of keys; byte strings that begin alike are compared in the column.
 */
paua_status value_order_make(struct value_order *order, const struct value_index_source *source,
                             paua_error *err);
void value_order_free(struct value_order *order);

/* Have two entries the same value? */
bool value_order_same(const struct value_order *order, const struct value_entry *a,
                      const struct value_entry *b);

/* PAUA_OK or, with a message, PAUA_ECANCELED. */
paua_status value_order_canceled(const struct value_index_source *source, paua_error *err);

/* How two cells of a column that are present compare: below 0, 0, above 0. */
static inline int value_cells_compare(const struct column_view *view, const struct cell *a,
                                      const struct cell *b)
{
    if (type_is_number(view->type)) return (a->key > b->key) - (a->key < b->key);
    return bytes_compare(a->data, a->nbytes, b->data, b->nbytes);
}

#endif
