/* forge.h - files of codes, graphs and values taken apart and put together again with good
 * checksums, so that only a look at what they say can refuse them. */
#ifndef PAUA_TESTS_UNIT_INDEX_FORGE_H
#define PAUA_TESTS_UNIT_INDEX_FORGE_H

#include "store/data_file.h"
#include "store/file_writer.h"
#include "unit/store/temp.h"

#define FORGED_SECTIONS_MAX 16u

struct forged_section {
    uint16_t id;
    uint8_t *bytes; /* malloc */
    size_t nbytes;
    size_t gap; /* bytes between the last multiple of 64 and its start */
};

struct forged {
    struct file_header header;
    uint32_t row_count, count;
    struct forged_section sections[FORGED_SECTIONS_MAX];
};

/* Flips bits of one byte of a file, where it lies. */
void forge_flip(struct dir *dir, const char *name, uint64_t at, uint8_t bits);
void forge_cut(struct dir *dir, const char *name, size_t nbytes);

void forge_take(struct forged *forged, struct data_file *file);
struct forged_section *forge_section(struct forged *forged, enum section_id id);
void forge_resize(struct forged_section *section, size_t nbytes);
/* Puts a number into a record and makes its checksum right. */
void forge_record(struct forged_section *record, size_t at, uint64_t value, size_t width);
struct file_ref forge_write(const struct forged *forged, struct dir *dir);
void forge_free(struct forged *forged);

#endif
