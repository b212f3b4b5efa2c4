/* world.h - directories, databases and checks for tests that run many threads and processes.
 *
 * cmocka's assertions jump, which a thread or a child must not: CHECK says where it failed and
 * aborts, and the parent sees the signal. */
#ifndef PAUA_TESTS_CONCURRENCY_WORLD_H
#define PAUA_TESTS_CONCURRENCY_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <paua/paua.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) world_fail(__FILE__, __LINE__, #condition);                              \
    } while (0)

/* Evaluates a call that takes `err` last; aborts with its message unless it succeeds. */
#define MUST(call)                                                                                 \
    do {                                                                                           \
        paua_error err = {.message = ""};                                                          \
        paua_status must_status = (call);                                                          \
        if (must_status != PAUA_OK) world_fail(__FILE__, __LINE__, err.message);                   \
    } while (0)

void world_fail(const char *file, int line, const char *what) __attribute__((noreturn));

/* Every check as often as a long run allows (PAUA_SWEEP=whole), or a sample of it. */
bool world_whole(void);
uint64_t world_now_ms(void);
void world_sleep_ms(uint32_t ms);

/* A new directory under TMPDIR, and its removal with all it holds. */
void world_make(char path[64]);
/* The same in memory, where there is such a file system: for many small files, soon gone. */
void world_make_fast(char path[64]);
void world_remove(const char *path);
/* Copies the files of one directory into a new one: what kill -9 at this moment would leave. */
void world_copy(const char *from, const char *to);

paua_db *world_open(const char *path, paua_open_opts opts);
paua_collection *world_collection(paua_db *db, const char *name);

/* Runs child(arg) in a new process, which ends with 0. Signals stay the parent's to send. */
pid_t world_fork(void (*child)(void *arg), void *arg);
/* Waits; true if it ended with 0. */
bool world_wait(pid_t pid);

/* Zeroed memory that forked children share. */
void *world_share(size_t nbytes);

/* Fails if paua_check finds anything fatal. */
void world_check(const char *path);
/* Fails if an invariant of the collection's current view is broken. */
void world_validate(paua_collection *collection);

#endif
