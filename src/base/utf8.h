/* utf8.h - strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef PAUA_BASE_UTF8_H
#define PAUA_BASE_UTF8_H

#include <stddef.h>

/* Number of leading bytes that are valid; equal to length when all are. */
size_t utf8_valid_prefix(const void *bytes, size_t length);

#endif
