/* rebuild_columns.c - see rebuild_columns.h. A column file says which segment it belongs to and
 * what its fields are called. Of two of one segment the newer has the patches folded in. Patches
 * that were not are lost with the catalogue, and so are fields that no column file has. */
#include "db/rebuild_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/head.h"
#include "column/column_file.h"

static struct column_file *file_try(struct dir *dir, const struct segment *segment, uint64_t number,
                                    struct file_ref *ref)
{
    struct data_file_opts opts = {.no_mmap = true, .verify = PAUA_VERIFY_TOUCH};
    struct column_file *columns = NULL;
    struct data_file *file;

    if (data_file_open_any(dir, number, FILE_COLUMNS, opts, &file, ref, NULL) != PAUA_OK)
        return NULL;
    data_file_unref(file);
    if (column_file_open(dir, segment->manifest.collection, segment->manifest.segment,
                         segment->rows, ref, opts, &columns, NULL) != PAUA_OK)
        return NULL;
    return columns;
}

static struct field_item *known(const struct rebuild_fields *fields, uint32_t id)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->items[i].field.id == id) return &fields->items[i];
    return NULL;
}

static struct field_item *named(const struct rebuild_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->items[i].field.name, name) == 0) return &fields->items[i];
    return NULL;
}

/* A name belongs to the newest field that any file calls by it: an older one was dropped, or
 * renamed after that file was written, and is left out unless another file has its new name. */
static paua_status fields_gather(struct rebuild_fields *fields, uint32_t collection,
                                 const struct column_file *columns, paua_error *err)
{
    const struct column_file_field *found;
    uint32_t count;

    found = column_file_fields(columns, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct field_item item = {
            .field = {.collection = collection, .id = found[i].id, .type = found[i].type}};
        struct field_item *other = named(fields, found[i].name);

        if (known(fields, item.field.id) != NULL) continue;
        if (other != NULL && other->field.id > item.field.id) continue;
        strcpy(item.field.name, found[i].name);
        if (other != NULL) {
            *other = item;
            continue;
        }
        if (mem_grow((void **)&fields->items, &fields->capacity, fields->count + 1, sizeof item) !=
            0)
            return error_set_nomem(err);
        fields->items[fields->count++] = item;
    }
    return PAUA_OK;
}

static paua_status ref_store(struct catalog *catalog, const struct column_ref *ref, paua_error *err)
{
    struct writer w = {0};
    paua_status status =
        column_ref_encode(ref, &w) == PAUA_OK
            ? catalog_put(catalog, TABLE_COLUMNS, CATALOG_ID(ref->collection, ref->segment),
                          w.bytes, w.length, err)
            : error_set_nomem(err);

    writer_free(&w);
    return status;
}

paua_status rebuild_columns(struct dir *dir, struct catalog *catalog, const struct segment *segment,
                            const uint64_t *numbers, size_t count, struct rebuild_fields *fields,
                            uint32_t *digest, paua_error *err)
{
    struct column_ref ref = {
        segment->manifest.collection, segment->manifest.segment, segment->rows, {0}};
    struct column_file *newest = NULL;
    paua_status status = PAUA_OK;

    for (size_t i = 0; i < count; i++) {
        struct file_ref tried;
        struct column_file *columns;

        if (numbers[i] <= ref.file.number) continue;
        columns = file_try(dir, segment, numbers[i], &tried);
        if (columns == NULL) continue;
        column_file_unref(newest);
        newest = columns;
        ref.file = tried;
    }
    if (newest == NULL) return PAUA_OK;
    status = fields_gather(fields, ref.collection, newest, err);
    column_file_unref(newest);
    if (status == PAUA_OK) status = ref_store(catalog, &ref, err);
    if (status == PAUA_OK) *digest = head_digest(*digest, ref.file.number, ref.file.footer_crc, 0);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const struct field_item *x = a, *y = b;

    return x->field.id < y->field.id ? -1 : x->field.id > y->field.id;
}

paua_status rebuild_fields_store(struct catalog *catalog, struct rebuild_fields *fields,
                                 uint32_t *digest, paua_error *err)
{
    paua_status status = PAUA_OK;

    if (fields->count > 0) qsort(fields->items, fields->count, sizeof fields->items[0], by_id);
    for (size_t i = 0; i < fields->count && status == PAUA_OK; i++) {
        status = field_store(catalog, &fields->items[i], err);
        *digest = head_digest(*digest, fields->items[i].field.id, fields->items[i].record_crc, 0);
    }
    mem_free(fields->items);
    *fields = (struct rebuild_fields){0};
    return status;
}
