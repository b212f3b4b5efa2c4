/* packed_avx2.c - scans of packed codes for AVX2.
 *
 * Same bitmaps as packed_portable.c, which is the meaning; this file is only speed. Each step takes
 * 64 codes and writes one word; what is left at the end goes to the portable scan, so that nothing
 * is read past the last code.
 *
 * Small   Codes of up to 4 bits are looked up by vpshufb, half a byte at a time, a range like any
 *         table. Of 4 bits: the answers of low and high halves are interleaved and their signs
 *         collected; quarters are swapped before, so that two collections give the word in order.
 *         Of 2 bits: half a byte gives two bits, and pairs of bytes are added up.
 * Ranges  code - low, unsigned, is at most high - low if the minimum of both is itself.
 * Tables  of 8 bits: two lookups for the byte of the table, one for the bit. Of 16 and 32 bits the
 *         portable scan: gathers are no faster than its loads. */
#include "kernel/packed.h"
#include "kernel/packed_codes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE AVX2 static inline __attribute__((always_inline))

INLINE __m256i load(const uint8_t *from) { return _mm256_loadu_si256((const void *)from); }

INLINE uint64_t signs(__m256i bytes) { return (uint32_t)_mm256_movemask_epi8(bytes); }

AVX2 static void small2(const uint8_t *codes, size_t words, uint32_t small, uint64_t *bitmap)
{
    uint8_t low_answers[16], high_answers[16];
    __m128i low, high, low_half = _mm_set1_epi8(15), pairs = _mm_set1_epi16(0x1001);

    packed_answers2(small, 0, low_answers);
    packed_answers2(small, 2, high_answers);
    low = _mm_loadu_si128((const void *)low_answers);
    high = _mm_loadu_si128((const void *)high_answers);
    for (size_t i = 0; i < words; i++) {
        __m128i bytes = _mm_loadu_si128((const void *)(codes + 16 * i));
        __m128i upper = _mm_and_si128(_mm_srli_epi16(bytes, 4), low_half);
        __m128i answers = _mm_or_si128(_mm_shuffle_epi8(low, _mm_and_si128(bytes, low_half)),
                                       _mm_shuffle_epi8(high, upper));
        __m128i sums = _mm_maddubs_epi16(answers, pairs);

        bitmap[i] = (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(sums, sums));
    }
}

AVX2 static void small4(const uint8_t *codes, size_t words, uint32_t small, uint64_t *bitmap)
{
    __m256i table, low_half = _mm256_set1_epi8(15);
    uint8_t answers[16];

    packed_answers4(small, answers);
    table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)answers));
    for (size_t i = 0; i < words; i++) {
        __m256i bytes = _mm256_permute4x64_epi64(load(codes + 32 * i), 0xD8);
        __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_half);
        __m256i even = _mm256_shuffle_epi8(table, _mm256_and_si256(bytes, low_half));
        __m256i odd = _mm256_shuffle_epi8(table, upper);

        bitmap[i] = signs(_mm256_unpacklo_epi8(even, odd)) | signs(_mm256_unpackhi_epi8(even, odd))
                                                                 << 32;
    }
}

AVX2 static void range8(const uint8_t *codes, size_t words, uint32_t low, uint32_t span,
                        uint64_t *bitmap)
{
    __m256i from = _mm256_set1_epi8((char)low), most = _mm256_set1_epi8((char)span);

    for (size_t i = 0; i < words; i++) {
        __m256i a = _mm256_sub_epi8(load(codes + 64 * i), from);
        __m256i b = _mm256_sub_epi8(load(codes + 64 * i + 32), from);

        bitmap[i] = signs(_mm256_cmpeq_epi8(_mm256_min_epu8(a, most), a)) |
                    signs(_mm256_cmpeq_epi8(_mm256_min_epu8(b, most), b)) << 32;
    }
}

INLINE __m256i pass16(const uint8_t *at, __m256i from, __m256i most)
{
    __m256i x = _mm256_sub_epi16(load(at), from);

    return _mm256_cmpeq_epi16(_mm256_min_epu16(x, most), x);
}

/* Signs of 32 numbers of 16 bits, in order. */
INLINE uint64_t signs16(__m256i a, __m256i b)
{
    return signs(_mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xD8));
}

AVX2 static void range16(const uint8_t *codes, size_t words, uint32_t low, uint32_t span,
                         uint64_t *bitmap)
{
    __m256i from = _mm256_set1_epi16((short)low), most = _mm256_set1_epi16((short)span);

    for (size_t i = 0; i < words; i++) {
        const uint8_t *at = codes + 128 * i;

        bitmap[i] = signs16(pass16(at, from, most), pass16(at + 32, from, most)) |
                    signs16(pass16(at + 64, from, most), pass16(at + 96, from, most)) << 32;
    }
}

AVX2 static void range32(const uint8_t *codes, size_t words, uint32_t low, uint32_t span,
                         uint64_t *bitmap)
{
    __m256i from = _mm256_set1_epi32((int)low), most = _mm256_set1_epi32((int)span);

    for (size_t i = 0; i < words; i++) {
        uint64_t word = 0;

        for (unsigned j = 0; j < 8; j++) {
            __m256i x = _mm256_sub_epi32(load(codes + 256 * i + 32 * j), from);
            __m256i pass = _mm256_cmpeq_epi32(_mm256_min_epu32(x, most), x);

            word |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(pass)) << 8 * j;
        }
        bitmap[i] = word;
    }
}

static void range(const uint8_t *codes, uint32_t width, size_t n, uint32_t low, uint32_t high,
                  uint64_t *bitmap)
{
    size_t words = n / 64;
    uint32_t span = high - low;

    switch (width) {
    case 1:
        for (size_t i = 0; i < words; i++)
            bitmap[i] = packed_word1(codes + 8 * i, packed_small_range(low, high));
        break;
    case 2:
        small2(codes, words, packed_small_range(low, high), bitmap);
        break;
    case 4:
        small4(codes, words, packed_small_range(low, high), bitmap);
        break;
    case 8:
        range8(codes, words, low, span, bitmap);
        break;
    case 16:
        range16(codes, words, low, span, bitmap);
        break;
    default:
        range32(codes, words, low, span, bitmap);
    }
    packed_kernels_portable.range(codes + words * 8 * width, width, n % 64, low, high,
                                  bitmap + words);
}

AVX2 static void table8(const uint8_t *codes, size_t words, const uint8_t *bits, uint64_t *bitmap)
{
    __m256i lower = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)bits));
    __m256i upper = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(bits + 16)));
    __m256i weights = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i low_half = _mm256_set1_epi8(15), low_bits = _mm256_set1_epi8(7);

    for (size_t i = 0; i < 2 * words; i += 2) {
        uint64_t word = 0;

        for (unsigned j = 0; j < 2; j++) {
            __m256i code = load(codes + 32 * (i + j));
            __m256i at = _mm256_and_si256(_mm256_srli_epi16(code, 3), low_half);
            __m256i byte = _mm256_blendv_epi8(_mm256_shuffle_epi8(lower, at),
                                              _mm256_shuffle_epi8(upper, at), code);
            __m256i bit = _mm256_shuffle_epi8(weights, _mm256_and_si256(code, low_bits));

            word |= signs(_mm256_cmpeq_epi8(_mm256_and_si256(byte, bit), bit)) << 32 * j;
        }
        bitmap[i / 2] = word;
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

/* AVX2 compares 64-bit numbers as signed: both sides are moved by half the range. */
AVX2 static void keys_words(const uint8_t *keys, size_t words, uint64_t low, uint64_t span,
                            uint64_t *bitmap)
{
    const uint64_t half = UINT64_C(1) << 63;
    __m256i from = _mm256_set1_epi64x((long long)(low + half));
    __m256i most = _mm256_set1_epi64x((long long)(span + half));

    for (size_t i = 0; i < words; i++) {
        uint64_t word = 0;

        for (unsigned j = 0; j < 16; j++) {
            __m256i x = _mm256_sub_epi64(load(keys + 512 * i + 32 * j), from);
            __m256i fail = _mm256_cmpgt_epi64(x, most);

            word |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(fail)) << 4 * j;
        }
        bitmap[i] = ~word;
    }
}

static void keys(const uint8_t *values, size_t n, uint64_t low, uint64_t high, uint64_t *bitmap)
{
    size_t words = n / 64;

    keys_words(values, words, low, high - low, bitmap);
    packed_kernels_portable.keys(values + 512 * words, n % 64, low, high, bitmap + words);
}

static void equal32(const uint8_t *values, size_t n, uint32_t value, uint64_t *bitmap)
{
    range(values, 32, n, value, value, bitmap);
}

const struct packed_kernels packed_kernels_avx2 = {
    .tier = "avx2", .range = range, .table = table, .keys = keys, .equal32 = equal32};
#endif
