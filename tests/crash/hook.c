/* hook.c - see hook.h. Paths are made absolute through /proc, so that whoever listens needs no
 * table of descriptors. */
#include "crash/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/sys.h"

#define PATH_NBYTES 512u

static struct hook active;
static bool skip_syncs;
static bool installed;

static bool refused(enum hook_op op)
{
    int failed = active.before == NULL ? 0 : active.before(active.arg, op);

    if (failed != 0) errno = failed;
    return failed != 0;
}

static void tell(const struct hook_call *call)
{
    int kept = errno;

    if (active.after != NULL) active.after(active.arg, call);
    errno = kept;
}

static void absolute(char path[PATH_NBYTES], int dir_fd, const char *name)
{
    char link[64];
    ssize_t length;

    if (name[0] == '/') {
        snprintf(path, PATH_NBYTES, "%s", name);
        return;
    }
    snprintf(link, sizeof link, dir_fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", dir_fd);
    length = readlink(link, path, PATH_NBYTES / 2);
    if (length < 0) length = 0;
    snprintf(path + length, PATH_NBYTES - (size_t)length, "/%s", name);
}

static int hooked_openat(int dir_fd, const char *name, int flags, mode_t mode)
{
    bool existed = faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    char path[PATH_NBYTES];
    int fd;

    if (refused(HOOK_OPEN)) return -1;
    fd = openat(dir_fd, name, flags, mode);
    if (fd < 0) return fd;
    absolute(path, dir_fd, name);
    tell(&(struct hook_call){.op = HOOK_OPEN,
                             .fd = fd,
                             .path = path,
                             .created = !existed,
                             .emptied = (flags & O_TRUNC) != 0});
    return fd;
}

static int hooked_open(const char *name, int flags, ...)
{
    va_list list;
    mode_t mode;

    va_start(list, flags);
    mode = (mode_t)va_arg(list, int);
    va_end(list);
    return hooked_openat(AT_FDCWD, name, flags, mode);
}

static ssize_t hooked_pwrite(int fd, const void *bytes, size_t nbytes, off_t offset)
{
    ssize_t put;

    if (refused(HOOK_WRITE)) return -1;
    put = pwrite(fd, bytes, nbytes, offset);
    if (put > 0)
        tell(&(struct hook_call){.op = HOOK_WRITE,
                                 .fd = fd,
                                 .bytes = bytes,
                                 .nbytes = (size_t)put,
                                 .offset = (uint64_t)offset});
    return put;
}

static ssize_t hooked_write(int fd, const void *bytes, size_t nbytes)
{
    off_t offset = lseek(fd, 0, SEEK_CUR);
    ssize_t put = hooked_pwrite(fd, bytes, nbytes, offset);

    if (put > 0) lseek(fd, offset + put, SEEK_SET);
    return put;
}

static int hooked_ftruncate(int fd, off_t length)
{
    if (refused(HOOK_TRUNCATE)) return -1;
    if (ftruncate(fd, length) != 0) return -1;
    tell(&(struct hook_call){.op = HOOK_TRUNCATE, .fd = fd, .offset = (uint64_t)length});
    return 0;
}

static bool is_directory(int fd)
{
    struct stat s;

    return fstat(fd, &s) == 0 && S_ISDIR(s.st_mode);
}

static int sync_with(long number, int fd)
{
    bool names = number == SYS_fdatasync && is_directory(fd); /* paua calls fsync() for those */
    enum hook_op op = names ? HOOK_SYNC_NAMES : HOOK_SYNC;

    if (refused(op)) return -1;
    if (!skip_syncs && syscall(number, fd) != 0) return -1;
    tell(&(struct hook_call){.op = op, .fd = fd});
    return 0;
}

/* Visible, or SQLite's library would not find them. */
__attribute__((visibility("default"))) int fsync(int fd) { return sync_with(SYS_fsync, fd); }

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    return sync_with(SYS_fdatasync, fd);
}

static int hooked_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    char path[PATH_NBYTES], to_path[PATH_NBYTES];

    if (refused(HOOK_RENAME)) return -1;
    if (renameat(from_dir, from, to_dir, to) != 0) return -1;
    absolute(path, from_dir, from);
    absolute(to_path, to_dir, to);
    tell(&(struct hook_call){.op = HOOK_RENAME, .path = path, .to = to_path});
    return 0;
}

static int hooked_unlinkat(int dir_fd, const char *name, int flags)
{
    char path[PATH_NBYTES];

    if (refused(HOOK_UNLINK)) return -1;
    if (unlinkat(dir_fd, name, flags) != 0) return -1;
    absolute(path, dir_fd, name);
    tell(&(struct hook_call){.op = HOOK_UNLINK, .path = path});
    return 0;
}

static int hooked_unlink(const char *name) { return hooked_unlinkat(AT_FDCWD, name, 0); }

static void redirect(sqlite3_vfs *vfs, const char *name, sqlite3_syscall_ptr call)
{
    vfs->xSetSystemCall(vfs, name, call);
}

void hook_install(const struct hook *hook)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");

    if (!installed) {
        redirect(vfs, "open", (sqlite3_syscall_ptr)hooked_open);
        redirect(vfs, "write", (sqlite3_syscall_ptr)hooked_write);
        redirect(vfs, "pwrite", (sqlite3_syscall_ptr)hooked_pwrite);
        redirect(vfs, "pwrite64", (sqlite3_syscall_ptr)hooked_pwrite);
        redirect(vfs, "ftruncate", (sqlite3_syscall_ptr)hooked_ftruncate);
        redirect(vfs, "unlink", (sqlite3_syscall_ptr)hooked_unlink);
        sys.openat = hooked_openat;
        sys.pwrite = hooked_pwrite;
        sys.ftruncate = hooked_ftruncate;
        sys.renameat = hooked_renameat;
        sys.unlinkat = hooked_unlinkat;
        installed = true;
    }
    active = hook == NULL ? (struct hook){0} : *hook;
}

void hook_skip_syncs(bool skip) { skip_syncs = skip; }
