/* packed_neon.c - scans of packed codes for NEON.
 *
 * Same bitmaps as packed_portable.c, which is the meaning; this file is only speed. Its plan is
 * packed_avx2.c's: 64 codes a step, a word each. There is no instruction that collects signs: 64
 * bytes that are all ones or zeros are masked with a bit each and added up pairwise three times. */
#include "kernel/packed.h"
#include "kernel/packed_codes.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

/* The signs of 64 bytes. */
INLINE uint64_t signs(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t weights = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    uint8x16_t ab = vpaddq_u8(vandq_u8(a, weights), vandq_u8(b, weights));
    uint8x16_t cd = vpaddq_u8(vandq_u8(c, weights), vandq_u8(d, weights));
    uint8x16_t all = vpaddq_u8(ab, cd);

    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static void small2(const uint8_t *codes, size_t words, uint32_t small, uint64_t *bitmap)
{
    uint8_t answers[16];
    uint8x16_t low, high;

    packed_answers2(small, 0, answers);
    low = vld1q_u8(answers);
    packed_answers2(small, 2, answers);
    high = vld1q_u8(answers);
    for (size_t i = 0; i < words; i++) {
        uint8x16_t bytes = vld1q_u8(codes + 16 * i);
        uint8x16_t both = vorrq_u8(vqtbl1q_u8(low, vandq_u8(bytes, vdupq_n_u8(15))),
                                   vqtbl1q_u8(high, vshrq_n_u8(bytes, 4)));
        uint8x16_t word = vorrq_u8(vuzp1q_u8(both, both), vshlq_n_u8(vuzp2q_u8(both, both), 4));

        bitmap[i] = vgetq_lane_u64(vreinterpretq_u64_u8(word), 0);
    }
}

static void small4(const uint8_t *codes, size_t words, uint32_t small, uint64_t *bitmap)
{
    uint8_t answers[16];
    uint8x16_t table;

    packed_answers4(small, answers);
    table = vld1q_u8(answers);
    for (size_t i = 0; i < words; i++) {
        uint8x16_t a = vld1q_u8(codes + 32 * i), b = vld1q_u8(codes + 32 * i + 16);
        uint8x16_t a_even = vqtbl1q_u8(table, vandq_u8(a, vdupq_n_u8(15)));
        uint8x16_t a_odd = vqtbl1q_u8(table, vshrq_n_u8(a, 4));
        uint8x16_t b_even = vqtbl1q_u8(table, vandq_u8(b, vdupq_n_u8(15)));
        uint8x16_t b_odd = vqtbl1q_u8(table, vshrq_n_u8(b, 4));

        bitmap[i] = signs(vzip1q_u8(a_even, a_odd), vzip2q_u8(a_even, a_odd),
                          vzip1q_u8(b_even, b_odd), vzip2q_u8(b_even, b_odd));
    }
}

static void range8(const uint8_t *codes, size_t words, uint32_t low, uint32_t span,
                   uint64_t *bitmap)
{
    uint8x16_t from = vdupq_n_u8((uint8_t)low), most = vdupq_n_u8((uint8_t)span);

    for (size_t i = 0; i < words; i++) {
        uint8x16_t pass[4];

        for (unsigned j = 0; j < 4; j++)
            pass[j] = vcleq_u8(vsubq_u8(vld1q_u8(codes + 64 * i + 16 * j), from), most);
        bitmap[i] = signs(pass[0], pass[1], pass[2], pass[3]);
    }
}

INLINE uint16x8_t load16(const uint8_t *at) { return vreinterpretq_u16_u8(vld1q_u8(at)); }
INLINE uint32x4_t load32(const uint8_t *at) { return vreinterpretq_u32_u8(vld1q_u8(at)); }
INLINE uint64x2_t load64(const uint8_t *at) { return vreinterpretq_u64_u8(vld1q_u8(at)); }

/* Answers of 16 codes of 16 bits as bytes. */
INLINE uint8x16_t pass16(const uint8_t *at, uint16x8_t from, uint16x8_t most)
{
    uint16x8_t a = vcleq_u16(vsubq_u16(load16(at), from), most);
    uint16x8_t b = vcleq_u16(vsubq_u16(load16(at + 16), from), most);

    return vuzp1q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}

static void range16(const uint8_t *codes, size_t words, uint32_t low, uint32_t span,
                    uint64_t *bitmap)
{
    uint16x8_t from = vdupq_n_u16((uint16_t)low), most = vdupq_n_u16((uint16_t)span);

    for (size_t i = 0; i < words; i++) {
        uint8x16_t pass[4];

        for (unsigned j = 0; j < 4; j++)
            pass[j] = pass16(codes + 128 * i + 32 * j, from, most);
        bitmap[i] = signs(pass[0], pass[1], pass[2], pass[3]);
    }
}

INLINE uint16x8_t pass32(const uint8_t *at, uint32x4_t from, uint32x4_t most)
{
    uint32x4_t a = vcleq_u32(vsubq_u32(load32(at), from), most);
    uint32x4_t b = vcleq_u32(vsubq_u32(load32(at + 16), from), most);

    return vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
}

static void range32(const uint8_t *codes, size_t words, uint32_t low, uint32_t span,
                    uint64_t *bitmap)
{
    uint32x4_t from = vdupq_n_u32(low), most = vdupq_n_u32(span);

    for (size_t i = 0; i < words; i++) {
        uint8x16_t pass[4];

        for (unsigned j = 0; j < 4; j++) {
            const uint8_t *at = codes + 256 * i + 64 * j;

            pass[j] = vuzp1q_u8(vreinterpretq_u8_u16(pass32(at, from, most)),
                                vreinterpretq_u8_u16(pass32(at + 32, from, most)));
        }
        bitmap[i] = signs(pass[0], pass[1], pass[2], pass[3]);
    }
}

static void range(const uint8_t *codes, uint32_t width, size_t n, uint32_t low, uint32_t high,
                  uint64_t *bitmap)
{
    size_t words = n / 64;

    if (width == 1)
        for (size_t i = 0; i < words; i++)
            bitmap[i] = packed_word1(codes + 8 * i, packed_small_range(low, high));
    else if (width == 2)
        small2(codes, words, packed_small_range(low, high), bitmap);
    else if (width == 4)
        small4(codes, words, packed_small_range(low, high), bitmap);
    else if (width == 8)
        range8(codes, words, low, high - low, bitmap);
    else if (width == 16)
        range16(codes, words, low, high - low, bitmap);
    else
        range32(codes, words, low, high - low, bitmap);
    packed_kernels_portable.range(codes + words * 8 * width, width, n % 64, low, high,
                                  bitmap + words);
}

static void table8(const uint8_t *codes, size_t words, const uint8_t *bits, uint64_t *bitmap)
{
    const uint8x16_t weights = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    const uint8x16x2_t both = {{vld1q_u8(bits), vld1q_u8(bits + 16)}};

    for (size_t i = 0; i < words; i++) {
        uint8x16_t pass[4];

        for (unsigned j = 0; j < 4; j++) {
            uint8x16_t code = vld1q_u8(codes + 64 * i + 16 * j);
            uint8x16_t byte = vqtbl2q_u8(both, vshrq_n_u8(code, 3));

            pass[j] = vtstq_u8(byte, vqtbl1q_u8(weights, vandq_u8(code, vdupq_n_u8(7))));
        }
        bitmap[i] = signs(pass[0], pass[1], pass[2], pass[3]);
    }
}

static void table(const uint8_t *codes, uint32_t width, size_t n, const uint8_t *bits,
                  uint32_t table_bits, uint64_t *bitmap)
{
    size_t words = width <= 8 ? n / 64 : 0;

    if (width == 8)
        table8(codes, words, bits, bitmap);
    else if (width == 4)
        small4(codes, words, packed_small_table(bits, 4), bitmap);
    else if (width == 2)
        small2(codes, words, packed_small_table(bits, 2), bitmap);
    else if (width == 1)
        for (size_t i = 0; i < words; i++)
            bitmap[i] = packed_word1(codes + 8 * i, packed_small_table(bits, 1));
    packed_kernels_portable.table(codes + words * 8 * width, width, n - words * 64, bits,
                                  table_bits, bitmap + words);
}

INLINE uint32x4_t pass64(const uint8_t *at, uint64x2_t from, uint64x2_t most)
{
    uint64x2_t a = vcleq_u64(vsubq_u64(load64(at), from), most);
    uint64x2_t b = vcleq_u64(vsubq_u64(load64(at + 16), from), most);

    return vuzp1q_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b));
}

INLINE uint16x8_t pass64x8(const uint8_t *at, uint64x2_t from, uint64x2_t most)
{
    return vuzp1q_u16(vreinterpretq_u16_u32(pass64(at, from, most)),
                      vreinterpretq_u16_u32(pass64(at + 32, from, most)));
}

static void keys(const uint8_t *values, size_t n, uint64_t low, uint64_t high, uint64_t *bitmap)
{
    uint64x2_t from = vdupq_n_u64(low), most = vdupq_n_u64(high - low);
    size_t words = n / 64;

    for (size_t i = 0; i < words; i++) {
        uint8x16_t pass[4];

        for (unsigned j = 0; j < 4; j++) {
            const uint8_t *at = values + 512 * i + 128 * j;

            pass[j] = vuzp1q_u8(vreinterpretq_u8_u16(pass64x8(at, from, most)),
                                vreinterpretq_u8_u16(pass64x8(at + 64, from, most)));
        }
        bitmap[i] = signs(pass[0], pass[1], pass[2], pass[3]);
    }
    packed_kernels_portable.keys(values + 512 * words, n % 64, low, high, bitmap + words);
}

static void equal32(const uint8_t *values, size_t n, uint32_t value, uint64_t *bitmap)
{
    range(values, 32, n, value, value, bitmap);
}

const struct packed_kernels packed_kernels_neon = {
    .tier = "neon", .range = range, .table = table, .keys = keys, .equal32 = equal32};
#endif
