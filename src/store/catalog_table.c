/* catalog_table.c - the tables as sets of records, and the numbers in one of them.
 *
 * Every statement is reset before its function returns, since one that is not holds its snapshot
 * and keeps the log from being reset. That is why catalog_get copies the record.
 * SQLite's ids are signed; ours stay below 2^62 + 2^40, and a range is cut to what can exist. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/record.h"
#include "store/catalog_private.h"

#define NUMBER_MAGIC 0x4D554E50u /* "PNUM" */
#define NUMBER_VERSION 1u
#define SQL_NBYTES 96u

static paua_status prepare_for(struct catalog *catalog, sqlite3_stmt **statement,
                               const char *format, enum table table, paua_error *err)
    __attribute__((format(printf, 3, 0)));

static paua_status prepare_for(struct catalog *catalog, sqlite3_stmt **statement,
                               const char *format, enum table table, paua_error *err)
{
    char sql[SQL_NBYTES];

    if (*statement != NULL) return PAUA_OK;
    sqlite3_snprintf(sizeof sql, sql, format, catalog_table_name(table));
    return catalog_prepare(catalog, statement, sql, err);
}

/* Is it a table that an older paua did not make? A writer may make it at any time. */
static bool table_missing(const struct catalog *catalog, enum table table)
{
    return table >= CATALOG_TABLES_FIRST &&
           strncmp(sqlite3_errmsg(catalog->db), "no such table", 13) == 0;
}

static paua_status corrupt_record(enum table table, uint64_t id, paua_error *err)
{
    return error_set(err, PAUA_ECORRUPT,
                     CATALOG_NAME ": table %s: record %llu is damaged; check the database",
                     catalog_table_name(table), (unsigned long long)id);
}

/* The record in a statement's column, valid until the statement moves. */
static paua_status column_record(struct catalog *catalog, sqlite3_stmt *statement, int column,
                                 enum table table, uint64_t id, paua_bytes *record, paua_error *err)
{
    const void *data;
    int nbytes;

    if (sqlite3_column_type(statement, column) != SQLITE_BLOB)
        return corrupt_record(table, id, err);
    data = sqlite3_column_blob(statement, column);
    nbytes = sqlite3_column_bytes(statement, column);
    if (data == NULL && nbytes > 0) return catalog_fail(catalog->db, SQLITE_NOMEM, "reading", err);
    *record = (paua_bytes){.data = data != NULL ? data : "", .nbytes = (size_t)nbytes};
    return PAUA_OK;
}

static paua_status keep_record(struct catalog *catalog, paua_bytes *record, paua_error *err)
{
    void *kept = catalog->record;

    if (mem_grow(&kept, &catalog->record_capacity, record->nbytes + 1, 1) != 0)
        return error_set_nomem(err);
    catalog->record = kept;
    memcpy(kept, record->data, record->nbytes);
    record->data = kept;
    return PAUA_OK;
}

paua_status catalog_get(struct catalog *catalog, enum table table, uint64_t id, paua_bytes *record,
                        paua_error *err)
{
    sqlite3_stmt **slot = &catalog->get[table];
    paua_bytes found = {0};
    paua_status status =
        prepare_for(catalog, slot, "SELECT record FROM %s WHERE id=?1", table, err);
    int rc;

    if (status != PAUA_OK && table_missing(catalog, table))
        return error_set(err, PAUA_ENOTFOUND, "%s", catalog_table_name(table));
    if (status != PAUA_OK) return status;
    sqlite3_bind_int64(*slot, 1, (int64_t)id);
    rc = sqlite3_step(*slot);
    if (rc == SQLITE_DONE)
        status = error_set(err, PAUA_ENOTFOUND, "%s", catalog_table_name(table));
    else if (rc != SQLITE_ROW)
        status = catalog_fail(catalog->db, rc, "reading", err);
    else
        status = column_record(catalog, *slot, 0, table, id, &found, err);
    if (status == PAUA_OK) status = keep_record(catalog, &found, err);
    sqlite3_reset(*slot);
    if (status == PAUA_OK) *record = found;
    return status;
}

paua_status catalog_put(struct catalog *catalog, enum table table, uint64_t id, const void *record,
                        size_t nbytes, paua_error *err)
{
    sqlite3_stmt **slot = &catalog->put[table];
    paua_status status = prepare_for(catalog, slot, "REPLACE INTO %s VALUES(?1,?2)", table, err);
    int rc;

    assert(id <= INT64_MAX && (record != NULL || nbytes == 0));
    if (status != PAUA_OK) return status;
    sqlite3_bind_int64(*slot, 1, (int64_t)id);
    rc = sqlite3_bind_blob64(*slot, 2, nbytes > 0 ? record : "", nbytes, SQLITE_STATIC);
    if (rc == SQLITE_OK) rc = catalog_step(*slot);
    if (rc != SQLITE_OK) status = catalog_fail(catalog->db, rc, "writing", err);
    sqlite3_clear_bindings(*slot);
    return status;
}

static int64_t clamp(uint64_t id) { return id > INT64_MAX ? INT64_MAX : (int64_t)id; }

paua_status catalog_delete(struct catalog *catalog, enum table table, uint64_t first, uint64_t last,
                           paua_error *err)
{
    sqlite3_stmt **slot = &catalog->erase[table];
    paua_status status =
        prepare_for(catalog, slot, "DELETE FROM %s WHERE id BETWEEN ?1 AND ?2", table, err);
    int rc;

    if (status != PAUA_OK || first > INT64_MAX) return status;
    sqlite3_bind_int64(*slot, 1, (int64_t)first);
    sqlite3_bind_int64(*slot, 2, clamp(last));
    rc = catalog_step(*slot);
    return rc == SQLITE_OK ? PAUA_OK : catalog_fail(catalog->db, rc, "deleting", err);
}

paua_status catalog_each(struct catalog *catalog, enum table table, uint64_t first, uint64_t last,
                         paua_status (*each)(void *arg, uint64_t id, paua_bytes record), void *arg,
                         paua_error *err)
{
    sqlite3_stmt **slot = &catalog->range[table];
    paua_status status =
        prepare_for(catalog, slot,
                    "SELECT id, record FROM %s WHERE id BETWEEN ?1 AND ?2 ORDER BY id", table, err);
    int rc;

    if (status != PAUA_OK && table_missing(catalog, table)) return PAUA_OK;
    if (status != PAUA_OK || first > INT64_MAX) return status;
    sqlite3_bind_int64(*slot, 1, (int64_t)first);
    sqlite3_bind_int64(*slot, 2, clamp(last));
    while (status == PAUA_OK && (rc = sqlite3_step(*slot)) != SQLITE_DONE) {
        uint64_t id = (uint64_t)sqlite3_column_int64(*slot, 0);
        paua_bytes record;

        status = rc != SQLITE_ROW ? catalog_fail(catalog->db, rc, "reading", err)
                                  : column_record(catalog, *slot, 1, table, id, &record, err);
        if (status == PAUA_OK) status = each(arg, id, record);
    }
    sqlite3_reset(*slot);
    return status;
}

paua_status catalog_number_get(struct catalog *catalog, enum meta id, uint64_t *value,
                               paua_error *err)
{
    paua_bytes record;
    struct reader r;
    uint64_t read;
    paua_status status = catalog_get(catalog, TABLE_META, id, &record, err);

    if (status == PAUA_ENOTFOUND) return corrupt_record(TABLE_META, id, err);
    if (status != PAUA_OK) return status;
    status = record_open(record.data, record.nbytes, NUMBER_MAGIC, NUMBER_VERSION, &r);
    if (status == PAUA_EVERSION)
        return error_set(err, status,
                         CATALOG_NAME ": was written by a newer version of paua; use that version");
    if (status != PAUA_OK) return corrupt_record(TABLE_META, id, err);
    read = reader_u64(&r);
    if (r.short_read || r.at != r.end) return corrupt_record(TABLE_META, id, err);
    *value = read;
    return PAUA_OK;
}

paua_status catalog_number_put(struct catalog *catalog, enum meta id, uint64_t value,
                               paua_error *err)
{
    struct writer w = {0};
    paua_status status;

    record_begin(&w, NUMBER_MAGIC, NUMBER_VERSION);
    writer_u64(&w, value);
    status = record_end(&w);
    status = status == PAUA_OK ? catalog_put(catalog, TABLE_META, id, w.bytes, w.length, err)
                               : error_set_nomem(err);
    writer_free(&w);
    return status;
}

paua_status catalog_number_take(struct catalog *catalog, enum meta id, uint64_t count,
                                uint64_t *first, paua_error *err)
{
    uint64_t value;
    paua_status status = catalog_number_get(catalog, id, &value, err);

    if (status != PAUA_OK) return status; /* SQLite may have rolled back by itself */
    assert(!sqlite3_get_autocommit(catalog->db));
    if (value > UINT64_MAX - count) return corrupt_record(TABLE_META, id, err);
    status = catalog_number_put(catalog, id, value + count, err);
    if (status == PAUA_OK) *first = value;
    return status;
}
