/* collection.c - opening, creating, listing and dropping collections. A collection that is opened
 * twice is one state with two handles. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "db/db.h"
#include "db/field_edit.h"
#include "db/index.h"

static void memory_free(struct view_owner *owner)
{
    mem_free((struct paua_collection *)(void *)owner);
}

/* Ends the handle. Hits and cursors may still point to the schema: the memory is freed when the
 * last view has gone. */
static void collection_free(struct paua_collection *c)
{
    view_unref(c->view);
    pthread_mutex_destroy(&c->view_mutex);
    pthread_mutex_destroy(&c->refresh_mutex);
    pthread_mutex_destroy(&c->write_mutex);
    pthread_mutex_destroy(&c->queue_mutex);
    pthread_mutex_destroy(&c->optimize_mutex);
    pthread_cond_destroy(&c->queue_full);
    view_owner_unref(&c->owner);
}

static struct paua_collection *collection_new(paua_db *db, const struct schema *schema)
{
    struct paua_collection *c = mem_zalloc(1, sizeof *c);

    if (c == NULL) return NULL;
    c->owner = (struct view_owner){.refs = 1, .free = memory_free};
    c->db = db;
    c->handles = 1;
    c->schema = *schema;
    c->queue_end = &c->queue;
    for (uint32_t f = 0; f < schema->field_count; f++)
        c->public_fields[f] = (paua_vector_field){.name = c->schema.fields[f].name,
                                                  .dim = schema->fields[f].dim,
                                                  .metric = schema->fields[f].metric,
                                                  .precision = schema->fields[f].precision,
                                                  .originals = schema->fields[f].originals};
    c->public_schema = (paua_schema){.size = sizeof c->public_schema,
                                     .key_kind = schema->key_kind,
                                     .document = schema->document,
                                     .fields = c->public_fields,
                                     .field_count = schema->field_count,
                                     .dynamic = schema->dynamic};
    pthread_mutex_init(&c->view_mutex, NULL);
    pthread_mutex_init(&c->refresh_mutex, NULL);
    pthread_mutex_init(&c->write_mutex, NULL);
    pthread_mutex_init(&c->queue_mutex, NULL);
    pthread_mutex_init(&c->optimize_mutex, NULL);
    clock_cond_init(&c->queue_full);
    return c;
}

struct search_name {
    const char *name;
    struct schema schema;
    bool found;
    paua_status bad; /* a record that cannot be read, which hides nothing but its own name */
    uint64_t bad_id;
    void (*each)(void *arg, const char *name);
    void *each_arg;
    paua_error *err;
};

static paua_status schema_each(void *arg, uint64_t id, paua_bytes record)
{
    struct search_name *s = arg;
    struct schema schema;
    paua_status status = schema_decode(record.data, record.nbytes, &schema);

    if (status != PAUA_OK || schema.collection != id) {
        s->bad = status == PAUA_EVERSION ? PAUA_EVERSION : PAUA_ECORRUPT;
        s->bad_id = id;
        return PAUA_OK;
    }
    if (s->each != NULL) s->each(s->each_arg, schema.name);
    if (s->name != NULL && strcmp(s->name, schema.name) == 0) {
        s->schema = schema;
        s->found = true;
    }
    return PAUA_OK;
}

static paua_status schemas_scan(struct catalog *catalog, struct search_name *s)
{
    paua_status status =
        catalog_each(catalog, TABLE_COLLECTION, 0, INT64_MAX, schema_each, s, s->err);

    if (status != PAUA_OK || s->found || s->bad == PAUA_OK) return status;
    return error_set(s->err, s->bad,
                     "%s: the schema of collection %llu is damaged or newer; run paua check",
                     CATALOG_NAME, (unsigned long long)s->bad_id);
}

paua_status collection_find(paua_db *db, const char *name, struct schema *schema, paua_error *err)
{
    struct search_name s = {.name = name, .err = err};
    struct catalog *catalog = db_lock_reader(db);
    paua_status status = schemas_scan(catalog, &s);

    db_unlock_reader(db);
    if (status != PAUA_OK) return status;
    if (!s.found)
        return error_set(err, PAUA_ENOTFOUND,
                         "there is no collection \"%s\"; paua ls names those there are", name);
    *schema = s.schema;
    return PAUA_OK;
}

static paua_status load_first(struct paua_collection *c, paua_error *err)
{
    struct catalog *catalog = db_lock_reader(c->db);
    bool torn;
    paua_status status = catalog_version(catalog, &c->seen_version, err);

    db_unlock_reader(c->db);
    if (status != PAUA_OK) return status;
    return load_view(c, NULL, &c->view, &torn, err);
}

static struct paua_collection *collection_opened(paua_db *db, uint32_t number)
{
    for (struct paua_collection *c = db->collections; c != NULL; c = c->next)
        if (c->schema.collection == number) return c;
    return NULL;
}

/* Lists a collection as open; if another thread was faster, its state is shared and c is freed. */
static struct paua_collection *list_add_or_share(struct paua_collection *c)
{
    paua_db *db = c->db;
    struct paua_collection *other;

    pthread_mutex_lock(&db->mutex);
    other = collection_opened(db, c->schema.collection);
    if (other != NULL) {
        other->handles++;
    } else {
        c->next = db->collections;
        db->collections = c;
    }
    pthread_mutex_unlock(&db->mutex);
    if (other != NULL) collection_free(c);
    return other != NULL ? other : c;
}

/* The public schema shows the index that was made with a field, if it still is there. */
static void public_indexes_set(struct paua_collection *c)
{
    for (uint32_t f = 0; f < c->schema.field_count; f++) {
        const struct index_definition *d =
            index_list_find(c->view->indexes, f, c->schema.fields[f].name);

        c->public_fields[f].index = (paua_index_params){.kind = PAUA_INDEX_NONE};
        if (d != NULL && d->field == f) c->public_fields[f].index = index_params(d);
    }
}

static paua_status open_schema(paua_db *db, const struct schema *schema,
                               paua_collection **collection, paua_error *err)
{
    struct paua_collection *c, *other;
    paua_status status;

    pthread_mutex_lock(&db->mutex);
    other = collection_opened(db, schema->collection);
    if (other != NULL) other->handles++;
    pthread_mutex_unlock(&db->mutex);
    if (other != NULL) {
        *collection = other;
        return PAUA_OK;
    }
    c = collection_new(db, schema);
    if (c == NULL) return error_set_nomem(err);
    status = load_first(c, err);
    if (status != PAUA_OK) {
        collection_free(c);
        return status;
    }
    public_indexes_set(c);
    *collection = list_add_or_share(c);
    return PAUA_OK;
}

paua_status paua_collection_open(paua_db *db, const char *name, paua_collection **collection,
                                 paua_error *err)
{
    struct schema schema;
    paua_status status = db_check(db, err);

    if (status != PAUA_OK) return status;
    if (name == NULL) return error_set(err, PAUA_EINVAL, "the collection's name is NULL");
    status = collection_find(db, name, &schema, err);
    return status == PAUA_OK ? open_schema(db, &schema, collection, err) : status;
}

static void list_remove(struct paua_collection *c)
{
    struct paua_collection **at = &c->db->collections;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

/* With db->mutex held and neither handles nor background work left: is there anything to sync? */
static bool sync_due(const struct paua_collection *c)
{
    return c->db->opts.durability == PAUA_BATCH && atomic_load(&c->writing) &&
           !db_poisoned(c->db) && c->durable_sequence < c->view->head.last_sequence;
}

/* Waits, with db->mutex held, until only the caller is left, and syncs what PAUA_BATCH had put off;
 * false if the collection was reopened meanwhile. */
static bool close_alone(struct paua_collection *c)
{
    for (;;) {
        paua_cancel_request(&c->background);
        while (c->busy > 0)
            pthread_cond_wait(&c->db->idle, &c->db->mutex);
        __atomic_store_n(&c->background.requested, 0, __ATOMIC_RELAXED);
        if (c->handles > 0) return false;
        if (!sync_due(c)) return true;
        c->busy++;
        pthread_mutex_unlock(&c->db->mutex);
        if (collection_sync(c, NULL) == PAUA_OK) /* a failure poisons: there is no second try */
            db_sync_catalog(c->db, NULL);
        pthread_mutex_lock(&c->db->mutex);
        c->busy--;
    }
}

/* The writer lock is dropped before another thread can open the collection anew: the process has
 * it only once, so a later drop would take it from that thread. */
void paua_collection_close(paua_collection *collection)
{
    paua_db *db;
    bool last;

    if (collection == NULL || db_check(collection->db, NULL) != PAUA_OK) return;
    db = collection->db;
    pthread_mutex_lock(&db->mutex);
    last = --collection->handles == 0 && !collection->closing;
    if (last) { /* if it is reopened and closed again: one closer */
        collection->closing = true;
        last = close_alone(collection);
        collection->closing = false;
    }
    if (last) {
        list_remove(collection);
        if (atomic_load(&collection->writing)) {
            writer_close_files(collection);
            locks_drop_collection(db->locks, collection->schema.collection);
        }
    }
    pthread_mutex_unlock(&db->mutex);
    if (last) collection_free(collection);
}

static bool originals_needed(const paua_schema *from, size_t i)
{
    const paua_vector_field *f = &from->fields[i];

    return f->precision == PAUA_FP32 || f->precision == PAUA_FP16 ||
           f->index.kind == PAUA_INDEX_NONE || (from->key_kind == PAUA_KEY_VECTOR && i == 0);
}

static paua_status field_take(const paua_schema *from, size_t i, struct schema *to, paua_error *err)
{
    const paua_vector_field *f = &from->fields[i];
    struct schema_field *field = &to->fields[i];

    if (f->name == NULL || !schema_name_valid(f->name))
        return error_set(err, PAUA_EINVAL,
                         "vector field %zu: the name must be 1 to %u bytes of UTF-8 without "
                         "control characters",
                         i, PAUA_NAME_NBYTES_MAX);
    for (size_t other = 0; other < i; other++)
        if (strcmp(to->fields[other].name, f->name) == 0)
            return error_set(err, PAUA_EINVAL, "vector field \"%s\" is given twice", f->name);
    if (f->dim < 1 || f->dim > PAUA_DIM_MAX)
        return error_set(err, PAUA_EINVAL, "vector field \"%s\": dimension %u is not in 1 to %u",
                         f->name, f->dim, PAUA_DIM_MAX);
    if ((unsigned)f->metric > PAUA_COSINE || (unsigned)f->precision > PAUA_INT2)
        return error_set(err, PAUA_EINVAL, "vector field \"%s\": unknown metric or precision",
                         f->name);
    if ((unsigned)f->originals > PAUA_ORIGINALS_NONE)
        return error_set(err, PAUA_EINVAL, "vector field \"%s\": unknown kind of originals",
                         f->name);
    if (f->originals == PAUA_ORIGINALS_NONE && originals_needed(from, i))
        return error_set(err, PAUA_EINVAL,
                         "vector field \"%s\": originals are needed by fp32, by fp16, without an "
                         "index, and where they are the key; keep them, or choose otherwise",
                         f->name);
    strcpy(field->name, f->name);
    field->dim = f->dim;
    field->metric = f->metric == PAUA_METRIC_DEFAULT ? PAUA_COSINE : f->metric;
    field->precision = f->precision;
    field->originals = f->originals;
    if (f->originals == PAUA_ORIGINALS_DEFAULT)
        field->originals = f->precision == PAUA_FP16 ? PAUA_ORIGINALS_FP16 : PAUA_ORIGINALS_FP32;
    return PAUA_OK;
}

static paua_status schema_take(const char *name, const paua_schema *from, struct schema *to,
                               paua_error *err)
{
    if (name == NULL || !schema_name_valid(name))
        return error_set(err, PAUA_EINVAL,
                         "the collection's name must be 1 to %u bytes of UTF-8 without control "
                         "characters",
                         PAUA_NAME_NBYTES_MAX);
    if (from == NULL || from->size < sizeof *from)
        return error_set(err, PAUA_EINVAL, "paua_schema.size is not set");
    if ((unsigned)from->key_kind > PAUA_KEY_VECTOR || (unsigned)from->document > PAUA_DOCUMENT_NONE)
        return error_set(err, PAUA_EINVAL, "unknown kind of key or document");
    if (from->fields == NULL || from->field_count < 1 || from->field_count > PAUA_VECTOR_FIELDS_MAX)
        return error_set(err, PAUA_EINVAL, "a collection has 1 to %u vector fields, not %zu",
                         PAUA_VECTOR_FIELDS_MAX, from->field_count);
    *to = (struct schema){.key_kind = from->key_kind,
                          .document = from->document,
                          .columns = from->dynamic || from->column_count > 0,
                          .dynamic = from->dynamic,
                          .field_count = (uint32_t)from->field_count};
    strcpy(to->name, name);
    for (size_t i = 0; i < from->field_count; i++) {
        paua_status status = field_take(from, i, to, err);
        if (status != PAUA_OK) return status;
    }
    return PAUA_OK;
}

/* Inside a write transaction: numbers the collection and stores its schema and first head. */
static paua_status schema_store(struct catalog *catalog, struct schema *schema, struct head *first,
                                paua_error *err)
{
    struct search_name s = {.name = schema->name, .err = err};
    struct head head = {.next_row = 1, .tail_first_row = 1, .first_sequence = 1};
    struct writer w = {0};
    uint64_t number;
    paua_status status = schemas_scan(catalog, &s);

    if (status != PAUA_OK) return status;
    if (s.found)
        return error_set(err, PAUA_EEXISTS, "collection \"%s\" exists already; drop it first",
                         schema->name);
    status = catalog_number_take(catalog, META_NEXT_COLLECTION, 1, &number, err);
    if (status != PAUA_OK) return status;
    if (number > CATALOG_COLLECTION_MAX)
        return error_set(err, PAUA_ENOTSUP, "this database has numbered %u collections already",
                         CATALOG_COLLECTION_MAX);
    schema->collection = head.collection = (uint32_t)number;
    head.field_count = schema->field_count;
    if (schema_encode(schema, &w) != PAUA_OK) status = error_set_nomem(err);
    if (status == PAUA_OK)
        status = catalog_put(catalog, TABLE_COLLECTION, number, w.bytes, w.length, err);
    if (status == PAUA_OK) status = head_put(catalog, &head, err);
    writer_free(&w);
    if (status == PAUA_OK) *first = head;
    return status;
}

/* One commit stores the collection, whose number and first head it decides, and its indexes. */
static paua_status create_commit(struct paua_collection *c, paua_error *err)
{
    struct index_list *indexes = c->view->indexes;
    struct field_list *fields = c->view->fields;
    paua_status status = db_begin(c->db, err);

    if (status != PAUA_OK) return status;
    status = schema_store(c->db->writer, &c->schema, &c->view->head, err);
    for (uint32_t i = 0; i < indexes->count && status == PAUA_OK; i++) {
        indexes->items[i].collection = c->schema.collection;
        status = index_store(c->db->writer, &indexes->items[i], err);
    }
    for (uint32_t i = 0; i < field_list_count(fields) && status == PAUA_OK; i++) {
        fields->items[i].field.collection = c->schema.collection;
        status = field_store(c->db->writer, &fields->items[i], err);
    }
    if (status == PAUA_OK && fields != NULL) {
        c->view->head.segments_digest = view_digest(c->view);
        status = head_put(c->db->writer, &c->view->head, err);
    }
    return db_finish(c->db, status, err);
}

/* The fields that a schema declares. */
static paua_status fields_take(paua_db *db, const paua_schema *from, struct field_list **fields,
                               paua_error *err)
{
    struct field_list *list;
    paua_status status = PAUA_OK;

    if (from->column_count == 0) return PAUA_OK;
    if (from->columns == NULL || from->column_count > PAUA_FIELDS_MAX)
        return error_set(err, PAUA_EINVAL, "a collection has at most %u fields, not %zu",
                         PAUA_FIELDS_MAX, from->column_count);
    list = field_list_new((uint32_t)from->column_count);
    if (list == NULL) return error_set_nomem(err);
    for (size_t i = 0; i < from->column_count && status == PAUA_OK; i++) {
        status = field_define(db, list, &from->columns[i], &list->items[i], err);
        list->count++;
    }
    if (status == PAUA_OK)
        *fields = list;
    else
        field_list_unref(list);
    return status;
}

/* An index for each field that does not refuse one, named like it. */
static paua_status indexes_take(const paua_schema *from, const struct schema *schema,
                                struct index_list **indexes, paua_error *err)
{
    struct index_list *list = index_list_new(schema->field_count);
    uint32_t n = 0;

    if (list == NULL) return error_set_nomem(err);
    for (uint32_t f = 0; f < schema->field_count; f++) {
        paua_status status;

        if (from->fields[f].index.kind == PAUA_INDEX_NONE) continue;
        status = index_define(schema, f, schema->fields[f].name, &from->fields[f].index,
                              &list->items[n], err);
        if (status != PAUA_OK) {
            index_list_unref(list);
            return status;
        }
        list->items[n].number = n + 1;
        n++;
    }
    list->count = n;
    *indexes = list;
    return PAUA_OK;
}

/* The handle is made before the commit: after it nothing can fail. */
paua_status paua_collection_create(paua_db *db, const char *name, const paua_schema *schema,
                                   paua_collection **collection, paua_error *err)
{
    struct schema s;
    struct paua_collection *c;
    struct index_list *indexes = NULL;
    struct field_list *fields = NULL;
    paua_status status = db_check_writable(db, err);

    if (status == PAUA_OK) status = schema_take(name, schema, &s, err);
    if (status == PAUA_OK) status = fields_take(db, schema, &fields, err);
    if (status == PAUA_OK) status = indexes_take(schema, &s, &indexes, err);
    if (status != PAUA_OK) {
        field_list_unref(fields);
        return status;
    }
    c = collection_new(db, &s);
    if (c != NULL) c->view = view_new(&c->schema, &c->owner, 0);
    if (c == NULL || c->view == NULL) {
        index_list_unref(indexes);
        field_list_unref(fields);
        if (c != NULL) collection_free(c);
        return error_set_nomem(err);
    }
    c->view->indexes = indexes;
    c->view->fields = fields;
    status = create_commit(c, err);
    if (status != PAUA_OK) {
        collection_free(c);
        return status;
    }
    public_indexes_set(c);
    db_settle(db); /* a failure poisons; the collection is there */
    *collection = list_add_or_share(c);
    return PAUA_OK;
}

struct list {
    char (*names)[PAUA_NAME_NBYTES_MAX + 1];
    size_t count;
    size_t capacity;
    bool failed;
};

static void list_add(void *arg, const char *name)
{
    struct list *list = arg;

    if (list->failed || mem_grow((void **)&list->names, &list->capacity, list->count + 1,
                                 sizeof list->names[0]) != 0)
        list->failed = true;
    else
        strcpy(list->names[list->count++], name);
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

paua_status paua_collection_list(paua_db *db, void (*each)(void *arg, const char *name), void *arg,
                                 paua_error *err)
{
    struct list list = {0};
    struct search_name s = {.each = list_add, .each_arg = &list, .err = err};
    paua_status status = db_check(db, err);

    if (status != PAUA_OK) return status;
    status = schemas_scan(db_lock_reader(db), &s);
    db_unlock_reader(db);
    if (status == PAUA_OK && list.failed) status = error_set_nomem(err);
    if (status == PAUA_OK && list.count > 0) {
        qsort(list.names, list.count, sizeof list.names[0], by_name);
        for (size_t i = 0; i < list.count; i++)
            each(arg, list.names[i]);
    }
    mem_free(list.names);
    return status;
}

const paua_schema *paua_collection_schema(const paua_collection *collection)
{
    return &collection->public_schema;
}

const char *paua_collection_name(const paua_collection *collection)
{
    return collection->schema.name;
}
