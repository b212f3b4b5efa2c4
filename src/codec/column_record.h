/* column_record.h - the directory of a file of columns (magic "PCOL"): which fields it has, and how
 * the chunks of each lie in its column.
 *
 * A column's bytes are the arrays of its chunks, in their order, and then its dictionary, each
 * array at a multiple of 8; lengths follow from the record alone. Columns follow each other:
 *   sparse      codes, places (u16 an entry)
 *   packed      codes
 *   raw         u64 keys; where there are NULLs, a bit a row
 *   unrepeated  the bytes, ends, u32 hashes
 *   dictionary  ends, the bytes
 * Ends are u32 a value, u64 where the bytes are 4 GiB or more.
 * What codes and keys mean is column/view.h's matter. */
#ifndef PAUA_CODEC_COLUMN_RECORD_H
#define PAUA_CODEC_COLUMN_RECORD_H

#include <paua/paua.h>

#include "base/bytes.h"

#define COLUMN_RECORD_CHUNK_ROWS 65536u
#define COLUMN_RECORD_NAME_NBYTES_MAX 255u

/* Numbers are stored. */
enum column_record_kind {
    COLUMN_RECORD_CONSTANT = 0,
    COLUMN_RECORD_SPARSE = 1,
    COLUMN_RECORD_PACKED = 2,
    COLUMN_RECORD_RAW = 3,
    COLUMN_RECORD_UNREPEATED = 4
};

struct column_chunk_record {
    enum column_record_kind kind;
    uint32_t width; /* sparse: 1, 2, 4 ... 64; packed: to 32; else 0 */
    uint32_t nulls;
    uint64_t base;
    uint64_t least, most; /* least > most: 1 and 0 */
    uint64_t nbytes;      /* unrepeated: of the bytes; else 0 */
};

/* Where its arrays begin, from the beginning of the column. */
struct column_chunk_layout {
    uint64_t codes, places, bytes, ends, hashes;
    uint64_t end;
};

struct column_field_record {
    uint32_t id;
    uint32_t type; /* not judged here */
    char name[COLUMN_RECORD_NAME_NBYTES_MAX + 1];
    uint64_t offset, nbytes;            /* of the column, in the section */
    uint32_t dictionary_count;          /* values */
    uint64_t dictionary_nbytes;         /* of their bytes */
    struct column_chunk_record *chunks; /* owned by the directory */
};

struct column_directory {
    uint64_t segment;
    uint32_t rows; /* 1 or more */
    uint32_t field_count;
    struct column_field_record *fields; /* ids rising */
};

static inline uint32_t column_directory_chunks(uint32_t rows)
{
    return (uint32_t)(((uint64_t)rows + COLUMN_RECORD_CHUNK_ROWS - 1) / COLUMN_RECORD_CHUNK_ROWS);
}

/* Rows of a chunk. */
static inline uint32_t column_chunk_rows(uint32_t rows, uint32_t chunk)
{
    uint32_t left = rows - chunk * COLUMN_RECORD_CHUNK_ROWS;

    return left < COLUMN_RECORD_CHUNK_ROWS ? left : COLUMN_RECORD_CHUNK_ROWS;
}

/* Lays out a chunk of `rows` rows from `at` on. */
void column_chunk_lay(const struct column_chunk_record *chunk, uint32_t rows, uint64_t at,
                      struct column_chunk_layout *layout);
/* The same for a dictionary: where ends and bytes begin; returns where it ends. */
uint64_t column_dictionary_lay(uint32_t count, uint64_t nbytes, uint64_t at, uint64_t *ends,
                               uint64_t *bytes);
/* Bytes of one end of so many bytes: 4 or 8. */
static inline size_t column_end_nbytes(uint64_t nbytes) { return nbytes > UINT32_MAX ? 8 : 4; }

paua_status column_directory_encode(const struct column_directory *directory, struct writer *w);
/* section_nbytes: what the columns take together. PAUA_OK, PAUA_ECORRUPT, PAUA_EVERSION or
 * PAUA_ENOMEM; *directory changes only on PAUA_OK. */
paua_status column_directory_decode(const void *bytes, size_t length, uint64_t section_nbytes,
                                    struct column_directory *directory);
void column_directory_free(struct column_directory *directory);

#endif
