/* like.h - patterns of LIKE. */
#ifndef PAUA_FILTER_LIKE_H
#define PAUA_FILTER_LIKE_H

#include <paua/paua.h>

#include "base/arena.h"

/* A compiled pattern: bytes of characters, and LIKE_ONE and LIKE_ANY, which UTF-8 does not have. */
#define LIKE_ONE 0xFEu
#define LIKE_ANY 0xFFu

/* Is it one character, or nothing (no escapes)? Valid UTF-8. */
bool like_escape_valid(const paua_bytes *escape);

/* Does every escape character have one to escape? escape NULL: the backslash. */
bool like_valid(const paua_bytes *pattern, const paua_bytes *escape);

/* Compiles a valid pattern. False: out of memory. */
bool like_compile(const paua_bytes *pattern, const paua_bytes *escape, struct arena *arena,
                  paua_bytes *compiled);

/* Does valid UTF-8 match? Case matters, and so does how a character is composed. */
bool like_matches(const paua_bytes *compiled, const uint8_t *data, size_t nbytes);

#endif
