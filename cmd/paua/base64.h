/* base64.h - bytes in JSON: RFC 4648 section 4, with padding. */
#ifndef PAUA_CMD_BASE64_H
#define PAUA_CMD_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASE64_NBYTES(nbytes) (((nbytes) + 2) / 3 * 4)

/* Writes BASE64_NBYTES(nbytes) characters, no NUL. */
void base64_encode(const uint8_t *bytes, size_t nbytes, char *text);

/* out holds length / 4 * 3 bytes. False if the text is no base64: *at is its first bad
 * character. */
bool base64_decode(const char *text, size_t length, uint8_t *out, size_t *out_nbytes, size_t *at);

#endif
