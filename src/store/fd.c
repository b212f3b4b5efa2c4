/* fd.c - reading and writing at an offset, all of it or an error. */
#include <assert.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/dir.h"
#include "store/sys.h"

/* Offsets come out of records; one that no file can have is damage, not a bug. */
static bool offset_fits(uint64_t offset, size_t nbytes)
{
    return offset <= INT64_MAX && nbytes <= INT64_MAX - offset;
}

paua_status fd_pread(int fd, const char *name, void *bytes, size_t nbytes, uint64_t offset,
                     paua_error *err)
{
    uint8_t *at = bytes;

    assert(fd >= 0);
    while (nbytes > 0 && offset_fits(offset, nbytes)) {
        ssize_t got = pread(fd, at, nbytes, (off_t)offset);

        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return error_set_errno(err, errno, name, "reading");
        if (got == 0) break;
        at += got;
        nbytes -= (size_t)got;
        offset += (uint64_t)got;
    }
    if (nbytes == 0) return PAUA_OK;
    return error_set(err, PAUA_ECORRUPT,
                     "%s: is shorter than it should be; restore it from a backup", name);
}

paua_status fd_pwrite(int fd, const char *name, const void *bytes, size_t nbytes, uint64_t offset,
                      paua_error *err)
{
    const uint8_t *at = bytes;

    assert(fd >= 0);
    if (!offset_fits(offset, nbytes)) return error_set_errno(err, EFBIG, name, "writing");
    while (nbytes > 0) {
        ssize_t put = sys.pwrite(fd, at, nbytes, (off_t)offset);

        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return error_set_errno(err, errno, name, "writing");
        if (put == 0) return error_set_errno(err, EIO, name, "writing");
        at += put;
        nbytes -= (size_t)put;
        offset += (uint64_t)put;
    }
    return PAUA_OK;
}

paua_status fd_length(int fd, const char *name, uint64_t *nbytes, paua_error *err)
{
    struct stat s;

    if (fstat(fd, &s) != 0) return error_set_errno(err, errno, name, "reading");
    *nbytes = (uint64_t)s.st_size;
    return PAUA_OK;
}

void fd_close(int fd)
{
    if (fd >= 0) close(fd);
}
