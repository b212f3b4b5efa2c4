/* test_field_table.c - fields that an import knows of, and the types that it gives new ones. */
#include "field_table.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ARRAY_OF(type) (PAUA_TYPE_ARRAY | (type))

static void an_unknown_field_is_refused_unless_the_table_may_grow(void **state)
{
    struct field_table table = {0};
    struct field_entry *entry;
    struct fault fault;

    (void)state;
    assert_null(field_table_take(&table, "year", &fault));
    assert_non_null(strstr(fault.text, "there is no field \"year\""));
    assert_non_null(strstr(fault.text, "paua field add"));
    table.may_grow = true;
    entry = field_table_take(&table, "year", &fault);
    assert_non_null(entry);
    assert_int_equal(entry->type, 0);
    assert_ptr_equal(field_table_take(&table, "year", &fault), entry);
    assert_ptr_equal(field_table_find(&table, "year"), entry);
    assert_null(field_table_find(&table, "Year"));
    field_table_free(&table);
}

static void a_type_widens_as_far_as_it_takes_every_value(void **state)
{
    static const struct {
        uint32_t first, second, wide; /* 0: refused */
    } cases[] = {
        {PAUA_TYPE_INT64, PAUA_TYPE_INT64, PAUA_TYPE_INT64},
        {PAUA_TYPE_INT64, PAUA_TYPE_NULL, PAUA_TYPE_INT64},
        {PAUA_TYPE_INT64, PAUA_TYPE_NONE, PAUA_TYPE_INT64},
        {PAUA_TYPE_NULL, PAUA_TYPE_BOOL, PAUA_TYPE_BOOL},
        {PAUA_TYPE_INT64, PAUA_TYPE_DOUBLE, PAUA_TYPE_DOUBLE},
        {PAUA_TYPE_STRING, PAUA_TYPE_BYTES, PAUA_TYPE_MIXED},
        {ARRAY_OF(PAUA_TYPE_INT64), ARRAY_OF(PAUA_TYPE_DOUBLE), ARRAY_OF(PAUA_TYPE_DOUBLE)},
        {PAUA_TYPE_INT64, PAUA_TYPE_STRING, 0},
        {PAUA_TYPE_BOOL, PAUA_TYPE_INT64, 0},
        {PAUA_TYPE_INT64, ARRAY_OF(PAUA_TYPE_INT64), 0},
        {ARRAY_OF(PAUA_TYPE_STRING), ARRAY_OF(PAUA_TYPE_INT64), 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int turn = 0; turn < 2; turn++) {
            uint32_t types[] = {cases[i].first, cases[i].second};
            paua_value first = {.type = (uint16_t)types[turn]};
            paua_value second = {.type = (uint16_t)types[1 - turn]};
            struct field_entry entry = {0};
            struct fault fault;

            assert_true(field_entry_widen(&entry, &first, &fault));
            assert_int_equal(field_entry_widen(&entry, &second, &fault), cases[i].wide != 0);
            assert_int_equal(entry.type, cases[i].wide != 0 ? cases[i].wide : first.type);
        }
    }
}

static void a_field_that_the_collection_has_keeps_its_type(void **state)
{
    struct field_entry entry = {.type = PAUA_TYPE_INT8, .made = true};
    paua_value value = {.type = PAUA_TYPE_STRING};
    struct fault fault;

    (void)state;
    assert_true(field_entry_widen(&entry, &value, &fault));
    assert_int_equal(entry.type, PAUA_TYPE_INT8);
}

static void text_becomes_a_string_only_while_it_can_be_read_again(void **state)
{
    struct field_table table = {.may_loosen = true};
    struct field_entry entry = {.type = PAUA_TYPE_INT64};
    paua_value value = {.type = PAUA_TYPE_BOOL};
    struct fault fault;

    (void)state;
    assert_true(field_table_widen_text(&table, &entry, &value, &fault));
    assert_int_equal(entry.type, PAUA_TYPE_STRING);
    table.may_loosen = false;
    assert_false(field_table_widen_text(&table, &entry, &value, &fault));
    assert_string_equal(fault.text, "bool, where rows before it have string");
}

static void empty_arrays_need_another_row_to_say_what_they_hold(void **state)
{
    struct field_table table = {.may_grow = true};
    struct fault fault;
    struct field_entry *entry = field_table_take(&table, "tags", &fault);

    (void)state;
    entry->empty_array = true;
    assert_false(field_table_settle(&table, &fault));
    assert_non_null(strstr(fault.text, "field \"tags\": its arrays are all empty"));
    entry->type = PAUA_TYPE_INT64;
    assert_false(field_table_settle(&table, &fault));
    assert_non_null(strstr(fault.text, "an empty array, where other rows have int64"));
    entry->type = ARRAY_OF(PAUA_TYPE_INT64);
    assert_true(field_table_settle(&table, &fault));
    field_table_free(&table);
}

static void a_column_is_named_and_typed_in_one_word(void **state)
{
    char good[] = "a:b:array of int8", bare[] = "year", empty[] = ":int8", unknown[] = "year:int7";
    paua_field field;

    (void)state;
    assert_true(field_parse_typed("column", good, &field));
    assert_string_equal(field.name, "a:b");
    assert_int_equal(field.type, ARRAY_OF(PAUA_TYPE_INT8));
    assert_false(field_parse_typed("column", bare, &field));
    assert_false(field_parse_typed("column", empty, &field));
    assert_false(field_parse_typed("column", unknown, &field));
    assert_string_equal(unknown, "year:int7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_field_is_refused_unless_the_table_may_grow),
        cmocka_unit_test(a_type_widens_as_far_as_it_takes_every_value),
        cmocka_unit_test(a_field_that_the_collection_has_keeps_its_type),
        cmocka_unit_test(text_becomes_a_string_only_while_it_can_be_read_again),
        cmocka_unit_test(empty_arrays_need_another_row_to_say_what_they_hold),
        cmocka_unit_test(a_column_is_named_and_typed_in_one_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
