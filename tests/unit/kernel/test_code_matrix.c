/* test_code_matrix.c - a query's transform, matvec_s8, of every tier this CPU runs: exact, for the
 * greatest values there may be and rows up to the longest. All arrays end where memory ends. */
#include "check.h"
#include "guarded.h"

#include <string.h>

#include "kernel/code.h"

#define ROWS_MAX 9u /* two groups of four, and one left over */

/* Ends of the memory that kernels see. */
static char *m_end, *x_end, *out_end;

enum fill { RANDOM, LARGEST, SMALLEST, FILLS };

static int random_byte(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (int)(*seed >> 24);
}

static int16_t some_x(enum fill fill, uint32_t *seed)
{
    if (fill == LARGEST) return CODE_VECTOR_MAX;
    if (fill == SMALLEST) return -CODE_VECTOR_MAX;
    return (int16_t)((random_byte(seed) << 8 | random_byte(seed)) % (2 * CODE_VECTOR_MAX + 1) -
                     CODE_VECTOR_MAX);
}

static void check_s8(size_t rows, size_t stride, enum fill fill)
{
    static const int m_of[FILLS] = {0, 127, -128};
    int8_t *m = (int8_t *)m_end - rows * stride;
    int16_t *x = (int16_t *)(void *)x_end - stride;
    int32_t *out = (int32_t *)(void *)out_end - rows;
    int64_t wanted[ROWS_MAX] = {0};
    uint32_t seed = (uint32_t)(rows * stride);

    for (size_t j = 0; j < stride; j++)
        x[j] = some_x(fill, &seed);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < stride; j++) {
            int8_t value = (int8_t)(fill == RANDOM ? random_byte(&seed) - 128 : m_of[fill]);
            m[i * stride + j] = value;
            wanted[i] += x[j] * value;
        }
    for (size_t tier = 0; code_kernels_at(tier) != NULL; tier++) {
        memset(out, 0x55, rows * sizeof *out);
        code_kernels_at(tier)->matvec_s8(m, x, rows, stride, out);
        for (size_t i = 0; i < rows; i++)
            require(out[i] == wanted[i], code_kernels_at(tier), stride);
    }
}

static void products_of_a_matrix_of_bytes_are_exact(void **state)
{
    static const size_t strides[] = {64, 128, 192, 768, 832, CODE_STRIDE_MAX};

    (void)state;
    for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++)
        for (size_t rows = 0; rows <= ROWS_MAX; rows++)
            for (size_t fill = 0; fill < FILLS; fill++)
                check_s8(rows, strides[s], (enum fill)fill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_a_matrix_of_bytes_are_exact),
    };

    m_end = guarded_end((size_t)ROWS_MAX * CODE_STRIDE_MAX);
    x_end = guarded_end(CODE_STRIDE_MAX * sizeof(int16_t));
    out_end = guarded_end(ROWS_MAX * sizeof(int32_t));
    return cmocka_run_group_tests_name("kernel/code_matrix", tests, NULL, NULL);
}
