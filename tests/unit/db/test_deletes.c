/* test_deletes.c - duplicates, reused keys, deletions of most rows, and compaction (T2, T3, T4,
 * T7): exactly the live rows answer, and files give their space back. */
#include "support/support.h"

#include <math.h>

#define DIM 16u

static void random_vectors(float *data, size_t n, uint64_t seed)
{
    test_random_floats(&seed, data, n * DIM);
}

static void duplicates_hide_no_other_row(void **state)
{
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2};
    float *data = malloc(5050 * DIM * sizeof data[0]);
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", &schema);
    uint64_t keys[100];

    (void)state;
    assert_non_null(data);
    random_vectors(data, 5050, 1);
    for (size_t i = 1; i < 5000; i++)
        memcpy(data + i * DIM, data, DIM * sizeof data[0]);
    for (size_t i = 5000 * DIM; i < 5050 * DIM; i++) /* near each other, far from the 5,000 */
        data[i] = 100 + data[i];
    test_insert_u64(c, 0, 5050, data);
    for (int sealed = 0; sealed < 2; sealed++) {
        uint64_t seen = 0;

        assert_int_equal(test_search_u64(c, data, 100, keys, NULL), 100);
        for (uint64_t i = 0; i < 100; i++)
            assert_int_equal(keys[i], i); /* ties by key, each once */
        assert_int_equal(test_search_u64(c, data + 5020 * DIM, 60, keys, NULL), 60);
        assert_int_equal(keys[0], 5020);
        for (size_t i = 0; i < 50; i++)
            seen |= UINT64_C(1) << (keys[i] - 5000);
        assert_true(seen == (UINT64_C(1) << 50) - 1);
        for (uint64_t i = 50; i < 60; i++)
            assert_int_equal(keys[i], i - 50);
        assert_ok(paua_optimize(c, NULL, &test_err));
    }
    free(data);
    paua_collection_close(c);
    paua_close(db);
}

static void put_three(paua_collection *c, const float *data, uint32_t turn)
{
    for (uint64_t i = 0; i < 3; i++)
        test_insert_u64(c, i + 1, 1, data + (i + turn) % 3 * DIM);
}

static void expect_three(paua_collection *c, const float *data, uint32_t turn)
{
    assert_int_equal(test_count(c), 3);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t keys[4];
        double distances[4];

        assert_int_equal(test_search_u64(c, data + (i + turn) % 3 * DIM, 4, keys, distances), 3);
        assert_int_equal(keys[0], i + 1);
        assert_true(distances[0] == 0 && distances[1] > 0);
    }
}

static void a_key_that_is_used_again_answers_with_its_new_vector(void **state)
{
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2};
    static const uint64_t order[] = {2, 1, 3};
    float data[3 * DIM];
    struct test_dir dir;
    paua_collection *c;
    paua_db *db;

    (void)state;
    random_vectors(data, 3, 2);
    test_dir_make(&dir);
    db = test_open(&dir);
    c = test_create(db, "c", &schema);
    put_three(c, data, 0);
    for (uint32_t round = 1; round <= 20; round++) {
        for (size_t i = 0; i < 3; i++)
            test_delete_u64(c, order[i]);
        put_three(c, data, round);
        expect_three(c, data, round);
        if (round % 5 == 0) assert_ok(paua_optimize(c, NULL, &test_err));
        if (round % 4 == 0) {
            paua_collection_close(c);
            paua_close(db);
            db = test_open(&dir);
            assert_ok(paua_collection_open(db, "c", &c, &test_err));
        }
        expect_three(c, data, round);
    }
    test_validate(c);
    paua_collection_close(c);
    paua_close(db);
    test_dir_remove(&dir);
}

/* Exactly the rows that live, in the order of their distance to a query. */
static void expect_live(paua_collection *c, const float *data, size_t n, bool (*live)(uint64_t key))
{
    uint64_t *keys = malloc((n + 1) * sizeof keys[0]);
    double *distances = malloc((n + 1) * sizeof distances[0]);
    size_t count, wanted = 0;

    assert_true(keys != NULL && distances != NULL);
    count = test_search_u64(c, data, (uint32_t)n, keys, distances);
    for (uint64_t key = 0; key < n; key++) {
        wanted += live(key);
        assert_int_equal(test_fetch_u64(c, key, NULL), live(key));
    }
    assert_int_equal(count, wanted);
    for (size_t i = 0; i < count; i++) {
        assert_true(live(keys[i]));
        assert_true(i == 0 || distances[i] >= distances[i - 1]);
        assert_true(fabs(distances[i] - test_distance(PAUA_L2, data, data + keys[i] * DIM, DIM)) <
                    1e-5);
    }
    free(keys);
    free(distances);
}

static bool last_one(uint64_t key) { return key == 777; }
static bool two_fifths(uint64_t key) { return key % 5 < 2; }

static void delete_and_expect(bool (*live)(uint64_t key), double most)
{
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2};
    float *data = malloc(2000 * DIM * sizeof data[0]);
    struct test_dir dir;
    paua_collection *c;
    paua_db *db;
    paua_stats before = {.size = sizeof before}, after = {.size = sizeof after};

    assert_non_null(data);
    random_vectors(data, 2000, 3);
    test_dir_make(&dir);
    db = test_open(&dir);
    c = test_create(db, "c", &schema);
    test_insert_u64(c, 0, 2000, data);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_ok(paua_collection_stats(c, &before, &test_err));
    for (uint64_t key = 0; key < 2000; key++)
        if (!live(key)) test_delete_u64(c, key);
    expect_live(c, data, 2000, live);
    assert_ok(paua_optimize(c, NULL, &test_err));
    expect_live(c, data, 2000, live);
    assert_ok(paua_collection_stats(c, &after, &test_err));
    assert_int_equal(after.deleted, 0);
    assert_true((double)after.vector_nbytes <= most * (double)before.vector_nbytes + 200);
    assert_true((double)after.key_nbytes <= most * (double)before.key_nbytes + 1000);
    paua_collection_close(c);
    paua_close(db);
    assert_true((double)test_dir_nbytes(&dir) <= most * 2000 * DIM * 4 + 150000);
    db = test_open(&dir);
    assert_ok(paua_collection_open(db, "c", &c, &test_err));
    expect_live(c, data, 2000, live);
    test_validate(c);
    paua_collection_close(c);
    paua_close(db);
    test_dir_remove(&dir);
    free(data);
}

static void one_row_of_2000_is_left_and_the_space_of_the_others_given_back(void **state)
{
    (void)state;
    delete_and_expect(last_one, 0.001);
}

static void forty_percent_are_left_and_the_space_of_the_others_given_back(void **state)
{
    (void)state;
    delete_and_expect(two_fifths, 0.41);
}

static void most_of_a_database_is_given_back(void **state)
{
    struct test_schema schema = {.dim = 512, .metric = PAUA_L2};
    float *data = calloc(5000 * 512, sizeof data[0]);
    uint64_t keys[4500];
    paua_keys dead = test_u64(keys, 4500);
    struct test_dir dir;
    paua_collection *c;
    uint64_t before;
    paua_db *db;

    (void)state;
    assert_non_null(data);
    test_dir_make(&dir);
    db = test_open(&dir);
    c = test_create(db, "c", &schema);
    test_insert_u64(c, 0, 5000, data);
    assert_ok(paua_optimize(c, NULL, &test_err));
    before = test_dir_nbytes(&dir);
    for (uint64_t i = 0; i < 4500; i++)
        keys[i] = i + i / 9; /* nine of ten */
    assert_ok(paua_delete(c, &dead, NULL, NULL, &test_err));
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_true(test_dir_nbytes(&dir) <= before * 12 / 100);
    paua_collection_close(c);
    paua_close(db);
    test_dir_remove(&dir);
    free(data);
}

/* 1,000 rows; 100 are overwritten, 100 others deleted. */
static void expect_compacted(paua_collection *c, const float *data)
{
    assert_int_equal(test_count(c), 900);
    for (uint64_t key = 0; key < 1000; key++) {
        const float *vector = data + (key < 100 ? key + 1000 : key) * DIM;
        uint64_t found;
        double distance;

        assert_int_equal(test_fetch_u64(c, key, NULL), key < 100 || key >= 200);
        if (key >= 100 && key < 200) continue;
        assert_int_equal(test_search_u64(c, vector, 1, &found, &distance), 1);
        assert_int_equal(found, key);
        assert_true(distance == 0);
    }
}

static void after_compaction_every_row_finds_itself(void **state)
{
    struct test_schema schema = {.dim = DIM, .metric = PAUA_COSINE};
    float *data = malloc(1100 * DIM * sizeof data[0]);
    uint64_t keys[100];
    paua_vectors v = {data + 1000 * DIM, 0};
    paua_rows rows = test_rows(test_u64(keys, 100), &v, NULL);
    struct test_dir dir;
    paua_collection *c;
    paua_db *db;

    (void)state;
    assert_non_null(data);
    random_vectors(data, 1100, 4);
    test_dir_make(&dir);
    db = test_open(&dir);
    c = test_create(db, "c", &schema);
    test_insert_u64(c, 0, 1000, data);
    for (uint64_t i = 0; i < 100; i++)
        keys[i] = i;
    assert_ok(paua_upsert(c, &rows, NULL, NULL, &test_err));
    for (uint64_t key = 100; key < 200; key++)
        test_delete_u64(c, key);
    for (int round = 0; round < 2; round++) {
        assert_ok(paua_optimize(c, NULL, &test_err));
        expect_compacted(c, data);
    }
    paua_collection_close(c);
    paua_close(db);
    db = test_open(&dir);
    assert_ok(paua_collection_open(db, "c", &c, &test_err));
    expect_compacted(c, data);
    test_validate(c);
    paua_collection_close(c);
    paua_close(db);
    test_dir_remove(&dir);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicates_hide_no_other_row),
        cmocka_unit_test(a_key_that_is_used_again_answers_with_its_new_vector),
        cmocka_unit_test(one_row_of_2000_is_left_and_the_space_of_the_others_given_back),
        cmocka_unit_test(forty_percent_are_left_and_the_space_of_the_others_given_back),
        cmocka_unit_test(most_of_a_database_is_given_back),
        cmocka_unit_test(after_compaction_every_row_finds_itself),
    };

    return cmocka_run_group_tests_name("db/deletes", tests, NULL, NULL);
}
