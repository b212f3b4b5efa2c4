/* test_csv.c - records of CSV, whole and broken, and what an import makes of their cells. */
#include "files.h"
#include "source.h"
#include "util.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const paua_vector_field field = {
    .name = "v", .dim = 2, .metric = PAUA_L2, .precision = PAUA_FP32};
static const paua_schema schema = {.size = sizeof schema, .fields = &field, .field_count = 1};

/* Cells of all rows as text: fields as name=text, quoted ones with quotes, rows end in ";". */
struct result {
    char cells[512];
    enum row_result last;
    size_t bad;
    struct fault fault;
};

static void add_row(struct result *result, const struct row *row)
{
    char *at = result->cells + strlen(result->cells);
    size_t left = sizeof result->cells - strlen(result->cells);

    if (row->key != NULL) at += snprintf(at, left, "key=%s ", json_string_value(row->key));
    if (row->document.data != NULL)
        at += snprintf(at, left, "document=%.*s ", (int)row->document.nbytes,
                       (const char *)row->document.data);
    if (row->given != 0)
        at += snprintf(at, left, "vector=%g,%g ", (double)row->vectors[0][0],
                       (double)row->vectors[0][1]);
    for (size_t i = 0; i < row->text_count; i++) {
        const char *quote = row->texts[i].quoted ? "\"" : "";

        at += snprintf(at, left, "%s=%s%.*s%s ", row->texts[i].name, quote,
                       (int)row->texts[i].nbytes, row->texts[i].text, quote);
    }
    strcpy(at, ";");
}

static struct result read_all(const char *text)
{
    struct result result = {.last = ROW_BROKEN};
    struct reader_state reader;
    float vector[2];
    struct row row = {.vectors = {vector}};

    if (!reader_start(&reader, &format_csv, file_with(text, strlen(text)), &schema, 0,
                      &result.fault))
        return result;
    do {
        result.last = reader_row(&reader, &row, &result.fault);
        if (result.last == ROW_OK) add_row(&result, &row);
        if (result.last == ROW_BAD) result.bad++;
    } while (result.last == ROW_OK || result.last == ROW_BAD);
    reader_end(&reader);
    return result;
}

static void cells_are_what_rfc_4180_says(void **state)
{
    static const struct {
        const char *text, *cells;
    } cases[] = {
        {"a,b\n1,2\n", "a=1 b=2 ;"},
        {"a,b\n1,2", "a=1 b=2 ;"},
        {"a,b\r\n1,2\r\n", "a=1 b=2 ;"},
        {"a,b\n,2\n", "b=2 ;"},
        {"a,b\n\"\",2\n", "a=\"\" b=2 ;"},
        {"a,b\n1,\n", "a=1 ;"},
        {"a,b\n,\n", ";"},
        {"a,b\n\"1,5\",\"x\"\"y\"\n", "a=\"1,5\" b=\"x\"y\" ;"},
        {"a,b\n\"l1\nl2\",2\n3,4\n", "a=\"l1\nl2\" b=2 ;a=3 b=4 ;"},
        {"a,b\r\n\"l1\r\nl2\",2\r\n", "a=\"l1\r\nl2\" b=2 ;"},
        {"a,b\n\"\"\"\",\"\"\"\n\"\"\"\n", "a=\"\"\" b=\"\"\n\"\" ;"},
        {"a,b\n5\" disk,x\ny,z\n", "a=5\" disk b=x ;a=y b=z ;"},
        {"a,b\n\n1,2\n\r\n\n3,4\n\n", "a=1 b=2 ;a=3 b=4 ;"},
        {"a\n\n1\n", ";a=1 ;"},
        {"\xef\xbb\xbfkey,\"b\"\"c\"\n1,2\n", "key=1 b\"c=2 ;"},
        {"key,vector,document,a\n7,\"[1, 2]\",\"d\",3\n8,,,\n",
         "key=7 document=d vector=1,2 a=3 ;key=8 ;"},
        {"a b,\"c,d\"\n 1 ,2\n", "a b= 1  c,d=2 ;"},
        {"a,b\n", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct result result = read_all(cases[i].text);

        assert_int_equal(result.last, ROW_END);
        assert_int_equal(result.bad, 0);
        assert_string_equal(result.cells, cases[i].cells);
    }
}

static void a_bad_record_is_refused_alone(void **state)
{
    static const struct {
        const char *record, *why;
    } cases[] = {
        {"1,2,3", "row 1 at byte 14: 3 cells, expected 2"},
        {"1", "1 cells, expected 2"},
        {"\"a\"b,2", "text after the quotes of a cell, at byte 3"},
        {"\"a\" ,2", "text after the quotes of a cell"},
        {"1,\"[1]\"", "expected 2"},
        {"1,\"[1,null]\"", "row 1"},
        {"1,x", "row 1"},
        {"\xff,", "\"key\" is no UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[128];
        struct result result;

        snprintf(text, sizeof text, "key,vector\nx,\n%s\ny,\n", cases[i].record);
        result = read_all(text);
        assert_int_equal(result.last, ROW_END);
        assert_int_equal(result.bad, 1);
        assert_string_equal(result.cells, "key=x ;key=y ;");
        if (strstr(result.fault.text, cases[i].why) == NULL) fail_msg("%s", result.fault.text);
    }
}

static void names_of_columns_must_be_there_and_differ(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "the file is empty; the first line names the columns"},
        {"a,,b\n1,2,3\n", "column 2 has no name"},
        {"a,\"\"\n1,2\n", "column 2 has no name"},
        {"\n1\n", "column 1 has no name"},
        {"a,b,a\n1,2,3\n", "two columns are called \"a\""},
        {"a,\"b\"c\n", "text after the quotes"},
        {"a,\"b\n", "within the quotes of a cell"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct result result = read_all(cases[i].text);

        assert_int_equal(result.last, ROW_BROKEN);
        if (strstr(result.fault.text, cases[i].why) == NULL) fail_msg("%s", result.fault.text);
    }
}

static void quotes_that_never_close_end_the_file(void **state)
{
    struct result result = read_all("a,b\n1,2\n3,\"x\n4,5\n");

    (void)state;
    assert_int_equal(result.last, ROW_BROKEN);
    assert_string_equal(result.cells, "a=1 b=2 ;");
    assert_non_null(strstr(result.fault.text, "row 1 at byte 8: the file ends within the quotes"));
}

static void more_columns_than_fields_there_can_be_are_refused(void **state)
{
    static char text[8 * PAUA_FIELDS_MAX];
    size_t used = 0;
    struct result result;

    (void)state;
    for (unsigned i = 0; i < PAUA_FIELDS_MAX + 4; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sc%u", i > 0 ? "," : "", i);
    result = read_all(text);
    assert_int_equal(result.last, ROW_BROKEN);
    assert_non_null(strstr(result.fault.text, "columns"));
    *strrchr(text, ',') = 0;
    assert_int_equal(read_all(text).last, ROW_END);
}

/* What an import's checking pass makes of a column: its type, or 0 with the fault. */
static uint32_t type_of_column(const char *text, bool may_loosen, struct fault *fault)
{
    struct source source = {
        .schema = &schema, .upsert = true, .fields = {.may_grow = true, .may_loosen = may_loosen}};
    struct row_block block;
    enum row_result result = ROW_OK;
    uint32_t type = 0;

    assert_true(reader_start(&source.reader, &format_csv, file_with(text, strlen(text)), &schema, 0,
                             fault));
    block_begin(&block, &schema, 64);
    while (result == ROW_OK)
        result = source_row(&source, &block, fault);
    if (result == ROW_END) type = field_table_find(&source.fields, "x")->type;
    block_free(&block);
    field_table_free(&source.fields);
    reader_end(&source.reader);
    return type;
}

static void a_column_gets_the_type_that_suits_all_its_cells(void **state)
{
    static const struct {
        const char *text;
        uint32_t loose, strict; /* 0: refused */
    } cases[] = {
        {"x,y\n1,\n2,\n", PAUA_TYPE_INT64, PAUA_TYPE_INT64},
        {"x,y\n1,\n2.5,\n3,\n", PAUA_TYPE_DOUBLE, PAUA_TYPE_DOUBLE},
        {"x,y\n2.5,\n1,\n", PAUA_TYPE_DOUBLE, PAUA_TYPE_DOUBLE},
        {"x,y\ntrue,\nfalse,\n", PAUA_TYPE_BOOL, PAUA_TYPE_BOOL},
        {"x,y\n,1\nabc,1\n", PAUA_TYPE_STRING, PAUA_TYPE_STRING},
        {"x,y\n\"1\",\n", PAUA_TYPE_STRING, PAUA_TYPE_STRING},
        {"x,y\n1,\nabc,\n", PAUA_TYPE_STRING, 0},
        {"x,y\nabc,\n1,\n", PAUA_TYPE_STRING, 0},
        {"x,y\ntrue,\n1,\n", PAUA_TYPE_STRING, 0},
        {"x,y\n1,\n9223372036854775808,\n", PAUA_TYPE_STRING, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fault fault = {""};

        assert_int_equal(type_of_column(cases[i].text, true, &fault), cases[i].loose);
        assert_int_equal(type_of_column(cases[i].text, false, &fault), cases[i].strict);
        if (cases[i].strict == 0) assert_non_null(strstr(fault.text, "row 1 at byte "));
    }
}

static void values_of_a_refused_row_leave_its_place_in_the_block(void **state)
{
    static const char text[] = "key,x,y\n1,5,a\nbad,6,b\n2,,c\n";
    struct source source = {.schema = &schema, .upsert = true, .fields = {.may_grow = true}};
    struct row_block block;
    struct fault fault;
    paua_rows rows;

    (void)state;
    assert_true(reader_start(&source.reader, &format_csv, file_with(text, sizeof text - 1), &schema,
                             0, &fault));
    block_begin(&block, &schema, 8);
    assert_int_equal(source_row(&source, &block, &fault), ROW_OK);
    assert_int_equal(source_row(&source, &block, &fault), ROW_BAD);
    assert_int_equal(source_row(&source, &block, &fault), ROW_OK);
    rows = block_rows(&block);
    assert_int_equal(rows.keys.count, 2);
    assert_int_equal(rows.column_count, 2);
    assert_string_equal(rows.columns[0].name, "x");
    assert_int_equal(rows.columns[0].values[0].type, PAUA_TYPE_INT64);
    assert_int_equal(rows.columns[0].values[1].type, PAUA_TYPE_NONE);
    assert_memory_equal(rows.columns[1].values[1].as.bytes.data, "c", 1);
    block_reset(&block);
    assert_int_equal(block_rows(&block).column_count, 0);
    block_free(&block);
    field_table_free(&source.fields);
    reader_end(&source.reader);
}

static int remove_file(void **state)
{
    (void)state;
    file_remove();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_what_rfc_4180_says),
        cmocka_unit_test(a_bad_record_is_refused_alone),
        cmocka_unit_test(names_of_columns_must_be_there_and_differ),
        cmocka_unit_test(quotes_that_never_close_end_the_file),
        cmocka_unit_test(more_columns_than_fields_there_can_be_are_refused),
        cmocka_unit_test(a_column_gets_the_type_that_suits_all_its_cells),
        cmocka_unit_test(values_of_a_refused_row_leave_its_place_in_the_block),
    };

    return cmocka_run_group_tests(tests, NULL, remove_file);
}
