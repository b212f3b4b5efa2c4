/* tail.h - the rows after the last segment: their keys, fields and documents' places in memory,
 * their vectors in files that still grow.
 *
 * One writer appends; any number of readers look at rows below the count that their view carries.
 * Nothing a reader may look at ever moves or changes: arrays grow by chunks, strings live in an
 * arena, and the key table is replaced whole (the old ones are kept until the tail dies: at most as
 * much again). Rows past the committed count are staged: the writer may take them back
 * (tail_truncate); what is left of them in the table is skipped, since every match is confirmed by
 * comparing the key of a row below the reader's count. */
#ifndef PAUA_DB_TAIL_H
#define PAUA_DB_TAIL_H

#include <stdatomic.h>

#include <roaring/roaring.h>

#include "base/arena.h"
#include "codec/head.h"
#include "codec/schema.h"
#include "db/key.h"
#include "db/tail_columns.h"
#include "store/data_file.h"

#define TAIL_CHUNKS 23u /* 1,024 rows doubling: more than 2^32 rows in all */

struct tail_table;

struct tail {
    _Atomic uint32_t refs;
    const struct schema *schema;
    uint64_t first_row; /* id of row 0 */
    struct data_file *vectors[PAUA_VECTOR_FIELDS_MAX];
    struct data_file *heap;      /* NULL without documents */
    uint64_t *keys[TAIL_CHUNKS]; /* u64: the key; string: address of {u16 length, bytes} */
    struct tail_document *documents[TAIL_CHUNKS];
    _Atomic(struct tail_table *) table;
    struct tail_columns columns;
    struct arena arena;
    /* Writer's only: */
    uint32_t rows;                /* committed and staged */
    uint64_t heap_nbytes;         /* of documents, committed and staged */
    _Atomic size_t memory_nbytes; /* of chunks, tables and strings */
    const uint8_t **staged_keys; /* vector keys: bytes of rows staged_first .., not in a file yet */
    _Atomic uint32_t staged_first; /* UINT32_MAX: none staged */
};

/* Opens the growing files that a head names. */
paua_status tail_open(struct dir *dir, const struct schema *schema, const struct head *head,
                      struct data_file_opts opts, struct tail **tail, paua_error *err);
struct tail *tail_ref(struct tail *tail);
void tail_unref(struct tail *tail);

/* Appends one row: key as bytes (ignored for vector keys, but hashed), document length or
 * BATCH_NO_DOCUMENT. PAUA_OK or PAUA_ENOMEM. */
paua_status tail_append(struct tail *tail, struct key key, uint64_t hash, uint32_t document_nbytes);

/* Takes back the rows from `rows` on with their fields, and documents from heap_nbytes on. */
void tail_truncate(struct tail *tail, uint32_t rows, uint64_t heap_nbytes);

/* Finds the row below `rows`, and not in `deleted` (may be NULL), that has this key: PAUA_OK and
 * its position, or UINT32_MAX if there is none; PAUA_EIO or PAUA_ECORRUPT from reading a vector
 * key. */
paua_status tail_find(const struct tail *tail, uint32_t rows, const roaring_bitmap_t *deleted,
                      struct key key, uint64_t hash, uint32_t *position, paua_error *err);

/* Key of a row; scratch serves vector keys that are not mapped. */
paua_status tail_key(const struct tail *tail, uint32_t row, struct writer *scratch, struct key *key,
                     paua_error *err);

/* Stored bytes of n vectors of a field from row on: in the map, or in scratch. */
paua_status tail_vectors(const struct tail *tail, uint32_t field, uint32_t row, uint32_t n,
                         struct writer *scratch, const uint8_t **bytes, paua_error *err);

paua_status tail_document(const struct tail *tail, uint32_t row, struct writer *scratch,
                          paua_bytes *document, paua_error *err);

/* Length of a row's document, or BATCH_NO_DOCUMENT. */
uint32_t tail_document_length(const struct tail *tail, uint32_t row);

#endif
