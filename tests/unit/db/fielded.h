/* fielded.h - a collection whose rows have fields; writing them, and asking for them, in one line.
 *
 * Keys are numbers; a new row's vector is (key, 1). Fields: "n" int64, "real" double, "text"
 * string, "raw" bytes. */
#ifndef PAUA_TESTS_FIELDED_H
#define PAUA_TESTS_FIELDED_H

#include "support/support.h"

paua_collection *fielded_create(paua_db *db, const char *name, bool dynamic);

static inline paua_value value_null(void) { return (paua_value){.type = PAUA_TYPE_NULL}; }
static inline paua_value value_i64(int64_t number)
{
    return (paua_value){.type = PAUA_TYPE_INT64, .as.i64 = number};
}
static inline paua_value value_real(double number)
{
    return (paua_value){.type = PAUA_TYPE_DOUBLE, .as.f64 = number};
}
paua_value value_text(const char *text);
paua_value value_bytes(const void *bytes, size_t nbytes);

enum fielded_op { FIELDED_INSERT, FIELDED_UPSERT, FIELDED_UPDATE };

/* n rows with any columns; only an insert gives vectors. */
paua_status fielded_write(paua_collection *c, enum fielded_op op, const uint64_t *keys, size_t n,
                          const paua_column *columns, size_t column_count,
                          const paua_write_opts *opts, paua_status *row_status, paua_error *err);

/* One row, one field; must succeed. */
void fielded_insert(paua_collection *c, uint64_t key, const char *field, paua_value value);
void fielded_update(paua_collection *c, uint64_t key, const char *field, paua_value value);
/* Keys first .. first + n - 1, "n" being the key; must succeed. */
void fielded_fill(paua_collection *c, uint64_t first, size_t n);

/* Is this the value of a stored row's field? */
bool fielded_is(paua_collection *c, uint64_t key, const char *field, paua_value value);
/* A filter that is right; the caller frees it. */
paua_filter *fielded_filter(const char *text);
uint64_t fielded_count(paua_collection *c, const char *filter);

/* Turns the tail into a segment. */
void fielded_seal(paua_collection *c);
paua_stats fielded_stats(paua_collection *c);

#endif
