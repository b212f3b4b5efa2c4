/* files.h - small files for the tests of readers and writers. */
#ifndef PAUA_TESTS_CMD_FILES_H
#define PAUA_TESTS_CMD_FILES_H

#include <stddef.h>
#include <stdint.h>

/* A file with these bytes in a fresh place; its path lives until the next call. */
const char *file_with(const void *bytes, size_t nbytes);
void file_remove(void);

/* What a file holds, at most room bytes; returns how many. */
size_t file_read(const char *path, void *bytes, size_t room);

#endif
