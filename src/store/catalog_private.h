/* catalog_private.h - what the files of the catalogue share: the connection and its statements. */
#ifndef PAUA_STORE_CATALOG_PRIVATE_H
#define PAUA_STORE_CATALOG_PRIVATE_H

#include <sqlite3.h>

#include "store/catalog.h"

#define CATALOG_APPLICATION_ID 0x50415541
#define CATALOG_USER_VERSION 1
#define CATALOG_TABLES_FIRST TABLE_HISTORY /* tables before this one are never missing */

struct catalog {
    sqlite3 *db;
    char *path; /* owned; of the file, also in messages; NULL in memory */
    bool read_only;
    uint32_t busy_ms;
    uint64_t busy_start_ns; /* when the wait that is going on began */
    uint8_t *record;        /* owned; what catalog_get lent last */
    size_t record_capacity;
    sqlite3_stmt *begin_read, *begin_write, *commit, *rollback,
        *version; /* prepared on first use */
    sqlite3_stmt *get[TABLE_COUNT];
    sqlite3_stmt *put[TABLE_COUNT];
    sqlite3_stmt *range[TABLE_COUNT];
    sqlite3_stmt *erase[TABLE_COUNT];
};

/* catalog_sql.c */
const char *catalog_table_name(enum table table);
/* Fills err from a result code of SQLite; db may be NULL. */
paua_status catalog_fail(sqlite3 *db, int rc, const char *doing, paua_error *err);
int catalog_busy(void *catalog, int tries);
/* Prepares into *statement if that is NULL; it lives as long as the catalogue. */
paua_status catalog_prepare(struct catalog *catalog, sqlite3_stmt **statement, const char *sql,
                            paua_error *err);
/* Runs a cached statement without results. */
int catalog_step(sqlite3_stmt *statement);
paua_status catalog_exec(struct catalog *catalog, const char *sql, const char *doing,
                         paua_error *err);
/* The first column of the first row. */
paua_status catalog_scalar(struct catalog *catalog, const char *sql, int64_t *value,
                           paua_error *err);

/* catalog.c */
char *
catalog_path(struct dir *dir); /* of the file in a directory; mem_free() it; NULL: no memory */

/* catalog_schema.c */
/* Tells a paua database from others, and makes the tables in an empty one if `create` is set. */
paua_status catalog_identify(struct catalog *catalog, bool create, paua_error *err);

#endif
