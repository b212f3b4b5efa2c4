/* load_fields.h - fields, columns and patches of a view that is being loaded. Called inside the
 * read transaction of load.c. */
#ifndef PAUA_DB_LOAD_FIELDS_H
#define PAUA_DB_LOAD_FIELDS_H

#include "codec/batch.h"
#include "db/edit.h"
#include "store/catalog.h"

/* Fills view->fields. */
paua_status load_fields(struct catalog *catalog, struct view *view, paua_error *err);

/* Fills columns and patches of a slot whose segment is open; those that `old` (may be NULL) holds
 * open are shared. */
paua_status load_columns(struct catalog *catalog, struct dir *dir, struct data_file_opts opts,
                         const struct view *old, const struct view *view, struct view_segment *slot,
                         paua_error *err);

/* Puts what a batch says of fields into the tail's columns, from row `first` on, and into the
 * edit. */
paua_status load_batch_fields(struct view *view, struct edit *edit, const struct batch *batch,
                              uint32_t first, paua_error *err);

#endif
