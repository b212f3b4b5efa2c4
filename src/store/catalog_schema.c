/* catalog_schema.c - what makes an SQLite file a catalogue of ours, and making one.
 *
 * An empty file is one that nobody has made yet, or that a crash left before its first commit.
 * Making is one transaction: whoever gets the write lock second finds the tables there. The
 * application id, the version and the tables are looked at in one snapshot, so that nobody sees
 * them half made. Each of our tables must be there with the very text that made it, or not at
 * all if it came later. Others are let be: they may belong to a later version whose compat bits say
 * that they do not matter. Triggers and views are switched off, since a foreign one would change
 * what our statements mean. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/catalog_private.h"

#define TABLE_SQL_NBYTES 96u

static void table_sql(char sql[TABLE_SQL_NBYTES], enum table table)
{
    snprintf(sql, TABLE_SQL_NBYTES, "CREATE TABLE %s(id INTEGER PRIMARY KEY, record BLOB NOT NULL)",
             catalog_table_name(table));
}

/* *missing: it is not there, and need not be. */
static paua_status check_table(struct catalog *catalog, sqlite3_stmt *statement, enum table table,
                               bool *missing, paua_error *err)
{
    char sql[TABLE_SQL_NBYTES];
    const char *found = NULL;
    bool matches;
    int rc;

    table_sql(sql, table);
    sqlite3_bind_text(statement, 1, catalog_table_name(table), -1, SQLITE_STATIC);
    rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) found = (const char *)sqlite3_column_text(statement, 0);
    matches = found != NULL && strcmp(found, sql) == 0;
    *missing = rc == SQLITE_DONE && table >= CATALOG_TABLES_FIRST;
    sqlite3_reset(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return catalog_fail(catalog->db, rc, "reading its schema", err);
    if (matches || *missing) return PAUA_OK;
    return error_set(err, PAUA_ECORRUPT,
                     CATALOG_NAME
                     ": table %s is missing or not as paua makes it; restore it from a "
                     "backup or rebuild the catalogue",
                     catalog_table_name(table));
}

static paua_status check_tables(struct catalog *catalog, bool *incomplete, paua_error *err)
{
    sqlite3_stmt *statement = NULL;
    paua_status status = catalog_prepare(
        catalog, &statement, "SELECT sql FROM sqlite_schema WHERE type='table' AND name=?1", err);

    *incomplete = false;
    for (int table = 0; table < TABLE_COUNT && status == PAUA_OK; table++) {
        bool missing = false;

        status = check_table(catalog, statement, (enum table)table, &missing, err);
        *incomplete |= missing;
    }
    sqlite3_finalize(statement);
    return status;
}

static paua_status check_features(struct catalog *catalog, paua_error *err)
{
    uint64_t read_compat, incompat;
    paua_status status = catalog_number_get(catalog, META_READ_COMPAT, &read_compat, err);

    if (status == PAUA_OK) status = catalog_number_get(catalog, META_INCOMPAT, &incompat, err);
    if (status != PAUA_OK) return status;
    if (incompat != 0)
        return error_set(err, PAUA_EVERSION,
                         CATALOG_NAME ": uses features of a newer paua; use that version");
    if (read_compat != 0 && !catalog->read_only)
        return error_set(err, PAUA_EVERSION,
                         CATALOG_NAME ": uses features of a newer paua; use that version, or open "
                                      "the database read-only");
    return PAUA_OK;
}

struct identity {
    int64_t application_id;
    int64_t user_version;
    int64_t objects;
};

static bool is_blank(const struct identity *id)
{
    return id->application_id == 0 && id->user_version == 0 && id->objects == 0;
}

static paua_status read_identity(struct catalog *catalog, struct identity *id, paua_error *err)
{
    paua_status status = catalog_scalar(catalog, "PRAGMA application_id", &id->application_id, err);

    if (status == PAUA_OK)
        status = catalog_scalar(catalog, "PRAGMA user_version", &id->user_version, err);
    if (status == PAUA_OK)
        status = catalog_scalar(catalog, "SELECT count(*) FROM sqlite_schema", &id->objects, err);
    return status;
}

/* Inside a transaction. */
static paua_status check_identity(struct catalog *catalog, const struct identity *id,
                                  bool *incomplete, paua_error *err)
{
    paua_status status;

    if (is_blank(id))
        return error_set(err, PAUA_ENOTFOUND,
                         CATALOG_NAME ": is empty; there is no database here yet, create it");
    if (id->application_id != CATALOG_APPLICATION_ID)
        return error_set(err, PAUA_EINVAL,
                         CATALOG_NAME ": belongs to another program, not to paua; check the path");
    if (id->user_version > CATALOG_USER_VERSION)
        return error_set(err, PAUA_EVERSION,
                         CATALOG_NAME ": was written by a newer version of paua; use that version");
    if (id->user_version < CATALOG_USER_VERSION)
        return error_set(err, PAUA_ECORRUPT,
                         CATALOG_NAME ": its version number is damaged; restore it from a backup");
    status = check_tables(catalog, incomplete, err);
    return status == PAUA_OK ? check_features(catalog, err) : status;
}

static paua_status make_tables(struct catalog *catalog, int first, paua_error *err)
{
    paua_status status = PAUA_OK;

    for (int table = first; table < TABLE_COUNT && status == PAUA_OK; table++) {
        char sql[TABLE_SQL_NBYTES];
        int64_t found;

        sqlite3_snprintf(sizeof sql, sql, "SELECT count(*) FROM sqlite_schema WHERE name='%s'",
                         catalog_table_name((enum table)table));
        status = catalog_scalar(catalog, sql, &found, err);
        table_sql(sql, (enum table)table);
        if (status == PAUA_OK && found == 0) status = catalog_exec(catalog, sql, "creating", err);
    }
    return status;
}

static paua_status make_catalog(struct catalog *catalog, paua_error *err)
{
    char sql[TABLE_SQL_NBYTES];
    paua_status status = make_tables(catalog, 0, err);

    for (int id = META_COMPAT; id <= META_COUNT_LAST && status == PAUA_OK; id++)
        status = catalog_number_put(catalog, (enum meta)id, id >= META_NEXT_FILE ? 1 : 0, err);
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d",
             CATALOG_APPLICATION_ID, CATALOG_USER_VERSION);
    return status == PAUA_OK ? catalog_exec(catalog, sql, "creating", err) : status;
}

/* The page size and the vacuum mode are fixed by the first page that is written. */
static paua_status create(struct catalog *catalog, paua_error *err)
{
    struct identity id;
    bool incomplete;
    paua_status status = catalog_begin_write(catalog, err);

    if (status == PAUA_OK) status = read_identity(catalog, &id, err);
    if (status == PAUA_OK)
        status = is_blank(&id) ? make_catalog(catalog, err)
                               : check_identity(catalog, &id, &incomplete, err);
    if (status == PAUA_OK && !is_blank(&id) && incomplete)
        status = make_tables(catalog, CATALOG_TABLES_FIRST, err);
    if (status == PAUA_OK) status = catalog_commit(catalog, NULL, err);
    catalog_rollback(catalog);
    return status;
}

paua_status catalog_identify(struct catalog *catalog, bool may_create, paua_error *err)
{
    struct identity id;
    bool incomplete = false;
    paua_status status = catalog_begin_read(catalog, err);

    if (status == PAUA_OK) status = read_identity(catalog, &id, err);
    if (status == PAUA_OK && !(may_create && is_blank(&id)))
        status = check_identity(catalog, &id, &incomplete, err);
    else
        incomplete = true;
    catalog_rollback(catalog);
    return status == PAUA_OK && incomplete && !catalog->read_only ? create(catalog, err) : status;
}
