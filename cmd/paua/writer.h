/* writer.h - rows to files: one struct of functions a format. */
#ifndef PAUA_CMD_WRITER_H
#define PAUA_CMD_WRITER_H

#include <paua/paua.h>

#include "outfile.h"

struct writer_state {
    struct outfile *out;
    const paua_schema *schema;
    size_t field;             /* of formats with one vector a row */
    bool one_field;           /* JSON lines: only this field */
    bool no_vector;           /* JSON lines: keys and documents only */
    const paua_field *fields; /* of the records' values */
    size_t field_count;
    uint64_t rows;
};

struct writer_format {
    const char *name;
    bool (*begin)(struct writer_state *writer, struct fault *fault); /* may be NULL */
    void (*row)(struct writer_state *writer, const paua_record *record);
    bool (*end)(struct writer_state *writer, struct fault *fault); /* may be NULL */
};

extern const struct writer_format writer_fvecs, writer_npy, writer_jsonl;

/* NULL if there is none of this name. */
const struct writer_format *writer_by_name(const char *name);

#endif
