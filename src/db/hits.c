/* hits.c - paua_search and what it gives back. A paua_hits keeps its heaps, queries and snapshot,
 * so that searching again allocates nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "db/group_hits.h"
#include "db/plan.h"

#define EF_DEFAULT 200u

struct paua_hits {
    uint32_t forks; /* of the database last searched, which may be closed by now */
    struct view *view;
    size_t n;
    struct topk *best; /* capacity of them; n in use */
    size_t capacity;
    struct topk *spare;
    size_t spare_capacity;
    struct flat_query *queries;
    size_t query_capacity;
    float *scaled;
    size_t scaled_capacity;
    size_t *first; /* n + 1: index in keys of each query's hits */
    size_t first_capacity;
    struct key *keys;
    size_t key_capacity;
    struct arena arena; /* keys that are not in a map */
    struct writer scratch, document;
    struct search_workers workers;
    struct code_source *codes; /* one a segment */
    size_t codes_capacity;
    paua_plan plan;
};

paua_status paua_hits_open(paua_hits **hits, paua_error *err)
{
    paua_hits *h = mem_zalloc(1, sizeof *h);

    if (h == NULL) return error_set_nomem(err);
    *hits = h;
    return PAUA_OK;
}

static void heaps_free(struct topk *heaps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        topk_free(&heaps[i]);
    mem_free(heaps);
}

void paua_hits_close(paua_hits *hits)
{
    if (hits == NULL) return;
    heaps_free(hits->best, hits->capacity);
    heaps_free(hits->spare, hits->spare_capacity);
    mem_free(hits->queries);
    mem_free(hits->scaled);
    mem_free(hits->first);
    mem_free(hits->keys);
    search_workers_free(&hits->workers);
    mem_free(hits->codes);
    arena_free(&hits->arena);
    writer_free(&hits->scratch);
    writer_free(&hits->document);
    view_unref(hits->view);
    mem_free(hits);
}

static paua_status opts_check(const paua_search_opts *opts, paua_error *err)
{
    if (opts == NULL || opts->size < sizeof *opts)
        return error_set(err, PAUA_EINVAL, "paua_search_opts.size is not set");
    if (opts->k == 0 || opts->k > INT32_MAX)
        return error_set(err, PAUA_EINVAL, "k is %u; ask for 1 to %d rows", opts->k, INT32_MAX);
    if ((unsigned)opts->metric > PAUA_COSINE)
        return error_set(err, PAUA_EINVAL, "unknown metric %d", (int)opts->metric);
    if (opts->has_radius && isnan(opts->radius))
        return error_set(err, PAUA_EINVAL, "the radius is NaN; give a number");
    return PAUA_OK;
}

static paua_status field_find(const struct schema *schema, const char *name, uint32_t *field,
                              paua_error *err)
{
    *field = 0;
    if (name == NULL) return PAUA_OK;
    for (uint32_t f = 0; f < schema->field_count; f++)
        if (strcmp(schema->fields[f].name, name) == 0) {
            *field = f;
            return PAUA_OK;
        }
    return error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has no vector field \"%s\"",
                     schema->name, name);
}

static paua_status queries_check(const struct schema_field *field, const float *queries, size_t n,
                                 size_t stride, paua_error *err)
{
    if (n > 0 && queries == NULL) return error_set(err, PAUA_EINVAL, "the queries are NULL");
    if (stride < field->dim)
        return error_set(err, PAUA_EINVAL, "a stride of %zu is less than the dimension %u", stride,
                         field->dim);
    for (size_t q = 0; q < n; q++) {
        size_t bad = kernels_best()->find_nonfinite(queries + q * stride, field->dim);

        if (bad < field->dim)
            return error_set_row(err, PAUA_EINVAL, q,
                                 "query %zu: component %zu is %s; give finite numbers", q, bad,
                                 isnan(queries[q * stride + bad]) ? "NaN" : "infinite");
    }
    return PAUA_OK;
}

/* Zeroed elements beyond those there were: heaps must start empty. */
static int heaps_grow(struct topk **heaps, size_t *capacity, size_t needed)
{
    size_t before = *capacity;

    if (mem_grow((void **)heaps, capacity, needed, sizeof(struct topk)) != 0) return -1;
    if (*capacity == before) return 0;
    memset(*heaps + before, 0, (*capacity - before) * sizeof(struct topk));
    return 0;
}

static paua_status queries_prepare(paua_hits *h, struct search *s, const float *queries, size_t n,
                                   size_t stride, paua_metric metric, paua_error *err)
{
    const struct schema_field *field = &s->view->schema->fields[s->field];

    if (mem_grow((void **)&h->queries, &h->query_capacity, n, sizeof h->queries[0]) != 0 ||
        mem_grow((void **)&h->scaled, &h->scaled_capacity, n * field->dim, sizeof(float)) != 0 ||
        mem_grow((void **)&h->first, &h->first_capacity, n + 1, sizeof h->first[0]) != 0 ||
        heaps_grow(&h->best, &h->capacity, n) != 0 ||
        heaps_grow(&h->spare, &h->spare_capacity, n * (s->threads - 1)) != 0)
        return error_set_nomem(err);
    for (size_t q = 0; q < n; q++)
        flat_query_init(&h->queries[q], queries + q * stride, field->dim,
                        metric == PAUA_METRIC_DEFAULT ? field->metric : metric,
                        field->originals == PAUA_ORIGINALS_FP16 ? PAUA_FP16 : PAUA_FP32,
                        h->scaled + q * field->dim);
    s->queries = h->queries;
    s->n = n;
    return PAUA_OK;
}

/* Keys of all hits: read now, so that looking at hits cannot fail. Where a key is not in a map or
 * in the tail's memory it is copied. */
static paua_status keys_load(paua_hits *h, const struct view *view, size_t n, paua_error *err)
{
    size_t total = 0;

    arena_reset(&h->arena);
    for (size_t q = 0; q < n; q++) {
        h->first[q] = total;
        total += h->best[q].count;
    }
    h->first[n] = total;
    if (mem_grow((void **)&h->keys, &h->key_capacity, total, sizeof h->keys[0]) != 0)
        return error_set_nomem(err);
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < h->best[q].count; i++) {
            struct candidate c = h->best[q].heap[i];
            struct key *key = &h->keys[h->first[q] + i];
            paua_status status =
                view_key(view, (struct place){c.source, c.row}, &h->scratch, key, err);

            if (status != PAUA_OK) return status;
            if (key->bytes != h->scratch.bytes) continue;
            key->bytes = arena_copy(&h->arena, key->bytes, key->nbytes);
            if (key->bytes == NULL) return error_set_nomem(err);
        }
    return PAUA_OK;
}

static uint32_t threads_of(const paua_search_opts *opts, size_t n)
{
    uint32_t cores = parallel_cores();

    if (opts->threads == 0) return n <= 1 ? 1 : cores;
    return opts->threads < 4 * cores ? opts->threads : 4 * cores;
}

static uint32_t ef_of(const paua_search_opts *opts)
{
    uint64_t ef = opts->ef != 0 ? opts->ef : 2 * (uint64_t)opts->k;

    if (opts->ef == 0 && ef < EF_DEFAULT) ef = EF_DEFAULT;
    if (ef < opts->k) ef = opts->k;
    return ef < UINT32_MAX ? (uint32_t)ef : UINT32_MAX;
}

/* The codes and graphs to search by: none if the search is exact, or in another metric. */
static paua_status codes_choose(paua_hits *h, struct search *s, const paua_search_opts *opts,
                                paua_error *err)
{
    const struct view *view = s->view;
    const struct schema_field *field = &view->schema->fields[s->field];
    const struct index_definition *d = index_list_find(view->indexes, s->field, opts->index);
    bool exact =
        opts->exact || (opts->metric != PAUA_METRIC_DEFAULT && opts->metric != field->metric);

    if (opts->index != NULL && (d == NULL || index_kind_is_values(d->kind) || d->field != s->field))
        return error_set(err, PAUA_ENOTFOUND,
                         "field \"%s\" has no index \"%s\"; paua index ls names those there are",
                         field->name, opts->index);
    s->codes = NULL;
    if (exact || d == NULL || view->segment_count == 0) return PAUA_OK;
    if (mem_grow((void **)&h->codes, &h->codes_capacity, view->segment_count, sizeof h->codes[0]) !=
        0)
        return error_set_nomem(err);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        const struct artifacts *artifacts = view->segments[i].artifacts;
        struct artifact_file *codes = artifacts_find(artifacts, s->field, 0);
        struct artifact_file *graph = artifacts_find(artifacts, s->field, d->number);
        paua_status status = PAUA_OK;

        h->codes[i] = (struct code_source){NULL, NULL};
        if (codes != NULL) status = artifact_codes(codes, &h->codes[i].codes, err);
        if (status == PAUA_OK && codes != NULL && graph != NULL)
            status = artifact_graph(graph, h->codes[i].codes, &h->codes[i].graph, err);
        if (status != PAUA_OK) return status;
        if (h->codes[i].codes != NULL) s->codes = h->codes;
    }
    s->ef = ef_of(opts);
    s->rescore = opts->refine || field->precision == PAUA_FP32 || field->precision == PAUA_FP16;
    return PAUA_OK;
}

/* Finds which rows may be found. */
static paua_status rows_choose(paua_hits *h, struct search *s, const paua_search_opts *opts,
                               paua_error *err)
{
    uint64_t start = clock_now_ns();
    paua_status status =
        allowed_find(s->view, opts->allowed, opts->filter, &s->allowed, &h->plan, err);

    if (status != PAUA_OK) return status;
    h->plan.filter_us = (double)(clock_now_ns() - start) / 1000;
    h->plan.rows = s->view->live_rows;
    h->plan.segments = s->view->segment_count;
    return PAUA_OK;
}

/* The field to group by, if any: groups->field is NULL without. */
static paua_status groups_choose(const struct search *s, const paua_search_opts *opts,
                                 struct grouping *groups, paua_error *err)
{
    *groups = (struct grouping){.most = opts->group_size != 0 ? opts->group_size : 1, .k = opts->k};
    if (opts->group_by == NULL) return PAUA_OK;
    groups->field = field_list_name(s->view->fields, opts->group_by, strlen(opts->group_by));
    if (groups->field == NULL)
        return error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has no field \"%s\" to group by",
                         s->view->schema->name, opts->group_by);
    return PAUA_OK;
}

static paua_status search_view(paua_hits *h, struct search *s, const float *queries, size_t n,
                               size_t stride, const paua_search_opts *opts, paua_error *err)
{
    _Atomic uint32_t short_walks = 0;
    struct grouping groups;
    paua_status status;

    status = queries_prepare(h, s, queries, n, stride, opts->metric, err);
    if (status == PAUA_OK) status = codes_choose(h, s, opts, err);
    if (status == PAUA_OK) status = groups_choose(s, opts, &groups, err);
    if (status == PAUA_OK) status = rows_choose(h, s, opts, err);
    if (status == PAUA_OK) status = plan_prepare(s, err);
    if (status == PAUA_OK) h->n = 0; /* what was found before is gone from here on */
    s->short_walks = &short_walks;
    if (status == PAUA_OK && n > 0 && groups.field == NULL)
        status = search_run(s, h->best, h->spare, &h->workers, err);
    groups.rows = h->plan.matched;
    if (status == PAUA_OK && n > 0 && groups.field != NULL)
        status = group_search(s, &groups, h->best, h->spare, &h->workers, err);
    if (status == PAUA_OK) plan_note(s, &h->plan); /* as the last round went */
    h->plan.walked_short = short_walks;
    allowed_free(s->view, s->allowed);
    if (status == PAUA_OK) status = keys_load(h, s->view, n, err);
    return status;
}

paua_status paua_search(paua_collection *collection, const float *queries, size_t n, size_t stride,
                        const paua_search_opts *opts, paua_hits *hits, paua_error *err)
{
    struct search s = {0};
    struct view *view;
    paua_status status;

    if (collection == NULL || hits == NULL)
        return error_set(err, PAUA_EINVAL, "the collection or the hits are NULL");
    status = db_check(collection->db, err);
    if (status == PAUA_OK) status = opts_check(opts, err);
    if (status == PAUA_OK) status = field_find(&collection->schema, opts->field, &s.field, err);
    if (status != PAUA_OK) return status;
    if (stride == 0) stride = collection->schema.fields[s.field].dim;
    status = queries_check(&collection->schema.fields[s.field], queries, n, stride, err);
    if (status == PAUA_OK) status = collection_view(collection, &view, err);
    if (status != PAUA_OK) return status;
    s.view = view;
    s.k = opts->k;
    s.has_radius = opts->has_radius;
    s.radius = opts->radius;
    s.timeout_ms = opts->timeout_ms;
    s.deadline_ns =
        opts->timeout_ms == 0 ? 0 : clock_now_ns() + UINT64_C(1000000) * opts->timeout_ms;
    s.cancel = opts->cancel;
    s.threads = threads_of(opts, n);
    s.map_originals = collection->db->opts.map_originals;
    status = search_view(hits, &s, queries, n, stride, opts, err);
    if (status != PAUA_OK) {
        view_unref(view);
        return status;
    }
    view_unref(hits->view);
    hits->forks = collection->db->forks;
    hits->view = view;
    hits->n = n;
    return PAUA_OK;
}

paua_status paua_hits_plan(const paua_hits *hits, paua_plan *plan, paua_error *err)
{
    paua_plan copy;

    if (hits == NULL || plan == NULL || plan->size < sizeof plan->size)
        return error_set(err, PAUA_EINVAL, "the hits are NULL, or paua_plan.size is not set");
    copy = hits->plan;
    copy.size = plan->size;
    memcpy(plan, &copy, plan->size < sizeof copy ? plan->size : sizeof copy);
    return PAUA_OK;
}

paua_status paua_hits_value(paua_hits *hits, size_t query, size_t i, const char *field,
                            paua_value *value, paua_error *err)
{
    const struct field *f;
    struct candidate c;
    struct cell cell;
    paua_status status;

    if (hits == NULL || field == NULL || query >= hits->n || i >= hits->best[query].count)
        return error_set(err, PAUA_EINVAL, "there is no hit %zu of query %zu", i, query);
    status = forks_check(hits->forks, err);
    if (status != PAUA_OK) return status;
    f = field_list_name(hits->view->fields, field, strlen(field));
    if (f == NULL)
        return error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has no field \"%s\"",
                         hits->view->schema->name, field);
    c = hits->best[query].heap[i];
    status = view_cell(hits->view, f->id, (struct place){c.source, c.row}, &cell, err);
    if (status == PAUA_OK) *value = value_of_cell(f->type, &cell);
    return status;
}

size_t paua_hits_queries(const paua_hits *hits) { return hits->n; }

size_t paua_hits_count(const paua_hits *hits, size_t query)
{
    return query < hits->n ? hits->best[query].count : 0;
}

paua_hit paua_hits_at(const paua_hits *hits, size_t query, size_t i)
{
    assert(query < hits->n && i < hits->best[query].count);
    return (paua_hit){key_public(hits->view->schema, hits->keys[hits->first[query] + i]),
                      hits->best[query].heap[i].distance};
}

paua_status paua_hits_document(paua_hits *hits, size_t query, size_t i, paua_bytes *document,
                               paua_error *err)
{
    struct candidate c;
    paua_status status;

    if (hits == NULL || query >= hits->n || i >= hits->best[query].count)
        return error_set(err, PAUA_EINVAL, "there is no hit %zu of query %zu", i, query);
    status = forks_check(hits->forks, err);
    if (status != PAUA_OK) return status;
    c = hits->best[query].heap[i];
    return view_document(hits->view, (struct place){c.source, c.row}, &hits->document, document,
                         err);
}
