/* open.c - opening and closing a database, and sweeping away what a crash left behind. */
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/manifest.h"
#include "db/db.h"
#include "history/scratch.h"

#define BATCH_MS_DEFAULT 100u
#define BUSY_MS_DEFAULT 60000u
#define NUMBERS_AT_ONCE 16u

static _Atomic uint32_t fork_count;

static void count_fork(void) { atomic_fetch_add(&fork_count, 1); }
static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

paua_status forks_check(uint32_t forks, paua_error *err)
{
    if (forks == atomic_load(&fork_count)) return PAUA_OK;
    return error_set(err, PAUA_EFORKED,
                     "the database was opened before a fork; open it again in the child");
}

paua_status db_check(const paua_db *db, paua_error *err)
{
    if (db == NULL) return error_set(err, PAUA_EINVAL, "the database handle is NULL");
    return forks_check(db->forks, err);
}

paua_status db_check_writable(paua_db *db, paua_error *err)
{
    paua_status status = db_check(db, err);

    if (status != PAUA_OK) return status;
    if (db->opts.read_only)
        return error_set(err, PAUA_EREADONLY, "%s: opened read-only; open it for writing",
                         dir_path(db->dir));
    if (db_poisoned(db))
        return error_set(err, PAUA_EPOISONED,
                         "%s: an earlier sync failed, so nothing more is written; check the disk, "
                         "close and reopen",
                         dir_path(db->dir));
    return PAUA_OK;
}

void db_poison(paua_db *db) { atomic_store(&db->poisoned, true); }

bool db_poisoned(const paua_db *db)
{
    return atomic_load(&db->poisoned) || dir_sync_failed(db->dir);
}

struct catalog *db_lock_reader(paua_db *db)
{
    pthread_mutex_lock(db->reader != NULL ? &db->reader_mutex : &db->writer_mutex);
    return db->reader != NULL ? db->reader : db->writer;
}

void db_unlock_reader(paua_db *db)
{
    pthread_mutex_unlock(db->reader != NULL ? &db->reader_mutex : &db->writer_mutex);
}

paua_status db_sync_catalog(paua_db *db, paua_error *err)
{
    paua_status status;

    pthread_mutex_lock(&db->writer_mutex);
    status = catalog_sync(db->writer, err);
    pthread_mutex_unlock(&db->writer_mutex);
    if (status != PAUA_OK) db_poison(db);
    return status;
}

paua_status db_settle(paua_db *db)
{
    return db->opts.durability == PAUA_BATCH ? db_sync_catalog(db, NULL) : PAUA_OK;
}

paua_status db_begin(paua_db *db, paua_error *err)
{
    paua_status status;

    pthread_mutex_lock(&db->writer_mutex);
    status = catalog_begin_write(db->writer, err);
    if (status != PAUA_OK) pthread_mutex_unlock(&db->writer_mutex);
    return status;
}

paua_status db_finish(paua_db *db, paua_status done, paua_error *err)
{
    bool uncertain = false;

    if (done == PAUA_OK)
        done = catalog_commit(db->writer, &uncertain, err);
    else
        catalog_rollback(db->writer);
    if (uncertain) db_poison(db);
    pthread_mutex_unlock(&db->writer_mutex);
    return done;
}

static paua_status numbers_take(paua_db *db, uint64_t count, uint64_t *first, paua_error *err)
{
    paua_status status = db_begin(db, err);

    if (status != PAUA_OK) return status;
    status = catalog_number_take(db->writer, META_NEXT_FILE, count, first, err);
    return db_finish(db, status, err);
}

paua_status db_file_numbers(paua_db *db, uint32_t count, uint64_t *numbers, paua_error *err)
{
    paua_status status = PAUA_OK;
    uint64_t first = 0, taken = 0;

    pthread_mutex_lock(&db->mutex);
    if (db->files_end - db->next_file >= count) {
        first = db->next_file;
        db->next_file += count;
        taken = 1;
    }
    pthread_mutex_unlock(&db->mutex);
    if (taken == 0) {
        status = numbers_take(db, count + NUMBERS_AT_ONCE, &first, err);
        if (status != PAUA_OK) return status;
        pthread_mutex_lock(&db->mutex);
        db->next_file = first + count;
        db->files_end = first + count + NUMBERS_AT_ONCE;
        pthread_mutex_unlock(&db->mutex);
    }
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = first + i;
    return PAUA_OK;
}

static void db_free(paua_db *db)
{
    if (db->maintenance != NULL) maintenance_stop(db);
    catalog_close(db->reader);
    catalog_close(db->writer);
    if (db->history_scratch != NULL) scratch_unref(db->history_scratch);
    locks_close(db->locks);
    dir_close(db->dir);
    pthread_mutex_destroy(&db->reader_mutex);
    pthread_mutex_destroy(&db->writer_mutex);
    pthread_mutex_destroy(&db->mutex);
    pthread_cond_destroy(&db->idle);
    mem_free(db);
}

/* A reader that merely does not want to write must still see what others do. */
bool db_immutable(const paua_db *db)
{
    return db->opts.read_only && access(dir_path(db->dir), W_OK) != 0 &&
           !locks_writer_present(db->locks);
}

static void note_data_file(void *arg, const char *name, uint64_t nbytes)
{
    enum file_kind kind;
    uint64_t number;
    bool temporary;

    (void)nbytes;
    if (file_name_parse(name, &number, &kind, &temporary) && !temporary) *(bool *)arg = true;
}

/* Data files are made only when the catalogue's making is durable. So where there are some and no
 * catalogue, it was lost, and a new one would have them swept away: only rebuilding makes one. */
static paua_status writer_open(paua_db *db, struct catalog_opts opts, paua_error *err)
{
    bool data_files = false;
    paua_status status = PAUA_OK;

    if (opts.create) status = dir_list(db->dir, note_data_file, &data_files, err);
    if (status != PAUA_OK) return status;
    opts.create = opts.create && !data_files;
    status = catalog_open(db->dir, &opts, &db->writer, err);
    if (status == PAUA_OK && opts.create && opts.durability == PAUA_BATCH)
        status = catalog_sync(db->writer, err);
    return status;
}

/* No catalogue, or an empty one: is there no database, or is it damaged? */
static paua_status missing_explain(paua_db *db, paua_error *err)
{
    bool data_files = false;

    if (db->dir == NULL || dir_list(db->dir, note_data_file, &data_files, NULL) != PAUA_OK ||
        !data_files)
        return PAUA_ENOTFOUND;
    return error_set(err, PAUA_ECORRUPT,
                     "%s: there are data files but no catalogue; restore it from a backup, or run "
                     "paua check --rebuild",
                     dir_path(db->dir));
}

static paua_status catalogs_open(paua_db *db, paua_error *err)
{
    struct catalog_opts opts = {.create = db->opts.create || db->opts.in_memory,
                                .read_only = db->opts.read_only,
                                .durability = db->opts.durability,
                                .busy_ms = db->opts.busy_ms};
    paua_status status;

    if (!db->opts.read_only) {
        status = writer_open(db, opts, err);
        /* SQLite has made its log. It syncs the log's name too, but ignores a failure. */
        if (status == PAUA_OK) status = dir_sync(db->dir, err);
        if (status != PAUA_OK || dir_in_memory(db->dir)) return status;
    }
    opts.create = false;
    opts.read_only = true;
    opts.immutable = db_immutable(db);
    return catalog_open(db->dir, &opts, &db->reader, err);
}

static paua_status db_set_up(paua_db *db, const char *path, paua_error *err)
{
    const struct paua_open_opts *o = &db->opts;
    paua_status status;

    status = o->in_memory ? dir_open_memory(&db->dir, err)
                          : dir_open(path, o->create, o->read_only, &db->dir, err);
    if (status != PAUA_OK) return status;
    if (!o->in_memory && !o->create && !dir_exists(db->dir, CATALOG_NAME))
        return error_set(err, PAUA_ENOTFOUND,
                         "%s: no paua database there; give another path, or create one", path);
    status = locks_open(db->dir, o->read_only, &db->locks, err);
    if (status == PAUA_OK && !o->read_only && !locks_writable(db->locks))
        return error_set(err, PAUA_EREADONLY,
                         "%s: cannot be written here; open it read-only, or make it writable",
                         path);
    if (status == PAUA_OK) status = catalogs_open(db, err);
    if (status == PAUA_OK && !o->read_only) status = sweep(db, err);
    if (status == PAUA_OK && !o->read_only && (!o->no_background || o->durability == PAUA_BATCH))
        status = maintenance_start(db, err);
    return status;
}

/* Copies what the caller's struct has of ours: older callers have fewer fields. */
static paua_status opts_take(struct paua_open_opts *to, const paua_open_opts *from,
                             const char *path, paua_error *err)
{
    if (from != NULL && from->size < sizeof from->size)
        return error_set(err, PAUA_EINVAL, "paua_open_opts.size is not set");
    *to = (struct paua_open_opts){0};
    if (from != NULL) memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    if (to->batch_ms == 0) to->batch_ms = BATCH_MS_DEFAULT;
    if (to->busy_ms == 0) to->busy_ms = BUSY_MS_DEFAULT;
    if (!to->in_memory && (path == NULL || path[0] == '\0'))
        return error_set(err, PAUA_EINVAL, "the path is empty; name the database's directory");
    if (to->read_only && (to->create || to->in_memory))
        return error_set(err, PAUA_EINVAL, "read_only excludes create and in_memory");
    if ((unsigned)to->durability > PAUA_OFF)
        return error_set(err, PAUA_EINVAL, "durability is none of full, batch and off");
    if ((unsigned)to->verify > PAUA_VERIFY_HEADER)
        return error_set(err, PAUA_EINVAL, "verify is neither touch nor header");
    return PAUA_OK;
}

paua_status paua_open(const char *path, const paua_open_opts *opts, paua_db **db, paua_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct paua_open_opts taken;
    paua_db *d;
    paua_status status = opts_take(&taken, opts, path, err);

    if (status != PAUA_OK) return status;
    pthread_once(&once, watch_forks);
    d = mem_zalloc(1, sizeof *d);
    if (d == NULL) return error_set_nomem(err);
    d->opts = taken;
    d->file_opts = (struct data_file_opts){d->opts.no_mmap, d->opts.verify};
    d->forks = atomic_load(&fork_count);
    pthread_mutex_init(&d->reader_mutex, NULL);
    pthread_mutex_init(&d->writer_mutex, NULL);
    pthread_mutex_init(&d->mutex, NULL);
    pthread_cond_init(&d->idle, NULL);
    status = db_set_up(d, path, err);
    if (status == PAUA_ENOTFOUND) status = missing_explain(d, err);
    if (status != PAUA_OK) {
        db_free(d);
        return status;
    }
    *db = d;
    return PAUA_OK;
}

void paua_close(paua_db *db)
{
    if (db == NULL || db->forks != atomic_load(&fork_count)) return;
    assert(db->collections == NULL && db->histories == NULL);
    db_free(db);
}

paua_status paua_flush(paua_db *db, paua_error *err)
{
    struct paua_collection *c;
    paua_status status = db_check_writable(db, err);

    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&db->mutex);
    for (c = db->collections; c != NULL; c = c->next)
        c->busy++;
    c = db->collections;
    pthread_mutex_unlock(&db->mutex);
    while (c != NULL) {
        struct paua_collection *next;

        if (status == PAUA_OK) status = collection_sync(c, err);
        pthread_mutex_lock(&db->mutex);
        next = c->next;
        if (--c->busy == 0) pthread_cond_broadcast(&db->idle);
        pthread_mutex_unlock(&db->mutex);
        c = next;
    }
    return status == PAUA_OK ? db_sync_catalog(db, err) : status;
}
