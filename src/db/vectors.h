/* vectors.h - originals of a segment's rows, read without a map: what building an index and
 * comparing candidates need, at no cost in resident memory. */
#ifndef PAUA_DB_VECTORS_H
#define PAUA_DB_VECTORS_H

#include "db/segment.h"

/* Rows first .. first + n - 1 of a field as n x dim floats. Any thread. */
paua_status vectors_read(const struct segment *segment, uint32_t field, uint32_t first, uint32_t n,
                         float *rows, paua_error *err);

/* One row's stored bytes, into `bytes`. */
paua_status vectors_read_row(const struct segment *segment, uint32_t field, uint32_t row,
                             void *bytes, paua_error *err);

/* Names the vector files of a field, in their order: another set of rows has another digest. */
uint64_t vectors_digest(const struct segment *segment, uint32_t field);

#endif
