/* log.c - recording; see log.h. Files are known by inode while they live; an inode that comes back
 * belongs to a new file, since it is recorded as created. */
#include "crash/log.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NO_FILE UINT32_MAX

/* The background thread syncs while the scenario goes on. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct log_inode {
    ino_t inode;
    uint32_t file;
};

static struct log_entry *entry_add(struct log *log, enum log_op op)
{
    if (log->count == log->capacity) {
        log->capacity = log->capacity == 0 ? 256 : 2 * log->capacity;
        log->entries = realloc(log->entries, log->capacity * sizeof log->entries[0]);
        if (log->entries == NULL) abort();
    }
    log->entries[log->count] = (struct log_entry){.op = op};
    return &log->entries[log->count++];
}

/* The name inside the directory; NULL if it is elsewhere, or SQLite's shared memory. */
static const char *name_of(const struct log *log, const char *path)
{
    size_t length = strlen(log->path), path_length = strlen(path);

    if (strncmp(path, log->path, length) != 0 || path[length] != '/') return NULL;
    if (path_length > 4 && strcmp(path + path_length - 4, "-shm") == 0) return NULL;
    assert(path_length - length - 1 < sizeof log->entries[0].name);
    return path + length + 1;
}

static uint32_t file_of(const struct log *log, int fd)
{
    struct stat s;

    if (fstat(fd, &s) != 0) return NO_FILE;
    for (size_t i = 0; i < log->inode_count; i++)
        if (log->inodes[i].inode == s.st_ino) return log->inodes[i].file;
    return NO_FILE;
}

static bool is_directory(const struct log *log, int fd)
{
    struct stat s, d;

    return fstat(fd, &s) == 0 && stat(log->path, &d) == 0 && s.st_ino == d.st_ino;
}

/* A file that is made anew; NO_FILE if it is not ours, for its inode may have been. */
static uint32_t file_add(struct log *log, int fd, bool ours)
{
    struct stat s;
    size_t i = 0;

    if (fstat(fd, &s) != 0) abort();
    while (i < log->inode_count && log->inodes[i].inode != s.st_ino)
        i++;
    if (i == log->inode_capacity) {
        log->inode_capacity = log->inode_capacity == 0 ? 16 : 2 * log->inode_capacity;
        log->inodes = realloc(log->inodes, log->inode_capacity * sizeof log->inodes[0]);
        if (log->inodes == NULL) abort();
    }
    if (i == log->inode_count) log->inode_count++;
    log->inodes[i] = (struct log_inode){s.st_ino, ours ? log->file_count++ : NO_FILE};
    return log->inodes[i].file;
}

static void opened(struct log *log, const struct hook_call *call)
{
    const char *name = name_of(log, call->path);
    uint32_t file = call->created ? file_add(log, call->fd, name != NULL) : NO_FILE;
    struct log_entry *e;

    if (name == NULL) return;
    if (call->created) {
        e = entry_add(log, LOG_CREATE);
        e->file = file;
        strcpy(e->name, name);
    } else if (call->emptied) {
        e = entry_add(log, LOG_TRUNCATE);
        e->file = file_of(log, call->fd);
    }
}

static void named(struct log *log, const struct hook_call *call)
{
    const char *name = name_of(log, call->path);
    const char *to = call->op == HOOK_RENAME ? name_of(log, call->to) : NULL;
    struct log_entry *e;

    if (name == NULL) return;
    e = entry_add(log, call->op == HOOK_RENAME ? LOG_RENAME : LOG_UNLINK);
    strcpy(e->name, name);
    if (to != NULL) strcpy(e->to, to);
}

static void changed(struct log *log, const struct hook_call *call)
{
    uint32_t file = file_of(log, call->fd);
    struct log_entry *e;

    if (file == NO_FILE) return;
    e = entry_add(log, call->op == HOOK_WRITE ? LOG_WRITE : LOG_TRUNCATE);
    e->file = file;
    e->offset = call->offset;
    e->nbytes = call->nbytes;
    if (call->nbytes == 0) return;
    e->bytes = malloc(call->nbytes);
    if (e->bytes == NULL) abort();
    memcpy(e->bytes, call->bytes, call->nbytes);
}

static void synced(struct log *log, const struct hook_call *call)
{
    uint32_t file = file_of(log, call->fd);

    if (is_directory(log, call->fd))
        entry_add(log, LOG_SYNC_NAMES);
    else if (file != NO_FILE)
        entry_add(log, LOG_SYNC)->file = file;
}

static void after(void *arg, const struct hook_call *call)
{
    pthread_mutex_lock(&mutex);
    switch (call->op) {
    case HOOK_OPEN:
        opened(arg, call);
        break;
    case HOOK_WRITE:
    case HOOK_TRUNCATE:
        changed(arg, call);
        break;
    case HOOK_SYNC:
    case HOOK_SYNC_NAMES:
        synced(arg, call);
        break;
    case HOOK_RENAME:
    case HOOK_UNLINK:
        named(arg, call);
        break;
    }
    pthread_mutex_unlock(&mutex);
}

void log_start(struct log *log, const char *path)
{
    *log = (struct log){0};
    snprintf(log->path, sizeof log->path, "%s", path);
    hook_install(&(struct hook){.after = after, .arg = log});
}

void log_mark(struct log *log)
{
    pthread_mutex_lock(&mutex);
    entry_add(log, LOG_MARK);
    pthread_mutex_unlock(&mutex);
}

void log_stop(struct log *log)
{
    (void)log;
    hook_install(NULL);
}

void log_free(struct log *log)
{
    for (size_t i = 0; i < log->count; i++)
        free(log->entries[i].bytes);
    free(log->entries);
    free(log->inodes);
}

size_t log_renames(const struct log *log, const char *suffix)
{
    size_t count = 0;

    for (size_t i = 0; i < log->count; i++) {
        const char *found = strstr(log->entries[i].to, suffix);

        count += found != NULL && strcmp(found, suffix) == 0;
    }
    return count;
}

size_t log_marks(const struct log *log, size_t count)
{
    size_t marks = 0;

    for (size_t i = 0; i < count; i++)
        marks += log->entries[i].op == LOG_MARK;
    return marks;
}

void log_describe(const struct log *log, size_t count, char text[160])
{
    static const char *const ops[] = {"create",     "write",  "truncate", "sync",
                                      "sync names", "rename", "unlink",   "mark"};
    const struct log_entry *e = &log->entries[count - 1];

    snprintf(text, 160, "after %zu entries (%s file %u \"%s\" \"%s\" at %llu, %zu bytes)", count,
             ops[e->op], e->file, e->name, e->to, (unsigned long long)e->offset, e->nbytes);
}
