/* model.h - a collection as a plain array: what paua must agree with after any operations. */
#ifndef PAUA_TESTS_PROPERTY_MODEL_H
#define PAUA_TESTS_PROPERTY_MODEL_H

#include "support/support.h"

#define KEYS 64u /* all keys that there are: few, so that they meet often */
#define DIM 6u
#define DIM2 3u
#define BATCH_MAX 24u
#define NO_DOCUMENT UINT32_MAX
#define DOCUMENT_NBYTES_MAX 70000u

struct model_row {
    bool live;
    float first[DIM], second[DIM2];
    uint32_t document; /* a number that stands for its text, or NO_DOCUMENT */
    uint64_t stamp;    /* rises with each write of a row: the order of iteration */
};

struct replica {
    struct test_schema schema;
    struct model_row rows[KEYS]; /* by id, 0 .. KEYS - 1 */
    uint64_t clock;
};

enum model_op { MODEL_INSERT, MODEL_UPSERT, MODEL_UPDATE, MODEL_DELETE };

struct call {
    enum model_op op;
    size_t n;
    bool all_or_nothing;
    bool give_first, give_second, give_documents;
    uint32_t ids[BATCH_MAX];
    float first[BATCH_MAX * DIM], second[BATCH_MAX * DIM2];
    uint32_t documents[BATCH_MAX];
};

/* Any call of a write, bad rows among them. */
void call_make(const struct replica *m, uint64_t *seed, struct call *call);

/* What it must do: the call's status, and each row's; and what paua does. */
paua_status model_apply(struct replica *m, const struct call *call, paua_status *row_status);
paua_status call_run(const struct replica *m, paua_collection *c, const struct call *call,
                     paua_status *row_status);

uint32_t model_count(const struct replica *m);

/* The keys of ids as the collection's kind has them; pointers into static memory. */
paua_keys model_keys(const struct replica *m, const uint32_t *ids, size_t n);

/* Compare a collection with the model; a difference fails the test. */
void expect_rows(const struct replica *m, paua_collection *c);      /* fetch of every key */
void expect_iteration(const struct replica *m, paua_collection *c); /* all rows, in order */
void expect_search(const struct replica *m, paua_collection *c, uint64_t *seed);

#endif
