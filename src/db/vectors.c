/* vectors.c - see vectors.h. */
#include "db/vectors.h"

#include "base/crc32c.h"
#include "base/error.h"
#include "base/memory.h"
#include "kernel/kernel.h"

/* n rows that lie together in one part. */
static paua_status run_read(struct part_data *part, uint32_t field, uint32_t row, uint32_t n,
                            uint16_t *halves, float *rows, paua_error *err)
{
    const struct schema_field *f = &part->schema->fields[field];
    size_t row_nbytes = schema_row_nbytes(f);
    paua_status status =
        data_file_pread(part->vectors[field], (uint64_t)row * row_nbytes, n * row_nbytes,
                        halves != NULL ? (void *)halves : rows, err);

    if (status == PAUA_OK && halves != NULL)
        kernels_best()->f32_from_f16(halves, (size_t)n * f->dim, rows);
    return status;
}

paua_status vectors_read(const struct segment *segment, uint32_t field, uint32_t first, uint32_t n,
                         float *rows, paua_error *err)
{
    const struct schema_field *f = &segment->schema->fields[field];
    bool narrow = schema_component_nbytes(f) == sizeof(uint16_t);
    uint16_t *halves = narrow ? mem_alloc(n * schema_row_nbytes(f)) : NULL;
    paua_status status = PAUA_OK;

    if (narrow && halves == NULL) return error_set_nomem(err);
    for (uint32_t done = 0, run; done < n && status == PAUA_OK; done += run) {
        uint32_t row;
        struct part_data *part = segment_part(segment, first + done, &row);

        run = part->part.row_count - row;
        if (run > n - done) run = n - done;
        status = run_read(part, field, row, run, halves, rows + (size_t)done * f->dim, err);
    }
    mem_free(halves);
    return status;
}

paua_status vectors_read_row(const struct segment *segment, uint32_t field, uint32_t row,
                             void *bytes, paua_error *err)
{
    size_t nbytes = schema_row_nbytes(&segment->schema->fields[field]);
    uint32_t at;
    const struct part_data *part = segment_part(segment, row, &at);

    return data_file_pread(part->vectors[field], (uint64_t)at * nbytes, nbytes, bytes, err);
}

uint64_t vectors_digest(const struct segment *segment, uint32_t field)
{
    uint32_t crc = 0;

    for (uint32_t p = 0; p < segment->manifest.part_count; p++) {
        const struct file_ref *ref = &segment->manifest.parts[p].vectors[field];
        uint8_t bytes[20];

        bytes_put(bytes, ref->number, 8);
        bytes_put(bytes + 8, ref->nbytes, 8);
        bytes_put(bytes + 16, ref->footer_crc, 4);
        crc = crc32c(crc, bytes, sizeof bytes);
    }
    return (uint64_t)segment->rows << 32 | crc;
}
