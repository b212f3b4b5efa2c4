/* log.h - what happened to the files of one directory, in order, and the directories that a crash
 * could have left on the way. */
#ifndef PAUA_TESTS_CRASH_LOG_H
#define PAUA_TESTS_CRASH_LOG_H

#include "crash/hook.h"

enum log_op {
    LOG_CREATE,   /* name, file */
    LOG_WRITE,    /* file, bytes at offset */
    LOG_TRUNCATE, /* file to the length `offset` */
    LOG_SYNC,     /* file */
    LOG_SYNC_NAMES,
    LOG_RENAME, /* name, to */
    LOG_UNLINK, /* name */
    LOG_MARK    /* a call of the scenario has returned */
};

struct log_entry {
    enum log_op op;
    uint32_t file; /* numbers of our own, one for each file that was ever made */
    char name[48], to[48];
    uint64_t offset;
    uint8_t *bytes; /* owned */
    size_t nbytes;
};

struct log {
    struct log_entry *entries;
    size_t count, capacity;
    struct log_inode *inodes;
    size_t inode_count, inode_capacity;
    uint32_t file_count;
    char path[256]; /* of the directory, absolute */
};

/* Records the directory at `path`, which is absolute and need not exist yet, until log_stop(). */
void log_start(struct log *log, const char *path);
void log_mark(struct log *log);
void log_stop(struct log *log);
void log_free(struct log *log);

enum crash {
    CRASH_KILLED,       /* all that was done is there */
    CRASH_KILLED_TORN,  /* and half of the next write */
    CRASH_POWER_STRICT, /* only what was synced is there */
    CRASH_POWER_NAMES,  /* names and lengths are there, but only synced bytes: the rest is zeros */
    CRASH_POWER_MIXED,  /* of what was not synced, names up to a point and some writes, by chance */
    CRASH_COUNT
};

/* Makes the directory `path` (removing what is there) as a crash after the first `count` entries
 * leaves it. */
void log_replay(const struct log *log, size_t count, enum crash crash, const char *path);

/* How often a name that ends in `suffix` was renamed to. */
size_t log_renames(const struct log *log, const char *suffix);

/* Calls that had returned, and a word for messages about what came last. */
size_t log_marks(const struct log *log, size_t count);
void log_describe(const struct log *log, size_t count, char text[160]);

#endif
