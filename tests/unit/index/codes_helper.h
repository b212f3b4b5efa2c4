/* codes_helper.h - small files of codes for tests: their rows, writing, opening, and using all that
 * a search uses of them. */
#ifndef PAUA_TESTS_UNIT_INDEX_CODES_HELPER_H
#define PAUA_TESTS_UNIT_INDEX_CODES_HELPER_H

#include "index/codes.h"
#include "unit/store/temp.h"

struct rows {
    const float *values; /* count x dim */
    uint32_t count, dim;
    paua_metric metric;
    paua_precision precision;
};

#define CODES_NUMBER 9u
#define CODES_NAME "000009.codes"

/* Numbers that rise and fall, so that some dimensions matter more; the same in every run. */
float *rows_make(uint32_t count, uint32_t dim);
struct file_header rows_header(uint32_t dim);
struct model_source rows_source(const struct rows *rows, uint32_t threads);
struct codes_target rows_target(const struct rows *rows, struct dir *dir);

/* Writes codes as file CODES_NUMBER. */
struct file_ref rows_write(const struct rows *rows, struct dir *dir, uint32_t threads);

struct opened_as {
    bool no_mmap, lean;
    paua_verify verify;
};
/* data_file_open_sealed and codes_open. */
paua_status rows_open(uint32_t dim, struct dir *dir, const struct file_ref *ref,
                      struct opened_as as, struct codes **codes, paua_error *err);

/* Distances, walks' keys, pruning, refinement, decoding: what a damaged file could make read
 * outside. */
void codes_use(const struct codes *codes);

#endif
