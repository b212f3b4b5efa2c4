/* used_files.h - the numbers of all data files that the catalogue names. */
#ifndef PAUA_DB_USED_FILES_H
#define PAUA_DB_USED_FILES_H

#include "db/db.h"

struct used_files {
    uint64_t *numbers; /* sorted */
    size_t count, capacity;
};

/* PAUA_OK only if every record could be read: otherwise nothing may be called unused. The caller
 * frees in either case. */
paua_status used_files_load(paua_db *db, struct used_files *used);
bool used_files_has(const struct used_files *used, uint64_t number);
void used_files_free(struct used_files *used);

#endif
