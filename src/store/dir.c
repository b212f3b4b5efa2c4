/* dir.c - a database's directory on disk, and the choice between it and the one in memory.
 *
 * Every name is resolved against the directory's descriptor, so that neither chdir() nor renaming
 * the directory moves an open database. Only regular files are opened: a FIFO that somebody put in
 * the place of a data file would make open() wait for ever, hence O_NONBLOCK, which means nothing
 * for regular files.
 * Network file systems are refused for writing: SQLite's WAL needs memory shared between the
 * machines, and their locks and syncs are promises that many servers do not keep.
 * Threads: the handle does not change after dir_open() but for the table of memfds, which has its
 * own lock, and the flag that a sync failed. */
#include "store/dir.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/dir_private.h"
#include "store/sys.h"

/* statfs(2) f_type, of which <linux/magic.h> knows only some. */
static const char *network_name(uint32_t type)
{
    static const struct {
        uint32_t type;
        const char *name;
    } systems[] = {
        {0x6969u, "NFS"},     {0x517Bu, "SMB"},     {0xFF534D42u, "CIFS"}, {0xFE534D42u, "SMB2"},
        {0x5346414Fu, "AFS"}, {0x6B414653u, "AFS"}, {0x00C36400u, "Ceph"}, {0x01021997u, "9p"},
    };

    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
        if (systems[i].type == type) return systems[i].name;
    return NULL;
}

static paua_status refuse_network(int fd, const char *path, paua_error *err)
{
    struct statfs s;
    const char *name;

    if (fstatfs(fd, &s) != 0) return error_set_errno(err, errno, path, "statfs");
    name = network_name((uint32_t)s.f_type);
    if (name == NULL) return PAUA_OK;
    return error_set(err, PAUA_ENOTSUP,
                     "%s: is on a network file system (%s), where locks and syncs cannot be relied "
                     "on; put the database on a local disk, or open it read-only",
                     path, name);
}

/* Makes the name of a directory just made durable: syncs the directory that holds it. */
static paua_status sync_parent(const char *path, paua_error *err)
{
    char *parent = mem_strdup(path);
    paua_status status = PAUA_OK;
    size_t length;
    int fd;

    if (parent == NULL) return error_set_nomem(err);
    length = strlen(parent);
    while (length > 1 && parent[length - 1] == '/')
        length--;
    while (length > 0 && parent[length - 1] != '/')
        length--;
    parent[length] = '\0';
    fd = open(length > 0 ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || sys.fsync(fd) != 0) status = error_set_errno(err, errno, path, "syncing");
    fd_close(fd);
    mem_free(parent);
    return status;
}

static struct dir *handle_new(const char *path, bool read_only)
{
    struct dir *dir = mem_zalloc(1, sizeof *dir);

    if (dir == NULL) return NULL;
    dir->fd = -1;
    dir->read_only = read_only;
    dir->path = mem_strdup(path);
    if (dir->path == NULL || pthread_mutex_init(&dir->mutex, NULL) != 0) {
        mem_free(dir->path);
        mem_free(dir);
        return NULL;
    }
    return dir;
}

static paua_status open_path(const char *path, bool read_only, int *fd, paua_error *err)
{
    paua_status status = PAUA_OK;
    int opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (opened < 0 && errno == ENOTDIR)
        return error_set(err, PAUA_EINVAL, "%s: is not a directory; a paua database is one", path);
    if (opened < 0) return error_set_errno(err, errno, path, "opening");
    if (!read_only) status = refuse_network(opened, path, err);
    if (status != PAUA_OK) {
        fd_close(opened);
        return status;
    }
    *fd = opened;
    return PAUA_OK;
}

paua_status dir_open(const char *path, bool create, bool read_only, struct dir **dir,
                     paua_error *err)
{
    struct dir *opened = handle_new(path, read_only);
    paua_status status = PAUA_OK;
    bool made = false;

    if (opened == NULL) return error_set_nomem(err);
    if (create && !read_only) {
        made = mkdir(path, 0777) == 0;
        if (!made && errno != EEXIST) status = error_set_errno(err, errno, path, "creating");
    }
    if (status == PAUA_OK) status = open_path(path, read_only, &opened->fd, err);
    if (status == PAUA_OK && made) status = sync_parent(path, err);
    if (status != PAUA_OK) {
        if (made) rmdir(path);
        dir_close(opened);
        return status;
    }
    *dir = opened;
    return PAUA_OK;
}

paua_status dir_open_memory(struct dir **dir, paua_error *err)
{
    struct dir *opened = handle_new("memory", false);

    if (opened == NULL) return error_set_nomem(err);
    *dir = opened;
    return PAUA_OK;
}

void dir_close(struct dir *dir)
{
    if (dir == NULL) return;
    dir_memory_free(dir);
    fd_close(dir->fd);
    pthread_mutex_destroy(&dir->mutex);
    mem_free(dir->path);
    mem_free(dir);
}

bool dir_in_memory(const struct dir *dir) { return dir->fd < 0; }

const char *dir_path(const struct dir *dir) { return dir->path; }

static int open_flags(enum dir_access access)
{
    switch (access) {
    case DIR_READ:
        return O_RDONLY;
    case DIR_WRITE:
        return O_RDWR;
    case DIR_CREATE:
        return O_RDWR | O_CREAT | O_EXCL;
    case DIR_REPLACE:
        return O_RDWR | O_CREAT | O_TRUNC;
    }
    assert(false && "an enum dir_access");
    return O_RDONLY;
}

paua_status dir_open_file(struct dir *dir, const char *name, enum dir_access access, int *fd,
                          paua_error *err)
{
    const char *doing = access == DIR_READ ? "opening" : "writing";
    struct stat s;
    int opened;

    if (access != DIR_READ && dir->read_only) return error_set_errno(err, EROFS, name, doing);
    if (dir_in_memory(dir)) return dir_memory_open_file(dir, name, access, fd, err);
    opened =
        sys.openat(dir->fd, name, open_flags(access) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (opened < 0 && errno == EEXIST)
        return error_set(err, PAUA_EEXISTS, "%s: exists already", name);
    if (opened < 0) return error_set_errno(err, errno, name, doing);
    if (fstat(opened, &s) != 0 || !S_ISREG(s.st_mode)) {
        fd_close(opened);
        return error_set(err, PAUA_ECORRUPT, "%s: is not a regular file; check the database", name);
    }
    *fd = opened;
    return PAUA_OK;
}

paua_status dir_rename(struct dir *dir, const char *from, const char *to, paua_error *err)
{
    if (dir_in_memory(dir)) return dir_memory_rename(dir, from, to, err);
    if (sys.renameat(dir->fd, from, dir->fd, to) != 0)
        return error_set_errno(err, errno, from, "renaming");
    return PAUA_OK;
}

paua_status dir_unlink(struct dir *dir, const char *name, paua_error *err)
{
    if (dir_in_memory(dir)) {
        dir_memory_unlink(dir, name);
        return PAUA_OK;
    }
    if (sys.unlinkat(dir->fd, name, 0) != 0 && errno != ENOENT)
        return error_set_errno(err, errno, name, "removing");
    return PAUA_OK;
}

paua_status dir_sync(struct dir *dir, paua_error *err)
{
    if (dir_in_memory(dir)) return PAUA_OK;
    if (sys.fsync(dir->fd) == 0) return PAUA_OK;
    atomic_store(&dir->sync_failed, true);
    return error_set_errno(err, errno, dir->path, "syncing");
}

paua_status dir_sync_file(struct dir *dir, int fd, const char *name, paua_error *err)
{
    if (sys.fdatasync(fd) == 0) return PAUA_OK;
    atomic_store(&dir->sync_failed, true);
    return error_set_errno(err, errno, name, "syncing");
}

bool dir_sync_failed(const struct dir *dir) { return atomic_load(&dir->sync_failed); }

bool dir_exists(struct dir *dir, const char *name)
{
    if (dir_in_memory(dir)) return dir_memory_exists(dir, name);
    return faccessat(dir->fd, name, F_OK, 0) == 0;
}

paua_status dir_list(struct dir *dir, void (*each)(void *arg, const char *name, uint64_t nbytes),
                     void *arg, paua_error *err)
{
    struct dirent *entry;
    struct stat s;
    DIR *stream;
    int fd, failed;

    if (dir_in_memory(dir)) return dir_memory_list(dir, each, arg, err);
    fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return error_set_errno(err, errno, dir->path, "listing");
    stream = fdopendir(fd);
    if (stream == NULL) {
        failed = errno;
        fd_close(fd);
        return error_set_errno(err, failed, dir->path, "listing");
    }
    errno = 0;
    while ((entry = readdir(stream)) != NULL) {
        if (fstatat(dir->fd, entry->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode))
            each(arg, entry->d_name, (uint64_t)s.st_size);
        errno = 0;
    }
    failed = errno;
    closedir(stream);
    return failed == 0 ? PAUA_OK : error_set_errno(err, failed, dir->path, "listing");
}
