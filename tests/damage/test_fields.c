/* test_fields.c - column files and the records of fields damaged, in a small database with fields:
 * bits flipped, files cut. Reading fails with the name of the damaged file, which the check names
 * too, or gives what it should; other collections stay readable. Without the catalogue, the check
 * brings back the fields as of the last fold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "damage/sweep.h"
#include "db/db.h"

#define ROWS 90u
#define DAMAGES_MAX 40000u
#define RECORD_NBYTES 120u

struct one {
    uint32_t file;
    size_t at; /* offset, or length */
    uint8_t bit;
};

static struct image image;
static struct transcript reference, reference_by_key;
static struct one damages[DAMAGES_MAX];
static uint32_t damage_count;

static uint64_t random_state = 88172645463325252u;

static size_t random_below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % n);
}

static void add(uint32_t file, size_t at)
{
    assert_true(damage_count < DAMAGES_MAX);
    damages[damage_count++] = (struct one){file, at, (uint8_t)random_below(8)};
}

static bool is_columns(const struct image_file *file)
{
    return strstr(file->name, ".columns") != NULL;
}

static const char *file_of(const struct sweep *sweep, uint32_t index)
{
    return sweep->image->files[damages[index].file].name;
}

static void describe(const struct sweep *sweep, uint32_t index, char text[160])
{
    snprintf(text, 160, "%s of %zu bytes, at %zu, bit %u", file_of(sweep, index),
             sweep->image->files[damages[index].file].nbytes, damages[index].at,
             damages[index].bit);
}

static bool flip(const struct sweep *sweep, uint32_t index, const char *path)
{
    const struct one *d = &damages[index];
    struct image_file *file = &sweep->image->files[d->file];

    file->bytes[d->at] ^= (uint8_t)(1u << d->bit);
    image_put_file(path, file->name, file->bytes, file->nbytes);
    file->bytes[d->at] ^= (uint8_t)(1u << d->bit);
    return true;
}

static bool cut(const struct sweep *sweep, uint32_t index, const char *path)
{
    const struct image_file *file = &sweep->image->files[damages[index].file];

    image_put_file(path, file->name, file->bytes, damages[index].at);
    return true;
}

static struct sweep sweep_of(const char *name)
{
    return (struct sweep){.name = name,
                          .image = &image,
                          .reference = &reference,
                          .count = damage_count,
                          .damage = flip,
                          .describe = describe};
}

/* As many anywhere in each column file as near its ends, where structure is dense. */
static void add_flips(uint32_t each)
{
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++) {
        size_t nbytes = image.files[f].nbytes, end = nbytes < 600 ? nbytes : 600;

        if (!is_columns(&image.files[f])) continue;
        for (uint32_t i = 0; i < each; i++) {
            add(f, random_below(nbytes));
            add(f, nbytes - 1 - random_below(end));
        }
    }
    assert_true(damage_count > 0);
}

/* Bytes of the catalogue in and right before the records of fields. */
static void add_record_flips(size_t step)
{
    static const char magics[][5] = {"PFLD", "PCFI", "PPAT", "PBAT"};

    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++) {
        const struct image_file *file = &image.files[f];

        if (!image_is_catalog(file)) continue;
        for (size_t at = 16; at + RECORD_NBYTES < file->nbytes; at++)
            for (size_t m = 0; m < sizeof magics / sizeof magics[0]; m++) {
                if (memcmp(file->bytes + at, magics[m], 4) != 0) continue;
                for (size_t i = random_below(step); i < RECORD_NBYTES; i += step)
                    add(f, at - 16 + i);
            }
    }
    assert_true(damage_count > 0);
}

static void every_flipped_bit_of_a_column_file_is_noticed_and_its_file_named(void **state)
{
    struct sweep sweep;

    (void)state;
    add_flips(world_whole() ? 2000 : 40);
    sweep = sweep_of("bit flips in columns");
    sweep.file_of = file_of;
    assert_true(sweep_run(&sweep));
    assert_true(sweep.tally[READ_ERROR] > sweep.tried / 2);
}

static void unverified_flipped_bits_of_a_column_file_crash_nothing(void **state)
{
    struct sweep sweep;

    (void)state;
    add_flips(world_whole() ? 4000 : 60);
    sweep = sweep_of("bit flips in columns, unverified");
    sweep.trusting = true;
    assert_true(sweep_run(&sweep));
}

static void every_shorter_column_file_is_noticed_and_named(void **state)
{
    struct sweep sweep;

    (void)state;
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++) {
        size_t nbytes = image.files[f].nbytes, step = world_whole() ? 1 : nbytes / 30 + 1;

        if (!is_columns(&image.files[f])) continue;
        for (size_t length = 0; length < nbytes; length += step)
            add(f, length);
        add(f, nbytes - 1);
    }
    sweep = sweep_of("cut column files");
    sweep.damage = cut;
    sweep.file_of = file_of;
    assert_true(sweep_run(&sweep));
    assert_int_equal(sweep.tally[READ_ERROR], sweep.tried);
}

static void every_flipped_bit_in_the_records_of_fields_is_noticed_or_harmless(void **state)
{
    struct sweep sweep;

    (void)state;
    add_record_flips(world_whole() ? 1 : 9);
    sweep = sweep_of("bit flips in records of fields");
    assert_true(sweep_run(&sweep));
    assert_true(sweep.tally[READ_ERROR] > sweep.tried / 2);
}

static void a_writer_on_damaged_fields_removes_no_file_and_changes_no_row(void **state)
{
    struct sweep sweep;

    (void)state;
    add_record_flips(world_whole() ? 2 : 31);
    sweep = sweep_of("bit flips in records of fields, writing");
    sweep.write = true;
    sweep.reference = &reference_by_key;
    assert_true(sweep_run(&sweep));
    add_flips(world_whole() ? 300 : 10);
    sweep.name = "bit flips in columns, writing";
    sweep.count = damage_count;
    assert_true(sweep_run(&sweep));
}

/* ---- the database ---- */

static paua_value text_value(const char *text)
{
    return (paua_value){.type = PAUA_TYPE_STRING, .as.bytes = {text, strlen(text)}};
}

/* The values of one row: long and short ones, repeated and not, some NULL. */
struct given {
    char raw[40];
    paua_value tags[3];
};

static void insert(paua_collection *c, uint64_t first, size_t n)
{
    static const char *const words[] = {"will", "won't", "", "else"};
    static struct given given[ROWS];
    static paua_value n_values[ROWS], word[ROWS], raw[ROWS], tags[ROWS];
    static uint64_t keys[ROWS];
    static float vectors[ROWS][2];
    const paua_column columns[] = {{"n", n_values}, {"word", word}, {"raw", raw}, {"tags", tags}};
    paua_vectors all = {.data = vectors[0]};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = n, .u64 = keys},
                      .vectors = &all,
                      .vectors_count = 1,
                      .columns = columns,
                      .column_count = 4};

    for (size_t i = 0; i < n; i++) {
        struct given *g = &given[i];
        uint64_t key = keys[i] = first + i;

        vectors[i][0] = (float)key;
        vectors[i][1] = 2;
        n_values[i] = (paua_value){.type = PAUA_TYPE_INT64, .as.i64 = (int64_t)(key * key)};
        word[i] = text_value(words[key % 4]);
        snprintf(g->raw, sizeof g->raw, "of row %d alone %d", (int)key, (int)(key * 977 % 1009));
        raw[i] = (paua_value){.type = PAUA_TYPE_BYTES, .as.bytes = {g->raw, strlen(g->raw)}};
        if (key % 7 == 0) raw[i].type = PAUA_TYPE_NULL;
        for (uint32_t t = 0; t < 3; t++)
            g->tags[t] = (paua_value){.type = PAUA_TYPE_INT16, .as.i64 = (int64_t)(key % 5 + t)};
        tags[i] = (paua_value){.type = PAUA_TYPE_ARRAY | PAUA_TYPE_INT16,
                               .count = (uint32_t)(key % 4),
                               .as.items = g->tags};
    }
    MUST(paua_insert(c, &rows, NULL, NULL, &err));
}

static void update(paua_collection *c, uint64_t key, const char *text)
{
    const paua_value word = text_value(text), n = {.type = PAUA_TYPE_INT64, .as.i64 = -1};
    const paua_column columns[] = {{"word", &word}, {"n", &n}};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = 1, .u64 = &key},
                      .columns = columns,
                      .column_count = 2};

    MUST(paua_update(c, &rows, NULL, NULL, &err));
}

static void create(paua_db *db, const char *name, paua_collection **c)
{
    static const paua_field columns[] = {{"n", PAUA_TYPE_INT64},
                                         {"word", PAUA_TYPE_STRING},
                                         {"raw", PAUA_TYPE_BYTES},
                                         {"tags", PAUA_TYPE_ARRAY | PAUA_TYPE_INT16}};
    static const paua_vector_field vector = {
        .name = "v", .dim = 2, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    const paua_schema schema = {.size = sizeof schema,
                                .document = PAUA_DOCUMENT_NONE,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = 4};

    MUST(paua_collection_create(db, name, &schema, c, &err));
}

/* A segment with a column file and a record of patches, then batches with values and patches. */
static void make(const char *path)
{
    paua_db *db = world_open(path, (paua_open_opts){.create = true, .no_background = true});
    paua_collection *c, *other;

    create(db, "numbers", &c);
    insert(c, 0, ROWS);
    MUST(paua_optimize(c, NULL, &err));
    insert(c, 100, 20);
    update(c, 3, "patched and sealed");
    MUST(paua_field_rename(c, "n", "m", &err));
    MUST(paua_field_rename(c, "m", "n", &err));
    MUST(paua_collection_create(db, "words",
                                &(paua_schema){.size = sizeof(paua_schema),
                                               .key_kind = PAUA_KEY_STRING,
                                               .fields = paua_collection_schema(c)->fields,
                                               .field_count = 1},
                                &other, &err));
    paua_collection_close(other);
    pthread_mutex_lock(&c->write_mutex);
    MUST(seal_tail(c, &err));
    pthread_mutex_unlock(&c->write_mutex);
    insert(c, 130, 12);
    update(c, 4, "patched in a batch");
    update(c, 131, "patched in the tail");
    paua_collection_close(c);
    paua_close(db);
}

/* ---- beside the damage, and without the catalogue ---- */

static uint32_t columns_at(uint32_t from)
{
    while (from < image.count && !is_columns(&image.files[from]))
        from++;
    return from;
}

static void other_collections_stay_readable_beside_a_damaged_column_file(void **state)
{
    static struct transcript before, now;
    struct image_file *file = &image.files[columns_at(0)];
    paua_error said = {.message = ""};
    char path[64];
    paua_db *db;

    (void)state;
    world_make(path);
    for (uint32_t damaged = 0; damaged < 2; damaged++) {
        image_put(&image, path);
        if (damaged == 1) image_put_file(path, file->name, file->bytes, file->nbytes / 2);
        db = world_open(path, (paua_open_opts){.read_only = true});
        MUST(transcript_collection(damaged ? &now : &before, db, "words", ROWS_IN_ORDER, &err));
        if (damaged == 1)
            assert_int_equal(transcript_collection(&now, db, "numbers", ROWS_IN_ORDER, &said),
                             PAUA_ECORRUPT);
        paua_close(db);
    }
    assert_non_null(strstr(said.message, file->name));
    transcript_free(&before);
    transcript_free(&now);
    world_remove(path);
}

static uint64_t count(paua_collection *c, const char *text)
{
    paua_filter *filter;
    uint64_t found;

    MUST(paua_filter_parse(text, strlen(text), &filter, &err));
    MUST(paua_count(c, filter, &found, &err));
    paua_filter_free(filter);
    return found;
}

static void field_expect(void *arg, const paua_field_info *info)
{
    static const char *const names[] = {"n", "word", "raw", "tags"};
    static const uint32_t types[] = {PAUA_TYPE_INT64, PAUA_TYPE_STRING, PAUA_TYPE_BYTES,
                                     PAUA_TYPE_ARRAY | PAUA_TYPE_INT16};
    uint32_t *i = arg;

    CHECK(*i < 4 && strcmp(info->field.name, names[*i]) == 0 && info->field.type == types[*i]);
    ++*i;
}

static void a_rebuilt_catalogue_has_fields_with_the_values_that_were_folded(void **state)
{
    const paua_check_opts rebuild = {.size = sizeof rebuild, .rebuild = true};
    char path[64], catalog[96];
    paua_collection *c;
    uint32_t fields = 0;
    paua_db *db;

    (void)state;
    world_make(path);
    image_put(&image, path);
    snprintf(catalog, sizeof catalog, "%s/catalog.sqlite", path);
    CHECK(truncate(catalog, 100) == 0);
    (void)paua_check(path, &rebuild, NULL);
    world_check(path);
    db = world_open(path, (paua_open_opts){.no_background = true});
    c = world_collection(db, "numbers");
    MUST(paua_field_list(c, field_expect, &fields, &err));
    assert_int_equal(fields, 4);
    assert_int_equal(count(c, "n >= 0"), ROWS + 20);
    assert_int_equal(count(c, "word = 'patched and sealed' OR n < 0"), 0);
    assert_int_equal(count(c, "n = 9 AND word = 'else' AND tags CONTAIN_ALL (3, 4, 5)"), 1);
    update(c, 3, "after all");
    MUST(paua_optimize(c, NULL, &err));
    assert_int_equal(count(c, "word = 'after all' AND n = -1"), 1);
    world_validate(c);
    paua_collection_close(c);
    paua_close(db);
    world_check(path);
    world_remove(path);
}

static int set_up(void **state)
{
    paua_open_opts opts = {.read_only = true};
    char path[64];

    (void)state;
    world_make(path);
    make(path);
    image_take(&image, path);
    MUST(transcript_read(&reference, path, opts, ROWS_IN_ORDER, &err));
    MUST(transcript_read(&reference_by_key, path, opts, ROWS_BY_KEY, &err));
    world_check(path);
    world_remove(path);
    fprintf(stderr, "%zu files, %zu bytes\n", image.count, image_nbytes(&image));
    return columns_at(0) < image.count && image_nbytes(&image) < 400000 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    image_free(&image);
    transcript_free(&reference);
    transcript_free(&reference_by_key);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_of_a_column_file_is_noticed_and_its_file_named),
        cmocka_unit_test(unverified_flipped_bits_of_a_column_file_crash_nothing),
        cmocka_unit_test(every_shorter_column_file_is_noticed_and_named),
        cmocka_unit_test(every_flipped_bit_in_the_records_of_fields_is_noticed_or_harmless),
        cmocka_unit_test(a_writer_on_damaged_fields_removes_no_file_and_changes_no_row),
        cmocka_unit_test(other_collections_stay_readable_beside_a_damaged_column_file),
        cmocka_unit_test(a_rebuilt_catalogue_has_fields_with_the_values_that_were_folded),
    };

    return cmocka_run_group_tests_name("damage/fields", tests, set_up, tear_down);
}
