/* sets.c - see sets.h. */
#include "sets.h"

#include <math.h>
#include <stdio.h>

#define GLOSSES_DIM 768u
#define GLOSSES 4800u
#define GLOSSES_HEADER_NBYTES 128u
#define CLUSTERED_DIM 100u
#define CLUSTERED 200u
#define TIGHT 60u

static float *floats_new(size_t n)
{
    float *values = malloc(n * sizeof values[0]);

    assert_non_null(values);
    return values;
}

static float half_value(uint16_t half)
{
    int exponent = half >> 10 & 31;
    float fraction = (float)(half & 1023), sign = half >> 15 != 0 ? -1.0F : 1.0F;

    if (exponent == 0) return sign * ldexpf(fraction, -24);
    return sign * ldexpf(1024 + fraction, exponent - 25);
}

struct set set_glosses(const char *path)
{
    struct set set = {.dim = GLOSSES_DIM, .rows = GLOSSES - SET_QUERIES};
    static uint8_t bytes[GLOSSES_DIM * 2];
    FILE *file = fopen(path, "rb");
    size_t row = 0, query = set.rows;

    assert_non_null(file);
    assert_int_equal(fseek(file, GLOSSES_HEADER_NBYTES, SEEK_SET), 0);
    set.data = floats_new((size_t)GLOSSES * GLOSSES_DIM);
    for (size_t i = 0; i < GLOSSES; i++) {
        float *to = set.data + (i % (GLOSSES / SET_QUERIES) == 0 ? query++ : row++) * GLOSSES_DIM;

        assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
        for (size_t j = 0; j < GLOSSES_DIM; j++)
            to[j] = half_value((uint16_t)(bytes[2 * j] | bytes[2 * j + 1] << 8));
    }
    fclose(file);
    assert_int_equal(query, GLOSSES);
    return set;
}

/* About normal: mean 0, deviation 1. */
static float normal(uint64_t *random)
{
    float values[6], sum = 0;

    test_random_floats(random, values, 6);
    for (size_t i = 0; i < 6; i++)
        sum += values[i];
    return sum / sqrtf(2);
}

struct set set_clustered(uint32_t rows)
{
    struct set set = {.dim = CLUSTERED_DIM, .rows = rows};
    static float centres[CLUSTERED * CLUSTERED_DIM];
    uint64_t random = 21;

    set.data = floats_new((size_t)(rows + SET_QUERIES) * CLUSTERED_DIM);
    for (size_t i = 0; i < CLUSTERED * CLUSTERED_DIM; i++)
        centres[i] = normal(&random);
    for (size_t i = 0; i < rows + SET_QUERIES; i++) {
        uint32_t most = 1 + test_random_below(&random, CLUSTERED); /* early ones are larger */
        const float *centre = centres + test_random_below(&random, most) * CLUSTERED_DIM;
        float norm = expf(0.4F * normal(&random));

        for (size_t j = 0; j < CLUSTERED_DIM; j++) {
            float value = centre[j] + 0.7F * normal(&random);

            set.data[i * CLUSTERED_DIM + j] = norm * (0.2F + value / sqrtf(1 + (float)j / 10));
        }
    }
    return set;
}

static void shape_row(enum shape shape, float moved, uint64_t *random, float *row)
{
    uint64_t cluster = shape == SHAPE_TIGHT ? 100 + test_random_below(random, TIGHT) : 0;
    float norm = expf(normal(random));

    for (size_t j = 0; j < SHAPE_DIM; j++) {
        float late = 2 + normal(random) / (1 + (SHAPE_DIM - 1 - (float)j) / 8);

        row[j] = normal(random) / (1 + (float)j / 8);
        if (shape == SHAPE_TIGHT) row[j] = normal(&cluster) + row[j] * 1e-3F;
        if (shape == SHAPE_LOGNORMAL) row[j] *= norm;
        if (shape == SHAPE_OUTLIER && moved == 0) row[j] *= 1e8F;
        if (shape == SHAPE_DRIFT) row[j] = row[j] * (1 - moved) + moved * late;
    }
}

struct set set_shape(enum shape shape, uint32_t rows)
{
    struct set set = {.dim = SHAPE_DIM, .rows = rows};
    uint64_t random = 22;

    set.data = floats_new((size_t)(rows + SET_QUERIES) * SHAPE_DIM);
    for (size_t i = 0; i < rows + SET_QUERIES; i++) {
        float *row = set.data + i * SHAPE_DIM;
        float moved = (float)(i < rows ? i : test_random_below(&random, rows)) / (float)rows;

        if (shape == SHAPE_TENFOLD && i < rows && i % 10 != 0)
            memcpy(row, row - SHAPE_DIM, SHAPE_DIM * sizeof row[0]);
        else
            shape_row(shape, moved, &random, row);
    }
    return set;
}

struct lists lists_search(paua_collection *c, const struct set *set, const paua_search_opts *opts)
{
    struct lists lists = {opts->k, malloc((size_t)SET_QUERIES * opts->k * sizeof(uint64_t))};
    paua_hits *hits = NULL;

    assert_non_null(lists.keys);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, set_queries(set), SET_QUERIES, 0, opts, hits, &test_err));
    for (size_t q = 0; q < SET_QUERIES; q++) {
        assert_int_equal(paua_hits_count(hits, q), opts->k);
        for (size_t i = 0; i < opts->k; i++)
            lists.keys[q * opts->k + i] = paua_hits_at(hits, q, i).key.u64;
    }
    paua_hits_close(hits);
    return lists;
}

double lists_recall(const struct lists *truth, const struct lists *found)
{
    size_t hit = 0;

    for (size_t q = 0; q < SET_QUERIES; q++)
        for (size_t i = 0; i < SET_K; i++)
            for (size_t j = 0; j < found->k; j++)
                hit += found->keys[q * found->k + j] == truth->keys[q * truth->k + i];
    return (double)hit / (SET_QUERIES * SET_K);
}
