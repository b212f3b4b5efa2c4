/* rebuild_codes.h - finding the codes of a segment again when the catalogue is lost. */
#ifndef PAUA_DB_REBUILD_CODES_H
#define PAUA_DB_REBUILD_CODES_H

#include "db/segment.h"
#include "store/catalog.h"

/* Stores artifact records for those of the numbered files of codes that were made of this segment's
 * vectors, one a field. Files that cannot be opened are passed over. */
paua_status rebuild_codes(struct dir *dir, struct catalog *catalog, const struct segment *segment,
                          const uint64_t *numbers, size_t count, paua_error *err);

#endif
