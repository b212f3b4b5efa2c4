/* test_field_index_upkeep.c - indexes of fields: what can be defined, what is listed, which files
 * there are after each change, and what a damaged one does. */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/db.h"
#include "unit/db/fielded.h"

#define ROWS 1500u
#define NAMES 5000u /* so many distinct strings are not given codes */

struct world {
    struct test_dir dir;
    paua_db *db;
    paua_collection *c;
};

static const paua_index_params bitmap = {.kind = PAUA_INDEX_BITMAP};
static const paua_index_params sorted = {.kind = PAUA_INDEX_SORTED};
static const paua_index_params vamana = {.kind = PAUA_INDEX_VAMANA};

static void open_again(struct world *w)
{
    w->db = test_open(&w->dir);
    assert_ok(paua_collection_open(w->db, "c", &w->c, &test_err));
}

static void close_all(struct world *w)
{
    paua_collection_close(w->c);
    paua_close(w->db);
}

static void reopen(struct world *w)
{
    close_all(w);
    open_again(w);
}

/* One segment: n is the key, text one of seven words. */
static void begin(struct world *w)
{
    static uint64_t keys[ROWS];
    static paua_value n[ROWS], text[ROWS];
    static const char *const words[] = {"a", "b", "c", "d", "e", "f", ""};
    const paua_column columns[] = {{"n", n}, {"text", text}};

    test_dir_make(&w->dir);
    w->db = test_open(&w->dir);
    w->c = fielded_create(w->db, "c", false);
    for (uint32_t i = 0; i < ROWS; i++) {
        keys[i] = i;
        n[i] = value_i64(i);
        text[i] = i % 9 == 0 ? value_null() : value_text(words[i % 7]);
    }
    assert_ok(fielded_write(w->c, FIELDED_INSERT, keys, ROWS, columns, 2, NULL, NULL, &test_err));
    fielded_seal(w->c);
}

static void end(struct world *w)
{
    test_validate(w->c);
    close_all(w);
    assert_ok(paua_check(w->dir.path, NULL, &test_err));
    test_dir_remove(&w->dir);
}

/* Files of indexes: how many; `last` (may be NULL): the path of one of them. */
static uint32_t values_files(const char *path, char last[400])
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    uint32_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (strstr(entry->d_name, ".values") == NULL) continue;
        if (last != NULL) snprintf(last, 400, "%s/%s", path, entry->d_name);
        count++;
    }
    closedir(dir);
    return count;
}

static void create(struct world *w, const char *field, const char *name,
                   const paua_index_params *params)
{
    assert_ok(paua_index_create(w->c, field, name, params, NULL, &test_err));
}

/* ---- listing ---- */

struct listed {
    const char *name; /* looked for */
    uint32_t count;   /* of all indexes */
    bool found;
    char field[64];
    paua_index index;
};

static void list_each(void *arg, const paua_index *index)
{
    struct listed *l = arg;

    l->count++;
    if (strcmp(index->name, l->name) != 0) return;
    l->found = true;
    l->index = *index;
    snprintf(l->field, sizeof l->field, "%s", index->field);
}

static struct listed list(paua_collection *c, const char *name)
{
    struct listed l = {.name = name};

    assert_ok(paua_index_list(c, list_each, &l, &test_err));
    return l;
}

static void expect_rows(paua_collection *c, const char *name, uint64_t rows, uint64_t due)
{
    struct listed l = list(c, name);

    assert_true(l.found);
    assert_int_equal(l.index.rows, rows);
    assert_int_equal(l.index.rows_due, due);
    assert_true((l.index.values_nbytes > 0) == (rows > 0));
    assert_true(l.index.graph_nbytes == 0 && l.index.walk_nbytes == 0);
}

/* What filters find, with or without an index. */
static void expect_answers(paua_collection *c)
{
    assert_int_equal(fielded_count(c, "n = 700"), 1);
    assert_int_equal(fielded_count(c, "n BETWEEN 100 AND 104"), 5);
    assert_int_equal(fielded_count(c, "n IN (1, 2, 3, 90000)"), 3);
    assert_int_equal(fielded_count(c, "text = 'c'"), 190);
    assert_int_equal(fielded_count(c, "text = 'c' AND n < 9"), 1);
    assert_int_equal(fielded_count(c, "text IS NULL AND n < 1500"), 167);
}

static void an_index_is_listed_with_what_it_covers(void **state)
{
    struct listed l;
    struct world w;

    (void)state;
    begin(&w);
    create(&w, "n", "by_n", NULL);
    create(&w, "text", "by_text", &bitmap);
    expect_rows(w.c, "by_n", ROWS, 0);
    expect_rows(w.c, "by_text", ROWS, 0);
    l = list(w.c, "by_n");
    assert_int_equal(l.count, 2);
    assert_int_equal(l.index.params.kind, PAUA_INDEX_SORTED); /* the default */
    assert_string_equal(l.field, "n");
    assert_int_equal(list(w.c, "by_text").index.params.kind, PAUA_INDEX_BITMAP);
    assert_int_equal(values_files(w.dir.path, NULL), 2);
    expect_answers(w.c);
    fielded_fill(w.c, 10000, 1001);
    expect_rows(w.c, "by_n", ROWS, 0);
    fielded_seal(w.c);
    expect_rows(w.c, "by_n", ROWS, 1001);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    expect_rows(w.c, "by_n", ROWS + 1001, 0);
    assert_ok(paua_index_drop(w.c, "by_n", &test_err));
    assert_false(list(w.c, "by_n").found);
    assert_int_equal(list(w.c, "by_n").count, 1);
    expect_answers(w.c);
    end(&w);
}

static void a_small_segment_is_scanned(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    fielded_fill(w.c, 10000, PAUA_INDEX_ROWS_MIN);
    fielded_seal(w.c);
    create(&w, "n", "by_n", &sorted);
    expect_rows(w.c, "by_n", ROWS, 0);
    assert_int_equal(values_files(w.dir.path, NULL), 1);
    end(&w);
}

static void says(const char *what)
{
    if (strstr(test_err.message, what) == NULL)
        fail_msg("the message is \"%s\", without \"%s\"", test_err.message, what);
}

static void what_cannot_be_an_index_is_refused_by_its_name(void **state)
{
    const paua_field tags = {"tags", PAUA_TYPE_ARRAY | PAUA_TYPE_STRING};
    const paua_index_params flat = {.kind = PAUA_INDEX_FLAT}, none = {.kind = PAUA_INDEX_NONE};
    const paua_index_params strange = {.kind = (paua_index_kind)77};
    struct world w;

    (void)state;
    begin(&w);
    assert_ok(paua_field_add(w.c, &tags, &test_err));
    create(&w, "v", "graph", &vamana);
    create(&w, "n", "by_n", &sorted);
    assert_fails(paua_index_create(w.c, "n", "graph", &sorted, NULL, &test_err), PAUA_EEXISTS);
    says("graph");
    assert_fails(paua_index_create(w.c, "v", "by_n", &vamana, NULL, &test_err), PAUA_EEXISTS);
    says("by_n");
    assert_fails(paua_index_create(w.c, "nope", "x", &sorted, NULL, &test_err), PAUA_ENOTFOUND);
    says("nope");
    assert_fails(paua_index_create(w.c, "tags", "x", &bitmap, NULL, &test_err), PAUA_EINVAL);
    says("tags");
    says("array");
    assert_fails(paua_index_create(w.c, "n", "x", &vamana, NULL, &test_err), PAUA_EINVAL);
    says("bitmap or sorted");
    assert_fails(paua_index_create(w.c, "n", "x", &flat, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_index_create(w.c, "n", "x", &none, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_index_create(w.c, "n", "x", &strange, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_index_create(w.c, "v", "x", &strange, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_index_create(w.c, "n", "", &sorted, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_index_create(w.c, "n", NULL, &sorted, NULL, &test_err), PAUA_EINVAL);
    assert_int_equal(list(w.c, "x").count, 2);
    end(&w);
}

static void an_index_of_values_on_vectors_is_refused_with_the_kinds_there_are(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    assert_fails(paua_index_create(w.c, "v", "x", &bitmap, NULL, &test_err), PAUA_EINVAL);
    says("vamana or flat");
    assert_fails(paua_index_create(w.c, NULL, "x", &sorted, NULL, &test_err), PAUA_EINVAL);
    says("vamana or flat");
    assert_int_equal(list(w.c, "x").count, 0);
    end(&w);
}

static void an_index_stays_through_reopening_merging_and_renaming(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    create(&w, "n", "by_n", &sorted);
    create(&w, "text", "by_text", &bitmap);
    reopen(&w);
    expect_rows(w.c, "by_n", ROWS, 0);
    expect_answers(w.c);
    fielded_fill(w.c, 10000, 1200);
    fielded_seal(w.c);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    expect_rows(w.c, "by_n", ROWS + 1200, 0);
    expect_rows(w.c, "by_text", ROWS + 1200, 0);
    assert_ok(paua_field_rename(w.c, "n", "number", &test_err));
    assert_string_equal(list(w.c, "by_n").field, "number");
    expect_rows(w.c, "by_n", ROWS + 1200, 0);
    assert_int_equal(fielded_count(w.c, "number BETWEEN 100 AND 104"), 5);
    reopen(&w);
    assert_string_equal(list(w.c, "by_n").field, "number");
    assert_int_equal(fielded_count(w.c, "number IN (5, 10007)"), 2);
    end(&w);
}

static void an_index_is_built_anew_for_the_new_type_of_its_field(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    create(&w, "n", "by_n", &sorted);
    create(&w, "text", "by_text", &bitmap);
    assert_ok(paua_field_retype(w.c, "n", PAUA_TYPE_STRING, &test_err));
    expect_rows(w.c, "by_n", 0, ROWS);
    expect_rows(w.c, "by_text", 0, ROWS);
    assert_int_equal(values_files(w.dir.path, NULL), 0);
    assert_int_equal(fielded_count(w.c, "n = '700'"), 1);
    reopen(&w);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    expect_rows(w.c, "by_n", ROWS, 0);
    expect_rows(w.c, "by_text", ROWS, 0);
    assert_int_equal(fielded_count(w.c, "n = '700'"), 1);
    assert_int_equal(fielded_count(w.c, "n BETWEEN '700' AND '701'"), 2);
    assert_int_equal(fielded_count(w.c, "text = 'c'"), 190);
    assert_ok(paua_index_drop(w.c, "by_n", &test_err));
    assert_int_equal(values_files(w.dir.path, NULL), 1);
    end(&w);
}

static void indexes_go_with_their_field(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    create(&w, "n", "by_n", &sorted);
    create(&w, "n", "by_n_too", &bitmap);
    create(&w, "text", "by_text", &bitmap);
    assert_int_equal(values_files(w.dir.path, NULL), 3);
    assert_ok(paua_field_drop(w.c, "n", &test_err));
    assert_int_equal(list(w.c, "by_text").count, 1);
    assert_int_equal(values_files(w.dir.path, NULL), 1);
    assert_int_equal(fielded_count(w.c, "text = 'c'"), 190);
    reopen(&w);
    assert_int_equal(list(w.c, "by_text").count, 1);
    assert_int_equal(values_files(w.dir.path, NULL), 1);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    expect_rows(w.c, "by_text", ROWS, 0);
    assert_ok(paua_index_drop(w.c, "by_text", &test_err));
    assert_int_equal(values_files(w.dir.path, NULL), 0);
    end(&w);
}

static void a_fold_takes_the_indexes_along(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    create(&w, "n", "by_n", &sorted);
    create(&w, "text", "by_text", &bitmap);
    fielded_update(w.c, 700, "n", value_i64(-5));
    fielded_update(w.c, 2, "text", value_text("a"));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fielded_count(w.c, "n = 700"), 0);
        assert_int_equal(fielded_count(w.c, "n = -5"), 1);
        assert_int_equal(fielded_count(w.c, "text = 'c'"), 189);
        expect_rows(w.c, "by_n", ROWS, 0);
        if (i == 0) assert_ok(paua_optimize(w.c, NULL, &test_err));
        if (i == 1) reopen(&w);
    }
    assert_int_equal(fielded_stats(w.c).patches, 0);
    assert_int_equal(values_files(w.dir.path, NULL), 2);
    end(&w);
}

static void an_index_of_a_field_without_values_finds_nothing(void **state)
{
    const paua_field added = {"later", PAUA_TYPE_INT32};
    struct world w;

    (void)state;
    begin(&w);
    assert_ok(paua_field_add(w.c, &added, &test_err));
    create(&w, "later", "by_later", &bitmap);
    create(&w, "later", "by_later_too", &sorted);
    expect_rows(w.c, "by_later", ROWS, 0);
    assert_int_equal(fielded_count(w.c, "later = 1"), 0);
    assert_int_equal(fielded_count(w.c, "later IS NULL"), ROWS);
    fielded_update(w.c, 3, "later", value_i64(1));
    assert_int_equal(fielded_count(w.c, "later = 1"), 1);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    assert_int_equal(fielded_count(w.c, "later = 1"), 1);
    end(&w);
}

static void expect_hits(struct world *w, const char *index, paua_status wanted)
{
    const float query[2] = {0, 1};
    paua_filter *filter = fielded_filter("n BETWEEN 1000 AND 1002");
    paua_search_opts opts = {.size = sizeof opts, .k = 5, .index = index, .filter = filter};
    paua_hits *hits;

    assert_ok(paua_hits_open(&hits, &test_err));
    if (wanted == PAUA_OK) {
        assert_ok(paua_search(w->c, query, 1, 0, &opts, hits, &test_err));
        assert_int_equal(paua_hits_count(hits, 0), 3);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(paua_hits_at(hits, 0, i).key.u64, 1000 + i);
    } else {
        assert_fails(paua_search(w->c, query, 1, 0, &opts, hits, &test_err), wanted);
        says(index);
    }
    paua_hits_close(hits);
    paua_filter_free(filter);
}

static void a_search_filters_by_an_index_and_walks_none(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    create(&w, "n", "by_n", &sorted);
    expect_hits(&w, NULL, PAUA_OK);
    expect_hits(&w, "by_n", PAUA_ENOTFOUND);
    create(&w, "v", "graph", &vamana);
    expect_hits(&w, NULL, PAUA_OK);
    expect_hits(&w, "graph", PAUA_OK);
    expect_hits(&w, "by_n", PAUA_ENOTFOUND);
    end(&w);
}

static void expect_plan(struct world *w, uint32_t indexed)
{
    const float query[2] = {0, 1};
    paua_filter *filter = fielded_filter("name BETWEEN 'row 01000' AND 'row 01001'");
    paua_search_opts opts = {.size = sizeof opts, .k = 5, .filter = filter};
    paua_plan plan = {.size = sizeof plan};
    paua_hits *hits;

    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(w->c, query, 1, 0, &opts, hits, &test_err));
    assert_ok(paua_hits_plan(hits, &plan, &test_err));
    assert_int_equal(plan.indexed, indexed);
    paua_hits_close(hits);
    paua_filter_free(filter);
}

static void the_plan_counts_conditions_that_an_index_answered(void **state)
{
    static uint64_t keys[NAMES];
    static paua_value names[NAMES];
    static char text[NAMES][16];
    const paua_column column = {"name", names};
    struct world w;

    (void)state;
    begin(&w);
    assert_ok(paua_field_add(w.c, &(paua_field){"name", PAUA_TYPE_STRING}, &test_err));
    for (uint32_t i = 0; i < NAMES; i++) {
        keys[i] = ROWS + i;
        snprintf(text[i], sizeof text[i], "row %05u", i);
        names[i] = value_text(text[i]);
    }
    assert_ok(fielded_write(w.c, FIELDED_INSERT, keys, NAMES, &column, 1, NULL, NULL, &test_err));
    fielded_seal(w.c);
    expect_plan(&w, 0);
    create(&w, "name", "by_name", &sorted);
    expect_plan(&w, 1);
    end(&w);
}

/* ---- damage, copies, and what is interrupted ---- */

static char found[400];

static void finding(void *arg, const paua_finding *f)
{
    (void)arg;
    if (found[0] == '\0') snprintf(found, sizeof found, "%s: %s", f->file, f->what);
}

static void a_damaged_index_is_named_by_the_check(void **state)
{
    const paua_check_opts opts = {.size = sizeof opts, .finding = finding};
    char path[400];
    struct stat s;
    struct world w;

    (void)state;
    begin(&w);
    create(&w, "n", "by_n", &sorted);
    close_all(&w);
    assert_int_equal(values_files(w.dir.path, path), 1);
    assert_int_equal(stat(path, &s), 0);
    for (off_t at = 70; at < s.st_size; at += s.st_size / 7) {
        FILE *file = fopen(path, "r+b");
        int byte;

        assert_non_null(file);
        fseek(file, at, SEEK_SET);
        byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 4, file);
        fclose(file);
        found[0] = '\0';
        assert_int_equal(paua_check(w.dir.path, &opts, &test_err), PAUA_ECORRUPT);
        if (strstr(found, strrchr(path, '/') + 1) == NULL) fail_msg("at %d: %s", (int)at, found);
        file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, at, SEEK_SET);
        fputc(byte, file);
        fclose(file);
    }
    assert_ok(paua_check(w.dir.path, &opts, &test_err));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(paua_check(w.dir.path, &opts, &test_err), PAUA_ECORRUPT);
    test_dir_remove(&w.dir);
}

static void a_rebuilt_catalogue_has_no_indexes_of_fields_and_no_files_of_them(void **state)
{
    const paua_check_opts rebuild = {.size = sizeof rebuild, .rebuild = true};
    char catalog[100];
    struct world w;

    (void)state;
    begin(&w);
    create(&w, "n", "by_n", &sorted);
    create(&w, "text", "by_text", &bitmap);
    close_all(&w);
    snprintf(catalog, sizeof catalog, "%s/catalog.sqlite", w.dir.path);
    assert_int_equal(truncate(catalog, 100), 0);
    (void)paua_check(w.dir.path, &rebuild, NULL);
    assert_ok(paua_check(w.dir.path, NULL, &test_err));
    open_again(&w);
    assert_false(list(w.c, "by_n").found || list(w.c, "by_text").found);
    expect_answers(w.c);
    assert_int_equal(values_files(w.dir.path, NULL), 0);
    create(&w, "n", "by_n", &sorted);
    expect_rows(w.c, "by_n", ROWS, 0);
    expect_answers(w.c);
    end(&w);
}

static void a_backup_has_the_indexes(void **state)
{
    struct test_dir copy;
    struct world w, other;

    (void)state;
    begin(&w);
    create(&w, "n", "by_n", &sorted);
    create(&w, "text", "by_text", &bitmap);
    test_dir_make(&copy);
    test_dir_remove(&copy);
    assert_ok(paua_backup(w.db, copy.path, NULL, &test_err));
    assert_int_equal(values_files(copy.path, NULL), 2);
    other.dir = copy;
    open_again(&other);
    expect_rows(other.c, "by_n", ROWS, 0);
    expect_answers(other.c);
    end(&other);
    end(&w);
}

static void a_canceled_creation_goes_on_when_optimized(void **state)
{
    paua_cancel cancel = {0};
    paua_optimize_opts opts = {.size = sizeof opts};
    struct world w;

    (void)state;
    begin(&w);
    paua_cancel_request(&cancel);
    opts.cancel = &cancel;
    assert_fails(paua_index_create(w.c, "n", "by_n", &sorted, &opts, &test_err), PAUA_ECANCELED);
    assert_fails(paua_index_create(w.c, "text", "by_text", &bitmap, &opts, &test_err),
                 PAUA_ECANCELED);
    expect_rows(w.c, "by_n", 0, ROWS);
    assert_int_equal(values_files(w.dir.path, NULL), 0);
    expect_answers(w.c);
    reopen(&w);
    expect_rows(w.c, "by_n", 0, ROWS);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    expect_rows(w.c, "by_n", ROWS, 0);
    expect_rows(w.c, "by_text", ROWS, 0);
    expect_answers(w.c);
    end(&w);
}

/* Values of NULL alone become arrays of any type. */
static void an_index_goes_when_its_field_becomes_an_array(void **state)
{
    const paua_field added = {"later", PAUA_TYPE_STRING};
    struct world w;

    (void)state;
    begin(&w);
    assert_ok(paua_field_add(w.c, &added, &test_err));
    create(&w, "later", "by_later", &bitmap);
    create(&w, "text", "by_text", &bitmap);
    assert_ok(paua_field_retype(w.c, "later", PAUA_TYPE_ARRAY | PAUA_TYPE_STRING, &test_err));
    assert_int_equal(list(w.c, "by_text").count, 1);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    assert_int_equal(values_files(w.dir.path, NULL), 1);
    reopen(&w);
    assert_int_equal(list(w.c, "by_text").count, 1);
    expect_answers(w.c);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_listed_with_what_it_covers),
        cmocka_unit_test(a_small_segment_is_scanned),
        cmocka_unit_test(what_cannot_be_an_index_is_refused_by_its_name),
        cmocka_unit_test(an_index_of_values_on_vectors_is_refused_with_the_kinds_there_are),
        cmocka_unit_test(an_index_stays_through_reopening_merging_and_renaming),
        cmocka_unit_test(an_index_is_built_anew_for_the_new_type_of_its_field),
        cmocka_unit_test(indexes_go_with_their_field),
        cmocka_unit_test(a_fold_takes_the_indexes_along),
        cmocka_unit_test(an_index_of_a_field_without_values_finds_nothing),
        cmocka_unit_test(a_search_filters_by_an_index_and_walks_none),
        cmocka_unit_test(the_plan_counts_conditions_that_an_index_answered),
        cmocka_unit_test(a_damaged_index_is_named_by_the_check),
        cmocka_unit_test(a_rebuilt_catalogue_has_no_indexes_of_fields_and_no_files_of_them),
        cmocka_unit_test(a_backup_has_the_indexes),
        cmocka_unit_test(a_canceled_creation_goes_on_when_optimized),
        cmocka_unit_test(an_index_goes_when_its_field_becomes_an_array),
    };

    return cmocka_run_group_tests_name("db/field_index_upkeep", tests, NULL, NULL);
}
