/* instream.c - reads a file or standard input through one reused buffer.
 *
 * Why read(2): the pages of a mapped file count as this process's memory, and an import must stay
 * small whatever the file's size. Large reads go past the buffer, straight to the caller. */
#include "instream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

#define BUFFER_NBYTES ((size_t)256 << 10)

void fault_set(struct fault *fault, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(fault->text, sizeof fault->text, format, list);
    va_end(list);
}

bool instream_open(struct instream *in, const char *path, struct fault *fault)
{
    bool standard = strcmp(path, "-") == 0;
    struct instream draft = {.name = standard ? "standard input" : path};
    struct stat about;
    off_t at;

    draft.fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (draft.fd < 0 || fstat(draft.fd, &about) != 0) {
        fault_set(fault, "cannot open %s, %s, check its name and permissions", draft.name,
                  strerror(errno));
        if (draft.fd >= 0) close(draft.fd);
        return false;
    }
    if (S_ISDIR(about.st_mode)) {
        fault_set(fault, "cannot read %s, it is a directory, name a file", draft.name);
        close(draft.fd);
        return false;
    }
    at = S_ISREG(about.st_mode) ? lseek(draft.fd, 0, SEEK_CUR) : -1;
    draft.seekable = at >= 0;
    if (draft.seekable) {
        draft.nbytes = (uint64_t)about.st_size;
        draft.offset = (uint64_t)at;
        posix_fadvise(draft.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    draft.buffer = cmd_alloc(BUFFER_NBYTES, 1);
    *in = draft;
    return true;
}

void instream_close(struct instream *in)
{
    if (in->buffer == NULL) return;
    close(in->fd);
    free(in->buffer);
    free(in->line);
    *in = (struct instream){0};
}

/* One read(2) of at most nbytes; 0 at the end. */
static bool read_some(struct instream *in, void *bytes, size_t nbytes, size_t *got,
                      struct fault *fault)
{
    for (;;) {
        ssize_t done = read(in->fd, bytes, nbytes);
        if (done >= 0) {
            *got = (size_t)done;
            return true;
        }
        if (errno == EINTR && !interrupted()) continue;
        fault_set(fault, "cannot read %s at byte %llu, %s, check the device", in->name,
                  (unsigned long long)in->offset, strerror(errno));
        return false;
    }
}

static bool refill(struct instream *in, struct fault *fault)
{
    in->begin = in->end = 0;
    return read_some(in, in->buffer, BUFFER_NBYTES, &in->end, fault);
}

bool instream_read(struct instream *in, void *bytes, size_t nbytes, size_t *got,
                   struct fault *fault)
{
    uint8_t *out = bytes;
    size_t done = 0;

    while (done < nbytes) {
        size_t here = in->end - in->begin;
        size_t want = nbytes - done;
        if (here == 0 && want >= BUFFER_NBYTES) {
            if (!read_some(in, out + done, want, &here, fault)) return false;
        } else {
            if (here == 0 && !refill(in, fault)) return false;
            here = in->end - in->begin < want ? in->end - in->begin : want;
            memcpy(out + done, in->buffer + in->begin, here);
            in->begin += here;
        }
        if (here == 0) break;
        done += here;
        in->offset += here;
    }
    *got = done;
    return true;
}

static void line_append(struct instream *in, size_t used, size_t more)
{
    if (used + more + 1 > in->line_capacity) {
        in->line_capacity = 2 * (used + more) + 1;
        in->line = cmd_grow(in->line, in->line_capacity, 1);
    }
    memcpy(in->line + used, in->buffer + in->begin, more);
}

enum line_result instream_line(struct instream *in, size_t max, const char **line, size_t *nbytes,
                               struct fault *fault)
{
    uint64_t start = in->offset;
    size_t used = 0;

    for (;;) {
        const uint8_t *newline;
        size_t more;

        if (in->begin == in->end && !refill(in, fault)) return LINE_FAULT;
        if (in->begin == in->end) break;
        newline = memchr(in->buffer + in->begin, '\n', in->end - in->begin);
        more = newline != NULL ? (size_t)(newline - (in->buffer + in->begin)) : in->end - in->begin;
        if (used + more > max) {
            fault_set(fault, "%s: the line at byte %llu is longer than %zu bytes, split it",
                      in->name, (unsigned long long)start, max);
            return LINE_FAULT;
        }
        if (newline != NULL && used == 0) {
            *line = (const char *)in->buffer + in->begin;
            *nbytes = more;
            in->begin += more + 1;
            in->offset += more + 1;
            return LINE_OK;
        }
        line_append(in, used, more);
        used += more;
        in->begin += more + (newline != NULL ? 1 : 0);
        in->offset += more + (newline != NULL ? 1 : 0);
        if (newline != NULL) break;
    }
    if (in->offset == start) return LINE_END;
    *line = in->line;
    *nbytes = used;
    return LINE_OK;
}

bool instream_seek(struct instream *in, uint64_t offset, struct fault *fault)
{
    if (lseek(in->fd, (off_t)offset, SEEK_SET) < 0) {
        fault_set(fault, "cannot seek %s to byte %llu, %s, copy it to a regular file", in->name,
                  (unsigned long long)offset, strerror(errno));
        return false;
    }
    in->begin = in->end = 0;
    in->offset = offset;
    return true;
}
