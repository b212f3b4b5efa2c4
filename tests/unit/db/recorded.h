/* recorded.h - what tests of a database's histories share: rows that say their number. */
#ifndef PAUA_TESTS_RECORDED_H
#define PAUA_TESTS_RECORDED_H

#include "support/support.h"

#include <paua/paua_db_history.h>

/* Opens a history, making it, with these options; size is filled in. */
paua_db_history *recorded_open(paua_db *db, const char *name, paua_db_history_opts opts);

/* Appends rows "row N of the history", styled now and then, with time 1000 + N. */
void recorded_append(paua_db_history *h, uint64_t first, uint64_t count);
paua_status recorded_try(paua_db_history *h, uint64_t first, uint64_t count, paua_error *err);

/* A view of the handle, whose rows are those of these numbers, one by one. */
void assert_recorded(paua_db_history *h, uint64_t first, uint64_t count);
void assert_recorded_view(paua_history_view *view, uint64_t first, uint64_t count);

paua_db_history_info recorded_info(paua_db_history *h);

/* Files of a directory whose name ends like this. */
size_t recorded_files(const char *path, const char *suffix);

#endif
