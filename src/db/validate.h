/* validate.h - every invariant of a view, walked. paua_check and the tests run the same code. */
#ifndef PAUA_DB_VALIDATE_H
#define PAUA_DB_VALIDATE_H

#include "db/view.h"

/* Called for each thing that is wrong; file may be NULL when it is not one file's fault. */
typedef void (*validate_report_fn)(void *arg, const char *file, const char *what);

struct validate {
    validate_report_fn report;
    void *arg;
    paua_progress_fn progress; /* may be NULL */
    void *progress_arg;
    uint64_t done, total; /* rows */
    uint64_t problems;
};

/* Checks every page of every sealed file; every key found at its own row, and every live key at no
 * other; every vector finite; every document readable, and text where the schema says so. Tails
 * were verified when they were loaded. Returns PAUA_ENOMEM, or PAUA_OK however much was found. */
paua_status view_validate(const struct view *view, struct validate *v);

#endif
