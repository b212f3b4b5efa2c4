/* catalog_upkeep.c - syncing, checkpoints, vacuum, checking and backup of the catalogue.
 *
 * catalog_sync() syncs SQLite's two files through SQLite's own descriptors. The log comes first: a
 * checkpoint between the two calls moves pages from the log to the file, which is synced after it.
 * Rejected: an empty commit under synchronous=FULL - SQLite writes nothing where nothing changed,
 * and with synchronous=OFF earlier checkpoints have left the main file unsynced as well. */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/catalog_private.h"

static paua_status sync_file(struct catalog *catalog, int which, paua_error *err)
{
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(catalog->db, "main", which, &file);

    if (rc == SQLITE_OK && file != NULL && file->pMethods != NULL)
        rc = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    return rc == SQLITE_OK ? PAUA_OK : catalog_fail(catalog->db, rc, "syncing", err);
}

paua_status catalog_sync(struct catalog *catalog, paua_error *err)
{
    paua_status status;

    if (catalog->path == NULL || catalog->read_only) return PAUA_OK;
    status = sync_file(catalog, SQLITE_FCNTL_JOURNAL_POINTER, err);
    return status == PAUA_OK ? sync_file(catalog, SQLITE_FCNTL_FILE_POINTER, err) : status;
}

/* Without a busy handler, a reader or writer in the way means: copy what can be copied. */
paua_status catalog_checkpoint(struct catalog *catalog, paua_error *err)
{
    int rc;

    if (catalog->path == NULL || catalog->read_only) return PAUA_OK;
    assert(sqlite3_get_autocommit(catalog->db));
    sqlite3_busy_handler(catalog->db, NULL, NULL);
    rc = sqlite3_wal_checkpoint_v2(catalog->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_handler(catalog->db, catalog_busy, catalog);
    if (rc == SQLITE_OK || (rc & 0xFF) == SQLITE_BUSY) return PAUA_OK;
    return catalog_fail(catalog->db, rc, "checkpointing", err);
}

paua_status catalog_vacuum(struct catalog *catalog, paua_error *err)
{
    paua_status status =
        catalog_exec(catalog, "PRAGMA incremental_vacuum", "giving space back", err);

    return status == PAUA_OK ? catalog_checkpoint(catalog, err) : status;
}

paua_status catalog_integrity(struct catalog *catalog, void (*finding)(void *arg, const char *text),
                              void *arg, paua_error *err)
{
    sqlite3_stmt *statement = NULL;
    paua_status status = PAUA_OK;
    int rc = sqlite3_prepare_v2(catalog->db, "PRAGMA integrity_check", -1, &statement, NULL);

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        const char *text;

        rc = sqlite3_step(statement);
        if (rc != SQLITE_ROW) break;
        text = (const char *)sqlite3_column_text(statement, 0);
        if (text != NULL && strcmp(text, "ok") != 0) finding(arg, text);
    }
    if (rc != SQLITE_DONE) status = catalog_fail(catalog->db, rc, "checking", err);
    sqlite3_finalize(statement);
    return status;
}

static int copy_pages(sqlite3 *to, sqlite3 *from)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

    if (backup == NULL) return sqlite3_extended_errcode(to);
    sqlite3_backup_step(backup, -1);
    return sqlite3_backup_finish(backup);
}

/* The copy is written with a rollback journal, which is synced and gone when the copy is complete.
 * */
static paua_status backup_to(struct catalog *catalog, const char *path, paua_error *err)
{
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    sqlite3 *to = NULL;
    paua_status status = PAUA_OK;
    int rc = sqlite3_open_v2(path, &to, flags, NULL);

    if (rc == SQLITE_OK) rc = copy_pages(to, catalog->db);
    if (rc != SQLITE_OK) status = catalog_fail(to, rc, "backing up", err);
    sqlite3_close(to);
    return status;
}

paua_status catalog_backup(struct catalog *catalog, struct dir *to, paua_error *err)
{
    char *path;
    paua_status status;

    assert(!dir_in_memory(to));
    assert(sqlite3_txn_state(catalog->db, "main") != SQLITE_TXN_WRITE);
    if (dir_exists(to, CATALOG_NAME))
        return error_set(err, PAUA_EEXISTS, "%s: has a catalogue already", dir_path(to));
    path = catalog_path(to);
    if (path == NULL) return error_set_nomem(err);
    status = backup_to(catalog, path, err);
    mem_free(path);
    if (status == PAUA_OK) status = dir_sync(to, err);
    if (status != PAUA_OK) {
        dir_unlink(to, CATALOG_NAME, NULL);
        dir_unlink(to, CATALOG_NAME "-journal", NULL);
    }
    return status;
}
