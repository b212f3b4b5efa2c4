/* read_npy.c - NumPy's npy: matrices of fp16, fp32 or fp64, C order, format versions 1.0 to 3.0.
 *
 * Layout     "\x93NUMPY", major, minor, header length (u16 in version 1, u32 later), the header,
 *            the components. The header is a Python dictionary of three entries, read here by a
 *            scanner for just that: strings, True and False, and a tuple of whole numbers.
 * Source     numpy.lib.format of the NumPy manual.
 * Limits     a header of at most 64 KiB; any other is a forgery or not meant for us. */
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"
#include "vector.h"

#define HEADER_NBYTES_MAX 65536u
#define MAGIC "\x93NUMPY"
#define MAGIC_NBYTES 6u

struct header {
    char descr[16];
    bool has_descr, has_order, has_shape;
    bool fortran_order;
    size_t axes;
    uint64_t shape[2];
};

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == ',')
        at++;
    return at;
}

/* A quoted string into text; NULL if there is none or it does not fit. */
static const char *scan_string(const char *at, char *text, size_t nbytes)
{
    char quote = *at;
    const char *end = quote == '\'' || quote == '"' ? strchr(at + 1, quote) : NULL;
    size_t length = end == NULL ? 0 : (size_t)(end - at - 1);

    if (end == NULL || length >= nbytes) return NULL;
    memcpy(text, at + 1, length);
    text[length] = 0;
    return end + 1;
}

static const char *scan_bool(const char *at, bool *value)
{
    *value = strncmp(at, "True", 4) == 0;
    if (*value) return at + 4;
    return strncmp(at, "False", 5) == 0 ? at + 5 : NULL;
}

static const char *scan_shape(const char *at, struct header *header)
{
    if (*at++ != '(') return NULL;
    header->axes = 0;
    for (at = skip_space(at); *at != ')'; at = skip_space(at)) {
        size_t digits = strspn(at, "0123456789");
        uint64_t length = 0;
        if (!parse_u64(at, digits, &length)) return NULL;
        if (header->axes < COUNT_OF(header->shape)) header->shape[header->axes] = length;
        header->axes++;
        at += digits;
    }
    return at + 1;
}

static bool scan_header(const char *at, struct header *header)
{
    char name[32];

    at = skip_space(at);
    if (*at++ != '{') return false;
    for (at = skip_space(at); *at != '}'; at = skip_space(at)) {
        at = scan_string(at, name, sizeof name);
        if (at == NULL) return false;
        at = skip_space(at);
        if (*at++ != ':') return false;
        at = skip_space(at);
        if (strcmp(name, "descr") == 0) {
            at = scan_string(at, header->descr, sizeof header->descr);
            header->has_descr = true;
        } else if (strcmp(name, "fortran_order") == 0) {
            at = scan_bool(at, &header->fortran_order);
            header->has_order = true;
        } else if (strcmp(name, "shape") == 0) {
            at = scan_shape(at, header);
            header->has_shape = true;
        } else {
            return false;
        }
        if (at == NULL) return false;
    }
    return header->has_descr && header->has_order && header->has_shape;
}

static bool read_preamble(struct reader_state *reader, uint32_t *header_nbytes, struct fault *fault)
{
    uint8_t head[MAGIC_NBYTES + 2];
    uint8_t length[4] = {0};
    bool ok = reader_exactly(reader, head, sizeof head, false, fault) == ROW_OK;

    if (!ok) return false;
    if (memcmp(head, MAGIC, MAGIC_NBYTES) != 0) {
        fault_set(fault, "no npy file: it does not begin with \\x93NUMPY at byte 0");
        return false;
    }
    if (head[6] < 1 || head[6] > 3 || head[7] != 0) {
        fault_set(fault, "npy version %u.%u at byte 6, expected 1.0, 2.0 or 3.0", head[6], head[7]);
        return false;
    }
    if (reader_exactly(reader, length, head[6] == 1 ? 2 : 4, false, fault) != ROW_OK) return false;
    *header_nbytes = (uint32_t)length[0] | (uint32_t)length[1] << 8 | (uint32_t)length[2] << 16 |
                     (uint32_t)length[3] << 24;
    if (*header_nbytes <= HEADER_NBYTES_MAX) return true;
    fault_set(fault, "the header at byte 8 has %u bytes, expected at most %u", *header_nbytes,
              HEADER_NBYTES_MAX);
    return false;
}

static bool take_type(struct reader_state *reader, const struct header *header, struct fault *fault)
{
    static const char *const types[] = {"<f2", "<f4", "<f8"};

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (strcmp(header->descr, types[i]) != 0) continue;
        reader->npy_component = (enum npy_component)i;
        return true;
    }
    if (header->descr[0] == '>')
        fault_set(fault,
                  "components are big-endian (%s), expected <f2, <f4 or <f8: convert by "
                  "a.astype('<f4')",
                  header->descr);
    else
        fault_set(fault, "components are %s, expected <f2, <f4 or <f8: convert by a.astype('<f4')",
                  header->descr);
    return false;
}

static size_t row_nbytes(const struct reader_state *reader)
{
    return (size_t)reader_dim(reader) * ((size_t)2 << reader->npy_component);
}

static bool check_shape(struct reader_state *reader, const struct header *header,
                        struct fault *fault)
{
    uint64_t left = reader->in.nbytes - reader->in.offset;

    if (header->fortran_order) {
        fault_set(fault, "the matrix is in Fortran order, expected C order: convert by "
                         "numpy.ascontiguousarray(a)");
        return false;
    }
    if (header->axes != 2 || header->shape[1] != reader_dim(reader)) {
        fault_set(fault, "the array has %zu axes and %llu columns, expected the shape (rows, %u)",
                  header->axes, (unsigned long long)(header->axes > 1 ? header->shape[1] : 1),
                  reader_dim(reader));
        return false;
    }
    reader->npy_rows = header->shape[0];
    if (!reader->in.seekable) return true;
    if (left % row_nbytes(reader) == 0 && left / row_nbytes(reader) == reader->npy_rows)
        return true;
    fault_set(fault, "the shape promises %llu rows of %zu bytes, but %llu bytes follow the header",
              (unsigned long long)reader->npy_rows, row_nbytes(reader), (unsigned long long)left);
    return false;
}

static bool read_header(struct reader_state *reader, struct header *header, struct fault *fault)
{
    uint32_t nbytes = 0;
    char *text;

    if (!read_preamble(reader, &nbytes, fault)) return false;
    text = (char *)reader_scratch(reader, (size_t)nbytes + 1);
    if (reader_exactly(reader, text, nbytes, false, fault) != ROW_OK) return false;
    text[nbytes] = 0;
    if (strlen(text) == nbytes && scan_header(text, header)) return true;
    fault_set(fault, "the header at byte 10 is not {'descr': ..., 'fortran_order': ..., "
                     "'shape': ...}");
    return false;
}

static bool npy_begin(struct reader_state *reader, struct fault *fault)
{
    struct header header = {0};

    if (!read_header(reader, &header, fault)) return false;
    return take_type(reader, &header, fault) && check_shape(reader, &header, fault);
}

static bool npy_dim(struct reader_state *reader, uint32_t *dim, struct fault *fault)
{
    struct header header = {0};

    if (!read_header(reader, &header, fault)) return false;
    if (header.axes == 2 && header.shape[1] <= UINT32_MAX) {
        *dim = (uint32_t)header.shape[1];
        return true;
    }
    fault_set(fault, "the array has %zu axes, expected the shape (rows, dimension)", header.axes);
    return false;
}

static void convert(const struct reader_state *reader, float *vector)
{
    uint32_t dim = reader_dim(reader);

    if (reader->npy_component == NPY_FP16) {
        const uint16_t *halves = (const void *)reader->scratch;
        for (uint32_t i = 0; i < dim; i++)
            vector[i] = half_to_float(halves[i]);
    } else {
        const double *doubles = (const void *)reader->scratch;
        for (uint32_t i = 0; i < dim; i++)
            vector[i] = (float)doubles[i];
    }
}

/* After the last row: a stream must end here too. */
static enum row_result npy_end(struct reader_state *reader, struct fault *fault)
{
    uint8_t byte;
    size_t got = 0;

    if (!instream_read(&reader->in, &byte, 1, &got, fault)) return ROW_BROKEN;
    if (got == 0) return ROW_END;
    fault_set(fault, "bytes follow the last of %llu rows, expected the end of the file",
              (unsigned long long)reader->npy_rows);
    return ROW_BROKEN;
}

static enum row_result npy_row(struct reader_state *reader, struct row *row, struct fault *fault)
{
    float *vector = row->vectors[reader->field];
    bool direct = reader->npy_component == NPY_FP32;
    void *bytes = direct ? (void *)vector : reader_scratch(reader, row_nbytes(reader));
    enum row_result result;

    if (reader->next_row >= reader->npy_rows) return npy_end(reader, fault);
    result = reader_exactly(reader, bytes, row_nbytes(reader), false, fault);
    if (result != ROW_OK) return result;
    if (!direct) convert(reader, vector);
    row->given = 1u << reader->field;
    return ROW_OK;
}

const struct file_format format_npy = {
    .name = "npy", .begin = npy_begin, .row = npy_row, .dim = npy_dim};
