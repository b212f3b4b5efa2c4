/* load.c - from the catalogue to a view: opening a collection, and following another process.
 *
 * Loading happens inside one SQLite read transaction, and every file is open before it ends. If a
 * file is already gone, its segment was merged away by a commit newer than our snapshot: take a
 * newer one and try again. A view of the same generation only needs the batches since.
 *
 * Batches are verified against their bytes as they are replayed. One that was committed without a
 * sync (PAUA_BATCH, PAUA_OFF) may have lost its bytes in a power failure: it and what follows are
 * left out. One that was synced must match, or the file is damaged. */
#include <inttypes.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "codec/record.h"
#include "codec/rowset.h"
#include "db/db.h"
#include "db/edit.h"
#include "db/load_fields.h"
#include "db/load_indexes.h"

#define SNAPSHOT_TRIES 20
#define VERIFY_NBYTES (256u << 10)

struct load {
    struct paua_collection *c;
    paua_db *db;
    struct catalog *catalog;
    const struct schema *schema;
    struct view *old;
    struct head head;
    struct view *view;
    struct edit edit;
    uint64_t durable; /* batches up to here were synced */
    bool torn;
    uint32_t next_segment;
    struct writer scratch;
    paua_error *err;
};

static paua_status damaged(struct load *l, const char *what)
{
    return error_set(l->err, PAUA_ECORRUPT,
                     "%s: collection \"%s\": %s; run paua check, restore from a backup",
                     CATALOG_NAME, l->schema->name, what);
}

/* What a decoder said of a record. */
static paua_status undecoded(struct load *l, paua_status status, const char *what)
{
    if (status == PAUA_ENOMEM) return error_set_nomem(l->err);
    if (status != PAUA_EVERSION) return damaged(l, what);
    return error_set(l->err, status, "collection \"%s\" was written by a newer paua; upgrade",
                     l->schema->name);
}

static paua_status head_load(struct load *l)
{
    paua_bytes record;
    paua_status status =
        catalog_get(l->catalog, TABLE_HEAD, l->schema->collection, &record, l->err);

    if (status == PAUA_ENOTFOUND)
        return error_set(l->err, PAUA_ENOTFOUND, "collection \"%s\" has been dropped",
                         l->schema->name);
    if (status != PAUA_OK) return status;
    status = head_decode(record.data, record.nbytes, &l->head);
    if (status != PAUA_OK) return undecoded(l, status, "its head record is damaged");
    if (l->head.collection != l->schema->collection ||
        l->head.field_count != l->schema->field_count)
        return damaged(l, "its head record is damaged");
    return PAUA_OK;
}

static struct segment *segment_reuse(const struct load *l, uint64_t number, uint32_t crc)
{
    for (uint32_t i = 0; l->old != NULL && i < l->old->segment_count; i++) {
        struct segment *s = l->old->segments[i].segment;
        if (s->manifest.segment == number && s->record_crc == crc) return segment_ref(s);
    }
    return NULL;
}

/* Opens one segment into the next slot of the view; its deletions are loaded later, since the
 * catalogue may not be called from here. */
static paua_status segment_each(void *arg, uint64_t id, paua_bytes record)
{
    struct load *l = arg;
    struct manifest manifest;
    struct view_segment *slot;
    paua_status status = manifest_decode(record.data, record.nbytes, &manifest);
    uint32_t crc;

    if (status != PAUA_OK) return undecoded(l, status, "a segment's record is damaged");
    if (manifest.collection != l->schema->collection ||
        manifest.field_count != l->schema->field_count ||
        CATALOG_ID(manifest.collection, manifest.segment) != id ||
        l->next_segment >= l->head.segment_count) {
        manifest_free(&manifest);
        return damaged(l, "a segment's record is not its own");
    }
    crc = record_crc(record.data);
    slot = &l->view->segments[l->next_segment++];
    slot->segment = segment_reuse(l, manifest.segment, crc);
    if (slot->segment != NULL) {
        manifest_free(&manifest);
        return PAUA_OK;
    }
    return segment_open(l->db->dir, l->schema, &manifest, crc, l->db->file_opts, NULL, 0,
                        &slot->segment, l->err);
}

static int by_first_row(const void *a, const void *b)
{
    const struct view_segment *x = a, *y = b;
    uint64_t first_x = x->segment->manifest.parts[0].first_row;
    uint64_t first_y = y->segment->manifest.parts[0].first_row;

    return first_x < first_y ? -1 : first_x > first_y;
}

static paua_status deleted_load(struct load *l, struct view_segment *slot)
{
    uint64_t id = CATALOG_ID(l->schema->collection, slot->segment->manifest.segment);
    roaring_bitmap_t *set;
    paua_bytes record;
    paua_status status = catalog_get(l->catalog, TABLE_DELETED, id, &record, NULL);

    if (status == PAUA_ENOTFOUND) return PAUA_OK;
    if (status == PAUA_ENOMEM) return error_set_nomem(l->err);
    if (status != PAUA_OK) return damaged(l, "deletions cannot be read");
    status = rowset_decode(record.data, record.nbytes, slot->segment->rows, &set);
    if (status != PAUA_OK) return undecoded(l, status, "a record of deletions is damaged");
    slot->stored_crc = record_crc(record.data);
    slot->deleted = deleted_new(set);
    return slot->deleted == NULL ? error_set_nomem(l->err) : PAUA_OK;
}

static paua_status segments_load(struct load *l)
{
    uint32_t collection = l->schema->collection;
    paua_status status =
        catalog_each(l->catalog, TABLE_SEGMENT, CATALOG_ID(collection, 0),
                     CATALOG_ID(collection, CATALOG_LOW_MAX), segment_each, l, l->err);

    if (status != PAUA_OK) return status;
    if (l->next_segment != l->head.segment_count) return damaged(l, "a segment is missing");
    qsort(l->view->segments, l->next_segment, sizeof l->view->segments[0], by_first_row);
    for (uint32_t i = 0; i < l->next_segment; i++) {
        struct view_segment *slot = &l->view->segments[i];

        status = deleted_load(l, slot);
        if (status == PAUA_OK)
            status = load_columns(l->catalog, l->db->dir, l->db->file_opts, l->old, l->view, slot,
                                  l->err);
        if (status != PAUA_OK) return status;
    }
    l->view->segment_count = l->next_segment;
    if (view_digest(l->view) != l->head.segments_digest)
        return damaged(l, "its segments are not those of the last commit");
    return PAUA_OK;
}

/* Compares committed bytes with their checksum. */
static paua_status extent_verify(struct load *l, struct data_file *file, const struct extent *e)
{
    uint32_t crc = 0;
    uint8_t *room;

    l->scratch.length = 0;
    room = writer_room(&l->scratch, VERIFY_NBYTES);
    if (room == NULL) return error_set_nomem(l->err);
    for (uint64_t done = 0; done < e->nbytes;) {
        uint64_t left = e->nbytes - done;
        size_t n = left < VERIFY_NBYTES ? (size_t)left : VERIFY_NBYTES;
        paua_status status = data_file_pread(file, e->offset + done, n, room, l->err);

        if (status != PAUA_OK) return status;
        crc = crc32c(crc, room, n);
        done += n;
    }
    if (crc == e->crc) return PAUA_OK;
    return error_set(l->err, PAUA_ECORRUPT,
                     "%s: bytes %" PRIu64 " to %" PRIu64
                     " are damaged; run paua check, restore from a backup",
                     data_file_name(file), e->offset, e->offset + e->nbytes);
}

static bool batch_fits(const struct load *l, const struct batch *b)
{
    const struct head *head = &l->view->head;
    const struct tail *tail = l->view->tail;

    if (b->collection != l->schema->collection || b->sequence != head->last_sequence + 1 ||
        b->first_row != head->next_row || b->key_kind != l->schema->key_kind ||
        b->field_count != l->schema->field_count)
        return false;
    if (b->row_count == 0) return true;
    if (tail == NULL || b->has_documents != (tail->heap != NULL)) return false;
    for (uint32_t f = 0; f < b->field_count; f++) {
        uint64_t row_nbytes = schema_row_nbytes(&l->schema->fields[f]);
        if (b->vectors[f].offset != tail->rows * row_nbytes ||
            b->vectors[f].nbytes != b->row_count * row_nbytes)
            return false;
    }
    return !b->has_documents || b->heap.offset == tail->heap_nbytes;
}

static paua_status batch_verify(struct load *l, const struct batch *b)
{
    paua_status status = PAUA_OK;

    if (b->row_count == 0) return PAUA_OK;
    for (uint32_t f = 0; f < b->field_count && status == PAUA_OK; f++)
        status = extent_verify(l, l->view->tail->vectors[f], &b->vectors[f]);
    if (status == PAUA_OK && b->has_documents)
        status = extent_verify(l, l->view->tail->heap, &b->heap);
    return status;
}

static paua_status batch_rows(struct load *l, const struct batch *b)
{
    size_t at = 0, row_nbytes = schema_row_nbytes(&l->schema->fields[0]);
    struct writer scratch = {0};
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; i < b->row_count && status == PAUA_OK; i++) {
        paua_key stored = batch_next_key(b, &at);
        uint8_t number[8];
        struct key key = {stored.bytes.data, stored.bytes.nbytes};

        if (b->key_kind == PAUA_KEY_U64) {
            bytes_put(number, stored.u64, 8);
            key = (struct key){number, 8};
        } else if (b->key_kind == PAUA_KEY_VECTOR) {
            status = tail_vectors(l->view->tail, 0, l->view->tail->rows, 1, &scratch, &key.bytes,
                                  l->err);
            key.nbytes = row_nbytes;
        }
        if (status == PAUA_OK)
            status =
                tail_append(l->view->tail, key, key_hash(key),
                            b->has_documents ? batch_document_length(b, i) : BATCH_NO_DOCUMENT);
        if (status == PAUA_ENOMEM) error_set_nomem(l->err);
    }
    writer_free(&scratch);
    return status;
}

/* A deleted row that no file holds any more was dropped by a rewrite since: nothing to do. */
static paua_status batch_deletes(struct load *l, const struct batch *b)
{
    for (uint32_t i = 0; i < b->delete_count; i++) {
        uint64_t id = batch_delete(b, i);
        struct place place;

        if (id >= l->view->head.next_row) return damaged(l, "a batch deletes a row of the future");
        place = view_find_row(l->view, id);
        if (!place_is_none(place) && edit_delete(&l->edit, place) != PAUA_OK)
            return error_set_nomem(l->err);
    }
    return PAUA_OK;
}

static paua_status batch_each(void *arg, uint64_t id, paua_bytes record)
{
    struct load *l = arg;
    struct batch b;
    paua_status status;

    if (l->torn) return PAUA_OK;
    status = batch_decode(record.data, record.nbytes, &b);
    if (status != PAUA_OK) return undecoded(l, status, "a batch record is damaged");
    if (!batch_fits(l, &b) || CATALOG_ID(b.collection, b.sequence) != id)
        return damaged(l, "a batch record does not follow the one before it");
    status = batch_verify(l, &b);
    if (status == PAUA_ECORRUPT && b.sequence > l->durable) {
        l->torn = true;
        return PAUA_OK;
    }
    if (status == PAUA_OK) status = batch_rows(l, &b);
    if (status != PAUA_OK) return status;
    l->view->tail_rows = l->view->tail == NULL ? 0 : l->view->tail->rows;
    l->view->head.next_row += b.row_count;
    l->view->head.last_sequence = b.sequence;
    l->view->batch_nbytes += record.nbytes;
    status = batch_deletes(l, &b);
    if (status != PAUA_OK) return status;
    return load_batch_fields(l->view, &l->edit, &b, l->view->tail_rows - b.row_count, l->err);
}

/* Replays batches first .. head.last_sequence on top of l->view. */
static paua_status batches_load(struct load *l, uint64_t first)
{
    uint32_t collection = l->schema->collection;
    uint64_t last = l->head.last_sequence;
    struct batch b;
    paua_bytes record;
    paua_status status;

    if (first > last) return PAUA_OK;
    status = catalog_get(l->catalog, TABLE_BATCH, CATALOG_ID(collection, last), &record, NULL);
    if (status == PAUA_OK) status = batch_decode(record.data, record.nbytes, &b);
    if (status != PAUA_OK)
        return undecoded(l, status, "its last batch record is missing or damaged");
    l->durable = l->view->durable_sequence = b.durable_sequence;
    if (edit_begin(&l->edit, l->view) != PAUA_OK) return error_set_nomem(l->err);
    status = catalog_each(l->catalog, TABLE_BATCH, CATALOG_ID(collection, first),
                          CATALOG_ID(collection, last), batch_each, l, l->err);
    if (status == PAUA_OK && !l->torn && l->view->head.last_sequence != last)
        status = damaged(l, "a batch record is missing");
    if (status == PAUA_OK && edit_apply(&l->edit, l->view) != PAUA_OK)
        status = error_set_nomem(l->err);
    return status;
}

/* Everything anew: segments, an empty tail, then every batch. */
static paua_status load_whole(struct load *l)
{
    paua_status status;

    l->view = view_new(l->schema, &l->c->owner, l->head.segment_count);
    if (l->view == NULL) return error_set_nomem(l->err);
    l->view->segment_count = 0; /* how many are filled, should loading fail */
    l->view->head = l->head;
    status = load_fields(l->catalog, l->view, l->err);
    if (status == PAUA_OK) status = segments_load(l);
    l->view->segment_count = l->next_segment;
    if (status != PAUA_OK) return status;
    status = load_indexes(l->catalog, l->db->dir, db_artifact_opts(l->db), l->old, l->view, l->err);
    if (status != PAUA_OK) return status;
    l->view->head.next_row = l->head.tail_first_row;
    l->view->head.last_sequence = l->view->durable_sequence = l->head.first_sequence - 1;
    if (l->head.tail_vectors[0] != 0)
        status =
            tail_open(l->db->dir, l->schema, &l->head, l->db->file_opts, &l->view->tail, l->err);
    if (status == PAUA_OK) status = batches_load(l, l->head.first_sequence);
    if (status == PAUA_OK && !l->torn && l->view->head.next_row != l->head.next_row)
        status = damaged(l, "its rows do not add up");
    return status;
}

/* The same files and segments as before: only what was committed since. */
static paua_status load_since(struct load *l)
{
    struct tail *tail = l->old->tail;
    uint64_t heap_nbytes = tail == NULL ? 0 : tail->heap_nbytes;
    paua_status status;

    l->view = view_copy(l->old);
    if (l->view == NULL) return error_set_nomem(l->err);
    status = batches_load(l, l->old->head.last_sequence + 1);
    if (status != PAUA_OK && tail != NULL) tail_truncate(tail, l->old->tail_rows, heap_nbytes);
    return status;
}

static paua_status load_once(struct load *l)
{
    paua_status status = catalog_begin_read(l->catalog, l->err);

    if (status != PAUA_OK) return status;
    status = head_load(l);
    if (status == PAUA_OK) {
        if (l->old != NULL && l->old->head.generation == l->head.generation &&
            l->old->head.last_sequence <= l->head.last_sequence)
            status = load_since(l);
        else
            status = load_whole(l);
    }
    catalog_rollback(l->catalog);
    if (l->edit.sets != NULL) edit_end(&l->edit);
    writer_free(&l->scratch);
    l->scratch = (struct writer){0};
    if (status != PAUA_OK) view_unref(l->view);
    return status;
}

paua_status load_view(struct paua_collection *c, struct view *old, struct view **view, bool *torn,
                      paua_error *err)
{
    paua_status status = PAUA_OK;
    uint64_t generation = UINT64_MAX;
    /* A try that fails, or a torn batch, is not the caller's failure yet. */
    paua_error tried = {.row = PAUA_NO_ROW};

    for (int attempt = 0; attempt < SNAPSHOT_TRIES; attempt++) {
        struct load l = {.c = c, .db = c->db, .schema = &c->schema, .old = old, .err = &tried};

        l.catalog = db_lock_reader(c->db);
        status = load_once(&l);
        db_unlock_reader(c->db);
        if (status == PAUA_OK) {
            view_count(l.view);
            *view = l.view;
            *torn = l.torn;
        }
        /* A file may be missing because a newer commit dropped it: then the generation moved. */
        if (status != PAUA_ECORRUPT || l.head.generation == generation) break;
        generation = l.head.generation;
    }
    if (status != PAUA_OK && err != NULL) *err = tried;
    return status;
}
