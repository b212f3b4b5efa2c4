/* test_golden.c - databases that earlier versions wrote are read, checked and written on. They are
 * copied first: what is committed never changes. */
#include "golden/rows.h"

#include <math.h>
#include <stdio.h>

#define CODED_ERROR 0.2 /* of vectors below 8 long of which codes are left */

/* One for each format version. */
static const char *const versions[] = {"v1"};

struct fixture {
    struct test_dir dir; /* a copy, in "copy" below it */
    char path[128];
};

static const char *golden_folder;

static void copy_make(struct fixture *f, const char *version)
{
    char from[512];

    test_dir_make(&f->dir);
    snprintf(from, sizeof from, "%s/%s", golden_folder, version);
    snprintf(f->path, sizeof f->path, "%s/copy", f->dir.path);
    test_dir_copy(from, f->path);
}

static void expect_row(paua_collection *c, const struct golden *g, uint32_t row)
{
    char room[GOLDEN_DOCUMENT_MAX];
    paua_bytes document = golden_document(g, row, golden_version(row), room);
    paua_keys keys = golden_key(g, row);
    const paua_record *record;
    paua_cursor *cursor;

    assert_ok(paua_fetch(c, &keys, NULL, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_int_equal(record->found, golden_live(g, row));
    for (uint32_t f = 0; record->found && f < (g->schema.dim2 == 0 ? 1u : 2u); f++) {
        float vector[GOLDEN_DIM_MAX];

        golden_vector(g, f, row, golden_version(row), vector);
        assert_memory_equal(record->vectors[f], vector,
                            (f == 0 ? g->schema.dim : g->schema.dim2) * sizeof(float));
    }
    if (record->found) {
        assert_int_equal(record->document.data == NULL, document.data == NULL);
        assert_int_equal(record->document.nbytes, document.nbytes);
        if (document.nbytes > 0)
            assert_memory_equal(record->document.data, document.data, document.nbytes);
    }
    paua_cursor_close(cursor);
}

static uint32_t count_live(const struct golden *g)
{
    uint32_t count = 0;

    for (uint32_t row = 0; row < GOLDEN_ROWS; row++)
        count += golden_live(g, row);
    return count;
}

/* All live rows answer, the nearest at the distance that it should have. */
static void expect_search(paua_collection *c, const struct golden *g)
{
    paua_search_opts opts = {.size = sizeof opts, .k = GOLDEN_ROWS};
    paua_hits *hits;
    float query[GOLDEN_DIM_MAX], vector[GOLDEN_DIM_MAX];
    double best = INFINITY;

    golden_vector(g, 0, 33, 0, query);
    for (uint32_t row = 0; row < GOLDEN_ROWS; row++) {
        double d;

        golden_vector(g, 0, row, golden_version(row), vector);
        d = test_distance(g->schema.metric, query, vector, g->schema.dim);
        if (golden_live(g, row) && d < best) best = d;
    }
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, query, 1, 0, &opts, hits, &test_err));
    assert_int_equal(paua_hits_count(hits, 0), count_live(g));
    assert_true(fabs(paua_hits_at(hits, 0, 0).distance - best) < 1e-5);
    paua_hits_close(hits);
}

static void expect_schema(paua_collection *c, const struct golden *g)
{
    const paua_schema *s = paua_collection_schema(c);

    assert_int_equal(s->key_kind, g->schema.key_kind);
    assert_int_equal(s->document, g->schema.document);
    assert_int_equal(s->field_count, g->schema.dim2 == 0 ? 1 : 2);
    assert_int_equal(s->fields[0].dim, g->schema.dim);
    assert_int_equal(s->fields[0].metric, g->schema.metric);
    assert_int_equal(s->fields[0].precision, g->schema.precision);
    assert_int_equal(s->fields[0].originals,
                     g->schema.precision == PAUA_FP16 ? PAUA_ORIGINALS_FP16 : PAUA_ORIGINALS_FP32);
}

static bool indexed_live(uint32_t row) { return row % GOLDEN_INDEXED_DEAD != 0; }

/* The distance from a query to its own row, or to the nearest of all. */
static double indexed_nearest(uint32_t field, const float *query)
{
    float vector[GOLDEN_INDEXED_DIM];
    double best = INFINITY;

    for (uint32_t row = 0; row < GOLDEN_INDEXED_ROWS; row++) {
        double d;

        golden_indexed_vector(field, row, vector);
        d = test_distance(PAUA_L2, query, vector, GOLDEN_INDEXED_DIM);
        if (indexed_live(row) && d < best) best = d;
    }
    return best;
}

/* Through an index, the nearest row is found: exactly where originals are kept. */
static void expect_index(paua_collection *c, const char *name, uint32_t field)
{
    paua_search_opts opts = {.size = sizeof opts,
                             .k = 10,
                             .field = golden_indexed_fields[field].name,
                             .index = name,
                             .ef = GOLDEN_INDEXED_ROWS};
    float query[GOLDEN_INDEXED_DIM], vector[GOLDEN_INDEXED_DIM];
    paua_hits *hits;

    assert_ok(paua_hits_open(&hits, &test_err));
    for (uint32_t row = 0; row < GOLDEN_INDEXED_ROWS; row += 7) {
        double nearest, own;
        paua_hit hit;

        golden_indexed_vector(field, row, query);
        nearest = sqrt(indexed_nearest(field, query));
        assert_ok(paua_search(c, query, 1, 0, &opts, hits, &test_err));
        assert_int_equal(paua_hits_count(hits, 0), 10);
        hit = paua_hits_at(hits, 0, 0);
        assert_true(hit.key.u64 < GOLDEN_INDEXED_ROWS && indexed_live((uint32_t)hit.key.u64));
        golden_indexed_vector(field, (uint32_t)hit.key.u64, vector);
        own = sqrt(test_distance(PAUA_L2, query, vector, GOLDEN_INDEXED_DIM));
        assert_true(own <= nearest + (field == 0 ? 1e-5 : CODED_ERROR));
        assert_true(fabs(hit.distance - own * own) < (field == 0 ? 1e-4 : CODED_ERROR));
    }
    paua_hits_close(hits);
}

static void expect_indexed_row(paua_collection *c, uint32_t row)
{
    float vector[GOLDEN_INDEXED_DIM];
    uint64_t key = row;
    paua_keys keys = test_u64(&key, 1);
    const paua_record *record;
    paua_cursor *cursor;

    assert_ok(paua_fetch(c, &keys, NULL, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_int_equal(record->found, indexed_live(row));
    if (record->found) {
        golden_indexed_vector(0, row, vector);
        assert_memory_equal(record->vectors[0], vector, sizeof vector);
        golden_indexed_vector(1, row, vector);
        assert_true(sqrt(test_distance(PAUA_L2, record->vectors[1], vector, GOLDEN_INDEXED_DIM)) <
                    CODED_ERROR);
    }
    paua_cursor_close(cursor);
}

static void index_each(void *arg, const paua_index *index)
{
    ++*(uint32_t *)arg;
    assert_int_equal(index->rows_due, 0);
    assert_true(index->rows >= GOLDEN_INDEXED_ROWS - GOLDEN_INDEXED_TAIL - 100);
    assert_true(index->walk_nbytes > 0);
    if (strcmp(index->name, "more") == 0) {
        assert_int_equal(index->params.kind, PAUA_INDEX_FLAT);
    } else {
        assert_int_equal(index->params.degree, golden_index.degree);
        assert_true(index->graph_nbytes > 0);
    }
}

static void expect_indexed(paua_db *db)
{
    paua_collection *c;
    uint32_t indexes = 0, live = 0;

    assert_ok(paua_collection_open(db, "indexed", &c, &test_err));
    assert_int_equal(paua_collection_schema(c)->fields[1].originals, PAUA_ORIGINALS_NONE);
    assert_ok(paua_index_list(c, index_each, &indexes, &test_err));
    assert_int_equal(indexes, 3);
    for (uint32_t row = 0; row < GOLDEN_INDEXED_ROWS; row++) {
        live += indexed_live(row);
        expect_indexed_row(c, row);
    }
    assert_int_equal(test_count(c), live);
    expect_index(c, "kept", 0);
    expect_index(c, "more", 0);
    expect_index(c, "coded", 1);
    test_validate(c);
    paua_collection_close(c);
}

static void expect_all(paua_db *db)
{
    paua_collection *c;

    for (size_t i = 0; i < golden_count; i++) {
        const struct golden *g = &golden_collections[i];

        assert_ok(paua_collection_open(db, g->name, &c, &test_err));
        expect_schema(c, g);
        assert_int_equal(test_count(c), count_live(g));
        for (uint32_t row = 0; row < GOLDEN_ROWS; row++)
            expect_row(c, g, row);
        expect_search(c, g);
        test_validate(c);
        paua_collection_close(c);
    }
    expect_indexed(db);
    assert_ok(paua_collection_open(db, "empty", &c, &test_err));
    assert_int_equal(test_count(c), 0);
    paua_collection_close(c);
}

static void every_row_of_every_version_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
            paua_open_opts opts = {.size = sizeof opts, .read_only = true, .no_mmap = no_mmap != 0};
            struct fixture f;
            paua_db *db;

            copy_make(&f, versions[i]);
            assert_ok(paua_open(f.path, &opts, &db, &test_err));
            expect_all(db);
            paua_close(db);
            test_dir_remove(&f.dir);
        }
}

static void finding_print(void *arg, const paua_finding *finding)
{
    ++*(uint32_t *)arg;
    print_error("%s: %s\n", finding->file, finding->what);
}

static void every_version_passes_its_check_without_a_note(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        uint32_t findings = 0;
        paua_check_opts opts = {
            .size = sizeof opts, .finding = finding_print, .finding_arg = &findings};
        struct fixture f;

        copy_make(&f, versions[i]);
        assert_ok(paua_check(f.path, &opts, &test_err));
        assert_int_equal(findings, 0);
        test_dir_remove(&f.dir);
    }
}

static void every_version_can_be_written_on_and_optimized(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        paua_open_opts opts = {.size = sizeof opts, .durability = PAUA_OFF};
        struct fixture f;
        paua_collection *c;
        paua_db *db;

        copy_make(&f, versions[i]);
        assert_ok(paua_open(f.path, &opts, &db, &test_err));
        for (size_t g = 0; g < golden_count; g++) {
            paua_stats stats = {.size = sizeof stats};

            assert_ok(paua_collection_open(db, golden_collections[g].name, &c, &test_err));
            assert_ok(paua_optimize(c, NULL, &test_err));
            assert_ok(paua_collection_stats(c, &stats, &test_err));
            assert_true(stats.segments == 1 && stats.tail_rows == 0);
            paua_collection_close(c);
        }
        assert_ok(paua_collection_open(db, "indexed", &c, &test_err));
        assert_ok(paua_optimize(c, NULL, &test_err));
        paua_collection_close(c);
        expect_all(db);
        paua_close(db);
        assert_ok(paua_check(f.path, NULL, &test_err));
        test_dir_remove(&f.dir);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_every_version_is_read),
        cmocka_unit_test(every_version_passes_its_check_without_a_note),
        cmocka_unit_test(every_version_can_be_written_on_and_optimized),
    };

    if (argc != 2) return 2;
    golden_folder = argv[1];
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
