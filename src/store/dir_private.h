/* dir_private.h - what the files of dir share: the handle and its table of memfds. */
#ifndef PAUA_STORE_DIR_PRIVATE_H
#define PAUA_STORE_DIR_PRIVATE_H

#include <pthread.h>

#include "store/dir.h"

struct memory_file {
    char *name; /* owned */
    int fd;     /* memfd */
};

struct dir {
    int fd;     /* -1 in memory */
    char *path; /* owned */
    bool read_only;
    _Atomic bool sync_failed;
    pthread_mutex_t mutex;     /* memory: guards what follows */
    struct memory_file *files; /* in no order */
    size_t file_count;
    size_t file_capacity;
};

paua_status dir_memory_open_file(struct dir *dir, const char *name, enum dir_access access, int *fd,
                                 paua_error *err);
paua_status dir_memory_rename(struct dir *dir, const char *from, const char *to, paua_error *err);
void dir_memory_unlink(struct dir *dir, const char *name);
bool dir_memory_exists(struct dir *dir, const char *name);
paua_status dir_memory_list(struct dir *dir,
                            void (*each)(void *arg, const char *name, uint64_t nbytes), void *arg,
                            paua_error *err);
void dir_memory_free(struct dir *dir);

#endif
