/* utf8.c - see RFC 3629, section 4; the second byte's range depends on the first. */
#include "base/utf8.h"

#include <string.h>

#define HIGH_BITS UINT64_C(0x8080808080808080)

size_t utf8_character(const void *bytes, size_t left)
{
    const uint8_t *at = bytes;
    uint8_t lead = at[0], low = 0x80, high = 0xBF;
    size_t nbytes;

    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    nbytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (left < nbytes) return 0;

    if (lead == 0xE0) low = 0xA0;  /* overlong below */
    if (lead == 0xED) high = 0x9F; /* surrogates above */
    if (lead == 0xF0) low = 0x90;  /* overlong below */
    if (lead == 0xF4) high = 0x8F; /* beyond U+10FFFF above */
    if (at[1] < low || at[1] > high) return 0;
    for (size_t i = 2; i < nbytes; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    return nbytes;
}

size_t utf8_valid_prefix(const void *bytes, size_t length)
{
    const uint8_t *text = bytes;
    size_t at = 0;

    while (at < length) {
        uint64_t word;
        size_t step = 0;

        if (length - at >= sizeof word) {
            memcpy(&word, text + at, sizeof word);
            if ((word & HIGH_BITS) == 0) step = sizeof word;
        }
        if (step == 0) step = utf8_character(text + at, length - at);
        if (step == 0) return at;
        at += step;
    }
    return length;
}

uint32_t utf8_encode(uint32_t point, char *to)
{
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        to[0] = (char)(0xC0 | point >> 6);
        to[1] = (char)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        to[0] = (char)(0xE0 | point >> 12);
        to[1] = (char)(0x80 | (point >> 6 & 0x3F));
        to[2] = (char)(0x80 | (point & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | point >> 18);
    to[1] = (char)(0x80 | (point >> 12 & 0x3F));
    to[2] = (char)(0x80 | (point >> 6 & 0x3F));
    to[3] = (char)(0x80 | (point & 0x3F));
    return 4;
}
