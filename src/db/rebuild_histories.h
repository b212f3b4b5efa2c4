/* rebuild_histories.h - making the records of histories anew when the catalogue is lost. */
#ifndef PAUA_DB_REBUILD_HISTORIES_H
#define PAUA_DB_REBUILD_HISTORIES_H

#include "db/check.h"

/* Inside a write transaction of the new catalogue: a record and groups for each history that has
 * files of pages. *number_max becomes the highest of their numbers if that is higher. */
paua_status rebuild_histories(struct check *check, struct dir *dir, struct catalog *catalog,
                              uint64_t *number_max, paua_error *err);

#endif
