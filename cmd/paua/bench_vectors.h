/* bench_vectors.h - what the files of paua bench vectors share. */
#ifndef PAUA_CMD_BENCH_VECTORS_H
#define PAUA_CMD_BENCH_VECTORS_H

#include "bench.h"
#include "bench_data.h"
#include "latency.h"

struct vectors {
    struct cli *cli;
    struct bench_dir dir;

    /* asked for */
    struct bench_load load;
    const char *query;
    const char *truth; /* NULL: none given */
    paua_vector_field field;
    paua_schema schema;
    paua_open_opts open;
    paua_search_opts search;
    uint32_t threads; /* of building, and of the search for truth */
    uint32_t workers;
    double seconds;

    struct bench_queries queries;
    struct bench_ids found; /* by the serial searches */
    struct bench_ids true_ids;

    /* measured */
    double insert_s, optimize_s, reopen_ms;
    struct latency *serial, *concurrent; /* one of each */
    double serial_s, concurrent_s;
    double recall;
    bool truth_computed;
    paua_index_params params; /* of the index, defaults filled in */
    uint64_t walk_nbytes, refine_nbytes, factor_nbytes, graph_nbytes, disk_nbytes;
    struct bench_memory after_insert, after_optimize, after_search;
};

/* Runs the workers for their time: each its own hits, one query a call, in turn. */
int vectors_concurrent(struct vectors *vectors, paua_collection *collection);

/* Reads the file of truth, if one is given, only to see whether it is one, of a base of at most
 * so many rows: better now than after an hour of building. */
int vectors_truth_check(const struct vectors *vectors, uint64_t rows);

/* Fills true_ids from the file of truth, or by exact search over fp32 where there is none or rows
 * were left out. Runs last: its memory is nobody's business. */
int vectors_truth(struct vectors *vectors);

/* Prints a table, or with --csv a head and a row, and the JSON line. */
void vectors_report(const struct vectors *vectors);

#endif
