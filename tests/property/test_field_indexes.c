/* test_field_indexes.c - two collections get the same random writes, one with indexes of fields
 * that come and go, one without: filters of every kind find the same keys in both, through patches,
 * seals, merges, folds, reopening and changes of fields, and seen from another handle. A seed that
 * fails repeats: PAUA_SEED. PAUA_SWEEP=whole runs more.
 *
 * An index is asked only where that is estimated to be cheaper than a scan, which is seldom so in
 * few rows. The linker puts __wrap_value_index_match() in place of value_index_match(): it leaves
 * the estimate out, mostly, and counts the answers. */
#include <math.h>
#include <stdio.h>

#include "db/db.h"
#include "index/value_index.h"
#include "support/support.h"

#define KEYS 6000u
#define OPERATIONS 24u
#define FILTERS 10u
#define SEEDS_SAMPLE 3u
#define SEEDS_WHOLE 60u
#define FIELDS 8u
#define INDEXES 6u
#define LIST_MAX 5u
#define DEPTH_MAX 3u

enum { FEW, NEAR, REAL, WORD, LINE, FLAG, AT, MIX };

struct world {
    uint64_t seed;
    bool alive[KEYS];
    bool few_is_text, few_is_renamed, line_is_gone;
    bool indexed[INDEXES]; /* is there an index of this number? */
    uint32_t of[INDEXES];  /* of which field */
    struct test_dir dir;
    paua_db *db, *reader_db;
    paua_collection *plain, *with, *reader;
};

/* ---- the estimate, left out ---- */

static uint64_t answers; /* of indexes */

paua_status __wrap_value_index_match(const struct value_index *index,
                                     const struct column_view *view, const struct column_test *test,
                                     uint64_t *bitmap, bool *done, paua_error *err);
paua_status __real_value_index_match(const struct value_index *index,
                                     const struct column_view *view, const struct column_test *test,
                                     uint64_t *bitmap, bool *done, paua_error *err);

paua_status __wrap_value_index_match(const struct value_index *index,
                                     const struct column_view *view, const struct column_test *test,
                                     uint64_t *bitmap, bool *done, paua_error *err)
{
    static uint32_t calls;
    paua_status status = ++calls % 16 == 0
                             ? __real_value_index_match(index, view, test, bitmap, done, err)
                             : value_index_find(index, view, test, bitmap, done, err);

    answers += status == PAUA_OK && *done;
    return status;
}

/* ---- values ---- */

static uint32_t below(struct world *w, uint32_t n) { return test_random_below(&w->seed, n); }

static const char *field_name(const struct world *w, uint32_t field)
{
    static const char *const names[FIELDS] = {"few",  "near", "real", "word",
                                              "line", "flag", "at",   "mix"};

    return field == FEW && w->few_is_renamed ? "few2" : names[field];
}

static paua_value text_value(char text[24])
{
    paua_value value = {.type = PAUA_TYPE_STRING};

    value.as.bytes = test_string(text);
    return value;
}

static double real_draw(struct world *w)
{
    switch (below(w, 12)) {
    case 0:
        return (double)NAN;
    case 1:
        return -0.0;
    case 2:
        return 0;
    case 3:
        return below(w, 2) == 0 ? (double)INFINITY : (double)-INFINITY;
    default:
        return ((double)below(w, 4000) - 2000) / 64;
    }
}

/* A value of a field, such as rows have; text: room for it. */
static paua_value value_draw(struct world *w, uint32_t field, char text[24])
{
    static const char *const words[] = {"", "alpha", "beta", "beta2", "\xC3\xA9t\xC3\xA9", "zeta"};
    paua_value value = {.type = PAUA_TYPE_INT64};

    switch (field) {
    case FEW:
        value.as.i64 = (int64_t)below(w, 8) - 3;
        if (!w->few_is_text) return value;
        snprintf(text, 24, "%d", (int)value.as.i64);
        return text_value(text);
    case NEAR:
        value.as.i64 = (int64_t)test_random(&w->seed) >> below(w, 40);
        return value;
    case REAL:
        return (paua_value){.type = PAUA_TYPE_DOUBLE, .as.f64 = real_draw(w)};
    case WORD:
        snprintf(text, 24, "%s", words[below(w, 6)]);
        return text_value(text);
    case LINE:
        snprintf(text, 24, "%u of %u", below(w, 900000), below(w, 30));
        return text_value(text);
    case FLAG:
        return (paua_value){.type = PAUA_TYPE_BOOL, .as.boolean = below(w, 3) == 0};
    case AT:
        return (paua_value){.type = PAUA_TYPE_TIMESTAMP,
                            .as.i64 = (int64_t)below(w, 3000) * INT64_C(1000000000000)};
    default:
        snprintf(text, 24, "m%u", below(w, 400));
        value = text_value(text);
        if (below(w, 3) == 0) value.type = PAUA_TYPE_BYTES;
        return value;
    }
}

/* ---- writes, to both ---- */

enum how { INSERT, REPLACE, PATCH };

static void write_rows(struct world *w, enum how how, const uint64_t *keys, uint32_t n)
{
    static paua_value values[FIELDS][KEYS];
    static char texts[FIELDS][KEYS][24];
    static float vectors[KEYS][2];
    paua_column columns[FIELDS];
    const paua_vectors given = {vectors[0], 0};
    paua_rows rows = test_rows(test_u64(keys, n), how == PATCH ? NULL : &given, NULL);
    uint32_t nulls = 2 + below(w, 20);

    if (n == 0) return;
    rows.columns = columns;
    for (uint32_t f = 0; f < FIELDS; f++) {
        if (how == PATCH && below(w, 3) > 0) continue;
        if (f == LINE && w->line_is_gone) continue;
        for (uint32_t i = 0; i < n; i++) {
            values[f][i] = value_draw(w, f, texts[f][i]);
            if (below(w, nulls) == 0) values[f][i].type = PAUA_TYPE_NULL;
        }
        columns[rows.column_count++] = (paua_column){field_name(w, f), values[f]};
    }
    for (uint32_t i = 0; i < n; i++) {
        vectors[i][0] = (float)keys[i];
        vectors[i][1] = 1;
        w->alive[keys[i]] = true;
    }
    for (int c = 0; c < 2; c++)
        assert_ok(how == INSERT
                      ? paua_insert(c == 0 ? w->plain : w->with, &rows, NULL, NULL, &test_err)
                      : paua_update(c == 0 ? w->plain : w->with, &rows, NULL, NULL, &test_err));
}

/* Some keys that are (not) there, rising. */
static uint32_t pick(struct world *w, bool alive, uint32_t share, uint64_t *keys)
{
    uint32_t n = 0;

    for (uint32_t key = 0; key < KEYS; key++)
        if (w->alive[key] == alive && below(w, share) == 0) keys[n++] = key;
    return n;
}

static void delete_rows(struct world *w)
{
    static uint64_t keys[KEYS];
    uint32_t n = pick(w, true, 10 + below(w, 100), keys);
    const paua_keys gone = test_u64(keys, n);

    if (n == 0) return;
    assert_ok(paua_delete(w->plain, &gone, NULL, NULL, &test_err));
    assert_ok(paua_delete(w->with, &gone, NULL, NULL, &test_err));
    for (uint32_t i = 0; i < n; i++)
        w->alive[keys[i]] = false;
}

/* ---- filters ---- */

static paua_filter *like_draw(struct world *w, uint32_t field)
{
    static const char *const patterns[] = {"beta%", "%ta", "b_ta", "1%", "%of 7", "alpha", "%", ""};
    const paua_value pattern = {.type = PAUA_TYPE_STRING,
                                .as.bytes = test_string(patterns[below(w, 8)])};
    paua_filter *filter;

    assert_ok(paua_filter_compare(field_name(w, field), false,
                                  below(w, 3) == 0 ? PAUA_NOT_LIKE : PAUA_LIKE, &pattern, 1,
                                  &filter, &test_err));
    return filter;
}

static bool is_text(const struct world *w, uint32_t field)
{
    return field == WORD || field == LINE || (field == FEW && w->few_is_text);
}

static paua_filter *leaf_draw(struct world *w)
{
    static const paua_op operators[] = {
        PAUA_EQ, PAUA_NE,     PAUA_LT,      PAUA_LE,          PAUA_GT,      PAUA_GE,
        PAUA_IN, PAUA_NOT_IN, PAUA_BETWEEN, PAUA_NOT_BETWEEN, PAUA_IS_NULL, PAUA_IS_NOT_NULL};
    char texts[LIST_MAX][24];
    paua_value values[LIST_MAX];
    uint32_t field = below(w, FIELDS), count = 1;
    paua_op op = operators[below(w, 12)];
    paua_filter *filter;

    while (field == LINE && w->line_is_gone)
        field = below(w, FIELDS);
    if (is_text(w, field) && below(w, 5) == 0) return like_draw(w, field);
    if (op == PAUA_IN || op == PAUA_NOT_IN) count = 1 + below(w, LIST_MAX);
    if (op == PAUA_BETWEEN || op == PAUA_NOT_BETWEEN) count = 2;
    if (op == PAUA_IS_NULL || op == PAUA_IS_NOT_NULL) count = 0;
    if (field == FLAG && op >= PAUA_LT && op <= PAUA_GE) op = PAUA_EQ;
    if (field == FLAG && count == 2) count = 1, op = PAUA_NE;
    for (uint32_t i = 0; i < count; i++)
        values[i] = value_draw(w, field, texts[i]);
    assert_ok(
        paua_filter_compare(field_name(w, field), false, op, values, count, &filter, &test_err));
    return filter;
}

static paua_filter *filter_draw(struct world *w, uint32_t depth)
{
    paua_filter *parts[3], *filter;
    uint32_t how = below(w, 5), count = 2 + below(w, 2);

    if (depth == 0 || how < 2) return leaf_draw(w);
    if (how == 2) {
        assert_ok(paua_filter_not(filter_draw(w, depth - 1), &filter, &test_err));
        return filter;
    }
    for (uint32_t i = 0; i < count; i++)
        parts[i] = filter_draw(w, depth - 1);
    if (how == 3)
        assert_ok(paua_filter_all(parts, count, &filter, &test_err));
    else
        assert_ok(paua_filter_any(parts, count, &filter, &test_err));
    return filter;
}

/* Which keys it finds; false: it does not fit the fields. */
static bool find(paua_collection *c, const paua_filter *filter, bool found[KEYS])
{
    const paua_query_opts opts = {
        .size = sizeof opts,
        .filter = filter,
        .read = {.no_vectors = true, .no_document = true, .no_values = true}};
    const paua_record *record;
    paua_cursor *cursor;
    uint64_t count, rows = 0;
    paua_status status = paua_query(c, &opts, &cursor, &test_err);

    memset(found, 0, KEYS * sizeof found[0]);
    if (status == PAUA_EINVAL) return false;
    assert_ok(status);
    for (;; rows++) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        if (record == NULL) break;
        found[record->key.u64] = true;
    }
    paua_cursor_close(cursor);
    assert_ok(paua_count(c, filter, &count, &test_err));
    assert_int_equal(count, rows);
    return true;
}

static void expect_same(struct world *w, paua_collection *c, const paua_filter *filter)
{
    static bool wanted[KEYS], found[KEYS];

    assert_int_equal(find(w->plain, filter, wanted), find(c, filter, found));
    if (memcmp(wanted, found, sizeof found) == 0) return;
    for (uint32_t key = 0; key < KEYS; key++)
        if (wanted[key] != found[key])
            fail_msg("key %u is %s: %s", key, found[key] ? "found" : "lacking",
                     paua_filter_text(filter, NULL));
}

static void expect_all_the_same(struct world *w, paua_collection *c)
{
    for (uint32_t i = 0; i < FILTERS; i++) {
        paua_filter *filter = filter_draw(w, DEPTH_MAX);

        expect_same(w, c, filter);
        paua_filter_free(filter);
    }
}

/* ---- operations ---- */

static void world_open(struct world *w)
{
    paua_open_opts opts = {.size = sizeof opts,
                           .create = true,
                           .no_mmap = below(w, 3) == 0,
                           .durability = PAUA_OFF,
                           .no_background = below(w, 2) == 0};

    assert_ok(paua_open(w->dir.path, &opts, &w->db, &test_err));
}

static void reopen(struct world *w)
{
    paua_collection_close(w->plain);
    paua_collection_close(w->with);
    paua_close(w->db);
    world_open(w);
    assert_ok(paua_collection_open(w->db, "plain", &w->plain, &test_err));
    assert_ok(paua_collection_open(w->db, "with", &w->with, &test_err));
}

static void seal(paua_collection *c)
{
    pthread_mutex_lock(&c->write_mutex);
    assert_ok(seal_tail(c, &test_err));
    pthread_mutex_unlock(&c->write_mutex);
}

/* Makes an index, or drops it if it is there. */
static void index_change(struct world *w)
{
    uint32_t i = below(w, INDEXES), field = below(w, FIELDS);
    const paua_index_params params = {.kind =
                                          below(w, 2) == 0 ? PAUA_INDEX_BITMAP : PAUA_INDEX_SORTED};
    char name[8];

    snprintf(name, sizeof name, "i%u", i);
    if (w->indexed[i]) {
        assert_ok(paua_index_drop(w->with, name, &test_err));
        w->indexed[i] = false;
    } else if (field != LINE || !w->line_is_gone) {
        assert_ok(paua_index_create(w->with, field_name(w, field), name, &params, NULL, &test_err));
        w->indexed[i] = true;
        w->of[i] = field;
    }
}

static void retype(struct world *w)
{
    uint32_t type = w->few_is_text ? PAUA_TYPE_INT16 : PAUA_TYPE_STRING;

    assert_ok(paua_field_retype(w->plain, field_name(w, FEW), type, &test_err));
    assert_ok(paua_field_retype(w->with, field_name(w, FEW), type, &test_err));
    w->few_is_text = !w->few_is_text;
}

static void rename_few(struct world *w)
{
    const char *name = field_name(w, FEW);

    w->few_is_renamed = !w->few_is_renamed;
    assert_ok(paua_field_rename(w->plain, name, field_name(w, FEW), &test_err));
    assert_ok(paua_field_rename(w->with, name, field_name(w, FEW), &test_err));
}

static void drop_or_add(struct world *w)
{
    const paua_field line = {"line", PAUA_TYPE_STRING};

    for (int i = 0; i < 2; i++) {
        paua_collection *c = i == 0 ? w->plain : w->with;

        assert_ok(w->line_is_gone ? paua_field_add(c, &line, &test_err)
                                  : paua_field_drop(c, "line", &test_err));
    }
    for (uint32_t i = 0; i < INDEXES; i++)
        if (w->of[i] == LINE) w->indexed[i] = false;
    w->line_is_gone = !w->line_is_gone;
}

static void operate(struct world *w)
{
    static uint64_t keys[KEYS];
    uint32_t what = below(w, 100);

    if (what < 10)
        write_rows(w, INSERT, keys, pick(w, false, 2, keys));
    else if (what < 16)
        write_rows(w, REPLACE, keys, pick(w, true, 30, keys));
    else if (what < 30)
        write_rows(w, PATCH, keys, pick(w, true, 8 + below(w, 60), keys));
    else if (what < 36)
        delete_rows(w);
    else if (what < 44)
        seal(w->with);
    else if (what < 55)
        assert_ok(paua_optimize(w->with, NULL, &test_err));
    else if (what < 62)
        reopen(w);
    else if (what < 90)
        index_change(w);
    else if (what < 94)
        retype(w);
    else if (what < 97)
        rename_few(w);
    else
        drop_or_add(w);
}

static void world_make(struct world *w, uint64_t seed)
{
    static const paua_field columns[] = {{"few", PAUA_TYPE_INT16},    {"near", PAUA_TYPE_INT64},
                                         {"real", PAUA_TYPE_DOUBLE},  {"word", PAUA_TYPE_STRING},
                                         {"line", PAUA_TYPE_STRING},  {"flag", PAUA_TYPE_BOOL},
                                         {"at", PAUA_TYPE_TIMESTAMP}, {"mix", PAUA_TYPE_MIXED}};
    const paua_vector_field vector = {
        .name = "v", .dim = 2, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    const paua_schema schema = {.size = sizeof schema,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = FIELDS};
    const paua_open_opts opts = {.size = sizeof opts, .read_only = true};
    static uint64_t keys[KEYS];

    *w = (struct world){.seed = seed};
    test_dir_make(&w->dir);
    world_open(w);
    assert_ok(paua_collection_create(w->db, "plain", &schema, &w->plain, &test_err));
    assert_ok(paua_collection_create(w->db, "with", &schema, &w->with, &test_err));
    assert_ok(paua_open(w->dir.path, &opts, &w->reader_db, &test_err));
    assert_ok(paua_collection_open(w->reader_db, "with", &w->reader, &test_err));
    write_rows(w, INSERT, keys, pick(w, false, 2, keys));
    if (below(w, 2) == 0) seal(w->with);
    write_rows(w, INSERT, keys, pick(w, false, 2, keys));
    for (int i = 0; i < 4; i++)
        index_change(w);
    seal(w->with);
    assert_ok(paua_optimize(w->with, NULL, &test_err));
}

static void run_seed(uint64_t seed)
{
    static struct world w;
    uint64_t before = answers;

    world_make(&w, seed);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        operate(&w);
        expect_all_the_same(&w, w.with);
        if (i % 4 == 3) expect_all_the_same(&w, w.reader);
        if (i % 6 == 5) test_validate(w.with);
    }
    assert_ok(paua_optimize(w.with, NULL, &test_err));
    expect_all_the_same(&w, w.with);
    expect_all_the_same(&w, w.reader);
    test_validate(w.with);
    test_validate(w.reader);
    assert_true(answers > before + 20);
    paua_collection_close(w.reader);
    paua_close(w.reader_db);
    paua_collection_close(w.plain);
    paua_collection_close(w.with);
    paua_close(w.db);
    assert_ok(paua_check(w.dir.path, NULL, &test_err));
    test_dir_remove(&w.dir);
}

static void filters_find_the_same_with_and_without_indexes(void **state)
{
    const char *one = getenv("PAUA_SEED");
    uint64_t seeds = test_sweep_whole() ? SEEDS_WHOLE : test_sampled() ? 1 : SEEDS_SAMPLE;

    (void)state;
    for (uint64_t seed = 0; seed < seeds && one == NULL; seed++) {
        print_message("seed %llu\r", (unsigned long long)seed);
        run_seed(seed);
    }
    if (one != NULL) run_seed(strtoull(one, NULL, 10));
    print_message("indexes answered %llu times\n", (unsigned long long)answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_find_the_same_with_and_without_indexes),
    };

    return cmocka_run_group_tests_name("property/field_indexes", tests, NULL, NULL);
}
