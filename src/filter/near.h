/* near.h - names like one that was mistyped. */
#ifndef PAUA_FILTER_NEAR_H
#define PAUA_FILTER_NEAR_H

#include "filter/filter.h"

#define NEAR_NBYTES 256u

/* "; did you mean A, B or C?" of the fields whose names are nearest, or "". */
void near_names(const struct filter_fields *fields, const char *name, size_t nbytes,
                char list[NEAR_NBYTES]);

#endif
