/* test_fields_review.c - fields where several parts meet: copies of rows in a filtered walk, names
 * that are not there, and rebuilding when a name has changed hands. */
#include <stdio.h>
#include <unistd.h>

#include "store/catalog.h"
#include "unit/db/fielded.h"

#define ROWS 2000u
#define DISTINCT 200u
#define DIM 16u
#define K 40u

static float vectors[ROWS][DIM];

/* Row i has the vector of row i % DISTINCT, and "rank" i. */
static paua_collection *copies_create(paua_db *db)
{
    static const paua_field columns[] = {{"rank", PAUA_TYPE_INT32}};
    static uint64_t keys[ROWS];
    static paua_value rank[ROWS];
    const paua_vector_field field = {
        .name = "v",
        .dim = DIM,
        .metric = PAUA_L2,
        .precision = PAUA_FP32,
        .index = {.kind = PAUA_INDEX_VAMANA, .degree = 16, .list = 40}};
    const paua_schema schema = {.size = sizeof schema,
                                .fields = &field,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = 1};
    const paua_column given = {"rank", rank};
    const paua_vectors all = {.data = vectors[0]};
    paua_rows rows = test_rows(test_u64(keys, ROWS), &all, NULL);
    uint64_t seed = 3;
    paua_collection *c;

    test_random_floats(&seed, vectors[0], (size_t)DISTINCT * DIM);
    for (uint32_t i = 0; i < ROWS; i++) {
        memcpy(vectors[i], vectors[i % DISTINCT], sizeof vectors[i]);
        keys[i] = i;
        rank[i] = value_i64(i);
    }
    rows.columns = &given;
    rows.column_count = 1;
    assert_ok(paua_collection_create(db, "c", &schema, &c, &test_err));
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
    assert_ok(paua_optimize(c, NULL, &test_err));
    return c;
}

static void a_filtered_walk_among_copies_finds_no_row_twice(void **state)
{
    static const char text[] = "rank >= 400";
    paua_search_opts opts = {.size = sizeof opts, .k = K, .ef = 100};
    paua_plan plan = {.size = sizeof plan};
    paua_db *db = test_open_memory();
    paua_collection *c = copies_create(db);
    paua_filter *filter;
    paua_hits *hits;

    (void)state;
    assert_ok(paua_filter_parse(text, strlen(text), &filter, &test_err));
    assert_ok(paua_hits_open(&hits, &test_err));
    opts.filter = filter;
    assert_ok(paua_search(c, vectors[0], DISTINCT, 0, &opts, hits, &test_err));
    assert_ok(paua_hits_plan(hits, &plan, &test_err));
    assert_int_equal(plan.walked, 1);
    for (size_t q = 0; q < DISTINCT; q++) {
        assert_int_equal(paua_hits_count(hits, q), K);
        for (size_t i = 0; i < K; i++) {
            uint64_t key = paua_hits_at(hits, q, i).key.u64;

            assert_true(key >= 400);
            for (size_t j = 0; j < i; j++)
                assert_true(paua_hits_at(hits, q, j).key.u64 != key);
        }
    }
    paua_hits_close(hits);
    paua_filter_free(filter);
    paua_collection_close(c);
    paua_close(db);
}

static void a_field_asked_for_without_a_name_is_refused(void **state)
{
    static const char *const none[] = {NULL};
    const paua_read_opts opts = {.size = sizeof opts, .fields = none, .field_count = 1};
    paua_db *db = test_open_memory();
    paua_collection *c = fielded_create(db, "c", false);
    paua_cursor *cursor;

    (void)state;
    assert_fails(paua_iterate(c, &opts, &cursor, &test_err), PAUA_EINVAL);
    paua_collection_close(c);
    paua_close(db);
}

/* The first segment knows "text" as a field that was dropped before the second was made. */
static void a_rebuilt_name_belongs_to_the_newest_field(void **state)
{
    static const paua_field again = {"text", PAUA_TYPE_STRING};
    const paua_check_opts rebuild = {.size = sizeof rebuild, .rebuild = true};
    struct test_dir dir;
    paua_collection *c;
    paua_db *db;
    char path[600];

    (void)state;
    test_dir_make(&dir);
    db = test_open(&dir);
    c = fielded_create(db, "c", false);
    fielded_insert(c, 1, "text", value_text("old"));
    fielded_seal(c);
    assert_ok(paua_field_drop(c, "text", &test_err));
    assert_ok(paua_field_add(c, &again, &test_err));
    fielded_insert(c, 2, "text", value_text("new"));
    fielded_seal(c);
    paua_collection_close(c);
    paua_close(db);

    snprintf(path, sizeof path, "%s/%s", dir.path, CATALOG_NAME);
    assert_int_equal(unlink(path), 0);
    assert_ok(paua_check(dir.path, &rebuild, &test_err));
    db = test_open(&dir);
    assert_ok(paua_collection_open(db, "c", &c, &test_err));
    assert_true(fielded_is(c, 2, "text", value_text("new")));
    assert_true(fielded_is(c, 1, "text", value_null()));
    paua_collection_close(c);
    paua_close(db);
    test_dir_remove(&dir);
}

/* Rows with texts of 1,000 bytes, the last of which has a key that is there: nothing is written. */
static void refused_requests_leave_no_memory_behind(void **state)
{
    static uint64_t keys[50];
    static char texts[50][1001];
    static paua_value values[50];
    const paua_write_opts opts = {.size = sizeof opts, .all_or_nothing = true};
    const paua_column column = {"text", values};
    paua_db *db = test_open_memory();
    paua_collection *c = fielded_create(db, "c", false);
    uint64_t first = 0;

    (void)state;
    fielded_fill(c, 0, 10);
    fielded_update(c, 1, "text", value_text("stays"));
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned i = 0; i < 50; i++) {
            keys[i] = i < 49 ? 1000 + i : 1;
            snprintf(texts[i], sizeof texts[i], "%01000u", round * 50 + i);
            values[i] = value_text(texts[i]);
        }
        assert_fails(fielded_write(c, FIELDED_INSERT, keys, 50, &column, 1, &opts, NULL, &test_err),
                     PAUA_EEXISTS);
        if (round == 0) first = fielded_stats(c).heap_nbytes;
    }
    assert_true(fielded_stats(c).heap_nbytes <= first);
    assert_int_equal(fielded_count(c, "n >= 0"), 10);
    assert_true(fielded_is(c, 1, "text", value_text("stays")));
    paua_collection_close(c);
    paua_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filtered_walk_among_copies_finds_no_row_twice),
        cmocka_unit_test(a_field_asked_for_without_a_name_is_refused),
        cmocka_unit_test(a_rebuilt_name_belongs_to_the_newest_field),
        cmocka_unit_test(refused_requests_leave_no_memory_behind),
    };

    return cmocka_run_group_tests_name("db/fields_review", tests, NULL, NULL);
}
