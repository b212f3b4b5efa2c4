/* bench.h - what the benchmarks share. */
#ifndef PAUA_CMD_BENCH_H
#define PAUA_CMD_BENCH_H

#include "cli.h"

/* A fresh directory for one benchmark, removed with all it holds unless kept. */
struct bench_dir {
    char *path;     /* the directory */
    char *database; /* a path in it that does not exist yet */
    bool keep;
};

int bench_dir_make(const struct cli *cli, struct bench_dir *dir);
void bench_dir_remove(struct bench_dir *dir);

/* Removes a directory and all it holds. */
void bench_tree_remove(const char *path);

/* Bytes that the files of a directory take on the disk, directories below it included. */
uint64_t bench_disk_nbytes(const char *path);

/* Resident memory of this process in KiB: the peak so far, and what it is made of now. All 0 if the
 * system does not say. */
struct bench_memory {
    uint64_t peak_kib, anon_kib, file_kib, shmem_kib;
};

struct bench_memory bench_memory_now(void);

/* Value at a share (0 to 1) of the samples, which it sorts. */
double bench_quantile(double *samples, size_t count, double share);

/* Progress of a benchmark: a line on stderr. */
void bench_say(const struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* What the machine does bare. Both run in a child, so that their memory is not this process's. */
int bench_bare_read(const char *base, double *gb_per_s);
int bench_bare_copy(const char *base, const char *dir, double *seconds);

/* Commits a second of a bare loop: append 3,072 bytes, fdatasync, SQLite INSERT with FULL sync. */
int bench_bare_commits(const char *dir, double seconds, double *per_s);

int bench_exact(struct cli *cli);
int bench_filter(struct cli *cli);
int bench_history(struct cli *cli);
int bench_metadata(struct cli *cli);
int bench_metadata_rows(struct cli *cli);
int bench_vectors(struct cli *cli);
int bench_write(struct cli *cli);

#endif
