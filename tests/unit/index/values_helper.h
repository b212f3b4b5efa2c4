/* values_helper.h - indexes of values for tests: written, opened, and compared with a scan of the
 * column under random tests. */
#ifndef PAUA_TESTS_UNIT_INDEX_VALUES_HELPER_H
#define PAUA_TESTS_UNIT_INDEX_VALUES_HELPER_H

#include "index/value_index.h"
#include "unit/column/naive.h"
#include "unit/store/temp.h"

#define VALUES_NUMBER 21u
#define VALUES_NAME "000021.values"
#define VALUES_CRC 0x12345678u

extern const struct file_header VALUES_HEADER;
extern const paua_index_kind VALUES_KINDS[2];

paua_status values_write(struct dir *dir, const struct column_view *view, uint32_t rows,
                         paua_index_kind kind, struct file_ref *ref, paua_error *err);

struct values_as {
    bool no_mmap;
    paua_verify verify;
};
paua_status values_open(struct dir *dir, const struct file_ref *ref, uint32_t rows,
                        struct values_as as, struct value_index **index, paua_error *err);

/* Fails the test unless the index gives what a scan gives, under `count` random tests, and leaves
 * the bitmap alone where it says so. Returns how many of the tests the index was chosen for. */
unsigned values_check(const struct value_index *index, const struct column_view *view,
                      struct naive *naive, uint64_t seed, unsigned count);

/* The same for one test. */
bool values_check_test(const struct value_index *index, const struct column_view *view,
                       const struct column_test *test);

/* Writes and opens both kinds over the column, validates and checks them. */
void values_check_kinds(struct dir *dir, const struct column_view *view, struct naive *naive,
                        uint64_t seed, unsigned count);

#endif
