/* test_graph.c - graphs built over small sets of every shape: valid, whole, the same for any number
 * of threads, good to search; and nothing left behind when building fails. */
#include "support/support.h"

#include <string.h>

#include "base/memory.h"
#include "index/graph_walk.h"
#include "kernel/keys.h"

#define DIM 24u
#define ROWS_MAX 5000u
#define ALIGNED_NBYTES 64u

struct set {
    uint32_t count;
    paua_metric metric;
    float *rows; /* count x DIM */
    struct model model;
    struct model_scratch scratch;
    struct code_plane plane;
    uint8_t *codes;
    float *factors;
    int8_t *values;
};

static paua_status rows_of(void *arg, uint32_t first, uint32_t n, float *rows, paua_error *err)
{
    const struct set *set = arg;

    (void)err;
    memcpy(rows, set->rows + (size_t)first * DIM, (size_t)n * DIM * sizeof *rows);
    return PAUA_OK;
}

/* Trains on set->rows and encodes them. */
static void set_encode(struct set *set)
{
    struct model_source source = {.rows = rows_of,
                                  .arg = set,
                                  .count = set->count,
                                  .dim = DIM,
                                  .metric = set->metric,
                                  .precision = PAUA_INT8,
                                  .threads = 1};
    const struct code_layout *layout = &set->model.walk.layout;

    assert_ok(model_train(&source, &set->model, &test_err));
    assert_true(model_scratch_init(&set->scratch, &set->model));
    set->codes =
        mem_aligned(ALIGNED_NBYTES, (size_t)set->count * layout->nbytes + CODE_SLACK_NBYTES);
    set->factors = mem_aligned(ALIGNED_NBYTES, set->count * CODE_FACTORS * sizeof(float));
    set->values = mem_aligned(ALIGNED_NBYTES, (size_t)layout->step_count * CODE_LINE_NBYTES);
    set->plane = (struct code_plane){*layout, set->codes, set->factors};
    memset(set->codes, 0, (size_t)set->count * layout->nbytes + CODE_SLACK_NBYTES);
    for (uint32_t i = 0; i < set->count; i++) {
        size_t refine = set->model.refine.layout.nbytes;
        uint8_t *room = mem_alloc(refine + CODE_SLACK_NBYTES);
        float factors[CODE_FACTORS];

        model_encode(&set->model, set->rows + (size_t)i * DIM, 1, &set->scratch,
                     set->codes + (size_t)i * layout->nbytes,
                     set->factors + (size_t)i * CODE_FACTORS, refine > 0 ? room : NULL,
                     refine > 0 ? factors : NULL);
        mem_free(room);
    }
}

static void set_free(struct set *set)
{
    model_free(&set->model);
    model_scratch_free(&set->scratch);
    mem_free(set->codes);
    mem_free(set->factors);
    mem_free(set->values);
    mem_free(set->rows);
}

enum shape { SHAPE_RANDOM, SHAPE_CLUSTERED, SHAPE_EQUAL, SHAPE_TENFOLD, SHAPE_TIGHT, SHAPE_SCALED };

/* Rows of a shape; one that repeats another repeats an earlier one. */
static void set_fill(struct set *set, enum shape shape, uint64_t seed)
{
    static float centres[50 * DIM];
    float spread = shape == SHAPE_TIGHT ? 1e-4f : 0.3f;

    test_random_floats(&seed, centres, sizeof centres / sizeof *centres);
    set->rows = mem_alloc((size_t)set->count * DIM * sizeof *set->rows);
    for (uint32_t i = 0; i < set->count; i++) {
        float *row = set->rows + (size_t)i * DIM;
        const float *centre = centres + (size_t)test_random_below(&seed, 50) * DIM;
        uint32_t distinct = (set->count + 9) / 10;

        test_random_floats(&seed, row, DIM);
        for (uint32_t j = 0; j < DIM && (shape == SHAPE_CLUSTERED || shape == SHAPE_TIGHT); j++)
            row[j] = centre[j] + spread * row[j];
        for (uint32_t j = 1; j < DIM && shape == SHAPE_SCALED; j++)
            row[j] *= row[0] * row[0] * 20;
        if (shape == SHAPE_EQUAL) memcpy(row, set->rows, DIM * sizeof *row);
        if (shape == SHAPE_TENFOLD && i >= distinct)
            memcpy(row, set->rows + (size_t)(i % distinct) * DIM, DIM * sizeof *row);
    }
}

static struct set set_make(enum shape shape, paua_metric metric, uint32_t count)
{
    struct set set = {.count = count, .metric = metric};

    set_fill(&set, shape, 7);
    set_encode(&set);
    return set;
}

static struct graph_build_opts opts_default(void)
{
    return (struct graph_build_opts){
        .params = {.degree = 16, .list = 32, .occlusion = 750, .alpha = 1.2f}, .threads = 2};
}

/* Builds, checks that the graph is valid and whole, and gives it to the caller. */
static uint32_t *build(const struct set *set, const struct graph_build_opts *opts,
                       struct graph *graph)
{
    struct graph_report report;
    uint32_t *neighbours = NULL;

    assert_ok(
        graph_build(&set->model, &set->plane, set->count, opts, graph, &neighbours, &test_err));
    assert_ok(graph_check(graph, &report, &test_err));
    assert_int_equal(report.unreachable, 0);
    assert_true(report.most <= opts->params.degree);
    assert_ptr_equal(graph->neighbours, neighbours);
    assert_int_equal((uintptr_t)neighbours % ALIGNED_NBYTES, 0);
    return neighbours;
}

static void every_row_of_every_shape_can_be_reached(void **state)
{
    static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};
    static const uint32_t degrees[] = {4, 16};

    (void)state;
    for (enum shape shape = SHAPE_RANDOM; shape <= SHAPE_SCALED; shape++)
        for (size_t m = 0; m < 3; m++) {
            struct set set;

            if (test_sampled() && ((size_t)shape + m) % 3 != 0) continue;
            set = set_make(shape, metrics[m], 1001);
            for (size_t d = 0; d < 2; d++) {
                struct graph_build_opts opts = opts_default();
                struct graph graph;

                opts.params.degree = degrees[d];
                mem_free(build(&set, &opts, &graph));
            }
            set_free(&set);
        }
}

static void few_rows_make_a_graph_that_a_walk_reads_whole(void **state)
{
    static const uint32_t counts[] = {1, 2, 3, 17};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct set set = set_make(SHAPE_RANDOM, PAUA_L2, counts[i]);
        struct graph_build_opts opts = opts_default();
        struct walk_scratch scratch = {0};
        struct code_query query;
        struct graph graph;
        uint32_t *neighbours = build(&set, &opts, &graph);

        model_query_walk(&set.model, set.rows, &set.scratch, set.values, &query);
        assert_true(walk_reserve(&scratch, &graph, 20));
        assert_int_equal(graph_walk(&graph, &set.plane, &query, 20, &scratch), counts[i]);
        assert_int_equal(scratch.compared, counts[i]);
        walk_free(&scratch);
        mem_free(neighbours);
        set_free(&set);
    }
}

static void no_rows_make_a_graph_that_a_walk_leaves_at_once(void **state)
{
    struct set set = set_make(SHAPE_RANDOM, PAUA_L2, 1);
    struct graph_build_opts opts = opts_default();
    struct walk_scratch scratch = {0};
    struct code_query query;
    struct graph graph;
    uint32_t *neighbours;

    (void)state;
    set.count = 0;
    neighbours = build(&set, &opts, &graph);
    model_query_walk(&set.model, set.rows, &set.scratch, set.values, &query);
    assert_true(walk_reserve(&scratch, &graph, 20));
    assert_int_equal(graph_walk(&graph, &set.plane, &query, 20, &scratch), 0);
    walk_free(&scratch);
    mem_free(neighbours);
    set_free(&set);
}

static void a_graph_is_the_same_for_any_number_of_threads(void **state)
{
    static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};

    (void)state;
    for (size_t m = 0; m < 3; m++) {
        struct set set = set_make(m == 1 ? SHAPE_SCALED : SHAPE_CLUSTERED, metrics[m], 3000);
        struct graph_build_opts opts = opts_default();
        struct graph one, four;
        uint32_t *by_one, *by_four;

        opts.threads = 1;
        by_one = build(&set, &opts, &one);
        opts.threads = 4;
        by_four = build(&set, &opts, &four);
        assert_int_equal(one.entry, four.entry);
        assert_memory_equal(by_one, by_four, (size_t)set.count * one.stride * sizeof *by_one);
        mem_free(by_one);
        mem_free(by_four);
        set_free(&set);
    }
}

/* Copies of SHAPE_TENFOLD, as the caller must sort them. */
static uint32_t tenfold_copies(const struct set *set, struct graph_copy *copies)
{
    uint32_t distinct = (set->count + 9) / 10, n = 0;

    for (uint32_t of = 0; of < distinct; of++)
        for (uint32_t row = of + distinct; row < set->count; row += distinct)
            copies[n++] = (struct graph_copy){.row = row, .of = of};
    return n;
}

static void copies_are_left_out_and_the_rest_is_whole(void **state)
{
    struct set set = set_make(SHAPE_TENFOLD, PAUA_COSINE, 1001);
    struct graph_copy copies[1001];
    struct graph_build_opts opts = opts_default();
    struct walk_scratch scratch = {0};
    struct code_query query;
    struct graph graph;
    uint32_t *neighbours;

    (void)state;
    opts.copies = copies;
    opts.copy_count = tenfold_copies(&set, copies);
    neighbours = build(&set, &opts, &graph);
    assert_int_equal(graph.copy_count, 900);
    for (uint32_t i = 0; i < opts.copy_count; i++)
        for (uint32_t j = 0; j < graph.stride; j++)
            assert_int_equal(neighbours[copies[i].row * graph.stride + j], copies[i].row);

    model_query_walk(&set.model, set.rows, &set.scratch, set.values, &query);
    assert_true(walk_reserve(&scratch, &graph, 500));
    assert_int_equal(graph_walk(&graph, &set.plane, &query, 500, &scratch), 101);
    for (uint32_t i = 0; i < 101; i++)
        assert_true(code_key_id(scratch.pool[i]) < 101);
    walk_free(&scratch);
    mem_free(neighbours);
    set_free(&set);
}

/* Share of the k nearest by a scan of the codes that a walk keeps, for rows moved a little. */
static double recall(struct set *set, const struct graph *graph, uint32_t ef, uint32_t k)
{
    const struct code_kernels *kernels = code_kernels_best();
    static uint64_t keys[ROWS_MAX], spare[ROWS_MAX];
    static float distances[ROWS_MAX];
    struct walk_scratch scratch = {0};
    uint64_t seed = 11;
    uint32_t found = 0, queries = 100;

    assert_true(walk_reserve(&scratch, graph, ef));
    for (uint32_t i = 0; i < queries; i++) {
        float vector[DIM];
        struct code_query query;
        size_t n;

        test_random_floats(&seed, vector, DIM);
        for (uint32_t j = 0; j < DIM; j++)
            vector[j] = set->rows[(size_t)(i * 37) * DIM + j] + 0.1f * vector[j];
        model_query_walk(&set->model, vector, &set->scratch, set->values, &query);
        kernels->distances(&set->plane, &query, NULL, 0, set->count, distances);
        for (uint32_t j = 0; j < set->count; j++)
            keys[j] = code_key(distances[j], j);
        keys_kernels_best()->sort(keys, set->count, spare);
        n = graph_walk(graph, &set->plane, &query, ef, &scratch);
        assert_int_equal(n, ef);
        for (uint32_t j = 0, at = 0; j < k; j++) {
            while (at < n && (scratch.pool[at] & ~(uint64_t)1) < keys[j])
                at++;
            found += at < n && (scratch.pool[at] & ~(uint64_t)1) == keys[j];
        }
        for (size_t j = 0; j < n; j++) {
            assert_int_equal(scratch.pool[j] & 1, 1);
            assert_true(j == 0 || scratch.pool[j - 1] < scratch.pool[j]);
        }
    }
    walk_free(&scratch);
    return (double)found / queries / k;
}

static void a_walk_finds_what_a_scan_of_the_codes_finds(void **state)
{
    static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};

    (void)state;
    for (size_t m = test_sampled() ? 2 : 0; m < 3; m++) {
        struct set set = set_make(SHAPE_CLUSTERED, metrics[m], ROWS_MAX);
        struct graph_build_opts opts = opts_default();
        struct graph graph;
        uint32_t *neighbours;
        double share;

        opts.params.degree = 32;
        opts.params.list = 64;
        neighbours = build(&set, &opts, &graph);
        share = recall(&set, &graph, 100, 50);
        if (share < 0.98) fail_msg("metric %d: %.4f", (int)metrics[m], share);
        mem_free(neighbours);
        set_free(&set);
    }
}

static void a_walk_with_a_pool_of_one_ends_at_a_near_row(void **state)
{
    struct set set = set_make(SHAPE_CLUSTERED, PAUA_L2, 1001);
    struct graph_build_opts opts = opts_default();
    struct walk_scratch scratch = {0};
    struct code_query query;
    struct graph graph;
    uint32_t *neighbours = build(&set, &opts, &graph);

    (void)state;
    model_query_walk(&set.model, set.rows, &set.scratch, set.values, &query);
    assert_true(walk_reserve(&scratch, &graph, 1));
    assert_int_equal(graph_walk(&graph, &set.plane, &query, 1, &scratch), 1);
    assert_true(scratch.compared > 1 && scratch.compared < set.count);
    walk_free(&scratch);
    mem_free(neighbours);
    set_free(&set);
}

struct watch {
    paua_cancel cancel;
    uint64_t cancel_at, last, total;
    uint32_t calls;
};

static void watch_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
    struct watch *watch = arg;

    assert_non_null(what);
    assert_true(done > watch->last && done <= total);
    watch->last = done;
    watch->total = total;
    watch->calls++;
    if (watch->cancel_at > 0 && done >= watch->cancel_at) paua_cancel_request(&watch->cancel);
}

static void progress_rises_to_the_number_of_rows(void **state)
{
    struct set set = set_make(SHAPE_RANDOM, PAUA_L2, 1001);
    struct watch watch = {0};
    struct graph_build_opts opts = opts_default();
    struct graph graph;

    (void)state;
    opts.progress = watch_progress;
    opts.progress_arg = &watch;
    mem_free(build(&set, &opts, &graph));
    assert_int_equal(watch.last, 1001);
    assert_int_equal(watch.total, 1001);
    assert_true(watch.calls > 10);
    set_free(&set);
}

static void a_canceled_build_leaves_nothing_and_says_so(void **state)
{
    static const uint64_t moments[] = {1, 500, 1001}; /* the last is before the repair */
    struct set set = set_make(SHAPE_EQUAL, PAUA_L2, 1001);

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct watch watch = {.cancel_at = moments[i]};
        struct graph_build_opts opts = opts_default();
        struct graph graph = {.rows = 77};
        uint32_t *neighbours = NULL;

        opts.progress = watch_progress;
        opts.progress_arg = &watch;
        opts.cancel = &watch.cancel;
        assert_fails(
            graph_build(&set.model, &set.plane, set.count, &opts, &graph, &neighbours, &test_err),
            PAUA_ECANCELED);
        assert_null(neighbours);
        assert_int_equal(graph.rows, 77);
        assert_true(watch.last < moments[i] + 25);
    }
    set_free(&set);
}

static void every_failed_allocation_is_reported_and_leaves_nothing(void **state)
{
    struct set set = set_make(SHAPE_EQUAL, PAUA_L2, 301);
    uint32_t *neighbours = NULL;
    struct graph graph = {.rows = 77};
    paua_status status = PAUA_ENOMEM;
    uint32_t failures = 0;

    (void)state;
    while (status != PAUA_OK) {
        struct graph_build_opts opts = opts_default();

        mem_fail_after(failures + 1);
        test_err = (paua_error){0};
        status =
            graph_build(&set.model, &set.plane, set.count, &opts, &graph, &neighbours, &test_err);
        mem_fail_after(0);
        if (status == PAUA_OK) break;
        assert_int_equal(status, PAUA_ENOMEM);
        assert_null(neighbours);
        assert_int_equal(graph.rows, 77);
        failures++;
    }
    assert_true(failures > 10);
    mem_free(neighbours);
    set_free(&set);
}

static void a_scratch_allocates_only_when_more_is_needed(void **state)
{
    struct graph small = {.rows = 10, .stride = 16}, large = {.rows = 100000, .stride = 64};
    struct walk_scratch scratch = {0};

    (void)state;
    assert_true(walk_reserve(&scratch, &small, 10));
    for (uint64_t n = 4; n >= 1; n--) { /* visited, pool, ids, found */
        struct walk_scratch fresh = {0};

        mem_fail_after(n);
        assert_false(walk_reserve(&fresh, &large, 200));
        mem_fail_after(0);
        walk_free(&fresh);
    }
    assert_true(walk_reserve(&scratch, &large, 200));
    mem_fail_after(1);
    assert_true(walk_reserve(&scratch, &large, 200));
    assert_true(walk_reserve(&scratch, &small, 10));
    mem_fail_after(0);
    walk_free(&scratch);
    assert_null(scratch.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_every_shape_can_be_reached),
        cmocka_unit_test(few_rows_make_a_graph_that_a_walk_reads_whole),
        cmocka_unit_test(no_rows_make_a_graph_that_a_walk_leaves_at_once),
        cmocka_unit_test(a_graph_is_the_same_for_any_number_of_threads),
        cmocka_unit_test(copies_are_left_out_and_the_rest_is_whole),
        cmocka_unit_test(a_walk_finds_what_a_scan_of_the_codes_finds),
        cmocka_unit_test(a_walk_with_a_pool_of_one_ends_at_a_near_row),
        cmocka_unit_test(progress_rises_to_the_number_of_rows),
        cmocka_unit_test(a_canceled_build_leaves_nothing_and_says_so),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaves_nothing),
        cmocka_unit_test(a_scratch_allocates_only_when_more_is_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
