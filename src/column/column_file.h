/* column_file.h - all columns of a segment, sealed in one file (kind FILE_COLUMNS, ".columns").
 *
 * The directory (a record, magic "PCOL") lists the fields with their names and types as they were
 * when it was written, so that a lost catalogue can be rebuilt, and for each the chunks and the
 * places of their arrays. A column's bytes are checked and mapped (or read) when it is first asked
 * for; the whole of its structure is then checked against the directory: nothing that a filter may
 * follow is trusted. */
#ifndef PAUA_COLUMN_COLUMN_FILE_H
#define PAUA_COLUMN_COLUMN_FILE_H

#include "column/view.h"
#include "store/data_file.h"
#include "store/file_writer.h"

struct column_file_field {
    uint32_t id;
    uint32_t type;
    const char *name; /* while the file lives */
};

/* Writing: fields in rising order of id, each with its rows 0 .. rows - 1 in order from `next` (a
 * cell is borrowed until the next call), which may fail. Numbers are taken once; byte strings
 * twice, the first time to collect and sort their dictionary. Streams through the file writer;
 * memory: the distinct values of chunks whose values repeat, and a chunk. After a failure only
 * close. */
struct column_writer;
paua_status column_writer_open(struct dir *dir, uint64_t number, uint32_t collection,
                               uint64_t segment, uint32_t rows, struct column_writer **writer,
                               paua_error *err);
typedef paua_status (*column_source_fn)(void *arg, uint32_t row, struct cell *cell,
                                        paua_error *err);
paua_status column_writer_field(struct column_writer *writer, uint32_t id, uint32_t type,
                                const char *name, column_source_fn next, void *arg,
                                paua_error *err);
/* Writes the directory, seals and renames the file (the caller syncs the directory). */
paua_status column_writer_seal(struct column_writer *writer, struct file_ref *ref, paua_error *err);
void column_writer_close(struct column_writer *writer); /* an unsealed file is removed */

/* Reading. Thread-safe: a column is opened under a lock by the first who asks and never changes. */
struct column_file;
paua_status column_file_open(struct dir *dir, uint32_t collection, uint64_t segment, uint32_t rows,
                             const struct file_ref *ref, struct data_file_opts opts,
                             struct column_file **file, paua_error *err);
struct column_file *column_file_ref(struct column_file *file);
void column_file_unref(struct column_file *file); /* NULL does nothing */
const struct column_file_field *column_file_fields(const struct column_file *file, uint32_t *count);
uint64_t column_file_segment(const struct column_file *file);
struct data_file *column_file_data(const struct column_file *file);
/* *view stays NULL if the file has no such field (all its rows are NULL). PAUA_ECORRUPT names the
 * file and what is wrong. */
paua_status column_file_column(struct column_file *file, uint32_t id,
                               const struct column_view **view, paua_error *err);
/* Has the file a column of that field? One whose rows are all alike takes no bytes. */
bool column_file_has(const struct column_file *file, uint32_t id);
/* Bytes on disk of one field's column, or 0. */
uint64_t column_file_nbytes(const struct column_file *file, uint32_t id);

#endif
