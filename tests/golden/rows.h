/* rows.h - what the golden database holds, as arithmetic: exact in half precision.
 *
 * Each collection had the same life: rows 0 .. 29 were inserted and sealed, some deleted and some
 * replaced, rows 30 .. 39 sealed as a second segment (in "strings" the first was rewritten before,
 * with gaps), rows 40 .. 49 left in the tail, one of them deleted and one replaced, and row 2
 * deleted last.
 *
 * "indexed" is another: keys 0 .. GOLDEN_INDEXED_ROWS - 1 in a segment with codes and graphs, where
 * the originals of "coded" are gone, the last GOLDEN_INDEXED_TAIL of all in the tail; then every
 * GOLDEN_INDEXED_DEAD-th was deleted. */
#ifndef PAUA_TESTS_GOLDEN_ROWS_H
#define PAUA_TESTS_GOLDEN_ROWS_H

#include "support/support.h"

#define GOLDEN_ROWS 50u
#define GOLDEN_DIM_MAX 5u
#define GOLDEN_DOCUMENT_MAX 300u

#define GOLDEN_INDEXED_ROWS 1040u
#define GOLDEN_INDEXED_TAIL 10u
#define GOLDEN_INDEXED_DEAD 13u
#define GOLDEN_INDEXED_DIM 4u

struct golden {
    const char *name;
    struct test_schema schema;
    bool gaps; /* more was deleted, and the first segment rewritten */
};

extern const struct golden golden_collections[];
extern const size_t golden_count;

bool golden_live(const struct golden *g, uint32_t row);
uint32_t golden_version(uint32_t row); /* 1 if it was replaced */
void golden_vector(const struct golden *g, uint32_t field, uint32_t row, uint32_t version,
                   float *vector);
/* room: GOLDEN_DOCUMENT_MAX bytes. */
paua_bytes golden_document(const struct golden *g, uint32_t row, uint32_t version, char *room);
/* The key of a row, in static memory until the next call. */
paua_keys golden_key(const struct golden *g, uint32_t row);

extern const paua_vector_field golden_indexed_fields[2];
extern const paua_index_params golden_index; /* of each; "more", of "kept", is flat */
/* The vector of either field, in [-4, 4). */
void golden_indexed_vector(uint32_t field, uint32_t row, float *vector);

#endif
