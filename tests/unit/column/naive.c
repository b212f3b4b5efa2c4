/* naive.c - columns as plain arrays: see naive.h. */
#include "naive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "column/reader.h"

#define RANGES_MAX NAIVE_BOUNDS_MAX
#define MEMBERS_MAX NAIVE_BOUNDS_MAX

const uint32_t naive_types[] = {
    PAUA_TYPE_BOOL,
    PAUA_TYPE_INT8,
    PAUA_TYPE_UINT16,
    PAUA_TYPE_INT64,
    PAUA_TYPE_UINT64,
    PAUA_TYPE_FLOAT,
    PAUA_TYPE_DOUBLE,
    PAUA_TYPE_TIMESTAMP,
    PAUA_TYPE_STRING,
    PAUA_TYPE_BYTES,
    PAUA_TYPE_MIXED,
    PAUA_TYPE_ARRAY | PAUA_TYPE_INT32,
    PAUA_TYPE_ARRAY | PAUA_TYPE_STRING,
};
const unsigned naive_type_count = sizeof naive_types / sizeof naive_types[0];

uint64_t naive_random(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

uint32_t naive_below(uint64_t *seed, uint32_t n) { return (uint32_t)(naive_random(seed) % n); }

/* A key that the type has, made of a number. */
static uint64_t key_from(uint32_t type, uint64_t number)
{
    switch (type) {
    case PAUA_TYPE_BOOL:
        return number & 1;
    case PAUA_TYPE_INT8:
        return key_of_int((int8_t)number);
    case PAUA_TYPE_UINT16:
        return (uint16_t)number;
    case PAUA_TYPE_INT64:
    case PAUA_TYPE_TIMESTAMP:
        return key_of_int((int64_t)number - 50);
    case PAUA_TYPE_FLOAT:
        return (uint32_t)number;
    default:
        return number;
    }
}

static void text_value(struct naive *naive, uint64_t number, struct cell *cell)
{
    char text[64];
    uint32_t type = naive->type;
    int length = snprintf(text, sizeof text, "value %llu", (unsigned long long)number);
    uint8_t stored[128];
    size_t nbytes = (size_t)length;

    if (number % 16 == 3) nbytes = 0;
    memcpy(stored, text, nbytes);
    if (type == PAUA_TYPE_MIXED) {
        stored[0] = number % 2 ? PAUA_TYPE_STRING : PAUA_TYPE_BYTES;
        memcpy(stored + 1, text, nbytes++);
    } else if (type == (PAUA_TYPE_ARRAY | PAUA_TYPE_INT32)) {
        nbytes = 4 * (number % 5);
        for (size_t i = 0; i < nbytes; i += 4)
            bytes_put(stored + i, (number + i) & 0xFFFFFFFF, 4);
    } else if (type == (PAUA_TYPE_ARRAY | PAUA_TYPE_STRING)) {
        bytes_put(stored, nbytes, 4);
        memcpy(stored + 4, text, nbytes);
        nbytes += 4;
    }
    cell->data = arena_copy(&naive->bytes, stored, nbytes);
    cell->nbytes = nbytes;
    assert_non_null(cell->data);
}

static uint64_t number_of(enum naive_shape shape, uint64_t *seed, uint32_t row, bool *present)
{
    *present = true;
    switch (shape) {
    case SHAPE_CONSTANT:
        return 77;
    case SHAPE_FEW:
        *present = naive_below(seed, 9) != 0;
        return naive_below(seed, 8);
    case SHAPE_DENSE:
        return naive_below(seed, 300);
    case SHAPE_SPARSE:
        *present = naive_below(seed, 40) == 0;
        return naive_below(seed, 3) == 0 ? naive_random(seed) : naive_below(seed, 100);
    case SHAPE_DRIFT:
        return UINT64_C(1) << 40 | ((uint64_t)row * 100 ^ naive_below(seed, 5000));
    default:
        *present = naive_below(seed, 20) != 0;
        return naive_random(seed);
    }
}

struct cell naive_value(struct naive *naive, uint64_t *seed, enum naive_shape shape, uint32_t row)
{
    struct cell cell = {0};
    uint64_t number;

    if (shape == SHAPE_CHANGING) shape = (enum naive_shape)(row / 7000 * 5 % SHAPE_CHANGING);
    number = number_of(shape, seed, row, &cell.present);
    if (!cell.present) return cell;
    if (type_is_number(naive->type))
        cell.key = key_from(naive->type, number);
    else
        text_value(naive, number, &cell);
    return cell;
}

void naive_make(struct naive *naive, uint64_t seed, uint32_t type, enum naive_shape shape,
                uint32_t rows)
{
    *naive = (struct naive){.type = type, .rows = rows};
    naive->cells = malloc((rows + 1) * sizeof naive->cells[0]);
    assert_non_null(naive->cells);
    for (uint32_t row = 0; row < rows; row++)
        naive->cells[row] = naive_value(naive, &seed, shape, row);
}

void naive_free(struct naive *naive)
{
    free(naive->cells);
    arena_free(&naive->bytes);
    *naive = (struct naive){0};
}

void naive_same_cell(const struct cell *a, const struct cell *b, uint32_t type)
{
    assert_int_equal(a->present, b->present);
    if (!a->present) return;
    if (type_is_number(type)) {
        assert_true(a->key == b->key);
        return;
    }
    assert_int_equal(a->nbytes, b->nbytes);
    assert_non_null(a->data);
    assert_memory_equal(a->data, b->data, a->nbytes);
}

/* ---- random tests ---- */

static bool odd_length(const void *arg, const uint8_t *data, size_t nbytes)
{
    (void)data;
    return (nbytes + *(const uint32_t *)arg) % 2 == 1;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static struct cell some_value(struct naive *naive, uint64_t *seed)
{
    struct cell cell;

    if (naive->rows == 0 || naive_below(seed, 4) == 0)
        return naive_value(naive, seed, SHAPE_DENSE, 0);
    cell = naive->cells[naive_below(seed, naive->rows)];
    return cell.present ? cell : naive_value(naive, seed, SHAPE_DENSE, 0);
}

static void some_ranges(struct naive *naive, uint64_t *seed, struct naive_bounds *bounds,
                        struct column_test *test)
{
    size_t wanted = naive_below(seed, 3) ? naive_below(seed, 3) : naive_below(seed, RANGES_MAX);
    uint64_t keys[2 * RANGES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < 2 * wanted; i++)
        keys[i] = some_value(naive, seed).key;
    qsort(keys, 2 * wanted, sizeof keys[0], by_key);
    for (size_t i = 0; i < wanted; i++) {
        uint64_t low = keys[2 * i], high = naive_below(seed, 2) ? low : keys[2 * i + 1];

        if (count > 0 && low - 1 <= bounds->ranges[count - 1].high) continue;
        bounds->ranges[count++] = (struct key_range){low, high};
    }
    if (naive_below(seed, 8) == 0) {
        bounds->ranges[0] = (struct key_range){0, UINT64_MAX};
        count = 1;
    }
    *test = (struct column_test){.kind = TEST_KEYS, .ranges = bounds->ranges, .range_count = count};
}

static void some_set(struct naive *naive, uint64_t *seed, struct naive_bounds *bounds,
                     struct column_test *test)
{
    size_t wanted = naive_below(seed, 2) ? naive_below(seed, 5) : naive_below(seed, MEMBERS_MAX);
    size_t count = 0;

    for (size_t i = 0; i < wanted; i++) {
        struct cell cell = some_value(naive, seed);
        size_t at = 0;
        int order = 1;

        for (; at < count; at++) {
            order =
                bytes_compare(bounds->set[at].data, bounds->set[at].nbytes, cell.data, cell.nbytes);
            if (order >= 0) break;
        }
        if (at < count && order == 0) continue;
        memmove(bounds->set + at + 1, bounds->set + at, (count - at) * sizeof bounds->set[0]);
        bounds->set[at] = (paua_bytes){cell.data, cell.nbytes};
        count++;
    }
    *test = (struct column_test){.kind = TEST_SET,
                                 .negated = naive_below(seed, 3) == 0,
                                 .set = bounds->set,
                                 .set_count = count};
}

static void some_between(struct naive *naive, uint64_t *seed, struct column_test *test)
{
    struct cell low = some_value(naive, seed), high = some_value(naive, seed);

    *test = (struct column_test){.kind = TEST_BYTES,
                                 .low_open = naive_below(seed, 2) == 0,
                                 .high_open = naive_below(seed, 2) == 0};
    if (naive_below(seed, 3) != 0) test->low = (paua_bytes){low.data, low.nbytes};
    if (naive_below(seed, 3) != 0) test->high = (paua_bytes){high.data, high.nbytes};
    if (naive_below(seed, 3) != 0) return;
    test->high = test->low;
    test->low_open = test->high_open = false;
}

void naive_test(struct naive *naive, uint64_t *seed, struct naive_bounds *bounds,
                struct column_test *test)
{
    static uint32_t parity;
    uint32_t kind = naive_below(seed, 8);

    parity = naive_below(seed, 2);
    if (kind < 2)
        *test = (struct column_test){.kind = kind == 0 ? TEST_NULL : TEST_NOT_NULL};
    else if (type_is_number(naive->type))
        some_ranges(naive, seed, bounds, test);
    else if (kind < 4)
        some_set(naive, seed, bounds, test);
    else if (kind < 7)
        some_between(naive, seed, test);
    else
        *test = (struct column_test){.kind = TEST_CALL, .call = odd_length, .arg = &parity};
}

/* ---- what filters mean, without the column layer's own comparison of values ---- */

static bool same_bytes(const paua_bytes *a, const struct cell *cell)
{
    return a->nbytes == cell->nbytes && memcmp(a->data, cell->data, a->nbytes) == 0;
}

static bool below(const uint8_t *a, size_t a_nbytes, const uint8_t *b, size_t b_nbytes)
{
    for (size_t i = 0; i < a_nbytes && i < b_nbytes; i++)
        if (a[i] != b[i]) return a[i] < b[i];
    return a_nbytes < b_nbytes;
}

static bool naive_passes(const struct column_test *test, const struct cell *cell)
{
    const paua_bytes *low = &test->low, *high = &test->high;
    bool found = false;

    if (test->kind == TEST_NULL || test->kind == TEST_NOT_NULL)
        return cell->present == (test->kind == TEST_NOT_NULL);
    if (!cell->present) return false;
    if (test->kind == TEST_CALL) return test->call(test->arg, cell->data, cell->nbytes);
    if (test->kind == TEST_KEYS) {
        for (size_t i = 0; i < test->range_count; i++)
            found |= test->ranges[i].low <= cell->key && cell->key <= test->ranges[i].high;
        return found;
    }
    if (test->kind == TEST_SET) {
        for (size_t i = 0; i < test->set_count; i++)
            found |= same_bytes(&test->set[i], cell);
        return found != test->negated;
    }
    if (low->data != NULL) {
        if (below(cell->data, cell->nbytes, low->data, low->nbytes)) return false;
        if (test->low_open && same_bytes(low, cell)) return false;
    }
    if (high->data == NULL) return true;
    if (below(high->data, high->nbytes, cell->data, cell->nbytes)) return false;
    return !test->high_open || !same_bytes(high, cell);
}

/* Values, spread three apart, are those of the cells. */
static void same_value(const paua_value *got, const paua_value *wanted)
{
    assert_int_equal(got->type, wanted->type);
    if (wanted->type == PAUA_TYPE_NULL) return;
    if (type_is_number(wanted->type))
        assert_memory_equal(&got->as.u64, &wanted->as.u64, wanted->type == PAUA_TYPE_BOOL ? 1 : 8);
    else
        assert_true(got->as.bytes.data == wanted->as.bytes.data &&
                    got->as.bytes.nbytes == wanted->as.bytes.nbytes);
}

static void check_values(struct column_reader *reader, uint32_t first, uint32_t n,
                         const struct cell *cells)
{
    uint32_t type = reader->view->type;
    paua_value *values = malloc(((size_t)n * 3 + 1) * sizeof values[0]);

    assert_non_null(values);
    memset(values, 0xAA, ((size_t)n * 3 + 1) * sizeof values[0]);
    column_reader_values(reader, first, n, values, 3);
    for (uint32_t i = 0; i < n; i++) {
        paua_value wanted = value_of_cell(type, &cells[i]);

        same_value(&values[3 * i], &wanted);
        assert_int_equal(values[3 * i + 1].type, 0xAAAA);
    }
    free(values);
}

/* Values that are present are those of the cells that are, with their rows. */
static void check_present(struct column_reader *reader, uint32_t first, uint32_t n,
                          const struct cell *cells)
{
    paua_value *values = malloc(((size_t)n + 1) * sizeof values[0]);
    uint16_t *rows = malloc(((size_t)n + 1) * sizeof rows[0]);
    uint32_t count, at = 0;

    assert_non_null(values);
    assert_non_null(rows);
    count = column_reader_present(reader, first, n, rows, values);
    for (uint32_t i = 0; i < n; i++) {
        paua_value wanted = value_of_cell(reader->view->type, &cells[i]);

        if (!cells[i].present) continue;
        assert_true(at < count);
        assert_int_equal(rows[at], i);
        same_value(&values[at++], &wanted);
    }
    assert_int_equal(at, count);
    free(values);
    free(rows);
}

/* Blocks in rising order, as a walk reads them. */
static void check_walk(const struct column_view *view, uint32_t rows, const struct cell *cells)
{
    struct column_reader reader;

    column_reader_begin(&reader, view);
    for (uint32_t first = 0; first < rows; first += 100) {
        uint32_t n = rows - first < 100 ? rows - first : 100;

        if (first / 100 % 3 == 0)
            check_values(&reader, first, n, cells + first);
        else
            check_present(&reader, first, n, cells + first);
    }
}

static void check_cells(const struct naive *naive, const struct column_view *view, uint64_t seed)
{
    struct cell *cells = malloc((naive->rows + 100) * sizeof cells[0]), none = {0};
    struct column_reader reader;

    assert_non_null(cells);
    column_reader_begin(&reader, view);
    for (uint32_t row = 0; row < naive->rows; row++) {
        column_cell(view, row, &cells[row]);
        naive_same_cell(&naive->cells[row], &cells[row], naive->type);
    }
    for (unsigned i = 0; i < 6; i++) {
        uint32_t first = i == 0 ? 0 : naive_below(&seed, naive->rows + 1);
        uint32_t n = i == 0 ? naive->rows + 100 : naive_below(&seed, naive->rows + 100 - first);

        memset(cells, 0xAA, (naive->rows + 100) * sizeof cells[0]);
        column_cells(view, first, n, cells);
        for (uint32_t row = 0; row < n; row++)
            naive_same_cell(first + row < naive->rows ? &naive->cells[first + row] : &none,
                            &cells[row], naive->type);
        check_values(&reader, first, n, cells);
        if (n <= COLUMN_CHUNK_ROWS) check_present(&reader, first, n, cells);
        if (i == 0) check_walk(view, naive->rows, cells);
    }
    free(cells);
}

static void check_match(struct naive *naive, const struct column_view *view,
                        const struct patches *patches, const struct column_test *test,
                        uint32_t rows, struct match_scratch *scratch)
{
    size_t words = ((size_t)rows + 63) / 64;
    uint64_t *bitmap = malloc((words + 1) * sizeof bitmap[0]);

    assert_non_null(bitmap);
    memset(bitmap, 0x5A, (words + 1) * sizeof bitmap[0]);
    assert_int_equal(column_match(view, patches, 7, test, rows, bitmap, scratch), PAUA_OK);
    assert_true(bitmap[words] == UINT64_C(0x5A5A5A5A5A5A5A5A));
    for (uint32_t row = 0; row < words * 64; row++) {
        struct cell cell = row < naive->rows ? naive->cells[row] : (struct cell){0}, patched;
        bool expected, got = (bitmap[row / 64] >> row % 64 & 1) != 0;

        if (patches_find(patches, 7, row, &patched)) cell = patched;
        expected = row < rows && naive_passes(test, &cell);
        if (got != expected)
            fail_msg("row %u of %u: test of kind %d gives %d", row, rows, (int)test->kind, got);
        if (row < rows) assert_int_equal(expected, test_passes(test, &cell));
    }
    free(bitmap);
}

void naive_check(struct naive *naive, const struct column_view *view, const struct patches *patches,
                 uint64_t seed, unsigned count)
{
    struct match_scratch scratch = {0};
    struct naive_bounds bounds;
    struct column_test test;

    check_cells(naive, view, seed);
    for (unsigned i = 0; i < count; i++) {
        uint32_t rows = naive->rows + naive_below(&seed, 200);

        naive_test(naive, &seed, &bounds, &test);
        if (i % 4 == 3) rows = naive_below(&seed, naive->rows + 1);
        check_match(naive, view, patches, &test, rows, &scratch);
    }
    match_scratch_free(&scratch);
}
