/* index.h - definitions of indexes, and building what they ask for. */
#ifndef PAUA_DB_INDEX_H
#define PAUA_DB_INDEX_H

#include "db/db.h"

/* Checks a caller's parameters for a vector field and fills in defaults; the definition's
 * collection and number are the caller's business. PAUA_EINVAL. kind NONE is refused here. */
paua_status index_define(const struct schema *schema, uint32_t field, const char *name,
                         const paua_index_params *params, struct index_definition *definition,
                         paua_error *err);
/* The parameters as the public API shows them. */
paua_index_params index_params(const struct index_definition *definition);

/* Inside a write transaction: stores a definition. */
paua_status index_store(struct catalog *catalog, const struct index_definition *definition,
                        paua_error *err);

/* Does a segment of the view lack codes or a graph that a definition asks for? */
bool index_build_due(const struct view *view, uint32_t rows_min);

/* With optimize_mutex held, and as the collection's writer: builds what segments of more than
 * rows_min rows lack, one file after the other, each published by its own commit. Searches and
 * writes go on. */
paua_status index_build(struct paua_collection *c, uint32_t rows_min,
                        const paua_optimize_opts *opts, paua_error *err);

#endif
