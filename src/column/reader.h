/* reader.h - reading a column's rows as values, in rising order, many at a time.
 *
 * A reader remembers where it is in a sparse chunk, and the values of a small dictionary, so that
 * columns that are read side by side cost what they hold and not a search a row. It borrows the
 * view, and its values borrow as cells do. Rows that do not rise are read all the same. */
#ifndef PAUA_COLUMN_READER_H
#define PAUA_COLUMN_READER_H

#include "column/view.h"

#define READER_VALUES_MAX 64u

struct column_reader {
    const struct column_view *view;
    uint32_t chunk, entry; /* sparse: the last entry looked at */
    bool has_table;
    paua_value table[READER_VALUES_MAX + 1]; /* of the dictionary, by code */
};

void column_reader_begin(struct column_reader *reader, const struct column_view *view);

/* The values of rows first .. first + n - 1, `stride` values apart: a column of records that are
 * filled column by column. Some hundred rows at a time are best. */
void column_reader_values(struct column_reader *reader, uint32_t first, uint32_t n,
                          paua_value *values, size_t stride);

/* Only those that are not NULL: `rows` gets how far from `first` each is; n is at most 65,536.
 * Returns how many there are. */
uint32_t column_reader_present(struct column_reader *reader, uint32_t first, uint32_t n,
                               uint16_t *rows, paua_value *values);

#endif
