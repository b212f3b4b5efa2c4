/* world.c - see world.h. */
#include "concurrency/world.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "db/db.h"
#include "db/validate.h"

void world_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: process %ld: %s\n", file, line, (long)getpid(), what);
    abort();
}

bool world_whole(void)
{
    const char *sweep = getenv("PAUA_SWEEP");

    return sweep != NULL && strcmp(sweep, "whole") == 0;
}

uint64_t world_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void world_sleep_ms(uint32_t ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    nanosleep(&pause, NULL);
}

void world_make(char path[64])
{
    const char *base = getenv("TMPDIR");

    snprintf(path, 64, "%s/paua-test-XXXXXX", base != NULL ? base : "/tmp");
    CHECK(mkdtemp(path) != NULL);
}

void world_make_fast(char path[64])
{
    snprintf(path, 64, "/dev/shm/paua-test-XXXXXX");
    if (mkdtemp(path) == NULL) world_make(path);
}

static void each_file(const char *path, void (*each)(const char *name, const char *to),
                      const char *to)
{
    DIR *stream = opendir(path);
    struct dirent *entry;

    CHECK(stream != NULL);
    while ((entry = readdir(stream)) != NULL) {
        char name[512];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        each(name, to);
    }
    closedir(stream);
}

static void remove_one(const char *name, const char *to)
{
    (void)to;
    if (unlink(name) != 0) world_remove(name);
}

void world_remove(const char *path)
{
    each_file(path, remove_one, NULL);
    CHECK(rmdir(path) == 0);
}

static void copy_one(const char *name, const char *to)
{
    char target[512], room[65536];
    int in = open(name, O_RDONLY | O_CLOEXEC), out;
    ssize_t got;

    snprintf(target, sizeof target, "%s/%s", to, strrchr(name, '/') + 1);
    out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    CHECK(in >= 0 && out >= 0);
    while ((got = read(in, room, sizeof room)) > 0)
        CHECK(write(out, room, (size_t)got) == got);
    close(in);
    close(out);
}

void world_copy(const char *from, const char *to)
{
    CHECK(mkdir(to, 0755) == 0);
    each_file(from, copy_one, to);
}

paua_db *world_open(const char *path, paua_open_opts opts)
{
    paua_db *db;

    opts.size = sizeof opts;
    MUST(paua_open(path, &opts, &db, &err));
    return db;
}

paua_collection *world_collection(paua_db *db, const char *name)
{
    paua_collection *collection;

    MUST(paua_collection_open(db, name, &collection, &err));
    return collection;
}

pid_t world_fork(void (*child)(void *arg), void *arg)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid > 0) return pid;
    child(arg);
    _exit(0);
}

bool world_wait(pid_t pid)
{
    int status;

    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void *world_share(size_t nbytes)
{
    void *shared = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    CHECK(shared != MAP_FAILED);
    return shared;
}

static void print_finding(void *arg, const paua_finding *finding)
{
    (void)arg;
    if (finding->fatal) fprintf(stderr, "%s: %s\n", finding->file, finding->what);
}

void world_check(const char *path)
{
    paua_check_opts opts = {.size = sizeof opts, .finding = print_finding};

    MUST(paua_check(path, &opts, &err));
}

static void print_problem(void *arg, const char *file, const char *what)
{
    (void)arg;
    fprintf(stderr, "%s: %s\n", file != NULL ? file : "view", what);
}

void world_validate(paua_collection *collection)
{
    struct validate v = {.report = print_problem};
    struct view *view;

    MUST(collection_view(collection, &view, &err));
    CHECK(view_validate(view, &v) == PAUA_OK);
    CHECK(v.problems == 0);
    CHECK(v.done == view->live_rows + view->dead_rows);
    view_unref(view);
}
