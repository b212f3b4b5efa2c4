/* files.h - the headers that a collection's data files must have, and removing files. */
#ifndef PAUA_DB_FILES_H
#define PAUA_DB_FILES_H

#include "codec/filehead.h"
#include "codec/head.h"
#include "codec/index_record.h"
#include "codec/manifest.h"
#include "codec/schema.h"
#include "store/dir.h"

struct file_header files_vector_header(const struct schema *schema, uint32_t field,
                                       uint64_t number);
struct file_header files_heap_header(const struct schema *schema, uint64_t number);
struct file_header files_keys_header(const struct schema *schema, uint64_t number);
struct file_header files_artifact_header(const struct schema *schema,
                                         const struct artifact *artifact);

/* Remove files by number (0: nothing). Best effort: what stays is swept at a later opening. */
void files_unlink(struct dir *dir, uint64_t number, enum file_kind kind);
void files_unlink_part(struct dir *dir, const struct schema *schema, const struct part *part);
void files_unlink_tail(struct dir *dir, const struct schema *schema, const struct head *head);

#endif
