/* test_batch_columns.c - what src/codec/batch_columns.h promises: fields of a write there and back,
 * and every damage refused, since records carry them behind one checksum that a forger can mend.
 *
 * Three rows. Column 5 of byte strings "a", "bc": codes 1, 0, 2. Column 9 of numbers: 77 in every
 * row, codes of no bytes. Two patches. */
#include "damage.h"

#include <stdlib.h>

#include "codec/batch.h"
#include "codec/record.h"

#define ROWS 3u

static void sample(struct writer *w)
{
    static const uint8_t codes[] = {1, 0, 2};
    struct batch_column text = {.field = 5, .value_count = 2, .code_nbytes = 1, .codes = codes};
    struct batch_column number = {.field = 9, .number = true, .value_count = 1};
    struct batch_patch patch = {
        .row = 12, .field = 5, .kind = BATCH_PATCH_BYTES, .bytes = {"xyz", 3}};
    struct writer values = {0}, numbers = {0};

    batch_value_put(&values, false, 0, "a", 1);
    batch_value_put(&values, false, 0, "bc", 2);
    batch_value_put(&numbers, true, 77, NULL, 0);
    text.values = values.bytes;
    text.values_nbytes = values.length;
    number.values = numbers.bytes;
    number.values_nbytes = numbers.length;
    batch_columns_begin(w, 2);
    batch_column_put(w, &text, ROWS);
    batch_column_put(w, &number, ROWS);
    batch_patches_begin(w, 2);
    batch_patch_put(w, &patch);
    batch_patch_put(w, &(struct batch_patch){.row = 13, .field = 9});
    writer_free(&values);
    writer_free(&numbers);
    assert_false(w->failed);
}

static void what_was_stored_comes_back(void **state)
{
    struct batch_columns_reader it;
    struct batch_column column;
    struct batch_patch patch;
    struct writer w = {0};
    uint64_t key = 0;
    paua_bytes bytes = {0};
    size_t at = 0;

    (void)state;
    sample(&w);
    assert_true(batch_columns_valid(w.bytes, w.length, ROWS));
    batch_columns_open(&it, w.bytes, w.length, ROWS);
    assert_true(batch_columns_next(&it, &column));
    assert_int_equal(column.field, 5);
    assert_int_equal(column.value_count, 2);
    batch_value_next(&column, &at, &key, &bytes);
    assert_int_equal(bytes.nbytes, 1);
    batch_value_next(&column, &at, &key, &bytes);
    assert_memory_equal(bytes.data, "bc", 2);
    assert_int_equal(batch_column_code(&column, 0), 1);
    assert_int_equal(batch_column_code(&column, 1), 0);
    assert_int_equal(batch_column_code(&column, 2), 2);
    assert_true(batch_columns_next(&it, &column));
    at = 0;
    batch_value_next(&column, &at, &key, &bytes);
    assert_int_equal(key, 77);
    assert_int_equal(batch_column_code(&column, 2), 1);
    assert_false(batch_columns_next(&it, &column));
    assert_true(batch_patches_next(&it, &patch));
    assert_true(patch.row == 12 && patch.kind == BATCH_PATCH_BYTES && patch.bytes.nbytes == 3);
    assert_true(batch_patches_next(&it, &patch));
    assert_true(patch.row == 13 && patch.kind == BATCH_PATCH_NULL);
    assert_false(batch_patches_next(&it, &patch));
    writer_free(&w);
}

/* Handed over in blocks of exactly their length: a sanitizer sees a read beyond. */
static bool valid(const uint8_t *bytes, size_t nbytes)
{
    uint8_t *block = malloc(nbytes + 1);
    bool result;

    memcpy(block + 1, bytes, nbytes);
    result = batch_columns_valid(block + 1, nbytes, ROWS);
    free(block);
    return result;
}

static void every_other_length_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    sample(&w);
    for (size_t nbytes = 0; nbytes < w.length; nbytes++)
        assert_false(valid(w.bytes, nbytes));
    writer_u8(&w, 0);
    assert_false(valid(w.bytes, w.length));
    writer_free(&w);
}

/* Without a checksum a changed bit may make another valid write; it must never make one that reads
 * beyond what is there. */
static void no_flipped_bit_makes_a_reader_pass_the_end(void **state)
{
    struct writer w = {0};

    (void)state;
    sample(&w);
    for (size_t bit = 0; bit < 8 * w.length; bit++) {
        struct batch_columns_reader it;
        struct batch_column column;
        struct batch_patch patch;
        uint64_t key;
        paua_bytes bytes;

        w.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (valid(w.bytes, w.length)) {
            batch_columns_open(&it, w.bytes, w.length, ROWS);
            while (batch_columns_next(&it, &column)) {
                size_t at = 0;

                for (uint32_t i = 0; i < column.value_count; i++)
                    batch_value_next(&column, &at, &key, &bytes);
                for (uint32_t row = 0; row < ROWS; row++)
                    assert_true(batch_column_code(&column, row) <= column.value_count);
            }
            while (batch_patches_next(&it, &patch))
                assert_true(patch.field >= 1);
        }
        w.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    writer_free(&w);
}

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return batch_decode(bytes, length, out);
}

static void a_batch_record_carries_them(void **state)
{
    static const struct decoder decoder = {decode, sizeof(struct batch), mend_record};
    struct batch batch = {.collection = 1,
                          .sequence = 1,
                          .row_count = ROWS,
                          .key_kind = PAUA_KEY_VECTOR,
                          .field_count = 1};
    struct writer columns = {0}, w = {0};
    struct batch back;

    (void)state;
    sample(&columns);
    batch.columns = (paua_bytes){columns.bytes, columns.length};
    assert_int_equal(batch_encode(&batch, &w), PAUA_OK);
    assert_int_equal(batch_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_int_equal(back.columns.nbytes, columns.length);
    assert_memory_equal(back.columns.data, columns.bytes, columns.length);
    assert_every_flipped_bit_is_refused(&decoder, w.bytes, w.length);
    assert_every_other_length_is_refused(&decoder, w.bytes, w.length, true);
    writer_free(&columns);
    writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_stored_comes_back),
        cmocka_unit_test(every_other_length_is_refused),
        cmocka_unit_test(no_flipped_bit_makes_a_reader_pass_the_end),
        cmocka_unit_test(a_batch_record_carries_them),
    };

    return cmocka_run_group_tests_name("codec/batch_columns", tests, NULL, NULL);
}
