/* test_keys.c - sorting and merging keys: every tier that this CPU runs, held to what qsort() makes
 * of the same keys. Keys end where memory ends. */
#include "check.h"
#include "guarded.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "kernel/keys.h"

#define SORTED_MAX 700u
#define POOL_MAX 260u
#define FOUND_MAX 200u
#define BEFORE 8u /* keys before the pool, which nobody touches */

static uint64_t *sorted_end, *spare_end, *pool_end, *found_end;

static uint64_t next_key(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

static int compare(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void require_sorted(const struct keys_kernels *k, size_t n, uint64_t seed, int shift)
{
    uint64_t *keys = sorted_end - n, expected[SORTED_MAX];

    for (size_t i = 0; i < n; i++)
        expected[i] = keys[i] = next_key(&seed) >> shift;
    if (n > 0) expected[n / 2] = keys[n / 2] = UINT64_MAX;
    qsort(expected, n, sizeof *expected, compare);
    k->sort(keys, n, spare_end - n);
    require(memcmp(keys, expected, n * sizeof *keys) == 0, k, n);
}

static void keys_of_any_number_are_sorted(void **state)
{
    (void)state;
    for (size_t tier = 0; keys_kernels_at(tier) != NULL; tier++)
        for (size_t n = 0; n <= SORTED_MAX; n++) {
            require_sorted(keys_kernels_at(tier), n, n, 0);
            require_sorted(keys_kernels_at(tier), n, n, 60); /* many are equal */
        }
}

/* A network that sorts all of these sorts everything. */
static void any_zeros_and_ones_of_sixteen_are_sorted(void **state)
{
    (void)state;
    for (size_t tier = 0; keys_kernels_at(tier) != NULL; tier++)
        for (uint32_t bits = 0; bits < 1u << 16; bits++) {
            const struct keys_kernels *k = keys_kernels_at(tier);
            uint64_t *keys = sorted_end - 16;
            size_t ones = (size_t)__builtin_popcount(bits);

            for (size_t i = 0; i < 16; i++)
                keys[i] = bits >> i & 1;
            k->sort(keys, 16, spare_end - 16);
            for (size_t i = 0; i < 16; i++)
                require(keys[i] == (i >= 16 - ones), k, bits);
        }
}

/* The pool's keys are even, those found odd; shifted, these are near its start or (below 0) end. */
static void require_merged(const struct keys_kernels *k, size_t count, size_t n, int shift)
{
    uint64_t *room = pool_end - (count + n + KEYS_SLACK) - BEFORE, *pool = room + BEFORE;
    uint64_t *found = found_end - n, expected[BEFORE + POOL_MAX + FOUND_MAX];
    uint64_t seed = count * 1000 + n;
    size_t all = BEFORE + count + n, lowest = 0, changed;

    for (size_t i = 0; i < BEFORE; i++)
        expected[i] = room[i] = i;
    for (size_t i = 0; i < count; i++)
        pool[i] = (next_key(&seed) | 1u << 8) & ~(uint64_t)1;
    for (size_t i = 0; i < n; i++)
        found[i] = ((shift < 0 ? ~(next_key(&seed) >> -shift) : next_key(&seed) >> shift) | 257u);
    qsort(pool, count, sizeof *pool, compare);
    qsort(found, n, sizeof *found, compare);
    memcpy(expected + BEFORE, pool, count * sizeof *pool);
    memcpy(expected + BEFORE + count, found, n * sizeof *found);
    qsort(expected + BEFORE, count + n, sizeof *expected, compare);
    while (lowest < count && pool[lowest] < found[0])
        lowest++;
    changed = k->merge(pool, count, found, n);
    require(changed == lowest, k, n);
    require(memcmp(room, expected, all * sizeof *room) == 0, k, n);
}

static void keys_are_merged_into_a_pool_of_any_size(void **state)
{
    static const int shifts[] = {0, 4, 40, -4, -40};
    static const size_t counts[] = {0,  1,  2,  6,  7,  8,  9,   10,  15,  16, 17,
                                    23, 24, 25, 63, 64, 65, 100, 199, 200, 260};

    (void)state;
    for (size_t tier = 0; keys_kernels_at(tier) != NULL; tier++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (size_t n = 1; n <= FOUND_MAX; n += n < 42 ? 1 : 7)
                for (size_t s = 0; s < sizeof shifts / sizeof shifts[0]; s++)
                    require_merged(keys_kernels_at(tier), counts[c], n, shifts[s]);
}

static void key_kernels_follow_the_tier_that_runs(void **state)
{
    size_t tier = 0;

    (void)state;
    for (; kernels_at(tier) != NULL; tier++) {
        require(keys_kernels_at(tier) != NULL, kernels_at(tier), tier);
        if (kernels_at(tier) == kernels_best())
            require(keys_kernels_best() == keys_kernels_at(tier), kernels_at(tier), tier);
    }
    require(keys_kernels_at(tier - 1) == &keys_kernels_portable, &keys_kernels_portable, tier);
    require(keys_kernels_at(tier) == NULL, &keys_kernels_portable, tier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_any_number_are_sorted),
        cmocka_unit_test(any_zeros_and_ones_of_sixteen_are_sorted),
        cmocka_unit_test(keys_are_merged_into_a_pool_of_any_size),
        cmocka_unit_test(key_kernels_follow_the_tier_that_runs),
    };

    sorted_end = (uint64_t *)(void *)guarded_end(SORTED_MAX * sizeof(uint64_t));
    spare_end = (uint64_t *)(void *)guarded_end(SORTED_MAX * sizeof(uint64_t));
    pool_end = (uint64_t *)(void *)guarded_end((BEFORE + POOL_MAX + FOUND_MAX + KEYS_SLACK) *
                                               sizeof(uint64_t));
    found_end = (uint64_t *)(void *)guarded_end(FOUND_MAX * sizeof(uint64_t));
    return cmocka_run_group_tests_name("kernel/keys", tests, NULL, NULL);
}
