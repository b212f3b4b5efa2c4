/* values_fixture.h - a small column and the files of both kinds of index over it, to be damaged,
 * and then opened and used. */
#ifndef PAUA_TESTS_UNIT_INDEX_VALUES_FIXTURE_H
#define PAUA_TESTS_UNIT_INDEX_VALUES_FIXTURE_H

#include "forge.h"
#include "unit/column/sealed.h"
#include "values_helper.h"

#define VALUES_ROWS 60u

struct values_written {
    paua_index_kind kind;
    struct file_ref ref;
    struct bytes bytes; /* of the file */
};

struct values_fixture {
    struct temp temp; /* in memory */
    struct naive naive;
    struct column_file *columns;
    const struct column_view *view;
    struct values_written written[2];
};

/* For cmocka. The column has values 0 to 4 in its first 40 rows, some of them NULL, and then values
 * of which each has one row. */
int values_setup(void **state);
int values_teardown(void **state);

/* Puts a file back as it was written. */
void values_restore(const struct values_fixture *f, const struct values_written *w);

/* What is wrong with an index, or NULL. */
const char *values_fault(const struct values_fixture *f, const struct value_index *index);

/* Finds whatever there is to find. What is valid must be found right. */
void values_use(struct values_fixture *f, const struct value_index *index, uint64_t seed);

/* Opens the file as it is and uses it: refused with its name, or harmless. */
paua_status values_open_any_way(struct values_fixture *f, const struct file_ref *ref,
                                paua_verify verify);

/* The sections of file i. */
void values_take(const struct values_fixture *f, int i, struct forged *forged);
/* Whether what was forged is refused, with good checksums everywhere. */
bool values_refused(struct values_fixture *f, const struct forged *forged);

#endif
