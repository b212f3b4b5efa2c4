/* cursor.h - cursors as queries make them. */
#ifndef PAUA_DB_CURSOR_H
#define PAUA_DB_CURSOR_H

#include "db/db.h"

/* A cursor that walks a snapshot; opts may be NULL. */
paua_status cursor_new(paua_collection *c, const paua_read_opts *opts, paua_cursor **cursor,
                       paua_error *err);
const struct view *cursor_view(const paua_cursor *cursor);
/* Makes it go through these places instead, which it takes over. */
void cursor_set_places(paua_cursor *cursor, struct place *places, size_t first, size_t end);

#endif
