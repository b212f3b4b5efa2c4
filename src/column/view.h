/* view.h - a column as it is read: by filters (match.h), and row by row.
 *
 * A column has chunks of 65,536 rows, each in the form that takes least:
 *   constant   one value (the zone's), or NULL, for all rows
 *   sparse     positions (u16, rising) and codes of the few rows that are not NULL; numbers that
 *              span too much have codes of 64 bits, which are the keys themselves
 *   packed     codes of 1, 2, 4, 8, 16 or 32 bits, lowest bits first; code 0 is NULL
 *   raw        numbers that span too much: u64 keys, and a bit a row that says which are there
 *   unrepeated byte strings without a dictionary: u32 hashes (0: NULL), and where their bytes are
 * A code of a number is its key less the chunk's base, plus 1; that of a byte string is its place
 * in the column's dictionary, plus 1. A sealed dictionary is sorted, so that codes compare as
 * values do; that of a column that grows is in the order of arrival.
 *
 * A view borrows everything from the column that it was taken from. Every offset in it has been
 * checked: reading needs no further checks. */
#ifndef PAUA_COLUMN_VIEW_H
#define PAUA_COLUMN_VIEW_H

#include "column/value.h"

#define COLUMN_CHUNK_ROWS 65536u

enum chunk_kind { CHUNK_CONSTANT, CHUNK_SPARSE, CHUNK_PACKED, CHUNK_RAW, CHUNK_UNREPEATED };

struct column_chunk {
    enum chunk_kind kind;
    uint32_t width;        /* bits of a code: sparse, packed */
    uint32_t rows;         /* in this chunk; only the last has fewer than COLUMN_CHUNK_ROWS; rows
                              past the last chunk's are NULL */
    uint32_t entries;      /* sparse: rows that are not NULL */
    uint32_t nulls;        /* rows that are NULL */
    uint64_t base;         /* numbers: key of code 1; byte strings: 1 */
    uint64_t least, most;  /* zone: keys or codes present; least > most: all NULL; unrepeated: none
                              (0, UINT64_MAX) */
    const uint8_t *codes;  /* packed and sparse; raw: the keys, little-endian */
    const uint8_t *places; /* sparse: u16 positions; raw: presence, 8 rows a byte (NULL: all) */
    const uint8_t *ends;   /* unrepeated: a row's bytes end there; or its u32 place in a pool */
    uint32_t end_nbytes;   /* of each end: 4 or 8 */
    const uint8_t *hashes; /* unrepeated: u32 a row, value_hash(); 0: NULL */
    const uint8_t *bytes;  /* unrepeated; NULL: they are in the view's pool */
};

/* The hash that unrepeated chunks keep of a value: the low half of XXH3's 64 bits, 1 for 0. */
uint32_t value_hash(const uint8_t *data, size_t nbytes);

/* Values of a dictionary, by their code less 1. */
struct dictionary_view {
    uint32_t count;
    bool sorted;
    const void *owner; /* for value() */
    void (*value)(const void *owner, uint32_t index, const uint8_t **data, size_t *nbytes);
};

struct column_view {
    uint32_t type;
    uint32_t rows; /* rows past these are NULL */
    uint32_t chunk_count;
    const struct column_chunk *chunks;
    struct dictionary_view dictionary; /* byte strings */
    const uint8_t *const *blocks;      /* of the pool (pool.h) of a column that grows */
};

/* The value of a row (any row: past the end it is NULL). Constant cost, but for sparse chunks. */
void column_cell(const struct column_view *view, uint32_t row, struct cell *cell);

/* Row `at` of an unrepeated chunk; not NULL. */
void chunk_bytes(const struct column_view *view, const struct column_chunk *chunk, uint32_t at,
                 const uint8_t **data, size_t *nbytes);

/* Walks every invariant of a view whose arrays are as long as its chunks say (and whose ends are in
 * order): what is wrong, or NULL. Cost: every row and every value once. */
const char *column_validate(const struct column_view *view);

/* The values of rows first .. first + n - 1. */
void column_cells(const struct column_view *view, uint32_t first, uint32_t n, struct cell *cells);

#endif
