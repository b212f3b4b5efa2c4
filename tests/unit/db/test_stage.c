/* test_stage.c - calls that share one commit: what one of them takes back, or builds on, when
 * others came before it. Threads reach this by chance; here the group is made by hand. */
#include "support/support.h"

#include "db/write.h"

#define DIM 1u

struct fixture {
    paua_db *db;
    paua_collection *c;
    struct group g;
};

static int setup(void **state)
{
    static struct fixture f;
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2};
    static const float zeros[5];

    f.db = test_open_memory();
    f.c = test_create(f.db, "c", &schema);
    test_insert_u64(f.c, 1, 5, zeros);
    pthread_mutex_lock(&f.c->write_mutex);
    assert_ok(writer_open_files(f.c, &test_err));
    assert_ok(group_begin(&f.g, f.c, &test_err));
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

static void commit(struct fixture *f)
{
    assert_ok(group_commit(&f->g, &test_err));
    group_end(&f->g, true);
    pthread_mutex_unlock(&f->c->write_mutex);
}

/* One call of at most two rows. The group borrows it until its commit. */
struct call {
    struct write_request request;
    paua_rows rows;
    paua_keys keys;
    paua_vectors vectors;
    uint64_t numbers[2];
    float values[2];
    paua_status statuses[2];
};

static paua_status stage(struct fixture *f, struct call *call, enum write_op op, size_t n,
                         bool all_or_nothing)
{
    call->keys = test_u64(call->numbers, n);
    call->vectors = (paua_vectors){call->values, 0};
    call->rows = test_rows(call->keys, &call->vectors, NULL);
    call->request = (struct write_request){.op = op,
                                           .rows = op == WRITE_DELETE ? NULL : &call->rows,
                                           .keys = &call->keys,
                                           .all_or_nothing = all_or_nothing,
                                           .row_status = call->statuses};
    stage_request(&f->g, &call->request);
    return call->request.result;
}

static void expect_first(struct fixture *f, uint64_t key, float value)
{
    float found;

    assert_true(test_fetch_u64(f->c, key, &found));
    assert_true(found == value);
}

static void a_refused_call_gives_back_what_it_deleted_and_replaced(void **state)
{
    struct fixture *f = *state;
    struct call deletes = {.numbers = {1, 99}}, updates = {.numbers = {2, 99}, .values = {7, 7}};
    struct call good = {.numbers = {50}, .values = {5}};

    assert_int_equal(stage(f, &deletes, WRITE_DELETE, 2, true), PAUA_ENOTFOUND);
    assert_int_equal(stage(f, &updates, WRITE_UPDATE, 2, true), PAUA_ENOTFOUND);
    assert_int_equal(stage(f, &good, WRITE_INSERT, 1, true), PAUA_OK);
    commit(f);
    expect_first(f, 1, 0);
    expect_first(f, 2, 0);
    expect_first(f, 50, 5);
    assert_int_equal(test_count(f->c), 6);
}

static void a_refused_call_leaves_its_neighbours_rows_alone(void **state)
{
    struct fixture *f = *state;
    struct call before = {.numbers = {60, 1}, .values = {6, 6}};
    struct call refused = {.numbers = {60, 99}}, after = {.numbers = {60}, .values = {8}};

    assert_int_equal(stage(f, &before, WRITE_UPSERT, 2, false), PAUA_OK);
    assert_int_equal(stage(f, &refused, WRITE_DELETE, 2, true), PAUA_ENOTFOUND);
    assert_int_equal(refused.request.refusal.row, 1);
    assert_int_equal(stage(f, &after, WRITE_INSERT, 1, false), PAUA_EPARTIAL);
    assert_int_equal(after.statuses[0], PAUA_EEXISTS);
    commit(f);
    expect_first(f, 60, 6);
    expect_first(f, 1, 6);
}

static void a_call_builds_on_rows_of_the_call_before_it(void **state)
{
    struct fixture *f = *state;
    struct call insert = {.numbers = {70, 71}, .values = {1, 2}};
    struct call update = {.numbers = {70}, .values = {3}}, delete = {.numbers = {71}};
    struct call again = {.numbers = {71}, .values = {4}};

    assert_int_equal(stage(f, &insert, WRITE_INSERT, 2, false), PAUA_OK);
    assert_int_equal(stage(f, &update, WRITE_UPDATE, 1, false), PAUA_OK);
    assert_int_equal(stage(f, &delete, WRITE_DELETE, 1, false), PAUA_OK);
    assert_int_equal(stage(f, &again, WRITE_INSERT, 1, false), PAUA_OK);
    commit(f);
    expect_first(f, 70, 3);
    expect_first(f, 71, 4);
    assert_int_equal(test_count(f->c), 7);
}

static void a_group_that_is_given_up_leaves_no_trace(void **state)
{
    struct fixture *f = *state;
    struct call insert = {.numbers = {80, 1}, .values = {1, 2}};

    assert_int_equal(stage(f, &insert, WRITE_UPSERT, 2, false), PAUA_OK);
    group_end(&f->g, false);
    pthread_mutex_unlock(&f->c->write_mutex);
    assert_false(test_fetch_u64(f->c, 80, NULL));
    expect_first(f, 1, 0);
    test_insert_u64(f->c, 80, 1, insert.values);
    expect_first(f, 80, 1);
    assert_int_equal(test_count(f->c), 6);
}

#define T(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_refused_call_gives_back_what_it_deleted_and_replaced),
        T(a_refused_call_leaves_its_neighbours_rows_alone),
        T(a_call_builds_on_rows_of_the_call_before_it),
        T(a_group_that_is_given_up_leaves_no_trace),
    };

    return cmocka_run_group_tests_name("db/stage", tests, NULL, NULL);
}
