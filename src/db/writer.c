/* writer.c - becoming the writer of a collection, and the files that its tail grows in. */
#include "base/error.h"
#include "base/memory.h"
#include "db/db.h"
#include "db/files.h"

paua_status writer_presence(paua_db *db, paua_error *err)
{
    paua_status status = PAUA_OK;

    pthread_mutex_lock(&db->mutex);
    if (!db->present) status = locks_share_presence(db->locks, err);
    if (status == PAUA_OK) db->present = true;
    pthread_mutex_unlock(&db->mutex);
    return status;
}

/* Removes the batches that a power failure took the bytes of, for good. */
static paua_status torn_discard(struct paua_collection *c, struct view *view, paua_error *err)
{
    uint32_t collection = c->schema.collection;
    struct catalog *catalog = c->db->writer;
    paua_status status = db_begin(c->db, err);

    if (status != PAUA_OK) return status;
    view->head.generation++;
    status =
        catalog_delete(catalog, TABLE_BATCH, CATALOG_ID(collection, view->head.last_sequence + 1),
                       CATALOG_ID(collection, CATALOG_LOW_MAX), err);
    if (status == PAUA_OK) status = catalog_put_view(catalog, view, err);
    return db_finish(c->db, status, err);
}

/* The last state of whoever wrote before us becomes ours. */
static paua_status take_over(struct paua_collection *c, paua_error *err)
{
    struct view *old = collection_peek(c), *view;
    bool torn;
    paua_status status;

    pthread_mutex_lock(&c->refresh_mutex);
    status = load_view(c, old, &view, &torn, err);
    if (status == PAUA_OK && torn) {
        status = torn_discard(c, view, err);
        if (status != PAUA_OK) view_unref(view);
    }
    if (status == PAUA_OK) {
        c->durable_sequence = view->durable_sequence;
        collection_publish(c, view);
        atomic_store(&c->writing, true);
    }
    pthread_mutex_unlock(&c->refresh_mutex);
    view_unref(old);
    return status;
}

paua_status writer_begin(struct paua_collection *c, paua_error *err)
{
    uint32_t collection = c->schema.collection;
    paua_status status;

    if (atomic_load(&c->writing)) return PAUA_OK;
    status = writer_presence(c->db, err);
    if (status == PAUA_OK)
        status = locks_take_collection(c->db->locks, collection, c->schema.name, err);
    if (status != PAUA_OK) return status;
    status = take_over(c, err);
    if (status != PAUA_OK) locks_drop_collection(c->db->locks, collection);
    return status;
}

void writer_close_files(struct paua_collection *c)
{
    for (uint32_t f = 0; f < c->schema.field_count; f++) {
        file_writer_close(c->vectors[f]);
        c->vectors[f] = NULL;
    }
    file_writer_close(c->heap);
    c->heap = NULL;
    c->writers_open = false;
}

/* Goes on with files that a tail has already. Their bytes were verified when it was loaded. */
static paua_status files_reopen(struct paua_collection *c, const struct view *view, paua_error *err)
{
    struct dir *dir = c->db->dir;
    paua_status status = PAUA_OK;
    size_t bad;

    for (uint32_t f = 0; f < c->schema.field_count && status == PAUA_OK; f++) {
        struct file_header header = files_vector_header(&c->schema, f, view->head.tail_vectors[f]);

        status = file_writer_reopen(dir, &header, (uint64_t)view->tail_rows * header.row_nbytes,
                                    NULL, 0, &c->vectors[f], &bad, err);
    }
    if (status == PAUA_OK && view->head.tail_heap != 0) {
        struct file_header header = files_heap_header(&c->schema, view->head.tail_heap);

        status =
            file_writer_reopen(dir, &header, view->tail->heap_nbytes, NULL, 0, &c->heap, &bad, err);
    }
    return status;
}

/* Synced at once: a commit that only deletes rows names the files too, and syncs none of them. */
static paua_status file_make(struct paua_collection *c, const struct file_header *header,
                             struct file_writer **writer, paua_error *err)
{
    paua_status status = file_writer_create(c->db->dir, header, false, writer, err);

    return status == PAUA_OK ? file_writer_sync(*writer, err) : status;
}

/* Makes the files of a new tail. Nothing refers to them until the first batch commits. */
static paua_status files_make(struct paua_collection *c, struct view *next, paua_error *err)
{
    uint32_t fields = c->schema.field_count;
    bool documents = c->schema.document != PAUA_DOCUMENT_NONE;
    uint64_t numbers[PAUA_VECTOR_FIELDS_MAX + 1];
    paua_status status = db_file_numbers(c->db, fields + (documents ? 1 : 0), numbers, err);

    for (uint32_t f = 0; f < fields && status == PAUA_OK; f++) {
        struct file_header header = files_vector_header(&c->schema, f, numbers[f]);

        next->head.tail_vectors[f] = numbers[f];
        status = file_make(c, &header, &c->vectors[f], err);
    }
    if (status == PAUA_OK && documents) {
        struct file_header header = files_heap_header(&c->schema, numbers[fields]);

        next->head.tail_heap = numbers[fields];
        status = file_make(c, &header, &c->heap, err);
    }
    if (status == PAUA_OK) status = dir_sync(c->db->dir, err);
    next->head.generation++;
    next->head.tail_first_row = next->head.next_row;
    if (status == PAUA_OK)
        status = tail_open(c->db->dir, &c->schema, &next->head, c->db->file_opts, &next->tail, err);
    if (status != PAUA_OK) files_unlink_tail(c->db->dir, &c->schema, &next->head);
    return status;
}

paua_status writer_open_files(struct paua_collection *c, paua_error *err)
{
    struct view *view, *next;
    paua_status status;

    if (c->writers_open) return PAUA_OK;
    view = collection_peek(c);
    if (view->tail != NULL) {
        status = files_reopen(c, view, err);
    } else {
        next = view_copy(view);
        status = next == NULL ? error_set_nomem(err) : files_make(c, next, err);
        if (status == PAUA_OK)
            collection_publish(c, next);
        else
            view_unref(next);
    }
    view_unref(view);
    if (status == PAUA_OK)
        c->writers_open = true;
    else
        writer_close_files(c);
    return status;
}

paua_status writer_sync(struct paua_collection *c, paua_error *err)
{
    struct view *view = collection_peek(c);
    paua_status status = PAUA_OK;

    for (uint32_t f = 0; f < c->schema.field_count && status == PAUA_OK; f++)
        if (c->vectors[f] != NULL) status = file_writer_sync(c->vectors[f], err);
    if (status == PAUA_OK && c->heap != NULL) status = file_writer_sync(c->heap, err);
    if (status == PAUA_OK)
        c->durable_sequence = view->head.last_sequence;
    else
        db_poison(c->db);
    view_unref(view);
    return status;
}

paua_status writer_begin_commit(struct paua_collection *c, paua_error *err)
{
    paua_status status = c->db->opts.durability == PAUA_BATCH ? writer_sync(c, err) : PAUA_OK;

    return status == PAUA_OK ? db_begin(c->db, err) : status;
}

paua_status collection_sync(struct paua_collection *c, paua_error *err)
{
    paua_status status;

    pthread_mutex_lock(&c->write_mutex);
    status = writer_sync(c, err);
    pthread_mutex_unlock(&c->write_mutex);
    return status;
}

paua_status writer_lock(struct paua_collection *c, paua_error *err)
{
    paua_status status;

    pthread_mutex_lock(&c->write_mutex);
    status = db_check_writable(c->db, err);
    if (status == PAUA_OK) status = writer_begin(c, err);
    if (status != PAUA_OK) pthread_mutex_unlock(&c->write_mutex);
    return status;
}
