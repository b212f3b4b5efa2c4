/* write_fvecs.c - fvecs: each row is its dimension as int32, then that many floats. */
#include "writer.h"

static void fvecs_row(struct writer_state *writer, const paua_record *record)
{
    uint32_t dim = writer->schema->fields[writer->field].dim;

    fwrite(&dim, sizeof dim, 1, writer->out->stream);
    fwrite(record->vectors[writer->field], sizeof(float), dim, writer->out->stream);
}

const struct writer_format writer_fvecs = {.name = "fvecs", .row = fvecs_row};
