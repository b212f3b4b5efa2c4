/* data_file.h - a data file that is read: mapped, or by pread; sealed, or still growing.
 *
 * Reference-counted; immutable but for the bits that say which pages have been verified, so any
 * number of threads may read at once. A growing file's readers only ask for bytes that a committed
 * batch covers. */
#ifndef PAUA_STORE_DATA_FILE_H
#define PAUA_STORE_DATA_FILE_H

#include <paua/paua.h>

#include "codec/filehead.h"
#include "codec/manifest.h"
#include "store/dir.h"

struct data_file;

struct data_file_opts {
    bool no_mmap;
    paua_verify verify;
};

/* Opens a sealed file. `expected` gives the header it must have (feature bits aside), `ref` its
 * length and footer checksum; PAUA_ECORRUPT names the file and what differs (missing, truncated,
 * exchanged, damaged); PAUA_EVERSION for unknown incompat bits. */
paua_status data_file_open_sealed(struct dir *dir, const struct file_header *expected,
                                  const struct file_ref *ref, struct data_file_opts opts,
                                  struct data_file **file, paua_error *err);

/* Opens a sealed file of which only the name is known (check, rebuild): whatever header it has. */
paua_status data_file_open_any(struct dir *dir, uint64_t number, enum file_kind kind,
                               struct data_file_opts opts, struct data_file **file,
                               struct file_ref *ref, paua_error *err);

/* Opens a file that a tail is still writing; only its header is checked. Mapped with room to
 * grow. */
paua_status data_file_open_growing(struct dir *dir, const struct file_header *expected,
                                   struct data_file_opts opts, struct data_file **file,
                                   paua_error *err);

struct data_file *data_file_ref(struct data_file *file);
void data_file_unref(struct data_file *file); /* NULL does nothing */

/* Makes nbytes at data offset `offset` readable at *bytes: a pointer into the map, valid while the
 * file is referenced, or else `scratch` (nbytes long) filled by pread. Pages touched for the first
 * time are verified (sealed files, PAUA_VERIFY_TOUCH). Offsets outside the data of a sealed file:
 * PAUA_ECORRUPT. No allocation or system call when mapped and verified. */
paua_status data_file_read(struct data_file *file, uint64_t offset, size_t nbytes, void *scratch,
                           const uint8_t **bytes, paua_error *err);

/* The same into `bytes`, for the odd row: by pread where the file has a descriptor (growing, not
 * mapped, or of vectors or codes), else a copy out of the map. */
paua_status data_file_pread(struct data_file *file, uint64_t offset, size_t nbytes, void *bytes,
                            paua_error *err);

/* Verifies every page, seen or not; PAUA_ECORRUPT names the first bad page. */
paua_status data_file_verify(struct data_file *file, paua_error *err);

bool data_file_mapped(const struct data_file *file);
const struct file_header *data_file_header(const struct data_file *file);
/* Sealed files only; owned by the file. NULL section when the file has none of that id. */
const struct section *data_file_section(const struct data_file *file, enum section_id id);
bool data_file_has_section(const struct data_file *file, enum section_id id, uint64_t nbytes);
uint32_t data_file_row_count(const struct data_file *file);
paua_bytes data_file_ids(const struct data_file *file);
paua_bytes data_file_manifest(const struct data_file *file);
paua_bytes data_file_schema(const struct data_file *file);
/* For a file whose parts do not fit each other: "NAME: what; run paua check ...", PAUA_ECORRUPT. */
paua_status data_file_refuse(const struct data_file *file, const char *what, paua_error *err);
const char *data_file_name(const struct data_file *file);
size_t data_file_mapped_nbytes(const struct data_file *file);
size_t data_file_heap_nbytes(const struct data_file *file);

#endif
