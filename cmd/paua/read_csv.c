/* read_csv.c - comma-separated values: RFC 4180, the first record names the columns.
 *
 * Columns "key", "vector" (a JSON array) and "document" are what they say; all others are fields.
 * An empty cell is not given; "" is an empty string. A quoted cell may hold commas, newlines and
 * doubled quotes; quotes in a cell that does not begin with one are text. A record of another
 * number of cells is refused alone: the next line begins the next. Empty lines and a byte order
 * mark are left out. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"
#include "vector.h"

#define RECORD_NBYTES_MAX ((size_t)PAUA_DOCUMENT_NBYTES_MAX + ((size_t)64 << 20))
#define CELLS_MAX (PAUA_FIELDS_MAX + 3u)

struct csv {
    char *record; /* a whole record, its quoted newlines included */
    size_t nbytes, capacity;
    char *names; /* of the columns, each with its NUL */
    const char *columns[CELLS_MAX];
    size_t column_count;
    struct row_text cells[CELLS_MAX];
    json_t *key;
};

static void record_append(struct csv *csv, const char *text, size_t nbytes)
{
    if (csv->nbytes + nbytes + 2 > csv->capacity) {
        csv->capacity = 2 * (csv->nbytes + nbytes) + 256;
        csv->record = cmd_grow(csv->record, csv->capacity, 1);
    }
    memcpy(csv->record + csv->nbytes, text, nbytes);
    csv->nbytes += nbytes;
}

/* Where a record stands between two of its bytes. */
enum place { CELL_BEGINS, IN_PLAIN, IN_QUOTES, AFTER_QUOTE };

static enum place place_after(enum place place, char c)
{
    switch (place) {
    case CELL_BEGINS:
        if (c == '"') return IN_QUOTES;
        break;
    case IN_QUOTES:
        return c == '"' ? AFTER_QUOTE : IN_QUOTES;
    case AFTER_QUOTE:
        if (c == '"') return IN_QUOTES;
        break;
    case IN_PLAIN:
        break;
    }
    return c == ',' ? CELL_BEGINS : IN_PLAIN;
}

/* One record: lines until every quote is closed. */
static enum row_result record_read(struct reader_state *reader, struct fault *fault)
{
    struct csv *csv = reader->csv;
    enum line_result result;
    enum place place = CELL_BEGINS;
    const char *line;
    size_t nbytes;

    csv->nbytes = 0;
    do {
        if (csv->nbytes > 0) record_append(csv, "\n", 1);
        result = instream_line(&reader->in, RECORD_NBYTES_MAX, &line, &nbytes, fault);
        if (result == LINE_FAULT) return ROW_BROKEN;
        if (result == LINE_END && csv->nbytes == 0) return ROW_END;
        if (result == LINE_END) {
            fault_set(fault, "the file ends within the quotes of a cell, close them");
            return ROW_BROKEN;
        }
        if (csv->nbytes + nbytes > RECORD_NBYTES_MAX) {
            fault_set(fault, "a record is longer than %zu bytes (are its quotes closed?)",
                      RECORD_NBYTES_MAX);
            return ROW_BROKEN;
        }
        for (size_t i = 0; i < nbytes; i++)
            place = place_after(place, line[i]);
        record_append(csv, line, nbytes);
    } while (place == IN_QUOTES);
    if (csv->nbytes > 0 && csv->record[csv->nbytes - 1] == '\r') csv->nbytes--;
    return ROW_OK;
}

/* The cell at *at, unquoted in place; *at becomes the start of the next, or the end + 1. */
static bool cell_take(struct csv *csv, size_t *at, struct row_text *cell, struct fault *fault)
{
    char *text = csv->record;
    size_t from = *at, to = *at;

    cell->quoted = from < csv->nbytes && text[from] == '"';
    cell->text = text + from;
    if (!cell->quoted) {
        while (from < csv->nbytes && text[from] != ',')
            from++;
        cell->nbytes = from - to;
        *at = from + 1;
        return true;
    }
    for (from++; from < csv->nbytes; from++) {
        if (text[from] == '"' && (from + 1 == csv->nbytes || text[from + 1] != '"')) break;
        if (text[from] == '"') from++;
        text[to++] = text[from];
    }
    cell->nbytes = to - *at;
    *at = from + 2;
    if (from + 1 >= csv->nbytes || text[from + 1] == ',') return true;
    fault_set(fault,
              "text after the quotes of a cell, at byte %zu of the record; quotes within are "
              "doubled",
              from + 1);
    return false;
}

static bool cells_take(struct csv *csv, size_t *count, struct fault *fault)
{
    size_t at = 0;

    for (*count = 0; at <= csv->nbytes; ++*count) {
        if (*count == CELLS_MAX) {
            fault_set(fault, "more than %u columns", CELLS_MAX);
            return false;
        }
        if (!cell_take(csv, &at, &csv->cells[*count], fault)) return false;
    }
    return true;
}

static bool header_take(struct csv *csv, struct fault *fault)
{
    size_t count, used = 0;

    if (!cells_take(csv, &count, fault)) return false;
    csv->names = cmd_alloc(csv->nbytes + count + 1, 1);
    for (size_t c = 0; c < count; c++) {
        const struct row_text *cell = &csv->cells[c];

        if (cell->nbytes == 0 || memchr(cell->text, 0, cell->nbytes) != NULL) {
            fault_set(fault, "column %zu has no name; the first line names the columns", c + 1);
            return false;
        }
        csv->columns[c] = csv->names + used;
        memcpy(csv->names + used, cell->text, cell->nbytes);
        used += cell->nbytes;
        csv->names[used++] = 0;
        for (size_t other = 0; other < c; other++)
            if (strcmp(csv->columns[other], csv->columns[c]) == 0) {
                fault_set(fault, "two columns are called \"%s\"", csv->columns[c]);
                return false;
            }
    }
    csv->column_count = count;
    return true;
}

/* The mark that spreadsheets put before UTF-8 belongs to no name. */
static void drop_byte_order_mark(struct csv *csv)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t nbytes = sizeof mark - 1;

    if (csv->nbytes < nbytes || memcmp(csv->record, mark, nbytes) != 0) return;
    csv->nbytes -= nbytes;
    memmove(csv->record, csv->record + nbytes, csv->nbytes);
}

static bool csv_begin(struct reader_state *reader, struct fault *fault)
{
    struct csv *csv = cmd_alloc(1, sizeof *csv);
    enum row_result result;

    csv_end(reader);
    *csv = (struct csv){0};
    reader->csv = csv;
    result = record_read(reader, fault);
    if (result == ROW_END) fault_set(fault, "the file is empty; the first line names the columns");
    if (result != ROW_OK) return false;
    drop_byte_order_mark(csv);
    return header_take(csv, fault);
}

void csv_end(struct reader_state *reader)
{
    if (reader->csv == NULL) return;
    json_decref(reader->csv->key);
    free(reader->csv->record);
    free(reader->csv->names);
    free(reader->csv);
    reader->csv = NULL;
}

/* A cell of a column that is no field. */
static bool special_take(struct reader_state *reader, const char *name, const struct row_text *cell,
                         struct row *row, struct fault *fault)
{
    const paua_vector_field *field = &reader->schema->fields[reader->field];

    if (cell->nbytes == 0 && !cell->quoted) return true;
    if (strcmp(name, "key") == 0) {
        json_decref(reader->csv->key);
        row->key = reader->csv->key = json_stringn(cell->text, cell->nbytes);
        if (row->key == NULL) fault_set(fault, "\"key\" is no UTF-8");
        return row->key != NULL;
    }
    if (strcmp(name, "document") == 0) {
        row->document = (paua_bytes){cell->text, cell->nbytes};
        return true;
    }
    if (!vector_from_text(cell->text, cell->nbytes, field->dim, row->vectors[reader->field], fault))
        return false;
    row->given |= 1u << reader->field;
    return true;
}

static bool is_special(const char *name)
{
    return strcmp(name, "key") == 0 || strcmp(name, "vector") == 0 || strcmp(name, "document") == 0;
}

static enum row_result csv_row(struct reader_state *reader, struct row *row, struct fault *fault)
{
    struct csv *csv = reader->csv;
    enum row_result result = record_read(reader, fault);
    size_t count, fields = 0;

    /* An empty line is no record, unless it is the one cell of its row. */
    while (result == ROW_OK && csv->nbytes == 0 && csv->column_count > 1)
        result = record_read(reader, fault);
    if (result != ROW_OK) return result;
    if (!cells_take(csv, &count, fault)) return ROW_BAD;
    if (count != csv->column_count) {
        fault_set(fault, "%zu cells, expected %zu", count, csv->column_count);
        return ROW_BAD;
    }
    for (size_t c = 0; c < count; c++) {
        struct row_text cell = csv->cells[c];

        if (is_special(csv->columns[c])) {
            if (!special_take(reader, csv->columns[c], &cell, row, fault)) return ROW_BAD;
        } else if (cell.nbytes > 0 || cell.quoted) {
            cell.name = csv->columns[c];
            csv->cells[fields++] = cell;
        }
    }
    row->texts = csv->cells;
    row->text_count = fields;
    return ROW_OK;
}

const struct file_format format_csv = {.name = "csv", .begin = csv_begin, .row = csv_row};
