/* column.h - one field of rows that are being added: the tail's columns, and what sealing packs.
 *
 * Rows are put in rising order; those that are skipped are NULL. A value is stored once: byte
 * strings in a dictionary that hashes them, until more than half of 4,096 or more in a chunk are
 * new with it, which makes that chunk unrepeated. Codes grow from 1 to 32 bits as they need; the
 * chunk that grows is repacked, finished ones are left alone. Not thread-safe: the tail's lock is
 * held by whoever calls. Byte strings that a view or a cell borrowed stay valid and where they are
 * while the column lives. */
#ifndef PAUA_COLUMN_COLUMN_H
#define PAUA_COLUMN_COLUMN_H

#include "column/view.h"

struct column;

/* An empty column; NULL when out of memory. */
struct column *column_new(uint32_t type);
void column_free(struct column *column); /* NULL does nothing */

/* Sets row `row`, not below column_rows(). On failure (PAUA_ENOMEM) nothing changed. A cell that is
 * not present need not be put. */
paua_status column_put(struct column *column, uint32_t row, const struct cell *cell);

/* The same for rows first .. first + n - 1: a few hundred at a time cost half of what each alone
 * does. */
paua_status column_put_rows(struct column *column, uint32_t first, const struct cell *cells,
                            uint32_t n);

/* One past the last row put. */
uint32_t column_rows(const struct column *column);

/* Remembers how much memory byte strings take now. */
void column_mark(struct column *column);

/* Forgets rows from `rows` on (those of a commit that failed). If no row below was put since
 * column_mark(), or since the beginning, byte strings put since then are freed. */
void column_truncate(struct column *column, uint32_t rows);

/* How the column looks now; valid until the next put or truncate. Changes nothing and cannot fail:
 * any number of threads may look at once while nobody puts. */
void column_look(const struct column *column, struct column_view *view);

/* Heap bytes held, everything included. */
size_t column_nbytes(const struct column *column);

#endif
