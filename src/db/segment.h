/* segment.h - an immutable run of rows: parts one after the other, and one key file over them all.
 * Reference-counted; any thread. */
#ifndef PAUA_DB_SEGMENT_H
#define PAUA_DB_SEGMENT_H

#include "db/key_index.h"
#include "db/part.h"

struct segment {
    _Atomic uint32_t refs;
    const struct schema *schema;
    struct manifest manifest;
    uint32_t record_crc; /* of the manifest record in the catalogue */
    uint32_t rows;
    struct part_data **parts;  /* manifest.part_count */
    uint32_t *first_positions; /* position in the segment of each part's row 0 */
    struct data_file *keys;
};

/* Takes the manifest over (it is freed on failure too). Parts that one of `others` (count may be 0)
 * already holds open are shared. */
paua_status segment_open(struct dir *dir, const struct schema *schema, struct manifest *manifest,
                         uint32_t record_crc, struct data_file_opts opts,
                         struct segment *const *others, size_t other_count,
                         struct segment **segment, paua_error *err);
struct segment *segment_ref(struct segment *segment);
void segment_unref(struct segment *segment);

/* The part that holds a position, and the row in it. */
struct part_data *segment_part(const struct segment *segment, uint32_t position, uint32_t *row);

/* Are all originals of a field there? */
bool segment_has_vectors(const struct segment *segment, uint32_t field);

uint64_t segment_row_id(const struct segment *segment, uint32_t position);
uint32_t segment_find_row(const struct segment *segment, uint64_t id); /* UINT32_MAX: not here */

/* Finds the row that has this key and is not in `deleted` (may be NULL); UINT32_MAX: none. */
paua_status segment_find(const struct segment *segment, const roaring_bitmap_t *deleted,
                         struct key key, uint64_t hash, uint32_t *position, paua_error *err);

paua_status segment_key(const struct segment *segment, uint32_t position, struct writer *scratch,
                        struct key *key, paua_error *err);

#endif
