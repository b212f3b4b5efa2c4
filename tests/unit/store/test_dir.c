/* test_dir.c - what src/store/dir.h promises, on disk and in memory alike.
 *
 * fstatfs() is replaced here, so that a local directory can claim to be on a network. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "unit/store/temp.h"

#define LOCAL_TYPE 0xEF53u

static uint32_t claimed_type = LOCAL_TYPE;

int fstatfs(int fd, struct statfs *s)
{
    (void)fd;
    memset(s, 0, sizeof *s);
    s->f_type = (__typeof__(s->f_type))claimed_type;
    return 0;
}

static void put(struct dir *dir, const char *name, enum dir_access access, const char *text)
{
    int fd = -1;

    assert_int_equal(dir_open_file(dir, name, access, &fd, NULL), PAUA_OK);
    assert_int_equal(fd_pwrite(fd, name, text, strlen(text), 0, NULL), PAUA_OK);
    fd_close(fd);
}

static void assert_text(struct dir *dir, const char *name, const char *text)
{
    char found[64] = {0};
    uint64_t nbytes;
    int fd;

    assert_int_equal(dir_open_file(dir, name, DIR_READ, &fd, NULL), PAUA_OK);
    assert_int_equal(fd_length(fd, name, &nbytes, NULL), PAUA_OK);
    assert_int_equal(nbytes, strlen(text));
    assert_int_equal(fd_pread(fd, name, found, (size_t)nbytes, 0, NULL), PAUA_OK);
    assert_string_equal(found, text);
    fd_close(fd);
}

static void assert_open_fails(struct dir *dir, const char *name, enum dir_access access,
                              paua_status status)
{
    paua_error err;
    int fd = -7;

    assert_int_equal(dir_open_file(dir, name, access, &fd, &err), status);
    assert_int_equal(fd, -7);
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.message, name));
}

/* The tests below this line run once on disk and once in memory. */

static void a_created_file_is_there_and_not_created_twice(void **state)
{
    struct dir *dir = ((struct temp *)*state)->dir;

    assert_false(dir_exists(dir, "a"));
    assert_open_fails(dir, "a", DIR_READ, PAUA_ENOTFOUND);
    assert_open_fails(dir, "a", DIR_WRITE, PAUA_ENOTFOUND);
    put(dir, "a", DIR_CREATE, "one");
    assert_true(dir_exists(dir, "a"));
    assert_text(dir, "a", "one");
    assert_open_fails(dir, "a", DIR_CREATE, PAUA_EEXISTS);
    assert_text(dir, "a", "one");
}

static void replacing_empties_and_writing_does_not(void **state)
{
    struct dir *dir = ((struct temp *)*state)->dir;

    put(dir, "a", DIR_REPLACE, "long text");
    put(dir, "a", DIR_WRITE, "L");
    assert_text(dir, "a", "Long text");
    put(dir, "a", DIR_REPLACE, "x");
    assert_text(dir, "a", "x");
}

static void renaming_replaces_the_target_but_not_what_is_open(void **state)
{
    struct dir *dir = ((struct temp *)*state)->dir;
    char byte = 0;
    int fd;

    put(dir, "b", DIR_CREATE, "B");
    put(dir, "a", DIR_CREATE, "A");
    assert_int_equal(dir_open_file(dir, "b", DIR_READ, &fd, NULL), PAUA_OK);
    assert_int_equal(dir_rename(dir, "a", "b", NULL), PAUA_OK);
    assert_false(dir_exists(dir, "a"));
    assert_text(dir, "b", "A");
    assert_int_equal(fd_pread(fd, "b", &byte, 1, 0, NULL), PAUA_OK);
    assert_int_equal(byte, 'B');
    fd_close(fd);
    assert_int_equal(dir_rename(dir, "b", "b", NULL), PAUA_OK);
    assert_text(dir, "b", "A");
    assert_int_equal(dir_rename(dir, "gone", "b", NULL), PAUA_ENOTFOUND);
    assert_text(dir, "b", "A");
    assert_int_equal(dir_unlink(dir, "b", NULL), PAUA_OK);
    assert_false(dir_exists(dir, "b"));
}

static void an_unlinked_file_is_gone_by_name_only(void **state)
{
    struct dir *dir = ((struct temp *)*state)->dir;
    char byte = 0;
    int fd;

    put(dir, "a", DIR_CREATE, "A");
    assert_int_equal(dir_open_file(dir, "a", DIR_READ, &fd, NULL), PAUA_OK);
    assert_int_equal(dir_unlink(dir, "a", NULL), PAUA_OK);
    assert_false(dir_exists(dir, "a"));
    assert_int_equal(fd_pread(fd, "a", &byte, 1, 0, NULL), PAUA_OK);
    fd_close(fd);
    assert_int_equal(dir_unlink(dir, "a", NULL), PAUA_OK);
    put(dir, "a", DIR_CREATE, "again");
    assert_text(dir, "a", "again");
}

struct seen {
    struct dir *dir;
    unsigned count;
    uint64_t nbytes;
};

static void see_and_unlink(void *arg, const char *name, uint64_t nbytes)
{
    struct seen *seen = arg;

    seen->count++;
    seen->nbytes += nbytes;
    assert_int_equal(dir_unlink(seen->dir, name, NULL), PAUA_OK);
}

static void listing_shows_each_file_once_while_they_are_unlinked(void **state)
{
    struct seen seen = {.dir = ((struct temp *)*state)->dir};
    char name[16];

    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "file%d", i);
        put(seen.dir, name, DIR_CREATE, "12345");
    }
    assert_int_equal(dir_list(seen.dir, see_and_unlink, &seen, NULL), PAUA_OK);
    assert_int_equal(seen.count, 40);
    assert_int_equal(seen.nbytes, 200);
    assert_int_equal(dir_list(seen.dir, see_and_unlink, &seen, NULL), PAUA_OK);
    assert_int_equal(seen.count, 40);
}

static void descriptors_are_closed_on_exec(void **state)
{
    struct dir *dir = ((struct temp *)*state)->dir;
    int fd;

    assert_int_equal(dir_open_file(dir, "a", DIR_CREATE, &fd, NULL), PAUA_OK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    fd_close(fd);
}

static void a_failed_allocation_changes_nothing(void **state)
{
    struct dir *dir = ((struct temp *)*state)->dir;
    struct seen seen = {.dir = dir};
    bool memory = dir_in_memory(dir);
    int fd = -7;

    put(dir, "a", DIR_CREATE, "A");
    mem_fail_after(1);
    if (memory) {
        assert_int_equal(dir_open_file(dir, "b", DIR_CREATE, &fd, NULL), PAUA_ENOMEM);
        assert_int_equal(dir_rename(dir, "a", "b", NULL), PAUA_ENOMEM);
        assert_int_equal(dir_list(dir, see_and_unlink, &seen, NULL), PAUA_ENOMEM);
    }
    assert_int_equal(dir_open("/", false, true, &seen.dir, NULL), PAUA_ENOMEM);
    mem_fail_after(0);
    assert_ptr_equal(seen.dir, dir);
    assert_text(dir, "a", "A");
    assert_false(dir_exists(dir, "b"));
}

/* From here on: on disk only. */

static void opening_tells_a_missing_directory_from_a_file(void **state)
{
    struct temp *temp = *state;
    struct dir *dir = NULL;
    char path[128];

    temp_join(path, temp, "none");
    assert_int_equal(dir_open(path, false, false, &dir, NULL), PAUA_ENOTFOUND);
    temp_join(path, temp, "none/below");
    assert_int_equal(dir_open(path, true, false, &dir, NULL), PAUA_ENOTFOUND);
    temp_write(temp, "file", "x", 1);
    temp_join(path, temp, "file");
    assert_int_equal(dir_open(path, false, true, &dir, NULL), PAUA_EINVAL);
    assert_int_equal(dir_open(path, true, false, &dir, NULL), PAUA_EINVAL);
    assert_null(dir);
    assert_int_equal(temp_count(temp), 1);
}

static void create_makes_one_level_and_takes_what_is_there(void **state)
{
    struct temp *temp = *state;
    struct dir *dir;
    char path[128];

    temp_join(path, temp, "made");
    for (int round = 0; round < 2; round++) {
        assert_int_equal(dir_open(path, true, false, &dir, NULL), PAUA_OK);
        assert_string_equal(dir_path(dir), path);
        assert_false(dir_in_memory(dir));
        dir_close(dir);
    }
    temp_join(path, temp, "never");
    assert_int_equal(dir_open(path, true, true, &dir, NULL), PAUA_ENOTFOUND);
}

static void a_relative_path_and_a_trailing_slash_work(void **state)
{
    struct temp *temp = *state;
    char before[512];
    struct dir *dir;

    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(temp->path), 0);
    assert_int_equal(dir_open("relative", true, false, &dir, NULL), PAUA_OK);
    assert_int_equal(chdir(before), 0);
    put(dir, "a", DIR_CREATE, "A");
    dir_close(dir);
    assert_int_equal(chdir(temp->path), 0);
    assert_int_equal(dir_open("relative/deeper//", true, false, &dir, NULL), PAUA_OK);
    assert_int_equal(chdir(before), 0);
    dir_close(dir);
    char path[128];
    temp_join(path, temp, "relative/a");
    assert_int_equal(access(path, F_OK), 0);
}

static void network_file_systems_are_refused_for_writing_only(void **state)
{
    static const uint32_t types[] = {0x6969u,     0x517Bu,     0xFF534D42u, 0xFE534D42u,
                                     0x5346414Fu, 0x00C36400u, 0x01021997u};
    struct temp *temp = *state;
    struct dir *dir = NULL;
    paua_error err;
    char path[128];

    temp_join(path, temp, "new");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        claimed_type = types[i];
        assert_int_equal(dir_open(temp->path, false, false, &dir, &err), PAUA_ENOTSUP);
        assert_non_null(strstr(err.message, "network"));
        assert_int_equal(dir_open(path, true, false, &dir, NULL), PAUA_ENOTSUP);
        assert_int_equal(temp_count(temp), 0);
        assert_null(dir);
        assert_int_equal(dir_open(temp->path, false, true, &dir, NULL), PAUA_OK);
        dir_close(dir);
        dir = NULL;
    }
    claimed_type = LOCAL_TYPE;
}

static void a_read_only_handle_opens_nothing_for_writing(void **state)
{
    struct temp *temp = *state;
    struct dir *dir;

    put(temp->dir, "a", DIR_CREATE, "A");
    assert_int_equal(dir_open(temp->path, false, true, &dir, NULL), PAUA_OK);
    assert_text(dir, "a", "A");
    assert_open_fails(dir, "a", DIR_WRITE, PAUA_EREADONLY);
    assert_open_fails(dir, "a", DIR_REPLACE, PAUA_EREADONLY);
    assert_open_fails(dir, "b", DIR_CREATE, PAUA_EREADONLY);
    dir_close(dir);
    assert_text(temp->dir, "a", "A");
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state)
{
    struct temp *temp = *state;
    char path[128];

    temp_join(path, temp, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_open_fails(temp->dir, "fifo", DIR_READ, PAUA_ECORRUPT);
    temp_join(path, temp, "folder");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_open_fails(temp->dir, "folder", DIR_READ, PAUA_ECORRUPT);
    struct seen seen = {.dir = temp->dir};
    assert_int_equal(dir_list(temp->dir, see_and_unlink, &seen, NULL), PAUA_OK);
    assert_int_equal(seen.count, 0);
}

static void failed_system_calls_come_back_as_statuses(void **state)
{
    struct temp *temp = *state;

    put(temp->dir, "a", DIR_CREATE, "A");
    sys_fail_after(1, EIO);
    assert_int_equal(dir_sync(temp->dir, NULL), PAUA_EIO);
    assert_int_equal(dir_rename(temp->dir, "a", "b", NULL), PAUA_EIO);
    sys_fail_after(1, EROFS);
    assert_open_fails(temp->dir, "b", DIR_CREATE, PAUA_EREADONLY);
    sys_fail_after(1, EACCES);
    assert_open_fails(temp->dir, "a", DIR_WRITE, PAUA_EREADONLY);
    sys_fail_after(1, ENOSPC);
    assert_open_fails(temp->dir, "b", DIR_CREATE, PAUA_ENOSPACE);
    sys_restore();
    assert_int_equal(dir_sync(temp->dir, NULL), PAUA_OK);
    assert_text(temp->dir, "a", "A");
}

static void a_directory_whose_parent_cannot_be_synced_is_not_made(void **state)
{
    struct temp *temp = *state;
    struct dir *dir = NULL;
    char path[128];

    temp_join(path, temp, "new");
    sys_fail_after(1, EIO);
    assert_int_equal(dir_open(path, true, false, &dir, NULL), PAUA_EIO);
    sys_restore();
    assert_null(dir);
    assert_int_equal(temp_count(temp), 0);
}

/* Copies. `other` is a second directory, below the first. */

static struct dir *other_dir(const struct temp *temp)
{
    struct dir *dir;
    char path[128];

    temp_join(path, temp, "other");
    assert_int_equal(dir_open(path, true, false, &dir, NULL), PAUA_OK);
    return dir;
}

static void assert_copied(struct dir *from, struct dir *to, uint64_t nbytes, const uint8_t *bytes)
{
    uint8_t *found = malloc((size_t)nbytes + 1);
    uint64_t length;
    int fd;

    assert_int_equal(dir_copy_file(from, "a", to, nbytes, false, NULL), PAUA_OK);
    assert_int_equal(dir_open_file(to, "a", DIR_READ, &fd, NULL), PAUA_OK);
    assert_int_equal(fd_length(fd, "a", &length, NULL), PAUA_OK);
    assert_int_equal(length, nbytes);
    assert_int_equal(fd_pread(fd, "a", found, (size_t)nbytes, 0, NULL), PAUA_OK);
    assert_memory_equal(found, bytes, (size_t)nbytes);
    fd_close(fd);
    assert_int_equal(dir_unlink(to, "a", NULL), PAUA_OK);
    free(found);
}

static void copies_have_exactly_the_bytes_asked_for(void **state)
{
    static const uint64_t lengths[] = {0, 1, 65535, 65536, 65537, 200000};
    static uint8_t bytes[200000];
    struct temp *temp = *state, memory;
    struct dir *to = other_dir(temp);
    uint64_t seed = 1;

    random_fill(&seed, bytes, sizeof bytes);
    temp_open(&memory, true);
    temp_write(temp, "a", bytes, sizeof bytes);
    temp_write(&memory, "a", bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        assert_copied(temp->dir, to, lengths[i], bytes);
        assert_copied(memory.dir, to, lengths[i], bytes);
    }
    temp_close(&memory);
    dir_close(to);
}

static void a_copy_that_fails_leaves_no_file(void **state)
{
    struct temp *temp = *state;
    struct dir *to = other_dir(temp);
    paua_error err;

    put(temp->dir, "a", DIR_CREATE, "text");
    sys_fail_after(2, EIO);
    assert_int_equal(dir_copy_file(temp->dir, "a", to, 4, false, NULL), PAUA_EIO);
    sys_restore();
    assert_false(dir_exists(to, "a"));
    assert_int_equal(dir_copy_file(temp->dir, "a", to, 5, false, &err), PAUA_ECORRUPT);
    assert_non_null(strstr(err.message, "4 bytes long instead of 5"));
    assert_int_equal(dir_copy_file(temp->dir, "b", to, 5, false, NULL), PAUA_ENOTFOUND);
    assert_false(dir_exists(to, "a"));
    put(to, "a", DIR_CREATE, "mine");
    assert_int_equal(dir_copy_file(temp->dir, "a", to, 4, false, NULL), PAUA_EEXISTS);
    assert_int_equal(dir_copy_file(temp->dir, "a", to, 4, true, NULL), PAUA_EEXISTS);
    assert_text(to, "a", "mine");
    dir_close(to);
}

static void a_link_is_the_same_file_and_needs_all_of_it(void **state)
{
    struct temp *temp = *state;
    struct dir *to = other_dir(temp), *memory;

    put(temp->dir, "a", DIR_CREATE, "text");
    assert_int_equal(dir_copy_file(temp->dir, "a", to, 3, true, NULL), PAUA_ECORRUPT);
    assert_int_equal(dir_copy_file(temp->dir, "a", to, 4, true, NULL), PAUA_OK);
    put(temp->dir, "a", DIR_WRITE, "TEXT");
    assert_text(to, "a", "TEXT");
    assert_int_equal(dir_open_memory(&memory, NULL), PAUA_OK);
    put(memory, "m", DIR_CREATE, "text");
    assert_int_equal(dir_copy_file(memory, "m", to, 4, true, NULL), PAUA_ENOTSUP);
    dir_close(memory);
    dir_close(to);
}

#define ON_DISK(test)                                                                              \
    {                                                                                              \
        "disk: " #test, test, temp_setup, temp_teardown, NULL                                      \
    }
#define BOTH(test)                                                                                 \
    ON_DISK(test), { "memory: " #test, test, temp_setup_memory, temp_teardown, NULL }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_created_file_is_there_and_not_created_twice),
        BOTH(replacing_empties_and_writing_does_not),
        BOTH(renaming_replaces_the_target_but_not_what_is_open),
        BOTH(an_unlinked_file_is_gone_by_name_only),
        BOTH(listing_shows_each_file_once_while_they_are_unlinked),
        BOTH(descriptors_are_closed_on_exec),
        BOTH(a_failed_allocation_changes_nothing),
        ON_DISK(opening_tells_a_missing_directory_from_a_file),
        ON_DISK(create_makes_one_level_and_takes_what_is_there),
        ON_DISK(a_relative_path_and_a_trailing_slash_work),
        ON_DISK(network_file_systems_are_refused_for_writing_only),
        ON_DISK(a_read_only_handle_opens_nothing_for_writing),
        ON_DISK(what_is_no_regular_file_is_refused_without_waiting),
        ON_DISK(failed_system_calls_come_back_as_statuses),
        ON_DISK(a_directory_whose_parent_cannot_be_synced_is_not_made),
        ON_DISK(copies_have_exactly_the_bytes_asked_for),
        ON_DISK(a_copy_that_fails_leaves_no_file),
        ON_DISK(a_link_is_the_same_file_and_needs_all_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
