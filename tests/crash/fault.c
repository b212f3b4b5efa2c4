/* fault.c - see fault.h. mem_fail_after() does not tell whether it came to that, so one more
 * allocation asks: it fails if the n-th was among those before, or is this one. */
#include "crash/fault.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "base/memory.h"

static struct {
    enum fault_kind kind;
    uint64_t left; /* until the fault; 0: none is armed, or it has happened */
    bool armed, happened, hit_sync, hit_unlink;
} fault;

static sqlite3_mem_methods real;

/* Is this the one, or after it? */
static bool due(bool once)
{
    if (!fault.armed) return false;
    if (fault.left > 0 && --fault.left > 0) return false;
    if (fault.happened && once) return false;
    fault.happened = true;
    return true;
}

static bool refused(void)
{
    if (fault.kind == FAULT_SQLITE_MEMORY) return due(false);
    return fault.kind == FAULT_SQLITE_MEMORY_ONCE && due(true);
}

static void *failing_malloc(int nbytes) { return refused() ? NULL : real.xMalloc(nbytes); }

static void *failing_realloc(void *block, int nbytes)
{
    return refused() ? NULL : real.xRealloc(block, nbytes);
}

void fault_init(void)
{
    sqlite3_mem_methods methods;

    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    methods = real;
    methods.xMalloc = failing_malloc;
    methods.xRealloc = failing_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK) abort();
    if (sqlite3_initialize() != SQLITE_OK) abort(); /* hooks need it */
}

static int before(void *arg, enum hook_op op)
{
    bool full = fault.kind == FAULT_FULL_ONCE || fault.kind == FAULT_FULL;

    (void)arg;
    if (fault.kind < FAULT_FULL_ONCE) return 0;
    if (!due(fault.kind == FAULT_FULL_ONCE || fault.kind == FAULT_BROKEN_ONCE)) return 0;
    fault.hit_sync = fault.hit_sync || op == HOOK_SYNC;
    fault.hit_unlink = fault.hit_unlink || op == HOOK_UNLINK;
    return full ? ENOSPC : EIO;
}

void fault_arm(enum fault_kind kind, uint64_t n)
{
    fault.kind = kind;
    fault.left = n;
    fault.happened = fault.hit_sync = fault.hit_unlink = false;
    fault.armed = true;
    hook_install(&(struct hook){.before = before});
    if (kind == FAULT_MEMORY) mem_fail_after(n);
}

bool fault_disarm(void)
{
    if (fault.kind == FAULT_MEMORY) {
        void *block = mem_alloc(1);

        fault.happened = block == NULL;
        mem_free(block);
        mem_fail_after(0);
    }
    fault.armed = false;
    hook_install(NULL);
    return fault.happened;
}

bool fault_hit_sync(void) { return fault.hit_sync; }

bool fault_hit_unlink(void) { return fault.hit_unlink; }

const char *fault_name(enum fault_kind kind)
{
    static const char *const names[FAULT_COUNT] = {
        "no memory", "no memory for SQLite once", "no memory for SQLite", "disk full once",
        "disk full", "disk broken once",          "disk broken"};

    return names[kind];
}
