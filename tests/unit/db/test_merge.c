/* test_merge.c - merging while rows are written: the progress callback writes in the middle of it,
 * so that what concurrency does by chance happens here every time. */
#include "support/support.h"

#include <dirent.h>

#include "db/db.h"

#define DIM 2048u /* 8 KiB a row: 1,024 rows and more are a part that is kept */
#define LARGE 1100u
#define SMALL 300u

struct fixture {
    struct test_dir dir;
    paua_db *db;
    paua_collection *c;
    float *data;
    uint32_t calls;
    paua_cancel cancel;
    void (*disturb)(struct fixture *f);
};

/* Keys 0 .. LARGE - 1 in one segment, then two small ones with dead rows of their own. */
static int setup(void **state)
{
    static struct fixture f;
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2};

    f = (struct fixture){.data = calloc((LARGE + 2 * SMALL) * DIM, sizeof f.data[0])};
    assert_non_null(f.data);
    for (size_t i = 0; i < LARGE + 2 * SMALL; i++)
        f.data[i * DIM] = (float)i;
    test_dir_make(&f.dir);
    f.db = test_open(&f.dir);
    f.c = test_create(f.db, "c", &schema);
    test_insert_u64(f.c, 0, LARGE, f.data);
    assert_ok(paua_optimize(f.c, NULL, &test_err));
    for (uint64_t first = LARGE; first < LARGE + 2 * SMALL; first += SMALL) {
        test_insert_u64(f.c, first, SMALL, f.data + first * DIM);
        pthread_mutex_lock(&f.c->write_mutex);
        assert_ok(seal_tail(f.c, &test_err));
        pthread_mutex_unlock(&f.c->write_mutex);
    }
    test_delete_u64(f.c, 1);
    test_delete_u64(f.c, LARGE + 1);
    test_delete_u64(f.c, LARGE + SMALL + 1);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    test_validate(f->c);
    paua_collection_close(f->c);
    paua_close(f->db);
    assert_ok(paua_check(f->dir.path, NULL, &test_err));
    test_dir_remove(&f->dir);
    free(f->data);
    return 0;
}

static void progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
    struct fixture *f = arg;

    assert_string_equal(what, "merging");
    assert_true(done <= total);
    if (f->calls++ == 0 && f->disturb != NULL) f->disturb(f);
}

static paua_status optimize(struct fixture *f)
{
    paua_optimize_opts opts = {
        .size = sizeof opts, .progress = progress, .progress_arg = f, .cancel = &f->cancel};

    return paua_optimize(f->c, &opts, &test_err);
}

static bool early_dead(uint64_t key)
{
    return key == 1 || key == LARGE + 1 || key == LARGE + SMALL + 1;
}

static bool late_dead(uint64_t key) { return key % 50 == 7; }

static void delete_some(struct fixture *f)
{
    for (uint64_t key = 0; key < LARGE + 2 * SMALL; key++)
        if (late_dead(key)) test_delete_u64(f->c, key);
}

static void rows_deleted_during_a_merge_stay_deleted(void **state)
{
    struct fixture *f = *state;
    paua_stats stats = {.size = sizeof stats};

    f->disturb = delete_some;
    assert_ok(optimize(f));
    assert_true(f->calls > 1);
    for (uint64_t key = 0; key < LARGE + 2 * SMALL; key++)
        assert_int_equal(test_fetch_u64(f->c, key, NULL), !early_dead(key) && !late_dead(key));
    assert_ok(paua_collection_stats(f->c, &stats, &test_err));
    assert_int_equal(stats.segments, 1);
    assert_true(stats.deleted > 0); /* the late ones, and those of the part that was kept */
}

static void replace_some(struct fixture *f)
{
    for (uint64_t key = 0; key < LARGE + 2 * SMALL; key++) {
        paua_vectors v = {f->data + 5 * DIM, 0};
        paua_rows rows = test_rows(test_u64(&key, 1), &v, NULL);

        if (late_dead(key)) assert_ok(paua_upsert(f->c, &rows, NULL, NULL, &test_err));
    }
}

static void rows_replaced_during_a_merge_are_the_new_ones(void **state)
{
    struct fixture *f = *state;
    float vector[DIM];

    f->disturb = replace_some;
    assert_ok(optimize(f));
    for (uint64_t key = 0; key < LARGE + 2 * SMALL; key++) {
        assert_int_equal(test_fetch_u64(f->c, key, vector), !early_dead(key));
        if (!early_dead(key)) assert_true(vector[0] == (late_dead(key) ? 5.0f : (float)key));
    }
}

static void seal_more(struct fixture *f)
{
    test_insert_u64(f->c, 100000, 10, f->data);
    pthread_mutex_lock(&f->c->write_mutex);
    assert_ok(seal_tail(f->c, &test_err));
    pthread_mutex_unlock(&f->c->write_mutex);
    test_insert_u64(f->c, 200000, 10, f->data);
    test_delete_u64(f->c, 100003);
}

static void segments_sealed_during_a_merge_come_after_it(void **state)
{
    struct fixture *f = *state;

    f->disturb = seal_more;
    assert_ok(optimize(f));
    assert_int_equal(test_count(f->c), LARGE + 2 * SMALL - 3 + 19);
    for (uint64_t key = 0; key < 10; key++) {
        assert_int_equal(test_fetch_u64(f->c, 100000 + key, NULL), key != 3);
        assert_true(test_fetch_u64(f->c, 200000 + key, NULL));
    }
}

static void delete_all(struct fixture *f)
{
    for (uint64_t key = 0; key < LARGE + 2 * SMALL; key++)
        if (!early_dead(key)) test_delete_u64(f->c, key);
}

static void all_rows_may_go_during_a_merge(void **state)
{
    struct fixture *f = *state;

    f->disturb = delete_all;
    assert_ok(optimize(f));
    assert_int_equal(test_count(f->c), 0);
    f->disturb = NULL;
    assert_ok(optimize(f));
    assert_true(test_dir_nbytes(&f->dir) < 1000000);
}

static void cancel(struct fixture *f) { paua_cancel_request(&f->cancel); }

static uint32_t files_in(const struct test_dir *dir)
{
    DIR *handle = opendir(dir->path);
    uint32_t count = 0;

    assert_non_null(handle);
    while (readdir(handle) != NULL)
        count++;
    closedir(handle);
    return count;
}

static void a_canceled_merge_leaves_the_old_files_and_no_others(void **state)
{
    struct fixture *f = *state;
    uint32_t files = files_in(&f->dir);

    f->disturb = cancel;
    assert_fails(optimize(f), PAUA_ECANCELED);
    assert_int_equal(files_in(&f->dir), files);
    assert_int_equal(test_count(f->c), LARGE + 2 * SMALL - 3);
    f->cancel = (paua_cancel){0};
    f->disturb = NULL;
    assert_ok(optimize(f));
    assert_int_equal(test_count(f->c), LARGE + 2 * SMALL - 3);
}

static void optimizing_again_does_nothing(void **state)
{
    struct fixture *f = *state;
    uint64_t nbytes;
    paua_stats a = {.size = sizeof a}, b = {.size = sizeof b};

    assert_ok(optimize(f));
    nbytes = test_dir_nbytes(&f->dir);
    assert_ok(paua_collection_stats(f->c, &a, &test_err));
    f->calls = 0;
    assert_ok(optimize(f));
    assert_int_equal(f->calls, 0);
    assert_ok(paua_collection_stats(f->c, &b, &test_err));
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(test_dir_nbytes(&f->dir), nbytes);
}

#define T(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(rows_deleted_during_a_merge_stay_deleted),
        T(rows_replaced_during_a_merge_are_the_new_ones),
        T(segments_sealed_during_a_merge_come_after_it),
        T(all_rows_may_go_during_a_merge),
        T(a_canceled_merge_leaves_the_old_files_and_no_others),
        T(optimizing_again_does_nothing),
    };

    return cmocka_run_group_tests_name("db/merge", tests, NULL, NULL);
}
