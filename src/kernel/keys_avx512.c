/* keys_avx512.c - sorting and merging keys with AVX-512.
 *
 * Same results as keys_portable.c, which is the meaning; this file is only speed.
 *
 * Sorting  Up to 32 keys are sorted in registers of 8 by bitonic networks; up to 64 as 8 columns by
 *          a network of 19 comparisons (the fewest for 8), transposed to 8 runs, and these merged
 *          by bitonic networks, as are runs of 64 and of 128. What a register lacks are keys that
 *          none is greater than. More than 256 keys are sorted in pieces.
 * Merging  Few found keys: what is behind each is moved up, from the back, with one mispredicted
 *          branch a key. Many: from the back, the run whose next key is greater gives a block of 8,
 *          which is merged with the 8 least so far, and the greater 8 of both are stored.
 *          Ends when found has been read and the pool's next key is below the 8 that are held.
 *          Storing never reaches what has yet to be read of the pool: what is held fits into the
 *          room of the unread found keys and KEYS_SLACK.
 * Cost     half to a quarter of the portable tier's: 64 keys are sorted in 0.12 microseconds and
 *          merged into 200 in 0.3.
 * Rejected ranks of the found keys by binary search, and blocks expanded from both sides: 20
 *          cycles a key; it loses to moving for few keys and to blocks for many.
 * Flags    The file is built with the baseline flags; only functions marked AVX512 may use it.
 *
 * Source: Batcher, Sorting networks and their applications, AFIPS 1968; merging by blocks: Inoue et
 * al., AA-sort, PACT 2007. */
#include "kernel/keys.h"
#include "kernel/keys_runs.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))
#define INLINE AVX512 static inline __attribute__((always_inline))

#define LANES 8u /* keys of a register */
#define REGISTERS_MAX 16
#define SORT_FEW 256u
#define MERGE_FEW 24u

INLINE void order(__m512i *a, __m512i *b)
{
    __m512i less = _mm512_min_epu64(*a, *b);

    *b = _mm512_max_epu64(*a, *b);
    *a = less;
}

/* Orders each lane and its partner; the greater goes to the lanes of `high`. */
INLINE __m512i order_lanes(__m512i x, __m512i partner, __mmask8 high)
{
    return _mm512_mask_max_epu64(_mm512_min_epu64(x, partner), high, x, partner);
}

INLINE __m512i by_1(__m512i x) { return _mm512_shuffle_epi32(x, _MM_PERM_BADC); }

INLINE __m512i by_2(__m512i x) { return _mm512_permutex_epi64(x, 0x4e); }

INLINE __m512i reversed(__m512i x)
{
    return _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), x);
}

/* ---- bitonic runs, made rising ---- */

/* Two of a register each, halves side by side: so no lane computes what its partner does. */
INLINE void rise_each(__m512i *x)
{
    __m512i low = _mm512_shuffle_i64x2(x[0], x[1], 0x44);
    __m512i high = _mm512_shuffle_i64x2(x[0], x[1], 0xee);

    order(&low, &high);
    x[0] = _mm512_shuffle_i64x2(low, high, 0x88);
    x[1] = _mm512_shuffle_i64x2(low, high, 0xdd);
    order(&x[0], &x[1]);
    low = _mm512_unpacklo_epi64(x[0], x[1]);
    high = _mm512_unpackhi_epi64(x[0], x[1]);
    order(&low, &high);
    x[0] = _mm512_permutex2var_epi64(low, _mm512_set_epi64(13, 5, 12, 4, 9, 1, 8, 0), high);
    x[1] = _mm512_permutex2var_epi64(low, _mm512_set_epi64(15, 7, 14, 6, 11, 3, 10, 2), high);
}

INLINE void rise_2(__m512i *x)
{
    order(&x[0], &x[1]);
    rise_each(x);
}

INLINE void rise_4(__m512i *x)
{
    order(&x[0], &x[2]);
    order(&x[1], &x[3]);
    rise_2(x);
    rise_2(x + 2);
}

INLINE void rise_8(__m512i *x)
{
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
        order(&x[i], &x[i + 4]);
    rise_4(x);
    rise_4(x + 4);
}

INLINE void rise_16(__m512i *x)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        order(&x[i], &x[i + 8]);
    rise_8(x);
    rise_8(x + 8);
}

/* Two rising runs of half the registers each become two bitonic runs, the first below the second.
 */
INLINE void cross(__m512i *x, size_t registers)
{
    __m512i high[REGISTERS_MAX / 2];

#pragma GCC unroll 8
    for (size_t i = 0; i < registers / 2; i++) {
        high[i] = reversed(x[registers - 1 - i]);
        order(&x[i], &high[i]);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < registers / 2; i++)
        x[registers / 2 + i] = high[i];
}

/* ---- sorting in registers; names say of how many ---- */

INLINE void sort_1(__m512i *x)
{
    *x = order_lanes(*x, by_1(*x), 0xaa);
    *x = order_lanes(*x, _mm512_permutex_epi64(*x, 0x1b), 0xcc);
    *x = order_lanes(*x, by_1(*x), 0xaa);
    *x = order_lanes(*x, reversed(*x), 0xf0);
    *x = order_lanes(*x, by_2(*x), 0xcc);
    *x = order_lanes(*x, by_1(*x), 0xaa);
}

INLINE void sort_2(__m512i *x)
{
    sort_1(&x[0]);
    sort_1(&x[1]);
    cross(x, 2);
    rise_each(x);
}

INLINE void sort_4(__m512i *x)
{
    sort_2(x);
    sort_2(x + 2);
    cross(x, 4);
    rise_2(x);
    rise_2(x + 2);
}

/* Each of the 8 lanes by itself. */
INLINE void sort_columns(__m512i x[8])
{
    static const uint8_t network[19][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6},
                                           {3, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {2, 4}, {3, 5},
                                           {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};

#pragma GCC unroll 19
    for (size_t i = 0; i < 19; i++)
        order(&x[network[i][0]], &x[network[i][1]]);
}

INLINE void transpose(__m512i x[8])
{
    __m512i pairs[8], quads[8];

#pragma GCC unroll 4
    for (size_t i = 0; i < 8; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(x[i], x[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(x[i], x[i + 1]);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        size_t at = i / 2 * 4 + i % 2;
        quads[i] = _mm512_shuffle_i64x2(pairs[at], pairs[at + 2], 0x88);
        quads[i + 4] = _mm512_shuffle_i64x2(pairs[at], pairs[at + 2], 0xdd);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        size_t at = i / 2 * 4 + i % 2;
        x[i] = _mm512_shuffle_i64x2(quads[at], quads[at + 2], 0x88);
        x[i + 4] = _mm512_shuffle_i64x2(quads[at], quads[at + 2], 0xdd);
    }
}

INLINE void sort_8(__m512i *x)
{
    sort_columns(x);
    transpose(x);
#pragma GCC unroll 4
    for (size_t i = 0; i < 8; i += 2) {
        cross(x + i, 2);
        rise_each(x + i);
    }
#pragma GCC unroll 2
    for (size_t i = 0; i < 8; i += 4) {
        cross(x + i, 4);
        rise_2(x + i);
        rise_2(x + i + 2);
    }
    cross(x, 8);
    rise_4(x);
    rise_4(x + 4);
}

/* The lanes of the register of keys i .. i + 7 that n keys fill. */
INLINE __mmask8 lanes_of(size_t i, size_t n)
{
    size_t left = i < n ? n - i : 0;

    return (__mmask8)(left < LANES ? (1u << left) - 1u : 0xffu);
}

INLINE void load(const uint64_t *keys, size_t n, size_t registers, __m512i *x)
{
#pragma GCC unroll 16
    for (size_t r = 0; r < registers; r++)
        x[r] = _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), lanes_of(r * LANES, n),
                                       keys + r * LANES);
}

INLINE void store(const __m512i *x, size_t registers, uint64_t *keys, size_t n)
{
#pragma GCC unroll 16
    for (size_t r = 0; r < registers; r++)
        _mm512_mask_storeu_epi64(keys + r * LANES, lanes_of(r * LANES, n), x[r]);
}

AVX512 static void sort_64(uint64_t *keys, size_t n)
{
    __m512i x[8];

    if (n <= LANES) {
        load(keys, n, 1, x);
        sort_1(x);
        store(x, 1, keys, n);
    } else if (n <= 2 * LANES) {
        load(keys, n, 2, x);
        sort_2(x);
        store(x, 2, keys, n);
    } else if (n <= 4 * LANES) {
        load(keys, n, 4, x);
        sort_4(x);
        store(x, 4, keys, n);
    } else {
        load(keys, n, 8, x);
        sort_8(x);
        store(x, 8, keys, n);
    }
}

AVX512 static void sort_128(uint64_t *keys, size_t n)
{
    __m512i x[16];

    sort_64(keys, n < 64 ? n : 64);
    if (n <= 64) return;
    sort_64(keys + 64, n - 64);
    load(keys, n, 16, x);
    cross(x, 16);
    rise_8(x);
    rise_8(x + 8);
    store(x, 16, keys, n);
}

/* Merges a sorted run of 128 keys and one of n, which fits into so many registers. */
INLINE void join_128(uint64_t *keys, size_t n, size_t registers)
{
    __m512i x[16], high[16];
    uint64_t *at = keys + 128 - registers * LANES;

    load(keys + 128, n, registers, x);
#pragma GCC unroll 16
    for (size_t i = 0; i < registers; i++, at += LANES) {
        __m512i low = _mm512_loadu_si512(at);
        high[i] = reversed(x[registers - 1 - i]);
        order(&low, &high[i]);
        _mm512_storeu_si512(at, low);
    }
    if (registers == 8)
        rise_8(high);
    else
        rise_16(high);
    store(high, registers, keys + 128, n);
    load(keys, 128, 16, x);
    rise_16(x);
    store(x, 16, keys, 128);
}

AVX512 static void sort_256(uint64_t *keys, size_t n)
{
    sort_128(keys, n < 128 ? n : 128);
    if (n <= 128) return;
    sort_128(keys + 128, n - 128);
    if (n <= 192)
        join_128(keys, n - 128, 8);
    else
        join_128(keys, n - 128, 16);
}

AVX512 static void sort(uint64_t *keys, size_t n, uint64_t *spare)
{
    if (n > 1) keys_sort_pieces(keys, n, spare, SORT_FEW, sort_256);
}

/* ---- merging ---- */

/* The keys that end at `end`, at most 8, and which of them are greater than key. */
INLINE __mmask8 load_greater(const uint64_t *pool, size_t end, __m512i key, __m512i *keys)
{
    __mmask8 lanes = (__mmask8)(0xff00u >> (end < LANES ? end : LANES));

    *keys = _mm512_maskz_loadu_epi64(lanes, pool + end - LANES);
    return _mm512_cmpgt_epu64_mask(*keys, key);
}

/* Moves up what is behind each found key, from the back. */
AVX512 static size_t merge_few(uint64_t *pool, size_t count, const uint64_t *found, size_t n)
{
    for (; n > 0; n--) {
        __m512i key = _mm512_set1_epi64((long long)found[n - 1]), keys;
        __mmask8 behind;

        while ((behind = load_greater(pool, count, key, &keys)) == 0xff) {
            _mm512_storeu_si512(pool + count - LANES + n, keys);
            count -= LANES;
        }
        _mm512_mask_storeu_epi64(pool + count - LANES + n, behind, keys);
        count -= (size_t)__builtin_popcount(behind);
        pool[count + n - 1] = found[n - 1];
    }
    return count;
}

/* The greater 8 of two rising blocks are stored, the lesser returned. */
INLINE __m512i merge_block(__m512i a, __m512i b, uint64_t *high)
{
    __m512i x[2] = {a, reversed(b)};

    rise_2(x);
    _mm512_storeu_si512(high, x[1]);
    return x[0];
}

/* The last block of a run, which begins at `at`. */
INLINE __m512i load_last(const uint64_t *keys, size_t at, size_t n)
{
    return _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), lanes_of(at, n), keys + at);
}

AVX512 static size_t merge_many(uint64_t *pool, size_t count, const uint64_t *found, size_t n)
{
    size_t i = (count - 1) / LANES * LANES, j = (n - 1) / LANES * LANES;
    __m512i low =
        merge_block(load_last(pool, i, count), load_last(found, j, n), pool + i + j + LANES);

    while (i > 0 && j > 0) {
        bool of_pool = pool[i - 1] > found[j - 1];
        const uint64_t *next = of_pool ? pool + i : found + j;

        i -= of_pool ? LANES : 0;
        j -= of_pool ? 0 : LANES;
        low = merge_block(low, _mm512_loadu_si512(next - LANES), pool + i + j + LANES);
    }
    for (; j > 0; j -= LANES)
        low = merge_block(low, _mm512_loadu_si512(found + j - LANES), pool + j);
    for (; i > 0 && pool[i - 1] > (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(low));
         i -= LANES)
        low = merge_block(low, _mm512_loadu_si512(pool + i - LANES), pool + i);
    _mm512_storeu_si512(pool + i, low);
    while (pool[i] != found[0])
        i++;
    return i;
}

AVX512 static size_t merge(uint64_t *pool, size_t count, const uint64_t *found, size_t n)
{
    if (n <= MERGE_FEW || count == 0) return merge_few(pool, count, found, n);
    return merge_many(pool, count, found, n);
}

const struct keys_kernels keys_kernels_avx512 = {
    .tier = "avx512",
    .sort = sort,
    .merge = merge,
};
#endif
