/* share.c - see share.h. */
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TESTS_MAX 32u

struct share share_read(int argc, char **argv)
{
    struct share share = {0, 1};
    char rest;

    if (argc < 2) return share;
    if (argc == 2 && sscanf(argv[1], "%u/%u%c", &share.at, &share.of, &rest) == 2 &&
        share.at - 1 < share.of) { /* 0 is beyond as well */
        share.at--;
        return share;
    }
    fprintf(stderr, "usage: %s [PART/PARTS]\n", argv[0]);
    exit(2);
}

int share_run(struct share share, const struct CMUnitTest *tests, uint32_t count)
{
    struct CMUnitTest chosen[TESTS_MAX];
    uint32_t n = 0;

    if (count > TESTS_MAX) abort();
    for (uint32_t i = share.at; i < count; i += share.of)
        chosen[n++] = tests[i];
    return _cmocka_run_group_tests("tests", chosen, n, NULL, NULL);
}
