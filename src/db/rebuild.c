/* rebuild.c - a new catalogue from what sealed files say of themselves.
 *
 * Each key file's footer holds its segment's manifest and the collection's schema. Key files are
 * taken newest generation first; one whose rows overlap those of a newer one is a merge's leftover.
 * Rows of tails and deletions lived in the catalogue alone and are lost, but of rows with one key
 * the older ones are known to be dead: an update deleted them.
 * Cost: each key is looked up in its own segment and in each newer one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/manifest.h"
#include "codec/record.h"
#include "codec/rowset.h"
#include "db/check.h"
#include "db/index.h"
#include "db/db.h"
#include "db/rebuild_codes.h"
#include "db/rebuild_histories.h"
#include "db/rebuild_columns.h"
#include "db/segment.h"

#define ASIDE ".damaged"

struct found {
    struct manifest manifest;
    struct schema schema;
    struct segment *segment; /* open while its collection is stored */
    bool taken;
};

struct numbers {
    uint64_t *items;
    size_t count, capacity;
};

struct rebuild {
    struct check *check;
    struct dir *dir;
    struct found *items;
    size_t count, capacity;
    struct numbers keys, codes, columns; /* of files of these kinds */
    uint64_t file_max;
    bool aside; /* there was a catalogue, and it has been moved */
    bool failed;
};

static void number_add(struct rebuild *r, struct numbers *to, uint64_t number)
{
    if (mem_grow((void **)&to->items, &to->capacity, to->count + 1, sizeof to->items[0]) != 0)
        r->failed = true;
    else
        to->items[to->count++] = number;
}

static void file_each(void *arg, const char *name, uint64_t nbytes)
{
    struct rebuild *r = arg;
    enum file_kind kind;
    uint64_t number;
    bool temporary;

    (void)nbytes;
    if (!file_name_parse(name, &number, &kind, &temporary)) return;
    if (number > r->file_max) r->file_max = number;
    if (temporary) return;
    if (kind == FILE_KEYS) number_add(r, &r->keys, number);
    if (kind == FILE_CODES) number_add(r, &r->codes, number);
    if (kind == FILE_COLUMNS) number_add(r, &r->columns, number);
}

/* Opens a segment's files by a copy of its manifest. */
static paua_status found_open(const struct rebuild *r, const struct found *found,
                              struct segment **segment, paua_error *err)
{
    struct data_file_opts opts = {.no_mmap = true, .verify = PAUA_VERIFY_TOUCH};
    struct manifest copy = found->manifest;

    copy.parts = mem_dup(copy.parts, copy.part_count * sizeof copy.parts[0]);
    if (copy.parts == NULL) return error_set_nomem(err);
    return segment_open(r->dir, &found->schema, &copy, 0, opts, NULL, 0, segment, err);
}

/* Reads the descriptions in one key file, and opens all of the segment's files to see that they are
 * there and whole enough to open. */
static paua_status found_read(struct rebuild *r, uint64_t number, struct found *found,
                              paua_error *err)
{
    struct data_file_opts opts = {.no_mmap = true, .verify = PAUA_VERIFY_HEADER};
    struct data_file *file;
    struct file_ref ref;
    struct segment *segment;
    paua_bytes m, s;
    paua_status status = data_file_open_any(r->dir, number, FILE_KEYS, opts, &file, &ref, err);

    if (status != PAUA_OK) return status;
    m = data_file_manifest(file);
    s = data_file_schema(file);
    if (m.data == NULL || s.data == NULL ||
        schema_decode(s.data, s.nbytes, &found->schema) != PAUA_OK ||
        manifest_decode(m.data, m.nbytes, &found->manifest) != PAUA_OK) {
        data_file_unref(file);
        return error_set(err, PAUA_ECORRUPT, "its descriptions are damaged");
    }
    found->manifest.keys = ref;
    data_file_unref(file);
    status = found_open(r, found, &segment, err);
    if (status == PAUA_OK) segment_unref(segment);
    if (status != PAUA_OK) manifest_free(&found->manifest);
    return status;
}

static paua_status found_collect(struct rebuild *r, paua_error *err)
{
    for (size_t i = 0; i < r->keys.count; i++) {
        char name[FILE_NAME_NBYTES];
        paua_error local;
        paua_status status;

        if (mem_grow((void **)&r->items, &r->capacity, r->count + 1, sizeof r->items[0]) != 0)
            return error_set_nomem(err);
        r->items[r->count] = (struct found){0};
        status = found_read(r, r->keys.items[i], &r->items[r->count], &local);
        file_name(name, r->keys.items[i], FILE_KEYS);
        if (status == PAUA_ENOMEM) return error_set_nomem(err);
        if (status == PAUA_OK)
            r->count++;
        else
            check_report_message(r->check, name, local.message,
                                 "its segment is left out, and the next writer removes its files: "
                                 "restore it from a backup");
    }
    return PAUA_OK;
}

static int newest_first(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->manifest.generation != y->manifest.generation)
        return x->manifest.generation > y->manifest.generation ? -1 : 1;
    return x->manifest.segment > y->manifest.segment ? -1 : 1;
}

static uint64_t last_row(const struct manifest *m) { return m->parts[m->part_count - 1].last_row; }

static bool overlaps(const struct found *a, const struct found *b)
{
    return a->manifest.collection == b->manifest.collection &&
           a->manifest.parts[0].first_row <= last_row(&b->manifest) &&
           b->manifest.parts[0].first_row <= last_row(&a->manifest);
}

/* A collection that was dropped and made again: the name is the newer one's. */
static bool outnamed(const struct rebuild *r, const struct found *f)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].schema.collection > f->schema.collection &&
            strcmp(r->items[i].schema.name, f->schema.name) == 0)
            return true;
    return false;
}

static void found_choose(struct rebuild *r)
{
    if (r->count > 0) qsort(r->items, r->count, sizeof r->items[0], newest_first);
    for (size_t i = 0; i < r->count; i++) {
        bool clear = !outnamed(r, &r->items[i]);

        for (size_t j = 0; j < i && clear; j++)
            clear = !r->items[j].taken || !overlaps(&r->items[i], &r->items[j]);
        r->items[i].taken = clear;
    }
}

static int by_first_row(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    uint64_t first_x = x->manifest.parts[0].first_row, first_y = y->manifest.parts[0].first_row;

    if (x->schema.collection != y->schema.collection)
        return x->schema.collection < y->schema.collection ? -1 : 1;
    return first_x < first_y ? -1 : first_x > first_y;
}

static paua_status record_put(struct catalog *catalog, enum table table, uint64_t id,
                              struct writer *w, paua_status encoded, paua_error *err)
{
    paua_status status = encoded == PAUA_OK
                             ? catalog_put(catalog, table, id, w->bytes, w->length, err)
                             : error_set_nomem(err);

    w->length = 0;
    return status;
}

/* Adds to `dead` the older of two rows of segment i that have this key, or both if a newer segment
 * has it too. */
static paua_status key_outdated(struct rebuild *r, size_t i, size_t end, struct key key,
                                uint32_t row, roaring_bitmap_t *dead, paua_error *err)
{
    uint64_t hash = key_hash(key);
    uint32_t position = UINT32_MAX;
    paua_status status = PAUA_OK;

    for (size_t j = i + 1; j < end && status == PAUA_OK && position == UINT32_MAX; j++)
        if (r->items[j].taken)
            status = segment_find(r->items[j].segment, NULL, key, hash, &position, err);
    if (status != PAUA_OK) return status;
    if (position != UINT32_MAX) {
        roaring_bitmap_add(dead, row);
        return PAUA_OK;
    }
    status = segment_find(r->items[i].segment, dead, key, hash, &position, err);
    if (status == PAUA_OK && position < row) roaring_bitmap_add(dead, position);
    return status;
}

/* Stores which rows of segment i have a newer one of their key; *crc: of the record, 0: none. */
static paua_status deleted_store(struct rebuild *r, struct catalog *catalog, size_t i, size_t end,
                                 uint32_t *crc, paua_error *err)
{
    const struct segment *segment = r->items[i].segment;
    uint64_t id = CATALOG_ID(segment->manifest.collection, segment->manifest.segment);
    roaring_bitmap_t *dead = roaring_bitmap_create();
    struct writer scratch = {0}, w = {0};
    paua_status status = dead == NULL ? error_set_nomem(err) : PAUA_OK;

    *crc = 0;
    for (uint32_t row = 0; row < segment->rows && status == PAUA_OK; row++) {
        struct key key;

        status = segment_key(segment, row, &scratch, &key, err);
        if (status == PAUA_OK) status = key_outdated(r, i, end, key, row, dead, err);
        if (status == PAUA_ECORRUPT) status = PAUA_OK; /* the check that follows names the file */
    }
    if (status == PAUA_OK && !roaring_bitmap_is_empty(dead)) {
        status = rowset_encode(dead, &w);
        if (status == PAUA_OK) *crc = record_crc(w.bytes);
        status = record_put(catalog, TABLE_DELETED, id, &w, status, err);
    }
    if (dead != NULL) roaring_bitmap_free(dead);
    writer_free(&scratch);
    writer_free(&w);
    return status;
}

static paua_status segments_open(struct rebuild *r, size_t first, size_t end, paua_error *err)
{
    paua_status status = PAUA_OK;

    for (size_t i = first; i < end && status == PAUA_OK; i++)
        if (r->items[i].taken) status = found_open(r, &r->items[i], &r->items[i].segment, err);
    return status;
}

/* Definitions of indexes were in the catalogue only: each vector field gets the one it has by
 * default, other fields none. */
static paua_status indexes_store(struct catalog *catalog, const struct schema *schema,
                                 paua_error *err)
{
    static const paua_index_params defaults = {.kind = PAUA_INDEX_DEFAULT};
    paua_status status = PAUA_OK;

    for (uint32_t f = 0; f < schema->field_count && status == PAUA_OK; f++) {
        struct index_definition d;

        status = index_define(schema, f, schema->fields[f].name, &defaults, &d, err);
        if (status != PAUA_OK) break;
        d.number = f + 1;
        status = index_store(catalog, &d, err);
    }
    return status;
}

/* Stores the segments of one collection: items first .. end - 1, in order of rows. */
static paua_status collection_store(struct rebuild *r, struct catalog *catalog, size_t first,
                                    size_t end, paua_error *err)
{
    const struct schema *schema = &r->items[first].schema;
    struct head head = {
        .collection = schema->collection, .field_count = schema->field_count, .first_sequence = 1};
    struct rebuild_fields fields = {0};
    struct writer w = {0};
    paua_status status = segments_open(r, first, end, err);

    for (size_t i = first; i < end && status == PAUA_OK; i++) {
        const struct manifest *m = &r->items[i].manifest;
        uint32_t deleted_crc;

        if (!r->items[i].taken) continue;
        status = deleted_store(r, catalog, i, end, &deleted_crc, err);
        if (status != PAUA_OK) break;
        status = manifest_encode(m, &w);
        if (status == PAUA_OK)
            head.segments_digest =
                head_digest(head.segments_digest, m->segment, record_crc(w.bytes), deleted_crc);
        status = record_put(catalog, TABLE_SEGMENT, CATALOG_ID(m->collection, m->segment), &w,
                            status, err);
        if (status == PAUA_OK)
            status = rebuild_codes(r->dir, catalog, r->items[i].segment, r->codes.items,
                                   r->codes.count, err);
        if (status == PAUA_OK)
            status = rebuild_columns(r->dir, catalog, r->items[i].segment, r->columns.items,
                                     r->columns.count, &fields, &head.segments_digest, err);
        head.segment_count++;
        head.next_row = last_row(m) + 1;
        if (m->generation >= head.generation) head.generation = m->generation + 1;
    }
    for (size_t i = first; i < end; i++)
        segment_unref(r->items[i].segment);
    head.tail_first_row = head.next_row;
    if (status == PAUA_OK)
        status = rebuild_fields_store(catalog, &fields, &head.segments_digest, err);
    mem_free(fields.items);
    if (status == PAUA_OK)
        status = record_put(catalog, TABLE_COLLECTION, schema->collection, &w,
                            schema_encode(schema, &w), err);
    if (status == PAUA_OK) status = indexes_store(catalog, schema, err);
    if (status == PAUA_OK)
        status =
            record_put(catalog, TABLE_HEAD, schema->collection, &w, head_encode(&head, &w), err);
    writer_free(&w);
    return status;
}

static bool any_taken(const struct rebuild *r, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (r->items[i].taken) return true;
    return false;
}

static paua_status all_store(struct rebuild *r, struct catalog *catalog, paua_error *err)
{
    paua_status status = catalog_begin_write(catalog, err);
    uint64_t collection_max = 0;

    if (status != PAUA_OK) return status;
    if (r->count > 0) qsort(r->items, r->count, sizeof r->items[0], by_first_row);
    for (size_t i = 0, end; i < r->count && status == PAUA_OK; i = end) {
        for (end = i + 1;
             end < r->count && r->items[end].schema.collection == r->items[i].schema.collection;)
            end++;
        collection_max = r->items[i].schema.collection;
        if (any_taken(r, i, end)) status = collection_store(r, catalog, i, end, err);
    }
    if (status == PAUA_OK)
        status = rebuild_histories(r->check, r->dir, catalog, &collection_max, err);
    if (status == PAUA_OK)
        status = catalog_number_put(catalog, META_NEXT_FILE, r->file_max + 1, err);
    if (status == PAUA_OK)
        status = catalog_number_put(catalog, META_NEXT_COLLECTION, collection_max + 1, err);
    if (status == PAUA_OK) return catalog_commit(catalog, NULL, err);
    catalog_rollback(catalog);
    return status;
}

/* The old catalogue and its log keep their bytes under another name. */
static paua_status move_aside(struct rebuild *r, paua_error *err)
{
    struct dir *dir = r->dir;
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    paua_status status = PAUA_OK;

    for (size_t i = 0; i < 3 && status == PAUA_OK; i++) {
        char from[64], to[64];

        snprintf(from, sizeof from, "%s%s", CATALOG_NAME, suffixes[i]);
        snprintf(to, sizeof to, "%s%s%s", CATALOG_NAME, ASIDE, suffixes[i]);
        if (!dir_exists(dir, from)) continue;
        status = dir_rename(dir, from, to, err);
        r->aside = true;
    }
    return status == PAUA_OK ? dir_sync(dir, err) : status;
}

static paua_status rebuild_run(struct rebuild *r, paua_error *err)
{
    struct catalog_opts opts = {.create = true, .busy_ms = 1000};
    struct catalog *catalog = NULL;
    struct dir *memory = NULL;
    paua_status status = dir_list(r->dir, file_each, r, err);

    if (status == PAUA_OK && r->failed) status = error_set_nomem(err);
    if (status == PAUA_OK && r->file_max == 0 && !dir_exists(r->dir, CATALOG_NAME))
        status = error_set(err, PAUA_ENOTFOUND, "%s: there is no paua database; check the path",
                           r->check->path);
    if (status == PAUA_OK) status = found_collect(r, err);
    if (status != PAUA_OK) return status;
    found_choose(r);
    /* Beside a catalogue that is not full yet, every file would be swept away as unused. */
    status = dir_open_memory(&memory, err);
    if (status == PAUA_OK) status = catalog_open(memory, &opts, &catalog, err);
    if (status == PAUA_OK) status = all_store(r, catalog, err);
    if (status == PAUA_OK) status = move_aside(r, err);
    if (status == PAUA_OK) status = catalog_backup(catalog, r->dir, err);
    catalog_close(catalog);
    dir_close(memory);
    if (status == PAUA_OK)
        check_report(r->check, false, r->aside ? CATALOG_NAME ASIDE : CATALOG_NAME,
                     "the catalogue was made anew; rows that were not sealed are lost, deleted "
                     "rows that were still stored are back, and every field has a default index "
                     "to be built by paua optimize",
                     r->aside ? "look for missing and returned rows; then remove this file"
                              : "look for missing and returned rows");
    return status;
}

paua_status check_rebuild(struct check *check, paua_error *err)
{
    struct rebuild r = {.check = check};
    struct locks *locks = NULL;
    paua_status status = dir_open(check->path, false, false, &r.dir, err);

    if (status != PAUA_OK) return status;
    status = locks_open(r.dir, false, &locks, err);
    if (status == PAUA_OK) status = locks_try_exclusive(locks, err);
    if (status == PAUA_OK) {
        status = rebuild_run(&r, err);
        locks_drop_presence(locks);
    }
    for (size_t i = 0; i < r.count; i++)
        manifest_free(&r.items[i].manifest);
    mem_free(r.items);
    mem_free(r.keys.items);
    mem_free(r.codes.items);
    mem_free(r.columns.items);
    locks_close(locks);
    dir_close(r.dir);
    return status;
}
