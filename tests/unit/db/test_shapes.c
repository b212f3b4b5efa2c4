/* test_shapes.c - dimensions from 1 to the limit, strides, empty collections, one row (T12). */
#include "support/support.h"

#include <math.h>

static const uint32_t dims[] = {1, 2, 3, 63, 64, 65, 768, 20000, 65535};
#define ROWS 5u

static void check(const struct test_schema *schema)
{
    size_t stride = schema->dim + 3;
    float *data = malloc((ROWS + 1) * stride * sizeof data[0]);
    float *back = malloc(schema->dim * sizeof back[0]);
    uint64_t keys[ROWS] = {0, 1, 2, 3, 4}, found[ROWS], seed = schema->dim;
    paua_vectors v = {data, stride};
    paua_rows rows = test_rows(test_u64(keys, ROWS), &v, NULL);
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", schema);
    double distances[ROWS];

    assert_true(data != NULL && back != NULL);
    test_random_floats(&seed, data, (ROWS + 1) * stride);
    for (size_t i = 0; i < (ROWS + 1) * stride && schema->precision == PAUA_FP16; i++)
        data[i] = test_half(data[i]);
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
    for (int sealed = 0; sealed < 2; sealed++) {
        for (uint32_t row = 0; row < ROWS; row++) {
            assert_true(test_fetch_u64(c, row, back));
            assert_memory_equal(back, data + row * stride, schema->dim * sizeof back[0]);
            assert_int_equal(test_search_u64(c, back, ROWS, found, distances), ROWS);
            if (schema->dim > 1) assert_int_equal(found[0], row);
            assert_true(distances[0] == 0);
            for (size_t i = 0; i < ROWS; i++)
                assert_true(fabs(distances[i] -
                                 test_distance(schema->metric, back, data + found[i] * stride,
                                               schema->dim)) <= 1e-5 * (schema->dim + 1));
        }
        assert_ok(paua_optimize(c, NULL, &test_err));
    }
    paua_collection_close(c);
    paua_close(db);
    free(data);
    free(back);
}

static void every_dimension_up_to_the_limit_works(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++)
        for (int precision = PAUA_FP32; precision <= PAUA_FP16; precision++)
            for (int metric = PAUA_L2; metric <= PAUA_COSINE; metric += 2)
                check(&(struct test_schema){.dim = dims[d],
                                            .metric = (paua_metric)metric,
                                            .precision = (paua_precision)precision});
}

static void the_widest_vector_is_a_key_too(void **state)
{
    struct test_schema schema = {
        .key_kind = PAUA_KEY_VECTOR, .dim = PAUA_DIM_MAX, .metric = PAUA_L2};
    float *data = calloc(2 * PAUA_DIM_MAX, sizeof data[0]);
    paua_vectors v = {data, 0};
    paua_rows rows = test_rows((paua_keys){.count = 2}, &v, NULL);
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", &schema);

    (void)state;
    assert_non_null(data);
    data[2 * PAUA_DIM_MAX - 1] = 1;
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
    assert_fails(paua_insert(c, &rows, NULL, NULL, &test_err), PAUA_EPARTIAL);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_fails(paua_insert(c, &rows, NULL, NULL, &test_err), PAUA_EPARTIAL);
    test_validate(c);
    paua_collection_close(c);
    paua_close(db);
    free(data);
}

static void expect_empty(paua_collection *c)
{
    float query[3] = {1, 2, 3};
    const paua_record *record;
    paua_cursor *cursor;
    paua_stats stats = {.size = sizeof stats};

    assert_int_equal(test_search_u64(c, query, 10, NULL, NULL), 0);
    assert_ok(paua_iterate(c, NULL, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_null(record);
    assert_ok(paua_cursor_next(cursor, &record, &test_err)); /* and again */
    assert_null(record);
    paua_cursor_close(cursor);
    assert_false(test_fetch_u64(c, 0, NULL));
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_ok(paua_collection_stats(c, &stats, &test_err));
    assert_true(stats.rows == 0 && stats.deleted == 0 && stats.segments == 0);
    test_validate(c);
}

static void an_empty_collection_answers_with_nothing(void **state)
{
    struct test_schema schema = {.dim = 3};
    float row[3] = {1, 0, 0};
    struct test_dir dir;
    paua_collection *c;
    paua_db *db;

    (void)state;
    test_dir_make(&dir);
    db = test_open(&dir);
    c = test_create(db, "c", &schema);
    for (int round = 0; round < 3; round++) {
        expect_empty(c);
        paua_collection_close(c);
        paua_close(db);
        db = test_open(&dir);
        assert_ok(paua_collection_open(db, "c", &c, &test_err));
        expect_empty(c);
        test_insert_u64(c, 1, 1, row); /* and one that became empty again */
        if (round == 1) assert_ok(paua_optimize(c, NULL, &test_err));
        test_delete_u64(c, 1);
        assert_ok(paua_optimize(c, NULL, &test_err));
    }
    assert_ok(paua_check(dir.path, NULL, &test_err));
    paua_collection_close(c);
    paua_close(db);
    test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dimension_up_to_the_limit_works),
        cmocka_unit_test(the_widest_vector_is_a_key_too),
        cmocka_unit_test(an_empty_collection_answers_with_nothing),
    };

    return cmocka_run_group_tests_name("db/shapes", tests, NULL, NULL);
}
