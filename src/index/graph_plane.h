/* graph_plane.h - the codes of short rows, a byte a component, while a graph is built. */
#ifndef PAUA_INDEX_GRAPH_PLANE_H
#define PAUA_INDEX_GRAPH_PLANE_H

#include "index/model.h"

/* A plane of 8-bit codes in one group: component = factors[0] * (code - 128). */
struct graph_plane {
    struct code_plane plane; /* step_count 0: not worth it */
    void *memory;
};

/* Decodes the walk codes of all rows where that makes comparing them faster; else leaves an empty
 * plane. *made is overwritten. False when out of memory. */
bool graph_plane_init(struct graph_plane *made, const struct model *model,
                      const struct code_plane *walk, uint32_t rows, uint32_t threads);
void graph_plane_free(struct graph_plane *made);

/* Row `row` as a query: D(row, x), whose constant is the model's. values: step_count x 64, 64-byte
 * aligned. */
void graph_plane_query(const struct code_plane *plane, float constant, uint32_t row, int8_t *values,
                       struct code_query *out);

#endif
