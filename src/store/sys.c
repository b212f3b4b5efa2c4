/* sys.c - the real system calls. */
#include "store/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int real_openat(int dir_fd, const char *name, int flags, mode_t mode)
{
    return openat(dir_fd, name, flags, mode);
}

struct sys sys = {
    .openat = real_openat,
    .pwrite = pwrite,
    .fdatasync = fdatasync,
    .fsync = fsync,
    .ftruncate = ftruncate,
    .renameat = renameat,
    .unlinkat = unlinkat,
};
