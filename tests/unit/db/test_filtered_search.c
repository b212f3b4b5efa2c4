/* test_filtered_search.c - searches with filters, through originals, codes and graphs; groups; what
 * the plan says; and queries in order and by pages. Answers are held against a plain loop over the
 * rows. */
#include <stdio.h>

#include "unit/db/fielded.h"

#define ROWS 1600u
#define DIM 16u
#define K 10u
#define TEAMS 7u

/* Row i has key i, "rank" i and the team i % 8; every eighth row has none. The vectors are random,
 * so "rank < n" lets n rows pass that lie anywhere. */
static const char *const teams[TEAMS] = {"a", "b", "c", "d", "e", "f", ""};
static float vectors[ROWS][DIM];

struct world {
    paua_db *db;
    paua_collection *c;
};

static void insert(struct world *w)
{
    static uint64_t keys[ROWS];
    static paua_value rank[ROWS], team[ROWS];
    const paua_column columns[] = {{"rank", rank}, {"team", team}};
    const paua_vectors all = {.data = vectors[0]};
    paua_rows rows = test_rows(test_u64(keys, ROWS), &all, NULL);
    uint64_t seed = 7;

    test_random_floats(&seed, vectors[0], (size_t)ROWS * DIM);
    for (uint32_t i = 0; i < ROWS; i++) {
        keys[i] = i;
        rank[i] = value_i64(i);
        team[i] = i % 8 == TEAMS ? value_null() : value_text(teams[i % 8]);
    }
    rows.columns = columns;
    rows.column_count = 2;
    assert_ok(paua_insert(w->c, &rows, NULL, NULL, &test_err));
    assert_ok(paua_optimize(w->c, NULL, &test_err));
}

static void begin(struct world *w, paua_precision precision, paua_index_params index)
{
    static const paua_field columns[] = {{"rank", PAUA_TYPE_INT32}, {"team", PAUA_TYPE_STRING}};
    const paua_vector_field field = {
        .name = "v", .dim = DIM, .metric = PAUA_L2, .precision = precision, .index = index};
    const paua_schema schema = {.size = sizeof schema,
                                .fields = &field,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = 2};

    w->db = test_open_memory();
    assert_ok(paua_collection_create(w->db, "c", &schema, &w->c, &test_err));
    insert(w);
}

static void end(struct world *w)
{
    test_validate(w->c);
    paua_collection_close(w->c);
    paua_close(w->db);
}

static paua_filter *rank_below(uint32_t n)
{
    char text[40];
    paua_filter *filter;

    snprintf(text, sizeof text, "rank < %u", n);
    assert_ok(paua_filter_parse(text, strlen(text), &filter, &test_err));
    return filter;
}

/* How many of the rows below n are nearer than a distance. */
static uint32_t nearer(const float *query, uint32_t n, double distance)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        count += test_distance(PAUA_L2, query, vectors[i], DIM) < distance * 0.999999;
    return count;
}

/* Exactly min(K, n) rows, all of them matching, and at most `wrong` of a query's not among the
 * nearest. */
static void expect_nearest(const paua_hits *hits, size_t q, const float *query, uint32_t n,
                           uint32_t wrong)
{
    uint32_t missed = 0;

    assert_int_equal(paua_hits_count(hits, q), n < K ? n : K);
    for (size_t i = 0; i < paua_hits_count(hits, q); i++) {
        paua_hit hit = paua_hits_at(hits, q, i);

        assert_true(hit.key.u64 < n);
        for (size_t j = 0; j < i; j++)
            assert_true(paua_hits_at(hits, q, j).key.u64 != hit.key.u64);
        missed += nearer(query, n, test_distance(PAUA_L2, query, vectors[hit.key.u64], DIM)) >= K;
    }
    assert_true(missed <= wrong);
}

static void search_all(struct world *w, bool exact, uint32_t wrong)
{
    static const uint32_t matches[] = {0, 1, 3, 16, 80, 160, 400, 800, 1200, ROWS};
    float queries[4][DIM];
    uint64_t seed = 99;
    paua_hits *hits;

    test_random_floats(&seed, queries[0], sizeof queries / sizeof(float));
    assert_ok(paua_hits_open(&hits, &test_err));
    for (size_t m = 0; m < sizeof matches / sizeof matches[0]; m++) {
        paua_filter *filter = rank_below(matches[m]);
        paua_search_opts opts = {
            .size = sizeof opts, .k = K, .exact = exact, .refine = true, .filter = filter};
        paua_plan plan = {.size = sizeof plan};

        assert_ok(paua_search(w->c, queries[0], 4, 0, &opts, hits, &test_err));
        for (size_t q = 0; q < 4; q++)
            expect_nearest(hits, q, queries[q], matches[m], wrong);
        assert_ok(paua_hits_plan(hits, &plan, &test_err));
        assert_int_equal(plan.rows, ROWS);
        assert_int_equal(plan.matched, matches[m]);
        assert_int_equal(plan.segments, 1);
        assert_int_equal(plan.walked + plan.scanned + plan.compared, 1);
        assert_int_equal(plan.compared, exact ? 1 : 0);
        assert_true(plan.reason[0] != '\0' && plan.filter_us >= 0);
        paua_filter_free(filter);
    }
    paua_hits_close(hits);
}

static const paua_index_params graph = {.kind = PAUA_INDEX_VAMANA, .degree = 16, .list = 40};
static const paua_index_params flat = {.kind = PAUA_INDEX_FLAT};

static void filtered_searches_of_fp32_find_min_k_matches_of_the_nearest(void **state)
{
    struct world w;

    (void)state;
    begin(&w, PAUA_FP32, graph);
    search_all(&w, true, 0);
    search_all(&w, false, 2);
    end(&w);
}

static void filtered_searches_of_int4_find_min_k_matches_near_the_nearest(void **state)
{
    struct world w;

    (void)state;
    begin(&w, PAUA_INT4, graph);
    search_all(&w, true, 0);
    search_all(&w, false, 4);
    end(&w);
    begin(&w, PAUA_INT4, flat);
    search_all(&w, false, 4);
    end(&w);
}

static void a_patch_is_seen_by_the_next_filtered_search(void **state)
{
    const paua_search_opts all = {.size = sizeof all, .k = 1};
    paua_search_opts opts = {.size = sizeof opts, .k = 1};
    struct world w;
    paua_hits *hits, *old;
    paua_value value;
    uint64_t nearest;

    (void)state;
    begin(&w, PAUA_FP32, graph);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_hits_open(&old, &test_err));
    assert_ok(paua_search(w.c, vectors[900], 1, 0, &all, old, &test_err));
    opts.filter = rank_below(800);
    for (uint32_t round = 0; round < 3; round++) {
        assert_ok(paua_search(w.c, vectors[900], 1, 0, &opts, hits, &test_err));
        nearest = paua_hits_at(hits, 0, 0).key.u64;
        assert_true(round == 0 ? nearest != 900 : nearest == 900);
        if (round == 0) fielded_update(w.c, 900, "rank", value_i64(-1));
        if (round == 1) assert_ok(paua_optimize(w.c, NULL, &test_err));
    }
    assert_int_equal(paua_hits_at(old, 0, 0).key.u64, 900);
    assert_ok(paua_hits_value(old, 0, 0, "rank", &value, &test_err));
    assert_int_equal(value.as.i64, 900);
    assert_ok(paua_hits_value(hits, 0, 0, "rank", &value, &test_err));
    assert_int_equal(value.as.i64, -1);
    paua_filter_free((paua_filter *)opts.filter);
    paua_hits_close(hits);
    paua_hits_close(old);
    end(&w);
}

/* Keys and a filter together: what both let pass. */
static void allowed_keys_and_a_filter_both_count(void **state)
{
    static const uint64_t keys[] = {5, 7, 700, 1500, 99999, 7};
    const paua_keys allowed = test_u64(keys, 6);
    paua_search_opts opts = {.size = sizeof opts, .k = K, .allowed = &allowed};
    struct world w;
    paua_hits *hits;

    (void)state;
    begin(&w, PAUA_INT4, graph);
    opts.filter = rank_below(701);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(w.c, vectors[0], 1, 0, &opts, hits, &test_err));
    assert_int_equal(paua_hits_count(hits, 0), 3);
    paua_filter_free((paua_filter *)opts.filter);
    paua_hits_close(hits);
    end(&w);
}

/* Groups are the values of a field; NULL is one of them. */
static void groups_have_at_most_their_size_and_their_nearest(void **state)
{
    struct world w;
    paua_hits *hits;

    (void)state;
    begin(&w, PAUA_FP32, flat);
    assert_ok(paua_hits_open(&hits, &test_err));
    for (uint32_t size = 1; size <= 3; size++) {
        const paua_search_opts opts = {
            .size = sizeof opts, .k = 100, .exact = true, .group_by = "team", .group_size = size};
        uint32_t seen[8] = {0};

        assert_ok(paua_search(w.c, vectors[3], 1, 0, &opts, hits, &test_err));
        assert_int_equal(paua_hits_count(hits, 0), 8 * size);
        for (size_t i = 0; i < 8 * size; i++) {
            paua_hit hit = paua_hits_at(hits, 0, i);
            uint32_t team = (uint32_t)hit.key.u64 % 8, before = 0;

            for (uint32_t row = team; row < ROWS; row += 8)
                before +=
                    test_distance(PAUA_L2, vectors[3], vectors[row], DIM) < hit.distance * 0.999999;
            assert_int_equal(before, seen[team]++);
        }
    }
    paua_hits_close(hits);
    end(&w);
}

/* Some of these queries find a row of each team among the first candidates, some do not. */
static void a_batch_in_groups_finds_what_its_queries_find_alone(void **state)
{
    enum { QUERIES = 40 };
    paua_search_opts opts = {
        .size = sizeof opts, .k = 8, .ef = 8, .threads = 3, .group_by = "team"};
    struct world w;
    paua_hits *batch, *one;

    (void)state;
    begin(&w, PAUA_INT4, graph);
    assert_ok(paua_hits_open(&batch, &test_err));
    assert_ok(paua_hits_open(&one, &test_err));
    assert_ok(paua_search(w.c, vectors[0], QUERIES, 0, &opts, batch, &test_err));
    for (size_t q = 0; q < QUERIES; q++) {
        assert_ok(paua_search(w.c, vectors[q], 1, 0, &opts, one, &test_err));
        assert_int_equal(paua_hits_count(batch, q), 8);
        assert_int_equal(paua_hits_count(one, 0), 8);
        for (size_t i = 0; i < 8; i++) {
            assert_int_equal(paua_hits_at(batch, q, i).key.u64, paua_hits_at(one, 0, i).key.u64);
            assert_true(paua_hits_at(batch, q, i).distance == paua_hits_at(one, 0, i).distance);
        }
    }
    paua_hits_close(batch);
    paua_hits_close(one);
    end(&w);
}

/* More groups are asked for than there are: in the end every code is compared. */
static void the_plan_is_that_of_the_last_candidates_of_groups(void **state)
{
    paua_search_opts opts = {.size = sizeof opts, .k = 6, .ef = 100, .group_by = "team"};
    paua_plan plan = {.size = sizeof plan};
    struct world w;
    paua_hits *hits;

    (void)state;
    begin(&w, PAUA_INT4, graph);
    assert_ok(paua_hits_open(&hits, &test_err));
    for (uint32_t round = 0; round < 2; round++) {
        assert_ok(paua_search(w.c, vectors[0], 1, 0, &opts, hits, &test_err));
        assert_int_equal(paua_hits_count(hits, 0), round == 0 ? 6 : 8);
        assert_ok(paua_hits_plan(hits, &plan, &test_err));
        assert_int_equal(plan.walked, round == 0 ? 1 : 0);
        assert_int_equal(plan.scanned, round == 0 ? 0 : 1);
        opts.k = 9;
    }
    paua_hits_close(hits);
    end(&w);
}

static void what_cannot_be_filtered_ordered_or_grouped_is_refused(void **state)
{
    static const char *const bad[] = {"nobody = 1", "team = 5", "rank LIKE 'x%'",
                                      "array_length(team) = 1"};
    paua_search_opts opts = {.size = sizeof opts, .k = K};
    paua_query_opts query = {.size = sizeof query};
    struct world w;
    paua_cursor *cursor;
    paua_hits *hits;
    uint64_t count;

    (void)state;
    begin(&w, PAUA_FP32, flat);
    assert_ok(paua_hits_open(&hits, &test_err));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        paua_filter *filter;

        assert_ok(paua_filter_parse(bad[i], strlen(bad[i]), &filter, &test_err));
        opts.filter = query.filter = filter;
        assert_fails(paua_search(w.c, vectors[0], 1, 0, &opts, hits, &test_err), PAUA_EINVAL);
        assert_memory_equal(test_err.message, "filter: line 1, column ", 23);
        assert_fails(paua_query(w.c, &query, &cursor, &test_err), PAUA_EINVAL);
        assert_memory_equal(test_err.message, "filter: line 1, column ", 23);
        assert_fails(paua_count(w.c, filter, &count, &test_err), PAUA_EINVAL);
        assert_fails(paua_delete_where(w.c, filter, &count, &test_err), PAUA_EINVAL);
        paua_filter_free(filter);
    }
    opts.filter = query.filter = NULL;
    assert_ok(paua_search(w.c, vectors[0], 1, 0, &opts, hits, &test_err));
    opts.group_by = query.order_by = "nobody";
    assert_fails(paua_search(w.c, vectors[0], 1, 0, &opts, hits, &test_err), PAUA_ENOTFOUND);
    assert_int_equal(paua_hits_count(hits, 0), K);
    assert_fails(paua_query(w.c, &query, &cursor, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_delete_where(w.c, NULL, &count, &test_err), PAUA_EINVAL);
    assert_int_equal(test_count(w.c), ROWS);
    paua_hits_close(hits);
    end(&w);
}

/* ---- queries ---- */

static uint64_t key_at(paua_cursor *cursor)
{
    const paua_record *record;

    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    return record == NULL ? UINT64_MAX : record->key.u64;
}

static void a_query_gives_pages_of_one_order_with_null_last(void **state)
{
    static const uint64_t up[] = {6, 14, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 7, 15};
    static const uint64_t down[] = {5, 13, 4, 12, 3, 11, 2, 10, 1, 9, 0, 8, 6, 14, 7, 15};
    paua_filter *filter;
    struct world w;

    (void)state;
    begin(&w, PAUA_FP32, flat);
    filter = rank_below(16);
    for (uint32_t way = 0; way < 2; way++) {
        const uint64_t *want = way == 0 ? up : down;

        for (uint32_t offset = 0; offset <= 20; offset += 3) {
            const paua_query_opts opts = {.size = sizeof opts,
                                          .filter = filter,
                                          .order_by = "team",
                                          .descending = way == 1,
                                          .offset = offset,
                                          .limit = 3};
            paua_cursor *cursor;

            assert_ok(paua_query(w.c, &opts, &cursor, &test_err));
            for (uint32_t i = offset; i < offset + 3 && i < 16; i++)
                assert_int_equal(key_at(cursor), want[i]);
            assert_true(key_at(cursor) == UINT64_MAX);
            paua_cursor_close(cursor);
        }
    }
    paua_filter_free(filter);
    end(&w);
}

static void a_query_reads_the_fields_that_were_asked_for(void **state)
{
    static const char *const wanted[] = {"team", "rank", "team"}, *unknown[] = {"nobody"};
    paua_query_opts opts = {.size = sizeof opts, .limit = 1};
    const paua_record *record;
    const paua_field *fields;
    paua_cursor *cursor;
    struct world w;
    size_t count;

    (void)state;
    begin(&w, PAUA_FP32, flat);
    opts.read.fields = wanted;
    opts.read.field_count = 3;
    assert_ok(paua_query(w.c, &opts, &cursor, &test_err));
    fields = paua_cursor_fields(cursor, &count);
    assert_int_equal(count, 3);
    assert_string_equal(fields[1].name, "rank");
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_int_equal(record->values[1].as.i64, 0);
    assert_memory_equal(record->values[2].as.bytes.data, "a", 1);
    paua_cursor_close(cursor);
    opts.read.fields = unknown;
    opts.read.field_count = 1;
    assert_fails(paua_query(w.c, &opts, &cursor, &test_err), PAUA_ENOTFOUND);
    opts.read = (paua_read_opts){.no_values = true};
    assert_ok(paua_query(w.c, &opts, &cursor, &test_err));
    paua_cursor_fields(cursor, &count);
    assert_int_equal(count, 0);
    paua_cursor_close(cursor);
    end(&w);
}

static void delete_where_deletes_what_its_filter_finds_at_once(void **state)
{
    paua_filter *filter = rank_below(1000);
    uint64_t deleted = 0;
    struct world w;

    (void)state;
    begin(&w, PAUA_FP32, flat);
    fielded_update(w.c, 1200, "rank", value_i64(5));
    fielded_update(w.c, 6, "rank", value_i64(1300));
    assert_ok(paua_delete_where(w.c, filter, &deleted, &test_err));
    assert_int_equal(deleted, 1000);
    assert_int_equal(test_count(w.c), ROWS - 1000);
    assert_true(test_fetch_u64(w.c, 6, NULL) && !test_fetch_u64(w.c, 1200, NULL));
    assert_ok(paua_delete_where(w.c, filter, &deleted, &test_err));
    assert_int_equal(deleted, 0);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    assert_int_equal(fielded_count(w.c, "rank IS NULL OR rank >= 1000"), ROWS - 1000);
    paua_filter_free(filter);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filtered_searches_of_fp32_find_min_k_matches_of_the_nearest),
        cmocka_unit_test(filtered_searches_of_int4_find_min_k_matches_near_the_nearest),
        cmocka_unit_test(a_patch_is_seen_by_the_next_filtered_search),
        cmocka_unit_test(allowed_keys_and_a_filter_both_count),
        cmocka_unit_test(groups_have_at_most_their_size_and_their_nearest),
        cmocka_unit_test(a_batch_in_groups_finds_what_its_queries_find_alone),
        cmocka_unit_test(the_plan_is_that_of_the_last_candidates_of_groups),
        cmocka_unit_test(what_cannot_be_filtered_ordered_or_grouped_is_refused),
        cmocka_unit_test(a_query_gives_pages_of_one_order_with_null_last),
        cmocka_unit_test(a_query_reads_the_fields_that_were_asked_for),
        cmocka_unit_test(delete_where_deletes_what_its_filter_finds_at_once),
    };

    return cmocka_run_group_tests_name("db/filtered_search", tests, NULL, NULL);
}
