/* test_index_inputs.c - the inputs on which indexes break elsewhere, through codes and graphs:
 * extreme values, duplicates, keys used again, deletions, any k, the smallest and widest shapes. */
#include "support/support.h"

#include <math.h>

#define DIM 12u
#define ROWS 1100u
#define SPECIALS 5u

static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};

static struct test_schema schema_of(uint32_t dim, paua_metric metric, paua_precision precision,
                                    paua_index_kind kind)
{
    return (struct test_schema){.dim = dim,
                                .metric = metric,
                                .document = PAUA_DOCUMENT_NONE,
                                .precision = precision,
                                .index = {.kind = kind, .degree = 16, .list = 40}};
}

static float *floats_new(size_t n, uint64_t seed)
{
    float *values = malloc(n * sizeof values[0]);

    assert_non_null(values);
    test_random_floats(&seed, values, n);
    return values;
}

struct answer {
    uint64_t keys[ROWS + 8];
    double distances[ROWS + 8];
    size_t count;
};

/* Searches one query; every answer is finite, in order, and names each key once. */
static void ask(paua_collection *c, const float *query, const paua_search_opts *opts,
                struct answer *answer)
{
    paua_hits *hits = NULL;
    static uint8_t seen[8192];

    memset(seen, 0, sizeof seen);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, query, 1, 0, opts, hits, &test_err));
    answer->count = paua_hits_count(hits, 0);
    for (size_t i = 0; i < answer->count; i++) {
        paua_hit hit = paua_hits_at(hits, 0, i);

        assert_true(isfinite(hit.distance));
        assert_true(hit.key.u64 < sizeof seen && seen[hit.key.u64]++ == 0);
        if (i >= sizeof answer->keys / sizeof answer->keys[0]) continue;
        answer->keys[i] = hit.key.u64;
        answer->distances[i] = hit.distance;
        if (i > 0) assert_true(hit.distance >= answer->distances[i - 1]);
    }
    paua_hits_close(hits);
}

/* ROWS random rows that halves hold, of which the first are at the edges of what a float holds. */
static float *specials_new(float huge, float tiny, float least)
{
    float *data = floats_new(ROWS * DIM, 11);

    for (size_t i = 0; i < (size_t)ROWS * DIM; i++)
        data[i] = test_half(data[i]);
    for (size_t j = 0; j < DIM; j++) {
        data[j] = 0;
        data[DIM + j] = tiny;
        data[2 * DIM + j] = huge;
        data[3 * DIM + j] = j == 0 ? -huge : 1;
        data[4 * DIM + j] = j == 0 ? least : 0;
    }
    return data;
}

static void expect_finite(paua_collection *c, const float *data, paua_metric metric, bool refine)
{
    paua_search_opts opts = {.size = sizeof opts, .k = 10, .refine = refine};
    static struct answer answer;

    for (size_t q = 0; q < SPECIALS + 2; q++) {
        const float *query = data + q * DIM;

        opts.k = 10;
        ask(c, query, &opts, &answer);
        assert_int_equal(answer.count, 10);
        if (q >= SPECIALS && metric == PAUA_COSINE) assert_true(answer.keys[0] != 0);
        for (size_t i = 0; refine && i < 10; i++) {
            double want = test_distance(metric, query, data + answer.keys[i] * DIM, DIM);

            assert_true(fabs(answer.distances[i] - want) <= 1e-5 * fabs(want) + 1e-5);
        }
        opts.k = ROWS + 5;
        ask(c, query, &opts, &answer);
        assert_int_equal(answer.count, ROWS);
        if (metric == PAUA_COSINE && q == SPECIALS) /* a zero vector is 1 from any other */
            for (size_t i = 0; refine && i < ROWS; i++)
                if (answer.keys[i] == 0) assert_true(answer.distances[i] == 1);
    }
}

static void extreme_values_are_found_at_finite_distances(void **state)
{
    (void)state;
    for (int precision = PAUA_FP32; precision <= PAUA_INT2; precision++)
        for (size_t m = 0; m < 3; m++)
            for (int kind = PAUA_INDEX_VAMANA; kind <= PAUA_INDEX_FLAT; kind++) {
                struct test_schema schema =
                    schema_of(DIM, metrics[m], (paua_precision)precision, (paua_index_kind)kind);
                float *data;
                paua_collection *c;
                paua_db *db;

                if (test_sampled() && (precision + (int)m + kind) % 3 != 0) continue;
                data = precision == PAUA_FP16 ? specials_new(65504, 0x1p-20F, 0x1p-24F)
                                              : specials_new(3e38F, 1e-30F, 0x1p-149F);
                db = test_open_memory();
                c = test_create(db, "c", &schema);
                test_insert_u64(c, 0, ROWS, data);
                assert_ok(paua_optimize(c, NULL, &test_err));
                expect_finite(c, data, metrics[m], false);
                expect_finite(c, data, metrics[m], true);
                paua_collection_close(c);
                paua_close(db);
                free(data);
            }
}

static void queries_that_are_not_finite_are_refused(void **state)
{
    struct test_schema schema = schema_of(DIM, PAUA_COSINE, PAUA_INT4, PAUA_INDEX_VAMANA);
    paua_search_opts opts = {.size = sizeof opts, .k = 3};
    float *data = floats_new(ROWS * DIM, 12), wrong[DIM] = {1, 2, 3, 4, 5, 6, 7, NAN};
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", &schema);
    paua_hits *hits = NULL;

    (void)state;
    test_insert_u64(c, 0, ROWS, data);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_fails(paua_search(c, wrong, 1, 0, &opts, hits, &test_err), PAUA_EINVAL);
    assert_non_null(strstr(test_err.message, "component 7"));
    wrong[7] = -INFINITY;
    assert_fails(paua_search(c, wrong, 1, 0, &opts, hits, &test_err), PAUA_EINVAL);
    paua_hits_close(hits);
    paua_collection_close(c);
    paua_close(db);
    free(data);
}

/* 5,000 copies of row 0, then 50 others that lie near each other. */
static float *copies_new(void)
{
    float *data = floats_new((size_t)5050 * DIM, 13);

    for (size_t i = 1; i < 5000; i++)
        memcpy(data + i * DIM, data, DIM * sizeof data[0]);
    for (size_t i = (size_t)5000 * DIM; i < (size_t)5050 * DIM; i++)
        data[i] = 10 + 2 * data[i];
    return data;
}

static void thousands_of_copies_hide_no_other_row(void **state)
{
    static const paua_precision precisions[] = {PAUA_FP32, PAUA_INT8, PAUA_INT2};
    paua_search_opts opts = {.size = sizeof opts, .refine = true};
    float *data = copies_new();
    static struct answer answer;

    (void)state;
    for (size_t p = test_sampled() ? 2 : 0; p < 3; p++) {
        struct test_schema schema = schema_of(DIM, PAUA_L2, precisions[p], PAUA_INDEX_VAMANA);
        paua_db *db = test_open_memory();
        paua_collection *c = test_create(db, "c", &schema);

        schema.index.degree = 64;
        test_insert_u64(c, 0, 5050, data);
        assert_ok(paua_optimize(c, NULL, &test_err));
        opts.k = 100;
        ask(c, data, &opts, &answer);
        assert_int_equal(answer.count, 100);
        for (size_t i = 0; i < 100; i++)
            assert_true(answer.keys[i] < 5000 && answer.distances[i] == 0);
        opts.k = 60;
        for (size_t q = 5000; q < 5050; q++) {
            ask(c, data + q * DIM, &opts, &answer);
            assert_int_equal(answer.count, 60);
            assert_int_equal(answer.keys[0], q);
            for (size_t i = 0; i < 50; i++)
                assert_true(answer.keys[i] >= 5000);
        }
        paua_collection_close(c);
        paua_close(db);
    }
    free(data);
}

/* Each of the first keys is the nearest to its own vector, and no old vector answers. */
static void expect_own(paua_collection *c, const float *data, size_t shift)
{
    paua_search_opts opts = {.size = sizeof opts, .k = 2};
    static struct answer answer;

    assert_int_equal(test_count(c), ROWS);
    for (size_t i = 0; i < 60; i++) {
        ask(c, data + (i + shift) % 60 * DIM, &opts, &answer);
        assert_int_equal(answer.keys[0], i);
        assert_true(answer.distances[0] < answer.distances[1]);
    }
}

/* Keys 0 .. 59 are deleted, those of likely entry points with them, and given other vectors. */
static void rotate(paua_collection *c, const float *data, size_t shift)
{
    uint64_t keys[60];
    float *moved = malloc((size_t)60 * DIM * sizeof moved[0]);
    paua_keys gone = test_u64(keys, 60);

    assert_non_null(moved);
    for (size_t i = 0; i < 60; i++) {
        keys[i] = (i * 7 + 1) % 60;
        memcpy(moved + i * DIM, data + (i + shift) % 60 * DIM, DIM * sizeof moved[0]);
    }
    assert_ok(paua_delete(c, &gone, NULL, NULL, &test_err));
    test_insert_u64(c, 0, 60, moved);
    memset(moved, 0xff, (size_t)60 * DIM * sizeof moved[0]); /* the caller's own again */
    free(moved);
}

static void keys_that_are_used_again_answer_with_their_new_vectors(void **state)
{
    struct test_schema schema = schema_of(DIM, PAUA_L2, PAUA_INT8, PAUA_INDEX_VAMANA);
    float *data = floats_new((size_t)ROWS * DIM, 14);
    struct test_dir dir;
    paua_collection *c;
    paua_db *db;

    (void)state;
    for (size_t i = 0; i < (size_t)60 * DIM; i++) /* about the middle, where entry points are */
        data[i] /= 3;
    test_dir_make(&dir);
    db = test_open(&dir);
    c = test_create(db, "c", &schema);
    test_insert_u64(c, 0, ROWS, data);
    assert_ok(paua_optimize(c, NULL, &test_err));
    for (size_t round = 1; round <= 20; round++) {
        rotate(c, data, round);
        expect_own(c, data, round);
        if (round % 5 == 0) assert_ok(paua_optimize(c, NULL, &test_err));
        if (round % 4 == 0) {
            paua_collection_close(c);
            paua_close(db);
            db = test_open(&dir);
            assert_ok(paua_collection_open(db, "c", &c, &test_err));
            test_validate(c);
        }
        expect_own(c, data, round);
    }
    paua_collection_close(c);
    paua_close(db);
    test_dir_remove(&dir);
    free(data);
}

/* k = 100 of those of 2,000 rows that are a multiple of `step`. */
static void expect_left(paua_collection *c, const float *data, size_t step)
{
    paua_search_opts opts = {.size = sizeof opts, .k = 100, .refine = true}, exact = opts;
    size_t live = (2000 + step - 1) / step;
    static struct answer answer, truth;

    exact.exact = true;
    for (size_t q = 0; q < 20; q++) {
        ask(c, data + q * DIM, &opts, &answer);
        ask(c, data + q * DIM, &exact, &truth);
        assert_int_equal(answer.count, live < 100 ? live : 100);
        for (size_t i = 0; i < answer.count; i++)
            assert_int_equal(answer.keys[i] % step, 0);
        if (live <= 100) assert_memory_equal(answer.keys, truth.keys, live * sizeof answer.keys[0]);
    }
}

static void of_mostly_deleted_rows_exactly_the_live_ones_are_found(void **state)
{
    static const size_t steps[] = {2000, 50, 3};
    float *data = floats_new((size_t)2000 * DIM, 15);

    (void)state;
    for (size_t s = 0; s < 3; s++) {
        struct test_schema schema = schema_of(DIM, PAUA_L2, PAUA_INT4, PAUA_INDEX_VAMANA);
        paua_stats before = {.size = sizeof before}, after = before;
        paua_db *db = test_open_memory();
        paua_collection *c = test_create(db, "c", &schema);

        test_insert_u64(c, 0, 2000, data);
        assert_ok(paua_optimize(c, NULL, &test_err));
        assert_ok(paua_collection_stats(c, &before, &test_err));
        for (uint64_t key = 0; key < 2000; key++)
            if (key % steps[s] != 0) test_delete_u64(c, key);
        expect_left(c, data, steps[s]);
        assert_ok(paua_optimize(c, NULL, &test_err));
        expect_left(c, data, steps[s]);
        assert_ok(paua_collection_stats(c, &after, &test_err));
        assert_true(after.code_nbytes == 0 && after.graph_nbytes == 0); /* 1,000 rows or fewer */
        assert_true(after.vector_nbytes < before.vector_nbytes);
        paua_collection_close(c);
        paua_close(db);
    }
    free(data);
}

static void any_k_gives_as_many_as_there_are(void **state)
{
    static const uint32_t ks[] = {1, 2, ROWS - 1, ROWS, ROWS + 1, INT32_MAX};
    paua_search_opts opts = {.size = sizeof opts};
    float *data = floats_new(ROWS * DIM, 16);
    paua_hits *hits = NULL;
    static struct answer answer;

    (void)state;
    assert_ok(paua_hits_open(&hits, &test_err));
    for (int kind = PAUA_INDEX_VAMANA; kind <= PAUA_INDEX_FLAT; kind++) {
        struct test_schema schema = schema_of(DIM, PAUA_IP, PAUA_FP32, (paua_index_kind)kind);
        paua_db *db = test_open_memory();
        paua_collection *c = test_create(db, "c", &schema);

        test_insert_u64(c, 0, ROWS, data);
        assert_ok(paua_optimize(c, NULL, &test_err));
        for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            opts.k = ks[i];
            ask(c, data, &opts, &answer);
            assert_int_equal(answer.count, ks[i] < ROWS ? ks[i] : ROWS);
        }
        opts.k = 0;
        assert_fails(paua_search(c, data, 1, 0, &opts, hits, &test_err), PAUA_EINVAL);
        opts.k = UINT32_C(1) << 31;
        assert_fails(paua_search(c, data, 1, 0, &opts, hits, &test_err), PAUA_EINVAL);
        opts.k = 1;
        opts.ef = UINT32_MAX;
        if (paua_search(c, data, 1, 0, &opts, hits, NULL) == PAUA_OK)
            assert_int_equal(paua_hits_count(hits, 0), 1);
        opts.ef = 0;
        paua_collection_close(c);
        paua_close(db);
    }
    paua_hits_close(hits);
    free(data);
}

static void shape_works(uint32_t dim, uint32_t n, paua_precision precision, paua_metric metric)
{
    struct test_schema schema = schema_of(dim, metric, precision, PAUA_INDEX_VAMANA);
    paua_search_opts opts = {.size = sizeof opts, .k = 5, .refine = true};
    float *data = floats_new((size_t)n * dim, dim);
    paua_stats stats = {.size = sizeof stats};
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", &schema);
    static struct answer answer;

    test_insert_u64(c, 0, n, data);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_ok(paua_collection_stats(c, &stats, &test_err));
    assert_int_equal(stats.code_nbytes > 0, n > PAUA_INDEX_ROWS_MIN);
    for (uint32_t q = 0; q < n; q += 97) {
        ask(c, data + (size_t)q * dim, &opts, &answer);
        assert_int_equal(answer.count, n < 5 ? n : 5);
        if (metric == PAUA_L2 && dim > 2) assert_int_equal(answer.keys[0], q);
    }
    paua_collection_close(c);
    paua_close(db);
    free(data);
}

static void every_dimension_is_indexed(void **state)
{
    static const uint32_t dims[] = {1, 2, 3, 63, 64, 65};

    (void)state;
    for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++)
        for (size_t precision = PAUA_FP32; precision <= PAUA_INT2; precision++)
            if (!test_sampled() || (d + precision) % 2 == 0)
                shape_works(dims[d], 1001, (paua_precision)precision, metrics[(d + precision) % 3]);
    shape_works(768, 1001, PAUA_INT2, PAUA_L2);
}

static void wide_vectors_and_few_rows_work(void **state)
{
    static const uint32_t dims[] = {2048, 2049, 20000};

    (void)state;
    for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++)
        for (uint32_t n = 1; n <= 50; n += 49)
            shape_works(dims[d], n, PAUA_INT4, PAUA_L2);
    shape_works(2049, 1001, PAUA_INT2, PAUA_L2); /* too wide for axes */
}

static void an_index_begins_beyond_a_thousand_rows(void **state)
{
    (void)state;
    for (int precision = PAUA_FP32; precision <= PAUA_INT2; precision++) {
        shape_works(DIM, 1000, (paua_precision)precision, PAUA_L2);
        shape_works(DIM, 1001, (paua_precision)precision, PAUA_L2);
    }
}

static void an_empty_collection_with_an_index_answers_with_nothing(void **state)
{
    struct test_schema schema = schema_of(DIM, PAUA_COSINE, PAUA_INT2, PAUA_INDEX_VAMANA);
    paua_search_opts opts = {.size = sizeof opts, .k = 5};
    static const float query[DIM] = {1};
    struct test_dir dir;
    static struct answer answer;
    paua_collection *c;
    paua_db *db;

    (void)state;
    test_dir_make(&dir);
    db = test_open(&dir);
    c = test_create(db, "c", &schema);
    for (int round = 0; round < 3; round++) {
        ask(c, query, &opts, &answer);
        assert_int_equal(answer.count, 0);
        assert_ok(paua_optimize(c, NULL, &test_err));
        test_validate(c);
        paua_collection_close(c);
        paua_close(db);
        db = test_open(&dir);
        assert_ok(paua_collection_open(db, "c", &c, &test_err));
    }
    paua_collection_close(c);
    paua_close(db);
    test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extreme_values_are_found_at_finite_distances),
        cmocka_unit_test(queries_that_are_not_finite_are_refused),
        cmocka_unit_test(thousands_of_copies_hide_no_other_row),
        cmocka_unit_test(keys_that_are_used_again_answer_with_their_new_vectors),
        cmocka_unit_test(of_mostly_deleted_rows_exactly_the_live_ones_are_found),
        cmocka_unit_test(any_k_gives_as_many_as_there_are),
        cmocka_unit_test(every_dimension_is_indexed),
        cmocka_unit_test(wide_vectors_and_few_rows_work),
        cmocka_unit_test(an_index_begins_beyond_a_thousand_rows),
        cmocka_unit_test(an_empty_collection_with_an_index_answers_with_nothing),
    };

    return cmocka_run_group_tests_name("db/index_inputs", tests, NULL, NULL);
}
