/* test_model_train.c - how models come about: the same for any number of threads, orthonormal,
 * whatever fails on the way; and what belongs to no single shape of data. */
#include "model_world.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "index/model_train.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_planes_equal(const struct plane_model *a, const struct plane_model *b)
{
    assert_int_equal(a->layout.field_count, b->layout.field_count);
    assert_int_equal(a->layout.nbytes, b->layout.nbytes);
    assert_memory_equal(a->layout.fields, b->layout.fields,
                        a->layout.field_count * sizeof(struct code_field));
    assert_memory_equal(a->sigma, b->sigma, a->layout.field_count * sizeof(float));
}

static void assert_worlds_equal(const struct world *a, const struct world *b)
{
    const struct model *m = &a->model, *n = &b->model;
    size_t rows = a->shape.rows, matrix = (size_t)m->matrix_rows * m->stride;

    assert_planes_equal(&m->walk, &n->walk);
    assert_planes_equal(&m->refine, &n->refine);
    assert_memory_equal(m->mean, n->mean, m->dim * sizeof(float));
    assert_memory_equal(m->rotated_mean, n->rotated_mean, m->segments * m->lane * sizeof(float));
    if (m->trained) {
        assert_memory_equal(m->matrix_s8, n->matrix_s8, matrix);
        assert_memory_equal(m->matrix_scale, n->matrix_scale, m->matrix_rows * sizeof(float));
    }
    assert_memory_equal(a->walk, b->walk, rows * m->walk.layout.nbytes);
    assert_memory_equal(a->walk_factors, b->walk_factors, rows * CODE_FACTORS * sizeof(float));
    assert_memory_equal(a->refine, b->refine, rows * m->refine.layout.nbytes);
    assert_memory_equal(a->refine_factors, b->refine_factors, rows * CODE_FACTORS * sizeof(float));
}

static void threads_change_nothing(void **state)
{
    static const struct shape shapes[] = {
        {100, 3000, PAUA_COSINE, PAUA_INT4, DATA_FALLING, 0},
        {300, 900, PAUA_L2, PAUA_INT8, DATA_FALLING, 0},
        {2100, 400, PAUA_IP, PAUA_INT2, DATA_FLAT, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct world one, four;

        world_make(&one, &shapes[i], 1);
        world_make(&four, &shapes[i], 4);
        assert_worlds_equal(&one, &four);
        world_free(&one);
        world_free(&four);
    }
}

static void a_row_alone_gets_the_codes_it_gets_among_others(void **state)
{
    static const struct shape shapes[] = {
        {100, 70, PAUA_COSINE, PAUA_INT8, DATA_FALLING, 0},
        {2100, 40, PAUA_L2, PAUA_INT4, DATA_FLAT, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        float walk_factors[CODE_FACTORS], refine_factors[CODE_FACTORS];
        uint8_t *walk, *refine;
        struct world w;

        world_make(&w, &shapes[i], 2);
        walk = malloc(w.model.walk.layout.nbytes);
        refine = malloc(w.model.refine.layout.nbytes);
        for (uint32_t r = 0; r < shapes[i].rows; r++) {
            model_encode(&w.model, w.rows + (size_t)r * w.model.dim, 1, &w.scratch, walk,
                         walk_factors, refine, refine_factors);
            assert_memory_equal(walk, w.walk + (size_t)r * w.model.walk.layout.nbytes,
                                w.model.walk.layout.nbytes);
            assert_memory_equal(refine, w.refine + (size_t)r * w.model.refine.layout.nbytes,
                                w.model.refine.layout.nbytes);
            assert_memory_equal(walk_factors, w.walk_factors + 4 * r, sizeof walk_factors);
            if (w.model.refine.layout.nbytes == 0) continue;
            assert_memory_equal(refine_factors, w.refine_factors + 4 * r, sizeof refine_factors);
        }
        free(walk);
        free(refine);
        world_free(&w);
    }
}

/* What rows are multiplied by against what queries are, and the latter among itself. */
static void check_matrices(const struct model *m, uint32_t i, uint32_t k)
{
    double dual = 0, among = 0;

    for (uint32_t j = 0; j < m->stride; j++) {
        double narrow = (double)m->matrix_scale[k] * m->matrix_s8[(size_t)k * m->stride + j];

        dual += m->matrix[(size_t)i * m->stride + j] * narrow;
        among += narrow * m->matrix_scale[i] * m->matrix_s8[(size_t)i * m->stride + j];
    }
    assert_true(fabs(dual - (i == k)) < 2e-3);
    assert_true(fabs(among - (i == k)) < 0.02);
}

static void rows_of_the_matrix_are_about_orthonormal_and_its_dual_makes_up_for_that(void **state)
{
    static const uint32_t dims[] = {1, 2, 3, 20, 67, 130, 300};

    (void)state;
    for (size_t d = 0; d < COUNT(dims); d++)
        for (int data = 0; data < DATA_COUNT; data++) {
            struct shape shape = {dims[d], 50, PAUA_L2, PAUA_INT8, (enum data)data, 0};
            struct world w;

            world_make(&w, &shape, 2);
            for (uint32_t i = 0; i < w.model.matrix_rows; i++)
                for (uint32_t k = 0; k < w.model.matrix_rows; k++)
                    check_matrices(&w.model, i, k);
            world_free(&w);
        }
}

static void a_random_rotation_keeps_lengths_and_can_be_undone(void **state)
{
    static const uint32_t dims[] = {1, 2, 3, 100, 2049, 4096, 65535};

    (void)state;
    for (size_t d = 0; d < COUNT(dims); d++) {
        size_t n = dims[d];
        float *x = malloc(3 * n * sizeof *x), *back = x + n, *room = x + 2 * n;
        double before = 0, after = 0, greatest = 0;

        memset(x, 0, n * sizeof *x);
        x[n / 3] = 3;
        x[n - 1] = -4;
        memcpy(back, x, n * sizeof *x);
        rotation_apply(7, dims[d], x, room);
        for (size_t j = 0; j < n; j++) {
            before += (double)back[j] * back[j];
            after += (double)x[j] * x[j];
            greatest = fmax(greatest, fabs(x[j]));
        }
        assert_true(fabs(after - before) < 1e-4 * before);
        if (n > 100) assert_true(greatest < 40 / sqrt((double)n)); /* spread over all */
        rotation_undo(7, dims[d], x, room);
        for (size_t j = 0; j < n; j++)
            assert_true(fabsf(x[j] - back[j]) < 1e-4f);
        free(x);
    }
}

static void rows_as_queries_are_as_near_as_what_their_codes_stand_for(void **state)
{
    static const struct shape shapes[] = {
        {100, 200, PAUA_COSINE, PAUA_INT4, DATA_FALLING, 0},
        {40, 200, PAUA_IP, PAUA_INT4, DATA_FALLING, 0},
        {300, 200, PAUA_L2, PAUA_INT2, DATA_FALLING, 0},
        {2100, 60, PAUA_L2, PAUA_INT2, DATA_FLAT, 0},
    };

    (void)state;
    for (size_t s = 0; s < COUNT(shapes); s++) {
        struct prune_lut lut;
        struct code_query query;
        struct world w;
        int8_t *room;
        float *from;

        world_make(&w, &shapes[s], 2);
        room = mem_aligned(64, w.model.walk.layout.field_count * 16u);
        from = malloc(w.model.dim * sizeof *from);
        model_prune_lut(&w.model, &lut, room);
        struct code_plane plane = {w.model.walk.layout, w.walk, w.walk_factors};
        for (uint32_t q = 0; q < 20; q++) {
            const uint8_t *codes = w.walk + (size_t)q * plane.layout.nbytes;
            double aux = w.walk_factors[q * CODE_FACTORS + CODE_GROUPS];

            model_query_row(&w.model, &plane, &lut, q, w.values, &query);
            code_kernels_best()->distances(&plane, &query, NULL, 0, w.shape.rows, w.distances);
            model_decode(&w.model, codes, w.walk_factors + q * CODE_FACTORS, NULL, NULL, &w.scratch,
                         from);
            for (uint32_t i = 0; i < w.shape.rows; i++) {
                const float *factors = w.walk_factors + i * CODE_FACTORS;
                double sum = 0, squares[2] = {0}, wanted;

                model_decode(&w.model, w.walk + (size_t)i * plane.layout.nbytes, factors, NULL,
                             NULL, &w.scratch, w.decoded);
                for (uint32_t j = 0; j < w.model.dim; j++) {
                    double a = (double)from[j] - w.model.mean[j];
                    double b = (double)w.decoded[j] - w.model.mean[j];

                    sum += a * b;
                    squares[0] += a * a;
                    squares[1] += b * b;
                }
                wanted = w.model.constant + aux + (double)factors[CODE_GROUPS] - 2 * sum;
                assert_true(fabs(w.distances[i] - wanted) <
                            0.08 * sqrt(squares[0] * squares[1]) + 1e-4);
            }
        }
        free(from);
        mem_free(room);
        world_free(&w);
    }
}

static void long_vectors_are_rotated_at_random_in_even_widths(void **state)
{
    static const paua_precision precisions[] = {PAUA_INT2, PAUA_INT4, PAUA_INT8};
    static const double errors[] = {0.2, 0.03, 0.002};
    static float query[5000];
    uint64_t seed = 3;

    (void)state;
    for (size_t p = 0; p < COUNT(precisions); p++) {
        struct shape shape = {5000, 60, PAUA_L2, precisions[p], DATA_FLAT, 0};
        struct world w;

        world_make(&w, &shape, 2);
        assert_false(w.model.trained);
        assert_true(w.model.matrix_rows == 0 && w.model.matrix_s8 == NULL);
        assert_true(w.model.refine_error < errors[p]);
        test_random_floats(&seed, query, shape.dim);
        world_refine(&w, query);
        for (uint32_t i = 0; i < shape.rows; i++) { /* six deviations */
            double most = 6 * sqrt(w.model.refine_error / shape.dim) + 1e-3;
            double error = fabs(w.distances[i] - world_exact(&w, query, i));

            assert_true(error < most * world_unit(&w, query, i));
        }
        world_free(&w);
    }
}

static void variance_in_few_dimensions_gets_the_bits(void **state)
{
    struct shape shape = {256, 500, PAUA_L2, PAUA_INT4, DATA_FALLING, 0};
    struct world w;

    (void)state;
    world_make(&w, &shape, 2);
    assert_true(w.model.walk.layout.nbytes < 128);
    assert_int_equal(w.model.walk.layout.fields[0].segment, 0);
    assert_int_equal(w.model.walk.layout.fields[0].width, 4);
    assert_true(w.model.walk_rows < 256);
    world_free(&w);
}

static void a_walk_plane_of_alike_dimensions_is_larger(void **state)
{
    struct shape falling = {256, 4000, PAUA_L2, PAUA_INT8, DATA_FALLING, 0}, flat = falling;
    struct world few, many;

    (void)state;
    flat.data = DATA_FLAT;
    world_make(&few, &falling, 2);
    world_make(&many, &flat, 2);
    assert_true(few.model.walk.layout.nbytes < many.model.walk.layout.nbytes);
    world_free(&few);
    world_free(&many);
}

/* ---- failures ---- */

struct failing {
    const float *rows;
    uint32_t dim, from;
};

static paua_status failing_rows(void *arg, uint32_t first, uint32_t n, float *to, paua_error *err)
{
    const struct failing *f = arg;

    if (first + n > f->from) {
        *err = (paua_error){.status = PAUA_EIO};
        snprintf(err->message, sizeof err->message, "row %u is gone", f->from);
        return PAUA_EIO;
    }
    memcpy(to, f->rows + (size_t)first * f->dim, (size_t)n * f->dim * sizeof *to);
    return PAUA_OK;
}

static const struct shape small = {70, 600, PAUA_COSINE, PAUA_INT8, DATA_FALLING, 0};

static struct model_source source_of(struct failing *failing)
{
    return (struct model_source){.rows = failing_rows,
                                 .arg = failing,
                                 .count = small.rows,
                                 .dim = small.dim,
                                 .metric = small.metric,
                                 .precision = small.precision,
                                 .threads = 2};
}

static void what_a_source_says_when_it_fails_is_passed_on(void **state)
{
    struct failing failing = {world_rows(&small), small.dim, 555};
    struct model_source source = source_of(&failing);
    struct model model;

    (void)state;
    assert_fails(model_train(&source, &model, &test_err), PAUA_EIO);
    assert_string_equal(test_err.message, "row 555 is gone");
    model_free(&model);
    free((void *)(uintptr_t)failing.rows);
}

static void a_canceled_training_says_so(void **state)
{
    struct failing failing = {world_rows(&small), small.dim, small.rows};
    struct model_source source = source_of(&failing);
    paua_cancel cancel = {0};
    struct model model;

    (void)state;
    source.cancel = &cancel;
    paua_cancel_request(&cancel);
    assert_fails(model_train(&source, &model, &test_err), PAUA_ECANCELED);
    model_free(&model);
    free((void *)(uintptr_t)failing.rows);
}

static void training_without_memory_fails_and_leaves_nothing(void **state)
{
    struct failing failing = {world_rows(&small), small.dim, small.rows};
    struct model_source source = source_of(&failing);
    paua_status last = PAUA_ENOMEM;

    (void)state;
    source.threads = 1;
    for (uint64_t n = 1; last != PAUA_OK; n += 1 + n / 8) {
        struct model_scratch scratch;
        struct model model;

        assert_true(n < 100000);
        mem_fail_after(n);
        last = model_train(&source, &model, &test_err);
        if (last == PAUA_OK && model_scratch_init(&scratch, &model)) model_scratch_free(&scratch);
        mem_fail_after(0);
        assert_true(last == PAUA_OK || last == PAUA_ENOMEM);
        model_free(&model);
    }
    free((void *)(uintptr_t)failing.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_row_alone_gets_the_codes_it_gets_among_others),
        cmocka_unit_test(rows_of_the_matrix_are_about_orthonormal_and_its_dual_makes_up_for_that),
        cmocka_unit_test(a_random_rotation_keeps_lengths_and_can_be_undone),
        cmocka_unit_test(rows_as_queries_are_as_near_as_what_their_codes_stand_for),
        cmocka_unit_test(long_vectors_are_rotated_at_random_in_even_widths),
        cmocka_unit_test(variance_in_few_dimensions_gets_the_bits),
        cmocka_unit_test(a_walk_plane_of_alike_dimensions_is_larger),
        cmocka_unit_test(what_a_source_says_when_it_fails_is_passed_on),
        cmocka_unit_test(a_canceled_training_says_so),
        cmocka_unit_test(training_without_memory_fails_and_leaves_nothing),
    };

    return cmocka_run_group_tests_name("index/model_train", tests, NULL, NULL);
}
