/* values_helper.c - see values_helper.h. */
#include "values_helper.h"

#define GUARD UINT64_C(0x5A5A5A5A5A5A5A5A)

const struct file_header VALUES_HEADER = {
    .kind = FILE_VALUES, .number = VALUES_NUMBER, .collection = 3, .field = 5};
const paua_index_kind VALUES_KINDS[2] = {PAUA_INDEX_BITMAP, PAUA_INDEX_SORTED};

paua_status values_write(struct dir *dir, const struct column_view *view, uint32_t rows,
                         paua_index_kind kind, struct file_ref *ref, paua_error *err)
{
    struct value_index_source source = {
        .view = view, .rows = rows, .columns_crc = VALUES_CRC, .kind = kind};

    return value_index_write(dir, &VALUES_HEADER, &source, ref, err);
}

paua_status values_open(struct dir *dir, const struct file_ref *ref, uint32_t rows,
                        struct values_as as, struct value_index **index, paua_error *err)
{
    struct data_file_opts opts = {.no_mmap = as.no_mmap, .verify = as.verify};
    struct data_file *file;
    paua_status status = data_file_open_sealed(dir, &VALUES_HEADER, ref, opts, &file, err);

    if (status != PAUA_OK) return status;
    status = value_index_open(file, rows, index, err);
    data_file_unref(file);
    return status;
}

static bool can_answer(const struct column_test *test)
{
    if (test->kind == TEST_SET) return !test->negated;
    return test->kind == TEST_KEYS || test->kind == TEST_BYTES;
}

/* A bitmap whose words, and one behind, are GUARD. */
static uint64_t *guarded(size_t words)
{
    uint64_t *bitmap = malloc((words + 1) * sizeof bitmap[0]);

    assert_non_null(bitmap);
    for (size_t i = 0; i <= words; i++)
        bitmap[i] = GUARD;
    return bitmap;
}

static void assert_untouched(const uint64_t *bitmap, size_t words)
{
    for (size_t i = 0; i < words; i++)
        assert_true(bitmap[i] == GUARD);
}

bool values_check_test(const struct value_index *index, const struct column_view *view,
                       const struct column_test *test)
{
    size_t words = ((size_t)index->rows + 63) / 64;
    uint64_t *scanned = guarded(words), *found = guarded(words), *matched = guarded(words);
    struct match_scratch scratch = {0};
    bool done = !can_answer(test), chosen = true;

    assert_int_equal(column_match(view, NULL, 7, test, index->rows, scanned, &scratch), PAUA_OK);
    assert_int_equal(value_index_find(index, view, test, found, &done, NULL), PAUA_OK);
    assert_int_equal(done, can_answer(test));
    if (done)
        assert_memory_equal(found, scanned, words * sizeof found[0]);
    else
        assert_untouched(found, words);
    assert_int_equal(value_index_match(index, view, test, matched, &chosen, NULL), PAUA_OK);
    if (chosen)
        assert_memory_equal(matched, scanned, words * sizeof matched[0]);
    else
        assert_untouched(matched, words);
    assert_true(done || !chosen);
    assert_true(found[words] == GUARD && matched[words] == GUARD);
    match_scratch_free(&scratch);
    free(scanned);
    free(found);
    free(matched);
    return chosen;
}

unsigned values_check(const struct value_index *index, const struct column_view *view,
                      struct naive *naive, uint64_t seed, unsigned count)
{
    struct naive_bounds bounds;
    struct column_test test;
    unsigned chosen = 0;

    for (unsigned i = 0; i < count; i++) {
        naive_test(naive, &seed, &bounds, &test);
        chosen += values_check_test(index, view, &test);
    }
    return chosen;
}

void values_check_kinds(struct dir *dir, const struct column_view *view, struct naive *naive,
                        uint64_t seed, unsigned count)
{
    for (unsigned i = 0; i < 2; i++) {
        struct values_as as = {.no_mmap = (seed + i) % 2 != 0};
        struct value_index *index;
        struct file_ref ref;
        const char *wrong = "";

        assert_int_equal(values_write(dir, view, naive->rows, VALUES_KINDS[i], &ref, NULL),
                         PAUA_OK);
        assert_int_equal(values_open(dir, &ref, naive->rows, as, &index, NULL), PAUA_OK);
        assert_int_equal(index->kind, VALUES_KINDS[i]);
        assert_int_equal(index->columns_crc, VALUES_CRC);
        assert_int_equal(value_index_validate(index, view, &wrong), PAUA_OK);
        if (wrong != NULL) fail_msg("%s", wrong);
        values_check(index, view, naive, seed, count);
        value_index_unref(index);
    }
}
