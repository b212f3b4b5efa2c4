/* graph_walk.h - the walk behind graph_walk(), over lists that may still be growing. */
#ifndef PAUA_INDEX_GRAPH_WALK_H
#define PAUA_INDEX_GRAPH_WALK_H

#include "index/graph.h"

#define WALK_BEAM 3u
#define WALK_LINE 16u /* ids of a cache line; lists are read in whole lines */

struct walk_lists {
    const uint32_t *ids;    /* list i begins at ids + i * stride */
    const uint16_t *counts; /* ids of each list, padded to a whole line with the row's own id; or
                               NULL: lists fill their places, padded in the same way */
    uint32_t stride;        /* a multiple of WALK_LINE */
    uint32_t rows;
    uint32_t entry;
    const struct graph_copy *copies; /* looked at only with `allowed` */
    uint32_t copy_count;
    const struct walk_allowed *allowed; /* NULL: every row */
};

/* What fell out of the pool after it had been expanded: the last of it when there is more than
 * room. Later ones are nearer: the pool's last distance never grows. */
struct walk_trail {
    uint64_t *keys; /* a ring */
    size_t mask;    /* a power of two, less 1 */
    size_t count;   /* ever pushed */
};

/* Room for lists of this stride and a pool of ef. */
bool walk_reserve_lists(struct walk_scratch *scratch, uint32_t rows, uint32_t stride, uint32_t ef);

/* graph_walk() over lists; trail may be NULL. ef >= 1. */
size_t walk_lists_search(const struct walk_lists *lists, const struct code_plane *plane,
                         const struct code_query *query, uint32_t ef, struct walk_trail *trail,
                         struct walk_scratch *scratch);

static inline size_t walk_lines(size_t ids) { return (ids + WALK_LINE - 1) & ~(WALK_LINE - 1u); }

#endif
