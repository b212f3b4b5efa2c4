/* test_crash_sweep.c - a scenario is recorded once; then every directory that a crash could have
 * left on the way is opened and must hold the state before or after the call that was going on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crash/folder.h"
#include "crash/log.h"
#include "crash/scenario.h"
#include "support/share.h"

#define STEPS_MAX 40u
/* AddressSanitizer looks at memory only, after a release build has been through the points. */
#ifdef __SANITIZE_ADDRESS__
#define SAMPLE_SHARE 3u
#else
#define SAMPLE_SHARE 1u
#endif
#define SAMPLE_POINTS (150u / SAMPLE_SHARE)
#define SAMPLE_POINTS_SEALING (10u / SAMPLE_SHARE)
#define SAMPLE_POINTS_INDEXED (60u / SAMPLE_SHARE)
#define FAILURES_SHOWN 5u
#define PROBE_KEY (KEYS_MAX - 1)

static const struct step everyday[] = {
    {STEP_OPEN, 0, 0, 0},       {STEP_CREATE, 0, 0, 0},   {STEP_INSERT, 0, 1, 1},
    {STEP_INSERT, 0, 2, 2},     {STEP_INSERT, 0, 3, 42},  {STEP_CREATE, 1, 0, 0},
    {STEP_INSERT, 1, 1, 5},     {STEP_UPSERT, 0, 2, 11},  {STEP_DOCUMENTS, 0, 20, 25},
    {STEP_DELETE, 0, 30, 34},   {STEP_OPTIMIZE, 0, 0, 0}, {STEP_DELETE, 0, 1, 8},
    {STEP_INSERT, 0, 50, 59},   {STEP_UPSERT, 0, 40, 45}, {STEP_INSERT, 1, 6, 9},
    {STEP_OPTIMIZE, 0, 0, 0},   {STEP_INSERT, 1, 10, 12}, {STEP_OPTIMIZE, 0, 0, 0},
    {STEP_DELETE, 0, 50, 55},   {STEP_FLUSH, 0, 0, 0},    {STEP_INSERT, 0, 60, 61},
    {STEP_OPTIMIZE, 1, 0, 0},   {STEP_DELETE, 1, 1, 9},   {STEP_OPTIMIZE, 1, 0, 0},
    {STEP_INSERT, 1, 20, 22},   {STEP_CLOSE, 0, 0, 0},    {STEP_OPEN, 0, 0, 0},
    {STEP_UPSERT, 0, 61, 64},   {STEP_DROP, 1, 0, 0},     {STEP_INSERT, 0, 7, 7},
    {STEP_DELETE, 0, 0, 16000}, {STEP_OPTIMIZE, 0, 0, 0}, {STEP_INSERT, 0, 70, 71},
    {STEP_CLOSE, 0, 0, 0},
};

/* The tail is full at 16,384 rows, and seals itself after the call that fills it. */
static const struct step sealing[] = {
    {STEP_OPEN, 0, 0, 0},           {STEP_CREATE, 0, 0, 0},     {STEP_INSERT, 0, 1, 16380},
    {STEP_INSERT, 0, 16381, 16390}, {STEP_DELETE, 0, 100, 120}, {STEP_INSERT, 0, 100, 104},
    {STEP_CLOSE, 0, 0, 0},
};

/* Codes, graphs and stubs are made, an index comes and goes, a merge makes all of it anew; in the
 * end an index goes whose codes must stay, and one whose codes must not. */
static const struct step indexed[] = {
    {STEP_OPEN, 0, 0, 0},
    {STEP_CREATE, INDEXED, 0, 0},
    {STEP_INSERT, INDEXED, 1, 1450},
    {STEP_OPTIMIZE, INDEXED, 0, 0},
    {STEP_INDEX, INDEXED, 0, 0},
    {STEP_DELETE, INDEXED, 1, 420},
    {STEP_OPTIMIZE, INDEXED, 0, 0},
    {STEP_UNINDEX, INDEXED, INDEX_EXTRA, 0},
    {STEP_INSERT, INDEXED, 1451, 1455},
    {STEP_OPTIMIZE, INDEXED, 0, 0},
    {STEP_UNINDEX, INDEXED, INDEX_NARROW, 0},
    {STEP_UNINDEX, INDEXED, INDEX_WIDE, 0},
    {STEP_INDEX, INDEXED, 0, 0},
    {STEP_CLOSE, 0, 0, 0},
    {STEP_OPEN, 0, 0, 0},
    {STEP_DROP, INDEXED, 0, 0},
    {STEP_CLOSE, 0, 0, 0},
};

struct sweep {
    const struct step *steps;
    size_t step_count;
    uint32_t collection; /* that goes on after a crash */
    paua_durability durability;
    struct log log;
    struct model *models; /* before step i; step_count + 1 of them */
    size_t
        synced[STEPS_MAX]; /* when i calls had returned: how many are durable, whatever happens */
    char folder[FOLDER_PATH_NBYTES], path[FOLDER_PATH_NBYTES];
    struct model found, probed;
    size_t tried, failures;
};

static void record(struct sweep *s)
{
    struct world world = {.durability = s->durability};
    paua_error err;

    snprintf(world.path, sizeof world.path, "%.200s/recorded", s->folder);
    s->models = calloc(s->step_count + 1, sizeof s->models[0]);
    assert_non_null(s->models);
    assert_true(s->step_count < STEPS_MAX);
    log_start(&s->log, world.path);
    for (size_t i = 0; i < s->step_count; i++) {
        paua_status status = step_run(&s->steps[i], (uint16_t)(i + 1), &s->models[i], &world, &err);
        bool sync = s->durability == PAUA_FULL || s->steps[i].kind == STEP_FLUSH;

        if (status != PAUA_OK) fail_msg("step %zu: %s", i, err.message);
        s->models[i + 1] = s->models[i];
        step_expect(&s->steps[i], (uint16_t)(i + 1), &s->models[i + 1]);
        s->synced[i + 1] = sync ? i + 1 : s->synced[i];
        log_mark(&s->log);
    }
    log_stop(&s->log);
}

static void complain(struct sweep *s, size_t point, enum crash crash, const char *why)
{
    static const char *const words[CRASH_COUNT] = {"killed", "killed, torn", "power lost",
                                                   "power lost, names kept", "power lost, mixed"};
    char where[160];

    if (s->failures++ >= FAILURES_SHOWN) return;
    log_describe(&s->log, point, where);
    print_error("%s %s (call %zu going on): %s\n", words[crash], where, log_marks(&s->log, point),
                why);
}

/* Is each collection as it was after one of the calls first .. last? */
static bool state_known(struct sweep *s, size_t first, size_t last, char why[600])
{
    for (uint32_t c = 0; c < COLLECTIONS; c++) {
        size_t i = first;

        while (i <= last &&
               memcmp(&s->found.tables[c], &s->models[i].tables[c], sizeof s->found.tables[c]) != 0)
            i++;
        if (i <= last) continue;
        snprintf(why, 600, "collection %u is neither as before nor as after the call", c);
        return false;
    }
    return true;
}

/* One more row goes in, and optimize runs. */
static bool goes_on(struct sweep *s, struct world *world, char why[600])
{
    uint32_t c = s->collection;
    const struct step probe = {STEP_INSERT, c, PROBE_KEY, PROBE_KEY};
    const struct step create = {STEP_CREATE, c, 0, 0}, optimize = {STEP_OPTIMIZE, c, 0, 0};
    paua_error err = {.message = ""};
    paua_status status = PAUA_OK;

    if (world->collections[c] == NULL) {
        status = step_run(&create, 0, &s->found, world, &err);
        step_expect(&create, 0, &s->found);
    }
    if (status == PAUA_OK) status = step_run(&probe, 1000, &s->found, world, &err);
    if (status == PAUA_OK) status = step_run(&optimize, 0, &s->found, world, &err);
    if (status != PAUA_OK) {
        snprintf(why, 600, "going on: %s", err.message);
        return false;
    }
    step_expect(&probe, 1000, &s->found);
    if (!world_settled(world, why) || !world_read(world, &s->probed, why)) return false;
    if (memcmp(&s->found, &s->probed, sizeof s->found) == 0) return true;
    snprintf(why, 600, "going on: rows are not what was written");
    return false;
}

static bool survives(struct sweep *s, size_t first, size_t last, char why[600])
{
    struct world world = {.durability = PAUA_FULL};
    paua_error err = {.message = ""};
    bool good;

    snprintf(world.path, sizeof world.path, "%s", s->path);
    if (world_open(&world, first == 0, &err) != PAUA_OK) {
        snprintf(why, 600, "opening: %s", err.message);
        return false;
    }
    good = world_read(&world, &s->found, why) && state_known(s, first, last, why);
    world_close(&world);
    if (!good || !path_clean(s->path, why)) return false;
    if (world_open(&world, false, &err) != PAUA_OK) {
        snprintf(why, 600, "opening again: %s", err.message);
        return false;
    }
    good = goes_on(s, &world, why);
    world_close(&world);
    return good && path_clean(s->path, why);
}

static void try_point(struct sweep *s, size_t point, enum crash crash)
{
    size_t returned = log_marks(&s->log, point);
    size_t last = returned < s->step_count ? returned + 1 : returned;
    char why[600] = "";

    log_replay(&s->log, point, crash, s->path);
    s->tried++;
    if (!survives(s, crash <= CRASH_KILLED_TORN ? returned : s->synced[returned], last, why))
        complain(s, point, crash, why);
}

static void sweep_run(const struct step *steps, size_t step_count, paua_durability durability,
                      size_t from_call, size_t sample)
{
    uint32_t collection = steps == indexed ? INDEXED : 0;
    struct sweep *s = calloc(1, sizeof *s);
    size_t points, first = 1;

    assert_non_null(s);
    *s = (struct sweep){.steps = steps,
                        .step_count = step_count,
                        .collection = collection,
                        .durability = durability};
    hook_skip_syncs(true);
    folder_temporary(s->folder);
    snprintf(s->path, sizeof s->path, "%.200s/replayed", s->folder);
    record(s);
    assert_true(log_renames(&s->log, ".keys") > 0); /* something was sealed */
    while (log_marks(&s->log, first) < from_call)
        first++;
    points = s->log.count + 1 - first;
    if (sweep_whole() || sample > points) sample = points;
    for (size_t i = 0; i < sample; i++)
        for (enum crash crash = 0; crash < CRASH_COUNT; crash++)
            try_point(s, first + i * points / sample, crash);
    print_message("%zu of %zu points, %zu crashes\n", sample, points, s->tried);
    if (s->failures > 0) fail_msg("%zu of %zu crashes lost something", s->failures, s->tried);
    folder_remove(s->folder);
    log_free(&s->log);
    free(s->models);
    free(s);
}

static void a_replay_of_the_whole_log_is_the_directory_that_was_recorded(void **state)
{
    struct sweep *s = calloc(1, sizeof *s);
    char recorded[FOLDER_PATH_NBYTES];

    (void)state;
    assert_non_null(s);
    *s = (struct sweep){.steps = everyday, .step_count = sizeof everyday / sizeof everyday[0]};
    folder_temporary(s->folder);
    snprintf(s->path, sizeof s->path, "%.200s/replayed", s->folder);
    snprintf(recorded, sizeof recorded, "%.200s/recorded", s->folder);
    record(s);
    log_replay(&s->log, s->log.count, CRASH_KILLED, s->path);
    assert_true(s->log.count > 300);
    assert_true(folder_equal(s->path, recorded));
    folder_remove(s->folder);
    log_free(&s->log);
    free(s->models);
    free(s);
}

static void a_crash_leaves_the_state_before_or_after_the_call(void **state)
{
    (void)state;
    sweep_run(everyday, sizeof everyday / sizeof everyday[0], PAUA_FULL, 0, SAMPLE_POINTS);
}

static void a_crash_under_batch_durability_leaves_the_state_after_some_call(void **state)
{
    (void)state;
    sweep_run(everyday, sizeof everyday / sizeof everyday[0], PAUA_BATCH, 0, SAMPLE_POINTS);
}

static void a_crash_while_a_full_tail_seals_itself_loses_nothing(void **state)
{
    (void)state;
    sweep_run(sealing, sizeof sealing / sizeof sealing[0], PAUA_FULL, 3, SAMPLE_POINTS_SEALING);
}

static void
a_crash_while_a_full_unsynced_tail_seals_itself_leaves_the_state_after_some_call(void **state)
{
    (void)state;
    sweep_run(sealing, sizeof sealing / sizeof sealing[0], PAUA_BATCH, 3, SAMPLE_POINTS_SEALING);
}

static void a_crash_while_indexes_are_made_leaves_all_rows_and_whole_indexes(void **state)
{
    (void)state;
    sweep_run(indexed, sizeof indexed / sizeof indexed[0], PAUA_FULL, 3, SAMPLE_POINTS_INDEXED);
}

static void a_crash_while_indexes_are_made_unsynced_leaves_the_state_after_some_call(void **state)
{
    (void)state;
    sweep_run(indexed, sizeof indexed / sizeof indexed[0], PAUA_BATCH, 3, SAMPLE_POINTS_INDEXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_of_the_whole_log_is_the_directory_that_was_recorded),
        cmocka_unit_test(a_crash_leaves_the_state_before_or_after_the_call),
        cmocka_unit_test(a_crash_under_batch_durability_leaves_the_state_after_some_call),
        cmocka_unit_test(a_crash_while_a_full_tail_seals_itself_loses_nothing),
        cmocka_unit_test(
            a_crash_while_a_full_unsynced_tail_seals_itself_leaves_the_state_after_some_call),
        cmocka_unit_test(a_crash_while_indexes_are_made_leaves_all_rows_and_whole_indexes),
        cmocka_unit_test(a_crash_while_indexes_are_made_unsynced_leaves_the_state_after_some_call),
    };

    return share_run(share_read(argc, argv), tests, sizeof tests / sizeof tests[0]);
}
