/* backup.c - one consistent state into another directory while writes go on.
 *
 * SQLite's snapshot decides which files belong to the state and how far they go; sealed files never
 * change, and a tail's file only grows, so copying their first bytes later copies that state. A
 * file that a merge has removed meanwhile means that the snapshot is old: everything begins anew.
 * */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "codec/index_record.h"
#include "codec/manifest.h"
#include "db/db.h"
#include "db/files.h"
#include "db/histories.h"

#define TRIES 20

struct item {
    char name[FILE_NAME_NBYTES];
    uint64_t nbytes;
    bool sealed;
};

struct ids {
    uint64_t *items;
    size_t count, capacity;
};

#define CODED_ID(segment, field) ((segment) << 5 | (field))

struct backup {
    paua_db *db;
    const paua_backup_opts *opts;
    struct catalog *catalog; /* its read transaction is the snapshot */
    struct dir *to;
    struct item *items;
    size_t count, capacity;
    struct schema schema; /* of the collection being listed */
    uint64_t heap_nbytes; /* of its tail */
    struct ids coded;     /* CODED_ID of what has codes in this snapshot */
    bool failed;          /* out of memory while listing */
};

static void item_add(struct backup *b, uint64_t number, enum file_kind kind, uint64_t nbytes,
                     bool sealed)
{
    struct item *item;

    if (number == 0 || b->failed) return;
    if (mem_grow((void **)&b->items, &b->capacity, b->count + 1, sizeof b->items[0]) != 0) {
        b->failed = true;
        return;
    }
    item = &b->items[b->count++];
    file_name(item->name, number, kind);
    item->nbytes = nbytes;
    item->sealed = sealed;
}

static paua_status batch_each(void *arg, uint64_t id, paua_bytes record)
{
    struct backup *b = arg;
    struct batch batch;

    (void)id;
    if (batch_decode(record.data, record.nbytes, &batch) != PAUA_OK) return PAUA_ECORRUPT;
    if (batch.has_documents) b->heap_nbytes = batch.heap.offset + batch.heap.nbytes;
    return PAUA_OK;
}

/* A vector file's length: that of a stub where there is one and codes make up for it. */
static uint64_t vectors_nbytes(const struct backup *b, uint64_t segment, uint32_t field,
                               const struct file_ref *ref)
{
    uint64_t nbytes = ref->nbytes, found;
    char name[FILE_NAME_NBYTES];
    int fd;

    if (b->schema.fields[field].originals != PAUA_ORIGINALS_NONE) return nbytes;
    for (size_t i = 0; i < b->coded.count; i++) {
        if (b->coded.items[i] != CODED_ID(segment, field)) continue;
        file_name(name, ref->number, files_vector_header(&b->schema, field, ref->number).kind);
        if (dir_open_file(b->db->dir, name, DIR_READ, &fd, NULL) != PAUA_OK) break;
        if (fd_length(fd, name, &found, NULL) == PAUA_OK) nbytes = found;
        fd_close(fd);
    }
    return nbytes;
}

static paua_status segment_each(void *arg, uint64_t id, paua_bytes record)
{
    struct backup *b = arg;
    struct manifest m;
    paua_status status = manifest_decode(record.data, record.nbytes, &m);

    (void)id;
    if (status != PAUA_OK) return status;
    if (m.field_count != b->schema.field_count) {
        manifest_free(&m);
        return PAUA_ECORRUPT;
    }
    item_add(b, m.keys.number, FILE_KEYS, m.keys.nbytes, true);
    for (uint32_t p = 0; p < m.part_count; p++) {
        for (uint32_t f = 0; f < m.field_count; f++) {
            const struct file_ref *ref = &m.parts[p].vectors[f];
            item_add(b, ref->number, files_vector_header(&b->schema, f, ref->number).kind,
                     vectors_nbytes(b, m.segment, f, ref), true);
        }
        item_add(b, m.parts[p].heap.number, FILE_HEAP, m.parts[p].heap.nbytes, true);
    }
    manifest_free(&m);
    return PAUA_OK;
}

static paua_status id_each(void *arg, uint64_t id, paua_bytes record)
{
    struct ids *ids = arg;

    (void)record;
    if (mem_grow((void **)&ids->items, &ids->capacity, ids->count + 1, sizeof ids->items[0]) != 0)
        return PAUA_ENOMEM;
    ids->items[ids->count++] = id;
    return PAUA_OK;
}

static paua_status artifact_each(void *arg, uint64_t id, paua_bytes record)
{
    struct backup *b = arg;
    struct artifact a;
    paua_status status = artifact_decode(record.data, record.nbytes, &a);

    (void)id;
    if (status != PAUA_OK) return status;
    item_add(b, a.file.number, artifact_file_kind(&a), a.file.nbytes, true);
    return a.index == 0 ? id_each(&b->coded, CODED_ID(a.segment, a.field), record) : PAUA_OK;
}

static paua_status columns_each(void *arg, uint64_t id, paua_bytes record)
{
    struct backup *b = arg;
    struct column_ref ref;
    paua_status status = column_ref_decode(record.data, record.nbytes, &ref);

    (void)id;
    if (status == PAUA_OK) item_add(b, ref.file.number, FILE_COLUMNS, ref.file.nbytes, true);
    return status;
}

static paua_status tail_list(struct backup *b, const struct head *head)
{
    uint64_t rows = head->next_row - head->tail_first_row;
    paua_status status;

    b->heap_nbytes = 0;
    status = catalog_each(b->catalog, TABLE_BATCH, CATALOG_ID(head->collection, 0),
                          CATALOG_ID(head->collection, CATALOG_LOW_MAX), batch_each, b, NULL);
    for (uint32_t f = 0; f < head->field_count && status == PAUA_OK; f++) {
        struct file_header h = files_vector_header(&b->schema, f, head->tail_vectors[f]);
        item_add(b, h.number, h.kind, FILE_HEADER_NBYTES + rows * h.row_nbytes, false);
    }
    if (status == PAUA_OK)
        item_add(b, head->tail_heap, FILE_HEAP, FILE_HEADER_NBYTES + b->heap_nbytes, false);
    return status;
}

static paua_status collection_list(struct backup *b, uint32_t number)
{
    struct head head;
    paua_bytes record;
    paua_status status = catalog_get(b->catalog, TABLE_COLLECTION, number, &record, NULL);

    if (status == PAUA_OK) status = schema_decode(record.data, record.nbytes, &b->schema);
    if (status == PAUA_OK) status = catalog_get(b->catalog, TABLE_HEAD, number, &record, NULL);
    if (status == PAUA_OK) status = head_decode(record.data, record.nbytes, &head);
    if (status == PAUA_OK &&
        (head.collection != number || head.field_count != b->schema.field_count))
        status = PAUA_ECORRUPT;
    b->coded.count = 0;
    if (status == PAUA_OK)
        status = catalog_each(b->catalog, TABLE_ARTIFACT, CATALOG_ID(number, 0),
                              CATALOG_ID(number, CATALOG_LOW_MAX), artifact_each, b, NULL);
    if (status == PAUA_OK)
        status = catalog_each(b->catalog, TABLE_SEGMENT, CATALOG_ID(number, 0),
                              CATALOG_ID(number, CATALOG_LOW_MAX), segment_each, b, NULL);
    if (status == PAUA_OK)
        status = catalog_each(b->catalog, TABLE_COLUMNS, CATALOG_ID(number, 0),
                              CATALOG_ID(number, CATALOG_LOW_MAX), columns_each, b, NULL);
    return status == PAUA_OK ? tail_list(b, &head) : status;
}

static paua_status pages_each(void *arg, uint64_t number, uint64_t nbytes, bool last)
{
    item_add(arg, number, FILE_PAGES, nbytes, !last);
    return PAUA_OK;
}

static paua_status history_list(struct backup *b, uint32_t number)
{
    struct history_record record;
    paua_status status = archive_record(b->catalog, number, &record, NULL);

    return status == PAUA_OK ? history_files(b->catalog, &record, pages_each, b, NULL) : status;
}

static paua_status files_list(struct backup *b, paua_error *err)
{
    struct ids ids = {0};
    paua_status status =
        catalog_each(b->catalog, TABLE_COLLECTION, 0, INT64_MAX, id_each, &ids, NULL);

    b->count = 0;
    for (size_t i = 0; i < ids.count && status == PAUA_OK; i++)
        status = collection_list(b, (uint32_t)ids.items[i]);
    ids.count = 0;
    if (status == PAUA_OK)
        status = catalog_each(b->catalog, TABLE_HISTORY, 0, INT64_MAX, id_each, &ids, NULL);
    for (size_t i = 0; i < ids.count && status == PAUA_OK; i++)
        status = history_list(b, (uint32_t)ids.items[i]);
    mem_free(ids.items);
    if (status == PAUA_ENOMEM || b->failed) return error_set_nomem(err);
    if (status != PAUA_OK)
        return error_set(err, PAUA_ECORRUPT,
                         "%s: a record is damaged, so the backup would be; run paua check",
                         CATALOG_NAME);
    return PAUA_OK;
}

static paua_status files_copy(struct backup *b, bool *gone, paua_error *err)
{
    const paua_backup_opts *opts = b->opts;
    uint64_t done = 0, total = 0;
    paua_status status = PAUA_OK;

    for (size_t i = 0; i < b->count; i++)
        total += b->items[i].nbytes;
    for (size_t i = 0; i < b->count && status == PAUA_OK; i++) {
        const struct item *item = &b->items[i];

        if (opts != NULL && opts->progress != NULL)
            opts->progress(opts->progress_arg, "copying", done, total);
        if (opts != NULL && opts->cancel != NULL &&
            __atomic_load_n(&opts->cancel->requested, __ATOMIC_RELAXED) != 0)
            return error_set(err, PAUA_ECANCELED, "the backup was canceled and removed");
        status = dir_copy_file(b->db->dir, item->name, b->to, item->nbytes,
                               item->sealed && opts != NULL && opts->link, err);
        /* Removed, or cut down to a stub, by a commit newer than the snapshot? */
        *gone =
            status == PAUA_ECORRUPT || (status != PAUA_OK && !dir_exists(b->db->dir, item->name));
        done += item->nbytes;
    }
    return status;
}

static void remove_each(void *arg, const char *name, uint64_t nbytes)
{
    (void)nbytes;
    dir_unlink(arg, name, NULL);
}

/* One try with one snapshot. */
static paua_status backup_once(struct backup *b, bool *gone, paua_error *err)
{
    paua_status status = catalog_begin_read(b->catalog, err);

    *gone = false;
    if (status != PAUA_OK) return status;
    status = files_list(b, err);
    if (status == PAUA_OK) status = catalog_backup(b->catalog, b->to, err);
    catalog_rollback(b->catalog);
    if (status == PAUA_OK) status = files_copy(b, gone, err);
    if (status == PAUA_OK) status = dir_sync(b->to, err);
    if (status != PAUA_OK) dir_list(b->to, remove_each, b->to, NULL);
    return status;
}

static void count_each(void *arg, const char *name, uint64_t nbytes)
{
    (void)name;
    (void)nbytes;
    ++*(size_t *)arg;
}

static paua_status destination_open(const char *path, struct dir **to, bool *made, paua_error *err)
{
    size_t files = 0;
    paua_status status;

    *made = access(path, F_OK) != 0;
    status = dir_open(path, true, false, to, err);
    if (status != PAUA_OK) return status;
    status = dir_list(*to, count_each, &files, err);
    if (status == PAUA_OK && files > 0)
        status = error_set(err, PAUA_EEXISTS, "%s: is not empty; name a new directory", path);
    if (status != PAUA_OK) dir_close(*to);
    return status;
}

/* A connection of its own, so that a long copy keeps nobody from reading. */
static paua_status catalog_own(paua_db *db, struct catalog **catalog, paua_error *err)
{
    struct catalog_opts opts = {.read_only = true, .busy_ms = db->opts.busy_ms};

    opts.immutable = db_immutable(db);
    return catalog_open(db->dir, &opts, catalog, err);
}

static paua_status backup_run(struct backup *b, paua_error *err)
{
    bool memory = dir_in_memory(b->db->dir), gone = true;
    paua_error tried;
    paua_status status = PAUA_OK;

    if (memory)
        b->catalog = db_lock_reader(b->db);
    else
        status = catalog_own(b->db, &b->catalog, &tried);
    if (status == PAUA_OK) {
        status = PAUA_EIO;
        for (int i = 0; i < TRIES && status != PAUA_OK && gone; i++)
            status = backup_once(b, &gone, &tried);
    }
    if (status != PAUA_OK && err != NULL) *err = tried;
    if (memory)
        db_unlock_reader(b->db);
    else
        catalog_close(b->catalog);
    mem_free(b->items);
    mem_free(b->coded.items);
    return status;
}

paua_status paua_backup(paua_db *db, const char *destination, const paua_backup_opts *opts,
                        paua_error *err)
{
    struct backup b = {.db = db, .opts = opts};
    bool made;
    paua_status status = db_check(db, err);

    if (status != PAUA_OK) return status;
    if (destination == NULL || destination[0] == '\0')
        return error_set(err, PAUA_EINVAL, "the destination is empty; name a new directory");
    if (opts != NULL && opts->size < sizeof *opts)
        return error_set(err, PAUA_EINVAL, "paua_backup_opts.size is not set");
    status = destination_open(destination, &b.to, &made, err);
    if (status != PAUA_OK) return status;
    status = backup_run(&b, err);
    dir_close(b.to);
    if (status != PAUA_OK && made) rmdir(destination);
    return status;
}
