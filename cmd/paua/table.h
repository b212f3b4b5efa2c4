/* table.h - rows of text in columns, for a person. */
#ifndef PAUA_CMD_TABLE_H
#define PAUA_CMD_TABLE_H

#include <stddef.h>

#include "util.h"

#define TABLE_COLUMNS_MAX 12u

struct table {
    size_t column_count;
    const char *heads[TABLE_COLUMNS_MAX]; /* a head that begins with '>' is aligned right */
    struct table_cell *cells;
    size_t cell_count;
};

struct table table_begin(const char *const *heads, size_t count);

/* Adds the next cell, row by row; bytes are copied (at most 4,000 of them). */
void table_cell(struct table *table, const void *bytes, size_t nbytes);
void table_cell_format(struct table *table, const char *format, ...) PRINTF_LIKE(2, 3);

/* Prints heads and rows; the last column is cut to the terminal's width. Frees the table. */
void table_end(struct table *table);

#endif
