/* part.h - one set of sealed files: the vectors of each field and the documents of a run of rows.
 *
 * Segments are lists of parts; merging segments shares them, so a part is reference-counted. Rows
 * are numbered from 0 in the part; their ids rise from first_row, with gaps where a rewrite dropped
 * dead rows (then `ids` says which remain, relative to first_row). Immutable; any thread. */
#ifndef PAUA_DB_PART_H
#define PAUA_DB_PART_H

#include <stdatomic.h>

#include <roaring/roaring.h>

#include "codec/manifest.h"
#include "codec/schema.h"
#include "store/data_file.h"

#define HEAP_BASE_ROWS 64u /* SECTION_BASES has one offset for so many rows */

struct part_data {
    _Atomic uint32_t refs;
    const struct schema *schema;
    struct part part;
    struct data_file *vectors[PAUA_VECTOR_FIELDS_MAX];
    struct data_file *heap;
    roaring_bitmap_t *ids; /* NULL: no gaps */
};

/* Opens the files; PAUA_ECORRUPT if they do not have the rows that the manifest says. */
paua_status part_open(struct dir *dir, const struct schema *schema, const struct part *part,
                      struct data_file_opts opts, struct part_data **data, paua_error *err);
/* Are a field's originals there? Not where a stub has taken their place, which holds no rows: with
 * PAUA_ORIGINALS_NONE, once there are codes. */
bool part_has_vectors(const struct part_data *data, uint32_t field);

struct part_data *part_ref(struct part_data *data);
void part_unref(struct part_data *data);

uint64_t part_row_id(const struct part_data *data, uint32_t row);
/* Position of a row id, or UINT32_MAX if the part does not hold it. */
uint32_t part_find_row(const struct part_data *data, uint64_t id);

/* Stored bytes of n vectors from row on; in the map or in scratch. The part has vectors. */
paua_status part_vectors(const struct part_data *data, uint32_t field, uint32_t row, uint32_t n,
                         struct writer *scratch, const uint8_t **bytes, paua_error *err);

/* A row's document, in the map or in scratch; {NULL, 0} for none. */
paua_status part_document(const struct part_data *data, uint32_t row, struct writer *scratch,
                          paua_bytes *document, paua_error *err);

#endif
