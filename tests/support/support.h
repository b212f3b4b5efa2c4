/* support.h - what tests of the public interface share: a directory that is gone afterwards, random
 * numbers that repeat, collections and rows in one line, and asserts that print paua's message. */
#ifndef PAUA_TESTS_SUPPORT_H
#define PAUA_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <paua/paua.h>

/* Give &test_err to the call inside. */
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

/* ---- directories ---- */

struct test_dir {
    char path[64]; /* exists, empty; remove it with test_dir_remove */
};

void test_dir_make(struct test_dir *dir);
void test_dir_remove(struct test_dir *dir);           /* with all that is in it */
uint64_t test_dir_nbytes(const struct test_dir *dir); /* of all files in it */
void test_dir_copy(const char *from, const char *to); /* files of one directory into a new one */

/* ---- numbers ---- */

uint64_t test_random(uint64_t *state);                             /* splitmix64 */
uint32_t test_random_below(uint64_t *state, uint32_t n);           /* 0 .. n - 1 */
void test_random_floats(uint64_t *state, float *values, size_t n); /* in [-1, 1) */

/* The definition of a metric, in doubles. */
double test_distance(paua_metric metric, const float *a, const float *b, uint32_t dim);
float test_half(float value); /* rounded to half precision */

/* PAUA_SWEEP=whole asks for everything, otherwise a sample. */
bool test_sweep_whole(void);

/* In a sanitized build, unless everything is asked for: loops over combinations, all of which the
 * release build takes, skip most of them. */
bool test_sampled(void);

/* ---- databases ---- */

/* Opens with durability off and no background thread, making what is not there. */
paua_db *test_open(const struct test_dir *dir);
paua_db *test_open_memory(void);

struct test_schema {
    paua_key_kind key_kind;
    paua_document_kind document;
    uint32_t dim;
    paua_metric metric;
    paua_precision precision;
    uint32_t dim2; /* 0: no second field; otherwise l2, fp32, named "second" */
    paua_originals originals;
    paua_index_params index; /* of both fields; PAUA_INDEX_DEFAULT: none, so that tests of anything
                                but indexes get exact answers */
};

/* The first field is named "vector". */
paua_collection *test_create(paua_db *db, const char *name, const struct test_schema *schema);

static inline paua_keys test_u64(const uint64_t *keys, size_t n)
{
    return (paua_keys){.count = n, .u64 = keys};
}

static inline paua_bytes test_string(const char *text) { return (paua_bytes){text, strlen(text)}; }

/* Rows of one vector field. */
static inline paua_rows test_rows(paua_keys keys, const paua_vectors *vectors,
                                  const paua_bytes *documents)
{
    return (paua_rows){.size = sizeof(paua_rows),
                       .keys = keys,
                       .vectors = vectors,
                       .vectors_count = vectors == NULL ? 0 : 1,
                       .documents = documents};
}

/* Inserts rows first .. first + n - 1 with u64 keys of that number; vectors n x dim. */
void test_insert_u64(paua_collection *c, uint64_t first, size_t n, const float *vectors);
void test_delete_u64(paua_collection *c, uint64_t key);
uint64_t test_count(paua_collection *c); /* live rows */

/* Fetches one row by its number: false when there is none. vector (dim floats) may be NULL. */
bool test_fetch_u64(paua_collection *c, uint64_t key, float *vector);

/* Searches one query; fills keys and distances (both k long, may be NULL) and gives the count. */
size_t test_search_u64(paua_collection *c, const float *query, uint32_t k, uint64_t *keys,
                       double *distances);

/* Every invariant of the collection's state in memory. */
void test_validate(paua_collection *c);

#endif
