/* code_portable.c - the meaning of every kernel over codes, in plain C; the other tiers are only
 * speed.
 *
 * Integer sums are exact, and a distance is computed from them in the order that code.h gives, so a
 * tier is right when its bits are these. */
#include "kernel/code.h"
#include "kernel/code_rows.h"

#include <string.h>

static unsigned code_at(const struct code_field *field, const uint8_t *row, size_t j)
{
    return (unsigned)row[field->offset + j] >> field->shift & ((1u << field->width) - 1u);
}

static int32_t sum_of_step(const struct code_step *step, const uint8_t *bytes, const int8_t *values)
{
    int32_t sum = 0;

    for (size_t j = 0; j < CODE_LINE_NBYTES; j++)
        sum += (int32_t)(bytes[j] >> step->shift & (step->mask & 0xff)) * values[j];
    return sum;
}

static void sums_of_row(const struct code_layout *layout, const int8_t *values, const uint8_t *row,
                        int32_t sums[CODE_FACTORS])
{
    memset(sums, 0, CODE_FACTORS * sizeof sums[0]);
    for (size_t g = 0, s = 0; g < CODE_GROUPS; g++)
        for (; s < layout->step_end[g]; s++, values += CODE_LINE_NBYTES)
            sums[g] += sum_of_step(&layout->steps[s], row + layout->steps[s].offset, values);
}

static float distance(const struct code_plane *plane, const struct code_query *query, size_t id)
{
    const float *factors = plane->factors + id * CODE_FACTORS;
    float d = query->base + factors[CODE_GROUPS];
    int32_t sums[CODE_FACTORS];

    sums_of_row(&plane->layout, query->values, plane->codes + id * plane->layout.nbytes, sums);
    for (size_t g = 0; g < CODE_GROUPS; g++)
        d += factors[g] * ((float)sums[g] * query->scale[g] + query->shift[g]);
    return d;
}

static void distances(const struct code_plane *plane, const struct code_query *query,
                      const uint32_t *ids, size_t first, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = distance(plane, query, ids != NULL ? ids[i] : first + i);
}

static size_t keys_below(const struct code_plane *plane, const struct code_query *query,
                         const uint32_t *ids, size_t n, float bound, uint64_t *keys)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        float d = distance(plane, query, ids[i]);
        if (d < bound) keys[count++] = code_key(d, ids[i]);
    }
    return count;
}

static void sums(const struct code_layout *layout, const int8_t *values, const uint8_t *const *rows,
                 size_t n, int32_t *sums)
{
    for (size_t i = 0; i < n; i++)
        sums_of_row(layout, values, rows[i], sums + i * CODE_FACTORS);
}

static void expand(const struct code_layout *layout, const uint8_t *row, const int8_t *lut,
                   int8_t *out)
{
    memset(out, 0, layout->step_count * (size_t)CODE_LINE_NBYTES);
    for (size_t f = 0; f < layout->field_count; f++, lut += 16) {
        const struct code_field *field = &layout->fields[f];
        for (size_t j = 0; j < layout->lane; j++)
            out[field->values_at + j] = lut[code_at(field, row, j)];
    }
}

static size_t unvisited(const uint32_t *list, size_t n, uint32_t *visited, uint32_t *out)
{
    return code_unvisited(list, n, visited, out);
}

static void matvec_s8(const int8_t *m, const int16_t *x, size_t rows, size_t stride, int32_t *out)
{
    for (size_t i = 0; i < rows; i++, m += stride) {
        int32_t sum = 0;
        for (size_t j = 0; j < stride; j++)
            sum += x[j] * m[j];
        out[i] = sum;
    }
}

const struct code_kernels code_kernels_portable = {
    .tier = "portable",
    .distances = distances,
    .keys_below = keys_below,
    .sums = sums,
    .expand = expand,
    .unvisited = unvisited,
    .matvec_s8 = matvec_s8,
};
