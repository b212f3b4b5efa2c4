/* test_flat_panel.c - a panel may keep a row too many, but never drops one that flat_distances puts
 * within the bound: data chosen so that rounding has every chance to get it wrong. */
#include "support/support.h"

#include <math.h>

#include "index/flat.h"

#define DIM_MAX 768u
#define ROWS 60u

static const uint32_t dims[] = {1, 2, 3, 17, 64, 65, 257, 768};
static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};
static const paua_precision precisions[] = {PAUA_FP32, PAUA_FP16};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define QUERIES KERNEL_TILE_QUERIES

static float queries[QUERIES * DIM_MAX], scaled[QUERIES * DIM_MAX];
static float rows[ROWS * DIM_MAX], wide[ROWS * DIM_MAX];
static uint16_t halves[ROWS * DIM_MAX];
static _Alignas(64) float packed[DIM_MAX * QUERIES], tile[FLAT_BLOCK_ROWS * QUERIES];
static double distances[QUERIES][ROWS];
static struct flat_query prepared[QUERIES];
static uint32_t kept, seen;

struct shape {
    const struct kernels *kernels;
    paua_metric metric;
    paua_precision precision;
    uint32_t dim;
    uint32_t count; /* queries */
};

static size_t row_nbytes(const struct shape *s)
{
    return s->dim * (s->precision == PAUA_FP32 ? 4u : 2u);
}

/* Prepares the queries and measures every row from each, once for all bounds. */
static void measure(const struct shape *s, const void *stored)
{
    for (uint32_t t = 0; t < s->count; t++) {
        flat_query_init(&prepared[t], queries + t * s->dim, s->dim, s->metric, s->precision,
                        scaled + t * s->dim);
        prepared[t].kernels = s->kernels;
        flat_distances(&prepared[t], stored, row_nbytes(s), ROWS, distances[t]);
    }
}

static void scan(const struct shape *s, const void *stored, const double *bounds, uint32_t *may)
{
    struct flat_panel panel = {.count = s->count, .packed = packed};
    struct flat_block block;

    for (uint32_t t = 0; t < s->count; t++)
        panel.queries[t] = &prepared[t];
    flat_panel_pack(&panel);
    flat_block_init(&block, &prepared[0], stored, row_nbytes(s), ROWS, wide);
    flat_panel_scan(&panel, &block, bounds, tile, may);
}

static void check(const struct shape *s, const void *stored, const double *bounds)
{
    uint32_t may[FLAT_BLOCK_ROWS];

    scan(s, stored, bounds, may);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t t = 0; t < QUERIES; t++) {
            bool marked = (may[i] >> t & 1) != 0;

            if (t >= s->count) {
                assert_false(marked);
                continue;
            }
            seen++;
            kept += marked;
            if (!marked && distances[t][i] <= bounds[t])
                fail_msg("%s: metric %d, precision %d, dim %u: query %u drops row %u at %.17g, "
                         "bound %.17g",
                         s->kernels->tier, (int)s->metric, (int)s->precision, s->dim, t, i,
                         distances[t][i], bounds[t]);
        }
}

/* Bounds that lie exactly on a row's distance, so that one bit decides. */
static void check_bounds(const struct shape *s, const void *stored, uint64_t *seed)
{
    double bounds[QUERIES];
    uint32_t may[FLAT_BLOCK_ROWS];

    for (uint32_t t = 0; t < QUERIES; t++)
        bounds[t] = INFINITY;
    measure(s, stored);
    scan(s, stored, bounds, may);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_true(may[i] == (s->count == 32 ? UINT32_MAX : (1u << s->count) - 1));
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t t = 0; t < s->count; t++)
            bounds[t] = distances[t][test_random_below(seed, ROWS)];
        check(s, stored, bounds);
    }
    for (uint32_t t = 0; t < s->count; t++)
        bounds[t] = t % 3 == 0 ? 0 : t % 3 == 1 ? -1e300 : 1e300;
    check(s, stored, bounds);
}

/* How the data of a test is made: queries and rows of the shape from a seed. */
typedef void (*fill_fn)(const struct shape *s, uint64_t *seed);

static void fill_random(const struct shape *s, uint64_t *seed)
{
    test_random_floats(seed, queries, (size_t)QUERIES * s->dim);
    test_random_floats(seed, rows, (size_t)ROWS * s->dim);
}

/* Rows are queries, a few units in the last place off. */
static void fill_near(const struct shape *s, uint64_t *seed)
{
    fill_random(s, seed);
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i < s->dim; i++)
            rows[r * s->dim + i] = queries[r % QUERIES * s->dim + i] *
                                   (1.0f + 0x1p-23f * (float)test_random_below(seed, 4));
}

/* A large part that all share: norms dwarf distances. */
static void fill_offset(const struct shape *s, uint64_t *seed)
{
    fill_random(s, seed);
    for (size_t i = 0; i < (size_t)QUERIES * s->dim; i++)
        queries[i] = 1000.0f + queries[i] * 0x1p-4f;
    for (size_t i = 0; i < (size_t)ROWS * s->dim; i++)
        rows[i] = 1000.0f + rows[i] * 0x1p-4f;
}

/* Products that cancel: the dot product is far smaller than its terms. */
static void fill_cancel(const struct shape *s, uint64_t *seed)
{
    fill_random(s, seed);
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i + 1 < s->dim; i += 2) {
            rows[r * s->dim + i] = 100.0f * rows[r * s->dim + i];
            rows[r * s->dim + i + 1] = -rows[r * s->dim + i] * (1.0f + 0x1p-20f);
        }
    for (uint32_t t = 0; t < QUERIES; t++)
        for (uint32_t i = 0; i + 1 < s->dim; i += 2)
            queries[t * s->dim + i + 1] = queries[t * s->dim + i];
}

/* Lengths from the smallest to the largest that a format has, zero vectors among them. */
static void fill_lengths(const struct shape *s, uint64_t *seed)
{
    bool half = s->precision == PAUA_FP16;

    fill_random(s, seed);
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i < s->dim; i++)
            rows[r * s->dim + i] *=
                r == 7 ? 0 : ldexpf(1.0f, half ? (int)(r % 38) - 22 : (int)(r * 4) - 120);
    for (uint32_t t = 0; t < QUERIES; t++)
        for (uint32_t i = 0; i < s->dim; i++)
            queries[t * s->dim + i] *= t == 3 ? 0 : ldexpf(1.0f, (int)(t * 8) - 124);
}

static void shapes_each(fill_fn fill)
{
    static const uint32_t counts[] = {32, 1, 8, 31};
    uint64_t seed = 1;
    uint32_t round = 0;

    for (size_t tier = 0; kernels_at(tier) != NULL; tier++)
        for (size_t m = 0; m < COUNT(metrics); m++)
            for (size_t p = 0; p < COUNT(precisions); p++)
                for (size_t d = 0; d < COUNT(dims); d++) {
                    struct shape s = {kernels_at(tier), metrics[m], precisions[p], dims[d],
                                      counts[round++ % COUNT(counts)]};
                    size_t values = (size_t)ROWS * s.dim;

                    fill(&s, &seed);
                    kernels_portable.f16_from_f32(rows, values, halves);
                    check_bounds(&s, s.precision == PAUA_FP32 ? (void *)rows : halves, &seed);
                }
}

static void no_near_row_of_random_data_is_dropped(void **state)
{
    (void)state;
    shapes_each(fill_random);
}

static void no_row_is_dropped_that_differs_by_single_bits(void **state)
{
    (void)state;
    shapes_each(fill_near);
}

static void no_near_row_is_dropped_where_norms_dwarf_distances(void **state)
{
    (void)state;
    shapes_each(fill_offset);
}

static void no_near_row_is_dropped_where_products_cancel(void **state)
{
    (void)state;
    shapes_each(fill_cancel);
}

static void no_near_row_is_dropped_whatever_its_length(void **state)
{
    (void)state;
    shapes_each(fill_lengths);
}

static void most_far_rows_of_random_data_are_dropped(void **state)
{
    uint64_t seed = 9;
    double bounds[QUERIES];

    (void)state;
    for (size_t m = 0; m < COUNT(metrics); m++) {
        struct shape s = {kernels_best(), metrics[m], PAUA_FP32, 64, 32};

        fill_random(&s, &seed);
        measure(&s, rows);
        for (uint32_t t = 0; t < QUERIES; t++)
            bounds[t] = INFINITY;
        for (uint32_t t = 0; t < QUERIES; t++)
            for (uint32_t i = 0; i < ROWS; i++)
                if (distances[t][i] < bounds[t]) bounds[t] = distances[t][i];
        kept = seen = 0;
        check(&s, rows, bounds);
        assert_true(kept >= QUERIES); /* the nearest row of each query */
        assert_true(kept < QUERIES * 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_near_row_of_random_data_is_dropped),
        cmocka_unit_test(no_row_is_dropped_that_differs_by_single_bits),
        cmocka_unit_test(no_near_row_is_dropped_where_norms_dwarf_distances),
        cmocka_unit_test(no_near_row_is_dropped_where_products_cancel),
        cmocka_unit_test(no_near_row_is_dropped_whatever_its_length),
        cmocka_unit_test(most_far_rows_of_random_data_are_dropped),
    };

    return cmocka_run_group_tests_name("index/flat_panel", tests, NULL, NULL);
}
