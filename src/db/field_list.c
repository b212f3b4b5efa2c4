/* field_list.c - what paua_field_list says of each field, counted over segments and the tail. */
#include "base/error.h"
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

/* Rows of a source that its column does not reach are NULL. */
static void column_add(paua_field_info *info, const struct column_view *column, uint32_t rows)
{
    if (column == NULL) {
        info->nulls += rows;
        return;
    }
    for (uint32_t i = 0; i < column->chunk_count; i++)
        chunk_add(info, &column->chunks[i], type_is_number(column->type));
    if (!type_is_number(column->type)) info->distinct += column->dictionary.count;
    if (column->rows < rows) info->nulls += rows - column->rows;
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

    info->patches += patches_field_count(view_source_patches(view, source), id);
    if (source < view->segment_count) {
        file = view->segments[source].columns;
        if (file != NULL) status = column_file_column(file, id, &column, err);
        if (status == PAUA_OK && file != NULL) info->nbytes += column_file_nbytes(file, id);
        if (status == PAUA_OK) column_add(info, column, rows);
        return status;
    }
    tail_columns_lock(&view->tail->columns);
    growing = tail_columns_find(&view->tail->columns, id);
    if (growing != NULL) {
        column_look(growing, &look);
        info->nbytes += column_nbytes(growing);
    }
    column_add(info, growing == NULL ? NULL : &look, rows);
    tail_columns_unlock(&view->tail->columns);
    return PAUA_OK;
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
