/* test_fields_sweep.c - rows with fields are written, patched, deleted by a filter, sealed and
 * folded, and their fields added, renamed, retyped and dropped; then every directory that a crash
 * could have left on the way is opened and must read like the database before or after the call that
 * was going on.
 *
 * What it must read like was read from the database itself after each call: fields, rows and values,
 * and how many rows some filters find. That these are right is for property/fields to say. */
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

#ifdef __SANITIZE_ADDRESS__
#define SAMPLE_POINTS 24u
#else
#define SAMPLE_POINTS 80u
#endif
#define STEPS_MAX 48u
#define TEXT_NBYTES_MAX 65536u
#define FAILURES_SHOWN 5u

struct place_open {
    char path[FOLDER_PATH_NBYTES];
    paua_durability durability;
    paua_db *db;
    paua_collection *c;
};

static void place_close(struct place_open *p)
{
    paua_collection_close(p->c);
    paua_close(p->db);
    p->c = NULL;
    p->db = NULL;
}

static paua_status place_begin(struct place_open *p, bool create, paua_error *err)
{
    paua_open_opts opts = {.size = sizeof opts,
                           .create = create,
                           .durability = p->durability,
                           .no_background = true,
                           .batch_ms = 3600000};
    paua_status status = paua_open(p->path, &opts, &p->db, err);

    if (status == PAUA_OK) status = paua_collection_open(p->db, "c", &p->c, err);
    return status == PAUA_ENOTFOUND && p->db != NULL ? PAUA_OK : status;
}

/* ---- the calls ---- */

static paua_status make(struct place_open *p, paua_error *err)
{
    static const paua_field columns[] = {{"n", PAUA_TYPE_INT64}, {"text", PAUA_TYPE_STRING}};
    static const paua_vector_field vector = {
        .name = "v", .dim = 2, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    static const paua_schema schema = {.size = sizeof schema,
                                       .fields = &vector,
                                       .field_count = 1,
                                       .columns = columns,
                                       .column_count = 2,
                                       .dynamic = true};

    return paua_collection_create(p->db, "c", &schema, &p->c, err);
}

#define CALL_ROWS_MAX 64u

/* Rows first .. last in one call: `number` becomes key * by, `text` the key's digits and a length of
 * its own; NULL: not given. */
static paua_status rows_write(struct place_open *p, bool insert, uint64_t first, uint64_t last,
                              const char *number, int by, const char *text, paua_error *err)
{
    static float vectors[CALL_ROWS_MAX][2];
    static char digits[CALL_ROWS_MAX][16];
    static paua_value numbers[CALL_ROWS_MAX], texts[CALL_ROWS_MAX];
    uint64_t keys[CALL_ROWS_MAX];
    paua_vectors given = {.data = vectors[0]};
    paua_column columns[2];
    paua_rows rows = {.size = sizeof rows, .vectors = &given, .columns = columns};

    for (uint64_t key = first; key <= last; key++) {
        size_t i = rows.keys.count++;

        keys[i] = key;
        vectors[i][0] = (float)key;
        vectors[i][1] = 1;
        numbers[i] = (paua_value){.type = PAUA_TYPE_INT64, .as.i64 = (int64_t)key * by};
        snprintf(digits[i], sizeof digits[i], "%llu", (unsigned long long)(key * 7 + (uint64_t)by));
        texts[i] = (paua_value){.type = PAUA_TYPE_STRING};
        texts[i].as.bytes = (paua_bytes){digits[i], strlen(digits[i])};
        if (key % 5 == 0) texts[i].type = PAUA_TYPE_NULL;
    }
    rows.keys.u64 = keys;
    rows.vectors_count = insert ? 1 : 0;
    if (number != NULL) columns[rows.column_count++] = (paua_column){number, numbers};
    if (text != NULL) columns[rows.column_count++] = (paua_column){text, texts};
    return insert ? paua_insert(p->c, &rows, NULL, NULL, err)
                  : paua_update(p->c, &rows, NULL, NULL, err);
}

static paua_status delete_by(struct place_open *p, const char *text, paua_error *err)
{
    paua_filter *filter;
    paua_status status = paua_filter_parse(text, strlen(text), &filter, err);

    if (status != PAUA_OK) return status;
    status = paua_delete_where(p->c, filter, NULL, err);
    paua_filter_free(filter);
    return status;
}

enum call {
    OPEN,
    CREATE,
    INSERT,
    UPDATE,
    DELETE_WHERE,
    OPTIMIZE,
    ADD,
    RENAME,
    RETYPE,
    DROP,
    FLUSH,
    CLOSE
};

struct move {
    enum call call;
    uint64_t first, last;
    const char *name, *other; /* fields: numbers and text; or a filter, or a new name */
    int by;                   /* or a type */
};

static const struct move steps[] = {
    {.call = OPEN},
    {.call = CREATE},
    {INSERT, 1, 40, "n", "text", 1},
    {UPDATE, 5, 15, "n", NULL, 3},
    {INSERT, 41, 45, "extra", "text", 2},
    {UPDATE, 2, 3, "fresh", "text", 4},
    {.call = OPTIMIZE},
    {UPDATE, 3, 9, "n", NULL, 5},
    {UPDATE, 41, 44, "more", NULL, 1},
    {.call = DELETE_WHERE, .name = "n BETWEEN 20 AND 24 OR extra = 82"},
    {ADD, 0, 0, "later", NULL, PAUA_TYPE_INT16},
    {INSERT, 50, 59, "later", "text", 1},
    {.call = RENAME, .name = "n", .other = "number"},
    {UPDATE, 50, 54, "number", "text", 9},
    {RETYPE, 0, 0, "text", NULL, PAUA_TYPE_INT32},
    {UPDATE, 30, 35, "number", NULL, 6},
    {.call = OPTIMIZE},
    {UPDATE, 30, 32, "number", NULL, 8},
    {.call = DROP, .name = "extra"},
    {.call = OPTIMIZE},
    {.call = FLUSH},
    {INSERT, 60, 62, "extra", NULL, 1},
    {.call = CLOSE},
    {.call = OPEN},
    {UPDATE, 60, 62, "number", NULL, 7},
    {RETYPE, 0, 0, "number", NULL, PAUA_TYPE_STRING},
    {.call = DROP, .name = "fresh"},
    {.call = DELETE_WHERE, .name = "text IS NULL OR text IS NOT NULL"},
    {.call = OPTIMIZE},
    {INSERT, 1, 2, "later", NULL, 1},
    {.call = CLOSE},
};
#define STEP_COUNT (sizeof steps / sizeof steps[0])

static paua_status move_make(const struct move *s, struct place_open *p, paua_error *err)
{
    const paua_field added = {s->name, (uint32_t)s->by};

    switch (s->call) {
    case OPEN:
        return place_begin(p, true, err);
    case CREATE:
        return make(p, err);
    case INSERT:
    case UPDATE:
        return rows_write(p, s->call == INSERT, s->first, s->last, s->name, s->by, s->other, err);
    case DELETE_WHERE:
        return delete_by(p, s->name, err);
    case OPTIMIZE:
        return paua_optimize(p->c, NULL, err);
    case ADD:
        return paua_field_add(p->c, &added, err);
    case RENAME:
        return paua_field_rename(p->c, s->name, s->other, err);
    case RETYPE:
        return paua_field_retype(p->c, s->name, (uint32_t)s->by, err);
    case DROP:
        return paua_field_drop(p->c, s->name, err);
    case FLUSH:
        return paua_flush(p->db, err);
    default:
        place_close(p);
        return PAUA_OK;
    }
}

/* ---- what a database reads like ---- */

struct text {
    char bytes[TEXT_NBYTES_MAX];
    size_t nbytes;
};

static void say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct text *t, const char *format, ...)
{
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(t->bytes + t->nbytes, sizeof t->bytes - t->nbytes, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof t->bytes - t->nbytes) abort();
    t->nbytes += (size_t)n;
}

static void say_field(void *arg, const paua_field_info *info)
{
    say(arg, "%s %s\n", info->field.name, paua_type_name(info->field.type));
}

static void say_value(struct text *t, const paua_value *value)
{
    if (value->type == PAUA_TYPE_NULL)
        say(t, " -");
    else if (value->type == PAUA_TYPE_STRING)
        say(t, " '%.*s'", (int)value->as.bytes.nbytes, (const char *)value->as.bytes.data);
    else
        say(t, " %lld", (long long)value->as.i64);
}

static paua_status say_rows(struct text *t, paua_collection *c, paua_error *err)
{
    const paua_record *record;
    paua_cursor *cursor;
    size_t count;
    paua_status status = paua_iterate(c, NULL, &cursor, err);

    if (status != PAUA_OK) return status;
    paua_cursor_fields(cursor, &count);
    while ((status = paua_cursor_next(cursor, &record, err)) == PAUA_OK && record != NULL) {
        say(t, "%llu (%g %g)", (unsigned long long)record->key.u64, (double)record->vectors[0][0],
            (double)record->vectors[0][1]);
        for (size_t f = 0; f < count; f++)
            say_value(t, &record->values[f]);
        say(t, "\n");
    }
    paua_cursor_close(cursor);
    return status;
}

/* How many rows a filter finds; one that does not fit the fields there are finds none. */
static paua_status say_count(struct text *t, paua_collection *c, const char *filter_text,
                             paua_error *err)
{
    paua_filter *filter;
    uint64_t count = 0;
    paua_status status = paua_filter_parse(filter_text, strlen(filter_text), &filter, err);

    if (status != PAUA_OK) return status;
    status = paua_count(c, filter, &count, err);
    paua_filter_free(filter);
    if (status != PAUA_OK && status != PAUA_EINVAL) return status;
    say(t, "%s: %llu\n", filter_text, (unsigned long long)count);
    return PAUA_OK;
}

static paua_status read_all(const struct place_open *p, struct text *t, paua_error *err)
{
    static const char *const filters[] = {
        "n > 20",     "number > 20",       "text IS NULL",           "text LIKE '%4'",
        "text > 200", "extra IS NOT NULL", "later BETWEEN 51 AND 55"};
    paua_status status;

    t->nbytes = 0;
    t->bytes[0] = '\0';
    if (p->c == NULL) return PAUA_OK;
    status = paua_field_list(p->c, say_field, t, err);
    if (status == PAUA_OK) status = say_rows(t, p->c, err);
    for (size_t i = 0; i < sizeof filters / sizeof filters[0] && status == PAUA_OK; i++)
        status = say_count(t, p->c, filters[i], err);
    return status;
}

/* ---- the sweep ---- */

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

    if (p->c == NULL) status = make(p, &err);
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
