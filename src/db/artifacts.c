/* artifacts.c - see artifacts.h. */
#include "db/artifacts.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/files.h"

paua_status artifact_open(struct dir *dir, const struct schema *schema,
                          const struct artifact *record, struct artifact_opts opts,
                          struct artifact_file **artifact, paua_error *err)
{
    struct artifact_file *a = mem_zalloc(1, sizeof *a);
    struct file_header header = files_artifact_header(schema, record);
    paua_status status;

    if (a == NULL) return error_set_nomem(err);
    status = data_file_open_sealed(dir, &header, &record->file, opts.file, &a->file, err);
    if (status == PAUA_OK && data_file_row_count(a->file) != record->rows) {
        status = data_file_refuse(a->file, "does not hold the rows of its segment", err);
        data_file_unref(a->file);
    }
    if (status != PAUA_OK) {
        mem_free(a);
        return status;
    }
    a->refs = 1;
    a->record = *record;
    a->lean = opts.lean;
    pthread_mutex_init(&a->mutex, NULL);
    *artifact = a;
    return PAUA_OK;
}

struct artifact_file *artifact_ref(struct artifact_file *artifact)
{
    atomic_fetch_add(&artifact->refs, 1);
    return artifact;
}

void artifact_unref(struct artifact_file *artifact)
{
    if (artifact == NULL || atomic_fetch_sub(&artifact->refs, 1) != 1) return;
    codes_unref(atomic_load(&artifact->codes));
    graph_file_unref(atomic_load(&artifact->graph));
    value_index_unref(atomic_load(&artifact->values));
    data_file_unref(artifact->file);
    pthread_mutex_destroy(&artifact->mutex);
    mem_free(artifact);
}

paua_status artifact_codes(struct artifact_file *artifact, const struct codes **codes,
                           paua_error *err)
{
    struct codes *opened = atomic_load_explicit(&artifact->codes, memory_order_acquire);
    paua_status status = PAUA_OK;

    if (opened == NULL) {
        pthread_mutex_lock(&artifact->mutex);
        opened = atomic_load(&artifact->codes);
        if (opened == NULL) {
            status = codes_open(artifact->file, artifact->lean, &opened, err);
            if (status == PAUA_OK && opened->source_digest != artifact->record.source_digest) {
                codes_unref(opened);
                status = data_file_refuse(artifact->file, "has the codes of other vectors", err);
            }
            if (status == PAUA_OK) atomic_store(&artifact->codes, opened);
        }
        pthread_mutex_unlock(&artifact->mutex);
    }
    if (status == PAUA_OK) *codes = opened;
    return status;
}

static paua_status graph_first(struct artifact_file *artifact, const struct codes *codes,
                               struct graph_file **opened, paua_error *err)
{
    paua_status status = graph_file_open(artifact->file, codes->rows, opened, err);

    if (status == PAUA_OK && (*opened)->codes_crc != artifact->record.source_digest) {
        graph_file_unref(*opened);
        status = data_file_refuse(artifact->file, "is a graph over other codes", err);
    }
    return status;
}

paua_status artifact_graph(struct artifact_file *artifact, const struct codes *codes,
                           const struct graph **graph, paua_error *err)
{
    struct graph_file *opened = atomic_load_explicit(&artifact->graph, memory_order_acquire);
    paua_status status = PAUA_OK;

    if (opened == NULL) {
        pthread_mutex_lock(&artifact->mutex);
        opened = atomic_load(&artifact->graph);
        if (opened == NULL) {
            status = graph_first(artifact, codes, &opened, err);
            if (status == PAUA_OK) atomic_store(&artifact->graph, opened);
        }
        pthread_mutex_unlock(&artifact->mutex);
    }
    if (status == PAUA_OK) *graph = &opened->graph;
    return status;
}

paua_status artifact_values(struct artifact_file *artifact, const struct value_index **values,
                            paua_error *err)
{
    struct value_index *opened = atomic_load_explicit(&artifact->values, memory_order_acquire);
    paua_status status = PAUA_OK;

    if (opened == NULL) {
        pthread_mutex_lock(&artifact->mutex);
        opened = atomic_load(&artifact->values);
        if (opened == NULL) {
            status = value_index_open(artifact->file, artifact->record.rows, &opened, err);
            if (status == PAUA_OK && opened->columns_crc != artifact->record.source_digest) {
                value_index_unref(opened);
                status = data_file_refuse(artifact->file, "is an index of other values", err);
            }
            if (status == PAUA_OK) atomic_store(&artifact->values, opened);
        }
        pthread_mutex_unlock(&artifact->mutex);
    }
    if (status == PAUA_OK) *values = opened;
    return status;
}

struct artifacts *artifacts_new(uint32_t count)
{
    struct artifacts *a = mem_zalloc(1, sizeof *a + count * sizeof a->files[0]);

    if (a == NULL) return NULL;
    a->refs = 1;
    a->count = count;
    return a;
}

struct artifacts *artifacts_ref(struct artifacts *artifacts)
{
    if (artifacts != NULL) atomic_fetch_add(&artifacts->refs, 1);
    return artifacts;
}

void artifacts_unref(struct artifacts *artifacts)
{
    if (artifacts == NULL || atomic_fetch_sub(&artifacts->refs, 1) != 1) return;
    for (uint32_t i = 0; i < artifacts->count; i++)
        artifact_unref(artifacts->files[i]);
    mem_free(artifacts);
}

struct artifacts *artifacts_with(const struct artifacts *artifacts, struct artifact_file *added)
{
    uint32_t before = artifacts == NULL ? 0 : artifacts->count;
    struct artifacts *a = artifacts_new(before + 1);

    if (a == NULL) return NULL;
    for (uint32_t i = 0; i < before; i++)
        a->files[i] = artifact_ref(artifacts->files[i]);
    a->files[before] = added;
    return a;
}

struct artifacts *artifacts_without(const struct artifacts *artifacts, uint32_t field,
                                    uint32_t index)
{
    struct artifacts *a = artifacts_new(artifacts->count);
    uint32_t kept = 0;

    if (a == NULL) return NULL;
    for (uint32_t i = 0; i < artifacts->count; i++) {
        const struct artifact *record = &artifacts->files[i]->record;

        if (record->field != field || record->index != index)
            a->files[kept++] = artifact_ref(artifacts->files[i]);
    }
    a->count = kept;
    return a;
}

struct artifacts *artifacts_without_values(const struct artifacts *artifacts, uint32_t field)
{
    struct artifacts *a = artifacts_new(artifacts->count);
    uint32_t kept = 0;

    if (a == NULL) return NULL;
    for (uint32_t i = 0; i < artifacts->count; i++) {
        const struct artifact *record = &artifacts->files[i]->record;

        if (!record->values || (field != 0 && record->field != field))
            a->files[kept++] = artifact_ref(artifacts->files[i]);
    }
    a->count = kept;
    return a;
}

struct artifact_file *artifacts_find(const struct artifacts *artifacts, uint32_t field,
                                     uint32_t index)
{
    for (uint32_t i = 0; artifacts != NULL && i < artifacts->count; i++) {
        const struct artifact *record = &artifacts->files[i]->record;

        if (record->field == field && record->index == index) return artifacts->files[i];
    }
    return NULL;
}

struct index_list *index_list_new(uint32_t count)
{
    struct index_list *list = mem_zalloc(1, sizeof *list + count * sizeof list->items[0]);

    if (list == NULL) return NULL;
    list->refs = 1;
    list->count = count;
    return list;
}

struct index_list *index_list_ref(struct index_list *list)
{
    if (list != NULL) atomic_fetch_add(&list->refs, 1);
    return list;
}

void index_list_unref(struct index_list *list)
{
    if (list != NULL && atomic_fetch_sub(&list->refs, 1) == 1) mem_free(list);
}

const struct index_definition *index_list_find(const struct index_list *list, uint32_t field,
                                               const char *name)
{
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        const struct index_definition *d = &list->items[i];

        if (name != NULL ? strcmp(d->name, name) == 0
                         : !index_kind_is_values(d->kind) && d->field == field)
            return d;
    }
    return NULL;
}

void artifact_unlink(struct dir *dir, const struct artifact *record)
{
    files_unlink(dir, record->file.number, artifact_file_kind(record));
}
