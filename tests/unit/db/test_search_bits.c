/* test_search_bits.c - a batch of queries gives the bits that its queries give one by one, on any
 * number of threads, mapped or not, on disk or in memory. */
#include "support/support.h"

#define ROWS 1500u
#define QUERIES 71u
#define K 25u

struct shape {
    paua_metric metric;
    paua_precision precision;
    uint32_t dim;
};

struct answer {
    size_t count;
    uint64_t keys[K];
    double distances[K];
};

static float data[ROWS * 96u], queries[QUERIES * 96u];
static struct answer wanted[QUERIES];

/* Duplicates by the dozen, so that ties are everywhere; three parts and a tail; dead rows. */
static void fill(paua_collection *c, const struct shape *s)
{
    uint64_t seed = s->dim;

    test_random_floats(&seed, data, (size_t)ROWS * s->dim);
    test_random_floats(&seed, queries, (size_t)QUERIES * s->dim);
    for (uint32_t row = 0; row < ROWS; row++)
        if (row % 5 == 0)
            memcpy(data + row * s->dim, data + row % 60 * s->dim, s->dim * sizeof(float));
    for (uint32_t q = 0; q < QUERIES; q += 3)
        memcpy(queries + q * s->dim, data + q * 20 * s->dim, s->dim * sizeof(float));
    for (uint32_t first = 0; first < ROWS; first += ROWS / 3) {
        test_insert_u64(c, first, ROWS / 3, data + first * s->dim);
        for (uint64_t key = first + 1; key < first + 300; key += 9)
            test_delete_u64(c, key);
        if (first < 2 * ROWS / 3) assert_ok(paua_optimize(c, NULL, &test_err));
    }
}

static struct answer answer_of(const paua_hits *hits, size_t query)
{
    struct answer a;

    memset(&a, 0, sizeof a); /* padding too: answers are compared as bytes */
    a.count = paua_hits_count(hits, query);
    for (size_t i = 0; i < a.count; i++) {
        paua_hit hit = paua_hits_at(hits, query, i);

        a.keys[i] = hit.key.u64;
        a.distances[i] = hit.distance;
    }
    return a;
}

static void ask_one_by_one(paua_collection *c, uint32_t dim, uint32_t threads, bool first_time)
{
    paua_search_opts opts = {.size = sizeof opts, .k = K, .threads = threads};
    paua_hits *hits;

    assert_ok(paua_hits_open(&hits, &test_err));
    for (size_t q = 0; q < QUERIES; q++) {
        struct answer a;

        assert_ok(paua_search(c, queries + q * dim, 1, 0, &opts, hits, &test_err));
        a = answer_of(hits, 0);
        if (first_time)
            wanted[q] = a;
        else
            assert_memory_equal(&a, &wanted[q], sizeof a);
    }
    paua_hits_close(hits);
}

static void ask_batches(paua_collection *c, uint32_t dim)
{
    static const size_t sizes[] = {1, 7, 8, 9, 32, 33, QUERIES};
    paua_hits *hits;

    assert_ok(paua_hits_open(&hits, &test_err));
    for (uint32_t threads = 0; threads <= 8; threads++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            paua_search_opts opts = {.size = sizeof opts, .k = K, .threads = threads};
            size_t first = QUERIES - sizes[i];

            if (threads > (test_sampled() ? 0 : 3) && i % 3 != threads % 3) continue; /* a sample */
            assert_ok(paua_search(c, queries + first * dim, sizes[i], 0, &opts, hits, &test_err));
            assert_int_equal(paua_hits_queries(hits), sizes[i]);
            for (size_t q = 0; q < sizes[i]; q++) {
                struct answer a = answer_of(hits, q);

                assert_memory_equal(&a, &wanted[first + q], sizeof a);
            }
        }
    paua_hits_close(hits);
}

static void ask_on_disk(const struct test_dir *dir, const struct shape *s, bool no_mmap)
{
    paua_open_opts opts = {.size = sizeof opts, .read_only = true, .no_mmap = no_mmap};
    paua_collection *c;
    paua_db *db;

    assert_ok(paua_open(dir->path, &opts, &db, &test_err));
    assert_ok(paua_collection_open(db, "c", &c, &test_err));
    ask_one_by_one(c, s->dim, 1, false);
    ask_batches(c, s->dim);
    paua_collection_close(c);
    paua_close(db);
}

static void check_shape(const struct shape *s)
{
    struct test_schema schema = {.dim = s->dim, .metric = s->metric, .precision = s->precision};
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", &schema);
    struct test_dir dir;

    fill(c, s);
    ask_one_by_one(c, s->dim, 1, true);
    for (size_t q = 0; q < QUERIES; q++)
        assert_int_equal(wanted[q].count, K);
    for (uint32_t threads = 2; threads <= 8; threads += 3)
        ask_one_by_one(c, s->dim, threads, false);
    ask_batches(c, s->dim);
    paua_collection_close(c);
    paua_close(db);
    test_dir_make(&dir);
    db = test_open(&dir);
    c = test_create(db, "c", &schema);
    fill(c, s);
    ask_batches(c, s->dim);
    paua_collection_close(c);
    paua_close(db);
    ask_on_disk(&dir, s, false);
    ask_on_disk(&dir, s, true);
    test_dir_remove(&dir);
}

static void batches_and_threads_change_no_bit_of_fp32_answers(void **state)
{
    (void)state;
    check_shape(&(struct shape){PAUA_COSINE, PAUA_FP32, 96});
    check_shape(&(struct shape){PAUA_L2, PAUA_FP32, 33});
    check_shape(&(struct shape){PAUA_IP, PAUA_FP32, 7});
}

static void batches_and_threads_change_no_bit_of_fp16_answers(void **state)
{
    (void)state;
    check_shape(&(struct shape){PAUA_COSINE, PAUA_FP16, 33});
    check_shape(&(struct shape){PAUA_L2, PAUA_FP16, 7});
    check_shape(&(struct shape){PAUA_IP, PAUA_FP16, 64});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_and_threads_change_no_bit_of_fp32_answers),
        cmocka_unit_test(batches_and_threads_change_no_bit_of_fp16_answers),
    };

    return cmocka_run_group_tests_name("db/search_bits", tests, NULL, NULL);
}
