/* write_npy.c - NumPy's npy, version 1.0: a matrix of <f4 in C order.
 *
 * The number of rows stands in the header and is known at the end, so the header is written twice,
 * padded to a fixed length, and the output must be a file. */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEADER_NBYTES 128u
#define PREAMBLE_NBYTES 10u

static void make_header(const struct writer_state *writer, char header[HEADER_NBYTES])
{
    char text[HEADER_NBYTES];
    int length = snprintf(
        text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%llu, %u), }",
        (unsigned long long)writer->rows, writer->schema->fields[writer->field].dim);

    memset(header, ' ', HEADER_NBYTES);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(HEADER_NBYTES - PREAMBLE_NBYTES);
    header[9] = 0;
    memcpy(header + PREAMBLE_NBYTES, text, (size_t)length);
    header[HEADER_NBYTES - 1] = '\n';
}

static bool npy_begin(struct writer_state *writer, struct fault *fault)
{
    char header[HEADER_NBYTES];
    int fd = fileno(writer->out->stream);

    if (lseek(fd, 0, SEEK_CUR) != 0 || (fcntl(fd, F_GETFL) & O_APPEND) != 0) {
        fault_set(fault, "cannot write npy to %s, its header is written last, use --output FILE",
                  writer->out->name);
        return false;
    }
    make_header(writer, header);
    fwrite(header, 1, sizeof header, writer->out->stream);
    return true;
}

static void npy_row(struct writer_state *writer, const paua_record *record)
{
    fwrite(record->vectors[writer->field], sizeof(float), writer->schema->fields[writer->field].dim,
           writer->out->stream);
}

static bool npy_end(struct writer_state *writer, struct fault *fault)
{
    char header[HEADER_NBYTES];
    int fd = fileno(writer->out->stream);

    make_header(writer, header);
    if (fflush(writer->out->stream) == 0 &&
        pwrite(fd, header, sizeof header, 0) == (ssize_t)sizeof header)
        return true;
    fault_set(fault, "cannot write %s, %s, check its free space", writer->out->name,
              strerror(errno));
    return false;
}

const struct writer_format writer_npy = {
    .name = "npy", .begin = npy_begin, .row = npy_row, .end = npy_end};
