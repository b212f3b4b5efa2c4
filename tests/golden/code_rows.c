/* code_rows.c - see code_rows.h. */
#include "golden/code_rows.h"

const paua_vector_field golden_code_fields[2] = {
    {.name = "unit",
     .dim = GOLDEN_UNIT_DIM,
     .metric = PAUA_COSINE,
     .precision = PAUA_INT4,
     .originals = PAUA_ORIGINALS_NONE,
     .index = {.kind = PAUA_INDEX_VAMANA, .degree = 8}},
    {.name = "plain",
     .dim = GOLDEN_PLAIN_DIM,
     .metric = PAUA_L2,
     .precision = PAUA_FP32,
     .index = {.kind = PAUA_INDEX_FLAT}},
};

uint32_t golden_code_same(uint32_t row)
{
    uint32_t copy = row - (GOLDEN_CODE_ROWS - GOLDEN_CODE_COPIES);

    return copy < GOLDEN_CODE_COPIES ? copy * GOLDEN_CODE_APART : row;
}

/* Components vary ever less, as those of real vectors do along their axes, so that segments get
 * different widths; about a third is added to each, so that the mean is not 0. Every operation is
 * rounded the same way everywhere. */
void golden_code_vector(uint32_t field, uint32_t row, float *vector)
{
    uint64_t random = (uint64_t)golden_code_same(row) << 8 | field;
    uint32_t dim = golden_code_fields[field].dim;

    test_random_floats(&random, vector, dim);
    for (uint32_t i = 0; i < dim; i++)
        vector[i] = vector[i] / (float)(1u << i * 4 / dim) + 0.34375f;
}
