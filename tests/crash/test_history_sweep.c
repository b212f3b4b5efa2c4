/* test_history_sweep.c - a history of a database is written, trimmed and cleared once; then every
 * directory that a crash could have left on the way is opened, and must hold the rows before or
 * after the call that was going on, go on being written, and have no stray file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <paua/paua_db_history.h>

#include "crash/folder.h"
#include "crash/log.h"
#include "crash/scenario.h"

#define SAMPLE_POINTS 40u
#define FAILURES_SHOWN 5u
#define ROWS_MAX 700u

/* What a call does: rows that are appended at once; or one of these. */
enum { REOPEN = -1, CLEAR = -2, TRIM = -3, FLUSH = -4 };

static const int calls[] = {REOPEN, 1,    9,  40,  300,   FLUSH, 500, 17,    REOPEN, 1,
                            250,    TRIM, 60, 400, CLEAR, 5,     130, FLUSH, 2};

#define CALLS (sizeof calls / sizeof calls[0])

struct rows {
    uint64_t first, next;
};

struct sweep {
    paua_durability durability;
    struct log log;
    struct rows states[CALLS + 1]; /* before call i */
    size_t synced[CALLS + 1];      /* when i calls had returned: how many are durable */
    char folder[FOLDER_PATH_NBYTES], path[FOLDER_PATH_NBYTES];
    size_t tried, failures;
};

struct open_history {
    paua_db *db;
    paua_db_history *history;
};

static paua_status history_start(struct open_history *w, const char *path,
                                 paua_durability durability, paua_error *err)
{
    const paua_open_opts opts = {.size = sizeof opts,
                                 .create = true,
                                 .durability = durability,
                                 .batch_ms = 3600000,
                                 .no_background = true};
    const paua_db_history_opts history = {.size = sizeof history,
                                          .create = true,
                                          .at_once = true,
                                          .page_rows = 16,
                                          .limits = {.max_rows = ROWS_MAX}};
    paua_status status = paua_open(path, &opts, &w->db, err);

    w->history = NULL;
    if (status != PAUA_OK) return status;
    status = paua_db_history_open(w->db, "h", &history, &w->history, err);
    if (status != PAUA_OK) paua_close(w->db);
    return status;
}

static void history_stop(struct open_history *w)
{
    paua_db_history_close(w->history);
    paua_close(w->db);
    *w = (struct open_history){NULL, NULL};
}

static int text_of(uint64_t number, char text[48])
{
    return snprintf(text, 48, "row %llu, and %llx", (unsigned long long)number,
                    (unsigned long long)(number * 0x9E3779B97F4A7C15u));
}

static paua_status append(struct open_history *w, uint64_t first, int count, paua_error *err)
{
    static char texts[1024][48];
    static paua_history_new_row rows[1024];

    for (int i = 0; i < count; i++)
        rows[i] =
            (paua_history_new_row){.size = sizeof rows[0],
                                   .width = 80,
                                   .text = texts[i],
                                   .text_nbytes = (size_t)text_of(first + (uint64_t)i, texts[i])};
    return paua_db_history_append(w->history, rows, (size_t)count, NULL, err);
}

static paua_status call_run(struct sweep *s, struct open_history *w, const char *path, size_t i,
                            paua_error *err)
{
    const paua_history_limits half = {.max_rows = 90};
    struct rows *after = &s->states[i + 1];

    *after = s->states[i];
    switch (calls[i]) {
    case REOPEN:
        history_stop(w);
        return history_start(w, path, s->durability, err);
    case CLEAR:
        after->first = after->next;
        return paua_db_history_clear(w->history, err);
    case TRIM:
        after->first = after->next - 90;
        return paua_db_history_trim(w->history, &half, 0, err);
    case FLUSH:
        return paua_db_history_flush(w->history, err);
    default:
        after->next += (uint64_t)calls[i];
        if (after->next - after->first > ROWS_MAX) after->first = after->next - ROWS_MAX;
        return append(w, s->states[i].next, calls[i], err);
    }
}

static void record(struct sweep *s)
{
    struct open_history w = {NULL, NULL};
    char path[FOLDER_PATH_NBYTES];
    paua_error err;

    snprintf(path, sizeof path, "%.200s/recorded", s->folder);
    log_start(&s->log, path);
    for (size_t i = 0; i < CALLS; i++) {
        if (call_run(s, &w, path, i, &err) != PAUA_OK) fail_msg("call %zu: %s", i, err.message);
        s->synced[i + 1] = s->durability == PAUA_FULL || calls[i] == FLUSH ? i + 1 : s->synced[i];
        log_mark(&s->log);
    }
    log_stop(&s->log);
    history_stop(&w);
}

/* Are the rows those of one of these states? *found is which rows there are. */
static bool rows_known(const struct sweep *s, struct open_history *w, size_t low, size_t high,
                       struct rows *found, char why[600])
{
    paua_history_view *view = NULL;
    paua_history_row row;
    paua_error err = {.message = ""};
    uint64_t count, first = 0;
    bool good = paua_db_history_view_open(w->history, &view, &err) == PAUA_OK;

    count = good ? paua_history_view_rows(view) : 0;
    for (uint64_t i = 0; i < count && good; i++) {
        char text[48];

        good = paua_history_view_row(view, i, &row, &err) == PAUA_OK;
        if (good && i == 0) first = row.id - 1;
        if (good)
            good = row.text_nbytes == (size_t)text_of(first + i, text) &&
                   memcmp(row.text, text, row.text_nbytes) == 0;
    }
    paua_history_view_close(view);
    snprintf(why, 600, "a row cannot be read or is another's: %s", err.message);
    if (!good) return false;
    for (size_t i = low; i <= high; i++) {
        const struct rows *state = &s->states[i];

        if (count != state->next - state->first || (count > 0 && first != state->first)) continue;
        *found = *state;
        return true;
    }
    snprintf(why, 600, "rows %llu to %llu are of no call from %zu to %zu",
             (unsigned long long)first, (unsigned long long)(first + count), low, high);
    return false;
}

/* Opened and read; then written and read again. */
static bool survives(struct sweep *s, size_t low, size_t high, char why[600])
{
    struct open_history w;
    struct rows found = {0};
    paua_error err = {.message = ""};
    bool good;

    if (history_start(&w, s->path, PAUA_FULL, &err) != PAUA_OK) {
        snprintf(why, 600, "opening: %s", err.message);
        return false;
    }
    good = rows_known(s, &w, low, high, &found, why);
    if (good && append(&w, found.next, 40, &err) != PAUA_OK) {
        snprintf(why, 600, "going on: %s", err.message);
        good = false;
    }
    history_stop(&w);
    return good && path_clean(s->path, why);
}

static void try_point(struct sweep *s, size_t point, enum crash crash)
{
    static const char *const words[CRASH_COUNT] = {"killed", "killed, torn", "power lost",
                                                   "power lost, names kept", "power lost, mixed"};
    size_t returned = log_marks(&s->log, point);
    char why[600] = "", where[160];

    log_replay(&s->log, point, crash, s->path);
    s->tried++;
    if (survives(s, crash <= CRASH_KILLED_TORN ? returned : s->synced[returned],
                 returned < CALLS ? returned + 1 : returned, why) ||
        s->failures++ >= FAILURES_SHOWN)
        return;
    log_describe(&s->log, point, where);
    print_error("%s %s (call %zu going on): %s\n", words[crash], where, returned, why);
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
    points = s->log.count;
    if (sweep_whole() || sample > points) sample = points;
    for (size_t i = 0; i < sample; i++)
        for (enum crash crash = 0; crash < CRASH_COUNT; crash++)
            try_point(s, 1 + i * points / sample, crash);
    print_message("%zu of %zu points, %zu crashes\n", sample, points, s->tried);
    if (s->failures > 0) fail_msg("%zu of %zu crashes lost something", s->failures, s->tried);
    folder_remove(s->folder);
    log_free(&s->log);
    free(s);
}

static void a_crash_leaves_the_rows_before_or_after_the_call(void **state)
{
    (void)state;
    sweep_run(PAUA_FULL);
}

static void a_crash_under_batch_durability_leaves_the_rows_after_some_call(void **state)
{
    (void)state;
    sweep_run(PAUA_BATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_leaves_the_rows_before_or_after_the_call),
        cmocka_unit_test(a_crash_under_batch_durability_leaves_the_rows_after_some_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
