/* history_open.c - opening, following and closing the histories of a database.
 *
 * A writer loads its history once, behind the writer lock, and then knows all there is. A reader
 * looks at the history's record whenever a view is asked for, and loads what has changed since.
 * A file may be removed by retention between the reading of its group's record and its opening;
 * then everything is read again, and only what is missing still is lost.
 * All histories of a database share one scratch of compression contexts. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/schema.h"
#include "db/histories.h"

#define COMMIT_MS_DEFAULT 500u
#define COMMIT_NBYTES_DEFAULT (1u << 20)
#define FILE_NBYTES_DEFAULT (UINT64_C(64) << 20)
#define FILE_NBYTES_MIN (UINT64_C(64) << 10)
#define TRIES 4

struct finding {
    const char *name;
    struct history_record record;
    bool found;
    paua_status bad; /* of a record that cannot be read */
    uint64_t bad_id;
};

static paua_status record_each(void *arg, uint64_t id, paua_bytes bytes)
{
    struct finding *f = arg;
    struct history_record record;
    paua_status status = history_record_decode(bytes.data, bytes.nbytes, &record);

    if (status != PAUA_OK || record.history != id) {
        f->bad = status == PAUA_EVERSION ? PAUA_EVERSION : PAUA_ECORRUPT;
        f->bad_id = id;
    } else if (strcmp(record.name, f->name) == 0) {
        f->record = record;
        f->found = true;
    }
    return PAUA_OK;
}

paua_status history_find(struct catalog *catalog, const char *name, struct history_record *record,
                         paua_error *err)
{
    struct finding f = {.name = name};
    paua_status status = catalog_each(catalog, TABLE_HISTORY, 0, INT64_MAX, record_each, &f, err);

    if (status != PAUA_OK) return status;
    if (f.found) {
        *record = f.record;
        return PAUA_OK;
    }
    if (f.bad != PAUA_OK)
        return error_set(err, f.bad,
                         CATALOG_NAME
                         ": the record of history %llu is damaged or newer; run paua check",
                         (unsigned long long)f.bad_id);
    return error_set(err, PAUA_ENOTFOUND,
                     "there is no history \"%s\"; paua history ls names those there are", name);
}

/* One try; *gone: a file was not there. */
static paua_status load_once(struct paua_db_history *h, bool *gone, paua_error *err)
{
    struct catalog *catalog = db_lock_reader(h->db);
    struct history_record record;
    paua_status status = catalog_begin_read(catalog, err);

    *gone = false;
    if (status == PAUA_OK) {
        status = archive_record(catalog, h->number, &record, err);
        if (status == PAUA_ENOTFOUND) error_set(err, status, "history \"%s\" was removed", h->name);
        if (status == PAUA_OK &&
            (h->archive.record.history == 0 || h->archive.record.generation != record.generation))
            status = archive_load(&h->archive, catalog, &record, gone, err);
        catalog_rollback(catalog);
    }
    db_unlock_reader(h->db);
    return status;
}

paua_status history_load(struct paua_db_history *h, paua_error *err)
{
    paua_status status = PAUA_OK;
    bool gone = true;

    for (int i = 0; i < TRIES && gone && status == PAUA_OK; i++) {
        if (i > 0) archive_forget(&h->archive);
        status = load_once(h, &gone, err);
    }
    return status;
}

paua_status history_lock(struct paua_db_history *h, paua_error *err)
{
    paua_db *db = h->db;
    bool here = false;
    paua_status status = writer_presence(db, err);

    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&db->mutex);
    for (const struct paua_db_history *o = db->histories; o != NULL; o = o->next)
        here = here || o->number == h->number;
    if (here)
        status = error_set(err, PAUA_EBUSY,
                           "history %s is being written by this process; close it first", h->name);
    else
        status = locks_take_history(db->locks, h->number, h->name, err);
    if (status == PAUA_OK) {
        h->next = db->histories;
        db->histories = h;
        h->is_writer = true;
    }
    pthread_mutex_unlock(&db->mutex);
    return status;
}

void history_unlock(struct paua_db_history *h)
{
    paua_db *db = h->db;
    struct paua_db_history **at = &db->histories;

    if (!h->is_writer) return;
    pthread_mutex_lock(&db->mutex);
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    locks_drop_history(db->locks, h->number);
    pthread_mutex_unlock(&db->mutex);
    h->is_writer = false;
}

/* Numbers a record and puts it into the catalogue, inside a write transaction. */
static paua_status make_record(paua_db *db, const char *name, struct history_record *record,
                               paua_error *err)
{
    uint64_t number;
    paua_status status = catalog_number_take(db->writer, META_NEXT_COLLECTION, 1, &number, err);

    if (status != PAUA_OK) return status;
    if (number > CATALOG_COLLECTION_MAX)
        return error_set(err, PAUA_ENOSPACE, "the database has no more numbers for histories");
    record->history = (uint32_t)number;
    strcpy(record->name, name);
    return archive_put_record(db->writer, record, err);
}

/* Makes the record of a new history, unless somebody was faster. */
static paua_status create(paua_db *db, const char *name, const paua_db_history_opts *opts,
                          struct history_record *record, paua_error *err)
{
    struct history_record made = {.next_id = 1,
                                  .max_rows = opts->limits.max_rows,
                                  .max_nbytes = opts->limits.max_nbytes,
                                  .max_age_ms = opts->limits.max_age_ms,
                                  .page_rows = opts->page_rows};
    paua_error refused;
    paua_status status = writer_presence(db, err);

    if (status == PAUA_OK) status = db_begin(db, err);
    if (status != PAUA_OK) return status;
    status = history_find(db->writer, name, &made, &refused);
    if (status == PAUA_ENOTFOUND)
        status = make_record(db, name, &made, err);
    else if (status != PAUA_OK && err != NULL)
        *err = refused;
    status = db_finish(db, status, err);
    if (status == PAUA_OK) *record = made;
    return status;
}

static paua_status find_or_create(paua_db *db, const char *name, const paua_db_history_opts *opts,
                                  struct history_record *record, paua_error *err)
{
    struct catalog *catalog = db_lock_reader(db);
    paua_error refused;
    paua_status status = history_find(catalog, name, record, &refused);

    db_unlock_reader(db);
    if (status == PAUA_ENOTFOUND && opts->create && !opts->read_only) {
        status = db_check_writable(db, err);
        return status == PAUA_OK ? create(db, name, opts, record, err) : status;
    }
    if (status != PAUA_OK && err != NULL) *err = refused;
    return status;
}

static paua_status opts_take(paua_db_history_opts *to, const paua_db_history_opts *from,
                             const char *name, paua_error *err)
{
    *to = (paua_db_history_opts){0};
    if (from != NULL && from->size < sizeof from->size)
        return error_set(err, PAUA_EINVAL, "paua_db_history_opts.size is not set");
    if (from != NULL) memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    if (name == NULL || !schema_name_valid(name))
        return error_set(err, PAUA_EINVAL,
                         "a history's name is 1 to 255 bytes of UTF-8 without control characters");
    if (to->page_rows > PAUA_HISTORY_PAGE_ROWS_MAX)
        return error_set(err, PAUA_EINVAL, "page_rows is at most 256");
    if (to->read_only && (to->create || to->is_private))
        return error_set(err, PAUA_EINVAL, "read_only excludes create and is_private");
    if (to->page_rows == 0) to->page_rows = PAUA_HISTORY_PAGE_ROWS_MAX;
    if (to->commit_ms == 0) to->commit_ms = COMMIT_MS_DEFAULT;
    if (to->commit_nbytes == 0) to->commit_nbytes = COMMIT_NBYTES_DEFAULT;
    if (to->file_nbytes == 0) to->file_nbytes = FILE_NBYTES_DEFAULT;
    if (to->file_nbytes < FILE_NBYTES_MIN) to->file_nbytes = FILE_NBYTES_MIN;
    return PAUA_OK;
}

/* The scratch of all histories of a database, made now if there is none; NULL: no memory. */
static paua_history_scratch *scratch_of(paua_db *db)
{
    paua_history_scratch *scratch;

    pthread_mutex_lock(&db->mutex);
    if (db->history_scratch == NULL) db->history_scratch = scratch_make();
    scratch = db->history_scratch;
    pthread_mutex_unlock(&db->mutex);
    return scratch;
}

static struct paua_db_history *handle_new(paua_db *db, const char *name,
                                          const paua_db_history_opts *opts)
{
    struct paua_db_history *h = mem_zalloc(1, sizeof *h);

    if (h == NULL) return NULL;
    h->db = db;
    h->is_private = opts->is_private;
    h->at_once = opts->at_once;
    h->commit_ms = opts->commit_ms;
    h->commit_nbytes = opts->commit_nbytes;
    h->file_nbytes = opts->file_nbytes;
    strcpy(h->name, name);
    pthread_mutex_init(&h->mutex, NULL);
    return h;
}

static void handle_free(struct paua_db_history *h)
{
    history_unlock(h);
    archive_close(&h->archive);
    pthread_mutex_destroy(&h->mutex);
    mem_free(h);
}

static paua_status open_private(struct paua_db_history *h, const paua_db_history_opts *opts,
                                paua_error *err)
{
    paua_history_opts o = {.size = sizeof o,
                           .limits = opts->limits,
                           .scratch = scratch_of(h->db),
                           .page_rows = opts->page_rows};

    if (o.scratch == NULL) return error_set_nomem(err);
    return paua_history_open(&o, &h->archive.history, err);
}

static paua_status open_stored(struct paua_db_history *h, const paua_db_history_opts *opts,
                               paua_error *err)
{
    paua_history_scratch *scratch = scratch_of(h->db);
    struct history_record record;
    paua_history_limits limits = {0};
    paua_status status = find_or_create(h->db, h->name, opts, &record, err);

    if (status != PAUA_OK) return status;
    if (scratch == NULL) return error_set_nomem(err);
    h->number = record.history;
    if (!opts->read_only) {
        status = db_check_writable(h->db, err);
        if (status == PAUA_OK) status = history_lock(h, err);
        if (status != PAUA_OK) return status;
        limits = (paua_history_limits){record.max_rows, record.max_nbytes, record.max_age_ms};
    }
    status = archive_open(&h->archive, h->db->dir, &record, &limits, scratch, err);
    if (status == PAUA_OK) status = history_load(h, err);
    return status;
}

paua_status paua_db_history_open(paua_db *db, const char *name, const paua_db_history_opts *opts,
                                 paua_db_history **history, paua_error *err)
{
    paua_db_history_opts o;
    struct paua_db_history *h;
    paua_status status = db_check(db, err);

    if (status == PAUA_OK) status = opts_take(&o, opts, name, err);
    if (status != PAUA_OK) return status;
    h = handle_new(db, name, &o);
    if (h == NULL) return error_set_nomem(err);
    status = o.is_private ? open_private(h, &o, err) : open_stored(h, &o, err);
    if (status != PAUA_OK) {
        handle_free(h);
        return status;
    }
    *history = h;
    return PAUA_OK;
}

void paua_db_history_close(paua_db_history *h)
{
    if (h == NULL || db_check(h->db, NULL) != PAUA_OK) return;
    if (h->is_writer && db_check_writable(h->db, NULL) == PAUA_OK)
        history_commit(h, NULL, false, NULL);
    handle_free(h);
}

paua_status paua_db_history_view_open(paua_db_history *h, paua_history_view **view, paua_error *err)
{
    paua_status status;

    if (h == NULL) return error_set(err, PAUA_EINVAL, "the history is NULL");
    status = db_check(h->db, err);
    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&h->mutex);
    if (!h->is_private && !h->is_writer) status = history_load(h, err);
    if (status == PAUA_OK) status = paua_history_view_open(h->archive.history, view, err);
    pthread_mutex_unlock(&h->mutex);
    return status;
}
