/* test_search.c - exact search: what it finds is what a sort over all rows finds, whatever options
 * narrow it. That no option of speed changes a bit is test_search_bits.c's business. */
#include "support/support.h"

#include <math.h>

#define DIM 5u
#define ROWS 300u

struct fixture {
    paua_db *db;
    paua_collection *c;
    paua_hits *hits;
    float data[ROWS * DIM]; /* row i has key i; those divisible by 10 are deleted */
};

static bool live(uint64_t key) { return key < ROWS && key % 10 != 0; }

/* Two segments and a tail, dead rows in each. */
static int setup(void **state)
{
    static struct fixture f;
    struct test_schema schema = {.dim = DIM, .metric = PAUA_COSINE, .dim2 = 1};
    uint64_t seed = 4;

    test_random_floats(&seed, f.data, ROWS * DIM);
    f.db = test_open_memory();
    f.c = test_create(f.db, "c", &schema);
    for (uint64_t first = 0; first < ROWS; first += 100) {
        uint64_t keys[100];
        float second[100];
        paua_vectors v[2] = {{f.data + first * DIM, 0}, {second, 0}};
        paua_rows rows = test_rows(test_u64(keys, 100), v, NULL);

        rows.vectors_count = 2;
        for (uint64_t i = 0; i < 100; i++) {
            keys[i] = first + i;
            second[i] = (float)(first + i);
        }
        assert_ok(paua_insert(f.c, &rows, NULL, NULL, &test_err));
        for (uint64_t i = 0; i < 100; i += 10)
            test_delete_u64(f.c, first + i);
        if (first < 200) assert_ok(paua_optimize(f.c, NULL, &test_err));
    }
    assert_ok(paua_hits_open(&f.hits, &test_err));
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    paua_hits_close(f->hits);
    paua_collection_close(f->c);
    paua_close(f->db);
    return 0;
}

struct pair {
    double distance;
    uint64_t key;
};

static int by_distance(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Compares the hits of query 0 with the first k of all rows that pass. */
static void expect(struct fixture *f, const float *query, paua_metric metric, uint32_t k,
                   bool (*pass)(uint64_t key, double distance))
{
    struct pair pairs[ROWS];
    size_t n = 0;

    for (uint64_t key = 0; key < ROWS; key++) {
        double d = test_distance(metric, query, f->data + key * DIM, DIM);

        if (live(key) && (pass == NULL || pass(key, d))) pairs[n++] = (struct pair){d, key};
    }
    qsort(pairs, n, sizeof pairs[0], by_distance);
    if (n > k) n = k;
    assert_int_equal(paua_hits_count(f->hits, 0), n);
    for (size_t i = 0; i < n; i++) {
        paua_hit hit = paua_hits_at(f->hits, 0, i);

        assert_int_equal(hit.key.u64, pairs[i].key);
        assert_true(fabs(hit.distance - pairs[i].distance) < 1e-5);
    }
}

static void search(struct fixture *f, const float *query, const paua_search_opts *opts)
{
    assert_ok(paua_search(f->c, query, 1, 0, opts, f->hits, &test_err));
    assert_int_equal(paua_hits_queries(f->hits), 1);
}

static void k_nearest_rows_are_found_whatever_k(void **state)
{
    static const uint32_t ks[] = {1, 2, 10, 269, 270, 271, 100000, INT32_MAX};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        paua_search_opts opts = {.size = sizeof opts, .k = ks[i]};

        search(f, f->data + 7 * DIM, &opts);
        expect(f, f->data + 7 * DIM, PAUA_COSINE, ks[i], NULL);
    }
}

static void a_query_may_ask_for_another_metric(void **state)
{
    struct fixture *f = *state;

    for (int metric = PAUA_L2; metric <= PAUA_COSINE; metric++) {
        paua_search_opts opts = {.size = sizeof opts, .k = 20, .metric = (paua_metric)metric};

        search(f, f->data + 11 * DIM, &opts);
        expect(f, f->data + 11 * DIM, (paua_metric)metric, 20, NULL);
    }
}

static void another_field_is_searched_by_name(void **state)
{
    struct fixture *f = *state;
    paua_search_opts opts = {.size = sizeof opts, .k = 3, .field = "second"};
    float query = 150;

    search(f, &query, &opts);
    assert_int_equal(paua_hits_at(f->hits, 0, 0).key.u64, 149); /* 150 is dead; 151 as far */
    assert_int_equal(paua_hits_at(f->hits, 0, 1).key.u64, 151);
    assert_true(paua_hits_at(f->hits, 0, 0).distance == 1); /* l2 */
    opts.field = "vector";
    search(f, f->data, &opts);
    expect(f, f->data, PAUA_COSINE, 3, NULL);
}

static double bound;

static bool within(uint64_t key, double distance)
{
    (void)key;
    return distance <= bound;
}

static void a_radius_lets_in_its_own_edge_and_nothing_beyond(void **state)
{
    struct fixture *f = *state;
    const float *query = f->data + 21 * DIM;
    paua_search_opts opts = {.size = sizeof opts, .k = 1000, .metric = PAUA_IP};
    double edge, after;

    search(f, query, &opts);
    edge = paua_hits_at(f->hits, 0, 25).distance;
    after = paua_hits_at(f->hits, 0, 26).distance;
    assert_true(edge < after);
    opts.has_radius = true;
    opts.radius = edge;
    search(f, query, &opts);
    assert_int_equal(paua_hits_count(f->hits, 0), 26);
    bound = (edge + after) / 2;
    opts.radius = bound;
    search(f, query, &opts);
    expect(f, query, PAUA_IP, 1000, within);
    opts.k = 10; /* both limits */
    search(f, query, &opts);
    expect(f, query, PAUA_IP, 10, within);
    opts.radius = -INFINITY;
    search(f, query, &opts);
    assert_int_equal(paua_hits_count(f->hits, 0), 0);
    opts.radius = INFINITY;
    search(f, query, &opts);
    expect(f, query, PAUA_IP, 10, NULL);
}

static bool in_list(uint64_t key, double distance)
{
    (void)distance;
    return key % 7 == 3;
}

static void only_allowed_keys_are_found_and_unknown_ones_skipped(void **state)
{
    struct fixture *f = *state;
    uint64_t keys[400];
    paua_keys allowed = test_u64(keys, 0);
    paua_search_opts opts = {.size = sizeof opts, .k = 50, .allowed = &allowed};
    const float *query = f->data + 31 * DIM;

    for (uint64_t key = 0; key < 2 * ROWS; key++)
        if (key % 7 == 3) keys[allowed.count++] = key;
    keys[allowed.count++] = 17; /* 17 = 3 mod 7: twice, and once in the answer */
    keys[allowed.count++] = UINT64_MAX;
    search(f, query, &opts);
    expect(f, query, PAUA_COSINE, 50, in_list);
    opts.threads = 4;
    search(f, query, &opts);
    expect(f, query, PAUA_COSINE, 50, in_list);
    allowed.count = 0;
    search(f, query, &opts);
    assert_int_equal(paua_hits_count(f->hits, 0), 0);
}

static void queries_may_lie_further_apart_than_they_are_long(void **state)
{
    struct fixture *f = *state;
    paua_search_opts opts = {.size = sizeof opts, .k = 1};

    assert_ok(paua_search(f->c, f->data + DIM, 3, 2 * DIM, &opts, f->hits, &test_err));
    for (size_t q = 0; q < 3; q++)
        assert_int_equal(paua_hits_at(f->hits, q, 0).key.u64, 1 + 2 * q);
}

static void no_queries_have_no_answers(void **state)
{
    struct fixture *f = *state;
    paua_search_opts opts = {.size = sizeof opts, .k = 1};

    assert_ok(paua_search(f->c, NULL, 0, 0, &opts, f->hits, &test_err));
    assert_int_equal(paua_hits_queries(f->hits), 0);
}

static void equal_distances_are_ordered_by_key(void **state)
{
    struct test_schema schema = {.key_kind = PAUA_KEY_STRING, .dim = 1, .metric = PAUA_L2};
    static const char *const names[] = {"pear", "fig", "apple", "figs", "date", "banana"};
    static const char *const sorted[] = {"apple", "banana", "date", "fig", "figs", "pear"};
    struct fixture *f = *state;
    paua_bytes strings[6];
    float zeros[6] = {0}, query = 1;
    paua_vectors v = {zeros, 0};
    paua_rows rows = test_rows((paua_keys){.count = 3, .strings = strings}, &v, NULL);
    paua_collection *c = test_create(f->db, "ties", &schema);

    for (size_t i = 0; i < 6; i++)
        strings[i] = test_string(names[i]);
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
    assert_ok(paua_optimize(c, NULL, &test_err));
    rows.keys.strings = strings + 3; /* the others in the tail */
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
    for (uint32_t k = 1; k <= 6; k++)
        for (uint32_t threads = 1; threads <= 4; threads++) {
            paua_search_opts opts = {.size = sizeof opts, .k = k, .threads = threads};

            assert_ok(paua_search(c, &query, 1, 0, &opts, f->hits, &test_err));
            assert_int_equal(paua_hits_count(f->hits, 0), k);
            for (uint32_t i = 0; i < k; i++) {
                paua_bytes key = paua_hits_at(f->hits, 0, i).key.bytes;

                assert_int_equal(key.nbytes, strlen(sorted[i]));
                assert_memory_equal(key.data, sorted[i], key.nbytes);
            }
        }
    paua_collection_close(c);
    assert_ok(paua_collection_drop(f->db, "ties", &test_err));
}

static void few_rows_give_few_hits_and_none_give_none(void **state)
{
    static const uint32_t counts[] = {0, 1, 7};
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2};
    struct fixture *f = *state;

    for (size_t i = 0; i < 3; i++) {
        paua_collection *c = test_create(f->db, "few", &schema);
        uint64_t allowed[] = {0, 5};
        paua_keys keys = test_u64(allowed, 2);
        paua_search_opts opts = {.size = sizeof opts, .k = 100};

        test_insert_u64(c, 0, counts[i], f->data);
        assert_ok(paua_search(c, f->data, 1, 0, &opts, f->hits, &test_err));
        assert_int_equal(paua_hits_count(f->hits, 0), counts[i]);
        opts.allowed = &keys;
        assert_ok(paua_search(c, f->data, 1, 0, &opts, f->hits, &test_err));
        assert_int_equal(paua_hits_count(f->hits, 0), counts[i] < 2 ? counts[i] : 2);
        assert_ok(paua_search(c, f->data, 12, 0, &opts, f->hits, &test_err));
        paua_collection_close(c);
        assert_ok(paua_collection_drop(f->db, "few", &test_err));
    }
}

static void a_canceled_search_stops_and_the_next_one_works(void **state)
{
    struct fixture *f = *state;
    paua_cancel cancel = {0};
    paua_search_opts opts = {.size = sizeof opts, .k = 5, .cancel = &cancel};

    search(f, f->data, &opts); /* nobody asked yet */
    paua_cancel_request(&cancel);
    assert_fails(paua_search(f->c, f->data, 1, 0, &opts, f->hits, &test_err), PAUA_ECANCELED);
    assert_fails(paua_search(f->c, f->data, 40, 0, &opts, f->hits, &test_err), PAUA_ECANCELED);
    assert_true(paua_hits_queries(f->hits) == 0);
    opts.cancel = NULL;
    search(f, f->data, &opts);
    expect(f, f->data, PAUA_COSINE, 5, NULL);
}

static void a_search_that_takes_too_long_ends_with_its_time(void **state)
{
    struct test_schema schema = {.dim = 512, .metric = PAUA_L2};
    struct fixture *f = *state;
    paua_collection *c = test_create(f->db, "slow", &schema);
    float *data = calloc(4000 * 512, sizeof data[0]);
    paua_search_opts opts = {.size = sizeof opts, .k = 4000, .timeout_ms = 1, .threads = 1};

    assert_non_null(data);
    test_insert_u64(c, 0, 4000, data);
    assert_fails(paua_search(c, data, 4000, 0, &opts, f->hits, &test_err), PAUA_ETIMEOUT);
    opts.timeout_ms = 1000000;
    assert_ok(paua_search(c, data, 1, 0, &opts, f->hits, &test_err));
    free(data);
    paua_collection_close(c);
    assert_ok(paua_collection_drop(f->db, "slow", &test_err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k_nearest_rows_are_found_whatever_k),
        cmocka_unit_test(a_query_may_ask_for_another_metric),
        cmocka_unit_test(another_field_is_searched_by_name),
        cmocka_unit_test(a_radius_lets_in_its_own_edge_and_nothing_beyond),
        cmocka_unit_test(only_allowed_keys_are_found_and_unknown_ones_skipped),
        cmocka_unit_test(queries_may_lie_further_apart_than_they_are_long),
        cmocka_unit_test(no_queries_have_no_answers),
        cmocka_unit_test(equal_distances_are_ordered_by_key),
        cmocka_unit_test(few_rows_give_few_hits_and_none_give_none),
        cmocka_unit_test(a_canceled_search_stops_and_the_next_one_works),
        cmocka_unit_test(a_search_that_takes_too_long_ends_with_its_time),
    };

    return cmocka_run_group_tests_name("db/search", tests, setup, teardown);
}
