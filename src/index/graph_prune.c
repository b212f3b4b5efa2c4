/* graph_prune.c - robust pruning over a compacted list.
 *
 * A candidate c is chosen when, for every row p chosen before it, d(c, owner) <= alpha d(c, p): a
 * walk that comes to the owner would otherwise be led to c by p. Candidates are looked at in the
 * order (distance, id), first with alpha 1, then with the alpha asked for, until degree are chosen.
 *
 * Layout    the candidates that alpha could still let through lie dense in parallel arrays; each
 *           choice compares them in one kernel call and drops those it hides for good. So the work
 *           is the sum of what is alive at each choice, not of all that was there.
 * Distances between codes, from integers: the same on every machine and thread. Two codes of equal
 *           rows are at a distance of about 0 or below it: such a row hides the other entirely.
 * Memory    nothing is allocated; d(c, p) is compared with d(c, owner) and forgotten.
 * Fill      where rows lie dense, a few chosen ones hide all the rest, and lists of four or five
 *           leave walks in dead ends; lists below `fill` get the nearest of the hidden.
 *
 * Source: RobustPrune of Vamana, Subramanya et al., NeurIPS 2019, algorithm 2. */
#include "index/graph_prune.h"

#include <assert.h>

#include "base/memory.h"
#include "index/graph_plane.h"
#include "index/graph_walk.h"
#include "kernel/keys.h"

#define HIDDEN 1u /* bit of a tag: by a chosen row, with alpha 1 */

bool prune_scratch_init(struct prune_scratch *s, const struct code_plane *plane, size_t capacity)
{
    size_t room = walk_lines(capacity); /* keeps every array on a line of its own */
    size_t nbytes = room * (2 * sizeof(uint64_t) + 2 * sizeof(uint32_t) + 2 * sizeof(float));
    size_t values = (size_t)plane->layout.step_count * CODE_LINE_NBYTES;
    char *memory = mem_aligned(64, values + nbytes);

    if (memory == NULL) return false;
    s->memory = memory;
    s->capacity = capacity;
    s->values = (int8_t *)memory;
    s->keys = (uint64_t *)(void *)(memory + values);
    s->spare = s->keys + room;
    s->ids = (uint32_t *)(s->spare + room);
    s->tags = s->ids + room;
    s->owner = (float *)(s->tags + room);
    s->distances = s->owner + room;
    return true;
}

void prune_scratch_free(struct prune_scratch *s) { mem_free(s->memory); }

void prune_query(const struct pruner *p, uint32_t row, struct prune_scratch *s,
                 struct code_query *query)
{
    if (p->lut.lut == NULL)
        graph_plane_query(p->plane, p->model->constant, row, s->values, query);
    else
        model_query_row(p->model, p->plane, &p->lut, row, s->values, query);
}

void prune_measure(const struct pruner *p, uint32_t owner, size_t n, struct prune_scratch *s)
{
    struct code_query query;

    assert(n <= s->capacity);
    prune_query(p, owner, s, &query);
    p->kernels->distances(p->plane, &query, s->ids, 0, n, s->distances);
    for (size_t i = 0; i < n; i++)
        s->keys[i] = code_key(s->distances[i], s->ids[i]);
    keys_kernels_best()->sort(s->keys, n, s->spare);
}

static inline void move(struct prune_scratch *s, size_t to, size_t from)
{
    s->ids[to] = s->ids[from];
    s->tags[to] = s->tags[from];
    s->owner[to] = s->owner[from];
}

/* Compares the candidates first .. n - 1 with a row just chosen; returns the n that is left of
 * them, in the same order. No branch depends on distances. */
static size_t hide(const struct pruner *p, uint32_t chosen, size_t first, size_t n,
                   struct prune_scratch *s)
{
    struct code_query query;
    size_t left = first;

    if (first == n) return n;
    prune_query(p, chosen, s, &query);
    p->kernels->distances(p->plane, &query, s->ids + first, 0, n - first, s->distances + first);
    for (size_t i = first; i < n; i++) {
        float owner = s->owner[i], distance = s->distances[i];

        s->ids[left] = s->ids[i];
        s->owner[left] = owner;
        s->tags[left] = s->tags[i] | (owner > distance);
        left += (owner <= p->alpha * distance) & (distance > p->tiny);
    }
    return left;
}

/* One round over n candidates, the first with alpha 1; returns how many are left for the next. */
static size_t choose_round(const struct pruner *p, bool first, size_t n, struct prune_scratch *s,
                           uint32_t *out, uint32_t *count)
{
    size_t left = 0;

    for (size_t i = 0; i < n && *count < p->degree; i++) {
        if (first && (s->tags[i] & HIDDEN) != 0) {
            move(s, left++, i);
            continue;
        }
        s->keys[s->tags[i] / 2] |= 1;
        out[(*count)++] = s->ids[i];
        if (*count < p->degree) n = hide(p, s->ids[i], i + 1, n, s);
    }
    return left;
}

uint32_t prune_choose(const struct pruner *p, size_t n, struct prune_scratch *s, uint32_t *out)
{
    uint32_t count = 0;
    size_t left;

    if (n > p->occlusion) n = p->occlusion;
    assert(n <= s->capacity);
    for (size_t i = 0; i < n; i++) {
        s->keys[i] &= ~(uint64_t)1; /* from here on: chosen */
        s->ids[i] = code_key_id(s->keys[i]);
        s->tags[i] = (uint32_t)i * 2;
        s->owner[i] = code_key_distance(s->keys[i]);
    }
    left = choose_round(p, true, n, s, out, &count);
    if (p->alpha > 1) choose_round(p, false, left, s, out, &count);
    for (size_t i = 0; i < n && count < p->fill; i++)
        if ((s->keys[i] & 1) == 0) out[count++] = code_key_id(s->keys[i]);
    return count;
}
