/* test_writer.c - what is written is read back as it was, and only whole files appear. */
#include "files.h"
#include "keys.h"
#include "reader.h"
#include "util.h"
#include "writer.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define DIM 3u
#define ROWS 5u

static const paua_vector_field field = {
    .name = "vector", .dim = DIM, .metric = PAUA_L2, .precision = PAUA_FP32};
static const paua_schema schema = {.size = sizeof schema, .fields = &field, .field_count = 1};

static void make_vector(size_t row, float *vector)
{
    for (size_t i = 0; i < DIM; i++)
        vector[i] = (float)row / 3.0f + (float)i * 1e-20f;
}

static void write_rows(const struct writer_format *format, const char *path)
{
    struct outfile out;
    struct writer_state writer = {.out = &out, .schema = &schema};
    struct fault fault;

    assert_true(outfile_open(&out, path, &fault));
    if (format->begin != NULL) assert_true(format->begin(&writer, &fault));
    for (; writer.rows < ROWS; writer.rows++) {
        float vector[DIM];
        const float *vectors[] = {vector};
        paua_record record = {.found = true,
                              .key = {.u64 = UINT64_MAX - writer.rows},
                              .vectors = vectors,
                              .document = {.data = "a\n\"b", .nbytes = 4}};
        make_vector(writer.rows, vector);
        format->row(&writer, &record);
    }
    if (format->end != NULL) assert_true(format->end(&writer, &fault));
    assert_true(outfile_commit(&out, &fault));
}

static void every_format_reads_back_bit_for_bit(void **state)
{
    static const char *const names[] = {"fvecs", "npy", "jsonl"};

    (void)state;
    for (size_t f = 0; f < COUNT_OF(names); f++) {
        const char *path = file_with("old", 3);
        struct reader_state reader;
        float read[DIM], expected[DIM];
        struct row row = {.vectors = {read}};
        struct fault fault;

        write_rows(writer_by_name(names[f]), path);
        assert_true(reader_start(&reader, format_by_name(names[f]), path, &schema, 0, &fault));
        for (size_t r = 0; r < ROWS; r++) {
            assert_int_equal(reader_row(&reader, &row, &fault), ROW_OK);
            make_vector(r, expected);
            assert_memory_equal(read, expected, sizeof read);
        }
        assert_int_equal(reader_row(&reader, &row, &fault), ROW_END);
        reader_end(&reader);
    }
}

static void an_aborted_file_leaves_the_old_one(void **state)
{
    const char *path = file_with("old", 3);
    char bytes[16] = {0};
    struct outfile out;
    struct fault fault;

    (void)state;
    assert_true(outfile_open(&out, path, &fault));
    fputs("new", out.stream);
    assert_int_equal(access(out.temporary, F_OK), 0);
    outfile_abort(&out);
    assert_int_equal(file_read(path, bytes, sizeof bytes), 3);
    assert_string_equal(bytes, "old");
    outfile_abort(&out);
}

static void keys_of_every_kind_become_text_and_back(void **state)
{
    static const float components[] = {0.1f, -2, 3e-30f};
    const struct {
        paua_key_kind kind;
        paua_key key;
        const char *text;
    } cases[] = {
        {PAUA_KEY_U64, {.u64 = UINT64_MAX}, "18446744073709551615"},
        {PAUA_KEY_STRING, {.bytes = {.data = "a b", .nbytes = 3}}, "a b"},
        {PAUA_KEY_VECTOR, {.bytes = {.data = components, .nbytes = 12}}, "[0.1,-2,3e-30]"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        paua_schema kind = schema;
        struct key_list list;
        struct fault fault;
        size_t nbytes = 0;
        char *text;
        paua_keys keys;

        kind.key_kind = cases[i].kind;
        text = key_text(&kind, &cases[i].key, &nbytes);
        assert_int_equal(nbytes, strlen(cases[i].text));
        assert_memory_equal(text, cases[i].text, nbytes);
        key_list_begin(&list, &kind);
        assert_true(key_list_add(&list, text, nbytes, &fault));
        keys = key_list_view(&list, 0, 1);
        if (keys.u64 != NULL) assert_true(keys.u64[0] == UINT64_MAX);
        if (keys.strings != NULL) assert_memory_equal(keys.strings[0].data, "a b", 3);
        if (keys.vectors != NULL) assert_memory_equal(keys.vectors, components, 12);
        key_list_free(&list);
        free(text);
    }
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
        cmocka_unit_test(every_format_reads_back_bit_for_bit),
        cmocka_unit_test(an_aborted_file_leaves_the_old_one),
        cmocka_unit_test(keys_of_every_kind_become_text_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, remove_file);
}
