/* check.c - paua_check: SQLite's own check, every record, every file, every row, and strays.
 *
 * A collection is opened as any reader would, without maps, so that its files stay even if a merge
 * drops them meanwhile, and a file that shrinks is an error and no signal. Where it cannot be
 * opened, its files are tried one by one, so that each damaged one is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/manifest.h"
#include "db/check.h"
#include "db/db.h"
#include "db/files.h"
#include "db/used_files.h"
#include "db/validate.h"

#define RESTORE "restore it from a backup, or drop the collection"
#define REBUILD "restore it from a backup, or run paua check --rebuild"
#define MESSAGE_NBYTES 640u

void check_report(struct check *check, bool fatal, const char *file, const char *what,
                  const char *advice)
{
    paua_finding finding = {fatal, file == NULL ? CATALOG_NAME : file, what, advice};

    check->fatal = check->fatal || fatal;
    if (check->opts->finding != NULL) check->opts->finding(check->opts->finding_arg, &finding);
}

static bool names_a_file(const char *name)
{
    enum file_kind kind;
    uint64_t number;
    bool temporary;

    return strcmp(name, CATALOG_NAME) == 0 || file_name_parse(name, &number, &kind, &temporary);
}

void check_report_message(struct check *check, const char *file, const char *message,
                          const char *advice)
{
    char text[MESSAGE_NBYTES], *what = text, *at, *own = NULL;

    snprintf(text, sizeof text, "%s", message);
    for (at = strstr(text, "; "); at != NULL; at = strstr(at + 1, "; "))
        own = at;
    if (own != NULL) {
        *own = '\0';
        if (advice == NULL) advice = own + 2;
    }
    at = strstr(text, ": ");
    if (at != NULL) {
        *at = '\0';
        if (file == NULL && names_a_file(text)) file = text;
        if (file != NULL && strcmp(file, text) == 0)
            what = at + 2;
        else
            *at = ':';
    }
    check_report(check, true, file, what, advice != NULL ? advice : RESTORE);
}

static void sqlite_finding(void *arg, const char *text)
{
    check_report(arg, true, CATALOG_NAME, text, REBUILD);
}

static void view_finding(void *arg, const char *file, const char *what)
{
    check_report_message(arg, file, what, RESTORE);
}

struct naming {
    struct check *check;
    struct dir *dir;
    const char *said; /* has been reported */
    struct schema schema;
};

static void file_try(struct naming *n, const struct file_header *header, const struct file_ref *ref)
{
    struct data_file_opts opts = {.no_mmap = true, .verify = PAUA_VERIFY_HEADER};
    struct data_file *file = NULL;
    char name[FILE_NAME_NBYTES];
    paua_error err;
    paua_status status;

    if (ref->number == 0) return;
    status = data_file_open_sealed(n->dir, header, ref, opts, &file, &err);
    if (status == PAUA_OK) status = data_file_verify(file, &err);
    file_name(name, ref->number, header->kind);
    if (status != PAUA_OK && strcmp(err.message, n->said) != 0)
        check_report_message(n->check, name, err.message, RESTORE);
    data_file_unref(file);
}

/* Tries each file of one segment on its own. */
static paua_status files_name(void *arg, uint64_t id, paua_bytes record)
{
    struct naming *n = arg;
    struct file_header header;
    struct manifest m;

    (void)id;
    if (manifest_decode(record.data, record.nbytes, &m) != PAUA_OK) return PAUA_OK;
    if (m.field_count == n->schema.field_count) {
        header = files_keys_header(&n->schema, m.keys.number);
        file_try(n, &header, &m.keys);
        for (uint32_t p = 0; p < m.part_count; p++) {
            for (uint32_t f = 0; f < m.field_count; f++) {
                header = files_vector_header(&n->schema, f, m.parts[p].vectors[f].number);
                if (n->schema.fields[f].originals == PAUA_ORIGINALS_NONE) continue;
                file_try(n, &header, &m.parts[p].vectors[f]);
            }
            header = files_heap_header(&n->schema, m.parts[p].heap.number);
            file_try(n, &header, &m.parts[p].heap);
        }
    }
    manifest_free(&m);
    return PAUA_OK;
}

/* The same for a file of codes or a graph. */
static paua_status artifact_name(void *arg, uint64_t id, paua_bytes record)
{
    struct naming *n = arg;
    struct artifact artifact;
    struct file_header header;

    (void)id;
    if (artifact_decode(record.data, record.nbytes, &artifact) != PAUA_OK ||
        (!artifact.values && artifact.field >= n->schema.field_count))
        return PAUA_OK;
    header = files_artifact_header(&n->schema, &artifact);
    file_try(n, &header, &artifact.file);
    return PAUA_OK;
}

/* The same for a column file. */
static paua_status columns_name(void *arg, uint64_t id, paua_bytes record)
{
    struct naming *n = arg;
    struct column_ref ref;
    struct file_header header;

    (void)id;
    if (column_ref_decode(record.data, record.nbytes, &ref) != PAUA_OK) return PAUA_OK;
    header = (struct file_header){
        .kind = FILE_COLUMNS, .number = ref.file.number, .collection = ref.collection};
    file_try(n, &header, &ref.file);
    return PAUA_OK;
}

static paua_status schema_keep(void *arg, uint64_t id, paua_bytes record)
{
    struct naming *n = arg;

    (void)id;
    return schema_decode(record.data, record.nbytes, &n->schema);
}

static void collection_name_damage(struct check *check, paua_db *db, uint32_t number,
                                   const char *said)
{
    struct naming n = {.check = check, .dir = db->dir, .said = said};
    struct catalog *catalog = db_lock_reader(db);

    if (catalog_each(catalog, TABLE_COLLECTION, number, number, schema_keep, &n, NULL) == PAUA_OK) {
        catalog_each(catalog, TABLE_SEGMENT, CATALOG_ID(number, 0),
                     CATALOG_ID(number, CATALOG_LOW_MAX), files_name, &n, NULL);
        catalog_each(catalog, TABLE_ARTIFACT, CATALOG_ID(number, 0),
                     CATALOG_ID(number, CATALOG_LOW_MAX), artifact_name, &n, NULL);
        catalog_each(catalog, TABLE_COLUMNS, CATALOG_ID(number, 0),
                     CATALOG_ID(number, CATALOG_LOW_MAX), columns_name, &n, NULL);
    }
    db_unlock_reader(db);
}

static paua_status collection_check(struct check *check, paua_db *db, const struct schema *schema,
                                    paua_error *err)
{
    struct validate v = {.report = view_finding,
                         .arg = check,
                         .progress = check->opts->progress,
                         .progress_arg = check->opts->progress_arg};
    paua_collection *c;
    struct view *view;
    paua_error local;
    paua_status status = paua_collection_open(db, schema->name, &c, &local);

    if (status == PAUA_ENOTFOUND) return PAUA_OK; /* dropped meanwhile */
    if (status != PAUA_OK) {
        check_report_message(check, NULL, local.message, status == PAUA_ECORRUPT ? RESTORE : NULL);
        collection_name_damage(check, db, schema->collection, local.message);
        return status == PAUA_ENOMEM ? error_set_nomem(err) : PAUA_OK;
    }
    view = collection_peek(c);
    status = view_validate(view, &v);
    view_unref(view);
    paua_collection_close(c);
    return status == PAUA_OK ? PAUA_OK : error_set_nomem(err);
}

struct schemas {
    struct check *check;
    struct schema *items;
    size_t count, capacity;
};

static paua_status schema_collect(void *arg, uint64_t id, paua_bytes record)
{
    struct schemas *s = arg;
    struct schema schema;

    if (schema_decode(record.data, record.nbytes, &schema) != PAUA_OK || schema.collection != id) {
        check_report(s->check, true, NULL, "the schema of a collection is damaged", REBUILD);
        return PAUA_OK;
    }
    if (mem_grow((void **)&s->items, &s->capacity, s->count + 1, sizeof schema) != 0)
        return PAUA_ENOMEM;
    s->items[s->count++] = schema;
    return PAUA_OK;
}

static paua_status collections_check(struct check *check, paua_db *db, paua_error *err)
{
    struct schemas s = {.check = check};
    paua_error local = {.status = PAUA_OK};
    paua_status status;

    status = catalog_each(db_lock_reader(db), TABLE_COLLECTION, 0, INT64_MAX, schema_collect, &s,
                          &local);
    db_unlock_reader(db);
    if (status == PAUA_ECORRUPT || status == PAUA_EIO) {
        check_report_message(check, NULL, local.message, REBUILD);
        status = PAUA_OK;
    }
    if (status == PAUA_ENOMEM)
        error_set_nomem(err);
    else if (status != PAUA_OK && err != NULL)
        *err = local;
    for (size_t i = 0; i < s.count && status == PAUA_OK; i++)
        status = collection_check(check, db, &s.items[i], err);
    mem_free(s.items);
    return status;
}

struct strays {
    struct check *check;
    struct used_files used;
};

static void stray_each(void *arg, const char *name, uint64_t nbytes)
{
    struct strays *s = arg;
    enum file_kind kind;
    uint64_t number;
    bool temporary;

    (void)nbytes;
    if (!file_name_parse(name, &number, &kind, &temporary)) return;
    if (!temporary && used_files_has(&s->used, number)) return;
    if (s->check->opts->rebuild)
        check_report(s->check, false, name, "the new catalogue does not refer to it",
                     "copy it if it may hold rows: the next opening for writing removes it");
    else
        check_report(s->check, false, name, "no record refers to it: a crash's leftover",
                     "nothing: the next opening for writing removes it");
}

/* Notes files that nothing refers to, unless a writer may be about to. */
static paua_status strays_report(struct check *check, paua_db *db, paua_error *err)
{
    struct strays s = {.check = check};
    paua_status status = PAUA_OK;

    if (!locks_writer_present(db->locks) && used_files_load(db, &s.used) == PAUA_OK)
        status = dir_list(db->dir, stray_each, &s, err);
    used_files_free(&s.used);
    return status;
}

static paua_status open_check(struct check *check, paua_error *err)
{
    paua_open_opts opts = {
        .size = sizeof opts, .read_only = true, .no_mmap = true, .verify = PAUA_VERIFY_HEADER};
    paua_error local;
    paua_db *db;
    paua_status status = paua_open(check->path, &opts, &db, &local);

    if (status == PAUA_ECORRUPT || status == PAUA_EINVAL) {
        check_report_message(check, CATALOG_NAME, local.message,
                             status == PAUA_ECORRUPT ? REBUILD
                                                     : "check the path; if it is right: " REBUILD);
        return PAUA_OK;
    }
    if (status != PAUA_OK) {
        if (err != NULL) *err = local;
        return status;
    }
    status = catalog_integrity(db_lock_reader(db), sqlite_finding, check, &local);
    db_unlock_reader(db);
    if (status == PAUA_ENOMEM)
        error_set_nomem(err);
    else if (status != PAUA_OK)
        check_report_message(check, CATALOG_NAME, local.message, REBUILD);
    if (status != PAUA_ENOMEM) status = collections_check(check, db, err);
    if (status == PAUA_OK) status = check_histories(check, db, err);
    if (status == PAUA_OK) status = strays_report(check, db, err);
    paua_close(db);
    return status;
}

paua_status paua_check(const char *path, const paua_check_opts *opts, paua_error *err)
{
    static const paua_check_opts defaults = {.size = sizeof defaults};
    struct check check = {.opts = opts != NULL ? opts : &defaults, .path = path};
    struct dir *dir;
    paua_status status;

    if (check.opts->size < sizeof *opts)
        return error_set(err, PAUA_EINVAL, "paua_check_opts.size is not set");
    if (path == NULL || path[0] == '\0')
        return error_set(err, PAUA_EINVAL, "the path is empty; name the database's directory");
    status = dir_open(path, false, true, &dir, err); /* a wrong path is no damage */
    if (status != PAUA_OK) return status;
    dir_close(dir);
    if (check.opts->rebuild) {
        status = check_rebuild(&check, err);
        if (status != PAUA_OK) return status;
    }
    status = open_check(&check, err);
    if (status != PAUA_OK || !check.fatal) return status;
    return error_set(err, PAUA_ECORRUPT, "%s: damaged; see the findings", path);
}
