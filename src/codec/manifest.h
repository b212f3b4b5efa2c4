/* manifest.h - one segment as stored (magic "PSEG"): the list of parts (sets of sealed files) whose
 * rows, one after the other, are the segment's rows, and its key file. Stored in the catalogue and,
 * so that a lost catalogue can be rebuilt, as the description in the key file's footer. */
#ifndef PAUA_CODEC_MANIFEST_H
#define PAUA_CODEC_MANIFEST_H

#include <paua/paua.h>

#include "base/bytes.h"

#define MANIFEST_PARTS_MAX 65536u

/* A sealed file as its manifest knows it: an exchanged or older file has another checksum. */
struct file_ref {
    uint64_t number;     /* names the file; 0: no such file */
    uint64_t nbytes;     /* whole length */
    uint32_t footer_crc; /* checksum of its footer record */
};

struct part {
    uint32_t row_count;
    uint64_t first_row; /* id of its first row; ids rise; gaps are in the vector file's footer */
    uint64_t last_row;  /* id of its last row: last_row - first_row + 1 == row_count: no gaps */
    struct file_ref vectors[PAUA_VECTOR_FIELDS_MAX];
    struct file_ref heap; /* number 0 without documents */
};

struct manifest {
    uint32_t collection;
    uint64_t segment;    /* number, rising, never reused in a database */
    uint64_t generation; /* of the collection when it was made */
    uint32_t field_count;
    uint32_t part_count;
    struct part *parts;   /* owned; manifest_free() */
    struct file_ref keys; /* all zero in the copy that the key file itself holds */
};

paua_status manifest_encode(const struct manifest *manifest, struct writer *w);

/* Parts' ids must rise from part to part, spans be below 2^32 and not below row_count, row_count
 * be at least 1 and add up below 2^32. *manifest changes only on PAUA_OK. */
paua_status manifest_decode(const void *bytes, size_t length, struct manifest *manifest);
uint32_t manifest_rows(const struct manifest *manifest);
void manifest_free(struct manifest *manifest);

#endif
