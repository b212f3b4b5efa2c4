/* test_value_index.c - an index of values gives what a scan of the column gives.
 *
 * Columns are those of the column layer's tests: every type in every shape, sealed, and some that
 * grow, whose dictionaries are not sorted. */
#include "values_helper.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "column/column.h"
#include "unit/column/sealed.h"

struct fixture {
    struct temp temp; /* in memory */
    struct naive naive;
    struct column_file *columns;
    const struct column_view *view;
};

/* Seals fixture's array and opens its column. */
static void seal(struct fixture *f)
{
    struct file_ref ref;

    assert_int_equal(sealed_write(f->temp.dir, &f->naive, 1, &ref, NULL), PAUA_OK);
    assert_int_equal(sealed_open(f->temp.dir, &ref, f->naive.rows, true, &f->columns, NULL),
                     PAUA_OK);
    assert_int_equal(column_file_column(f->columns, sealed_id(0), &f->view, NULL), PAUA_OK);
}

static void unseal(struct fixture *f)
{
    column_file_unref(f->columns);
    naive_free(&f->naive);
    f->columns = NULL;
    f->view = NULL;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    temp_open(&f->temp, true);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    temp_close(&f->temp);
    free(f);
    return 0;
}

static void make(struct fixture *f, uint64_t seed, uint32_t type, enum naive_shape shape,
                 uint32_t rows)
{
    naive_make(&f->naive, seed, type, shape, rows);
    seal(f);
}

static void every_type_and_shape_is_found_as_by_a_scan(void **state)
{
    static const uint32_t sizes[] = {1, 63, 64, 500};
    struct fixture *f = *state;

    for (unsigned t = 0; t < naive_type_count; t++)
        for (enum naive_shape shape = 0; shape < SHAPE_COUNT; shape++)
            for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                make(f, t * 100 + shape, naive_types[t], shape, sizes[s]);
                values_check_kinds(f->temp.dir, f->view, &f->naive, t + s, 16);
                unseal(f);
            }
}

static enum chunk_kind kind_at(const struct fixture *f, uint32_t chunk)
{
    assert_true(chunk < f->view->chunk_count);
    return f->view->chunks[chunk].kind;
}

static void several_chunks_are_found_as_by_a_scan(void **state)
{
    static const struct {
        uint32_t type;
        enum naive_shape shape;
        enum chunk_kind kind;
    } cases[] = {
        {PAUA_TYPE_INT64, SHAPE_DISTINCT, CHUNK_RAW},
        {PAUA_TYPE_TIMESTAMP, SHAPE_DRIFT, CHUNK_PACKED},
        {PAUA_TYPE_UINT64, SHAPE_SPARSE, CHUNK_SPARSE},
        {PAUA_TYPE_STRING, SHAPE_FEW, CHUNK_PACKED},
        {PAUA_TYPE_BYTES, SHAPE_DISTINCT, CHUNK_UNREPEATED},
    };
    struct fixture *f = *state;

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make(f, i, cases[i].type, cases[i].shape, COLUMN_CHUNK_ROWS + 77);
        assert_int_equal(kind_at(f, 0), cases[i].kind);
        values_check_kinds(f->temp.dir, f->view, &f->naive, i, 8);
        unseal(f);
    }
}

/* Rows of one shape, then of the next. */
static void fill(struct naive *naive, const enum naive_shape *shapes, uint32_t type, uint32_t rows)
{
    uint64_t seed = 3;

    naive_make(naive, 1, type, SHAPE_CONSTANT, rows);
    for (uint32_t row = 0; row < rows; row++)
        naive->cells[row] = naive_value(naive, &seed, shapes[row / COLUMN_CHUNK_ROWS], row);
}

static void chunks_of_several_kinds_in_one_column_are_found_as_by_a_scan(void **state)
{
    static const struct {
        uint32_t type;
        enum naive_shape shapes[3];
        enum chunk_kind kinds[3];
    } cases[] = {{PAUA_TYPE_DOUBLE,
                  {SHAPE_SPARSE, SHAPE_FEW, SHAPE_DISTINCT},
                  {CHUNK_SPARSE, CHUNK_PACKED, CHUNK_RAW}},
                 {PAUA_TYPE_STRING,
                  {SHAPE_CONSTANT, SHAPE_SPARSE, SHAPE_DISTINCT},
                  {CHUNK_CONSTANT, CHUNK_SPARSE, CHUNK_UNREPEATED}}};
    struct fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        fill(&f->naive, cases[i].shapes, cases[i].type, 2 * COLUMN_CHUNK_ROWS + 5005);
        seal(f);
        for (uint32_t chunk = 0; chunk < 3; chunk++)
            assert_int_equal(kind_at(f, chunk), cases[i].kinds[chunk]);
        values_check_kinds(f->temp.dir, f->view, &f->naive, 4, 6);
        unseal(f);
    }
}

static void codes_of_every_width_are_found_as_by_a_scan(void **state)
{
    struct fixture *f = *state;

    for (uint32_t width = 1; width <= 32; width *= 2)
        for (int nulls = 0; nulls < 2; nulls++) {
            uint64_t seed = width, span = (UINT64_C(1) << width) - 1;

            naive_make(&f->naive, 1, PAUA_TYPE_UINT64, SHAPE_CONSTANT, 700);
            for (uint32_t row = 0; row < 700; row++)
                f->naive.cells[row] =
                    (struct cell){.present = (nulls == 0 && width > 1) || row % 5 != 0,
                                  .key = 1000 + naive_random(&seed) % span};
            f->naive.cells[1].key = 1000;
            f->naive.cells[2].key = 1000 + span - 1;
            seal(f);
            assert_int_equal(kind_at(f, 0), CHUNK_PACKED);
            assert_int_equal(f->view->chunks[0].width, width);
            values_check_kinds(f->temp.dir, f->view, &f->naive, width, 20);
            unseal(f);
        }
}

/* The array as a column that grows. */
static struct column *grow(const struct naive *naive, uint32_t rows, struct column_view *view)
{
    struct column *column = column_new(naive->type);

    assert_non_null(column);
    for (uint32_t row = 0; row < rows; row++)
        if (naive->cells[row].present)
            assert_int_equal(column_put(column, row, &naive->cells[row]), PAUA_OK);
    column_look(column, view);
    return column;
}

static void a_growing_column_is_found_as_by_a_scan(void **state)
{
    static const enum naive_shape shapes[] = {SHAPE_FEW, SHAPE_DISTINCT, SHAPE_CHANGING};
    struct fixture *f = *state;

    for (unsigned t = 0; t < naive_type_count; t++)
        for (unsigned s = 0; s < 3; s++) {
            struct column_view view;
            struct column *column;

            naive_make(&f->naive, t, naive_types[t], shapes[s], t == 8 ? 16000 : 400);
            column = grow(&f->naive, f->naive.rows, &view);
            values_check_kinds(f->temp.dir, &view, &f->naive, t, 12);
            column_free(column);
            naive_free(&f->naive);
        }
}

/* Rows past the column's are NULL. */
static void a_segment_longer_than_its_column_is_found_as_by_a_scan(void **state)
{
    struct fixture *f = *state;
    struct column_view view;
    struct column *column;

    naive_make(&f->naive, 5, PAUA_TYPE_INT8, SHAPE_DENSE, 500);
    column = grow(&f->naive, 321, &view);
    values_check_kinds(f->temp.dir, &view, &f->naive, 1, 40);
    column_free(column);
    naive_free(&f->naive);
}

static const struct {
    const char *data;
    size_t nbytes;
} alike[] = {{"same beginning", 14},
             {"same beginning, other end", 25},
             {"same beginning, ", 16},
             {"same beginning\0\0", 16},
             {"same beginning\0", 15},
             {"same beginning, other end!", 26},
             {"same beginning, other ene", 25},
             {"same beginning\xFF", 15}};

/* One of a few, or, in two of three rows, one of its own. */
static struct cell alike_value(struct naive *naive, uint32_t row, uint64_t *seed, bool own)
{
    uint32_t i = naive_below(seed, 8);
    struct cell cell = {
        .present = true, .data = (const uint8_t *)alike[i].data, .nbytes = alike[i].nbytes};
    char text[64];

    if (!own || row % 3 == 0) return cell;
    cell.nbytes = (size_t)snprintf(text, sizeof text, "same beginning, %07u", row * 7919 % 9000);
    cell.data = arena_copy(&naive->bytes, text, cell.nbytes);
    assert_non_null(cell.data);
    return cell;
}

/* Strings that only differ far behind, that others begin with, and with zero bytes. */
static void strings_that_begin_alike_are_told_apart(void **state)
{
    struct fixture *f = *state;

    for (int own = 0; own < 3; own++) {
        uint64_t seed = 1;

        naive_make(&f->naive, 1, PAUA_TYPE_BYTES, SHAPE_CONSTANT, own ? 9000 : 600);
        for (uint32_t row = 0; row < f->naive.rows; row++)
            f->naive.cells[row] = alike_value(&f->naive, row, &seed, own != 0);
        if (own == 2) f->naive.cells[8999].nbytes = 0; /* nothing in common */
        seal(f);
        assert_int_equal(kind_at(f, 0), own ? CHUNK_UNREPEATED : CHUNK_PACKED);
        values_check_kinds(f->temp.dir, f->view, &f->naive, 1, 60);
        unseal(f);
    }
}

static void floats_are_in_total_order(void **state)
{
    const double values[] = {NAN, -NAN, 0.0, -0.0, INFINITY, -INFINITY, 1.5, -1.5, 5e-324, 1e308};
    struct fixture *f = *state;
    struct key_range zeros = {key_of_double(-0.0), key_of_double(0.0)};
    struct key_range minus = {zeros.low, zeros.low};
    struct key_range numbers[2] = {{key_of_double(-INFINITY), key_of_double(-1.5)},
                                   {key_of_double(5e-324), key_of_double(INFINITY)}};
    struct column_test tests[] = {
        {.kind = TEST_KEYS, .ranges = &zeros, .range_count = 1},
        {.kind = TEST_KEYS, .ranges = &minus, .range_count = 1},
        {.kind = TEST_KEYS, .ranges = numbers, .range_count = 2},
        {.kind = TEST_KEYS},
    };
    struct value_index *index;
    struct file_ref ref;
    uint64_t seed = 9;

    naive_make(&f->naive, 1, PAUA_TYPE_DOUBLE, SHAPE_CONSTANT, 900);
    for (uint32_t row = 0; row < f->naive.rows; row++)
        f->naive.cells[row].key = key_of_double(values[naive_below(&seed, 10)]);
    seal(f);
    values_check_kinds(f->temp.dir, f->view, &f->naive, 1, 40);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(values_write(f->temp.dir, f->view, 900, VALUES_KINDS[i], &ref, NULL),
                         PAUA_OK);
        assert_int_equal(values_open(f->temp.dir, &ref, 900, (struct values_as){0}, &index, NULL),
                         PAUA_OK);
        assert_int_equal(index->entries, i == 0 ? 10 : 900);
        for (size_t t = 0; t < sizeof tests / sizeof tests[0]; t++)
            values_check_test(index, f->view, &tests[t]);
        value_index_unref(index);
    }
    unseal(f);
}

static void a_column_of_nulls_or_none_has_an_empty_index(void **state)
{
    struct fixture *f = *state;
    struct key_range all = {0, UINT64_MAX};
    struct column_test test = {.kind = TEST_KEYS, .ranges = &all, .range_count = 1};

    naive_make(&f->naive, 1, PAUA_TYPE_INT64, SHAPE_CONSTANT, 300);
    for (uint32_t row = 0; row < 300; row++)
        f->naive.cells[row].present = false;
    seal(f);
    values_check_kinds(f->temp.dir, f->view, &f->naive, 1, 20);
    values_check_kinds(f->temp.dir, NULL, &f->naive, 1, 20);
    for (int i = 0; i < 2; i++) {
        struct value_index *index;
        struct file_ref ref;

        assert_int_equal(values_write(f->temp.dir, NULL, 300, VALUES_KINDS[i], &ref, NULL),
                         PAUA_OK);
        assert_int_equal(values_open(f->temp.dir, &ref, 300, (struct values_as){0}, &index, NULL),
                         PAUA_OK);
        assert_int_equal(index->entries, 0);
        values_check_test(index, NULL, &test);
        values_check_test(index, f->view, &test);
        value_index_unref(index);
    }
    unseal(f);
}

static void the_entries_are_the_rows_by_value_and_then_by_row(void **state)
{
    static const uint64_t keys[] = {30, 10, 20, 10, 0, 30, 10};
    static const uint32_t sorted[] = {1, 3, 6, 2, 0, 5}, firsts[] = {1, 2, 0}, totals[] = {3, 4, 6};
    struct fixture *f = *state;
    struct value_index *index;
    struct file_ref ref;

    naive_make(&f->naive, 1, PAUA_TYPE_UINT64, SHAPE_CONSTANT, 7);
    for (uint32_t row = 0; row < 7; row++)
        f->naive.cells[row] = (struct cell){.present = keys[row] != 0, .key = keys[row]};
    seal(f);
    assert_int_equal(values_write(f->temp.dir, f->view, 7, PAUA_INDEX_SORTED, &ref, NULL), PAUA_OK);
    assert_int_equal(values_open(f->temp.dir, &ref, 7, (struct values_as){0}, &index, NULL),
                     PAUA_OK);
    assert_int_equal(index->rows, 7);
    assert_int_equal(index->entries, 6);
    assert_memory_equal(index->places, sorted, sizeof sorted);
    assert_null(index->totals);
    value_index_unref(index);
    assert_int_equal(values_write(f->temp.dir, f->view, 7, PAUA_INDEX_BITMAP, &ref, NULL), PAUA_OK);
    assert_int_equal(values_open(f->temp.dir, &ref, 7, (struct values_as){0}, &index, NULL),
                     PAUA_OK);
    assert_int_equal(index->entries, 3);
    assert_memory_equal(index->places, firsts, sizeof firsts);
    assert_memory_equal(index->totals, totals, sizeof totals);
    assert_true(index->ends[0] > 0 && index->ends[1] == index->ends[0]);
    value_index_unref(value_index_ref(index));
    value_index_unref(index);
    value_index_unref(NULL);
    unseal(f);
}

/* Orders that quicksort without care takes a square of the entries for. */
static void unfavourable_orders_are_sorted(void **state)
{
    struct fixture *f = *state;

    for (int how = 0; how < 5; how++) {
        uint32_t rows = 6000;

        naive_make(&f->naive, 1, PAUA_TYPE_UINT64, SHAPE_CONSTANT, rows);
        for (uint32_t row = 0; row < rows; row++) {
            uint32_t half = row < rows / 2 ? row : rows - row;
            uint64_t keys[] = {row, rows - row, half, row % 2 ? row : rows - row, row / 100 % 3};

            f->naive.cells[row].key = keys[how] << 33;
        }
        seal(f);
        values_check_kinds(f->temp.dir, f->view, &f->naive, 1, 3);
        unseal(f);
    }
}

static void the_index_is_chosen_for_little_and_the_scan_for_much(void **state)
{
    struct key_range one = {UINT64_C(5000) << 20, UINT64_C(5000) << 20}, most = {1, UINT64_MAX / 2};
    struct column_test few = {.kind = TEST_KEYS, .ranges = &one, .range_count = 1};
    struct column_test much = {.kind = TEST_KEYS, .ranges = &most, .range_count = 1};
    struct fixture *f = *state;

    naive_make(&f->naive, 1, PAUA_TYPE_UINT64, SHAPE_CONSTANT, COLUMN_CHUNK_ROWS);
    for (uint32_t row = 0; row < COLUMN_CHUNK_ROWS; row++)
        f->naive.cells[row].key = (uint64_t)(row * 7919 % COLUMN_CHUNK_ROWS) << 20;
    seal(f);
    for (int i = 0; i < 2; i++) {
        struct value_index *index;
        struct file_ref ref;

        assert_int_equal(
            values_write(f->temp.dir, f->view, COLUMN_CHUNK_ROWS, VALUES_KINDS[i], &ref, NULL),
            PAUA_OK);
        assert_int_equal(
            values_open(f->temp.dir, &ref, COLUMN_CHUNK_ROWS, (struct values_as){0}, &index, NULL),
            PAUA_OK);
        assert_true(values_check_test(index, f->view, &few));
        assert_false(values_check_test(index, f->view, &much));
        value_index_unref(index);
    }
    unseal(f);
}

static void writing_that_is_canceled_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct temp disk;
    paua_cancel cancel = {.requested = 1};

    temp_open(&disk, false);
    make(f, 1, PAUA_TYPE_STRING, SHAPE_FEW, 500);
    for (int i = 0; i < 4; i++) {
        struct value_index_source source = {.view = i < 2 ? f->view : NULL,
                                            .rows = 500,
                                            .kind = VALUES_KINDS[i % 2],
                                            .cancel = &cancel};
        struct file_ref ref = {.number = 77};
        paua_error err;

        assert_int_equal(value_index_write(disk.dir, &VALUES_HEADER, &source, &ref, &err),
                         PAUA_ECANCELED);
        assert_int_equal(ref.number, 77);
        assert_int_equal(temp_count(&disk), 0);
    }
    unseal(f);
    temp_close(&disk);
}

static void a_full_disk_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct temp disk;

    temp_open(&disk, false);
    sys_skip_syncs();
    make(f, 1, PAUA_TYPE_STRING, SHAPE_FEW, 500);
    for (int i = 0; i < 2; i++) {
        struct file_ref ref = {.number = 77};
        unsigned n = 1;

        for (paua_status status = PAUA_ENOSPACE; status != PAUA_OK; n++) {
            sys_fail_after(n, ENOSPC);
            status = values_write(disk.dir, f->view, 500, VALUES_KINDS[i], &ref, NULL);
            sys_restore();
            assert_true(status == PAUA_OK || status == PAUA_ENOSPACE);
            assert_int_equal(temp_count(&disk), status == PAUA_OK ? 1 : 0);
            assert_int_equal(ref.number, status == PAUA_OK ? VALUES_NUMBER : 77);
        }
        assert_true(n > 5);
        assert_int_equal(dir_unlink(disk.dir, VALUES_NAME, NULL), PAUA_OK);
    }
    unseal(f);
    temp_close(&disk);
}

static void writing_without_memory_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct temp disk;

    temp_open(&disk, false);
    sys_skip_syncs();
    make(f, 1, PAUA_TYPE_BYTES, SHAPE_FEW, 500);
    for (int i = 0; i < 2; i++) {
        paua_status status = PAUA_ENOMEM;
        struct file_ref ref;

        for (uint64_t n = 1; status != PAUA_OK; n++) {
            mem_fail_after(n);
            status = values_write(disk.dir, f->view, 500, VALUES_KINDS[i], &ref, NULL);
            mem_fail_after(0);
            assert_true(status == PAUA_OK || status == PAUA_ENOMEM);
            assert_int_equal(temp_count(&disk), status == PAUA_OK ? 1 : 0);
        }
        assert_int_equal(dir_unlink(disk.dir, VALUES_NAME, NULL), PAUA_OK);
    }
    unseal(f);
    temp_close(&disk);
}

static void using_an_index_without_memory_fails_and_says_so(void **state)
{
    struct fixture *f = *state;
    struct key_range ranges[20];
    struct column_test test = {.kind = TEST_KEYS, .ranges = ranges, .range_count = 20};

    for (uint64_t i = 0; i < 20; i++)
        ranges[i] = (struct key_range){key_of_int(4 * (int64_t)i), key_of_int(4 * (int64_t)i + 1)};
    make(f, 1, PAUA_TYPE_INT64, SHAPE_DENSE, 500);
    for (int i = 0; i < 2; i++) {
        struct value_index *index = NULL;
        paua_status status = PAUA_ENOMEM;
        uint64_t bitmap[8] = {1};
        struct file_ref ref;
        bool done = false;

        assert_int_equal(values_write(f->temp.dir, f->view, 500, VALUES_KINDS[i], &ref, NULL),
                         PAUA_OK);
        for (uint64_t n = 1; status != PAUA_OK; n++) {
            mem_fail_after(n);
            status = values_open(f->temp.dir, &ref, 500, (struct values_as){.no_mmap = n % 2 != 0},
                                 &index, NULL);
            mem_fail_after(0);
            assert_true(status == PAUA_OK || status == PAUA_ENOMEM);
            assert_true((index != NULL) == (status == PAUA_OK));
        }
        mem_fail_after(1);
        assert_int_equal(value_index_find(index, f->view, &test, bitmap, &done, NULL), PAUA_ENOMEM);
        mem_fail_after(0);
        assert_true(!done && bitmap[0] == 1);
        values_check_test(index, f->view, &test);
        value_index_unref(index);
    }
    unseal(f);
}

int main(void)
{
#define MADE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        MADE(every_type_and_shape_is_found_as_by_a_scan),
        MADE(several_chunks_are_found_as_by_a_scan),
        MADE(chunks_of_several_kinds_in_one_column_are_found_as_by_a_scan),
        MADE(codes_of_every_width_are_found_as_by_a_scan),
        MADE(a_growing_column_is_found_as_by_a_scan),
        MADE(strings_that_begin_alike_are_told_apart),
        MADE(floats_are_in_total_order),
        MADE(a_column_of_nulls_or_none_has_an_empty_index),
        MADE(a_segment_longer_than_its_column_is_found_as_by_a_scan),
        MADE(the_entries_are_the_rows_by_value_and_then_by_row),
        MADE(unfavourable_orders_are_sorted),
        MADE(the_index_is_chosen_for_little_and_the_scan_for_much),
        MADE(writing_that_is_canceled_leaves_nothing),
        MADE(a_full_disk_leaves_nothing),
        MADE(writing_without_memory_leaves_nothing),
        MADE(using_an_index_without_memory_fails_and_says_so),
    };

    return cmocka_run_group_tests_name("index/value_index", tests, NULL, NULL);
}
