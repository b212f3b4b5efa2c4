/* Patches: equal to a plain map of (field, row) to values, whatever is edited, undone, merged. */
#include "naive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "column/column.h"

#define FIELDS 4u
#define ROWS 60u
#define TEXTS 5u

/* What a row's patch of a field is: 0: none, 1: NULL, 2 + n: the n-th value. */
struct plain {
    uint8_t at[FIELDS][ROWS];
};

static const uint32_t ids[FIELDS] = {3, 7, 8, 4000000};

/* Fields 0 and 2 are numbers. */
static struct cell cell_of(uint32_t field, uint8_t what)
{
    static const char *const texts[TEXTS] = {"", "a", "longer than sixteen bytes", "b", "\xFF"};
    struct cell cell = {.present = what >= 2};

    if (what < 2) return cell;
    if (field % 2 == 0) {
        cell.key = UINT64_C(1000000007) * what;
    } else {
        cell.data = (const uint8_t *)texts[what - 2];
        cell.nbytes = strlen(texts[what - 2]);
    }
    return cell;
}

static void same(uint32_t field, const struct cell *a, const struct cell *b)
{
    naive_same_cell(a, b, field % 2 == 0 ? PAUA_TYPE_INT64 : PAUA_TYPE_BYTES);
}

static void check_same(const struct patches *patches, const struct plain *plain)
{
    uint64_t total = 0;
    uint32_t listed = 0;

    for (uint32_t f = 0; f < FIELDS; f++) {
        uint32_t count = 0;

        for (uint32_t row = 0; row < ROWS; row++) {
            struct cell got, wanted = cell_of(f, plain->at[f][row]);
            bool found = patches_find(patches, ids[f], row, &got);

            assert_int_equal(found, plain->at[f][row] != 0);
            if (!found) continue;
            same(f, &wanted, &got);
            assert_int_equal(patches_row(patches, ids[f], count), row);
            patches_cell(patches, ids[f], count++, &got);
            same(f, &wanted, &got);
        }
        assert_int_equal(patches_field_count(patches, ids[f]), count);
        if (count > 0) assert_int_equal(patches_field(patches, listed++), ids[f]);
        total += count;
    }
    assert_int_equal(patches_field(patches, listed), UINT32_MAX);
    assert_true(patches_count(patches) == total);
    assert_true((patches == NULL) == (total == 0));
}

static void put_some(struct patch_edit *edit, struct plain *plain, uint64_t *seed, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t f = naive_below(seed, FIELDS), row = naive_below(seed, ROWS);
        uint8_t what = (uint8_t)(1 + naive_below(seed, TEXTS + 1));
        struct cell cell = cell_of(f, what), got;

        assert_int_equal(patch_edit_put(edit, ids[f], row, &cell), PAUA_OK);
        plain->at[f][row] = what;
        assert_true(patch_edit_find(edit, ids[f], row, &got));
        same(f, &cell, &got);
    }
}

static void edits_and_undone_edits_are_those_of_a_plain_map(void **state)
{
    struct patches *patches = NULL;
    struct plain plain = {0};
    uint64_t seed = 1;

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        struct patch_edit *edit = patch_edit_begin(patches);
        struct patches *before = patches_ref(patches), *edited;
        struct plain old = plain, kept;
        size_t count;

        put_some(edit, &plain, &seed, naive_below(&seed, 12));
        count = patch_edit_count(edit);
        kept = plain;
        put_some(edit, &plain, &seed, naive_below(&seed, 30));
        patch_edit_undo(edit, count);
        plain = kept;
        put_some(edit, &plain, &seed, naive_below(&seed, 4));
        assert_int_equal(patch_edit_apply(edit, &edited), PAUA_OK);
        patch_edit_end(edit);
        patches_unref(patches);
        patches = edited;
        check_same(patches, &plain);
        check_same(before, &old); /* sets never change */
        patches_unref(before);
        if (round % 50 == 49) {
            patches_unref(patches);
            patches = NULL;
            memset(&plain, 0, sizeof plain);
        }
    }
    patches_unref(patches);
}

/* Also on top of a set, and after changes that were put. */
static void changes_in_place_are_those_of_a_plain_map(void **state)
{
    struct patches *patches = NULL;
    struct plain plain = {0};
    uint64_t seed = 5;

    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct patch_edit *edit = patch_edit_begin(patches);
        struct patches *edited;

        put_some(edit, &plain, &seed, naive_below(&seed, 12));
        for (unsigned i = 0; i < 3000; i++) {
            uint32_t f = naive_below(&seed, FIELDS), row = naive_below(&seed, ROWS);
            uint8_t what = (uint8_t)(1 + naive_below(&seed, TEXTS + 1));
            struct cell cell = cell_of(f, what), got;

            assert_int_equal(patch_edit_replace(edit, ids[f], row, &cell), PAUA_OK);
            plain.at[f][row] = what;
            assert_true(patch_edit_find(edit, ids[f], row, &got));
            same(f, &cell, &got);
        }
        assert_true(patch_edit_count(edit) <= FIELDS * ROWS + 12);
        assert_int_equal(patch_edit_apply(edit, &edited), PAUA_OK);
        patch_edit_end(edit);
        patches_unref(patches);
        patches = edited;
        check_same(patches, &plain);
    }
    patches_unref(patches);
}

static struct patches *some_patches(struct plain *plain, uint64_t seed, uint32_t count)
{
    struct patch_edit *edit = patch_edit_begin(NULL);
    struct patches *patches;

    memset(plain, 0, sizeof *plain);
    put_some(edit, plain, &seed, count);
    assert_int_equal(patch_edit_apply(edit, &patches), PAUA_OK);
    patch_edit_end(edit);
    return patches;
}

static uint32_t leave_thirds(void *arg, uint32_t row)
{
    (void)arg;
    return row % 3 == 0 ? UINT32_MAX : row - row / 3 - 1;
}

static uint32_t leave_all(void *arg, uint32_t row)
{
    (void)arg;
    (void)row;
    return UINT32_MAX;
}

static void rows_that_move_take_their_patches_along(void **state)
{
    struct plain plain, moved = {0};
    struct patches *patches = some_patches(&plain, 5, 100), *mapped;

    (void)state;
    for (uint32_t f = 0; f < FIELDS; f++)
        for (uint32_t row = 0; row < ROWS; row++)
            if (row % 3 != 0) moved.at[f][row - row / 3 - 1] = plain.at[f][row];
    assert_int_equal(patches_map(patches, leave_thirds, NULL, &mapped), PAUA_OK);
    check_same(mapped, &moved);
    patches_unref(mapped);
    assert_int_equal(patches_map(patches, leave_all, NULL, &mapped), PAUA_OK);
    assert_null(mapped);
    assert_int_equal(patches_map(patches, NULL, NULL, &mapped), PAUA_OK);
    assert_ptr_equal(mapped, patches);
    patches_unref(mapped);
    patches_unref(patches);
}

static void what_came_since_is_what_differs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        struct plain plain, newer_plain, wanted = {0};
        struct patches *older = some_patches(&plain, seed, 40), *newer, *since;
        struct patch_edit *edit = patch_edit_begin(older);
        uint64_t more = seed * 100;

        newer_plain = plain;
        put_some(edit, &newer_plain, &more, 1 + naive_below(&more, 20));
        assert_int_equal(patch_edit_apply(edit, &newer), PAUA_OK);
        patch_edit_end(edit);
        for (uint32_t f = 0; f < FIELDS; f++)
            for (uint32_t row = 0; row < ROWS; row++)
                if (newer_plain.at[f][row] != plain.at[f][row])
                    wanted.at[f][row] = newer_plain.at[f][row];
        assert_int_equal(patches_since(newer, older, &since), PAUA_OK);
        check_same(since, &wanted);
        patches_unref(since);
        assert_int_equal(patches_since(newer, newer, &since), PAUA_OK);
        assert_null(since);
        assert_int_equal(patches_since(newer, NULL, &since), PAUA_OK);
        assert_ptr_equal(since, newer);
        patches_unref(since);
        patches_unref(newer);
        patches_unref(older);
    }
}

static void fields_that_are_not_edited_are_shared(void **state)
{
    struct cell cell = {.present = true, .key = 5}, a, b;
    struct patch_edit *edit;
    struct patches *first, *second;
    struct cell text = {.present = true, .data = (const uint8_t *)"x", .nbytes = 1};

    (void)state;
    edit = patch_edit_begin(NULL);
    assert_int_equal(patch_edit_put(edit, 1, 9, &text), PAUA_OK);
    assert_int_equal(patch_edit_apply(edit, &first), PAUA_OK);
    patch_edit_end(edit);
    edit = patch_edit_begin(first);
    assert_int_equal(patch_edit_put(edit, 2, 9, &cell), PAUA_OK);
    assert_int_equal(patch_edit_apply(edit, &second), PAUA_OK);
    patch_edit_end(edit);
    assert_true(patches_find(first, 1, 9, &a) && patches_find(second, 1, 9, &b));
    assert_ptr_equal(a.data, b.data);
    patches_unref(first);
    assert_memory_equal(b.data, "x", 1);
    patches_unref(second);
}

static void replaced_values_leave_no_trace(void **state)
{
    struct patches *patches = NULL;
    size_t first = 0;

    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        struct patch_edit *edit = patch_edit_begin(patches);
        struct patches *edited;

        for (uint32_t row = 0; row < 100; row++) {
            struct cell cell = {.present = true, .data = (const uint8_t *)"0123456789"};

            cell.nbytes = 10;
            assert_int_equal(patch_edit_put(edit, 1, row, &cell), PAUA_OK);
        }
        assert_int_equal(patch_edit_apply(edit, &edited), PAUA_OK);
        patch_edit_end(edit);
        patches_unref(patches);
        patches = edited;
        if (round == 0) first = patches_nbytes(patches);
        assert_int_equal(patches_nbytes(patches), first);
    }
    assert_true(first <= 100 * (16 + 10) + 256);
    patches_unref(patches);
}

static void an_edit_without_memory_changes_nothing(void **state)
{
    struct plain plain;
    struct patches *base = some_patches(&plain, 9, 30), *edited = NULL;
    paua_status status = PAUA_ENOMEM;
    unsigned refused = 0;

    (void)state;
    for (uint64_t n = 1; status != PAUA_OK; n++) {
        struct patch_edit *edit;
        struct cell cell = cell_of(1, 4);

        mem_fail_after(n);
        edit = patch_edit_begin(base);
        status = edit != NULL ? PAUA_OK : PAUA_ENOMEM;
        for (uint32_t row = 0; row < 40 && status == PAUA_OK; row++)
            status = patch_edit_put(edit, ids[row % 2 * 2 + 1], row, &cell);
        if (status == PAUA_OK) status = patch_edit_apply(edit, &edited);
        patch_edit_end(edit);
        mem_fail_after(0);
        assert_true(status == PAUA_OK || (status == PAUA_ENOMEM && edited == NULL));
        refused += status == PAUA_ENOMEM;
        check_same(base, &plain);
    }
    assert_true(refused > 5);
    patches_unref(edited);
    patches_unref(base);
}

static void patched_columns_match_as_patched_arrays(void **state)
{
    (void)state;
    for (unsigned t = 0; t < naive_type_count; t++) {
        struct column *column = column_new(naive_types[t]);
        struct patch_edit *edit = patch_edit_begin(NULL);
        struct patches *patches;
        struct column_view view;
        struct naive naive;
        uint64_t seed = t;

        naive_make(&naive, t, naive_types[t], (enum naive_shape)(t % SHAPE_COUNT), 3000);
        for (uint32_t row = 0; row < naive.rows; row++)
            assert_int_equal(column_put(column, row, &naive.cells[row]), PAUA_OK);
        for (unsigned i = 0; i < 300; i++) {
            uint32_t row = naive_below(&seed, naive.rows + 100);
            struct cell cell = naive_value(&naive, &seed, SHAPE_FEW, row);

            assert_int_equal(patch_edit_put(edit, 7, row, &cell), PAUA_OK);
        }
        assert_int_equal(patch_edit_apply(edit, &patches), PAUA_OK);
        patch_edit_end(edit);
        column_look(column, &view);
        naive_check(&naive, &view, patches, t, 20);
        patches_unref(patches);
        column_free(column);
        naive_free(&naive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_and_undone_edits_are_those_of_a_plain_map),
        cmocka_unit_test(changes_in_place_are_those_of_a_plain_map),
        cmocka_unit_test(rows_that_move_take_their_patches_along),
        cmocka_unit_test(what_came_since_is_what_differs),
        cmocka_unit_test(fields_that_are_not_edited_are_shared),
        cmocka_unit_test(replaced_values_leave_no_trace),
        cmocka_unit_test(an_edit_without_memory_changes_nothing),
        cmocka_unit_test(patched_columns_match_as_patched_arrays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
