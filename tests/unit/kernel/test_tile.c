/* test_tile.c - dot_tile of every tier this CPU runs, within kernel.h's bound of the portable one.
 * The panel, the rows and the results end where memory ends. */
#include "check.h"
#include "guarded.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/kernel.h"

#define DIM_MAX 65535u
#define ROWS_MAX 61u /* four groups of the largest micro-kernel, and every remainder */
#define TILE ((size_t)KERNEL_TILE_QUERIES)

static float wanted[ROWS_MAX * KERNEL_TILE_QUERIES];
static char *packed_end, *rows_end, *out_end;

static double sum_of_terms(const float *packed, const float *row, size_t dim, size_t t)
{
    double sum = 0;

    for (size_t j = 0; j < dim; j++)
        sum += fabs((double)packed[j * TILE + t] * (double)row[j]);
    return sum;
}

static void check_tile(size_t dim, size_t n, size_t stride)
{
    float *packed = (float *)(void *)packed_end - dim * TILE;
    float *rows = (float *)(void *)rows_end - ((n - 1) * stride + dim);
    float *out = (float *)(void *)out_end - n * TILE;
    uint32_t seed = (uint32_t)(dim + n);

    for (size_t i = 0; i < dim * TILE; i++)
        packed[i] = next_float(&seed);
    for (size_t i = 0; i < (n - 1) * stride + dim; i++)
        rows[i] = next_float(&seed);
    kernels_portable.dot_tile(packed, rows, stride * sizeof *rows, n, dim, wanted);
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++) {
        const struct kernels *k = kernels_at(tier);
        memset(out, 0xff, n * TILE * sizeof *out); /* NaN, unless written */
        k->dot_tile(packed, rows, stride * sizeof *rows, n, dim, out);
        for (size_t i = 0; i < n * TILE; i++) {
            double terms = sum_of_terms(packed, rows + i / TILE * stride, dim, i % TILE);
            double off = fabs((double)out[i] - (double)wanted[i]);
            require(off <= 2.0 * (double)dim * 0x1p-24 * terms, k, dim);
        }
    }
}

static void every_dim_is_within_the_bound(void **state)
{
    (void)state;
    for (size_t dim = 1; dim <= 257; dim++)
        check_tile(dim, 19, dim + dim % 3);
    check_tile(768, 19, 768);
    check_tile(1000, 19, 1003);
    check_tile(DIM_MAX, 19, DIM_MAX);
}

static void every_number_of_rows_is_within_the_bound(void **state)
{
    (void)state;
    for (size_t n = 1; n <= ROWS_MAX; n++)
        check_tile(37, n, 40);
}

static void each_query_gets_its_own_column(void **state)
{
    float *packed = (float *)(void *)packed_end - 3 * TILE;
    float rows[2][3] = {{1, 2, 3}, {-4, 0, 5}}, out[2 * KERNEL_TILE_QUERIES];

    (void)state;
    for (size_t j = 0; j < 3; j++)
        for (size_t t = 0; t < TILE; t++)
            packed[j * TILE + t] = (float)(100 * t + j);
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++) { /* small integers: all exact */
        const struct kernels *k = kernels_at(tier);
        k->dot_tile(packed, rows, sizeof rows[0], 2, 3, out);
        for (size_t t = 0; t < TILE; t++) {
            require(out[t] == (float)(600 * t + 8), k, t);
            require(out[TILE + t] == (float)(100 * t + 10), k, t);
        }
    }
}

static void no_rows_touch_nothing(void **state)
{
    (void)state;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++)
        kernels_at(tier)->dot_tile((float *)(void *)packed_end - TILE, rows_end, 4, 0, 1,
                                   (float *)(void *)out_end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dim_is_within_the_bound),
        cmocka_unit_test(every_number_of_rows_is_within_the_bound),
        cmocka_unit_test(each_query_gets_its_own_column),
        cmocka_unit_test(no_rows_touch_nothing),
    };

    packed_end = guarded_end(DIM_MAX * TILE * sizeof(float));
    rows_end = guarded_end((size_t)19 * DIM_MAX * sizeof(float));
    out_end = guarded_end(ROWS_MAX * TILE * sizeof(float));
    return cmocka_run_group_tests_name("kernel/tile", tests, NULL, NULL);
}
