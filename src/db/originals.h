/* originals.h - giving up the vectors of a field that are not to be kept, once there are codes. */
#ifndef PAUA_DB_ORIGINALS_H
#define PAUA_DB_ORIGINALS_H

#include "db/db.h"

/* Does a segment still hold a field's originals though it has codes and need not keep them? */
bool originals_due(const struct view_segment *slot, uint32_t field);

/* With optimize_mutex held, as the collection's writer: puts stubs in the place of the field's
 * vector files and publishes a view without them. Readers who have the files open keep them. What a
 * crash leaves undone is done by the next call. */
paua_status originals_drop(struct paua_collection *c, struct segment *segment, uint32_t field,
                           paua_error *err);

#endif
