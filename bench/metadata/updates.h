/* updates.h - the metadata benchmark's loop of updates. */
#ifndef PAUA_BENCH_METADATA_UPDATES_H
#define PAUA_BENCH_METADATA_UPDATES_H

#include "stores.h"

struct update_figures {
    double round_ms;                  /* a tenth of the rows updated, foldings included */
    size_t early_nbytes, late_nbytes; /* the most held in the first twenty rounds, and later */
};

/* workload is of shape "repeated" with as many values a key. */
struct update_figures updates_run(const struct workload *workload, uint32_t values);

#endif
