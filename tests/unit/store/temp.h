/* temp.h - a directory that is gone after the test, files in it as bytes, and system calls that
 * fail when told to. Functions assert that they succeed. */
#ifndef PAUA_TESTS_UNIT_STORE_TEMP_H
#define PAUA_TESTS_UNIT_STORE_TEMP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/dir.h"

struct temp {
    char path[64];
    struct dir *dir; /* opened for writing */
};

struct bytes {
    uint8_t *data; /* malloc */
    size_t nbytes;
};

/* With in_memory, dir is a table of memfds, and path still an empty directory. */
void temp_open(struct temp *temp, bool in_memory);
void temp_close(struct temp *temp);

/* cmocka fixtures: *state is a struct temp, on disk or in memory. */
int temp_setup(void **state);
int temp_setup_memory(void **state);
int temp_teardown(void **state);

void temp_join(char path[128], const struct temp *temp, const char *name);
struct bytes temp_read(const struct temp *temp, const char *name);
void temp_write(const struct temp *temp, const char *name, const void *bytes, size_t nbytes);
size_t temp_count(const struct temp *temp); /* files in the directory on disk */

/* Numbers that are the same in every run. */
uint32_t random_next(uint64_t *state);
void random_fill(uint64_t *state, void *bytes, size_t nbytes);

/* From now on the n-th call (1: the next) through `sys` that writes, syncs, truncates, renames
 * or opens for writing fails with error_number, and all after it; 0 puts the real calls back.
 * Unlinking always works. */
void sys_fail_after(unsigned n, int error_number);
/* Every write stores at most nbytes, and every second one is interrupted first. */
void sys_write_in_pieces(size_t nbytes);
/* Syncs succeed without a disk: for tests that write files by the hundred. */
void sys_skip_syncs(void);
void sys_restore(void);

#endif
