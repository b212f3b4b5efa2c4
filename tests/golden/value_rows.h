/* value_rows.h - what the golden database with indexes of fields holds, as arithmetic.
 *
 * Collection "values": keys 0 .. 1023 in one segment. "few" has a bitmap of seven values, "many" an
 * index that is sorted, and "text" a bitmap of which most values have one row. */
#ifndef PAUA_TESTS_GOLDEN_VALUE_ROWS_H
#define PAUA_TESTS_GOLDEN_VALUE_ROWS_H

#include <stdio.h>

#include "support/support.h"

#define GOLDEN_VALUE_ROWS 1024u
#define GOLDEN_TEXT_NBYTES 16u

static inline paua_value golden_few(uint32_t row)
{
    return (paua_value){.type = row % 11 == 0 ? PAUA_TYPE_NULL : PAUA_TYPE_INT8,
                        .as.i64 = (int64_t)(row % 7) - 3};
}

static inline paua_value golden_many(uint32_t row)
{
    return (paua_value){.type = PAUA_TYPE_DOUBLE, .as.f64 = (double)(row * 389 % 1024) / 8 - 64};
}

/* Every fourth row says the same. */
static inline paua_value golden_text(uint32_t row, char text[GOLDEN_TEXT_NBYTES])
{
    paua_value value = {.type = PAUA_TYPE_STRING};

    snprintf(text, GOLDEN_TEXT_NBYTES, "%u", row % 4 == 0 ? 4 : row);
    value.as.bytes = test_string(text);
    return value;
}

#endif
