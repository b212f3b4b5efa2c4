/* graph_walk.c - best-first search with a beam over a sorted pool: the hot loop of every query.
 *
 * Pool      ef keys (code_key) in rising order; bit 0 says that a row's list has been read. A hop
 *           joins the lists of the WALK_BEAM nearest unread rows, picks the unvisited of them in
 *           one kernel call, compares these in another that returns only those nearer than the
 *           pool's last, sorts them, drops what does not fit, and merges the rest (keys.h). The
 *           walk goes on from the lowest position that changed, and ends when every row of the pool
 *           has been read.
 * Beam      most late hops find nothing: the rows that come next are as good as certain, and after
 *           such a hop twice as many lists are read at once: 2 % of the time of a query.
 * Visited   a bitmap of n bits, cleared for each walk: it stays in the first cache level up to
 *           some 200,000 rows, which bytes or generation marks do not.
 * Waiting   much of a walk waits for memory. Lists that will most likely be read next are fetched
 *           while codes are compared, and those of new rows while these are sorted; the kernel
 *           fetches codes ahead. Lists are joined before bits are tested, since their misses then
 *           overlap, and since gathers wait for the stores that set bits: one list after another
 *           took a third longer.
 * Limits    ids must be below rows; whatever else is wrong with a graph, nothing outside is read.
 *           A pool that is not full takes every row that can be reached.
 * Threads   a scratch is one thread's; all else is only read.
 * Cost      about 4,750 compared rows and 70 hops at ef 200, 100,000 rows, degree 64: some 100
 *           microseconds, more than half of it comparing codes.
 * Rejected  a heap (pools are small: merging is one pass over 1.6 KB), stopping early (the same
 *           trade as a smaller ef), choosing the next lists before the last codes are compared (4 %
 *           more rows compared, no time gained).
 *
 * Source: greedy search of Vamana, Subramanya et al., NeurIPS 2019, section 3, with a beam. */
#include "index/graph_walk.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/keys.h"

#define BEAM_SURE 6u       /* lists read at once after a hop that found nothing */
#define FETCH_LINES_MAX 8u /* of a list; a longer one the processor then follows by itself */
#define FETCH_BEFORE 6u    /* lists fetched while codes are compared */
#define FEW_ALLOWED 8u     /* a hop with fewer unvisited rows looks through bridges */
#define BRIDGES_MAX 12u    /* so many */
#define FETCH_FOUND 6u     /* of rows just found, in no order, fetched while they are sorted */

bool walk_reserve_lists(struct walk_scratch *s, uint32_t rows, uint32_t stride, uint32_t ef)
{
    size_t words = walk_lines((size_t)rows / 32 + 1);
    size_t ids = (size_t)(BEAM_SURE + BRIDGES_MAX) * stride + WALK_LINE;

    if (s->visited_words < words) {
        uint32_t *visited = mem_aligned(64, words * sizeof *visited);

        if (visited == NULL) return false;
        mem_free(s->visited);
        s->visited = visited;
        s->visited_words = words;
    }
    if (s->pool_capacity < ef) {
        uint64_t *pool = mem_realloc(s->pool, (ef + KEYS_SLACK) * sizeof *pool);

        if (pool == NULL) return false;
        s->pool = pool;
        s->pool_capacity = ef;
    }
    if (s->ids_capacity < ids) {
        uint32_t *room = mem_realloc(s->ids, 2 * ids * sizeof *room); /* named, and unvisited */
        uint64_t *found;

        if (room == NULL) return false;
        s->ids = room;
        found = mem_realloc(s->found, 2 * ids * sizeof *found); /* half of it for sorting */
        if (found == NULL) return false;
        s->found = found;
        s->ids_capacity = ids;
    }
    return true;
}

bool walk_reserve(struct walk_scratch *scratch, const struct graph *graph, uint32_t ef)
{
    return walk_reserve_lists(scratch, graph->rows, graph->stride, ef);
}

void walk_free(struct walk_scratch *scratch)
{
    mem_free(scratch->visited);
    mem_free(scratch->pool);
    mem_free(scratch->found);
    mem_free(scratch->ids);
    *scratch = (struct walk_scratch){0};
}

/* ---- the pool ---- */

static inline void trail_push(struct walk_trail *trail, uint64_t key)
{
    if ((key & 1) != 0) trail->keys[trail->count++ & trail->mask] = key;
}

/* How many of n sorted keys are among the best ef of these and the pool, which make up more. */
static size_t found_kept(const uint64_t *pool, size_t count, size_t ef, const uint64_t *found,
                         size_t n)
{
    size_t low = ef > count ? ef - count : 0, high = n < ef ? n : ef;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (found[middle] <= pool[ef - middle - 1])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merges sorted keys into the pool of *count, which keeps its best ef; returns the lowest position
 * that changed. */
static size_t pool_merge(struct walk_scratch *s, size_t *count, size_t ef, size_t n,
                         struct walk_trail *trail)
{
    size_t kept = *count;

    if (kept + n > ef) {
        n = found_kept(s->pool, kept, ef, s->found, n);
        if (trail != NULL)
            for (; kept > ef - n; kept--)
                trail_push(trail, s->pool[kept - 1]);
        kept = ef - n;
    }
    *count = kept + n;
    if (n == 0) return kept;
    return keys_kernels_best()->merge(s->pool, kept, s->found, n);
}

/* Inlined by force: gcc takes a function that only prefetches for one without effect, and drops
 * calls of it. */
#define FETCHES static inline __attribute__((always_inline))

FETCHES void fetch(const void *from, size_t lines)
{
    for (size_t i = 0; i < lines; i++)
        __builtin_prefetch((const char *)from + 64 * i);
}

static inline size_t list_length(const struct walk_lists *lists, uint32_t row)
{
    return lists->counts == NULL ? lists->stride : walk_lines(lists->counts[row]);
}

/* Fetches the lists of the next unread rows of the pool from position at. */
FETCHES void fetch_lists(const struct walk_lists *lists, const uint64_t *pool, size_t at,
                         size_t count, uint32_t most)
{
    size_t lines = lists->stride / WALK_LINE;

    if (lines > FETCH_LINES_MAX) lines = FETCH_LINES_MAX;
    for (uint32_t beam = 0; at < count && beam < most; at++) {
        if ((pool[at] & 1) != 0) continue;
        fetch(lists->ids + (size_t)code_key_id(pool[at]) * lists->stride, lines);
        if (lists->counts != NULL) fetch(lists->counts + code_key_id(pool[at]), 1);
        beam++;
    }
}

/* ---- rows that are not allowed ---- */

static inline bool is_allowed(const struct walk_lists *lists, uint32_t row)
{
    return (lists->allowed->bits[row / 64] >> row % 64 & 1) != 0;
}

/* Everything that may not be met counts as visited. A row whose copy is allowed may be met, since
 * copies are found through it; the copies themselves, of which no list but a seed names any, would
 * be found twice. */
static void visited_begin(const struct walk_lists *lists, uint32_t *visited)
{
    const uint64_t *bits;

    if (lists->allowed == NULL) {
        memset(visited, 0, (lists->rows / 32 + 1) * sizeof *visited);
        return;
    }
    bits = lists->allowed->bits;
    for (uint32_t word = 0; word <= lists->rows / 32; word++)
        visited[word] =
            32 * word < lists->rows ? ~(uint32_t)(bits[word / 2] >> 32 * (word % 2)) : UINT32_MAX;
    for (uint32_t i = 0; i < lists->copy_count; i++) {
        const struct graph_copy *copy = &lists->copies[i];

        if (is_allowed(lists, copy->row)) visited[copy->of / 32] &= ~((uint32_t)1 << copy->of % 32);
        visited[copy->row / 32] |= (uint32_t)1 << copy->row % 32;
    }
}

/* Puts the seeds into the pool beside the entry. */
static size_t seeds_take(const struct walk_lists *lists, const struct code_plane *plane,
                         const struct code_query *query, uint32_t ef, struct walk_scratch *s)
{
    const struct walk_allowed *allowed = lists->allowed;
    size_t named, fresh, n, count = 1;

    if (allowed == NULL || allowed->seed_count == 0) return count;
    memcpy(s->ids, allowed->seeds, allowed->seed_count * sizeof *s->ids);
    for (named = allowed->seed_count; named < walk_lines(named); named++)
        s->ids[named] = lists->entry;
    fresh = code_kernels_best()->unvisited(s->ids, named, s->visited, s->ids + s->ids_capacity);
    n = code_kernels_best()->keys_below(plane, query, s->ids + s->ids_capacity, fresh, INFINITY,
                                        s->found);
    s->compared += fresh;
    keys_kernels_best()->sort(s->found, n, s->found + s->ids_capacity);
    pool_merge(s, &count, ef, n, NULL);
    return count;
}

/* Where the lists of a hop name few rows that are allowed, puts the lists of some that they name
 * and that are not in their place; returns how many ids these hold. */
static size_t bridges_join(const struct walk_lists *lists, struct walk_scratch *s, size_t named,
                           size_t fresh)
{
    size_t names = named;
    uint32_t joined = 0, may = 0;

    if (lists->allowed == NULL || fresh >= FEW_ALLOWED) return 0;
    for (size_t i = 0; i < names; i++)
        may += is_allowed(lists, s->ids[i]);
    if (may >= FEW_ALLOWED * WALK_BEAM) return 0; /* they have been met already */
    for (size_t i = 0; i < names && joined < BRIDGES_MAX; i++) {
        uint32_t row = s->ids[i];

        if (is_allowed(lists, row)) continue;
        memcpy(s->ids + named, lists->ids + (size_t)row * lists->stride,
               list_length(lists, row) * sizeof *s->ids);
        named += list_length(lists, row);
        joined++;
    }
    memmove(s->ids, s->ids + names, (named - names) * sizeof *s->ids);
    return named - names;
}

/* ---- the walk ---- */

size_t walk_lists_search(const struct walk_lists *lists, const struct code_plane *plane,
                         const struct code_query *query, uint32_t ef, struct walk_trail *trail,
                         struct walk_scratch *s)
{
    const struct code_kernels *kernels = code_kernels_best();
    uint64_t *pool = s->pool, *found = s->found;
    size_t count = 1, at = 0;
    uint32_t most = WALK_BEAM;
    float distance;

    assert(ef >= 1 && s->pool_capacity >= ef && s->visited_words > lists->rows / 32);
    assert(s->ids_capacity >= (size_t)(BEAM_SURE + BRIDGES_MAX) * lists->stride + WALK_LINE);
    visited_begin(lists, s->visited);
    s->visited[lists->entry / 32] |= (uint32_t)1 << lists->entry % 32;
    kernels->distances(plane, query, &lists->entry, 0, 1, &distance);
    pool[0] = code_key(distance, lists->entry);
    s->compared++;
    count = seeds_take(lists, plane, query, ef, s);

    for (;;) {
        size_t named = 0, fresh, n, changed;
        uint32_t beam = 0;
        float bound;

        for (; at < count && beam < most; at++) {
            uint32_t row = code_key_id(pool[at]);
            size_t length;

            if ((pool[at] & 1) != 0) continue;
            pool[at] |= 1;
            beam++;
            length = list_length(lists, row);
            memcpy(s->ids + named, lists->ids + (size_t)row * lists->stride,
                   length * sizeof *s->ids);
            named += length;
        }
        if (beam == 0) return count;
        fresh = kernels->unvisited(s->ids, named, s->visited, s->ids + s->ids_capacity);
        named = bridges_join(lists, s, named, fresh);
        if (named > 0)
            fresh +=
                kernels->unvisited(s->ids, named, s->visited, s->ids + s->ids_capacity + fresh);
        fetch_lists(lists, pool, at, count, FETCH_BEFORE);
        bound = count == ef ? code_key_distance(pool[count - 1]) : INFINITY;
        n = kernels->keys_below(plane, query, s->ids + s->ids_capacity, fresh, bound, found);
        s->compared += fresh;
        most = n == 0 ? BEAM_SURE : WALK_BEAM;
        if (n == 0) continue;
        fetch_lists(lists, found, 0, n, FETCH_FOUND);
        keys_kernels_best()->sort(found, n, found + s->ids_capacity);
        changed = pool_merge(s, &count, ef, n, trail);
        if (changed < at) at = changed;
    }
}

size_t graph_walk(const struct graph *graph, const struct code_plane *plane,
                  const struct code_query *query, uint32_t ef, struct walk_scratch *scratch)
{
    struct walk_lists lists = {.ids = graph->neighbours,
                               .stride = graph->stride,
                               .rows = graph->rows,
                               .entry = graph->entry};

    if (graph->rows == 0) return 0;
    return walk_lists_search(&lists, plane, query, ef, NULL, scratch);
}

size_t graph_walk_allowed(const struct graph *graph, const struct code_plane *plane,
                          const struct code_query *query, uint32_t ef,
                          const struct walk_allowed *allowed, struct walk_scratch *scratch)
{
    struct walk_lists lists = {.ids = graph->neighbours,
                               .stride = graph->stride,
                               .rows = graph->rows,
                               .entry = graph->entry,
                               .copies = graph->copies,
                               .copy_count = graph->copy_count,
                               .allowed = allowed};

    if (graph->rows == 0) return 0;
    return walk_lists_search(&lists, plane, query, ef, NULL, scratch);
}
