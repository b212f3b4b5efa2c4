/* left_behind.h - codes, graphs and ordered values that one view has and its successor has not.
 * Both views have the same segments, in the same places; new ones may follow. */
#ifndef PAUA_DB_LEFT_BEHIND_H
#define PAUA_DB_LEFT_BEHIND_H

#include "db/view.h"
#include "store/catalog.h"

/* Inside a write transaction: their records go. */
paua_status left_behind_delete(struct catalog *catalog, const struct view *now,
                               const struct view *next, paua_error *err);
/* After it: their files go, best effort. */
void left_behind_unlink(struct dir *dir, const struct view *now, const struct view *next);

/* Takes the ordered values of a field (0: of all fields) out of a slot. False: out of memory. */
bool slot_drop_values(struct view_segment *slot, uint32_t field);

#endif
