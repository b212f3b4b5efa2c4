/* test_file_writer.c - appending, marks, rewinding, reopening and sealing. */
#include <errno.h>
#include <stdio.h>

#include "base/crc32c.h"
#include "base/memory.h"
#include "store/data_file.h"
#include "store/file_writer.h"
#include "unit/store/temp.h"

#define NAME "000007.f32"
#define DATA_NBYTES_MAX (1u << 20)

static const struct file_header HEADER = {
    .kind = FILE_VECTORS_F32, .number = 7, .collection = 3, .field = 1, .row_nbytes = 16, .dim = 4};

static uint8_t data[DATA_NBYTES_MAX];

static struct file_writer *create(const struct temp *temp, bool temporary)
{
    struct file_writer *writer;

    assert_int_equal(file_writer_create(temp->dir, &HEADER, temporary, &writer, NULL), PAUA_OK);
    return writer;
}

static void append(struct file_writer *writer, const void *bytes, size_t nbytes)
{
    assert_int_equal(file_writer_append(writer, bytes, nbytes, NULL), PAUA_OK);
}

static struct file_ref seal(struct file_writer *writer)
{
    uint64_t nbytes = file_writer_data_nbytes(writer);
    struct file_footer footer = {.row_count = (uint32_t)(nbytes / 16),
                                 .section_count = 1,
                                 .sections = {{SECTION_ROWS, 0, nbytes}}};
    struct file_ref ref = {0};

    assert_int_equal(file_writer_seal(writer, &footer, &ref, NULL), PAUA_OK);
    file_writer_close(writer);
    return ref;
}

/* What the file must be: the same data written at once, by another writer, elsewhere. That its page
 * checksums are right, which both could get wrong, is for the reader to say. */
static void assert_file_is(const struct temp *temp, const void *bytes, size_t nbytes,
                           struct file_ref ref)
{
    struct temp other;
    struct bytes found, want;
    struct file_writer *writer;
    struct data_file *file;

    temp_open(&other, true);
    writer = create(&other, false);
    append(writer, bytes, nbytes);
    seal(writer);
    want = temp_read(&other, NAME);
    found = temp_read(temp, NAME);
    assert_int_equal(found.nbytes, want.nbytes);
    assert_int_equal(found.nbytes, ref.nbytes);
    assert_memory_equal(found.data, want.data, want.nbytes);
    assert_int_equal(data_file_open_any(temp->dir, 7, FILE_VECTORS_F32, (struct data_file_opts){0},
                                        &file, &ref, NULL),
                     PAUA_OK);
    assert_int_equal(data_file_verify(file, NULL), PAUA_OK);
    data_file_unref(file);
    free(found.data);
    free(want.data);
    temp_close(&other);
}

static size_t random_length(uint64_t *seed)
{
    switch (random_next(seed) % 4) {
    case 0:
        return random_next(seed) % 40;
    case 1:
        return random_next(seed) % 5000;
    case 2:
        return 65530 + random_next(seed) % 12;
    default:
        return random_next(seed) % 200000;
    }
}

static void sealed_bytes_do_not_depend_on_how_they_were_appended(void **state)
{
    struct temp *temp = *state;
    uint64_t seed = 11;

    for (int round = 0; round < 60; round++) {
        struct file_writer *writer = create(temp, round % 2 == 0);
        size_t kept = 0, at = 0;

        for (int step = 0; step < 25; step++) {
            size_t n = random_length(&seed);

            if (at + n > DATA_NBYTES_MAX) n = DATA_NBYTES_MAX - at;
            random_fill(&seed, data + at, n);
            append(writer, data + at, n);
            at += n;
            assert_int_equal(file_writer_data_nbytes(writer), at);
            if (random_next(&seed) % 3 == 0)
                assert_int_equal(file_writer_flush(writer, NULL), PAUA_OK);
            if (random_next(&seed) % 3 == 0) {
                struct extent e = file_writer_extent(writer);

                assert_int_equal(e.offset, kept);
                assert_int_equal(e.nbytes, at - kept);
                assert_int_equal(e.crc, crc32c(0, data + kept, at - kept));
                file_writer_mark(writer);
                kept = at;
            } else if (random_next(&seed) % 3 == 0) {
                file_writer_rewind(writer);
                assert_int_equal(file_writer_extent(writer).nbytes, 0);
                at = kept;
            }
        }
        assert_file_is(temp, data, at, seal(writer));
    }
}

static void aligning_adds_as_few_zero_bytes_as_needed(void **state)
{
    struct file_writer *writer = create(*state, false);

    memset(data, 0, sizeof data);
    assert_int_equal(file_writer_align(writer, 4096, NULL), PAUA_OK);
    assert_int_equal(file_writer_data_nbytes(writer), 0);
    data[0] = 'x';
    append(writer, "x", 1);
    assert_int_equal(file_writer_align(writer, 1, NULL), PAUA_OK);
    assert_int_equal(file_writer_data_nbytes(writer), 1);
    assert_int_equal(file_writer_align(writer, 8, NULL), PAUA_OK);
    assert_int_equal(file_writer_data_nbytes(writer), 8);
    data[8] = 'y';
    append(writer, "y", 1);
    assert_int_equal(file_writer_align(writer, 4096, NULL), PAUA_OK);
    assert_int_equal(file_writer_data_nbytes(writer), 4096);
    assert_file_is(*state, data, 4096, seal(writer));
}

static void after_a_failed_write_and_a_rewind_nothing_is_lost(void **state)
{
    uint64_t seed = 5;

    random_fill(&seed, data, sizeof data);
    for (unsigned nth = 1; nth < 12; nth++) {
        struct file_writer *writer = create(*state, false);
        size_t at = 0, n = 90000;

        while (at + n < 600000) {
            paua_status status;

            sys_fail_after(at == 180000 ? nth : 0, ENOSPC);
            status = file_writer_append(writer, data + at, n, NULL);
            if (status == PAUA_OK) status = file_writer_flush(writer, NULL);
            sys_restore();
            if (status == PAUA_OK) {
                file_writer_mark(writer);
                at += n;
                continue;
            }
            assert_int_equal(status, PAUA_ENOSPACE);
            file_writer_rewind(writer);
            assert_int_equal(file_writer_data_nbytes(writer), at);
            append(writer, data + at, 100);
            file_writer_mark(writer);
            at += 100;
        }
        assert_file_is(*state, data, at, seal(writer));
    }
}

/* The mark lies inside the buffer: what is before it must survive although it was never written. */
static void a_rewind_keeps_buffered_bytes_before_the_mark(void **state)
{
    struct file_writer *writer = create(*state, false);
    uint64_t seed = 6;

    random_fill(&seed, data, 100000);
    append(writer, data, 1000);
    file_writer_mark(writer);
    append(writer, data + 5000, 2000);
    file_writer_rewind(writer);
    append(writer, data + 1000, 500);
    file_writer_mark(writer);
    sys_fail_after(1, EIO);
    assert_int_equal(file_writer_append(writer, data + 1500, 90000, NULL), PAUA_EIO);
    sys_restore();
    file_writer_rewind(writer);
    append(writer, data + 1500, 90000);
    assert_file_is(*state, data, 91500, seal(writer));
}

static void a_temporary_file_has_its_name_only_once_it_is_sealed(void **state)
{
    struct temp *temp = *state;
    struct file_writer *writer = create(temp, true);

    assert_true(dir_exists(temp->dir, NAME ".tmp"));
    assert_false(dir_exists(temp->dir, NAME));
    seal(writer);
    assert_true(dir_exists(temp->dir, NAME));
    assert_int_equal(temp_count(temp), 1);

    writer = create(temp, true);
    append(writer, "x", 1);
    file_writer_close(writer);
    assert_int_equal(temp_count(temp), 1);
    file_writer_close(NULL);
}

static void closing_keeps_an_unsealed_file_that_is_not_temporary(void **state)
{
    struct temp *temp = *state;
    struct file_writer *writer = create(temp, false);

    append(writer, "x", 1);
    assert_int_equal(file_writer_sync(writer, NULL), PAUA_OK);
    file_writer_close(writer);
    assert_true(dir_exists(temp->dir, NAME));
}

static void creating_replaces_a_leftover(void **state)
{
    struct temp *temp = *state;

    random_fill(&(uint64_t){1}, data, 5000);
    temp_write(temp, NAME, data, 5000);
    assert_file_is(temp, "", 0, seal(create(temp, false)));
}

static void a_failed_sync_is_an_error(void **state)
{
    struct file_writer *writer = create(*state, false);

    sys_fail_after(1, EIO);
    assert_int_equal(file_writer_sync(writer, NULL), PAUA_EIO);
    sys_restore();
    file_writer_close(writer);
}

/* Flush, write of the footer, truncation, sync, rename: each fails once. */
static void a_seal_that_fails_anywhere_can_be_repeated_or_dropped(void **state)
{
    struct temp *temp = *state;
    uint64_t seed = 8;
    bool succeeded = false;
    unsigned nth;

    random_fill(&seed, data, 70000);
    for (nth = 1; !succeeded; nth++) {
        struct file_writer *writer = create(temp, true);
        struct file_footer footer = {.section_count = 1, .sections = {{SECTION_ROWS, 0, 70000}}};
        struct file_ref ref = {.number = 99};
        paua_status status;

        append(writer, data, 70000);
        sys_fail_after(nth, EIO);
        status = file_writer_seal(writer, &footer, &ref, NULL);
        sys_restore();
        succeeded = status == PAUA_OK;
        if (!succeeded) {
            assert_int_equal(status, PAUA_EIO);
            assert_int_equal(ref.number, 99);
            assert_false(dir_exists(temp->dir, NAME));
            if (nth % 2 == 0) {
                assert_int_equal(file_writer_seal(writer, &footer, &ref, NULL), PAUA_OK);
                assert_int_equal(dir_unlink(temp->dir, NAME, NULL), PAUA_OK);
            }
        }
        file_writer_close(writer);
        assert_int_equal(temp_count(temp), succeeded);
    }
    assert_int_equal(nth, 5 + 2);
}

static void a_failed_creation_leaves_no_file(void **state)
{
    struct temp *temp = *state;
    struct file_writer *writer = NULL;

    for (unsigned nth = 1; nth <= 2; nth++) {
        sys_fail_after(nth, ENOSPC);
        assert_int_equal(file_writer_create(temp->dir, &HEADER, nth == 1, &writer, NULL),
                         PAUA_ENOSPACE);
        sys_restore();
        assert_null(writer);
        assert_int_equal(temp_count(temp), 0);
    }
}

/* Reopening. A tail of three extents with gaps, and leftovers of a crash after them. */

static const struct extent PLACES[] = {
    {0, 1000, 0}, {1000, 70000, 0}, {80000, 0, 0}, {100000, 150000, 0}};
#define PLACE_COUNT (sizeof PLACES / sizeof PLACES[0])
#define TAIL_NBYTES 250000u

static void make_tail(const struct temp *temp, struct extent extents[PLACE_COUNT])
{
    struct file_writer *writer = create(temp, false);
    uint64_t seed = 9;

    random_fill(&seed, data, 400000);
    append(writer, data, TAIL_NBYTES);
    append(writer, data + 300000, 1234);
    assert_int_equal(file_writer_sync(writer, NULL), PAUA_OK);
    file_writer_close(writer);
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        extents[i] = PLACES[i];
        extents[i].crc = crc32c(0, data + PLACES[i].offset, (size_t)PLACES[i].nbytes);
    }
}

static void a_reopened_file_goes_on_as_if_never_closed(void **state)
{
    static const size_t lengths[] = {0, 1, 65535, 65536, 65537, 131072, TAIL_NBYTES};
    struct temp *temp = *state;
    struct extent extents[PLACE_COUNT];

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct file_writer *writer;
        size_t bad = 77, count = lengths[i] == TAIL_NBYTES ? PLACE_COUNT : 0;

        make_tail(temp, extents);
        assert_int_equal(
            file_writer_reopen(temp->dir, &HEADER, lengths[i], extents, count, &writer, &bad, NULL),
            PAUA_OK);
        assert_int_equal(bad, count);
        assert_int_equal(file_writer_data_nbytes(writer), lengths[i]);
        assert_int_equal(file_writer_extent(writer).nbytes, 0);
        append(writer, data + lengths[i], 5);
        file_writer_rewind(writer);
        append(writer, data + lengths[i], 100001);
        assert_file_is(temp, data, lengths[i] + 100001, seal(writer));
    }
}

static size_t bad_extent(const struct temp *temp, const struct extent *extents, size_t count)
{
    struct file_writer *writer;
    size_t bad = 77;

    assert_int_equal(
        file_writer_reopen(temp->dir, &HEADER, TAIL_NBYTES, extents, count, &writer, &bad, NULL),
        PAUA_OK);
    file_writer_close(writer);
    return bad;
}

static void the_first_extent_that_does_not_match_is_named(void **state)
{
    static const size_t places[] = {0, 999, 1000, 65535, 65536, 70999, 100000, 249999};
    static const size_t owners[] = {0, 0, 1, 1, 1, 1, 3, 3};
    struct temp *temp = *state;
    struct extent extents[PLACE_COUNT];
    struct bytes file;

    make_tail(temp, extents);
    file = temp_read(temp, NAME);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        file.data[FILE_HEADER_NBYTES + places[i]] ^= 0x10;
        temp_write(temp, NAME, file.data, file.nbytes);
        assert_int_equal(bad_extent(temp, extents, PLACE_COUNT), owners[i]);
        file.data[FILE_HEADER_NBYTES + places[i]] ^= 0x10;
    }
    file.data[FILE_HEADER_NBYTES + 5000] ^= 1;
    file.data[FILE_HEADER_NBYTES + 200000] ^= 1;
    temp_write(temp, NAME, file.data, file.nbytes);
    assert_int_equal(bad_extent(temp, extents, PLACE_COUNT), 1);
    file.data[FILE_HEADER_NBYTES + 5000] ^= 1;
    file.data[FILE_HEADER_NBYTES + 200000] ^= 1;
    file.data[FILE_HEADER_NBYTES + 90000] ^= 1; /* in a gap */
    temp_write(temp, NAME, file.data, file.nbytes);
    assert_int_equal(bad_extent(temp, extents, PLACE_COUNT), PLACE_COUNT);
    free(file.data);
}

static void extents_that_no_file_has_are_bad_ones(void **state)
{
    static const struct extent forged[] = {{TAIL_NBYTES, 1, 0},    {TAIL_NBYTES - 10, 11, 0},
                                           {UINT64_MAX, 10, 0},    {10, UINT64_MAX, 0},
                                           {UINT64_MAX - 5, 6, 0}, {500, 600, 0},
                                           {TAIL_NBYTES + 5, 0, 1}};
    struct temp *temp = *state;
    struct extent extents[PLACE_COUNT];

    make_tail(temp, extents);
    for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
        struct extent two[2] = {extents[0], forged[i]};

        assert_int_equal(bad_extent(temp, two, 2), 1);
    }
    struct extent falling[2] = {extents[1], extents[0]};
    assert_int_equal(bad_extent(temp, falling, 2), 1);
}

static void assert_reopen_fails(const struct temp *temp, const struct file_header *header,
                                uint64_t nbytes, paua_status want)
{
    struct file_writer *writer = NULL;
    size_t bad = 77;
    paua_error err;

    assert_int_equal(file_writer_reopen(temp->dir, header, nbytes, NULL, 0, &writer, &bad, &err),
                     want);
    assert_null(writer);
    assert_int_equal(bad, 77);
    assert_non_null(strstr(err.message, "0000"));
}

static void a_file_that_is_another_or_too_short_is_not_reopened(void **state)
{
    struct temp *temp = *state;
    struct extent extents[PLACE_COUNT];
    struct file_header headers[4] = {HEADER, HEADER, HEADER, HEADER};
    struct file_header newer = HEADER;
    uint8_t bytes[FILE_HEADER_NBYTES];
    struct bytes file;

    make_tail(temp, extents);
    headers[0].collection++;
    headers[1].field++;
    headers[2].dim = 8;
    headers[2].row_nbytes = 32;
    headers[3].number++;
    for (size_t i = 0; i < 3; i++)
        assert_reopen_fails(temp, &headers[i], 10, PAUA_ECORRUPT);
    assert_reopen_fails(temp, &headers[3], 10, PAUA_ENOTFOUND);
    assert_reopen_fails(temp, &HEADER, TAIL_NBYTES + 1235, PAUA_ECORRUPT);
    assert_reopen_fails(temp, &HEADER, UINT64_MAX - 10, PAUA_ECORRUPT);

    file = temp_read(temp, NAME);
    temp_write(temp, NAME, file.data, FILE_HEADER_NBYTES - 1);
    assert_reopen_fails(temp, &HEADER, 0, PAUA_ECORRUPT);
    file.data[3] ^= 1;
    temp_write(temp, NAME, file.data, file.nbytes);
    assert_reopen_fails(temp, &HEADER, 10, PAUA_ECORRUPT);
    newer.read_compat = 4;
    file_header_encode(&newer, bytes);
    temp_write(temp, NAME, bytes, sizeof bytes);
    assert_reopen_fails(temp, &HEADER, 0, PAUA_EVERSION);
    free(file.data);
}

/* The first allocation to fail moves on until everything succeeds. */
static void every_failed_allocation_is_an_error_that_changes_nothing(void **state)
{
    struct temp *temp = *state;
    paua_status status = PAUA_ENOMEM;

    for (uint64_t nth = 1; status != PAUA_OK; nth++) {
        struct file_footer footer = {.section_count = 1, .sections = {{SECTION_ROWS, 0, 200000}}};
        struct file_writer *writer = NULL;
        struct file_ref ref;

        mem_fail_after(nth);
        status = file_writer_create(temp->dir, &HEADER, true, &writer, NULL);
        if (status == PAUA_OK) status = file_writer_append(writer, data, 200000, NULL);
        if (status == PAUA_OK) status = file_writer_seal(writer, &footer, &ref, NULL);
        mem_fail_after(0);
        if (status != PAUA_OK) assert_int_equal(status, PAUA_ENOMEM);
        file_writer_close(writer);
        assert_int_equal(temp_count(temp), status == PAUA_OK);
        assert_true(nth < 20);
    }
}

static void a_writer_holds_one_page_and_its_checksums(void **state)
{
    struct file_writer *writer = create(*state, true);

    assert_true(file_writer_heap_nbytes(writer) < 70000);
    append(writer, data, sizeof data);
    assert_true(file_writer_heap_nbytes(writer) < 70000);
    file_writer_close(writer);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(sealed_bytes_do_not_depend_on_how_they_were_appended),
        TEST(aligning_adds_as_few_zero_bytes_as_needed),
        TEST(after_a_failed_write_and_a_rewind_nothing_is_lost),
        TEST(a_rewind_keeps_buffered_bytes_before_the_mark),
        TEST(a_temporary_file_has_its_name_only_once_it_is_sealed),
        TEST(closing_keeps_an_unsealed_file_that_is_not_temporary),
        TEST(creating_replaces_a_leftover),
        TEST(a_failed_sync_is_an_error),
        TEST(a_seal_that_fails_anywhere_can_be_repeated_or_dropped),
        TEST(a_failed_creation_leaves_no_file),
        TEST(a_reopened_file_goes_on_as_if_never_closed),
        TEST(the_first_extent_that_does_not_match_is_named),
        TEST(extents_that_no_file_has_are_bad_ones),
        TEST(a_file_that_is_another_or_too_short_is_not_reopened),
        TEST(every_failed_allocation_is_an_error_that_changes_nothing),
        TEST(a_writer_holds_one_page_and_its_checksums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
