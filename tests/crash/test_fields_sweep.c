/* test_fields_sweep.c - rows with fields are written, patched, deleted by a filter, sealed and
 * folded, and their fields added, renamed, retyped and dropped; then every directory that a crash
 * could have left on the way is opened and must read like the database before or after the call
 * that was going on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crash/fields_scenario.h"
#include "crash/folder.h"
#include "crash/log.h"
#include "crash/scenario.h"

#ifdef __SANITIZE_ADDRESS__
#define SAMPLE_POINTS 24u
#else
#define SAMPLE_POINTS 80u
#endif
#define STEPS_MAX 48u
#define FAILURES_SHOWN 5u

struct sweep {
    paua_durability durability;
    struct log log;
    struct text *states;      /* after i calls: STEP_COUNT + 1 of them */
    size_t synced[STEPS_MAX]; /* when i calls had returned: how many are durable for certain */
    char folder[FOLDER_PATH_NBYTES], path[FOLDER_PATH_NBYTES];
    struct text found;
    size_t tried, failures;
};

static void record(struct sweep *s)
{
    struct place_open p = {.durability = s->durability};
    paua_error err;

    snprintf(p.path, sizeof p.path, "%.200s/recorded", s->folder);
    s->states = calloc(STEP_COUNT + 1, sizeof s->states[0]);
    assert_non_null(s->states);
    assert_true(STEP_COUNT < STEPS_MAX);
    log_start(&s->log, p.path);
    for (size_t i = 0; i < STEP_COUNT; i++) {
        bool sync = s->durability == PAUA_FULL || steps[i].call == FLUSH;

        if (move_make(&steps[i], &p, &err) != PAUA_OK) fail_msg("step %zu: %s", i, err.message);
        s->states[i + 1] = s->states[i];
        if (p.db != NULL && read_all(&p, &s->states[i + 1], &err) != PAUA_OK)
            fail_msg("reading after step %zu: %s", i, err.message);
        s->synced[i + 1] = sync ? i + 1 : s->synced[i];
        log_mark(&s->log);
    }
    log_stop(&s->log);
}

static void complain(struct sweep *s, size_t point, enum crash crash, const char *why)
{
    char where[160];

    if (s->failures++ >= FAILURES_SHOWN) return;
    log_describe(&s->log, point, where);
    print_error("crash of kind %d, %s (call %zu going on): %s\n", crash, where,
                log_marks(&s->log, point), why);
}

/* Does it read as after one of the calls first .. last? */
static bool state_known(struct sweep *s, const struct place_open *p, size_t first, size_t last,
                        char why[600])
{
    paua_error err = {.message = ""};

    if (read_all(p, &s->found, &err) != PAUA_OK) {
        snprintf(why, 600, "reading: %s", err.message);
        return false;
    }
    for (size_t i = first; i <= last; i++)
        if (strcmp(s->found.bytes, s->states[i].bytes) == 0) return true;
    snprintf(why, 600, "it reads neither as before nor as after the call: %.400s", s->found.bytes);
    return false;
}

/* Another row is patched, and everything is folded: all else reads as before. */
static bool goes_on(struct sweep *s, struct place_open *p, char why[600])
{
    static struct text before;
    paua_error err = {.message = ""};
    paua_status status = PAUA_OK;

    if (p->c == NULL) status = place_create(p, &err);
    if (status == PAUA_OK) status = rows_write(p, true, 90, 92, "later", 1, NULL, &err);
    if (status == PAUA_OK) status = rows_write(p, false, 91, 92, "later", 2, NULL, &err);
    if (status == PAUA_OK) status = read_all(p, &before, &err);
    if (status == PAUA_OK) status = paua_optimize(p->c, NULL, &err);
    if (status == PAUA_OK) status = read_all(p, &s->found, &err);
    if (status != PAUA_OK)
        snprintf(why, 600, "going on: %s", err.message);
    else if (strcmp(before.bytes, s->found.bytes) != 0)
        snprintf(why, 600, "optimize changed what it reads like");
    else
        return true;
    return false;
}

static bool survives(struct sweep *s, size_t first, size_t last, char why[600])
{
    struct place_open p = {.durability = PAUA_FULL};
    paua_error err = {.message = ""};
    bool good;

    snprintf(p.path, sizeof p.path, "%s", s->path);
    if (place_begin(&p, first == 0, &err) != PAUA_OK) {
        snprintf(why, 600, "opening: %s", err.message);
        place_close(&p);
        return false;
    }
    good = state_known(s, &p, first, last, why);
    place_close(&p);
    if (!good || !path_clean(s->path, why)) return false;
    if (place_begin(&p, false, &err) != PAUA_OK) {
        snprintf(why, 600, "opening again: %s", err.message);
        place_close(&p);
        return false;
    }
    good = goes_on(s, &p, why);
    place_close(&p);
    return good && path_clean(s->path, why);
}

static void try_point(struct sweep *s, size_t point, enum crash crash)
{
    size_t returned = log_marks(&s->log, point);
    size_t last = returned < STEP_COUNT ? returned + 1 : returned;
    char why[600] = "";

    log_replay(&s->log, point, crash, s->path);
    s->tried++;
    if (!survives(s, crash <= CRASH_KILLED_TORN ? returned : s->synced[returned], last, why))
        complain(s, point, crash, why);
}

static void sweep_run(paua_durability durability)
{
    struct sweep *s = calloc(1, sizeof *s);
    size_t points, sample = SAMPLE_POINTS;

    assert_non_null(s);
    s->durability = durability;
    hook_skip_syncs(true);
    folder_temporary(s->folder);
    snprintf(s->path, sizeof s->path, "%.200s/replayed", s->folder);
    record(s);
    assert_true(log_renames(&s->log, ".columns") >= 5);
    assert_true(log_renames(&s->log, ".values") >= 5);
    points = s->log.count;
    if (sweep_whole() || sample > points) sample = points;
    for (size_t i = 0; i < sample; i++)
        for (enum crash crash = 0; crash < CRASH_COUNT; crash++)
            if (sweep_whole() || crash == i % CRASH_COUNT)
                try_point(s, 1 + i * points / sample, crash);
    print_message("%zu of %zu points, %zu crashes\n", sample, points, s->tried);
    if (s->failures > 0) fail_msg("%zu of %zu crashes lost something", s->failures, s->tried);
    folder_remove(s->folder);
    log_free(&s->log);
    free(s->states);
    free(s);
}

static void a_crash_leaves_fields_as_before_or_after_the_call(void **state)
{
    (void)state;
    sweep_run(PAUA_FULL);
}

static void a_crash_under_batch_durability_leaves_fields_as_after_some_call(void **state)
{
    (void)state;
    sweep_run(PAUA_BATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_leaves_fields_as_before_or_after_the_call),
        cmocka_unit_test(a_crash_under_batch_durability_leaves_fields_as_after_some_call),
    };

    return cmocka_run_group_tests_name("crash/fields_sweep", tests, NULL, NULL);
}
