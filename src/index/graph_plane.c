/* graph_plane.c - the codes of short rows, a byte a component, while a graph is built.
 *
 * Why       Short rows have short lines: 17 fields of 10 bytes at 100 dimensions, in some 8 steps
 *           with a shift and a mask. Two lines of 64 components need neither, and a row that
 *           becomes a query is copied, not expanded field by field.
 * Codes     what the walk codes stand for, as bytes, with one factor a row: this adds less than a
 *           hundredth to the error of the walk codes. Bytes are 1 to 255 and stand for their
 *           distance from 128.
 * Sums      S of the kernels is over unsigned bytes: too great by 128 times the sum of the query's
 *           values, which every row keeps where a second group would have its factor.
 * Memory    up to 256 bytes a row, and 16 of factors.
 * Rejected  the same for long rows: 320 bytes, where the walk codes of 768 dimensions are 128 in 5
 *           fields, are read no faster. Finer codes (with the refine plane's): coverage .9940 for
 *           .9933, not worth reading that plane.
 *
 * Threads   graph_plane_init() divides the rows; a row's codes depend on nothing else. */
#include "index/graph_plane.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "index/model_private.h"

#define MIDDLE 128
#define VALUE_MAX 127.0f
#define SUM 1u /* of factors: the sum of the row's values */
#define LINES_MAX 4u
#define FIELDS_LEAST 3u /* fewer are fast enough: 16 dimensions */
#define COMPONENTS_MAX (LINES_MAX * CODE_LINE_NBYTES)
#define ROWS_PIECE 1024u

struct decoding {
    const struct model *model;
    const struct code_plane *walk;
    uint8_t *codes;
    float *factors;
    uint32_t rows, nbytes, components;
    _Atomic size_t cursor;
};

/* Components up to the last that the walk plane knows. */
static uint32_t components_of(const struct code_layout *layout)
{
    uint32_t end = 1;

    for (uint32_t f = 0; f < layout->field_count; f++)
        end = layout->fields[f].segment >= end ? layout->fields[f].segment + 1 : end;
    return end * layout->lane;
}

static void decode(const struct decoding *d, size_t row)
{
    const float *from = d->walk->factors + row * CODE_FACTORS;
    float *to = d->factors + row * CODE_FACTORS, z[COMPONENTS_MAX] = {0}, most = 0, in;
    uint8_t *codes = d->codes + row * d->nbytes;
    int32_t sum = 0;

    plane_add(&d->model->walk, d->walk->codes + row * d->walk->layout.nbytes, from, 1, z);
    for (uint32_t j = 0; j < d->components; j++)
        most = fabsf(z[j]) > most ? fabsf(z[j]) : most;
    in = VALUE_MAX / most;
    if (!isfinite(in)) in = 0;
    memset(codes, MIDDLE, d->nbytes);
    for (uint32_t j = 0; j < d->components; j++) {
        int32_t value = (int32_t)lrintf(z[j] * in);

        codes[j] = (uint8_t)(value + MIDDLE);
        sum += value;
    }
    memset(to, 0, CODE_FACTORS * sizeof *to);
    to[0] = most / VALUE_MAX;
    to[SUM] = (float)sum;
    to[CODE_GROUPS] = from[CODE_GROUPS];
}

static void decode_work(void *arg, uint32_t worker)
{
    struct decoding *d = arg;
    size_t first;

    (void)worker;
    while ((first = atomic_fetch_add(&d->cursor, ROWS_PIECE)) < d->rows)
        for (size_t row = first; row < first + ROWS_PIECE && row < d->rows; row++)
            decode(d, row);
}

bool graph_plane_init(struct graph_plane *made, const struct model *model,
                      const struct code_plane *walk, uint32_t rows, uint32_t threads)
{
    struct decoding d = {.model = model, .walk = walk, .rows = rows};
    uint32_t components = components_of(&walk->layout);
    uint32_t lane = components <= 16 ? 16 : components <= 32 ? 32 : CODE_LINE_NBYTES;
    uint32_t lines = (components + lane - 1) / lane;
    size_t codes, factors = (size_t)rows * CODE_FACTORS * sizeof(float);
    struct code_step *steps;
    char *memory;

    *made = (struct graph_plane){0};
    /* A field of the walk plane has a shift and a mask besides, and is shorter. */
    if (lines > LINES_MAX || 2 * walk->layout.field_count < 3 * lines ||
        walk->layout.field_count < FIELDS_LEAST)
        return true;
    codes = ((size_t)rows * lines * lane + CODE_SLACK_NBYTES + 63) / 64 * 64;
    memory = mem_aligned(64, codes + factors + lines * sizeof *steps);
    if (memory == NULL) return false;
    memset(memory + (size_t)rows * lines * lane, 0, codes - (size_t)rows * lines * lane);
    steps = (struct code_step *)(void *)(memory + codes + factors);
    for (uint32_t s = 0; s < lines; s++)
        steps[s] = (struct code_step){.offset = s * lane, .mask = UINT32_MAX};
    d.codes = (uint8_t *)memory;
    d.factors = (float *)(void *)(memory + codes);
    d.nbytes = lines * lane;
    d.components = components;
    parallel_run(threads, decode_work, &d);
    made->memory = memory;
    made->plane = (struct code_plane){{.lane = lane,
                                       .nbytes = d.nbytes,
                                       .step_count = lines,
                                       .step_end = {lines, lines, lines},
                                       .steps = steps},
                                      d.codes,
                                      d.factors};
    return true;
}

void graph_plane_free(struct graph_plane *made)
{
    mem_free(made->memory);
    *made = (struct graph_plane){0};
}

void graph_plane_query(const struct code_plane *plane, float constant, uint32_t row, int8_t *values,
                       struct code_query *out)
{
    const uint64_t flip = MIDDLE * UINT64_C(0x0101010101010101);
    const float *factors = plane->factors + (size_t)row * CODE_FACTORS;
    uint32_t lane = plane->layout.lane, nbytes = plane->layout.nbytes;
    const uint8_t *codes = plane->codes + (size_t)row * nbytes;
    float unit = -2 * factors[0];

    assert(lane == CODE_LINE_NBYTES || lane == nbytes);
    for (uint32_t j = 0; j < nbytes; j += 8) {
        uint64_t word;

        memcpy(&word, codes + j, 8);
        word ^= flip; /* from the middle, in two's complement */
        memcpy(values + j, &word, 8);
    }
    memset(values + nbytes, 0, plane->layout.step_count * CODE_LINE_NBYTES - nbytes);
    memset(out->scale, 0, sizeof out->scale);
    memset(out->shift, 0, sizeof out->shift);
    out->scale[0] = unit;
    out->shift[0] = -unit * MIDDLE * factors[SUM];
    out->base = model_scalar((double)constant + factors[CODE_GROUPS]);
    out->values = values;
}
