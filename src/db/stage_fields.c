/* stage_fields.c - the fields of rows that are being decided.
 *
 * A request's columns are looked up once. A row's values are turned into cells before anything of
 * it is staged, so a value that does not fit refuses the row and leaves nothing. New rows put
 * theirs into the tail's columns, past the committed end; rows that stay where they are get
 * patches, which are seen when the group's view is published. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/field_edit.h"
#include "db/write.h"

/* Wide rows mostly give their fields in the order of their making, so that one is tried first. */
static const struct field *field_find(const struct group *g, size_t c, const char *name)
{
    const struct field_list *list = g->view->fields;
    const struct field *field;

    if (c < field_list_count(list) && strcmp(list->items[c].field.name, name) == 0)
        return &list->items[c].field;
    field = field_list_name(list, name, strlen(name));
    for (uint32_t i = 0; i < g->new_field_count && field == NULL; i++)
        if (strcmp(g->new_fields[i].field.name, name) == 0) field = &g->new_fields[i].field;
    return field;
}

/* The type that a new field gets from the first value given: 0 if there is none. */
static uint32_t type_given(const paua_column *column, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t type = column->values[i].type;

        if (type == PAUA_TYPE_NONE || type == PAUA_TYPE_NULL) continue;
        return type == PAUA_TYPE_STRING || type == PAUA_TYPE_BYTES ? PAUA_TYPE_MIXED : type;
    }
    return 0;
}

static paua_status field_new(struct group *g, const char *name, uint32_t type,
                             const struct field **field, paua_error *err)
{
    struct field_item *item;
    uint32_t newest, id = 0;
    paua_status status = field_check(&(paua_field){name, type},
                                     field_list_count(g->view->fields) + g->new_field_count, err);

    if (status != PAUA_OK) return status;
    if (mem_grow((void **)&g->new_fields, &g->new_field_capacity, g->new_field_count + 1u,
                 sizeof g->new_fields[0]) != 0)
        return error_set_nomem(err);
    newest = g->new_field_count > 0 ? g->new_fields[g->new_field_count - 1].field.id
                                    : field_list_newest(g->view->fields);
    status = field_number(g->c->db, newest, &id, err);
    if (status != PAUA_OK) return status;
    item = &g->new_fields[g->new_field_count++];
    *item = (struct field_item){
        .field = {.collection = g->c->schema.collection, .id = id, .type = type}};
    strcpy(item->field.name, name);
    *field = &item->field;
    return PAUA_OK;
}

/* Was column c given before? Fields that are there are told apart by their numbers. */
static bool given_before(const paua_rows *rows, size_t c, const struct field *field,
                         const struct request_column *columns)
{
    for (size_t other = 0; other < c; other++)
        if (field != NULL ? columns[other].id == field->id
                          : columns[other].id == 0 &&
                                strcmp(rows->columns[other].name, rows->columns[c].name) == 0)
            return true;
    return false;
}

static paua_status column_begin(struct group *g, const paua_rows *rows, size_t c,
                                struct request_column *columns, paua_error *err)
{
    const paua_column *given = &rows->columns[c];
    const struct field *field;
    uint32_t type;
    paua_status status;

    if (given->name == NULL || given->values == NULL)
        return error_set(err, PAUA_EINVAL, "field %zu has no name, or no values", c);
    field = field_find(g, c, given->name);
    if (given_before(rows, c, field, columns))
        return error_set(err, PAUA_EINVAL, "field \"%s\" is given twice", given->name);
    if (field == NULL && !g->c->schema.dynamic)
        return error_set(err, PAUA_EINVAL,
                         "collection \"%s\" has no field \"%s\"; add it, or create the collection "
                         "dynamic",
                         g->c->schema.name, given->name);
    if (field == NULL) {
        type = type_given(given, rows->keys.count);
        if (type == 0) return PAUA_OK;
        status = field_new(g, given->name, type, &field, err);
        if (status != PAUA_OK) return status;
    }
    columns[c] = (struct request_column){field->id, field->type};
    return PAUA_OK;
}

paua_status stage_fields_begin(struct group *g, struct write_request *r, paua_error *err)
{
    size_t count = r->rows == NULL ? 0 : r->rows->column_count;
    uint32_t new_field_count = g->new_field_count;
    paua_status status = PAUA_OK;

    r->columns = arena_alloc(&g->arena, (count + 1) * sizeof r->columns[0]);
    if (r->columns == NULL ||
        mem_grow((void **)&g->cells, &g->cell_capacity, count, sizeof g->cells[0]) != 0)
        return error_set_nomem(err);
    memset(r->columns, 0, (count + 1) * sizeof r->columns[0]);
    for (size_t c = 0; c < count && status == PAUA_OK; c++)
        status = column_begin(g, r->rows, c, r->columns, err);
    if (status != PAUA_OK) g->new_field_count = new_field_count;
    return status;
}

static const paua_value *value_of(const struct write_request *r, size_t c, size_t i)
{
    return &r->rows->columns[c].values[i];
}

static bool is_given(const struct write_request *r, size_t c, size_t i)
{
    return r->columns[c].id != 0 && value_of(r, c, i)->type != PAUA_TYPE_NONE;
}

paua_status stage_fields_take(struct group *g, const struct write_request *r, size_t i,
                              paua_error *err)
{
    arena_reset(&g->cell_arena);
    for (size_t c = 0; c < r->rows->column_count; c++) {
        struct cell *cell = &g->cells[c];
        paua_error what;
        paua_status status;

        *cell = (struct cell){0};
        if (!is_given(r, c, i) || value_of(r, c, i)->type == PAUA_TYPE_NULL) continue;
        g->row.length = 0;
        status = value_cell(r->columns[c].type, value_of(r, c, i), &g->row, cell, &what);
        if (status == PAUA_ENOMEM) return error_set_nomem(err);
        if (status != PAUA_OK)
            return error_set_row(err, status, i, "row %zu: field \"%s\": %s", i,
                                 r->rows->columns[c].name, what.message);
        if (cell->data == NULL || cell->data != g->row.bytes) continue;
        cell->data = arena_copy(&g->cell_arena, cell->data, cell->nbytes);
        if (cell->data == NULL) return error_set_nomem(err);
    }
    return PAUA_OK;
}

/* The cell that a request gives for a field, or NULL. */
static const struct cell *cell_given(const struct group *g, const struct write_request *r, size_t i,
                                     uint32_t id)
{
    for (size_t c = 0; c < r->rows->column_count; c++)
        if (r->columns[c].id == id) return is_given(r, c, i) ? &g->cells[c] : NULL;
    return NULL;
}

/* Those that the view has, then those that this group brings. */
static uint32_t field_count(const struct group *g)
{
    return field_list_count(g->view->fields) + g->new_field_count;
}

static const struct field *field_at(const struct group *g, uint32_t i)
{
    uint32_t known = field_list_count(g->view->fields);

    return i < known ? &g->view->fields->items[i].field : &g->new_fields[i - known].field;
}

/* Fields that a row keeps of the one that it replaces. */
static paua_status fields_keep(struct group *g, const struct write_request *r, size_t i,
                               uint32_t row, struct place old, paua_error *err)
{
    struct tail_columns *columns = &g->view->tail->columns;
    paua_status status = PAUA_OK;

    for (uint32_t f = 0; f < field_count(g) && status == PAUA_OK; f++) {
        const struct field *field = field_at(g, f);
        struct cell cell;

        if (cell_given(g, r, i, field->id) != NULL) continue;
        status = edit_cell(&g->edit, old, field->id, &cell, err);
        if (status != PAUA_OK || !cell.present) continue;
        tail_columns_begin_puts(columns);
        if (tail_columns_put(columns, field->id, field->type, row, &cell) != PAUA_OK)
            status = error_set_nomem(err);
        tail_columns_end_puts(columns);
    }
    return status;
}

paua_status stage_fields_put(struct group *g, const struct write_request *r, size_t i, uint32_t row,
                             struct place old, paua_error *err)
{
    struct tail_columns *columns = &g->view->tail->columns;
    paua_status status = PAUA_OK;

    tail_columns_begin_puts(columns);
    for (size_t c = 0; c < r->rows->column_count && status == PAUA_OK; c++)
        if (g->cells[c].present)
            status =
                tail_columns_put(columns, r->columns[c].id, r->columns[c].type, row, &g->cells[c]);
    tail_columns_end_puts(columns);
    if (status != PAUA_OK) return error_set_nomem(err);
    if (place_is_none(old) || r->replace_fields) return PAUA_OK;
    return fields_keep(g, r, i, row, old, err);
}

static paua_status patch(struct group *g, struct place place, uint32_t field,
                         const struct cell *cell, paua_error *err)
{
    if (mem_grow((void **)&g->patched, &g->patched_capacity, g->patched_count + 1,
                 sizeof g->patched[0]) != 0 ||
        edit_patch(&g->edit, place, field, cell) != PAUA_OK)
        return error_set_nomem(err);
    g->patched[g->patched_count++] = place.source;
    return PAUA_OK;
}

/* What a patch would not change is left alone: writing the same again costs nothing. */
static paua_status patch_changed(struct group *g, struct place place, uint32_t field,
                                 const struct cell *cell, paua_error *err)
{
    struct cell old;
    paua_status status = edit_cell(&g->edit, place, field, &old, err);

    if (status != PAUA_OK) return status;
    if (old.present == cell->present &&
        (!old.present || (old.key == cell->key &&
                          bytes_compare(old.data, old.nbytes, cell->data, cell->nbytes) == 0)))
        return PAUA_OK;
    return patch(g, place, field, cell, err);
}

paua_status stage_fields_patch(struct group *g, const struct write_request *r, size_t i,
                               struct place place, paua_error *err)
{
    static const struct cell null;
    size_t before = g->patched_count;
    paua_status status = PAUA_OK;

    for (size_t c = 0; c < r->rows->column_count && status == PAUA_OK; c++)
        if (is_given(r, c, i))
            status = patch_changed(g, place, r->columns[c].id, &g->cells[c], err);
    for (uint32_t f = 0; r->replace_fields && f < field_count(g); f++) {
        uint32_t id = field_at(g, f)->id;

        if (status == PAUA_OK && cell_given(g, r, i, id) == NULL)
            status = patch_changed(g, place, id, &null, err);
    }
    while (status != PAUA_OK && g->patched_count > before)
        edit_patch_undo(&g->edit, g->patched[--g->patched_count]);
    return status;
}
