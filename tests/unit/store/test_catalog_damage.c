/* test_catalog_damage.c - a catalogue with flipped bits and cut ends. SQLite has no page checksums,
 * so damage shows as an error of SQLite's or of ours, as a record that is missing (the heads'
 * digests notice), or as one whose own checksum is wrong. Never as a crash, and never as a good
 * record with other contents.
 *
 * Bits are drawn from a seed that is the same in every run, half of them from the first 100 bytes
 * of a page, where the structure is. */
#include <stdio.h>

#include "codec/record.h"
#include "unit/store/catalog_helper.h"

#define MAGIC 0x54534554u
#define RECORDS 40u
#define FLIPS 600
#define PAGE_NBYTES 4096u

static void put_record(struct catalog *c, enum table table, uint64_t id)
{
    struct writer w = {0};

    record_begin(&w, MAGIC, 1);
    writer_u64(&w, id);
    for (uint64_t i = 0; i < id * 40; i++)
        writer_u64(&w, id);
    assert_int_equal(record_end(&w), PAUA_OK);
    assert_int_equal(catalog_put(c, table, id, w.bytes, w.length, NULL), PAUA_OK);
    writer_free(&w);
}

/* A closed catalogue as bytes: tables with records of 32 bytes to 13 KB. */
static struct bytes make(const struct temp *temp)
{
    struct catalog *c = open_with(temp->dir, &CREATE);

    assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
    for (uint64_t id = 1; id <= RECORDS; id++)
        put_record(c, id % 3 == 0 ? TABLE_HEAD : TABLE_BATCH, id);
    assert_int_equal(catalog_commit(c, NULL, NULL), PAUA_OK);
    catalog_close(c);
    return temp_read(temp, CATALOG_NAME);
}

static paua_status check_record(void *arg, uint64_t id, paua_bytes record)
{
    struct reader r;

    ++*(unsigned *)arg;
    if (record_open(record.data, record.nbytes, MAGIC, 1, &r) != PAUA_OK) return PAUA_ECORRUPT;
    if (reader_u64(&r) != id)
        fail_msg("record %llu has another's contents", (unsigned long long)id);
    assert_int_equal(reader_left(&r), id * 40 * 8);
    return PAUA_OK;
}

static void ignore_finding(void *arg, const char *text)
{
    (void)arg;
    (void)text;
}

/* Reads everything there is; the first status that is not OK. */
static paua_status read_all(struct dir *dir, const struct catalog_opts *opts, unsigned *count)
{
    struct catalog *c;
    paua_error err = {0};
    paua_status status = catalog_open(dir, opts, &c, &err);

    *count = 0;
    if (status != PAUA_OK) {
        assert_true(strlen(err.message) > 0);
        return status;
    }
    status = catalog_each(c, TABLE_HEAD, 0, UINT64_MAX, check_record, count, &err);
    if (status == PAUA_OK)
        status = catalog_each(c, TABLE_BATCH, 0, UINT64_MAX, check_record, count, &err);
    for (uint64_t id = 1; id <= RECORDS; id++) {
        paua_bytes record;
        unsigned ignored = 0;

        if (catalog_get(c, TABLE_BATCH, id, &record, NULL) == PAUA_OK)
            check_record(&ignored, id, record);
    }
    catalog_integrity(c, ignore_finding, NULL, NULL);
    catalog_close(c);
    return status;
}

static void replace(const struct temp *temp, const uint8_t *bytes, size_t nbytes)
{
    assert_int_equal(dir_unlink(temp->dir, CATALOG_NAME, NULL), PAUA_OK);
    assert_int_equal(dir_unlink(temp->dir, CATALOG_NAME "-wal", NULL), PAUA_OK);
    assert_int_equal(dir_unlink(temp->dir, CATALOG_NAME "-shm", NULL), PAUA_OK);
    temp_write(temp, CATALOG_NAME, bytes, nbytes);
}

static void assert_typed(paua_status status, size_t where)
{
    if (status != PAUA_OK && status != PAUA_ECORRUPT && status != PAUA_EVERSION &&
        status != PAUA_EINVAL && status != PAUA_ENOTFOUND)
        fail_msg("damage at %zu gives %d", where, status);
}

static void flipped_bits_never_crash_or_change_a_record(void **state)
{
    struct temp *temp = *state;
    struct bytes file = make(temp);
    uint64_t seed = 41;
    unsigned count, refused = 0;

    assert_int_equal(read_all(temp->dir, &IMMUTABLE, &count), PAUA_OK);
    assert_int_equal(count, RECORDS);
    for (int i = 0; i < FLIPS; i++) {
        size_t page = random_next(&seed) % (file.nbytes / PAGE_NBYTES);
        size_t at = page * PAGE_NBYTES + random_next(&seed) % (i % 2 == 0 ? 100 : PAGE_NBYTES);
        uint8_t bit = (uint8_t)(1u << (random_next(&seed) % 8));
        paua_status status;

        file.data[at] ^= bit;
        replace(temp, file.data, file.nbytes);
        status = read_all(temp->dir, i % 4 == 3 ? &EXISTING : &IMMUTABLE, &count);
        assert_typed(status, at);
        refused += status != PAUA_OK;
        file.data[at] ^= bit;
    }
    assert_true(refused > FLIPS / 4);
    free(file.data);
}

static void every_cut_at_a_page_or_nearby_is_typed(void **state)
{
    struct temp *temp = *state;
    struct bytes file = make(temp);
    unsigned count;

    for (size_t page = 0; page < file.nbytes / PAGE_NBYTES; page++)
        for (int off = -1; off <= 1; off++) {
            size_t length = page * PAGE_NBYTES + (size_t)(off + (page == 0 ? 1 : 0));
            paua_status status;

            replace(temp, file.data, length);
            status = read_all(temp->dir, &IMMUTABLE, &count);
            assert_typed(status, length);
            assert_true(status != PAUA_OK || count < RECORDS);
        }
    free(file.data);
}

/* Writing into a damaged catalogue may fail, in a typed way, and must not crash. */
static void writing_into_damage_is_typed(void **state)
{
    struct temp *temp = *state;
    struct bytes file = make(temp);
    uint64_t seed = 43;

    for (int i = 0; i < 100; i++) {
        struct catalog_opts opts = {.durability = PAUA_OFF};
        size_t at =
            random_next(&seed) % file.nbytes / PAGE_NBYTES * PAGE_NBYTES + random_next(&seed) % 100;
        struct catalog *c;

        file.data[at] ^= 0x10;
        replace(temp, file.data, file.nbytes);
        if (catalog_open(temp->dir, &opts, &c, NULL) == PAUA_OK) {
            paua_status status = catalog_begin_write(c, NULL);

            if (status == PAUA_OK) status = catalog_delete(c, TABLE_BATCH, 1, 20, NULL);
            if (status == PAUA_OK) status = catalog_put(c, TABLE_HEAD, 7, file.data, 9000, NULL);
            if (status == PAUA_OK) status = catalog_commit(c, NULL, NULL);
            catalog_rollback(c);
            if (status == PAUA_OK) status = catalog_vacuum(c, NULL);
            assert_typed(status, at);
            catalog_close(c);
        }
        file.data[at] ^= 0x10;
    }
    free(file.data);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(flipped_bits_never_crash_or_change_a_record),
        TEST(every_cut_at_a_page_or_nearby_is_typed),
        TEST(writing_into_damage_is_typed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
