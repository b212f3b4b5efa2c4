/* test_growth.c - collections that reach the sizes at which a tail seals itself, with the
 * background thread merging meanwhile, against a plain array of what should live. */
#include "support/support.h"

#include <math.h>

#include "db/db.h"

#define DIM 4u
#define KEYS 30000u
#define BATCH 1000u

struct world {
    uint64_t seed;
    float *data; /* of each key, as last written */
    bool *live;
    paua_collection *c;
};

/* Inserts, replaces or deletes BATCH random keys, each once. */
static void step(struct world *w)
{
    static uint64_t keys[BATCH];
    static float data[BATCH * DIM];
    uint64_t first = test_random_below(&w->seed, KEYS);
    paua_vectors v = {data, 0};
    paua_rows rows = test_rows(test_u64(keys, BATCH), &v, NULL);
    bool deletes = test_random_below(&w->seed, 4) == 0;
    paua_status status;

    test_random_floats(&w->seed, data, BATCH * DIM);
    for (uint64_t i = 0; i < BATCH; i++) {
        keys[i] = (first + i * 7) % KEYS;
        if (!deletes) memcpy(w->data + keys[i] * DIM, data + i * DIM, DIM * sizeof(float));
    }
    status = deletes ? paua_delete(w->c, &rows.keys, NULL, NULL, &test_err)
                     : paua_upsert(w->c, &rows, NULL, NULL, &test_err);
    assert_true(status == PAUA_OK || (deletes && status == PAUA_EPARTIAL));
    for (uint64_t i = 0; i < BATCH; i++)
        w->live[keys[i]] = !deletes;
}

static void expect_all(struct world *w)
{
    uint64_t live = 0, seen = 0;
    const paua_record *record;
    paua_cursor *cursor;

    for (uint64_t key = 0; key < KEYS; key++)
        live += w->live[key];
    assert_int_equal(test_count(w->c), live);
    assert_ok(paua_iterate(w->c, NULL, &cursor, &test_err));
    for (;;) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        if (record == NULL) break;
        assert_true(record->key.u64 < KEYS && w->live[record->key.u64]);
        assert_memory_equal(record->vectors[0], w->data + record->key.u64 * DIM,
                            DIM * sizeof(float));
        seen++;
    }
    assert_int_equal(seen, live);
    paua_cursor_close(cursor);
}

/* The nearest of a random query is as near as the nearest of the array. */
static void expect_nearest(struct world *w)
{
    float query[DIM];
    double best = INFINITY, distance;
    uint64_t key;

    test_random_floats(&w->seed, query, DIM);
    for (uint64_t i = 0; i < KEYS; i++) {
        double d = test_distance(PAUA_L2, query, w->data + i * DIM, DIM);

        if (w->live[i] && d < best) best = d;
    }
    assert_int_equal(test_search_u64(w->c, query, 1, &key, &distance), 1);
    assert_true(fabs(distance - best) < 1e-5);
}

static void rows_survive_seals_and_background_merges(void **state)
{
    uint32_t steps = test_sweep_whole() ? 1000 : 180;
    paua_open_opts opts = {.size = sizeof opts, .create = true, .durability = PAUA_OFF};
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2};
    struct world w = {.seed = 5};
    paua_stats stats = {.size = sizeof stats};
    struct test_dir dir;
    paua_db *db;

    (void)state;
    w.data = calloc(KEYS * DIM, sizeof w.data[0]);
    w.live = calloc(KEYS, sizeof w.live[0]);
    assert_true(w.data != NULL && w.live != NULL);
    test_dir_make(&dir);
    assert_ok(paua_open(dir.path, &opts, &db, &test_err));
    w.c = test_create(db, "c", &schema);
    for (uint32_t i = 1; i <= steps; i++) {
        step(&w);
        if (i % 10 == 0) expect_nearest(&w);
        if (i % 60 == 0) expect_all(&w);
        if (i % 90 == 0) assert_ok(paua_optimize(w.c, NULL, &test_err));
        if (i % 70 != 0) continue;
        paua_collection_close(w.c);
        paua_close(db);
        assert_ok(paua_open(dir.path, &opts, &db, &test_err));
        assert_ok(paua_collection_open(db, "c", &w.c, &test_err));
    }
    assert_ok(paua_collection_stats(w.c, &stats, &test_err));
    assert_true(stats.segments > 0);
    expect_all(&w);
    test_validate(w.c);
    paua_collection_close(w.c);
    paua_close(db);
    assert_ok(paua_check(dir.path, NULL, &test_err));
    test_dir_remove(&dir);
    free(w.data);
    free(w.live);
}

static void wide_vectors_seal_a_tail_at_64_mib(void **state)
{
    struct test_schema schema = {.dim = PAUA_DIM_MAX, .metric = PAUA_L2};
    float *data = calloc(64 * PAUA_DIM_MAX, sizeof data[0]);
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", &schema);
    paua_stats stats = {.size = sizeof stats};
    uint64_t rows = 0;

    (void)state;
    assert_non_null(data);
    while (stats.segments == 0) {
        assert_ok(paua_collection_stats(c, &stats, &test_err));
        assert_true(stats.rows == rows && rows <= 320);
        if (stats.segments > 0) break;
        assert_true(rows * 4 * PAUA_DIM_MAX < UINT64_C(64) << 20);
        for (uint64_t i = 0; i < 64; i++)
            data[i * PAUA_DIM_MAX] = (float)(rows + i);
        test_insert_u64(c, rows, 64, data);
        rows += 64;
    }
    for (uint64_t key = 0; key < rows; key += 50) {
        uint64_t found;

        memset(data, 0, PAUA_DIM_MAX * sizeof data[0]);
        data[0] = (float)key;
        assert_int_equal(test_search_u64(c, data, 1, &found, NULL), 1);
        assert_int_equal(found, key);
    }
    paua_collection_close(c);
    paua_close(db);
    free(data);
}

#define WIDE 16384u /* 64 KiB a row: 128 rows are a part that is not small */
#define WIDE_KEYS 400u

/* A vector that names its key and how often that was written. */
static void wide_row(float *vector, uint64_t key, uint32_t version)
{
    memset(vector, 0, WIDE * sizeof vector[0]);
    vector[0] = (float)key;
    vector[WIDE - 1] = (float)version;
}

static void wide_expect(paua_collection *c, const uint32_t *versions)
{
    static float vector[WIDE];
    uint64_t live = 0;

    for (uint64_t key = 0; key < WIDE_KEYS; key++) {
        assert_int_equal(test_fetch_u64(c, key, vector), versions[key] != 0);
        if (versions[key] == 0) continue;
        assert_true(vector[0] == (float)key && vector[WIDE - 1] == (float)versions[key]);
        live++;
    }
    assert_int_equal(test_count(c), live);
}

/* Parts of many sizes and shares of dead rows, so that merges keep some and rewrite others. */
static void merges_that_keep_parts_and_rewrite_others_lose_no_row(void **state)
{
    struct test_schema schema = {.dim = WIDE, .metric = PAUA_L2};
    float *vector = malloc(WIDE * sizeof vector[0]);
    uint32_t versions[WIDE_KEYS] = {0}, version = 0, kept = 0;
    paua_vectors v = {vector, 0};
    uint64_t seed = 8, key;
    paua_rows rows = test_rows(test_u64(&key, 1), &v, NULL);
    paua_db *db = test_open_memory();
    paua_collection *c = test_create(db, "c", &schema);

    (void)state;
    assert_non_null(vector);
    for (uint32_t round = 0; round < (test_sweep_whole() ? 40 : 8); round++) {
        uint32_t writes = 20 + test_random_below(&seed, 200), first = test_random_below(&seed, 300);
        struct view *view;

        for (uint32_t i = 0; i < writes; i++) {
            key = (first + i) % WIDE_KEYS;
            versions[key] = ++version;
            wide_row(vector, key, version);
            assert_ok(paua_upsert(c, &rows, NULL, NULL, &test_err));
        }
        for (uint32_t i = 0; i < writes / 4; i++) {
            key = test_random_below(&seed, WIDE_KEYS);
            if (versions[key] != 0) test_delete_u64(c, key);
            versions[key] = 0;
        }
        assert_ok(paua_optimize(c, NULL, &test_err));
        view = collection_peek(c);
        for (uint32_t i = 0; i < view->segment_count; i++)
            kept += view->segments[i].segment->manifest.part_count > 1;
        view_unref(view);
        wide_expect(c, versions);
    }
    assert_true(kept > 0); /* or this test tests nothing */
    test_validate(c);
    paua_collection_close(c);
    paua_close(db);
    free(vector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_that_keep_parts_and_rewrite_others_lose_no_row),
        cmocka_unit_test(rows_survive_seals_and_background_merges),
        cmocka_unit_test(wide_vectors_seal_a_tail_at_64_mib),
    };

    return cmocka_run_group_tests_name("property/growth", tests, NULL, NULL);
}
