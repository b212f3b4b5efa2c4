/* sealed_files.c - see sealed_files.h. Lengths are asked for twice, once for each section. */
#include "db/sealed_files.h"

#include "base/error.h"
#include "codec/batch.h"
#include "db/files.h"
#include "db/part.h"

static paua_status lengths_write(struct file_writer *writer, uint32_t rows, length_source_fn length,
                                 const void *arg, paua_error *err)
{
    paua_status status = PAUA_OK;
    uint8_t bytes[4 * HEAP_BASE_ROWS];
    uint32_t filled = 0;

    for (uint32_t row = 0; row < rows && status == PAUA_OK; row++) {
        bytes_put(bytes + 4 * filled++, length(arg, row), 4);
        if (filled < HEAP_BASE_ROWS && row + 1 < rows) continue;
        status = file_writer_append(writer, bytes, 4 * filled, err);
        filled = 0;
    }
    return status;
}

static paua_status bases_write(struct file_writer *writer, uint32_t rows, length_source_fn length,
                               const void *arg, paua_error *err)
{
    paua_status status = PAUA_OK;
    uint64_t offset = 0;

    for (uint32_t row = 0; row < rows && status == PAUA_OK; row++) {
        uint32_t nbytes = length(arg, row);

        if (row % HEAP_BASE_ROWS == 0) {
            uint8_t base[8];
            bytes_put(base, offset, 8);
            status = file_writer_append(writer, base, 8, err);
        }
        if (nbytes != BATCH_NO_DOCUMENT) offset += nbytes;
    }
    return status;
}

paua_status heap_index_write(struct file_writer *writer, uint32_t rows, length_source_fn length,
                             const void *arg, struct file_footer *footer, paua_error *err)
{
    uint64_t blocks = ((uint64_t)rows + HEAP_BASE_ROWS - 1) / HEAP_BASE_ROWS;
    paua_status status = file_writer_align(writer, 64, err);

    if (status != PAUA_OK) return status;
    footer->sections[footer->section_count++] =
        (struct section){SECTION_LENGTHS, file_writer_data_nbytes(writer), 4 * (uint64_t)rows};
    status = lengths_write(writer, rows, length, arg, err);
    if (status == PAUA_OK) status = file_writer_align(writer, 64, err);
    if (status != PAUA_OK) return status;
    footer->sections[footer->section_count++] =
        (struct section){SECTION_BASES, file_writer_data_nbytes(writer), 8 * blocks};
    return bases_write(writer, rows, length, arg, err);
}

static paua_status descriptions_encode(const struct schema *schema, const struct manifest *manifest,
                                       struct writer *m, struct writer *s, paua_error *err)
{
    if (manifest_encode(manifest, m) == PAUA_OK && schema_encode(schema, s) == PAUA_OK)
        return PAUA_OK;
    return error_set_nomem(err);
}

paua_status keys_file_write(struct dir *dir, const struct schema *schema, struct manifest *manifest,
                            uint32_t rows, key_source_fn source, void *arg, paua_error *err)
{
    struct file_header header = files_keys_header(schema, manifest->segment);
    struct file_footer footer = {.row_count = rows};
    struct writer m = {0}, s = {0};
    struct file_writer *writer = NULL;
    struct file_ref ref;
    paua_status status = descriptions_encode(schema, manifest, &m, &s, err);

    if (status == PAUA_OK) status = file_writer_create(dir, &header, true, &writer, err);
    if (status == PAUA_OK)
        status = key_index_write(schema, writer, rows, source, arg, &footer, err);
    if (status == PAUA_OK) {
        footer.manifest = (paua_bytes){m.bytes, m.length};
        footer.schema = (paua_bytes){s.bytes, s.length};
        status = file_writer_seal(writer, &footer, &ref, err);
    }
    file_writer_close(writer);
    if (status == PAUA_OK) status = dir_sync(dir, err);
    if (status == PAUA_OK) manifest->keys = ref;
    writer_free(&m);
    writer_free(&s);
    return status;
}
