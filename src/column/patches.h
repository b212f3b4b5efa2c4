/* patches.h - values that replace those of a source's columns: an immutable set, shared by views.
 *
 * For each field, rows (rising) and their values. An update makes a new set that shares the fields
 * that it does not touch and copies those that it does: O(patches of these fields) a commit, and a
 * value that is replaced leaves no trace. Reference-counted; any thread. */
#ifndef PAUA_COLUMN_PATCHES_H
#define PAUA_COLUMN_PATCHES_H

#include "column/value.h"

struct patches;

struct patches *patches_ref(struct patches *patches); /* NULL stays NULL */
void patches_unref(struct patches *patches);          /* NULL does nothing */

/* Collects changes on top of a set (NULL: none). The last change of a row and field counts. */
struct patch_edit;
struct patch_edit *patch_edit_begin(struct patches *base); /* borrows base; NULL: out of memory */
/* PAUA_OK or PAUA_ENOMEM. The bytes are copied. */
paua_status patch_edit_put(struct patch_edit *edit, uint32_t field, uint32_t row,
                           const struct cell *cell);
/* The same in place of the last change of the row and field, which cannot be taken back: many
 * changes of the same rows take no more memory than one of each. */
paua_status patch_edit_replace(struct patch_edit *edit, uint32_t field, uint32_t row,
                               const struct cell *cell);
/* Number of changes so far, and going back to an earlier number. */
size_t patch_edit_count(const struct patch_edit *edit);
void patch_edit_undo(struct patch_edit *edit, size_t count);
/* The value as edited: true and *cell if this edit or its base replaces it. */
bool patch_edit_find(const struct patch_edit *edit, uint32_t field, uint32_t row,
                     struct cell *cell);
/* The new set (NULL if it is empty); the edit can go on afterwards only to be ended. */
paua_status patch_edit_apply(struct patch_edit *edit, struct patches **patches);
void patch_edit_end(struct patch_edit *edit); /* NULL does nothing */

/* The patches at their rows' new places, after a rewrite. map: new row of an old one, or UINT32_MAX
 * to leave it out; rising where old rows rise. NULL: rows stay, and it is the same set, referenced.
 * *mapped is NULL if nothing is left. */
paua_status patches_map(struct patches *patches, uint32_t (*map)(void *arg, uint32_t row),
                        void *arg, struct patches **mapped);
/* What `newer` has that `older` has not, or with another value: what was patched while a rewrite
 * that folded `older` in was at work. */
paua_status patches_since(struct patches *newer, const struct patches *older,
                          struct patches **since);

/* NULL has none. */
uint64_t patches_count(const struct patches *patches); /* of all fields */
uint32_t patches_field_count(const struct patches *patches, uint32_t field);
/* The i-th of a field, by row. */
uint32_t patches_row(const struct patches *patches, uint32_t field, uint32_t i);
void patches_cell(const struct patches *patches, uint32_t field, uint32_t i, struct cell *cell);
bool patches_find(const struct patches *patches, uint32_t field, uint32_t row, struct cell *cell);
/* Fields that have any: the i-th, rising; UINT32_MAX past the end. */
uint32_t patches_field(const struct patches *patches, uint32_t i);
size_t patches_nbytes(const struct patches *patches);

/* The record (magic "PPAT") in which the catalogue keeps a segment's patches. `type_of` gives a
 * field's type, 0 if it was dropped (its patches are left out). Decoding is strict and total: rows
 * below `rows`, rising, types those of the fields, values valid for them; PAUA_ECORRUPT,
 * PAUA_EVERSION, PAUA_ENOMEM. Layout: patches_record.c. */
paua_status patches_encode(const struct patches *patches, uint32_t (*type_of)(void *, uint32_t),
                           void *arg, struct writer *w);
paua_status patches_decode(const void *bytes, size_t nbytes, uint32_t rows,
                           uint32_t (*type_of)(void *, uint32_t), void *arg,
                           struct patches **patches);

#endif
