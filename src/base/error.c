/* error.c - one line for a person.
 *
 * Messages hold file names and keys, which may be any bytes. What is stored is always UTF-8 without
 * control characters: each byte that is not becomes '?'. A message that is too long loses its last
 * character whole. The text is built beside err first, so that a caller may pass err->message
 * itself as an argument. No allocation: this also runs when memory is out. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* What a failed system call means to a person. */
static const struct {
    int number;
    paua_status status;
    const char *advice;
} ERRORS[] = {
    {ENOSPC, PAUA_ENOSPACE, "free some space and try again"},
    {EDQUOT, PAUA_ENOSPACE, "the quota is used up; free some space and try again"},
    {ENOMEM, PAUA_ENOMEM, "free some memory and try again"},
    {ENOENT, PAUA_ENOTFOUND, "check the path"},
    {EROFS, PAUA_EREADONLY, "the medium is read-only; open the database read-only"},
    {EMFILE, PAUA_EIO, "raise the limit of open files (ulimit -n)"},
    {ENFILE, PAUA_EIO, "too many files are open on this machine; close some"},
    {EFBIG, PAUA_EIO, "the file system or a limit (ulimit -f) forbids files this large"},
    {EACCES, PAUA_EIO, "check the permissions"},
    {EPERM, PAUA_EIO, "check the permissions"},
};

/* Words in `doing` that say that a refused access was one for writing. */
static const char *const WRITING[] = {"writ", "creat", "renam", "remov", "truncat"};

/* Makes text printable in place. cut: its end may be the beginning of a longer character. */
static void make_printable(char *text, bool cut)
{
    size_t length = strlen(text), at = 0;

    while (at < length) {
        size_t valid = at + utf8_valid_prefix(text + at, length - at);

        for (; at < valid; at++)
            if ((unsigned char)text[at] < 0x20 || text[at] == 0x7F) text[at] = '?';
        if (at == length) return;
        if (cut && length - at < 4 && (unsigned char)text[at] >= 0xC0) {
            text[at] = '\0';
            return;
        }
        text[at++] = '?';
    }
}

static paua_status fill(paua_error *err, paua_status status, uint64_t row, const char *format,
                        va_list args)
{
    char text[sizeof err->message];
    int length;

    if (err == NULL) return status;
    length = vsnprintf(text, sizeof text, format, args);
    if (length < 0) text[0] = '\0';
    make_printable(text, length >= (int)sizeof text);
    err->status = status;
    err->row = row;
    memcpy(err->message, text, sizeof text);
    return status;
}

paua_status error_set(paua_error *err, paua_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(err, status, PAUA_NO_ROW, format, args);
    va_end(args);
    return status;
}

paua_status error_set_row(paua_error *err, paua_status status, uint64_t row, const char *format,
                          ...)
{
    va_list args;

    va_start(args, format);
    fill(err, status, row, format, args);
    va_end(args);
    return status;
}

static bool says_writing(const char *doing)
{
    for (size_t i = 0; i < sizeof WRITING / sizeof WRITING[0]; i++)
        if (strstr(doing, WRITING[i]) != NULL) return true;
    return false;
}

paua_status error_set_errno(paua_error *err, int error_number, const char *file, const char *doing)
{
    paua_status status = PAUA_EIO;
    const char *advice = "check the disk and the system log";
    char text[128];

    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++) {
        if (ERRORS[i].number != error_number) continue;
        status = ERRORS[i].status;
        advice = ERRORS[i].advice;
    }
    if (error_number == EACCES && says_writing(doing)) {
        status = PAUA_EREADONLY;
        advice = "check the permissions, or open the database read-only";
    }
    return error_set(err, status, "%s: %s: %s; %s", file, doing,
                     strerror_r(error_number, text, sizeof text), advice);
}

paua_status error_set_nomem(paua_error *err)
{
    return error_set(err, PAUA_ENOMEM, "out of memory; free some memory and try again");
}
