/* tail_columns.h - the fields of the tail's rows.
 *
 * One writer puts values; readers look while they hold the lock shared, and may keep what byte
 * strings they borrowed afterwards, as long as the tail lives. Rows past the count that a view
 * carries are not committed: whoever looks leaves them out. */
#ifndef PAUA_DB_TAIL_COLUMNS_H
#define PAUA_DB_TAIL_COLUMNS_H

#include <pthread.h>

#include "column/column.h"

struct tail_column {
    uint32_t id;
    uint32_t mark; /* the last one that it was put to after */
    struct column *column;
};

struct tail_columns {
    pthread_rwlock_t lock;
    struct tail_column *items; /* by id */
    uint32_t count;
    size_t capacity;
    /* The writer's only: */
    uint32_t next; /* where the next field put probably is */
    uint32_t mark; /* how often rows were marked */
};

void tail_columns_init(struct tail_columns *columns);
void tail_columns_free(struct tail_columns *columns);

/* The writer's: around some puts, which readers wait for: those of a row, or of one field. */
void tail_columns_begin_puts(struct tail_columns *columns);
void tail_columns_end_puts(struct tail_columns *columns);
/* Between them: puts one value (absent ones need not be put). PAUA_OK or PAUA_ENOMEM. */
paua_status tail_columns_put(struct tail_columns *columns, uint32_t id, uint32_t type, uint32_t row,
                             const struct cell *cell);
/* Between them: the values of rows first .. first + n - 1 of one field. The same. */
paua_status tail_columns_put_rows(struct tail_columns *columns, uint32_t id, uint32_t type,
                                  uint32_t first, const struct cell *cells, uint32_t n);
/* Rows put so far may stay while later ones are taken back: the memory of those is then free. */
void tail_columns_mark(struct tail_columns *columns);
/* Forgets rows from `rows` on. */
void tail_columns_truncate(struct tail_columns *columns, uint32_t rows);

/* Readers: between lock and unlock. NULL: no row of the tail has that field. */
void tail_columns_lock(struct tail_columns *columns);
void tail_columns_unlock(struct tail_columns *columns);
struct column *tail_columns_find(const struct tail_columns *columns, uint32_t id);

/* One value, with the lock taken for it. */
void tail_columns_cell(struct tail_columns *columns, uint32_t id, uint32_t row, struct cell *cell);

size_t tail_columns_nbytes(struct tail_columns *columns);

#endif
