/* Columns that grow: equal to plain arrays, whatever comes in. */
#include "naive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "column/column.h"

static void put_all(struct column *column, const struct naive *naive, uint32_t first)
{
    if (naive->rows % 2 == 1) { /* together, a few and many at a time */
        for (uint32_t row = first, n = 1; row < naive->rows; row += n, n = n * 3 % 1021) {
            if (n > naive->rows - row) n = naive->rows - row;
            assert_int_equal(column_put_rows(column, row, &naive->cells[row], n), PAUA_OK);
        }
        return;
    }
    for (uint32_t row = first; row < naive->rows; row++)
        if (naive->cells[row].present || row % 3 == 0)
            assert_int_equal(column_put(column, row, &naive->cells[row]), PAUA_OK);
}

static void check(struct column *column, struct naive *naive, uint64_t seed, unsigned tests)
{
    struct column_view view;

    column_look(column, &view);
    assert_int_equal(view.type, naive->type);
    assert_null(column_validate(&view));
    naive_check(naive, &view, NULL, seed, tests);
}

static void every_type_and_shape_reads_and_matches_as_an_array(void **state)
{
    static const uint32_t sizes[] = {0, 1, 63, 200, 9000};

    (void)state;
    for (unsigned t = 0; t < naive_type_count; t++) {
        for (enum naive_shape shape = 0; shape < SHAPE_COUNT; shape++) {
            for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                struct column *column = column_new(naive_types[t]);
                struct naive naive;

                naive_make(&naive, t * 100 + shape, naive_types[t], shape, sizes[s]);
                put_all(column, &naive, 0);
                check(column, &naive, s, s == 4 ? 6 : 20);
                column_free(column);
                naive_free(&naive);
            }
        }
    }
}

static void columns_of_several_chunks_read_and_match_as_arrays(void **state)
{
    (void)state;
    for (enum naive_shape shape = 0; shape < SHAPE_COUNT; shape++) {
        uint32_t type = naive_types[(unsigned)shape * 5 % naive_type_count];
        struct column *column = column_new(type);
        struct naive naive;

        naive_make(&naive, shape, type, shape, 2 * COLUMN_CHUNK_ROWS + 777);
        put_all(column, &naive, 0);
        check(column, &naive, shape, 6);
        column_free(column);
        naive_free(&naive);
    }
}

/* Ends of eight bytes, as a chunk of 4 GiB has them. */
static void wide_ends_are_read_as_narrow_ones(void **state)
{
    static const char bytes[] = "onethree";
    static const uint64_t ends[] = {3, 3, 3, 8};
    uint32_t hashes[] = {value_hash((const uint8_t *)"one", 3), 0,
                         value_hash((const uint8_t *)"", 0),
                         value_hash((const uint8_t *)"three", 5)};
    static const char *values[] = {"one", NULL, "", "three"};
    struct column_chunk chunk = {.kind = CHUNK_UNREPEATED,
                                 .rows = 4,
                                 .nulls = 1,
                                 .base = 1,
                                 .most = UINT64_MAX,
                                 .ends = (const uint8_t *)ends,
                                 .end_nbytes = 8,
                                 .hashes = (const uint8_t *)hashes,
                                 .bytes = (const uint8_t *)bytes};
    struct column_view view = {
        .type = PAUA_TYPE_STRING, .rows = 4, .chunk_count = 1, .chunks = &chunk};

    (void)state;
    assert_null(column_validate(&view));
    for (uint32_t row = 0; row < 4; row++) {
        struct cell cell;

        column_cell(&view, row, &cell);
        assert_int_equal(cell.present, values[row] != NULL);
        if (values[row] == NULL) continue;
        assert_int_equal(cell.nbytes, strlen(values[row]));
        assert_memory_equal(cell.data, values[row], cell.nbytes);
    }
}

static void put_text(struct column *column, const char *what, uint32_t number)
{
    char text[64];
    struct cell cell = {.present = true, .data = (const uint8_t *)text};

    cell.nbytes = (size_t)snprintf(text, sizeof text, "%s of number %u", what, number);
    assert_int_equal(column_put(column, column_rows(column), &cell), PAUA_OK);
}

/* With values that repeat, and with ones that do not; whatever was known, or is put afterwards. */
static void rows_taken_back_leave_no_bytes_behind(void **state)
{
    (void)state;
    for (uint32_t distinct = 0; distinct < 2; distinct++) {
        struct column *column = column_new(PAUA_TYPE_STRING);
        uint32_t rows = 0;
        size_t nbytes = 0;
        struct column_view view;

        for (uint32_t round = 0; round < 50; round++) {
            for (uint32_t i = 0; i < 100; i++, rows++)
                put_text(column, "kept", distinct != 0 ? rows : rows % 10);
            column_mark(column);
            if (round == 9) nbytes = column_nbytes(column);
            for (uint32_t i = 0; i < (distinct != 0 ? 5000u : 2000u); i++)
                put_text(column, "refused", round * 5000 + i);
            column_truncate(column, rows);
            column_look(column, &view);
            assert_null(column_validate(&view));
            assert_int_equal(view.dictionary.count, distinct != 0 ? 0 : 10);
        }
        /* what stays is what was kept, the room for codes, and the table that had to grow once */
        assert_true(column_nbytes(column) < nbytes + (distinct != 0 ? 500000 : 200000));
        for (uint32_t row = 0; row < rows; row++) {
            char text[64];
            struct cell cell;

            snprintf(text, sizeof text, "kept of number %u", distinct != 0 ? row : row % 10);
            column_cell(&view, row, &cell);
            assert_int_equal(cell.nbytes, strlen(text));
            assert_memory_equal(cell.data, text, cell.nbytes);
        }
        column_free(column);
    }
}

static void a_truncated_column_is_one_that_was_never_longer(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3 * SHAPE_COUNT; i++) {
        enum naive_shape shape = (enum naive_shape)(i % SHAPE_COUNT);
        uint32_t type = naive_types[i * 3 % naive_type_count];
        uint64_t seed = i;
        struct column *column = column_new(type);
        struct naive naive, longer;
        uint32_t kept = i % 3 == 0 ? naive_below(&seed, 100) : naive_below(&seed, 9000);

        naive_make(&naive, i, type, shape, 9000);
        naive_make(&longer, i + 1000, type, SHAPE_DISTINCT, i % 5 == 0 ? 70000 : 12000);
        put_all(column, &naive, 0);
        put_all(column, &longer, naive.rows);
        column_truncate(column, kept);
        assert_true(column_rows(column) <= kept);
        naive.rows = kept;
        check(column, &naive, i, 6);
        naive.rows = 9000;
        put_all(column, &naive, kept);
        check(column, &naive, i, 6);
        column_free(column);
        naive_free(&naive);
        naive_free(&longer);
    }
}

static void chunks_that_are_skipped_are_null(void **state)
{
    struct column *column = column_new(PAUA_TYPE_STRING);
    struct cell cell = {.present = true, .data = (const uint8_t *)"x", .nbytes = 1}, got;
    struct column_view view;

    (void)state;
    assert_int_equal(column_put(column, 5 * COLUMN_CHUNK_ROWS + 3, &cell), PAUA_OK);
    column_look(column, &view);
    assert_int_equal(view.chunk_count, 6);
    for (uint32_t row = 0; row < view.rows - 1; row += 1021) {
        column_cell(&view, row, &got);
        assert_false(got.present);
    }
    column_cell(&view, view.rows - 1, &got);
    naive_same_cell(&cell, &got, PAUA_TYPE_STRING);
    assert_true(column_nbytes(column) < 3000);
    column_free(column);
}

static enum chunk_kind kind_of(struct column *column, uint32_t chunk)
{
    struct column_view view;

    column_look(column, &view);
    assert_true(chunk < view.chunk_count);
    return view.chunks[chunk].kind;
}

static void each_shape_takes_the_form_that_is_smallest(void **state)
{
    static const struct {
        uint32_t type;
        enum naive_shape shape;
        enum chunk_kind kind;
    } cases[] = {
        {PAUA_TYPE_STRING, SHAPE_CONSTANT, CHUNK_CONSTANT},
        {PAUA_TYPE_INT64, SHAPE_CONSTANT, CHUNK_CONSTANT},
        {PAUA_TYPE_STRING, SHAPE_FEW, CHUNK_PACKED},
        {PAUA_TYPE_INT64, SHAPE_DRIFT, CHUNK_PACKED},
        {PAUA_TYPE_STRING, SHAPE_SPARSE, CHUNK_SPARSE},
        {PAUA_TYPE_DOUBLE, SHAPE_SPARSE, CHUNK_SPARSE},
        {PAUA_TYPE_INT64, SHAPE_DISTINCT, CHUNK_RAW},
        {PAUA_TYPE_STRING, SHAPE_DISTINCT, CHUNK_UNREPEATED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct column *column = column_new(cases[i].type);
        struct naive naive;

        naive_make(&naive, i, cases[i].type, cases[i].shape, COLUMN_CHUNK_ROWS + 6000);
        put_all(column, &naive, 0);
        assert_int_equal(kind_of(column, 0), cases[i].kind);
        assert_int_equal(kind_of(column, 1), cases[i].kind);
        column_free(column);
        naive_free(&naive);
    }
}

/* Alternating growth at both ends of the range, the worst for a moving base. */
static void keys_that_wander_both_ways_are_packed_right(void **state)
{
    struct column *column = column_new(PAUA_TYPE_INT64);
    struct column_view view;
    struct cell cell = {.present = true}, got;

    (void)state;
    for (int64_t i = 0; i < 40000; i++) {
        cell.key = key_of_int(i % 2 ? i : -i);
        assert_int_equal(column_put(column, (uint32_t)i, &cell), PAUA_OK);
    }
    column_look(column, &view);
    assert_int_equal(view.chunks[0].kind, CHUNK_PACKED);
    for (int64_t i = 0; i < 40000; i++) {
        column_cell(&view, (uint32_t)i, &got);
        assert_true(int_of_key(got.key) == (i % 2 ? i : -i));
    }
    column_free(column);
}

static void extreme_keys_are_kept(void **state)
{
    static const uint64_t keys[] = {0, UINT64_MAX, 1, UINT64_MAX - 1, UINT64_C(1) << 63, 5};

    (void)state;
    for (unsigned first = 0; first < 6; first++) {
        for (unsigned gap = 1; gap < 4; gap += 2) {
            struct column *column = column_new(PAUA_TYPE_UINT64);
            struct column_view view;
            struct cell got;

            for (uint32_t i = 0; i < 100; i++) {
                struct cell cell = {.present = true, .key = keys[(first + i / 40) % 6]};

                assert_int_equal(column_put(column, i * gap, &cell), PAUA_OK);
            }
            column_look(column, &view);
            for (uint32_t i = 0; i < 100; i++) {
                column_cell(&view, i * gap, &got);
                assert_true(got.present && got.key == keys[(first + i / 40) % 6]);
            }
            column_free(column);
        }
    }
}

static void byte_strings_stay_where_they_are(void **state)
{
    enum { ROWS = 30000 };
    struct column *column = column_new(PAUA_TYPE_BYTES);
    const uint8_t **where = malloc(ROWS * sizeof where[0]);
    struct column_view view;
    char text[32];

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        struct cell cell = {.present = true, .data = (const uint8_t *)text}, got;

        cell.nbytes = (size_t)snprintf(text, sizeof text, "%u", i / (1 + i % 3));
        assert_int_equal(column_put(column, i, &cell), PAUA_OK);
        column_look(column, &view);
        column_cell(&view, i, &got);
        where[i] = got.data;
    }
    column_look(column, &view);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct cell got;

        column_cell(&view, i, &got);
        snprintf(text, sizeof text, "%u", i / (1 + i % 3));
        assert_memory_equal(where[i], text, strlen(text));
        assert_memory_equal(got.data, text, strlen(text));
    }
    free(where);
    column_free(column);
}

static void long_values_are_kept_among_short_ones(void **state)
{
    static const size_t lengths[] = {0, 1, 127, 128, 255, 16383, 16384, 16385, 70000, 300000, 3};
    struct column *column = column_new(PAUA_TYPE_BYTES);
    struct column_view view;
    uint8_t *bytes = malloc(300000);

    (void)state;
    for (uint32_t i = 0; i < 44; i++) {
        struct cell cell = {.present = true, .data = bytes, .nbytes = lengths[i % 11]};

        memset(bytes, (int)i / 2, 300000);
        assert_int_equal(column_put(column, i, &cell), PAUA_OK);
    }
    column_look(column, &view);
    for (uint32_t i = 0; i < 44; i++) {
        struct cell got;

        memset(bytes, (int)i / 2, 300000);
        column_cell(&view, i, &got);
        assert_int_equal(got.nbytes, lengths[i % 11]);
        assert_memory_equal(got.data, bytes, got.nbytes);
    }
    column_free(column);
    free(bytes);
}

/* Every allocation fails once, on the way through every form. */
static void a_put_without_memory_changes_nothing(void **state)
{
    (void)state;
    for (unsigned t = 0; t < naive_type_count; t += 3) {
        for (enum naive_shape shape = 0; shape < SHAPE_COUNT; shape++) {
            struct column *column = column_new(naive_types[t]);
            struct naive naive;
            uint32_t refused = 0;

            naive_make(&naive, t, naive_types[t], shape, 6000);
            for (uint32_t row = 0; row < naive.rows; row++) {
                paua_status status = PAUA_ENOMEM;

                for (uint64_t n = 1; status == PAUA_ENOMEM; n++) {
                    mem_fail_after(n);
                    status = column_put(column, row, &naive.cells[row]);
                    mem_fail_after(0);
                    refused += status == PAUA_ENOMEM;
                    if (status == PAUA_ENOMEM) assert_true(column_rows(column) <= row);
                }
                assert_int_equal(status, PAUA_OK);
            }
            assert_true(refused > 0);
            check(column, &naive, t, 4);
            column_free(column);
            naive_free(&naive);
        }
    }
}

/* The bounds of the founding workload, and of one where nothing repeats. */
static void repeated_values_cost_bits_and_others_little_more_than_their_bytes(void **state)
{
    struct column *few = column_new(PAUA_TYPE_STRING), *distinct = column_new(PAUA_TYPE_STRING);
    char text[32];

    (void)state;
    for (uint32_t row = 0; row < 100000; row++) {
        struct cell cell = {.present = true, .data = (const uint8_t *)text};

        cell.nbytes = (size_t)snprintf(text, sizeof text, "meta_value_%u", row * 7919 % 8);
        assert_int_equal(column_put(few, row, &cell), PAUA_OK);
        cell.nbytes = (size_t)snprintf(text, sizeof text, "value%09u", row * 7919);
        assert_int_equal(column_put(distinct, row, &cell), PAUA_OK);
    }
    assert_true(column_nbytes(few) <= 75000);
    assert_true(column_nbytes(distinct) <= 32 * 100000);
    column_free(few);
    column_free(distinct);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_shape_reads_and_matches_as_an_array),
        cmocka_unit_test(columns_of_several_chunks_read_and_match_as_arrays),
        cmocka_unit_test(wide_ends_are_read_as_narrow_ones),
        cmocka_unit_test(rows_taken_back_leave_no_bytes_behind),
        cmocka_unit_test(a_truncated_column_is_one_that_was_never_longer),
        cmocka_unit_test(chunks_that_are_skipped_are_null),
        cmocka_unit_test(each_shape_takes_the_form_that_is_smallest),
        cmocka_unit_test(keys_that_wander_both_ways_are_packed_right),
        cmocka_unit_test(extreme_keys_are_kept),
        cmocka_unit_test(byte_strings_stay_where_they_are),
        cmocka_unit_test(long_values_are_kept_among_short_ones),
        cmocka_unit_test(a_put_without_memory_changes_nothing),
        cmocka_unit_test(repeated_values_cost_bits_and_others_little_more_than_their_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
