/* read_fvecs.c - fvecs: each row is its dimension as int32, then that many floats. */
#include "reader.h"

static enum row_result fvecs_row(struct reader_state *reader, struct row *row, struct fault *fault)
{
    size_t nbytes = (size_t)reader_dim(reader) * sizeof(float);
    enum row_result result = reader_vecs_dim(reader, sizeof(float), fault);

    if (result != ROW_OK) return result;
    result = reader_exactly(reader, row->vectors[reader->field], nbytes, false, fault);
    row->given = 1u << reader->field;
    return result;
}

const struct file_format format_fvecs = {
    .name = "fvecs", .row = fvecs_row, .dim = reader_vecs_file_dim};
