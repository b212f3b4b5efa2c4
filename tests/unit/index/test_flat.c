/* test_flat.c - flat_distances of every tier against the definition in doubles. */
#include "support/support.h"

#include <float.h>
#include <math.h>

#include "index/flat.h"

#define DIM_MAX 768u
#define ROWS 37u

static const uint32_t dims[] = {1, 2, 3, 63, 64, 65, 257, 768};
static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};
static const paua_precision precisions[] = {PAUA_FP32, PAUA_FP16};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static float query[DIM_MAX], scaled[DIM_MAX], rows[ROWS * DIM_MAX];
static uint16_t halves[ROWS * DIM_MAX];
static double distances[ROWS];

/* Rows as stored: halves are rounded first, so that `rows` says what the stored ones mean. */
static const void *store(paua_precision precision, size_t values)
{
    if (precision == PAUA_FP32) return rows;
    kernels_portable.f16_from_f32(rows, values, halves);
    kernels_portable.f32_from_f16(halves, values, rows);
    return halves;
}

static size_t row_nbytes(paua_precision precision, uint32_t dim)
{
    return dim * (precision == PAUA_FP32 ? sizeof(float) : sizeof(uint16_t));
}

/* Sum of the absolute terms of a distance: what rounding is relative to. */
static double terms(paua_metric metric, const float *a, const float *b, uint32_t dim)
{
    double sum = 0;

    if (metric == PAUA_COSINE) return 1;
    for (uint32_t i = 0; i < dim; i++) {
        double x = a[i], y = b[i];
        sum += metric == PAUA_L2 ? (x - y) * (x - y) : fabs(x * y);
    }
    return sum;
}

struct shape {
    const struct kernels *kernels;
    paua_metric metric;
    paua_precision precision;
    uint32_t dim;
};

static void distances_of(const struct shape *s, const void *stored, uint32_t n, double *to)
{
    struct flat_query q;

    flat_query_init(&q, query, s->dim, s->metric, s->precision, scaled);
    q.kernels = s->kernels;
    flat_distances(&q, stored, row_nbytes(s->precision, s->dim), n, to);
}

static void check(const struct shape *s, const void *stored, uint32_t n)
{
    distances_of(s, stored, n, distances);
    for (uint32_t i = 0; i < n; i++) {
        const float *row = rows + i * s->dim;
        double wanted = test_distance(s->metric, query, row, s->dim);
        double slack = 8.0 * s->dim * 0x1p-24 * terms(s->metric, query, row, s->dim);

        if (!(fabs(distances[i] - wanted) <= slack + 1e-12 * fabs(wanted)) ||
            !isfinite(distances[i]))
            fail_msg("%s: metric %d, precision %d, dim %u, row %u: %.17g, not %.17g",
                     s->kernels->tier, (int)s->metric, (int)s->precision, s->dim, i, distances[i],
                     wanted);
    }
}

/* Calls each(shape) for every tier, metric, precision and dimension. */
static void shapes_each(void (*each)(const struct shape *s))
{
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++)
        for (size_t m = 0; m < COUNT(metrics); m++)
            for (size_t p = 0; p < COUNT(precisions); p++)
                for (size_t d = 0; d < COUNT(dims); d++)
                    each(&(struct shape){kernels_at(tier), metrics[m], precisions[p], dims[d]});
}

static void random_rows(const struct shape *s)
{
    uint64_t seed = s->dim;

    test_random_floats(&seed, query, s->dim);
    test_random_floats(&seed, rows, (size_t)ROWS * s->dim);
    check(s, store(s->precision, (size_t)ROWS * s->dim), ROWS);
}

static void random_rows_are_within_rounding_of_doubles(void **state)
{
    (void)state;
    shapes_each(random_rows);
}

static void close_rows(const struct shape *s)
{
    uint64_t seed = s->dim + 7;

    test_random_floats(&seed, query, s->dim);
    for (uint32_t r = 0; r < ROWS; r++) {
        memcpy(rows + r * s->dim, query, s->dim * sizeof(float));
        rows[r * s->dim + r % s->dim] *= 1.0f + 0x1p-23f * (float)r;
    }
    check(s, store(s->precision, (size_t)ROWS * s->dim), ROWS);
}

static void rows_close_to_the_query_are_within_rounding_of_doubles(void **state)
{
    (void)state;
    shapes_each(close_rows);
}

static void itself(const struct shape *s)
{
    uint64_t seed = s->dim + 1;
    const void *stored;

    if (s->metric == PAUA_IP) return;
    test_random_floats(&seed, rows, (size_t)ROWS * s->dim);
    for (uint32_t r = 1; r < ROWS; r++) /* long and short ones too */
        for (uint32_t i = 0; i < s->dim; i++)
            rows[r * s->dim + i] *= ldexpf(1.0f, (int)(r % 15) - 7);
    stored = store(s->precision, (size_t)ROWS * s->dim);
    for (uint32_t r = 0; r < ROWS; r++) {
        memcpy(query, rows + r * s->dim, s->dim * sizeof(float));
        distances_of(s, stored, ROWS, distances);
        assert_true(distances[r] == 0);
    }
}

static void a_row_is_at_distance_exactly_0_from_itself(void **state)
{
    (void)state;
    shapes_each(itself);
}

/* Every pair of extreme values, as whole vectors and as one component among ordinary ones. */
static void extremes(const struct shape *s)
{
    static const float singles[] = {0,     1e-45f, 1e-38f, -1e-30f, 1e-20f, 1,
                                    1e10f, -1e18f, 1e19f,  1e30f,   3e38f,  -3e38f};
    static const float halfs[] = {0, 6e-8f, -6e-5f, 1e-3f, 1, -1000, 65504, -65504};
    const float *values = s->precision == PAUA_FP32 ? singles : halfs;
    uint32_t count = s->precision == PAUA_FP32 ? COUNT(singles) : COUNT(halfs), n = 0;
    const void *stored;

    for (uint32_t v = 0; v < count; v++, n += 2)
        for (uint32_t i = 0; i < s->dim; i++) {
            rows[n * s->dim + i] = values[v];
            rows[(n + 1) * s->dim + i] = i == 0 ? values[v] : 1.0f / (float)(i + 1);
        }
    stored = store(s->precision, (size_t)n * s->dim);
    for (uint32_t v = 0; v < COUNT(singles); v++) {
        for (uint32_t i = 0; i < s->dim; i++)
            query[i] = singles[v] * (i % 2 == 0 ? 1.0f : 0.5f);
        check(s, stored, n);
    }
}

static void extreme_values_give_finite_and_right_distances(void **state)
{
    (void)state;
    shapes_each(extremes);
}

static void zeros(const struct shape *s)
{
    uint64_t seed = 3;
    const void *stored;

    if (s->metric != PAUA_COSINE) return;
    test_random_floats(&seed, rows, 3u * s->dim);
    memset(rows + s->dim, 0, s->dim * sizeof(float));
    rows[0] = 0.5f;
    rows[2 * s->dim] = -0.5f;
    stored = store(s->precision, 3u * s->dim);
    memset(query, 0, sizeof query);
    distances_of(s, stored, 3, distances);
    assert_true(distances[0] == 1 && distances[1] == 0 && distances[2] == 1);
    query[0] = -0.0f;
    distances_of(s, stored, 3, distances);
    assert_true(distances[1] == 0);
    query[0] = 1e-30f;
    distances_of(s, stored, 3, distances);
    assert_true(distances[1] == 1);
}

static void a_zero_vector_is_at_cosine_1_from_all_but_zero(void **state)
{
    (void)state;
    shapes_each(zeros);
}

static void negative_cosines(const struct shape *s)
{
    uint64_t seed = s->dim + 11;

    if (s->metric != PAUA_COSINE) return;
    test_random_floats(&seed, query, s->dim);
    query[0] = 0.25f;
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i < s->dim; i++)
            rows[r * s->dim + i] = query[i] * (float)(r + 1);
    distances_of(s, store(s->precision, (size_t)ROWS * s->dim), ROWS, distances);
    for (uint32_t r = 0; r < ROWS; r++)
        assert_true(distances[r] >= 0);
}

static void a_cosine_distance_is_never_negative(void **state)
{
    (void)state;
    shapes_each(negative_cosines);
}

static void one_by_one(const struct shape *s)
{
    uint64_t seed = s->dim + 5;
    size_t nbytes = row_nbytes(s->precision, s->dim);
    const uint8_t *stored;

    test_random_floats(&seed, query, s->dim);
    test_random_floats(&seed, rows, (size_t)ROWS * s->dim);
    stored = store(s->precision, (size_t)ROWS * s->dim);
    distances_of(s, stored, ROWS, distances);
    for (uint32_t r = 0; r < ROWS; r++) {
        double alone;

        distances_of(s, stored + r * nbytes, 1, &alone);
        assert_memory_equal(&alone, &distances[r], sizeof alone);
    }
}

static void a_row_alone_gives_the_bits_it_gives_among_others(void **state)
{
    (void)state;
    shapes_each(one_by_one);
}

static void rows_may_lie_further_apart_than_they_are_long(void **state)
{
    float wide[3 * 16];
    uint64_t seed = 2;
    struct flat_query q;

    (void)state;
    test_random_floats(&seed, query, 5);
    test_random_floats(&seed, wide, COUNT(wide));
    flat_query_init(&q, query, 5, PAUA_L2, PAUA_FP32, scaled);
    flat_distances(&q, wide, 16 * sizeof(float), 3, distances);
    for (uint32_t r = 0; r < 3; r++)
        assert_true(fabs(distances[r] - test_distance(PAUA_L2, query, wide + 16 * r, 5)) < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_rows_are_within_rounding_of_doubles),
        cmocka_unit_test(rows_close_to_the_query_are_within_rounding_of_doubles),
        cmocka_unit_test(a_row_is_at_distance_exactly_0_from_itself),
        cmocka_unit_test(extreme_values_give_finite_and_right_distances),
        cmocka_unit_test(a_zero_vector_is_at_cosine_1_from_all_but_zero),
        cmocka_unit_test(a_cosine_distance_is_never_negative),
        cmocka_unit_test(a_row_alone_gives_the_bits_it_gives_among_others),
        cmocka_unit_test(rows_may_lie_further_apart_than_they_are_long),
    };

    return cmocka_run_group_tests_name("index/flat", tests, NULL, NULL);
}
