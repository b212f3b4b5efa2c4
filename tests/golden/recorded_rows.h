/* recorded_rows.h - the histories of the golden database with histories, the same for ever. */
#ifndef PAUA_TESTS_GOLDEN_RECORDED_ROWS_H
#define PAUA_TESTS_GOLDEN_RECORDED_ROWS_H

#include "support/support.h"

#include <paua/paua_db_history.h>

/* "every kind of row": the rows of history-v1, in pages of 40; the last one is in the catalogue.
 * "trimmed": rows "line 1", "line 2" ..., the first ones gone; its pages do not compress. */
#define GOLDEN_EVERY "every kind of row"
#define GOLDEN_TRIMMED "trimmed"
#define GOLDEN_EVERY_ROWS 401u
#define GOLDEN_EVERY_PAGE_ROWS 40u
#define GOLDEN_TRIMMED_ROWS 10u
#define GOLDEN_TRIMMED_LAST 95u
#define GOLDEN_TRIMMED_PAGE_ROWS 2u

/* The history in the file `history-v1/history` of this folder. */
paua_history *golden_rows(const char *folder);

/* "line N", at time 5000 + N. */
paua_history_new_row golden_line(uint64_t number, char text[32]);

#endif
