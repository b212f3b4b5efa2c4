/* files.c - small files for the tests of readers and writers. */
#include "files.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

const char *file_with(const void *bytes, size_t nbytes)
{
    int fd;

    if (path[0] == 0) {
        strcpy(path, "/tmp/paua-test-cmd-XXXXXX");
        fd = mkstemp(path);
        assert_true(fd >= 0);
        close(fd);
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, nbytes, file), nbytes);
    assert_int_equal(fclose(file), 0);
    return path;
}

void file_remove(void)
{
    if (path[0] != 0) unlink(path);
    path[0] = 0;
}

size_t file_read(const char *name, void *bytes, size_t room)
{
    FILE *file = fopen(name, "rb");
    size_t got;

    assert_non_null(file);
    got = fread(bytes, 1, room, file);
    fclose(file);
    return got;
}
