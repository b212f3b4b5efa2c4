/* group_hits.h - keeping only the nearest few rows of each value of a field. */
#ifndef PAUA_DB_GROUP_HITS_H
#define PAUA_DB_GROUP_HITS_H

#include "base/topk.h"
#include "db/view.h"

/* Shortens a sorted list to at most k candidates, at most `most` of each value of the field; NULL
 * is a value too. */
paua_status group_hits(const struct view *view, uint32_t field, uint32_t most, uint32_t k,
                       struct topk *list, paua_error *err);

#endif
