/* bench_history.h - what the parts of paua bench history share. */
#ifndef PAUA_CMD_BENCH_HISTORY_H
#define PAUA_CMD_BENCH_HISTORY_H

#include <paua/paua_history.h>

#include "bench.h"

/* Memory that histories hold, by the library's own allocator hook. */
struct history_meter {
    size_t live;
    size_t allocated; /* by all requests, a resized block counted whole */
};

paua_history_allocator history_meter_allocator(struct history_meter *meter);

/* Rows of vev-vt's fixtures, made a few at a time. */
#define FILL_ROWS 64u

struct history_fill {
    uint32_t fixture; /* index into fixture_names */
    uint32_t cols;
    paua_history_cell *cells;   /* FILL_ROWS x cols */
    paua_history_style *styles; /* the same, or those of all rows */
    paua_history_new_row rows[FILL_ROWS];
};

extern const char *const fixture_names[];

void history_fill_begin(struct history_fill *fill, uint32_t fixture, uint32_t cols);
void history_fill_end(struct history_fill *fill);

/* Makes rows first .. first + FILL_ROWS - 1. */
void history_fill_rows(struct history_fill *fill, uint64_t first);

struct history_bench {
    struct cli *cli;
    struct history_meter meter;
    paua_history_scratch *scratch;
    uint64_t rows;
    uint32_t cols;
    uint32_t chunk_rows;
    uint32_t fixture;
};

/* Opens an empty history of the bench's meter, scratch and chunk rows. */
int history_bench_open(struct history_bench *bench, const paua_history_limits *limits,
                       paua_history **history);

/* --small and --restore (bench_history_restore.c). */
int history_bench_small(struct history_bench *bench);
int history_bench_restore(struct history_bench *bench, const char *size);

#endif
