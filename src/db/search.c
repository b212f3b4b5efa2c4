/* search.c - comparing queries with every row, or through the codes of segments that have them.
 *
 * Work is split over threads by queries while there are enough of them, and by stripes of row
 * blocks beyond that; stripes keep their own heaps, merged at the end. A block is some 128 KiB of
 * rows: it stays in the cache while every query of the thread looks at it. Eight or more queries
 * look through tiles (index/flat.h), fewer one by one. Which of these happens changes no bit of the
 * answer.
 *
 * Nothing is allocated after the first block but what heaps need to grow to k. */
#include "db/plan.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

#define BLOCK_NBYTES (128u << 10)
#define TILE_NBYTES (384u << 10)
#define TILE_ROWS_STEP 42u /* whole register tiles of every tier: 14, 6 and 5 or fewer rows */
#define TILE_QUERIES_MIN 8u
#define SCATTERED_SHARE 8u /* fewer than one row in so many are read one by one */

struct work {
    const struct search *search;
    struct topk *best, *spare; /* stripe 0 fills best, stripe s spare + (s - 1) n */
    struct worker *workers;
    uint32_t groups;  /* parts that the queries are split in */
    uint32_t stripes; /* parts that the row blocks are split in */
    _Atomic bool stop;
};

struct worker {
    struct work *work;
    const struct search *search;
    struct topk *best; /* of all n queries, of this stripe */
    size_t first, end; /* queries */
    uint32_t stripe;
    uint64_t block; /* running number of row blocks */
    struct flat_panel *panels;
    size_t panel_count;
    float *packed, *tile, *wide;
    struct writer scratch;
    struct tie_context tie;
    double distances[FLAT_BLOCK_ROWS];
    uint32_t may[FLAT_BLOCK_ROWS];
    uint64_t live[FLAT_BLOCK_ROWS / 64];
    struct code_scratch codes;
    paua_status status;
    paua_error err;
};

int search_tie(void *arg, const struct candidate *a, const struct candidate *b)
{
    struct tie_context *tie = arg;
    struct key key_a, key_b;
    paua_error *err = tie->status == PAUA_OK ? tie->err : NULL;
    paua_status status =
        view_key(tie->view, (struct place){a->source, a->row}, &tie->a, &key_a, err);

    if (status == PAUA_OK)
        status = view_key(tie->view, (struct place){b->source, b->row}, &tie->b, &key_b, err);
    if (status == PAUA_OK) return key_compare(tie->view->schema, key_a, key_b);
    if (tie->status == PAUA_OK) tie->status = status;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

static size_t row_nbytes(const struct search *s)
{
    return schema_row_nbytes(&s->view->schema->fields[s->field]);
}

/* Rows of a block: so that it stays cached, and at most what flat.h takes. */
static uint32_t block_rows(const struct search *s, bool tiles)
{
    size_t rows = (tiles ? TILE_NBYTES : BLOCK_NBYTES) / row_nbytes(s);

    if (rows > FLAT_BLOCK_ROWS) rows = FLAT_BLOCK_ROWS;
    if (tiles && rows > TILE_ROWS_STEP) rows -= rows % TILE_ROWS_STEP;
    return rows < 1 ? 1 : (uint32_t)rows;
}

static double bound_of(const struct worker *w, size_t query)
{
    double bound = topk_bound(&w->best[query]);

    return w->search->has_radius && w->search->radius < bound ? w->search->radius : bound;
}

static void fail(struct worker *w, paua_status status)
{
    if (w->status == PAUA_OK) w->status = status;
    atomic_store_explicit(&w->work->stop, true, memory_order_relaxed);
}

static void offer(struct worker *w, size_t query, double distance, uint32_t source, uint32_t row)
{
    if (!(distance <= bound_of(w, query))) return;
    if (!topk_offer(&w->best[query], (struct candidate){distance, source, row}))
        fail(w, error_set_nomem(&w->err));
}

static bool is_live(const struct worker *w, uint32_t i)
{
    return (w->live[i / 64] >> (i % 64) & 1) != 0;
}

/* Sets the bits of the rows first .. first + n - 1 that are not dead. */
static void live_set(struct worker *w, const roaring_bitmap_t *deleted, uint32_t first, uint32_t n)
{
    roaring_uint32_iterator_t it;

    memset(w->live, 0xFF, sizeof w->live);
    if (deleted == NULL) return;
    roaring_init_iterator(deleted, &it);
    if (!roaring_move_uint32_iterator_equalorlarger(&it, first)) return;
    while (it.has_value && it.current_value < first + n) {
        uint32_t i = it.current_value - first;

        w->live[i / 64] &= ~(UINT64_C(1) << (i % 64));
        roaring_advance_uint32_iterator(&it);
    }
}

static void scan_singly(struct worker *w, const uint8_t *rows, uint32_t source, uint32_t first,
                        uint32_t n)
{
    size_t nbytes = row_nbytes(w->search);

    for (size_t q = w->first; q < w->end; q++) {
        double bound = bound_of(w, q);

        flat_distances(&w->search->queries[q], rows, nbytes, n, w->distances);
        for (uint32_t i = 0; i < n; i++) {
            if (!(w->distances[i] <= bound) || !is_live(w, i)) continue;
            offer(w, q, w->distances[i], source, first + i);
            bound = bound_of(w, q);
        }
    }
}

static void scan_tiles(struct worker *w, const uint8_t *rows, uint32_t source, uint32_t first,
                       uint32_t n)
{
    const struct search *s = w->search;
    size_t nbytes = row_nbytes(s);
    struct flat_block block;

    flat_block_init(&block, &s->queries[w->first], rows, nbytes, n, w->wide);
    for (size_t p = 0; p < w->panel_count; p++) {
        size_t base = w->first + p * KERNEL_TILE_QUERIES;
        double bounds[KERNEL_TILE_QUERIES];

        for (uint32_t t = 0; t < w->panels[p].count; t++)
            bounds[t] = bound_of(w, base + t);
        flat_panel_scan(&w->panels[p], &block, bounds, w->tile, w->may);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t may = is_live(w, i) ? w->may[i] : 0;

            for (; may != 0; may &= may - 1) {
                size_t q = base + (uint32_t)__builtin_ctz(may);
                double distance;

                flat_distances(&s->queries[q], rows + i * nbytes, nbytes, 1, &distance);
                offer(w, q, distance, source, first + i);
            }
        }
    }
}

/* Between blocks: has somebody asked to stop? */
static bool stopped(struct worker *w)
{
    const struct search *s = w->search;

    if (atomic_load_explicit(&w->work->stop, memory_order_relaxed)) return true;
    if (s->cancel != NULL && __atomic_load_n(&s->cancel->requested, __ATOMIC_RELAXED) != 0) {
        fail(w, error_set(&w->err, PAUA_ECANCELED, "the search was canceled"));
        return true;
    }
    if (s->deadline_ns != 0 && clock_now_ns() >= s->deadline_ns) {
        fail(w, error_set(&w->err, PAUA_ETIMEOUT,
                          "the search took longer than %u ms; allow more time or search less",
                          s->timeout_ms));
        return true;
    }
    return false;
}

static void scan_block(struct worker *w, uint32_t source, uint32_t first, uint32_t *n)
{
    const struct search *s = w->search;
    const uint8_t *rows;
    paua_status status = view_vectors(s->view, s->field, (struct place){source, first}, n,
                                      &w->scratch, &rows, &w->err);

    if (status != PAUA_OK) {
        fail(w, status);
        return;
    }
    if (w->panel_count > 0)
        scan_tiles(w, rows, source, first, *n);
    else
        scan_singly(w, rows, source, first, *n);
    if (w->tie.status != PAUA_OK) fail(w, w->tie.status);
}

/* The restriction of a source; NULL: none. */
static const struct allowed *restriction(const struct search *s, uint32_t source)
{
    return s->allowed == NULL || s->allowed[source].all ? NULL : &s->allowed[source];
}

/* Sets the bits of the rows first .. first + n - 1 that may be found. */
static void allowed_set(struct worker *w, const struct allowed *allowed, uint32_t first, uint32_t n)
{
    memset(w->live, 0, sizeof w->live);
    for (uint32_t i = 0; i < n; i++)
        w->live[i / 64] |= (allowed->bits[(first + i) / 64] >> (first + i) % 64 & 1) << i % 64;
}

static void scan_source(struct worker *w, uint32_t source)
{
    const struct search *s = w->search;
    uint32_t rows = view_source_rows(s->view, source), most = block_rows(s, w->panel_count > 0);

    for (uint32_t first = 0, n; first < rows && !stopped(w); first += n) {
        n = rows - first < most ? rows - first : most;
        /* Blocks end where parts end, alike for every stripe, so that they share them out. */
        n = view_run(s->view, (struct place){source, first}, n);
        if (w->block++ % w->work->stripes != w->stripe) continue;
        if (restriction(s, source) != NULL)
            allowed_set(w, restriction(s, source), first, n);
        else
            live_set(w, view_source_deleted(s->view, source), first, n);
        scan_block(w, source, first, &n);
    }
}

static void scan_allowed(struct worker *w, uint32_t source)
{
    const struct allowed *allowed = &w->search->allowed[source];

    memset(w->live, 0xFF, sizeof w->live); /* only live rows are allowed */
    for (size_t i = 0; i < allowed->count && !stopped(w); i++) {
        uint32_t one = 1;

        if (i % w->work->stripes == w->stripe) scan_block(w, source, allowed->rows[i], &one);
    }
}

/* A query without direction has no codes to go by: it is compared with the originals. */
static bool has_direction(const struct flat_query *query)
{
    return query->metric != PAUA_COSINE || query->norm > 0;
}

static void search_segment(struct worker *w, size_t q, uint32_t source)
{
    const struct search *s = w->search;
    const struct allowed *allowed = restriction(s, source);
    uint32_t rows = view_source_rows(s->view, source);
    const struct code_search search = {
        .segment = s->view->segments[source].segment,
        .field = s->field,
        .source = s->codes[source],
        .deleted = view_source_deleted(s->view, source),
        .allowed = allowed,
        .walk = plan_of(s, source) == PLAN_WALK,
        .short_walks = s->short_walks,
        .query = &s->queries[q],
        .k = s->k < rows ? s->k : rows,
        .ef = s->ef < rows ? s->ef : rows,
        .rescore = s->rescore && segment_has_vectors(s->view->segments[source].segment, s->field),
        .map_originals = s->map_originals,
    };
    const struct code_hit *hits;
    size_t count;
    paua_status status;

    if (allowed != NULL && allowed->count == 0) return;
    status = search_codes(&search, &w->codes, &hits, &count, &w->err);
    if (status != PAUA_OK) {
        fail(w, status);
        return;
    }
    for (size_t i = count; i-- > 0;) /* farthest first: an empty heap stays sorted (topk.h) */
        offer(w, q, hits[i].distance, source, hits[i].row);
    if (w->tie.status != PAUA_OK) fail(w, w->tie.status);
}

static void scan_any(struct worker *w, uint32_t source)
{
    const struct allowed *allowed = restriction(w->search, source);

    if (allowed != NULL &&
        (allowed->bits == NULL ||
         (allowed->rows != NULL &&
          allowed->count < view_source_rows(w->search->view, source) / SCATTERED_SHARE)))
        scan_allowed(w, source);
    else
        scan_source(w, source);
}

/* Through the codes of a segment, one query after the other. Stripes share out the segments. */
static void search_source(struct worker *w, uint32_t source)
{
    size_t first = w->first, end = w->end;

    if (source % w->work->stripes == w->stripe)
        for (size_t q = first; q < end && !stopped(w); q++)
            if (has_direction(&w->search->queries[q])) search_segment(w, q, source);
    for (size_t q = first; q < end && !stopped(w); q++) {
        if (has_direction(&w->search->queries[q])) continue;
        w->first = q;
        w->end = q + 1;
        scan_any(w, source);
    }
    w->first = first;
    w->end = end;
}

static bool panels_make(struct worker *w)
{
    const struct search *s = w->search;
    size_t count = w->end - w->first, dim = s->queries[0].dim;
    size_t panels = (count + KERNEL_TILE_QUERIES - 1) / KERNEL_TILE_QUERIES;
    size_t panel_floats = dim * KERNEL_TILE_QUERIES;

    if (count < TILE_QUERIES_MIN || s->allowed != NULL || s->codes != NULL) return true;
    w->panels = mem_zalloc(panels, sizeof w->panels[0]);
    w->packed = mem_aligned(64, panels * panel_floats * sizeof(float));
    w->tile = mem_aligned(64, FLAT_BLOCK_ROWS * KERNEL_TILE_QUERIES * sizeof(float));
    if (s->queries[0].precision == PAUA_FP16)
        w->wide = mem_aligned(64, block_rows(s, true) * dim * sizeof(float));
    if (w->panels == NULL || w->packed == NULL || w->tile == NULL ||
        (s->queries[0].precision == PAUA_FP16 && w->wide == NULL))
        return false;
    w->panel_count = panels;
    for (size_t p = 0; p < panels; p++) {
        struct flat_panel *panel = &w->panels[p];

        panel->packed = w->packed + p * panel_floats;
        for (size_t q = w->first + p * KERNEL_TILE_QUERIES;
             q < w->end && panel->count < KERNEL_TILE_QUERIES; q++)
            panel->queries[panel->count++] = &s->queries[q];
        flat_panel_pack(panel);
    }
    return true;
}

static void worker_run(void *arg, uint32_t index)
{
    struct work *work = arg;
    struct worker *w = &work->workers[index];
    const struct search *s = work->search;
    uint32_t group = index % work->groups;

    w->work = work;
    w->search = s;
    w->stripe = index / work->groups;
    w->first = s->n * group / work->groups;
    w->end = s->n * (group + 1) / work->groups;
    w->best = w->stripe == 0 ? work->best : work->spare + (w->stripe - 1) * s->n;
    w->tie = (struct tie_context){.view = s->view, .a = w->tie.a, .b = w->tie.b, .err = &w->err};
    w->status = PAUA_OK;
    w->err.row = PAUA_NO_ROW;
    w->block = 0;
    w->panels = NULL;
    w->packed = w->tile = w->wide = NULL;
    w->panel_count = 0;
    for (size_t q = w->first; q < w->end; q++)
        topk_begin(&w->best[q], s->k, search_tie, &w->tie);
    if (!panels_make(w)) fail(w, error_set_nomem(&w->err));
    for (uint32_t source = 0; source < view_sources(s->view) && w->status == PAUA_OK; source++) {
        if (s->codes != NULL && source < s->view->segment_count && s->codes[source].codes != NULL)
            search_source(w, source);
        else
            scan_any(w, source);
    }
    for (size_t q = w->first; q < w->end && work->stripes == 1; q++)
        topk_sort(&w->best[q]);
    if (w->tie.status != PAUA_OK) fail(w, w->tie.status);
    mem_free(w->panels);
    mem_free(w->packed);
    mem_free(w->tile);
    mem_free(w->wide);
}

/* Merges the stripes' heaps into the first. */
static paua_status stripes_merge(struct work *work, paua_error *err)
{
    const struct search *s = work->search;
    struct tie_context tie = {.view = s->view, .err = err};
    bool room = true;

    for (size_t q = 0; q < s->n && work->stripes > 1; q++) {
        work->best[q].tie_arg = &tie;
        for (uint32_t stripe = 1; stripe < work->stripes; stripe++) {
            const struct topk *other = &work->spare[(stripe - 1) * s->n + q];

            for (size_t i = 0; i < other->count; i++)
                room = topk_offer(&work->best[q], other->heap[i]) && room;
        }
        topk_sort(&work->best[q]);
    }
    writer_free(&tie.a);
    writer_free(&tie.b);
    return room ? tie.status : error_set_nomem(err);
}

void search_workers_free(struct search_workers *workers)
{
    for (uint32_t i = 0; i < workers->count; i++) {
        struct worker *w = &workers->items[i];

        code_scratch_free(&w->codes);
        writer_free(&w->scratch);
        writer_free(&w->tie.a);
        writer_free(&w->tie.b);
    }
    mem_free(workers->items);
    *workers = (struct search_workers){0};
}

static bool workers_reserve(struct search_workers *workers, uint32_t threads)
{
    struct worker *items;

    if (workers->count >= threads) return true;
    items = mem_zalloc(threads, sizeof *items);
    if (items == NULL) return false;
    if (workers->count > 0) memcpy(items, workers->items, workers->count * sizeof *items);
    mem_free(workers->items);
    workers->items = items;
    workers->count = threads;
    return true;
}

paua_status search_run(const struct search *search, struct topk *best, struct topk *spare,
                       struct search_workers *workers, paua_error *err)
{
    struct work work = {.search = search, .best = best, .spare = spare};
    size_t panels = (search->n + KERNEL_TILE_QUERIES - 1) / KERNEL_TILE_QUERIES;
    uint32_t threads = search->threads;
    paua_status status = PAUA_OK;

    if (search->codes != NULL) panels = search->n; /* queries are worth sharing out one by one */
    work.groups = panels < threads ? (uint32_t)panels : threads;
    work.stripes = threads / work.groups;
    threads = work.groups * work.stripes;
    if (!workers_reserve(workers, threads)) return error_set_nomem(err);
    work.workers = workers->items;
    parallel_run(threads, worker_run, &work);
    for (uint32_t i = 0; i < threads && status == PAUA_OK; i++) {
        status = work.workers[i].status;
        if (status != PAUA_OK && err != NULL) *err = work.workers[i].err;
    }
    if (status == PAUA_OK) status = stripes_merge(&work, err);
    return status;
}
