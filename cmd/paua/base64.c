/* base64.c - bytes in JSON: RFC 4648 section 4, with padding. */
#include "base64.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const uint8_t *bytes, size_t nbytes, char *text)
{
    for (size_t i = 0; i < nbytes; i += 3) {
        size_t left = nbytes - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        *text++ = alphabet[group >> 18];
        *text++ = alphabet[group >> 12 & 63];
        *text++ = left > 1 ? alphabet[group >> 6 & 63] : '=';
        *text++ = left > 2 ? alphabet[group & 63] : '=';
    }
}

static int value_of(char c)
{
    const char *found = c == 0 ? NULL : strchr(alphabet, c);

    return found == NULL ? -1 : (int)(found - alphabet);
}

bool base64_decode(const char *text, size_t length, uint8_t *out, size_t *out_nbytes, size_t *at)
{
    size_t padding = 0;
    size_t used = 0;

    *at = length;
    if (length % 4 != 0) return false;
    if (length > 0 && text[length - 1] == '=') padding = text[length - 2] == '=' ? 2 : 1;
    for (size_t i = 0; i < length; i += 4) {
        size_t digits = i + 4 == length ? 4 - padding : 4;
        uint32_t group = 0;
        for (size_t j = 0; j < 4; j++) {
            int value = j < digits ? value_of(text[i + j]) : 0;
            if (value < 0) {
                *at = i + j;
                return false;
            }
            group = group << 6 | (uint32_t)value;
        }
        for (size_t j = 0; j + 1 < digits; j++)
            out[used++] = (uint8_t)(group >> (16 - 8 * j));
    }
    *out_nbytes = used;
    return true;
}
