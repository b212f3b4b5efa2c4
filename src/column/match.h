/* match.h - which rows of a column pass a test, as a bitmap.
 *
 * Bit r of word r / 64 is row r. NULL passes no test but TEST_NULL, which is how filters get SQL's
 * three-valued logic: negation is pushed down to the tests (filter/filter.h).
 * Cost: constant and sparse chunks nearly nothing; packed ones their codes once, with vector
 * instructions (kernel/packed.h); a test on byte strings runs once for each value of the
 * dictionary, by binary search where it is a range and the dictionary is sorted. */
#ifndef PAUA_COLUMN_MATCH_H
#define PAUA_COLUMN_MATCH_H

#include "column/patches.h"
#include "column/view.h"

enum test_kind {
    TEST_NULL,
    TEST_NOT_NULL,
    TEST_KEYS,  /* numbers: the key lies in one of the ranges */
    TEST_BYTES, /* byte strings: the value is in [low, high] ... */
    TEST_SET,   /* ... is one of these (or, negated, none of them) ... */
    TEST_CALL   /* ... or a function says so */
};

struct key_range {
    uint64_t low, high; /* both included; low <= high */
};

struct column_test {
    enum test_kind kind;
    bool negated;                   /* SET */
    const struct key_range *ranges; /* KEYS: rising, disjoint, not adjacent; may be none */
    size_t range_count;
    paua_bytes low, high;     /* BYTES: data NULL: open on that side */
    bool low_open, high_open; /* BYTES: the bound itself is left out */
    const paua_bytes *set;    /* SET: sorted by bytes_compare, distinct */
    size_t set_count;
    bool (*call)(const void *arg, const uint8_t *data, size_t nbytes); /* CALL */
    const void *arg;
};

/* Does one value pass? */
bool test_passes(const struct column_test *test, const struct cell *cell);

struct match_scratch {
    uint8_t *codes; /* which codes of the dictionary pass */
    size_t codes_nbytes;
};
void match_scratch_free(struct match_scratch *scratch);

/* Sets the bits of rows 0 .. rows - 1 (all (rows + 63) / 64 words are written; bits past the rows
 * are 0). view NULL: every row is NULL. patches (NULL: none) replace values of field `field`.
 * PAUA_OK or PAUA_ENOMEM. */
paua_status column_match(const struct column_view *view, const struct patches *patches,
                         uint32_t field, const struct column_test *test, uint32_t rows,
                         uint64_t *bitmap, struct match_scratch *scratch);

/* The same for patched rows alone: their bits become what their new values say. */
void column_match_patches(const struct patches *patches, uint32_t field,
                          const struct column_test *test, uint32_t rows, uint64_t *bitmap);

#endif
