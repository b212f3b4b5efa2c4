/* instream.h - reads a file or standard input through one reused buffer, with read(2) only. */
#ifndef PAUA_CMD_INSTREAM_H
#define PAUA_CMD_INSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why something was refused: which file, which row, which byte, what was expected. */
struct fault {
    char text[1024];
};

void fault_set(struct fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct instream {
    const char *name; /* for messages; "standard input" for "-" */
    int fd;
    bool seekable;
    uint64_t nbytes; /* of a seekable file, else 0 */
    uint64_t offset; /* of the next byte that a caller gets */
    uint8_t *buffer;
    size_t begin, end; /* unread bytes in the buffer */
    char *line;        /* the last line, when it did not lie in the buffer whole */
    size_t line_capacity;
};

/* path is borrowed for the life of the stream; "-" is standard input. */
bool instream_open(struct instream *in, const char *path, struct fault *fault);
void instream_close(struct instream *in);

/* Copies up to nbytes; *got is fewer only at the end of the file. */
bool instream_read(struct instream *in, void *bytes, size_t nbytes, size_t *got,
                   struct fault *fault);

enum line_result { LINE_OK, LINE_END, LINE_FAULT };

/* The next line without its newline, valid until the next call. A line longer than max is a
 * fault. The last line may lack its newline. */
enum line_result instream_line(struct instream *in, size_t max, const char **line, size_t *nbytes,
                               struct fault *fault);

/* Goes to an offset of a seekable stream. */
bool instream_seek(struct instream *in, uint64_t offset, struct fault *fault);

#endif
