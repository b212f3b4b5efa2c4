/* text.h - bytes of unknown origin made safe and short enough for a terminal. */
#ifndef PAUA_CMD_TEXT_H
#define PAUA_CMD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_NO_LIMIT SIZE_MAX

/* Prints bytes: control characters and invalid UTF-8 as \n, \t, \r, \\x1b; the rest as it is. No
 * more than `width` columns: what is longer is cut before a whole grapheme and ends in "...".
 * Returns the columns used. out == NULL only measures. */
size_t text_print(FILE *out, const void *bytes, size_t nbytes, size_t width);

/* Length of the valid character at bytes (nbytes >= 1), with its code point; 0 if invalid. */
size_t text_decode(const uint8_t *bytes, size_t nbytes, uint32_t *point);

/* Whether all bytes are valid UTF-8; if not, *at is the offset of the first that is not. */
bool text_valid(const void *bytes, size_t nbytes, size_t *at);

/* Columns of standard output: of COLUMNS, of the terminal, or TEXT_NO_LIMIT for a pipe or file. */
size_t text_terminal_width(void);

#endif
