/* value_cost.h - whether an index of a field's values is worth it: what a scan and what the index
 * would cost, in nanoseconds of one core, roughly. */
#ifndef PAUA_INDEX_VALUE_COST_H
#define PAUA_INDEX_VALUE_COST_H

#include "index/value_index.h"

/* The index is used below this share of a scan's cost: estimates err, and scans prefetch. */
#define VALUE_COST_SHARE 0.7

/* Scanning the column (view NULL: nothing). */
double value_scan_cost(const struct column_view *view, const struct column_test *test);

/* Finding so many spans of entries, and clearing the bitmap. */
double value_search_cost(const struct value_index *index, size_t spans);

/* Setting the bits of so many rows of so many entries. */
double value_rows_cost(const struct value_index *index, uint32_t entries, uint64_t rows);

#endif
