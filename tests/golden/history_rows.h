/* history_rows.h - the rows of the golden history, the same for ever. */
#ifndef PAUA_TESTS_GOLDEN_HISTORY_ROWS_H
#define PAUA_TESTS_GOLDEN_HISTORY_ROWS_H

#include "base/bytes.h"
#include "unit/history/support.h"

#define GOLDEN_PAGE_ROWS 40u
#define GOLDEN_ROWS 401u

/* A history of them: pages compressed alone and against others, and a tail that does not compress.
 * How pages are cut, and their payloads, are part of the format; compressed bytes are not. */
paua_history *golden_history(void);

/* The payload of page `at`, or of the tail if there is no such page. */
void golden_payload(paua_history *h, size_t at, struct writer *payload);

#endif
