/* test_f16.c - conversions between float and IEEE binary16. Every tier is compared with the
 * standard's own definition: for every half, and around every boundary between two of them. */
#include "check.h"
#include "guarded.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"

#define HALVES 65536u
#define INFINITE 0x7c00u /* the half; above it, without the sign, are the NaNs */

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* IEEE 754-2008, 3.4: what a half that is a number means. */
static float meaning(uint32_t half)
{
    int exponent = (int)(half >> 10 & 31u), fraction = (int)(half & 0x3ffu);
    float magnitude = exponent == 0    ? ldexpf((float)fraction, -24)
                      : exponent == 31 ? INFINITY
                                       : ldexpf((float)(1024 + fraction), exponent - 25);

    return half & 0x8000u ? -magnitude : magnitude;
}

static uint16_t narrow(const struct kernels *k, float value)
{
    uint16_t half;

    k->f16_from_f32(&value, 1, &half);
    return half;
}

static void every_half_becomes_the_float_it_means(void **state)
{
    static uint16_t halves[HALVES];
    static float floats[HALVES];

    (void)state;
    for (uint32_t h = 0; h < HALVES; h++)
        halves[h] = (uint16_t)h;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++) {
        const struct kernels *k = kernels_at(tier);
        k->f32_from_f16(halves, HALVES, floats);
        for (uint32_t h = 0; h < HALVES; h++) {
            uint32_t expected = (h & 0x7fffu) <= INFINITE
                                    ? bits_of(meaning(h))
                                    : (h & 0x8000u) << 16 | 0x7fc00000u | (h & 0x3ffu) << 13;
            require(bits_of(floats[h]) == expected, k, h);
        }
    }
}

static void every_half_survives_the_round_trip(void **state)
{
    static uint16_t halves[HALVES], back[HALVES];
    static float floats[HALVES];

    (void)state;
    for (uint32_t h = 0; h < HALVES; h++)
        halves[h] = (uint16_t)h;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++) {
        const struct kernels *k = kernels_at(tier);
        k->f32_from_f16(halves, HALVES, floats);
        k->f16_from_f32(floats, HALVES, back);
        for (uint32_t h = 0; h < HALVES; h++) {
            uint32_t quiet = (h & 0x7fffu) > INFINITE ? 0x200u : 0;
            require(back[h] == (h | quiet), k, h);
        }
    }
}

/* The boundary between two neighbours is their mean, which a float holds exactly. 65520 takes the
 * place of the mean of the largest half and infinity. */
static void floats_round_to_the_nearest_half_and_ties_to_even(void **state)
{
    (void)state;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++) {
        const struct kernels *k = kernels_at(tier);
        for (uint32_t h = 0; h < INFINITE; h++) {
            float middle = h + 1 == INFINITE ? 65520.0f : (meaning(h) + meaning(h + 1)) / 2;
            uint32_t even = h + (h & 1u);
            require(narrow(k, middle) == even, k, h);
            require(narrow(k, -middle) == (even | 0x8000u), k, h);
            require(narrow(k, nextafterf(middle, 0)) == h, k, h);
            require(narrow(k, nextafterf(middle, INFINITY)) == h + 1, k, h);
            require(narrow(k, -nextafterf(middle, 0)) == (h | 0x8000u), k, h);
            require(narrow(k, -nextafterf(middle, INFINITY)) == ((h + 1) | 0x8000u), k, h);
        }
    }
}

static void what_is_too_large_becomes_infinity_and_too_small_zero(void **state)
{
    static const struct {
        float from;
        uint16_t to;
    } cases[] = {
        {65519.996f, 0x7bff},
        {65520.0f, INFINITE},
        {FLT_MAX, INFINITE},
        {INFINITY, INFINITE},
        {-FLT_MAX, 0x8000u | INFINITE},
        {-INFINITY, 0x8000u | INFINITE},
        {0x1p-24f, 1},
        {0x1p-25f, 0},
        {0x1.000002p-25f, 1},
        {-0x1p-25f, 0x8000},
        {FLT_MIN, 0},
        {FLT_MIN / 2, 0},
        {-FLT_TRUE_MIN, 0x8000},
        {0.0f, 0},
        {-0.0f, 0x8000},
    };

    (void)state;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            require(narrow(kernels_at(tier), cases[i].from) == cases[i].to, kernels_at(tier), i);
}

static void nan_stays_nan_with_its_sign_and_upper_payload(void **state)
{
    static const struct {
        uint32_t from;
        uint16_t to;
    } cases[] = {
        {0x7fc00000, 0x7e00}, {0xffc00000, 0xfe00}, {0x7f800001, 0x7e00},
        {0x7fffffff, 0x7fff}, {0xff802000, 0xfe01}, {0x7fd54000, 0x7eaa},
    };

    (void)state;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            require(narrow(kernels_at(tier), float_of(cases[i].from)) == cases[i].to,
                    kernels_at(tier), i);
}

static void every_tier_narrows_a_million_bit_patterns_alike(void **state)
{
    static float from[4096];
    static uint16_t wanted[4096], got[4096];
    uint32_t seed = 7;

    (void)state;
    for (size_t round = 0; round < 256; round++) {
        for (size_t i = 0; i < 4096; i++) {
            seed = seed * 1664525u + 1013904223u;
            from[i] = float_of(seed ^ seed >> 15);
        }
        kernels_portable.f16_from_f32(from, 4096, wanted);
        for (size_t tier = 0; kernels_at(tier) != NULL; tier++) {
            kernels_at(tier)->f16_from_f32(from, 4096, got);
            require(memcmp(got, wanted, sizeof got) == 0, kernels_at(tier), round);
        }
    }
}

/* n components from and to memory that ends there; what lies before is left alone. */
static void check_length(const struct kernels *k, size_t n, char *floats_end, char *halves_end)
{
    float *floats = (float *)(void *)floats_end - n;
    uint16_t *halves = (uint16_t *)(void *)halves_end - n;

    for (size_t i = 0; i < n; i++)
        floats[i] = (float)i - 8.5f;
    halves[-1] = 0x1234;
    k->f16_from_f32(floats, n, halves);
    require(halves[-1] == 0x1234, k, n);
    for (size_t i = 0; i < n; i++)
        floats[i] = -1.0f;
    floats[-1] = 77.0f;
    k->f32_from_f16(halves, n, floats);
    require(floats[-1] == 77.0f, k, n);
    for (size_t i = 0; i < n; i++)
        require(floats[i] == (float)i - 8.5f, k, n);
}

static void every_length_is_converted_whole_and_nothing_else(void **state)
{
    char *floats_end = guarded_end(4096), *halves_end = guarded_end(4096);

    (void)state;
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++)
        for (size_t n = 0; n <= 100; n++)
            check_length(kernels_at(tier), n, floats_end, halves_end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_becomes_the_float_it_means),
        cmocka_unit_test(every_half_survives_the_round_trip),
        cmocka_unit_test(floats_round_to_the_nearest_half_and_ties_to_even),
        cmocka_unit_test(what_is_too_large_becomes_infinity_and_too_small_zero),
        cmocka_unit_test(nan_stays_nan_with_its_sign_and_upper_payload),
        cmocka_unit_test(every_tier_narrows_a_million_bit_patterns_alike),
        cmocka_unit_test(every_length_is_converted_whole_and_nothing_else),
    };

    return cmocka_run_group_tests_name("kernel/f16", tests, NULL, NULL);
}
