/* test_shapes.c - the shapes of data on which graphs go wrong: rows that no walk can reach, or
 * clusters that it does not find. Coverage is the share of the true 100 nearest among the 200
 * candidates that a walk with ef 200 keeps; floors are a little below what was measured. Degree 32,
 * list 64, occlusion 750, alpha 1.2. PAUA_TEST_SHOW=1 prints what was measured. */
#include "sets.h"

#include <stdio.h>

#include "db/db.h"
#include "db/view.h"
#include "index/graph.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROWS 2400u /* enough for an index of each half; sanitizers look at other things */
#else
#define ROWS 4000u
#endif

/* Every graph of the collection is whole and all its rows can be reached. */
static uint32_t graphs_check(paua_collection *c)
{
    struct view *view = collection_peek(c);
    uint32_t graphs = 0;

    for (uint32_t s = 0; s < view->segment_count; s++) {
        struct artifact_file *of_codes = artifacts_find(view->segments[s].artifacts, 0, 0);
        struct artifact_file *of_graph = artifacts_find(view->segments[s].artifacts, 0, 1);
        const struct codes *codes = NULL;
        const struct graph *graph = NULL;
        struct graph_report report;

        if (of_codes == NULL || of_graph == NULL) continue;
        assert_ok(artifact_codes(of_codes, &codes, &test_err));
        assert_ok(artifact_graph(of_graph, codes, &graph, &test_err));
        assert_ok(graph_check(graph, &report, &test_err));
        assert_int_equal(report.unreachable, 0);
        graphs++;
    }
    view_unref(view);
    return graphs;
}

static void expect_coverage(paua_collection *c, const struct set *set, double floor)
{
    paua_search_opts exact = {.size = sizeof exact, .k = SET_K, .exact = true};
    paua_search_opts walk = {.size = sizeof walk, .k = 2 * SET_K, .ef = 2 * SET_K};
    struct lists truth = lists_search(c, set, &exact), found = lists_search(c, set, &walk);
    double coverage = lists_recall(&truth, &found);

    free(truth.keys);
    free(found.keys);
    if (getenv("PAUA_TEST_SHOW") != NULL) printf("  coverage %.4f (%.3f)\n", coverage, floor);
    if (coverage < floor) fail_msg("coverage %.4f, floor %.4f", coverage, floor);
}

/* Inserts the rows in two parts and optimizes after each. */
static void build_and_expect(enum shape shape, paua_metric metric, paua_precision precision,
                             double floor)
{
    struct test_schema schema = {.dim = SHAPE_DIM,
                                 .metric = metric,
                                 .document = PAUA_DOCUMENT_NONE,
                                 .precision = precision,
                                 .index = {.kind = PAUA_INDEX_VAMANA, .degree = 32, .list = 64}};
    struct set set = set_shape(shape, ROWS);
    size_t first = ROWS / 2;
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", &schema);

    test_insert_u64(c, 0, first, set.data);
    assert_ok(paua_optimize(c, NULL, &test_err));
    test_insert_u64(c, first, ROWS - first, set.data + first * set.dim);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_int_equal(graphs_check(c), 1);
    expect_coverage(c, &set, floor);
    free(set.data);
    paua_collection_close(c);
    paua_close(db);
}

static void a_row_that_is_there_ten_times_hides_nothing(void **state)
{
    (void)state;
    build_and_expect(SHAPE_TENFOLD, PAUA_L2, PAUA_INT8, .998);
    build_and_expect(SHAPE_TENFOLD, PAUA_COSINE, PAUA_INT2, .998);
}

static void tight_clusters_are_found_whole(void **state)
{
    (void)state;
    build_and_expect(SHAPE_TIGHT, PAUA_L2, PAUA_INT8, .965);
    build_and_expect(SHAPE_TIGHT, PAUA_COSINE, PAUA_INT4, .94);
}

static void long_and_short_rows_are_found(void **state)
{
    (void)state;
    build_and_expect(SHAPE_LOGNORMAL, PAUA_IP, PAUA_INT8, .996);
    build_and_expect(SHAPE_LOGNORMAL, PAUA_L2, PAUA_INT8, .994);
    build_and_expect(SHAPE_LOGNORMAL, PAUA_IP, PAUA_INT2, .996);
    build_and_expect(SHAPE_LOGNORMAL, PAUA_L2, PAUA_INT2, .994);
}

static void rows_that_drift_are_found_after_merging(void **state)
{
    (void)state;
    build_and_expect(SHAPE_DRIFT, PAUA_L2, PAUA_INT8, .998);
    build_and_expect(SHAPE_DRIFT, PAUA_IP, PAUA_INT4, .99);
    build_and_expect(SHAPE_DRIFT, PAUA_COSINE, PAUA_INT2, .992);
}

static void one_row_of_another_size_spoils_no_other(void **state)
{
    (void)state;
    build_and_expect(SHAPE_OUTLIER, PAUA_L2, PAUA_INT8, .99);
    build_and_expect(SHAPE_OUTLIER, PAUA_IP, PAUA_INT8, .98);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_is_there_ten_times_hides_nothing),
        cmocka_unit_test(tight_clusters_are_found_whole),
        cmocka_unit_test(long_and_short_rows_are_found),
        cmocka_unit_test(rows_that_drift_are_found_after_merging),
        cmocka_unit_test(one_row_of_another_size_spoils_no_other),
    };

    return cmocka_run_group_tests_name("recall/shapes", tests, NULL, NULL);
}
