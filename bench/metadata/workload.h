/* workload.h - what the metadata benchmark stores. */
#ifndef PAUA_BENCH_METADATA_WORKLOAD_H
#define PAUA_BENCH_METADATA_WORKLOAD_H

#include "stores.h"

/* repeated  keys "meta_key_K", one of `values` strings "meta_value_K_V" in each row: the founding
 *           workload
 * distinct  every value another, 14 bytes
 * names     of 30 characters, one in fifty twice
 * sparse    four of `keys` keys in each row
 * False if there is no such shape. The same arguments give the same rows. */
bool workload_make(const char *shape, uint32_t rows, uint32_t keys, uint32_t values,
                   struct workload *workload);
void workload_free(struct workload *workload);

uint64_t next_random(uint64_t *state);

#endif
