/* validate.c - see validate.h. Each live key is looked up as a reader would: a second live row with
 * the same key is found by whichever of the two is not the one that a look-up gives. */
#include "db/validate.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "kernel/kernel.h"

static void report(struct validate *v, const char *file, const char *what)
{
    v->problems++;
    v->report(v->arg, file, what);
}

static void file_validate(struct validate *v, struct data_file *file)
{
    paua_error err;

    if (file != NULL && data_file_verify(file, &err) != PAUA_OK)
        report(v, data_file_name(file), err.message);
}

struct wanted {
    uint32_t row;
};

static paua_status match_row(void *arg, uint32_t row, bool *found, paua_error *err)
{
    (void)err;
    *found = row == ((struct wanted *)arg)->row;
    if (*found) ((struct wanted *)arg)->row = UINT32_MAX;
    return PAUA_OK;
}

/* Does the key file's table lead from the key to its row? */
static bool table_finds(struct data_file *keys, uint64_t hash, uint32_t row)
{
    struct wanted wanted = {row};

    return key_index_probe(keys, hash, match_row, &wanted, NULL) == PAUA_OK &&
           wanted.row == UINT32_MAX;
}

struct row_check {
    struct validate *v;
    const struct view *view;
    struct writer key, scratch;
    float *vector; /* of the widest field */
    const char *file;
};

static void row_report(struct row_check *r, struct place place, const char *what)
{
    char text[600];

    snprintf(text, sizeof text, "row %" PRIu64 ": %s", view_row_id(r->view, place), what);
    report(r->v, r->file, text);
}

static void key_validate(struct row_check *r, struct place place, bool live)
{
    struct place found;
    struct key key;
    paua_error err;

    if (view_key(r->view, place, &r->key, &key, &err) != PAUA_OK) {
        row_report(r, place, err.message);
        return;
    }
    if (r->view->schema->key_kind == PAUA_KEY_STRING &&
        utf8_valid_prefix(key.bytes, key.nbytes) < key.nbytes)
        row_report(r, place, "its key is not UTF-8");
    if (place.source < r->view->segment_count &&
        !table_finds(r->view->segments[place.source].segment->keys, key_hash(key), place.row))
        row_report(r, place, "its key does not lead to it");
    if (!live) return;
    if (view_find(r->view, key, &found, &err) != PAUA_OK)
        row_report(r, place, err.message);
    else if (found.source != place.source || found.row != place.row)
        row_report(r, place, "another live row has its key");
}

static void vectors_validate(struct row_check *r, struct place place)
{
    const struct schema *schema = r->view->schema;

    for (uint32_t f = 0; f < schema->field_count; f++) {
        uint32_t dim = schema->fields[f].dim;
        paua_error err;

        if (view_vector(r->view, f, place, &r->scratch, r->vector, &err) != PAUA_OK)
            row_report(r, place, err.message);
        else if (kernels_best()->find_nonfinite(r->vector, dim) < dim)
            row_report(r, place, "its vector is not finite");
    }
}

static void document_validate(struct row_check *r, struct place place)
{
    paua_bytes document;
    paua_error err;

    if (view_document(r->view, place, &r->scratch, &document, &err) != PAUA_OK)
        row_report(r, place, err.message);
    else if (r->view->schema->document == PAUA_DOCUMENT_TEXT && document.nbytes > 0 &&
             utf8_valid_prefix(document.data, document.nbytes) < document.nbytes)
        row_report(r, place, "its document is not UTF-8");
}

static void source_validate(struct row_check *r, uint32_t source)
{
    const roaring_bitmap_t *deleted = view_source_deleted(r->view, source);
    struct validate *v = r->v;

    r->file = source < r->view->segment_count
                  ? data_file_name(r->view->segments[source].segment->keys)
                  : NULL;
    for (uint32_t row = 0; row < view_source_rows(r->view, source); row++) {
        struct place place = {source, row};

        key_validate(r, place, deleted == NULL || !roaring_bitmap_contains(deleted, row));
        vectors_validate(r, place);
        document_validate(r, place);
        v->done++;
        if (v->progress != NULL && v->done % 1024 == 0)
            v->progress(v->progress_arg, "checking rows", v->done, v->total);
    }
}

/* Ordered values: are they those of the column? */
static void values_validate(struct validate *v, const struct view_segment *slot,
                            struct artifact_file *file)
{
    const struct column_view *column = NULL;
    const struct value_index *values;
    const char *wrong = NULL;
    paua_error err = {.status = PAUA_OK};

    if (slot->columns != NULL &&
        column_file_column(slot->columns, file->record.field, &column, NULL) != PAUA_OK)
        return; /* reported with the columns */
    if (artifact_values(file, &values, &err) == PAUA_OK &&
        value_index_validate(values, column, &wrong) != PAUA_OK)
        error_set_nomem(&err);
    if (err.status != PAUA_OK) wrong = err.message;
    if (wrong != NULL) report(v, data_file_name(file->file), wrong);
}

/* Codes, graphs and ordered values: their bytes, their arrays, and that a walk can reach every row.
 */
static void artifacts_validate(struct validate *v, const struct view_segment *slot)
{
    const struct artifacts *artifacts = slot->artifacts;

    for (uint32_t i = 0; artifacts != NULL && i < artifacts->count; i++) {
        struct artifact_file *file = artifacts->files[i];
        struct artifact_file *base = artifacts_find(artifacts, file->record.field, 0);
        uint64_t before = v->problems;
        const struct codes *codes = NULL;
        const struct graph *graph = NULL;
        struct graph_report found;
        paua_error err = {.status = PAUA_OK};

        file_validate(v, file->file);
        if (v->problems > before) continue;
        if (file->record.values) {
            values_validate(v, slot, file);
        } else if (base == NULL) {
            report(v, data_file_name(file->file), "has no codes to go with");
        } else if (artifact_codes(base, &codes, &err) == PAUA_OK && file->record.index != 0 &&
                   artifact_graph(file, codes, &graph, &err) == PAUA_OK &&
                   graph_check(graph, &found, &err) == PAUA_OK && found.unreachable > 0) {
            report(v, data_file_name(file->file), "has rows that no walk can reach");
        }
        if (err.status != PAUA_OK) report(v, data_file_name(file->file), err.message);
    }
}

/* A column file: its bytes, and the structure of every column. */
static void columns_validate(struct validate *v, const struct view *view,
                             const struct view_segment *slot)
{
    const struct column_file_field *fields;
    uint64_t before = v->problems;
    uint32_t count;

    if (slot->columns == NULL) return;
    file_validate(v, column_file_data(slot->columns));
    fields = column_file_fields(slot->columns, &count);
    for (uint32_t f = 0; f < count && v->problems == before; f++) {
        const struct field *field = field_list_id(view->fields, fields[f].id);
        const struct column_view *column;
        paua_error err;

        if (column_file_column(slot->columns, fields[f].id, &column, &err) != PAUA_OK)
            report(v, data_file_name(column_file_data(slot->columns)), err.message);
        else if (field != NULL && field->type != fields[f].type)
            report(v, data_file_name(column_file_data(slot->columns)),
                   "holds a field whose type is another");
    }
}

static void segment_validate(struct validate *v, const struct segment *segment)
{
    file_validate(v, segment->keys);
    for (uint32_t p = 0; p < segment->manifest.part_count; p++) {
        for (uint32_t f = 0; f < segment->schema->field_count; f++)
            file_validate(v, segment->parts[p]->vectors[f]);
        file_validate(v, segment->parts[p]->heap);
    }
}

paua_status view_validate(const struct view *view, struct validate *v)
{
    struct row_check r = {.v = v, .view = view};
    uint64_t before = v->problems;
    uint32_t widest = 0;

    for (uint32_t f = 0; f < view->schema->field_count; f++)
        if (view->schema->fields[f].dim > widest) widest = view->schema->fields[f].dim;
    r.vector = mem_alloc(widest * sizeof(float));
    if (r.vector == NULL) return PAUA_ENOMEM;
    for (uint32_t i = 0; i < view->segment_count; i++) {
        segment_validate(v, view->segments[i].segment);
        artifacts_validate(v, &view->segments[i]);
        columns_validate(v, view, &view->segments[i]);
    }
    v->total += view->live_rows + view->dead_rows;
    /* Rows of damaged files would only repeat the news. */
    for (uint32_t source = 0; source < view_sources(view) && v->problems == before; source++)
        source_validate(&r, source);
    mem_free(r.vector);
    writer_free(&r.key);
    writer_free(&r.scratch);
    return PAUA_OK;
}
