/* matching.h - what the parts of column_match() share. */
#ifndef PAUA_COLUMN_MATCHING_H
#define PAUA_COLUMN_MATCHING_H

#include "column/chunk.h"
#include "column/match.h"
#include "kernel/packed.h"

/* Which codes of the dictionary pass: low to high, or those of a table; NULL's code 0 never. */
struct passing {
    uint32_t low, high;   /* low > high: none */
    const uint8_t *table; /* a bit a code, at least 2^16 of them; NULL: all of low to high */
    uint32_t table_bits;
};

struct matching {
    const struct column_view *view;
    const struct column_test *test;
    const struct packed_kernels *kernels;
    struct match_scratch *scratch;
    struct passing passing; /* byte strings; once it is known */
    bool passing_known;
};

/* Byte strings: fills in m->passing. PAUA_ENOMEM. */
paua_status matching_codes(struct matching *m);

/* Does a byte string pass a test of kind BYTES, SET or CALL? */
bool bytes_pass(const struct column_test *test, const uint8_t *data, size_t nbytes);
/* The first range that does not end below the key (KEYS); range_count if there is none. */
size_t range_at(const struct column_test *test, uint64_t key);

/* The first n rows of a chunk into words, bits past n being 0. PAUA_ENOMEM. */
paua_status matching_chunk(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                           uint64_t *words);

#endif
