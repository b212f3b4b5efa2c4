/* edit.h - deletions and new values of fields that are being made on top of a view: sets are copied
 * when first changed. */
#ifndef PAUA_DB_EDIT_H
#define PAUA_DB_EDIT_H

#include "db/view.h"

struct edit {
    const struct view *view;
    roaring_bitmap_t **sets;     /* segment_count + 1; NULL: as in the view */
    struct patch_edit **patches; /* the same */
};

paua_status edit_begin(struct edit *edit, const struct view *view);
void edit_end(struct edit *edit); /* frees what edit_apply did not take */

/* The dead rows of a source as edited; NULL for none. */
const roaring_bitmap_t *edit_deleted(const struct edit *edit, uint32_t source);
/* PAUA_OK or PAUA_ENOMEM. */
paua_status edit_delete(struct edit *edit, struct place place);
/* Takes a deletion back. */
void edit_restore(struct edit *edit, struct place place);

/* Replaces the value of a field: PAUA_OK or PAUA_ENOMEM; and takes the last change of a source
 * back. */
paua_status edit_patch(struct edit *edit, struct place place, uint32_t field,
                       const struct cell *cell);
void edit_patch_undo(struct edit *edit, uint32_t source);
/* The same where nothing is ever taken back (patch_edit_replace). */
paua_status edit_patch_replace(struct edit *edit, struct place place, uint32_t field,
                               const struct cell *cell);
/* The value of a field as edited. */
paua_status edit_cell(const struct edit *edit, struct place place, uint32_t field,
                      struct cell *cell, paua_error *err);

/* Finds the live row of a key as edited, with tail_rows rows of the tail visible. */
paua_status edit_find(const struct edit *edit, uint32_t tail_rows, struct key key,
                      struct place *place, paua_error *err);

/* Moves what was edited into a copy of the view that the edit began on. */
paua_status edit_apply(struct edit *edit, struct view *copy);

#endif
