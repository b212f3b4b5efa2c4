/* read_bvecs.c - bvecs: each row is its dimension as int32, then that many bytes, 0 to 255. */
#include "reader.h"

static enum row_result bvecs_row(struct reader_state *reader, struct row *row, struct fault *fault)
{
    uint32_t dim = reader_dim(reader);
    float *vector = row->vectors[reader->field];
    enum row_result result = reader_vecs_dim(reader, 1, fault);
    uint8_t *bytes;

    if (result != ROW_OK) return result;
    bytes = reader_scratch(reader, dim);
    result = reader_exactly(reader, bytes, dim, false, fault);
    if (result != ROW_OK) return result;
    for (uint32_t i = 0; i < dim; i++)
        vector[i] = (float)bytes[i];
    row->given = 1u << reader->field;
    return ROW_OK;
}

const struct file_format format_bvecs = {
    .name = "bvecs", .row = bvecs_row, .dim = reader_vecs_file_dim};
