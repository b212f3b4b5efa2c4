/* drop.c - dropping a collection: its records in one transaction, then its files. Readers in other
 * processes keep the files that they have open; a crash in between leaves files for the sweep.
 *
 * What is damaged cannot be opened, but it can be dropped: its number and name suffice. Then no
 * list of its files can be trusted, and the next sweep removes them. */
#include "base/error.h"
#include "db/db.h"
#include "db/files.h"

static paua_status records_delete(struct catalog *catalog, uint32_t collection, paua_error *err)
{
    static const enum table ranges[] = {TABLE_SEGMENT,  TABLE_DELETED, TABLE_BATCH,   TABLE_INDEX,
                                        TABLE_ARTIFACT, TABLE_FIELD,   TABLE_COLUMNS, TABLE_PATCH};
    paua_status status = catalog_delete(catalog, TABLE_COLLECTION, collection, collection, err);

    if (status == PAUA_OK)
        status = catalog_delete(catalog, TABLE_HEAD, collection, collection, err);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0] && status == PAUA_OK; i++)
        status = catalog_delete(catalog, ranges[i], CATALOG_ID(collection, 0),
                                CATALOG_ID(collection, CATALOG_LOW_MAX), err);
    return status;
}

static void view_unlink(paua_db *db, const struct schema *schema, const struct view *view)
{
    files_unlink_tail(db->dir, schema, &view->head);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        const struct manifest *manifest = &view->segments[i].segment->manifest;
        const struct artifacts *artifacts = view->segments[i].artifacts;

        for (uint32_t a = 0; artifacts != NULL && a < artifacts->count; a++)
            artifact_unlink(db->dir, &artifacts->files[a]->record);
        files_unlink(db->dir, manifest->keys.number, FILE_KEYS);
        files_unlink(db->dir, view->segments[i].columns_ref.number, FILE_COLUMNS);
        for (uint32_t p = 0; p < manifest->part_count; p++)
            files_unlink_part(db->dir, schema, &manifest->parts[p]);
    }
}

/* With the collection's writer lock held. */
static paua_status records_drop(paua_db *db, uint32_t collection, paua_error *err)
{
    paua_status status = db_begin(db, err);

    if (status != PAUA_OK) return status;
    return db_finish(db, records_delete(db->writer, collection, err), err);
}

/* With write_mutex held. Whoever opened the collection while it was dropped, and a merge that still
 * runs, must become its writer again before they write, and find that it is gone. */
static paua_status drop_opened(struct paua_collection *c, paua_error *err)
{
    paua_status status = writer_begin(c, err);

    if (status == PAUA_OK) status = records_drop(c->db, c->schema.collection, err);
    if (status != PAUA_OK) return status;
    if (db_settle(c->db) == PAUA_OK) view_unlink(c->db, &c->schema, c->view);
    writer_close_files(c);
    atomic_store(&c->writing, false);
    locks_drop_collection(c->db->locks, c->schema.collection);
    return PAUA_OK;
}

static paua_status drop_damaged(paua_db *db, const char *name, paua_error *err)
{
    struct schema schema;
    paua_status status = collection_find(db, name, &schema, err);

    if (status == PAUA_OK) status = writer_presence(db, err);
    if (status == PAUA_OK)
        status = locks_take_collection(db->locks, schema.collection, schema.name, err);
    if (status != PAUA_OK) return status;
    status = records_drop(db, schema.collection, err);
    locks_drop_collection(db->locks, schema.collection);
    return status;
}

paua_status paua_collection_drop(paua_db *db, const char *name, paua_error *err)
{
    struct paua_collection *c;
    paua_error refused;
    paua_status status = db_check_writable(db, err);
    bool shared;

    if (status != PAUA_OK) return status;
    status = paua_collection_open(db, name, &c, &refused);
    if (status == PAUA_ECORRUPT) return drop_damaged(db, name, err);
    if (status != PAUA_OK) {
        if (err != NULL) *err = refused;
        return status;
    }
    pthread_mutex_lock(&db->mutex);
    shared = c->handles > 1;
    pthread_mutex_unlock(&db->mutex);
    if (shared) {
        status = error_set(err, PAUA_EBUSY,
                           "collection \"%s\" is open in this process; close it first", name);
    } else {
        pthread_mutex_lock(&c->write_mutex);
        status = drop_opened(c, err);
        pthread_mutex_unlock(&c->write_mutex);
    }
    paua_collection_close(c);
    return status;
}
