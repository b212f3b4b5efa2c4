/* fold.c - full case folding by utf8proc (Unicode's CaseFolding, C and F), character by character.
 *
 * One character may fold to several ("ß" to "ss"), so folded text has other offsets than its
 * source. The few characters that shift it are noted; a match counts if it begins and ends where
 * characters of the source do. ASCII folds by a loop that compilers turn into vector code; what has
 * no folding is copied. No normalization: composed and decomposed letters stay different. */
#include "history/fold.h"

#include <utf8proc.h>

#include "base/utf8.h"
#include "history/width.h"

#define FOLDED_POINTS_MAX 16
#define FOLDED_NBYTES_MAX 64u /* of one character */

void fold_init(struct fold *f, struct heap *heap) { *f = (struct fold){.heap = heap}; }

void fold_free(struct fold *f)
{
    HEAP_FREE_ARRAY(f->heap, f->text, f->text_capacity);
    HEAP_FREE_ARRAY(f->heap, f->seams, f->seam_capacity);
}

static char fold_ascii(char c) { return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

/* Adds a character of the source that is at `at`, folded; there is room for it. */
static bool fold_character(struct fold *f, uint32_t point, uint32_t at, uint32_t length)
{
    utf8proc_int32_t points[FOLDED_POINTS_MAX];
    size_t begin = f->nbytes;
    int last = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)point, points,
                                                     FOLDED_POINTS_MAX, UTF8PROC_CASEFOLD, &last);

    if (count < 0 || count > FOLDED_POINTS_MAX) {
        points[0] = (utf8proc_int32_t)point;
        count = 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++)
        f->nbytes += utf8_encode((uint32_t)points[i], f->text + f->nbytes);
    if (count == 1 && f->nbytes - begin == length) return true;
    if (!HEAP_GROW(f->heap, f->seams, f->seam_capacity, f->seam_count + 1)) return false;
    f->seams[f->seam_count++] = (struct fold_seam){.at = (uint32_t)begin,
                                                   .source = at,
                                                   .nbytes = (uint8_t)(f->nbytes - begin),
                                                   .source_nbytes = (uint8_t)length};
    return true;
}

static bool has_folding(uint32_t point)
{
    return utf8proc_get_property((utf8proc_int32_t)point)->casefold_seqindex != UINT16_MAX;
}

bool fold_text(struct fold *f, const char *text, size_t nbytes)
{
    f->nbytes = f->seam_count = 0;
    if (!HEAP_GROW(f->heap, f->text, f->text_capacity, nbytes + 1)) return false;
    if (width_is_ascii(text, nbytes)) {
        for (size_t i = 0; i < nbytes; i++)
            f->text[i] = fold_ascii(text[i]);
        f->nbytes = nbytes;
        return true;
    }
    for (size_t at = 0; at < nbytes;) {
        uint32_t length = 1, point;

        if (f->text_capacity - f->nbytes < FOLDED_NBYTES_MAX &&
            !HEAP_GROW(f->heap, f->text, f->text_capacity, f->text_capacity + FOLDED_NBYTES_MAX))
            return false;
        if ((uint8_t)text[at] < 0x80) {
            f->text[f->nbytes++] = fold_ascii(text[at]);
        } else {
            point = width_decode(text + at, &length);
            if (has_folding(point)) {
                if (!fold_character(f, point, (uint32_t)at, length)) return false;
            } else {
                memcpy(f->text + f->nbytes, text + at, length);
                f->nbytes += length;
            }
        }
        at += length;
    }
    return true;
}

/* Where byte `at` of the folded text is in the source; false inside a character of it. */
static bool source_of(const struct fold *f, size_t at, size_t *source)
{
    const struct fold_seam *seam;
    size_t low = 0, high = f->seam_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (f->seams[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    *source = at;
    if (low == 0) return true;
    seam = &f->seams[low - 1];
    *source = seam->source;
    if (at == seam->at) return true;
    *source += seam->source_nbytes + (at - seam->at) - seam->nbytes;
    return at - seam->at >= seam->nbytes;
}

bool fold_source(const struct fold *f, size_t begin, size_t end, size_t *from, size_t *to)
{
    return source_of(f, begin, from) && source_of(f, end, to);
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
