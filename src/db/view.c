/* view.c - see view.h. */
#include "db/view.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernel/kernel.h"

struct deleted *deleted_new(roaring_bitmap_t *set)
{
    struct deleted *d = set == NULL ? NULL : mem_alloc(sizeof *d);

    if (d == NULL) {
        if (set != NULL) roaring_bitmap_free(set);
        return NULL;
    }
    d->refs = 1;
    d->set = set;
    d->count = (uint32_t)roaring_bitmap_get_cardinality(set);
    return d;
}

struct deleted *deleted_ref(struct deleted *deleted)
{
    if (deleted != NULL) atomic_fetch_add(&deleted->refs, 1);
    return deleted;
}

void deleted_unref(struct deleted *deleted)
{
    if (deleted == NULL || atomic_fetch_sub(&deleted->refs, 1) != 1) return;
    roaring_bitmap_free(deleted->set);
    mem_free(deleted);
}

void view_owner_unref(struct view_owner *owner)
{
    if (owner != NULL && atomic_fetch_sub(&owner->refs, 1) == 1) owner->free(owner);
}

struct view *view_new(const struct schema *schema, struct view_owner *owner, uint32_t segment_count)
{
    struct view *view = mem_zalloc(1, sizeof *view + segment_count * sizeof view->segments[0]);

    if (view == NULL) return NULL;
    view->refs = 1;
    view->schema = schema;
    view->owner = owner;
    if (owner != NULL) atomic_fetch_add(&owner->refs, 1);
    view->segment_count = segment_count;
    return view;
}

struct view *view_copy(const struct view *view)
{
    struct view *copy = view_new(view->schema, view->owner, view->segment_count);

    if (copy == NULL) return NULL;
    copy->head = view->head;
    copy->durable_sequence = view->durable_sequence;
    copy->batch_nbytes = view->batch_nbytes;
    copy->live_rows = view->live_rows;
    copy->dead_rows = view->dead_rows;
    copy->tail = tail_ref(view->tail);
    copy->tail_rows = view->tail_rows;
    copy->tail_deleted = deleted_ref(view->tail_deleted);
    copy->tail_patches = patches_ref(view->tail_patches);
    copy->indexes = index_list_ref(view->indexes);
    copy->fields = field_list_ref(view->fields);
    for (uint32_t i = 0; i < view->segment_count; i++)
        view_slot_share(&copy->segments[i], &view->segments[i]);
    return copy;
}

void view_slot_share(struct view_segment *to, const struct view_segment *from)
{
    *to = *from;
    segment_ref(to->segment);
    deleted_ref(to->deleted);
    artifacts_ref(to->artifacts);
    if (to->columns != NULL) column_file_ref(to->columns);
    patches_ref(to->patches);
}

struct view *view_ref(struct view *view)
{
    atomic_fetch_add(&view->refs, 1);
    return view;
}

void view_unref(struct view *view)
{
    struct view_owner *owner;

    if (view == NULL || atomic_fetch_sub(&view->refs, 1) != 1) return;
    for (uint32_t i = 0; i < view->segment_count; i++) {
        segment_unref(view->segments[i].segment);
        deleted_unref(view->segments[i].deleted);
        artifacts_unref(view->segments[i].artifacts);
        column_file_unref(view->segments[i].columns);
        patches_unref(view->segments[i].patches);
    }
    patches_unref(view->tail_patches);
    tail_unref(view->tail);
    deleted_unref(view->tail_deleted);
    index_list_unref(view->indexes);
    field_list_unref(view->fields);
    owner = view->owner;
    mem_free(view);
    view_owner_unref(owner);
}

uint32_t view_digest(const struct view *view)
{
    uint32_t digest = 0;

    for (uint32_t i = 0; i < view->segment_count; i++) {
        const struct view_segment *slot = &view->segments[i];

        digest = head_digest(digest, slot->segment->manifest.segment, slot->segment->record_crc,
                             slot->stored_crc);
        if (slot->columns_ref.number != 0 || slot->patches_crc != 0)
            digest = head_digest(digest, slot->columns_ref.number, slot->columns_ref.footer_crc,
                                 slot->patches_crc);
    }
    for (uint32_t i = 0; i < field_list_count(view->fields); i++)
        digest = head_digest(digest, view->fields->items[i].field.id,
                             view->fields->items[i].record_crc, 0);
    return digest;
}

void view_count(struct view *view)
{
    uint64_t stored = view->tail_rows;

    view->dead_rows = view->tail_deleted == NULL ? 0 : view->tail_deleted->count;
    for (uint32_t i = 0; i < view->segment_count; i++) {
        stored += view->segments[i].segment->rows;
        if (view->segments[i].deleted != NULL) view->dead_rows += view->segments[i].deleted->count;
    }
    view->live_rows = stored - view->dead_rows;
}

uint32_t view_source_rows(const struct view *view, uint32_t source)
{
    return source < view->segment_count ? view->segments[source].segment->rows : view->tail_rows;
}

const roaring_bitmap_t *view_source_deleted(const struct view *view, uint32_t source)
{
    const struct deleted *deleted =
        source < view->segment_count ? view->segments[source].deleted : view->tail_deleted;

    return deleted == NULL ? NULL : deleted->set;
}

/* Newest first: a key that is looked up is more often a recent one. */
paua_status view_find_with(const struct view *view, uint32_t tail_rows,
                           const roaring_bitmap_t *(*deleted_of)(const void *arg, uint32_t source),
                           const void *arg, struct key key, struct place *place, paua_error *err)
{
    uint64_t hash = key_hash(key);
    struct place found = NO_PLACE;

    for (uint32_t source = view_sources(view); source-- > 0 && place_is_none(found);) {
        const roaring_bitmap_t *deleted = deleted_of(arg, source);
        uint32_t row;
        paua_status status;

        if (source < view->segment_count)
            status = segment_find(view->segments[source].segment, deleted, key, hash, &row, err);
        else
            status = tail_find(view->tail, tail_rows, deleted, key, hash, &row, err);
        if (status != PAUA_OK) return status;
        if (row != UINT32_MAX) found = (struct place){source, row};
    }
    *place = found;
    return PAUA_OK;
}

static const roaring_bitmap_t *deleted_as_viewed(const void *view, uint32_t source)
{
    return view_source_deleted(view, source);
}

paua_status view_find(const struct view *view, struct key key, struct place *place, paua_error *err)
{
    return view_find_with(view, view->tail_rows, deleted_as_viewed, view, key, place, err);
}

uint64_t view_row_id(const struct view *view, struct place place)
{
    if (place.source < view->segment_count)
        return segment_row_id(view->segments[place.source].segment, place.row);
    return view->tail->first_row + place.row;
}

struct place view_find_row(const struct view *view, uint64_t id)
{
    uint32_t low = 0, high = view->segment_count, row;

    if (view->tail != NULL && id >= view->tail->first_row) {
        if (id - view->tail->first_row >= view->tail_rows) return NO_PLACE;
        return (struct place){view->segment_count, (uint32_t)(id - view->tail->first_row)};
    }
    while (low < high) { /* the first segment whose last row is not before id */
        uint32_t middle = low + (high - low) / 2;
        const struct manifest *manifest = &view->segments[middle].segment->manifest;

        if (manifest->parts[manifest->part_count - 1].last_row < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == view->segment_count) return NO_PLACE;
    row = segment_find_row(view->segments[low].segment, id);
    return row == UINT32_MAX ? NO_PLACE : (struct place){low, row};
}

paua_status view_key(const struct view *view, struct place place, struct writer *scratch,
                     struct key *key, paua_error *err)
{
    if (place.source < view->segment_count)
        return segment_key(view->segments[place.source].segment, place.row, scratch, key, err);
    return tail_key(view->tail, place.row, scratch, key, err);
}

uint32_t view_run(const struct view *view, struct place place, uint32_t n)
{
    const struct part_data *part;
    uint32_t row;

    if (place.source >= view->segment_count) return n;
    part = segment_part(view->segments[place.source].segment, place.row, &row);
    return n < part->part.row_count - row ? n : part->part.row_count - row;
}

/* Rows whose originals are not kept, from their codes. */
static paua_status vectors_decode(const struct view_segment *slot, uint32_t field, uint32_t first,
                                  uint32_t n, struct writer *scratch, const uint8_t **bytes,
                                  paua_error *err)
{
    struct artifact_file *file = artifacts_find(slot->artifacts, field, 0);
    uint32_t dim = slot->segment->schema->fields[field].dim;
    const struct codes *codes = NULL;
    float *rows;
    paua_status status = file == NULL ? error_set(err, PAUA_ECORRUPT,
                                                  "the originals of a segment are gone, and there "
                                                  "are no codes; restore from a backup")
                                      : artifact_codes(file, &codes, err);

    if (status != PAUA_OK) return status;
    scratch->length = 0;
    rows = (float *)(void *)writer_room(scratch, (size_t)n * dim * sizeof(float));
    if (rows == NULL) return error_set_nomem(err);
    *bytes = (const uint8_t *)rows;
    return codes_decode(codes, first, n, rows, err);
}

paua_status view_vectors(const struct view *view, uint32_t field, struct place place, uint32_t *n,
                         struct writer *scratch, const uint8_t **bytes, paua_error *err)
{
    const struct part_data *part;
    uint32_t row;

    if (place.source >= view->segment_count)
        return tail_vectors(view->tail, field, place.row, *n, scratch, bytes, err);
    part = segment_part(view->segments[place.source].segment, place.row, &row);
    *n = view_run(view, place, *n);
    if (!part_has_vectors(part, field))
        return vectors_decode(&view->segments[place.source], field, place.row, *n, scratch, bytes,
                              err);
    return part_vectors(part, field, row, *n, scratch, bytes, err);
}

paua_status view_document(const struct view *view, struct place place, struct writer *scratch,
                          paua_bytes *document, paua_error *err)
{
    const struct part_data *part;
    uint32_t row;

    if (place.source >= view->segment_count)
        return tail_document(view->tail, place.row, scratch, document, err);
    part = segment_part(view->segments[place.source].segment, place.row, &row);
    return part_document(part, row, scratch, document, err);
}

const struct patches *view_source_patches(const struct view *view, uint32_t source)
{
    return source < view->segment_count ? view->segments[source].patches : view->tail_patches;
}

paua_status view_cell(const struct view *view, uint32_t field, struct place place,
                      struct cell *cell, paua_error *err)
{
    const struct column_view *column = NULL;
    struct column_file *file;
    paua_status status;

    if (patches_find(view_source_patches(view, place.source), field, place.row, cell))
        return PAUA_OK;
    if (place.source >= view->segment_count) {
        tail_columns_cell(&view->tail->columns, field, place.row, cell);
        return PAUA_OK;
    }
    *cell = (struct cell){0};
    file = view->segments[place.source].columns;
    if (file == NULL) return PAUA_OK;
    status = column_file_column(file, field, &column, err);
    if (status == PAUA_OK && column != NULL) column_cell(column, place.row, cell);
    return status;
}

paua_status view_vector(const struct view *view, uint32_t field, struct place place,
                        struct writer *scratch, float *vector, paua_error *err)
{
    const struct schema_field *f = &view->schema->fields[field];
    const uint8_t *bytes;
    uint32_t one = 1;
    paua_status status = view_vectors(view, field, place, &one, scratch, &bytes, err);

    if (status != PAUA_OK) return status;
    if (f->originals == PAUA_ORIGINALS_FP16)
        kernels_best()->f32_from_f16((const uint16_t *)(const void *)bytes, f->dim, vector);
    else
        memcpy(vector, bytes, schema_row_nbytes(f));
    return PAUA_OK;
}
