/* field_rows.h - what the golden database with fields holds, as arithmetic.
 *
 * Collection "fields": keys 0 .. 39 were inserted and sealed, 5 to 9 patched, 40 .. 49 sealed after
 * them, which put those patches into the catalogue; 50 .. 59 are in the tail, and so is a patch of
 * 12 and one of 51. The field "gone" was dropped, and "text" had another name at first. */
#ifndef PAUA_TESTS_GOLDEN_FIELD_ROWS_H
#define PAUA_TESTS_GOLDEN_FIELD_ROWS_H

#include "support/support.h"

#define GOLDEN_FIELD_ROWS 60u
#define GOLDEN_FIELDS 7u
#define GOLDEN_TAGS_MAX 3u

extern const paua_field golden_fields[GOLDEN_FIELDS]; /* in the order of their making */

/* Room for what a value points to. */
struct golden_room {
    char text[64];
    paua_value items[GOLDEN_TAGS_MAX];
};

bool golden_is_patched(uint32_t row);
/* The value of a field; patched: as it was after the patch, which changes "n" and "text". */
paua_value golden_value(uint32_t field, uint32_t row, bool patched, struct golden_room *room);

#endif
