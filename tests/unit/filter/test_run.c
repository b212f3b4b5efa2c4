/* test_run.c - what passes a filter is what SQL's logic says, row by row, for every type and
 * operator, with and without patches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "column/column.h"
#include "naive.h"

#define ROWS 230u /* no multiple of 64 */

struct table {
    struct arena arena;
    paua_value rows[ROWS][FIELD_COUNT]; /* as patched */
    struct column *columns[FIELD_COUNT];
    struct column_view views[FIELD_COUNT];
    struct patches *patches;
    const paua_value *row; /* for cell_of */
    struct writer scratch;
};

static void fill_column(struct table *table, struct random *random, uint32_t field)
{
    struct writer scratch = {0};

    table->columns[field] = column_new(FIELDS[field].type);
    assert_non_null(table->columns[field]);
    for (uint32_t row = 0; row < ROWS; row++) {
        paua_value value = random_value(random, FIELDS[field].type, &table->arena);
        struct cell cell;

        table->rows[row][field] = value;
        scratch.length = 0;
        assert_int_equal(value_cell(FIELDS[field].type, &value, &scratch, &cell, NULL), PAUA_OK);
        assert_int_equal(column_put(table->columns[field], row, &cell), PAUA_OK);
    }
    column_look(table->columns[field], &table->views[field]);
    writer_free(&scratch);
}

static void patch(struct table *table, struct random *random)
{
    struct patch_edit *edit = patch_edit_begin(NULL);
    struct writer scratch = {0};

    for (uint32_t i = 0; i < 8 * FIELD_COUNT; i++) {
        uint32_t field = random_below(random, FIELD_COUNT), row = random_below(random, ROWS);
        paua_value value = random_value(random, FIELDS[field].type, &table->arena);
        struct cell cell;

        table->rows[row][field] = value;
        scratch.length = 0;
        assert_int_equal(value_cell(FIELDS[field].type, &value, &scratch, &cell, NULL), PAUA_OK);
        assert_int_equal(patch_edit_put(edit, field, row, &cell), PAUA_OK);
    }
    assert_int_equal(patch_edit_apply(edit, &table->patches), PAUA_OK);
    patch_edit_end(edit);
    writer_free(&scratch);
}

static struct table *table_new(struct random *random, bool patched)
{
    struct table *table = calloc(1, sizeof *table);

    assert_non_null(table);
    for (uint32_t field = 0; field < FIELD_COUNT; field++)
        fill_column(table, random, field);
    if (patched) patch(table, random);
    return table;
}

static void table_free(struct table *table)
{
    for (uint32_t field = 0; field < FIELD_COUNT; field++)
        column_free(table->columns[field]);
    patches_unref(table->patches);
    arena_free(&table->arena);
    writer_free(&table->scratch);
    free(table);
}

static paua_status column_of(void *arg, uint32_t field, const struct column_view **view,
                             paua_error *err)
{
    struct table *table = arg;

    (void)err;
    *view = &table->views[field];
    return PAUA_OK;
}

static void cell_of(void *arg, uint32_t field, struct cell *cell)
{
    struct table *table = arg;

    table->scratch.length = 0;
    assert_int_equal(
        value_cell(FIELDS[field].type, &table->row[field], &table->scratch, cell, NULL), PAUA_OK);
}

/* Compares a filter's rows with the naive ones; how many there were. */
static uint32_t check(struct table *table, const paua_filter *filter,
                      struct filter_scratch *scratch)
{
    struct filter_source source = {
        .rows = ROWS, .patches = table->patches, .column = column_of, .arg = table};
    uint64_t bitmap[(ROWS + 63) / 64];
    struct bound_filter *bound;
    uint32_t count = 0;
    paua_error err;

    if (filter_bind(filter, &TEST_FIELDS, false, &bound, &err) != PAUA_OK)
        fail_msg("%s: %s", paua_filter_text(filter, NULL), err.message);
    memset(bitmap, 0xA5, sizeof bitmap);
    assert_int_equal(filter_run(bound, &source, bitmap, scratch, &err), PAUA_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        bool passes = (bitmap[row / 64] >> row % 64 & 1) != 0;

        table->row = table->rows[row];
        if (passes != (naive_node(filter->root, table->row) == TRI_TRUE))
            fail_msg("row %u: %s: %d", row, paua_filter_text(filter, NULL), passes);
        if (passes != filter_passes(bound, cell_of, table))
            fail_msg("row %u alone: %s", row, paua_filter_text(filter, NULL));
        count += passes;
    }
    assert_int_equal(bitmap[ROWS / 64] >> ROWS % 64, 0);
    bound_filter_free(bound);
    return count;
}

/* The filter, and its opposite. */
static void check_both(struct table *table, paua_filter *filter, struct filter_scratch *scratch,
                       uint32_t counts[2])
{
    counts[0] += check(table, filter, scratch);
    assert_int_equal(paua_filter_not(filter, &filter, NULL), PAUA_OK);
    counts[1] += check(table, filter, scratch);
    paua_filter_free(filter);
}

static void every_operator_of_every_type(bool patched)
{
    struct random random = {patched ? 0x9E3779B97F4A7C15 : 0xD1B54A32D192ED03};
    struct table *table = table_new(&random, patched);
    struct filter_scratch scratch = {0};

    for (uint32_t field = 0; field < FIELD_COUNT; field++) {
        uint32_t counts[2] = {0, 0};

        for (int i = 0; i < 150; i++)
            check_both(table, random_compare(&random, field), &scratch, counts);
        assert_true(counts[0] > 100 && counts[1] > 100);
    }
    filter_scratch_free(&scratch);
    table_free(table);
}

static void a_comparison_passes_the_rows_that_sql_would_let_pass(void **state)
{
    (void)state;
    every_operator_of_every_type(false);
}

static void patched_rows_are_compared_as_they_are_now(void **state)
{
    (void)state;
    every_operator_of_every_type(true);
}

static void combined_conditions_follow_the_logic_of_three_values(void **state)
{
    struct random random = {0x2545F4914F6CDD1D};
    struct table *table = table_new(&random, true);
    struct filter_scratch scratch = {0};
    uint32_t counts[2] = {0, 0};

    (void)state;
    for (uint32_t i = 0; i < 1500; i++)
        check_both(table, random_filter(&random, 1 + i % 4), &scratch, counts);
    assert_true(counts[0] > 10000 && counts[1] > 10000);
    filter_scratch_free(&scratch);
    table_free(table);
}

/* ---- what is true without columns ---- */

static paua_status truth_column(void *arg, uint32_t field, const struct column_view **view,
                                paua_error *err)
{
    (void)err;
    *view = (const struct column_view *)arg + field;
    return PAUA_OK;
}

/* Runs a text over one row whose bool field is given and whose other fields are NULL. */
static bool passes(const char *text, enum tri b)
{
    struct column *column = column_new(PAUA_TYPE_BOOL);
    struct cell cell = {.present = b != TRI_UNKNOWN, .key = b == TRI_TRUE};
    struct column_view views[FIELD_COUNT];
    struct filter_scratch scratch = {0};
    struct filter_source source = {.rows = 1, .column = truth_column, .arg = views};
    struct bound_filter *bound;
    paua_filter *filter;
    uint64_t bitmap = 2;

    memset(views, 0, sizeof views);
    for (uint32_t i = 0; i < FIELD_COUNT; i++)
        views[i].type = FIELDS[i].type;
    assert_int_equal(column_put(column, 0, &cell), PAUA_OK);
    column_look(column, &views[0]);
    assert_int_equal(paua_filter_parse(text, strlen(text), &filter, NULL), PAUA_OK);
    assert_int_equal(filter_bind(filter, &TEST_FIELDS, false, &bound, NULL), PAUA_OK);
    assert_int_equal(filter_run(bound, &source, &bitmap, &scratch, NULL), PAUA_OK);
    assert_true(bitmap <= 1);
    bound_filter_free(bound);
    paua_filter_free(filter);
    filter_scratch_free(&scratch);
    column_free(column);
    return bitmap == 1;
}

static void null_is_neither_true_nor_false(void **state)
{
    static const struct {
        const char *text;
        bool truth[3]; /* if b is false, true, NULL */
    } cases[] = {
        {"b", {false, true, false}},
        {"NOT b", {true, false, false}},
        {"NOT NOT b", {false, true, false}},
        {"b = NULL", {false, false, false}},
        {"b != NULL", {false, false, false}},
        {"NOT b = NULL", {false, false, false}},
        {"b IS NULL", {false, false, true}},
        {"NOT b IS NULL", {true, true, false}},
        {"b IS NOT NULL", {true, true, false}},
        {"b OR i8 = 1", {false, true, false}},
        {"b AND i8 = 1", {false, false, false}},
        {"NOT (b AND i8 = 1)", {true, false, false}},
        {"NOT (b OR i8 = 1)", {false, false, false}},
        {"NOT (NOT b AND i8 = 1)", {false, true, false}},
        {"b OR NOT b", {true, true, false}},
        {"b IN (TRUE, NULL)", {false, true, false}},
        {"b NOT IN (TRUE, NULL)", {false, false, false}},
        {"b NOT IN (TRUE)", {true, false, false}},
        {"b BETWEEN NULL AND FALSE", {false, false, false}},
        {"b NOT BETWEEN NULL AND FALSE", {false, true, false}},
        {"b NOT BETWEEN FALSE AND NULL", {false, false, false}},
        {"i8 != 1", {false, false, false}},
        {"s LIKE '%'", {false, false, false}},
        {"s NOT LIKE 'a'", {false, false, false}},
        {"as CONTAIN_ALL ()", {false, false, false}},
        {"as NOT CONTAIN_ANY ('a')", {false, false, false}},
        {"array_length(as) >= 0", {false, false, false}},
        {"array_length(as) IS NULL", {true, true, true}},
        {"TRUE", {true, true, true}},
        {"NOT TRUE OR b", {false, true, false}},
        {"FALSE AND b", {false, false, false}},
        {"b AND TRUE", {false, true, false}},
        {"TRUE OR i8 = 1", {true, true, true}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (enum tri b = TRI_FALSE; b <= TRI_UNKNOWN; b++)
            if (passes(cases[i].text, b) != cases[i].truth[b])
                fail_msg("%s, where b is %d", cases[i].text, (int)b);
}

/* ---- a source that fails, and memory that runs out ---- */

static paua_status no_column(void *arg, uint32_t field, const struct column_view **view,
                             paua_error *err)
{
    ++*(int *)arg;
    (void)err;
    *view = NULL;
    return field == 1 ? PAUA_ECORRUPT : PAUA_OK;
}

static void a_damaged_column_is_an_error_if_it_is_needed(void **state)
{
    static const struct {
        const char *text;
        paua_status status;
        int asked;
    } cases[] = {{"i8 = 5", PAUA_ECORRUPT, 1},
                 {"b AND i8 IN (5, 7) AND i16 = 3", PAUA_OK, 1}, /* nothing is left after b */
                 {"b IS NULL OR i8 = 5", PAUA_OK, 1},            /* all are in after b */
                 {"b OR i8 = 5", PAUA_ECORRUPT, 2},
                 {"TRUE", PAUA_OK, 0},
                 {"i8 = 300 OR i8 = NULL", PAUA_OK, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct filter_scratch scratch = {0};
        int asked = 0;
        struct filter_source source = {.rows = 100, .column = no_column, .arg = &asked};
        struct bound_filter *bound;
        paua_filter *filter;
        uint64_t bitmap[2];

        assert_int_equal(paua_filter_parse(cases[i].text, strlen(cases[i].text), &filter, NULL),
                         PAUA_OK);
        assert_int_equal(filter_bind(filter, &TEST_FIELDS, false, &bound, NULL), PAUA_OK);
        assert_int_equal(filter_run(bound, &source, bitmap, &scratch, NULL), cases[i].status);
        assert_int_equal(asked, cases[i].asked);
        bound_filter_free(bound);
        paua_filter_free(filter);
        filter_scratch_free(&scratch);
    }
}

static void running_out_of_memory_is_told_and_can_be_tried_again(void **state)
{
    static const char text[] = "(i8 = 1 OR s LIKE '%b%') AND (d > 5 OR m = 'a') AND NOT as IS NULL";
    struct random random = {7};
    struct table *table = table_new(&random, true);
    struct filter_source source = {
        .rows = ROWS, .patches = table->patches, .column = column_of, .arg = table};
    struct bound_filter *bound;
    paua_filter *filter;

    (void)state;
    assert_int_equal(paua_filter_parse(text, strlen(text), &filter, NULL), PAUA_OK);
    assert_int_equal(filter_bind(filter, &TEST_FIELDS, false, &bound, NULL), PAUA_OK);
    for (uint64_t n = 1;; n++) {
        struct filter_scratch scratch = {0};
        uint64_t bitmap[(ROWS + 63) / 64];
        paua_error err = {.status = PAUA_OK};
        paua_status status;

        mem_fail_after(n);
        status = filter_run(bound, &source, bitmap, &scratch, &err);
        mem_fail_after(0);
        filter_scratch_free(&scratch);
        if (status == PAUA_OK) {
            assert_true(n > 1);
            break;
        }
        assert_int_equal(status, PAUA_ENOMEM);
        assert_int_equal(err.status, PAUA_ENOMEM);
    }
    bound_filter_free(bound);
    paua_filter_free(filter);
    table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comparison_passes_the_rows_that_sql_would_let_pass),
        cmocka_unit_test(patched_rows_are_compared_as_they_are_now),
        cmocka_unit_test(combined_conditions_follow_the_logic_of_three_values),
        cmocka_unit_test(null_is_neither_true_nor_false),
        cmocka_unit_test(a_damaged_column_is_an_error_if_it_is_needed),
        cmocka_unit_test(running_out_of_memory_is_told_and_can_be_tried_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
