/* test_rebuild.c - a database whose catalogue is lost: opened, checked and rebuilt. */
#include "support/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "db/db.h"

#define DIM 2u
#define ROWS 100u

static const struct test_schema plain = {.dim = DIM, .metric = PAUA_L2};

struct fixture {
    struct test_dir dir;
    float data[ROWS * DIM];
};

static void seal(paua_collection *c)
{
    pthread_mutex_lock(&c->write_mutex);
    assert_ok(seal_tail(c, &test_err));
    pthread_mutex_unlock(&c->write_mutex);
}

static void upsert(paua_collection *c, uint64_t key, float value)
{
    const float vector[DIM] = {value, value};
    paua_vectors column = {.data = vector};
    paua_rows rows = test_rows(test_u64(&key, 1), &column, NULL);

    assert_ok(paua_upsert(c, &rows, NULL, NULL, &test_err));
}

static paua_collection *reopen(const struct fixture *f, paua_db **db)
{
    paua_collection *c;

    *db = test_open(&f->dir);
    assert_ok(paua_collection_open(*db, "c", &c, &test_err));
    return c;
}

/* Two segments of a hundred rows, of which the second has newer versions of rows 0 to 9, and row 50
 * twice. */
static int setup(void **state)
{
    static struct fixture f;
    paua_collection *c;
    paua_db *db;

    test_dir_make(&f.dir);
    db = test_open(&f.dir);
    c = test_create(db, "c", &plain);
    test_insert_u64(c, 0, ROWS, f.data);
    seal(c);
    upsert(c, 50, 1);
    for (uint64_t key = 0; key < 10; key++)
        upsert(c, key, 7);
    upsert(c, 50, 2);
    test_insert_u64(c, ROWS, ROWS - 12, f.data);
    seal(c);
    paua_collection_close(c);
    paua_close(db);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    test_dir_remove(&f->dir);
    return 0;
}

static void lose_catalogue(const struct fixture *f, bool leave_empty)
{
    static const char *const names[] = {"catalog.sqlite", "catalog.sqlite-wal",
                                        "catalog.sqlite-shm"};
    char path[128];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", f->dir.path, names[i]);
        unlink(path);
        if (i == 0 && leave_empty) close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    }
}

static void no_new_catalogue_is_made_beside_the_files_of_a_lost_one(void **state)
{
    struct fixture *f = *state;
    paua_open_opts opts = {.size = sizeof opts, .create = true};
    paua_check_opts rebuild = {.size = sizeof rebuild, .rebuild = true};
    paua_collection *c;
    paua_db *db;

    for (int empty = 0; empty < 2; empty++) {
        lose_catalogue(f, empty != 0);
        assert_fails(paua_open(f->dir.path, &opts, &db, &test_err), PAUA_ECORRUPT);
        assert_fails(paua_open(f->dir.path, NULL, &db, &test_err), PAUA_ECORRUPT);
        assert_fails(paua_check(f->dir.path, NULL, &test_err), PAUA_ECORRUPT);
        assert_ok(paua_check(f->dir.path, &rebuild, &test_err));
        c = reopen(f, &db);
        assert_int_equal(test_count(c), 2 * ROWS - 12);
        paua_collection_close(c);
        paua_close(db);
    }
}

static void of_rows_with_one_key_only_the_newest_comes_back(void **state)
{
    struct fixture *f = *state;
    paua_check_opts rebuild = {.size = sizeof rebuild, .rebuild = true};
    float vector[DIM];
    paua_collection *c;
    paua_db *db;

    lose_catalogue(f, false);
    assert_ok(paua_check(f->dir.path, &rebuild, &test_err));
    c = reopen(f, &db);
    test_validate(c);
    assert_true(test_fetch_u64(c, 5, vector));
    assert_true(vector[0] == 7);
    assert_true(test_fetch_u64(c, 50, vector));
    assert_true(vector[0] == 2);
    assert_true(test_fetch_u64(c, 60, vector));
    assert_true(vector[0] == 0);
    upsert(c, 5, 8);
    test_delete_u64(c, 60);
    test_validate(c);
    paua_collection_close(c);
    paua_close(db);
    assert_ok(paua_check(f->dir.path, NULL, &test_err));
}

static void a_directory_without_any_of_our_files_is_not_rebuilt(void **state)
{
    paua_check_opts rebuild = {.size = sizeof rebuild, .rebuild = true};
    struct test_dir empty;

    (void)state;
    test_dir_make(&empty);
    assert_fails(paua_check(empty.path, &rebuild, &test_err), PAUA_ENOTFOUND);
    test_dir_remove(&empty);
    assert_fails(paua_check("/dev/null", NULL, &test_err), PAUA_EINVAL);
}

struct findings {
    uint32_t count;
    const char *name; /* of the file that is missing */
};

static void finding_each(void *arg, const paua_finding *finding)
{
    struct findings *f = arg;

    f->count++;
    assert_string_equal(finding->file, f->name);
    assert_string_equal(finding->what, "is missing");
    assert_null(strstr(finding->advice, "; "));
}

static void a_missing_file_is_named_once(void **state)
{
    struct fixture *f = *state;
    struct findings findings = {.name = "000001.f32"};
    paua_check_opts opts = {.size = sizeof opts, .finding = finding_each, .finding_arg = &findings};
    char path[128];

    snprintf(path, sizeof path, "%s/%s", f->dir.path, findings.name);
    assert_int_equal(unlink(path), 0);
    assert_fails(paua_check(f->dir.path, &opts, &test_err), PAUA_ECORRUPT);
    assert_int_equal(findings.count, 1);
}

#define T(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(no_new_catalogue_is_made_beside_the_files_of_a_lost_one),
        T(of_rows_with_one_key_only_the_newest_comes_back),
        T(a_directory_without_any_of_our_files_is_not_rebuilt),
        T(a_missing_file_is_named_once),
    };

    return cmocka_run_group_tests_name("db/rebuild", tests, NULL, NULL);
}
