/* graph_file.h - a graph over one segment's codes, as a sealed file (FILE_GRAPH).
 *
 * Sections: GRAPH (a record "PGRF": rows, degree, stride, entry, copies, parameters, digest of the
 * codes file, edges), NEIGHBOURS, COPIES (u32 pairs), each at a multiple of 64 bytes. What was
 * built is what is written, mapped and searched. */
#ifndef PAUA_INDEX_GRAPH_FILE_H
#define PAUA_INDEX_GRAPH_FILE_H

#include <stdatomic.h>

#include "index/graph.h"
#include "store/data_file.h"
#include "store/file_writer.h"

struct graph_file {
    _Atomic uint32_t refs;
    struct data_file *file;
    struct graph graph; /* borrows from the map or from memory */
    struct graph_params params;
    uint32_t codes_crc; /* footer checksum of the codes file it was built on */
    void *memory;
};

/* Writes through the file writer's 64 KiB buffer, seals, syncs file and directory. */
paua_status graph_file_write(struct dir *dir, const struct file_header *header,
                             const struct graph *graph, const struct graph_params *params,
                             uint32_t codes_crc, struct file_ref *ref, paua_error *err);

/* Borrows arrays from an opened file of kind FILE_GRAPH, of which it takes a reference; it must be
 * over `rows` rows. Checks all that a walk relies on: every id is below rows, so that a walk reads
 * nothing outside, whatever else is wrong; and all page checksums if the file was opened with
 * PAUA_VERIFY_TOUCH. PAUA_ECORRUPT names the file. */
paua_status graph_file_open(struct data_file *file, uint32_t rows, struct graph_file **opened,
                            paua_error *err);
struct graph_file *graph_file_ref(struct graph_file *file);
void graph_file_unref(struct graph_file *file); /* NULL does nothing */

#endif
