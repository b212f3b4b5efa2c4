/* error.h - filling a caller's paua_error. */
#ifndef PAUA_BASE_ERROR_H
#define PAUA_BASE_ERROR_H

#include <paua/paua.h>

/* Writes status and message into err (which may be NULL) with row = PAUA_NO_ROW and returns status,
 * so that a failing function ends with `return error_set(err, PAUA_EIO, "%s: ...", name)`. The
 * message is cut at the end of a UTF-8 character; control bytes in it become '?'. */
paua_status error_set(paua_error *err, paua_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a row of the caller's batch. */
paua_status error_set_row(paua_error *err, paua_status status, uint64_t row, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* For a failed system call: ENOSPC and EDQUOT give PAUA_ENOSPACE, ENOMEM PAUA_ENOMEM, EROFS
 * PAUA_EREADONLY, and so does EACCES when `doing` says writing, creating, renaming, removing or
 * truncating; ENOENT PAUA_ENOTFOUND, others PAUA_EIO. The message is
 * "file: doing: strerror; advice", the advice by status. */
paua_status error_set_errno(paua_error *err, int error_number, const char *file, const char *doing);

paua_status error_set_nomem(paua_error *err);

#endif
