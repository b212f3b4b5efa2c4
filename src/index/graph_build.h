/* graph_build.h - what the parts of graph_build() share. */
#ifndef PAUA_INDEX_GRAPH_BUILD_H
#define PAUA_INDEX_GRAPH_BUILD_H

#include <stdatomic.h>

#include "index/graph.h"
#include "index/graph_plane.h"
#include "index/graph_prune.h"
#include "index/graph_walk.h"

struct build_worker {
    struct walk_scratch walk;
    struct walk_trail trail;
    struct prune_scratch prune;
    uint32_t *chosen; /* degree ids, twice */
};

struct builder {
    const struct graph_build_opts *opts;
    uint32_t rows;
    uint32_t linked; /* rows that are no copies */
    uint32_t degree, list, threads;
    uint32_t stride; /* places of a list while it grows */
    uint32_t entry;
    uint32_t *ids;    /* rows x stride */
    uint16_t *counts; /* of each list, padded to a whole line with the row's own id */
    uint64_t *copies; /* bitmap */
    struct pruner prune;
    struct pruner near; /* under inner product: by l2; else its degree is 0 */
    struct model near_model;
    struct code_plane near_plane;
    float *near_factors;
    struct graph_plane wide; /* what short rows are compared by, instead of the walk plane */
    int8_t *lut;
    struct build_worker *workers;

    uint32_t batch_max;
    uint32_t *batch; /* rows being inserted */
    uint32_t batch_count;
    uint64_t *edges, *edges_spare; /* batch_max x degree: target << 32 | source */
    size_t edge_count;
    _Atomic size_t cursor; /* what workers take their next piece from */
};

static inline bool builder_copy(const struct builder *b, uint32_t row)
{
    return (b->copies[row / 64] >> row % 64 & 1) != 0;
}
static inline uint32_t *builder_list(const struct builder *b, uint32_t row)
{
    return b->ids + (size_t)row * b->stride;
}
static inline struct walk_lists builder_lists(const struct builder *b)
{
    return (struct walk_lists){.ids = b->ids,
                               .counts = b->counts,
                               .stride = b->stride,
                               .rows = b->rows,
                               .entry = b->entry};
}

/* Sets the length of a row's list, and pads it. */
void builder_set_count(struct builder *b, uint32_t row, uint32_t count);
/* PAUA_ECANCELED when the caller asked for it. */
paua_status builder_check(const struct builder *b, paua_error *err);

/* Gives every row that a walk from the entry cannot reach an edge from a near row that it can.
 * Needs lists of at most degree. Memory: 10 bytes a row. PAUA_ENOMEM, PAUA_ECANCELED. */
paua_status graph_repair(struct builder *b, paua_error *err);

#endif
