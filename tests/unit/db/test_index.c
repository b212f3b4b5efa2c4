/* test_index.c - what is found through codes and graphs. */
#include "indexed.h"

#include <math.h>

static void an_index_finds_nearly_what_an_exact_search_finds(void **state)
{
    static const double floors[] = {[PAUA_FP32] = .99,
                                    [PAUA_FP16] = .99,
                                    [PAUA_INT8] = .97,
                                    [PAUA_INT4] = .8,
                                    [PAUA_INT2] = .55};
    struct fixture *f = *state;

    for (int kind = PAUA_INDEX_VAMANA; kind <= PAUA_INDEX_FLAT; kind++)
        for (int metric = PAUA_L2; metric <= PAUA_COSINE; metric++)
            for (int precision = PAUA_FP32; precision <= PAUA_INT2; precision++) {
                struct test_schema schema = vamana;
                paua_search_opts refined = indexed;
                double got;

                if (test_sampled() && (kind + metric + precision) % 3 != 0) continue;
                refined.refine = true;
                schema.metric = (paua_metric)metric;
                schema.precision = (paua_precision)precision;
                schema.index.kind = (paua_index_kind)kind;
                fill(f, &schema);
                assert_int_equal(list(f).rows, ROWS);
                got = recall_now(f, &indexed);
                if (got < floors[precision])
                    fail_msg("kind %d metric %d precision %d: %.4f", kind, metric, precision, got);
                got = recall_now(f, &refined);
                if (got < .985)
                    fail_msg("kind %d metric %d precision %d refined: %.4f", kind, metric,
                             precision, got);
                paua_collection_close(f->c);
                f->c = NULL;
                assert_ok(paua_collection_drop(f->db, "c", &test_err));
                assert_int_equal(files_of(f, ".codes") + files_of(f, ".graph"), 0);
            }
}

static void refined_distances_are_exact(void **state)
{
    struct fixture *f = *state;
    paua_search_opts opts = indexed;
    struct found found;

    fill(f, &vamana);
    opts.refine = true;
    find(f, &opts, &found);
    for (size_t q = 0; q < QUERIES; q++)
        for (size_t i = 0; i < K; i++) {
            const float *row = f->data + found.keys[q * K + i] * DIM;
            double want = test_distance(PAUA_L2, query(f, (uint32_t)q), row, DIM);

            assert_true(fabs(found.distances[q * K + i] - want) <= 1e-5 * (1 + want));
        }
}

static void a_row_is_found_at_once_and_after_it_is_indexed(void **state)
{
    struct fixture *f = *state;
    uint64_t keys[1];
    double distances[1];

    fill(f, &vamana);
    test_insert_u64(f->c, ROWS, QUERIES, query(f, 0));
    for (int round = 0; round < 2; round++) {
        for (uint32_t q = 0; q < QUERIES; q++) {
            assert_int_equal(test_search_u64(f->c, query(f, q), 1, keys, distances), 1);
            assert_int_equal(keys[0], ROWS + q);
            assert_true(distances[0] == 0);
        }
        assert_ok(paua_optimize(f->c, NULL, &test_err));
    }
}

static void dead_rows_are_never_found_and_all_live_ones_can_be(void **state)
{
    struct fixture *f = *state;
    static uint64_t keys[QUERIES * 200];
    static double distances[QUERIES * 200];
    size_t counts[QUERIES];
    paua_search_opts opts = indexed;

    opts.k = 200;
    fill(f, &vamana);
    for (uint64_t key = 0; key < ROWS; key++)
        if (key % 20 != 0) test_delete_u64(f->c, key);
    for (int round = 0; round < 2; round++) {
        search(f, &opts, keys, distances, counts);
        for (size_t q = 0; q < QUERIES; q++) {
            assert_int_equal(counts[q], ROWS / 20);
            for (size_t i = 0; i < counts[q]; i++)
                assert_int_equal(keys[q * 200 + i] % 20, 0);
        }
        assert_ok(paua_optimize(f->c, NULL, &test_err));
        test_validate(f->c);
    }
}

static void only_allowed_keys_are_found(void **state)
{
    struct fixture *f = *state;
    uint64_t keys[30];
    paua_keys allowed = {.count = 30, .u64 = keys};
    paua_search_opts opts = indexed;
    struct found found;

    fill(f, &vamana);
    for (size_t i = 0; i < 30; i++)
        keys[i] = i * 97;
    opts.allowed = &allowed;
    find(f, &opts, &found);
    for (size_t q = 0; q < QUERIES; q++) {
        assert_int_equal(found.counts[q], K);
        for (size_t i = 0; i < K; i++)
            assert_int_equal(found.keys[q * K + i] % 97, 0);
    }
    allowed.count = 3;
    find(f, &opts, &found);
    assert_int_equal(found.counts[0], 3);
}

static void more_than_there_is_gives_all_there_is(void **state)
{
    struct fixture *f = *state;
    paua_search_opts opts = {.size = sizeof opts, .k = INT32_MAX};
    paua_hits *hits = NULL;

    fill(f, &vamana);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(f->c, query(f, 0), 1, 0, &opts, hits, &test_err));
    assert_int_equal(paua_hits_count(hits, 0), ROWS);
    paua_hits_close(hits);
}

static void a_radius_bounds_what_is_found(void **state)
{
    struct fixture *f = *state;
    paua_search_opts opts = indexed;
    struct found found, all;

    fill(f, &vamana);
    opts.refine = true;
    find(f, &opts, &all);
    opts.has_radius = true;
    opts.radius = all.distances[4];
    find(f, &opts, &found);
    assert_int_equal(found.counts[0], 5);
    for (size_t q = 0; q < QUERIES; q++)
        for (size_t i = 0; i < found.counts[q]; i++)
            assert_true(found.distances[q * K + i] <= opts.radius);
}

static void a_zero_query_has_distance_one_to_everything(void **state)
{
    struct fixture *f = *state;
    struct test_schema schema = vamana;
    float zero[DIM] = {0};
    double distances[K];

    schema.metric = PAUA_COSINE;
    fill(f, &schema);
    assert_int_equal(test_search_u64(f->c, zero, K, NULL, distances), K);
    for (size_t i = 0; i < K; i++)
        assert_true(distances[i] == 1);
}

static void indexes_come_and_go_and_share_their_codes(void **state)
{
    struct fixture *f = *state;
    paua_index_params params = {.kind = PAUA_INDEX_VAMANA, .degree = 8, .list = 20, .alpha = 1.5F};
    paua_search_opts by_name = indexed;

    fill(f, &vamana);
    assert_int_equal(files_of(f, ".graph"), 1);
    assert_ok(paua_index_create(f->c, NULL, "small", &params, NULL, &test_err));
    assert_fails(paua_index_create(f->c, NULL, "small", &params, NULL, &test_err), PAUA_EEXISTS);
    assert_int_equal(list(f).count, 2);
    assert_int_equal(list(f).last.params.degree, 8);
    assert_int_equal(list(f).last.rows, ROWS);
    assert_int_equal(files_of(f, ".codes"), 1);
    assert_int_equal(files_of(f, ".graph"), 2);
    by_name.index = "small";
    assert_true(recall_now(f, &by_name) > .9);
    assert_ok(paua_index_drop(f->c, "vector", &test_err));
    assert_fails(paua_index_drop(f->c, "vector", &test_err), PAUA_ENOTFOUND);
    assert_int_equal(files_of(f, ".graph"), 1);
    assert_true(recall_now(f, &indexed) > .9);
    assert_ok(paua_index_drop(f->c, "small", &test_err));
    assert_int_equal(files_of(f, ".codes") + files_of(f, ".graph"), 0);
    assert_true(recall_now(f, &indexed) == 1);
    assert_int_equal(list(f).count, 0);
}

static void what_is_no_index_is_refused(void **state)
{
    struct fixture *f = *state;
    paua_index_params params = {.kind = PAUA_INDEX_VAMANA, .degree = 3};
    paua_search_opts by_name = indexed;
    paua_hits *hits = NULL;

    fill(f, &vamana);
    assert_fails(paua_index_create(f->c, NULL, "x", &params, NULL, &test_err), PAUA_EINVAL);
    params = (paua_index_params){.alpha = 3};
    assert_fails(paua_index_create(f->c, NULL, "x", &params, NULL, &test_err), PAUA_EINVAL);
    params = (paua_index_params){.kind = PAUA_INDEX_NONE};
    assert_fails(paua_index_create(f->c, NULL, "x", &params, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_index_create(f->c, "y", "x", NULL, NULL, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_index_create(f->c, NULL, "", NULL, NULL, &test_err), PAUA_EINVAL);
    by_name.index = "x";
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_fails(paua_search(f->c, query(f, 0), 1, 0, &by_name, hits, &test_err), PAUA_ENOTFOUND);
    paua_hits_close(hits);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_index_finds_nearly_what_an_exact_search_finds),
        TEST(refined_distances_are_exact),
        TEST(a_row_is_found_at_once_and_after_it_is_indexed),
        TEST(dead_rows_are_never_found_and_all_live_ones_can_be),
        TEST(only_allowed_keys_are_found),
        TEST(more_than_there_is_gives_all_there_is),
        TEST(a_radius_bounds_what_is_found),
        TEST(a_zero_query_has_distance_one_to_everything),
        TEST(indexes_come_and_go_and_share_their_codes),
        TEST(what_is_no_index_is_refused),
    };

    return cmocka_run_group_tests_name("db/index", tests, NULL, NULL);
}
