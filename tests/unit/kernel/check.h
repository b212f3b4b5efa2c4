/* check.h - what the kernel tests need of cmocka. With PAUA_NO_CMOCKA defined, the few lines that
 * replace it where there is none: tests/cross/kernel-arm64 builds these tests with nothing but a
 * C library. */
#ifndef PAUA_TESTS_KERNEL_CHECK_H
#define PAUA_TESTS_KERNEL_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#if defined(PAUA_NO_CMOCKA)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

#define assert_memory_equal(a, b, nbytes)                                                          \
    do {                                                                                           \
        if (memcmp(a, b, nbytes) != 0) fail_msg("%s:%d: bytes differ", __FILE__, __LINE__);        \
    } while (0)

#define assert_int_equal(a, b)                                                                     \
    do {                                                                                           \
        if ((a) != (b)) fail_msg("%s:%d: %s is not %s", __FILE__, __LINE__, #a, #b);               \
    } while (0)

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
};

#define cmocka_unit_test(function) ((struct CMUnitTest){#function, function})

#define cmocka_run_group_tests_name(group, tests, setup, teardown)                                 \
    run_tests(group, tests, sizeof(tests) / sizeof((tests)[0]))

static inline int run_tests(const char *group, const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf("%s: %s\n", group, tests[i].name);
        fflush(stdout);
        tests[i].test(NULL);
    }
    return 0;
}
#else
#include <cmocka.h>
#endif

/* Fails the test and names the tier, and the size (dim or n) that was tried. */
#define require(condition, k, size)                                                                \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s:%d: %s, size %zu: %s", __FILE__, __LINE__, (k)->tier, (size_t)(size),     \
                     #condition);                                                                  \
    } while (0)

#endif
