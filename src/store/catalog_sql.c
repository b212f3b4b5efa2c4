/* catalog_sql.c - SQLite's result codes as our statuses, waiting, and running statements. */
#include <assert.h>
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/catalog_private.h"

#define BUSY_FIRST_NS 50000L
#define BUSY_LONGEST_NS 2000000L

const char *catalog_table_name(enum table table)
{
    static const char *const names[TABLE_COUNT] = {
        "meta",         "collection", "head",     "segment", "deleted",
        "batch",        "definition", "artifact", "history", "history_group",
        "history_tail", "field",      "columns",  "patch"};

    assert(table < TABLE_COUNT);
    return names[table];
}

/* What the system call behind a failed operation says, where SQLite keeps it. */
static paua_status status_of_errno(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return PAUA_ENOSPACE;
    case ENOMEM:
        return PAUA_ENOMEM;
    case EROFS:
    case EACCES:
    case EPERM:
        return PAUA_EREADONLY;
    default:
        return PAUA_EIO;
    }
}

static paua_status status_of(sqlite3 *db, int rc)
{
    if (rc == SQLITE_IOERR_NOMEM) return PAUA_ENOMEM;
    switch (rc & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return PAUA_EBUSY;
    case SQLITE_FULL:
        return PAUA_ENOSPACE;
    case SQLITE_NOMEM:
        return PAUA_ENOMEM;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* our SQL is right, so the tables are not */
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT:
        return PAUA_ECORRUPT;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return PAUA_EREADONLY;
    case SQLITE_INTERRUPT:
        return PAUA_ECANCELED;
    case SQLITE_TOOBIG:
        return PAUA_EINVAL;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return db != NULL ? status_of_errno(sqlite3_system_errno(db)) : PAUA_EIO;
    default:
        return PAUA_EIO;
    }
}

static const char *advice_for(paua_status status)
{
    switch (status) {
    case PAUA_EBUSY:
        return "another process is committing; try again, or wait longer (busy_ms)";
    case PAUA_ENOSPACE:
        return "free some space and try again";
    case PAUA_ECORRUPT:
        return "check the database, and restore it from a backup or rebuild its catalogue";
    case PAUA_EREADONLY:
        return "check the permissions, or open the database read-only";
    case PAUA_ECANCELED:
        return "try again";
    case PAUA_EINVAL:
        return "write less at once";
    default:
        return "check the disk and the system log";
    }
}

paua_status catalog_fail(sqlite3 *db, int rc, const char *doing, paua_error *err)
{
    paua_status status = status_of(db, rc);

    assert(rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE && rc != SQLITE_MISUSE);
    if (status == PAUA_ENOMEM) return error_set_nomem(err);
    return error_set(err, status, CATALOG_NAME ": %s: %s; %s", doing,
                     db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(rc), advice_for(status));
}

/* Commits of other processes last well under a millisecond, so the first waits are short; SQLite's
 * own handler begins at 1 ms and soon sleeps 100. */
int catalog_busy(void *catalog, int tries)
{
    struct catalog *c = catalog;
    struct timespec pause = {.tv_sec = 0, .tv_nsec = BUSY_LONGEST_NS};
    uint64_t now = clock_now_ns();

    if (tries == 0) c->busy_start_ns = now;
    if (now - c->busy_start_ns >= (uint64_t)c->busy_ms * 1000000u) return 0;
    if (tries < 6) pause.tv_nsec = BUSY_FIRST_NS << tries;
    if (pause.tv_nsec > BUSY_LONGEST_NS) pause.tv_nsec = BUSY_LONGEST_NS;
    nanosleep(&pause, NULL);
    return 1;
}

paua_status catalog_prepare(struct catalog *catalog, sqlite3_stmt **statement, const char *sql,
                            paua_error *err)
{
    int rc;

    if (*statement != NULL) return PAUA_OK;
    rc = sqlite3_prepare_v3(catalog->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    return rc == SQLITE_OK ? PAUA_OK : catalog_fail(catalog->db, rc, "preparing", err);
}

int catalog_step(sqlite3_stmt *statement)
{
    int rc;

    while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
        continue;
    sqlite3_reset(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

paua_status catalog_exec(struct catalog *catalog, const char *sql, const char *doing,
                         paua_error *err)
{
    int rc = sqlite3_exec(catalog->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? PAUA_OK : catalog_fail(catalog->db, rc, doing, err);
}

paua_status catalog_scalar(struct catalog *catalog, const char *sql, int64_t *value,
                           paua_error *err)
{
    sqlite3_stmt *statement = NULL;
    paua_status status = PAUA_OK;
    int rc = sqlite3_prepare_v2(catalog->db, sql, -1, &statement, NULL);

    if (rc == SQLITE_OK) rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    else
        status = catalog_fail(catalog->db, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, "reading", err);
    sqlite3_finalize(statement);
    return status;
}
