/* test_catalog.c - records, numbers, transactions and upkeep as one connection sees them, on disk
 * and in memory. Opening and failing: test_catalog_open.c; other processes: test_catalog_shared.c;
 * flipped bits: test_catalog_damage.c. */
#include <stdio.h>

#include "codec/record.h"
#include "unit/store/catalog_helper.h"

static void a_record_comes_back_from_its_own_table_only(void **state)
{
    static const uint64_t ids[] = {1, 2, CATALOG_ID(CATALOG_COLLECTION_MAX, CATALOG_LOW_MAX), 0};
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE);
    char text[32];

    assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
    for (int table = TABLE_COLLECTION; table < TABLE_COUNT; table++)
        for (size_t i = 0; i < 4; i++) {
            snprintf(text, sizeof text, "table %d id %zu", table, i);
            put(c, (enum table)table, ids[i], text);
        }
    assert_int_equal(catalog_commit(c, NULL, NULL), PAUA_OK);
    for (int table = TABLE_COLLECTION; table < TABLE_COUNT; table++)
        for (size_t i = 0; i < 4; i++) {
            snprintf(text, sizeof text, "table %d id %zu", table, i);
            assert_record(c, (enum table)table, ids[i], text);
        }
    assert_record(c, TABLE_HEAD, 3, NULL);
    assert_record(c, TABLE_HEAD, UINT64_MAX, NULL);
    catalog_close(c);
}

static void records_are_replaced_emptied_and_deleted(void **state)
{
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE);

    commit_one(c, TABLE_HEAD, 1, "one");
    commit_one(c, TABLE_HEAD, 1, "another");
    assert_record(c, TABLE_HEAD, 1, "another");
    commit_one(c, TABLE_HEAD, 1, "");
    assert_record(c, TABLE_HEAD, 1, "");
    assert_int_equal(catalog_delete(c, TABLE_HEAD, 1, 1, NULL), PAUA_OK);
    assert_record(c, TABLE_HEAD, 1, NULL);
    assert_int_equal(catalog_delete(c, TABLE_HEAD, 1, 1, NULL), PAUA_OK);
    catalog_close(c);
}

struct walk {
    uint64_t ids[16];
    size_t count;
    size_t stop_at;
};

static paua_status note(void *arg, uint64_t id, paua_bytes record)
{
    struct walk *walk = arg;

    assert_int_equal(record.nbytes, 1);
    assert_int_equal(*(const char *)record.data, 'a' + (int)(id % 10));
    walk->ids[walk->count++] = id;
    return walk->count == walk->stop_at ? PAUA_ECANCELED : PAUA_OK;
}

static struct walk walk_over(struct catalog *c, uint64_t first, uint64_t last, size_t stop_at,
                             paua_status want)
{
    struct walk walk = {.stop_at = stop_at};

    assert_int_equal(catalog_each(c, TABLE_BATCH, first, last, note, &walk, NULL), want);
    return walk;
}

static void a_range_is_walked_in_order_and_deleted(void **state)
{
    static const uint64_t ids[] = {50, 3, 20, 7, 1000, 11, CATALOG_ID(4, 6)};
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE);
    struct walk walk;

    assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        put(c, TABLE_BATCH, ids[i], (char[]){(char)('a' + (int)(ids[i] % 10)), 0});
    assert_int_equal(catalog_commit(c, NULL, NULL), PAUA_OK);

    walk = walk_over(c, 0, UINT64_MAX, 0, PAUA_OK);
    assert_int_equal(walk.count, 7);
    for (size_t i = 1; i < walk.count; i++)
        assert_true(walk.ids[i - 1] < walk.ids[i]);
    walk = walk_over(c, 7, 20, 0, PAUA_OK);
    assert_int_equal(walk.count, 3);
    assert_int_equal(walk.ids[0], 7);
    assert_int_equal(walk.ids[2], 20);
    assert_int_equal(walk_over(c, 7, 1000, 2, PAUA_ECANCELED).count, 2);
    assert_int_equal(walk_over(c, 21, 20, 0, PAUA_OK).count, 0);
    assert_int_equal(walk_over(c, UINT64_MAX, UINT64_MAX, 0, PAUA_OK).count, 0);

    assert_int_equal(catalog_delete(c, TABLE_BATCH, 7, 50, NULL), PAUA_OK);
    assert_int_equal(walk_over(c, 0, UINT64_MAX, 0, PAUA_OK).count, 3);
    assert_int_equal(catalog_delete(c, TABLE_BATCH, UINT64_MAX, UINT64_MAX, NULL), PAUA_OK);
    assert_int_equal(catalog_delete(c, TABLE_BATCH, 0, UINT64_MAX, NULL), PAUA_OK);
    assert_int_equal(walk_over(c, 0, UINT64_MAX, 0, PAUA_OK).count, 0);
    catalog_close(c);
}

static void a_rolled_back_transaction_leaves_nothing(void **state)
{
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE);

    commit_one(c, TABLE_HEAD, 1, "kept");
    assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
    put(c, TABLE_HEAD, 1, "lost");
    put(c, TABLE_HEAD, 2, "lost");
    assert_record(c, TABLE_HEAD, 1, "lost");
    catalog_rollback(c);
    catalog_rollback(c);
    assert_record(c, TABLE_HEAD, 1, "kept");
    assert_record(c, TABLE_HEAD, 2, NULL);
    assert_int_equal(catalog_begin_read(c, NULL), PAUA_OK);
    assert_record(c, TABLE_HEAD, 1, "kept");
    catalog_rollback(c);
    commit_one(c, TABLE_HEAD, 1, "again");
    catalog_close(c);
}

static void numbers_start_at_one_and_are_taken_once(void **state)
{
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE);
    uint64_t value = 0;

    for (int id = META_COMPAT; id <= META_COUNT_LAST; id++) {
        assert_int_equal(catalog_number_get(c, (enum meta)id, &value, NULL), PAUA_OK);
        assert_int_equal(value, id >= META_NEXT_FILE);
    }
    assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
    assert_int_equal(catalog_number_take(c, META_NEXT_FILE, 3, &value, NULL), PAUA_OK);
    assert_int_equal(value, 1);
    assert_int_equal(catalog_number_take(c, META_NEXT_FILE, 1, &value, NULL), PAUA_OK);
    assert_int_equal(value, 4);
    assert_int_equal(catalog_number_put(c, META_NEXT_COLLECTION, UINT64_MAX - 1, NULL), PAUA_OK);
    assert_int_equal(catalog_number_take(c, META_NEXT_COLLECTION, 2, &value, NULL), PAUA_ECORRUPT);
    assert_int_equal(value, 4);
    assert_int_equal(catalog_commit(c, NULL, NULL), PAUA_OK);
    assert_int_equal(catalog_number_get(c, META_NEXT_FILE, &value, NULL), PAUA_OK);
    assert_int_equal(value, 5);
    catalog_close(c);
}

static void a_damaged_or_missing_number_is_damage(void **state)
{
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE);
    uint64_t value = 77;
    paua_bytes record;
    uint8_t bytes[64];
    size_t nbytes;

    assert_int_equal(catalog_get(c, TABLE_META, META_NEXT_FILE, &record, NULL), PAUA_OK);
    nbytes = record.nbytes;
    memcpy(bytes, record.data, nbytes);
    assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
    for (size_t bit = 0; bit < 8 * nbytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_int_equal(catalog_put(c, TABLE_META, META_NEXT_FILE, bytes, nbytes, NULL), PAUA_OK);
        assert_true(catalog_number_get(c, META_NEXT_FILE, &value, NULL) != PAUA_OK);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    for (size_t length = 0; length < nbytes; length++) {
        assert_int_equal(catalog_put(c, TABLE_META, META_NEXT_FILE, bytes, length, NULL), PAUA_OK);
        assert_int_equal(catalog_number_get(c, META_NEXT_FILE, &value, NULL), PAUA_ECORRUPT);
    }
    for (size_t width = 0; width <= 12; width += 4) { /* good records of another length */
        struct writer w = {0};

        if (width == 8) continue;
        record_begin(&w, 0x4D554E50u, 1);
        for (size_t i = 0; i < width; i++)
            writer_u8(&w, 1);
        assert_int_equal(record_end(&w), PAUA_OK);
        assert_int_equal(catalog_put(c, TABLE_META, META_NEXT_FILE, w.bytes, w.length, NULL),
                         PAUA_OK);
        assert_int_equal(catalog_number_get(c, META_NEXT_FILE, &value, NULL), PAUA_ECORRUPT);
        writer_free(&w);
    }
    assert_int_equal(catalog_delete(c, TABLE_META, META_NEXT_FILE, META_NEXT_FILE, NULL), PAUA_OK);
    assert_int_equal(catalog_number_get(c, META_NEXT_FILE, &value, NULL), PAUA_ECORRUPT);
    assert_int_equal(value, 77);
    catalog_rollback(c);
    assert_int_equal(catalog_number_get(c, META_NEXT_FILE, &value, NULL), PAUA_OK);
    catalog_close(c);
}

static void count_finding(void *arg, const char *text)
{
    assert_non_null(text);
    ++*(unsigned *)arg;
}

static void upkeep_of_a_sound_catalogue_succeeds(void **state)
{
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE);
    unsigned findings = 0;

    commit_one(c, TABLE_HEAD, 1, "one");
    assert_int_equal(catalog_sync(c, NULL), PAUA_OK);
    assert_int_equal(catalog_checkpoint(c, NULL), PAUA_OK);
    assert_int_equal(catalog_vacuum(c, NULL), PAUA_OK);
    assert_int_equal(catalog_integrity(c, count_finding, &findings, NULL), PAUA_OK);
    assert_int_equal(findings, 0);
    assert_true(catalog_nbytes(c) >= 4096);
    assert_record(c, TABLE_HEAD, 1, "one");
    catalog_close(c);
    catalog_close(NULL);
}

static void a_backup_is_one_file_with_everything(void **state)
{
    struct temp copy;
    struct catalog *c = open_with(((struct temp *)*state)->dir, &CREATE), *copied;

    temp_open(&copy, false);
    commit_one(c, TABLE_HEAD, 1, "one");
    assert_int_equal(catalog_begin_read(c, NULL), PAUA_OK);
    assert_int_equal(catalog_backup(c, copy.dir, NULL), PAUA_OK);
    assert_int_equal(temp_count(&copy), 1);
    assert_int_equal(catalog_backup(c, copy.dir, NULL), PAUA_EEXISTS);
    catalog_close(c);
    copied = open_with(copy.dir, &IMMUTABLE);
    assert_record(copied, TABLE_HEAD, 1, "one");
    catalog_close(copied);
    copied = open_with(copy.dir, &EXISTING);
    assert_record(copied, TABLE_HEAD, 1, "one");
    commit_one(copied, TABLE_HEAD, 2, "two");
    catalog_close(copied);
    temp_close(&copy);
}

int main(void)
{
#define BOTH(test)                                                                                 \
    {"disk: " #test, test, temp_setup, temp_teardown, NULL},                                       \
    {                                                                                              \
        "memory: " #test, test, temp_setup_memory, temp_teardown, NULL                             \
    }
    const struct CMUnitTest tests[] = {
        BOTH(a_record_comes_back_from_its_own_table_only),
        BOTH(records_are_replaced_emptied_and_deleted),
        BOTH(a_range_is_walked_in_order_and_deleted),
        BOTH(a_rolled_back_transaction_leaves_nothing),
        BOTH(numbers_start_at_one_and_are_taken_once),
        BOTH(a_damaged_or_missing_number_is_damage),
        BOTH(upkeep_of_a_sound_catalogue_succeeds),
        BOTH(a_backup_is_one_file_with_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
