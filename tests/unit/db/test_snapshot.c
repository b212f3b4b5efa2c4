/* test_snapshot.c - cursors and hits hold the state that they were opened on, whatever is written,
 * merged or dropped meanwhile. */
#include "support/support.h"

#include <stdio.h>

#define DIM 3u
#define ROWS 500u

struct fixture {
    struct test_dir dir;
    paua_db *db;
    paua_collection *c;
};

static int setup(void **state)
{
    static struct fixture f;
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2};

    test_dir_make(&f.dir);
    f.db = test_open(&f.dir);
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
    test_dir_remove(&f->dir);
    return 0;
}

/* Row `key` of a generation: its vector and document say both. */
static void put(paua_collection *c, uint64_t key, uint32_t generation)
{
    float vector[DIM] = {(float)key, (float)generation, 0};
    char text[32];
    paua_vectors v = {vector, 0};
    paua_bytes document = {text, (size_t)snprintf(text, sizeof text, "%u", generation)};
    paua_rows rows = test_rows(test_u64(&key, 1), &v, &document);

    assert_ok(paua_upsert(c, &rows, NULL, NULL, &test_err));
}

static void put_all(paua_collection *c, uint32_t generation)
{
    for (uint64_t key = 0; key < ROWS; key++)
        put(c, key, generation);
}

/* All that may happen to a snapshot's rows. */
static void disturb(paua_collection *c, uint32_t generation)
{
    put_all(c, generation);
    assert_ok(paua_optimize(c, NULL, &test_err));
    for (uint64_t key = 0; key < ROWS; key += 2)
        test_delete_u64(c, key);
    assert_ok(paua_optimize(c, NULL, &test_err));
    put_all(c, generation + 1);
}

static void expect_record(const paua_record *record, uint64_t key, uint32_t generation)
{
    char text[32];
    int nbytes = snprintf(text, sizeof text, "%u", generation);

    assert_non_null(record);
    assert_true(record->found && record->key.u64 == key);
    assert_true(record->vectors[0][0] == (float)key);
    assert_true(record->vectors[0][1] == (float)generation);
    assert_int_equal(record->document.nbytes, nbytes);
    assert_memory_equal(record->document.data, text, (size_t)nbytes);
}

static void check_iteration(struct fixture *f, bool sealed)
{
    const paua_record *record;
    paua_cursor *cursor;

    put_all(f->c, 1);
    if (sealed) assert_ok(paua_optimize(f->c, NULL, &test_err));
    assert_ok(paua_iterate(f->c, NULL, &cursor, &test_err));
    for (uint64_t key = 0; key < ROWS; key++) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        expect_record(record, key, 1);
        if (key == 100) disturb(f->c, 2);
        if (key == 200) disturb(f->c, 4);
    }
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_null(record);
    paua_cursor_close(cursor);
    assert_ok(paua_iterate(f->c, NULL, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_true(record->vectors[0][1] == 5);
    paua_cursor_close(cursor);
}

static void an_iteration_sees_no_write_after_its_beginning(void **state)
{
    check_iteration(*state, false);
}

static void an_iteration_of_segments_sees_no_write_either(void **state)
{
    check_iteration(*state, true);
}

static void a_fetch_reads_the_rows_of_its_moment(void **state)
{
    struct fixture *f = *state;
    uint64_t wanted[] = {499, 3, 3, ROWS, 0};
    paua_keys keys = test_u64(wanted, 5);
    const paua_record *record;
    paua_cursor *cursor;

    put_all(f->c, 1);
    assert_ok(paua_fetch(f->c, &keys, NULL, &cursor, &test_err));
    disturb(f->c, 2);
    put(f->c, ROWS, 2); /* exists now, did not then */
    for (size_t i = 0; i < 5; i++) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        if (wanted[i] == ROWS)
            assert_false(record->found);
        else
            expect_record(record, wanted[i], 1);
    }
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_null(record);
    paua_cursor_close(cursor);
}

static void hits_keep_their_keys_and_documents(void **state)
{
    struct fixture *f = *state;
    float query[DIM] = {0, 1, 0};
    paua_search_opts opts = {.size = sizeof opts, .k = ROWS};
    paua_hits *hits;

    put_all(f->c, 1);
    assert_ok(paua_hits_open(&hits, &test_err));
    for (uint32_t round = 1; round < 4; round += 2) {
        query[1] = (float)round;
        assert_ok(paua_search(f->c, query, 1, 0, &opts, hits, &test_err));
        disturb(f->c, round + 1);
        for (size_t i = 0; i < ROWS; i++) {
            paua_bytes document;

            assert_int_equal(paua_hits_at(hits, 0, i).key.u64, i);
            assert_ok(paua_hits_document(hits, 0, i, &document, &test_err));
            assert_int_equal(document.nbytes, 1);
            assert_int_equal(((const char *)document.data)[0], '0' + (int)round);
        }
    }
    paua_hits_close(hits);
}

static void a_reader_in_another_handle_follows_the_writer(void **state)
{
    struct fixture *f = *state;
    paua_open_opts opts = {.size = sizeof opts, .read_only = true};
    paua_collection *c;
    paua_db *db;
    float vector[DIM];

    put(f->c, 1, 1);
    assert_ok(paua_open(f->dir.path, &opts, &db, &test_err));
    assert_ok(paua_collection_open(db, "c", &c, &test_err));
    for (uint32_t round = 1; round <= 30; round++) {
        put(f->c, 1, round);
        put(f->c, 100 + round, round);
        if (round % 10 == 5) assert_ok(paua_optimize(f->c, NULL, &test_err));
        if (round % 10 == 7) test_delete_u64(f->c, 100 + round - 1);
        assert_true(test_fetch_u64(c, 1, vector));
        assert_true(vector[1] == (float)round);
        assert_int_equal(test_count(c), test_count(f->c));
    }
    test_validate(c);
    paua_collection_close(c);
    paua_close(db);
}

#define T(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_iteration_sees_no_write_after_its_beginning),
        T(an_iteration_of_segments_sees_no_write_either),
        T(a_fetch_reads_the_rows_of_its_moment),
        T(hits_keep_their_keys_and_documents),
        T(a_reader_in_another_handle_follows_the_writer),
    };

    return cmocka_run_group_tests_name("db/snapshot", tests, NULL, NULL);
}
