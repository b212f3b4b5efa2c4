/* index_print.h - indexes as text and as JSON, for the commands that show them. */
#ifndef PAUA_CMD_INDEX_PRINT_H
#define PAUA_CMD_INDEX_PRINT_H

#include "cli.h"

/* The numbers of a vamana index, e.g. "degree 64, list 100, occlusion 750, alpha 1.2"; empty for
 * other kinds. Returns out. */
#define INDEX_NUMBERS_NBYTES 96
const char *index_numbers(const paua_index_params *params, char out[INDEX_NUMBERS_NBYTES]);

/* Bytes of codes, factors, graph and ordered values; the same for each row that the index covers, 0
 * if it covers none. */
uint64_t index_nbytes(const paua_index *index);
double index_row_nbytes(const paua_index *index);

/* One index as a JSON object. */
json_t *index_json(const paua_index *index);

#endif
