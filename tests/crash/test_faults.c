/* test_faults.c - in each call of the library, the first, second, third ... allocation or system
 * call fails. The call must say so with a status and a message, or succeed all the same; the state
 * is that before or after it; and when the trouble is over everything works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crash/fault.h"
#include "crash/folder.h"
#include "crash/scenario.h"
#include "support/share.h"
#include "support/support.h"

#define VERSION 100 /* of what the call under test writes */
#define FAILURES_SHOWN 12u
#define READS_CHECKED 8u /* one failed reading call in so many is followed by all checks */

/* What is there before: a segment with deletions, a tail; a second, small collection. */
static const struct step history[] = {
    {STEP_OPEN, 0, 0, 0},     {STEP_CREATE, 0, 0, 0}, {STEP_INSERT, 0, 1, 42},
    {STEP_OPTIMIZE, 0, 0, 0}, {STEP_DELETE, 0, 1, 8}, {STEP_INSERT, 0, 50, 59},
    {STEP_CREATE, 1, 0, 0},   {STEP_INSERT, 1, 1, 5},
};

/* The same with indexes: rows that lack theirs, that have them, that are many enough gone for all
 * to be made anew. */
static const struct step indexed_history[] = {
    {STEP_OPEN, 0, 0, 0},           {STEP_CREATE, INDEXED, 0, 0},   {STEP_INSERT, INDEXED, 1, 1400},
    {STEP_OPTIMIZE, INDEXED, 0, 0}, {STEP_DELETE, INDEXED, 1, 390}, {STEP_INDEX, INDEXED, 0, 0},
};

static const struct step warm = {STEP_INSERT, 0, 70, 70};

#define ALL (sizeof history / sizeof history[0])

struct trial {
    const char *name;
    size_t history; /* how much of it has happened */
    bool warm;      /* the handle has written already */
    paua_durability durability;
    struct step step;
};

static const struct trial trials[] = {
    {"making a database", 0, false, PAUA_FULL, {STEP_OPEN, 0, 0, 0}},
    {"opening", ALL, false, PAUA_FULL, {STEP_OPEN, 0, 0, 0}},
    {"creating", 6, false, PAUA_FULL, {STEP_CREATE, 1, 0, 0}},
    {"the very first insert", 2, false, PAUA_FULL, {STEP_INSERT, 0, 1, 3}},
    {"a first insert", ALL, false, PAUA_FULL, {STEP_INSERT, 0, 60, 63}},
    {"an insert", ALL, true, PAUA_FULL, {STEP_INSERT, 0, 60, 63}},
    {"an unsynced insert", ALL, true, PAUA_BATCH, {STEP_INSERT, 0, 60, 63}},
    {"an upsert", ALL, true, PAUA_FULL, {STEP_UPSERT, 0, 38, 52}},
    {"an upsert of documents", ALL, true, PAUA_FULL, {STEP_DOCUMENTS, 0, 9, 14}},
    {"a delete", ALL, true, PAUA_FULL, {STEP_DELETE, 0, 40, 52}},
    {"optimizing", ALL, false, PAUA_FULL, {STEP_OPTIMIZE, 0, 0, 0}},
    {"optimizing unsynced", ALL, true, PAUA_BATCH, {STEP_OPTIMIZE, 0, 0, 0}},
    {"flushing", ALL, true, PAUA_BATCH, {STEP_FLUSH, 0, 0, 0}},
    {"dropping", ALL, false, PAUA_FULL, {STEP_DROP, 1, 0, 0}},
    {"searching", ALL, false, PAUA_FULL, {STEP_SEARCH, 0, 40, 40}},
    {"fetching", ALL, false, PAUA_FULL, {STEP_FETCH, 0, 14, 58}},
    {"backing up", ALL, true, PAUA_FULL, {STEP_BACKUP, 0, 0, 0}},
    {"checking", ALL, false, PAUA_FULL, {STEP_CHECK, 0, 0, 0}},
    {"closing", ALL, true, PAUA_FULL, {STEP_CLOSE, 0, 0, 0}},
    {"closing unsynced", ALL, true, PAUA_BATCH, {STEP_CLOSE, 0, 0, 0}},
};

static const struct trial indexed_trials[] = {
    {"indexing", 3, false, PAUA_FULL, {STEP_OPTIMIZE, INDEXED, 0, 0}},
    {"indexing unsynced", 3, false, PAUA_BATCH, {STEP_OPTIMIZE, INDEXED, 0, 0}},
    {"indexing anew", 5, false, PAUA_FULL, {STEP_OPTIMIZE, INDEXED, 0, 0}},
    {"adding an index", 4, false, PAUA_FULL, {STEP_INDEX, INDEXED, 0, 0}},
    {"dropping an index", 6, false, PAUA_FULL, {STEP_UNINDEX, INDEXED, INDEX_EXTRA, 0}},
    {"dropping a last index", 4, false, PAUA_FULL, {STEP_UNINDEX, INDEXED, INDEX_WIDE, 0}},
    {"opening indexes", 6, false, PAUA_FULL, {STEP_OPEN, 0, 0, 0}},
    {"searching an index", 4, false, PAUA_FULL, {STEP_SEARCH, INDEXED, 500, 500}},
    {"decoding", 4, false, PAUA_FULL, {STEP_FETCH, INDEXED, 500, 600}},
    {"backing up indexes", 6, false, PAUA_FULL, {STEP_BACKUP, 0, 0, 0}},
    {"checking indexes", 6, false, PAUA_FULL, {STEP_CHECK, 0, 0, 0}},
    {"dropping what is indexed", 6, false, PAUA_FULL, {STEP_DROP, INDEXED, 0, 0}},
};

struct bench {
    const struct trial *trial;
    const struct step *history;
    enum fault_kind kind;
    uint64_t n;
    char folder[FOLDER_PATH_NBYTES], template[FOLDER_PATH_NBYTES];
    struct world world;
    struct model stored, before, after, found; /* in the template; around the call; read */
    bool ready;                                /* the world is as it was prepared */
    uint64_t digest;                           /* of its files */
    size_t tried, failures;
};

static void complain(struct bench *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(struct bench *b, const char *format, ...)
{
    char text[700];
    va_list list;

    if (b->failures++ >= FAILURES_SHOWN) return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    print_error("%s, %s at %llu: %s\n", b->trial->name, fault_name(b->kind),
                (unsigned long long)b->n, text);
}

static bool run_on(struct bench *b, const struct model *model, const struct step *step,
                   uint16_t version, const char *what)
{
    paua_error err = {.message = "no message"};

    if (step_run(step, version, model, &b->world, &err) == PAUA_OK) return true;
    complain(b, "%s: %s", what, err.message);
    return false;
}

static bool run(struct bench *b, const struct step *step, uint16_t version, const char *what)
{
    return run_on(b, &b->before, step, version, what);
}

/* A closed database with the trial's history, and its model. */
static void template_make(struct bench *b)
{
    static const struct step close = {STEP_CLOSE, 0, 0, 0};

    memset(&b->stored, 0, sizeof b->stored);
    b->world = (struct world){.durability = PAUA_FULL};
    b->ready = false;
    strcpy(b->world.path, b->template);
    folder_remove(b->template);
    for (size_t i = 0; i < b->trial->history; i++) {
        uint16_t version = (uint16_t)(i + 1);

        if (!run_on(b, &b->stored, &b->history[i], version, "preparing")) fail();
        step_expect(&b->history[i], version, &b->stored);
    }
    run(b, &close, 0, "preparing");
    if (b->trial->history == 0) folder_make(b->template);
    b->before = b->stored;
    if (b->trial->warm) step_expect(&warm, VERSION - 1, &b->before);
    b->after = b->before;
    step_expect(&b->trial->step, VERSION, &b->after);
}

/* Calls that change no file, whose next try needs no new world; what they keep for the next one
 * they do not keep in a handle. */
static bool only_reads(const struct trial *trial)
{
    return trial->step.kind == STEP_CHECK || trial->step.kind == STEP_BACKUP ||
           (trial->step.kind == STEP_OPEN && trial->history > 0);
}

/* The world in which the call is made, in a copy of the template. */
static bool world_prepare(struct bench *b)
{
    const struct step open = {STEP_OPEN, 0, 0, 0};

    b->world = (struct world){.durability = b->trial->durability};
    snprintf(b->world.path, sizeof b->world.path, "%.200s/db", b->folder);
    folder_copy(b->template, b->world.path);
    if (b->trial->step.kind == STEP_OPEN) return true;
    if (!run(b, &open, 0, "opening")) return false;
    return !b->trial->warm || run_on(b, &b->stored, &warm, VERSION - 1, "warming up");
}

static bool prepare(struct bench *b)
{
    if (b->ready) return true;
    b->ready = world_prepare(b);
    if (b->ready && only_reads(b->trial)) b->digest = folder_digest(b->world.path);
    return b->ready;
}

static bool status_right(const struct bench *b, paua_status status)
{
    bool full = b->kind == FAULT_FULL_ONCE || b->kind == FAULT_FULL;

    if (status == PAUA_OK) return true;
    if (b->trial->step.kind == STEP_CHECK && status == PAUA_ECORRUPT) return true;
    /* What SQLite cannot open for writing it opens read-only, if that works. */
    if (b->trial->step.kind == STEP_OPEN && status == PAUA_EREADONLY) return true;
    if (b->kind <= FAULT_SQLITE_MEMORY) return status == PAUA_ENOMEM;
    /* Of several merges the first has its sync refused, and the next is told why it may not. */
    if (b->trial->step.kind == STEP_OPTIMIZE && status == PAUA_EPOISONED) return fault_hit_sync();
    return status == PAUA_EIO || (full && status == PAUA_ENOSPACE);
}

static bool state_is(struct bench *b, const struct model *model)
{
    char why[600];

    if (world_read(&b->world, &b->found, why)) return memcmp(&b->found, model, sizeof *model) == 0;
    complain(b, "%s", why);
    return false;
}

static bool reopen(struct bench *b)
{
    const struct step open = {STEP_OPEN, 0, 0, 0};

    world_close(&b->world);
    return run(b, &open, 0, "opening again");
}

/* Is the handle of no more use for writing? */
static bool poisoned(struct bench *b)
{
    paua_keys none = {.count = 0};
    paua_error err;

    for (uint32_t c = 0; c < COLLECTIONS; c++)
        if (b->world.collections[c] != NULL)
            return paua_delete(b->world.collections[c], &none, NULL, NULL, &err) == PAUA_EPOISONED;
    return paua_flush(b->world.db, &err) == PAUA_EPOISONED;
}

/* A backup that succeeded is a whole database; of one that failed nothing stays, unless it could
 * not be removed. */
static void backup_check(struct bench *b, bool succeeded)
{
    struct world original = b->world, copy = {.durability = PAUA_FULL};
    static const struct step open = {STEP_OPEN, 0, 0, 0};

    world_backup_path(&original, copy.path);
    if (!succeeded && access(copy.path, F_OK) == 0 && !fault_hit_unlink())
        complain(b, "a failed backup has left something");
    b->world = copy;
    if (succeeded && run(b, &open, 0, "opening the backup")) {
        if (!state_is(b, &b->before)) complain(b, "the backup is not as the database");
        world_close(&b->world);
    }
    b->world = original;
    folder_remove(copy.path);
}

static bool writes(const struct step *step) { return step->kind <= STEP_DROP; }

/* The same call again, without a fault. */
static bool retry(struct bench *b)
{
    bool good = run(b, &b->trial->step, VERSION, "again");

    if (b->trial->step.kind == STEP_BACKUP) backup_check(b, good);
    return good;
}

/* After a failure: the state before, or after if nobody can know; then the call succeeds. */
static bool recover(struct bench *b, bool sync_failed)
{
    const struct step optimize = {STEP_OPTIMIZE, b->trial->step.collection, 0, 0};
    bool spoiled = b->world.db != NULL && poisoned(b);
    paua_error err;

    if (b->world.db != NULL && world_attach(&b->world, &err) != PAUA_OK)
        complain(b, "a collection does not open: %s", err.message);
    if (b->trial->step.kind == STEP_OPEN) return run(b, &b->trial->step, 0, "again");
    if (sync_failed && writes(&b->trial->step) && !spoiled)
        complain(b, "a sync failed, and the handle still writes");
    /* A new index that cannot be built is defined, and optimize goes on with it. */
    if (b->trial->step.kind == STEP_INDEX && !spoiled && state_is(b, &b->after))
        return run(b, &optimize, 0, "optimizing");
    if (!spoiled && !state_is(b, &b->before)) complain(b, "the failed call changed something");
    if (spoiled && !reopen(b)) return false;
    if (state_is(b, &b->before)) return retry(b);
    if (!state_is(b, &b->after)) complain(b, "reopened, it is neither as before nor as after");
    return true;
}

/* Closed at last; what a failure left lying about, the next opening has removed. */
static void finish(struct bench *b)
{
    char why[600];

    if (b->world.db == NULL && !reopen(b)) return;
    if (!state_is(b, &b->after)) complain(b, "in the end, it is not as after the call");
    if (!reopen(b)) return;
    if (!state_is(b, &b->after)) complain(b, "opened again, it is not as after the call");
    world_close(&b->world);
    if (!path_clean(b->world.path, why)) complain(b, "%s", why);
}

/* May the next fault follow in the same world? Only now and then is the rest looked at there: the
 * same call once more, the state, another opening. */
static bool untouched(struct bench *b)
{
    if (!only_reads(b->trial) || b->tried % READS_CHECKED == 0) return false;
    if (b->world.db != NULL && poisoned(b)) return false;
    return folder_digest(b->world.path) == b->digest;
}

/* False once the fault lies beyond the end of the call. */
static bool try_fault(struct bench *b, uint64_t n)
{
    paua_error err = {.status = PAUA_OK, .message = ""};
    bool used = b->ready, reached;
    paua_status status;

    b->n = n;
    b->tried++;
    if (!prepare(b)) return false;
    fault_arm(b->kind, n);
    status = step_run(&b->trial->step, VERSION, &b->before, &b->world, &err);
    reached = fault_disarm();
    if (!reached && status != PAUA_OK) complain(b, "failed without a fault: %s", err.message);
    if (!status_right(b, status)) complain(b, "status %d: %s", status, err.message);
    if (status != PAUA_OK && (err.status != status || err.message[0] == '\0'))
        complain(b, "status %d, but err says %d \"%s\"", status, err.status, err.message);
    if (b->trial->step.kind == STEP_BACKUP) backup_check(b, status == PAUA_OK);
    if (reached && status != PAUA_OK && untouched(b)) return true;
    b->ready = false;
    if (status == PAUA_OK || recover(b, fault_hit_sync())) finish(b);
    world_close(&b->world);
    return reached || (used && try_fault(b, n)); /* a new world may have more to do */
}

static void trials_run(struct bench *b, const struct step *past, const struct trial *list,
                       size_t count)
{
    b->history = past;
    for (size_t i = 0; i < count; i++) {
        uint64_t n = 1;

        b->trial = &list[i];
        template_make(b);
        while (try_fault(b, n))
            n += sweep_whole() ? 1 : 1 + n / (test_sampled() ? 2 : 3);
    }
}

static void sweep_run(enum fault_kind kind)
{
    struct bench *b = calloc(1, sizeof *b);

    assert_non_null(b);
    hook_skip_syncs(true);
    folder_temporary(b->folder);
    snprintf(b->template, sizeof b->template, "%.200s/template", b->folder);
    b->kind = kind;
    trials_run(b, history, trials, sizeof trials / sizeof trials[0]);
    trials_run(b, indexed_history, indexed_trials,
               sizeof indexed_trials / sizeof indexed_trials[0]);
    print_message("%zu faults\n", b->tried);
    if (b->failures > 0) fail_msg("%zu complaints in %zu faults", b->failures, b->tried);
    folder_remove(b->folder);
    free(b);
}

static void any_failed_allocation_leaves_the_state_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_MEMORY);
}

static void one_failed_allocation_of_sqlite_leaves_the_state_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_SQLITE_MEMORY_ONCE);
}

static void any_failed_allocation_of_sqlite_leaves_the_state_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_SQLITE_MEMORY);
}

static void one_call_that_finds_the_disk_full_leaves_the_state_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_FULL_ONCE);
}

static void a_disk_that_is_full_from_some_call_on_leaves_the_state_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_FULL);
}

static void one_call_that_fails_leaves_the_state_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_BROKEN_ONCE);
}

static void a_disk_that_fails_from_some_call_on_leaves_the_state_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_BROKEN);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_failed_allocation_leaves_the_state_before_or_after),
        cmocka_unit_test(one_failed_allocation_of_sqlite_leaves_the_state_before_or_after),
        cmocka_unit_test(any_failed_allocation_of_sqlite_leaves_the_state_before_or_after),
        cmocka_unit_test(one_call_that_finds_the_disk_full_leaves_the_state_before_or_after),
        cmocka_unit_test(a_disk_that_is_full_from_some_call_on_leaves_the_state_before_or_after),
        cmocka_unit_test(one_call_that_fails_leaves_the_state_before_or_after),
        cmocka_unit_test(a_disk_that_fails_from_some_call_on_leaves_the_state_before_or_after),
    };

    fault_init();
    return share_run(share_read(argc, argv), tests, sizeof tests / sizeof tests[0]);
}
