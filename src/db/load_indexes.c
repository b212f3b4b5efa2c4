/* load_indexes.c - see load_indexes.h.
 *
 * Codes, graphs and ordered values are derived, so a record of one whose segment is not there is
 * passed over; `paua check` names it. A damaged record or file is an error: a search that silently
 * became slow would help nobody. */
#include "db/load_indexes.h"

#include "base/error.h"
#include "base/memory.h"
#include "db/vectors.h"

struct loading {
    struct dir *dir;
    struct artifact_opts opts;
    const struct view *old;
    struct view *view;
    struct index_definition *definitions;
    size_t definition_count, definition_capacity;
    paua_error *err;
};

static paua_status undecoded(struct loading *l, paua_status status, const char *what)
{
    if (status == PAUA_ENOMEM) return error_set_nomem(l->err);
    if (status == PAUA_EVERSION)
        return error_set(l->err, status, "collection \"%s\" was written by a newer paua; upgrade",
                         l->view->schema->name);
    return error_set(l->err, PAUA_ECORRUPT,
                     "%s: collection \"%s\": %s; run paua check, restore from a backup",
                     CATALOG_NAME, l->view->schema->name, what);
}

static paua_status definition_each(void *arg, uint64_t id, paua_bytes record)
{
    struct loading *l = arg;
    const struct schema *schema = l->view->schema;
    struct index_definition d;
    paua_status status = index_definition_decode(record.data, record.nbytes, &d);

    if (status != PAUA_OK) return undecoded(l, status, "the record of an index is damaged");
    if (CATALOG_ID(d.collection, d.number) != id ||
        (index_kind_is_values(d.kind) ? field_list_id(l->view->fields, d.field) == NULL
                                      : d.field >= schema->field_count))
        return undecoded(l, PAUA_ECORRUPT, "the record of an index is not its own");
    if (mem_grow((void **)&l->definitions, &l->definition_capacity, l->definition_count + 1,
                 sizeof d) != 0)
        return error_set_nomem(l->err);
    l->definitions[l->definition_count++] = d;
    return PAUA_OK;
}

static struct view_segment *segment_of(const struct loading *l, uint64_t number)
{
    for (uint32_t i = 0; i < l->view->segment_count; i++)
        if (l->view->segments[i].segment->manifest.segment == number) return &l->view->segments[i];
    return NULL;
}

static struct artifact_file *artifact_reuse(const struct loading *l, const struct artifact *record)
{
    for (uint32_t i = 0; l->old != NULL && i < l->old->segment_count; i++) {
        const struct artifacts *a = l->old->segments[i].artifacts;

        for (uint32_t j = 0; a != NULL && j < a->count; j++)
            if (a->files[j]->record.file.number == record->file.number &&
                a->files[j]->record.file.footer_crc == record->file.footer_crc &&
                a->files[j]->record.segment == record->segment)
                return artifact_ref(a->files[j]);
    }
    return NULL;
}

/* Is it an index's, of the field that its definition says? */
static bool values_defined(const struct loading *l, const struct artifact *a)
{
    for (size_t i = 0; i < l->definition_count; i++)
        if (l->definitions[i].number == a->index)
            return index_kind_is_values(l->definitions[i].kind) &&
                   l->definitions[i].field == a->field;
    return false;
}

/* Is it made of what its segment has now? */
static bool source_agrees(const struct view_segment *slot, const struct artifact *a)
{
    if (a->rows != slot->segment->rows) return false;
    if (a->values) return a->source_digest == slot->columns_ref.footer_crc;
    return a->index != 0 || a->source_digest == vectors_digest(slot->segment, a->field);
}

static paua_status artifact_each(void *arg, uint64_t id, paua_bytes record)
{
    struct loading *l = arg;
    const struct schema *schema = l->view->schema;
    struct artifact_file *file;
    struct artifacts *with;
    struct view_segment *slot;
    struct artifact a;
    paua_status status = artifact_decode(record.data, record.nbytes, &a);

    if (status != PAUA_OK)
        return undecoded(l, status, "the record of codes or an index is damaged");
    if (CATALOG_ID(a.collection, a.file.number) != id ||
        (a.values ? !values_defined(l, &a) : a.field >= schema->field_count))
        return undecoded(l, PAUA_ECORRUPT, "the record of codes or an index is not its own");
    slot = segment_of(l, a.segment);
    if (slot == NULL) return PAUA_OK;
    if (!source_agrees(slot, &a))
        return undecoded(l, PAUA_ECORRUPT, "codes or an index are not those of their segment");
    file = artifact_reuse(l, &a);
    if (file == NULL) status = artifact_open(l->dir, schema, &a, l->opts, &file, l->err);
    if (status != PAUA_OK) return status;
    with = artifacts_with(slot->artifacts, file);
    if (with == NULL) {
        artifact_unref(file);
        return error_set_nomem(l->err);
    }
    artifacts_unref(slot->artifacts);
    slot->artifacts = with;
    return PAUA_OK;
}

/* A record of this collection among those of another, or one that none could read: on a damaged
 * page a record may have another id, and would be passed over. No collection has the number 0. */
static paua_status stray(struct loading *l, uint64_t id, paua_status decoded, uint32_t collection)
{
    uint32_t ours = l->view->schema->collection, number = (uint32_t)(id >> 40);

    if (number == ours) return PAUA_OK; /* loaded above */
    if (decoded == PAUA_OK ? collection != ours : number != 0) return PAUA_OK;
    return undecoded(l, PAUA_ECORRUPT, "the record of codes or an index is not in its place");
}

static paua_status stray_definition_each(void *arg, uint64_t id, paua_bytes record)
{
    struct index_definition d = {.collection = 0};
    paua_status decoded = index_definition_decode(record.data, record.nbytes, &d);

    return stray(arg, id, decoded, d.collection);
}

static paua_status stray_artifact_each(void *arg, uint64_t id, paua_bytes record)
{
    struct artifact a = {.collection = 0};
    paua_status decoded = artifact_decode(record.data, record.nbytes, &a);

    return stray(arg, id, decoded, a.collection);
}

/* Vectors that gave way to codes: a snapshot older than the codes finds neither, and is retaken. */
static paua_status originals_check(struct loading *l)
{
    const struct schema *schema = l->view->schema;

    for (uint32_t i = 0; i < l->view->segment_count; i++)
        for (uint32_t f = 0; f < schema->field_count; f++)
            if (schema->fields[f].originals == PAUA_ORIGINALS_NONE &&
                artifacts_find(l->view->segments[i].artifacts, f, 0) == NULL &&
                !segment_has_vectors(l->view->segments[i].segment, f))
                return undecoded(l, PAUA_ECORRUPT, "a segment has neither vectors nor codes");
    return PAUA_OK;
}

paua_status load_indexes(struct catalog *catalog, struct dir *dir, struct artifact_opts opts,
                         const struct view *old, struct view *view, paua_error *err)
{
    struct loading l = {.dir = dir, .opts = opts, .old = old, .view = view, .err = err};
    uint64_t first = CATALOG_ID(view->schema->collection, 0);
    uint64_t last = CATALOG_ID(view->schema->collection, CATALOG_LOW_MAX);
    paua_status status = catalog_each(catalog, TABLE_INDEX, first, last, definition_each, &l, err);

    if (status == PAUA_OK)
        status = catalog_each(catalog, TABLE_ARTIFACT, first, last, artifact_each, &l, err);
    /* Once is enough: a reader that follows a writer would pass over all collections' each time. */
    if (status == PAUA_OK && old == NULL)
        status = catalog_each(catalog, TABLE_INDEX, 0, INT64_MAX, stray_definition_each, &l, err);
    if (status == PAUA_OK && old == NULL)
        status = catalog_each(catalog, TABLE_ARTIFACT, 0, INT64_MAX, stray_artifact_each, &l, err);
    if (status == PAUA_OK) status = originals_check(&l);
    if (status == PAUA_OK && l.definition_count > 0) {
        view->indexes = index_list_new((uint32_t)l.definition_count);
        if (view->indexes == NULL) status = error_set_nomem(err);
        for (size_t i = 0; i < l.definition_count && status == PAUA_OK; i++)
            view->indexes->items[i] = l.definitions[i];
    }
    mem_free(l.definitions);
    return status;
}
