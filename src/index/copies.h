/* copies.h - rows of a walk plane that are equal to an earlier row: graphs leave them out, since
 * many equal rows would fill each other's lists of neighbours. */
#ifndef PAUA_INDEX_COPIES_H
#define PAUA_INDEX_COPIES_H

#include "index/graph.h"

/* Rows with equal codes and factors (aux among them, the exact norm) as an earlier row: *copies, to
 * be freed with mem_free, sorted by `of`, then by row. PAUA_ENOMEM. Memory: 16 bytes a row while it
 * works. */
paua_status copies_find(const struct code_plane *plane, uint32_t rows, struct graph_copy **copies,
                        uint32_t *count, paua_error *err);

/* The copies of a row: their number, and the first in graph->copies. */
uint32_t copies_of(const struct graph *graph, uint32_t row, const struct graph_copy **first);

#endif
