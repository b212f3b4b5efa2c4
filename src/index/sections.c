/* sections.c - see sections.h. */
#include "index/sections.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/record.h"

paua_status sections_put(struct file_writer *writer, struct file_footer *footer, enum section_id id,
                         const void *bytes, uint64_t nbytes, paua_error *err)
{
    paua_status status = file_writer_align(writer, SECTIONS_ALIGNMENT, err);

    assert(footer->section_count < FILE_SECTIONS_MAX);
    if (status != PAUA_OK) return status;
    footer->sections[footer->section_count++] = (struct section){
        .id = (uint16_t)id, .offset = file_writer_data_nbytes(writer), .nbytes = nbytes};
    return nbytes > 0 ? file_writer_append(writer, bytes, (size_t)nbytes, err) : PAUA_OK;
}

paua_status sections_seal(struct dir *dir, struct file_writer *writer,
                          const struct file_header *header, struct file_footer *footer,
                          struct file_ref *ref, paua_error *err)
{
    char name[FILE_NAME_NBYTES];
    paua_status status = file_writer_seal(writer, footer, ref, err);

    if (status != PAUA_OK) return status;
    status = dir_sync(dir, err);
    if (status != PAUA_OK) {
        file_name(name, header->number, header->kind);
        dir_unlink(dir, name, NULL);
    }
    return status;
}

bool sections_have(const struct data_file *file, enum section_id id)
{
    const struct section *section = data_file_section(file, id);

    return section != NULL && section->offset % SECTIONS_ALIGNMENT == 0;
}

bool stretch_add(struct stretch *stretch, enum section_id id)
{
    const struct section *section = data_file_section(stretch->file, id);

    if (!sections_have(stretch->file, id)) return false;
    if (!stretch->any || section->offset < stretch->first) stretch->first = section->offset;
    if (section->offset + section->nbytes > stretch->end)
        stretch->end = section->offset + section->nbytes;
    stretch->any = true;
    return true;
}

paua_status stretch_load(struct stretch *stretch, size_t slack, paua_error *err)
{
    size_t nbytes = (size_t)(stretch->end - stretch->first);

    assert(slack <= RECORD_HEADER_NBYTES + FILE_TRAILER_NBYTES + 32);
    if (!data_file_mapped(stretch->file)) {
        stretch->memory = mem_aligned(SECTIONS_ALIGNMENT, nbytes + slack);
        if (stretch->memory == NULL) return error_set_nomem(err);
        memset((uint8_t *)stretch->memory + nbytes, 0, slack);
    }
    return data_file_read(stretch->file, stretch->first, nbytes, stretch->memory, &stretch->bytes,
                          err);
}

const void *stretch_section(const struct stretch *stretch, enum section_id id)
{
    return stretch->bytes + (data_file_section(stretch->file, id)->offset - stretch->first);
}
