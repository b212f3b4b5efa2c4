/* regex.h - regular expressions for searches, by PCRE2; a library built without it has none. */
#ifndef PAUA_HISTORY_REGEX_H
#define PAUA_HISTORY_REGEX_H

#include <stdbool.h>

#include "history/heap.h"

#define REGEX_LITERAL_NBYTES_MAX 64u

struct regex;

struct regex_opts {
    bool ignore_case;
    bool whole_word;
};

/* Compiles valid UTF-8. PAUA_EINVAL: the pattern is wrong, where and how is in err; PAUA_ENOTSUP:
 * this library was built without PCRE2; PAUA_ENOMEM. */
paua_status regex_make(struct heap *heap, const char *pattern, size_t nbytes,
                       const struct regex_opts *opts, struct regex **regex, paua_error *err);
void regex_free(struct regex *regex); /* NULL does nothing */

/* The first match of a line that begins at or after `from` and is not empty: stores whether there
 * is one, and where. PAUA_ETIMEOUT: it would take too many steps to tell; PAUA_ENOMEM. */
paua_status regex_find(struct regex *regex, const char *line, size_t nbytes, size_t from,
                       bool *found, size_t *begin, size_t *end);

/* Bytes that every match contains, as they stand (regex_literal.c): the longest run found, at most
 * REGEX_LITERAL_NBYTES_MAX; returns its length, 0 if none is certain. */
size_t regex_literal(const char *pattern, size_t nbytes, char *literal);

#endif
