/* field_edit.c - adding, renaming, retyping and dropping fields, each in one commit.
 *
 * A field's values are found by its number, which is never given out again, so a name may change
 * hands and what a dropped field leaves in files is passed over until a rewrite leaves it out. A
 * field that gets another type gets another number: the tail is sealed and every column file
 * written anew, while writers wait and readers go on. Indexes go with a field that is dropped, and
 * are for the field's new number, to be built anew, where its type changes; arrays have none. */
#include "db/field_edit.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/columns.h"
#include "db/files.h"
#include "db/index.h"
#include "db/left_behind.h"

paua_status field_number(paua_db *db, uint32_t newest, uint32_t *id, paua_error *err)
{
    uint64_t number;

    do {
        paua_status status = db_file_numbers(db, 1, &number, err);

        if (status != PAUA_OK) return status;
    } while (number <= newest);
    if (number > UINT32_MAX)
        return error_set(err, PAUA_ENOTSUP, "this database has given out %u numbers already",
                         UINT32_MAX);
    *id = (uint32_t)number;
    return PAUA_OK;
}

paua_status field_check(const paua_field *field, uint32_t count, paua_error *err)
{
    if (field == NULL || field->name == NULL || !schema_name_valid(field->name))
        return error_set(err, PAUA_EINVAL,
                         "a field's name must be 1 to %u bytes of UTF-8 without control characters",
                         PAUA_NAME_NBYTES_MAX);
    if (!type_valid(field->type))
        return error_set(err, PAUA_EINVAL, "field \"%s\": %u is not a type that a field can have",
                         field->name, field->type);
    if (count >= PAUA_FIELDS_MAX)
        return error_set(err, PAUA_EINVAL, "field \"%s\": a collection has at most %u fields",
                         field->name, PAUA_FIELDS_MAX);
    return PAUA_OK;
}

paua_status field_define(paua_db *db, const struct field_list *list, const paua_field *field,
                         struct field_item *item, paua_error *err)
{
    uint32_t id = 0;
    paua_status status = field_check(field, field_list_count(list), err);

    if (status != PAUA_OK) return status;
    if (field_list_name(list, field->name, strlen(field->name)) != NULL)
        return error_set(err, PAUA_EEXISTS, "there is a field \"%s\" already", field->name);
    status = field_number(db, field_list_newest(list), &id, err);
    if (status != PAUA_OK) return status;
    *item = (struct field_item){.field = {.id = id, .type = field->type}};
    strcpy(item->field.name, field->name);
    return PAUA_OK;
}

/* A change of fields: from what to what, and what the catalogue needs. */
struct field_change {
    struct paua_collection *c;
    struct view *now;
    struct view *next;         /* has the new list */
    const struct field *gone;  /* its record goes; NULL: none */
    uint32_t heir;             /* field that has its indexes then; 0: they go, too */
    struct field_item *stored; /* in next->fields: its record is stored; NULL: none */
    bool columns;              /* next has other column files, too */
};

/* The next view with another list of fields, which it takes over. */
static paua_status change_begin(struct field_change *change, struct field_list *list,
                                paua_error *err)
{
    change->next = list == NULL ? NULL : view_copy(change->now);
    if (change->next == NULL) {
        field_list_unref(list);
        return error_set_nomem(err);
    }
    field_list_unref(change->next->fields);
    change->next->fields = list;
    change->next->head.generation++;
    return PAUA_OK;
}

static bool is_of(const struct index_definition *d, const struct field *field)
{
    return index_kind_is_values(d->kind) && d->field == field->id;
}

/* The next view's indexes: those of the field that is gone go to its heir, or go, too. */
static paua_status change_indexes(struct field_change *change, paua_error *err)
{
    const struct index_list *old = change->now->indexes;
    struct index_list *list;

    for (uint32_t i = 0; i < change->next->segment_count; i++)
        if (!slot_drop_values(&change->next->segments[i], change->columns ? 0 : change->gone->id))
            return error_set_nomem(err);
    if (old == NULL) return PAUA_OK;
    list = index_list_new(old->count);
    if (list == NULL) return error_set_nomem(err);
    list->count = 0;
    for (uint32_t i = 0; i < old->count; i++) {
        struct index_definition d = old->items[i];

        if (is_of(&d, change->gone)) d.field = change->heir;
        if (d.field != 0 || !index_kind_is_values(d.kind)) list->items[list->count++] = d;
    }
    index_list_unref(change->next->indexes);
    change->next->indexes = list;
    return PAUA_OK;
}

/* Inside a write transaction. */
static paua_status indexes_store(const struct field_change *change, paua_error *err)
{
    struct catalog *catalog = change->c->db->writer;
    const struct index_list *old = change->now->indexes;
    paua_status status = left_behind_delete(catalog, change->now, change->next, err);

    for (uint32_t i = 0; old != NULL && i < old->count && status == PAUA_OK; i++) {
        struct index_definition d = old->items[i];
        uint64_t id = CATALOG_ID(d.collection, d.number);

        if (!is_of(&d, change->gone)) continue;
        d.field = change->heir;
        status = d.field == 0 ? catalog_delete(catalog, TABLE_INDEX, id, id, err)
                              : index_store(catalog, &d, err);
    }
    return status;
}

/* A collection that never had fields says now that it may have them. */
static paua_status schema_mark(struct paua_collection *c, paua_error *err)
{
    struct schema marked = c->schema;
    struct writer w = {0};
    paua_status status;

    if (c->schema.columns) return PAUA_OK;
    marked.columns = true;
    status = schema_encode(&marked, &w) == PAUA_OK
                 ? catalog_put(c->db->writer, TABLE_COLLECTION, marked.collection, w.bytes,
                               w.length, err)
                 : error_set_nomem(err);
    writer_free(&w);
    return status;
}

static paua_status change_store(const struct field_change *change, paua_error *err)
{
    struct catalog *catalog = change->c->db->writer;
    paua_status status = schema_mark(change->c, err);

    if (status == PAUA_OK && change->gone != NULL) {
        uint64_t id = CATALOG_ID(change->gone->collection, change->gone->id);

        status = catalog_delete(catalog, TABLE_FIELD, id, id, err);
        if (status == PAUA_OK) status = indexes_store(change, err);
    }
    if (status == PAUA_OK && change->stored != NULL)
        status = field_store(catalog, change->stored, err);
    for (uint32_t i = 0; change->columns && i < change->next->segment_count; i++)
        if (status == PAUA_OK) status = columns_store(catalog, &change->next->segments[i], err);
    return status == PAUA_OK ? catalog_put_view(catalog, change->next, err) : status;
}

static paua_status change_commit(struct field_change *change, paua_error *err)
{
    paua_status status = writer_begin_commit(change->c, err);

    if (status != PAUA_OK) return status;
    status = db_finish(change->c->db, change_store(change, err), err);
    if (status != PAUA_OK) return status;
    change->c->schema.columns = true;
    collection_publish(change->c, view_ref(change->next));
    /* A failure poisons; the change is made. */
    if (db_settle(change->c->db) == PAUA_OK)
        left_behind_unlink(change->c->db->dir, change->now, change->next);
    return PAUA_OK;
}

/* Begins a change with write_mutex held, and optimize_mutex, since a rewrite that goes on would
 * bring the old fields back. */
static paua_status lock(struct field_change *change, paua_collection *collection, paua_error *err)
{
    paua_status status = collection == NULL
                             ? error_set(err, PAUA_EINVAL, "the collection handle is NULL")
                             : db_check_writable(collection->db, err);

    if (status != PAUA_OK) return status;
    *change = (struct field_change){.c = collection};
    pthread_mutex_lock(&collection->optimize_mutex);
    status = writer_lock(collection, err);
    if (status == PAUA_OK)
        change->now = collection_peek(collection);
    else
        pthread_mutex_unlock(&collection->optimize_mutex);
    return status;
}

static void unlock(struct field_change *change)
{
    view_unref(change->next);
    view_unref(change->now);
    pthread_mutex_unlock(&change->c->write_mutex);
    pthread_mutex_unlock(&change->c->optimize_mutex);
}

static paua_status find(const struct field_change *change, const char *name,
                        const struct field **field, paua_error *err)
{
    if (name == NULL) return error_set(err, PAUA_EINVAL, "the field's name is NULL");
    *field = field_list_name(change->now->fields, name, strlen(name));
    if (*field != NULL) return PAUA_OK;
    return error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has no field \"%s\"",
                     change->c->schema.name, name);
}

paua_status paua_field_add(paua_collection *collection, const paua_field *field, paua_error *err)
{
    struct field_change change;
    struct field_item item;
    paua_status status = lock(&change, collection, err);

    if (status != PAUA_OK) return status;
    status = field_define(collection->db, change.now->fields, field, &item, err);
    if (status == PAUA_OK) {
        item.field.collection = collection->schema.collection;
        status = change_begin(&change, field_list_with(change.now->fields, &item, 1), err);
    }
    if (status == PAUA_OK) {
        change.stored = &change.next->fields->items[change.next->fields->count - 1];
        status = change_commit(&change, err);
    }
    unlock(&change);
    return status;
}

static struct field_item *item_of(const struct field_list *list, uint32_t id)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].field.id == id) return (struct field_item *)&list->items[i];
    return NULL;
}

paua_status paua_field_rename(paua_collection *collection, const char *name, const char *new_name,
                              paua_error *err)
{
    struct field_change change;
    const struct field *field;
    paua_status status = lock(&change, collection, err);

    if (status != PAUA_OK) return status;
    status = find(&change, name, &field, err);
    if (status == PAUA_OK && (new_name == NULL || !schema_name_valid(new_name)))
        status = error_set(err, PAUA_EINVAL,
                           "a field's name must be 1 to %u bytes of UTF-8 without control "
                           "characters",
                           PAUA_NAME_NBYTES_MAX);
    if (status == PAUA_OK &&
        field_list_name(change.now->fields, new_name, strlen(new_name)) != NULL)
        status = error_set(err, PAUA_EEXISTS, "there is a field \"%s\" already", new_name);
    if (status == PAUA_OK)
        status = change_begin(&change, field_list_with(change.now->fields, NULL, 0), err);
    if (status == PAUA_OK) {
        change.stored = item_of(change.next->fields, field->id);
        strcpy(change.stored->field.name, new_name);
        status = change_commit(&change, err);
    }
    unlock(&change);
    return status;
}

static struct field_list *list_without(const struct field_list *list, uint32_t id)
{
    struct field_list *left = field_list_new(list->count);

    for (uint32_t i = 0; left != NULL && i < list->count; i++)
        if (list->items[i].field.id != id) left->items[left->count++] = list->items[i];
    return left;
}

paua_status paua_field_drop(paua_collection *collection, const char *name, paua_error *err)
{
    struct field_change change;
    paua_status status = lock(&change, collection, err);

    if (status != PAUA_OK) return status;
    status = find(&change, name, &change.gone, err);
    if (status == PAUA_OK)
        status = change_begin(&change, list_without(change.now->fields, change.gone->id), err);
    if (status == PAUA_OK) status = change_indexes(&change, err);
    if (status == PAUA_OK) status = change_commit(&change, err);
    unlock(&change);
    return status;
}

struct segment_place {
    uint32_t segment;
};

static struct place same_place(const void *arg, uint32_t row)
{
    return (struct place){((const struct segment_place *)arg)->segment, row};
}

/* Writes the column files of the next view with one field converted; patches are folded in. */
static paua_status columns_convert(struct field_change *change, const struct conversion *conversion,
                                   paua_error *err)
{
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; i < change->next->segment_count && status == PAUA_OK; i++) {
        struct view_segment *slot = &change->next->segments[i];
        struct segment_place place = {i};
        struct column_rows rows = {.view = change->now,
                                   .fields = change->next->fields,
                                   .conversion = conversion,
                                   .rows = slot->segment->rows,
                                   .place_of = same_place,
                                   .arg = &place};
        struct file_ref ref;

        status = columns_write(change->c, &rows, slot->segment->manifest.segment, NULL, &ref, err);
        if (status != PAUA_OK) break;
        column_file_unref(slot->columns);
        patches_unref(slot->patches);
        slot->columns = NULL;
        slot->columns_ref = ref; /* named in any case, so that a failure removes it */
        slot->patches = NULL;
        status = columns_open(change->c, &ref, slot, err);
    }
    return status;
}

/* Removes the column files that one of two views has and the other has not. */
static void columns_unlink(const struct field_change *change, const struct view *of,
                           const struct view *other)
{
    for (uint32_t i = 0; i < of->segment_count; i++)
        if (of->segments[i].columns_ref.number != other->segments[i].columns_ref.number)
            files_unlink(change->c->db->dir, of->segments[i].columns_ref.number, FILE_COLUMNS);
}

/* After the tail was sealed: `now` is the view since. */
static paua_status retype(struct field_change *change, const struct field *field, uint32_t type,
                          paua_error *err)
{
    struct field_list *left = list_without(change->now->fields, field->id);
    paua_field wanted = {field->name, type};
    struct conversion conversion = {.from = field->id, .from_type = field->type, .to_type = type};
    struct field_item item;
    paua_status status = left == NULL ? error_set_nomem(err)
                                      : field_define(change->c->db, left, &wanted, &item, err);

    if (status == PAUA_OK) {
        item.field.collection = field->collection;
        conversion.to = item.field.id;
        status = change_begin(change, field_list_with(left, &item, 1), err);
    }
    field_list_unref(left);
    if (status != PAUA_OK) return status;
    change->gone = field;
    change->stored = &change->next->fields->items[change->next->fields->count - 1];
    change->columns = true;
    change->heir = type_is_array(type) ? 0 : conversion.to;
    status = change_indexes(change, err);
    if (status == PAUA_OK) status = columns_convert(change, &conversion, err);
    if (status == PAUA_OK) status = change_commit(change, err);
    /* Whoever cannot know what the disk holds removes nothing. */
    if (db_poisoned(change->c->db)) return status;
    if (status == PAUA_OK)
        columns_unlink(change, change->now, change->next);
    else
        columns_unlink(change, change->next, change->now);
    return status;
}

paua_status paua_field_retype(paua_collection *collection, const char *name, uint32_t type,
                              paua_error *err)
{
    struct field_change change;
    const struct field *field;
    paua_status status = lock(&change, collection, err);

    if (status != PAUA_OK) return status;
    status = find(&change, name, &field, err);
    if (status == PAUA_OK && !type_valid(type))
        status = error_set(err, PAUA_EINVAL, "field \"%s\": %u is not a type that a field can have",
                           name, type);
    if (status == PAUA_OK && field->type != type) {
        status = seal_tail(collection, err);
        view_unref(change.now);
        change.now = collection_peek(collection);
        if (status == PAUA_OK) status = find(&change, name, &field, err);
        if (status == PAUA_OK) status = retype(&change, field, type, err);
    }
    unlock(&change);
    return status;
}
