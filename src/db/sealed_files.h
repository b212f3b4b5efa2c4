/* sealed_files.h - what a seal and a merge both write: the index of a heap file, and key files. */
#ifndef PAUA_DB_SEALED_FILES_H
#define PAUA_DB_SEALED_FILES_H

#include "db/key_index.h"

/* Length of row i's document, or BATCH_NO_DOCUMENT. */
typedef uint32_t (*length_source_fn)(const void *arg, uint32_t row);

/* Appends SECTION_LENGTHS and SECTION_BASES after the documents and describes them. */
paua_status heap_index_write(struct file_writer *writer, uint32_t rows, length_source_fn length,
                             const void *arg, struct file_footer *footer, paua_error *err);

/* Writes, seals and names the key file of a manifest (number manifest->segment), with the manifest
 * and the schema in its footer, syncs the directory, and sets manifest->keys. */
paua_status keys_file_write(struct dir *dir, const struct schema *schema, struct manifest *manifest,
                            uint32_t rows, key_source_fn source, void *arg, paua_error *err);

#endif
