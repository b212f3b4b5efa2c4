/* hook.h - every system call with which paua and SQLite change files, seen and refused at will.
 *
 * hook_install() puts itself in the place of store/sys.h's table and of SQLite's own system calls.
 * fsync() and fdatasync(), which SQLite does not let anybody exchange, are defined by hook.c for
 * the whole program. Not seen: mkdir, hard links, kernel copies, what is written through a map
 * (SQLite's -shm file, which holds nothing that outlives the processes), and the words in the locks
 * file. */
#ifndef PAUA_TESTS_CRASH_HOOK_H
#define PAUA_TESTS_CRASH_HOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum hook_op {
    HOOK_OPEN,
    HOOK_WRITE,
    HOOK_TRUNCATE,
    HOOK_SYNC,
    HOOK_SYNC_NAMES, /* SQLite's sync of a directory, whose failure it ignores */
    HOOK_RENAME,
    HOOK_UNLINK
};

/* One call that has succeeded. */
struct hook_call {
    enum hook_op op;
    int fd;           /* OPEN, WRITE, TRUNCATE, SYNC, SYNC_NAMES */
    const char *path; /* absolute: OPEN, RENAME (from), UNLINK */
    const char *to;   /* absolute: RENAME */
    bool created;     /* OPEN: the file was not there before */
    bool emptied;     /* OPEN: with O_TRUNC */
    const void *bytes;
    size_t nbytes;
    uint64_t offset; /* of the bytes; TRUNCATE: the length */
};

struct hook {
    int (*before)(void *arg, enum hook_op op); /* 0, or the error number to fail with; or NULL */
    void (*after)(void *arg, const struct hook_call *call); /* or NULL */
    void *arg;
};

/* NULL: nobody is told any more. Not while another thread is in one of these calls. */
void hook_install(const struct hook *hook);

/* Syncs are told, but cost nothing: the machine is not going to lose power in earnest. */
void hook_skip_syncs(bool skip);

#endif
