/* batch_columns.h - the fields of a committed write: values of its new rows, column by column, and
 * patches of rows that were there.
 *
 * Layout (the last part of a batch record of version 2, batch.h):
 *   u32 columns; for each: u32 field id (rising), u8 1 for numbers or 0 for byte strings, u32
 *   number of values, the values (u64 key, or varint length and bytes), u8 bytes of a code (0, 1, 2
 *   or 4), row_count codes: 0 is NULL, c is the c-th value; of no bytes: every row has the first
 *   value u32 patches; for each: u64 row id, u32 field id, u8 kind (0 NULL, 1 number, 2 byte
 *   string), then u64 key, or varint length and bytes */
#ifndef PAUA_CODEC_BATCH_COLUMNS_H
#define PAUA_CODEC_BATCH_COLUMNS_H

#include <paua/paua.h>

#include "base/bytes.h"

/* The longest byte string: a value with what its type adds. */
#define BATCH_VALUE_NBYTES_MAX (PAUA_VALUE_NBYTES_MAX + 1u)

struct batch_column {
    uint32_t field;
    bool number;
    uint32_t value_count;
    const uint8_t *values; /* encoded: batch_value_next(), batch_value_put() */
    size_t values_nbytes;
    uint32_t code_nbytes;
    const uint8_t *codes; /* little-endian; NULL if code_nbytes is 0 */
};

enum batch_patch_kind { BATCH_PATCH_NULL, BATCH_PATCH_NUMBER, BATCH_PATCH_BYTES };

struct batch_patch {
    uint64_t row; /* id */
    uint32_t field;
    enum batch_patch_kind kind;
    uint64_t key;
    paua_bytes bytes;
};

/* Encoding: columns_begin, a column_put for each, patches_begin, a patch_put for each. Failures of
 * memory show in the writer. */
void batch_columns_begin(struct writer *w, uint32_t count);
void batch_column_put(struct writer *w, const struct batch_column *column, uint32_t row_count);
void batch_patches_begin(struct writer *w, uint32_t count);
void batch_patch_put(struct writer *w, const struct batch_patch *patch);
/* Appends one value of a column to the writer that collects batch_column.values. */
void batch_value_put(struct writer *w, bool number, uint64_t key, const void *data, size_t nbytes);

/* Is every count, length and code as it must be, and the end where it must be? */
bool batch_columns_valid(const void *bytes, size_t nbytes, uint32_t row_count);

/* Decoding bytes that are valid: columns first, then patches. False at the end of either. */
struct batch_columns_reader {
    struct reader r;
    uint32_t row_count;
    uint32_t left; /* columns, or patches */
    bool in_patches;
};
void batch_columns_open(struct batch_columns_reader *it, const void *bytes, size_t nbytes,
                        uint32_t row_count);
bool batch_columns_next(struct batch_columns_reader *it, struct batch_column *column);
bool batch_patches_next(struct batch_columns_reader *it, struct batch_patch *patch);

/* The next value of a column; *at starts at 0. */
void batch_value_next(const struct batch_column *column, size_t *at, uint64_t *key,
                      paua_bytes *bytes);
uint32_t batch_column_code(const struct batch_column *column, uint32_t row);

#endif
