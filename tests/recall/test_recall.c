/* test_recall.c - recall@100 of every index, precision and metric on two sets: a floor a little
 * below what was measured, so that a loss is seen. Parameters are the defaults: degree 64, list
 * 100, occlusion 750, alpha 1.2, ef 200. Exact search is the truth. Glosses: the path is the
 * last argument. PAUA_TEST_SHOW=1 prints what was measured; PAUA_SWEEP=whole measures every
 * combination. */
#include "sets.h"

#include <stdio.h>

#include "support/share.h"

/* Sanitizers look at what is done, not at how well: one row in three will do, and the floors hold
 * for fewer rows. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROWS_TAKEN 3u
#else
#define ROWS_TAKEN 1u
#endif

#define METRICS 3
#define PRECISIONS 5

struct floors {
    double vamana[METRICS][PRECISIONS]; /* l2, ip, cosine; fp32, fp16, int8, int4, int2 */
    double flat[METRICS][PRECISIONS];
};

static const char *glosses_path;

static void expect(paua_collection *c, const struct set *set, const struct lists *truth,
                   const char *index, double floor)
{
    paua_search_opts opts = {.size = sizeof opts, .k = SET_K, .ef = 200, .index = index};
    struct lists found = lists_search(c, set, &opts);
    double recall = lists_recall(truth, &found);

    free(found.keys);
    if (getenv("PAUA_TEST_SHOW") != NULL) printf("  %-6s %.4f (%.3f)\n", index, recall, floor);
    if (recall < floor) fail_msg("%s: recall %.4f, floor %.4f", index, recall, floor);
}

static void expect_both(const struct set *set, const struct floors *floors, int metric,
                        int precision)
{
    struct test_schema schema = {.dim = set->dim,
                                 .metric = (paua_metric)(PAUA_L2 + metric),
                                 .document = PAUA_DOCUMENT_NONE,
                                 .precision = (paua_precision)precision,
                                 .index = {.kind = PAUA_INDEX_VAMANA}};
    paua_search_opts exact = {.size = sizeof exact, .k = SET_K, .exact = true};
    paua_index_params flat = {.kind = PAUA_INDEX_FLAT};
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", &schema);
    struct lists truth;

    test_insert_u64(c, 0, set->rows, set->data);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_ok(paua_index_create(c, NULL, "flat", &flat, NULL, &test_err));
    truth = lists_search(c, set, &exact);
    if (getenv("PAUA_TEST_SHOW") != NULL) printf("metric %d precision %d\n", metric, precision);
    expect(c, set, &truth, "vector", floors->vamana[metric][precision]);
    expect(c, set, &truth, "flat", floors->flat[metric][precision]);
    free(truth.keys);
    paua_collection_close(c);
    paua_close(db);
}

/* Keeps one row in ROWS_TAKEN, and all queries. */
static void thin(struct set *set)
{
    uint32_t dim = set->dim, rows = set->rows / ROWS_TAKEN;

    for (size_t i = 0; i < rows; i++)
        memmove(set->data + i * dim, set->data + i * ROWS_TAKEN * dim, dim * sizeof(float));
    memmove(set->data + (size_t)rows * dim, set_queries(set),
            (size_t)SET_QUERIES * dim * sizeof(float));
    set->rows = rows;
}

/* Each precision by one metric, or all by all when the whole sweep is asked for. */
static void expect_all(const struct set *set, const struct floors *floors)
{
    for (int metric = 0; metric < METRICS; metric++)
        for (int precision = 0; precision < PRECISIONS; precision++)
            if (test_sweep_whole() || (metric + precision) % METRICS == 0)
                expect_both(set, floors, metric, precision);
}

static void glosses_are_found(void **state)
{
    /* Measured, the worst metric: .9992, .9992, .9988, .9934, .9784; flat 1, 1, .9994, .9938,
     * .9788. */
    static const struct floors floors = {
        .vamana = {{.997, .997, .996, .989, .972},
                   {.997, .997, .996, .989, .972},
                   {.997, .997, .996, .989, .972}},
        .flat = {{.999, .999, .997, .990, .973},
                 {.999, .999, .997, .990, .973},
                 {.999, .999, .997, .990, .973}},
    };
    struct set set = set_glosses(glosses_path);

    (void)state;
    thin(&set);
    expect_all(&set, &floors);
    free(set.data);
}

static void clustered_rows_of_any_norm_are_found(void **state)
{
    /* Measured, by metric: .9996, .9996, .9958, .9650, .8906; .9970, .9968, .9954, .9610, .8928;
     * .9994, .9994, .9930, .9536, .8634; flat at most .0002 more. */
    static const struct floors floors = {
        .vamana = {{.997, .997, .993, .958, .880},
                   {.993, .993, .992, .953, .882},
                   {.997, .997, .989, .946, .852}},
        .flat = {{.997, .997, .993, .958, .880},
                 {.993, .993, .992, .953, .882},
                 {.997, .997, .989, .946, .852}},
    };
    struct set set = set_clustered(5000);

    (void)state;
    thin(&set);
    expect_all(&set, &floors);
    free(set.data);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glosses_are_found),
        cmocka_unit_test(clustered_rows_of_any_norm_are_found),
    };

    if (argc < 2) return 2;
    glosses_path = argv[argc - 1];
    return share_run(share_read(argc - 1, argv), tests, sizeof tests / sizeof tests[0]);
}
