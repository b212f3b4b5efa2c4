/* span.h - copying text up to the next control byte, which is how a payload's text is read. */
#ifndef PAUA_HISTORY_SPAN_H
#define PAUA_HISTORY_SPAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SPAN_STEP 16u /* bytes taken at a time: the room that is written to behind a span's end */

/* Bytes of a word below 0x20, as high bits; those above the lowest may be wrong. */
static inline uint64_t span_controls(uint64_t word)
{
    return (word - UINT64_C(0x2020202020202020)) & ~word & UINT64_C(0x8080808080808080);
}

/* Copies text up to the next control byte, `most` bytes at most; returns how many they are. What is
 * copied beyond them does not matter: `to` has SPAN_STEP bytes to spare. */
static inline size_t span_copy(const uint8_t *from, const uint8_t *end, size_t most, char *to)
{
    size_t left = (size_t)(end - from), at = 0;

    for (; at < most && left - at >= SPAN_STEP; at += SPAN_STEP) {
        uint64_t words[2], first, second;

        memcpy(words, from + at, sizeof words);
        memcpy(to + at, words, sizeof words);
        first = span_controls(words[0]);
        second = span_controls(words[1]);
        if ((first | second) == 0) continue;
        at += first != 0 ? (size_t)__builtin_ctzll(first) / 8
                         : 8 + (size_t)__builtin_ctzll(second) / 8;
        return at < most ? at : most;
    }
    for (; at < most && at < left && from[at] >= 0x20; at++)
        to[at] = (char)from[at];
    return at < most ? at : most;
}

#endif
