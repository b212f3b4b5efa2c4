/* sys.h - the system calls that change files, behind pointers, so that tests can record them, fail
 * the n-th, or stop after it. Everything that store/ writes goes through here; SQLite's own calls
 * are redirected by the same tests through its VFS (xSetSystemCall). */
#ifndef PAUA_STORE_SYS_H
#define PAUA_STORE_SYS_H

#include <sys/types.h>

struct sys {
    int (*openat)(int dir_fd, const char *name, int flags, mode_t mode);
    ssize_t (*pwrite)(int fd, const void *bytes, size_t nbytes, off_t offset);
    int (*fdatasync)(int fd);
    int (*fsync)(int fd);
    int (*ftruncate)(int fd, off_t length);
    int (*renameat)(int from_dir, const char *from, int to_dir, const char *to);
    int (*unlinkat)(int dir_fd, const char *name, int flags);
};

/* The table in use. Changed only by tests, while no database is open. */
extern struct sys sys;

#endif
