/* forge.c - see forge.h. */
#include "forge.h"

#include <unistd.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "codec/record.h"

void forge_flip(struct dir *dir, const char *name, uint64_t at, uint8_t bits)
{
    uint8_t byte;
    int fd;

    assert_int_equal(dir_open_file(dir, name, DIR_WRITE, &fd, NULL), PAUA_OK);
    assert_int_equal(fd_pread(fd, name, &byte, 1, at, NULL), PAUA_OK);
    byte ^= bits;
    assert_int_equal(fd_pwrite(fd, name, &byte, 1, at, NULL), PAUA_OK);
    fd_close(fd);
}

void forge_cut(struct dir *dir, const char *name, size_t nbytes)
{
    int fd;

    assert_int_equal(dir_open_file(dir, name, DIR_WRITE, &fd, NULL), PAUA_OK);
    assert_int_equal(ftruncate(fd, (off_t)nbytes), 0);
    fd_close(fd);
}

void forge_take(struct forged *forged, struct data_file *file)
{
    *forged =
        (struct forged){.header = *data_file_header(file), .row_count = data_file_row_count(file)};
    for (uint16_t id = SECTION_MODEL; id <= SECTION_VALUE_SETS; id++) {
        const struct section *found = data_file_section(file, id);
        struct forged_section *section = &forged->sections[forged->count];

        if (found == NULL) continue;
        assert_true(++forged->count <= FORGED_SECTIONS_MAX);
        section->id = id;
        section->nbytes = (size_t)found->nbytes;
        section->bytes = malloc(section->nbytes + 1);
        assert_non_null(section->bytes);
        assert_int_equal(
            data_file_pread(file, found->offset, section->nbytes, section->bytes, NULL), PAUA_OK);
    }
}

struct forged_section *forge_section(struct forged *forged, enum section_id id)
{
    for (uint32_t i = 0; i < forged->count; i++)
        if (forged->sections[i].id == id) return &forged->sections[i];
    fail_msg("no section %d", (int)id);
    return NULL;
}

void forge_resize(struct forged_section *section, size_t nbytes)
{
    section->bytes = realloc(section->bytes, nbytes + 1);
    assert_non_null(section->bytes);
    if (nbytes > section->nbytes)
        memset(section->bytes + section->nbytes, 0, nbytes - section->nbytes);
    section->nbytes = nbytes;
}

void forge_record(struct forged_section *record, size_t at, uint64_t value, size_t width)
{
    assert_true(at + width <= record->nbytes);
    bytes_put(record->bytes + at, value, width);
    bytes_put(
        record->bytes + 8,
        crc32c(0, record->bytes + RECORD_HEADER_NBYTES, record->nbytes - RECORD_HEADER_NBYTES), 4);
}

struct file_ref forge_write(const struct forged *forged, struct dir *dir)
{
    static const uint8_t zeros[64];
    struct file_footer footer = {.row_count = forged->row_count};
    struct file_writer *writer;
    struct file_ref ref;

    assert_int_equal(file_writer_create(dir, &forged->header, true, &writer, NULL), PAUA_OK);
    for (uint32_t i = 0; i < forged->count; i++) {
        const struct forged_section *section = &forged->sections[i];

        assert_int_equal(file_writer_align(writer, 64, NULL), PAUA_OK);
        assert_int_equal(file_writer_append(writer, zeros, section->gap, NULL), PAUA_OK);
        footer.sections[footer.section_count++] =
            (struct section){section->id, file_writer_data_nbytes(writer), section->nbytes};
        assert_int_equal(file_writer_append(writer, section->bytes, section->nbytes, NULL),
                         PAUA_OK);
    }
    assert_int_equal(file_writer_seal(writer, &footer, &ref, NULL), PAUA_OK);
    file_writer_close(writer);
    return ref;
}

void forge_free(struct forged *forged)
{
    for (uint32_t i = 0; i < forged->count; i++)
        free(forged->sections[i].bytes);
}
