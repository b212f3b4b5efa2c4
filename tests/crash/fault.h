/* fault.h - one thing that goes wrong: the n-th allocation, or the n-th system call that changes
 * files. */
#ifndef PAUA_TESTS_CRASH_FAULT_H
#define PAUA_TESTS_CRASH_FAULT_H

#include "crash/hook.h"

enum fault_kind {
    FAULT_MEMORY,             /* our n-th allocation and all after it */
    FAULT_SQLITE_MEMORY_ONCE, /* SQLite's n-th allocation */
    FAULT_SQLITE_MEMORY,      /* and all after it */
    FAULT_FULL_ONCE,          /* ENOSPC from the n-th call */
    FAULT_FULL,               /* and from all after it */
    FAULT_BROKEN_ONCE,        /* EIO */
    FAULT_BROKEN,
    FAULT_COUNT
};

/* Before anything uses SQLite. */
void fault_init(void);

void fault_arm(enum fault_kind kind, uint64_t n);
/* Stops it; true if the n-th allocation or call was reached. */
bool fault_disarm(void);

/* Of what fault_disarm() ended: was a sync refused? Was the removal of a file? */
bool fault_hit_sync(void);
bool fault_hit_unlink(void);

const char *fault_name(enum fault_kind kind);

#endif
