/* cuts.h - a number among the keys of a type: which lie below it, which are it, which lie above. */
#ifndef PAUA_FILTER_CUTS_H
#define PAUA_FILTER_CUTS_H

#include "column/match.h"

struct cuts {
    struct key_range below, equal, above;
    bool has_below, has_equal, has_above;
    bool nan; /* `equal` is where it stands in the order, but nothing is equal to it */
};

/* All keys of a type of numbers. */
struct key_range type_keys(uint32_t type);

/* Where an INT64, UINT64 or DOUBLE lies among the keys of an integer type, float or double; a BOOL
 * among those of bool; a TIMESTAMP among those of timestamp. Exact, but that a double is first
 * rounded to float for a float type, as it is when it is stored. */
struct cuts cuts_of(uint32_t type, const paua_value *value);

#endif
