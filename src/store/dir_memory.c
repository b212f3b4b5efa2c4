/* dir_memory.c - a directory that is a table of memfds.
 *
 * A memfd is a file in every way that store/ uses (pread, pwrite, mmap, ftruncate), so only the
 * names need an own table. Opening hands out a duplicate, which shares nothing that matters (store/
 * never uses the file position); unlinking closes the table's descriptor, and the bytes live on
 * while a duplicate or a map does, as on disk.
 * Threads: one mutex around each operation; dir_memory_list copies the names first, so that its
 * callback may call the directory. Cost: a linear search of the names. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/dir_private.h"

static struct memory_file *find(struct dir *dir, const char *name)
{
    for (size_t i = 0; i < dir->file_count; i++)
        if (strcmp(dir->files[i].name, name) == 0) return &dir->files[i];
    return NULL;
}

static void forget(struct dir *dir, struct memory_file *file)
{
    fd_close(file->fd);
    mem_free(file->name);
    *file = dir->files[--dir->file_count];
}

static paua_status add(struct dir *dir, const char *name, struct memory_file **file,
                       paua_error *err)
{
    void *files = dir->files;
    char *copy = mem_strdup(name);
    int fd;

    if (copy == NULL ||
        mem_grow(&files, &dir->file_capacity, dir->file_count + 1, sizeof *dir->files) != 0) {
        mem_free(copy);
        return error_set_nomem(err);
    }
    dir->files = files;
    fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0) {
        mem_free(copy);
        return error_set_errno(err, errno, name, "writing");
    }
    *file = &dir->files[dir->file_count++];
    **file = (struct memory_file){.name = copy, .fd = fd};
    return PAUA_OK;
}

static paua_status open_locked(struct dir *dir, const char *name, enum dir_access access, int *fd,
                               paua_error *err)
{
    struct memory_file *file = find(dir, name);
    bool made = file == NULL;
    paua_status status;
    int copy;

    if (!made && access == DIR_CREATE)
        return error_set(err, PAUA_EEXISTS, "%s: exists already", name);
    if (made) {
        if (access == DIR_READ || access == DIR_WRITE)
            return error_set_errno(err, ENOENT, name, "opening");
        status = add(dir, name, &file, err);
        if (status != PAUA_OK) return status;
    }
    copy = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || (!made && access == DIR_REPLACE && ftruncate(copy, 0) != 0)) {
        status = error_set_errno(err, errno, name, "opening");
        fd_close(copy);
        if (made) forget(dir, file);
        return status;
    }
    *fd = copy;
    return PAUA_OK;
}

paua_status dir_memory_open_file(struct dir *dir, const char *name, enum dir_access access, int *fd,
                                 paua_error *err)
{
    paua_status status;

    pthread_mutex_lock(&dir->mutex);
    status = open_locked(dir, name, access, fd, err);
    pthread_mutex_unlock(&dir->mutex);
    return status;
}

static paua_status rename_locked(struct dir *dir, const char *from, const char *to, paua_error *err)
{
    struct memory_file *file = find(dir, from);
    struct memory_file *replaced = find(dir, to);
    char *name;

    if (file == NULL) return error_set_errno(err, ENOENT, from, "writing");
    if (file == replaced) return PAUA_OK;
    name = mem_strdup(to);
    if (name == NULL) return error_set_nomem(err);
    mem_free(file->name);
    file->name = name;
    if (replaced != NULL) forget(dir, replaced);
    return PAUA_OK;
}

paua_status dir_memory_rename(struct dir *dir, const char *from, const char *to, paua_error *err)
{
    paua_status status;

    pthread_mutex_lock(&dir->mutex);
    status = rename_locked(dir, from, to, err);
    pthread_mutex_unlock(&dir->mutex);
    return status;
}

void dir_memory_unlink(struct dir *dir, const char *name)
{
    struct memory_file *file;

    pthread_mutex_lock(&dir->mutex);
    file = find(dir, name);
    if (file != NULL) forget(dir, file);
    pthread_mutex_unlock(&dir->mutex);
}

bool dir_memory_exists(struct dir *dir, const char *name)
{
    bool exists;

    pthread_mutex_lock(&dir->mutex);
    exists = find(dir, name) != NULL;
    pthread_mutex_unlock(&dir->mutex);
    return exists;
}

struct listed {
    char *name;
    uint64_t nbytes;
};

/* Copies names and sizes; *count of them were copied even when it fails. */
static paua_status snapshot(struct dir *dir, struct listed *list, size_t *count, paua_error *err)
{
    struct stat s;

    for (*count = 0; *count < dir->file_count; (*count)++) {
        const struct memory_file *file = &dir->files[*count];

        if (fstat(file->fd, &s) != 0) return error_set_errno(err, errno, file->name, "listing");
        list[*count].name = mem_strdup(file->name);
        if (list[*count].name == NULL) return error_set_nomem(err);
        list[*count].nbytes = (uint64_t)s.st_size;
    }
    return PAUA_OK;
}

paua_status dir_memory_list(struct dir *dir,
                            void (*each)(void *arg, const char *name, uint64_t nbytes), void *arg,
                            paua_error *err)
{
    struct listed *list;
    size_t count = 0;
    paua_status status;

    pthread_mutex_lock(&dir->mutex);
    list = mem_zalloc(dir->file_count + 1, sizeof *list);
    status = list == NULL ? error_set_nomem(err) : snapshot(dir, list, &count, err);
    pthread_mutex_unlock(&dir->mutex);

    for (size_t i = 0; i < count; i++) {
        if (status == PAUA_OK) each(arg, list[i].name, list[i].nbytes);
        mem_free(list[i].name);
    }
    mem_free(list);
    return status;
}

void dir_memory_free(struct dir *dir)
{
    while (dir->file_count > 0)
        forget(dir, &dir->files[0]);
    mem_free(dir->files);
}
