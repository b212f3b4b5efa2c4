/* test_encode.c - every tier makes the same codes from the same sums, bit for bit. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/encode.h"

#define N 1088u

static float values[N], weight[N], offset[N], pull[N];

static float uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(*seed >> 40) * 0x1p-23f - 1.0f;
}

/* Components of every width, some padding, and now and then one far outside. */
static struct encode_group fill(uint64_t seed, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = 1 + (uint32_t)(i / 16 + seed) % 8;
        float half = (float)(1u << bits) / 2;

        offset[i] = half;
        values[i] = 1.5f * half * uniform(&seed) * (i % 37 == 0 ? 1e4f : 1);
        weight[i] = i % 61 == 0 ? 0 : 1 + uniform(&seed);
        pull[i] = 1e-3f * (1 + uniform(&seed));
    }
    return (struct encode_group){values, weight, offset, pull, n};
}

static void every_tier_gives_the_bits_of_the_portable_one(void **state)
{
    static const float inverse[ENCODE_STEPS_MAX] = {0.1f, 0.5f,  0.7f, 0.8f, 0.9f, 1,
                                                    1.1f, 1.25f, 1.5f, 2,    10,   1e-9f};

    (void)state;
    for (size_t tier = 0; encode_kernels_at(tier) != NULL; tier++)
        for (size_t n = 16; n <= N; n += 16) {
            const struct encode_kernels *kernels = encode_kernels_at(tier);
            struct encode_group group = fill(n, n);
            struct encode_sums wanted[ENCODE_STEPS_MAX], sums[ENCODE_STEPS_MAX];
            size_t steps = 1 + n / 16 % ENCODE_STEPS_MAX;
            struct encode_norms a = encode_kernels_portable.norms(&group);
            struct encode_norms b = kernels->norms(&group);
            uint8_t expected[N], codes[N];

            assert_memory_equal(&a, &b, sizeof a);
            encode_kernels_portable.sums(&group, inverse, steps, wanted);
            kernels->sums(&group, inverse, steps, sums);
            assert_memory_equal(wanted, sums, steps * sizeof sums[0]);
            encode_kernels_portable.codes(&group, inverse[steps - 1], expected);
            kernels->codes(&group, inverse[steps - 1], codes);
            assert_memory_equal(expected, codes, n);
        }
}

static void a_code_is_the_cell_that_holds_the_value_and_ends_hold_the_rest(void **state)
{
    static const float of[16] = {-100, -2, -1.99f, -1, -0.5f, 0, 0.5f, 1, 1.5f, 2, 100};
    static const uint8_t wanted[16] = {0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 2, 2, 2, 2, 2};

    (void)state;
    for (size_t i = 0; i < 16; i++) {
        values[i] = of[i] * 4;
        offset[i] = 2;
    }
    for (size_t tier = 0; encode_kernels_at(tier) != NULL; tier++) {
        struct encode_group group = {values, weight, offset, pull, 16};
        uint8_t codes[16];

        encode_kernels_at(tier)->codes(&group, 0.25f, codes);
        assert_memory_equal(codes, wanted, sizeof codes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tier_gives_the_bits_of_the_portable_one),
        cmocka_unit_test(a_code_is_the_cell_that_holds_the_value_and_ends_hold_the_rest),
    };

    return cmocka_run_group_tests_name("kernel/encode", tests, NULL, NULL);
}
