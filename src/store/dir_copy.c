/* dir_copy.c - a file into another directory, as cheaply as the file systems allow.
 *
 * In this order: a reflink (FICLONE; shares the blocks, whole files only), copy_file_range (the
 * kernel copies, or the server does), reads and writes. Each that refuses hands over to the next at
 * the byte it got to. The copy is synced before the call returns; syncing its directory, once for
 * many copies, is the caller's. A failed copy is unlinked. */
#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/dir_private.h"
#include "store/sys.h"

#define COPY_BUFFER_NBYTES 65536u

/* Returns how many of nbytes the kernel copied; anything short of all goes through a buffer. */
static uint64_t copy_in_kernel(int in, int out, uint64_t nbytes)
{
    uint64_t done = 0;

    while (done < nbytes) {
        off_t from = (off_t)done, to = (off_t)done;
        ssize_t got = copy_file_range(in, &from, out, &to, nbytes - done, 0);

        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += (uint64_t)got;
    }
    return done;
}

static paua_status copy_buffered(int in, int out, const char *name, uint64_t at, uint64_t end,
                                 paua_error *err)
{
    paua_status status = PAUA_OK;
    uint8_t *buffer = mem_alloc(COPY_BUFFER_NBYTES);

    if (buffer == NULL) return error_set_nomem(err);
    while (at < end && status == PAUA_OK) {
        size_t n = end - at < COPY_BUFFER_NBYTES ? (size_t)(end - at) : COPY_BUFFER_NBYTES;

        status = fd_pread(in, name, buffer, n, at, err);
        if (status == PAUA_OK) status = fd_pwrite(out, name, buffer, n, at, err);
        at += n;
    }
    mem_free(buffer);
    return status;
}

static paua_status copy_bytes(int in, struct dir *to, const char *name, uint64_t nbytes, bool whole,
                              paua_error *err)
{
    paua_status status;
    int out;

    status = dir_open_file(to, name, DIR_CREATE, &out, err);
    if (status != PAUA_OK) return status;
    if (!whole || ioctl(out, FICLONE, in) != 0) {
        uint64_t done = copy_in_kernel(in, out, nbytes);

        if (done < nbytes) status = copy_buffered(in, out, name, done, nbytes, err);
    }
    if (status == PAUA_OK && sys.fdatasync(out) != 0)
        status = error_set_errno(err, errno, name, "syncing");
    fd_close(out);
    if (status != PAUA_OK) dir_unlink(to, name, NULL);
    return status;
}

static paua_status link_file(struct dir *from, const char *name, struct dir *to, paua_error *err)
{
    int failed = EXDEV;

    if (!dir_in_memory(from) && !dir_in_memory(to)) {
        if (linkat(from->fd, name, to->fd, name, 0) == 0) return PAUA_OK;
        failed = errno;
    }
    if (failed == EEXIST) return error_set(err, PAUA_EEXISTS, "%s: exists already", name);
    if (failed == EXDEV || failed == EPERM || failed == EOPNOTSUPP)
        return error_set(err, PAUA_ENOTSUP,
                         "%s: cannot be hard-linked into %s; both must be on one file system that "
                         "has hard links; copy instead",
                         name, to->path);
    return error_set_errno(err, failed, name, "writing");
}

paua_status dir_copy_file(struct dir *from, const char *name, struct dir *to, uint64_t nbytes,
                          bool link, paua_error *err)
{
    paua_status status;
    uint64_t length;
    int in;

    status = dir_open_file(from, name, DIR_READ, &in, err);
    if (status != PAUA_OK) return status;
    status = fd_length(in, name, &length, err);
    if (status == PAUA_OK && (length < nbytes || (link && length != nbytes)))
        status = error_set(err, PAUA_ECORRUPT,
                           "%s: is %llu bytes long instead of %llu; check the database", name,
                           (unsigned long long)length, (unsigned long long)nbytes);
    if (status == PAUA_OK)
        status = link ? link_file(from, name, to, err)
                      : copy_bytes(in, to, name, nbytes, length == nbytes, err);
    fd_close(in);
    return status;
}
