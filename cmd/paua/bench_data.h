/* bench_data.h - the files that benchmarks read: rows, queries, and the true nearest rows. */
#ifndef PAUA_CMD_BENCH_DATA_H
#define PAUA_CMD_BENCH_DATA_H

#include "cli.h"
#include "reader.h"

/* The format that a path's suffix names, or NULL with the message printed. */
const struct file_format *bench_format(const char *path);

/* The dimension of a file of vectors. EXIT_OK, or the error was printed. */
int bench_dim(const char *path, uint32_t *dim);

struct bench_queries {
    float *vectors; /* count x dim */
    size_t count;
    size_t dim;
};

/* Reads up to `most` queries of the schema's first field. bench_queries_free() if it succeeded. */
int bench_queries_read(const char *path, const paua_schema *schema, size_t most,
                       struct bench_queries *queries);
void bench_queries_free(struct bench_queries *queries);

/* Ids of rows, k places a query, in the order of distance; counts[q] of them are used. */
struct bench_ids {
    uint64_t *ids; /* count x k */
    size_t *counts;
    size_t count; /* queries */
    size_t k;
};

void bench_ids_begin(struct bench_ids *ids, size_t count, size_t k);
void bench_ids_free(struct bench_ids *ids);

/* Takes the first k hits of each query of `hits` for the queries from `first` on. */
void bench_ids_take(struct bench_ids *ids, size_t first, const paua_hits *hits);

/* Reads the first k ids of each query from an ivecs file that has at least as many queries. Ids of
 * rows that the base of `rows` rows does not have are refused: it is the truth of another base. */
int bench_truth_read(const char *path, uint64_t rows, struct bench_ids *truth);

/* The share of the true ids that were found, over all queries. */
double bench_recall(const struct bench_ids *truth, const struct bench_ids *found);

struct bench_load {
    const struct cli *cli;
    const char *path;   /* of the base */
    uint64_t rows_most; /* at most so many of its rows */
    size_t batch_most;  /* rows of one insert at most; fewer if their vectors are long */
    uint64_t rows;      /* result: inserted */
    bool cut;           /* result: the base has more */
};

/* Inserts the rows of a file in batches, their numbers as keys. Holds one batch. */
int bench_load(struct bench_load *load, paua_collection *collection);

#endif
