/* test_values.c - vectors at the edges of what floats hold (T1): refused with their position, or
 * stored exactly and at a finite, right distance. */
#include "support/support.h"

#include <float.h>
#include <math.h>

#define DIM 4u
#define ROWS 6u

static const float rows[ROWS][DIM] = {
    {0, 0, 0, 0},           {1, 2, 3, 4},
    {1e-30f, 1e-30f, 0, 0}, {3e38f, 3e38f, 3e38f, 3e38f},
    {-3e38f, 1, 0, 0},      {FLT_TRUE_MIN, 0, 0, 0},
};

static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};

static paua_collection *make(paua_db *db, paua_metric metric, paua_precision precision)
{
    struct test_schema schema = {.dim = DIM, .metric = metric, .precision = precision};

    return test_create(db, "c", &schema);
}

static void nan_and_infinity_are_refused_with_their_position(void **state)
{
    static const float wrong[3][DIM] = {{NAN, 1, 0, 0}, {0, INFINITY, 0, 0}, {0, 0, 0, -INFINITY}};
    static const char *const places[] = {"component 0", "component 1", "component 3"};
    float data[5][DIM] = {{1, 0, 0, 0}, {0}, {0}, {0}, {0, 1, 0, 0}};
    uint64_t keys[] = {1, 2, 3, 4, 5};
    paua_vectors v = {data[0], 0};
    paua_rows batch = test_rows(test_u64(keys, 5), &v, NULL);
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_COSINE, PAUA_FP32);
    paua_status statuses[5];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint64_t key = 9;
        paua_vectors one = {wrong[i], 0};
        paua_rows alone = test_rows(test_u64(&key, 1), &one, NULL);

        memcpy(data[i + 1], wrong[i], sizeof wrong[i]);
        assert_fails(paua_insert(c, &alone, NULL, NULL, &test_err), PAUA_EPARTIAL);
        assert_int_equal(test_err.status, PAUA_EINVAL);
        assert_non_null(strstr(test_err.message, places[i]));
    }
    assert_fails(paua_insert(c, &batch, NULL, statuses, &test_err), PAUA_EPARTIAL);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(statuses[i], i == 0 || i == 4 ? PAUA_OK : PAUA_EINVAL);
    assert_int_equal(test_count(c), 2);
    paua_collection_close(c);
    paua_close(db);
}

static void finite_values_come_back_bit_for_bit(void **state)
{
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_L2, PAUA_FP32);

    (void)state;
    test_insert_u64(c, 0, ROWS, rows[0]);
    for (int sealed = 0; sealed < 2; sealed++) {
        for (uint64_t key = 0; key < ROWS; key++) {
            float back[DIM];

            assert_true(test_fetch_u64(c, key, back));
            assert_memory_equal(back, rows[key], sizeof back);
        }
        assert_ok(paua_optimize(c, NULL, &test_err));
    }
    paua_collection_close(c);
    paua_close(db);
}

static void check_order(const double *distances, const uint64_t *keys, size_t count,
                        paua_metric metric, const float *query)
{
    assert_int_equal(count, ROWS);
    for (size_t i = 0; i < count; i++) {
        double wanted = test_distance(metric, query, rows[keys[i]], DIM);

        assert_true(isfinite(distances[i]));
        assert_true(fabs(distances[i] - wanted) <= 1e-6 * fabs(wanted) + 1e-15);
        if (i == 0) continue;
        assert_true(distances[i] > distances[i - 1] ||
                    (distances[i] == distances[i - 1] && keys[i] > keys[i - 1]));
    }
}

static void every_distance_is_finite_right_and_in_order(void **state)
{
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        paua_db *db = test_open_memory();
        paua_collection *c = make(db, metrics[m], PAUA_FP32);

        test_insert_u64(c, 0, ROWS, rows[0]);
        for (size_t q = 0; q < ROWS; q++) {
            uint64_t keys[ROWS];
            double distances[ROWS];
            size_t count = test_search_u64(c, rows[q], 100, keys, distances);

            check_order(distances, keys, count, metrics[m], rows[q]);
            if (metrics[m] != PAUA_IP) assert_true(distances[0] == 0);
        }
        paua_collection_close(c);
        paua_close(db);
    }
}

static void under_cosine_zero_is_1_from_all_but_zero_and_never_first(void **state)
{
    float zero[DIM] = {0}, one[DIM] = {1, 0, 0, 0};
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_COSINE, PAUA_FP32);
    uint64_t keys[4];
    double distances[4];

    (void)state;
    test_insert_u64(c, 7, 1, zero);
    test_insert_u64(c, 8, 1, one);
    test_insert_u64(c, 6, 1, zero);
    assert_int_equal(test_search_u64(c, one, 4, keys, distances), 3);
    assert_true(keys[0] == 8 && distances[0] == 0);
    assert_true(distances[1] == 1 && distances[2] == 1 && keys[1] == 6);
    assert_int_equal(test_search_u64(c, zero, 4, keys, distances), 3);
    assert_true(distances[0] == 0 && distances[1] == 0 && distances[2] == 1);
    assert_true(keys[0] == 6 && keys[1] == 7 && keys[2] == 8);
    paua_collection_close(c);
    paua_close(db);
}

static void halves_are_rounded_and_refused_beyond_their_range(void **state)
{
    static const float given[DIM] = {65504, 1.0f + 0x1p-12f, 6e-8f, -0.1f};
    static const float beyond[DIM] = {0, 0, 65520, 0};
    float back[DIM];
    uint64_t key = 2;
    paua_vectors v = {beyond, 0};
    paua_rows batch = test_rows(test_u64(&key, 1), &v, NULL);
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_L2, PAUA_FP16);

    (void)state;
    test_insert_u64(c, 1, 1, given);
    assert_true(test_fetch_u64(c, 1, back));
    for (size_t i = 0; i < DIM; i++)
        assert_true(back[i] == test_half(given[i]));
    assert_fails(paua_insert(c, &batch, NULL, NULL, &test_err), PAUA_EPARTIAL);
    assert_non_null(strstr(test_err.message, "component 2"));
    paua_collection_close(c);
    paua_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_and_infinity_are_refused_with_their_position),
        cmocka_unit_test(finite_values_come_back_bit_for_bit),
        cmocka_unit_test(every_distance_is_finite_right_and_in_order),
        cmocka_unit_test(under_cosine_zero_is_1_from_all_but_zero_and_never_first),
        cmocka_unit_test(halves_are_rounded_and_refused_beyond_their_range),
    };

    return cmocka_run_group_tests_name("db/values", tests, NULL, NULL);
}
