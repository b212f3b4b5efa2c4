/* db.h - what a database handle and an open collection hold, and who may touch it.
 *
 * Locks, outermost first; a thread takes them only in this order:
 *   optimize_mutex   of a collection: one optimize at a time
 *   write_mutex      of a collection: its tail, file writers, and the publishing of new views
 *   refresh_mutex    of a collection: following another process's commits
 *   reader_mutex     of a database: the reading SQLite connection
 *   writer_mutex     of a database: the writing one (in memory the only one)
 *   mutex            of a database: list of open collections, numbers of files
 *   view_mutex       of a collection: held for a few instructions to take or swap the view
 * The queue of waiting writes has its own mutex, never held together with another. */
#ifndef PAUA_DB_DB_H
#define PAUA_DB_DB_H

#include <pthread.h>

#include "db/view.h"
#include "store/catalog.h"
#include "store/file_writer.h"
#include "store/locks.h"

struct write_request;
struct maintenance;

struct paua_db {
    struct dir *dir;
    struct locks *locks;
    struct paua_open_opts opts; /* defaults filled in */
    struct data_file_opts file_opts;
    struct catalog *reader; /* NULL in memory */
    struct catalog *writer; /* NULL when read-only */
    pthread_mutex_t reader_mutex;
    pthread_mutex_t writer_mutex;
    pthread_mutex_t mutex;
    pthread_cond_t idle; /* with mutex: a collection's busy count fell to 0 */
    struct paua_collection *collections;
    uint64_t next_file, files_end; /* numbers taken from the catalogue, not yet used */
    bool present;                  /* holds the presence lock */
    _Atomic bool poisoned;
    uint32_t forks; /* forks of this process's line before it was opened */
    struct maintenance *maintenance;
    struct paua_db_history *histories;            /* those that this handle writes */
    struct paua_history_scratch *history_scratch; /* shared by all histories; made when needed */
    _Atomic bool histories_unsynced;              /* a history was committed since the last sync */
};

struct paua_collection {
    struct view_owner owner; /* first: memory stays until the last view has gone */
    paua_db *db;
    struct paua_collection *next;
    uint32_t handles;
    uint32_t busy; /* background jobs that use it */
    bool closing;  /* a thread waits for them, to free it */
    struct schema schema;
    paua_vector_field public_fields[PAUA_VECTOR_FIELDS_MAX];
    paua_schema public_schema;

    pthread_mutex_t view_mutex;
    struct view *view;
    pthread_mutex_t refresh_mutex;
    uint64_t seen_version;

    pthread_mutex_t write_mutex;
    _Atomic bool writing; /* this process holds the writer lock */
    struct file_writer *vectors[PAUA_VECTOR_FIELDS_MAX];
    struct file_writer *heap;
    bool writers_open;
    uint64_t durable_sequence; /* batches up to here are synced */
    uint64_t commit_ns;        /* how long the last commit took */

    pthread_mutex_t queue_mutex;
    pthread_cond_t queue_full; /* as many wait as came last time */
    struct write_request *queue, **queue_end;
    uint32_t queue_count;
    uint32_t last_group; /* requests in the last group */
    bool leading;

    pthread_mutex_t optimize_mutex;
    paua_cancel background; /* stops what the maintenance thread builds or merges here */
};

/* PAUA_EFORKED if there was a fork since `forks` was taken from a database: for hits and cursors,
 * which may outlive it. */
paua_status forks_check(uint32_t forks, paua_error *err);
/* PAUA_EFORKED in a forked child, PAUA_EINVAL for NULL. */
paua_status db_check(const paua_db *db, paua_error *err);
paua_status db_check_writable(paua_db *db, paua_error *err);

/* How codes and graphs are opened. */
static inline struct artifact_opts db_artifact_opts(const paua_db *db)
{
    return (struct artifact_opts){db->file_opts, db->opts.lean};
}

/* Opened where nothing can be written, with no writer at work: the catalogue needs no locks. */
bool db_immutable(const paua_db *db);

/* The connection for reading, with its mutex held. */
struct catalog *db_lock_reader(paua_db *db);
void db_unlock_reader(paua_db *db);

/* A write transaction: db_begin locks the writing connection (on failure it does not stay locked);
 * db_finish commits if what was done in between is PAUA_OK, rolls back if not, poisons the handle
 * if nobody can know whether a commit happened, and unlocks. Both return the status so far. */
paua_status db_begin(paua_db *db, paua_error *err);
paua_status db_finish(paua_db *db, paua_status done, paua_error *err);

/* Marks the handle: a sync failed, so what is on the disk is unknown. */
void db_poison(paua_db *db);
/* Has it been marked, or did a sync of any of its files fail? */
bool db_poisoned(const paua_db *db);

/* Makes all commits durable; a failure poisons the handle. writer_mutex is not held. */
paua_status db_sync_catalog(paua_db *db, paua_error *err);

/* Makes the last commit durable, since under PAUA_BATCH a power failure could take it back: before
 * files that it dropped are removed, and where no batch follows that would be synced in time.
 * writer_mutex is not held. */
paua_status db_settle(paua_db *db);

/* Takes `count` file numbers that nobody else will ever use. */
paua_status db_file_numbers(paua_db *db, uint32_t count, uint64_t *numbers, paua_error *err);

/* The schema of a collection by its name: PAUA_ENOTFOUND, PAUA_ECORRUPT, PAUA_EVERSION. */
paua_status collection_find(paua_db *db, const char *name, struct schema *schema, paua_error *err);
/* The current view with a reference taken, after following other processes' commits. */
paua_status collection_view(struct paua_collection *c, struct view **view, paua_error *err);
/* The view as it stands in memory, with a reference taken. */
struct view *collection_peek(struct paua_collection *c);
/* Makes a view current; takes its reference. */
void collection_publish(struct paua_collection *c, struct view *view);

/* Loads a collection's state from the catalogue; `old` (may be NULL) is reused where it still
 * holds. *torn is set when an unsynced end was lost to a power failure and left out. */
paua_status load_view(struct paua_collection *c, struct view *old, struct view **view, bool *torn,
                      paua_error *err);

/* Shares the presence lock, until the database is closed: nobody sweeps while we write. */
paua_status writer_presence(paua_db *db, paua_error *err);
/* With write_mutex held: takes the writer lock and opens the tail's files for appending. */
paua_status writer_begin(struct paua_collection *c, paua_error *err);
/* Locks write_mutex and becomes the writer; on failure it does not stay locked. */
paua_status writer_lock(struct paua_collection *c, paua_error *err);
/* Opens the tail's writers if they are closed, making files for a new tail. */
paua_status writer_open_files(struct paua_collection *c, paua_error *err);
void writer_close_files(struct paua_collection *c);

/* With write_mutex held: turns the tail into a segment. Nothing happens when it is empty. */
paua_status seal_tail(struct paua_collection *c, paua_error *err);
/* Has the tail reached 16,384 rows or 64 MiB, or its batches 64 MiB? */
bool seal_due(const struct view *view);

/* Inside a write transaction: stores a collection's head. */
paua_status head_put(struct catalog *catalog, const struct head *head, paua_error *err);
/* Puts deletions, patches, segments' digest and head of `view` into the catalogue, inside a write
 * transaction; deletions whose stored record is out of date are rewritten and their stored_crc
 * updated in the view. */
paua_status catalog_put_view(struct catalog *catalog, struct view *view, paua_error *err);

enum merge_policy {
    MERGE_ALL,       /* paua_optimize: one segment if possible, nothing over a quarter dead */
    MERGE_BACKGROUND /* eight segments of a size, or a file over half dead */
};

/* Merges; *did says whether anything was to do. */
paua_status merge_run(struct paua_collection *c, enum merge_policy policy,
                      const paua_optimize_opts *opts, bool *did, paua_error *err);

/* Background thread: merging after seals, syncing under PAUA_BATCH. */
paua_status maintenance_start(paua_db *db, paua_error *err);
void maintenance_stop(paua_db *db);
void maintenance_wake(paua_db *db);

/* With write_mutex held: syncs the tail's files; a failure poisons the handle. */
paua_status writer_sync(struct paua_collection *c, paua_error *err);
/* With write_mutex held: db_begin for a commit that stores more of a view than a batch. Under
 * PAUA_BATCH the rows before it are synced first: such a commit keeps deletions and patches, which
 * must not outlive the batches that they came with. */
paua_status writer_begin_commit(struct paua_collection *c, paua_error *err);
/* Makes a collection's committed rows durable (files and catalogue); write_mutex not held. */
paua_status collection_sync(struct paua_collection *c, paua_error *err);

/* Removes files that nothing refers to, if no other writer is at work. */
paua_status sweep(paua_db *db, paua_error *err);

#endif
