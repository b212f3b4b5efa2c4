/* value_index.h - an index of one field's values over one segment, as a sealed file (FILE_VALUES).
 *
 * Two kinds. SORTED holds the rows that have a value, ordered by value and then by row. BITMAP
 * holds each distinct value once, in order, by its first row, and the set of all its rows. In both
 * a value is looked up by binary search over rows, whose values are read from the column: an index
 * has no copy of any value, so it cannot disagree with one; it only is over a certain column file,
 * and is dropped with it. Rows whose value is NULL are in none. Patches are not known here.
 *
 * Sections: VALUE_INDEX (a record "PVIX": codec/value_index_record.h), VALUE_ROWS (u32 an entry),
 * and for BITMAP VALUE_TOTALS (u32 an entry: rows of all entries up to and with it), VALUE_ENDS
 * (u64 an entry: where its set ends in VALUE_SETS) and VALUE_SETS (rowset records; none for a value
 * of one row). Each at a multiple of 64 bytes. */
#ifndef PAUA_INDEX_VALUE_INDEX_H
#define PAUA_INDEX_VALUE_INDEX_H

#include <stdatomic.h>

#include "column/match.h"
#include "store/data_file.h"
#include "store/file_writer.h"

struct value_index {
    _Atomic uint32_t refs;
    struct data_file *file;
    paua_index_kind kind; /* PAUA_INDEX_BITMAP or PAUA_INDEX_SORTED */
    uint32_t rows;        /* of the segment */
    uint32_t entries;
    uint32_t columns_crc;   /* footer checksum of the column file that it is over */
    const uint32_t *places; /* a row an entry, ordered by value */
    const uint32_t *totals; /* BITMAP */
    const uint64_t *ends;   /* BITMAP */
    const uint8_t *sets;    /* BITMAP */
    void *memory;           /* owned, where the file is not mapped */
};

struct value_index_source {
    const struct column_view *view; /* NULL: all rows are NULL */
    uint32_t rows;
    uint32_t columns_crc;
    paua_index_kind kind;
    const paua_cancel *cancel; /* may be NULL */
};

/* Sorts and writes through the file writer, seals, syncs file and directory. header->kind is
 * FILE_VALUES. Memory: 16 bytes a row that has a value. PAUA_ENOMEM, PAUA_ECANCELED, I/O. */
paua_status value_index_write(struct dir *dir, const struct file_header *header,
                              const struct value_index_source *source, struct file_ref *ref,
                              paua_error *err);

/* Borrows arrays from an opened file, of which it takes a reference; it must be over `rows` rows.
 * Checks all that a match relies on so as to read nothing outside: every row is below `rows`,
 * totals and ends rise and stay inside. PAUA_ECORRUPT names the file. */
paua_status value_index_open(struct data_file *file, uint32_t rows, struct value_index **opened,
                             paua_error *err);
struct value_index *value_index_ref(struct value_index *index);
void value_index_unref(struct value_index *index); /* NULL does nothing */

/* Finds the rows of the column that pass the test, unless scanning the column is cheaper by an
 * estimate, or the test is of a kind that needs it (TEST_NULL, TEST_NOT_NULL, TEST_CALL, a negated
 * set). *done: `bitmap` was written, all (rows + 63) / 64 words of it; otherwise it is untouched.
 * view is the column that the index is over. Any thread. PAUA_ECORRUPT, PAUA_ENOMEM.
 * Cost: a binary search a range or member, and the rows that pass. */
paua_status value_index_match(const struct value_index *index, const struct column_view *view,
                              const struct column_test *test, uint64_t *bitmap, bool *done,
                              paua_error *err);

/* The same without the estimate, for tests of values that an index can answer. */
paua_status value_index_find(const struct value_index *index, const struct column_view *view,
                             const struct column_test *test, uint64_t *bitmap, bool *done,
                             paua_error *err);

/* Walks every entry: is each row that has a value there, once, in its order, and every set as
 * counted? *what: what is wrong, or NULL. PAUA_OK or PAUA_ENOMEM. */
paua_status value_index_validate(const struct value_index *index, const struct column_view *view,
                                 const char **what);

#endif
