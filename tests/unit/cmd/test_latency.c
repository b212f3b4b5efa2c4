/* test_latency.c - quantiles of a histogram of latencies. */
#include "latency.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#define SAMPLES 20000u

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void quantiles_are_those_of_the_samples_within_one_percent(void **state)
{
    static const double shares[] = {0, 0.01, 0.5, 0.95, 0.99, 0.999, 1};
    static double samples[SAMPLES];
    static struct latency latency;
    uint64_t random = 1;

    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        /* From 100 ns to 100 s, evenly by magnitude. */
        samples[i] = 1e-7 * pow(10, 9 * (double)(random >> 40) * 0x1p-24);
        latency_add(&latency, samples[i]);
    }
    qsort(samples, SAMPLES, sizeof *samples, by_value);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t at = (size_t)(shares[i] * SAMPLES);
        double exact_ms = 1e3 * samples[at < SAMPLES ? at : SAMPLES - 1];
        double found_ms = latency_quantile_ms(&latency, shares[i]);
        assert_true(fabs(found_ms - exact_ms) <= 0.01 * exact_ms + 1e-6);
    }
}

static void merged_histograms_are_one_of_all_samples(void **state)
{
    static struct latency a, b, both;

    (void)state;
    for (int i = 1; i <= 1000; i++) {
        latency_add(i % 3 == 0 ? &a : &b, 1e-5 * i);
        latency_add(&both, 1e-5 * i);
    }
    latency_merge(&a, &b);
    assert_int_equal(a.count, both.count);
    for (int share = 0; share <= 100; share++)
        assert_true(latency_quantile_ms(&a, 0.01 * share) ==
                    latency_quantile_ms(&both, 0.01 * share));
    assert_true(fabs(latency_mean_ms(&a) - 5.005) < 1e-9);
}

static void the_ends_of_the_range_hold_what_lies_beyond(void **state)
{
    static struct latency latency;

    (void)state;
    assert_true(latency_quantile_ms(&latency, 0.5) == 0);
    assert_true(latency_mean_ms(&latency) == 0);
    latency_add(&latency, -1);
    assert_true(latency_quantile_ms(&latency, 0.5) == 0);
    latency_add(&latency, 1e9);
    assert_true(latency_quantile_ms(&latency, 1) > 3.6e6);
    assert_int_equal(latency.count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_samples_within_one_percent),
        cmocka_unit_test(merged_histograms_are_one_of_all_samples),
        cmocka_unit_test(the_ends_of_the_range_hold_what_lies_beyond),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
