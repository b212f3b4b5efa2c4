/* folder.c - see folder.h. Names are absolute and cut rather than checked: they are ours. */
#include "crash/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"

static void must(bool good, const char *path)
{
    if (good) return;
    perror(path);
    abort();
}

void folder_temporary(char path[FOLDER_PATH_NBYTES])
{
    const char *base = getenv("TMPDIR");
    const char *usual = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    char made[FOLDER_PATH_NBYTES], real[PATH_MAX];

    snprintf(made, sizeof made, "%s/paua-crash-XXXXXX", base != NULL ? base : usual);
    must(mkdtemp(made) != NULL && realpath(made, real) != NULL, made);
    must(strlen(real) + 40 < FOLDER_PATH_NBYTES, real);
    strcpy(path, real);
}

/* Calls each(arg, name) for every entry. */
static void walk(const char *path, void (*each)(void *arg, const char *path), void *arg)
{
    DIR *stream = opendir(path);
    struct dirent *entry;
    char name[512];

    must(stream != NULL, path);
    while ((entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%.250s/%.250s", path, entry->d_name);
        each(arg, name);
    }
    closedir(stream);
}

static void remove_each(void *arg, const char *path)
{
    (void)arg;
    if (unlink(path) != 0) folder_remove(path);
}

void folder_remove(const char *path)
{
    if (access(path, F_OK) != 0) return;
    walk(path, remove_each, NULL);
    must(rmdir(path) == 0, path);
}

void folder_make(const char *path)
{
    folder_remove(path);
    must(mkdir(path, 0777) == 0, path);
}

void folder_write(const char *path, const void *bytes, size_t nbytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    must(fd >= 0, path);
    must(nbytes == 0 || write(fd, bytes, nbytes) == (ssize_t)nbytes, path);
    close(fd);
}

uint8_t *folder_read(const char *path, size_t *nbytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat s;
    uint8_t *bytes;

    must(fd >= 0 && fstat(fd, &s) == 0, path);
    bytes = malloc((size_t)s.st_size + 1);
    must(bytes != NULL && read(fd, bytes, (size_t)s.st_size) == s.st_size, path);
    close(fd);
    *nbytes = (size_t)s.st_size;
    return bytes;
}

static const char *name_of(const char *path) { return strrchr(path, '/') + 1; }

static void copy_each(void *arg, const char *path)
{
    char to[512];
    size_t nbytes;
    uint8_t *bytes = folder_read(path, &nbytes);

    snprintf(to, sizeof to, "%s/%s", (const char *)arg, name_of(path));
    folder_write(to, bytes, nbytes);
    free(bytes);
}

void folder_copy(const char *from, const char *to)
{
    char target[FOLDER_PATH_NBYTES];

    snprintf(target, sizeof target, "%s", to);
    folder_make(to);
    walk(from, copy_each, target);
}

struct comparison {
    const char *other;
    size_t files;
    bool equal;
};

static bool passing(const char *path)
{
    return strcmp(path + strlen(path) - 4, "-shm") == 0 || strcmp(name_of(path), "locks") == 0;
}

static void compare_each(void *arg, const char *path)
{
    struct comparison *c = arg;
    char other[512];
    size_t a_nbytes, b_nbytes;
    uint8_t *a, *b;

    if (passing(path)) return;
    c->files++;
    snprintf(other, sizeof other, "%s/%s", c->other, name_of(path));
    if (access(other, F_OK) != 0) {
        c->equal = false;
        return;
    }
    a = folder_read(path, &a_nbytes);
    b = folder_read(other, &b_nbytes);
    if (a_nbytes != b_nbytes || memcmp(a, b, a_nbytes) != 0) c->equal = false;
    free(a);
    free(b);
}

bool folder_equal(const char *a, const char *b)
{
    struct comparison forth = {.other = b, .equal = true}, back = {.other = a, .equal = true};

    walk(a, compare_each, &forth);
    walk(b, compare_each, &back);
    return forth.equal && back.equal && forth.files == back.files;
}

static void digest_each(void *arg, const char *path)
{
    size_t nbytes;
    uint8_t *bytes;
    uint32_t crc = crc32c(0, name_of(path), strlen(name_of(path)));

    if (passing(path)) return;
    bytes = folder_read(path, &nbytes);
    *(uint64_t *)arg += (uint64_t)crc32c(crc, bytes, nbytes) << 31 | nbytes;
    free(bytes);
}

uint64_t folder_digest(const char *path)
{
    uint64_t digest = 0; /* a sum: the order of entries is not known */

    walk(path, digest_each, &digest);
    return digest;
}

bool sweep_whole(void)
{
    const char *sweep = getenv("PAUA_SWEEP");

    return sweep != NULL && strcmp(sweep, "whole") == 0;
}
