/* crc32c.c - CRC32C by the processor's instruction, three streams at a time, or by tables.
 *
 * Source: the polynomial and its bit order are those of RFC 3720, appendix B.4. The portable path
 * takes eight bytes a step through eight tables (Kounavis and Berry, "A systematic approach to
 * building high performance software-based CRC generators", 2005).
 *
 * Hardware: the instruction finishes every cycle but takes three, so one stream of data would use a
 * third of it. A block is cut into three parts of equal length whose checksums are computed side by
 * side, from states s, 0 and 0. A checksum's state is linear in what came before it, so the parts
 * are joined by what L zero bytes do to a state: a 32 x 32 bit matrix, kept as a table for each of
 * the eight nibbles. Two lengths of parts serve long and short buffers.
 *
 * Threads: the tables are made once, before the function pointer that leads to them is published.
 * Cost: near eight bytes a cycle in hardware, one to two by tables.
 * Rejected: folding by carry-less multiplication, faster still where vectors are wide, but a path
 * for each width, and reading is slower than this already; tables in the source, 8 KiB to check. */
#include "base/crc32c.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define HARDWARE __attribute__((target("sse4.2")))
#define STEP_8(state, word) _mm_crc32_u64(state, word)
#define STEP_1(state, byte) _mm_crc32_u8((uint32_t)(state), byte)
static bool hardware_present(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define HARDWARE __attribute__((target("+crc")))
#define STEP_8(state, word) __crc32cd((uint32_t)(state), word)
#define STEP_1(state, byte) __crc32cb((uint32_t)(state), byte)
#define HARDWARE_CAPABILITY_CRC32 (1ul << 7)
static bool hardware_present(void)
{
    return (getauxval(AT_HWCAP) & HARDWARE_CAPABILITY_CRC32) != 0;
}
#endif

#define POLYNOMIAL 0x82F63B78u
#define LONG_PART 4096u /* 256 << 4 */
#define SHORT_PART 256u

typedef uint32_t (*crc_fn)(uint32_t crc, const void *bytes, size_t length);

/* table[i][b]: what byte b, followed by i zero bytes, does to a state of zero. */
static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_make(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t state = byte;

        for (int bit = 0; bit < 8; bit++)
            state = (state >> 1) ^ (POLYNOMIAL & (0u - (state & 1u)));
        table[0][byte] = state;
    }
    for (int i = 1; i < 8; i++)
        for (uint32_t byte = 0; byte < 256; byte++)
            table[i][byte] = (table[i - 1][byte] >> 8) ^ table[0][table[i - 1][byte] & 0xFF];
}

static uint32_t load_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint32_t crc32c_portable(uint32_t crc, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint32_t state = ~crc;

    pthread_once(&table_once, table_make);
    for (; length >= 8; length -= 8, at += 8) {
        uint32_t low = state ^ load_u32(at), high = load_u32(at + 4);

        state = table[7][low & 0xFF] ^ table[6][low >> 8 & 0xFF] ^ table[5][low >> 16 & 0xFF] ^
                table[4][low >> 24] ^ table[3][high & 0xFF] ^ table[2][high >> 8 & 0xFF] ^
                table[1][high >> 16 & 0xFF] ^ table[0][high >> 24];
    }
    for (; length > 0; length--, at++)
        state = (state >> 8) ^ table[0][(state ^ *at) & 0xFF];
    return ~state;
}

#ifdef HARDWARE

/* What a number of zero bytes does to a state, by nibble of the state. */
struct zeros {
    uint32_t nibble[8][16];
};

static struct zeros long_zeros, short_zeros;

static inline uint32_t after_zeros(const struct zeros *zeros, uint32_t state)
{
    uint32_t result = 0;

    for (int i = 0; i < 8; i++)
        result ^= zeros->nibble[i][state >> (4 * i) & 0xF];
    return result;
}

/* matrix[i]: what becomes of bit i. */
static uint32_t matrix_apply(const uint32_t matrix[32], uint32_t state)
{
    uint32_t result = 0;

    for (int i = 0; i < 32; i++)
        if (state >> i & 1) result ^= matrix[i];
    return result;
}

static void matrix_square(uint32_t matrix[32])
{
    uint32_t square[32];

    for (int i = 0; i < 32; i++)
        square[i] = matrix_apply(matrix, matrix[i]);
    memcpy(matrix, square, sizeof square);
}

static void zeros_make(struct zeros *zeros, const uint32_t matrix[32])
{
    for (int i = 0; i < 8; i++)
        for (uint32_t value = 0; value < 16; value++)
            zeros->nibble[i][value] = matrix_apply(matrix, value << (4 * i));
}

static void hardware_make(void)
{
    uint32_t matrix[32]; /* of one zero byte, then of 2, 4, 8 ... */
    uint32_t nbytes = 1;

    pthread_once(&table_once, table_make);
    for (int i = 0; i < 32; i++) {
        uint32_t state = UINT32_C(1) << i;

        matrix[i] = (state >> 8) ^ table[0][state & 0xFF];
    }
    for (; nbytes < SHORT_PART; nbytes *= 2)
        matrix_square(matrix);
    zeros_make(&short_zeros, matrix);
    for (; nbytes < LONG_PART; nbytes *= 2)
        matrix_square(matrix);
    zeros_make(&long_zeros, matrix);
}

static inline uint64_t load_u64(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Takes 3 * part bytes. */
HARDWARE static uint64_t three_parts(uint64_t state, const uint8_t *at, size_t part,
                                     const struct zeros *zeros)
{
    uint64_t first = state, second = 0, third = 0;

    for (size_t i = 0; i < part; i += 8) {
        first = STEP_8(first, load_u64(at + i));
        second = STEP_8(second, load_u64(at + part + i));
        third = STEP_8(third, load_u64(at + 2 * part + i));
    }
    second ^= after_zeros(zeros, (uint32_t)first);
    return third ^ after_zeros(zeros, (uint32_t)second);
}

HARDWARE static uint32_t crc32c_hardware(uint32_t crc, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint64_t state = ~crc;

    for (; length > 0 && (uintptr_t)at % 8 != 0; length--, at++)
        state = STEP_1(state, *at);
    for (; length >= 3 * LONG_PART; length -= 3 * LONG_PART, at += 3 * LONG_PART)
        state = three_parts(state, at, LONG_PART, &long_zeros);
    for (; length >= 3 * SHORT_PART; length -= 3 * SHORT_PART, at += 3 * SHORT_PART)
        state = three_parts(state, at, SHORT_PART, &short_zeros);
    for (; length >= 8; length -= 8, at += 8)
        state = STEP_8(state, load_u64(at));
    for (; length > 0; length--, at++)
        state = STEP_1(state, *at);
    return ~(uint32_t)state;
}

#endif

static uint32_t crc32c_choose(uint32_t crc, const void *bytes, size_t length);

static _Atomic(crc_fn) chosen = crc32c_choose;

static uint32_t crc32c_choose(uint32_t crc, const void *bytes, size_t length)
{
    crc_fn best = crc32c_portable;

#ifdef HARDWARE
    static pthread_once_t hardware_once = PTHREAD_ONCE_INIT;

    if (hardware_present()) {
        pthread_once(&hardware_once, hardware_make);
        best = crc32c_hardware;
    }
#endif
    atomic_store_explicit(&chosen, best, memory_order_release);
    return best(crc, bytes, length);
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t length)
{
    return atomic_load_explicit(&chosen, memory_order_acquire)(crc, bytes, length);
}
