/* encode_portable.c - the meaning of the kernels that make codes, in plain C. */
#include "kernel/encode.h"

static float reduce(float parts[ENCODE_PARTS])
{
    for (size_t half = ENCODE_PARTS / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            parts[i] += parts[i + half];
    return parts[0];
}

static struct encode_norms norms(const struct encode_group *group)
{
    float weighted[ENCODE_PARTS] = {0}, pulled[ENCODE_PARTS] = {0};

    for (size_t i = 0; i < group->n; i += ENCODE_PARTS)
        for (size_t j = 0; j < ENCODE_PARTS; j++) {
            float square = group->values[i + j] * group->values[i + j];

            weighted[j] += group->weight[i + j] * square;
            pulled[j] += group->pull[i + j] * square;
        }
    return (struct encode_norms){reduce(weighted), reduce(pulled)};
}

static float code(const struct encode_group *group, size_t i, float inverse)
{
    float offset = group->offset[i], top = offset + offset - 1;
    float c = group->values[i] * inverse + offset;

    c = c < top ? c : top;
    c = c > 0 ? c : 0;
    return (float)(int32_t)c;
}

static struct encode_sums sums_of_step(const struct encode_group *group, float inverse)
{
    float dots[ENCODE_PARTS] = {0}, norms[ENCODE_PARTS] = {0};

    for (size_t i = 0; i < group->n; i += ENCODE_PARTS)
        for (size_t j = 0; j < ENCODE_PARTS; j++) {
            float x = code(group, i + j, inverse) - (group->offset[i + j] - 0.5f);
            float weighted = group->weight[i + j] * x;

            dots[j] += weighted * group->values[i + j];
            norms[j] += weighted * x;
        }
    return (struct encode_sums){reduce(dots), reduce(norms)};
}

static void sums(const struct encode_group *group, const float *inverse, size_t steps,
                 struct encode_sums *sums)
{
    for (size_t k = 0; k < steps; k++)
        sums[k] = sums_of_step(group, inverse[k]);
}

static void codes(const struct encode_group *group, float inverse, uint8_t *codes)
{
    for (size_t i = 0; i < group->n; i++)
        codes[i] = (uint8_t)code(group, i, inverse);
}

const struct encode_kernels encode_kernels_portable = {
    .tier = "portable",
    .norms = norms,
    .sums = sums,
    .codes = codes,
};
