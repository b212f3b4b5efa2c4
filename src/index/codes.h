/* codes.h - the codes of one vector field of one segment, as a sealed file (FILE_CODES).
 *
 * Sections: MODEL (a record "PMDL": everything of struct model but its big arrays), MEAN,
 * MATRIX_S8, MATRIX_SCALE, ROTATED_MEAN, WALK, WALK_FACTORS, REFINE, REFINE_FACTORS, each at a
 * multiple of 64 bytes. The file is written in one pass over the vectors: refine codes stream out
 * as rows are encoded, the walk plane follows from memory.
 *
 * Opened, the arrays lie in the map; without a map they are read once onto the heap. `lean` leaves
 * the refine codes in the file: they are read by pread when wanted. Immutable, reference-counted,
 * any thread. */
#ifndef PAUA_INDEX_CODES_H
#define PAUA_INDEX_CODES_H

#include <stdatomic.h>

#include "index/model.h"
#include "store/data_file.h"
#include "store/file_writer.h"

struct codes {
    _Atomic uint32_t refs;
    struct data_file *file;
    struct model model; /* borrows from the map or from memory below */
    uint32_t rows;
    uint64_t source_digest; /* of the vectors that were encoded; see struct artifact */
    struct code_plane walk;
    const uint8_t *refine;       /* rows x refine.layout.nbytes, or NULL: lean, or no such plane */
    const float *refine_factors; /* rows x CODE_FACTORS, or NULL: no such plane */
    void *memory;                /* what a file that is not mapped was read into */
    size_t walk_nbytes, refine_nbytes; /* of codes; factors apart */
};

struct codes_target {
    struct dir *dir;
    struct file_header header; /* FILE_CODES; number, collection, field, dim set */
    uint64_t source_digest;
    paua_progress_fn progress;
    void *progress_arg;
};

/* Trains, encodes and writes: on success the sealed file stands under its name (the directory is
 * synced) and *ref describes it; on failure nothing is left. The file's bytes depend on the rows
 * alone, not on threads. PAUA_ECANCELED, PAUA_ENOMEM, PAUA_EIO, PAUA_ENOSPACE, or what the source
 * says. Memory: the walk plane and its factors, and model_train's. */
paua_status codes_write(const struct codes_target *target, const struct model_source *source,
                        struct file_ref *ref, paua_error *err);

/* Borrows arrays from an opened file of kind FILE_CODES, of which it takes a reference. `lean`
 * leaves refine codes in the file. PAUA_ECORRUPT names the file and what is wrong: every count,
 * length, width, offset and factor (finite) is checked before use. Where the file is opened with
 * PAUA_VERIFY_TOUCH every page is verified now (but those of refine codes when lean: when they are
 * read), with PAUA_VERIFY_HEADER none. */
paua_status codes_open(struct data_file *file, bool lean, struct codes **codes, paua_error *err);
struct codes *codes_ref(struct codes *codes);
void codes_unref(struct codes *codes); /* NULL does nothing */

/* The refine codes of a row: in memory, or read into scratch (refine.layout.nbytes). */
paua_status codes_refine_row(const struct codes *codes, uint32_t row, uint8_t *scratch,
                             const uint8_t **bytes, paua_error *err);

/* Decodes rows first .. first + n - 1 into n x dim floats. Any thread. PAUA_ENOMEM, and what
 * reading refine codes says. */
paua_status codes_decode(const struct codes *codes, uint32_t first, uint32_t n, float *rows,
                         paua_error *err);

#endif
