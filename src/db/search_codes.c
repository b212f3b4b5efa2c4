/* search_codes.c - see search_codes.h.
 *
 * Candidates come from a walk through the graph, or from a scan of codes: where there is no graph,
 * where few rows are allowed (looking at their codes costs less than walking past the others, and
 * finds all of them), and where a walk ends with fewer rows than are wanted. Their distances by the
 * walk plane are refined by the refine plane, and with `rescore` the best are compared with their
 * originals: first a few more than k, which also shows by how much the codes err, then those that
 * may still be among the k within three standard deviations of that.
 *
 * Dead rows are bridges: the walk goes through them, with a longer list of candidates. */
#include "db/search_codes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/vectors.h"
#include "index/copies.h"
#include "kernel/keys.h"

#define SCAN_ROWS 256u    /* ids that one call of a kernel takes */
#define REFINE_ROWS 64u   /* rows refined at once */
#define REFINE_AHEAD 256u /* rows whose refine codes are fetched ahead */
#define RESCORE_ROWS 16u  /* originals read at once: they stay in the first cache */
#define EF_DEAD_MAX 4u    /* at most so many times longer lists because of dead rows */
#define RESCORE_EXTRA 8u  /* originals compared first: k and so many more */
#define RESCORE_SIGMAS 3.0
#define ALIGNMENT 64u

void code_scratch_free(struct code_scratch *scratch)
{
    walk_free(&scratch->walk);
    model_scratch_free(&scratch->model);
    mem_free(scratch->values);
    mem_free(scratch->keys);
    mem_free(scratch->hits);
    mem_free(scratch->rows);
    *scratch = (struct code_scratch){0};
}

static uint32_t steps_most(const struct model *model)
{
    uint32_t walk = model->walk.layout.step_count, refine = model->refine.layout.step_count;

    return walk > refine ? walk : refine;
}

/* Room for queries against this model. */
static bool model_reserve(struct code_scratch *s, const struct model *model)
{
    uint32_t steps = steps_most(model);

    if (s->model_dim == model->dim && s->model_steps >= steps) return true;
    model_scratch_free(&s->model);
    mem_free(s->values);
    s->model_dim = 0;
    s->values = mem_aligned(ALIGNMENT, (size_t)steps * 3 * CODE_LINE_NBYTES);
    if (s->values == NULL || !model_scratch_init(&s->model, model)) return false;
    s->model_dim = model->dim;
    s->model_steps = steps;
    return true;
}

static bool rows_reserve(struct code_scratch *s, size_t nbytes)
{
    if (s->rows_nbytes >= nbytes) return true;
    mem_free(s->rows);
    s->rows_nbytes = 0;
    s->rows = mem_aligned(ALIGNMENT, nbytes);
    if (s->rows == NULL) return false;
    s->rows_nbytes = nbytes;
    return true;
}

static bool reserve(const struct code_search *search, struct code_scratch *s)
{
    const struct model *model = &search->source.codes->model;
    size_t refine = (size_t)REFINE_ROWS * model->refine.layout.nbytes + CODE_SLACK_NBYTES;
    size_t originals =
        RESCORE_ROWS * schema_row_nbytes(&search->segment->schema->fields[search->field]);

    return model_reserve(s, model) && rows_reserve(s, refine > originals ? refine : originals) &&
           mem_grow((void **)&s->keys, &s->keys_capacity, 2 * (size_t)search->ef + SCAN_ROWS + 8,
                    sizeof s->keys[0]) == 0;
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t t = *a;

    *a = *b;
    *b = t;
}

/* Moves the `keep` smallest of n keys to the front (Hoare's selection; keys differ). */
static void keys_select(uint64_t *keys, size_t n, size_t keep)
{
    size_t low = 0, high = n;

    while (high - low > 1 && low < keep && keep < high) {
        uint64_t pivot = keys[low + (high - low) / 2];
        size_t i = low, j = high - 1;

        for (;;) {
            while (keys[i] < pivot)
                i++;
            while (keys[j] > pivot)
                j--;
            if (i >= j) break;
            swap(&keys[i++], &keys[j--]);
        }
        if (keep <= i)
            high = i;
        else
            low = i;
    }
}

/* Moves the k smallest to the front, and what is as near as the last of them: their order among
 * each other is not by row. Returns how many. */
static size_t keys_best(uint64_t *keys, size_t n, size_t k)
{
    uint64_t last = 0;
    size_t end = k;

    keys_select(keys, n, k);
    for (size_t i = 0; i < k; i++)
        last = keys[i] > last ? keys[i] : last;
    for (size_t i = k; i < n; i++)
        if (keys[i] >> 32 == last >> 32) swap(&keys[i], &keys[end++]);
    return end;
}

/* The next rows of a bitmap, from row *at on: at most SCAN_ROWS ids. */
static uint32_t bits_next(const uint64_t *bits, uint32_t rows, uint32_t *at, uint32_t *ids)
{
    uint32_t n = 0;

    while (n < SCAN_ROWS && *at < rows) {
        uint64_t word = bits[*at / 64] >> *at % 64;

        if (word == 0) {
            *at = (*at | 63) + 1;
            continue;
        }
        *at += (uint32_t)__builtin_ctzll(word);
        ids[n++] = (*at)++;
    }
    return n;
}

/* The next rows that may be found, from *at on: at most SCAN_ROWS ids. */
static uint32_t ids_next(const struct code_search *search, uint32_t *at, uint32_t *ids)
{
    const struct allowed *allowed = search->allowed;
    uint32_t n = 0;

    if (allowed != NULL && allowed->rows == NULL)
        return bits_next(allowed->bits, search->segment->rows, at, ids);
    if (allowed != NULL) {
        while (n < SCAN_ROWS && *at < allowed->count)
            ids[n++] = allowed->rows[(*at)++];
        return n;
    }
    for (; n < SCAN_ROWS && *at < search->segment->rows; ++*at)
        if (search->deleted == NULL || !roaring_bitmap_contains(search->deleted, *at))
            ids[n++] = *at;
    return n;
}

/* Compares every code that may be found and keeps the best ef. */
static size_t candidates_scan(const struct code_search *search, struct code_scratch *s,
                              const struct code_query *query)
{
    const struct code_kernels *kernels = code_kernels_best();
    uint32_t ids[SCAN_ROWS], at = 0, n;
    size_t count = 0;
    float bound = INFINITY;

    while ((n = ids_next(search, &at, ids)) > 0) {
        count +=
            kernels->keys_below(&search->source.codes->walk, query, ids, n, bound, s->keys + count);
        if (count < 2 * (size_t)search->ef) continue;
        keys_select(s->keys, count, search->ef);
        count = search->ef;
        bound = 0;
        for (size_t i = 0; i < count; i++)
            if (i == 0 || code_key_distance(s->keys[i]) > bound)
                bound = code_key_distance(s->keys[i]);
    }
    if (count <= search->ef) return count;
    keys_select(s->keys, count, search->ef);
    return search->ef;
}

/* Of a row that a walk met. */
static bool may_be_found(const struct code_search *search, uint32_t row)
{
    if (search->allowed != NULL) return (search->allowed->bits[row / 64] >> row % 64 & 1) != 0;
    return search->deleted == NULL || !roaring_bitmap_contains(search->deleted, row);
}

/* Lists must be longer where many of their members are dead. */
static uint32_t ef_walked(const struct code_search *search, uint64_t live)
{
    uint64_t rows = search->segment->rows, ef = search->ef;

    if (search->allowed == NULL && live < rows)
        ef = ef * rows / live < ef * EF_DEAD_MAX ? ef * rows / live : ef * EF_DEAD_MAX;
    return (uint32_t)(ef < rows ? ef : rows);
}

/* Walks, past rows that are not allowed; they are not in the pool, so ef is what it is without. */
static size_t walk(const struct code_search *search, struct code_scratch *s,
                   const struct code_query *query, uint32_t ef)
{
    const struct graph *graph = search->source.graph;
    const struct code_plane *plane = &search->source.codes->walk;
    struct walk_allowed allowed;

    if (search->allowed == NULL) return graph_walk(graph, plane, query, ef, &s->walk);
    allowed = (struct walk_allowed){search->allowed->bits, search->allowed->seeds,
                                    search->allowed->seed_count};
    return graph_walk_allowed(graph, plane, query, ef, &allowed, &s->walk);
}

/* The rows that a walk finds, and their copies; *count may be less than is wanted. */
static paua_status candidates_walk(const struct code_search *search, struct code_scratch *s,
                                   const struct code_query *query, uint64_t live, size_t *count,
                                   paua_error *err)
{
    const struct graph *graph = search->source.graph;
    uint32_t ef = ef_walked(search, live);
    size_t n = 0, kept;

    if (!walk_reserve(&s->walk, graph, ef)) return error_set_nomem(err);
    kept = walk(search, s, query, ef);
    if (mem_grow((void **)&s->keys, &s->keys_capacity, 2 * (kept + graph->copy_count),
                 sizeof s->keys[0]) != 0)
        return error_set_nomem(err);
    for (size_t i = 0; i < kept; i++) {
        uint64_t key = s->walk.pool[i] & ~UINT64_C(1);
        uint32_t row = code_key_id(key), copies = 0;
        const struct graph_copy *first = NULL;

        if (graph->copy_count > 0) copies = copies_of(graph, row, &first);
        if (may_be_found(search, row)) s->keys[n++] = key;
        for (uint32_t c = 0; c < copies; c++)
            if (may_be_found(search, first[c].row))
                s->keys[n++] = code_key(code_key_distance(key), first[c].row);
    }
    *count = n;
    return PAUA_OK;
}

static paua_status candidates(const struct code_search *search, struct code_scratch *s,
                              const struct code_query *query, size_t *count, paua_error *err)
{
    uint64_t dead = search->deleted == NULL ? 0 : roaring_bitmap_get_cardinality(search->deleted);
    uint64_t live = search->segment->rows - dead;
    size_t wanted = search->k < live ? search->k : (size_t)live;
    paua_status status;

    *count = 0;
    if (live == 0) return PAUA_OK;
    if (search->allowed != NULL && search->allowed->count < wanted) wanted = search->allowed->count;
    if (search->walk && search->source.graph != NULL && search->ef < live) {
        status = candidates_walk(search, s, query, live, count, err);
        if (status != PAUA_OK || *count >= wanted) return status;
        if (search->short_walks != NULL) atomic_fetch_add(search->short_walks, 1);
    }
    *count = candidates_scan(search, s, query);
    return PAUA_OK;
}

/* A block of candidates by their addresses. */
struct block {
    const uint8_t *walk[REFINE_ROWS], *refine[REFINE_ROWS];
    const float *walk_factors[REFINE_ROWS], *refine_factors[REFINE_ROWS];
    float distances[REFINE_ROWS];
};

static paua_status block_gather(const struct codes *codes, struct code_scratch *s, size_t first,
                                size_t n, struct block *block, paua_error *err)
{
    size_t walk_nbytes = codes->walk.layout.nbytes, nbytes = codes->model.refine.layout.nbytes;
    paua_status status = PAUA_OK;

    for (size_t i = 0; i < n && status == PAUA_OK; i++) {
        size_t row = code_key_id(s->keys[first + i]);

        block->walk[i] = codes->walk.codes + row * walk_nbytes;
        block->walk_factors[i] = codes->walk.factors + row * CODE_FACTORS;
        block->distances[i] = code_key_distance(s->keys[first + i]);
        if (nbytes == 0) continue;
        status =
            codes_refine_row(codes, (uint32_t)row, s->rows + i * nbytes, &block->refine[i], err);
        if (status != PAUA_OK) return status;
        block->refine_factors[i] = codes->refine_factors + row * CODE_FACTORS;
        __builtin_prefetch(block->walk_factors[i]);
        __builtin_prefetch(block->refine_factors[i]);
    }
    return status;
}

/* Fetches what the refine plane holds of the candidates first .. end - 1 of count into the second
 * cache. Inlined by force: gcc drops calls of a function that only prefetches. */
static inline __attribute__((always_inline)) void refine_fetch(const struct codes *codes,
                                                               const uint64_t *keys, size_t first,
                                                               size_t end, size_t count)
{
    size_t nbytes = codes->model.refine.layout.nbytes;

    if (codes->refine == NULL) return;
    for (size_t i = first; i < end && i < count; i++) {
        size_t row = code_key_id(keys[i]);

        __builtin_prefetch(codes->refine_factors + row * CODE_FACTORS, 0, 2);
        for (size_t at = 0; at < nbytes; at += CODE_LINE_NBYTES)
            __builtin_prefetch(codes->refine + row * nbytes + at, 0, 2);
    }
}

/* Exchanges the walk plane's distances in the keys for better ones. */
static paua_status refine(const struct code_search *search, struct code_scratch *s, size_t count,
                          paua_error *err)
{
    const struct codes *codes = search->source.codes;
    bool plane = codes->model.refine.layout.nbytes > 0;
    size_t room = (size_t)s->model_steps * CODE_LINE_NBYTES;
    struct refine_query query = {.refine.values = s->values + room,
                                 .missed.values = s->values + 2 * room};
    struct block block;
    const struct refine_rows rows = {block.walk, block.walk_factors, plane ? block.refine : NULL,
                                     plane ? block.refine_factors : NULL};

    refine_fetch(codes, s->keys, 0, REFINE_AHEAD, count); /* while the query is multiplied */
    model_query_refine(&codes->model, &s->model, &query);
    for (size_t done = 0, n; done < count; done += n) {
        size_t later = done + REFINE_AHEAD;
        paua_status status;

        n = count - done < REFINE_ROWS ? count - done : REFINE_ROWS;
        refine_fetch(codes, s->keys, later, later + n, count);
        status = block_gather(codes, s, done, n, &block, err);
        if (status != PAUA_OK) return status;
        model_refine(&codes->model, &query, &rows, n, block.distances);
        for (size_t i = 0; i < n; i++)
            s->keys[done + i] = code_key(block.distances[i], code_key_id(s->keys[done + i]));
    }
    return PAUA_OK;
}

/* Exact distances of n candidates, from the map. */
static paua_status rescore_mapped(const struct code_search *search, struct code_scratch *s,
                                  size_t first, size_t n, paua_error *err)
{
    size_t nbytes = schema_row_nbytes(&search->segment->schema->fields[search->field]);
    const uint8_t *rows[RESCORE_ROWS];
    struct writer unmapped = {0};
    paua_status status = PAUA_OK;

    for (size_t i = 0; i < n; i++) {
        uint32_t at;
        struct part_data *part =
            segment_part(search->segment, code_key_id(s->keys[first + i]), &at);

        if (!data_file_mapped(part->vectors[search->field])) {
            status = vectors_read_row(search->segment, search->field,
                                      code_key_id(s->keys[first + i]), s->rows + i * nbytes, err);
            rows[i] = s->rows + i * nbytes;
        } else {
            status = part_vectors(part, search->field, at, 1, &unmapped, &rows[i], err);
        }
        if (status != PAUA_OK) return status;
        __builtin_prefetch(rows[i]);
        __builtin_prefetch(rows[i] + CODE_LINE_NBYTES);
    }
    for (size_t i = 0; i < n; i++)
        flat_distances(search->query, rows[i], nbytes, 1, &s->hits[first + i].distance);
    return PAUA_OK;
}

/* Exact distances of n candidates, by pread. */
static paua_status rescore_read(const struct code_search *search, struct code_scratch *s,
                                size_t first, size_t n, paua_error *err)
{
    size_t nbytes = schema_row_nbytes(&search->segment->schema->fields[search->field]);
    double distances[RESCORE_ROWS];

    for (size_t i = 0; i < n; i++) {
        paua_status status =
            vectors_read_row(search->segment, search->field, code_key_id(s->keys[first + i]),
                             s->rows + i * nbytes, err);

        if (status != PAUA_OK) return status;
    }
    flat_distances(search->query, s->rows, nbytes, (uint32_t)n, distances);
    for (size_t i = 0; i < n; i++)
        s->hits[first + i].distance = distances[i];
    return PAUA_OK;
}

/* Exact distances of the candidates first .. end - 1. */
static paua_status rescore_range(const struct code_search *search, struct code_scratch *s,
                                 size_t first, size_t end, paua_error *err)
{
    paua_status status = PAUA_OK;

    for (size_t n; first < end && status == PAUA_OK; first += n) {
        n = end - first < RESCORE_ROWS ? end - first : RESCORE_ROWS;
        status = search->map_originals ? rescore_mapped(search, s, first, n, err)
                                       : rescore_read(search, s, first, n, err);
    }
    return status;
}

/* The estimate up to which a candidate may still be among the k nearest, when the first n have been
 * compared: the k-th exact distance, and what codes err by. The last n keys are scratch. */
static double rescore_bound(const struct code_search *search, struct code_scratch *s, size_t n)
{
    const struct model *model = &search->source.codes->model;
    double sum = 0, squares = 0, mean, kth = 0;
    uint64_t *order = s->keys + s->keys_capacity - n;

    for (size_t i = 0; i < n; i++) {
        double error = s->hits[i].distance - model_distance(model, code_key_distance(s->keys[i]));

        sum += error;
        squares += error * error;
        order[i] = code_key((float)s->hits[i].distance, (uint32_t)i);
    }
    keys_select(order, n, search->k);
    for (size_t i = 0; i < search->k; i++)
        if (i == 0 || code_key_distance(order[i]) > kth) kth = code_key_distance(order[i]);
    mean = sum / (double)n;
    squares = squares / (double)n - mean * mean;
    return kth - mean + RESCORE_SIGMAS * sqrt(squares > 0 ? squares : 0);
}

/* Compares the best of *n candidates with their originals; *n becomes how many. */
static paua_status rescore(const struct code_search *search, struct code_scratch *s, size_t *n,
                           paua_error *err)
{
    const struct model *model = &search->source.codes->model;
    size_t first = (size_t)search->k + RESCORE_EXTRA, end;
    double bound;
    paua_status status;

    if (*n <= first) return rescore_range(search, s, 0, *n, err);
    keys_select(s->keys, *n, first);
    status = rescore_range(search, s, 0, first, err);
    if (status != PAUA_OK) return status;
    bound = rescore_bound(search, s, first);
    end = first;
    for (size_t i = first; i < *n; i++)
        if (model_distance(model, code_key_distance(s->keys[i])) <= bound)
            swap(&s->keys[i], &s->keys[end++]);
    status = rescore_range(search, s, first, end, err);
    *n = end;
    return status;
}

paua_status search_codes(const struct code_search *search, struct code_scratch *scratch,
                         const struct code_hit **hits, size_t *count, paua_error *err)
{
    const struct model *model = &search->source.codes->model;
    struct code_query query;
    size_t n = 0;
    paua_status status;

    if (!reserve(search, scratch)) return error_set_nomem(err);
    model_query_walk(model, search->query->query, &scratch->model, scratch->values, &query);
    status = candidates(search, scratch, &query, &n, err);
    if (status == PAUA_OK) status = refine(search, scratch, n, err);
    if (status == PAUA_OK && mem_grow((void **)&scratch->hits, &scratch->hits_capacity, n + 1,
                                      sizeof scratch->hits[0]) != 0)
        status = error_set_nomem(err);
    if (status != PAUA_OK) return status;
    if (search->rescore) {
        status = rescore(search, scratch, &n, err);
    } else {
        if (n > search->k) n = keys_best(scratch->keys, n, search->k);
        assert(2 * n <= scratch->keys_capacity);
        keys_kernels_best()->sort(scratch->keys, n, scratch->keys + n);
    }
    for (size_t i = 0; i < n && status == PAUA_OK; i++) {
        scratch->hits[i].row = code_key_id(scratch->keys[i]);
        if (!search->rescore)
            scratch->hits[i].distance = model_distance(model, code_key_distance(scratch->keys[i]));
    }
    if (status != PAUA_OK) return status;
    *hits = scratch->hits;
    *count = n;
    return PAUA_OK;
}
