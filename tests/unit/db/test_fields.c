/* test_fields.c - writing fields: what is refused and leaves nothing, what is kept, what becomes of
 * values that are given again. */
#include <math.h>
#include <stdio.h>

#include "unit/db/fielded.h"

struct world {
    struct test_dir dir;
    paua_db *db;
    paua_collection *c;
};

static void begin(struct world *w, bool dynamic)
{
    test_dir_make(&w->dir);
    w->db = test_open(&w->dir);
    w->c = fielded_create(w->db, "c", dynamic);
}

static void close_all(struct world *w)
{
    paua_collection_close(w->c);
    paua_close(w->db);
}

static void end(struct world *w)
{
    test_validate(w->c);
    close_all(w);
    assert_ok(paua_check(w->dir.path, NULL, &test_err));
    test_dir_remove(&w->dir);
}

static void reopen(struct world *w)
{
    close_all(w);
    w->db = test_open(&w->dir);
    assert_ok(paua_collection_open(w->db, "c", &w->c, &test_err));
}

static void count_one(void *arg, const paua_field_info *info)
{
    (void)info;
    ++*(uint32_t *)arg;
}

static uint32_t fields(paua_collection *c)
{
    uint32_t count = 0;

    assert_ok(paua_field_list(c, count_one, &count, &test_err));
    return count;
}

struct counted {
    uint64_t distinct, nulls, patches;
};

static void count_n(void *arg, const paua_field_info *info)
{
    if (strcmp(info->field.name, "n") == 0)
        *(struct counted *)arg = (struct counted){info->distinct, info->nulls, info->patches};
}

static void expect_counted(paua_collection *c, uint64_t distinct, uint64_t nulls, uint64_t patches)
{
    struct counted counted = {0};

    assert_ok(paua_field_list(c, count_n, &counted, &test_err));
    assert_int_equal(counted.distinct, distinct);
    assert_int_equal(counted.nulls, nulls);
    assert_int_equal(counted.patches, patches);
}

/* One row, which must be refused. */
static void refuse(paua_collection *c, const paua_column *columns, size_t count, paua_status status)
{
    const uint64_t key = 77;
    const paua_write_opts all = {.size = sizeof all, .all_or_nothing = true};
    paua_error said;

    assert_fails(fielded_write(c, FIELDED_INSERT, &key, 1, columns, count, &all, NULL, &test_err),
                 status);
    said = test_err;
    assert_false(test_fetch_u64(c, key, NULL));
    test_err = said;
}

static void a_field_that_there_is_not_refuses_the_write(void **state)
{
    const paua_value one = value_i64(1);
    const paua_column unknown = {"nobody", &one};
    struct world w;

    (void)state;
    begin(&w, false);
    refuse(w.c, &unknown, 1, PAUA_EINVAL);
    assert_non_null(strstr(test_err.message, "nobody"));
    assert_int_equal(fields(w.c), 4);
    end(&w);
}

static void a_field_twice_or_without_name_or_values_refuses_the_write(void **state)
{
    const paua_value one = value_i64(1);
    const paua_column twice[] = {{"n", &one}, {"n", &one}};
    const paua_column nameless = {NULL, &one}, valueless = {"n", NULL};
    struct world w;

    (void)state;
    begin(&w, true);
    refuse(w.c, twice, 2, PAUA_EINVAL);
    refuse(w.c, &nameless, 1, PAUA_EINVAL);
    refuse(w.c, &valueless, 1, PAUA_EINVAL);
    refuse(w.c, NULL, 3, PAUA_EINVAL);
    end(&w);
}

static void a_value_of_another_type_refuses_the_write_and_names_the_field(void **state)
{
    const paua_value text = value_text("1"), half = value_real(0.5), broken = value_text("\xff"),
                     raw = value_bytes("x", 1), strange = {.type = 999};
    const paua_column bad[] = {{"n", &text},      {"n", &half},   {"real", &text},
                               {"text", &broken}, {"text", &raw}, {"n", &strange}};
    struct world w;

    (void)state;
    begin(&w, true);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuse(w.c, &bad[i], 1, PAUA_EINVAL);
        assert_non_null(strstr(test_err.message, bad[i].name));
    }
    end(&w);
}

static void a_value_above_64_mebibytes_is_refused(void **state)
{
    void *zeros = calloc(1, PAUA_VALUE_NBYTES_MAX + 1);
    const paua_value large = value_bytes(zeros, PAUA_VALUE_NBYTES_MAX + 1);
    const paua_column column = {"raw", &large};
    struct world w;

    (void)state;
    assert_non_null(zeros);
    begin(&w, false);
    refuse(w.c, &column, 1, PAUA_EINVAL);
    end(&w);
    free(zeros);
}

static void names_of_fields_have_1_to_255_bytes_without_control_characters(void **state)
{
    char name[PAUA_NAME_NBYTES_MAX + 2];
    const paua_value one = value_i64(1);
    const char *bad[] = {"", "a\nb", "\xff", name};
    struct world w;

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    begin(&w, true);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const paua_column column = {bad[i], &one};
        const paua_field field = {bad[i], PAUA_TYPE_INT64};

        refuse(w.c, &column, 1, PAUA_EINVAL);
        assert_fails(paua_field_add(w.c, &field, &test_err), PAUA_EINVAL);
        assert_fails(paua_field_rename(w.c, "n", bad[i], &test_err), PAUA_EINVAL);
    }
    assert_int_equal(fields(w.c), 4);
    name[PAUA_NAME_NBYTES_MAX] = '\0';
    fielded_insert(w.c, 1, name, one);
    assert_true(fielded_is(w.c, 1, name, one));
    reopen(&w);
    assert_true(fielded_is(w.c, 1, name, one));
    end(&w);
}

static void the_1025th_field_is_refused(void **state)
{
    static char names[PAUA_FIELDS_MAX][8];
    static paua_column columns[PAUA_FIELDS_MAX];
    const paua_value one = value_i64(1);
    const paua_column more = {"more", &one};
    const paua_field field = {"more", PAUA_TYPE_INT64};
    const uint64_t key = 1;
    struct world w;

    (void)state;
    begin(&w, true);
    for (uint32_t i = 0; i < PAUA_FIELDS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        columns[i] = (paua_column){names[i], &one};
    }
    assert_fails(fielded_write(w.c, FIELDED_INSERT, &key, 1, columns, PAUA_FIELDS_MAX - 3, NULL,
                               NULL, &test_err),
                 PAUA_EINVAL);
    assert_int_equal(fields(w.c), 4);
    assert_ok(fielded_write(w.c, FIELDED_INSERT, &key, 1, columns, PAUA_FIELDS_MAX - 4, NULL, NULL,
                            &test_err));
    assert_int_equal(fields(w.c), PAUA_FIELDS_MAX);
    refuse(w.c, &more, 1, PAUA_EINVAL);
    assert_fails(paua_field_add(w.c, &field, &test_err), PAUA_EINVAL);
    assert_ok(paua_field_drop(w.c, "f7", &test_err));
    assert_ok(paua_field_add(w.c, &field, &test_err));
    end(&w);
}

static void a_bad_value_refuses_its_row_and_no_other(void **state)
{
    const uint64_t keys[] = {1, 2, 3};
    const paua_value n[] = {value_i64(10), value_i64(20), value_i64(30)};
    const paua_value text[] = {value_text("a"), value_text("\xc3"), value_text("c")};
    const paua_column columns[] = {{"n", n}, {"text", text}};
    paua_status statuses[3];
    struct world w;

    (void)state;
    begin(&w, false);
    assert_int_equal(
        fielded_write(w.c, FIELDED_INSERT, keys, 3, columns, 2, NULL, statuses, &test_err),
        PAUA_EPARTIAL);
    assert_int_equal(test_err.row, 1);
    assert_int_equal(statuses[0], PAUA_OK);
    assert_int_equal(statuses[1], PAUA_EINVAL);
    assert_int_equal(statuses[2], PAUA_OK);
    assert_false(test_fetch_u64(w.c, 2, NULL));
    fielded_insert(w.c, 2, "text", value_text("b"));
    assert_true(fielded_is(w.c, 2, "n", value_null()));
    assert_true(fielded_is(w.c, 3, "n", value_i64(30)));

    assert_int_equal(
        fielded_write(w.c, FIELDED_UPDATE, keys, 3, columns, 2, NULL, statuses, &test_err),
        PAUA_EPARTIAL);
    assert_true(fielded_is(w.c, 2, "n", value_null()));
    end(&w);
}

static void a_bad_value_refuses_the_batch_that_wants_all_or_nothing(void **state)
{
    const uint64_t keys[] = {1, 2, 3};
    const paua_value fresh[] = {value_i64(10), value_i64(20), value_i64(30)};
    const paua_value text[] = {value_text("a"), value_text("b"), value_text("\xc3")};
    const paua_column columns[] = {{"fresh", fresh}, {"text", text}};
    const paua_write_opts all = {.size = sizeof all, .all_or_nothing = true};
    struct world w;

    (void)state;
    begin(&w, true);
    fielded_insert(w.c, 2, "text", value_text("before"));
    assert_fails(fielded_write(w.c, FIELDED_UPSERT, keys + 1, 2, columns, 2, &all, NULL, &test_err),
                 PAUA_EINVAL);
    assert_fails(fielded_write(w.c, FIELDED_INSERT, keys, 3, columns, 2, &all, NULL, &test_err),
                 PAUA_EEXISTS);
    assert_int_equal(fields(w.c), 4);
    assert_int_equal(test_count(w.c), 1);
    assert_true(fielded_is(w.c, 2, "text", value_text("before")));
    assert_int_equal(fielded_count(w.c, "text = 'a' OR text = 'b'"), 0);
    reopen(&w);
    assert_int_equal(fields(w.c), 4);
    assert_int_equal(test_count(w.c), 1);
    end(&w);
}

/* An empty batch must not be left behind, nor a field for a row that is not there. */
static void a_field_that_only_refused_rows_bring_does_not_stay_for_good(void **state)
{
    const uint64_t missing = 5;
    const paua_value one = value_i64(1);
    const paua_column fresh = {"fresh", &one};
    struct world w;

    (void)state;
    begin(&w, true);
    assert_int_equal(
        fielded_write(w.c, FIELDED_UPDATE, &missing, 1, &fresh, 1, NULL, NULL, &test_err),
        PAUA_EPARTIAL);
    assert_int_equal(fields(w.c), 4);
    end(&w);
}

static void nan_is_kept_and_equals_nothing(void **state)
{
    struct world w;

    (void)state;
    begin(&w, false);
    for (uint32_t round = 0; round < 3; round++) {
        if (round == 0) {
            fielded_insert(w.c, 1, "real", value_real(NAN));
            fielded_insert(w.c, 2, "real", value_real(1.5));
            fielded_insert(w.c, 3, "n", value_i64(3));
        }
        if (round == 1) fielded_seal(w.c);
        if (round == 2) {
            fielded_update(w.c, 2, "real", value_real(-NAN));
            fielded_update(w.c, 3, "real", value_real(1.5));
        }
        assert_int_equal(fielded_count(w.c, "real = 1.5"), 1);
        assert_int_equal(fielded_count(w.c, "real = nan"), 0);
        assert_int_equal(fielded_count(w.c, "real > 1e308"), 1);
        assert_int_equal(fielded_count(w.c, "real IS NOT NULL"), round == 2 ? 3 : 2);
        assert_int_equal(fielded_count(w.c, "real IN (1.5, 2)"), 1);
        assert_int_equal(fielded_count(w.c, "real BETWEEN -1e308 AND 1e308"), 1);
    }
    assert_true(fielded_is(w.c, 1, "real", value_real(NAN)));
    end(&w);
}

static void an_upsert_keeps_what_is_not_given_unless_fields_are_replaced(void **state)
{
    const uint64_t key = 1;
    const paua_value n = value_i64(1), text = value_text("one"), other = value_text("two"),
                     none = {0};
    const paua_column both[] = {{"n", &n}, {"text", &text}},
                      one[] = {{"text", &other}, {"n", &none}};
    const paua_write_opts replace = {.size = sizeof replace, .replace_fields = true};
    struct world w;

    (void)state;
    begin(&w, false);
    assert_ok(fielded_write(w.c, FIELDED_INSERT, &key, 1, both, 2, NULL, NULL, &test_err));
    for (uint32_t round = 0; round < 2; round++) {
        assert_ok(fielded_write(w.c, FIELDED_UPSERT, &key, 1, both, 2, NULL, NULL, &test_err));
        assert_ok(fielded_write(w.c, FIELDED_UPSERT, &key, 1, one, 2, NULL, NULL, &test_err));
        assert_true(fielded_is(w.c, key, "n", n));
        assert_true(fielded_is(w.c, key, "text", other));
        assert_ok(fielded_write(w.c, FIELDED_UPSERT, &key, 1, one, 1, &replace, NULL, &test_err));
        assert_true(fielded_is(w.c, key, "n", value_null()));
        assert_true(fielded_is(w.c, key, "text", other));
        reopen(&w);
        assert_true(fielded_is(w.c, key, "n", value_null()));
        fielded_seal(w.c);
    }
    end(&w);
}

static void strings_and_bytes_lie_side_by_side_in_a_new_field(void **state)
{
    struct world w;

    (void)state;
    begin(&w, true);
    fielded_insert(w.c, 1, "extra", value_text("x"));
    fielded_insert(w.c, 2, "extra", value_bytes("x", 1));
    for (uint32_t round = 0; round < 3; round++) {
        assert_true(fielded_is(w.c, 1, "extra", value_text("x")));
        assert_true(fielded_is(w.c, 2, "extra", value_bytes("x", 1)));
        assert_int_equal(fielded_count(w.c, "extra = 'x'"), 1);
        assert_int_equal(fielded_count(w.c, "extra = X'78'"), 1);
        if (round == 0) fielded_seal(w.c);
        if (round == 1) reopen(&w);
    }
    end(&w);
}

/* Its type is known to nobody before the commit that brings it. */
static void a_new_field_of_any_type_may_come_with_an_update_of_an_old_row(void **state)
{
    struct world w;

    (void)state;
    begin(&w, true);
    fielded_fill(w.c, 1, 3);
    fielded_seal(w.c);
    fielded_fill(w.c, 4, 3);
    fielded_update(w.c, 2, "count", value_i64(-9));
    fielded_update(w.c, 5, "weight", value_real(2.5));
    fielded_update(w.c, 5, "label", value_text("five"));
    reopen(&w);
    assert_true(fielded_is(w.c, 2, "count", value_i64(-9)));
    assert_true(fielded_is(w.c, 5, "weight", value_real(2.5)));
    assert_true(fielded_is(w.c, 5, "label", value_text("five")));
    end(&w);
}

static void patches_of_a_dropped_field_are_gone_and_do_no_harm(void **state)
{
    const paua_field again = {"n", PAUA_TYPE_STRING};
    struct world w;

    (void)state;
    begin(&w, false);
    fielded_fill(w.c, 1, 4);
    fielded_seal(w.c);
    fielded_update(w.c, 2, "n", value_i64(20)); /* in a batch */
    fielded_fill(w.c, 5, 2);
    fielded_seal(w.c); /* and now in the record of patches */
    fielded_update(w.c, 3, "n", value_i64(30));
    fielded_fill(w.c, 7, 1);
    fielded_update(w.c, 7, "n", value_i64(70)); /* in the tail */
    assert_ok(paua_field_drop(w.c, "n", &test_err));
    test_validate(w.c);
    assert_ok(paua_field_add(w.c, &again, &test_err));
    assert_int_equal(fielded_count(w.c, "n IS NOT NULL"), 0);
    reopen(&w);
    assert_int_equal(fielded_count(w.c, "n IS NOT NULL"), 0);
    fielded_update(w.c, 2, "n", value_text("two"));
    fielded_seal(w.c);
    reopen(&w);
    assert_true(fielded_is(w.c, 2, "n", value_text("two")));
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    assert_true(fielded_is(w.c, 2, "n", value_text("two")));
    assert_int_equal(fielded_stats(w.c).patches, 0);
    end(&w);
}

/* A column whose rows are all alike takes no bytes on disk, and is there all the same. */
static void a_value_that_all_rows_have_outlives_merges_folds_and_retypes(void **state)
{
    struct world w;

    (void)state;
    begin(&w, false);
    for (uint64_t key = 1; key <= 3; key++) {
        fielded_insert(w.c, key, "n", value_i64(7));
        fielded_seal(w.c);
    }
    assert_ok(paua_optimize(w.c, NULL, &test_err)); /* merges */
    assert_int_equal(fielded_count(w.c, "n = 7"), 3);
    fielded_update(w.c, 2, "text", value_text("patched"));
    assert_ok(paua_optimize(w.c, NULL, &test_err)); /* folds */
    assert_int_equal(fielded_count(w.c, "n = 7"), 3);
    assert_ok(paua_field_retype(w.c, "n", PAUA_TYPE_STRING, &test_err));
    assert_int_equal(fielded_count(w.c, "n = '7'"), 3);
    reopen(&w);
    assert_int_equal(fielded_count(w.c, "n = '7'"), 3);
    end(&w);
}

/* Numbers of fields are handed out in blocks, of which the first handle still has some. */
static void fields_that_two_handles_add_by_turns_are_all_found(void **state)
{
    const paua_field one = {"one", PAUA_TYPE_INT64}, two = {"two", PAUA_TYPE_INT64};
    paua_collection *c;
    paua_db *other;
    struct world w;

    (void)state;
    begin(&w, true);
    other = test_open(&w.dir);
    paua_collection_close(w.c);
    assert_ok(paua_collection_open(other, "c", &c, &test_err));
    assert_ok(paua_field_add(c, &one, &test_err));
    fielded_insert(c, 1, "three", value_i64(3));
    paua_collection_close(c);
    paua_close(other);
    assert_ok(paua_collection_open(w.db, "c", &w.c, &test_err));
    assert_ok(paua_field_add(w.c, &two, &test_err));
    fielded_update(w.c, 1, "one", value_i64(1));
    fielded_update(w.c, 1, "two", value_i64(2));
    fielded_update(w.c, 1, "four", value_i64(4));
    for (uint32_t round = 0; round < 3; round++) {
        assert_true(fielded_is(w.c, 1, "one", value_i64(1)));
        assert_int_equal(fielded_count(w.c, "one = 1 AND two = 2 AND three = 3 AND four = 4"), 1);
        if (round == 0) assert_ok(paua_optimize(w.c, NULL, &test_err));
        if (round == 1) reopen(&w);
    }
    end(&w);
}

/* Wherever they lie. */
static void empty_strings_are_one_value(void **state)
{
    const float query[2] = {0, 1};
    const paua_search_opts opts = {
        .size = sizeof opts, .k = 10, .group_by = "text", .group_size = 1};
    paua_hits *hits;
    struct world w;

    (void)state;
    begin(&w, false);
    fielded_insert(w.c, 1, "text", value_text(""));
    fielded_insert(w.c, 2, "text", value_text("long"));
    fielded_seal(w.c);
    fielded_insert(w.c, 3, "text", value_text(""));
    fielded_insert(w.c, 4, "n", value_i64(1));
    fielded_update(w.c, 4, "text", value_text(""));
    fielded_update(w.c, 2, "text", value_text(""));
    assert_int_equal(fielded_count(w.c, "text = ''"), 4);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(w.c, query, 1, 0, &opts, hits, &test_err));
    assert_int_equal(paua_hits_count(hits, 0), 1);
    paua_hits_close(hits);
    reopen(&w);
    fielded_seal(w.c);
    for (uint64_t key = 1; key <= 4; key++)
        assert_true(fielded_is(w.c, key, "text", value_text("")));
    end(&w);
}

/* 100 values, of which some are replaced by others, by NULL, and by themselves. */
static void the_list_of_fields_counts_what_patches_say(void **state)
{
    struct world w;

    (void)state;
    begin(&w, false);
    fielded_fill(w.c, 0, 100);
    expect_counted(w.c, 100, 0, 0);
    fielded_seal(w.c);
    for (uint64_t key = 0; key < 10; key++)
        fielded_update(w.c, key, "n", value_null());
    expect_counted(w.c, 100, 10, 10);
    for (uint64_t key = 5; key < 15; key++)
        fielded_update(w.c, key, "n", value_i64(key < 10 ? 1000 : 2000));
    expect_counted(w.c, 102, 5, 15);
    fielded_insert(w.c, 500, "text", value_text("no n"));
    expect_counted(w.c, 102, 6, 15);
    assert_ok(paua_optimize(w.c, NULL, &test_err));
    expect_counted(w.c, 95, 6, 0);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_that_there_is_not_refuses_the_write),
        cmocka_unit_test(a_field_twice_or_without_name_or_values_refuses_the_write),
        cmocka_unit_test(a_value_of_another_type_refuses_the_write_and_names_the_field),
        cmocka_unit_test(a_value_above_64_mebibytes_is_refused),
        cmocka_unit_test(names_of_fields_have_1_to_255_bytes_without_control_characters),
        cmocka_unit_test(the_1025th_field_is_refused),
        cmocka_unit_test(a_bad_value_refuses_its_row_and_no_other),
        cmocka_unit_test(a_bad_value_refuses_the_batch_that_wants_all_or_nothing),
        cmocka_unit_test(a_field_that_only_refused_rows_bring_does_not_stay_for_good),
        cmocka_unit_test(nan_is_kept_and_equals_nothing),
        cmocka_unit_test(an_upsert_keeps_what_is_not_given_unless_fields_are_replaced),
        cmocka_unit_test(strings_and_bytes_lie_side_by_side_in_a_new_field),
        cmocka_unit_test(a_new_field_of_any_type_may_come_with_an_update_of_an_old_row),
        cmocka_unit_test(patches_of_a_dropped_field_are_gone_and_do_no_harm),
        cmocka_unit_test(a_value_that_all_rows_have_outlives_merges_folds_and_retypes),
        cmocka_unit_test(fields_that_two_handles_add_by_turns_are_all_found),
        cmocka_unit_test(empty_strings_are_one_value),
        cmocka_unit_test(the_list_of_fields_counts_what_patches_say),
    };

    return cmocka_run_group_tests_name("db/fields", tests, NULL, NULL);
}
