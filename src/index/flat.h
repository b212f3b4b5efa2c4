/* flat.h - exact distances from queries to stored vectors.
 *
 * Kernels work in floats; a distance is a double. Where floats cannot carry the answer - a sum that
 * overflowed or fell under the smallest normal numbers, or two vectors so close that rounding would
 * decide - the distance is computed again in doubles from the stored components. So a vector is at
 * distance exactly 0 from itself under l2 and cosine, and nothing finite gives infinity or NaN.
 *
 * The distance of a row depends on query, row and kernel tier alone: a batch of queries gives the
 * bits that its queries give one by one. */
#ifndef PAUA_INDEX_FLAT_H
#define PAUA_INDEX_FLAT_H

#include <stdbool.h>
#include <stdint.h>

#include <paua/paua.h>

#include "kernel/kernel.h"

#define FLAT_BLOCK_ROWS 256u /* most rows that one call takes */

struct flat_query {
    const struct kernels *kernels;
    const float *query;  /* dim floats, as given */
    const float *scaled; /* cosine: the query at length 1; otherwise as given */
    uint32_t dim;
    paua_metric metric;
    paua_precision precision; /* of the rows */
    double norm;              /* |query|^2 */
};

/* Prepares a query; scaled: room for dim floats, used by cosine. Borrows both. */
void flat_query_init(struct flat_query *q, const float *query, uint32_t dim, paua_metric metric,
                     paua_precision precision, float *scaled);

/* Distances of n <= FLAT_BLOCK_ROWS rows, row_nbytes apart. */
void flat_distances(const struct flat_query *q, const void *rows, size_t row_nbytes, uint32_t n,
                    double *distances);

/* KERNEL_TILE_QUERIES queries side by side, for a block of rows against many queries. */
struct flat_panel {
    const struct flat_query *queries[KERNEL_TILE_QUERIES];
    uint32_t count;
    float *packed; /* dim x KERNEL_TILE_QUERIES floats, 64-byte aligned; the caller's */
};

/* Packs scaled queries as columns, zero beyond count. */
void flat_panel_pack(struct flat_panel *panel);

/* What a block of rows needs once for all panels. */
struct flat_block {
    const void *rows;             /* as stored */
    const float *wide;            /* as floats: rows itself for fp32 */
    size_t row_nbytes;            /* of rows */
    uint32_t n;                   /* <= FLAT_BLOCK_ROWS */
    float norms[FLAT_BLOCK_ROWS]; /* |row|^2 */
};

/* wide: room for n x dim floats (used by fp16). */
void flat_block_init(struct flat_block *block, const struct flat_query *any, const void *rows,
                     size_t row_nbytes, uint32_t n, float *wide);

/* For each query t of a panel, marks the rows of a block that may lie within bounds[t] (infinity:
 * all): bit t of may[i]. Rows that are not marked are certainly farther; marked ones still need
 * flat_distances. tile: room for FLAT_BLOCK_ROWS x KERNEL_TILE_QUERIES floats. */
void flat_panel_scan(const struct flat_panel *panel, const struct flat_block *block,
                     const double *bounds, float *tile, uint32_t *may);

#endif
