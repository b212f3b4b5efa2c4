/* test_disk_full.c - an import meets a limit on the length of files (RLIMIT_FSIZE), which stops the
 * kernel's writes half way as a full disk does: a typed error, the rows before stay, and when there
 * is room again the same call succeeds. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "crash/folder.h"
#include "crash/scenario.h"

#define BATCH_ROWS 400u
#define BATCHES 6u

struct import {
    char folder[FOLDER_PATH_NBYTES];
    struct world world;
    struct model model, found;
};

static void limit_set(rlim_t nbytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = nbytes < limit.rlim_max ? nbytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static struct step batch(uint32_t collection, uint32_t i)
{
    return (struct step){STEP_INSERT, collection, 1 + i * BATCH_ROWS, (i + 1) * BATCH_ROWS};
}

/* One step under the limit; afterwards without. Returns whether the limit was met. */
static bool step_limited(struct import *im, const struct step *step, uint16_t version, rlim_t limit)
{
    paua_error err = {.message = ""};
    paua_status status;
    char why[600];

    limit_set(limit);
    status = step_run(step, version, &im->model, &im->world, &err);
    limit_set(RLIM_INFINITY);
    if (status == PAUA_OK) {
        step_expect(step, version, &im->model);
        return false;
    }
    if (status != PAUA_EIO && status != PAUA_ENOSPACE && status != PAUA_EPOISONED)
        fail_msg("at %llu bytes: status %d: %s", (unsigned long long)limit, status, err.message);
    if (im->world.db != NULL && !world_read(&im->world, &im->found, why)) fail_msg("%s", why);
    if (im->world.db != NULL) assert_memory_equal(&im->found, &im->model, sizeof im->model);
    return true;
}

/* What the limit stopped succeeds: at once, or after reopening if the handle knows no longer. */
static void step_repeat(struct import *im, const struct step *step, uint16_t version)
{
    paua_error err = {.message = ""};
    paua_status status = step_run(step, version, &im->model, &im->world, &err);
    char why[600];

    if (status == PAUA_EPOISONED) {
        world_close(&im->world);
        assert_int_equal(world_open(&im->world, false, NULL), PAUA_OK);
        if (!world_read(&im->world, &im->found, why)) fail_msg("%s", why);
        if (memcmp(&im->found, &im->model, sizeof im->model) != 0) {
            step_expect(step, version, &im->model); /* it had been committed after all */
            assert_memory_equal(&im->found, &im->model, sizeof im->model);
            return;
        }
        status = step_run(step, version, &im->model, &im->world, &err);
    }
    if (status != PAUA_OK) fail_msg("again: %s", err.message);
    step_expect(step, version, &im->model);
}

static void import_run(struct import *im, uint32_t c, rlim_t limit)
{
    struct step steps[BATCHES + 5] = {{STEP_OPEN, 0, 0, 0}, {STEP_CREATE, c, 0, 0}};
    size_t count = 2, met = 0;
    char why[600];

    for (uint32_t i = 0; i < BATCHES; i++)
        steps[count++] = batch(c, i);
    steps[count++] = (struct step){STEP_DELETE, c, 1, 2 * BATCH_ROWS};
    steps[count++] = (struct step){STEP_OPTIMIZE, c, 0, 0};
    memset(&im->model, 0, sizeof im->model);
    snprintf(im->world.path, sizeof im->world.path, "%.200s/db", im->folder);
    folder_remove(im->world.path);
    for (uint16_t i = 0; i < count; i++) {
        if (!step_limited(im, &steps[i], (uint16_t)(i + 1), limit)) continue;
        step_repeat(im, &steps[i], (uint16_t)(i + 1));
        met++;
    }
    if (!world_read(&im->world, &im->found, why)) fail_msg("%s", why);
    assert_memory_equal(&im->found, &im->model, sizeof im->model);
    world_close(&im->world);
    assert_int_equal(world_open(&im->world, false, NULL), PAUA_OK);
    world_close(&im->world);
    if (!path_clean(im->world.path, why))
        fail_msg("at %llu bytes: %s", (unsigned long long)limit, why);
    assert_true(met > 0 || limit > 100000);
}

static void imports_run(uint32_t collection)
{
    struct import *im = calloc(1, sizeof *im);
    rlim_t step = sweep_whole() ? 1000 : 9000;

    assert_non_null(im);
    folder_temporary(im->folder);
    for (rlim_t limit = 0; limit < 250000; limit += step + limit / 10)
        import_run(im, collection, limit);
    folder_remove(im->folder);
    free(im);
}

static void an_import_that_meets_a_full_disk_can_be_repeated(void **state)
{
    (void)state;
    imports_run(0);
}

static void an_import_with_indexes_that_meets_a_full_disk_can_be_repeated(void **state)
{
    (void)state;
    imports_run(INDEXED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_import_that_meets_a_full_disk_can_be_repeated),
        cmocka_unit_test(an_import_with_indexes_that_meets_a_full_disk_can_be_repeated),
    };

    signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
