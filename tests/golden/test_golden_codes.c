/* test_golden_codes.c - the database with codes and a graph that an earlier version wrote: rows are
 * decoded and found as they were then. It is copied first: what is committed never changes.
 *
 * `answers` is what the version that wrote it found. A query's length is a sum of floats, whose
 * last bit is not the same on every CPU, and with it how a query is rounded that is compared with
 * codes: distances by codes are as they were but for that. */
#include "golden/code_rows.h"

#include <math.h>
#include <stdio.h>

#define K 10u
#define QUERIES 40u
#define FIELDS 2u
#define ANSWERS 5u

/* Of distances that were written down, by codes and by originals. */
static const double same_errors[FIELDS] = {3e-4, 2e-6};
/* Of distances from those of decoded rows, whose part along the mean is not exact; of originals. */
static const double decoded_errors[FIELDS] = {.01, 2e-6};
#define CODED_ERROR .12 /* of a decoded row of length 1 */

/* Of query 0 and query 1. */
static const struct answer {
    uint64_t key;
    double distance;
} answers[FIELDS][2][ANSWERS] = {
    {{{536, 0.15763706},
      {452, 0.167990744},
      {628, 0.170727864},
      {386, 0.179876596},
      {47, 0.205469936}},
     {{388, 0.262737483},
      {219, 0.293707788},
      {28, 0.294710457},
      {996, 0.294710457},
      {553, 0.317954898}}},
    {{{931, 0.258356392},
      {768, 0.259496272},
      {114, 0.263147265},
      {186, 0.263152957},
      {858, 0.293847829}},
     {{219, 0.343801051},
      {786, 0.349193633},
      {99, 0.38856402},
      {898, 0.422807306},
      {467, 0.440611839}}},
};

struct fixture {
    struct test_dir dir; /* a copy, in "copy" below it */
    char path[128];
    paua_db *db;
    paua_collection *c;
};

/* Every way of reading files there is. */
static const paua_open_opts ways[] = {
    {.size = sizeof(paua_open_opts), .read_only = true},
    {.size = sizeof(paua_open_opts), .read_only = true, .no_mmap = true},
    {.size = sizeof(paua_open_opts), .lean = true, .no_background = true},
    {.size = sizeof(paua_open_opts), .no_mmap = true, .lean = true, .no_background = true},
    {.size = sizeof(paua_open_opts), .map_originals = true, .no_background = true},
};
#define WAYS (sizeof ways / sizeof ways[0])

static const char *golden_folder;

static void begin(struct fixture *f, const paua_open_opts *way)
{
    char from[512];

    test_dir_make(&f->dir);
    snprintf(from, sizeof from, "%s/codes-v1", golden_folder);
    snprintf(f->path, sizeof f->path, "%s/copy", f->dir.path);
    test_dir_copy(from, f->path);
    assert_ok(paua_open(f->path, way, &f->db, &test_err));
    assert_ok(paua_collection_open(f->db, "codes", &f->c, &test_err));
}

static void finding_print(void *arg, const paua_finding *finding)
{
    ++*(uint32_t *)arg;
    print_error("%s: %s\n", finding->file, finding->what);
}

static void end(struct fixture *f)
{
    uint32_t findings = 0;
    const paua_check_opts opts = {
        .size = sizeof opts, .finding = finding_print, .finding_arg = &findings};

    test_validate(f->c);
    paua_collection_close(f->c);
    paua_close(f->db);
    assert_ok(paua_check(f->path, &opts, &test_err));
    assert_int_equal(findings, 0);
    test_dir_remove(&f->dir);
}

/* The k nearest rows of query q, which is no row, by the field's index. */
static paua_hits *search(paua_collection *c, uint32_t field, uint32_t q)
{
    const paua_search_opts opts = {
        .size = sizeof opts, .k = K, .field = golden_code_fields[field].name};
    paua_plan plan = {.size = sizeof plan};
    float query[GOLDEN_CODE_DIM_MAX];
    paua_hits *hits;

    golden_code_vector(field, GOLDEN_CODE_ROWS + q, query);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, query, 1, 0, &opts, hits, &test_err));
    assert_int_equal(paua_hits_count(hits, 0), K);
    assert_ok(paua_hits_plan(hits, &plan, &test_err));
    assert_int_equal(plan.segments, 1);
    assert_int_equal(plan.walked, field == 0);
    assert_int_equal(plan.scanned, field == 1);
    return hits;
}

/* ---- what was written down ---- */

static void expect_index(void *arg, const paua_index *index)
{
    bool unit = strcmp(index->name, "unit") == 0;

    ++*(uint32_t *)arg;
    assert_int_equal(index->rows, GOLDEN_CODE_ROWS);
    assert_int_equal(index->rows_due, 0);
    assert_int_equal(index->params.kind, unit ? PAUA_INDEX_VAMANA : PAUA_INDEX_FLAT);
    assert_int_equal(index->params.degree, unit ? golden_code_fields[0].index.degree : 0);
    assert_true(index->walk_nbytes > 0 && index->refine_nbytes > 0 && index->factor_nbytes > 0);
    assert_int_equal(index->graph_nbytes > 0, unit);
}

static void expect_answers(paua_collection *c)
{
    for (uint32_t field = 0; field < FIELDS; field++)
        for (uint32_t q = 0; q < 2; q++) {
            paua_hits *hits = search(c, field, q);

            for (uint32_t i = 0; i < ANSWERS; i++) {
                const struct answer *answer = &answers[field][q][i];
                paua_hit hit = paua_hits_at(hits, 0, i);

                assert_int_equal(hit.key.u64, answer->key);
                assert_true(fabs(hit.distance - answer->distance) < same_errors[field]);
            }
            paua_hits_close(hits);
        }
}

static void searches_answer_as_they_did_in_every_way_of_reading(void **state)
{
    struct fixture f;

    (void)state;
    for (size_t way = 0; way < WAYS; way++) {
        uint32_t indexes = 0;

        begin(&f, &ways[way]);
        assert_ok(paua_index_list(f.c, expect_index, &indexes, &test_err));
        assert_int_equal(indexes, FIELDS);
        expect_answers(f.c);
        end(&f);
    }
}

/* The nearest of all queries. */
struct found {
    uint64_t keys[FIELDS][QUERIES][K];
    double distances[FIELDS][QUERIES][K];
};

static void find_all(paua_collection *c, struct found *found)
{
    for (uint32_t field = 0; field < FIELDS; field++)
        for (uint32_t q = 0; q < QUERIES; q++) {
            paua_hits *hits = search(c, field, q);

            for (uint32_t i = 0; i < K; i++) {
                paua_hit hit = paua_hits_at(hits, 0, i);

                found->keys[field][q][i] = hit.key.u64;
                found->distances[field][q][i] = hit.distance;
            }
            paua_hits_close(hits);
        }
}

static void searches_give_the_same_bits_again_and_in_every_way_of_reading(void **state)
{
    static struct found first, again;
    struct fixture f;

    (void)state;
    for (size_t way = 0; way < WAYS; way++) {
        begin(&f, &ways[way]);
        if (way == 0) find_all(f.c, &first);
        for (uint32_t run = 0; run < 2; run++) {
            find_all(f.c, &again);
            assert_memory_equal(&again, &first, sizeof first);
        }
        end(&f);
    }
}

/* ---- every row ---- */

/* What the database has of a field: originals, or what codes stand for. */
struct stored {
    float rows[GOLDEN_CODE_ROWS][GOLDEN_CODE_DIM_MAX];
};

static void read_all(paua_collection *c, uint32_t field, struct stored *stored)
{
    const paua_record *record;
    paua_cursor *cursor;
    uint32_t row = 0;

    assert_ok(paua_iterate(c, NULL, &cursor, &test_err));
    for (;; row++) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        if (record == NULL) break;
        assert_int_equal(record->key.u64, row);
        memcpy(stored->rows[row], record->vectors[field],
               golden_code_fields[field].dim * sizeof(float));
    }
    assert_int_equal(row, GOLDEN_CODE_ROWS);
    paua_cursor_close(cursor);
}

/* Decoded rows are about as long as 1 and near the originals; of "plain" there are originals. */
static void expect_vectors(const struct stored *stored, uint32_t field)
{
    const float zero[GOLDEN_CODE_DIM_MAX] = {0};
    uint32_t dim = golden_code_fields[field].dim;

    for (uint32_t row = 0; row < GOLDEN_CODE_ROWS; row++) {
        float want[GOLDEN_CODE_DIM_MAX];
        double length;

        golden_code_vector(field, row, want);
        length = field == 0 ? sqrt(test_distance(PAUA_L2, want, zero, dim)) : 1;
        for (uint32_t i = 0; i < dim; i++)
            want[i] = (float)((double)want[i] / length);
        if (field == 1)
            assert_memory_equal(stored->rows[row], want, dim * sizeof want[0]);
        else
            assert_true(sqrt(test_distance(PAUA_L2, stored->rows[row], want, dim)) < CODED_ERROR);
    }
}

static void rows_are_decoded_as_near_as_they_were_coded(void **state)
{
    static struct stored stored;
    struct fixture f;

    (void)state;
    for (size_t way = 0; way < WAYS; way++) {
        begin(&f, &ways[way]);
        for (uint32_t field = 0; field < FIELDS; field++) {
            read_all(f.c, field, &stored);
            expect_vectors(&stored, field);
        }
        end(&f);
    }
}

/* ---- searches against all rows ---- */

static double distance_to(const struct stored *stored, uint32_t field, const float *query,
                          uint32_t row)
{
    return test_distance(golden_code_fields[field].metric, query, stored->rows[row],
                         golden_code_fields[field].dim);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Distances of hits are those of the stored vectors; gives how many are as near as the k nearest of
 * all. */
static uint32_t expect_hits(const paua_hits *hits, const struct stored *stored, uint32_t field,
                            uint32_t q)
{
    double all[GOLDEN_CODE_ROWS];
    float query[GOLDEN_CODE_DIM_MAX];
    uint32_t found = 0;

    golden_code_vector(field, GOLDEN_CODE_ROWS + q, query);
    for (uint32_t row = 0; row < GOLDEN_CODE_ROWS; row++)
        all[row] = distance_to(stored, field, query, row);
    qsort(all, GOLDEN_CODE_ROWS, sizeof all[0], compare);
    for (uint32_t i = 0; i < K; i++) {
        paua_hit hit = paua_hits_at(hits, 0, i);
        double d;

        assert_true(hit.key.u64 < GOLDEN_CODE_ROWS);
        d = distance_to(stored, field, query, (uint32_t)hit.key.u64);
        assert_true(fabs(hit.distance - d) < decoded_errors[field]);
        found += d <= all[K - 1];
    }
    return found;
}

static void the_graph_and_the_codes_find_nearly_all_that_an_exact_search_finds(void **state)
{
    static struct stored stored;
    struct fixture f;

    (void)state;
    begin(&f, &ways[0]);
    for (uint32_t field = 0; field < FIELDS; field++) {
        uint32_t found = 0;

        read_all(f.c, field, &stored);
        for (uint32_t q = 0; q < QUERIES; q++) {
            paua_hits *hits = search(f.c, field, q);

            found += expect_hits(hits, &stored, field, q);
            paua_hits_close(hits);
        }
        assert_true(found * 100 >= QUERIES * K * 95);
    }
    end(&f);
}

/* ---- repeated rows ---- */

/* The first two hits of a repeated row are it and its copy, equally near. */
static void copies_are_found_with_the_row_that_they_equal(void **state)
{
    const paua_search_opts opts = {.size = sizeof opts, .k = 2, .field = "unit"};
    struct fixture f;
    paua_hits *hits;

    (void)state;
    begin(&f, &ways[0]);
    assert_ok(paua_hits_open(&hits, &test_err));
    for (uint32_t i = 0; i < GOLDEN_CODE_COPIES; i++) {
        uint32_t copy = GOLDEN_CODE_ROWS - GOLDEN_CODE_COPIES + i;
        float query[GOLDEN_CODE_DIM_MAX];

        golden_code_vector(0, copy, query);
        assert_ok(paua_search(f.c, query, 1, 0, &opts, hits, &test_err));
        assert_int_equal(paua_hits_count(hits, 0), 2);
        assert_int_equal(paua_hits_at(hits, 0, 0).key.u64, golden_code_same(copy));
        assert_int_equal(paua_hits_at(hits, 0, 1).key.u64, copy);
        assert_true(paua_hits_at(hits, 0, 0).distance == paua_hits_at(hits, 0, 1).distance);
    }
    paua_hits_close(hits);
    end(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_answer_as_they_did_in_every_way_of_reading),
        cmocka_unit_test(searches_give_the_same_bits_again_and_in_every_way_of_reading),
        cmocka_unit_test(rows_are_decoded_as_near_as_they_were_coded),
        cmocka_unit_test(the_graph_and_the_codes_find_nearly_all_that_an_exact_search_finds),
        cmocka_unit_test(copies_are_found_with_the_row_that_they_equal),
    };

    if (argc != 2) return 2;
    golden_folder = argv[1];
    return cmocka_run_group_tests_name("golden/codes", tests, NULL, NULL);
}
