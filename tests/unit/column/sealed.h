/* sealed.h - plain arrays sealed into files of columns in a directory in memory. */
#ifndef PAUA_TESTS_COLUMN_SEALED_H
#define PAUA_TESTS_COLUMN_SEALED_H

#include "column/column_file.h"
#include "naive.h"

#define SEALED_NUMBER 7u
#define SEALED_COLLECTION 3u
#define SEALED_SEGMENT 12u
#define SEALED_NAME "000007.columns"

/* Field i has id 10 * i + 5 and name "field I"; all have as many rows. */
static inline uint32_t sealed_id(uint32_t i) { return 10 * i + 5; }

/* PAUA_OK, or what failed; nothing is left of the file then. */
paua_status sealed_write(struct dir *dir, const struct naive *fields, uint32_t count,
                         struct file_ref *ref, paua_error *err);
paua_status sealed_open(struct dir *dir, const struct file_ref *ref, uint32_t rows, bool mapped,
                        struct column_file **file, paua_error *err);

/* The sections of a file, to be changed and written again with good checksums. */
struct sealed_parts {
    uint8_t *columns, *directory; /* malloc */
    size_t columns_nbytes, directory_nbytes;
    uint32_t rows;
};
void sealed_take(struct dir *dir, const struct file_ref *ref, struct sealed_parts *parts);
/* Mends the directory's checksum, and writes the file. */
struct file_ref sealed_put(struct dir *dir, const struct sealed_parts *parts);
void sealed_free(struct sealed_parts *parts);

#endif
