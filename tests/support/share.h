/* share.h - a long program's tests in several runs, so that all cores have work: "2/7" as its
 * argument is the second of seven parts, no argument is everything. */
#ifndef PAUA_TESTS_SUPPORT_SHARE_H
#define PAUA_TESTS_SUPPORT_SHARE_H

#include <stdint.h>

struct CMUnitTest;

struct share {
    uint32_t at, of; /* at < of */
};

/* Ends the program if the argument is none of its kind. */
struct share share_read(int argc, char **argv);

/* Runs every of-th of the tests, and returns as cmocka does. No test is in no share. */
int share_run(struct share share, const struct CMUnitTest *tests, uint32_t count);

#endif
