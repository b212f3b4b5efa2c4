/* index_build.c - building the codes, graphs and ordered values that definitions ask for.
 *
 * Each file is built off to the side, from a view that the builder holds, and published by its own
 * commit; a crash in between leaves a file for the sweep. Segments do not change meanwhile, since
 * merges, builds and drops of indexes exclude each other (optimize_mutex); new ones may be sealed
 * behind them. What was built is what is published: a graph is built over the codes as they lie in
 * their file. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "db/files.h"
#include "db/index.h"
#include "db/originals.h"
#include "db/vectors.h"
#include "index/copies.h"

struct building {
    struct paua_collection *c;
    const paua_optimize_opts *opts; /* may be NULL */
    struct view *view;
    const struct segment *segment;
    uint32_t field;
};

/* What a segment lacks. */
struct lacking {
    uint32_t slot; /* in the view; UINT32_MAX: nothing is lacking */
    uint32_t field;
    const struct index_definition *definition; /* NULL: codes */
    bool originals;                            /* nothing but their end is lacking */
};

/* Of the segments whose rows have ids below rows_end. */
static struct lacking first_lacking(const struct view *view, uint32_t rows_min, uint64_t rows_end)
{
    for (uint32_t s = 0; view->indexes != NULL && s < view->segment_count; s++) {
        const struct view_segment *slot = &view->segments[s];

        if (slot->segment->rows <= rows_min) continue;
        if (slot->segment->manifest.parts[0].first_row >= rows_end) continue;
        for (uint32_t i = 0; i < view->indexes->count; i++) {
            const struct index_definition *d = &view->indexes->items[i];

            if (index_kind_is_values(d->kind)) {
                if (artifacts_find(slot->artifacts, d->field, d->number) == NULL)
                    return (struct lacking){s, d->field, d, false};
                continue;
            }
            if (artifacts_find(slot->artifacts, d->field, 0) == NULL)
                return (struct lacking){s, d->field, NULL, false};
            if (d->kind == PAUA_INDEX_VAMANA &&
                artifacts_find(slot->artifacts, d->field, d->number) == NULL)
                return (struct lacking){s, d->field, d, false};
        }
        for (uint32_t f = 0; f < view->schema->field_count; f++)
            if (originals_due(slot, f)) return (struct lacking){s, f, NULL, true};
    }
    return (struct lacking){.slot = UINT32_MAX};
}

bool index_build_due(const struct view *view, uint32_t rows_min)
{
    return first_lacking(view, rows_min, UINT64_MAX).slot != UINT32_MAX;
}

static uint32_t threads_of(const paua_optimize_opts *opts)
{
    return opts != NULL && opts->threads != 0 ? opts->threads : parallel_cores();
}

static paua_status rows_read(void *arg, uint32_t first, uint32_t n, float *rows, paua_error *err)
{
    const struct building *b = arg;

    return vectors_read(b->segment, b->field, first, n, rows, err);
}

static paua_status codes_build(struct building *b, struct artifact *artifact, paua_error *err)
{
    const struct schema *schema = b->view->schema;
    const struct schema_field *f = &schema->fields[b->field];
    struct model_source source = {.rows = rows_read,
                                  .arg = b,
                                  .count = b->segment->rows,
                                  .dim = f->dim,
                                  .metric = f->metric,
                                  .precision = f->precision,
                                  .threads = threads_of(b->opts),
                                  .cancel = b->opts == NULL ? NULL : b->opts->cancel};
    struct codes_target target = {.dir = b->c->db->dir,
                                  .header = files_artifact_header(schema, artifact),
                                  .source_digest = vectors_digest(b->segment, b->field)};

    if (b->opts != NULL) {
        target.progress = b->opts->progress;
        target.progress_arg = b->opts->progress_arg;
    }
    artifact->source_digest = target.source_digest;
    return codes_write(&target, &source, &artifact->file, err);
}

static paua_status graph_make(struct building *b, const struct index_definition *d,
                              const struct codes *codes, struct artifact *artifact, paua_error *err)
{
    struct graph_build_opts opts = {
        .params = {d->degree, d->list, d->occlusion, d->alpha},
        .threads = threads_of(b->opts),
        .cancel = b->opts == NULL ? NULL : b->opts->cancel,
    };
    struct file_header header = files_artifact_header(b->view->schema, artifact);
    struct graph_copy *copies = NULL;
    uint32_t *neighbours = NULL;
    struct graph graph;
    paua_status status = copies_find(&codes->walk, codes->rows, &copies, &opts.copy_count, err);

    if (status != PAUA_OK) return status;
    opts.copies = copies;
    if (b->opts != NULL) {
        opts.progress = b->opts->progress;
        opts.progress_arg = b->opts->progress_arg;
    }
    status = graph_build(&codes->model, &codes->walk, codes->rows, &opts, &graph, &neighbours, err);
    if (status == PAUA_OK)
        status = graph_file_write(b->c->db->dir, &header, &graph, &opts.params,
                                  (uint32_t)artifact->source_digest, &artifact->file, err);
    mem_free(neighbours);
    mem_free(copies);
    return status;
}

static paua_status graph_build_over(struct building *b, const struct index_definition *d,
                                    struct artifact_file *file, struct artifact *artifact,
                                    paua_error *err)
{
    struct codes *codes;
    paua_status status = codes_open(file->file, true, &codes, err); /* no refine codes */

    if (status != PAUA_OK) return status;
    artifact->source_digest = file->record.file.footer_crc;
    status = graph_make(b, d, codes, artifact, err);
    codes_unref(codes);
    return status;
}

static paua_status values_build(struct building *b, const struct view_segment *slot,
                                const struct index_definition *d, struct artifact *artifact,
                                paua_error *err)
{
    struct file_header header = files_artifact_header(b->view->schema, artifact);
    struct value_index_source source = {.rows = slot->segment->rows,
                                        .columns_crc = slot->columns_ref.footer_crc,
                                        .kind = d->kind,
                                        .cancel = b->opts == NULL ? NULL : b->opts->cancel};
    paua_status status = PAUA_OK;

    artifact->source_digest = source.columns_crc;
    if (slot->columns != NULL)
        status = column_file_column(slot->columns, d->field, &source.view, err);
    if (status != PAUA_OK) return status;
    return value_index_write(b->c->db->dir, &header, &source, &artifact->file, err);
}

static paua_status record_put(struct catalog *catalog, const struct artifact *artifact,
                              struct view *next, paua_error *err)
{
    struct writer w = {0};
    paua_status status = artifact_encode(artifact, &w) != PAUA_OK
                             ? error_set_nomem(err)
                             : catalog_put(catalog, TABLE_ARTIFACT,
                                           CATALOG_ID(artifact->collection, artifact->file.number),
                                           w.bytes, w.length, err);

    writer_free(&w);
    return status == PAUA_OK ? catalog_put_view(catalog, next, err) : status;
}

/* The current view with the file added to its segment. Takes the file's reference over. */
static paua_status view_with_file(const struct building *b, struct artifact_file *file,
                                  struct view **next, paua_error *err)
{
    struct view *now = collection_peek(b->c), *n = view_copy(now);
    struct artifacts *with = NULL;
    uint32_t at = 0;

    view_unref(now);
    if (n != NULL) {
        while (n->segments[at].segment != b->segment)
            at++;
        with = artifacts_with(n->segments[at].artifacts, file);
    }
    if (with == NULL) {
        artifact_unref(file);
        view_unref(n);
        return error_set_nomem(err);
    }
    artifacts_unref(n->segments[at].artifacts);
    n->segments[at].artifacts = with;
    n->head.generation++;
    *next = n;
    return PAUA_OK;
}

/* With write_mutex held. */
static paua_status publish_locked(struct building *b, const struct artifact *artifact,
                                  paua_error *err)
{
    struct paua_collection *c = b->c;
    struct artifact_file *file = NULL;
    struct view *next = NULL;
    paua_status status = db_check_writable(c->db, err);

    if (status == PAUA_OK && !atomic_load(&c->writing))
        status =
            error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has been dropped", c->schema.name);
    if (status == PAUA_OK)
        status =
            artifact_open(c->db->dir, &c->schema, artifact, db_artifact_opts(c->db), &file, err);
    if (status == PAUA_OK) status = view_with_file(b, file, &next, err);
    if (status != PAUA_OK) return status;
    status = writer_begin_commit(c, err);
    if (status == PAUA_OK)
        status = db_finish(c->db, record_put(c->db->writer, artifact, next, err), err);
    if (status == PAUA_OK)
        collection_publish(c, next);
    else
        view_unref(next);
    return status;
}

static paua_status build_one(struct building *b, const struct lacking *l, paua_error *err)
{
    const struct view_segment *slot = &b->view->segments[l->slot];
    struct artifact artifact = {.collection = b->view->schema->collection,
                                .segment = slot->segment->manifest.segment,
                                .field = l->field,
                                .index = l->definition == NULL ? 0 : l->definition->number,
                                .values = l->definition != NULL &&
                                          index_kind_is_values(l->definition->kind),
                                .rows = slot->segment->rows};
    paua_status status = db_file_numbers(b->c->db, 1, &artifact.file.number, err);

    if (status != PAUA_OK) return status;
    b->segment = slot->segment;
    b->field = l->field;
    if (l->definition == NULL)
        status = codes_build(b, &artifact, err);
    else if (artifact.values)
        status = values_build(b, slot, l->definition, &artifact, err);
    else
        status = graph_build_over(b, l->definition, artifacts_find(slot->artifacts, l->field, 0),
                                  &artifact, err);
    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&b->c->write_mutex);
    status = publish_locked(b, &artifact, err);
    pthread_mutex_unlock(&b->c->write_mutex);
    if (status != PAUA_OK && !db_poisoned(b->c->db)) artifact_unlink(b->c->db->dir, &artifact);
    return status;
}

paua_status index_build(struct paua_collection *c, uint32_t rows_min,
                        const paua_optimize_opts *opts, paua_error *err)
{
    uint64_t rows_end = 0; /* what is sealed meanwhile waits, or a busy writer would keep us here */
    paua_status status = PAUA_OK;

    while (status == PAUA_OK) {
        struct building b = {.c = c, .opts = opts, .view = collection_peek(c)};
        struct lacking l;

        if (rows_end == 0) rows_end = b.view->head.tail_first_row;
        l = first_lacking(b.view, rows_min, rows_end);
        if (l.slot == UINT32_MAX) {
            view_unref(b.view);
            break;
        }
        if (l.originals)
            status = originals_drop(c, b.view->segments[l.slot].segment, l.field, err);
        else
            status = build_one(&b, &l, err);
        view_unref(b.view);
    }
    return status;
}
