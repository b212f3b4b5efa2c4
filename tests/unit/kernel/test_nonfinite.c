/* test_nonfinite.c - find_nonfinite of every tier this CPU runs, at each length and position. */
#include "check.h"
#include "guarded.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/kernel.h"

#define N_MAX 140u

static char *values_end;

/* n finite values, the extreme ones among them, that end where memory ends. */
static float *finite_values(size_t n)
{
    static const float extremes[] = {0.0f, -0.0f, FLT_MAX, -FLT_MAX, FLT_MIN, -FLT_TRUE_MIN, 1.0f};
    float *values = (float *)(void *)values_end - n;

    for (size_t i = 0; i < n; i++)
        values[i] = extremes[i % (sizeof extremes / sizeof extremes[0])];
    return values;
}

static void finite_values_have_no_nonfinite_one(void **state)
{
    (void)state;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++)
        for (size_t n = 0; n <= N_MAX; n++)
            require(kernels_at(tier)->find_nonfinite(finite_values(n), n) == n, kernels_at(tier),
                    n);
}

static void the_first_nonfinite_value_is_found_wherever_it_is(void **state)
{
    static const uint32_t bad[] = {0x7f800000, 0xff800000, 0x7fc00000,
                                   0xffffffff, 0x7f800001, 0xff800001};
    const size_t n_bad = sizeof bad / sizeof bad[0];

    (void)state;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++) {
        const struct kernels *k = kernels_at(tier);
        for (size_t n = 1; n <= N_MAX; n++)
            for (size_t at = 0; at < n; at++) {
                float *values = finite_values(n);
                memcpy(values + at, &bad[at % n_bad], sizeof bad[0]);
                require(k->find_nonfinite(values, n) == at, k, n);
                values[n - 1] = INFINITY; /* a second one does not matter */
                require(k->find_nonfinite(values, n) == at, k, n);
                require(k->find_nonfinite(values, at) == at, k, n); /* nor one past the end */
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finite_values_have_no_nonfinite_one),
        cmocka_unit_test(the_first_nonfinite_value_is_found_wherever_it_is),
    };

    values_end = guarded_end(N_MAX * sizeof(float));
    return cmocka_run_group_tests_name("kernel/nonfinite", tests, NULL, NULL);
}
