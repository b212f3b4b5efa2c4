/* dir.h - a database's directory: on disk, or a table of memfds that looks like one. */
#ifndef PAUA_STORE_DIR_H
#define PAUA_STORE_DIR_H

#include <stdbool.h>

#include <paua/paua.h>

struct dir;

enum dir_access {
    DIR_READ,   /* open an existing file for reading */
    DIR_WRITE,  /* open an existing file for reading and writing */
    DIR_CREATE, /* make a new file, mode 0666 under the umask; an existing one is an error */
    DIR_REPLACE /* make it, or empty an existing one */
};

/* Opens a directory; create makes it (one level, mode 0777 under the umask) when missing and syncs
 * its parent. Writing on a network file system (NFS, SMB/CIFS, AFS, Ceph, 9p by statfs f_type)
 * gives PAUA_ENOTSUP with advice. ENOENT: PAUA_ENOTFOUND; a file in its place: PAUA_EINVAL. */
paua_status dir_open(const char *path, bool create, bool read_only, struct dir **dir,
                     paua_error *err);
paua_status dir_open_memory(struct dir **dir, paua_error *err);
void dir_close(struct dir *dir);

bool dir_in_memory(const struct dir *dir);
const char *dir_path(const struct dir *dir); /* for messages; "memory" for memfds */

/* *fd is the caller's to close (fd_close). Thread-safe, like every call below. Close-on-exec. */
paua_status dir_open_file(struct dir *dir, const char *name, enum dir_access access, int *fd,
                          paua_error *err);
paua_status dir_rename(struct dir *dir, const char *from, const char *to, paua_error *err);
paua_status dir_unlink(struct dir *dir, const char *name, paua_error *err); /* missing: PAUA_OK */
paua_status dir_sync(struct dir *dir, paua_error *err); /* makes names durable; no-op in memory */

/* Syncs a file of the directory (fdatasync); name is for messages. */
paua_status dir_sync_file(struct dir *dir, int fd, const char *name, paua_error *err);
/* Did any sync through this handle ever fail? The kernel reports a lost write once: a later sync
 * that succeeds proves nothing. */
bool dir_sync_failed(const struct dir *dir);
bool dir_exists(struct dir *dir, const char *name);

/* Calls each(arg, name, nbytes) for every regular file. */
paua_status dir_list(struct dir *dir, void (*each)(void *arg, const char *name, uint64_t nbytes),
                     void *arg, paua_error *err);

/* read(2) and write(2) with restarts. fd_pread: fewer bytes than asked is PAUA_ECORRUPT ("shorter
 * than it should be"). name is for messages. */
paua_status fd_pread(int fd, const char *name, void *bytes, size_t nbytes, uint64_t offset,
                     paua_error *err);
paua_status fd_pwrite(int fd, const char *name, const void *bytes, size_t nbytes, uint64_t offset,
                      paua_error *err);
paua_status fd_length(int fd, const char *name, uint64_t *nbytes, paua_error *err);
void fd_close(int fd);

/* Copies a file's first nbytes into another directory under the same name: by FICLONE when it is
 * the whole file and the file system can, else copy_file_range, else through a 64 KiB buffer;
 * synced. link: a hard link instead (PAUA_ENOTSUP where there can be none). */
paua_status dir_copy_file(struct dir *from, const char *name, struct dir *to, uint64_t nbytes,
                          bool link, paua_error *err);

#endif
