/* locks.c - byte-range locks of the open file description (F_OFD_SETLK), and who holds them.
 *
 * OFD locks have no owner that the kernel could name (l_pid is -1), so a writer leaves its process
 * id and command line in the bytes that it has locked: "123\0paua import f.npy\0". They are only
 * words for a message. They may be stale, cut or damaged, are written without a sync, and a failure
 * to write them is no failure to lock. Nothing is decided by them.
 * Threads: the descriptor never changes; fcntl() is atomic. */
#include "store/locks.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"

#define LOCKS_NAME "locks"
#define PRESENCE_OFFSET 0
#define SLOTS_OFFSET 4096u
#define SLOT_NBYTES 128u
#define SWEEP_WAIT_NS UINT64_C(1000000000)
#define SWEEP_PAUSE_NS 2000000L

struct locks {
    int fd; /* -1: in memory, or looking only and there is no file */
    bool in_memory;
    bool writable;
};

/* What fails on the way to success leaves no trace in err. */
static paua_status open_writable(struct dir *dir, int *fd, paua_error *err)
{
    paua_error tried;
    paua_status status = dir_open_file(dir, LOCKS_NAME, DIR_WRITE, fd, &tried);

    if (status == PAUA_ENOTFOUND) status = dir_open_file(dir, LOCKS_NAME, DIR_CREATE, fd, &tried);
    if (status == PAUA_EEXISTS) status = dir_open_file(dir, LOCKS_NAME, DIR_WRITE, fd, &tried);
    if (status != PAUA_OK && err != NULL) *err = tried;
    return status;
}

static paua_status open_file(struct dir *dir, bool read_only, struct locks *locks, paua_error *err)
{
    paua_error tried;
    paua_status status = PAUA_EREADONLY;

    if (!read_only) status = open_writable(dir, &locks->fd, &tried);
    locks->writable = status == PAUA_OK;
    if (status == PAUA_EREADONLY) {
        status = dir_open_file(dir, LOCKS_NAME, DIR_READ, &locks->fd, &tried);
        if (status == PAUA_ENOTFOUND) status = PAUA_OK;
    }
    if (status != PAUA_OK && err != NULL) *err = tried;
    return status;
}

paua_status locks_open(struct dir *dir, bool read_only, struct locks **locks, paua_error *err)
{
    struct locks *opened = mem_zalloc(1, sizeof *opened);
    paua_status status = PAUA_OK;

    if (opened == NULL) return error_set_nomem(err);
    opened->fd = -1;
    opened->in_memory = dir_in_memory(dir);
    opened->writable = opened->in_memory;
    if (!opened->in_memory) status = open_file(dir, read_only, opened, err);
    if (status != PAUA_OK) {
        mem_free(opened);
        return status;
    }
    *locks = opened;
    return PAUA_OK;
}

void locks_close(struct locks *locks)
{
    if (locks == NULL) return;
    fd_close(locks->fd);
    mem_free(locks);
}

bool locks_writable(const struct locks *locks) { return locks->writable; }

static struct flock range(short type, off_t offset, off_t nbytes)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = offset, .l_len = nbytes, .l_pid = 0};
}

/* 0, or the error number; EAGAIN: somebody else holds it. */
static int set_lock(const struct locks *locks, short type, off_t offset, off_t nbytes)
{
    struct flock lock = range(type, offset, nbytes);

    while (fcntl(locks->fd, F_OFD_SETLK, &lock) != 0) {
        if (errno == EINTR) continue;
        return errno == EACCES ? EAGAIN : errno;
    }
    return 0;
}

bool locks_writer_present(struct locks *locks)
{
    struct flock lock = range(F_WRLCK, PRESENCE_OFFSET, 1);

    if (locks->fd < 0) return false;
    if (fcntl(locks->fd, F_OFD_GETLK, &lock) != 0) return true;
    return lock.l_type != F_UNLCK;
}

static paua_status refuse_unwritable(paua_error *err)
{
    return error_set(err, PAUA_EREADONLY,
                     LOCKS_NAME
                     ": the database is read-only here; open it where it can be written");
}

paua_status locks_share_presence(struct locks *locks, paua_error *err)
{
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = SWEEP_PAUSE_NS};
    uint64_t start = clock_now_ns();
    int failed;

    if (locks->in_memory) return PAUA_OK;
    if (!locks->writable) return refuse_unwritable(err);
    for (;;) {
        failed = set_lock(locks, F_RDLCK, PRESENCE_OFFSET, 1);
        if (failed == 0) return PAUA_OK;
        if (failed != EAGAIN) return error_set_errno(err, failed, LOCKS_NAME, "locking");
        if (clock_now_ns() - start >= SWEEP_WAIT_NS)
            return error_set(err, PAUA_EBUSY,
                             LOCKS_NAME
                             ": another process has the whole database to itself at this "
                             "moment; try again");
        nanosleep(&pause, NULL);
    }
}

paua_status locks_try_exclusive(struct locks *locks, paua_error *err)
{
    int failed;

    if (locks->in_memory) return PAUA_OK;
    if (!locks->writable) return refuse_unwritable(err);
    failed = set_lock(locks, F_WRLCK, PRESENCE_OFFSET, 1);
    if (failed == EAGAIN)
        return error_set(err, PAUA_EBUSY,
                         LOCKS_NAME ": the database is open for writing elsewhere; close it there");
    return failed == 0 ? PAUA_OK : error_set_errno(err, failed, LOCKS_NAME, "locking");
}

void locks_drop_presence(struct locks *locks)
{
    if (locks->fd >= 0) set_lock(locks, F_UNLCK, PRESENCE_OFFSET, 1);
}

static off_t slot_offset(uint32_t collection)
{
    return (off_t)SLOTS_OFFSET + (off_t)SLOT_NBYTES * (off_t)collection;
}

/* Arguments joined by spaces into text, cut to fit; "" if /proc does not say. */
static void own_command(char *text, size_t capacity)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, capacity - 1);
    size_t length = got > 0 ? (size_t)got : 0;

    fd_close(fd);
    while (length > 0 && text[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0') text[i] = ' ';
    text[utf8_valid_prefix(text, length)] = '\0';
}

static void sign_slot(const struct locks *locks, uint32_t collection)
{
    char slot[SLOT_NBYTES] = {0};
    int length = snprintf(slot, sizeof slot, "%ld", (long)getpid());

    assert(length > 0 && length < (int)sizeof slot - 1);
    own_command(slot + length + 1, sizeof slot - (size_t)length - 1);
    if (pwrite(locks->fd, slot, sizeof slot, slot_offset(collection)) != (ssize_t)sizeof slot)
        return;
}

/* Writes "process 123 (command)" or, if the slot does not say, "another process". */
static void describe_holder(const struct locks *locks, uint32_t collection, char *text,
                            size_t capacity)
{
    char slot[SLOT_NBYTES + 1] = {0};
    ssize_t got = pread(locks->fd, slot, SLOT_NBYTES, slot_offset(collection));
    size_t digits = strspn(slot, "0123456789");
    const char *command = slot + digits + 1;

    if (got <= 0 || digits == 0 || digits > 10 || slot[digits] != '\0')
        snprintf(text, capacity, "another process");
    else if (*command == '\0')
        snprintf(text, capacity, "process %s", slot);
    else
        snprintf(text, capacity, "process %s (%s)", slot, command);
}

static paua_status take_slot(struct locks *locks, uint32_t collection, const char *kind,
                             const char *name, paua_error *err)
{
    char holder[2 * SLOT_NBYTES];
    int failed;

    if (locks->in_memory) return PAUA_OK;
    if (!locks->writable) return refuse_unwritable(err);
    failed = set_lock(locks, F_WRLCK, slot_offset(collection), SLOT_NBYTES);
    if (failed == 0) {
        sign_slot(locks, collection);
        return PAUA_OK;
    }
    if (failed != EAGAIN) return error_set_errno(err, failed, LOCKS_NAME, "locking");
    describe_holder(locks, collection, holder, sizeof holder);
    return error_set(err, PAUA_EBUSY, "%s %s is being written by %s; wait for it or stop it", kind,
                     name, holder);
}

paua_status locks_take_collection(struct locks *locks, uint32_t collection, const char *name,
                                  paua_error *err)
{
    return take_slot(locks, collection, "collection", name, err);
}

paua_status locks_take_history(struct locks *locks, uint32_t history, const char *name,
                               paua_error *err)
{
    return take_slot(locks, history, "history", name, err);
}

void locks_drop_collection(struct locks *locks, uint32_t collection)
{
    if (locks->fd >= 0) set_lock(locks, F_UNLCK, slot_offset(collection), SLOT_NBYTES);
}

void locks_drop_history(struct locks *locks, uint32_t history)
{
    locks_drop_collection(locks, history);
}
