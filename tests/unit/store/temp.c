/* temp.c - see temp.h. */
#include "unit/store/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sys.h"

static struct sys real;
static bool replaced;
static unsigned countdown;
static int failure;
static size_t piece_nbytes;
static bool interrupted;

void temp_open(struct temp *temp, bool in_memory)
{
    const char *base = getenv("TMPDIR");

    snprintf(temp->path, sizeof temp->path, "%s/paua-test-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(temp->path));
    if (in_memory)
        assert_int_equal(dir_open_memory(&temp->dir, NULL), PAUA_OK);
    else
        assert_int_equal(dir_open(temp->path, false, false, &temp->dir, NULL), PAUA_OK);
}

static void remove_tree(const char *path)
{
    DIR *stream = opendir(path);
    struct dirent *entry;
    char name[512];

    assert_non_null(stream);
    while ((entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (unlink(name) != 0) remove_tree(name);
    }
    closedir(stream);
    assert_int_equal(rmdir(path), 0);
}

void temp_close(struct temp *temp)
{
    sys_restore();
    dir_close(temp->dir);
    remove_tree(temp->path);
}

static int set_up(void **state, bool in_memory)
{
    struct temp *temp = malloc(sizeof *temp);

    assert_non_null(temp);
    temp_open(temp, in_memory);
    *state = temp;
    return 0;
}

int temp_setup(void **state) { return set_up(state, false); }

int temp_setup_memory(void **state) { return set_up(state, true); }

int temp_teardown(void **state)
{
    temp_close(*state);
    free(*state);
    return 0;
}

void temp_join(char path[128], const struct temp *temp, const char *name)
{
    snprintf(path, 128, "%s/%s", temp->path, name);
}

struct bytes temp_read(const struct temp *temp, const char *name)
{
    struct bytes b = {0};
    uint64_t nbytes;
    int fd;

    assert_int_equal(dir_open_file(temp->dir, name, DIR_READ, &fd, NULL), PAUA_OK);
    assert_int_equal(fd_length(fd, name, &nbytes, NULL), PAUA_OK);
    b.nbytes = (size_t)nbytes;
    b.data = malloc(b.nbytes + 1);
    assert_non_null(b.data);
    assert_int_equal(fd_pread(fd, name, b.data, b.nbytes, 0, NULL), PAUA_OK);
    fd_close(fd);
    return b;
}

void temp_write(const struct temp *temp, const char *name, const void *bytes, size_t nbytes)
{
    int fd;

    assert_int_equal(dir_open_file(temp->dir, name, DIR_REPLACE, &fd, NULL), PAUA_OK);
    assert_int_equal(fd_pwrite(fd, name, bytes, nbytes, 0, NULL), PAUA_OK);
    fd_close(fd);
}

size_t temp_count(const struct temp *temp)
{
    DIR *stream = opendir(temp->path);
    size_t count = 0;

    assert_non_null(stream);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    return count - 2;
}

/* xorshift64*; the upper half is good enough for shuffling test inputs. */
uint32_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * UINT64_C(2685821657736338717)) >> 32);
}

void random_fill(uint64_t *state, void *bytes, size_t nbytes)
{
    uint8_t *at = bytes;

    for (size_t i = 0; i < nbytes; i++)
        at[i] = (uint8_t)random_next(state);
}

static bool fails(void)
{
    if (countdown > 1) {
        countdown--;
        return false;
    }
    errno = failure;
    return true;
}

static int failing_openat(int dir_fd, const char *name, int flags, mode_t mode)
{
    return (flags & O_ACCMODE) != O_RDONLY && fails() ? -1 : real.openat(dir_fd, name, flags, mode);
}

static ssize_t failing_pwrite(int fd, const void *bytes, size_t nbytes, off_t offset)
{
    return fails() ? -1 : real.pwrite(fd, bytes, nbytes, offset);
}

static int failing_fdatasync(int fd) { return fails() ? -1 : real.fdatasync(fd); }

static int failing_fsync(int fd) { return fails() ? -1 : real.fsync(fd); }

static int failing_ftruncate(int fd, off_t length)
{
    return fails() ? -1 : real.ftruncate(fd, length);
}

static int failing_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return fails() ? -1 : real.renameat(from_dir, from, to_dir, to);
}

static void replace(void)
{
    if (!replaced) real = sys;
    replaced = true;
}

void sys_fail_after(unsigned n, int error_number)
{
    sys_restore();
    if (n == 0) return;
    replace();
    countdown = n;
    failure = error_number;
    sys.openat = failing_openat;
    sys.pwrite = failing_pwrite;
    sys.fdatasync = failing_fdatasync;
    sys.fsync = failing_fsync;
    sys.ftruncate = failing_ftruncate;
    sys.renameat = failing_renameat;
}

static ssize_t pwrite_in_pieces(int fd, const void *bytes, size_t nbytes, off_t offset)
{
    interrupted = !interrupted;
    if (interrupted) {
        errno = EINTR;
        return -1;
    }
    return real.pwrite(fd, bytes, nbytes < piece_nbytes ? nbytes : piece_nbytes, offset);
}

void sys_write_in_pieces(size_t nbytes)
{
    replace();
    piece_nbytes = nbytes;
    sys.pwrite = pwrite_in_pieces;
}

static int skipped_sync(int fd)
{
    (void)fd;
    return 0;
}

void sys_skip_syncs(void)
{
    replace();
    sys.fdatasync = skipped_sync;
    sys.fsync = skipped_sync;
}

void sys_restore(void)
{
    if (replaced) sys = real;
    replaced = false;
}
