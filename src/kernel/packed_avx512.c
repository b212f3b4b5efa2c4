/* packed_avx512.c - scans of packed codes for AVX-512 (F, BW and VL).
 *
 * Same bitmaps as packed_portable.c, which is the meaning; this file is only speed. As
 * packed_avx2.c, but comparisons give their bits at once, and registers are twice as long: codes of
 * up to 4 bits go 128 or 256 at a time, and what is left goes to AVX2, and from there to the
 * portable scan. */
#include "kernel/packed.h"
#include "kernel/packed_codes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))
#define INLINE AVX512 static inline __attribute__((always_inline))

INLINE __m512i load(const uint8_t *from) { return _mm512_loadu_si512((const void *)from); }

INLINE __m512i broadcast(const uint8_t answers[16])
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)answers));
}

/* 4 words a step. */
AVX512 static void small2(const uint8_t *codes, size_t steps, uint32_t small, uint64_t *bitmap)
{
    __m512i low, high, low_half = _mm512_set1_epi8(15), pairs = _mm512_set1_epi16(0x1001);
    uint8_t answers[16];

    packed_answers2(small, 0, answers);
    low = broadcast(answers);
    packed_answers2(small, 2, answers);
    high = broadcast(answers);
    for (size_t i = 0; i < steps; i++) {
        __m512i bytes = load(codes + 64 * i);
        __m512i upper = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), low_half);
        __m512i both = _mm512_or_si512(_mm512_shuffle_epi8(low, _mm512_and_si512(bytes, low_half)),
                                       _mm512_shuffle_epi8(high, upper));

        _mm256_storeu_si256((void *)(bitmap + 4 * i),
                            _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(both, pairs)));
    }
}

/* 2 words a step: eighths are swapped before, so that two collections give the words in order. */
AVX512 static void small4(const uint8_t *codes, size_t steps, uint32_t small, uint64_t *bitmap)
{
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    __m512i table, low_half = _mm512_set1_epi8(15);
    uint8_t answers[16];

    packed_answers4(small, answers);
    table = broadcast(answers);
    for (size_t i = 0; i < steps; i++) {
        __m512i bytes = _mm512_permutexvar_epi64(order, load(codes + 64 * i));
        __m512i upper = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), low_half);
        __m512i even = _mm512_shuffle_epi8(table, _mm512_and_si512(bytes, low_half));
        __m512i odd = _mm512_shuffle_epi8(table, upper);

        bitmap[2 * i] = _mm512_movepi8_mask(_mm512_unpacklo_epi8(even, odd));
        bitmap[2 * i + 1] = _mm512_movepi8_mask(_mm512_unpackhi_epi8(even, odd));
    }
}

AVX512 static void range8(const uint8_t *codes, size_t words, uint32_t low, uint32_t span,
                          uint64_t *bitmap)
{
    __m512i from = _mm512_set1_epi8((char)low), most = _mm512_set1_epi8((char)span);

    for (size_t i = 0; i < words; i++)
        bitmap[i] = _mm512_cmple_epu8_mask(_mm512_sub_epi8(load(codes + 64 * i), from), most);
}

/* Masks are joined as masks: of one made a 64-bit number, gcc 12 at -O1 spills 32 bits and reads
 * back 64. */
INLINE __mmask32 pass16(const uint8_t *at, __m512i from, __m512i most)
{
    return _mm512_cmple_epu16_mask(_mm512_sub_epi16(load(at), from), most);
}

AVX512 static void range16(const uint8_t *codes, size_t words, uint32_t low, uint32_t span,
                           uint64_t *bitmap)
{
    __m512i from = _mm512_set1_epi16((short)low), most = _mm512_set1_epi16((short)span);

    for (size_t i = 0; i < words; i++)
        bitmap[i] = _mm512_kunpackd(pass16(codes + 128 * i + 64, from, most),
                                    pass16(codes + 128 * i, from, most));
}

INLINE __mmask16 pass32(const uint8_t *at, __m512i from, __m512i most)
{
    return _mm512_cmple_epu32_mask(_mm512_sub_epi32(load(at), from), most);
}

INLINE __mmask32 pass32_twice(const uint8_t *at, __m512i from, __m512i most)
{
    return _mm512_kunpackw(pass32(at + 64, from, most), pass32(at, from, most));
}

AVX512 static void range32(const uint8_t *codes, size_t words, uint32_t low, uint32_t span,
                           uint64_t *bitmap)
{
    __m512i from = _mm512_set1_epi32((int)low), most = _mm512_set1_epi32((int)span);

    for (size_t i = 0; i < words; i++)
        bitmap[i] = _mm512_kunpackd(pass32_twice(codes + 256 * i + 128, from, most),
                                    pass32_twice(codes + 256 * i, from, most));
}

/* Words of small codes that are done here. */
static size_t small(const uint8_t *codes, uint32_t width, size_t n, uint32_t bits, uint64_t *bitmap)
{
    if (width == 4) {
        small4(codes, n / 128, bits, bitmap);
        return n / 128 * 2;
    }
    if (width == 2) {
        small2(codes, n / 256, bits, bitmap);
        return n / 256 * 4;
    }
    return 0;
}

static void range(const uint8_t *codes, uint32_t width, size_t n, uint32_t low, uint32_t high,
                  uint64_t *bitmap)
{
    size_t words = n / 64;

    if (width <= 4)
        words = small(codes, width, n, packed_small_range(low, high), bitmap);
    else if (width == 8)
        range8(codes, words, low, high - low, bitmap);
    else if (width == 16)
        range16(codes, words, low, high - low, bitmap);
    else
        range32(codes, words, low, high - low, bitmap);
    packed_kernels_avx2.range(codes + words * 8 * width, width, n - words * 64, low, high,
                              bitmap + words);
}

AVX512 static void table8(const uint8_t *codes, size_t words, const uint8_t *bits, uint64_t *bitmap)
{
    __m512i lower = broadcast(bits), upper = broadcast(bits + 16);
    __m512i weights = _mm512_set1_epi64((long long)0x8040201008040201);
    __m512i low_half = _mm512_set1_epi8(15), low_bits = _mm512_set1_epi8(7);

    for (size_t i = 0; i < words; i++) {
        __m512i code = load(codes + 64 * i);
        __m512i at = _mm512_and_si512(_mm512_srli_epi16(code, 3), low_half);
        __m512i byte = _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(lower, at),
                                                _mm512_movepi8_mask(code), upper, at);
        __m512i bit = _mm512_shuffle_epi8(weights, _mm512_and_si512(code, low_bits));

        bitmap[i] = _mm512_test_epi8_mask(byte, bit);
    }
}

static void table(const uint8_t *codes, uint32_t width, size_t n, const uint8_t *bits,
                  uint32_t table_bits, uint64_t *bitmap)
{
    size_t words = 0;

    if (width == 8) {
        words = n / 64;
        table8(codes, words, bits, bitmap);
    } else if (width <= 4) {
        words = small(codes, width, n, packed_small_table(bits, width), bitmap);
    }
    packed_kernels_avx2.table(codes + words * 8 * width, width, n - words * 64, bits, table_bits,
                              bitmap + words);
}

AVX512 static void keys_words(const uint8_t *keys, size_t words, uint64_t low, uint64_t span,
                              uint64_t *bitmap)
{
    __m512i from = _mm512_set1_epi64((long long)low), most = _mm512_set1_epi64((long long)span);

    for (size_t i = 0; i < words; i++) {
        uint8_t passed[8]; /* bytes, for the same reason */

        for (unsigned j = 0; j < 8; j++) {
            __m512i x = _mm512_sub_epi64(load(keys + 512 * i + 64 * j), from);

            passed[j] = _mm512_cmple_epu64_mask(x, most);
        }
        memcpy(&bitmap[i], passed, sizeof passed);
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

const struct packed_kernels packed_kernels_avx512 = {
    .tier = "avx512", .range = range, .table = table, .keys = keys, .equal32 = equal32};
#endif
