/* filter.h - a filter: parsed from text or built by calls, bound to fields, and run over columns.
 *
 * Text becomes a tree; the tree is brought into negation normal form (NOT is pushed to the leaves,
 * where it turns = into != and so on), so one bitmap a node is enough for SQL's three-valued logic:
 * a row passes if the condition is true, not if it is unknown. Binding looks fields up and turns
 * each leaf into a test of one column (column/match.h); it is repeated when the fields have
 * changed. */
#ifndef PAUA_FILTER_FILTER_H
#define PAUA_FILTER_FILTER_H

#include "column/match.h"

#define FILTER_NBYTES_MAX (1u << 20)
#define FILTER_DEPTH_MAX 200u

/* Fields as binding sees them. */
struct filter_field {
    uint32_t id;
    uint32_t type;
};
struct filter_fields {
    /* The field of this name; false: there is none. */
    bool (*find)(const void *arg, const char *name, size_t nbytes, struct filter_field *field);
    /* The i-th field's name, or NULL past the end: for messages about names that are not found.
     * May be NULL. */
    const char *(*name)(const void *arg, uint32_t i);
    const void *arg;
};

/* A filter bound to fields: immutable, any thread. */
struct bound_filter;

/* unknown_is_null: a field that does not exist is NULL in every row (dynamic collections);
 * otherwise PAUA_EINVAL. Errors: unknown field, type mismatch, value out of the field's range is no
 * error (it just never matches): line and column of the text if it came from text. */
paua_status filter_bind(const paua_filter *filter, const struct filter_fields *fields,
                        bool unknown_is_null, struct bound_filter **bound, paua_error *err);
void bound_filter_free(struct bound_filter *bound); /* NULL does nothing */

/* Fields that it reads: the i-th id, distinct; UINT32_MAX past the end. */
uint32_t bound_filter_field(const struct bound_filter *bound, uint32_t i);

/* Rows that a filter runs over: one segment, or the tail. */
struct filter_source {
    uint32_t rows;
    const struct patches *patches; /* NULL: none */
    /* The column of a field, or *view = NULL if it has none here. */
    paua_status (*column)(void *arg, uint32_t field, const struct column_view **view,
                          paua_error *err);
    /* Finds what passes a test by an index, if one is there and saves time: *done, `bitmap` (all
     * words of it) is written, patches left aside. NULL: there are no indexes. */
    paua_status (*index)(void *arg, uint32_t field, const struct column_view *view,
                         const struct column_test *test, uint64_t *bitmap, bool *done,
                         paua_error *err);
    void *arg;
};

struct filter_scratch {
    struct match_scratch match;
    uint64_t *words; /* bitmaps of the nodes that are open */
    size_t words_capacity;
    uint32_t indexed; /* tests that an index answered, so far */
};
void filter_scratch_free(struct filter_scratch *scratch);

/* Writes the bitmap of the rows for which the filter is true: (rows + 63) / 64 words. AND stops
 * early when nothing is left, OR when all rows are in. */
paua_status filter_run(const struct bound_filter *bound, const struct filter_source *source,
                       uint64_t *bitmap, struct filter_scratch *scratch, paua_error *err);

/* Does the filter hold for one row whose values are given? For tests and for rows that are not in
 * a column: cell(arg, field, &cell). */
bool filter_passes(const struct bound_filter *bound,
                   void (*cell)(void *arg, uint32_t field, struct cell *cell), void *arg);

#endif
