/* seal.c - the tail becomes a segment: its files get their footers and close, a key file is
 * written, and a column file if its rows have fields, and one commit exchanges the batch records
 * for a manifest. No vector or document is copied.
 *
 * The data files are sealed in place: until the commit they are a tail's files with something after
 * their committed length, which a crash or a failure leaves to be overwritten. A tail without rows
 * may still hold many records of deletions: they are folded into the segments' own. */
#include "base/error.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "codec/record.h"
#include "codec/rowset.h"
#include "db/columns.h"
#include "db/files.h"
#include "db/sealed_files.h"

#define SEAL_ROWS 16384u
#define SEAL_NBYTES (UINT64_C(64) << 20)
#define SEAL_BATCHES 16384u

bool seal_due(const struct view *view)
{
    uint64_t nbytes;

    if (view->tail == NULL) return false;
    nbytes = view->tail->heap_nbytes;
    for (uint32_t f = 0; f < view->schema->field_count; f++)
        nbytes += (uint64_t)view->tail_rows * schema_row_nbytes(&view->schema->fields[f]);
    nbytes += tail_columns_nbytes(&view->tail->columns);
    return view->tail_rows >= SEAL_ROWS || nbytes >= SEAL_NBYTES ||
           view->batch_nbytes >= SEAL_NBYTES || /* patches, which replace each other, above all */
           view->head.last_sequence - view->head.first_sequence + 1 >= SEAL_BATCHES;
}

/* Writes one segment's deletions if its record is out of date. */
static paua_status deleted_put(struct catalog *catalog, uint32_t collection,
                               struct view_segment *slot, bool *changed, paua_error *err)
{
    struct writer w = {0};
    uint32_t crc;
    paua_status status;

    if (slot->deleted == NULL) return PAUA_OK;
    if (rowset_encode(slot->deleted->set, &w) != PAUA_OK) {
        writer_free(&w);
        return error_set_nomem(err);
    }
    crc = record_crc(w.bytes);
    status = PAUA_OK;
    if (crc != slot->stored_crc) {
        status = catalog_put(catalog, TABLE_DELETED,
                             CATALOG_ID(collection, slot->segment->manifest.segment), w.bytes,
                             w.length, err);
        slot->stored_crc = crc;
        *changed = true;
    }
    writer_free(&w);
    return status;
}

/* Writes one segment's patches if their record is out of date. */
static paua_status patches_put(struct catalog *catalog, const struct view *view,
                               struct view_segment *slot, bool *changed, paua_error *err)
{
    uint64_t id = CATALOG_ID(view->schema->collection, slot->segment->manifest.segment);
    struct writer w = {0};
    uint32_t crc = 0;
    paua_status status = PAUA_OK;

    if (slot->patches != NULL) {
        if (patches_encode(slot->patches, field_list_type, view->fields, &w) != PAUA_OK)
            status = error_set_nomem(err);
        else
            crc = record_crc(w.bytes);
    }
    if (status == PAUA_OK && crc != slot->patches_crc) {
        status = crc == 0 ? catalog_delete(catalog, TABLE_PATCH, id, id, err)
                          : catalog_put(catalog, TABLE_PATCH, id, w.bytes, w.length, err);
        slot->patches_crc = crc;
        *changed = true;
    }
    writer_free(&w);
    return status;
}

paua_status head_put(struct catalog *catalog, const struct head *head, paua_error *err)
{
    struct writer w = {0};
    paua_status status =
        head_encode(head, &w) == PAUA_OK
            ? catalog_put(catalog, TABLE_HEAD, head->collection, w.bytes, w.length, err)
            : error_set_nomem(err);

    writer_free(&w);
    return status;
}

paua_status catalog_put_view(struct catalog *catalog, struct view *view, paua_error *err)
{
    uint32_t collection = view->schema->collection;
    bool changed = false;
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; i < view->segment_count && status == PAUA_OK; i++) {
        struct view_segment *slot = &view->segments[i];

        status = deleted_put(catalog, collection, slot, &changed, err);
        if (status == PAUA_OK) status = patches_put(catalog, view, slot, &changed, err);
    }
    view->head.segment_count = view->segment_count;
    view->head.segments_digest = view_digest(view);
    if (changed) view->head.generation++;
    return status == PAUA_OK ? head_put(catalog, &view->head, err) : status;
}

static uint32_t tail_length_of(const void *tail, uint32_t row)
{
    return tail_document_length(tail, row);
}

static paua_status heap_seal(struct paua_collection *c, const struct view *view,
                             struct file_ref *ref, paua_error *err)
{
    struct file_footer footer = {.row_count = view->tail_rows};
    uint64_t documents = view->tail->heap_nbytes;
    paua_status status;

    footer.sections[footer.section_count++] = (struct section){SECTION_DOCUMENTS, 0, documents};
    status = heap_index_write(c->heap, view->tail_rows, tail_length_of, view->tail, &footer, err);
    return status == PAUA_OK ? file_writer_seal(c->heap, &footer, ref, err) : status;
}

static paua_status files_seal(struct paua_collection *c, const struct view *view, struct part *part,
                              paua_error *err)
{
    paua_status status = PAUA_OK;

    *part = (struct part){.row_count = view->tail_rows,
                          .first_row = view->tail->first_row,
                          .last_row = view->tail->first_row + view->tail_rows - 1};
    for (uint32_t f = 0; f < c->schema.field_count && status == PAUA_OK; f++) {
        struct file_footer footer = {.row_count = view->tail_rows, .section_count = 1};

        footer.sections[0] = (struct section){
            SECTION_ROWS, 0, view->tail_rows * (uint64_t)schema_row_nbytes(&c->schema.fields[f])};
        status = file_writer_seal(c->vectors[f], &footer, &part->vectors[f], err);
    }
    if (status == PAUA_OK && c->heap != NULL) status = heap_seal(c, view, &part->heap, err);
    return status;
}

static paua_status tail_key_source(void *arg, uint32_t row, struct writer *scratch, struct key *key,
                                   paua_error *err)
{
    return tail_key(arg, row, scratch, key, err);
}

static struct place tail_place(const void *view, uint32_t row)
{
    return (struct place){((const struct view *)view)->segment_count, row};
}

/* The next view: the tail's rows as one more segment, and no tail. */
static paua_status view_sealed(struct paua_collection *c, const struct view *view,
                               struct manifest *manifest, uint32_t record_crc,
                               const struct file_ref *columns, struct view **next, paua_error *err)
{
    struct view *n = view_new(view->schema, view->owner, view->segment_count + 1);
    struct view_segment *last;
    paua_status status;

    if (n == NULL) {
        manifest_free(manifest);
        return error_set_nomem(err);
    }
    last = &n->segments[view->segment_count];
    n->head = view->head;
    for (uint32_t i = 0; i < view->segment_count; i++)
        view_slot_share(&n->segments[i], &view->segments[i]);
    n->indexes = index_list_ref(view->indexes);
    n->fields = field_list_ref(view->fields);
    last->deleted = deleted_ref(view->tail_deleted);
    status = segment_open(c->db->dir, &c->schema, manifest, record_crc, c->db->file_opts, NULL, 0,
                          &last->segment, err);
    if (status == PAUA_OK) status = columns_open(c, columns, last, err);
    if (status != PAUA_OK) {
        view_unref(n);
        return status;
    }
    n->head.generation++;
    n->head.first_sequence = n->head.last_sequence + 1;
    n->durable_sequence = n->head.last_sequence;
    for (uint32_t f = 0; f < c->schema.field_count; f++)
        n->head.tail_vectors[f] = 0;
    n->head.tail_heap = 0;
    n->head.tail_first_row = n->head.next_row;
    view_count(n);
    *next = n;
    return PAUA_OK;
}

/* One commit: the manifest in, the batches out. record may be NULL (folding only). */
static paua_status seal_commit(struct paua_collection *c, struct view *next,
                               const struct writer *record, paua_error *err)
{
    uint32_t collection = c->schema.collection;
    struct catalog *catalog = c->db->writer;
    paua_status status = db_begin(c->db, err);

    if (status != PAUA_OK) return status;
    if (record != NULL) {
        const struct segment *last = next->segments[next->segment_count - 1].segment;

        status = catalog_put(catalog, TABLE_SEGMENT, CATALOG_ID(collection, last->manifest.segment),
                             record->bytes, record->length, err);
        if (status == PAUA_OK)
            status = columns_store(catalog, &next->segments[next->segment_count - 1], err);
    }
    if (status == PAUA_OK)
        status = catalog_delete(catalog, TABLE_BATCH, CATALOG_ID(collection, 0),
                                CATALOG_ID(collection, CATALOG_LOW_MAX), err);
    if (status == PAUA_OK) status = catalog_put_view(catalog, next, err);
    return db_finish(c->db, status, err);
}

static paua_status fold(struct paua_collection *c, const struct view *view, paua_error *err)
{
    struct view *next = view_copy(view);
    paua_status status;

    if (next == NULL) return error_set_nomem(err);
    next->head.generation++;
    next->head.first_sequence = next->head.last_sequence + 1;
    next->durable_sequence = next->head.last_sequence;
    next->batch_nbytes = 0;
    status = seal_commit(c, next, NULL, err);
    if (status == PAUA_OK)
        collection_publish(c, next);
    else
        view_unref(next);
    return status;
}

/* Seals the data files, writes the key file, and makes the manifest with its record. */
static paua_status files_finish(struct paua_collection *c, const struct view *view,
                                struct manifest *manifest, struct writer *record, paua_error *err)
{
    uint64_t number;
    paua_status status = db_file_numbers(c->db, 1, &number, err);

    if (status != PAUA_OK) return status;
    *manifest = (struct manifest){.collection = c->schema.collection,
                                  .segment = number,
                                  .generation = view->head.generation + 1,
                                  .field_count = c->schema.field_count,
                                  .part_count = 1};
    manifest->parts = mem_zalloc(1, sizeof manifest->parts[0]);
    if (manifest->parts == NULL) return error_set_nomem(err);
    status = files_seal(c, view, &manifest->parts[0], err);
    if (status == PAUA_OK)
        status = keys_file_write(c->db->dir, &c->schema, manifest, view->tail_rows, tail_key_source,
                                 view->tail, err);
    if (status == PAUA_OK && manifest_encode(manifest, record) != PAUA_OK)
        status = error_set_nomem(err);
    return status;
}

/* The fields of the tail's rows. */
static paua_status tail_columns_write(struct paua_collection *c, const struct view *view,
                                      uint64_t segment, struct file_ref *columns, paua_error *err)
{
    const struct column_rows rows = {
        .view = view, .rows = view->tail_rows, .place_of = tail_place, .arg = view};

    return columns_write(c, &rows, segment, NULL, columns, err);
}

static paua_status seal_view(struct paua_collection *c, const struct view *view, paua_error *err)
{
    struct file_ref columns = {0};
    struct manifest manifest = {0};
    struct writer record = {0};
    struct view *next = NULL;
    paua_status status = files_finish(c, view, &manifest, &record, err);
    uint64_t number = manifest.segment;

    if (status == PAUA_OK) status = tail_columns_write(c, view, number, &columns, err);
    if (status == PAUA_OK)
        status = view_sealed(c, view, &manifest, record_crc(record.bytes), &columns, &next, err);
    else
        manifest_free(&manifest);
    if (status == PAUA_OK) status = seal_commit(c, next, &record, err);
    writer_free(&record);
    writer_close_files(c); /* sealed, or to be reopened at their committed length */
    if (status != PAUA_OK) {
        view_unref(next);
        if (!db_poisoned(c->db)) {
            files_unlink(c->db->dir, number, FILE_KEYS);
            files_unlink(c->db->dir, columns.number, FILE_COLUMNS);
        }
        return status;
    }
    collection_publish(c, next);
    db_settle(c->db); /* a backup may share the sealed files: they must not become a tail again */
    return PAUA_OK;
}

paua_status seal_tail(struct paua_collection *c, paua_error *err)
{
    struct view *view = collection_peek(c);
    paua_status status = PAUA_OK;

    if (view->tail_rows > 0) {
        status = writer_open_files(c, err);
        if (status == PAUA_OK) status = seal_view(c, view, err);
    } else if (view->head.first_sequence <= view->head.last_sequence) {
        status = fold(c, view, err);
    }
    view_unref(view);
    return status;
}
