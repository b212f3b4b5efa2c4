/* topk.c - a binary max-heap of the k nearest so far.
 *
 * heap[0] is the candidate that would leave first, so most of a scan is one comparison with its
 * distance. Children of i are 2i + 1 and 2i + 2. Sorting empties the heap from the top into its own
 * array, which needs no memory. The first k, offered farthest first, stay where they are put and
 * are only turned round: who has them sorted offers them so. One thread at a time. */
#include "base/topk.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"

static bool comes_before(const struct topk *t, const struct candidate *a, const struct candidate *b)
{
    if (a->distance < b->distance) return true;
    if (a->distance > b->distance) return false;
    return t->tie(t->tie_arg, a, b) < 0;
}

void topk_begin(struct topk *t, size_t k, topk_tie_fn tie, void *tie_arg)
{
    assert(k >= 1);
    assert(tie != NULL);
    t->count = 0;
    t->k = k;
    t->tie = tie;
    t->tie_arg = tie_arg;
}

double topk_bound(const struct topk *t)
{
    return t->count < t->k ? (double)INFINITY : t->heap[0].distance;
}

/* Moves the hole at `at` up to where c belongs. */
static void sift_up(struct topk *t, size_t at, struct candidate c)
{
    while (at > 0) {
        size_t parent = (at - 1) / 2;

        if (!comes_before(t, &t->heap[parent], &c)) break;
        t->heap[at] = t->heap[parent];
        at = parent;
    }
    t->heap[at] = c;
}

/* Moves the hole at the top of the first `count` down to where c belongs. */
static void sift_down(struct topk *t, size_t count, struct candidate c)
{
    size_t at = 0;

    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_before(t, &t->heap[child], &t->heap[child + 1])) child++;
        if (!comes_before(t, &c, &t->heap[child])) break;
        t->heap[at] = t->heap[child];
        at = child;
    }
    t->heap[at] = c;
}

bool topk_offer(struct topk *t, struct candidate c)
{
    void *block = t->heap;

    assert(!isnan(c.distance));
    if (t->count == t->k) {
        if (comes_before(t, &c, &t->heap[0])) sift_down(t, t->count, c);
        return true;
    }
    if (mem_grow(&block, &t->capacity, t->count + 1, sizeof *t->heap) != 0) return false;
    t->heap = block;
    sift_up(t, t->count++, c);
    return true;
}

static bool is_falling(const struct topk *t)
{
    for (size_t i = 1; i < t->count; i++)
        if (!comes_before(t, &t->heap[i], &t->heap[i - 1])) return false;
    return true;
}

static void reverse(struct topk *t)
{
    for (size_t i = 0, j = t->count; i + 1 < j; i++) {
        struct candidate swap = t->heap[i];

        t->heap[i] = t->heap[--j];
        t->heap[j] = swap;
    }
}

void topk_sort(struct topk *t)
{
    if (is_falling(t)) {
        reverse(t);
        return;
    }
    for (size_t left = t->count; left > 1; left--) {
        struct candidate last = t->heap[left - 1];

        t->heap[left - 1] = t->heap[0];
        sift_down(t, left - 1, last);
    }
}

void topk_free(struct topk *t)
{
    mem_free(t->heap);
    *t = (struct topk){0};
}
