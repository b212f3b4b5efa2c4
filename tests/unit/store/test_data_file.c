/* test_data_file.c - reading sealed and growing files. Damage is test_data_file_damage.c's. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/data_file.h"
#include "store/file_writer.h"
#include "unit/store/temp.h"

#define NAME "000007.f32"
#define DATA_NBYTES 300000u
#define FAR_OFFSET (UINT64_C(200) << 20) /* past the room of a new map */

static const struct file_header HEADER = {
    .kind = FILE_VECTORS_F32, .number = 7, .collection = 3, .field = 1, .row_nbytes = 16, .dim = 4};

static const struct data_file_opts OPTIONS[] = {
    {.no_mmap = false, .verify = PAUA_VERIFY_TOUCH},
    {.no_mmap = true, .verify = PAUA_VERIFY_TOUCH},
    {.no_mmap = false, .verify = PAUA_VERIFY_HEADER},
    {.no_mmap = true, .verify = PAUA_VERIFY_HEADER},
};
#define OPTION_COUNT (sizeof OPTIONS / sizeof OPTIONS[0])

static uint8_t data[DATA_NBYTES];

static struct file_ref make_sealed(const struct temp *temp)
{
    struct file_footer footer = {
        .row_count = 18750,
        .section_count = 2,
        .sections = {{SECTION_ROWS, 0, DATA_NBYTES - 64}, {SECTION_LENGTHS, DATA_NBYTES - 64, 64}},
        .manifest = {"manifest", 8},
        .schema = {"sch", 3}};
    struct file_writer *writer;
    struct file_ref ref;
    uint64_t seed = 21;

    random_fill(&seed, data, sizeof data);
    assert_int_equal(file_writer_create(temp->dir, &HEADER, true, &writer, NULL), PAUA_OK);
    assert_int_equal(file_writer_append(writer, data, sizeof data, NULL), PAUA_OK);
    assert_int_equal(file_writer_seal(writer, &footer, &ref, NULL), PAUA_OK);
    file_writer_close(writer);
    return ref;
}

static struct data_file *open_sealed(const struct temp *temp, struct file_ref ref,
                                     struct data_file_opts opts)
{
    struct data_file *file;

    assert_int_equal(data_file_open_sealed(temp->dir, &HEADER, &ref, opts, &file, NULL), PAUA_OK);
    return file;
}

static void flip(const struct temp *temp, uint64_t data_offset)
{
    uint8_t byte;
    int fd;

    assert_int_equal(dir_open_file(temp->dir, NAME, DIR_WRITE, &fd, NULL), PAUA_OK);
    assert_int_equal(fd_pread(fd, NAME, &byte, 1, FILE_HEADER_NBYTES + data_offset, NULL), PAUA_OK);
    byte ^= 4;
    assert_int_equal(fd_pwrite(fd, NAME, &byte, 1, FILE_HEADER_NBYTES + data_offset, NULL),
                     PAUA_OK);
    fd_close(fd);
}

static void assert_range(struct data_file *file, uint64_t offset, size_t nbytes)
{
    uint8_t *scratch = malloc(nbytes + 1);
    const uint8_t *bytes = NULL;

    assert_int_equal(data_file_read(file, offset, nbytes, scratch, &bytes, NULL), PAUA_OK);
    if (nbytes > 0) assert_memory_equal(bytes, data + offset, nbytes);
    if (!data_file_mapped(file)) assert_ptr_equal(bytes, scratch);
    if (data_file_mapped(file)) assert_ptr_not_equal(bytes, scratch);
    memset(scratch, 0, nbytes);
    assert_int_equal(data_file_pread(file, offset, nbytes, scratch, NULL), PAUA_OK);
    assert_memory_equal(scratch, data + offset, nbytes);
    free(scratch);
}

static void a_sealed_file_reads_as_it_was_written(void **state)
{
    struct file_ref ref = make_sealed(*state);
    uint64_t seed = 22;

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        struct data_file *file = open_sealed(*state, ref, OPTIONS[i]);

        assert_int_equal(data_file_mapped(file), !OPTIONS[i].no_mmap);
        for (int round = 0; round < 200; round++) {
            uint64_t offset = random_next(&seed) % (DATA_NBYTES + 1);
            size_t most = (size_t)(DATA_NBYTES - offset);

            if (round % 2 == 0 && most > 100) most = 100;
            assert_range(file, offset, most == 0 ? 0 : random_next(&seed) % (most + 1));
        }
        assert_range(file, 0, DATA_NBYTES);
        assert_range(file, DATA_NBYTES, 0);
        assert_int_equal(data_file_verify(file, NULL), PAUA_OK);
        data_file_unref(file);
    }
}

static void the_footer_comes_back(void **state)
{
    struct file_ref ref = make_sealed(*state), found = {0};
    struct data_file *file;

    assert_int_equal(data_file_open_any(((struct temp *)*state)->dir, 7, FILE_VECTORS_F32,
                                        OPTIONS[0], &file, &found, NULL),
                     PAUA_OK);
    assert_int_equal(found.number, ref.number);
    assert_int_equal(found.nbytes, ref.nbytes);
    assert_int_equal(found.footer_crc, ref.footer_crc);
    assert_string_equal(data_file_name(file), NAME);
    assert_int_equal(data_file_header(file)->dim, 4);
    assert_int_equal(data_file_row_count(file), 18750);
    assert_int_equal(data_file_section(file, SECTION_LENGTHS)->offset, DATA_NBYTES - 64);
    assert_null(data_file_section(file, SECTION_KEYS));
    assert_null(data_file_ids(file).data);
    assert_int_equal(data_file_manifest(file).nbytes, 8);
    assert_memory_equal(data_file_manifest(file).data, "manifest", 8);
    assert_int_equal(data_file_schema(file).nbytes, 3);
    assert_int_equal(data_file_mapped_nbytes(file), ref.nbytes);
    assert_true(data_file_heap_nbytes(file) < 4096);
    data_file_unref(file);
}

static void ranges_outside_the_data_are_refused(void **state)
{
    static const struct {
        uint64_t offset;
        size_t nbytes;
    } ranges[] = {{0, DATA_NBYTES + 1}, {DATA_NBYTES, 1},      {DATA_NBYTES + 1, 0},
                  {UINT64_MAX, 1},      {UINT64_MAX - 5, 100}, {1, SIZE_MAX},
                  {0, SIZE_MAX},        {DATA_NBYTES - 1, 2},  {INT64_MAX, 1}};
    struct file_ref ref = make_sealed(*state);
    static uint8_t scratch[DATA_NBYTES + 64];

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        struct data_file *file = open_sealed(*state, ref, OPTIONS[i]);

        for (size_t j = 0; j < sizeof ranges / sizeof ranges[0]; j++) {
            const uint8_t *bytes = NULL;

            assert_int_equal(
                data_file_read(file, ranges[j].offset, ranges[j].nbytes, scratch, &bytes, NULL),
                PAUA_ECORRUPT);
            assert_null(bytes);
            assert_int_equal(
                data_file_pread(file, ranges[j].offset, ranges[j].nbytes, scratch, NULL),
                PAUA_ECORRUPT);
        }
        data_file_unref(file);
    }
}

/* Page 1 is damaged under an open file, before or after it was first read. */
static void a_page_is_verified_when_first_touched_and_not_again(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make_sealed(temp);
    static uint8_t scratch[DATA_NBYTES];
    const uint8_t *bytes;
    paua_error err;

    for (size_t i = 0; i < 2; i++) {
        struct data_file *file = open_sealed(temp, ref, OPTIONS[i]);

        flip(temp, FILE_PAGE_NBYTES + 5);
        assert_int_equal(data_file_read(file, 0, FILE_PAGE_NBYTES, scratch, &bytes, NULL), PAUA_OK);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(data_file_read(file, 70000, 1, scratch, &bytes, &err), PAUA_ECORRUPT);
            assert_non_null(strstr(err.message, NAME));
            assert_int_equal(data_file_pread(file, 70000, 1, scratch, NULL), PAUA_ECORRUPT);
        }
        assert_int_equal(data_file_read(file, 0, DATA_NBYTES, scratch, &bytes, NULL),
                         PAUA_ECORRUPT);
        assert_int_equal(data_file_read(file, 2 * FILE_PAGE_NBYTES, 9, scratch, &bytes, NULL),
                         PAUA_OK);
        flip(temp, FILE_PAGE_NBYTES + 5);
        assert_range(file, 70000, 1);
        flip(temp, FILE_PAGE_NBYTES + 5);
        assert_range(file, 70000, 1);
        assert_int_equal(data_file_verify(file, &err), PAUA_ECORRUPT);
        assert_non_null(strstr(err.message, "65600"));
        flip(temp, FILE_PAGE_NBYTES + 5);
        assert_int_equal(data_file_verify(file, NULL), PAUA_OK);
        data_file_unref(file);
    }
}

static void without_verification_only_verify_finds_damage(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make_sealed(temp);
    static uint8_t scratch[DATA_NBYTES];
    const uint8_t *bytes;

    flip(temp, DATA_NBYTES - 1);
    for (size_t i = 2; i < OPTION_COUNT; i++) {
        struct data_file *file = open_sealed(temp, ref, OPTIONS[i]);

        assert_int_equal(data_file_read(file, 0, DATA_NBYTES, scratch, &bytes, NULL), PAUA_OK);
        assert_int_equal(data_file_verify(file, NULL), PAUA_ECORRUPT);
        data_file_unref(file);
    }
}

static void a_file_stays_readable_after_it_was_unlinked(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make_sealed(temp);
    struct data_file *files[2];

    for (size_t i = 0; i < 2; i++)
        files[i] = open_sealed(temp, ref, OPTIONS[i]);
    assert_int_equal(dir_unlink(temp->dir, NAME, NULL), PAUA_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_range(files[i], 0, DATA_NBYTES);
        data_file_unref(files[i]);
    }
}

static int lowest_free_descriptor(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

static struct file_ref seal_empty(const struct temp *temp, const struct file_header *header)
{
    struct file_footer footer = {0};
    struct file_writer *writer;
    struct file_ref ref;

    assert_int_equal(file_writer_create(temp->dir, header, true, &writer, NULL), PAUA_OK);
    assert_int_equal(file_writer_seal(writer, &footer, &ref, NULL), PAUA_OK);
    file_writer_close(writer);
    return ref;
}

static void a_mapped_sealed_file_holds_a_descriptor_only_to_read_rows_by(void **state)
{
    static const struct {
        struct file_header header;
        bool held;
    } cases[] = {
        {{.kind = FILE_VECTORS_F32, .number = 8, .collection = 3, .row_nbytes = 16, .dim = 4},
         true},
        {{.kind = FILE_VECTORS_F16, .number = 8, .collection = 3, .row_nbytes = 8, .dim = 4}, true},
        {{.kind = FILE_HEAP, .number = 8, .collection = 3}, false},
        {{.kind = FILE_KEYS, .number = 8, .collection = 3}, false},
        {{.kind = FILE_CODES, .number = 8, .collection = 3, .dim = 4}, true},
        {{.kind = FILE_GRAPH, .number = 8, .collection = 3, .dim = 4}, false},
    };
    struct temp *temp = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct file_ref ref = seal_empty(temp, &cases[i].header);
        int before = lowest_free_descriptor();
        struct data_file *file;

        assert_int_equal(
            data_file_open_sealed(temp->dir, &cases[i].header, &ref, OPTIONS[0], &file, NULL),
            PAUA_OK);
        assert_true(data_file_mapped(file));
        assert_int_equal(lowest_free_descriptor() != before, cases[i].held);
        data_file_unref(file);
        assert_int_equal(lowest_free_descriptor(), before);
    }
}

static void when_descriptors_may_become_scarce_none_is_held(void **state)
{
    enum { MANY = 520 };
    struct temp *temp = *state;
    struct file_ref ref = make_sealed(temp);
    struct data_file *file;
    int taken[MANY], before, count = 0;

    while (count < MANY && (taken[count] = dup(0)) >= 0 && taken[count] < MANY)
        count++;
    before = lowest_free_descriptor();
    file = open_sealed(temp, ref, OPTIONS[0]);
    assert_int_equal(lowest_free_descriptor(), before);
    assert_range(file, 0, DATA_NBYTES);
    data_file_unref(file);
    for (int i = 0; i <= count && i < MANY; i++)
        close(taken[i]);
}

static void a_file_lives_until_its_last_reference(void **state)
{
    struct data_file *file = open_sealed(*state, make_sealed(*state), OPTIONS[0]);

    assert_ptr_equal(data_file_ref(file), file);
    data_file_unref(file);
    assert_range(file, 100, 100);
    data_file_unref(file);
    data_file_unref(NULL);
}

struct scan {
    struct data_file *file;
    paua_status status;
};

static void *scan_all(void *arg)
{
    struct scan *scan = arg;
    uint8_t scratch[4096];
    const uint8_t *bytes;

    for (uint64_t at = 0; at + sizeof scratch <= DATA_NBYTES && scan->status == PAUA_OK;
         at += 1000) {
        scan->status = data_file_read(scan->file, at, sizeof scratch, scratch, &bytes, NULL);
        if (scan->status == PAUA_OK && memcmp(bytes, data + at, sizeof scratch) != 0)
            scan->status = PAUA_EINVAL;
    }
    return NULL;
}

static void four_threads_read_the_same_unverified_pages(void **state)
{
    struct file_ref ref = make_sealed(*state);

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        struct scan scan = {.file = open_sealed(*state, ref, OPTIONS[i]), .status = PAUA_OK};
        struct scan scans[4] = {scan, scan, scan, scan};
        pthread_t threads[4];

        for (size_t t = 0; t < 4; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, scan_all, &scans[t]), 0);
        for (size_t t = 0; t < 4; t++) {
            assert_int_equal(pthread_join(threads[t], NULL), 0);
            assert_int_equal(scans[t].status, PAUA_OK);
        }
        data_file_unref(scan.file);
    }
}

static void a_growing_file_shows_what_was_flushed_since(void **state)
{
    struct temp *temp = *state;
    uint64_t seed = 23;

    random_fill(&seed, data, sizeof data);
    for (size_t i = 0; i < 2; i++) {
        struct file_writer *writer;
        struct data_file *file;
        const uint8_t *bytes;
        uint8_t scratch[64];

        assert_int_equal(file_writer_create(temp->dir, &HEADER, false, &writer, NULL), PAUA_OK);
        assert_int_equal(data_file_open_growing(temp->dir, &HEADER, OPTIONS[i], &file, NULL),
                         PAUA_OK);
        assert_int_equal(data_file_mapped(file), i == 0);
        assert_int_equal(data_file_read(file, 0, 1, scratch, &bytes, NULL), PAUA_ECORRUPT);
        for (size_t at = 0; at < DATA_NBYTES; at += 50000) {
            assert_int_equal(file_writer_append(writer, data + at, 50000, NULL), PAUA_OK);
            assert_int_equal(file_writer_flush(writer, NULL), PAUA_OK);
            assert_range(file, 0, at + 50000);
            assert_range(file, at + 49999, 1);
            assert_int_equal(data_file_read(file, at + 49999, 2, scratch, &bytes, NULL),
                             PAUA_ECORRUPT);
            assert_int_equal(data_file_pread(file, at + 50000, 1, scratch, NULL), PAUA_ECORRUPT);
        }
        assert_int_equal(data_file_verify(file, NULL), PAUA_OK);
        data_file_unref(file);
        file_writer_close(writer);
    }
}

static void a_growing_file_that_outgrew_its_map_is_still_read(void **state)
{
    struct temp *temp = *state;
    struct file_writer *writer;
    struct data_file *file;
    const uint8_t *bytes;
    uint8_t scratch[8] = {0};
    int fd;

    assert_int_equal(file_writer_create(temp->dir, &HEADER, false, &writer, NULL), PAUA_OK);
    assert_int_equal(data_file_open_growing(temp->dir, &HEADER, OPTIONS[0], &file, NULL), PAUA_OK);
    assert_int_equal(dir_open_file(temp->dir, NAME, DIR_WRITE, &fd, NULL), PAUA_OK);
    assert_int_equal(fd_pwrite(fd, NAME, "far away", 8, FILE_HEADER_NBYTES + FAR_OFFSET, NULL),
                     PAUA_OK);
    assert_true(data_file_mapped_nbytes(file) < FAR_OFFSET);
    assert_int_equal(data_file_read(file, FAR_OFFSET, 8, scratch, &bytes, NULL), PAUA_OK);
    assert_ptr_equal(bytes, scratch);
    assert_memory_equal(bytes, "far away", 8);
    fd_close(fd);
    data_file_unref(file);
    file_writer_close(writer);
}

static void a_growing_file_must_have_the_expected_header(void **state)
{
    struct temp *temp = *state;
    struct file_header other = HEADER;
    struct file_writer *writer;
    struct data_file *file = NULL;

    assert_int_equal(file_writer_create(temp->dir, &HEADER, false, &writer, NULL), PAUA_OK);
    file_writer_close(writer);
    other.collection++;
    assert_int_equal(data_file_open_growing(temp->dir, &other, OPTIONS[0], &file, NULL),
                     PAUA_ECORRUPT);
    other = HEADER;
    other.number++;
    assert_int_equal(data_file_open_growing(temp->dir, &other, OPTIONS[0], &file, NULL),
                     PAUA_ECORRUPT);
    temp_write(temp, NAME, "PAUA", 4);
    assert_int_equal(data_file_open_growing(temp->dir, &HEADER, OPTIONS[0], &file, NULL),
                     PAUA_ECORRUPT);
    assert_null(file);
}

static void a_file_in_memory_is_like_one_on_disk(void **state)
{
    struct temp memory;
    struct file_ref ref;

    (void)state;
    temp_open(&memory, true);
    ref = make_sealed(&memory);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        struct data_file *file = open_sealed(&memory, ref, OPTIONS[i]);

        assert_range(file, 0, DATA_NBYTES);
        data_file_unref(file);
    }
    temp_close(&memory);
}

static void every_failed_allocation_is_an_error(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make_sealed(temp);

    for (size_t i = 0; i < 2; i++) {
        paua_status status = PAUA_ENOMEM;

        for (uint64_t nth = 1; status != PAUA_OK; nth++) {
            struct data_file *file = NULL;
            uint8_t scratch[8];
            const uint8_t *bytes;

            mem_fail_after(nth);
            status = data_file_open_sealed(temp->dir, &HEADER, &ref, OPTIONS[i], &file, NULL);
            if (status == PAUA_OK) status = data_file_read(file, 70000, 8, scratch, &bytes, NULL);
            if (status == PAUA_OK) status = data_file_verify(file, NULL);
            mem_fail_after(0);
            data_file_unref(file);
            if (status != PAUA_OK) assert_int_equal(status, PAUA_ENOMEM);
            assert_true(nth < 20);
        }
    }
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_sealed_file_reads_as_it_was_written),
        TEST(the_footer_comes_back),
        TEST(ranges_outside_the_data_are_refused),
        TEST(a_page_is_verified_when_first_touched_and_not_again),
        TEST(without_verification_only_verify_finds_damage),
        TEST(a_file_stays_readable_after_it_was_unlinked),
        TEST(a_mapped_sealed_file_holds_a_descriptor_only_to_read_rows_by),
        TEST(when_descriptors_may_become_scarce_none_is_held),
        TEST(a_file_lives_until_its_last_reference),
        TEST(four_threads_read_the_same_unverified_pages),
        TEST(a_growing_file_shows_what_was_flushed_since),
        TEST(a_growing_file_that_outgrew_its_map_is_still_read),
        TEST(a_growing_file_must_have_the_expected_header),
        TEST(a_file_in_memory_is_like_one_on_disk),
        TEST(every_failed_allocation_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
