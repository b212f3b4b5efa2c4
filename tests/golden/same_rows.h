/* same_rows.h - whether two rows of histories are the same. */
#ifndef PAUA_TESTS_GOLDEN_SAME_ROWS_H
#define PAUA_TESTS_GOLDEN_SAME_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <paua/paua_history.h>

#define GOLDEN_COLUMNS_MAX 128u

/* Ids, times, text, cells, with what their styles are; styles may be numbered otherwise. */
void assert_rows_same(const paua_history_row *a, const paua_history_row *b);

#endif
