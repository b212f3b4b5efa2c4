/* bench.c - directories, memory and samples of the benchmarks. */
#include "bench.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int bench_dir_make(const struct cli *cli, struct bench_dir *dir)
{
    const char *where = args_value(&cli->args, "dir");
    char *path;

    if (where == NULL) where = getenv("TMPDIR");
    if (where == NULL || where[0] == 0) where = "/tmp";
    path = cmd_format("%s/paua-bench-XXXXXX", where);
    if (mkdtemp(path) == NULL) {
        fail("cannot make a directory in %s, %s, give --dir DIR", where, strerror(errno));
        free(path);
        return EXIT_FAILED;
    }
    *dir = (struct bench_dir){.path = path,
                              .database = cmd_format("%s/bench.paua", path),
                              .keep = args_has(&cli->args, "keep")};
    return EXIT_OK;
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)about;
    (void)kind;
    (void)walk;
    remove(path);
    return 0;
}

void bench_tree_remove(const char *path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

void bench_dir_remove(struct bench_dir *dir)
{
    if (dir->keep)
        fprintf(stderr, "kept %s\n", dir->database);
    else
        bench_tree_remove(dir->path);
    free(dir->path);
    free(dir->database);
    *dir = (struct bench_dir){0};
}

/* nftw passes no argument; the walk is over before anyone else can look. */
static uint64_t walked_nbytes;

static int add_entry(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)path;
    (void)walk;
    if (kind == FTW_F) walked_nbytes += (uint64_t)about->st_blocks * 512;
    return 0;
}

uint64_t bench_disk_nbytes(const char *path)
{
    walked_nbytes = 0;
    nftw(path, add_entry, 16, FTW_PHYS);
    return walked_nbytes;
}

struct bench_memory bench_memory_now(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    struct bench_memory memory = {0};
    const struct {
        const char *name;
        uint64_t *kib;
    } lines[] = {{"VmHWM:", &memory.peak_kib},
                 {"RssAnon:", &memory.anon_kib},
                 {"RssFile:", &memory.file_kib},
                 {"RssShmem:", &memory.shmem_kib}};
    char line[256];

    if (status == NULL) return memory;
    while (fgets(line, sizeof line, status) != NULL) {
        for (size_t i = 0; i < COUNT_OF(lines); i++) {
            size_t length = strlen(lines[i].name);
            if (strncmp(line, lines[i].name, length) != 0) continue;
            *lines[i].kib = strtoull(line + length, NULL, 10);
        }
    }
    fclose(status);
    return memory;
}

static int by_value(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

double bench_quantile(double *samples, size_t count, double share)
{
    size_t at = (size_t)(share * (double)count);

    if (count == 0) return 0;
    qsort(samples, count, sizeof *samples, by_value);
    return samples[at < count ? at : count - 1];
}

void bench_say(const struct cli *cli, const char *format, ...)
{
    va_list list;

    if (cli->quiet) return;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}
