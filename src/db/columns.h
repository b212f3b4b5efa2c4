/* columns.h - writing the column file of a segment, and folding patches into it. */
#ifndef PAUA_DB_COLUMNS_H
#define PAUA_DB_COLUMNS_H

#include "db/db.h"

/* A field whose values are to be those of another, in another type. */
struct conversion {
    uint32_t from, from_type;
    uint32_t to, to_type;
};

/* Rows of a segment that is being made: where each comes from. */
struct column_rows {
    const struct view *view;
    const struct field_list *fields;     /* NULL: the view's */
    const struct conversion *conversion; /* NULL: none */
    uint32_t rows;
    struct place (*place_of)(const void *arg, uint32_t row);
    const void *arg;
};

/* Writes the values of all fields, patches folded in, those of dead rows left out, under a number
 * of its own. ref->number becomes 0 if there are no values. On failure no file is left. opts (may
 * be NULL) gives progress and cancel. */
paua_status columns_write(struct paua_collection *c, const struct column_rows *rows,
                          uint64_t segment, const paua_optimize_opts *opts, struct file_ref *ref,
                          paua_error *err);

/* Opens what columns_write wrote for the segment of a slot. */
paua_status columns_open(struct paua_collection *c, const struct file_ref *ref,
                         struct view_segment *slot, paua_error *err);

/* Inside a write transaction: the record of a slot's column file, or none. */
paua_status columns_store(struct catalog *catalog, const struct view_segment *slot,
                          paua_error *err);

/* Adds to `edit` what `now` has and `folded` has not, with rows moved by `position` (UINT32_MAX:
 * the row is gone). */
paua_status columns_carry(struct patch_edit *edit, struct patches *now,
                          const struct patches *folded,
                          uint32_t (*position)(const void *arg, uint32_t row), const void *arg,
                          paua_error *err);

/* Rewrites column files whose segments have patches, or hold fields that were dropped; in the
 * background only where patches are many. With optimize_mutex held. */
bool columns_fold_due(const struct view *view, enum merge_policy policy);
paua_status columns_fold(struct paua_collection *c, enum merge_policy policy,
                         const paua_optimize_opts *opts, paua_error *err);

#endif
