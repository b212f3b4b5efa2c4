/* graph.h - a directed graph over the rows of one segment, and the walk that searches it.
 *
 * Row i's neighbours are degree ids at neighbours + i * stride; a list shorter than its place is
 * padded with i itself. Rows that are bit for bit equal to an earlier row (copies) are not in the
 * graph: their lists are all padding, and `copies` says whom they equal.
 *
 * Source: Vamana, Subramanya et al., NeurIPS 2019 (DiskANN); batches: ParlayANN, PPoPP 2024. */
#ifndef PAUA_INDEX_GRAPH_H
#define PAUA_INDEX_GRAPH_H

#include <stdbool.h>

#include <paua/paua.h>

#include "index/model.h"

#define GRAPH_DEGREE_MAX 512u
#define GRAPH_LIST_MAX 4096u /* of the build's own search */

struct graph_params {
    uint32_t degree;    /* most neighbours of a row; 4 to GRAPH_DEGREE_MAX; default 64 */
    uint32_t list;      /* pool of the build's search; >= 1; default 100 */
    uint32_t occlusion; /* most candidates that pruning looks at; default 750 */
    float alpha;        /* 1 to 2; default 1.2 */
};

struct graph_copy {
    uint32_t row; /* equal to row `of`, of < row; of is no copy itself */
    uint32_t of;
};

struct graph {
    uint32_t rows;
    uint32_t degree;
    uint32_t stride;            /* ids from list to list: degree rounded up to 16 */
    uint32_t entry;             /* no copy; 0 when there are no rows */
    const uint32_t *neighbours; /* rows x stride, 64-byte aligned */
    uint32_t copy_count;
    const struct graph_copy *copies; /* sorted by of, then row */
};

struct graph_build_opts {
    struct graph_params params;
    uint32_t threads;
    const struct graph_copy *copies; /* borrowed; sorted by of, then row */
    uint32_t copy_count;
    paua_progress_fn progress; /* may be NULL; called from the calling thread */
    void *progress_arg;
    const paua_cancel *cancel; /* may be NULL */
};

/* Builds over the rows of a walk plane; *neighbours (owned by the caller, mem_free) is rows x
 * stride, the same for any number of threads. The graph's metric is D of the model; under inner
 * product some of each list are near by l2. Every row that is no copy can be reached from the
 * entry. Memory: 1.25 x degree x 4 bytes a row, 12 a row (28 under inner product), a byte a
 * component of short rows and 16 a row, and a batch's edges.
 * PAUA_ECANCELED, PAUA_ENOMEM. */
paua_status graph_build(const struct model *model, const struct code_plane *plane, uint32_t rows,
                        const struct graph_build_opts *opts, struct graph *graph,
                        uint32_t **neighbours, paua_error *err);

/* What graph_check says about a graph whose arrays come from anywhere. */
struct graph_report {
    uint64_t edges;
    uint32_t unreachable; /* rows that are no copies */
    uint32_t most;        /* greatest degree */
};
/* PAUA_ECORRUPT with what is wrong: an id out of range, a neighbour twice, padding before the end,
 * a copy with neighbours, copies out of order, a bad entry. Reachability is counted only. */
paua_status graph_check(const struct graph *graph, struct graph_report *report, paua_error *err);

/* Reused by searches of one thread, whatever graph they search. Zero-initialize. */
struct walk_scratch {
    uint32_t *visited;
    size_t visited_words;
    uint64_t *pool;
    size_t pool_capacity;
    uint64_t *found; /* of one hop */
    uint32_t *ids;
    size_t ids_capacity;
    uint64_t compared; /* rows compared so far, for explain and benchmarks */
};
/* Room for a graph and ef; false when out of memory. Allocates only when more is needed. */
bool walk_reserve(struct walk_scratch *scratch, const struct graph *graph, uint32_t ef);
void walk_free(struct walk_scratch *scratch);

/* Best-first search from the entry with a pool of ef keys (code_key), beam of 3. On return
 * scratch->pool holds the count kept, sorted by key, bit 0 of each set; no copies. Needs
 * walk_reserve. No allocation, no lock, no system call. */
size_t graph_walk(const struct graph *graph, const struct code_plane *plane,
                  const struct code_query *query, uint32_t ef, struct walk_scratch *scratch);

/* Rows that a walk may meet: a bit each; and rows among them to start from besides the entry. */
struct walk_allowed {
    const uint64_t *bits;
    const uint32_t *seeds;
    uint32_t seed_count; /* at most WALK_SEEDS_MAX */
};
#define WALK_SEEDS_MAX 32u

/* The same, meeting only allowed rows; where a list names few of them, the lists of the others that
 * it names are looked through, too. The pool may hold the entry though it is not allowed. */
size_t graph_walk_allowed(const struct graph *graph, const struct code_plane *plane,
                          const struct code_query *query, uint32_t ef,
                          const struct walk_allowed *allowed, struct walk_scratch *scratch);

#endif
