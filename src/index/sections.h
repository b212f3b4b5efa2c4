/* sections.h - the sections of codes and graphs as arrays in memory: written one after the other,
 * and borrowed again from one stretch of the file. */
#ifndef PAUA_INDEX_SECTIONS_H
#define PAUA_INDEX_SECTIONS_H

#include <stdbool.h>

#include "store/data_file.h"
#include "store/file_writer.h"

#define SECTIONS_ALIGNMENT 64u

/* Appends an array at a multiple of SECTIONS_ALIGNMENT and describes it in the footer. */
paua_status sections_put(struct file_writer *writer, struct file_footer *footer, enum section_id id,
                         const void *bytes, uint64_t nbytes, paua_error *err);

/* Seals a temporary file and syncs the directory; if that fails, the file is gone. */
paua_status sections_seal(struct dir *dir, struct file_writer *writer,
                          const struct file_header *header, struct file_footer *footer,
                          struct file_ref *ref, paua_error *err);

/* Whether a file has a section, where sections_put would have put it. */
bool sections_have(const struct data_file *file, enum section_id id);

/* The part of a file's data from the first to the last of the sections that were added.
 * Zero-initialize. */
struct stretch {
    struct data_file *file; /* borrowed */
    bool any;               /* something was added */
    uint64_t first, end;
    const uint8_t *bytes; /* 64-byte aligned; `slack` more may be read */
    void *memory;         /* owned: the copy of a file that is not mapped; or NULL */
};

/* What sections_have() says. */
bool stretch_add(struct stretch *stretch, enum section_id id);
/* Maps or reads what was added; its pages are verified as the file's options say. slack: at most
 * the shortest footer and trailer. */
paua_status stretch_load(struct stretch *stretch, size_t slack, paua_error *err);
/* A section that was added. */
const void *stretch_section(const struct stretch *stretch, enum section_id id);

#endif
