/* graph_prune.h - choosing a row's neighbours from candidates, by integer code distances. */
#ifndef PAUA_INDEX_GRAPH_PRUNE_H
#define PAUA_INDEX_GRAPH_PRUNE_H

#include "index/graph.h"

/* What all threads share, read only. */
struct pruner {
    const struct model *model;
    const struct code_plane *plane;
    const struct code_kernels *kernels;
    struct prune_lut lut; /* lut.lut NULL: the plane is a graph_plane's */
    uint32_t degree;      /* most that are chosen */
    uint32_t fill;        /* chosen at least, where there are as many candidates */
    uint32_t occlusion;   /* candidates looked at */
    float alpha;
    float tiny; /* rows this near or nearer are one and the same; by inner product none are */
};

/* One thread's; arrays of `capacity`. */
struct prune_scratch {
    uint64_t *keys; /* candidates: code_key of the distance to the owner */
    uint64_t *spare;
    uint32_t *ids;  /* those that may still be chosen, with what is known about them */
    uint32_t *tags; /* place in keys, times 2; bit 0: hidden from the first round */
    float *owner;   /* distance to the owner */
    float *distances;
    int8_t *values; /* of a row as a query */
    void *memory;
    size_t capacity;
};

bool prune_scratch_init(struct prune_scratch *scratch, const struct code_plane *plane,
                        size_t capacity);
void prune_scratch_free(struct prune_scratch *scratch);

/* Row `row` as a query, in scratch->values. */
void prune_query(const struct pruner *p, uint32_t row, struct prune_scratch *scratch,
                 struct code_query *query);

/* Fills scratch->keys, sorted, from n rows in scratch->ids, which stay. */
void prune_measure(const struct pruner *p, uint32_t owner, size_t n, struct prune_scratch *scratch);

/* Chooses from n sorted scratch->keys (whose bit 0 says nothing, before and after; the ids in
 * scratch->ids are lost); out has room for degree ids. Returns how many. Deterministic: depends on
 * the set of candidates alone. */
uint32_t prune_choose(const struct pruner *p, size_t n, struct prune_scratch *scratch,
                      uint32_t *out);

#endif
