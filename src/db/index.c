/* index.c - defining, dropping and listing indexes. What they consist of is built by
 * index_build.c. */
#include "db/index.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/left_behind.h"

#define DEGREE 64u
#define LIST 100u
#define OCCLUSION 750u
#define ALPHA 1.2f
#define DEGREE_MIN 4u
#define OCCLUSION_MAX 65536u

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value != 0 ? value : fallback;
}

static paua_status vamana_check(const struct index_definition *d, paua_error *err)
{
    if (d->degree < DEGREE_MIN || d->degree > PAUA_DEGREE_MAX)
        return error_set(err, PAUA_EINVAL, "index \"%s\": a degree of %u is not in %u to %u",
                         d->name, d->degree, DEGREE_MIN, PAUA_DEGREE_MAX);
    if (d->list < DEGREE_MIN || d->list > PAUA_LIST_MAX)
        return error_set(err, PAUA_EINVAL, "index \"%s\": a list of %u is not in %u to %u", d->name,
                         d->list, DEGREE_MIN, PAUA_LIST_MAX);
    if (d->occlusion < d->degree || d->occlusion > OCCLUSION_MAX)
        return error_set(err, PAUA_EINVAL,
                         "index \"%s\": an occlusion of %u is not in %u (the degree) to %u",
                         d->name, d->occlusion, d->degree, OCCLUSION_MAX);
    if (!(d->alpha >= 1 && d->alpha <= 2))
        return error_set(err, PAUA_EINVAL, "index \"%s\": an alpha of %g is not in 1 to 2", d->name,
                         (double)d->alpha);
    return PAUA_OK;
}

static paua_status named(const struct schema *schema, uint32_t field, const char *name,
                         paua_index_kind kind, struct index_definition *d, paua_error *err)
{
    if (name == NULL || !schema_name_valid(name))
        return error_set(err, PAUA_EINVAL,
                         "an index's name must be 1 to %u bytes of UTF-8 without control "
                         "characters",
                         PAUA_NAME_NBYTES_MAX);
    *d = (struct index_definition){.collection = schema->collection, .field = field, .kind = kind};
    strcpy(d->name, name);
    return PAUA_OK;
}

paua_status index_define(const struct schema *schema, uint32_t field, const char *name,
                         const paua_index_params *params, struct index_definition *definition,
                         paua_error *err)
{
    struct index_definition d;
    paua_index_kind kind = params->kind == PAUA_INDEX_DEFAULT ? PAUA_INDEX_VAMANA : params->kind;
    paua_status status = named(schema, field, name, kind, &d, err);

    if (status != PAUA_OK) return status;
    if (d.kind != PAUA_INDEX_VAMANA && d.kind != PAUA_INDEX_FLAT)
        return error_set(err, PAUA_EINVAL,
                         "index \"%s\": a field of vectors has no index of kind %d", name,
                         (int)params->kind);
    if (d.kind == PAUA_INDEX_VAMANA) {
        d.degree = or_default(params->degree, DEGREE);
        d.list = or_default(params->list, LIST);
        d.occlusion = or_default(params->occlusion, d.degree > OCCLUSION ? d.degree : OCCLUSION);
        d.alpha = params->alpha != 0 ? params->alpha : ALPHA;
        if (vamana_check(&d, err) != PAUA_OK) return PAUA_EINVAL;
    }
    *definition = d;
    return PAUA_OK;
}

paua_index_params index_params(const struct index_definition *definition)
{
    return (paua_index_params){definition->kind, definition->degree, definition->list,
                               definition->occlusion, definition->alpha};
}

paua_status index_store(struct catalog *catalog, const struct index_definition *definition,
                        paua_error *err)
{
    struct writer w = {0};
    paua_status status = index_definition_encode(definition, &w) != PAUA_OK
                             ? error_set_nomem(err)
                             : catalog_put(catalog, TABLE_INDEX,
                                           CATALOG_ID(definition->collection, definition->number),
                                           w.bytes, w.length, err);

    writer_free(&w);
    return status;
}

/* A copy of the view with another list of indexes, which it takes over, and a new generation. */
static struct view *view_with_list(const struct view *now, struct index_list *list)
{
    struct view *next = list == NULL ? NULL : view_copy(now);

    if (next == NULL) {
        index_list_unref(list);
        return NULL;
    }
    index_list_unref(next->indexes);
    next->indexes = list;
    next->head.generation++;
    return next;
}

static struct index_list *list_with(const struct index_list *old,
                                    const struct index_definition *added)
{
    uint32_t before = old == NULL ? 0 : old->count;
    struct index_list *list = index_list_new(before + 1);

    if (list == NULL) return NULL;
    if (before > 0) memcpy(list->items, old->items, before * sizeof list->items[0]);
    list->items[before] = *added;
    return list;
}

/* With write_mutex held: gives the definition its number and commits it. */
static paua_status define_commit(struct paua_collection *c, struct index_definition *d,
                                 paua_error *err)
{
    struct view *now = collection_peek(c), *next;
    paua_status status;

    if (index_list_find(now->indexes, UINT32_MAX, d->name) != NULL) {
        view_unref(now);
        return error_set(err, PAUA_EEXISTS, "there is an index \"%s\" already; drop it first",
                         d->name);
    }
    d->number = 1;
    for (uint32_t i = 0; now->indexes != NULL && i < now->indexes->count; i++)
        if (now->indexes->items[i].number >= d->number)
            d->number = now->indexes->items[i].number + 1;
    next = view_with_list(now, list_with(now->indexes, d));
    view_unref(now);
    if (next == NULL) return error_set_nomem(err);
    status = writer_begin_commit(c, err);
    if (status == PAUA_OK) {
        status = index_store(c->db->writer, d, err);
        if (status == PAUA_OK) status = catalog_put_view(c->db->writer, next, err);
        status = db_finish(c->db, status, err);
    }
    if (status != PAUA_OK) {
        view_unref(next);
        return status;
    }
    collection_publish(c, next);
    db_settle(c->db); /* a failure poisons; the index is defined */
    return PAUA_OK;
}

/* Which vector field is named; field_count of the schema: none. */
static uint32_t vector_field(const struct schema *schema, const char *name)
{
    uint32_t field = 0;

    while (name != NULL && field < schema->field_count &&
           strcmp(schema->fields[field].name, name) != 0)
        field++;
    return field;
}

/* An index of a field that is no vector; PAUA_INDEX_DEFAULT is SORTED. */
static paua_status values_define(const struct view *now, const char *field, const char *name,
                                 paua_index_kind kind, struct index_definition *d, paua_error *err)
{
    const struct field *f =
        field == NULL ? NULL : field_list_name(now->fields, field, strlen(field));

    if (f == NULL) {
        uint32_t vector = vector_field(now->schema, field);

        if (vector < now->schema->field_count)
            return error_set(err, PAUA_EINVAL,
                             "field \"%s\" holds vectors: its index can be vamana or flat",
                             now->schema->fields[vector].name);
        return error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has no field \"%s\"",
                         now->schema->name, field);
    }
    if (kind == PAUA_INDEX_DEFAULT) kind = PAUA_INDEX_SORTED;
    if (!index_kind_is_values(kind))
        return error_set(err, PAUA_EINVAL,
                         "field \"%s\" is no vector: its index can be bitmap or sorted", field);
    if (type_is_array(f->type))
        return error_set(err, PAUA_EINVAL, "field \"%s\": arrays have no index", field);
    return named(now->schema, f->id, name, kind, d, err);
}

/* With write_mutex held. Where a vector field and another share a name, the kind decides. */
static paua_status define(struct paua_collection *c, const char *field, const char *name,
                          const paua_index_params *params, paua_error *err)
{
    static const paua_index_params defaults = {.kind = PAUA_INDEX_DEFAULT};
    struct view *now = collection_peek(c);
    uint32_t vector = vector_field(&c->schema, field);
    struct index_definition d;
    paua_status status;

    if (params == NULL) params = &defaults;
    if (vector < c->schema.field_count && !index_kind_is_values(params->kind))
        status = index_define(&c->schema, vector, name, params, &d, err);
    else
        status = values_define(now, field, name, params->kind, &d, err);
    view_unref(now);
    return status == PAUA_OK ? define_commit(c, &d, err) : status;
}

paua_status paua_index_create(paua_collection *collection, const char *field, const char *name,
                              const paua_index_params *params, const paua_optimize_opts *opts,
                              paua_error *err)
{
    struct paua_collection *c = collection;
    paua_status status = c == NULL ? error_set(err, PAUA_EINVAL, "the collection handle is NULL")
                                   : db_check_writable(c->db, err);

    if (status == PAUA_OK && opts != NULL && opts->size < sizeof *opts)
        status = error_set(err, PAUA_EINVAL, "paua_optimize_opts.size is not set");
    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&c->optimize_mutex);
    status = writer_lock(c, err);
    if (status == PAUA_OK) {
        status = define(c, field, name, params, err);
        pthread_mutex_unlock(&c->write_mutex);
    }
    if (status == PAUA_OK) status = index_build(c, PAUA_INDEX_ROWS_MIN, opts, err);
    pthread_mutex_unlock(&c->optimize_mutex);
    return status;
}

/* What a drop takes: the definition, its graphs, and the codes if no other index needs them. */
struct dropping {
    struct paua_collection *c;
    const struct index_definition *d;
    struct view *now, *next;
    bool last; /* of its field */
};

static paua_status view_without(struct dropping *drop, paua_error *err)
{
    struct index_list *old = drop->now->indexes, *list = index_list_new(old->count);
    uint32_t kept = 0;

    drop->last = !index_kind_is_values(drop->d->kind) &&
                 drop->now->schema->fields[drop->d->field].originals != PAUA_ORIGINALS_NONE;
    for (uint32_t i = 0; list != NULL && i < old->count; i++) {
        if (&old->items[i] == drop->d) continue;
        list->items[kept++] = old->items[i];
        if (!index_kind_is_values(old->items[i].kind) && old->items[i].field == drop->d->field)
            drop->last = false;
    }
    if (list != NULL) list->count = kept;
    drop->next = view_with_list(drop->now, list);
    for (uint32_t i = 0; drop->next != NULL && i < drop->next->segment_count; i++) {
        struct view_segment *slot = &drop->next->segments[i];
        const uint32_t gone[] = {drop->d->number, 0};

        for (int g = 0; g < (drop->last ? 2 : 1) && slot->artifacts != NULL; g++) {
            struct artifacts *left = artifacts_without(slot->artifacts, drop->d->field, gone[g]);

            if (left == NULL) return error_set_nomem(err);
            artifacts_unref(slot->artifacts);
            slot->artifacts = left;
        }
    }
    return drop->next == NULL ? error_set_nomem(err) : PAUA_OK;
}

static paua_status drop_commit(struct dropping *drop, paua_error *err)
{
    paua_db *db = drop->c->db;
    uint64_t id = CATALOG_ID(drop->d->collection, drop->d->number);
    paua_status status = writer_begin_commit(drop->c, err);

    if (status != PAUA_OK) return status;
    status = catalog_delete(db->writer, TABLE_INDEX, id, id, err);
    if (status == PAUA_OK) status = left_behind_delete(db->writer, drop->now, drop->next, err);
    if (status == PAUA_OK) status = catalog_put_view(db->writer, drop->next, err);
    return db_finish(db, status, err);
}

/* With write_mutex held. */
static paua_status drop_named(struct paua_collection *c, const char *name, paua_error *err)
{
    struct dropping drop = {.c = c, .now = collection_peek(c)};
    paua_status status;

    drop.d = index_list_find(drop.now->indexes, UINT32_MAX, name);
    status = drop.d == NULL ? error_set(err, PAUA_ENOTFOUND,
                                        "collection \"%s\" has no index \"%s\"; paua index ls "
                                        "names those there are",
                                        c->schema.name, name)
                            : view_without(&drop, err);
    if (status == PAUA_OK) status = drop_commit(&drop, err);
    if (status == PAUA_OK) {
        collection_publish(c, view_ref(drop.next));
        if (db_settle(c->db) == PAUA_OK) left_behind_unlink(c->db->dir, drop.now, drop.next);
    }
    view_unref(drop.next);
    view_unref(drop.now);
    return status;
}

paua_status paua_index_drop(paua_collection *collection, const char *name, paua_error *err)
{
    struct paua_collection *c = collection;
    paua_status status = c == NULL || name == NULL
                             ? error_set(err, PAUA_EINVAL, "the collection or the name is NULL")
                             : db_check_writable(c->db, err);

    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&c->optimize_mutex);
    status = writer_lock(c, err);
    if (status == PAUA_OK) {
        status = drop_named(c, name, err);
        pthread_mutex_unlock(&c->write_mutex);
    }
    pthread_mutex_unlock(&c->optimize_mutex);
    return status;
}

static void values_add(const struct view_segment *slot, const struct index_definition *d,
                       paua_index *index)
{
    const struct artifact_file *values = artifacts_find(slot->artifacts, d->field, d->number);
    uint32_t rows = slot->segment->rows;

    if (values == NULL) {
        if (rows > PAUA_INDEX_ROWS_MIN) index->rows_due += rows;
        return;
    }
    index->rows += rows;
    index->values_nbytes += values->record.file.nbytes;
}

/* Adds what one segment holds for an index. */
static paua_status segment_add(const struct view_segment *slot, const struct index_definition *d,
                               paua_index *index, paua_error *err)
{
    struct artifact_file *codes = artifacts_find(slot->artifacts, d->field, 0), *graph = NULL;
    uint32_t rows = slot->segment->rows;
    const struct codes *c;
    paua_status status;

    if (index_kind_is_values(d->kind)) {
        values_add(slot, d, index);
        return PAUA_OK;
    }
    if (d->kind == PAUA_INDEX_VAMANA) graph = artifacts_find(slot->artifacts, d->field, d->number);
    if (codes == NULL || (d->kind == PAUA_INDEX_VAMANA && graph == NULL)) {
        if (rows > PAUA_INDEX_ROWS_MIN) index->rows_due += rows;
    } else {
        index->rows += rows;
    }
    if (graph != NULL) index->graph_nbytes += graph->record.file.nbytes;
    if (codes == NULL) return PAUA_OK;
    status = artifact_codes(codes, &c, err);
    if (status != PAUA_OK) return status;
    index->walk_nbytes += (uint64_t)rows * c->model.walk.layout.nbytes;
    index->refine_nbytes += (uint64_t)rows * c->model.refine.layout.nbytes;
    index->factor_nbytes +=
        codes->record.file.nbytes -
        (uint64_t)rows * (c->model.walk.layout.nbytes + c->model.refine.layout.nbytes);
    return PAUA_OK;
}

static const char *indexed_name(const struct view *view, const struct index_definition *d)
{
    if (index_kind_is_values(d->kind)) return field_list_id(view->fields, d->field)->name;
    return view->schema->fields[d->field].name;
}

paua_status paua_index_list(paua_collection *collection,
                            void (*each)(void *arg, const paua_index *index), void *arg,
                            paua_error *err)
{
    struct view *view;
    paua_status status = collection == NULL || each == NULL
                             ? error_set(err, PAUA_EINVAL, "the collection or callback is NULL")
                             : db_check(collection->db, err);

    if (status == PAUA_OK) status = collection_view(collection, &view, err);
    if (status != PAUA_OK) return status;
    for (uint32_t i = 0; view->indexes != NULL && i < view->indexes->count; i++) {
        const struct index_definition *d = &view->indexes->items[i];
        paua_index index = {
            .name = d->name, .field = indexed_name(view, d), .params = index_params(d)};

        for (uint32_t s = 0; s < view->segment_count && status == PAUA_OK; s++)
            status = segment_add(&view->segments[s], d, &index, err);
        if (status != PAUA_OK) break;
        each(arg, &index);
    }
    view_unref(view);
    return status;
}
