/* table.c - rows of text in columns, for a person. */
#include "table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define CELL_NBYTES_MAX 4000u
#define GAP 2u
#define LAST_COLUMN_MIN 8u

struct table_cell {
    char *bytes;
    size_t nbytes;
};

struct table table_begin(const char *const *heads, size_t count)
{
    struct table table = {.column_count = count};

    memcpy(table.heads, heads, count * sizeof *heads);
    return table;
}

void table_cell(struct table *table, const void *bytes, size_t nbytes)
{
    const uint8_t *text = bytes;
    size_t kept = nbytes < CELL_NBYTES_MAX ? nbytes : CELL_NBYTES_MAX;
    struct table_cell cell;

    /* Not in the middle of a character, if it is one. */
    for (size_t back = 0; kept < nbytes && back < 3 && (text[kept] & 0xc0) == 0x80; back++)
        kept--;
    cell = (struct table_cell){.bytes = cmd_alloc(kept, 1), .nbytes = kept};
    if (kept > 0) memcpy(cell.bytes, bytes, kept);
    /* Doubling at powers of two keeps the growth linear without a second counter. */
    if ((table->cell_count & (table->cell_count - 1)) == 0)
        table->cells = cmd_grow(table->cells, 2 * table->cell_count + 1, sizeof *table->cells);
    table->cells[table->cell_count++] = cell;
}

void table_cell_format(struct table *table, const char *format, ...)
{
    char text[512];
    va_list list;
    int length;

    va_start(list, format);
    length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    table_cell(table, text, length < 0 ? 0 : strnlen(text, sizeof text));
}

static bool right_aligned(const struct table *table, size_t column)
{
    return table->heads[column][0] == '>';
}

static const char *head_text(const struct table *table, size_t column)
{
    return table->heads[column] + (right_aligned(table, column) ? 1 : 0);
}

static void print_cell(const struct table *table, size_t column, const char *bytes, size_t nbytes,
                       size_t width)
{
    bool last = column + 1 == table->column_count;
    size_t columns = text_print(NULL, bytes, nbytes, width);
    size_t pad = width == TEXT_NO_LIMIT || columns > width ? 0 : width - columns;

    if (right_aligned(table, column)) printf("%*s", (int)pad, "");
    text_print(stdout, bytes, nbytes, width);
    if (last) {
        putchar('\n');
    } else {
        printf("%*s", (int)((right_aligned(table, column) ? 0 : pad) + GAP), "");
    }
}

static void measure(const struct table *table, size_t *widths)
{
    for (size_t c = 0; c < table->column_count; c++)
        widths[c] = strlen(head_text(table, c));
    for (size_t i = 0; i < table->cell_count; i++) {
        const struct table_cell *cell = &table->cells[i];
        size_t columns = text_print(NULL, cell->bytes, cell->nbytes, TEXT_NO_LIMIT);
        size_t *width = &widths[i % table->column_count];
        if (columns > *width) *width = columns;
    }
}

static void limit_last(const struct table *table, size_t *widths)
{
    size_t terminal = text_terminal_width();
    size_t last = table->column_count - 1;
    size_t before = 0;

    for (size_t c = 0; c < last; c++)
        before += widths[c] + GAP;
    if (terminal == TEXT_NO_LIMIT || before + widths[last] <= terminal) return;
    widths[last] = terminal > before + LAST_COLUMN_MIN ? terminal - before : LAST_COLUMN_MIN;
}

void table_end(struct table *table)
{
    size_t widths[TABLE_COLUMNS_MAX];

    measure(table, widths);
    limit_last(table, widths);
    for (size_t c = 0; c < table->column_count; c++)
        print_cell(table, c, head_text(table, c), strlen(head_text(table, c)), widths[c]);
    for (size_t i = 0; i < table->cell_count; i++) {
        const struct table_cell *cell = &table->cells[i];
        size_t column = i % table->column_count;
        print_cell(table, column, cell->bytes, cell->nbytes, widths[column]);
        free(cell->bytes);
    }
    free(table->cells);
    *table = (struct table){0};
}
