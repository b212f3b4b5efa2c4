/* test_status.c - texts of statuses, the version, and cancelling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <paua/paua.h>

static void every_status_has_its_own_text(void **state)
{
    static const int numbers[] = {PAUA_OK,
#define PAUA_X(name, number, text) name,
                                  PAUA_STATUS_LIST(PAUA_X)
#undef PAUA_X
    };
    const size_t count = sizeof numbers / sizeof numbers[0];

    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_string_not_equal(paua_strstatus(numbers[i]), "unknown status");
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(paua_strstatus(numbers[i]), paua_strstatus(numbers[j]));
    }
    assert_string_equal(paua_strstatus(PAUA_ENOMEM), "out of memory");
}

static void numbers_without_a_status_have_a_text_too(void **state)
{
    (void)state;
    assert_string_equal(paua_strstatus(1), "unknown status");
    assert_string_equal(paua_strstatus(-10000), "unknown status");
}

static void the_library_has_the_version_of_its_header(void **state)
{
    (void)state;
    assert_string_equal(paua_version(), PAUA_VERSION);
}

static void a_cancel_is_seen_once_requested(void **state)
{
    paua_cancel cancel = {0};

    (void)state;
    paua_cancel_request(&cancel);
    assert_int_equal(cancel.requested, 1);
    paua_cancel_request(&cancel);
    assert_int_equal(cancel.requested, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(numbers_without_a_status_have_a_text_too),
        cmocka_unit_test(the_library_has_the_version_of_its_header),
        cmocka_unit_test(a_cancel_is_seen_once_requested),
    };
    return cmocka_run_group_tests_name("base/status", tests, NULL, NULL);
}
