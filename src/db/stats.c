/* stats.c - the numbers behind paua info: walked from a view when asked for, kept nowhere. */
#include <string.h>

#include "base/error.h"
#include "db/db.h"

static void file_count(const struct data_file *file, paua_stats *s)
{
    if (file == NULL) return;
    s->mapped_nbytes += data_file_mapped_nbytes(file);
    s->heap_nbytes += data_file_heap_nbytes(file);
}

static void segment_count(const struct view_segment *slot, uint32_t fields, paua_stats *s)
{
    const struct manifest *manifest = &slot->segment->manifest;

    s->key_nbytes += manifest->keys.nbytes;
    file_count(slot->segment->keys, s);
    s->heap_nbytes += sizeof *slot->segment +
                      manifest->part_count * (sizeof manifest->parts[0] + sizeof(void *) + 4);
    for (uint32_t a = 0; slot->artifacts != NULL && a < slot->artifacts->count; a++) {
        const struct artifact_file *artifact = slot->artifacts->files[a];
        uint64_t *nbytes = artifact->record.index == 0 ? &s->code_nbytes
                           : artifact->record.values   ? &s->column_nbytes
                                                       : &s->graph_nbytes;

        *nbytes += artifact->record.file.nbytes;
        s->heap_nbytes += sizeof *artifact;
        file_count(artifact->file, s);
    }
    if (slot->columns != NULL) {
        s->column_nbytes += slot->columns_ref.nbytes;
        file_count(column_file_data(slot->columns), s);
    }
    s->patches += patches_count(slot->patches);
    s->heap_nbytes += patches_nbytes(slot->patches);
    if (slot->deleted != NULL)
        s->heap_nbytes += roaring_bitmap_portable_size_in_bytes(slot->deleted->set);
    for (uint32_t p = 0; p < manifest->part_count; p++) {
        const struct part_data *part = slot->segment->parts[p];

        for (uint32_t f = 0; f < fields; f++) {
            if (part_has_vectors(part, f)) s->vector_nbytes += part->part.vectors[f].nbytes;
            file_count(part->vectors[f], s);
        }
        s->document_nbytes += part->part.heap.nbytes;
        file_count(part->heap, s);
        if (part->ids != NULL) s->heap_nbytes += roaring_bitmap_portable_size_in_bytes(part->ids);
    }
}

static void tail_count(const struct view *view, paua_stats *s)
{
    const struct tail *tail = view->tail;
    const struct schema *schema = view->schema;

    if (tail == NULL) return;
    for (uint32_t f = 0; f < schema->field_count; f++) {
        s->vector_nbytes +=
            FILE_HEADER_NBYTES + (uint64_t)view->tail_rows * schema_row_nbytes(&schema->fields[f]);
        file_count(tail->vectors[f], s);
    }
    for (uint32_t row = 0; row < view->tail_rows && tail->heap != NULL; row++) {
        uint32_t nbytes = tail_document_length(tail, row);
        if (nbytes != UINT32_MAX) s->document_nbytes += nbytes;
    }
    if (tail->heap != NULL) s->document_nbytes += FILE_HEADER_NBYTES;
    file_count(tail->heap, s);
    s->heap_nbytes +=
        sizeof *tail + tail->memory_nbytes + tail_columns_nbytes(&view->tail->columns);
    s->patches += patches_count(view->tail_patches);
    s->heap_nbytes += patches_nbytes(view->tail_patches);
}

paua_status paua_collection_stats(paua_collection *collection, paua_stats *stats, paua_error *err)
{
    paua_stats s = {.size = sizeof s};
    struct catalog *catalog;
    struct view *view;
    paua_status status = collection == NULL
                             ? error_set(err, PAUA_EINVAL, "the collection handle is NULL")
                             : db_check(collection->db, err);

    if (status == PAUA_OK && (stats == NULL || stats->size < sizeof stats->size))
        status = error_set(err, PAUA_EINVAL, "paua_stats.size is not set");
    if (status == PAUA_OK) status = collection_view(collection, &view, err);
    if (status != PAUA_OK) return status;
    s.rows = view->live_rows;
    s.deleted = view->dead_rows;
    s.tail_rows = view->tail_rows;
    s.segments = view->segment_count;
    s.heap_nbytes =
        sizeof *collection + sizeof *view + view->segment_count * sizeof view->segments[0];
    for (uint32_t i = 0; i < view->segment_count; i++)
        segment_count(&view->segments[i], view->schema->field_count, &s);
    tail_count(view, &s);
    view_unref(view);
    catalog = db_lock_reader(collection->db);
    s.catalog_nbytes = catalog_nbytes(catalog);
    db_unlock_reader(collection->db);
    s.size = stats->size;
    memcpy(stats, &s, stats->size < sizeof s ? stats->size : sizeof s);
    return PAUA_OK;
}
