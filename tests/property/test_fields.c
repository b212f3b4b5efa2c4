/* test_fields.c - random writes of fields, and after them filters, counts, queries and searches
 * that agree with a plain array: through patches, seals, merges, folds, reopening, changes of
 * fields, and seen from another handle. A seed that fails repeats: PAUA_SEED. PAUA_SWEEP=whole runs
 * many more. */
#include <stdio.h>

#include "db/db.h"
#include "support/support.h"

#define KEYS 300u
#define OPERATIONS 60u
#define SEEDS_SAMPLE 8u
#define SEEDS_WHOLE 200u
#define NAMES 5u
#define LIST 3u

struct row {
    bool alive;
    bool has_year, has_name, has_score, has_tags, has_extra;
    int year;
    uint32_t name;
    double score;
    uint32_t tags; /* bits of tag names */
    bool extra_bytes;
    uint32_t extra;
};

struct world {
    uint64_t seed;
    struct row rows[KEYS];
    const char *year; /* its name, which changes */
    bool year_is_text;
    struct test_dir dir;
    paua_db *db, *reader_db;
    paua_collection *c, *reader;
};

static const char *const names[NAMES] = {"", "alpha", "beta", "beta2", "\xC3\xA9t\xC3\xA9"};
static const char *const tag_names[LIST] = {"x", "y", "zz"};

static uint32_t below(struct world *w, uint32_t n) { return test_random_below(&w->seed, n); }

static void row_draw(struct world *w, struct row *row)
{
    *row = (struct row){.alive = true,
                        .has_year = below(w, 4) > 0,
                        .has_name = below(w, 4) > 0,
                        .has_score = below(w, 3) > 0,
                        .has_tags = below(w, 3) > 0,
                        .has_extra = below(w, 3) == 0,
                        .year = (int)below(w, 40) - 20,
                        .name = below(w, NAMES),
                        .score = (double)below(w, 100) / 4 - 5,
                        .tags = below(w, 1u << LIST),
                        .extra_bytes = below(w, 2) == 0,
                        .extra = below(w, 3)};
}

/* ---- the values of one row, as a write takes them ---- */

struct given {
    paua_value year, name, score, tags, extra;
    paua_value items[LIST];
    char text[16];
};

static paua_value null_value(void) { return (paua_value){.type = PAUA_TYPE_NULL}; }

static paua_value string_value(const char *text)
{
    paua_value value = {.type = PAUA_TYPE_STRING};

    value.as.bytes = test_string(text);
    return value;
}

static void give(const struct world *w, const struct row *row, struct given *given)
{
    *given = (struct given){.year = null_value(),
                            .name = null_value(),
                            .score = null_value(),
                            .tags = null_value(),
                            .extra = null_value()};
    if (row->has_year && w->year_is_text) {
        snprintf(given->text, sizeof given->text, "%d", row->year);
        given->year = string_value(given->text);
    } else if (row->has_year) {
        given->year = (paua_value){.type = PAUA_TYPE_INT64, .as.i64 = row->year};
    }
    if (row->has_name) given->name = string_value(names[row->name]);
    if (row->has_score) given->score = (paua_value){.type = PAUA_TYPE_DOUBLE, .as.f64 = row->score};
    if (row->has_extra) given->extra = string_value(names[row->extra]);
    if (row->has_extra && row->extra_bytes) given->extra.type = PAUA_TYPE_BYTES;
    if (!row->has_tags) return;
    given->tags = (paua_value){.type = PAUA_TYPE_ARRAY | PAUA_TYPE_STRING};
    for (uint32_t t = 0; t < LIST; t++)
        if ((row->tags >> t & 1) != 0)
            given->items[given->tags.count++] = string_value(tag_names[t]);
    given->tags.as.items = given->items;
}

enum write_kind { NEW_ROW, WITH_VECTOR, FIELDS_ALONE, REPLACE_FIELDS };

/* Writes rows of some keys. */
static void write_rows(struct world *w, const uint64_t *keys, uint32_t n, enum write_kind kind)
{
    static paua_value years[KEYS], names_given[KEYS], scores[KEYS], tags[KEYS], extras[KEYS];
    static struct given given[KEYS];
    float vectors[KEYS][2];
    const paua_column columns[] = {{w->year, years},
                                   {"name", names_given},
                                   {"score", scores},
                                   {"tags", tags},
                                   {"extra", extras}};
    const paua_vectors field = {vectors[0], 0};
    paua_write_opts opts = {.size = sizeof opts, .replace_fields = kind == REPLACE_FIELDS};
    paua_rows rows = test_rows(test_u64(keys, n), kind <= WITH_VECTOR ? &field : NULL, NULL);

    for (uint32_t i = 0; i < n; i++) {
        row_draw(w, &w->rows[keys[i]]);
        give(w, &w->rows[keys[i]], &given[i]);
        years[i] = given[i].year;
        names_given[i] = given[i].name;
        scores[i] = given[i].score;
        tags[i] = given[i].tags;
        extras[i] = given[i].extra;
        vectors[i][0] = (float)keys[i];
        vectors[i][1] = 1;
    }
    rows.columns = columns;
    rows.column_count = sizeof columns / sizeof columns[0];
    if (kind == NEW_ROW)
        assert_ok(paua_insert(w->c, &rows, &opts, NULL, &test_err));
    else
        assert_ok(paua_update(w->c, &rows, &opts, NULL, &test_err));
}

/* Only one field, of rows that exist: the others keep what they have. */
static void write_score(struct world *w, const uint64_t *keys, uint32_t n)
{
    paua_value scores[KEYS];
    const paua_column column = {"score", scores};
    paua_rows rows = test_rows(test_u64(keys, n), NULL, NULL);

    for (uint32_t i = 0; i < n; i++) {
        struct row *row = &w->rows[keys[i]];

        row->has_score = below(w, 5) > 0;
        row->score = (double)below(w, 100) / 4 - 5;
        scores[i] = row->has_score ? (paua_value){.type = PAUA_TYPE_DOUBLE, .as.f64 = row->score}
                                   : null_value();
    }
    rows.columns = &column;
    rows.column_count = 1;
    assert_ok(paua_upsert(w->c, &rows, NULL, NULL, &test_err));
}

/* Some keys that are (not) there, rising. */
static uint32_t pick(struct world *w, bool alive, uint64_t *keys)
{
    uint32_t share = 1 + below(w, 12), n = 0;

    for (uint32_t key = 0; key < KEYS; key++)
        if (w->rows[key].alive == alive && below(w, share) == 0) keys[n++] = key;
    return n;
}

/* ---- filters, and what they mean ---- */

struct condition {
    const char *format; /* %s: the name of the year */
    bool (*holds)(const struct row *row);
};

static bool year_small(const struct row *r) { return r->has_year && r->year < -5; }
static bool year_not_3(const struct row *r) { return r->has_year && r->year != 3; }
static bool year_between(const struct row *r)
{
    return r->has_year && r->year >= 2 && r->year <= 9;
}
static bool year_null(const struct row *r) { return !r->has_year; }
static bool name_beta(const struct row *r) { return r->has_name && r->name == 2; }
static bool name_like(const struct row *r) { return r->has_name && (r->name == 2 || r->name == 3); }
static bool name_in(const struct row *r) { return r->has_name && (r->name == 0 || r->name == 4); }
static bool score_high(const struct row *r) { return r->has_score && r->score > 7.25; }
static bool score_not_high(const struct row *r) { return r->has_score && !(r->score > 7.25); }
static bool tags_any(const struct row *r) { return r->has_tags && (r->tags & 5) != 0; }
static bool tags_not_all(const struct row *r) { return r->has_tags && (r->tags & 3) != 3; }
static bool tags_two(const struct row *r)
{
    return r->has_tags && __builtin_popcount(r->tags) == 2;
}
static bool extra_text(const struct row *r)
{
    return r->has_extra && !r->extra_bytes && r->extra == 1;
}
static bool extra_bytes(const struct row *r)
{
    return r->has_extra && r->extra_bytes && r->extra == 1;
}
static bool everything(const struct row *r) { return r->alive; }

static const struct condition conditions[] = {
    {"%s < -5", year_small},
    {"%s <> 3", year_not_3},
    {"%s BETWEEN 2 AND 9", year_between},
    {"%s IS NULL", year_null},
    {"name = 'beta'", name_beta},
    {"name LIKE 'beta%%'", name_like},
    {"name IN ('', '\xC3\xA9t\xC3\xA9')", name_in},
    {"score > 7.25", score_high},
    {"NOT score > 7.25", score_not_high},
    {"tags CONTAIN_ANY ('x', 'zz')", tags_any},
    {"tags NOT CONTAIN_ALL ('x', 'y')", tags_not_all},
    {"array_length(tags) = 2", tags_two},
    {"extra = 'alpha'", extra_text},
    {"extra = X'616c706861'", extra_bytes},
    {"name IS NULL OR name IS NOT NULL", everything},
};
#define CONDITIONS (sizeof conditions / sizeof conditions[0])

/* "a", "a AND b" or "a OR b", and the keys for which it is true. */
static paua_filter *filter_draw(struct world *w, bool *holds)
{
    const struct condition *a, *b;
    char first[128], second[128], text[300];
    paua_filter *filter;
    uint32_t how = below(w, 3);

    do {
        a = &conditions[below(w, CONDITIONS)];
        b = &conditions[below(w, CONDITIONS)];
    } while (w->year_is_text &&
             (a->holds == year_small || a->holds == year_not_3 || a->holds == year_between ||
              b->holds == year_small || b->holds == year_not_3 || b->holds == year_between));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(first, sizeof first, a->format, w->year);
    snprintf(second, sizeof second, b->format, w->year);
#pragma GCC diagnostic pop
    snprintf(text, sizeof text,
             how == 0   ? "%s"
             : how == 1 ? "(%s) AND (%s)"
                        : "(%s) OR (%s)",
             first, second);
    for (uint32_t key = 0; key < KEYS; key++) {
        const struct row *row = &w->rows[key];

        holds[key] = row->alive && (how == 0   ? a->holds(row)
                                    : how == 1 ? a->holds(row) && b->holds(row)
                                               : a->holds(row) || b->holds(row));
    }
    assert_ok(paua_filter_parse(text, strlen(text), &filter, &test_err));
    return filter;
}

static uint32_t count_of(const bool *holds)
{
    uint32_t count = 0;

    for (uint32_t key = 0; key < KEYS; key++)
        count += holds[key];
    return count;
}

static void expect_query(paua_collection *c, const paua_filter *filter, const bool *holds)
{
    paua_query_opts opts = {.size = sizeof opts, .filter = filter};
    const paua_record *record;
    paua_cursor *cursor;
    uint32_t found = 0;

    assert_ok(paua_query(c, &opts, &cursor, &test_err));
    for (;;) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        if (record == NULL) break;
        assert_true(record->key.u64 < KEYS && holds[record->key.u64]);
        found++;
    }
    paua_cursor_close(cursor);
    assert_int_equal(found, count_of(holds));
}

/* A filtered search gives exactly min(k, matches) rows, and only such as match. */
static void expect_search(paua_collection *c, const paua_filter *filter, const bool *holds)
{
    const float query[2] = {100, 1};
    paua_search_opts opts = {.size = sizeof opts, .k = 10, .filter = filter};
    paua_hits *hits;
    uint32_t matches = count_of(holds);

    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, query, 1, 0, &opts, hits, &test_err));
    assert_int_equal(paua_hits_count(hits, 0), matches < 10 ? matches : 10);
    for (size_t i = 0; i < paua_hits_count(hits, 0); i++)
        assert_true(holds[paua_hits_at(hits, 0, i).key.u64]);
    paua_hits_close(hits);
}

static void expect_filters(struct world *w, paua_collection *c)
{
    bool holds[KEYS];
    uint64_t count;

    for (int i = 0; i < 6; i++) {
        paua_filter *filter = filter_draw(w, holds);

        assert_ok(paua_count(c, filter, &count, &test_err));
        assert_int_equal(count, count_of(holds));
        expect_query(c, filter, holds);
        expect_search(c, filter, holds);
        paua_filter_free(filter);
    }
}

/* ---- values, read back ---- */

static const paua_value *value_named(paua_cursor *cursor, const paua_record *record,
                                     const char *name)
{
    size_t count;
    const paua_field *fields = paua_cursor_fields(cursor, &count);

    for (size_t f = 0; f < count; f++)
        if (strcmp(fields[f].name, name) == 0) return &record->values[f];
    return NULL;
}

static void expect_text(const paua_value *value, bool present, const char *text)
{
    if (!present) {
        assert_true(value == NULL || value->type == PAUA_TYPE_NULL);
        return;
    }
    assert_non_null(value);
    assert_true(value->type == PAUA_TYPE_STRING || value->type == PAUA_TYPE_BYTES);
    assert_int_equal(value->as.bytes.nbytes, strlen(text));
    assert_memory_equal(value->as.bytes.data, text, strlen(text));
}

static void expect_row(struct world *w, paua_cursor *cursor, const paua_record *record)
{
    const struct row *row = &w->rows[record->key.u64];
    const paua_value *value = value_named(cursor, record, w->year);
    char text[16];
    uint32_t item = 0;

    snprintf(text, sizeof text, "%d", row->year);
    if (w->year_is_text)
        expect_text(value, row->has_year, text);
    else if (row->has_year)
        assert_int_equal(value->as.i64, row->year);
    else
        assert_int_equal(value->type, PAUA_TYPE_NULL);
    expect_text(value_named(cursor, record, "name"), row->has_name, names[row->name]);
    expect_text(value_named(cursor, record, "extra"), row->has_extra, names[row->extra]);
    value = value_named(cursor, record, "score");
    assert_int_equal(value->type, row->has_score ? PAUA_TYPE_DOUBLE : PAUA_TYPE_NULL);
    if (row->has_score) assert_true(value->as.f64 == row->score);
    value = value_named(cursor, record, "tags");
    assert_int_equal(value->type,
                     row->has_tags ? PAUA_TYPE_ARRAY | PAUA_TYPE_STRING : PAUA_TYPE_NULL);
    for (uint32_t t = 0; row->has_tags && t < LIST; t++) {
        paua_value tag;

        if ((row->tags >> t & 1) == 0) continue;
        tag = paua_value_item(value, item++);
        expect_text(&tag, true, tag_names[t]);
    }
}

static void expect_values(struct world *w, paua_collection *c)
{
    const paua_record *record;
    paua_cursor *cursor;

    assert_ok(paua_iterate(c, NULL, &cursor, &test_err));
    for (;;) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        if (record == NULL) break;
        expect_row(w, cursor, record);
    }
    paua_cursor_close(cursor);
}

static void expect_all(struct world *w, paua_collection *c)
{
    expect_filters(w, c);
    expect_values(w, c);
    test_validate(c);
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
    paua_collection_close(w->c);
    paua_close(w->db);
    world_open(w);
    assert_ok(paua_collection_open(w->db, "c", &w->c, &test_err));
}

static void seal(struct world *w)
{
    pthread_mutex_lock(&w->c->write_mutex);
    assert_ok(seal_tail(w->c, &test_err));
    pthread_mutex_unlock(&w->c->write_mutex);
}

static void fields_change(struct world *w)
{
    paua_field extra = {"spare", PAUA_TYPE_UINT8};
    const char *other = strcmp(w->year, "year") == 0 ? "published" : "year";

    switch (below(w, 3)) {
    case 0:
        assert_ok(paua_field_rename(w->c, w->year, other, &test_err));
        w->year = other;
        break;
    case 1:
        w->year_is_text = !w->year_is_text;
        assert_ok(paua_field_retype(
            w->c, w->year, w->year_is_text ? PAUA_TYPE_STRING : PAUA_TYPE_INT16, &test_err));
        break;
    default:
        assert_ok(paua_field_add(w->c, &extra, &test_err));
        assert_ok(paua_field_drop(w->c, "spare", &test_err));
    }
}

static void delete_where(struct world *w)
{
    bool holds[KEYS];
    paua_filter *filter = filter_draw(w, holds);
    uint64_t deleted;

    if (count_of(holds) < KEYS / 3) {
        assert_ok(paua_delete_where(w->c, filter, &deleted, &test_err));
        assert_int_equal(deleted, count_of(holds));
        for (uint32_t key = 0; key < KEYS; key++)
            if (holds[key]) w->rows[key].alive = false;
    }
    paua_filter_free(filter);
}

static void operate(struct world *w)
{
    uint64_t keys[KEYS];
    uint32_t what = below(w, 100), n = pick(w, what >= 30, keys);

    if (what < 30 && n > 0)
        write_rows(w, keys, n, NEW_ROW);
    else if (what < 40 && n > 0)
        write_rows(w, keys, n, WITH_VECTOR);
    else if (what < 52 && n > 0)
        write_rows(w, keys, n, below(w, 4) == 0 ? REPLACE_FIELDS : FIELDS_ALONE);
    else if (what < 64 && n > 0)
        write_score(w, keys, n);
    else if (what < 72)
        delete_where(w);
    else if (what < 80)
        seal(w);
    else if (what < 86)
        assert_ok(paua_optimize(w->c, NULL, &test_err));
    else if (what < 93)
        reopen(w);
    else
        fields_change(w);
}

static void world_make(struct world *w, uint64_t seed)
{
    static const paua_field columns[] = {{"year", PAUA_TYPE_INT16},
                                         {"name", PAUA_TYPE_STRING},
                                         {"score", PAUA_TYPE_DOUBLE},
                                         {"tags", PAUA_TYPE_ARRAY | PAUA_TYPE_STRING}};
    const paua_vector_field vector = {.name = "v", .dim = 2, .metric = PAUA_L2};
    const paua_schema schema = {.size = sizeof schema,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = 4,
                                .dynamic = true};
    const paua_open_opts opts = {.size = sizeof opts, .read_only = true};

    *w = (struct world){.seed = seed, .year = "year"};
    test_dir_make(&w->dir);
    world_open(w);
    assert_ok(paua_collection_create(w->db, "c", &schema, &w->c, &test_err));
    assert_ok(paua_open(w->dir.path, &opts, &w->reader_db, &test_err));
    assert_ok(paua_collection_open(w->reader_db, "c", &w->reader, &test_err));
}

static void run_seed(uint64_t seed)
{
    static struct world w;

    world_make(&w, seed);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        operate(&w);
        if (i % 4 == 3) expect_all(&w, w.c);
        if (i % 12 == 11) expect_all(&w, w.reader);
    }
    expect_all(&w, w.c);
    expect_all(&w, w.reader);
    paua_collection_close(w.reader);
    paua_close(w.reader_db);
    paua_collection_close(w.c);
    paua_close(w.db);
    test_dir_remove(&w.dir);
}

static void fields_agree_with_the_model_whatever_is_done(void **state)
{
    const char *one = getenv("PAUA_SEED");
    uint64_t seeds = test_sweep_whole() ? SEEDS_WHOLE : SEEDS_SAMPLE;

    (void)state;
    for (uint64_t seed = 0; seed < seeds && one == NULL; seed++) {
        print_message("seed %llu\r", (unsigned long long)seed);
        run_seed(seed);
    }
    if (one != NULL) run_seed(strtoull(one, NULL, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_agree_with_the_model_whatever_is_done),
    };

    return cmocka_run_group_tests_name("property/fields", tests, NULL, NULL);
}
