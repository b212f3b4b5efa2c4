/* sweep.c - removing data files that no record names: what a crash left of a seal, a merge, or a
 * tail that never committed.
 *
 * Another writer may have made files that it has not committed yet, so a sweep needs the presence
 * lock alone, which every writer shares while it writes. If it cannot be had, there is nothing to
 * do now: the next opening will sweep. A commit that dropped files may not have been synced by
 * whoever made it, so the catalogue is synced before the first file goes. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/field_record.h"
#include "codec/head.h"
#include "codec/history_record.h"
#include "codec/index_record.h"
#include "codec/manifest.h"
#include "db/db.h"
#include "db/used_files.h"

struct listing {
    struct used_files *used;
    bool failed;
    uint64_t collections, heads, segments, segments_due;
    uint64_t groups, groups_due; /* of pages of histories */
};

static void used_add(struct listing *l, uint64_t number)
{
    struct used_files *u = l->used;

    if (number == 0 || l->failed) return;
    if (mem_grow((void **)&u->numbers, &u->capacity, u->count + 1, sizeof u->numbers[0]) != 0)
        l->failed = true;
    else
        u->numbers[u->count++] = number;
}

static paua_status collection_each(void *arg, uint64_t id, paua_bytes record)
{
    struct listing *l = arg;

    (void)id;
    (void)record;
    l->collections++;
    return PAUA_OK;
}

static paua_status head_each(void *arg, uint64_t id, paua_bytes record)
{
    struct listing *l = arg;
    struct head head;

    (void)id;
    if (head_decode(record.data, record.nbytes, &head) != PAUA_OK) return PAUA_ECORRUPT;
    l->heads++;
    l->segments_due += head.segment_count;
    for (uint32_t f = 0; f < head.field_count; f++)
        used_add(arg, head.tail_vectors[f]);
    used_add(arg, head.tail_heap);
    return PAUA_OK;
}

static paua_status segment_each(void *arg, uint64_t id, paua_bytes record)
{
    struct listing *l = arg;
    struct manifest manifest;

    (void)id;
    if (manifest_decode(record.data, record.nbytes, &manifest) != PAUA_OK) return PAUA_ECORRUPT;
    l->segments++;
    used_add(arg, manifest.keys.number);
    for (uint32_t p = 0; p < manifest.part_count; p++) {
        for (uint32_t f = 0; f < manifest.field_count; f++)
            used_add(arg, manifest.parts[p].vectors[f].number);
        used_add(arg, manifest.parts[p].heap.number);
    }
    manifest_free(&manifest);
    return PAUA_OK;
}

static paua_status artifact_each(void *arg, uint64_t id, paua_bytes record)
{
    struct artifact artifact;

    (void)id;
    if (artifact_decode(record.data, record.nbytes, &artifact) != PAUA_OK) return PAUA_ECORRUPT;
    used_add(arg, artifact.file.number);
    return PAUA_OK;
}

static paua_status columns_each(void *arg, uint64_t id, paua_bytes record)
{
    struct column_ref ref;

    (void)id;
    if (column_ref_decode(record.data, record.nbytes, &ref) != PAUA_OK) return PAUA_ECORRUPT;
    used_add(arg, ref.file.number);
    return PAUA_OK;
}

static paua_status history_each(void *arg, uint64_t id, paua_bytes record)
{
    struct listing *l = arg;
    struct history_record history;

    (void)id;
    if (history_record_decode(record.data, record.nbytes, &history) != PAUA_OK)
        return PAUA_ECORRUPT;
    l->groups_due += history.group_count;
    used_add(arg, history.file);
    return PAUA_OK;
}

static paua_status group_each(void *arg, uint64_t id, paua_bytes record)
{
    struct listing *l = arg;
    struct history_group group;

    (void)id;
    if (history_group_decode(record.data, record.nbytes, &group) != PAUA_OK) return PAUA_ECORRUPT;
    l->groups++;
    used_add(arg, group.file);
    return PAUA_OK;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

paua_status used_files_load(paua_db *db, struct used_files *used)
{
    struct catalog *catalog = db_lock_reader(db);
    struct listing l = {.used = used};
    paua_status status = catalog_begin_read(catalog, NULL);

    if (status == PAUA_OK) {
        status = catalog_each(catalog, TABLE_COLLECTION, 0, INT64_MAX, collection_each, &l, NULL);
        if (status == PAUA_OK)
            status = catalog_each(catalog, TABLE_HEAD, 0, INT64_MAX, head_each, &l, NULL);
        if (status == PAUA_OK)
            status = catalog_each(catalog, TABLE_SEGMENT, 0, INT64_MAX, segment_each, &l, NULL);
        if (status == PAUA_OK)
            status = catalog_each(catalog, TABLE_ARTIFACT, 0, INT64_MAX, artifact_each, &l, NULL);
        if (status == PAUA_OK)
            status = catalog_each(catalog, TABLE_COLUMNS, 0, INT64_MAX, columns_each, &l, NULL);
        if (status == PAUA_OK)
            status = catalog_each(catalog, TABLE_HISTORY, 0, INT64_MAX, history_each, &l, NULL);
        if (status == PAUA_OK)
            status = catalog_each(catalog, TABLE_HISTORY_GROUP, 0, INT64_MAX, group_each, &l, NULL);
        catalog_rollback(catalog);
    }
    db_unlock_reader(db);
    /* A damaged page may hide records whole. */
    if (status == PAUA_OK &&
        (l.heads != l.collections || l.segments != l.segments_due || l.groups != l.groups_due))
        status = PAUA_ECORRUPT;
    if (used->count > 0) qsort(used->numbers, used->count, sizeof used->numbers[0], by_number);
    return l.failed ? PAUA_ENOMEM : status;
}

bool used_files_has(const struct used_files *used, uint64_t number)
{
    return used->count > 0 &&
           bsearch(&number, used->numbers, used->count, sizeof number, by_number) != NULL;
}

void used_files_free(struct used_files *used) { mem_free(used->numbers); }

struct sweep {
    paua_db *db;
    struct used_files used;
    bool settled;  /* the catalogue that we go by is durable */
    bool hopeless; /* it cannot be made so: nothing may go */
};

static void file_each(void *arg, const char *name, uint64_t nbytes)
{
    struct sweep *s = arg;
    enum file_kind kind;
    uint64_t number;
    bool temporary;

    (void)nbytes;
    if (!file_name_parse(name, &number, &kind, &temporary)) return;
    if (!temporary && used_files_has(&s->used, number)) return;
    if (!s->settled) s->hopeless = db_sync_catalog(s->db, NULL) != PAUA_OK;
    s->settled = true;
    if (s->hopeless) return;
    dir_unlink(s->db->dir, name, NULL); /* best effort: the next sweep tries again */
}

paua_status sweep(paua_db *db, paua_error *err)
{
    struct sweep s = {.db = db};
    paua_error refused;
    paua_status status;

    if (dir_in_memory(db->dir)) return PAUA_OK;
    status = locks_try_exclusive(db->locks, &refused);
    if (status == PAUA_EBUSY) return PAUA_OK;
    if (status != PAUA_OK) {
        if (err != NULL) *err = refused;
        return status;
    }
    if (used_files_load(db, &s.used) == PAUA_OK) /* a damaged record: keep all for paua check */
        status = dir_list(db->dir, file_each, &s, err);
    locks_drop_presence(db->locks);
    used_files_free(&s.used);
    return status;
}
