/* test_index_upkeep.c - codes and graphs over time: reopened, canceled, damaged, merged, lost. */
#include "indexed.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "store/catalog.h"

static void reopened_it_finds_the_same_mapped_or_not(void **state)
{
    struct fixture *f = *state;
    const paua_open_opts ways[] = {{.size = sizeof ways[0]},
                                   {.size = sizeof ways[0], .no_mmap = true},
                                   {.size = sizeof ways[0], .lean = true},
                                   {.size = sizeof ways[0], .no_mmap = true, .lean = true},
                                   {.size = sizeof ways[0], .map_originals = true},
                                   {.size = sizeof ways[0], .verify = PAUA_VERIFY_HEADER},
                                   {.size = sizeof ways[0], .read_only = true}};
    struct found before, after;
    paua_search_opts refined = indexed;

    refined.refine = true;
    fill(f, &vamana);
    for (int refine = 0; refine < 2; refine++) {
        const paua_search_opts *opts = refine != 0 ? &refined : &indexed;

        reopen(f, NULL);
        find(f, opts, &before);
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            reopen(f, &ways[i]);
            find(f, opts, &after);
            assert_memory_equal(&before, &after, sizeof before);
        }
    }
}

static void vectors_that_are_not_kept_are_decoded(void **state)
{
    struct fixture *f = *state;
    struct test_schema schema = vamana;
    struct found before, after;
    float row[DIM];
    char copy[80];

    schema.originals = PAUA_ORIGINALS_NONE;
    fill(f, &schema);
    assert_true(test_dir_nbytes(&f->dir) < 2 * ROWS * DIM * sizeof(float));
    for (uint64_t key = 0; key < ROWS; key += 61) {
        double error = 0, norm = 0;

        assert_true(test_fetch_u64(f->c, key, row));
        for (size_t j = 0; j < DIM; j++) {
            double want = (double)f->data[key * DIM + j];

            error += ((double)row[j] - want) * ((double)row[j] - want);
            norm += want * want;
        }
        assert_true(error < 1e-3 * norm);
    }
    find(f, &indexed, &before);
    reopen(f, NULL);
    find(f, &indexed, &after);
    assert_memory_equal(&before, &after, sizeof before);
    for (uint64_t key = 0; key < ROWS; key += 3)
        test_delete_u64(f->c, key);
    test_insert_u64(f->c, ROWS, QUERIES, query(f, 0));
    assert_ok(paua_optimize(f->c, NULL, &test_err));
    test_validate(f->c);
    assert_int_equal(test_count(f->c), ROWS - ROWS / 3 + QUERIES);
    assert_true(recall_now(f, &indexed) > .9);
    snprintf(copy, sizeof copy, "%s/copy", f->dir.path);
    assert_ok(paua_backup(f->db, copy, NULL, &test_err));
    assert_ok(paua_check(copy, NULL, &test_err));
}

static void originals_that_are_needed_are_kept(void **state)
{
    struct fixture *f = *state;
    paua_vector_field field = {.name = "v", .dim = 4, .originals = PAUA_ORIGINALS_NONE};
    paua_schema schema = {.size = sizeof schema, .fields = &field, .field_count = 1};
    paua_collection *c = NULL;

    assert_fails(paua_collection_create(f->db, "c", &schema, &c, &test_err), PAUA_EINVAL);
    field.precision = PAUA_INT8;
    field.index.kind = PAUA_INDEX_NONE;
    assert_fails(paua_collection_create(f->db, "c", &schema, &c, &test_err), PAUA_EINVAL);
    field.index.kind = PAUA_INDEX_FLAT;
    schema.key_kind = PAUA_KEY_VECTOR;
    assert_fails(paua_collection_create(f->db, "c", &schema, &c, &test_err), PAUA_EINVAL);
}

static paua_cancel cancel;

static void cancel_at(void *arg, const char *what, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    if (strcmp(what, arg) == 0) paua_cancel_request(&cancel);
}

static void a_canceled_build_leaves_what_was_and_can_go_on(void **state)
{
    struct fixture *f = *state;
    static char stages[3][16] = {"training", "encoding", "linking"};

    f->c = test_create(f->db, "c", &vamana);
    test_insert_u64(f->c, 0, ROWS, f->data);
    for (size_t i = 0; i < 3; i++) {
        paua_optimize_opts opts = {.size = sizeof opts,
                                   .progress = cancel_at,
                                   .progress_arg = stages[i],
                                   .cancel = &cancel};

        cancel = (paua_cancel){0};
        assert_fails(paua_optimize(f->c, &opts, &test_err), PAUA_ECANCELED);
        test_validate(f->c);
        assert_true(recall_now(f, &indexed) > .95);
        assert_int_equal(files_of(f, ".tmp"), 0);
    }
    assert_ok(paua_optimize(f->c, NULL, &test_err));
    assert_int_equal(list(f).rows, ROWS);
}

static void a_few_rows_more_do_not_rebuild_a_large_index(void **state)
{
    struct fixture *f = *state;
    paua_stats stats = {.size = sizeof stats};

    fill(f, &vamana);
    test_insert_u64(f->c, ROWS, QUERIES, query(f, 0));
    assert_ok(paua_optimize(f->c, NULL, &test_err));
    assert_ok(paua_collection_stats(f->c, &stats, &test_err));
    assert_int_equal(stats.segments, 2);
    assert_true(stats.code_nbytes > 0 && stats.graph_nbytes > 0);
    assert_int_equal(list(f).rows, ROWS);
    for (uint64_t first = ROWS + QUERIES; first < 2 * ROWS; first += 500)
        test_insert_u64(f->c, first, 500, f->data);
    assert_ok(paua_optimize(f->c, NULL, &test_err));
    assert_ok(paua_collection_stats(f->c, &stats, &test_err));
    assert_int_equal(stats.segments, 1);
    assert_int_equal(list(f).rows, stats.rows);
}

/* Flips one byte in the middle of the only file with this suffix. */
static void damage(const struct fixture *f, const char *suffix)
{
    DIR *dir = opendir(f->dir.path);
    char path[400], byte;

    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        size_t length = strlen(e->d_name), end = strlen(suffix);
        int fd;

        if (length < end || strcmp(e->d_name + length - end, suffix) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", f->dir.path, e->d_name);
        fd = open(path, O_RDWR | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(pread(fd, &byte, 1, lseek(fd, 0, SEEK_END) / 2), 1);
        byte ^= 4;
        assert_int_equal(pwrite(fd, &byte, 1, lseek(fd, 0, SEEK_END) / 2), 1);
        close(fd);
    }
    closedir(dir);
}

static void damaged_codes_and_graphs_are_named(void **state)
{
    struct fixture *f = *state;
    static const char *const suffixes[] = {".codes", ".graph"};

    for (size_t i = 0; i < 2; i++) {
        paua_hits *hits = NULL;

        fill(f, &vamana);
        reopen(f, NULL);
        damage(f, suffixes[i]);
        assert_ok(paua_hits_open(&hits, &test_err));
        assert_fails(paua_search(f->c, query(f, 0), 1, 0, &indexed, hits, &test_err),
                     PAUA_ECORRUPT);
        assert_non_null(strstr(test_err.message, suffixes[i]));
        assert_ok(paua_search(f->c, query(f, 0), 1, 0, &exact, hits, &test_err));
        paua_hits_close(hits);
        assert_fails(paua_check(f->dir.path, NULL, &test_err), PAUA_ECORRUPT);
        paua_collection_close(f->c);
        f->c = NULL;
        assert_ok(paua_collection_drop(f->db, "c", &test_err));
    }
}

static void a_lost_catalogue_finds_its_codes_again(void **state)
{
    struct fixture *f = *state;
    struct test_schema schema = vamana;
    paua_check_opts opts = {.size = sizeof opts, .rebuild = true};
    char path[100];

    schema.originals = PAUA_ORIGINALS_NONE;
    fill(f, &schema);
    paua_collection_close(f->c);
    f->c = NULL;
    paua_close(f->db);
    snprintf(path, sizeof path, "%s/%s", f->dir.path, CATALOG_NAME);
    assert_int_equal(unlink(path), 0);
    assert_ok(paua_check(f->dir.path, &opts, &test_err));
    f->db = test_open(&f->dir);
    assert_ok(paua_collection_open(f->db, "c", &f->c, &test_err));
    assert_int_equal(test_count(f->c), ROWS);
    assert_ok(paua_optimize(f->c, NULL, &test_err));
    assert_int_equal(list(f).rows, ROWS);
    assert_true(recall_now(f, &indexed) > .95);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(reopened_it_finds_the_same_mapped_or_not),
        TEST(vectors_that_are_not_kept_are_decoded),
        TEST(originals_that_are_needed_are_kept),
        TEST(a_canceled_build_leaves_what_was_and_can_go_on),
        TEST(a_few_rows_more_do_not_rebuild_a_large_index),
        TEST(damaged_codes_and_graphs_are_named),
        TEST(a_lost_catalogue_finds_its_codes_again),
    };

    return cmocka_run_group_tests_name("db/index_upkeep", tests, NULL, NULL);
}
