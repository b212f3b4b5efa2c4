/* test_indexes.c - codes, graphs, stubs, ordered values of fields, and the records of them damaged,
 * in a small database with indexes: bits flipped, files cut. Searches and filters fail with the
 * name of the damaged file, which the check names too, or find what they should. Where pages are
 * not verified they may find something else, and do not crash.
 *
 * So few rows are scanned rather than looked up; the linker puts __wrap_value_index_match() in
 * place of value_index_match(), which leaves that estimate out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "damage/sweep.h"
#include "index/value_index.h"

#define ROWS 1040u
#define FIELDED_ROWS 100u
#define DIM 6u
#define DAMAGES_MAX 20000u
#define RECORD_NBYTES 130u

struct one {
    uint32_t file;
    size_t at; /* offset, or length */
    uint8_t bit;
};

static struct image image;
static struct transcript reference, reference_by_key, rewritten;
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

static bool is(const struct image_file *file, const char *suffix)
{
    size_t length = strlen(file->name), end = strlen(suffix);

    return length > end && strcmp(file->name + length - end, suffix) == 0;
}

/* A file without which an index is none: its vectors may be a stub. */
static bool of_index(const struct image_file *file)
{
    return is(file, ".codes") || is(file, ".graph") || is(file, ".values") || is(file, ".f32");
}

paua_status __wrap_value_index_match(const struct value_index *index,
                                     const struct column_view *view, const struct column_test *test,
                                     uint64_t *bitmap, bool *done, paua_error *error);

paua_status __wrap_value_index_match(const struct value_index *index,
                                     const struct column_view *view, const struct column_test *test,
                                     uint64_t *bitmap, bool *done, paua_error *error)
{
    return value_index_find(index, view, test, bitmap, done, error);
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

/* As many anywhere in each file as near its ends, where structure is dense. */
static void add_flips(uint32_t each)
{
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++) {
        size_t nbytes = image.files[f].nbytes, end = nbytes < 300 ? nbytes : 300;

        if (!of_index(&image.files[f])) continue;
        for (uint32_t i = 0; i < each; i++) {
            add(f, random_below(nbytes));
            add(f, random_below(end));
            add(f, nbytes - 1 - random_below(end));
        }
    }
}

/* Bytes of the catalogue in and right before the records of indexes and of their files. */
static void add_record_flips(size_t step)
{
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++) {
        const struct image_file *file = &image.files[f];

        if (!image_is_catalog(file)) continue;
        for (size_t at = 16; at + RECORD_NBYTES < file->nbytes; at++) {
            const uint8_t *bytes = file->bytes + at;

            if (memcmp(bytes, "PIDX", 4) != 0 && memcmp(bytes, "PART", 4) != 0) continue;
            for (size_t i = random_below(step); i < RECORD_NBYTES; i += step)
                add(f, at - 16 + i);
        }
    }
    assert_true(damage_count > 0);
}

static void every_flipped_bit_of_an_index_is_noticed_and_its_file_named(void **state)
{
    struct sweep sweep;

    (void)state;
    add_flips(world_whole() ? 200 : 6);
    sweep = sweep_of("bit flips in indexes");
    sweep.file_of = file_of;
    assert_true(sweep_run(&sweep));
    assert_true(sweep.tally[READ_ERROR] > sweep.tried / 2);
}

static void unverified_flipped_bits_of_an_index_crash_nothing(void **state)
{
    struct sweep sweep;

    (void)state;
    add_flips(world_whole() ? 400 : 12);
    sweep = sweep_of("bit flips in indexes, unverified");
    sweep.trusting = true;
    assert_true(sweep_run(&sweep));
}

static void every_shorter_file_of_an_index_is_noticed_and_named(void **state)
{
    struct sweep sweep;

    (void)state;
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++) {
        size_t nbytes = image.files[f].nbytes, step = nbytes / (world_whole() ? 150 : 8) + 1;

        if (!of_index(&image.files[f])) continue;
        for (size_t length = 0; length < nbytes; length += step)
            add(f, length);
        add(f, 1);
        add(f, nbytes - 1);
    }
    sweep = sweep_of("cut files of indexes");
    sweep.damage = cut;
    sweep.file_of = file_of;
    assert_true(sweep_run(&sweep));
    assert_int_equal(sweep.tally[READ_ERROR], sweep.tried);
}

static void every_flipped_bit_in_the_records_of_indexes_is_noticed_or_harmless(void **state)
{
    struct sweep sweep;

    (void)state;
    add_record_flips(world_whole() ? 1 : 18);
    sweep = sweep_of("bit flips in records of indexes");
    assert_true(sweep_run(&sweep));
    assert_true(sweep.tally[READ_ERROR] > sweep.tried / 2);
}

static void a_writer_on_damaged_indexes_removes_no_file_and_changes_no_row(void **state)
{
    struct sweep sweep;

    (void)state;
    add_record_flips(world_whole() ? 2 : 50);
    sweep = sweep_of("bit flips in records of indexes, writing");
    sweep.write = true;
    sweep.reference = &reference_by_key;
    sweep.also = &rewritten;
    assert_true(sweep_run(&sweep));
    add_flips(world_whole() ? 50 : 2);
    sweep.name = "bit flips in indexes, writing";
    sweep.count = damage_count;
    assert_true(sweep_run(&sweep));
}

static void insert(paua_collection *collection)
{
    static uint64_t keys[ROWS];
    static float kept[ROWS * DIM], gone[ROWS * DIM];
    paua_vectors vectors[] = {{.data = kept}, {.data = gone}};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = ROWS, .u64 = keys},
                      .vectors = vectors,
                      .vectors_count = 2};

    for (uint32_t i = 0; i < ROWS; i++)
        keys[i] = i;
    for (size_t i = 0; i < ROWS * DIM; i++) {
        kept[i] = (float)random_below(1000) / 8;
        gone[i] = (float)random_below(1000) / 8;
    }
    MUST(paua_insert(collection, &rows, NULL, NULL, &err));
}

/* Rows with the fields that a transcript asks for by a filter, and indexes of two of them. Most are
 * deleted, so that they need not be read again and again. */
static void make_fields(paua_db *db)
{
    static const paua_field columns[] = {{"n", PAUA_TYPE_INT16},
                                         {"word", PAUA_TYPE_STRING},
                                         {"raw", PAUA_TYPE_BYTES},
                                         {"tags", PAUA_TYPE_ARRAY | PAUA_TYPE_INT16}};
    static const char *const words[] = {"will", "won't", "", "else"};
    static const paua_vector_field vector = {
        .name = "v", .dim = 2, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    static const paua_index_params bitmap = {.kind = PAUA_INDEX_BITMAP};
    static uint64_t keys[ROWS];
    static float vectors[ROWS][2];
    static paua_value n[ROWS], word[ROWS], raw[ROWS];
    const paua_column given[] = {{"n", n}, {"word", word}, {"raw", raw}};
    const paua_keys gone = {.count = ROWS - FIELDED_ROWS, .u64 = keys + FIELDED_ROWS};
    const paua_schema schema = {.size = sizeof schema,
                                .document = PAUA_DOCUMENT_NONE,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = 4};
    const paua_vectors all = {.data = vectors[0]};
    const paua_rows rows = {.size = sizeof rows,
                            .keys = {.count = ROWS, .u64 = keys},
                            .vectors = &all,
                            .vectors_count = 1,
                            .columns = given,
                            .column_count = 3};
    paua_collection *c;

    for (uint32_t i = 0; i < ROWS; i++) {
        keys[i] = i;
        vectors[i][0] = (float)i;
        n[i] = (paua_value){.type = PAUA_TYPE_INT16, .as.i64 = (int64_t)(i * 37 % 500)};
        word[i] = (paua_value){.type = i % 7 == 0 ? PAUA_TYPE_NULL : PAUA_TYPE_STRING,
                               .as.bytes = {words[i % 4], strlen(words[i % 4])}};
        raw[i] = (paua_value){.type = i % 5 == 0 ? PAUA_TYPE_NULL : PAUA_TYPE_BYTES,
                              .as.bytes = {"raw", 3}};
    }
    MUST(paua_collection_create(db, "values", &schema, &c, &err));
    MUST(paua_insert(c, &rows, NULL, NULL, &err));
    MUST(paua_index_create(c, "n", "by_n", NULL, NULL, &err));
    MUST(paua_index_create(c, "word", "by_word", &bitmap, NULL, &err));
    MUST(paua_optimize(c, NULL, &err));
    MUST(paua_delete(c, &gone, NULL, NULL, &err));
    paua_collection_close(c);
}

static void make(const char *path)
{
    static const paua_index_params graph = {PAUA_INDEX_VAMANA, 6, 12, 24, 0};
    const paua_vector_field fields[] = {
        {.name = "kept", .dim = DIM, .metric = PAUA_COSINE, .precision = PAUA_FP32, .index = graph},
        {.name = "gone",
         .dim = DIM,
         .metric = PAUA_L2,
         .precision = PAUA_INT8,
         .originals = PAUA_ORIGINALS_NONE,
         .index = graph}};
    paua_schema schema = {
        .size = sizeof schema, .document = PAUA_DOCUMENT_NONE, .fields = fields, .field_count = 2};
    paua_db *db = world_open(path, (paua_open_opts){.create = true, .no_background = true});
    paua_collection *collection;

    MUST(paua_collection_create(db, "numbers", &schema, &collection, &err));
    insert(collection);
    MUST(paua_optimize(collection, NULL, &err));
    paua_collection_close(collection);
    make_fields(db);
    paua_close(db);
}

static int set_up(void **state)
{
    paua_open_opts opts = {.read_only = true};
    char path[64];
    paua_db *db;

    (void)state;
    world_make(path);
    make(path);
    image_take(&image, path);
    MUST(transcript_read(&reference, path, opts, ROWS_IN_ORDER, &err));
    MUST(transcript_read(&reference_by_key, path, opts, ROWS_BY_KEY, &err));
    world_check(path);
    db = world_open(path, (paua_open_opts){.no_background = true});
    MUST(sweep_rewrite(db, &err));
    paua_close(db);
    MUST(transcript_read(&rewritten, path, opts, ROWS_BY_KEY, &err));
    world_remove(path);
    fprintf(stderr, "%zu files, %zu bytes\n", image.count, image_nbytes(&image));
    return image_nbytes(&image) < 500000 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    image_free(&image);
    transcript_free(&reference);
    transcript_free(&reference_by_key);
    transcript_free(&rewritten);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_of_an_index_is_noticed_and_its_file_named),
        cmocka_unit_test(unverified_flipped_bits_of_an_index_crash_nothing),
        cmocka_unit_test(every_shorter_file_of_an_index_is_noticed_and_named),
        cmocka_unit_test(every_flipped_bit_in_the_records_of_indexes_is_noticed_or_harmless),
        cmocka_unit_test(a_writer_on_damaged_indexes_removes_no_file_and_changes_no_row),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
