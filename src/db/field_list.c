/* field_list.c - what paua_field_list says of each field, counted over segments and the tail, and
 * over the patches that replace values of theirs. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/db.h"

static void chunk_add(paua_field_info *info, const struct column_chunk *chunk, bool number)
{
    uint64_t span;

    info->nulls += chunk->nulls;
    info->constant += chunk->kind == CHUNK_CONSTANT;
    info->sparse += chunk->kind == CHUNK_SPARSE;
    info->packed += chunk->kind == CHUNK_PACKED;
    info->raw += chunk->kind == CHUNK_RAW;
    info->unrepeated += chunk->kind == CHUNK_UNREPEATED;
    if (chunk->kind == CHUNK_UNREPEATED) {
        info->distinct += chunk->rows - chunk->nulls;
    } else if (number && chunk->least <= chunk->most) {
        span = chunk->most - chunk->least;
        info->distinct += span < chunk->rows - chunk->nulls ? span + 1 : chunk->rows - chunk->nulls;
    }
}

/* Rows of a source that its column's chunks do not reach are NULL. */
static void column_add(paua_field_info *info, const struct column_view *column, uint32_t rows)
{
    uint32_t reached = 0;

    for (uint32_t i = 0; column != NULL && i < column->chunk_count; i++) {
        chunk_add(info, &column->chunks[i], type_is_number(column->type));
        reached += column->chunks[i].rows;
    }
    if (column != NULL && !type_is_number(column->type)) info->distinct += column->dictionary.count;
    if (reached < rows) info->nulls += rows - reached;
}

static int by_value(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;

    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->data == NULL || y->data == NULL) return (x->data != NULL) - (y->data != NULL);
    return bytes_compare(x->data, x->nbytes, y->data, y->nbytes);
}

/* Rows whose patch is, or was, NULL; and at most so many more distinct values as patches have. */
static paua_status patches_add(paua_field_info *info, const struct column_view *column,
                               const struct patches *patches, uint32_t id, paua_error *err)
{
    uint32_t count = patches_field_count(patches, id), present = 0;
    struct cell *cells;

    info->patches += count;
    if (count == 0) return PAUA_OK;
    cells = mem_alloc(count * sizeof *cells);
    if (cells == NULL) return error_set_nomem(err);
    for (uint32_t i = 0; i < count; i++) {
        struct cell before = {.present = false};

        if (column != NULL) column_cell(column, patches_row(patches, id, i), &before);
        patches_cell(patches, id, i, &cells[present]);
        info->nulls += before.present;
        info->nulls -= cells[present].present;
        present += cells[present].present;
    }
    if (present > 1) qsort(cells, present, sizeof cells[0], by_value);
    for (uint32_t i = 0; i < present; i++)
        info->distinct += i == 0 || by_value(&cells[i - 1], &cells[i]) != 0;
    mem_free(cells);
    return PAUA_OK;
}

static paua_status source_add(const struct view *view, uint32_t source, uint32_t id,
                              paua_field_info *info, paua_error *err)
{
    uint32_t rows = view_source_rows(view, source);
    const struct column_view *column = NULL;
    const struct column *growing;
    struct column_file *file;
    struct column_view look;
    paua_status status = PAUA_OK;

    if (source < view->segment_count) {
        file = view->segments[source].columns;
        if (file != NULL) status = column_file_column(file, id, &column, err);
        if (status == PAUA_OK && file != NULL) info->nbytes += column_file_nbytes(file, id);
        if (status != PAUA_OK) return status;
        column_add(info, column, rows);
        return patches_add(info, column, view_source_patches(view, source), id, err);
    }
    tail_columns_lock(&view->tail->columns);
    growing = tail_columns_find(&view->tail->columns, id);
    if (growing != NULL) {
        column_look(growing, &look);
        info->nbytes += column_nbytes(growing);
    }
    column = growing == NULL ? NULL : &look;
    column_add(info, column, rows);
    status = patches_add(info, column, view_source_patches(view, source), id, err);
    tail_columns_unlock(&view->tail->columns);
    return status;
}

paua_status paua_field_list(paua_collection *collection,
                            void (*each)(void *arg, const paua_field_info *info), void *arg,
                            paua_error *err)
{
    struct view *view;
    paua_status status = collection == NULL || each == NULL
                             ? error_set(err, PAUA_EINVAL, "the collection or callback is NULL")
                             : db_check(collection->db, err);

    if (status == PAUA_OK) status = collection_view(collection, &view, err);
    if (status != PAUA_OK) return status;
    for (uint32_t f = 0; f < field_list_count(view->fields) && status == PAUA_OK; f++) {
        const struct field *field = &view->fields->items[f].field;
        paua_field_info info = {.field = {field->name, field->type}};

        for (uint32_t s = 0; s < view_sources(view) && status == PAUA_OK; s++)
            status = source_add(view, s, field->id, &info, err);
        if (status == PAUA_OK) each(arg, &info);
    }
    view_unref(view);
    return status;
}
