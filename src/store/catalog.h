/* catalog.h - the changing part of a database: SQLite in WAL mode, used as a few tables of records.
 *
 * Every table is (id INTEGER PRIMARY KEY, record BLOB NOT NULL); what the records mean is codec/'s
 * business, so that each is covered by its own checksum. Ids:
 *   TABLE_META        1 .. : META_* below, u64 values in a record of magic "PNUM"
 *   TABLE_COLLECTION  collection number: schema record
 *   TABLE_HEAD        collection number: head record
 *   TABLE_SEGMENT     collection << 40 | segment number: manifest record
 *   TABLE_DELETED     the same id: rowset record of deleted positions
 *   TABLE_BATCH       collection << 40 | sequence: batch record
 *   TABLE_INDEX       collection << 40 | index number: index definition record
 *   TABLE_ARTIFACT    collection << 40 | file number: artifact record
 *   TABLE_HISTORY     history number (of the same row of numbers as collections): history record
 *   TABLE_HISTORY_GROUP  history << 40 | number of its first page: record of a group of pages
 *   TABLE_HISTORY_TAIL   history number: record of the tail
 *   TABLE_FIELD       collection << 40 | field id: field record
 *   TABLE_COLUMNS     collection << 40 | segment number: record of its column file
 *   TABLE_PATCH       collection << 40 | segment number: record of its patches
 *
 * Tables from TABLE_HISTORY on came later: where one is missing, reading finds it empty, and
 * opening for writing makes it.
 *
 * application_id is 0x50415541 ("PAUA"), user_version 1; feature bits live in TABLE_META.
 * A catalog is one SQLite connection: one thread at a time (callers lock). Never open
 * catalog.sqlite by other means while a connection is open: closing any descriptor of it would drop
 * SQLite's POSIX locks. */
#ifndef PAUA_STORE_CATALOG_H
#define PAUA_STORE_CATALOG_H

#include <paua/paua.h>

#include "store/dir.h"

#define CATALOG_NAME "catalog.sqlite"
#define CATALOG_ID(collection, low) ((uint64_t)(collection) << 40 | (uint64_t)(low))
#define CATALOG_LOW_MAX ((UINT64_C(1) << 40) - 1)
#define CATALOG_COLLECTION_MAX ((UINT32_C(1) << 22) - 1)

enum table {
    TABLE_META,
    TABLE_COLLECTION,
    TABLE_HEAD,
    TABLE_SEGMENT,
    TABLE_DELETED,
    TABLE_BATCH,
    TABLE_INDEX,
    TABLE_ARTIFACT,
    TABLE_HISTORY,
    TABLE_HISTORY_GROUP,
    TABLE_HISTORY_TAIL,
    TABLE_FIELD,
    TABLE_COLUMNS,
    TABLE_PATCH,
    TABLE_COUNT
};

enum meta {
    META_COMPAT = 1,
    META_READ_COMPAT = 2,
    META_INCOMPAT = 3,
    META_NEXT_FILE = 4,       /* number of the next data file */
    META_NEXT_COLLECTION = 5, /* number of the next collection */
    META_COUNT_LAST = META_NEXT_COLLECTION
};

struct catalog;

struct catalog_opts {
    bool create;    /* make the tables if the file is new */
    bool read_only; /* SQLITE_OPEN_READONLY */
    bool immutable; /* nobody writes and locks cannot be written: immutable=1 */
    paua_durability durability;
    uint32_t busy_ms; /* wait this long for another process's transaction */
};

/* Opens the catalogue of a directory (in memory for a memory dir). Checks application_id
 * (PAUA_EINVAL: not a paua database), user_version and incompat bits (PAUA_EVERSION), read_compat
 * bits when writing. A missing file without create is PAUA_ENOTFOUND. */
paua_status catalog_open(struct dir *dir, const struct catalog_opts *opts, struct catalog **catalog,
                         paua_error *err);
void catalog_close(struct catalog *catalog);

/* Transactions. begin_write is BEGIN IMMEDIATE. A failed commit has rolled back; *uncertain (may be
 * NULL) is set when it cannot be known whether it reached the disk (I/O error in commit). */
paua_status catalog_begin_read(struct catalog *catalog, paua_error *err);
paua_status catalog_begin_write(struct catalog *catalog, paua_error *err);
paua_status catalog_commit(struct catalog *catalog, bool *uncertain, paua_error *err);
void catalog_rollback(struct catalog *catalog); /* ends a read transaction too */

/* A number that changes whenever another connection has committed (PRAGMA data_version). */
paua_status catalog_version(struct catalog *catalog, uint64_t *version, paua_error *err);

/* *record is borrowed until the next call on this catalog. PAUA_ENOTFOUND without filling err's
 * message beyond the table's name. */
paua_status catalog_get(struct catalog *catalog, enum table table, uint64_t id, paua_bytes *record,
                        paua_error *err);
paua_status catalog_put(struct catalog *catalog, enum table table, uint64_t id, const void *record,
                        size_t nbytes, paua_error *err);
paua_status catalog_delete(struct catalog *catalog, enum table table, uint64_t first, uint64_t last,
                           paua_error *err);
/* Calls each(arg, id, record) for first <= id <= last, rising; stops at the first status that is
 * not PAUA_OK and returns it. each must not call the catalog. */
paua_status catalog_each(struct catalog *catalog, enum table table, uint64_t first, uint64_t last,
                         paua_status (*each)(void *arg, uint64_t id, paua_bytes record), void *arg,
                         paua_error *err);

/* Numbers in TABLE_META. take: inside a write transaction, returns the old value and adds count. */
paua_status catalog_number_get(struct catalog *catalog, enum meta id, uint64_t *value,
                               paua_error *err);
paua_status catalog_number_put(struct catalog *catalog, enum meta id, uint64_t value,
                               paua_error *err);
paua_status catalog_number_take(struct catalog *catalog, enum meta id, uint64_t count,
                                uint64_t *first, paua_error *err);

/* Makes all commits so far durable whatever the durability: syncs SQLite's log and file. */
paua_status catalog_sync(struct catalog *catalog, paua_error *err);
/* Copies the log into the main file and truncates it, if no reader is in the way. */
paua_status catalog_checkpoint(struct catalog *catalog, paua_error *err);
/* Gives free pages back to the file system. */
paua_status catalog_vacuum(struct catalog *catalog, paua_error *err);
/* SQLite's own integrity_check; calls finding(arg, text) for each problem, and returns PAUA_OK
 * unless SQLite could not go on (PAUA_ECORRUPT among others). */
paua_status catalog_integrity(struct catalog *catalog, void (*finding)(void *arg, const char *text),
                              void *arg, paua_error *err);
/* Copies the database as the current read transaction sees it (SQLite's online backup). */
paua_status catalog_backup(struct catalog *catalog, struct dir *to, paua_error *err);
/* Bytes of the file and its log. */
uint64_t catalog_nbytes(struct catalog *catalog);

#endif
