/* test_graph_plane.c - rows as bytes are as far from each other as their walk codes say, and a row
 * as a query gives what its bytes stand for. */
#include "support/support.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "index/graph_plane.h"

#define ROWS 2000u
#define DIM_MAX 768u
#define PAIRS 300u
#define ALIGNED_NBYTES 64u

struct world {
    uint32_t dim;
    float *rows;
    struct model model;
    uint8_t *codes;
    float *factors;
    struct code_plane walk;
    int8_t *lut, *values;
};

static paua_status rows_of(void *arg, uint32_t first, uint32_t n, float *rows, paua_error *err)
{
    const struct world *w = arg;

    (void)err;
    memcpy(rows, w->rows + (size_t)first * w->dim, (size_t)n * w->dim * sizeof *rows);
    return PAUA_OK;
}

/* Rows of every length from tiny to long, of falling variance; the first is all 0 after centring
 * as nearly as can be, the second enormous. */
static void fill(struct world *w)
{
    uint64_t seed = 31;

    w->rows = mem_alloc((size_t)ROWS * w->dim * sizeof *w->rows);
    test_random_floats(&seed, w->rows, (size_t)ROWS * w->dim);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < w->dim; j++)
            w->rows[i * w->dim + j] *= (i == 0   ? 0
                                        : i == 1 ? 1e9f
                                                 : expf((float)(i % 7) - 3)) /
                                       (1 + (float)j / 8);
}

static struct world world_make(uint32_t dim, paua_metric metric)
{
    struct world w = {.dim = dim};
    struct model_source source = {.rows = rows_of,
                                  .arg = &w,
                                  .count = ROWS,
                                  .dim = dim,
                                  .metric = metric,
                                  .precision = PAUA_INT4,
                                  .threads = 1};
    const struct code_layout *layout = &w.model.walk.layout;
    struct model_scratch scratch;

    fill(&w);
    assert_ok(model_train(&source, &w.model, &test_err));
    assert_true(model_scratch_init(&scratch, &w.model));
    w.codes = mem_aligned(ALIGNED_NBYTES, (size_t)ROWS * layout->nbytes + CODE_SLACK_NBYTES);
    memset(w.codes, 0, (size_t)ROWS * layout->nbytes + CODE_SLACK_NBYTES);
    w.factors = mem_aligned(ALIGNED_NBYTES, (size_t)ROWS * CODE_FACTORS * sizeof(float));
    model_encode(&w.model, w.rows, ROWS, &scratch, w.codes, w.factors, NULL, NULL);
    model_scratch_free(&scratch);
    w.walk = (struct code_plane){*layout, w.codes, w.factors};
    w.lut = mem_aligned(ALIGNED_NBYTES, (size_t)layout->field_count * 16);
    w.values = mem_aligned(ALIGNED_NBYTES, (size_t)layout->step_count * CODE_LINE_NBYTES);
    return w;
}

static void world_free(struct world *w)
{
    model_free(&w->model);
    mem_free(w->rows);
    mem_free(w->codes);
    mem_free(w->factors);
    mem_free(w->lut);
    mem_free(w->values);
}

/* How long a row is for the model: distances err in proportion to it. */
static double length_of(const struct world *w, uint32_t row)
{
    double sum = 0;

    if (w->model.metric == PAUA_COSINE) return 1;
    for (uint32_t j = 0; j < w->dim; j++)
        sum += pow((double)w->rows[(size_t)row * w->dim + j] - (double)w->model.mean[j], 2);
    return sqrt(sum);
}

static void expect_alike(struct world *w, const struct graph_plane *wide)
{
    struct prune_lut lut;
    uint64_t seed = 32;
    int8_t *values = mem_aligned(ALIGNED_NBYTES, wide->plane.layout.step_count * CODE_LINE_NBYTES);

    model_prune_lut(&w->model, &lut, w->lut);
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t a = 1 + (uint32_t)test_random_below(&seed, ROWS - 1);
        uint32_t b = i < 4 ? i : (uint32_t)test_random_below(&seed, ROWS);
        struct code_query by_walk, by_wide;
        float walk, bytes;

        model_query_row(&w->model, &w->walk, &lut, a, w->values, &by_walk);
        code_kernels_best()->distances(&w->walk, &by_walk, &b, 0, 1, &walk);
        graph_plane_query(&wide->plane, w->model.constant, a, values, &by_wide);
        code_kernels_best()->distances(&wide->plane, &by_wide, &b, 0, 1, &bytes);
        if (fabs((double)walk - (double)bytes) > .06 * length_of(w, a) * length_of(w, b))
            fail_msg("dim %u rows %u %u: %g by walk codes, %g by bytes", w->dim, a, b, (double)walk,
                     (double)bytes);
    }
    mem_free(values);
}

static void bytes_are_as_far_apart_as_walk_codes(void **state)
{
    static const uint32_t dims[] = {30, 32, 50, 64, 100, 128, 250};

    (void)state;
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        struct world w = world_make(dims[i], i % 3 == 0   ? PAUA_L2
                                             : i % 3 == 1 ? PAUA_IP
                                                          : PAUA_COSINE);
        struct graph_plane wide, again;

        assert_true(graph_plane_init(&wide, &w.model, &w.walk, ROWS, 1));
        assert_true(graph_plane_init(&again, &w.model, &w.walk, ROWS, 3));
        assert_true(wide.plane.layout.step_count > 0);
        assert_memory_equal(wide.plane.codes, again.plane.codes,
                            (size_t)ROWS * wide.plane.layout.nbytes);
        assert_memory_equal(wide.plane.factors, again.plane.factors,
                            ROWS * CODE_FACTORS * sizeof(float));
        expect_alike(&w, &wide);
        graph_plane_free(&wide);
        graph_plane_free(&again);
        world_free(&w);
    }
}

static void long_rows_keep_their_walk_codes(void **state)
{
    struct world w = world_make(DIM_MAX, PAUA_COSINE);
    struct graph_plane wide;

    (void)state;
    assert_true(graph_plane_init(&wide, &w.model, &w.walk, ROWS, 1));
    assert_int_equal(wide.plane.layout.step_count, 0);
    graph_plane_free(&wide);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_far_apart_as_walk_codes),
        cmocka_unit_test(long_rows_keep_their_walk_codes),
    };

    return cmocka_run_group_tests_name("index/graph_plane", tests, NULL, NULL);
}
