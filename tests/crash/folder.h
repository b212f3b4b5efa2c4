/* folder.h - directories and files for tests: made, copied, compared, removed. Anything that fails
 * ends the program. */
#ifndef PAUA_TESTS_CRASH_FOLDER_H
#define PAUA_TESTS_CRASH_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLDER_PATH_NBYTES 256u

/* An empty directory of its own, absolute and without links, under $TMPDIR, or in memory if the
 * system has such a place. */
void folder_temporary(char path[FOLDER_PATH_NBYTES]);
/* Makes an empty directory in the place of what is there. */
void folder_make(const char *path);
void folder_remove(const char *path); /* with all that is in it; missing is fine */
void folder_copy(const char *from, const char *to);
void folder_write(const char *path, const void *bytes, size_t nbytes);
uint8_t *folder_read(const char *path, size_t *nbytes); /* free() it */

/* Do two directories have the same files with the same bytes? SQLite's -shm and
 * the words in our locks file, which mean nothing after a crash, are passed over. */
bool folder_equal(const char *a, const char *b);
/* A number for the names and bytes of the same files, to see whether they have changed. Reading
 * them drops this process's locks on them, as POSIX has it. */
uint64_t folder_digest(const char *path);

/* $PAUA_SWEEP is "whole". */
bool sweep_whole(void);

#endif
