/* test_recovery.c - living with damage: the other collections go on, the check names what is
 * broken, what is broken can be dropped, and a lost catalogue is made anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codec/filehead.h"
#include "damage/small.h"
#include "db/db.h"

static struct image image;
static struct transcript sealed_words, sealed_numbers, numbers_now;

static bool belongs_to(const struct image_file *file, uint32_t collection)
{
    struct file_header header;

    return image_is_data(file) &&
           file_header_decode(file->bytes, FILE_HEADER_NBYTES, &header) == PAUA_OK &&
           header.collection == collection;
}

/* Files of "words", which is collection 1. */
static bool of_words(const struct image_file *file) { return belongs_to(file, 1); }

static void flip_at(const char *path, const struct image_file *file, size_t offset)
{
    char full[320];
    uint8_t byte = file->bytes[offset] ^ 0x10;
    int fd;

    snprintf(full, sizeof full, "%s/%s", path, file->name);
    fd = open(full, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0 && pwrite(fd, &byte, 1, (off_t)offset) == 1);
    close(fd);
}

static void collection_reads(paua_db *db, const char *name, const struct transcript *expected)
{
    struct transcript read = {0};

    MUST(transcript_collection(&read, db, name, ROWS_BY_KEY, &err));
    assert_true(transcript_equal(&read, expected));
    transcript_free(&read);
}

struct findings {
    char files[64][64];
    uint32_t count, fatal;
};

static void finding_keep(void *arg, const paua_finding *finding)
{
    struct findings *f = arg;

    assert_true(finding->what != NULL && finding->what[0] != '\0');
    assert_true(finding->advice != NULL && finding->advice[0] != '\0');
    if (finding->fatal) f->fatal++;
    if (finding->fatal && f->count < 64)
        snprintf(f->files[f->count++], sizeof f->files[0], "%s", finding->file);
}

static paua_status check(const char *path, bool rebuild, struct findings *findings)
{
    paua_check_opts opts = {
        .size = sizeof opts, .rebuild = rebuild, .finding = finding_keep, .finding_arg = findings};

    *findings = (struct findings){.count = 0};
    return paua_check(path, &opts, NULL);
}

static bool found(const struct findings *findings, const char *file)
{
    for (uint32_t i = 0; i < findings->count; i++)
        if (strcmp(findings->files[i], file) == 0) return true;
    return false;
}

/* Reads, writes and merges "numbers" beside a damaged "words". */
static void numbers_go_on(const char *path)
{
    paua_db *db = world_open(path, (paua_open_opts){.no_background = true});
    paua_collection *numbers;

    collection_reads(db, "numbers", &numbers_now);
    small_write_more(db);
    numbers = world_collection(db, "numbers");
    MUST(paua_optimize(numbers, NULL, &err));
    world_validate(numbers);
    paua_collection_close(numbers);
    paua_close(db);
}

static void words_fail_by_name(const char *path, const char *file)
{
    paua_open_opts opts = {.size = sizeof opts, .read_only = true};
    paua_error why = {.message = ""};
    struct transcript read = {0};
    paua_db *db;

    MUST(paua_open(path, &opts, &db, &err));
    assert_int_equal(transcript_collection(&read, db, "words", ROWS_IN_ORDER, &why), PAUA_ECORRUPT);
    assert_non_null(strstr(why.message, file));
    paua_close(db);
    transcript_free(&read);
}

static void damage_is_named_and_other_collections_go_on(void **state)
{
    struct findings findings;
    char path[64];

    (void)state;
    world_make_fast(path);
    for (size_t i = 0; i < image.count; i++) {
        const struct image_file *file = &image.files[i];
        size_t places[] = {5, 70, file->nbytes - 3};

        if (!of_words(file)) continue;
        for (size_t p = 0; p < 2 + (image_is_sealed(file) ? 1u : 0u); p++) {
            image_put(&image, path);
            flip_at(path, file, places[p]);
            words_fail_by_name(path, file->name);
            assert_int_equal(check(path, false, &findings), PAUA_ECORRUPT);
            assert_true(found(&findings, file->name) ||
                        (!image_is_sealed(file) && found(&findings, CATALOG_NAME)));
            numbers_go_on(path);
        }
    }
    world_remove(path);
}

static void count_words(void *arg, const char *name)
{
    if (strcmp(name, "words") == 0) ++*(uint32_t *)arg;
}

static void words_are_gone(const char *path)
{
    static struct image left;
    paua_db *db = world_open(path, (paua_open_opts){.no_background = true});
    uint32_t words = 0;

    MUST(paua_collection_list(db, count_words, &words, &err));
    assert_int_equal(words, 0);
    collection_reads(db, "numbers", &numbers_now);
    paua_close(db);
    image_take(&left, path);
    for (size_t i = 0; i < left.count; i++)
        assert_false(of_words(&left.files[i]));
    image_free(&left);
    world_check(path);
}

static void drop_words(const char *path)
{
    paua_db *db = world_open(path, (paua_open_opts){.no_background = true});

    MUST(paua_collection_drop(db, "words", &err));
    assert_int_equal(paua_collection_drop(db, "words", NULL), PAUA_ENOTFOUND);
    paua_close(db);
}

static void a_collection_with_damaged_or_missing_files_can_be_dropped(void **state)
{
    char path[64], full[320];

    (void)state;
    world_make_fast(path);
    for (size_t i = 0; i < image.count; i++) {
        if (!of_words(&image.files[i])) continue;
        image_put(&image, path);
        flip_at(path, &image.files[i], 5);
        drop_words(path);
        words_are_gone(path);
        image_put(&image, path);
        snprintf(full, sizeof full, "%s/%s", path, image.files[i].name);
        assert_int_equal(unlink(full), 0);
        drop_words(path);
        words_are_gone(path);
    }
    world_remove(path);
}

/* Spoils the checksum of the first record of "words" in a table. */
static void record_spoil(const char *path, enum table table)
{
    uint64_t first = table == TABLE_HEAD ? 1 : CATALOG_ID(1, 0);
    uint64_t last = table == TABLE_HEAD ? 1 : CATALOG_ID(1, CATALOG_LOW_MAX);
    struct catalog_opts opts = {.busy_ms = 1000};
    struct catalog *catalog;
    struct dir *dir;

    MUST(dir_open(path, false, false, &dir, &err));
    MUST(catalog_open(dir, &opts, &catalog, &err));
    MUST(catalog_begin_write(catalog, &err));
    MUST(catalog_delete(catalog, table, first, last, &err));
    MUST(catalog_put(catalog, table, first == 1 ? 1 : first + 1, "no record at all", 16, &err));
    MUST(catalog_commit(catalog, NULL, &err));
    catalog_close(catalog);
    dir_close(dir);
}

static void a_collection_with_damaged_records_can_be_dropped(void **state)
{
    static const enum table tables[] = {TABLE_HEAD, TABLE_SEGMENT, TABLE_DELETED, TABLE_BATCH};
    struct findings findings;
    char path[64];

    (void)state;
    world_make_fast(path);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        image_put(&image, path);
        record_spoil(path, tables[i]);
        assert_int_equal(check(path, false, &findings), PAUA_ECORRUPT);
        numbers_go_on(path);
        image_put(&image, path);
        record_spoil(path, tables[i]);
        drop_words(path);
        words_are_gone(path);
    }
    world_remove(path);
}

static void drop_is_refused(void *arg)
{
    paua_db *db = world_open(arg, (paua_open_opts){.no_background = true});
    paua_error err = {.message = ""};

    CHECK(paua_collection_drop(db, "words", &err) == PAUA_EBUSY);
    CHECK(strstr(err.message, "process") != NULL);
    paua_close(db);
}

static void a_damaged_collection_that_another_process_writes_is_not_dropped(void **state)
{
    char path[64];
    paua_db *db;
    paua_collection *words;
    paua_bytes key = {"w005", 4};
    paua_keys keys = {.count = 1, .strings = &key};

    (void)state;
    world_make_fast(path);
    image_put(&image, path);
    db = world_open(path, (paua_open_opts){.no_background = true});
    words = world_collection(db, "words");
    MUST(paua_delete(words, &keys, NULL, NULL, &err));
    for (size_t i = 0; i < image.count; i++)
        if (of_words(&image.files[i]) && image_is_sealed(&image.files[i]))
            flip_at(path, &image.files[i], 5);
    assert_true(world_wait(world_fork(drop_is_refused, path)));
    paua_collection_close(words);
    paua_close(db);
    world_remove(path);
}

static void a_lost_catalogue_is_rebuilt_with_all_sealed_rows(void **state)
{
    struct findings findings;
    char path[64], full[320];
    paua_db *db;

    (void)state;
    world_make_fast(path);
    image_put(&image, path);
    snprintf(full, sizeof full, "%s/" CATALOG_NAME, path);
    assert_int_equal(unlink(full), 0);
    assert_int_equal(check(path, true, &findings), PAUA_OK);
    assert_int_equal(findings.fatal, 0);
    db = world_open(path, (paua_open_opts){.no_background = true});
    collection_reads(db, "words", &sealed_words);
    collection_reads(db, "numbers", &sealed_numbers);
    paua_close(db);
    world_check(path);
    world_remove(path);
}

/* Rows w120 to w169 are the second segment. */
static void rows_found(const char *path, uint32_t rows)
{
    paua_db *db = world_open(path, (paua_open_opts){.no_background = true});
    paua_collection *words = world_collection(db, "words");
    paua_stats stats = {.size = sizeof stats};

    MUST(paua_collection_stats(words, &stats, &err));
    assert_int_equal(stats.rows, rows);
    world_validate(words);
    paua_collection_close(words);
    paua_close(db);
}

static void rebuilding_leaves_out_a_segment_with_a_damaged_file_and_says_so(void **state)
{
    static const uint32_t segment_rows[] = {120, 50, 10};
    struct findings findings;
    char path[64], full[320];
    uint32_t segment = 0;

    (void)state;
    world_make_fast(path);
    for (size_t i = 0; i < image.count; i++) {
        const struct image_file *file = &image.files[i];

        if (!of_words(file) || !image_is_sealed(file) || strstr(file->name, ".keys") == NULL)
            continue;
        image_put(&image, path);
        flip_at(path, file, 5);
        snprintf(full, sizeof full, "%s/" CATALOG_NAME, path);
        assert_int_equal(unlink(full), 0);
        check(path, true, &findings);
        assert_true(findings.fatal > 0 && found(&findings, file->name));
        rows_found(path, 180 - segment_rows[segment++]);
        world_check(path);
    }
    assert_int_equal(segment, 3);
    world_remove(path);
}

static void rebuilding_waits_for_no_writer_and_disturbs_none(void **state)
{
    struct findings findings;
    char path[64];
    paua_db *db;

    (void)state;
    world_make_fast(path);
    image_put(&image, path);
    db = world_open(path, (paua_open_opts){.no_background = true});
    small_write_more(db);
    assert_int_equal(check(path, true, &findings), PAUA_EBUSY);
    paua_close(db);
    world_check(path);
    world_remove(path);
}

static void a_file_cut_while_it_is_open_is_an_error_where_it_is_not_mapped(void **state)
{
    paua_open_opts opts = {.no_mmap = true, .no_background = true};
    char path[64], full[320];

    (void)state;
    world_make_fast(path);
    for (size_t i = 0; i < image.count; i++) {
        const struct image_file *file = &image.files[i];
        struct transcript read = {0};
        paua_collection *words;
        paua_error err = {.message = ""};
        paua_db *db;

        if (!of_words(file)) continue;
        image_put(&image, path);
        db = world_open(path, opts);
        words = world_collection(db, "words");
        snprintf(full, sizeof full, "%s/%s", path, file->name);
        assert_int_equal(truncate(full, 70), 0);
        assert_int_equal(transcript_collection(&read, db, "words", ROWS_IN_ORDER, &err),
                         PAUA_ECORRUPT);
        assert_non_null(strstr(err.message, file->name));
        collection_reads(db, "numbers", &numbers_now);
        paua_collection_close(words);
        paua_close(db);
        transcript_free(&read);
    }
    world_remove(path);
}

static int set_up(void **state)
{
    paua_open_opts opts = {.no_background = true};
    uint32_t files_of_words = 0;
    char path[64];
    paua_db *db;

    (void)state;
    world_make_fast(path);
    small_make_sealed(path);
    db = world_open(path, opts);
    MUST(transcript_collection(&sealed_words, db, "words", ROWS_BY_KEY, &err));
    MUST(transcript_collection(&sealed_numbers, db, "numbers", ROWS_BY_KEY, &err));
    paua_close(db);
    world_remove(path);
    world_make_fast(path);
    small_make(path, NULL);
    image_take(&image, path);
    for (size_t i = 0; i < image.count; i++)
        if (of_words(&image.files[i])) files_of_words++;
    CHECK(files_of_words == 3 * 4 + 3); /* three segments and a tail */
    db = world_open(path, opts);
    MUST(transcript_collection(&numbers_now, db, "numbers", ROWS_BY_KEY, &err));
    paua_close(db);
    world_remove(path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    image_free(&image);
    transcript_free(&sealed_words);
    transcript_free(&sealed_numbers);
    transcript_free(&numbers_now);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_named_and_other_collections_go_on),
        cmocka_unit_test(a_collection_with_damaged_or_missing_files_can_be_dropped),
        cmocka_unit_test(a_collection_with_damaged_records_can_be_dropped),
        cmocka_unit_test(a_damaged_collection_that_another_process_writes_is_not_dropped),
        cmocka_unit_test(a_lost_catalogue_is_rebuilt_with_all_sealed_rows),
        cmocka_unit_test(rebuilding_leaves_out_a_segment_with_a_damaged_file_and_says_so),
        cmocka_unit_test(rebuilding_waits_for_no_writer_and_disturbs_none),
        cmocka_unit_test(a_file_cut_while_it_is_open_is_an_error_where_it_is_not_mapped),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
