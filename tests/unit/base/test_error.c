/* test_error.c - messages that fit, are UTF-8, and say what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/utf8.h"

#define ROOM (sizeof((paua_error *)NULL)->message)

static void status_row_and_message_are_filled_in(void **state)
{
    paua_error err;

    (void)state;
    assert_int_equal(error_set(&err, PAUA_EIO, "%s: %d", "a.f32", 7), PAUA_EIO);
    assert_int_equal(err.status, PAUA_EIO);
    assert_true(err.row == PAUA_NO_ROW);
    assert_string_equal(err.message, "a.f32: 7");

    assert_int_equal(error_set_row(&err, PAUA_EINVAL, 12, "NaN"), PAUA_EINVAL);
    assert_int_equal(err.row, 12);
    assert_string_equal(err.message, "NaN");
}

static void a_caller_without_a_buffer_still_gets_the_status(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, PAUA_EBUSY, "x"), PAUA_EBUSY);
    assert_int_equal(error_set_row(NULL, PAUA_EBUSY, 1, "x"), PAUA_EBUSY);
    assert_int_equal(error_set_errno(NULL, EIO, "f", "reading"), PAUA_EIO);
    assert_int_equal(error_set_nomem(NULL), PAUA_ENOMEM);
}

static void a_message_may_quote_the_one_it_replaces(void **state)
{
    paua_error err;

    (void)state;
    error_set(&err, PAUA_EIO, "inner");
    error_set(&err, PAUA_ECORRUPT, "outer: %s", err.message);
    assert_string_equal(err.message, "outer: inner");
}

static void control_bytes_and_bytes_that_are_not_utf8_become_question_marks(void **state)
{
    paua_error err;

    (void)state;
    error_set(&err, PAUA_EIO, "%s",
              "a\nb\x1B[31m\x7F"
              "c\xFF"
              "d\xC3(\xED\xA0\x80 caf\xC3\xA9");
    assert_string_equal(err.message, "a?b?[31m?c?d?(??? caf\xC3\xA9");
    error_set(&err, PAUA_EIO, "%s", "ends\xC3");
    assert_string_equal(err.message, "ends?");
}

/* Every position of the cut inside characters of one to four bytes. */
static void a_long_message_is_cut_at_the_end_of_a_character(void **state)
{
    static const char *const characters[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x9A\x80"};

    (void)state;
    for (size_t c = 0; c < 4; c++)
        for (size_t lead = 0; lead < 8; lead++) {
            char text[2 * 488] = "";
            paua_error err;
            size_t length;

            for (size_t i = 0; i < lead; i++)
                strcat(text, "-");
            while (strlen(text) < ROOM + 8)
                strcat(text, characters[c]);
            error_set(&err, PAUA_EIO, "%s", text);
            length = strlen(err.message);
            assert_true(length <= ROOM - 1);
            assert_true(length > ROOM - 1 - (c + 1));
            assert_int_equal((length - lead) % (c + 1), 0);
            assert_memory_equal(err.message, text, length);
            assert_int_equal(utf8_valid_prefix(err.message, length), length);
        }
}

static void failed_system_calls_give_a_status_and_advice(void **state)
{
    static const struct {
        int number;
        const char *doing;
        paua_status status;
        const char *advice;
    } cases[] = {
        {ENOSPC, "writing", PAUA_ENOSPACE, "free some space"},
        {EDQUOT, "writing", PAUA_ENOSPACE, "quota"},
        {ENOMEM, "mapping", PAUA_ENOMEM, "memory"},
        {ENOENT, "opening", PAUA_ENOTFOUND, "path"},
        {EROFS, "opening", PAUA_EREADONLY, "read-only"},
        {EACCES, "opening for writing", PAUA_EREADONLY, "read-only"},
        {EACCES, "creating", PAUA_EREADONLY, "permissions"},
        {EACCES, "opening", PAUA_EIO, "permissions"},
        {EMFILE, "opening", PAUA_EIO, "ulimit -n"},
        {EIO, "syncing", PAUA_EIO, "disk"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char start[64];
        paua_error err;

        assert_int_equal(error_set_errno(&err, cases[i].number, "000001.f32", cases[i].doing),
                         cases[i].status);
        assert_int_equal(err.status, cases[i].status);
        snprintf(start, sizeof start, "000001.f32: %s: ", cases[i].doing);
        assert_memory_equal(err.message, start, strlen(start));
        assert_non_null(strstr(err.message, strerror(cases[i].number)));
        assert_non_null(strstr(err.message, cases[i].advice));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_row_and_message_are_filled_in),
        cmocka_unit_test(a_caller_without_a_buffer_still_gets_the_status),
        cmocka_unit_test(a_message_may_quote_the_one_it_replaces),
        cmocka_unit_test(control_bytes_and_bytes_that_are_not_utf8_become_question_marks),
        cmocka_unit_test(a_long_message_is_cut_at_the_end_of_a_character),
        cmocka_unit_test(failed_system_calls_give_a_status_and_advice),
    };
    return cmocka_run_group_tests_name("base/error", tests, NULL, NULL);
}
