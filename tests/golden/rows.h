/* rows.h - what the golden database holds, as arithmetic: exact in half precision.
 *
 * Each collection had the same life: rows 0 .. 29 were inserted and sealed, some deleted and some
 * replaced, rows 30 .. 39 sealed as a second segment (in "strings" the first was rewritten before,
 * with gaps), rows 40 .. 49 left in the tail, one of them deleted and one replaced, and row 2
 * deleted last. */
#ifndef PAUA_TESTS_GOLDEN_ROWS_H
#define PAUA_TESTS_GOLDEN_ROWS_H

#include "support/support.h"

#define GOLDEN_ROWS 50u
#define GOLDEN_DIM_MAX 5u
#define GOLDEN_DOCUMENT_MAX 300u

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

#endif
