/* test_code_matrix.c - a query's transforms, matvec_s8 and matvec_bf16, of every tier this CPU
 * runs: the one exact, the other within its bound, on rows up to the longest there are. All arrays
 * end where memory ends. */
#include "check.h"
#include "guarded.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/code.h"

#define STRIDE_MAX 65600u /* 65,535 dimensions, rounded up to 64 */
#define ROWS_MAX 9u       /* two groups of four, and one left over */

/* Ends of the memory that kernels see. */
static char *m_end, *x_end, *sums_end, *out_end;

enum fill { RANDOM, LARGEST, SMALLEST, FILLS };

static int random_byte(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (int)(*seed >> 24);
}

static void check_s8(size_t rows, size_t stride, enum fill fill)
{
    static const int m_of[FILLS] = {0, 127, -128}, x_of[FILLS] = {0, 255, 0};
    int8_t *m = (int8_t *)m_end - rows * stride;
    uint8_t *x = (uint8_t *)x_end - stride;
    int32_t *row_sums = (int32_t *)(void *)sums_end - rows,
            *out = (int32_t *)(void *)out_end - rows;
    int64_t wanted[ROWS_MAX] = {0};
    uint32_t seed = (uint32_t)(rows * stride);

    for (size_t j = 0; j < stride; j++)
        x[j] = (uint8_t)(fill == RANDOM ? random_byte(&seed) : x_of[fill]);
    for (size_t i = 0; i < rows; i++) {
        row_sums[i] = 0;
        for (size_t j = 0; j < stride; j++) {
            int8_t value = (int8_t)(fill == RANDOM ? random_byte(&seed) - 128 : m_of[fill]);
            m[i * stride + j] = value;
            row_sums[i] += value;
            wanted[i] += (x[j] - 128) * value;
        }
    }
    for (size_t tier = 0; code_kernels_at(tier) != NULL; tier++) {
        memset(out, 0x55, rows * sizeof *out);
        code_kernels_at(tier)->matvec_s8(m, row_sums, x, rows, stride, out);
        for (size_t i = 0; i < rows; i++)
            require(out[i] == wanted[i], code_kernels_at(tier), stride);
    }
}

static void products_of_bytes_are_exact(void **state)
{
    static const size_t strides[] = {64, 128, 192, 768, 832, STRIDE_MAX};

    (void)state;
    for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++)
        for (size_t rows = 0; rows <= ROWS_MAX; rows += strides[s] == STRIDE_MAX ? 3 : 1)
            for (size_t fill = 0; fill < FILLS; fill++)
                check_s8(rows, strides[s], (enum fill)fill);
}

static float of_bf16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Signs and sizes by chance; or all alike, so that the errors of a long chain of additions all go
 * one way: in a sum above 2048, a bit more than half of the last place is left over each time. */
static uint16_t some_bf16(bool alike, uint32_t *seed)
{
    if (alike) return 0x3f80; /* 1 */
    return (uint16_t)((random_byte(seed) & 128) << 8 | (0x3d00 + random_byte(seed) * 2));
}

static void check_bf16(size_t rows, size_t stride, bool alike)
{
    uint16_t *m = (uint16_t *)(void *)m_end - rows * stride;
    float *x = (float *)(void *)x_end - stride, *out = (float *)(void *)out_end - rows;
    double wanted[ROWS_MAX] = {0}, terms[ROWS_MAX] = {0};
    uint32_t seed = (uint32_t)(rows + stride);

    for (size_t j = 0; j < stride; j++)
        x[j] = alike ? 1.0f + 0x1p-13f + 0x1p-19f : next_float(&seed);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < stride; j++) {
            m[i * stride + j] = some_bf16(alike, &seed);
            double term = (double)x[j] * (double)of_bf16(m[i * stride + j]);
            wanted[i] += term;
            terms[i] += fabs(term);
        }
    for (size_t tier = 0; code_kernels_at(tier) != NULL; tier++) {
        memset(out, 0x55, rows * sizeof *out);
        code_kernels_at(tier)->matvec_bf16(m, x, rows, stride, out);
        for (size_t i = 0; i < rows; i++)
            require(fabs((double)out[i] - wanted[i]) <= 0x1p-15 * terms[i], code_kernels_at(tier),
                    stride);
    }
}

static void products_of_bfloat16_are_within_the_bound(void **state)
{
    static const size_t strides[] = {32, 64, 96, 480, 512, 544, 768, 2080, 4128, STRIDE_MAX};

    (void)state;
    for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++)
        for (size_t rows = 0; rows <= ROWS_MAX; rows += strides[s] == STRIDE_MAX ? 3 : 1) {
            check_bf16(rows, strides[s], false);
            check_bf16(rows, strides[s], true);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_bytes_are_exact),
        cmocka_unit_test(products_of_bfloat16_are_within_the_bound),
    };

    m_end = guarded_end(ROWS_MAX * STRIDE_MAX * sizeof(uint16_t));
    x_end = guarded_end(STRIDE_MAX * sizeof(float));
    sums_end = guarded_end(ROWS_MAX * sizeof(int32_t));
    out_end = guarded_end(ROWS_MAX * sizeof(float));
    return cmocka_run_group_tests_name("kernel/code_matrix", tests, NULL, NULL);
}
