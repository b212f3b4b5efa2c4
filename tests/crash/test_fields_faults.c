/* test_fields_faults.c - in calls that write, fold or change fields, the first, second, third ...
 * allocation or system call fails. The call says so, or succeeds all the same; opened again, the
 * database reads as before or after it, and the call can be made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crash/fault.h"
#include "crash/fields_scenario.h"
#include "crash/folder.h"
#include "crash/scenario.h"

#define FAILURES_SHOWN 8u
/* AddressSanitizer looks at memory only, after a release build has been through the faults. */
#ifdef __SANITIZE_ADDRESS__
#define SKIP 3u
#else
#define SKIP 1u
#endif

struct bench {
    size_t step; /* the call under test */
    enum fault_kind kind;
    uint64_t n;
    char folder[FOLDER_PATH_NBYTES], template[FOLDER_PATH_NBYTES];
    struct place_open place;
    struct text before, after, found;
    size_t tried, failures;
};

static void complain(struct bench *b, const char *what, const char *why)
{
    if (b->failures++ >= FAILURES_SHOWN) return;
    print_error("call %zu, %s at %llu: %s: %s\n", b->step, fault_name(b->kind),
                (unsigned long long)b->n, what, why);
}

/* A closed database as it was before the call under test. */
static void template_make(struct bench *b)
{
    struct place_open p = {.durability = PAUA_FULL};
    paua_error err = {.message = ""};

    strcpy(p.path, b->template);
    folder_remove(b->template);
    for (size_t i = 0; i < b->step; i++)
        if (move_make(&steps[i], &p, &err) != PAUA_OK) fail_msg("preparing: %s", err.message);
    if (p.db == NULL && place_begin(&p, false, &err) != PAUA_OK) fail_msg("%s", err.message);
    if (read_all(&p, &b->before, &err) != PAUA_OK) fail_msg("preparing: %s", err.message);
    place_close(&p);
}

/* What it reads like after the call, made in a copy that is thrown away. */
static void after_make(struct bench *b)
{
    paua_error err = {.message = ""};

    folder_copy(b->template, b->place.path);
    if (place_begin(&b->place, false, &err) != PAUA_OK ||
        move_make(&steps[b->step], &b->place, &err) != PAUA_OK ||
        read_all(&b->place, &b->after, &err) != PAUA_OK)
        fail_msg("making the call: %s", err.message);
    place_close(&b->place);
}

/* Opened again: as before (then the call is made at last) or after, and in the end as after. */
static void recover(struct bench *b, bool succeeded)
{
    paua_error err = {.message = ""};
    char why[600] = "";

    place_close(&b->place);
    if (place_begin(&b->place, false, &err) != PAUA_OK ||
        read_all(&b->place, &b->found, &err) != PAUA_OK) {
        complain(b, "opening again", err.message);
    } else if (strcmp(b->found.bytes, b->after.bytes) != 0) {
        if (succeeded || strcmp(b->found.bytes, b->before.bytes) != 0)
            complain(b, "opened again, it reads", b->found.bytes);
        else if (move_make(&steps[b->step], &b->place, &err) != PAUA_OK)
            complain(b, "making the call again", err.message);
        else if (read_all(&b->place, &b->found, &err) != PAUA_OK ||
                 strcmp(b->found.bytes, b->after.bytes) != 0)
            complain(b, "in the end, it reads", b->found.bytes);
    }
    place_close(&b->place);
    if (!path_clean(b->place.path, why)) complain(b, "the check", why);
}

/* False once the fault lies beyond the end of the call. */
static bool try_fault(struct bench *b)
{
    paua_error err = {.message = ""};
    paua_status status;
    bool reached;

    b->tried++;
    folder_copy(b->template, b->place.path);
    if (place_begin(&b->place, false, &err) != PAUA_OK) fail_msg("opening: %s", err.message);
    fault_arm(b->kind, b->n);
    status = move_make(&steps[b->step], &b->place, &err);
    reached = fault_disarm();
    if (status != PAUA_OK && (err.status != status || err.message[0] == '\0'))
        complain(b, "a status without a message", paua_strstatus(status));
    if (status != PAUA_OK && !reached) complain(b, "failed without a fault", err.message);
    recover(b, status == PAUA_OK);
    return reached;
}

static bool is_tried(const struct move *s) { return s->call >= INSERT && s->call <= DROP; }

static void sweep_run(enum fault_kind kind, size_t every)
{
    struct bench *b = calloc(1, sizeof *b);

    assert_non_null(b);
    hook_skip_syncs(true);
    folder_temporary(b->folder);
    snprintf(b->template, sizeof b->template, "%.200s/template", b->folder);
    snprintf(b->place.path, sizeof b->place.path, "%.200s/db", b->folder);
    b->kind = kind;
    for (b->step = 2; b->step < STEP_COUNT; b->step += sweep_whole() ? 1 : every * SKIP) {
        if (!is_tried(&steps[b->step])) continue;
        template_make(b);
        after_make(b);
        for (b->n = 1; try_fault(b);)
            b->n += sweep_whole() ? 1 : 1 + b->n / 2;
    }
    print_message("%zu faults\n", b->tried);
    if (b->failures > 0) fail_msg("%zu complaints in %zu faults", b->failures, b->tried);
    folder_remove(b->folder);
    free(b);
}

static void a_failed_allocation_leaves_fields_as_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_MEMORY, 2);
    sweep_run(FAULT_SQLITE_MEMORY_ONCE, 3);
}

static void a_full_disk_leaves_fields_as_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_FULL_ONCE, 2);
    sweep_run(FAULT_FULL, 3);
}

static void a_broken_disk_leaves_fields_as_before_or_after(void **state)
{
    (void)state;
    sweep_run(FAULT_BROKEN_ONCE, 2);
    sweep_run(FAULT_BROKEN, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_allocation_leaves_fields_as_before_or_after),
        cmocka_unit_test(a_full_disk_leaves_fields_as_before_or_after),
        cmocka_unit_test(a_broken_disk_leaves_fields_as_before_or_after),
    };

    fault_init();
    return cmocka_run_group_tests_name("crash/fields_faults", tests, NULL, NULL);
}
