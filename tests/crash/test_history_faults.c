/* test_history_faults.c - in each call on a history, the first, second, third ... allocation or
 * system call fails. The call says so, or succeeds all the same; rows that were there stay, rows
 * that were appended are there as far as they were taken, and afterwards everything works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <paua/paua_db_history.h>

#include "crash/fault.h"
#include "crash/folder.h"
#include "crash/scenario.h"

#define ROWS 300u
#define MORE 400u
#define FAILURES_SHOWN 6u

enum call { CALL_OPEN, CALL_APPEND, CALL_CLEAR, CALL_TRIM, CALL_READ, CALL_REMOVE, CALL_COUNT };

static const char *const names[CALL_COUNT] = {"opening",  "appending", "clearing",
                                              "trimming", "reading",   "removing"};

struct bench {
    enum call call;
    enum fault_kind kind;
    uint64_t n;
    char folder[FOLDER_PATH_NBYTES], template[FOLDER_PATH_NBYTES], path[FOLDER_PATH_NBYTES];
    paua_db *db;
    paua_db_history *history;
    size_t tried, failures;
};

static bool complain(struct bench *b, const char *what, const char *message)
{
    if (b->failures++ < FAILURES_SHOWN)
        print_error("%s, %s at %llu: %s: %s\n", names[b->call], fault_name(b->kind),
                    (unsigned long long)b->n, what, message);
    return false;
}

static paua_status database_open(struct bench *b, const char *path, paua_error *err)
{
    const paua_open_opts opts = {.size = sizeof opts, .create = true, .no_background = true};

    return paua_open(path, &opts, &b->db, err);
}

static paua_status history_open(struct bench *b, paua_error *err)
{
    const paua_db_history_opts opts = {
        .size = sizeof opts, .create = true, .at_once = true, .page_rows = 16};

    return paua_db_history_open(b->db, "h", &opts, &b->history, err);
}

static int text_of(uint64_t number, char text[32])
{
    return snprintf(text, 32, "row %llu", (unsigned long long)number);
}

static paua_status append(struct bench *b, uint64_t first, size_t count, paua_error *err)
{
    static char texts[MORE][32];
    static paua_history_new_row rows[MORE];

    for (size_t i = 0; i < count; i++)
        rows[i] = (paua_history_new_row){.size = sizeof rows[0],
                                         .width = 80,
                                         .text = texts[i],
                                         .text_nbytes = (size_t)text_of(first + i, texts[i])};
    return paua_db_history_append(b->history, rows, count, NULL, err);
}

static void close_all(struct bench *b)
{
    paua_db_history_close(b->history);
    paua_close(b->db);
    b->history = NULL;
    b->db = NULL;
}

/* Reads all rows: each is right, and they end at *next. */
static paua_status read_all(struct bench *b, uint64_t *first, uint64_t *next, paua_error *err)
{
    paua_history_view *view;
    paua_history_row row;
    paua_status status = paua_db_history_view_open(b->history, &view, err);

    if (status != PAUA_OK) return status;
    *first = *next = 0;
    for (uint64_t i = 0; i < paua_history_view_rows(view) && status == PAUA_OK; i++) {
        char text[32];

        status = paua_history_view_row(view, i, &row, err);
        if (status != PAUA_OK) break;
        if (i == 0) *first = row.id - 1;
        *next = row.id;
        if (row.text_nbytes != (size_t)text_of(row.id - 1, text) ||
            memcmp(row.text, text, row.text_nbytes) != 0)
            fail_msg("row %llu is another's", (unsigned long long)row.id);
    }
    paua_history_view_close(view);
    return status;
}

static paua_status call_make(struct bench *b, paua_error *err)
{
    const paua_history_limits some = {.max_rows = 50};
    uint64_t first, next;

    switch (b->call) {
    case CALL_OPEN:
        return history_open(b, err);
    case CALL_APPEND:
        return append(b, ROWS, MORE, err);
    case CALL_CLEAR:
        return paua_db_history_clear(b->history, err);
    case CALL_TRIM:
        return paua_db_history_trim(b->history, &some, 0, err);
    case CALL_READ:
        return read_all(b, &first, &next, err);
    case CALL_REMOVE:
        return paua_db_history_remove(b->db, "h", err);
    case CALL_COUNT:
        break;
    }
    return PAUA_EINVAL;
}

/* What may be there afterwards. */
static bool rows_fit(const struct bench *b, uint64_t first, uint64_t next, bool succeeded)
{
    uint64_t count = next - first;

    switch (b->call) {
    case CALL_APPEND:
        return first == 0 && next >= (succeeded ? ROWS + MORE : ROWS) && next <= ROWS + MORE;
    case CALL_CLEAR:
        return count == 0 || (!succeeded && count == ROWS);
    case CALL_TRIM:
        return (next == ROWS && count == 50) || (!succeeded && next == ROWS);
    case CALL_REMOVE:
        return count == 0 || (!succeeded && count == ROWS);
    default:
        return first == 0 && next == ROWS;
    }
}

/* The trouble is over: all that was promised is there, and writing goes on. */
static bool goes_on(struct bench *b, bool succeeded)
{
    paua_error err = {.message = ""};
    uint64_t first, next;
    char why[600];

    if (database_open(b, b->path, &err) != PAUA_OK || history_open(b, &err) != PAUA_OK ||
        read_all(b, &first, &next, &err) != PAUA_OK)
        return complain(b, "opening again", err.message);
    if (!rows_fit(b, first, next, succeeded)) {
        snprintf(why, sizeof why, "rows %llu to %llu", (unsigned long long)first,
                 (unsigned long long)next);
        close_all(b);
        return complain(b, "the rows", why);
    }
    if (next > 0 && append(b, next, 40, &err) != PAUA_OK) {
        close_all(b);
        return complain(b, "going on", err.message);
    }
    close_all(b);
    return path_clean(b->path, why) || complain(b, "checking", why);
}

/* One trial; false when nothing was left to fail. */
static bool try_one(struct bench *b)
{
    paua_error err = {.message = ""};
    paua_status status;
    bool hit;

    folder_remove(b->path);
    folder_copy(b->template, b->path);
    assert_int_equal(database_open(b, b->path, &err), PAUA_OK);
    if (b->call != CALL_OPEN && b->call != CALL_REMOVE)
        assert_int_equal(history_open(b, &err), PAUA_OK);
    err.message[0] = '\0';
    fault_arm(b->kind, b->n);
    status = call_make(b, &err);
    hit = fault_disarm();
    b->tried++;
    if (status != PAUA_OK && err.message[0] == '\0') complain(b, "the call", "no message");
    close_all(b);
    goes_on(b, status == PAUA_OK);
    return hit;
}

static void template_make(struct bench *b)
{
    paua_error err;

    assert_int_equal(database_open(b, b->template, &err), PAUA_OK);
    assert_int_equal(history_open(b, &err), PAUA_OK);
    assert_int_equal(append(b, 0, ROWS, &err), PAUA_OK);
    close_all(b);
}

static void a_call_that_fails_loses_nothing(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    uint64_t step;

    (void)state;
    assert_non_null(b);
    hook_skip_syncs(true);
    folder_temporary(b->folder);
    snprintf(b->template, sizeof b->template, "%.200s/template", b->folder);
    snprintf(b->path, sizeof b->path, "%.200s/path", b->folder);
    template_make(b);
    for (b->call = 0; b->call < CALL_COUNT; b->call++)
        for (b->kind = 0; b->kind < FAULT_COUNT; b->kind++)
            for (b->n = 1, step = 1; try_one(b); b->n += step)
                if (!sweep_whole()) step = 1 + b->n / 4; /* the first ones all, then fewer */
    print_message("%zu faults\n", b->tried);
    if (b->failures > 0) fail_msg("%zu of %zu went wrong", b->failures, b->tried);
    folder_remove(b->folder);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_call_that_fails_loses_nothing)};

    fault_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
