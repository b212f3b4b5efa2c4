/* packed_portable.c - scans of packed codes: the meaning, which other tiers only make faster. */
#include "kernel/packed.h"
#include "kernel/packed_codes.h"

/* The word of codes first .. first + count - 1. */
static inline uint64_t range_word(const uint8_t *codes, uint32_t width, size_t first, size_t count,
                                  uint32_t low, uint32_t span)
{
    uint64_t word = 0;

    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)(packed_get(codes, width, first + i) - low <= span) << i;
    return word;
}

static void range(const uint8_t *codes, uint32_t width, size_t n, uint32_t low, uint32_t high,
                  uint64_t *bitmap)
{
    for (size_t i = 0; i < n; i += 64)
        bitmap[i / 64] = range_word(codes, width, i, n - i < 64 ? n - i : 64, low, high - low);
}

static void table(const uint8_t *codes, uint32_t width, size_t n, const uint8_t *bits,
                  uint32_t table_bits, uint64_t *bitmap)
{
    for (size_t i = 0; i < n; i += 64) {
        size_t count = n - i < 64 ? n - i : 64;
        uint64_t word = 0;

        for (size_t j = 0; j < count; j++) {
            uint32_t code = packed_get(codes, width, i + j);

            if ((width <= 16 || code < table_bits) && packed_bit(bits, code))
                word |= UINT64_C(1) << j;
        }
        bitmap[i / 64] = word;
    }
}

static void keys(const uint8_t *values, size_t n, uint64_t low, uint64_t high, uint64_t *bitmap)
{
    for (size_t i = 0; i < n; i += 64) {
        size_t count = n - i < 64 ? n - i : 64;
        uint64_t word = 0;

        for (size_t j = 0; j < count; j++)
            word |= (uint64_t)(packed_load64(values + 8 * (i + j)) - low <= high - low) << j;
        bitmap[i / 64] = word;
    }
}

static void equal32(const uint8_t *values, size_t n, uint32_t value, uint64_t *bitmap)
{
    range(values, 32, n, value, value, bitmap);
}

const struct packed_kernels packed_kernels_portable = {
    .tier = "portable", .range = range, .table = table, .keys = keys, .equal32 = equal32};
