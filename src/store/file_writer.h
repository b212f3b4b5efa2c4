/* file_writer.h - a data file while it grows: one 64 KiB buffer, the checksum of each 64 KiB page
 * kept as bytes pass, and at the end a footer that seals it (codec/filehead.h has the layout).
 *
 * A writer has a mark: the state to go back to when a commit fails. One thread at a time. */
#ifndef PAUA_STORE_FILE_WRITER_H
#define PAUA_STORE_FILE_WRITER_H

#include <paua/paua.h>

#include "codec/batch.h"
#include "codec/filehead.h"
#include "codec/manifest.h"
#include "store/dir.h"

#define FILE_NAME_NBYTES 40u

/* "000017.f32": at least six digits, longer numbers as they are. */
void file_name(char name[FILE_NAME_NBYTES], uint64_t number, enum file_kind kind);

/* The reverse: false unless the name is exactly what file_name gives (with ".tmp" after it when
 * *temporary is set). */
bool file_name_parse(const char *name, uint64_t *number, enum file_kind *kind, bool *temporary);

struct file_writer;

/* Makes a new file and writes its header. temporary: under NNN.suffix.tmp until
 * file_writer_seal renames it. An existing file of that name is replaced (a crash's leftover). */
paua_status file_writer_create(struct dir *dir, const struct file_header *header, bool temporary,
                               struct file_writer **writer, paua_error *err);

/* Opens an unsealed file to go on after data_nbytes bytes of data: checks that its header equals
 * `header` (PAUA_ECORRUPT otherwise) and reads the data once to recompute page checksums. Each
 * extent (rising, inside data_nbytes, may be none) is checked on the way; the first whose bytes do
 * not match is returned in *bad_extent (extent_count when all match), which is no error here. */
paua_status file_writer_reopen(struct dir *dir, const struct file_header *header,
                               uint64_t data_nbytes, const struct extent *extents,
                               size_t extent_count, struct file_writer **writer, size_t *bad_extent,
                               paua_error *err);

void file_writer_close(struct file_writer *writer); /* keeps the file; unlinks an unsealed .tmp */

/* Appends through the buffer. On failure the writer must be rewound before it is used again. */
paua_status file_writer_append(struct file_writer *writer, const void *bytes, size_t nbytes,
                               paua_error *err);
/* Pads with zero bytes to a multiple of `alignment` (a power of two). */
paua_status file_writer_align(struct file_writer *writer, size_t alignment, paua_error *err);

/* Bytes of data appended so far, buffered ones included. */
uint64_t file_writer_data_nbytes(const struct file_writer *writer);

/* The extent appended since the mark. */
struct extent file_writer_extent(const struct file_writer *writer);

/* Sets the mark here / forgets everything after it (the file's bytes are left and overwritten). */
void file_writer_mark(struct file_writer *writer);
void file_writer_rewind(struct file_writer *writer);

paua_status file_writer_flush(struct file_writer *writer, paua_error *err); /* buffer to file */
paua_status file_writer_sync(struct file_writer *writer, paua_error *err);  /* and fdatasync */

/* Seals: footer and trailer are written after the data, the file is cut to its length and synced;
 * a temporary file is renamed (the caller syncs the directory). footer gives row_count, sections,
 * ids, manifest and schema; page checksums and data_nbytes are filled in here. After it only
 * file_writer_close may be called. */
paua_status file_writer_seal(struct file_writer *writer, struct file_footer *footer,
                             struct file_ref *ref, paua_error *err);

/* Heap bytes held (buffer and page checksums). */
size_t file_writer_heap_nbytes(const struct file_writer *writer);

#endif
