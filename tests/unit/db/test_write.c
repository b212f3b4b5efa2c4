/* test_write.c - the four writes: each row's own status, and what a batch leaves behind. */
#include "support/support.h"

#include <math.h>

#define DIM 2u

struct fixture {
    paua_db *db;
    paua_collection *c;
};

static int setup(void **state)
{
    static struct fixture f;
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2, .dim2 = 1};

    f.db = test_open_memory();
    f.c = test_create(f.db, "c", &schema);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    test_validate(f->c);
    paua_collection_close(f->c);
    paua_close(f->db);
    return 0;
}

enum op { INSERT, UPSERT, UPDATE };

/* One batch: keys, first components (the second is 0), second field, documents. */
struct batch {
    size_t n;
    uint64_t keys[8];
    float first[8], second[8];
    const char *documents[8];
    bool no_first, no_second, all_or_nothing;
    paua_status row_status[8]; /* filled */
};

static paua_status write_batch(paua_collection *c, enum op op, struct batch *b)
{
    float data[8 * DIM] = {0};
    paua_bytes documents[8];
    paua_vectors vectors[2] = {{b->no_first ? NULL : data, 0},
                               {b->no_second ? NULL : b->second, 0}};
    paua_rows rows = test_rows(test_u64(b->keys, b->n), vectors, documents);
    paua_write_opts opts = {.size = sizeof opts, .all_or_nothing = b->all_or_nothing};

    rows.vectors_count = 2;
    for (size_t i = 0; i < b->n; i++) {
        data[i * DIM] = b->first[i];
        documents[i] = b->documents[i] == NULL ? (paua_bytes){0} : test_string(b->documents[i]);
        b->row_status[i] = (paua_status)99;
    }
    if (op == INSERT) return paua_insert(c, &rows, &opts, b->row_status, &test_err);
    if (op == UPSERT) return paua_upsert(c, &rows, &opts, b->row_status, &test_err);
    return paua_update(c, &rows, &opts, b->row_status, &test_err);
}

/* The row is there with these values; document NULL: it has none. */
static void expect_row(paua_collection *c, uint64_t key, float first, float second,
                       const char *document)
{
    paua_keys keys = test_u64(&key, 1);
    const paua_record *record;
    paua_cursor *cursor;

    assert_ok(paua_fetch(c, &keys, NULL, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_true(record->found);
    assert_true(record->vectors[0][0] == first);
    assert_true(record->vectors[1][0] == second);
    if (document == NULL) {
        assert_null(record->document.data);
    } else {
        assert_int_equal(record->document.nbytes, strlen(document));
        assert_memory_equal(record->document.data, document, strlen(document));
    }
    paua_cursor_close(cursor);
}

static void expect_statuses(const struct batch *b, const paua_status *wanted)
{
    for (size_t i = 0; i < b->n; i++)
        assert_int_equal(b->row_status[i], wanted[i]);
}

static void an_insert_refuses_keys_that_exist_and_writes_the_others(void **state)
{
    struct fixture *f = *state;
    struct batch a = {.n = 2, .keys = {1, 2}, .first = {1, 2}};
    struct batch b = {.n = 3, .keys = {3, 2, 4}, .first = {3, 9, 4}};

    assert_ok(write_batch(f->c, INSERT, &a));
    assert_fails(write_batch(f->c, INSERT, &b), PAUA_EPARTIAL);
    expect_statuses(&b, (paua_status[]){PAUA_OK, PAUA_EEXISTS, PAUA_OK});
    assert_int_equal(test_err.row, 1); /* describes the first refusal */
    assert_int_equal(test_err.status, PAUA_EEXISTS);
    assert_int_equal(test_count(f->c), 4);
    expect_row(f->c, 2, 2, 0, NULL);
    expect_row(f->c, 4, 4, 0, NULL);
}

static void all_or_nothing_leaves_nothing_of_a_batch_with_one_bad_row(void **state)
{
    struct fixture *f = *state;
    struct batch a = {.n = 1, .keys = {2}, .first = {2}};
    struct batch b = {.n = 3, .keys = {3, 2, 4}, .first = {3, 9, 4}, .all_or_nothing = true};
    struct batch c = {.n = 2, .keys = {3, 4}, .first = {30, 40}, .all_or_nothing = true};

    assert_ok(write_batch(f->c, INSERT, &a));
    assert_fails(write_batch(f->c, INSERT, &b), PAUA_EEXISTS);
    assert_int_equal(b.row_status[1], PAUA_EEXISTS);
    assert_true(b.row_status[0] != PAUA_OK && b.row_status[2] != PAUA_OK);
    assert_int_equal(test_err.row, 1);
    assert_int_equal(test_count(f->c), 1);
    assert_false(test_fetch_u64(f->c, 3, NULL));
    assert_ok(write_batch(f->c, INSERT, &c)); /* nothing of the first try is in the way */
    expect_row(f->c, 3, 30, 0, NULL);
}

static void all_or_nothing_takes_deletions_back_too(void **state)
{
    struct fixture *f = *state;
    struct batch a = {.n = 3, .keys = {1, 2, 3}, .first = {1, 2, 3}};
    struct batch u = {.n = 3, .keys = {1, 2, 9}, .first = {7, 8, 9}, .all_or_nothing = true};
    uint64_t deletes[] = {1, 3, 8};
    paua_keys keys = test_u64(deletes, 3);
    paua_write_opts opts = {.size = sizeof opts, .all_or_nothing = true};

    assert_ok(write_batch(f->c, INSERT, &a));
    assert_fails(write_batch(f->c, UPDATE, &u), PAUA_ENOTFOUND);
    assert_fails(paua_delete(f->c, &keys, &opts, NULL, &test_err), PAUA_ENOTFOUND);
    for (uint64_t key = 1; key <= 3; key++)
        expect_row(f->c, key, (float)key, 0, NULL);
    assert_int_equal(test_count(f->c), 3);
}

static void a_key_twice_in_a_batch_acts_in_order(void **state)
{
    struct fixture *f = *state;
    struct batch i = {.n = 3, .keys = {1, 1, 2}, .first = {1, 2, 3}};
    struct batch u = {.n = 4, .keys = {5, 5, 1, 5}, .first = {1, 2, 3, 4}};
    uint64_t deletes[] = {1, 1};
    paua_keys keys = test_u64(deletes, 2);
    paua_status statuses[2];

    assert_fails(write_batch(f->c, INSERT, &i), PAUA_EPARTIAL);
    expect_statuses(&i, (paua_status[]){PAUA_OK, PAUA_EEXISTS, PAUA_OK});
    expect_row(f->c, 1, 1, 0, NULL);
    assert_ok(write_batch(f->c, UPSERT, &u));
    expect_row(f->c, 5, 4, 0, NULL);
    expect_row(f->c, 1, 3, 0, NULL);
    assert_int_equal(test_count(f->c), 3);
    assert_fails(paua_delete(f->c, &keys, NULL, statuses, &test_err), PAUA_EPARTIAL);
    assert_int_equal(statuses[0], PAUA_OK);
    assert_int_equal(statuses[1], PAUA_ENOTFOUND);
    assert_int_equal(test_count(f->c), 2);
}

static void an_upsert_keeps_what_it_does_not_give(void **state)
{
    struct fixture *f = *state;
    struct batch a = {.n = 1, .keys = {1}, .first = {1}, .second = {10}, .documents = {"one"}};
    struct batch b = {.n = 1, .keys = {1}, .first = {2}, .no_second = true};
    struct batch c = {.n = 1, .keys = {1}, .second = {20}, .no_first = true};
    struct batch d = {
        .n = 1, .keys = {1}, .documents = {"two"}, .no_first = true, .no_second = true};
    struct batch e = {.n = 1, .keys = {1}, .no_first = true, .no_second = true};

    assert_ok(write_batch(f->c, INSERT, &a));
    assert_ok(write_batch(f->c, UPSERT, &b));
    expect_row(f->c, 1, 2, 10, "one");
    assert_ok(paua_optimize(f->c, NULL, &test_err)); /* and of a sealed row */
    assert_ok(write_batch(f->c, UPDATE, &c));
    expect_row(f->c, 1, 2, 20, "one");
    assert_ok(write_batch(f->c, UPDATE, &d));
    expect_row(f->c, 1, 2, 20, "two");
    assert_ok(write_batch(f->c, UPSERT, &e)); /* nothing at all */
    expect_row(f->c, 1, 2, 20, "two");
    assert_int_equal(test_count(f->c), 1);
}

static void a_new_row_needs_every_vector(void **state)
{
    struct fixture *f = *state;
    struct batch a = {.n = 1, .keys = {1}, .first = {1}, .no_second = true};
    struct batch b = {.n = 1, .keys = {1}, .second = {1}, .no_first = true};

    assert_fails(write_batch(f->c, INSERT, &a), PAUA_EPARTIAL);
    assert_int_equal(a.row_status[0], PAUA_EINVAL);
    assert_non_null(strstr(test_err.message, "second"));
    assert_fails(write_batch(f->c, UPSERT, &b), PAUA_EPARTIAL);
    assert_int_equal(b.row_status[0], PAUA_EINVAL);
    assert_non_null(strstr(test_err.message, "\"vector\""));
    assert_int_equal(test_count(f->c), 0);
}

static void partial_rows_build_on_a_row_of_the_same_batch(void **state)
{
    struct fixture *f = *state;
    float first[DIM * 4] = {1, 0, 2, 0, 3, 0, 4, 0};
    uint64_t keys[] = {1, 1, 2, 1};
    paua_bytes documents[] = {{"first", 5}, {0}, {"second", 6}, {"", 0}};
    float second[] = {10, 20, 30, 40};
    paua_vectors whole[2] = {{first, 0}, {second, 0}}, part[2] = {{NULL, 0}, {second, 0}};
    paua_rows rows = test_rows(test_u64(keys, 4), whole, documents);

    rows.vectors_count = 2;
    assert_ok(paua_upsert(f->c, &rows, NULL, NULL, &test_err));
    expect_row(f->c, 1, 4, 40, ""); /* the document kept by row 1 is replaced by row 3 */
    expect_row(f->c, 2, 3, 30, "second");
    rows.vectors = part;
    second[3] = 44;
    documents[0] = documents[3] = (paua_bytes){0};
    assert_ok(paua_update(f->c, &rows, NULL, NULL, &test_err)); /* each builds on the one before */
    expect_row(f->c, 1, 4, 44, "");
    assert_int_equal(test_count(f->c), 2);
}

static void an_update_of_a_missing_key_is_refused(void **state)
{
    struct fixture *f = *state;
    struct batch a = {.n = 2, .keys = {1, 2}, .first = {1, 2}};
    struct batch b = {.n = 2, .keys = {3, 2}, .first = {3, 4}};

    assert_ok(write_batch(f->c, INSERT, &a));
    assert_fails(write_batch(f->c, UPDATE, &b), PAUA_EPARTIAL);
    expect_statuses(&b, (paua_status[]){PAUA_ENOTFOUND, PAUA_OK});
    expect_row(f->c, 2, 4, 0, NULL);
}

static void a_bad_vector_does_not_spoil_its_batch(void **state)
{
    struct fixture *f = *state;
    struct batch a = {.n = 4, .keys = {1, 2, 3, 4}, .first = {1, NAN, INFINITY, 4}};

    assert_fails(write_batch(f->c, INSERT, &a), PAUA_EPARTIAL);
    expect_statuses(&a, (paua_status[]){PAUA_OK, PAUA_EINVAL, PAUA_EINVAL, PAUA_OK});
    assert_int_equal(test_err.row, 1);
    assert_non_null(strstr(test_err.message, "component 0"));
    assert_int_equal(test_count(f->c), 2);
}

static void a_deleted_key_may_come_back(void **state)
{
    struct fixture *f = *state;
    struct batch a = {.n = 1, .keys = {1}, .first = {1}, .documents = {"old"}};
    struct batch b = {.n = 1, .keys = {1}, .first = {2}};

    for (int round = 0; round < 5; round++) {
        assert_ok(write_batch(f->c, INSERT, &a));
        if (round % 2 == 0) assert_ok(paua_optimize(f->c, NULL, &test_err));
        test_delete_u64(f->c, 1);
        assert_false(test_fetch_u64(f->c, 1, NULL));
        assert_ok(write_batch(f->c, INSERT, &b));
        expect_row(f->c, 1, 2, 0, NULL); /* nothing of the old row */
        test_delete_u64(f->c, 1);
    }
    assert_int_equal(test_count(f->c), 0);
}

static void rows_may_lie_further_apart_than_they_are_long(void **state)
{
    struct fixture *f = *state;
    float first[] = {1, 1, 9, 9, 2, 2, 9, 9, 3, 3}, second[] = {1, 9, 9, 2, 9, 9, 3};
    uint64_t keys[] = {1, 2, 3};
    paua_vectors vectors[2] = {{first, 4}, {second, 3}};
    paua_rows rows = test_rows(test_u64(keys, 3), vectors, NULL);

    rows.vectors_count = 2;
    assert_ok(paua_insert(f->c, &rows, NULL, NULL, &test_err));
    for (uint64_t key = 1; key <= 3; key++)
        expect_row(f->c, key, (float)key, (float)key, NULL);
}

static void a_batch_may_delete_more_rows_than_any_segment_has(void **state)
{
    struct fixture *f = *state;
    float *data = calloc(3000, (DIM + 1) * sizeof data[0]);
    uint64_t keys[3000];
    paua_vectors vectors[2] = {{data, 0}, {data, 0}};
    paua_rows rows = test_rows(test_u64(keys, 3000), vectors, NULL);

    assert_non_null(data);
    rows.vectors_count = 2;
    for (uint64_t i = 0; i < 3000; i++)
        keys[i] = i * i;
    assert_ok(paua_insert(f->c, &rows, NULL, NULL, &test_err));
    assert_ok(paua_optimize(f->c, NULL, &test_err));
    assert_ok(paua_delete(f->c, &rows.keys, NULL, NULL, &test_err));
    assert_int_equal(test_count(f->c), 0);
    free(data);
}

static void row_statuses_and_options_may_be_left_out(void **state)
{
    struct fixture *f = *state;
    uint64_t keys[] = {1, 1};
    float data[4] = {0};
    paua_vectors vectors[2] = {{data, 0}, {data, 0}};
    paua_rows rows = test_rows(test_u64(keys, 2), vectors, NULL);

    rows.vectors_count = 2;
    assert_int_equal(paua_insert(f->c, &rows, NULL, NULL, NULL), PAUA_EPARTIAL);
    assert_int_equal(test_count(f->c), 1);
}

#define T(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_insert_refuses_keys_that_exist_and_writes_the_others),
        T(all_or_nothing_leaves_nothing_of_a_batch_with_one_bad_row),
        T(all_or_nothing_takes_deletions_back_too),
        T(a_key_twice_in_a_batch_acts_in_order),
        T(an_upsert_keeps_what_it_does_not_give),
        T(a_new_row_needs_every_vector),
        T(partial_rows_build_on_a_row_of_the_same_batch),
        T(an_update_of_a_missing_key_is_refused),
        T(a_bad_vector_does_not_spoil_its_batch),
        T(a_deleted_key_may_come_back),
        T(rows_may_lie_further_apart_than_they_are_long),
        T(a_batch_may_delete_more_rows_than_any_segment_has),
        T(row_statuses_and_options_may_be_left_out),
    };

    return cmocka_run_group_tests_name("db/write", tests, NULL, NULL);
}
