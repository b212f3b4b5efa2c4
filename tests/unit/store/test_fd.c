/* test_fd.c - reading and writing all or nothing (src/store/fd.c). */
#include <errno.h>
#include <unistd.h>

#include "unit/store/temp.h"

static int open_new(const struct temp *temp)
{
    int fd;

    assert_int_equal(dir_open_file(temp->dir, "a", DIR_CREATE, &fd, NULL), PAUA_OK);
    return fd;
}

static void a_write_in_pieces_with_interruptions_is_a_whole_write(void **state)
{
    uint8_t bytes[1000], found[1000];
    uint64_t seed = 3;
    int fd = open_new(*state);

    random_fill(&seed, bytes, sizeof bytes);
    sys_write_in_pieces(7);
    assert_int_equal(fd_pwrite(fd, "a", bytes, sizeof bytes, 11, NULL), PAUA_OK);
    sys_restore();
    assert_int_equal(fd_pread(fd, "a", found, sizeof found, 11, NULL), PAUA_OK);
    assert_memory_equal(found, bytes, sizeof bytes);
    fd_close(fd);
}

static void a_failed_write_says_why(void **state)
{
    static const struct {
        int number;
        paua_status status;
    } cases[] = {
        {ENOSPC, PAUA_ENOSPACE}, {EDQUOT, PAUA_ENOSPACE}, {EIO, PAUA_EIO}, {EROFS, PAUA_EREADONLY}};
    int fd = open_new(*state);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        paua_error err;

        sys_fail_after(1, cases[i].number);
        assert_int_equal(fd_pwrite(fd, "name", "x", 1, 0, &err), cases[i].status);
        assert_non_null(strstr(err.message, "name"));
    }
    sys_restore();
    fd_close(fd);
}

static void a_read_past_the_end_is_damage(void **state)
{
    uint8_t found[16];
    paua_error err;
    int fd = open_new(*state);

    assert_int_equal(fd_pwrite(fd, "a", "0123456789", 10, 0, NULL), PAUA_OK);
    assert_int_equal(fd_pread(fd, "a", found, 10, 0, &err), PAUA_OK);
    assert_int_equal(fd_pread(fd, "a", found, 11, 0, &err), PAUA_ECORRUPT);
    assert_non_null(strstr(err.message, "shorter than it should be"));
    assert_int_equal(fd_pread(fd, "a", found, 1, 10, &err), PAUA_ECORRUPT);
    assert_int_equal(fd_pread(fd, "a", found, 0, 10, &err), PAUA_OK);
    fd_close(fd);
}

static void an_offset_that_no_file_has_is_refused(void **state)
{
    static const uint64_t offsets[] = {UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1,
                                       UINT64_MAX - 3};
    uint8_t found[16];
    int fd = open_new(*state);

    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        assert_int_equal(fd_pread(fd, "a", found, sizeof found, offsets[i], NULL), PAUA_ECORRUPT);
        assert_int_equal(fd_pwrite(fd, "a", found, sizeof found, offsets[i], NULL), PAUA_EIO);
    }
    fd_close(fd);
}

static void closing_no_descriptor_closes_none(void **state)
{
    int fd = open_new(*state);

    fd_close(-1);
    assert_int_equal(fd_pwrite(fd, "a", "x", 1, 0, NULL), PAUA_OK);
    fd_close(fd);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_write_in_pieces_with_interruptions_is_a_whole_write),
        TEST(a_failed_write_says_why),
        TEST(a_read_past_the_end_is_damage),
        TEST(an_offset_that_no_file_has_is_refused),
        TEST(closing_no_descriptor_closes_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
