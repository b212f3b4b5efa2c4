/* catalog.c - opening the catalogue, and its transactions.
 *
 * SQLite 3.40 in WAL mode, one connection a handle, without its mutexes: the caller has one thread
 * here at a time. Nothing of SQLite's process-wide state is touched, since the program around us
 * may use SQLite too. Caches are small (1 MiB): records are read once and kept decoded elsewhere.
 * Durability is SQLite's: FULL syncs the log at each commit, NORMAL at each checkpoint, OFF never.
 * cell_size_check and the checks of our own records are what notices flipped bits; DEFENSIVE and an
 * untrusted schema keep a forged file from running anything.
 *
 * A read-only medium is opened immutable, without locks or shared memory. A log with commits in it
 * would be passed over then, silently, so with one the file is opened as usual (which works where
 * the -shm file exists or can be made), or not at all.
 * auto_vacuum is incremental: catalog_vacuum() then moves pages to give space back, where VACUUM
 * would build the whole database again in temporary storage. It costs one page in a thousand. */
#include "store/catalog.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/catalog_private.h"

#define URI_PREFIX "file:"
#define URI_IMMUTABLE "?immutable=1"
#define WAL_SUFFIX "-wal"
#define WAL_RETRY_NS 1000000L

/* "./" before a relative name keeps one like "file:x" from being read as a URI. */
char *catalog_path(struct dir *dir)
{
    const char *directory = dir_path(dir);
    size_t nbytes = strlen(directory) + sizeof "./" + sizeof "/" CATALOG_NAME;
    char *path = mem_alloc(nbytes);

    if (path != NULL)
        snprintf(path, nbytes, "%s%s/%s", directory[0] == '/' ? "" : "./", directory, CATALOG_NAME);
    return path;
}

/* The path as a URI: every byte that could mean something there is written %XX. */
static char *immutable_uri(const char *path)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    char *uri = mem_alloc(sizeof URI_PREFIX + 3 * strlen(path) + sizeof URI_IMMUTABLE);
    char *at = uri;

    if (uri == NULL) return NULL;
    at = stpcpy(at, URI_PREFIX);
    for (; *path != '\0'; path++) {
        uint8_t byte = (uint8_t)*path;

        if (strchr(plain, byte) != NULL) {
            *at++ = (char)byte;
        } else {
            *at++ = '%';
            *at++ = digits[byte >> 4];
            *at++ = digits[byte & 15];
        }
    }
    strcpy(at, URI_IMMUTABLE);
    return uri;
}

static uint64_t nbytes_of(const char *path, const char *suffix)
{
    char *name = mem_alloc(strlen(path) + strlen(suffix) + 1);
    struct stat s;
    uint64_t nbytes = 0;

    if (name == NULL) return 0;
    stpcpy(stpcpy(name, path), suffix);
    if (stat(name, &s) == 0) nbytes = (uint64_t)s.st_size;
    mem_free(name);
    return nbytes;
}

uint64_t catalog_nbytes(struct catalog *catalog)
{
    int64_t pages = 0, page_nbytes = 0;

    if (catalog->path != NULL) {
        const char *absolute = sqlite3_db_filename(catalog->db, "main");

        return nbytes_of(absolute, "") + nbytes_of(absolute, WAL_SUFFIX);
    }
    if (catalog_scalar(catalog, "PRAGMA page_count", &pages, NULL) != PAUA_OK) return 0;
    if (catalog_scalar(catalog, "PRAGMA page_size", &page_nbytes, NULL) != PAUA_OK) return 0;
    return (uint64_t)pages * (uint64_t)page_nbytes;
}

static paua_status connect(struct catalog *catalog, const char *name, int flags, paua_error *err)
{
    int rc = sqlite3_open_v2(name, &catalog->db,
                             flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

    if (rc != SQLITE_OK) return catalog_fail(catalog->db, rc, "opening", err);
    sqlite3_busy_handler(catalog->db, catalog_busy, catalog);
    sqlite3_db_config(catalog->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(catalog->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(catalog->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(catalog->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return PAUA_OK;
}

/* What cannot be created SQLite tries to open read-only, so that its error says that there is no
 * such file. The directory knows better. */
static paua_status explain_refusal(paua_status status, const struct dir *dir, int flags,
                                   paua_error *err)
{
    if (status != PAUA_EIO || (flags & SQLITE_OPEN_CREATE) == 0) return status;
    if (access(dir_path(dir), W_OK) == 0) return status;
    return error_set_errno(err, errno, CATALOG_NAME, "creating");
}

static paua_status connect_file(struct catalog *catalog, const struct dir *dir,
                                const struct catalog_opts *opts, bool immutable, paua_error *err)
{
    int flags = opts->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    paua_status status;
    char *uri;

    if (immutable) {
        uri = immutable_uri(catalog->path);
        if (uri == NULL) return error_set_nomem(err);
        status = connect(catalog, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
        mem_free(uri);
        return status;
    }
    if (opts->create && !opts->read_only) flags |= SQLITE_OPEN_CREATE;
    status = connect(catalog, catalog->path, flags, err);
    if (status != PAUA_OK) return explain_refusal(status, dir, flags, err);
    if (!opts->read_only && sqlite3_db_readonly(catalog->db, "main") == 1)
        return error_set(err, PAUA_EREADONLY,
                         CATALOG_NAME ": cannot be written; check the permissions, or open the "
                                      "database read-only");
    return PAUA_OK;
}

static paua_status configure(struct catalog *catalog, paua_durability durability, paua_error *err)
{
    static const char *const synchronous[] = {
        "PRAGMA synchronous=FULL", "PRAGMA synchronous=NORMAL", "PRAGMA synchronous=OFF"};
    paua_status status = catalog_exec(catalog,
                                      "PRAGMA cell_size_check=ON;"
                                      "PRAGMA temp_store=MEMORY;"
                                      "PRAGMA mmap_size=0;"
                                      "PRAGMA cache_size=-1024;"
                                      "PRAGMA journal_size_limit=4194304",
                                      "opening", err);

    assert(durability <= PAUA_OFF);
    return status == PAUA_OK ? catalog_exec(catalog, synchronous[durability], "opening", err)
                             : status;
}

/* Switching to WAL needs the file for itself and does not call the busy handler, so two processes
 * that make a database at the same time meet here. */
static paua_status switch_to_wal(struct catalog *catalog, paua_error *err)
{
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = WAL_RETRY_NS};
    uint64_t start = clock_now_ns();
    sqlite3_stmt *statement = NULL;
    const char *mode = NULL;
    bool switched = false;
    int rc;

    for (;;) {
        rc = sqlite3_prepare_v2(catalog->db, "PRAGMA journal_mode=WAL", -1, &statement, NULL);
        if (rc == SQLITE_OK) rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW) mode = (const char *)sqlite3_column_text(statement, 0);
        switched = mode != NULL && strcmp(mode, "wal") == 0;
        mode = NULL;
        sqlite3_finalize(statement);
        if ((rc & 0xFF) != SQLITE_BUSY) break;
        if (clock_now_ns() - start >= (uint64_t)catalog->busy_ms * 1000000u) break;
        nanosleep(&pause, NULL);
    }
    if (switched) return PAUA_OK;
    if (rc != SQLITE_ROW) return catalog_fail(catalog->db, rc, "opening", err);
    return error_set(err, PAUA_ENOTSUP,
                     CATALOG_NAME ": this file system has no shared memory for SQLite's log; put "
                                  "the database on a local disk");
}

static paua_status open_memory(struct catalog *catalog, paua_error *err)
{
    paua_status status = connect(catalog, ":memory:", SQLITE_OPEN_READWRITE, err);

    if (status == PAUA_OK) status = configure(catalog, PAUA_OFF, err);
    if (status == PAUA_OK)
        status = catalog_exec(catalog, "PRAGMA auto_vacuum=INCREMENTAL", "creating", err);
    return status == PAUA_OK ? catalog_identify(catalog, true, err) : status;
}

static paua_status open_file(struct catalog *catalog, struct dir *dir,
                             const struct catalog_opts *opts, paua_error *err)
{
    bool create = opts->create && !opts->read_only;
    bool immutable;
    paua_status status;

    catalog->path = catalog_path(dir);
    if (catalog->path == NULL) return error_set_nomem(err);
    immutable = opts->immutable && nbytes_of(catalog->path, WAL_SUFFIX) == 0;
    if (!create && !dir_exists(dir, CATALOG_NAME))
        return error_set(err, PAUA_ENOTFOUND, "%s: there is no paua database; check the path",
                         dir_path(dir));
    status = connect_file(catalog, dir, opts, immutable, err);
    if (status == PAUA_OK) status = configure(catalog, opts->durability, err);
    if (status == PAUA_OK && create)
        status = catalog_exec(catalog, "PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL",
                              "opening", err);
    if (status == PAUA_OK && !opts->read_only) status = switch_to_wal(catalog, err);
    if (status == PAUA_OK) status = catalog_identify(catalog, create, err);
    if (status == PAUA_OK && create) status = dir_sync(dir, err);
    if ((status == PAUA_EIO || status == PAUA_EREADONLY) && opts->immutable && !immutable)
        status = error_set(err, PAUA_EREADONLY,
                           CATALOG_NAME WAL_SUFFIX ": has commits that cannot be read on this "
                                                   "medium; copy the directory to a disk, or open "
                                                   "it once for writing where it can be written");
    return status;
}

paua_status catalog_open(struct dir *dir, const struct catalog_opts *opts, struct catalog **catalog,
                         paua_error *err)
{
    struct catalog *opened = mem_zalloc(1, sizeof *opened);
    paua_status status;

    assert(!opts->immutable || opts->read_only);
    if (opened == NULL) return error_set_nomem(err);
    opened->read_only = opts->read_only;
    opened->busy_ms = opts->busy_ms;
    status = dir_in_memory(dir) ? open_memory(opened, err) : open_file(opened, dir, opts, err);
    if (status != PAUA_OK) {
        catalog_close(opened);
        return status;
    }
    *catalog = opened;
    return PAUA_OK;
}

void catalog_close(struct catalog *catalog)
{
    sqlite3_stmt *statement;

    if (catalog == NULL) return;
    while (catalog->db != NULL && (statement = sqlite3_next_stmt(catalog->db, NULL)) != NULL)
        sqlite3_finalize(statement);
    sqlite3_close(catalog->db);
    mem_free(catalog->record);
    mem_free(catalog->path);
    mem_free(catalog);
}

paua_status catalog_version(struct catalog *catalog, uint64_t *version, paua_error *err)
{
    paua_status status = catalog_prepare(catalog, &catalog->version, "PRAGMA data_version", err);
    int rc;

    if (status != PAUA_OK) return status;
    rc = sqlite3_step(catalog->version);
    if (rc == SQLITE_ROW)
        *version = (uint64_t)sqlite3_column_int64(catalog->version, 0);
    else
        status = catalog_fail(catalog->db, rc, "reading", err);
    sqlite3_reset(catalog->version);
    return status;
}

/* The statement that ends a transaction is prepared before it begins: later there may be no memory
 * for it. */
static paua_status begin(struct catalog *catalog, sqlite3_stmt **statement, const char *sql,
                         paua_error *err)
{
    paua_status status = catalog_prepare(catalog, &catalog->rollback, "ROLLBACK", err);
    int rc;

    assert(sqlite3_get_autocommit(catalog->db));
    if (status == PAUA_OK) status = catalog_prepare(catalog, statement, sql, err);
    if (status != PAUA_OK) return status;
    rc = catalog_step(*statement);
    if (rc == SQLITE_OK) return PAUA_OK;
    status = catalog_fail(catalog->db, rc, "beginning", err);
    catalog_rollback(catalog);
    return status;
}

/* BEGIN alone takes no snapshot; the first read does. */
paua_status catalog_begin_read(struct catalog *catalog, paua_error *err)
{
    uint64_t version;
    paua_status status = begin(catalog, &catalog->begin_read, "BEGIN", err);

    if (status == PAUA_OK) status = catalog_version(catalog, &version, err);
    if (status != PAUA_OK) catalog_rollback(catalog);
    return status;
}

paua_status catalog_begin_write(struct catalog *catalog, paua_error *err)
{
    return begin(catalog, &catalog->begin_write, "BEGIN IMMEDIATE", err);
}

/* Without space the last page of a commit cannot have been written, and without it there is no
 * commit. After any other I/O error, such as a failed sync, the log may hold all of it. */
paua_status catalog_commit(struct catalog *catalog, bool *uncertain, paua_error *err)
{
    paua_status status = catalog_prepare(catalog, &catalog->commit, "COMMIT", err);
    int rc = SQLITE_OK;

    assert(!sqlite3_get_autocommit(catalog->db));
    if (status == PAUA_OK) rc = catalog_step(catalog->commit);
    if (rc != SQLITE_OK) status = catalog_fail(catalog->db, rc, "committing", err);
    if (uncertain != NULL) *uncertain = (rc & 0xFF) == SQLITE_IOERR;
    if (status != PAUA_OK) catalog_rollback(catalog);
    return status;
}

/* A failed rollback leaves the connection out of the transaction all the same. */
void catalog_rollback(struct catalog *catalog)
{
    if (!sqlite3_get_autocommit(catalog->db)) catalog_step(catalog->rollback);
}
