/* paua_filter.h - filters: conditions on fields, in the language of paua-filter(7), or built by
 * calls.
 *
 * A filter is immutable, belongs to no collection, and may serve many calls of many threads. Field
 * names and types are looked up when it is used: an unknown field, or a comparison that the field's
 * type does not have, is PAUA_EINVAL there. Included by <paua/paua.h>. */
#ifndef PAUA_PAUA_FILTER_H
#define PAUA_PAUA_FILTER_H

#include <paua/paua_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct paua_filter paua_filter;

/* Parses text of at most 1 MiB. PAUA_EINVAL with line, column and the offending text; nesting of
 * more than 200 is refused. Free it with paua_filter_free(). */
PAUA_API paua_status paua_filter_parse(const char *text, size_t nbytes, paua_filter **filter,
                                       paua_error *err);

typedef enum paua_op {
    PAUA_EQ = 1,
    PAUA_NE,
    PAUA_LT,
    PAUA_LE,
    PAUA_GT,
    PAUA_GE,
    PAUA_LIKE,
    PAUA_NOT_LIKE,
    PAUA_IN,
    PAUA_NOT_IN,
    PAUA_BETWEEN, /* two values, both included */
    PAUA_NOT_BETWEEN,
    PAUA_IS_NULL, /* no value */
    PAUA_IS_NOT_NULL,
    PAUA_CONTAIN_ALL,
    PAUA_NOT_CONTAIN_ALL,
    PAUA_CONTAIN_ANY,
    PAUA_NOT_CONTAIN_ANY
} paua_op;

/* A condition on one field; count values, copied. length: compare the array's length instead.
 * LIKE takes a pattern, and after it, if not a backslash, the escape character (or ""). */
PAUA_API paua_status paua_filter_compare(const char *field, bool length, paua_op op,
                                         const paua_value *values, size_t count,
                                         paua_filter **filter, paua_error *err);
/* All, or any, of count conditions (count 0: true, or false), and the opposite of one. They take
 * over what they combine, on success. */
PAUA_API paua_status paua_filter_all(paua_filter *const *filters, size_t count,
                                     paua_filter **filter, paua_error *err);
PAUA_API paua_status paua_filter_any(paua_filter *const *filters, size_t count,
                                     paua_filter **filter, paua_error *err);
PAUA_API paua_status paua_filter_not(paua_filter *inner, paua_filter **filter, paua_error *err);
PAUA_API void paua_filter_free(paua_filter *filter); /* NULL does nothing */

/* The filter as text that parses to the same (if it is not above 1 MiB): a string to free with
 * free(), or NULL when out of memory. nbytes, which may be NULL, is its length: strings in it may
 * hold NUL. */
PAUA_API char *paua_filter_text(const paua_filter *filter, size_t *nbytes);

#ifdef __cplusplus
}
#endif
#endif
