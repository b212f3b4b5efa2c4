/* utf8.h - strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef PAUA_BASE_UTF8_H
#define PAUA_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Number of leading bytes that are valid; equal to length when all are. */
size_t utf8_valid_prefix(const void *bytes, size_t length);

/* Length of the character that begins at `bytes`, of which `left` (at least 1) can be read; 0 if it
 * is not valid, or cut short. */
size_t utf8_character(const void *bytes, size_t left);

/* Writes the 1 to 4 bytes of a code point below U+110000 at `to`; returns their number. */
uint32_t utf8_encode(uint32_t point, char *to);

#endif
