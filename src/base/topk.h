/* topk.h - the k smallest of a stream of candidates: a bounded max-heap in reused memory.
 *
 * Candidates are ordered by distance, then by a caller's comparison (keys, read only when two
 * distances are equal). Cost: one comparison a candidate that fails, log2 k for one that passes. */
#ifndef PAUA_BASE_TOPK_H
#define PAUA_BASE_TOPK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct candidate {
    double distance; /* never NaN */
    uint32_t source; /* caller's meaning: segment */
    uint32_t row;    /* caller's meaning: position in it */
};

/* <0 if a comes before b, >0 if after; called for equal distances only, a != b. */
typedef int (*topk_tie_fn)(void *arg, const struct candidate *a, const struct candidate *b);

struct topk {
    struct candidate *heap; /* owned; heap[0] is the worst kept */
    size_t count;
    size_t capacity;
    size_t k;
    topk_tie_fn tie;
    void *tie_arg;
};

/* Empties it for a new search; grows the heap lazily up to k. */
void topk_begin(struct topk *t, size_t k, topk_tie_fn tie, void *tie_arg);

/* Distance above which a candidate cannot enter: +inf until k are kept. Equal may enter by tie. */
double topk_bound(const struct topk *t);

/* Offers a candidate. Returns false when out of memory. */
bool topk_offer(struct topk *t, struct candidate c);

/* Sorts what was kept, nearest first; the heap order is gone afterwards. Cost: k log2 k
 * comparisons, or k where no more than k were offered, farthest first. */
void topk_sort(struct topk *t);

void topk_free(struct topk *t);

#endif
