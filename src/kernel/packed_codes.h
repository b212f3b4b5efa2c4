/* packed_codes.h - one packed code at a time: what the portable scans and the tails of others use.
 * Machines that we run on are little-endian, as the codes are. */
#ifndef PAUA_KERNEL_PACKED_CODES_H
#define PAUA_KERNEL_PACKED_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t packed_load32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t packed_load64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t packed_get(const uint8_t *codes, uint32_t width, size_t i)
{
    uint16_t half;

    if (width == 32) return packed_load32(codes + 4 * i);
    if (width == 16) {
        memcpy(&half, codes + 2 * i, sizeof half);
        return half;
    }
    return (uint32_t)codes[i * width / 8] >> (i * width % 8) & ((1u << width) - 1);
}

/* Codes of at most 4 bits: their table as a number, bit `code`; of a range, and of a table. */
static inline uint32_t packed_small_range(uint32_t low, uint32_t high)
{
    return ((2u << high) - 1) & ~((1u << low) - 1);
}

static inline uint32_t packed_small_table(const uint8_t *table, uint32_t width)
{
    uint32_t bits = width == 4 ? (uint32_t)table[0] | (uint32_t)table[1] << 8 : table[0];

    return width == 1 ? bits & 3 : width == 2 ? bits & 15 : bits;
}

/* 64 codes of one bit. */
static inline uint64_t packed_word1(const uint8_t *codes, uint32_t small)
{
    uint64_t word = packed_load64(codes);

    return ((small & 2) != 0 ? word : 0) | ((small & 1) != 0 ? ~word : 0);
}

/* What half a byte of two codes of 2 bits answers: a bit each, moved up by `shift`. */
static inline void packed_answers2(uint32_t small, unsigned shift, uint8_t answers[16])
{
    for (uint32_t i = 0; i < 16; i++)
        answers[i] = (uint8_t)(((small >> (i & 3) & 1) | (small >> (i >> 2) & 1) << 1) << shift);
}

/* What a code of 4 bits answers: all bits or none. */
static inline void packed_answers4(uint32_t small, uint8_t answers[16])
{
    for (uint32_t i = 0; i < 16; i++)
        answers[i] = (small >> i & 1) != 0 ? 0xFF : 0;
}

static inline bool packed_bit(const uint8_t *table, uint32_t code)
{
    return (table[code / 8] >> code % 8 & 1) != 0;
}

#endif
