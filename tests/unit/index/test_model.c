/* test_model.c - distances from codes against exact ones, for every shape of data that a segment
 * may hold. */
#include "model_world.h"

#include <math.h>

#include "index/model_private.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};
static const paua_precision precisions[] = {PAUA_FP32, PAUA_FP16, PAUA_INT8, PAUA_INT4, PAUA_INT2};

/* Every bound of a lane, both sides of the longest that is trained, and few rows. */
static const struct {
    uint32_t dim, rows;
} sizes[] = {
    {1, 300},  {2, 40},   {3, 200},   {7, 3},    {8, 1},    {9, 500},   {16, 2},   {63, 130},
    {64, 300}, {100, 64}, {127, 150}, {128, 90}, {255, 40}, {256, 300}, {300, 33},
};

/* Calls each for every size with every data, and for each with some metrics and precisions. */
static void shapes_each(void (*each)(const struct shape *shape))
{
    size_t taken = 0;

    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int data = 0; data < DATA_COUNT; data++)
            for (size_t k = 0; k < COUNT(metrics) * COUNT(precisions); k++) {
                struct shape shape = {sizes[i].dim,
                                      sizes[i].rows,
                                      metrics[k % COUNT(metrics)],
                                      precisions[k / COUNT(metrics)],
                                      (enum data)data,
                                      0};

                if ((k + (size_t)data + i) % (sizes[i].dim > 16 ? 11 : 3) != 0) continue;
                if (test_sampled() && taken++ % 2 != 0) continue;
                each(&shape);
            }
}

/* Fields of a plane share no bits, lie in its bytes, and go by segment and group. */
static void check_plane(const struct world *w, const struct plane_model *plane, uint32_t width_max)
{
    uint8_t *used = calloc(plane->layout.nbytes + 1u, 1);

    assert_int_equal(plane->layout.nbytes % w->model.lane, 0);
    for (uint32_t f = 0; f < plane->layout.field_count; f++) {
        const struct code_field *field = &plane->layout.fields[f];
        uint32_t bits = ((1u << field->width) - 1u) << field->shift;

        assert_true(field->width <= width_max && (field->width & (field->width - 1u)) == 0);
        assert_true(bits <= 0xff && field->offset % w->model.lane == 0);
        assert_true(field->offset < plane->layout.nbytes && field->segment < w->model.segments);
        assert_int_equal(used[field->offset] & bits, 0);
        used[field->offset] = (uint8_t)(used[field->offset] | bits);
        assert_true(plane->sigma[f] > 0 && isfinite(plane->sigma[f]));
        if (f == 0) continue;
        assert_true(field->segment >= field[-1].segment && field->group >= field[-1].group);
        assert_true(field->group <= field[-1].group + 1u);
    }
    free(used);
}

static void check_layout(const struct shape *shape)
{
    struct world w;
    uint32_t nbytes, matrix = 0, walk = 0;
    struct segment_cursor at = {0};

    world_make(&w, shape, 2);
    nbytes = w.model.walk.layout.nbytes + w.model.refine.layout.nbytes;
    if (nbytes > model_budget(shape->precision, shape->dim)) {
        shape_print(shape);
        fail_msg("%u bytes of %u", nbytes, model_budget(shape->precision, shape->dim));
    }
    check_plane(&w, &w.model.walk, 4);
    check_plane(&w, &w.model.refine, 8);
    assert_true(w.model.walk.layout.field_count > 0);
    while (segment_next(&w.model, &at)) {
        matrix += at.dims;
        if (at.segment <= w.model.walk.layout.fields[w.model.walk.layout.field_count - 1].segment)
            walk += at.dims;
    }
    assert_int_equal(w.model.matrix_rows, w.model.trained ? matrix : 0);
    assert_int_equal(w.model.walk_rows, w.model.trained ? walk : 0);
    world_free(&w);
}

static void planes_fit_the_budget_and_their_fields_do_not_overlap(void **state)
{
    (void)state;
    shapes_each(check_layout);
}

/* What the kernels say against what the codes stand for: only the query was rounded. */
static void check_query(struct world *w, const float *query)
{
    double rounding, refined;

    world_walk(w, query);
    rounding = 1e-5 * (1 + fabs(w->model.constant) + fabsf(w->distances[0]));
    for (uint32_t i = 0; i < w->shape.rows; i++) {
        double error = fabs(w->distances[i] - world_decoded(w, query, i, false));

        if (error <= 0.05 * world_unit(w, query, i) + rounding) continue;
        shape_print(&w->shape);
        fail_msg("row %u: walk %.9g, decoded %.9g", i, (double)w->distances[i],
                 world_decoded(w, query, i, false));
    }
    world_refine(w, query);
    refined = w->query.coarse ? 0.05 : 0.004;
    for (uint32_t i = 0; i < w->shape.rows; i++) {
        double error = fabs(w->distances[i] - world_decoded(w, query, i, true));

        if (error <= refined * world_unit(w, query, i) + rounding) continue;
        shape_print(&w->shape);
        fail_msg("row %u: refined %g, decoded %g", i, (double)w->distances[i],
                 world_decoded(w, query, i, true));
    }
}

static void check_decoded(const struct shape *shape)
{
    float query[300] = {0};
    uint64_t seed = 5;
    struct world w;

    world_make(&w, shape, 2);
    test_random_floats(&seed, query, shape->dim);
    check_query(&w, query);
    memcpy(query, w.rows, shape->dim * sizeof *query);
    check_query(&w, query);
    memset(query, 0, sizeof query);
    check_query(&w, query);
    world_free(&w);
}

static void distances_are_those_of_what_the_codes_stand_for(void **state)
{
    (void)state;
    shapes_each(check_decoded);
}

/* Root of the mean square error, and mean error, of D over rows and a few queries, in units. */
struct errors {
    double root, mean;
};

static struct errors errors_of(struct world *w, bool refined)
{
    float *query = malloc(w->shape.dim * sizeof *query);
    double squares = 0, sum = 0, units = 0;
    uint64_t seed = 11;
    uint32_t n = 0;

    for (uint32_t q = 0; q < 4; q++) {
        uint32_t near = test_random_below(&seed, w->shape.rows);

        test_random_floats(&seed, query, w->shape.dim);
        for (uint32_t j = 0; j < w->shape.dim; j++)
            query[j] += w->rows[(size_t)near * w->shape.dim + j];
        if (refined)
            world_refine(w, query);
        else
            world_walk(w, query);
        for (uint32_t i = 0; i < w->shape.rows; i++, n++) {
            double error = w->distances[i] - world_exact(w, query, i);

            squares += error * error;
            sum += error;
            units += world_unit(w, query, i) * world_unit(w, query, i);
        }
    }
    free(query);
    return (struct errors){sqrt(squares / units), sum / n / sqrt(units / n)};
}

static void estimates_have_no_bias_and_errors_fall_with_precision(void **state)
{
    static const paua_precision falling[] = {PAUA_INT2, PAUA_INT4, PAUA_INT8};
    static const uint32_t dims[] = {100, 300};

    (void)state;
    for (size_t d = 0; d < COUNT(dims); d++)
        for (size_t m = 0; m < COUNT(metrics); m++) {
            double before = 0.5;

            for (size_t p = 0; p < COUNT(falling); p++) {
                struct shape shape = {dims[d], 700, metrics[m], falling[p], DATA_FALLING, 0};
                struct errors walk, refined;
                struct world w;

                world_make(&w, &shape, 2);
                walk = errors_of(&w, false);
                refined = errors_of(&w, true);
                if (fabs(walk.mean) > 0.3 * walk.root || walk.root > 0.2 ||
                    refined.root > walk.root * 1.02 || refined.root > before * 0.7) {
                    shape_print(&shape);
                    fail_msg("walk %g, mean %g; refined %g, before %g", walk.root, walk.mean,
                             refined.root, before);
                }
                before = refined.root;
                world_free(&w);
            }
            assert_true(before < 0.004);
        }
}

static void a_decoded_row_misses_what_the_model_says(void **state)
{
    (void)state;
    for (size_t p = 0; p < COUNT(precisions); p++) {
        struct shape shape = {100, 600, PAUA_L2, precisions[p], DATA_FALLING, 0};
        double missed = 0, all = 0;
        struct world w;

        world_make(&w, &shape, 2);
        for (uint32_t i = 0; i < shape.rows; i++) {
            const struct model *m = &w.model;

            model_decode(m, w.walk + (size_t)i * m->walk.layout.nbytes, w.walk_factors + 4 * i,
                         w.refine + (size_t)i * m->refine.layout.nbytes, w.refine_factors + 4 * i,
                         &w.scratch, w.decoded);
            for (uint32_t j = 0; j < shape.dim; j++) {
                double x = w.rows[i * shape.dim + j];

                missed += (x - w.decoded[j]) * (x - w.decoded[j]);
                all += (x - m->mean[j]) * (x - m->mean[j]);
            }
        }
        assert_true(fabs(missed / all - w.model.refine_error) < 0.2 * w.model.refine_error + 2e-5);
        assert_true(w.model.refine_error <= w.model.walk_error);
        world_free(&w);
    }
}

static void a_zero_vector_is_at_cosine_1_from_every_query(void **state)
{
    (void)state;
    for (size_t p = 0; p < COUNT(precisions); p++) {
        struct shape shape = {48, 200, PAUA_COSINE, precisions[p], DATA_FALLING, 0};
        float zero[48] = {0}, walk_factors[CODE_FACTORS], refine_factors[CODE_FACTORS];
        uint8_t walk[64 + CODE_SLACK_NBYTES], refine[64 + CODE_SLACK_NBYTES];
        struct code_query query;
        struct world w;
        float d;

        world_make(&w, &shape, 1);
        model_encode(&w.model, zero, 1, &w.scratch, walk, walk_factors, refine, refine_factors);
        model_query_walk(&w.model, w.rows, &w.scratch, w.values, &query);
        struct code_plane plane = {w.model.walk.layout, walk, walk_factors};
        code_kernels_best()->distances(&plane, &query, NULL, 0, 1, &d);
        assert_true(fabs(model_distance(&w.model, d) - 1) < 0.1);
        world_free(&w);
    }
}

static void lengths_from_1e_minus_18_to_1e18_keep_their_order(void **state)
{
    static const float scales[] = {1e-18f, 1e-9f, 1e9f, 1e17f};

    (void)state;
    for (size_t s = 0; s < COUNT(scales); s++)
        for (size_t k = 0; k < 2 * COUNT(precisions); k++) {
            struct shape shape = {
                40, 300, k % 2 ? PAUA_L2 : PAUA_IP, precisions[k / 2], DATA_FALLING, scales[s]};
            struct errors errors;
            struct world w;

            world_make(&w, &shape, 2);
            world_refine(&w, w.rows);
            double squares = 0, units = 0;
            for (uint32_t i = 0; i < shape.rows; i++) {
                double unit = world_unit(&w, w.rows, i);
                double error = w.distances[i] - world_exact(&w, w.rows, i);

                assert_true(isfinite(w.distances[i]));
                squares += error / unit * (error / unit);
                units += 1;
            }
            errors.root = sqrt(squares / units);
            if (!(errors.root < 0.2)) {
                shape_print(&shape);
                fail_msg("error %g", errors.root);
            }
            world_free(&w);
        }
}

static void no_vector_gives_infinity_or_nan(void **state)
{
    static const float values[] = {0, 1e-45f, 1e-38f, -1e-25f, 1, 1e12f, -1e18f, 1e25f, 3e38f};

    (void)state;
    for (size_t m = 0; m < COUNT(metrics); m++)
        for (size_t v = 0; v < COUNT(values); v++) {
            struct shape shape = {20, 100, metrics[m], PAUA_INT4, DATA_FALLING, 0};
            float x[20], walk_factors[CODE_FACTORS], refine_factors[CODE_FACTORS];
            struct world w;

            world_make(&w, &shape, 1);
            for (uint32_t j = 0; j < 20; j++)
                x[j] = values[(v + j * (v % 2)) % COUNT(values)];
            model_encode(&w.model, x, 1, &w.scratch, w.walk, walk_factors, w.refine,
                         refine_factors);
            for (uint32_t g = 0; g < CODE_FACTORS; g++)
                assert_true(isfinite(walk_factors[g]) && isfinite(refine_factors[g]));
            memcpy(w.walk_factors, walk_factors, sizeof walk_factors);
            memcpy(w.refine_factors, refine_factors, sizeof refine_factors);
            for (uint32_t i = 0; i < 2; i++) {
                world_refine(&w, i == 0 ? x : w.rows + 20);
                for (uint32_t r = 0; r < shape.rows; r++)
                    assert_true(isfinite(w.distances[r]));
            }
            world_free(&w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_fit_the_budget_and_their_fields_do_not_overlap),
        cmocka_unit_test(distances_are_those_of_what_the_codes_stand_for),
        cmocka_unit_test(estimates_have_no_bias_and_errors_fall_with_precision),
        cmocka_unit_test(a_decoded_row_misses_what_the_model_says),
        cmocka_unit_test(a_zero_vector_is_at_cosine_1_from_every_query),
        cmocka_unit_test(lengths_from_1e_minus_18_to_1e18_keep_their_order),
        cmocka_unit_test(no_vector_gives_infinity_or_nan),
    };

    return cmocka_run_group_tests_name("index/model", tests, NULL, NULL);
}
