/* width.c - clusters and widths by rule version 1.
 *
 * Stored rows do not say where their cells are: the text does, by this rule, and a page lists the
 * few clusters that its writer cut otherwise (block.h, shapes). So the rule may never change; a
 * better one gets the next version number, which each page carries. It is simpler than UAX 29 on
 * purpose: it looks at no more than neighbouring code points, and whoever clusters by UAX 29
 * differs from it in rare scripts only, at 8 bytes a difference.
 *
 * A cluster is a code point and what joins it: code points of width 0, whatever but ASCII follows a
 * zero-width joiner, a skin tone after a wide code point, a second regional indicator after a
 * first. It is as wide as its first code point (at least 1), and 2 if it is a pair of regional
 * indicators or holds U+FE0F. It never grows over 128 bytes; what would not fit begins a new one.
 * So ASCII always begins a cluster, and spaces can be cut off or added behind any text. */
#include "history/width.h"

#include <assert.h>
#include <string.h>

#include <paua/paua_history.h>

#include "base/utf8.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

uint32_t width_cluster(const char *at, uint32_t left, uint32_t *nbytes)
{
    uint32_t step, first = width_decode(at, &step);
    struct growing_cluster c = width_begin(first, step);

    assert(left > 0);
    while (c.nbytes < left && (uint8_t)at[c.nbytes] >= 0x80) {
        uint32_t point = width_decode(at + c.nbytes, &step);

        if (!width_join(&c, point, step)) break;
    }
    *nbytes = c.nbytes;
    return c.width;
}

size_t width_plain(const char *text, size_t at, size_t stop, size_t end)
{
    size_t next = at;

    for (uint64_t word; stop - next >= sizeof word; next += sizeof word) {
        memcpy(&word, text + next, sizeof word);
        if ((word & HIGH_BITS) != 0) break;
    }
    while (next < stop && (uint8_t)text[next] < 0x80)
        next++;
    if (next > at && next < end && (uint8_t)text[next] >= 0x80) next--;
    return next - at;
}

bool width_is_ascii(const char *text, size_t nbytes)
{
    uint64_t seen = 0, word;
    size_t at = 0;

    for (; nbytes - at >= sizeof word; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        seen |= word;
    }
    for (; at < nbytes; at++)
        seen |= (uint8_t)text[at];
    return (seen & HIGH_BITS) == 0;
}

bool width_text_valid(const char *text, size_t nbytes)
{
    uint8_t bad = 0;

    for (size_t at = 0; at < nbytes; at++)
        bad |= (uint8_t)((uint8_t)text[at] < 0x20) | (uint8_t)((uint8_t)text[at] == 0x7F);
    if (bad != 0) return false;
    if (width_is_ascii(text, nbytes)) return true;
    for (size_t at = 0; at + 1 < nbytes; at++) /* C1 controls are C2 80 to C2 9F */
        if ((uint8_t)text[at] == 0xC2 && (uint8_t)text[at + 1] < 0xA0) return false;
    return utf8_valid_prefix(text, nbytes) == nbytes;
}
