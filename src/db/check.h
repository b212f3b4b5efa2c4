/* check.h - what paua_check and its rebuilding share. */
#ifndef PAUA_DB_CHECK_H
#define PAUA_DB_CHECK_H

#include <paua/paua.h>

#include "db/db.h"

struct check {
    const paua_check_opts *opts; /* never NULL */
    const char *path;
    bool fatal; /* something fatal was found */
};

/* Passes one finding on. */
void check_report(struct check *check, bool fatal, const char *file, const char *what,
                  const char *advice);

/* Passes on a call's message, "FILE: what; advice", each of the three once. file: NULL: the one
 * that the message names, else the catalogue. advice: NULL: the message's own. */
void check_report_message(struct check *check, const char *file, const char *message,
                          const char *advice);

/* Makes a new catalogue from the footers of sealed files. */
paua_status check_rebuild(struct check *check, paua_error *err);

/* Checks every history of an open database. Errors: those that keep it from looking. */
paua_status check_histories(struct check *check, paua_db *db, paua_error *err);

#endif
