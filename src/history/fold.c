/* fold.c - full case folding by utf8proc (Unicode's CaseFolding, C and F), character by character.
 *
 * One character may fold to several ("ß" to "ss"), so folded text has other offsets than its
 * source; a match counts if it begins and ends where characters of the source do. ASCII folds by a
 * loop that compilers turn into vector code. No normalization: composed and decomposed letters stay
 * different. */
#include "history/fold.h"

#include <utf8proc.h>

#include "history/width.h"

#define FOLDED_POINTS_MAX 16
#define FOLDED_NBYTES_MAX 64u /* of one character */

void fold_init(struct fold *f, struct heap *heap) { *f = (struct fold){.heap = heap}; }

void fold_free(struct fold *f)
{
    HEAP_FREE_ARRAY(f->heap, f->text, f->text_capacity);
    HEAP_FREE_ARRAY(f->heap, f->from, f->from_capacity);
}

static char fold_ascii(char c) { return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

/* Adds one character, folded. */
static bool fold_character(struct fold *f, uint32_t point, uint32_t at)
{
    utf8proc_int32_t points[FOLDED_POINTS_MAX];
    int last = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)point, points,
                                                     FOLDED_POINTS_MAX, UTF8PROC_CASEFOLD, &last);

    if (count < 0 || count > FOLDED_POINTS_MAX) {
        points[0] = (utf8proc_int32_t)point;
        count = 1;
    }
    if (!HEAP_GROW(f->heap, f->text, f->text_capacity, f->nbytes + FOLDED_NBYTES_MAX) ||
        !HEAP_GROW(f->heap, f->from, f->from_capacity, f->nbytes + FOLDED_NBYTES_MAX + 1))
        return false;
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        uint32_t nbytes = width_encode((uint32_t)points[i], f->text + f->nbytes);

        for (uint32_t k = 0; k < nbytes; k++)
            f->from[f->nbytes++] = at;
    }
    return true;
}

bool fold_text(struct fold *f, const char *text, size_t nbytes)
{
    f->nbytes = 0;
    f->same_length = width_is_ascii(text, nbytes);
    if (!HEAP_GROW(f->heap, f->text, f->text_capacity, nbytes + 1)) return false;
    if (f->same_length) {
        for (size_t i = 0; i < nbytes; i++)
            f->text[i] = fold_ascii(text[i]);
        f->nbytes = nbytes;
        return true;
    }
    for (size_t at = 0; at < nbytes;) {
        uint32_t length, point = width_decode(text + at, &length);

        if (!fold_character(f, point, (uint32_t)at)) return false;
        at += length;
    }
    f->from[f->nbytes] = (uint32_t)nbytes;
    return true;
}

bool fold_source(const struct fold *f, size_t begin, size_t end, size_t *from, size_t *to)
{
    if (f->same_length) {
        *from = begin;
        *to = end;
        return true;
    }
    if (begin > 0 && f->from[begin] == f->from[begin - 1]) return false;
    if (f->from[end] == f->from[end - 1]) return false;
    *from = f->from[begin];
    *to = f->from[end];
    return true;
}

bool fold_word_at(const char *text, size_t nbytes, size_t at)
{
    uint32_t length, point;
    utf8proc_category_t category;

    if (at >= nbytes) return false;
    point = width_decode(text + at, &length);
    if (point == '_') return true;
    category = utf8proc_category((utf8proc_int32_t)point);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

bool fold_word_before(const char *text, size_t at)
{
    size_t begin = at - 1;

    while (begin > 0 && ((uint8_t)text[begin] & 0xC0) == 0x80)
        begin--;
    return fold_word_at(text, at, begin);
}
