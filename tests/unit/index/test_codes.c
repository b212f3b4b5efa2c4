/* test_codes.c - files of codes: what is written, by however many threads; what is opened, in every
 * way; and what a failure leaves. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "codes_helper.h"

static const struct opened_as WAYS[] = {
    {.no_mmap = false, .lean = false, .verify = PAUA_VERIFY_TOUCH},
    {.no_mmap = true, .lean = false, .verify = PAUA_VERIFY_TOUCH},
    {.no_mmap = false, .lean = true, .verify = PAUA_VERIFY_TOUCH},
    {.no_mmap = true, .lean = true, .verify = PAUA_VERIFY_TOUCH},
    {.no_mmap = false, .lean = false, .verify = PAUA_VERIFY_HEADER},
    {.no_mmap = true, .lean = true, .verify = PAUA_VERIFY_HEADER},
};
#define WAY_COUNT (sizeof WAYS / sizeof WAYS[0])

static struct codes *open_ok(const struct rows *rows, struct dir *dir, const struct file_ref *ref,
                             struct opened_as as)
{
    struct codes *codes = NULL;
    paua_error err = {0};

    if (rows_open(rows->dim, dir, ref, as, &codes, &err) != PAUA_OK) fail_msg("%s", err.message);
    return codes;
}

/* The codes of a file are what one encoding of all rows by the same training gives. */
static void expect_codes(const struct rows *rows, const struct codes *codes)
{
    struct model_source source = rows_source(rows, 2);
    size_t n = rows->count, walk, refine;
    struct model_scratch scratch = {0};
    struct model model;
    uint8_t *bytes;
    float *factors;

    assert_int_equal(model_train(&source, &model, NULL), PAUA_OK);
    assert_true(model_scratch_init(&scratch, &model));
    walk = n * model.walk.layout.nbytes;
    refine = n * model.refine.layout.nbytes;
    bytes = calloc(walk + refine + 1, 1);
    factors = calloc(2 * n * CODE_FACTORS, sizeof factors[0]);
    assert_non_null(bytes);
    assert_non_null(factors);
    model_encode(&model, rows->values, n, &scratch, bytes, factors,
                 refine > 0 ? bytes + walk : NULL, refine > 0 ? factors + n * CODE_FACTORS : NULL);
    assert_int_equal(codes->rows, n);
    assert_int_equal(codes->walk_nbytes, walk);
    assert_int_equal(codes->refine_nbytes, refine);
    assert_memory_equal(codes->walk.codes, bytes, walk);
    assert_memory_equal(codes->walk.factors, factors, n * CODE_FACTORS * sizeof(float));
    assert_int_equal(codes->refine_factors != NULL, refine > 0);
    if (refine > 0 && codes->refine != NULL)
        assert_memory_equal(codes->refine, bytes + walk, refine);
    if (refine > 0)
        assert_memory_equal(codes->refine_factors, factors + n * CODE_FACTORS,
                            n * CODE_FACTORS * sizeof(float));
    model_scratch_free(&scratch);
    model_free(&model);
    free(bytes);
    free(factors);
}

static void expect_plane(const struct plane_model *a, const struct plane_model *b)
{
    assert_int_equal(a->layout.lane, b->layout.lane);
    assert_int_equal(a->layout.nbytes, b->layout.nbytes);
    assert_int_equal(a->layout.field_count, b->layout.field_count);
    assert_int_equal(a->group_count, b->group_count);
    for (uint32_t i = 0; i < a->layout.field_count; i++) {
        const struct code_field *x = &a->layout.fields[i], *y = &b->layout.fields[i];

        assert_int_equal(x->offset, y->offset);
        assert_int_equal(x->segment, y->segment);
        assert_int_equal(x->shift, y->shift);
        assert_int_equal(x->width, y->width);
        assert_int_equal(x->group, y->group);
        assert_memory_equal(&a->sigma[i], &b->sigma[i], sizeof(float));
    }
}

/* All of the model but what is only for building. */
static void expect_model(const struct rows *rows, const struct model *opened)
{
    struct model_source source = rows_source(rows, 1);
    struct model model;
    size_t s8;

    assert_int_equal(model_train(&source, &model, NULL), PAUA_OK);
    s8 = (size_t)model.matrix_rows * model.stride;
    assert_int_equal(opened->dim, model.dim);
    assert_int_equal(opened->metric, model.metric);
    assert_int_equal(opened->lane, model.lane);
    assert_int_equal(opened->segments, model.segments);
    assert_int_equal(opened->trained, model.trained);
    assert_true(opened->seed == model.seed);
    assert_memory_equal(&opened->constant, &model.constant, sizeof model.constant);
    assert_memory_equal(&opened->walk_error, &model.walk_error, sizeof model.walk_error);
    assert_memory_equal(&opened->refine_error, &model.refine_error, sizeof model.refine_error);
    assert_int_equal(opened->matrix_rows, model.matrix_rows);
    assert_int_equal(opened->walk_rows, model.walk_rows);
    assert_int_equal(opened->stride, model.stride);
    assert_memory_equal(opened->mean, model.mean, model.dim * sizeof(float));
    assert_memory_equal(opened->rotated_mean, model.rotated_mean,
                        (size_t)model.segments * model.lane * sizeof(float));
    if (model.trained) {
        assert_memory_equal(opened->matrix_s8, model.matrix_s8, s8);
        assert_memory_equal(opened->matrix_scale, model.matrix_scale,
                            model.matrix_rows * sizeof(float));
    }
    assert_true(opened->borrowed);
    assert_null(opened->matrix);
    expect_plane(&opened->walk, &model.walk);
    expect_plane(&opened->refine, &model.refine);
    model_free(&model);
}

static void codes_come_back_as_they_were_encoded(void **state)
{
    static const struct {
        uint32_t count, dim;
    } shapes[] = {{300, 20}, {40, 1}, {70, 65}, {1, 3}, {1100, 7}, {9, 2049}};
    static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};
    static const paua_precision precisions[] = {PAUA_INT8, PAUA_INT2, PAUA_FP16};
    struct temp *temp = *state;

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        float *values = rows_make(shapes[i].count, shapes[i].dim);
        struct rows rows = {values, shapes[i].count, shapes[i].dim, metrics[i % 3],
                            precisions[i % 3]};
        struct file_ref ref = rows_write(&rows, temp->dir, 2);
        struct codes *codes = open_ok(&rows, temp->dir, &ref, WAYS[i % WAY_COUNT]);

        assert_true(codes->source_digest == 0xABCDEF0123456789);
        expect_model(&rows, &codes->model);
        expect_codes(&rows, codes);
        codes_use(codes);
        codes_unref(codes);
        free(values);
    }
}

static void rows_of_no_use_to_training_are_coded(void **state)
{
    static const float kinds[] = {0, 1, -0.0f, 1e-40f, 1e38f, -3e-20f};
    struct temp *temp = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int metric = PAUA_L2; metric <= PAUA_COSINE; metric++) {
            float *values = rows_make(33, 19);
            struct rows rows = {values, 33, 19, (paua_metric)metric, PAUA_INT8};
            struct file_ref ref;
            struct codes *codes;

            for (size_t i = 0; i < 33 * 19; i++)
                values[i] = kinds[k];
            ref = rows_write(&rows, temp->dir, 1);
            codes = open_ok(&rows, temp->dir, &ref, WAYS[0]);
            codes_use(codes);
            codes_unref(codes);
            free(values);
        }
}

static void rows_of_any_length_are_coded(void **state)
{
    static const float scales[] = {1e-44f, 1e-38f, 1e-20f, 1e20f, 8e37f};
    struct temp *temp = *state;

    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++)
        for (int metric = PAUA_L2; metric <= PAUA_COSINE; metric++)
            for (uint32_t odd = 0; odd < 2; odd++) {
                float *values = rows_make(60, 19);
                struct rows rows = {values, 60, 19, (paua_metric)metric, PAUA_INT8};
                struct file_ref ref;
                struct codes *codes;

                /* All rows, or the last alone. */
                for (size_t i = odd * 59 * 19; i < 60 * 19; i++)
                    values[i] *= scales[k];
                ref = rows_write(&rows, temp->dir, 1);
                codes = open_ok(&rows, temp->dir, &ref, WAYS[1]);
                codes_use(codes);
                codes_unref(codes);
                free(values);
            }
}

static void the_file_is_the_same_for_any_number_of_threads(void **state)
{
    static const uint32_t threads[] = {1, 2, 3, 4, 16};
    struct temp *temp = *state;
    float *values = rows_make(1700, 24);
    struct rows rows = {values, 1700, 24, PAUA_COSINE, PAUA_INT4};
    struct bytes first = {0};

    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        struct bytes bytes;

        rows_write(&rows, temp->dir, threads[i]);
        bytes = temp_read(temp, CODES_NAME);
        if (i == 0) {
            first = bytes;
            continue;
        }
        assert_int_equal(bytes.nbytes, first.nbytes);
        assert_memory_equal(bytes.data, first.data, first.nbytes);
        free(bytes.data);
    }
    free(first.data);
    free(values);
}

static void arrays_are_aligned_and_codes_have_slack(void **state)
{
    struct temp *temp = *state;
    float *values = rows_make(33, 24);
    struct rows rows = {values, 33, 24, PAUA_L2, PAUA_INT8};
    struct file_ref ref = rows_write(&rows, temp->dir, 1);

    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct codes *codes = open_ok(&rows, temp->dir, &ref, WAYS[w]);
        volatile uint8_t sum = 0;

        assert_int_equal((uintptr_t)codes->walk.codes % 64, 0);
        assert_int_equal((uintptr_t)codes->walk.factors % 64, 0);
        assert_int_equal((uintptr_t)codes->model.matrix_s8 % 64, 0);
        assert_int_equal((uintptr_t)codes->refine % 64, 0);
        for (size_t i = 0; i < CODE_SLACK_NBYTES; i++) {
            sum = (uint8_t)(sum + codes->walk.codes[codes->walk_nbytes + i]);
            if (codes->refine != NULL) sum = (uint8_t)(sum + codes->refine[codes->refine_nbytes]);
        }
        assert_int_equal(codes->memory != NULL, WAYS[w].no_mmap);
        codes_unref(codes);
    }
    free(values);
}

static void lean_codes_are_read_one_by_one(void **state)
{
    struct temp *temp = *state;
    float *values = rows_make(200, 24);
    struct rows rows = {values, 200, 24, PAUA_IP, PAUA_INT8};
    struct file_ref ref = rows_write(&rows, temp->dir, 1);
    struct codes *whole = open_ok(&rows, temp->dir, &ref, WAYS[0]);
    size_t nbytes = whole->model.refine.layout.nbytes;
    uint8_t room[64];

    assert_in_range(nbytes, 1, sizeof room);
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct codes *codes = open_ok(&rows, temp->dir, &ref, WAYS[w]);
        const uint8_t *bytes = NULL;

        assert_int_equal(codes->refine == NULL, WAYS[w].lean);
        assert_non_null(codes->refine_factors);
        assert_int_equal(codes->refine_nbytes, whole->refine_nbytes);
        for (uint32_t row = 0; row < rows.count; row++) {
            assert_int_equal(codes_refine_row(codes, row, room, &bytes, NULL), PAUA_OK);
            assert_memory_equal(bytes, whole->refine + row * nbytes, nbytes);
            assert_true(WAYS[w].lean == (bytes == room));
        }
        codes_unref(codes);
    }
    codes_unref(whole);
    free(values);
}

static void codes_outlive_the_file_they_were_opened_from_and_are_shared(void **state)
{
    struct temp *temp = *state;
    float *values = rows_make(50, 5);
    struct rows rows = {values, 50, 5, PAUA_L2, PAUA_INT4};
    struct file_ref ref = rows_write(&rows, temp->dir, 1);
    struct codes *codes = open_ok(&rows, temp->dir, &ref, WAYS[0]), *again = codes_ref(codes);

    assert_ptr_equal(codes, again);
    codes_unref(codes);
    assert_int_equal(dir_unlink(temp->dir, CODES_NAME, NULL), PAUA_OK);
    codes_use(again);
    codes_unref(again);
    codes_unref(NULL);
    free(values);
}

struct told {
    pthread_t caller;
    uint64_t last, calls;
};

static void progress_take(void *arg, const char *what, uint64_t done, uint64_t total)
{
    struct told *told = arg;

    assert_true(pthread_equal(told->caller, pthread_self()));
    assert_string_equal(what, told->calls == 0 ? "training" : "encoding");
    assert_int_equal(total, told->calls == 0 ? 1 : 1700);
    assert_true(done >= told->last && done <= total);
    told->last = done;
    told->calls++;
}

static void progress_is_told_by_the_calling_thread_up_to_the_end(void **state)
{
    struct temp *temp = *state;
    float *values = rows_make(1700, 3);
    struct rows rows = {values, 1700, 3, PAUA_L2, PAUA_INT4};
    struct model_source source = rows_source(&rows, 3);
    struct codes_target target = rows_target(&rows, temp->dir);
    struct told told = {.caller = pthread_self()};
    struct file_ref ref;

    target.progress = progress_take;
    target.progress_arg = &told;
    assert_int_equal(codes_write(&target, &source, &ref, NULL), PAUA_OK);
    assert_int_equal(told.last, 1700);
    free(values);
}

/* Reading fails from a row on, once all of training has been read. */
struct failing {
    const struct rows *rows;
    paua_cancel *cancel; /* asked to stop instead of failing */
    _Atomic uint32_t left;
};

static paua_status failing_read(void *arg, uint32_t first, uint32_t n, float *to, paua_error *err)
{
    struct failing *failing = arg;
    const struct rows *rows = failing->rows;

    memcpy(to, rows->values + (size_t)first * rows->dim, (size_t)n * rows->dim * sizeof to[0]);
    if (failing->left > 0) {
        failing->left--;
        return PAUA_OK;
    }
    if (failing->cancel != NULL) {
        paua_cancel_request(failing->cancel);
        return PAUA_OK;
    }
    if (err != NULL) memcpy(err->message, "no such rows", 13);
    return PAUA_EIO;
}

/* For every point at which reading may begin to fail: nothing is left, *ref is untouched. */
static void failures_leave_nothing(struct temp *temp, bool canceled, uint32_t threads)
{
    float *values = rows_make(900, 64);
    struct rows rows = {values, 900, 64, PAUA_L2, PAUA_INT8};
    struct model_source source = rows_source(&rows, threads);
    struct codes_target target = rows_target(&rows, temp->dir);
    struct file_ref ref = {.number = 77};
    uint32_t n = 0;

    for (paua_status status = PAUA_EIO; status != PAUA_OK; n++) {
        paua_cancel cancel = {0};
        struct failing failing = {&rows, canceled ? &cancel : NULL, n};
        paua_error err = {0};

        source.rows = failing_read;
        source.arg = &failing;
        source.cancel = &cancel;
        status = codes_write(&target, &source, &ref, &err);
        if (status == PAUA_OK) break;
        assert_int_equal(status, canceled ? PAUA_ECANCELED : PAUA_EIO);
        if (!canceled) assert_string_equal(err.message, "no such rows");
        assert_int_equal(temp_count(temp), 0);
        assert_int_equal(ref.number, 77);
    }
    assert_true(n > 2);
    assert_int_equal(dir_unlink(temp->dir, CODES_NAME, NULL), PAUA_OK);
    free(values);
}

static void a_source_that_fails_leaves_nothing(void **state)
{
    failures_leave_nothing(*state, false, 1);
    failures_leave_nothing(*state, false, 3);
}

static void canceling_leaves_nothing(void **state)
{
    failures_leave_nothing(*state, true, 1);
    failures_leave_nothing(*state, true, 3);
}

static void a_full_disk_leaves_nothing(void **state)
{
    struct temp *temp = *state;
    float *values = rows_make(600, 24);
    struct rows rows = {values, 600, 24, PAUA_COSINE, PAUA_INT8};
    struct model_source source = rows_source(&rows, 2);
    struct codes_target target = rows_target(&rows, temp->dir);
    struct file_ref ref;
    unsigned n = 1;

    for (paua_status status = PAUA_ENOSPACE; status != PAUA_OK; n++) {
        sys_fail_after(n, ENOSPC);
        status = codes_write(&target, &source, &ref, NULL);
        sys_restore();
        assert_true(status == PAUA_OK || status == PAUA_ENOSPACE);
        assert_int_equal(temp_count(temp), status == PAUA_OK ? 1 : 0);
    }
    assert_true(n > 5);
    free(values);
}

static void a_limit_on_file_sizes_leaves_nothing(void **state)
{
    struct temp *temp = *state;
    float *values = rows_make(600, 24);
    struct rows rows = {values, 600, 24, PAUA_COSINE, PAUA_INT8};
    struct model_source source = rows_source(&rows, 2);
    struct codes_target target = rows_target(&rows, temp->dir);
    struct rlimit before, limit;
    struct file_ref ref;
    paua_status status;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 8000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    status = codes_write(&target, &source, &ref, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(status, PAUA_OK);
    assert_int_equal(temp_count(temp), 0);
    free(values);
}

static void running_out_of_memory_leaves_nothing(void **state)
{
    struct temp *temp = *state;
    float *values = rows_make(30, 9);
    struct rows rows = {values, 30, 9, PAUA_IP, PAUA_INT8};
    struct model_source source = rows_source(&rows, 1);
    struct codes_target target = rows_target(&rows, temp->dir);
    struct file_ref ref;
    paua_status status = PAUA_ENOMEM;

    for (uint64_t n = 1; status != PAUA_OK; n++) {
        mem_fail_after(n);
        status = codes_write(&target, &source, &ref, NULL);
        mem_fail_after(0);
        assert_true(status == PAUA_OK || status == PAUA_ENOMEM);
        assert_int_equal(temp_count(temp), status == PAUA_OK ? 1 : 0);
    }
    free(values);
}

static void opening_without_memory_fails(void **state)
{
    struct temp *temp = *state;
    float *values = rows_make(30, 9);
    struct rows rows = {values, 30, 9, PAUA_IP, PAUA_INT8};
    struct file_ref ref = rows_write(&rows, temp->dir, 1);

    for (size_t w = 0; w < WAY_COUNT; w++) {
        paua_status status = PAUA_ENOMEM;
        struct codes *codes = NULL;

        for (uint64_t n = 1; status != PAUA_OK; n++) {
            mem_fail_after(n);
            status = rows_open(rows.dim, temp->dir, &ref, WAYS[w], &codes, NULL);
            mem_fail_after(0);
            assert_true(status == PAUA_OK || status == PAUA_ENOMEM);
            assert_true((codes != NULL) == (status == PAUA_OK));
        }
        codes_unref(codes);
    }
    free(values);
}

int main(void)
{
#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        ON_DISK(codes_come_back_as_they_were_encoded),
        cmocka_unit_test_setup_teardown(rows_of_no_use_to_training_are_coded, temp_setup_memory,
                                        temp_teardown),
        cmocka_unit_test_setup_teardown(rows_of_any_length_are_coded, temp_setup_memory,
                                        temp_teardown),
        ON_DISK(the_file_is_the_same_for_any_number_of_threads),
        ON_DISK(arrays_are_aligned_and_codes_have_slack),
        ON_DISK(lean_codes_are_read_one_by_one),
        ON_DISK(codes_outlive_the_file_they_were_opened_from_and_are_shared),
        ON_DISK(progress_is_told_by_the_calling_thread_up_to_the_end),
        ON_DISK(a_source_that_fails_leaves_nothing),
        ON_DISK(canceling_leaves_nothing),
        ON_DISK(a_full_disk_leaves_nothing),
        ON_DISK(a_limit_on_file_sizes_leaves_nothing),
        ON_DISK(running_out_of_memory_leaves_nothing),
        ON_DISK(opening_without_memory_fails),
    };

    return cmocka_run_group_tests_name("index/codes", tests, NULL, NULL);
}
