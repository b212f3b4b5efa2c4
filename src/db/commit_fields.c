/* commit_fields.c - the fields of a group, as its batch record keeps them.
 *
 * Values are stored once a field and batch; rows have codes of 0, 1, 2 or 4 bytes. Patches are what
 * the next view has and this one has not. Memory: a table of four bytes for each of twice the rows,
 * and their codes; all from the group's own scratch. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/write.h"

#define COLUMNS_NBYTES_MAX (UINT32_C(900) << 20) /* a record of SQLite's holds a billion bytes */
#define BLOCK_ROWS 256u
#define NOTHING_NBYTES 8u /* no columns and no patches */

/* Distinct values of one field, found by hashing. */
struct interning {
    bool number;
    uint32_t *slots; /* index of a value + 1; 0: empty */
    uint32_t mask;
    struct cell *values;
    uint32_t count;
    uint32_t *codes; /* one a row */
    bool gaps;       /* some rows are NULL */
};

static bool interning_reserve(struct interning *in, uint32_t rows)
{
    uint32_t slots = 16;

    while (slots < 2 * rows)
        slots *= 2;
    in->mask = slots - 1;
    in->slots = mem_alloc(slots * sizeof in->slots[0]);
    in->values = mem_alloc((rows + 1u) * sizeof in->values[0]);
    in->codes = mem_alloc((rows + 1u) * sizeof in->codes[0]);
    return in->slots != NULL && in->values != NULL && in->codes != NULL;
}

static void interning_free(struct interning *in)
{
    mem_free(in->slots);
    mem_free(in->values);
    mem_free(in->codes);
}

static void interning_begin(struct interning *in, bool number)
{
    memset(in->slots, 0, (in->mask + 1u) * sizeof in->slots[0]);
    in->number = number;
    in->count = 0;
    in->gaps = false;
}

static bool same(const struct interning *in, const struct cell *a, const struct cell *b)
{
    if (in->number) return a->key == b->key;
    if (a->nbytes != b->nbytes) return false;
    return a->data == b->data || memcmp(a->data, b->data, a->nbytes) == 0;
}

static void intern(struct interning *in, uint32_t row, const struct cell *cell)
{
    struct key key = {in->number ? (const uint8_t *)&cell->key : cell->data,
                      in->number ? sizeof cell->key : cell->nbytes};
    uint32_t at;

    in->codes[row] = 0;
    in->gaps |= !cell->present;
    if (!cell->present) return;
    for (at = (uint32_t)key_hash(key) & in->mask; in->slots[at] != 0; at = (at + 1) & in->mask)
        if (same(in, &in->values[in->slots[at] - 1], cell)) break;
    if (in->slots[at] == 0) {
        in->values[in->count] = *cell;
        in->slots[at] = ++in->count;
    }
    in->codes[row] = in->slots[at];
}

static void column_store(struct group *g, struct interning *in, const struct field *field)
{
    uint32_t rows = (uint32_t)g->count;
    struct batch_column column = {
        .field = field->id, .number = in->number, .value_count = in->count};

    g->values.length = g->row.length = 0;
    for (uint32_t i = 0; i < in->count; i++)
        batch_value_put(&g->values, in->number, in->values[i].key, in->values[i].data,
                        in->values[i].nbytes);
    column.values = g->values.bytes;
    column.values_nbytes = g->values.length;
    if (in->count > 1 || in->gaps)
        column.code_nbytes = in->count <= UINT8_MAX ? 1 : in->count <= UINT16_MAX ? 2 : 4;
    for (uint32_t row = 0; row < rows && column.code_nbytes > 0; row++)
        writer_uint(&g->row, in->codes[row], column.code_nbytes);
    column.codes = g->row.bytes;
    g->columns.failed |= g->values.failed || g->row.failed;
    if (!g->columns.failed) batch_column_put(&g->columns, &column, rows);
}

/* The staged rows' values of one field. The writer looks without the lock: nobody else puts. */
static void column_collect(struct group *g, struct interning *in, const struct column *column)
{
    struct cell cells[BLOCK_ROWS];
    struct column_view look;

    column_look(column, &look);
    interning_begin(in, type_is_number(look.type));
    for (uint32_t row = 0; row < g->count; row += BLOCK_ROWS) {
        uint32_t n = g->count - row < BLOCK_ROWS ? (uint32_t)g->count - row : BLOCK_ROWS;

        column_cells(&look, g->first + row, n, cells);
        for (uint32_t i = 0; i < n; i++)
            intern(in, row + i, &cells[i]);
    }
}

static paua_status columns_store(struct group *g, const struct view *next, paua_error *err)
{
    struct interning in = {0};
    size_t counted = g->columns.length;
    uint32_t stored = 0;

    batch_columns_begin(&g->columns, 0);
    if (g->count == 0) return PAUA_OK;
    if (!interning_reserve(&in, (uint32_t)g->count)) {
        interning_free(&in);
        return error_set_nomem(err);
    }
    for (uint32_t f = 0; f < field_list_count(next->fields); f++) {
        const struct field *field = &next->fields->items[f].field;
        const struct column *column = tail_columns_find(&next->tail->columns, field->id);

        if (column == NULL || column_rows(column) <= g->first) continue;
        column_collect(g, &in, column);
        if (in.count == 0) continue;
        column_store(g, &in, field);
        stored++;
    }
    interning_free(&in);
    if (!g->columns.failed) bytes_put(g->columns.bytes + counted, stored, 4);
    return PAUA_OK;
}

/* A field may be as new as its patches: only the next view knows its type. */
static void source_patches(struct group *g, const struct view *next, uint32_t source,
                           const struct patches *since)
{
    uint32_t field;

    for (uint32_t f = 0; (field = patches_field(since, f)) != UINT32_MAX; f++) {
        bool number = type_is_number(field_list_type(next->fields, field));

        for (uint32_t i = 0; i < patches_field_count(since, field); i++) {
            struct place place = {source, patches_row(since, field, i)};
            struct batch_patch patch = {.row = view_row_id(g->view, place), .field = field};
            struct cell cell;

            patches_cell(since, field, i, &cell);
            if (cell.present) patch.kind = number ? BATCH_PATCH_NUMBER : BATCH_PATCH_BYTES;
            patch.key = cell.key;
            patch.bytes = (paua_bytes){cell.data, cell.nbytes};
            batch_patch_put(&g->columns, &patch);
        }
    }
}

static paua_status patches_store(struct group *g, const struct view *next, paua_error *err)
{
    size_t counted = g->columns.length;
    uint64_t stored = 0;
    paua_status status = PAUA_OK;

    batch_patches_begin(&g->columns, 0);
    for (uint32_t s = 0; s <= next->segment_count && status == PAUA_OK; s++) {
        struct patches *newer =
            s < next->segment_count ? next->segments[s].patches : next->tail_patches;
        struct patches *since;

        if (newer == view_source_patches(g->view, s)) continue;
        status = patches_since(newer, view_source_patches(g->view, s), &since);
        if (status != PAUA_OK) return error_set_nomem(err);
        source_patches(g, next, s, since);
        stored += patches_count(since);
        patches_unref(since);
    }
    if (!g->columns.failed) bytes_put(g->columns.bytes + counted, stored, 4);
    return PAUA_OK;
}

paua_status commit_fields(struct group *g, const struct view *next, paua_error *err)
{
    paua_status status;

    g->columns.length = 0;
    if (field_list_count(next->fields) == 0) return PAUA_OK;
    status = columns_store(g, next, err);
    if (status == PAUA_OK) status = patches_store(g, next, err);
    if (status != PAUA_OK) return status;
    if (g->columns.failed) return error_set_nomem(err);
    if (g->columns.length > COLUMNS_NBYTES_MAX)
        return error_set(err, PAUA_EINVAL,
                         "the fields of these rows take %zu bytes, more than a write can have; "
                         "write fewer rows at a time",
                         g->columns.length);
    if (g->columns.length == NOTHING_NBYTES) g->columns.length = 0;
    return PAUA_OK;
}
