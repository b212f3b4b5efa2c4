/* load_fields.c - see load_fields.h. Values of a field that has been dropped since are passed over;
 * everything else that does not fit is damage, and said to be. */
#include "db/load_fields.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/record.h"

#define BLOCK_ROWS 256u /* put together */

struct loading {
    struct view *view;
    struct field_item *items;
    size_t count, capacity;
    paua_error *err;
};

static paua_status undecoded(const struct view *view, paua_status status, const char *what,
                             paua_error *err)
{
    if (status == PAUA_ENOMEM) return error_set_nomem(err);
    if (status == PAUA_EVERSION)
        return error_set(err, status, "collection \"%s\" was written by a newer paua; upgrade",
                         view->schema->name);
    return error_set(err, PAUA_ECORRUPT,
                     "%s: collection \"%s\": %s; run paua check, restore from a backup",
                     CATALOG_NAME, view->schema->name, what);
}

static paua_status field_each(void *arg, uint64_t id, paua_bytes record)
{
    struct loading *l = arg;
    struct field_item item;
    paua_status status = field_decode(record.data, record.nbytes, &item.field);

    if (status != PAUA_OK)
        return undecoded(l->view, status, "the record of a field is damaged", l->err);
    if (CATALOG_ID(item.field.collection, item.field.id) != id || !type_valid(item.field.type))
        return undecoded(l->view, PAUA_ECORRUPT, "the record of a field is not its own", l->err);
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->items[i].field.name, item.field.name) == 0)
            return undecoded(l->view, PAUA_ECORRUPT, "two fields have one name", l->err);
    item.record_crc = record_crc(record.data);
    if (mem_grow((void **)&l->items, &l->capacity, l->count + 1, sizeof item) != 0)
        return error_set_nomem(l->err);
    l->items[l->count++] = item;
    return PAUA_OK;
}

paua_status load_fields(struct catalog *catalog, struct view *view, paua_error *err)
{
    struct loading l = {.view = view, .err = err};
    uint32_t collection = view->schema->collection;
    paua_status status = catalog_each(catalog, TABLE_FIELD, CATALOG_ID(collection, 0),
                                      CATALOG_ID(collection, CATALOG_LOW_MAX), field_each, &l, err);

    if (status == PAUA_OK && l.count > 0) {
        view->fields = field_list_with(NULL, l.items, (uint32_t)l.count);
        if (view->fields == NULL) status = error_set_nomem(err);
    }
    mem_free(l.items);
    return status;
}

static struct column_file *columns_reuse(const struct view *old, const struct column_ref *ref)
{
    for (uint32_t i = 0; old != NULL && i < old->segment_count; i++) {
        const struct view_segment *slot = &old->segments[i];

        if (slot->columns != NULL && slot->columns_ref.number == ref->file.number &&
            slot->columns_ref.footer_crc == ref->file.footer_crc &&
            slot->segment->manifest.segment == ref->segment)
            return column_file_ref(slot->columns);
    }
    return NULL;
}

/* Values are read by their field's type: a column of another would be misread. */
static bool types_agree(const struct column_file *columns, struct field_list *list)
{
    const struct column_file_field *fields;
    uint32_t count;

    fields = column_file_fields(columns, &count);
    for (uint32_t f = 0; f < count; f++) {
        uint32_t type = field_list_type(list, fields[f].id);

        if (type != 0 && type != fields[f].type) return false;
    }
    return true;
}

static paua_status columns_load(struct catalog *catalog, struct dir *dir,
                                struct data_file_opts opts, const struct view *old,
                                const struct view *view, struct view_segment *slot, paua_error *err)
{
    uint32_t collection = view->schema->collection;
    uint64_t segment = slot->segment->manifest.segment;
    struct column_ref ref;
    paua_bytes record;
    paua_status status =
        catalog_get(catalog, TABLE_COLUMNS, CATALOG_ID(collection, segment), &record, err);

    if (status == PAUA_ENOTFOUND) return PAUA_OK;
    if (status != PAUA_OK) return status;
    status = column_ref_decode(record.data, record.nbytes, &ref);
    if (status != PAUA_OK)
        return undecoded(view, status, "the record of a column file is damaged", err);
    if (ref.collection != collection || ref.segment != segment || ref.rows != slot->segment->rows)
        return undecoded(view, PAUA_ECORRUPT, "the record of a column file is not its own", err);
    slot->columns = columns_reuse(old, &ref);
    slot->columns_ref = ref.file;
    if (slot->columns == NULL)
        status = column_file_open(dir, collection, segment, ref.rows, &ref.file, opts,
                                  &slot->columns, err);
    if (status != PAUA_OK || types_agree(slot->columns, view->fields)) return status;
    return undecoded(view, PAUA_ECORRUPT, "a column is not of its field's type", err);
}

paua_status load_columns(struct catalog *catalog, struct dir *dir, struct data_file_opts opts,
                         const struct view *old, const struct view *view, struct view_segment *slot,
                         paua_error *err)
{
    uint64_t id = CATALOG_ID(view->schema->collection, slot->segment->manifest.segment);
    paua_bytes record;
    paua_status status = columns_load(catalog, dir, opts, old, view, slot, err);

    if (status != PAUA_OK) return status;
    status = catalog_get(catalog, TABLE_PATCH, id, &record, err);
    if (status == PAUA_ENOTFOUND) return PAUA_OK;
    if (status != PAUA_OK) return status;
    slot->patches_crc = record_crc(record.data);
    status = patches_decode(record.data, record.nbytes, slot->segment->rows, field_list_type,
                            view->fields, &slot->patches);
    if (status == PAUA_OK) return PAUA_OK;
    return undecoded(view, status, "a record of patches is damaged", err);
}

/* The values of one column of a batch, checked against the field's type. */
static paua_status values_take(const struct batch_column *column, uint32_t type,
                               struct cell *values)
{
    size_t at = 0;

    for (uint32_t i = 0; i < column->value_count; i++) {
        paua_bytes bytes = {0};

        values[i] = (struct cell){.present = true};
        batch_value_next(column, &at, &values[i].key, &bytes);
        values[i].data = bytes.data;
        values[i].nbytes = bytes.nbytes;
        if (column->number ? !value_key_valid(type, values[i].key)
                           : !value_bytes_valid(type, bytes.data, bytes.nbytes))
            return PAUA_ECORRUPT;
    }
    return PAUA_OK;
}

/* Puts the rows' values: some hundred at a time. */
static paua_status rows_replay(struct view *view, const struct batch_column *column, uint32_t type,
                               const struct cell *values, uint32_t first, uint32_t rows)
{
    struct tail_columns *columns = &view->tail->columns;
    struct cell cells[BLOCK_ROWS];
    paua_status status = PAUA_OK;

    for (uint32_t row = 0; row < rows && status == PAUA_OK; row += BLOCK_ROWS) {
        uint32_t n = rows - row < BLOCK_ROWS ? rows - row : BLOCK_ROWS;

        for (uint32_t i = 0; i < n; i++) {
            uint32_t code = batch_column_code(column, row + i);

            cells[i] = code == 0 ? (struct cell){0} : values[code - 1];
        }
        tail_columns_begin_puts(columns);
        status = tail_columns_put_rows(columns, column->field, type, first + row, cells, n);
        tail_columns_end_puts(columns);
    }
    return status;
}

static paua_status column_replay(struct view *view, const struct batch_column *column,
                                 uint32_t first, uint32_t rows, paua_error *err)
{
    uint32_t type = field_list_type(view->fields, column->field);
    struct cell *values;
    paua_status status = PAUA_OK;

    if (type == 0) return PAUA_OK;
    if (column->number != type_is_number(type))
        return undecoded(view, PAUA_ECORRUPT, "a batch's values are not of their field's type",
                         err);
    values = mem_alloc((column->value_count + 1u) * sizeof values[0]);
    if (values == NULL) return error_set_nomem(err);
    if (values_take(column, type, values) != PAUA_OK)
        status = undecoded(view, PAUA_ECORRUPT, "a batch holds a value that its field cannot", err);
    if (status == PAUA_OK && rows_replay(view, column, type, values, first, rows) != PAUA_OK)
        status = error_set_nomem(err);
    mem_free(values);
    return status;
}

/* A row that no file holds any more was dropped by a rewrite since: nothing to do. */
static paua_status patch_replay(struct view *view, struct edit *edit,
                                const struct batch_patch *patch, paua_error *err)
{
    uint32_t type = field_list_type(view->fields, patch->field);
    struct cell cell = {patch->kind != BATCH_PATCH_NULL, patch->key, patch->bytes.data,
                        patch->bytes.nbytes};
    struct place place = view_find_row(view, patch->row);
    bool number = patch->kind == BATCH_PATCH_NUMBER;

    if (patch->row >= view->head.next_row)
        return undecoded(view, PAUA_ECORRUPT, "a batch patches a row of the future", err);
    if (type == 0 || place_is_none(place)) return PAUA_OK;
    if (cell.present && (number != type_is_number(type) ||
                         (number ? !value_key_valid(type, cell.key)
                                 : !value_bytes_valid(type, cell.data, cell.nbytes))))
        return undecoded(view, PAUA_ECORRUPT, "a batch holds a value that its field cannot", err);
    return edit_patch_replace(edit, place, patch->field, &cell) == PAUA_OK ? PAUA_OK
                                                                           : error_set_nomem(err);
}

paua_status load_batch_fields(struct view *view, struct edit *edit, const struct batch *batch,
                              uint32_t first, paua_error *err)
{
    struct batch_columns_reader it;
    struct batch_column column;
    struct batch_patch patch;
    paua_status status = PAUA_OK;

    if (batch->columns.data == NULL) return PAUA_OK;
    batch_columns_open(&it, batch->columns.data, batch->columns.nbytes, batch->row_count);
    while (status == PAUA_OK && batch_columns_next(&it, &column))
        status = column_replay(view, &column, first, batch->row_count, err);
    while (status == PAUA_OK && batch_patches_next(&it, &patch))
        status = patch_replay(view, edit, &patch, err);
    return status;
}
