/* columns.c - the column file of a segment that is being made.
 *
 * Every value is looked up as a reader would, patches first, so a rewrite folds them in. The writer
 * asks for each row twice: for the dictionary, and for the codes. */
#include "db/columns.h"

#include "base/error.h"
#include "db/files.h"
#include "db/value_convert.h"

#define PAUSE_ROWS 65536u

struct source {
    const struct column_rows *rows;
    uint32_t field;
    const struct conversion *conversion; /* of this field; NULL: none */
    const paua_optimize_opts *opts;
    struct writer text, stored; /* what a conversion makes */
};

static paua_status converted_cell(struct source *s, struct place place, struct cell *cell,
                                  paua_error *err)
{
    paua_status status = view_cell(s->rows->view, s->conversion->from, place, cell, err);

    if (status != PAUA_OK || !cell->present) return status;
    return value_convert(s->conversion->from_type, s->conversion->to_type, &s->text, &s->stored,
                         cell, err);
}

static paua_status cell_of(void *arg, uint32_t row, struct cell *cell, paua_error *err)
{
    struct source *s = arg;
    struct place place = s->rows->place_of(s->rows->arg, row);
    const roaring_bitmap_t *deleted = view_source_deleted(s->rows->view, place.source);

    if (row % PAUSE_ROWS == 0 && s->opts != NULL && s->opts->cancel != NULL &&
        __atomic_load_n(&s->opts->cancel->requested, __ATOMIC_RELAXED) != 0)
        return error_set(err, PAUA_ECANCELED, "optimize was canceled; the old files stay");
    if (deleted != NULL && roaring_bitmap_contains(deleted, place.row)) {
        *cell = (struct cell){0};
        return PAUA_OK;
    }
    if (s->conversion == NULL) return view_cell(s->rows->view, s->field, place, cell, err);
    return converted_cell(s, place, cell, err);
}

static const struct field_list *fields_of(const struct column_rows *rows)
{
    return rows->fields != NULL ? rows->fields : rows->view->fields;
}

/* The conversion that a field's values need, and the field that they come from. */
static const struct conversion *conversion_of(const struct column_rows *rows, uint32_t *field)
{
    if (rows->conversion == NULL || rows->conversion->to != *field) return NULL;
    *field = rows->conversion->from;
    return rows->conversion;
}

static bool tail_has_column(struct tail *tail, uint32_t field)
{
    bool found;

    tail_columns_lock(&tail->columns);
    found = tail_columns_find(&tail->columns, field) != NULL;
    tail_columns_unlock(&tail->columns);
    return found;
}

/* Has any source a column, or patches, of this field? */
static bool has_values(const struct view *view, uint32_t field)
{
    for (uint32_t s = 0; s < view_sources(view); s++) {
        if (patches_field_count(view_source_patches(view, s), field) > 0) return true;
        if (s < view->segment_count) {
            if (view->segments[s].columns != NULL &&
                column_file_has(view->segments[s].columns, field))
                return true;
        } else if (tail_has_column(view->tail, field)) {
            return true;
        }
    }
    return false;
}

static paua_status fields_write(const struct column_rows *rows, const paua_optimize_opts *opts,
                                struct column_writer *writer, paua_error *err)
{
    const struct field_list *fields = fields_of(rows);
    paua_status status = PAUA_OK;

    for (uint32_t f = 0; f < field_list_count(fields) && status == PAUA_OK; f++) {
        const struct field *field = &fields->items[f].field;
        struct source source = {.rows = rows, .field = field->id, .opts = opts};

        source.conversion = conversion_of(rows, &source.field);
        if (!has_values(rows->view, source.field)) continue;
        if (opts != NULL && opts->progress != NULL)
            opts->progress(opts->progress_arg, "columns", f, fields->count);
        status =
            column_writer_field(writer, field->id, field->type, field->name, cell_of, &source, err);
        writer_free(&source.text);
        writer_free(&source.stored);
    }
    return status;
}

paua_status columns_write(struct paua_collection *c, const struct column_rows *rows,
                          uint64_t segment, const paua_optimize_opts *opts, struct file_ref *ref,
                          paua_error *err)
{
    struct column_writer *writer = NULL;
    bool any = false;
    uint64_t number;
    paua_status status;

    *ref = (struct file_ref){0};
    for (uint32_t f = 0; f < field_list_count(fields_of(rows)) && !any; f++) {
        uint32_t field = fields_of(rows)->items[f].field.id;

        conversion_of(rows, &field);
        any = has_values(rows->view, field);
    }
    if (!any) return PAUA_OK;
    status = db_file_numbers(c->db, 1, &number, err);
    if (status == PAUA_OK)
        status = column_writer_open(c->db->dir, number, c->schema.collection, segment, rows->rows,
                                    &writer, err);
    if (status == PAUA_OK) status = fields_write(rows, opts, writer, err);
    if (status == PAUA_OK) status = column_writer_seal(writer, ref, err);
    column_writer_close(writer);
    if (status == PAUA_OK) status = dir_sync(c->db->dir, err);
    if (status != PAUA_OK && ref->number != 0) {
        files_unlink(c->db->dir, ref->number, FILE_COLUMNS);
        *ref = (struct file_ref){0};
    }
    return status;
}

paua_status columns_open(struct paua_collection *c, const struct file_ref *ref,
                         struct view_segment *slot, paua_error *err)
{
    if (ref->number == 0) return PAUA_OK;
    slot->columns_ref = *ref;
    return column_file_open(c->db->dir, c->schema.collection, slot->segment->manifest.segment,
                            slot->segment->rows, ref, c->db->file_opts, &slot->columns, err);
}

paua_status columns_store(struct catalog *catalog, const struct view_segment *slot, paua_error *err)
{
    const struct manifest *manifest = &slot->segment->manifest;
    uint64_t id = CATALOG_ID(manifest->collection, manifest->segment);
    struct column_ref ref = {manifest->collection, manifest->segment, slot->segment->rows,
                             slot->columns_ref};
    struct writer w = {0};
    paua_status status;

    if (slot->columns == NULL) return catalog_delete(catalog, TABLE_COLUMNS, id, id, err);
    status = column_ref_encode(&ref, &w) == PAUA_OK
                 ? catalog_put(catalog, TABLE_COLUMNS, id, w.bytes, w.length, err)
                 : error_set_nomem(err);
    writer_free(&w);
    return status;
}

paua_status columns_carry(struct patch_edit *edit, struct patches *now,
                          const struct patches *folded,
                          uint32_t (*position)(const void *arg, uint32_t row), const void *arg,
                          paua_error *err)
{
    struct patches *since;
    uint32_t field;
    paua_status status = PAUA_OK;

    if (now == folded) return PAUA_OK;
    if (patches_since(now, folded, &since) != PAUA_OK) return error_set_nomem(err);
    for (uint32_t f = 0; (field = patches_field(since, f)) != UINT32_MAX; f++)
        for (uint32_t i = 0; i < patches_field_count(since, field) && status == PAUA_OK; i++) {
            uint32_t row = position(arg, patches_row(since, field, i));
            struct cell cell;

            if (row == UINT32_MAX) continue;
            patches_cell(since, field, i, &cell);
            if (patch_edit_put(edit, field, row, &cell) != PAUA_OK) status = error_set_nomem(err);
        }
    patches_unref(since);
    return status;
}
