/* test_scan.c - the one-query loops of every tier this CPU runs, held to what kernel.h promises.
 * Every dim 1..257 (so every tail), some large ones, f32 and f16, several alignments and strides;
 * q, the rows and the results end where memory ends. Adding a tier adds no test code. */
#include "check.h"
#include "guarded.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/kernel.h"

#define DIM_MAX 65535u
#define ROWS 7u  /* a group of four, or three of two, and rows left over */
#define SLACK 4u /* components that data is moved off the end, for alignment */

struct results {
    float dot[ROWS], dot_with_norm[ROWS], l2sq[ROWS], norm[ROWS], norm_with_dot[ROWS];
};

/* One dim's data, and what its sums may be: portable's, and the sum of the terms' sizes. */
static struct {
    float q[DIM_MAX], rows[ROWS * DIM_MAX];
    uint16_t halves[ROWS * DIM_MAX];
    struct results portable;
    double dot_terms[ROWS], l2sq_terms[ROWS], norm_terms[ROWS];
} data;

/* Ends of the memory that kernels see. */
static char *q_end, *rows_end, *results_end;

static void run(const struct kernels *k, bool half, const float *q, const void *rows, size_t stride,
                size_t n, size_t dim, struct results *to)
{
    float *out = (float *)(void *)results_end - n, *norm = out - ROWS;

    (half ? k->dot_f16 : k->dot_f32)(q, rows, stride, n, dim, out);
    memcpy(to->dot, out, n * sizeof *out);
    (half ? k->l2sq_f16 : k->l2sq_f32)(q, rows, stride, n, dim, out);
    memcpy(to->l2sq, out, n * sizeof *out);
    (half ? k->norm_f16 : k->norm_f32)(rows, stride, n, dim, out);
    memcpy(to->norm, out, n * sizeof *out);
    (half ? k->dot_norm_f16 : k->dot_norm_f32)(q, rows, stride, n, dim, out, norm);
    memcpy(to->dot_with_norm, out, n * sizeof *out);
    memcpy(to->norm_with_dot, norm, n * sizeof *norm);
}

static void make_data(bool half, size_t dim)
{
    uint32_t seed = (uint32_t)dim;

    for (size_t j = 0; j < dim; j++)
        data.q[j] = next_float(&seed);
    for (size_t i = 0; i < ROWS * dim; i++)
        data.rows[i] = next_float(&seed);
    if (half) {
        kernels_portable.f16_from_f32(data.rows, ROWS * dim, data.halves);
        kernels_portable.f32_from_f16(data.halves, ROWS * dim, data.rows);
    }
    run(&kernels_portable, false, data.q, data.rows, dim * sizeof(float), ROWS, dim,
        &data.portable);
    for (size_t i = 0; i < ROWS; i++) {
        data.dot_terms[i] = data.l2sq_terms[i] = data.norm_terms[i] = 0;
        for (size_t j = 0; j < dim; j++) {
            double q = data.q[j], x = data.rows[i * dim + j];
            data.dot_terms[i] += fabs(q * x);
            data.l2sq_terms[i] += (q - x) * (q - x);
            data.norm_terms[i] += x * x;
        }
    }
}

/* Copies the rows to `stride` components apart, `slack` components before the end of memory. */
static const void *lay_out(bool half, size_t dim, size_t stride, size_t slack)
{
    size_t each = half ? sizeof(uint16_t) : sizeof(float);
    const char *from = half ? (const char *)data.halves : (const char *)data.rows;
    char *to = rows_end - (slack + dim + (ROWS - 1) * stride) * each;

    for (size_t i = 0; i < ROWS; i++)
        memcpy(to + i * stride * each, from + i * dim * each, dim * each);
    return to;
}

static const float *lay_out_q(size_t dim, size_t slack)
{
    return memcpy(q_end - (slack + dim) * sizeof(float), data.q, dim * sizeof(float));
}

static bool near(double got, double wanted, double terms, size_t dim)
{
    return fabs(got - wanted) <= 2.0 * (double)dim * 0x1p-24 * terms;
}

static void require_within_bound(const struct kernels *k, size_t dim, const struct results *got)
{
    for (size_t i = 0; i < ROWS; i++) {
        require(near(got->dot[i], data.portable.dot[i], data.dot_terms[i], dim), k, dim);
        require(near(got->l2sq[i], data.portable.l2sq[i], data.l2sq_terms[i], dim), k, dim);
        require(near(got->norm[i], data.portable.norm[i], data.norm_terms[i], dim), k, dim);
    }
}

static bool same_bits(const struct results *a, size_t a_row, const struct results *b, size_t b_row,
                      size_t n)
{
    return memcmp(a->dot + a_row, b->dot + b_row, n * sizeof(float)) == 0 &&
           memcmp(a->l2sq + a_row, b->l2sq + b_row, n * sizeof(float)) == 0 &&
           memcmp(a->norm + a_row, b->norm + b_row, n * sizeof(float)) == 0 &&
           memcmp(a->dot_with_norm + a_row, b->dot_with_norm + b_row, n * sizeof(float)) == 0 &&
           memcmp(a->norm_with_dot + a_row, b->norm_with_dot + b_row, n * sizeof(float)) == 0;
}

static const size_t large_dims[] = {768, 1000, DIM_MAX};

/* Calls visit for every tier, type and dim with the data made. */
static void for_each_case(void (*visit)(const struct kernels *k, bool half, size_t dim))
{
    size_t n_large = sizeof large_dims / sizeof large_dims[0];

    for (size_t i = 1; i <= 257 + n_large; i++) {
        size_t dim = i <= 257 ? i : large_dims[i - 258];
        for (int half = 0; half < 2; half++) {
            make_data(half != 0, dim);
            for (size_t tier = 0; kernels_at(tier) != NULL; tier++)
                visit(kernels_at(tier), half != 0, dim);
        }
    }
}

static void check_bound(const struct kernels *k, bool half, size_t dim)
{
    size_t each = half ? sizeof(uint16_t) : sizeof(float);
    struct results got;

    run(k, half, lay_out_q(dim, 0), lay_out(half, dim, dim, 0), dim * each, ROWS, dim, &got);
    require_within_bound(k, dim, &got);
}

static void results_are_within_the_bound_of_portable(void **state)
{
    (void)state;
    for_each_case(check_bound);
}

static void check_joint(const struct kernels *k, bool half, size_t dim)
{
    size_t each = half ? sizeof(uint16_t) : sizeof(float);
    struct results got;

    run(k, half, lay_out_q(dim, 0), lay_out(half, dim, dim, 0), dim * each, ROWS, dim, &got);
    require(memcmp(got.dot, got.dot_with_norm, sizeof got.dot) == 0, k, dim);
    require(memcmp(got.norm, got.norm_with_dot, sizeof got.norm) == 0, k, dim);
}

static void dot_norm_gives_the_bits_of_dot_and_of_norm(void **state)
{
    (void)state;
    for_each_case(check_joint);
}

static void check_grouping(const struct kernels *k, bool half, size_t dim)
{
    size_t each = half ? sizeof(uint16_t) : sizeof(float), stride = dim * each;
    const float *q = lay_out_q(dim, 0);
    const char *rows = lay_out(half, dim, dim, 0);
    struct results all, some;

    run(k, half, q, rows, stride, ROWS, dim, &all);
    for (size_t n = 1; n < ROWS; n++) {
        size_t first = ROWS - n;
        run(k, half, q, rows + first * stride, stride, n, dim, &some);
        require(same_bits(&all, first, &some, 0, n), k, dim);
        run(k, half, q, rows, stride, n, dim, &some);
        require(same_bits(&all, 0, &some, 0, n), k, dim);
    }
}

static void a_row_gives_the_same_bits_in_any_company(void **state)
{
    (void)state;
    for_each_case(check_grouping);
}

static void check_layout(const struct kernels *k, bool half, size_t dim)
{
    size_t each = half ? sizeof(uint16_t) : sizeof(float);
    const size_t strides[] = {dim, dim + 1, dim + 13};
    struct results plain, other;

    run(k, half, lay_out_q(dim, 0), lay_out(half, dim, dim, 0), dim * each, ROWS, dim, &plain);
    for (size_t slack = 0; slack < SLACK; slack++)
        for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
            const void *rows = lay_out(half, dim, strides[s], slack);
            const float *q = lay_out_q(dim, SLACK - slack);
            run(k, half, q, rows, strides[s] * each, ROWS, dim, &other);
            require(same_bits(&plain, 0, &other, 0, ROWS), k, dim);
        }
}

static void alignment_and_stride_do_not_change_a_bit(void **state)
{
    (void)state;
    for_each_case(check_layout);
}

static void check_overlap(const struct kernels *k, bool half, size_t dim)
{
    if (half) return;
    const float *q = lay_out_q(dim, 0);
    struct results got;

    for (size_t i = 0; i < ROWS; i++) { /* stride 0: every row is q itself */
        run(k, false, q, q, 0, ROWS, dim, &got);
        require(got.l2sq[i] == 0.0f, k, dim);
        require(got.dot[i] == got.norm[i], k, dim);
    }
}

static void a_vector_is_at_distance_zero_from_itself(void **state)
{
    (void)state;
    for_each_case(check_overlap);
}

static void sums_overflow_to_infinity_and_never_to_nan(void **state)
{
    static float q[40], rows[ROWS * 40];
    struct results got;

    (void)state;
    for (size_t j = 0; j < 40; j++)
        q[j] = 3e38f;
    for (size_t i = 0; i < ROWS * 40; i++)
        rows[i] = -3e38f;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++) {
        const struct kernels *k = kernels_at(tier);
        for (size_t dim = 1; dim <= 40; dim++) {
            run(k, false, q, rows, 40 * sizeof(float), ROWS, dim, &got);
            for (size_t i = 0; i < ROWS; i++) {
                require(isinf(got.dot[i]) && got.dot[i] < 0, k, dim);
                require(isinf(got.l2sq[i]) && got.l2sq[i] > 0, k, dim);
                require(isinf(got.norm[i]) && got.norm[i] > 0, k, dim);
            }
        }
    }
}

static void no_rows_touch_nothing(void **state)
{
    float q = 1.0f;
    struct results got;

    (void)state;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++) /* rows lie in the forbidden page */
        for (int half = 0; half < 2; half++)
            run(kernels_at(tier), half != 0, &q, rows_end, 4, 0, 1, &got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_within_the_bound_of_portable),
        cmocka_unit_test(dot_norm_gives_the_bits_of_dot_and_of_norm),
        cmocka_unit_test(a_row_gives_the_same_bits_in_any_company),
        cmocka_unit_test(alignment_and_stride_do_not_change_a_bit),
        cmocka_unit_test(a_vector_is_at_distance_zero_from_itself),
        cmocka_unit_test(sums_overflow_to_infinity_and_never_to_nan),
        cmocka_unit_test(no_rows_touch_nothing),
    };

    q_end = guarded_end((DIM_MAX + SLACK) * sizeof(float));
    rows_end = guarded_end((SLACK + ROWS * (DIM_MAX + 13)) * sizeof(float));
    results_end = guarded_end(2 * ROWS * sizeof(float));
    return cmocka_run_group_tests_name("kernel/scan", tests, NULL, NULL);
}
