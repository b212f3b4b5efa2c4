/* cursor.c - reading whole rows: by key, by filter, or all of a snapshot. A cursor owns one record,
 * filled anew at each step. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/cursor.h"

struct paua_cursor {
    uint32_t forks; /* of the database, which may be closed by now */
    struct view *view;
    struct paua_read_opts opts;
    struct place *places; /* a fetch: one a key; NULL: walk everything */
    size_t place_count;
    size_t next; /* a fetch: the next key; a walk: the next row of `source` */
    uint32_t source;
    paua_record record;
    float *floats; /* of all fields, one after the other */
    const float *vectors[PAUA_VECTOR_FIELDS_MAX];
    paua_field *fields; /* whose values are read; names and ids are of the view's fields */
    uint32_t *field_ids;
    paua_value *values;
    size_t field_count;
    struct writer key, document, scratch;
};

static void cursor_free(paua_cursor *cursor)
{
    mem_free(cursor->places);
    mem_free(cursor->floats);
    mem_free(cursor->fields);
    mem_free(cursor->field_ids);
    mem_free(cursor->values);
    writer_free(&cursor->key);
    writer_free(&cursor->document);
    writer_free(&cursor->scratch);
    view_unref(cursor->view);
    mem_free(cursor);
}

/* Chooses the fields to read: those asked for, or all. */
static paua_status fields_choose(paua_cursor *k, paua_error *err)
{
    const struct field_list *list = k->view->fields;
    size_t count = k->opts.fields != NULL ? k->opts.field_count : field_list_count(list);

    if (k->opts.no_values) return PAUA_OK;
    k->fields = mem_alloc((count + 1) * sizeof k->fields[0]);
    k->field_ids = mem_alloc((count + 1) * sizeof k->field_ids[0]);
    k->values = mem_zalloc(count + 1, sizeof k->values[0]);
    if (k->fields == NULL || k->field_ids == NULL || k->values == NULL) return error_set_nomem(err);
    for (; k->field_count < count; k->field_count++) {
        const char *name = k->opts.fields != NULL ? k->opts.fields[k->field_count] : NULL;
        const struct field *field;

        if (k->opts.fields == NULL)
            field = &list->items[k->field_count].field;
        else if (name == NULL)
            return error_set(err, PAUA_EINVAL, "the name of field %zu is NULL", k->field_count);
        else
            field = field_list_name(list, name, strlen(name));
        if (field == NULL)
            return error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has no field \"%s\"",
                             k->view->schema->name, name);
        k->fields[k->field_count] = (paua_field){field->name, field->type};
        k->field_ids[k->field_count] = field->id;
    }
    return PAUA_OK;
}

paua_status cursor_new(paua_collection *c, const paua_read_opts *opts, paua_cursor **cursor,
                       paua_error *err)
{
    paua_cursor *k;
    size_t floats = 0;
    paua_status status = c == NULL ? error_set(err, PAUA_EINVAL, "the collection handle is NULL")
                                   : db_check(c->db, err);

    if (status != PAUA_OK) return status;
    if (opts != NULL && opts->size < sizeof *opts)
        return error_set(err, PAUA_EINVAL, "paua_read_opts.size is not set");
    k = mem_zalloc(1, sizeof *k);
    if (k == NULL) return error_set_nomem(err);
    k->forks = c->db->forks;
    if (opts != NULL) k->opts = *opts;
    for (uint32_t f = 0; f < c->schema.field_count; f++)
        floats += c->schema.fields[f].dim;
    if (!k->opts.no_vectors) k->floats = mem_alloc(floats * sizeof(float));
    status = k->opts.no_vectors || k->floats != NULL ? collection_view(c, &k->view, err)
                                                     : error_set_nomem(err);
    if (status == PAUA_OK) status = fields_choose(k, err);
    if (status != PAUA_OK) {
        cursor_free(k);
        return status;
    }
    for (uint32_t f = 0, at = 0; f < c->schema.field_count && k->floats != NULL; f++) {
        k->vectors[f] = k->floats + at;
        at += c->schema.fields[f].dim;
    }
    *cursor = k;
    return PAUA_OK;
}

paua_status paua_iterate(paua_collection *collection, const paua_read_opts *opts,
                         paua_cursor **cursor, paua_error *err)
{
    return cursor_new(collection, opts, cursor, err);
}

static paua_status places_find(paua_cursor *k, const paua_keys *keys, paua_error *err)
{
    k->place_count = keys->count;
    k->places = mem_alloc((keys->count + 1) * sizeof k->places[0]);
    if (k->places == NULL) return error_set_nomem(err);
    for (size_t i = 0; i < keys->count; i++) {
        struct key key;
        paua_status status = key_from_caller(k->view->schema, keys, i, &k->scratch, &key, err);

        if (status == PAUA_OK) status = view_find(k->view, key, &k->places[i], err);
        if (status != PAUA_OK) return status;
    }
    return PAUA_OK;
}

paua_status paua_fetch(paua_collection *collection, const paua_keys *keys,
                       const paua_read_opts *opts, paua_cursor **cursor, paua_error *err)
{
    paua_cursor *k;
    paua_status status = cursor_new(collection, opts, &k, err);

    if (status != PAUA_OK) return status;
    status = keys_check(&collection->schema, keys, err);
    if (status == PAUA_OK) status = places_find(k, keys, err);
    if (status != PAUA_OK) {
        cursor_free(k);
        return status;
    }
    *cursor = k;
    return PAUA_OK;
}

/* The next live row of a walk; false at the end. Moves the cursor only over dead rows. */
static bool walk(paua_cursor *k, struct place *place)
{
    while (k->source < view_sources(k->view)) {
        const roaring_bitmap_t *deleted = view_source_deleted(k->view, k->source);

        while (k->next < view_source_rows(k->view, k->source)) {
            *place = (struct place){k->source, (uint32_t)k->next};
            if (deleted == NULL || !roaring_bitmap_contains(deleted, place->row)) return true;
            k->next++;
        }
        k->source++;
        k->next = 0;
    }
    return false;
}

static paua_status record_fill(paua_cursor *k, struct place place, paua_error *err)
{
    const struct schema *schema = k->view->schema;
    paua_record record = {.found = true};
    struct key key;
    paua_status status = view_key(k->view, place, &k->key, &key, err);

    for (uint32_t f = 0; f < schema->field_count && status == PAUA_OK && k->floats != NULL; f++)
        status = view_vector(k->view, f, place, &k->scratch,
                             k->floats + (k->vectors[f] - k->floats), err);
    if (status == PAUA_OK && !k->opts.no_document)
        status = view_document(k->view, place, &k->document, &record.document, err);
    for (size_t f = 0; f < k->field_count && status == PAUA_OK; f++) {
        struct cell cell;

        status = view_cell(k->view, k->field_ids[f], place, &cell, err);
        if (status == PAUA_OK) k->values[f] = value_of_cell(k->fields[f].type, &cell);
    }
    if (status != PAUA_OK) return status;
    record.values = k->values;
    record.key = key_public(schema, key);
    record.vectors = k->floats == NULL ? NULL : k->vectors;
    k->record = record;
    return PAUA_OK;
}

paua_status paua_cursor_next(paua_cursor *cursor, const paua_record **record, paua_error *err)
{
    struct place place = NO_PLACE;
    paua_status status;

    if (cursor == NULL) return error_set(err, PAUA_EINVAL, "the cursor is NULL");
    status = forks_check(cursor->forks, err);
    if (status != PAUA_OK) return status;
    if (cursor->places != NULL ? cursor->next >= cursor->place_count : !walk(cursor, &place)) {
        *record = NULL;
        return PAUA_OK;
    }
    if (cursor->places != NULL) place = cursor->places[cursor->next];
    if (place_is_none(place))
        cursor->record = (paua_record){.found = false};
    else
        status = record_fill(cursor, place, err);
    if (status != PAUA_OK) return status;
    cursor->next++;
    *record = &cursor->record;
    return PAUA_OK;
}

void paua_cursor_close(paua_cursor *cursor)
{
    if (cursor != NULL) cursor_free(cursor);
}

const paua_field *paua_cursor_fields(const paua_cursor *cursor, size_t *count)
{
    *count = cursor->field_count;
    return cursor->fields;
}

const struct view *cursor_view(const paua_cursor *cursor) { return cursor->view; }

void cursor_set_places(paua_cursor *cursor, struct place *places, size_t first, size_t end)
{
    cursor->places = places;
    cursor->next = first;
    cursor->place_count = end;
}
