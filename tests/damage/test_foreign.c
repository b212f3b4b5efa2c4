/* test_foreign.c - what is no database of ours, or one of a later version: each has its own status,
 * and nothing is changed. Checksums of forged files are mended, so that only the forged field can
 * be what is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "codec/filehead.h"
#include "damage/small.h"
#include "db/db.h"

static struct image image;
static struct transcript reference;

static void opens_with(const char *path, paua_open_opts opts, paua_status expected)
{
    paua_error err = {.message = ""};
    paua_db *db = NULL;
    paua_status status;

    opts.size = sizeof opts;
    status = paua_open(path, &opts, &db, &err);
    if (status == PAUA_OK) paua_close(db);
    if (status != expected) print_message("%s\n", err.message);
    assert_int_equal(status, expected);
    if (expected != PAUA_OK) assert_true(err.message[0] != '\0' && err.status == expected);
}

static paua_status reading(const char *path, paua_error *err)
{
    struct transcript read = {0};
    paua_open_opts opts = {.read_only = true};
    paua_status status = transcript_read(&read, path, opts, ROWS_IN_ORDER, err);

    if (status == PAUA_OK) assert_true(transcript_equal(&read, &reference));
    transcript_free(&read);
    return status;
}

static void an_empty_or_missing_directory_is_not_found(void **state)
{
    char path[64], missing[96];

    (void)state;
    world_make_fast(path);
    snprintf(missing, sizeof missing, "%s/none", path);
    opens_with(path, (paua_open_opts){0}, PAUA_ENOTFOUND);
    opens_with(path, (paua_open_opts){.read_only = true}, PAUA_ENOTFOUND);
    opens_with(missing, (paua_open_opts){0}, PAUA_ENOTFOUND);
    opens_with(missing, (paua_open_opts){.read_only = true}, PAUA_ENOTFOUND);
    assert_int_equal(paua_check(path, NULL, NULL), PAUA_ENOTFOUND);
    assert_int_equal(rmdir(path), 0); /* nothing was made in it */
}

static void a_file_is_not_a_database(void **state)
{
    char path[64], file[96];

    (void)state;
    world_make_fast(path);
    image_put_file(path, "file", "text", 4);
    snprintf(file, sizeof file, "%s/file", path);
    opens_with(file, (paua_open_opts){0}, PAUA_EINVAL);
    opens_with(file, (paua_open_opts){.create = true}, PAUA_EINVAL);
    opens_with(file, (paua_open_opts){.read_only = true}, PAUA_EINVAL);
    world_remove(path);
}

static void run_sql(const char *path, const char *sql)
{
    char file[128];
    sqlite3 *db;

    snprintf(file, sizeof file, "%s/catalog.sqlite", path);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void another_programs_sqlite_file_is_refused_and_left_alone(void **state)
{
    static struct image before, after;
    char path[64];

    (void)state;
    world_make_fast(path);
    run_sql(path, "CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)");
    image_take(&before, path);
    opens_with(path, (paua_open_opts){.read_only = true}, PAUA_EINVAL);
    opens_with(path, (paua_open_opts){0}, PAUA_EINVAL);
    opens_with(path, (paua_open_opts){.create = true}, PAUA_EINVAL);
    image_take(&after, path);
    for (size_t i = 0; i < before.count; i++) {
        const struct image_file *now = image_find(&after, before.files[i].name);

        assert_true(now != NULL && now->nbytes == before.files[i].nbytes);
    }
    image_free(&before);
    image_free(&after);
    image_put_file(path, "catalog.sqlite", "this is no SQLite file at all, whatever its name is",
                   51);
    opens_with(path, (paua_open_opts){0}, PAUA_ECORRUPT); /* as if its first page were damaged */
    world_remove(path);
}

static void a_directory_in_place_of_the_catalogue_is_an_error(void **state)
{
    char path[64], file[128];
    paua_open_opts opts = {.size = sizeof opts};
    paua_error err = {.message = ""};
    paua_db *db;

    (void)state;
    world_make_fast(path);
    snprintf(file, sizeof file, "%s/catalog.sqlite", path);
    assert_int_equal(mkdir(file, 0755), 0);
    assert_int_not_equal(paua_open(path, &opts, &db, &err), PAUA_OK);
    assert_true(err.message[0] != '\0');
    world_remove(path);
}

static void a_catalogue_of_a_later_version_is_refused(void **state)
{
    char path[64];

    (void)state;
    world_make_fast(path);
    image_put(&image, path);
    run_sql(path, "PRAGMA user_version=2");
    opens_with(path, (paua_open_opts){.read_only = true}, PAUA_EVERSION);
    opens_with(path, (paua_open_opts){0}, PAUA_EVERSION);
    world_remove(path);
}

/* Tables that came later are read as empty where they are missing, and made by the next writer. */
static void a_catalogue_without_the_later_tables_opens(void **state)
{
    char path[64];

    (void)state;
    world_make_fast(path);
    image_put(&image, path);
    run_sql(path, "DROP TABLE history; DROP TABLE history_group; DROP TABLE history_tail;"
                  "DROP TABLE field; DROP TABLE columns; DROP TABLE patch");
    opens_with(path, (paua_open_opts){.read_only = true}, PAUA_OK);
    assert_int_equal(reading(path, NULL), PAUA_OK);
    opens_with(path, (paua_open_opts){0}, PAUA_OK);
    assert_int_equal(reading(path, NULL), PAUA_OK);
    assert_int_equal(paua_check(path, NULL, NULL), PAUA_OK);
    world_remove(path);
}

static void feature_put(const char *path, enum meta id, uint64_t bits)
{
    struct catalog_opts opts = {.busy_ms = 1000};
    struct catalog *catalog;
    struct dir *dir;

    MUST(dir_open(path, false, false, &dir, &err));
    MUST(catalog_open(dir, &opts, &catalog, &err));
    MUST(catalog_begin_write(catalog, &err));
    MUST(catalog_number_put(catalog, id, bits, &err));
    MUST(catalog_commit(catalog, NULL, &err));
    catalog_close(catalog);
    dir_close(dir);
}

static void unknown_feature_bits_of_the_catalogue_stop_whom_they_concern(void **state)
{
    static const struct {
        enum meta id;
        paua_status reader, writer;
    } cases[] = {{META_COMPAT, PAUA_OK, PAUA_OK},
                 {META_READ_COMPAT, PAUA_OK, PAUA_EVERSION},
                 {META_INCOMPAT, PAUA_EVERSION, PAUA_EVERSION}};
    char path[64];

    (void)state;
    world_make_fast(path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        image_put(&image, path);
        feature_put(path, cases[i].id, 8);
        opens_with(path, (paua_open_opts){.read_only = true}, cases[i].reader);
        opens_with(path, (paua_open_opts){0}, cases[i].writer);
        assert_int_equal(reading(path, NULL), cases[i].reader);
    }
    world_remove(path);
}

/* Header offsets: version 8, read_compat 16, incompat 20, checksum 60 (codec/filehead.c). */
static void header_forge(const char *path, const struct image_file *file, size_t offset)
{
    uint8_t bytes[FILE_HEADER_NBYTES];
    uint32_t crc;
    char full[128];
    FILE *stream;

    memcpy(bytes, file->bytes, sizeof bytes);
    bytes[offset] = (uint8_t)(bytes[offset] + 2);
    crc = crc32c(0, bytes, 60);
    bytes_put(bytes + 60, crc, 4);
    snprintf(full, sizeof full, "%s/%s", path, file->name);
    stream = fopen(full, "r+b");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, stream), sizeof bytes);
    fclose(stream);
}

static void data_files_of_a_later_version_are_refused_by_name(void **state)
{
    static const size_t offsets[] = {8, 20};
    char path[64];

    (void)state;
    world_make_fast(path);
    for (size_t i = 0; i < image.count; i++)
        for (size_t k = 0; k < 2; k++) {
            paua_error err = {.message = ""};

            if (!image_is_data(&image.files[i])) continue;
            image_put(&image, path);
            header_forge(path, &image.files[i], offsets[k]);
            assert_int_equal(reading(path, &err), PAUA_EVERSION);
            assert_non_null(strstr(err.message, image.files[i].name));
            opens_with(path, (paua_open_opts){0}, PAUA_OK); /* the rest stays usable */
            assert_int_equal(paua_check(path, NULL, &err), PAUA_ECORRUPT);
        }
    world_remove(path);
}

struct forged {
    uint8_t bytes[4096];
    size_t nbytes;
    uint64_t id;
};

static paua_status forge_first(void *arg, uint64_t id, paua_bytes record)
{
    struct forged *f = arg;

    assert_true(record.nbytes >= 12 && record.nbytes <= sizeof f->bytes);
    memcpy(f->bytes, record.data, record.nbytes);
    f->nbytes = record.nbytes;
    f->id = id;
    return PAUA_OK;
}

/* The version of a record is outside of its checksum's range (codec/record.h). */
static void record_forge(const char *path, enum table table)
{
    struct catalog_opts opts = {.busy_ms = 1000};
    struct forged forged = {.nbytes = 0};
    struct catalog *catalog;
    struct dir *dir;

    MUST(dir_open(path, false, false, &dir, &err));
    MUST(catalog_open(dir, &opts, &catalog, &err));
    MUST(catalog_each(catalog, table, 0, INT64_MAX, forge_first, &forged, &err));
    assert_true(forged.nbytes > 0);
    forged.bytes[4] = 9;
    MUST(catalog_begin_write(catalog, &err));
    MUST(catalog_put(catalog, table, forged.id, forged.bytes, forged.nbytes, &err));
    MUST(catalog_commit(catalog, NULL, &err));
    catalog_close(catalog);
    dir_close(dir);
}

static void records_of_a_later_version_are_errors_and_their_files_are_kept(void **state)
{
    static const enum table tables[] = {TABLE_COLLECTION, TABLE_HEAD, TABLE_SEGMENT, TABLE_DELETED,
                                        TABLE_BATCH};
    char path[64];

    (void)state;
    world_make_fast(path);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        static struct image after;
        paua_error err = {.message = ""};

        image_put(&image, path);
        record_forge(path, tables[i]);
        assert_int_equal(reading(path, &err), PAUA_EVERSION);
        assert_int_equal(paua_check(path, NULL, &err), PAUA_ECORRUPT);
        opens_with(path, (paua_open_opts){0}, PAUA_OK);
        image_take(&after, path);
        for (size_t f = 0; f < image.count; f++)
            assert_non_null(image_find(&after, image.files[f].name));
        image_free(&after);
    }
    world_remove(path);
}

static int set_up(void **state)
{
    char path[64];

    (void)state;
    world_make_fast(path);
    small_make(path, NULL);
    image_take(&image, path);
    MUST(transcript_read(&reference, path, (paua_open_opts){.read_only = true}, ROWS_IN_ORDER,
                         &err));
    world_remove(path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    image_free(&image);
    transcript_free(&reference);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_or_missing_directory_is_not_found),
        cmocka_unit_test(a_file_is_not_a_database),
        cmocka_unit_test(another_programs_sqlite_file_is_refused_and_left_alone),
        cmocka_unit_test(a_directory_in_place_of_the_catalogue_is_an_error),
        cmocka_unit_test(a_catalogue_of_a_later_version_is_refused),
        cmocka_unit_test(a_catalogue_without_the_later_tables_opens),
        cmocka_unit_test(unknown_feature_bits_of_the_catalogue_stop_whom_they_concern),
        cmocka_unit_test(data_files_of_a_later_version_are_refused_by_name),
        cmocka_unit_test(records_of_a_later_version_are_errors_and_their_files_are_kept),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
