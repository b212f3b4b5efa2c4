/* test_reader.c - files of rows, whole and damaged in every way. */
#include "files.h"
#include "reader.h"
#include "util.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DIM 3u

static const paua_vector_field fields[] = {
    {.name = "a", .dim = DIM, .metric = PAUA_L2, .precision = PAUA_FP32},
    {.name = "b", .dim = 1, .metric = PAUA_L2, .precision = PAUA_FP16}};
static const paua_schema schema = {
    .size = sizeof schema, .document = PAUA_DOCUMENT_BYTES, .fields = fields, .field_count = 2};

struct result {
    enum row_result last; /* how the file ended */
    size_t rows;
    size_t bad;
    float first[DIM];
    struct fault fault;
};

static struct result read_all(const struct file_format *format, const void *bytes, size_t nbytes)
{
    struct result result = {.last = ROW_BROKEN};
    struct reader_state reader;
    float a[DIM], b[1];
    struct row row = {.vectors = {a, b}};

    if (!reader_start(&reader, format, file_with(bytes, nbytes), &schema, 0, &result.fault))
        return result;
    do {
        result.last = reader_row(&reader, &row, &result.fault);
        if (result.last == ROW_OK && result.rows++ == 0) memcpy(result.first, a, sizeof a);
        if (result.last == ROW_BAD) result.bad++;
    } while (result.last == ROW_OK || result.last == ROW_BAD);
    reader_end(&reader);
    return result;
}

static size_t put_fvecs(uint8_t *out, int32_t dim, const float *values)
{
    memcpy(out, &dim, 4);
    memcpy(out + 4, values, 4 * (size_t)dim);
    return 4 + 4 * (size_t)dim;
}

static size_t make_fvecs(uint8_t *out)
{
    static const float rows[2][DIM] = {{1, 2, 3}, {4, 5, 6}};
    size_t used = put_fvecs(out, DIM, rows[0]);

    return used + put_fvecs(out + used, DIM, rows[1]);
}

static void assert_first(const struct result *result)
{
    static const float expected[DIM] = {1, 2, 3};

    assert_memory_equal(result->first, expected, sizeof expected);
}

static void an_fvecs_file_cut_anywhere_but_between_rows_is_broken(void **state)
{
    uint8_t bytes[64];
    size_t nbytes = make_fvecs(bytes);

    (void)state;
    for (size_t n = 0; n <= nbytes; n++) {
        struct result result = read_all(&format_fvecs, bytes, n);
        assert_int_equal(result.rows, n / 16);
        assert_int_equal(result.last, n % 16 == 0 ? ROW_END : ROW_BROKEN);
        if (result.rows > 0) assert_first(&result);
    }
}

static void an_fvecs_row_of_another_dimension_is_skipped_and_named(void **state)
{
    static const float rows[2][5] = {{1, 2, 3}, {9, 9, 9, 9, 9}};
    uint8_t bytes[128];
    size_t used = put_fvecs(bytes, DIM, rows[0]);
    struct result result;

    (void)state;
    used += put_fvecs(bytes + used, 5, rows[1]);
    used += put_fvecs(bytes + used, DIM, rows[0]);
    result = read_all(&format_fvecs, bytes, used);
    assert_int_equal(result.last, ROW_END);
    assert_int_equal(result.rows, 2);
    assert_int_equal(result.bad, 1);
    assert_non_null(strstr(result.fault.text, "row 1 at byte 16: the dimension is 5, expected 3"));
}

static void a_dimension_that_cannot_be_ends_the_file(void **state)
{
    static const int32_t dims[] = {0, -1, INT32_MIN, INT32_MAX, 65536};
    uint8_t bytes[64];
    size_t nbytes = make_fvecs(bytes);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(dims); i++) {
        struct result result;
        memcpy(bytes + 16, &dims[i], 4);
        result = read_all(&format_fvecs, bytes, nbytes);
        assert_int_equal(result.last, ROW_BROKEN);
        assert_int_equal(result.rows, 1);
    }
}

static void numbers_that_are_not_finite_are_named(void **state)
{
    static const struct {
        uint32_t bits;
        const char *what;
    } cases[] = {{0x7fc00000, "component 1 is NaN"},
                 {0xffc00000, "component 1 is NaN"},
                 {0x7f800001, "component 1 is NaN"},
                 {0x7f800000, "component 1 is infinite"},
                 {0xff800000, "component 1 is infinite"}};
    uint8_t bytes[64];
    size_t nbytes = make_fvecs(bytes);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct result result;
        memcpy(bytes + 16 + 8, &cases[i].bits, 4);
        result = read_all(&format_fvecs, bytes, nbytes);
        assert_int_equal(result.last, ROW_END);
        assert_int_equal(result.bad, 1);
        assert_non_null(strstr(result.fault.text, "row 1 at byte 16"));
        assert_non_null(strstr(result.fault.text, cases[i].what));
    }
}

static void bvecs_bytes_are_numbers_from_0_to_255(void **state)
{
    static const uint8_t bytes[] = {3, 0, 0, 0, 1, 2, 3, 3, 0, 0, 0, 255, 0, 7};

    (void)state;
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct result result = read_all(&format_bvecs, bytes, n);
        assert_int_equal(result.rows, n / 7);
        assert_int_equal(result.last, n % 7 == 0 ? ROW_END : ROW_BROKEN);
        if (result.rows > 0) assert_first(&result);
    }
}

static size_t make_npy(uint8_t *out, const char *header, int version, const void *data,
                       size_t nbytes)
{
    size_t length = strlen(header);
    size_t used = version == 1 ? 10 : 12;

    memcpy(out, "\x93NUMPY", 6);
    out[6] = (uint8_t)version;
    out[7] = 0;
    memset(out + 8, 0, 4);
    out[8] = (uint8_t)length;
    out[9] = (uint8_t)(length >> 8);
    memcpy(out + used, header, length);
    memcpy(out + used + length, data, nbytes);
    return used + length + nbytes;
}

#define NPY(type, shape) "{'descr': '" type "', 'fortran_order': False, 'shape': " shape ", }\n"

static void npy_of_three_precisions_and_versions_reads_alike(void **state)
{
    static const uint16_t halves[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
    static const float floats[] = {1, 2, 3, 4, 5, 6};
    static const double doubles[] = {1, 2, 3, 4, 5, 6};
    uint8_t bytes[512];

    (void)state;
    for (int version = 1; version <= 3; version++) {
        const struct {
            const char *header;
            const void *data;
            size_t nbytes;
        } cases[] = {
            {NPY("<f2", "(2, 3)"), halves, sizeof halves},
            {NPY("<f4", "(2, 3)"), floats, sizeof floats},
            {NPY("<f8", "(2, 3)"), doubles, sizeof doubles},
            {"{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}", floats, sizeof floats},
        };
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            size_t n = make_npy(bytes, cases[i].header, version, cases[i].data, cases[i].nbytes);
            struct result result = read_all(&format_npy, bytes, n);
            assert_int_equal(result.last, ROW_END);
            assert_int_equal(result.rows, 2);
            assert_first(&result);
        }
    }
}

static void npy_headers_of_other_arrays_are_refused(void **state)
{
    static const struct {
        const char *header;
        const char *what;
    } cases[] = {
        {NPY(">f4", "(2, 3)"), "big-endian"},
        {NPY("<i4", "(2, 3)"), "components are <i4"},
        {NPY("<f4", "(6,)"), "1 axes"},
        {NPY("<f4", "(1, 2, 3)"), "3 axes"},
        {NPY("<f4", "(2, 4)"), "4 columns"},
        {NPY("<f4", "(3, 3)"), "promises 3 rows"},
        {NPY("<f4", "(1, 3)"), "promises 1 rows"},
        {NPY("<f4", "(18446744073709551615, 3)"), "promises"},
        {NPY("<f4", "(18446744073709551616, 3)"), "header"},
        {NPY("<f4", "(2, -3)"), "header"},
        {NPY("<f4", "2, 3"), "header"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "Fortran"},
        {"{'descr': '<f4', 'shape': (2, 3), }", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", "header"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2, 3)}", "header"},
        {"{", "header"},
        {"", "header"},
        {"{'descr", "header"},
    };
    static const float floats[] = {1, 2, 3, 4, 5, 6};
    uint8_t bytes[512];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t n = make_npy(bytes, cases[i].header, 1, floats, sizeof floats);
        struct result result = read_all(&format_npy, bytes, n);
        assert_int_equal(result.last, ROW_BROKEN);
        assert_int_equal(result.rows, 0);
        assert_non_null(strstr(result.fault.text, cases[i].what));
    }
}

static void an_npy_file_cut_anywhere_gives_no_row(void **state)
{
    static const float floats[] = {1, 2, 3, 4, 5, 6};
    uint8_t bytes[512];
    size_t nbytes = make_npy(bytes, NPY("<f4", "(2, 3)"), 1, floats, sizeof floats);

    (void)state;
    for (size_t n = 0; n < nbytes; n++) {
        struct result result = read_all(&format_npy, bytes, n);
        assert_int_equal(result.last, ROW_BROKEN);
        assert_int_equal(result.rows, 0);
    }
}

static void an_npy_header_with_any_bit_flipped_never_gives_other_shapes(void **state)
{
    static const float floats[] = {1, 2, 3, 4, 5, 6};
    uint8_t bytes[512];
    size_t nbytes = make_npy(bytes, NPY("<f4", "(2, 3)"), 1, floats, sizeof floats);

    (void)state;
    for (size_t bit = 0; bit < 8 * (nbytes - sizeof floats); bit++) {
        struct result result;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        result = read_all(&format_npy, bytes, nbytes);
        assert_true(result.rows == 0 || result.rows == 2);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static struct result read_line(const char *line)
{
    return read_all(&format_jsonl, line, strlen(line));
}

static void a_file_of_vectors_says_its_own_dimension(void **state)
{
    static const struct {
        const struct file_format *format;
        const char *bytes;
        size_t nbytes;
        uint32_t dim; /* 0: refused */
    } cases[] = {
        {&format_fvecs, "\3\0\0\0", 4, 3},
        {&format_bvecs, "\377\377\0\0rest", 8, 65535},
        {&format_fvecs, "\0\0\1\0", 4, 0},
        {&format_fvecs, "\0\0\0\0", 4, 0},
        {&format_fvecs, "\377\377\377\377", 4, 0},
        {&format_fvecs, "\3\0\0", 3, 0},
        {&format_fvecs, "", 0, 0},
        {&format_jsonl, "{}", 2, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *path = file_with(cases[i].bytes, cases[i].nbytes);
        struct fault fault = {""};
        uint32_t dim = 0;
        assert_int_equal(reader_file_dim(cases[i].format, path, &dim, &fault), cases[i].dim != 0);
        assert_int_equal(dim, cases[i].dim);
        assert_int_equal(fault.text[0] == 0, cases[i].dim != 0);
    }
}

static void an_npy_file_says_its_own_dimension(void **state)
{
    static const struct {
        const char *header;
        uint32_t dim;
    } cases[] = {{NPY("<f4", "(2, 3)"), 3},
                 {NPY("<f2", "(1000000, 65535)"), 65535},
                 {NPY("<f4", "(2, 65536)"), 0},
                 {NPY("<f4", "(2, 0)"), 0},
                 {NPY("<f4", "(6,)"), 0},
                 {NPY("<f4", "(1, 2, 3)"), 0},
                 {"{}", 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint8_t bytes[512];
        size_t n = make_npy(bytes, cases[i].header, 1, "", 0);
        struct fault fault;
        uint32_t dim = 0;
        assert_int_equal(reader_file_dim(&format_npy, file_with(bytes, n), &dim, &fault),
                         cases[i].dim != 0);
        assert_int_equal(dim, cases[i].dim);
    }
}

static void json_lines_give_vectors_keys_and_documents(void **state)
{
    static const char line[] = "{\"key\": 7, \"vectors\": {\"a\": [1, 2.0, 3e0], \"b\": [4]}, "
                               "\"document\": \"AP8=\"}\n{\"vector\":[4,5,6]}";
    struct reader_state reader;
    float a[DIM], b[1];
    struct row row = {.vectors = {a, b}};
    struct fault fault;

    (void)state;
    assert_true(
        reader_start(&reader, &format_jsonl, file_with(line, sizeof line - 1), &schema, 0, &fault));
    assert_int_equal(reader_row(&reader, &row, &fault), ROW_OK);
    assert_int_equal(row.given, 3);
    assert_int_equal(json_integer_value(row.key), 7);
    assert_int_equal(row.document.nbytes, 2);
    assert_memory_equal(row.document.data, "\0\xff", 2);
    assert_true(a[2] == 3 && b[0] == 4);
    assert_int_equal(reader_row(&reader, &row, &fault), ROW_OK);
    assert_int_equal(row.given, 1);
    assert_null(row.key);
    assert_null(row.document.data);
    assert_int_equal(reader_row(&reader, &row, &fault), ROW_END);

    assert_true(reader_again(&reader, &fault));
    assert_int_equal(reader_row(&reader, &row, &fault), ROW_OK);
    assert_true(a[0] == 1);
    reader_end(&reader);
}

static void a_bad_json_line_is_refused_alone(void **state)
{
    static const char *const lines[] = {
        "",
        "null",
        "[1]",
        "{\"vector\":[1,2,3]",
        "{\"vector\":[1,2]}",
        "{\"vector\":[1,2,null]}",
        "{\"vector\":{}}",
        "{\"vector\":[1,2,1e39]}",
        "{\"vector\":[1,2,1e400]}",
        "{\"vectors\":[1,2,3]}",
        "{\"vectors\":{\"c\":[1]}}",
        "{\"vectors\":{\"b\":[65520]}}",
        "{\"document\":5}",
        "{\"document\":\"A\"}",
        "{\"fields\":5}",
        "{\"key\":1,\"key\":2}",
        "{\"key\":\"\xff\"}",
        "{\"key\":18446744073709551615}",
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct result result;
        snprintf(text, sizeof text, "{\"vector\":[1,2,3]}\n%s\n{\"vector\":[1,2,3]}\n", lines[i]);
        result = read_line(text);
        assert_int_equal(result.last, ROW_END);
        assert_int_equal(result.rows, 2);
        assert_int_equal(result.bad, 1);
        assert_non_null(strstr(result.fault.text, "row 1 at byte 19: "));
    }
}

static void lines_longer_than_the_buffer_are_read_whole(void **state)
{
    static char text[(700 << 10) + 64];
    size_t used = (size_t)snprintf(text, sizeof text, "{\"vector\":[1,2,3]%*s}\n", 600 << 10, "");
    struct result result;

    (void)state;
    used += (size_t)snprintf(text + used, sizeof text - used, "{\"vector\":[4,5,6]}");
    result = read_all(&format_jsonl, text, used);
    assert_int_equal(result.rows, 2);
    assert_int_equal(result.last, ROW_END);
    assert_first(&result);
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
        cmocka_unit_test(an_fvecs_file_cut_anywhere_but_between_rows_is_broken),
        cmocka_unit_test(an_fvecs_row_of_another_dimension_is_skipped_and_named),
        cmocka_unit_test(a_dimension_that_cannot_be_ends_the_file),
        cmocka_unit_test(numbers_that_are_not_finite_are_named),
        cmocka_unit_test(bvecs_bytes_are_numbers_from_0_to_255),
        cmocka_unit_test(npy_of_three_precisions_and_versions_reads_alike),
        cmocka_unit_test(npy_headers_of_other_arrays_are_refused),
        cmocka_unit_test(an_npy_file_cut_anywhere_gives_no_row),
        cmocka_unit_test(an_npy_header_with_any_bit_flipped_never_gives_other_shapes),
        cmocka_unit_test(a_file_of_vectors_says_its_own_dimension),
        cmocka_unit_test(an_npy_file_says_its_own_dimension),
        cmocka_unit_test(json_lines_give_vectors_keys_and_documents),
        cmocka_unit_test(a_bad_json_line_is_refused_alone),
        cmocka_unit_test(lines_longer_than_the_buffer_are_read_whole),
    };

    return cmocka_run_group_tests(tests, NULL, remove_file);
}
