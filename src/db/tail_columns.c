/* tail_columns.c - see tail_columns.h. */
#include "db/tail_columns.h"

#include <string.h>

#include "base/memory.h"

void tail_columns_init(struct tail_columns *columns)
{
    *columns = (struct tail_columns){0};
    pthread_rwlock_init(&columns->lock, NULL);
}

void tail_columns_free(struct tail_columns *columns)
{
    for (uint32_t i = 0; i < columns->count; i++)
        column_free(columns->items[i].column);
    mem_free(columns->items);
    pthread_rwlock_destroy(&columns->lock);
}

/* Where a field's column is, or would be put. */
static uint32_t place_of(const struct tail_columns *columns, uint32_t id)
{
    uint32_t low = 0, high = columns->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (columns->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct column *tail_columns_find(const struct tail_columns *columns, uint32_t id)
{
    uint32_t at = place_of(columns, id);

    return at < columns->count && columns->items[at].id == id ? columns->items[at].column : NULL;
}

static bool column_add(struct tail_columns *columns, uint32_t at, uint32_t id, uint32_t type)
{
    struct column *column;

    if (mem_grow((void **)&columns->items, &columns->capacity, columns->count + 1u,
                 sizeof columns->items[0]) != 0)
        return false;
    column = column_new(type);
    if (column == NULL) return false;
    memmove(columns->items + at + 1, columns->items + at,
            (columns->count - at) * sizeof columns->items[0]);
    columns->items[at] = (struct tail_column){id, columns->mark, column};
    columns->count++;
    return true;
}

/* The column that a field's values are put into; NULL when out of memory. */
static struct column *column_for(struct tail_columns *columns, uint32_t id, uint32_t type)
{
    uint32_t at = columns->next;
    struct tail_column *item;

    if (at >= columns->count || columns->items[at].id != id) at = place_of(columns, id);
    if ((at == columns->count || columns->items[at].id != id) && !column_add(columns, at, id, type))
        return NULL;
    item = &columns->items[at];
    if (item->mark != columns->mark) column_mark(item->column);
    item->mark = columns->mark;
    columns->next = at + 1;
    return item->column;
}

void tail_columns_begin_puts(struct tail_columns *columns)
{
    pthread_rwlock_wrlock(&columns->lock);
}

void tail_columns_end_puts(struct tail_columns *columns) { pthread_rwlock_unlock(&columns->lock); }

paua_status tail_columns_put(struct tail_columns *columns, uint32_t id, uint32_t type, uint32_t row,
                             const struct cell *cell)
{
    struct column *column;

    if (!cell->present) return PAUA_OK;
    column = column_for(columns, id, type);
    return column != NULL ? column_put(column, row, cell) : PAUA_ENOMEM;
}

paua_status tail_columns_put_rows(struct tail_columns *columns, uint32_t id, uint32_t type,
                                  uint32_t first, const struct cell *cells, uint32_t n)
{
    struct column *column = column_for(columns, id, type);

    return column != NULL ? column_put_rows(column, first, cells, n) : PAUA_ENOMEM;
}

void tail_columns_mark(struct tail_columns *columns) { columns->mark++; }

void tail_columns_truncate(struct tail_columns *columns, uint32_t rows)
{
    pthread_rwlock_wrlock(&columns->lock);
    for (uint32_t i = 0; i < columns->count; i++)
        column_truncate(columns->items[i].column, rows);
    pthread_rwlock_unlock(&columns->lock);
}

void tail_columns_lock(struct tail_columns *columns) { pthread_rwlock_rdlock(&columns->lock); }

void tail_columns_unlock(struct tail_columns *columns) { pthread_rwlock_unlock(&columns->lock); }

void tail_columns_cell(struct tail_columns *columns, uint32_t id, uint32_t row, struct cell *cell)
{
    struct column_view view;
    const struct column *column;

    *cell = (struct cell){0};
    tail_columns_lock(columns);
    column = tail_columns_find(columns, id);
    if (column != NULL) {
        column_look(column, &view);
        column_cell(&view, row, cell);
    }
    tail_columns_unlock(columns);
}

size_t tail_columns_nbytes(struct tail_columns *columns)
{
    size_t nbytes = columns->capacity * sizeof columns->items[0];

    tail_columns_lock(columns);
    for (uint32_t i = 0; i < columns->count; i++)
        nbytes += column_nbytes(columns->items[i].column);
    tail_columns_unlock(columns);
    return nbytes;
}
