/* graph_build.c - a graph in batches, the same for any number of threads.
 *
 * Batches   rows are inserted in batches that double from 1 to a two hundredth of all (a fiftieth
 *           costs up to .002 of coverage). Each row of a batch searches the graph as it was before
 *           the batch, with its own code as the query, and chooses its list from what that walk
 *           read. Nobody names these rows yet, so their lists are written without locks. Then the
 *           edges are turned round, sorted by target, and each target's list is extended by one
 *           thread. Nothing depends on who did what when.
 * Order     rows are taken at a fixed stride of about 0.618 of all, around the end: every batch is
 *           an even sample even when rows come in sorted.
 * Slack     lists have 1.25 x degree places while they grow, and are pruned when those are used up,
 *           so that most turned edges cost nothing; at the end all are pruned to the degree, packed
 *           in place, and the rest is given back.
 * Metric    the search's own: D of the model, never an added dimension.
 * Products  Inner product alone names the same few long rows everywhere, and walks come to no
 *           others: .71 of the true were covered where the mean drifts, .82 in clusters at degree
 *           5. So half of a list, 16 at most, is chosen by l2 between the codes, from a walk of its
 *           own: .997 and .96. The rest obeys alpha 1, since ratios of products say nothing, and is
 *           filled with the nearest. By l2 alone, lognormal norms would be lost (.19).
 * Fill      lists of long rows are filled to half of their degree, of short rows whole: comparing
 *           these is cheap, and tight clusters of them are covered to .966 instead of .920.
 * Entry     the row of the least aux, nearest to the mean, under l2 and cosine: |z|^2 is aux, or
 *           aux and a constant. The longest row under inner product: the nearest to most.
 * Memory    places and 2 bytes a row, 16 more under inner product; 10 more in the repair; short
 *           rows' codes as bytes (graph_plane.c); for a batch 16 bytes an edge.
 * Cost      100,000 rows, degree 64, list 100, codes of 128 bytes: some 12 s of one core; half
 *           of it walks, half pruning. Short rows take no longer.
 * Rejected  locks on lists (order would depend on timing), a second pass (no gain), edges' lengths
 *           kept with them (4 bytes an edge to save a tenth of the time).
 *
 * Source: Vamana, Subramanya et al., NeurIPS 2019; batches: ParlayANN, Manohar et al., PPoPP 2024,
 * section 3. */
#include "index/graph_build.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

#define BATCH_SHARE 200u
#define BATCH_SHARE_SMALL 50u /* while batches are below BATCH_SMALL: threads must pay */
#define BATCH_SMALL 32u
#define BATCH_MAX 16384u
#define ROWS_PIECE 4u /* taken by a worker at once */
#define EDGES_PIECE 512u
#define RADIX_BITS_MAX 11u
#define THREADS_MAX 256u
#define TINY_ROWS 1001u    /* that medians are taken of */
#define LONG_SQUARE 256.0F /* times the median: rows whose -D(x, x) is greater are too long */
#define NEAR_MOST 16u      /* of a list by l2, under inner product */

void builder_set_count(struct builder *b, uint32_t row, uint32_t count)
{
    uint32_t *list = builder_list(b, row);

    assert(count <= b->stride);
    for (size_t i = count; i < walk_lines(count); i++)
        list[i] = row;
    b->counts[row] = (uint16_t)count;
}

paua_status builder_check(const struct builder *b, paua_error *err)
{
    const paua_cancel *cancel = b->opts->cancel;

    if (cancel != NULL && __atomic_load_n(&cancel->requested, __ATOMIC_RELAXED) != 0)
        return error_set(err, PAUA_ECANCELED, "building the graph was canceled");
    return PAUA_OK;
}

/* ---- inserting a batch ---- */

/* What a walk for the row reads, by the pruner's distances, to the keys of w->prune; how many. */
static size_t walk_for(const struct builder *b, const struct pruner *p, uint32_t row,
                       struct build_worker *w)
{
    struct walk_lists lists = builder_lists(b);
    struct code_query query;
    size_t n, out;

    prune_query(p, row, &w->prune, &query);
    w->trail.count = 0;
    n = walk_lists_search(&lists, p->plane, &query, b->list, &w->trail, &w->walk);
    memcpy(w->prune.keys, w->walk.pool, n * sizeof *w->walk.pool);
    /* Backwards the trail goes on where the pool ends. */
    out = w->trail.count < w->trail.mask + 1 ? w->trail.count : w->trail.mask + 1;
    for (size_t i = 1; i <= out; i++)
        w->prune.keys[n++] = w->trail.keys[(w->trail.count - i) & w->trail.mask];
    return n;
}

/* Appends those ids that the list does not have, up to degree. */
static uint32_t append_new(const struct builder *b, uint32_t *list, uint32_t count,
                           const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n && count < b->degree; i++) {
        bool found = false;

        for (uint32_t j = 0; j < count; j++)
            found |= list[j] == ids[i];
        if (!found) list[count++] = ids[i];
    }
    return count;
}

/* Under inner product: makes room in a list of count for near rows, from n keys of w->prune; what
 * is left out comes back where near rows are few. */
static uint32_t add_near(const struct builder *b, size_t n, struct build_worker *w, uint32_t *list,
                         uint32_t count)
{
    uint32_t kept = b->degree - b->near.degree, *near = w->chosen, *rest = w->chosen + b->degree;
    uint32_t near_count = prune_choose(&b->near, n, &w->prune, near), rest_count;

    if (kept > count) kept = count;
    rest_count = count - kept;
    memcpy(rest, list + kept, rest_count * sizeof *rest);
    count = append_new(b, list, kept, near, near_count);
    return append_new(b, list, count, rest, rest_count);
}

static void insert_row(struct builder *b, uint32_t row, struct build_worker *w)
{
    uint32_t *list = builder_list(b, row), count;

    count = prune_choose(&b->prune, walk_for(b, &b->prune, row, w), &w->prune, list);
    if (b->near.degree > 0) count = add_near(b, walk_for(b, &b->near, row, w), w, list, count);
    builder_set_count(b, row, count);
}

static void insert_work(void *arg, uint32_t worker)
{
    struct builder *b = arg;
    size_t first;

    while ((first = atomic_fetch_add(&b->cursor, ROWS_PIECE)) < b->batch_count)
        for (size_t i = first; i < first + ROWS_PIECE && i < b->batch_count; i++)
            insert_row(b, b->batch[i], &b->workers[worker]);
}

/* ---- edges turned round ---- */

/* Sorts by target, stable. */
static void sort_edges(struct builder *b)
{
    uint32_t used = 1, passes, bits, starts[1u << RADIX_BITS_MAX];

    while (used < 32 && (b->rows - 1) >> used != 0)
        used++;
    passes = (used + RADIX_BITS_MAX - 1) / RADIX_BITS_MAX;
    bits = (used + passes - 1) / passes;
    for (uint32_t pass = 0; pass < passes; pass++) {
        uint64_t *from = b->edges, *to = b->edges_spare;
        uint32_t shift = 32 + pass * bits, mask = (1u << bits) - 1, at = 0;

        memset(starts, 0, sizeof starts);
        for (size_t i = 0; i < b->edge_count; i++)
            starts[from[i] >> shift & mask]++;
        for (uint32_t i = 0; i <= mask; i++) {
            uint32_t n = starts[i];

            starts[i] = at;
            at += n;
        }
        for (size_t i = 0; i < b->edge_count; i++)
            to[starts[from[i] >> shift & mask]++] = from[i];
        b->edges = to;
        b->edges_spare = from;
    }
}

static void turn_edges(struct builder *b)
{
    b->edge_count = 0;
    for (uint32_t i = 0; i < b->batch_count; i++) {
        uint32_t row = b->batch[i];
        const uint32_t *list = builder_list(b, row);

        for (uint32_t j = 0; j < b->counts[row]; j++)
            b->edges[b->edge_count++] = (uint64_t)list[j] << 32 | row;
    }
    sort_edges(b);
}

/* Chooses a list from n rows in the ids of w->prune. */
static void prune_row(struct builder *b, uint32_t row, size_t n, struct build_worker *w)
{
    uint32_t *list = builder_list(b, row), count;

    prune_measure(&b->prune, row, n, &w->prune);
    count = prune_choose(&b->prune, n, &w->prune, list);
    if (b->near.degree > 0) {
        for (size_t i = 0; i < n; i++)
            w->prune.ids[i] = code_key_id(w->prune.keys[i]);
        prune_measure(&b->near, row, n, &w->prune);
        count = add_near(b, n, w, list, count);
    }
    builder_set_count(b, row, count);
}

/* Adds the sources of edges first .. end - 1, which have one target, to its list. */
static void extend_list(struct builder *b, size_t first, size_t end, struct build_worker *w)
{
    uint32_t target = (uint32_t)(b->edges[first] >> 32), count = b->counts[target];
    uint32_t *list = builder_list(b, target);
    uint32_t *to = count + (end - first) <= b->stride ? list : w->prune.ids;

    if (to != list) memcpy(to, list, count * sizeof *list);
    for (size_t i = first; i < end; i++)
        to[count++] = (uint32_t)b->edges[i];
    if (to == list)
        builder_set_count(b, target, count);
    else
        prune_row(b, target, count, w);
}

static void extend_work(void *arg, uint32_t worker)
{
    struct builder *b = arg;
    size_t first;

    while ((first = atomic_fetch_add(&b->cursor, EDGES_PIECE)) < b->edge_count) {
        size_t last = first + EDGES_PIECE < b->edge_count ? first + EDGES_PIECE : b->edge_count;

        /* Groups belong to the piece that they begin in. */
        while (first > 0 && first < last && b->edges[first] >> 32 == b->edges[first - 1] >> 32)
            first++;
        for (size_t end; first < last; first = end) {
            for (end = first + 1; end < b->edge_count; end++)
                if (b->edges[end] >> 32 != b->edges[first] >> 32) break;
            extend_list(b, first, end, &b->workers[worker]);
        }
    }
}

static void insert_batch(struct builder *b)
{
    atomic_store(&b->cursor, 0);
    parallel_run(b->threads, insert_work, b);
    turn_edges(b);
    atomic_store(&b->cursor, 0);
    parallel_run(b->threads, extend_work, b);
}

/* ---- all batches ---- */

static uint32_t divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static uint32_t order_step(uint32_t rows)
{
    uint32_t step = (uint32_t)(0.6180339887 * rows);

    if (step == 0) step = 1;
    while (divisor(rows, step) != 1)
        step++;
    return step;
}

static paua_status insert_all(struct builder *b, paua_error *err)
{
    uint32_t done = 1, row = b->entry, step = order_step(b->rows);

    builder_set_count(b, b->entry, 0);
    while (done < b->linked) {
        uint32_t n = done < b->batch_max ? done : b->batch_max;
        paua_status status = builder_check(b, err);

        if (status != PAUA_OK) return status;
        if (n > b->linked - done) n = b->linked - done;
        for (b->batch_count = 0; b->batch_count < n;) {
            row = (uint32_t)(((uint64_t)row + step) % b->rows);
            if (!builder_copy(b, row)) b->batch[b->batch_count++] = row;
        }
        insert_batch(b);
        done += n;
        if (b->opts->progress != NULL)
            b->opts->progress(b->opts->progress_arg, "linking", done, b->linked);
    }
    return PAUA_OK;
}

static void limit_work(void *arg, uint32_t worker)
{
    struct builder *b = arg;
    struct build_worker *w = &b->workers[worker];
    size_t first;

    while ((first = atomic_fetch_add(&b->cursor, ROWS_PIECE)) < b->rows)
        for (uint32_t row = (uint32_t)first; row < first + ROWS_PIECE && row < b->rows; row++) {
            if (b->counts[row] <= b->degree) continue;
            memcpy(w->prune.ids, builder_list(b, row), b->counts[row] * sizeof *b->ids);
            prune_row(b, row, b->counts[row], w);
        }
}

/* Packs lists to their final stride, padded; the places left over are given back. */
static uint32_t *pack(struct builder *b, uint32_t stride)
{
    uint32_t *packed;

    for (uint32_t row = 0; row < b->rows; row++) {
        uint32_t *to = b->ids + (size_t)row * stride;

        memmove(to, builder_list(b, row), b->counts[row] * sizeof *to);
        for (uint32_t i = b->counts[row]; i < stride; i++)
            to[i] = row;
    }
    packed = mem_trim(b->ids, 64, (size_t)b->rows * stride * sizeof *packed);
    b->ids = NULL;
    return packed;
}

/* ---- what a build begins with ---- */

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return x < y ? -1 : x > y;
}

/* Rows are one and the same within a millionth of the median distance from the entry. */
static void choose_tiny(struct builder *b, struct pruner *p)
{
    float distances[TINY_ROWS];
    uint32_t n = b->rows < TINY_ROWS ? b->rows : TINY_ROWS;
    struct code_query query;

    prune_query(p, b->entry, &b->workers[0].prune, &query);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = (uint32_t)((uint64_t)i * b->rows / n);

        p->kernels->distances(p->plane, &query, &row, 0, 1, &distances[i]);
    }
    qsort(distances, n, sizeof *distances, by_value);
    p->tiny = distances[n / 2] > 0 ? 1e-6F * distances[n / 2] : 0;
}

static float aux_of(const struct builder *b, uint32_t row)
{
    return b->prune.plane->factors[(size_t)row * CODE_FACTORS + CODE_GROUPS];
}

/* D(x, x) under inner product, else aux: what entries are chosen by. */
static float size_of(struct builder *b, uint32_t row)
{
    struct code_query query;
    float size;

    if (b->prune.model->metric != PAUA_IP) return aux_of(b, row);
    prune_query(&b->prune, row, &b->workers[0].prune, &query);
    b->prune.kernels->distances(b->prune.plane, &query, &row, 0, 1, &size);
    return size;
}

/* Under inner product: sizes below it belong to rows so long that they are near to all. */
static float size_least(struct builder *b)
{
    float sizes[TINY_ROWS];
    uint32_t n = b->rows < TINY_ROWS ? b->rows : TINY_ROWS;

    for (uint32_t i = 0; i < n; i++)
        sizes[i] = size_of(b, (uint32_t)((uint64_t)i * b->rows / n));
    qsort(sizes, n, sizeof *sizes, by_value);
    return sizes[n / 2] < 0 ? LONG_SQUARE * sizes[n / 2] : -FLT_MAX;
}

/* The row of the least aux, or under inner product the longest that is not too long. */
static void choose_entry(struct builder *b)
{
    bool any = false;
    float least = 0, bound = b->prune.model->metric == PAUA_IP ? size_least(b) : -FLT_MAX;

    for (uint32_t row = 0; row < b->rows; row++) {
        float size;

        if (builder_copy(b, row)) continue;
        size = size_of(b, row);
        if (size < bound || (any && !(size < least))) continue;
        b->entry = row;
        least = size;
        any = true;
    }
}

/* The same codes by l2: aux becomes |z|^2, which D(x, x) says. */
static bool near_init(struct builder *b)
{
    const struct code_plane *plane = b->prune.plane;
    size_t floats = (size_t)b->rows * CODE_FACTORS;

    b->near_factors = mem_aligned(64, floats * sizeof *b->near_factors);
    if (b->near_factors == NULL) return false;
    memcpy(b->near_factors, plane->factors, floats * sizeof *b->near_factors);
    for (uint32_t row = 0; row < b->rows; row++) {
        float square = (b->prune.model->constant + 2 * aux_of(b, row) - size_of(b, row)) / 2;

        b->near_factors[(size_t)row * CODE_FACTORS + CODE_GROUPS] = square > 0 ? square : 0;
    }
    b->near_plane = (struct code_plane){plane->layout, plane->codes, b->near_factors};
    b->near_model = *b->prune.model;
    b->near_model.constant = 0;
    b->near = b->prune;
    b->near.model = &b->near_model;
    b->near.plane = &b->near_plane;
    b->near.degree = b->degree / 2 < NEAR_MOST ? b->degree / 2 : NEAR_MOST;
    b->near.fill = b->near.degree;
    choose_tiny(b, &b->near);
    return true;
}

static bool worker_init(struct builder *b, struct build_worker *w)
{
    size_t ring = 1, most = (size_t)b->stride + b->batch_max;

    while (ring < b->prune.occlusion)
        ring *= 2;
    if (most < b->list + ring) most = b->list + ring;
    w->trail.mask = ring - 1;
    w->trail.keys = mem_alloc(ring * sizeof *w->trail.keys);
    w->chosen = mem_alloc(2 * (size_t)b->degree * sizeof *w->chosen);
    return w->trail.keys != NULL && w->chosen != NULL &&
           walk_reserve_lists(&w->walk, b->rows, b->stride, b->list) &&
           prune_scratch_init(&w->prune, b->prune.plane, most);
}

static bool builder_reserve(struct builder *b)
{
    size_t edges = (size_t)b->batch_max * b->degree;

    b->ids = mem_aligned(64, (size_t)b->rows * b->stride * sizeof *b->ids);
    b->counts = mem_zalloc(b->rows, sizeof *b->counts);
    b->copies = mem_zalloc(b->rows / 64 + 1, sizeof *b->copies);
    b->batch = mem_alloc(b->batch_max * sizeof *b->batch);
    b->edges = mem_alloc(edges * sizeof *b->edges);
    b->edges_spare = mem_alloc(edges * sizeof *b->edges_spare);
    b->lut = mem_aligned(64, (size_t)b->prune.model->walk.layout.field_count * 16);
    b->workers = mem_zalloc(b->threads, sizeof *b->workers);
    if (b->ids == NULL || b->counts == NULL || b->copies == NULL || b->batch == NULL ||
        b->edges == NULL || b->edges_spare == NULL || b->lut == NULL || b->workers == NULL)
        return false;
    for (uint32_t i = 0; i < b->threads; i++)
        if (!worker_init(b, &b->workers[i])) return false;
    return true;
}

static void builder_free(struct builder *b)
{
    for (uint32_t i = 0; b->workers != NULL && i < b->threads; i++) {
        walk_free(&b->workers[i].walk);
        mem_free(b->workers[i].trail.keys);
        mem_free(b->workers[i].chosen);
        prune_scratch_free(&b->workers[i].prune);
    }
    mem_free(b->workers);
    mem_free(b->near_factors);
    mem_free(b->lut);
    graph_plane_free(&b->wide);
    mem_free(b->edges_spare);
    mem_free(b->edges);
    mem_free(b->batch);
    mem_free(b->copies);
    mem_free(b->counts);
    mem_free(b->ids);
}

static paua_status builder_init(struct builder *b, const struct model *model,
                                const struct code_plane *plane, paua_error *err)
{
    const struct graph_params *params = &b->opts->params;
    uint32_t share = b->rows / BATCH_SHARE, small = b->rows / BATCH_SHARE_SMALL;

    assert(params->degree >= 4 && params->degree <= GRAPH_DEGREE_MAX && params->list >= 1);
    assert(params->occlusion >= 1 && params->alpha >= 1 && b->rows > b->opts->copy_count);
    b->degree = params->degree;
    b->list = params->list;
    b->linked = b->rows - b->opts->copy_count;
    b->stride = (uint32_t)walk_lines(b->degree + b->degree / 4);
    b->threads = b->opts->threads < THREADS_MAX ? b->opts->threads : THREADS_MAX;
    if (b->threads == 0) b->threads = 1;
    if (share < BATCH_SMALL) share = small < BATCH_SMALL ? small : BATCH_SMALL;
    b->batch_max = share < 1 ? 1 : share > BATCH_MAX ? BATCH_MAX : share;
    b->prune = (struct pruner){.model = model,
                               .plane = plane,
                               .kernels = code_kernels_best(),
                               .degree = b->degree,
                               .fill = model->metric == PAUA_IP ? b->degree : b->degree / 2,
                               .occlusion = params->occlusion,
                               .alpha = params->alpha};
    if (!graph_plane_init(&b->wide, model, plane, b->rows, b->threads)) return error_set_nomem(err);
    if (b->wide.plane.layout.step_count > 0) {
        b->prune.plane = &b->wide.plane;
        b->prune.fill = b->degree;
    }
    if (!builder_reserve(b)) return error_set_nomem(err);
    for (uint32_t i = 0; i < b->opts->copy_count; i++)
        b->copies[b->opts->copies[i].row / 64] |= (uint64_t)1 << b->opts->copies[i].row % 64;
    if (b->prune.plane == plane) model_prune_lut(model, &b->prune.lut, b->lut);
    choose_entry(b);
    if (model->metric == PAUA_IP) {
        if (!near_init(b)) return error_set_nomem(err);
        b->prune.alpha = 1;
        b->prune.tiny = -FLT_MAX;
    } else {
        choose_tiny(b, &b->prune);
    }
    return PAUA_OK;
}

paua_status graph_build(const struct model *model, const struct code_plane *plane, uint32_t rows,
                        const struct graph_build_opts *opts, struct graph *graph,
                        uint32_t **neighbours, paua_error *err)
{
    struct builder b = {.opts = opts, .rows = rows};
    uint32_t stride = (uint32_t)walk_lines(opts->params.degree), *packed;
    paua_status status = PAUA_OK;

    if (rows > 0) {
        status = builder_init(&b, model, plane, err);
        if (status == PAUA_OK) status = insert_all(&b, err);
        if (status != PAUA_OK) goto done;
        atomic_store(&b.cursor, 0);
        parallel_run(b.threads, limit_work, &b);
        status = graph_repair(&b, err);
        if (status != PAUA_OK) goto done;
    }
    packed = rows > 0 ? pack(&b, stride) : mem_aligned(64, 0);
    if (packed == NULL) {
        status = error_set_nomem(err);
        goto done;
    }
    *neighbours = packed;
    *graph = (struct graph){.rows = rows,
                            .degree = opts->params.degree,
                            .stride = stride,
                            .entry = b.entry,
                            .neighbours = packed,
                            .copy_count = opts->copy_count,
                            .copies = opts->copies};
done:
    builder_free(&b);
    return status;
}
