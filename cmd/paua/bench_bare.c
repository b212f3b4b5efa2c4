/* bench_bare.c - what the machine does bare: the yardsticks of the benchmarks.
 *
 * A figure in milliseconds says little about a library, since machines differ threefold. So each
 * run measures the same bytes read, copied and synced with nothing of ours in between, and bars are
 * ratios. Reading and copying run in a forked child: the memory they touch must not count as the
 * library's peak. They run before any thread exists. */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#define READ_PASSES 7
#define COPY_NBYTES ((size_t)1 << 20)
#define COMMIT_NBYTES 3072

/* Sanitizers and clang: the yardstick is only read from release builds by gcc. */
#if defined(__clang__)
#define WIDEST __attribute__((noinline))
#elif defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define WIDEST                                                                                     \
    __attribute__((noinline, optimize("O3"), target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST __attribute__((noinline, optimize("O3")))
#endif

/* Four sums, so that additions do not wait for each other. */
WIDEST static uint64_t sum_words(const uint64_t *words, size_t count)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    size_t quarter = count / 4;

    for (size_t i = 0; i < quarter; i++)
        a += words[i];
    for (size_t i = quarter; i < 2 * quarter; i++)
        b += words[i];
    for (size_t i = 2 * quarter; i < 3 * quarter; i++)
        c += words[i];
    for (size_t i = 3 * quarter; i < count; i++)
        d += words[i];
    return a + b + c + d;
}

/* Seconds of one pass over an array with the file's bytes, or a negative number. */
static double read_pass(const char *base)
{
    volatile uint64_t sink;
    int fd = open(base, O_RDONLY | O_CLOEXEC);
    struct stat about;
    double best = -1;
    size_t nbytes, done = 0;
    uint8_t *bytes;

    if (fd < 0 || fstat(fd, &about) != 0) return -1;
    nbytes = (size_t)about.st_size;
    bytes = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return -1;
    while (done < nbytes) {
        ssize_t got = read(fd, bytes + done, nbytes - done);
        if (got <= 0) return -1;
        done += (size_t)got;
    }
    for (int i = 0; i < READ_PASSES; i++) {
        double start = now_s();
        sink = sum_words((const void *)bytes, nbytes / sizeof(uint64_t));
        (void)sink;
        if (best < 0 || now_s() - start < best) best = now_s() - start;
    }
    return best;
}

static bool write_all(int fd, const uint8_t *bytes, size_t nbytes)
{
    for (size_t done = 0; done < nbytes;) {
        ssize_t put = write(fd, bytes + done, nbytes - done);
        if (put <= 0) return false;
        done += (size_t)put;
    }
    return true;
}

/* Seconds to copy and sync a file, or a negative number. The copy is removed. */
static double copy_pass(const char *base, const char *copy)
{
    uint8_t *buffer = malloc(COPY_NBYTES);
    int from = open(base, O_RDONLY | O_CLOEXEC);
    int to = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    double start = now_s(), spent;
    bool ok = buffer != NULL && from >= 0 && to >= 0;

    while (ok) {
        ssize_t got = read(from, buffer, COPY_NBYTES);
        if (got == 0) break;
        ok = got > 0 && write_all(to, buffer, (size_t)got);
    }
    ok = ok && fsync(to) == 0;
    spent = now_s() - start;
    if (from >= 0) close(from);
    if (to >= 0) close(to);
    unlink(copy);
    free(buffer);
    return ok ? spent : -1;
}

/* Runs one of the two passes in a child; copy == NULL: the read. */
static int in_child(const char *base, const char *copy, double *seconds)
{
    int ends[2];
    double result = -1;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot make a pipe, %s", strerror(errno));
    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (copy == NULL) {
            result = read_pass(base);
        } else {
            /* The first copy brings the file into the page cache and wakes the disk. */
            copy_pass(base, copy);
            result = copy_pass(base, copy);
        }
        _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
    }
    close(ends[1]);
    if (child > 0) {
        if (read(ends[0], &result, sizeof result) != (ssize_t)sizeof result) result = -1;
        waitpid(child, NULL, 0);
    }
    close(ends[0]);
    if (result <= 0)
        return fail("cannot measure the bare machine, with %s, check memory and free space", base);
    *seconds = result;
    return EXIT_OK;
}

int bench_bare_read(const char *base, double *gb_per_s)
{
    struct stat about;
    double seconds = 0;

    if (stat(base, &about) != 0 || about.st_size == 0)
        return fail("cannot read %s, %s, check its name", base,
                    errno != 0 ? strerror(errno) : "it is empty");
    if (in_child(base, NULL, &seconds) != EXIT_OK) return EXIT_FAILED;
    *gb_per_s = 1e-9 * (double)about.st_size / seconds;
    return EXIT_OK;
}

int bench_bare_copy(const char *base, const char *dir, double *seconds)
{
    char *copy = cmd_format("%s/copy", dir);
    int rc = in_child(base, copy, seconds);

    free(copy);
    return rc;
}

static sqlite3 *open_sqlite(const char *path, sqlite3_stmt **insert)
{
    sqlite3 *db = NULL;
    bool ok = sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db,
                           "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                           "CREATE TABLE IF NOT EXISTS records(id INTEGER PRIMARY KEY, body BLOB)",
                           NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, "INSERT INTO records(body) VALUES(?1)", -1, insert, NULL) ==
                  SQLITE_OK;

    if (ok) return db;
    sqlite3_close(db);
    return NULL;
}

static bool commit_once(int fd, sqlite3_stmt *insert, const uint8_t *bytes)
{
    if (!write_all(fd, bytes, COMMIT_NBYTES) || fdatasync(fd) != 0) return false;
    sqlite3_bind_blob(insert, 1, bytes, 64, SQLITE_STATIC);
    return sqlite3_step(insert) == SQLITE_DONE && sqlite3_reset(insert) == SQLITE_OK;
}

int bench_bare_commits(const char *dir, double seconds, double *per_s)
{
    static const uint8_t bytes[COMMIT_NBYTES];
    char *data = cmd_format("%s/bare.data", dir);
    char *catalog = cmd_format("%s/bare.sqlite", dir);
    int fd = open(data, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    sqlite3_stmt *insert = NULL;
    sqlite3 *db = open_sqlite(catalog, &insert);
    double start = now_s(), spent = 0;
    uint64_t count = 0;
    bool ok = fd >= 0 && db != NULL;

    while (ok && spent < seconds) {
        ok = commit_once(fd, insert, bytes);
        count++;
        spent = now_s() - start;
    }
    sqlite3_finalize(insert);
    sqlite3_close(db);
    if (fd >= 0) close(fd);
    free(data);
    free(catalog);
    if (!ok) return fail("cannot measure bare commits, in %s, check its free space", dir);
    *per_s = (double)count / spent;
    return EXIT_OK;
}
