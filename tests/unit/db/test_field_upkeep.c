/* test_field_upkeep.c - what fields cost and leave: files, memory, patches, copies; and what a
 * failed allocation leaves as it was. */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "db/db.h"
#include "unit/db/fielded.h"

#define MEBIBYTE ((size_t)1 << 20)

struct world {
    struct test_dir dir;
    paua_db *db;
    paua_collection *c;
};

static void begin(struct world *w)
{
    test_dir_make(&w->dir);
    w->db = test_open(&w->dir);
    w->c = fielded_create(w->db, "c", true);
}

static void close_all(struct world *w)
{
    paua_collection_close(w->c);
    paua_close(w->db);
}

static void open_with(struct world *w, paua_open_opts opts)
{
    opts.size = sizeof opts;
    opts.no_background = true;
    opts.durability = PAUA_OFF;
    assert_ok(paua_open(w->dir.path, &opts, &w->db, &test_err));
    assert_ok(paua_collection_open(w->db, "c", &w->c, &test_err));
}

static void reopen(struct world *w)
{
    close_all(w);
    open_with(w, (paua_open_opts){0});
}

static void end(struct world *w)
{
    test_validate(w->c);
    close_all(w);
    assert_ok(paua_check(w->dir.path, NULL, &test_err));
    test_dir_remove(&w->dir);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);

    return length > end && strcmp(name + length - end, suffix) == 0;
}

/* Files whose name ends so: how many, and a number made of their names and lengths. */
static uint32_t files_of(const char *path, const char *suffix, uint64_t *digest)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    uint32_t count = 0;

    assert_non_null(dir);
    *digest = 0;
    while ((entry = readdir(dir)) != NULL) {
        char full[400];
        struct stat s;

        if (!ends_with(entry->d_name, suffix)) continue;
        snprintf(full, sizeof full, "%s/%s", path, entry->d_name);
        assert_int_equal(stat(full, &s), 0);
        *digest += strtoull(entry->d_name, NULL, 10) * 1000003 + (uint64_t)s.st_size;
        count++;
    }
    closedir(dir);
    return count;
}

static void an_update_of_fields_writes_no_file_until_optimize_folds_it(void **state)
{
    uint64_t vectors, columns, now;
    struct world w;

    (void)state;
    begin(&w);
    fielded_fill(w.c, 1, 50);
    fielded_seal(w.c);
    fielded_update(w.c, 1, "n", value_i64(-1)); /* makes the files of a tail */
    assert_int_equal(files_of(w.dir.path, ".f32", &vectors), 2);
    assert_int_equal(files_of(w.dir.path, ".columns", &columns), 1);
    for (uint64_t key = 2; key <= 50; key++)
        fielded_update(w.c, key, "n", value_i64(-(int64_t)key));
    assert_int_equal(files_of(w.dir.path, ".f32", &now), 2);
    assert_true(now == vectors);
    assert_int_equal(files_of(w.dir.path, ".columns", &now), 1);
    assert_true(now == columns);
    assert_int_equal(fielded_stats(w.c).patches, 50);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    assert_int_equal(files_of(w.dir.path, ".f32", &now), 2);
    assert_true(now == vectors);
    assert_int_equal(files_of(w.dir.path, ".columns", &now), 1);
    assert_true(now != columns);
    assert_int_equal(fielded_stats(w.c).patches, 0);
    assert_int_equal(fielded_count(w.c, "n < 0"), 50);
    end(&w);
}

static void writing_the_same_again_makes_no_patch(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    fielded_fill(w.c, 1, 5);
    fielded_seal(w.c);
    for (uint64_t key = 1; key <= 5; key++)
        fielded_update(w.c, key, "n", value_i64((int64_t)key));
    assert_int_equal(fielded_stats(w.c).patches, 0);
    end(&w);
}

/* Of a row in a segment and of one in the tail. */
static void patches_that_replace_each_other_take_no_more_memory(void **state)
{
    paua_stats early, late;
    char text[40];
    struct world w;

    (void)state;
    begin(&w);
    fielded_fill(w.c, 1, 5);
    fielded_seal(w.c);
    fielded_fill(w.c, 6, 5);
    for (uint32_t i = 0; i < 600; i++) {
        snprintf(text, sizeof text, "text number %06u", i);
        fielded_update(w.c, 2, "text", value_text(text));
        fielded_update(w.c, 7, "text", value_text(text));
        if (i == 20) early = fielded_stats(w.c);
    }
    late = fielded_stats(w.c);
    assert_int_equal(late.patches, 2);
    assert_true(late.heap_nbytes <= early.heap_nbytes + 256);
    fielded_seal(w.c);
    assert_int_equal(fielded_stats(w.c).patches, 1);
    assert_true(fielded_is(w.c, 7, "text", value_text(text)));
    end(&w);
}

/* Batches are kept until the tail seals; patches alone must make it, too, though each replaces the
 * one before. */
static void sixty_four_mebibytes_of_updates_seal_the_tail(void **state)
{
    static char text[MEBIBYTE];
    struct world w;

    (void)state;
    begin(&w);
    fielded_fill(w.c, 1, 2);
    fielded_seal(w.c);
    memset(text, 'a', sizeof text - 1);
    for (uint32_t i = 0; i < 66; i++) {
        text[i] = 'b';
        fielded_update(w.c, 1, "text", value_text(text));
        if (i == 30) reopen(&w);
    }
    assert_true(w.c->view->head.last_sequence - w.c->view->head.first_sequence < 10);
    assert_true(fielded_is(w.c, 1, "text", value_text(text)));
    end(&w);
}

static void values_of_many_mebibytes_are_kept(void **state)
{
    static const size_t sizes[] = {1, 20};
    struct world w;

    (void)state;
    begin(&w);
    for (uint64_t key = 0; key < 2; key++) {
        size_t nbytes = sizes[key] * MEBIBYTE;
        uint8_t *bytes = malloc(nbytes);

        assert_non_null(bytes);
        for (size_t i = 0; i < nbytes; i++)
            bytes[i] = (uint8_t)(i * 31 + i / 977 + key);
        fielded_insert(w.c, key, "raw", value_bytes(bytes, nbytes));
        assert_true(fielded_is(w.c, key, "raw", value_bytes(bytes, nbytes)));
        reopen(&w);
        assert_true(fielded_is(w.c, key, "raw", value_bytes(bytes, nbytes)));
        fielded_seal(w.c);
        assert_true(fielded_is(w.c, key, "raw", value_bytes(bytes, nbytes)));
        bytes[nbytes - 1] ^= 1;
        fielded_update(w.c, key, "raw", value_bytes(bytes, nbytes));
        assert_true(fielded_is(w.c, key, "raw", value_bytes(bytes, nbytes)));
        reopen(&w);
        assert_true(fielded_is(w.c, key, "raw", value_bytes(bytes, nbytes)));
        assert_ok(paua_optimize(w.c, NULL, &test_err));
        assert_true(fielded_is(w.c, key, "raw", value_bytes(bytes, nbytes)));
        free(bytes);
    }
    end(&w);
}

static void hits_and_cursors_keep_their_values_after_all_is_closed(void **state)
{
    const float query[2] = {2, 1};
    const paua_search_opts opts = {.size = sizeof opts, .k = 1};
    const paua_record *record;
    paua_cursor *cursor;
    paua_hits *hits;
    paua_value value;
    struct world w;

    (void)state;
    begin(&w);
    fielded_insert(w.c, 1, "text", value_text("sealed"));
    fielded_seal(w.c);
    fielded_insert(w.c, 2, "text", value_text("in the tail"));
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(w.c, query, 1, 0, &opts, hits, &test_err));
    assert_ok(paua_query(w.c, NULL, &cursor, &test_err));
    fielded_update(w.c, 1, "text", value_text("new"));
    fielded_update(w.c, 2, "text", value_text("new"));
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    assert_ok(paua_field_drop(w.c, "text", &test_err));
    end(&w);
    assert_ok(paua_hits_value(hits, 0, 0, "text", &value, &test_err));
    assert_int_equal(value.as.bytes.nbytes, 11);
    assert_memory_equal(value.as.bytes.data, "in the tail", 11);
    assert_fails(paua_hits_value(hits, 0, 0, "nobody", &value, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_hits_value(hits, 0, 1, "text", &value, &test_err), PAUA_EINVAL);
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_int_equal(record->values[2].as.bytes.nbytes, 6);
    assert_memory_equal(record->values[2].as.bytes.data, "sealed", 6);
    paua_cursor_close(cursor);
    paua_hits_close(hits);
}

static void some_of_everything(paua_collection *c)
{
    fielded_fill(c, 1, 40);
    fielded_insert(c, 100, "text", value_text("hundred"));
    fielded_seal(c);
    fielded_update(c, 3, "n", value_i64(-3));
    fielded_insert(c, 101, "extra", value_bytes("\1\2", 2));
    fielded_update(c, 100, "extra", value_text("word"));
}

static void expect_everything(paua_collection *c)
{
    assert_int_equal(fielded_count(c, "n BETWEEN 1 AND 40"), 39);
    assert_int_equal(fielded_count(c, "n < 0 OR text LIKE 'hund%' OR extra = X'0102'"), 3);
    assert_true(fielded_is(c, 3, "n", value_i64(-3)));
    assert_true(fielded_is(c, 100, "extra", value_text("word")));
    assert_true(fielded_is(c, 101, "extra", value_bytes("\1\2", 2)));
    test_validate(c);
}

static void fields_are_the_same_without_maps_and_read_only(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    some_of_everything(w.c);
    expect_everything(w.c);
    close_all(&w);
    open_with(&w, (paua_open_opts){.no_mmap = true});
    expect_everything(w.c);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    expect_everything(w.c);
    close_all(&w);
    open_with(&w, (paua_open_opts){.read_only = true});
    expect_everything(w.c);
    assert_fails(paua_field_drop(w.c, "n", &test_err), PAUA_EREADONLY);
    end(&w);
}

static void fields_live_in_memory_too(void **state)
{
    paua_db *db = test_open_memory();
    paua_collection *c = fielded_create(db, "c", true);

    (void)state;
    some_of_everything(c);
    expect_everything(c);
    assert_ok(paua_field_retype(c, "n", PAUA_TYPE_STRING, &test_err));
    assert_ok(paua_field_retype(c, "n", PAUA_TYPE_INT32, &test_err));
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_int_equal(fielded_count(c, "n BETWEEN 1 AND 40"), 39);
    paua_collection_close(c);
    paua_close(db);
}

static void a_backup_has_fields_and_patches(void **state)
{
    struct test_dir copy;
    struct world w;

    (void)state;
    begin(&w);
    some_of_everything(w.c);
    test_dir_make(&copy);
    assert_ok(paua_backup(w.db, copy.path, NULL, &test_err));
    fielded_update(w.c, 3, "n", value_i64(5));
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    end(&w);
    w.dir = copy;
    open_with(&w, (paua_open_opts){0});
    expect_everything(w.c);
    end(&w);
}

static void a_dropped_collection_leaves_no_column_file(void **state)
{
    uint64_t digest;
    struct world w;

    (void)state;
    begin(&w);
    some_of_everything(w.c);
    assert_int_equal(files_of(w.dir.path, ".columns", &digest), 1);
    paua_collection_close(w.c);
    assert_ok(paua_collection_drop(w.db, "c", &test_err));
    assert_int_equal(files_of(w.dir.path, ".columns", &digest), 0);
    w.c = fielded_create(w.db, "c", false);
    assert_int_equal(fielded_count(w.c, "n IS NULL"), 0);
    end(&w);
}

static void a_field_whose_values_do_not_all_convert_keeps_its_type(void **state)
{
    uint64_t columns, now;
    struct world w;

    (void)state;
    begin(&w);
    some_of_everything(w.c);
    fielded_seal(w.c);
    assert_int_equal(files_of(w.dir.path, ".columns", &columns), 2);
    assert_fails(paua_field_retype(w.c, "text", PAUA_TYPE_INT64, &test_err), PAUA_EINVAL);
    assert_non_null(strstr(test_err.message, "hundred"));
    assert_fails(paua_field_retype(w.c, "n", PAUA_TYPE_UINT8, &test_err), PAUA_EINVAL);
    assert_int_equal(files_of(w.dir.path, ".columns", &now), 2);
    assert_true(now == columns);
    expect_everything(w.c);
    assert_ok(paua_field_retype(w.c, "n", PAUA_TYPE_INT8, &test_err));
    assert_int_equal(files_of(w.dir.path, ".columns", &now), 2);
    reopen(&w);
    assert_int_equal(fielded_count(w.c, "n BETWEEN 1 AND 40"), 39);
    assert_ok(paua_field_retype(w.c, "n", PAUA_TYPE_INT64, &test_err));
    expect_everything(w.c);
    end(&w);
}

/* ---- memory that runs out ---- */

static paua_status update_some(struct world *w, paua_error *err)
{
    const uint64_t keys[] = {2, 3, 101, 200};
    const paua_value n[] = {value_i64(7), value_i64(8), value_i64(9), value_i64(0)};
    const paua_value fresh[] = {value_text("a"), value_text("b"), value_text("c"), value_null()};
    const paua_column columns[] = {{"n", n}, {"fresh", fresh}};

    return fielded_write(w->c, FIELDED_UPDATE, keys, 3, columns, 2, NULL, NULL, err);
}

static paua_status insert_some(struct world *w, paua_error *err)
{
    const uint64_t keys[] = {200, 201};
    const paua_value n[] = {value_i64(1000), value_i64(1001)};
    const paua_value text[] = {value_text("x"), value_text("y")};
    const paua_column columns[] = {{"n", n}, {"text", text}, {"fresh", n}};

    return fielded_write(w->c, FIELDED_INSERT, keys, 2, columns, 3, NULL, NULL, err);
}

static paua_status retype(struct world *w, paua_error *err)
{
    return paua_field_retype(w->c, "n", PAUA_TYPE_STRING, err);
}

static paua_status drop(struct world *w, paua_error *err)
{
    return paua_field_drop(w->c, "text", err);
}

static paua_status fold(struct world *w, paua_error *err) { return paua_optimize(w->c, NULL, err); }

static paua_status query(struct world *w, paua_error *err)
{
    static const char text[] = "n > 5 AND text IS NULL OR extra = 'word'";
    paua_query_opts opts = {.size = sizeof opts, .order_by = "n"};
    const paua_record *record = NULL;
    paua_filter *filter;
    paua_cursor *cursor;
    paua_status status = paua_filter_parse(text, strlen(text), &filter, err);

    if (status != PAUA_OK) return status;
    opts.filter = filter;
    status = paua_query(w->c, &opts, &cursor, err);
    paua_filter_free(filter);
    if (status != PAUA_OK) return status;
    do
        status = paua_cursor_next(cursor, &record, err);
    while (status == PAUA_OK && record != NULL);
    paua_cursor_close(cursor);
    return status;
}

static paua_status search(struct world *w, paua_error *err)
{
    static const char text[] = "n > 5";
    const float nearest[2] = {0, 1};
    paua_search_opts opts = {.size = sizeof opts, .k = 3, .group_by = "n"};
    paua_filter *filter;
    paua_hits *hits = NULL;
    paua_status status = paua_filter_parse(text, strlen(text), &filter, err);

    if (status != PAUA_OK) return status;
    opts.filter = filter;
    status = paua_hits_open(&hits, err);
    if (status == PAUA_OK) status = paua_search(w->c, nearest, 1, 0, &opts, hits, err);
    paua_hits_close(hits);
    paua_filter_free(filter);
    return status;
}

/* With the n-th allocation and all after it failing, until the call has enough. */
static void starve(paua_status (*call)(struct world *w, paua_error *err))
{
    struct world w;

    begin(&w);
    some_of_everything(w.c);
    for (uint64_t n = 1;; n += 1 + n / 12) {
        paua_error err = {0};
        paua_status status;

        mem_fail_after(n);
        status = call(&w, &err);
        mem_fail_after(0);
        if (status == PAUA_OK) break;
        assert_int_equal(status, PAUA_ENOMEM);
        assert_int_equal(err.status, PAUA_ENOMEM);
        assert_true(err.message[0] != '\0');
        expect_everything(w.c);
        assert_int_equal(test_count(w.c), 42);
    }
    reopen(&w);
    end(&w);
}

static void an_update_without_memory_changes_nothing(void **state)
{
    (void)state;
    starve(update_some);
}

static void an_insert_without_memory_changes_nothing(void **state)
{
    (void)state;
    starve(insert_some);
}

static void a_change_of_fields_without_memory_changes_nothing(void **state)
{
    (void)state;
    starve(retype);
    starve(drop);
}

static void folding_without_memory_changes_nothing(void **state)
{
    (void)state;
    starve(fold);
}

static void a_query_or_search_without_memory_says_so(void **state)
{
    (void)state;
    starve(query);
    starve(search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_of_fields_writes_no_file_until_optimize_folds_it),
        cmocka_unit_test(writing_the_same_again_makes_no_patch),
        cmocka_unit_test(patches_that_replace_each_other_take_no_more_memory),
        cmocka_unit_test(sixty_four_mebibytes_of_updates_seal_the_tail),
        cmocka_unit_test(values_of_many_mebibytes_are_kept),
        cmocka_unit_test(hits_and_cursors_keep_their_values_after_all_is_closed),
        cmocka_unit_test(fields_are_the_same_without_maps_and_read_only),
        cmocka_unit_test(fields_live_in_memory_too),
        cmocka_unit_test(a_backup_has_fields_and_patches),
        cmocka_unit_test(a_dropped_collection_leaves_no_column_file),
        cmocka_unit_test(a_field_whose_values_do_not_all_convert_keeps_its_type),
        cmocka_unit_test(an_update_without_memory_changes_nothing),
        cmocka_unit_test(an_insert_without_memory_changes_nothing),
        cmocka_unit_test(a_change_of_fields_without_memory_changes_nothing),
        cmocka_unit_test(folding_without_memory_changes_nothing),
        cmocka_unit_test(a_query_or_search_without_memory_says_so),
    };

    return cmocka_run_group_tests_name("db/field_upkeep", tests, NULL, NULL);
}
