/* support.h - what tests of histories share: an allocator that counts and fails, rows in one line,
 * a buffer to write to. */
#ifndef PAUA_TESTS_HISTORY_SUPPORT_H
#define PAUA_TESTS_HISTORY_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <paua/paua_history.h>

#include "history/history.h"

extern paua_error test_err;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        paua_status status_;                                                                       \
        test_err = (paua_error){0};                                                                \
        status_ = (call);                                                                          \
        if (status_ != PAUA_OK)                                                                    \
            fail_msg("%s:%d: %s: %s (%s)", __FILE__, __LINE__, #call, paua_strstatus(status_),     \
                     test_err.message);                                                            \
    } while (0)

/* The call fails with this status, and says so to a person. */
#define assert_fails(call, expected)                                                               \
    do {                                                                                           \
        paua_status status_;                                                                       \
        test_err = (paua_error){0};                                                                \
        status_ = (call);                                                                          \
        if (status_ != (expected))                                                                 \
            fail_msg("%s:%d: %s: %s (%s), not %s", __FILE__, __LINE__, #call,                      \
                     paua_strstatus(status_), test_err.message, #expected);                        \
        if (test_err.message[0] == '\0' || test_err.status == PAUA_OK)                             \
            fail_msg("%s:%d: %s: fails without a message", __FILE__, __LINE__, #call);             \
    } while (0)

/* ---- memory ---- */

/* Counts what histories hold, checks the sizes that they give back, and may refuse. */
struct test_heap {
    size_t live;
    size_t peak; /* the most that was live since the test set it */
    size_t blocks;
    size_t until_failure; /* 0: never; n: the n-th request from now on and all after it fail */
};
paua_history_allocator test_allocator(struct test_heap *heap);

/* ---- histories ---- */

struct test_opts {
    struct test_heap *heap;
    paua_history_scratch *scratch;
    paua_history_limits limits;
    uint32_t page_rows;
};
paua_history *test_history(const struct test_opts *opts); /* opts may be NULL */
void test_validate(paua_history *h);
paua_history_stats test_stats(const paua_history *h);

/* A row of text in the default style. */
void test_append(paua_history *h, uint32_t width, const char *text);
void test_append_soft(paua_history *h, uint32_t width, const char *text);
/* "row 17", and so on: numbers first .. first + count - 1. */
void test_append_numbered(paua_history *h, uint64_t first, uint64_t count);
/* Two idle visits of every page. */
void test_idle_twice(paua_history *h);

paua_history_view *test_view(paua_history *h);
/* The row's text is this. */
void assert_row(paua_history_view *v, uint64_t index, const char *text);
/* Rows 0 .. of the view are numbered ones from `first` on. */
void assert_numbered(paua_history_view *v, uint64_t first, uint64_t count);

/* ---- output ---- */

struct test_buffer {
    char *bytes;
    size_t nbytes;
    size_t until_stop; /* 0: never; n: the n-th write says stop */
};
bool test_write(void *buffer, const void *bytes, size_t nbytes);
void test_buffer_free(struct test_buffer *buffer);
struct test_buffer test_encode(paua_history *h);
paua_history *test_decode(const struct test_buffer *buffer);

/* ---- numbers ---- */

uint64_t test_random(uint64_t *state);                   /* splitmix64 */
uint32_t test_random_below(uint64_t *state, uint32_t n); /* 0 .. n - 1 */

#endif
