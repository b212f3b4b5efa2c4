/* test_packed.c - scans of packed codes: the portable tier is what it says, and every tier that
 * this CPU runs equals it, at every width and length. Codes and tables end where memory ends. */
#include "check.h"
#include "guarded.h"

#include <string.h>

#include "kernel/kernel.h"
#include "kernel/packed.h"
#include "kernel/packed_codes.h"

#define N_MAX 700u
#define WORDS_MAX ((N_MAX + 63) / 64)
#define TABLE_BITS_ODD 70001u

static const uint32_t widths[] = {1, 2, 4, 8, 16, 32};
#define WIDTH_COUNT (sizeof widths / sizeof widths[0])

static char *values_end, *table_end, *bitmap_end;
static uint64_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 32);
}

static uint32_t code_max(uint32_t width)
{
    return width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1;
}

static uint8_t *random_bytes(char *end, size_t nbytes)
{
    uint8_t *bytes = (uint8_t *)end - nbytes;

    for (size_t i = 0; i < nbytes; i++)
        bytes[i] = (uint8_t)next_random();
    return bytes;
}

/* Codes of 32 bits are drawn from few, so that ranges and tables find some. */
static uint8_t *random_codes(uint32_t width, size_t n)
{
    uint8_t *codes = random_bytes(values_end, (n * width + 7) / 8);

    for (size_t i = 0; width == 32 && i < n; i++) {
        uint32_t code = next_random() % 3 ? next_random() % 90000 : next_random();

        memcpy(codes + 4 * i, &code, 4);
    }
    return codes;
}

static uint64_t *bitmap_of(size_t n)
{
    uint64_t *bitmap = (uint64_t *)(void *)bitmap_end - (n + 63) / 64;

    memset(bitmap, 0xA5, (n + 63) / 64 * sizeof bitmap[0]);
    return bitmap;
}

static void require_bitmap(const struct packed_kernels *k, const uint64_t *got,
                           const uint64_t *expected, size_t n, uint32_t width)
{
    if (memcmp(got, expected, (n + 63) / 64 * sizeof got[0]) != 0)
        fail_msg("%s differs: %zu codes of %u bits", k->tier, n, width);
}

static void bounds_of(uint32_t width, uint32_t *low, uint32_t *high)
{
    uint32_t a = next_random() & code_max(width), b = next_random() & code_max(width);

    if (width == 32) a %= 90000;
    if (next_random() % 4 == 0) b = a;
    if (next_random() % 8 == 0) a = 0;
    if (next_random() % 8 == 0) b = code_max(width);
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

static void portable_scans_test_each_code(void **state)
{
    (void)state;
    for (size_t w = 0; w < WIDTH_COUNT; w++) {
        for (size_t n = 0; n <= 200; n++) {
            const uint8_t *codes = random_codes(widths[w], n);
            uint32_t low, high;
            uint64_t *bitmap = bitmap_of(n);

            bounds_of(widths[w], &low, &high);
            packed_kernels_portable.range(codes, widths[w], n, low, high, bitmap);
            for (size_t i = 0; i < (n + 63) / 64 * 64; i++) {
                uint32_t code = i < n ? packed_get(codes, widths[w], i) : 0;
                bool expected = i < n && code >= low && code <= high;

                if ((bitmap[i / 64] >> i % 64 & 1) != expected)
                    fail_msg("code %zu of %zu, %u bits", i, n, widths[w]);
            }
        }
    }
}

static void codes_lie_lowest_bits_first(void **state)
{
    static const uint8_t bytes[] = {0xE4, 0x1B, 0x78, 0x56, 0x34, 0x12, 0xCD, 0xAB};
    static const struct {
        uint32_t width, at, code;
    } cases[] = {{1, 2, 1},    {1, 8, 1},        {2, 0, 0},           {2, 1, 1},
                 {2, 3, 3},    {4, 0, 4},        {4, 1, 14},          {4, 3, 1},
                 {8, 2, 0x78}, {16, 1, 0x5678u}, {32, 1, 0xABCD1234u}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (packed_get(bytes, cases[i].width, cases[i].at) != cases[i].code)
            fail_msg("case %zu: %x", i, packed_get(bytes, cases[i].width, cases[i].at));
}

static void ranges_are_the_same_in_every_tier(void **state)
{
    uint64_t expected[WORDS_MAX];

    (void)state;
    for (size_t w = 0; w < WIDTH_COUNT; w++) {
        for (size_t n = 0; n <= N_MAX; n++) {
            const uint8_t *codes = random_codes(widths[w], n);
            uint32_t low, high;

            bounds_of(widths[w], &low, &high);
            packed_kernels_portable.range(codes, widths[w], n, low, high, expected);
            for (size_t t = 0; packed_kernels_at(t) != NULL; t++) {
                uint64_t *bitmap = bitmap_of(n);

                packed_kernels_at(t)->range(codes, widths[w], n, low, high, bitmap);
                require_bitmap(packed_kernels_at(t), bitmap, expected, n, widths[w]);
            }
        }
    }
}

/* Every range of the narrow widths. */
static void every_range_of_small_codes_is_the_same_in_every_tier(void **state)
{
    uint64_t expected[WORDS_MAX];

    (void)state;
    for (size_t w = 0; w < 3; w++) {
        const uint8_t *codes = random_codes(widths[w], N_MAX);

        for (uint32_t low = 0; low <= code_max(widths[w]); low++) {
            for (uint32_t high = low; high <= code_max(widths[w]); high++) {
                packed_kernels_portable.range(codes, widths[w], N_MAX, low, high, expected);
                for (size_t t = 0; packed_kernels_at(t) != NULL; t++) {
                    uint64_t *bitmap = bitmap_of(N_MAX);

                    packed_kernels_at(t)->range(codes, widths[w], N_MAX, low, high, bitmap);
                    require_bitmap(packed_kernels_at(t), bitmap, expected, N_MAX, widths[w]);
                }
            }
        }
    }
}

static void tables_are_the_same_in_every_tier(void **state)
{
    uint64_t expected[WORDS_MAX];

    (void)state;
    for (size_t w = 0; w < WIDTH_COUNT; w++) {
        uint32_t bits = widths[w] <= 16 ? UINT32_C(1) << widths[w] : TABLE_BITS_ODD;
        const uint8_t *table = random_bytes(table_end, (bits + 7) / 8);

        for (size_t n = 0; n <= N_MAX; n++) {
            const uint8_t *codes = random_codes(widths[w], n);

            packed_kernels_portable.table(codes, widths[w], n, table, bits, expected);
            for (size_t i = 0; i < n; i++) {
                uint32_t code = packed_get(codes, widths[w], i);
                bool pass = code < bits && (table[code / 8] >> code % 8 & 1) != 0;

                if ((expected[i / 64] >> i % 64 & 1) != pass) fail_msg("code %zu", i);
            }
            for (size_t t = 0; packed_kernels_at(t) != NULL; t++) {
                uint64_t *bitmap = bitmap_of(n);

                packed_kernels_at(t)->table(codes, widths[w], n, table, bits, bitmap);
                require_bitmap(packed_kernels_at(t), bitmap, expected, n, widths[w]);
            }
        }
    }
}

static uint64_t random_key(void)
{
    static const uint64_t extremes[] = {
        0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1};

    if (next_random() % 2) return extremes[next_random() % 6];
    return (uint64_t)next_random() << 32 | next_random();
}

static void keys_are_the_same_in_every_tier(void **state)
{
    uint64_t expected[WORDS_MAX];

    (void)state;
    for (size_t n = 0; n <= N_MAX; n++) {
        uint8_t *keys = (uint8_t *)values_end - 8 * n;
        uint64_t a = random_key(), b = random_key(), low = a < b ? a : b, high = a < b ? b : a;

        for (size_t i = 0; i < n; i++) {
            uint64_t key = random_key();

            memcpy(keys + 8 * i, &key, 8);
        }
        packed_kernels_portable.keys(keys, n, low, high, expected);
        for (size_t i = 0; i < n; i++) {
            uint64_t key = packed_load64(keys + 8 * i);

            if ((expected[i / 64] >> i % 64 & 1) != (low <= key && key <= high))
                fail_msg("key %zu", i);
        }
        for (size_t t = 0; packed_kernels_at(t) != NULL; t++) {
            uint64_t *bitmap = bitmap_of(n);

            packed_kernels_at(t)->keys(keys, n, low, high, bitmap);
            require_bitmap(packed_kernels_at(t), bitmap, expected, n, 64);
        }
    }
}

static void equal_hashes_are_the_same_in_every_tier(void **state)
{
    uint64_t expected[WORDS_MAX];

    (void)state;
    for (size_t n = 0; n <= N_MAX; n++) {
        const uint8_t *values = random_codes(32, n);
        uint32_t value = n > 0 ? packed_load32(values + 4 * (n / 2)) : 5;

        packed_kernels_portable.equal32(values, n, value, expected);
        for (size_t i = 0; i < n; i++)
            if ((expected[i / 64] >> i % 64 & 1) != (packed_load32(values + 4 * i) == value))
                fail_msg("value %zu", i);
        for (size_t t = 0; packed_kernels_at(t) != NULL; t++) {
            uint64_t *bitmap = bitmap_of(n);

            packed_kernels_at(t)->equal32(values, n, value, bitmap);
            require_bitmap(packed_kernels_at(t), bitmap, expected, n, 32);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_lie_lowest_bits_first),
        cmocka_unit_test(portable_scans_test_each_code),
        cmocka_unit_test(ranges_are_the_same_in_every_tier),
        cmocka_unit_test(every_range_of_small_codes_is_the_same_in_every_tier),
        cmocka_unit_test(tables_are_the_same_in_every_tier),
        cmocka_unit_test(keys_are_the_same_in_every_tier),
        cmocka_unit_test(equal_hashes_are_the_same_in_every_tier),
    };

    values_end = guarded_end(8 * (N_MAX + 64));
    table_end = guarded_end(16384);
    bitmap_end = guarded_end(8 * WORDS_MAX);
    return cmocka_run_group_tests_name("packed", tests, NULL, NULL);
}
