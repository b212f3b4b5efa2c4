/* load_indexes.h - definitions of indexes, codes and graphs, from the catalogue into a view. */
#ifndef PAUA_DB_LOAD_INDEXES_H
#define PAUA_DB_LOAD_INDEXES_H

#include "db/view.h"
#include "store/catalog.h"

/* Inside a read transaction; the view's segments are loaded. What `old` (may be NULL) has open is
 * shared. PAUA_ECORRUPT if a record or file is damaged, PAUA_EVERSION, PAUA_ENOMEM. */
paua_status load_indexes(struct catalog *catalog, struct dir *dir, struct artifact_opts opts,
                         const struct view *old, struct view *view, paua_error *err);

#endif
