/* test_tail.c - the rows in memory: what readers find below their count while a writer stages rows,
 * takes them back, and the table grows. */
#include "support/support.h"

#include <stdio.h>

#include "codec/batch.h"
#include "db/files.h"
#include "db/tail.h"
#include "store/file_writer.h"

#define ROWS 9000u

struct fixture {
    struct dir *dir;
    struct schema schema;
    struct tail *tail;
};

static void fixture_make(struct fixture *f, paua_key_kind kind, bool documents)
{
    struct head head = {.collection = 1, .field_count = 1, .tail_first_row = 100};
    struct file_header header;
    struct file_writer *writer;

    *f = (struct fixture){0};
    f->schema = (struct schema){.collection = 1, .name = "c", .key_kind = kind, .field_count = 1};
    f->schema.fields[0] = (struct schema_field){.name = "v",
                                                .dim = 1,
                                                .metric = PAUA_L2,
                                                .precision = PAUA_FP32,
                                                .originals = PAUA_ORIGINALS_FP32};
    assert_ok(dir_open_memory(&f->dir, &test_err));
    head.tail_vectors[0] = 1;
    header = files_vector_header(&f->schema, 0, 1);
    assert_ok(file_writer_create(f->dir, &header, false, &writer, &test_err));
    assert_ok(file_writer_flush(writer, &test_err));
    file_writer_close(writer);
    if (documents) {
        head.tail_heap = 2;
        header = files_heap_header(&f->schema, 2);
        assert_ok(file_writer_create(f->dir, &header, false, &writer, &test_err));
        assert_ok(file_writer_flush(writer, &test_err));
        file_writer_close(writer);
    }
    assert_ok(
        tail_open(f->dir, &f->schema, &head, (struct data_file_opts){0}, &f->tail, &test_err));
}

static void fixture_free(struct fixture *f)
{
    tail_unref(f->tail);
    dir_close(f->dir);
}

static struct key key_of(const struct fixture *f, uint32_t row, char room[32])
{
    if (f->schema.key_kind == PAUA_KEY_U64) {
        bytes_put((uint8_t *)room, row * UINT64_C(0x100000001), 8);
        return (struct key){(uint8_t *)room, 8};
    }
    return (struct key){(uint8_t *)room, (size_t)snprintf(room, 32, "key %u", row)};
}

static void append(struct fixture *f, uint32_t row, uint32_t document_nbytes)
{
    char room[32];
    struct key key = key_of(f, row, room);

    assert_int_equal(tail_append(f->tail, key, key_hash(key), document_nbytes), PAUA_OK);
}

static uint32_t find(const struct fixture *f, uint32_t rows, const roaring_bitmap_t *deleted,
                     uint32_t row)
{
    char room[32];
    struct key key = key_of(f, row, room);
    uint32_t position = 0;

    assert_ok(tail_find(f->tail, rows, deleted, key, key_hash(key), &position, &test_err));
    return position;
}

static void every_row_is_found_below_the_readers_count_and_no_other(void **state)
{
    struct fixture f;

    (void)state;
    for (int kind = PAUA_KEY_U64; kind <= PAUA_KEY_STRING; kind++) {
        fixture_make(&f, (paua_key_kind)kind, false);
        assert_int_equal(find(&f, 0, NULL, 0), UINT32_MAX);
        for (uint32_t row = 0; row < ROWS; row++)
            append(&f, row, BATCH_NO_DOCUMENT);
        for (uint32_t row = 0; row < ROWS; row++) {
            struct writer scratch = {0};
            char room[32];
            struct key key;

            assert_int_equal(find(&f, ROWS, NULL, row), row);
            assert_int_equal(find(&f, row + 1, NULL, row), row);
            assert_int_equal(find(&f, row, NULL, row), UINT32_MAX);
            assert_ok(tail_key(f.tail, row, &scratch, &key, &test_err));
            assert_true(key_equal(key, key_of(&f, row, room)));
            writer_free(&scratch);
        }
        assert_int_equal(find(&f, ROWS, NULL, ROWS), UINT32_MAX);
        fixture_free(&f);
    }
}

static void the_newest_row_that_lives_has_the_key(void **state)
{
    roaring_bitmap_t *deleted = roaring_bitmap_create();
    struct fixture f;

    (void)state;
    fixture_make(&f, PAUA_KEY_STRING, false);
    append(&f, 5, BATCH_NO_DOCUMENT);
    append(&f, 5, BATCH_NO_DOCUMENT);
    roaring_bitmap_add(deleted, 0);
    assert_int_equal(find(&f, 2, deleted, 5), 1);
    roaring_bitmap_add(deleted, 1);
    assert_int_equal(find(&f, 2, deleted, 5), UINT32_MAX);
    roaring_bitmap_free(deleted);
    fixture_free(&f);
}

static void rows_taken_back_are_gone_and_their_places_are_used_again(void **state)
{
    struct fixture f;

    (void)state;
    fixture_make(&f, PAUA_KEY_U64, true);
    for (uint32_t row = 0; row < 10; row++)
        append(&f, row, row);
    for (uint32_t round = 0; round < 100; round++) {
        for (uint32_t row = 0; row < 50; row++)
            append(&f, 1000 + 50 * round + row, 3);
        assert_int_equal(find(&f, 60, NULL, 1000 + 50 * round), 10);
        tail_truncate(f.tail, 10, 45);
        assert_int_equal(f.tail->rows, 10);
        assert_int_equal(find(&f, 10, NULL, 1000 + 50 * round), UINT32_MAX);
        assert_int_equal(find(&f, 10, NULL, 9), 9);
    }
    for (uint32_t row = 10; row < ROWS; row++)
        append(&f, row, 1);
    for (uint32_t row = 0; row < ROWS; row++)
        assert_int_equal(find(&f, ROWS, NULL, row), row);
    fixture_free(&f);
}

static void memory_does_not_grow_by_rows_that_are_taken_back(void **state)
{
    struct fixture f;

    (void)state;
    for (int kind = PAUA_KEY_U64; kind <= PAUA_KEY_STRING; kind++) {
        size_t before = 0;

        fixture_make(&f, (paua_key_kind)kind, false);
        for (uint32_t row = 0; row < 900; row++)
            append(&f, row, BATCH_NO_DOCUMENT);
        for (uint32_t round = 0; round < 1000; round++) {
            for (uint32_t row = 0; row < 100; row++)
                append(&f, 100000 + round * 100 + row, BATCH_NO_DOCUMENT);
            tail_truncate(f.tail, 900, 0);
            if (round == 1) before = f.tail->memory_nbytes;
        }
        assert_int_equal(f.tail->memory_nbytes, before);
        for (uint32_t row = 0; row < 900; row++)
            assert_int_equal(find(&f, 900, NULL, row), row);
        fixture_free(&f);
    }
}

static void lengths_of_documents_are_kept(void **state)
{
    struct fixture f;

    (void)state;
    fixture_make(&f, PAUA_KEY_U64, true);
    for (uint32_t row = 0; row < 3000; row++)
        append(&f, row, row % 3 == 0 ? BATCH_NO_DOCUMENT : row % 7);
    for (uint32_t row = 0; row < 3000; row++)
        assert_int_equal(tail_document_length(f.tail, row),
                         row % 3 == 0 ? BATCH_NO_DOCUMENT : row % 7);
    fixture_free(&f);
}

static void an_empty_document_is_not_an_absent_one(void **state)
{
    struct writer scratch = {0};
    struct fixture f;
    paua_bytes document;

    (void)state;
    fixture_make(&f, PAUA_KEY_U64, true);
    append(&f, 0, 0);
    append(&f, 1, BATCH_NO_DOCUMENT);
    assert_ok(tail_document(f.tail, 0, &scratch, &document, &test_err));
    assert_non_null(document.data);
    assert_int_equal(document.nbytes, 0);
    assert_ok(tail_document(f.tail, 1, &scratch, &document, &test_err));
    assert_null(document.data);
    writer_free(&scratch);
    fixture_free(&f);
}

static void a_tail_without_documents_has_none(void **state)
{
    struct writer scratch = {0};
    struct fixture f;
    paua_bytes document = {"x", 1};

    (void)state;
    fixture_make(&f, PAUA_KEY_U64, false);
    append(&f, 1, BATCH_NO_DOCUMENT);
    assert_int_equal(tail_document_length(f.tail, 0), BATCH_NO_DOCUMENT);
    assert_ok(tail_document(f.tail, 0, &scratch, &document, &test_err));
    assert_null(document.data);
    writer_free(&scratch);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_below_the_readers_count_and_no_other),
        cmocka_unit_test(the_newest_row_that_lives_has_the_key),
        cmocka_unit_test(rows_taken_back_are_gone_and_their_places_are_used_again),
        cmocka_unit_test(memory_does_not_grow_by_rows_that_are_taken_back),
        cmocka_unit_test(lengths_of_documents_are_kept),
        cmocka_unit_test(an_empty_document_is_not_an_absent_one),
        cmocka_unit_test(a_tail_without_documents_has_none),
    };

    return cmocka_run_group_tests_name("db/tail", tests, NULL, NULL);
}
