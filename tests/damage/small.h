/* small.h - a small database with files of every kind, its bytes, and all that can be read from it.
 *
 * "words": string keys, texts, a half and a single precision field; three sealed segments with
 * deletions, and a tail with deletions. "numbers": number keys, bytes; a segment rewritten with
 * gaps, and a tail. Written durably and closed cleanly: every committed byte counts. */
#ifndef PAUA_TESTS_DAMAGE_SMALL_H
#define PAUA_TESTS_DAMAGE_SMALL_H

#include <stddef.h>

#include "concurrency/world.h"

#define IMAGE_FILES_MAX 64u

struct image_file {
    char name[64];
    uint8_t *bytes;
    size_t nbytes;
};

/* The files of a directory, in memory. */
struct image {
    struct image_file files[IMAGE_FILES_MAX];
    size_t count;
};

/* Makes the database; `early` (may be NULL) receives its files as they were before the last rows,
 * deletions and merge. */
void small_make(const char *path, struct image *early);

/* The same rows as far as they are in sealed files of the database above, dead ones included if
 * their segment was not rewritten since: what a rebuilt catalogue gives back. */
void small_make_sealed(const char *path);
/* One more commit: a row of "numbers". */
void small_write_more(paua_db *db);

void image_take(struct image *image, const char *path);
void image_free(struct image *image);
size_t image_nbytes(const struct image *image);
struct image_file *image_find(struct image *image, const char *name); /* NULL: not there */
/* A data file, by its name. */
bool image_is_data(const struct image_file *file);
bool image_is_catalog(const struct image_file *file);
/* Is the data file sealed? (It ends with a trailer.) */
bool image_is_sealed(const struct image_file *file);

/* Makes a directory hold exactly these files. */
void image_put(const struct image *image, const char *path);
void image_put_file(const char *path, const char *name, const void *bytes, size_t nbytes);

/* Everything that was read, one after the other. */
struct transcript {
    uint8_t *bytes;
    size_t nbytes, capacity;
};

enum transcript_of { ROWS_IN_ORDER, ROWS_BY_KEY };

/* Opens the database and reads it: names, every row by iteration (ROWS_IN_ORDER only), every key by
 * fetch, three searches over all rows in each collection. The first failure ends it. */
paua_status transcript_read(struct transcript *t, const char *path, paua_open_opts opts,
                            enum transcript_of what, paua_error *err);
/* The same of one collection. */
paua_status transcript_collection(struct transcript *t, paua_db *db, const char *name,
                                  enum transcript_of what, paua_error *err);
bool transcript_equal(const struct transcript *a, const struct transcript *b);
void transcript_free(struct transcript *t);

#endif
