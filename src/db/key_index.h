/* key_index.h - the key file of a segment: keys in row order, and a table from hash to row.
 *
 * Table    buckets by the hash's high bits, some 16 rows each (a power of two buckets): BUCKETS has
 *          the first slot of each and one past the last; a slot is a 16-bit tag (the hash's low
 *          bits) in TAGS and a row in SLOTS, by rising row inside a bucket. 6.25 bytes a row.
 * Look-up  one bucket's bounds, its tags, then the key of each row whose tag matches (one in 4,096
 *          is a false match), compared with the one stored copy.
 * Keys     u64: 8 bytes a row. Strings: bytes one after the other and 32-bit ends. Vectors: not
 *          stored here; the caller reads them from the vector file. */
#ifndef PAUA_DB_KEY_INDEX_H
#define PAUA_DB_KEY_INDEX_H

#include "db/key.h"
#include "store/data_file.h"
#include "store/file_writer.h"

/* Gives the key of row i, 0 .. rows - 1, each asked up to three times in rising order. */
typedef paua_status (*key_source_fn)(void *arg, uint32_t row, struct writer *scratch,
                                     struct key *key, paua_error *err);

/* Writes all sections through a fresh writer and describes them in footer->sections. rows < 2^22.
 * Cost: hashes each key twice; 6.25 bytes of heap a row. */
paua_status key_index_write(const struct schema *schema, struct file_writer *writer, uint32_t rows,
                            key_source_fn source, void *arg, struct file_footer *footer,
                            paua_error *err);

/* Checks that a key file's sections have the sizes that `rows` rows need. */
paua_status key_index_check(const struct schema *schema, const struct data_file *file,
                            uint32_t rows, paua_error *err);

/* Key of a row (u64 and string kinds). */
paua_status key_index_key(const struct schema *schema, struct data_file *file, uint32_t row,
                          struct writer *scratch, struct key *key, paua_error *err);

/* Calls match(arg, row) for each row whose tag fits the hash, until it says found. */
paua_status key_index_probe(struct data_file *file, uint64_t hash,
                            paua_status (*match)(void *arg, uint32_t row, bool *found,
                                                 paua_error *err),
                            void *arg, paua_error *err);

#endif
