/* sealing.h - byte strings of a column that is being sealed: which chunks have a dictionary, and
 * its values in their order. */
#ifndef PAUA_COLUMN_SEALING_H
#define PAUA_COLUMN_SEALING_H

#include "column/column_file.h"
#include "column/dictionary.h"

/* Rows of one column, given in order as often as one asks. */
struct column_source {
    column_source_fn next;
    void *arg;
    uint32_t rows;
};

struct sealed_values {
    struct pool pool;
    struct dictionary dictionary;
    uint32_t *order;  /* index in the dictionary of the i-th value */
    uint32_t *ranks;  /* the reverse */
    bool *unrepeated; /* a chunk: its values are not (all) in the dictionary */
};

/* Asks for all rows once. */
paua_status sealed_values_make(struct sealed_values *values, const struct column_source *source,
                               paua_error *err);
void sealed_values_free(struct sealed_values *values);

#endif
