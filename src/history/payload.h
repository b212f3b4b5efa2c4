/* payload.h - a page's rows as bytes: what gets compressed, and what is stored.
 *
 * Logical lines with their styles inline, behind the tables that the rows share
 * (docs/FORMAT-HISTORY.md). Ids and times are relative: the first ones are the frame's. */
#ifndef PAUA_HISTORY_PAYLOAD_H
#define PAUA_HISTORY_PAYLOAD_H

#include "base/bytes.h"
#include "history/builder.h"

#define PAYLOAD_WIDTHS 0x01u
#define PAYLOAD_ENDS 0x02u
#define PAYLOAD_IDS 0x04u
#define PAYLOAD_TIMES 0x08u
#define PAYLOAD_WRAPS 0x10u
#define PAYLOAD_SHAPES 0x20u
#define PAYLOAD_FLAGS 0x3Fu

/* Control bytes in the text. */
#define PAYLOAD_LINE_END 0x0Au
#define PAYLOAD_STYLE_FAR 0x0Du  /* then a varint: style - PAYLOAD_NEAR_STYLES */
#define PAYLOAD_STYLE_NEAR 0x0Eu /* this byte + style */
#define PAYLOAD_NEAR_STYLES 13u

#define PAYLOAD_NBYTES_MAX (4u * PAUA_HISTORY_ROW_NBYTES_MAX)

/* Appends the payload of rows first .. of a block. ids: room for style_count + link_count + 1
 * numbers. Whether memory ran out shows in w->failed. */
void payload_encode(const struct block *b, uint32_t first, uint16_t *ids, struct writer *w);

/* Decodes into an empty builder. PAUA_ECORRUPT, PAUA_EVERSION (a newer width rule), PAUA_ENOMEM;
 * the builder then holds rubbish, to be reset. */
paua_status payload_decode(const void *bytes, size_t nbytes, uint32_t row_count, uint64_t first_id,
                           int64_t first_time, struct builder *b);

/* What somebody looks for: bytes without control characters, at least one. Borrowed. */
struct sought {
    const char *text;
    size_t nbytes;
    bool any_case; /* text is ASCII without capitals; letters of either case will do */
};

/* Whether a line of the payload, or of what follows it, may have these bytes: false only if no line
 * that begins and ends here has them (payload_scan.c). plain is room for the text. Any bytes. */
bool payload_may_contain(const void *bytes, size_t nbytes, const struct sought *sought,
                         struct writer *plain);

#endif
