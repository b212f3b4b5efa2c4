/* reader.h - files of rows: one struct of functions a format, one loop over all of them.
 *
 * A reader gives one row after another into memory of the caller. It trusts nothing: every length
 * is checked before it is used, and memory grows with what was read, never with what a header
 * promises. A fault names file, row, byte offset and what was expected. */
#ifndef PAUA_CMD_READER_H
#define PAUA_CMD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <paua/paua.h>

#include "instream.h"

enum row_result {
    ROW_OK,
    ROW_END,
    ROW_BAD,    /* this row is refused; the next one can be read */
    ROW_BROKEN, /* nothing after this point can be read */
};

/* The text of one field, of CSV. */
struct row_text {
    const char *name;
    const char *text;
    size_t nbytes;
    bool quoted;
};

/* One row. The caller sets vectors; the rest is borrowed from the reader until its next row. */
struct row {
    float *vectors[PAUA_VECTOR_FIELDS_MAX]; /* dim floats each */
    uint32_t given;                         /* bit f: vectors[f] was filled */
    const json_t *key;                      /* of JSON lines; NULL: none */
    paua_bytes document;                    /* of JSON lines; data == NULL: none */
    const json_t *members;                  /* of JSON lines: other members are fields */
    const json_t *fields;                   /* of JSON lines: "fields": {...}; NULL: none */
    const struct row_text *texts;           /* of CSV: its fields */
    size_t text_count;
};

struct reader_state;

struct file_format {
    const char *name; /* also the suffix */
    bool (*begin)(struct reader_state *reader, struct fault *fault);
    enum row_result (*row)(struct reader_state *reader, struct row *row, struct fault *fault);
    /* The dimension that the file itself says, at its start; NULL: it says none. */
    bool (*dim)(struct reader_state *reader, uint32_t *dim, struct fault *fault);
};

enum npy_component { NPY_FP16, NPY_FP32, NPY_FP64 };

struct reader_state {
    const struct file_format *format;
    struct instream in;
    const paua_schema *schema;
    size_t field;        /* the field of formats that hold one vector a row */
    uint64_t start;      /* offset of the file's first byte */
    uint64_t next_row;   /* number, from 0, of the row that comes next */
    uint64_t row_offset; /* where the last row began */
    uint8_t *scratch;    /* bytes of a row; decoded documents */
    size_t scratch_nbytes;
    json_t *json;    /* the last row of JSON lines */
    struct csv *csv; /* the record at work, and the names of the columns */
    uint64_t npy_rows;
    enum npy_component npy_component;
};

extern const struct file_format format_fvecs, format_bvecs, format_npy, format_jsonl, format_csv;

/* A format by its name or a file's suffix; NULL if there is none. */
const struct file_format *format_by_name(const char *name);
const struct file_format *format_by_suffix(const char *path);

/* schema and path are borrowed. field: where formats with one vector a row put it. */
bool reader_start(struct reader_state *reader, const struct file_format *format, const char *path,
                  const paua_schema *schema, size_t field, struct fault *fault);
void reader_end(struct reader_state *reader);

/* The next row, checked to be storable. Faults name file, row and byte. */
enum row_result reader_row(struct reader_state *reader, struct row *row, struct fault *fault);

/* Back to the first row of a seekable file. */
bool reader_again(struct reader_state *reader, struct fault *fault);

/* The dimension that a file of vectors says of itself. */
bool reader_file_dim(const struct file_format *format, const char *path, uint32_t *dim,
                     struct fault *fault);

/* Frees what reading CSV holds. */
void csv_end(struct reader_state *reader);

/* Memory of at least nbytes that lasts until asked again. */
uint8_t *reader_scratch(struct reader_state *reader, size_t nbytes);

/* Dimension of the field that plain vectors go to. */
uint32_t reader_dim(const struct reader_state *reader);

/* Reads exactly nbytes; ROW_END at once at the file's end if end_ok, else a cut file is a fault. */
enum row_result reader_exactly(struct reader_state *reader, void *bytes, size_t nbytes, bool end_ok,
                               struct fault *fault);

/* The int32 before a row of fvecs and bvecs; a wrong dimension skips its row. */
enum row_result reader_vecs_dim(struct reader_state *reader, size_t component_nbytes,
                                struct fault *fault);

/* What the first of those int32 is, for file_format.dim. */
bool reader_vecs_file_dim(struct reader_state *reader, uint32_t *dim, struct fault *fault);

#endif
