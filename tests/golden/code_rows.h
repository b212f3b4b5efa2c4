/* code_rows.h - what the golden database with codes holds, as arithmetic.
 *
 * Collection "codes": keys 0 .. GOLDEN_CODE_ROWS - 1 in one segment, of two vector fields. "unit",
 * by its cosine, has a graph and int4 codes, which are all that is kept of it; "plain", by l2, has
 * codes that are compared one by one, and its originals. The last GOLDEN_CODE_COPIES rows repeat
 * rows 0, 7, 14 and so on, so that the graph has copies. */
#ifndef PAUA_TESTS_GOLDEN_CODE_ROWS_H
#define PAUA_TESTS_GOLDEN_CODE_ROWS_H

#include "support/support.h"

#define GOLDEN_CODE_ROWS 1008u
#define GOLDEN_CODE_COPIES 16u
#define GOLDEN_CODE_APART 7u /* of rows that are repeated */
#define GOLDEN_UNIT_DIM 40u
#define GOLDEN_PLAIN_DIM 12u
#define GOLDEN_CODE_DIM_MAX GOLDEN_UNIT_DIM

extern const paua_vector_field golden_code_fields[2];

/* The first row of the same vectors. */
uint32_t golden_code_same(uint32_t row);

/* The vector of a field of any row, also of those that are not stored: for queries. */
void golden_code_vector(uint32_t field, uint32_t row, float *vector);

#endif
