/* payload_scan.c - whether a payload's text can have a string in it, without making rows of it.
 *
 * A cold search reads every page, and few have what is looked for. Of a page that has not, nothing
 * is needed but its text without style tokens, in which soft rows follow each other as they do in a
 * line: copying that together takes a tenth of the time that checking it and making a block do.
 * Tables are passed over unchecked. The payload's hash has been compared; what the answer says of a
 * payload that nobody would write does not matter, as long as it is read within its bounds. */
#include "history/payload.h"

#include <string.h>

#include "history/span.h"
#include "history/width.h"

static void skip_varints(struct reader *r, uint64_t count)
{
    for (uint64_t i = 0; i < count && !r->short_read; i++)
        reader_varint(r);
}

static void skip_colour(struct reader *r) { reader_bytes(r, reader_u8(r) == 1 ? 1 : 3); }

static void skip_styles(struct reader *r, uint64_t count)
{
    for (uint64_t i = 0; i < count && !r->short_read; i++) {
        uint8_t has = reader_u8(r);

        if (has & 1) skip_colour(r);
        if (has & 2) skip_colour(r);
        if (has & 4) skip_colour(r);
        if (has & 8) reader_bytes(r, 2);
        if (has & 16) reader_varint(r);
    }
}

static void skip_links(struct reader *r)
{
    uint64_t count = reader_varint(r);

    for (uint64_t i = 0; i < 2 * count && !r->short_read; i++) /* an id and a URI each */
        reader_bytes(r, reader_varint(r));
}

static void skip_wraps(struct reader *r, uint64_t rows)
{
    const uint8_t *bits = reader_bytes(r, (rows + 7) / 8);
    uint64_t soft = 0;

    for (uint64_t i = 0; bits != NULL && i < (rows + 7) / 8; i++)
        soft += (uint64_t)__builtin_popcount(bits[i]);
    skip_varints(r, soft);
}

static void skip_shapes(struct reader *r)
{
    uint64_t count = reader_varint(r);

    for (uint64_t i = 0; i < count && !r->short_read; i++) {
        reader_varint(r);
        reader_u8(r);
    }
}

/* Passes over everything before the text; false if that is not to be understood. */
static bool skip_tables(struct reader *r, bool *styled)
{
    uint32_t version = reader_u8(r), flags = reader_u8(r);
    uint64_t rows = reader_varint(r), styles;

    reader_varint(r); /* width */
    styles = reader_varint(r);
    if (r->short_read || version != WIDTH_RULE_VERSION || rows == 0 || rows > BLOCK_ROWS_MAX)
        return false;
    *styled = styles > 0;
    skip_styles(r, styles);
    skip_links(r);
    if (flags & PAYLOAD_WIDTHS) skip_varints(r, rows - 1);
    if (flags & PAYLOAD_ENDS) skip_varints(r, rows);
    if (flags & PAYLOAD_IDS) skip_varints(r, rows - 1);
    if (flags & PAYLOAD_TIMES) skip_varints(r, rows - 1);
    if (flags & PAYLOAD_WRAPS) skip_wraps(r, rows);
    if (flags & PAYLOAD_SHAPES) skip_shapes(r);
    return !r->short_read;
}

/* The text without style tokens; ends of lines stay, since nothing that is looked for has one. */
static bool strip(struct reader *r, struct writer *plain)
{
    size_t nbytes = 0, room = reader_left(r) + SPAN_STEP;
    char *to;

    plain->length = 0;
    to = (char *)writer_room(plain, room);
    if (to == NULL) return false;
    while (reader_left(r) > 0) {
        size_t span = span_copy(r->at, r->end, SIZE_MAX, to + nbytes);

        r->at += span;
        nbytes += span;
        if (reader_left(r) == 0) break;
        if (*r->at == PAYLOAD_LINE_END) to[nbytes++] = PAYLOAD_LINE_END;
        if (reader_u8(r) == PAYLOAD_STYLE_FAR) reader_varint(r);
    }
    plain->length = nbytes;
    return true;
}

/* Whether the text may have a character beyond ASCII that folds to letters in it, such as the sharp
 * s or the Kelvin sign: U+00DF, and some of U+0100 to U+017F, U+01C0 to U+01FF, U+1E80 to U+1EBF,
 * U+2100 to U+213F, and U+FB00 to U+FB3F. */
static bool folds_to_ascii(const uint8_t *text, size_t nbytes)
{
    uint8_t any = 0; /* as narrow as the text, for compilers that make vectors of it */

    for (size_t i = 0; i + 1 < nbytes; i++) {
        uint8_t a = text[i], b = text[i + 1];

        any |= (uint8_t)((a == 0xC3) & (b == 0x9F));
        any |= (uint8_t)((a == 0xC4) | (a == 0xC5) | (a == 0xC7));
        any |= (uint8_t)((a == 0xE1) & (b == 0xBA));
        any |= (uint8_t)((a == 0xE2) & (b == 0x84));
        any |= (uint8_t)((a == 0xEF) & (b == 0xAC));
    }
    return any != 0;
}

/* Folds what of the text is ASCII; false if more than that would fold to ASCII. */
static bool lower(uint8_t *text, size_t nbytes)
{
    if (folds_to_ascii(text, nbytes)) return false;
    for (size_t i = 0; i < nbytes; i++) {
        uint8_t is_capital = (uint8_t)((text[i] >= 'A') & (text[i] <= 'Z'));

        text[i] = (uint8_t)(text[i] | is_capital << 5);
    }
    return true;
}

bool payload_may_contain(const void *bytes, size_t nbytes, const struct sought *sought,
                         struct writer *plain)
{
    struct reader r = reader_over(bytes, nbytes);
    bool styled;

    if (!skip_tables(&r, &styled)) return true;
    if (!styled && !sought->any_case)
        return memmem(r.at, reader_left(&r), sought->text, sought->nbytes) != NULL;
    if (plain->failed || plain->capacity > 4 * (size_t)BLOCK_NBYTES_MAX) writer_free(plain);
    if (!strip(&r, plain)) return true;
    if (sought->any_case && !lower(plain->bytes, plain->length)) return true;
    return memmem(plain->bytes, plain->length, sought->text, sought->nbytes) != NULL;
}
