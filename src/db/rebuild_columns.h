/* rebuild_columns.h - finding the column files of a lost catalogue's segments. */
#ifndef PAUA_DB_REBUILD_COLUMNS_H
#define PAUA_DB_REBUILD_COLUMNS_H

#include "db/fields.h"
#include "db/segment.h"

/* Fields of a collection that is being rebuilt, gathered from its column files. */
struct rebuild_fields {
    struct field_item *items;
    size_t count, capacity;
};

/* Finds a segment's newest column file among the numbers, stores its record, gathers its fields and
 * adds it to the digest of the head. */
paua_status rebuild_columns(struct dir *dir, struct catalog *catalog, const struct segment *segment,
                            const uint64_t *numbers, size_t count, struct rebuild_fields *fields,
                            uint32_t *digest, paua_error *err);

/* Stores the fields gathered, adds them to the digest, and forgets them. */
paua_status rebuild_fields_store(struct catalog *catalog, struct rebuild_fields *fields,
                                 uint32_t *digest, paua_error *err);

#endif
