/* test_bitflips.c - single bits flipped over every file of a small database. Each flip is noticed
 * by opening, reading or the check, or is harmless; never a crash, a hang, or rows that silently
 * differ. Half of the positions lie where structure is dense: headers, footers, starts of pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "codec/filehead.h"
#include "damage/sweep.h"

#define POSITIONS_MAX 4000u
#define SQLITE_PAGE_NBYTES 4096u

struct position {
    uint32_t file;
    size_t offset;
    uint8_t bit;
};

static struct image image;
static struct transcript reference, reference_by_key;
static struct position positions[POSITIONS_MAX];

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

/* A byte anywhere: each as likely as any other. */
static struct position anywhere(void)
{
    size_t at = (size_t)random_below(image_nbytes(&image));
    struct position p = {0};

    while (at >= image.files[p.file].nbytes)
        at -= image.files[p.file++].nbytes;
    p.offset = at;
    return p;
}

/* A byte of a header, of a footer and trailer, or within the first 64 of an SQLite page. */
static struct position in_structure(void)
{
    struct position p;
    const struct image_file *file;

    do {
        p.file = (uint32_t)random_below(image.count);
        file = &image.files[p.file];
    } while (file->nbytes == 0);
    if (image_is_catalog(file)) {
        p.offset = (size_t)random_below(file->nbytes / SQLITE_PAGE_NBYTES) * SQLITE_PAGE_NBYTES +
                   (size_t)random_below(64);
    } else {
        size_t end = file->nbytes < 300 ? file->nbytes : 300;

        p.offset = (size_t)random_below(end);
        if (random_below(2) == 0) p.offset = file->nbytes - 1 - p.offset;
    }
    return p;
}

static bool flip(const struct sweep *sweep, uint32_t index, const char *path)
{
    const struct position *p = &positions[index];
    struct image_file *file = &sweep->image->files[p->file];

    file->bytes[p->offset] ^= (uint8_t)(1u << p->bit);
    image_put_file(path, file->name, file->bytes, file->nbytes);
    file->bytes[p->offset] ^= (uint8_t)(1u << p->bit);
    return true;
}

static void describe(const struct sweep *sweep, uint32_t index, char text[160])
{
    const struct position *p = &positions[index];

    snprintf(text, 160, "%s byte %zu bit %u", sweep->image->files[p->file].name, p->offset,
             (unsigned)p->bit);
}

static void every_flipped_bit_is_noticed_or_harmless(void **state)
{
    struct sweep sweep = {.name = "bit flips, reading",
                          .image = &image,
                          .reference = &reference,
                          .count = world_whole() ? POSITIONS_MAX : 400,
                          .damage = flip,
                          .describe = describe};

    (void)state;
    for (uint32_t i = 0; i < sweep.count; i++) {
        positions[i] = i % 2 == 0 ? anywhere() : in_structure();
        positions[i].bit = (uint8_t)random_below(8);
    }
    assert_true(sweep_run(&sweep));
    assert_true(sweep.tally[READ_ERROR] > sweep.tried / 4);
    assert_true(sweep.tally[CHECK_ONLY] < sweep.tried / 8);
}

static void a_writer_on_flipped_bits_removes_no_file_and_changes_no_row(void **state)
{
    struct sweep sweep = {.name = "bit flips, writing",
                          .image = &image,
                          .reference = &reference_by_key,
                          .count = world_whole() ? 1000 : 100,
                          .damage = flip,
                          .describe = describe,
                          .write = true};

    (void)state;
    for (uint32_t i = 0; i < sweep.count; i++) {
        do {
            positions[i] = i % 4 == 0 ? anywhere() : in_structure();
        } while (i % 4 != 0 && !image_is_catalog(&image.files[positions[i].file]));
        positions[i].bit = (uint8_t)random_below(8);
    }
    assert_true(sweep_run(&sweep));
}

/* The eight bytes that say what an SQLite page holds could hide whole records, and with them which
 * files are in use. */
static void no_bit_of_a_page_header_makes_a_writer_remove_a_file(void **state)
{
    struct sweep sweep = {.name = "bit flips, page headers, writing",
                          .image = &image,
                          .reference = &reference_by_key,
                          .damage = flip,
                          .describe = describe,
                          .write = true};
    uint32_t catalog = 0, step = world_whole() ? 1 : 5;

    (void)state;
    while (!image_is_catalog(&image.files[catalog]))
        catalog++;
    for (uint32_t i = 0; i < image.files[catalog].nbytes / SQLITE_PAGE_NBYTES * 64; i += step) {
        size_t page = i / 64;

        assert_true(sweep.count < POSITIONS_MAX);
        positions[sweep.count++] = (struct position){.file = catalog,
                                                     .offset = page * SQLITE_PAGE_NBYTES +
                                                               (page == 0 ? 100 : 0) + i % 64 / 8,
                                                     .bit = (uint8_t)(i % 8)};
    }
    assert_true(sweep_run(&sweep));
}

/* The last commit lies in the log alone. SQLite takes what follows a damaged frame for a commit
 * that never ended, as after a crash, so the state before it is the other right answer. */
static void a_flipped_bit_in_the_log_is_noticed_or_leaves_a_committed_state(void **state)
{
    struct sweep sweep = {.name = "bit flips, log",
                          .count = world_whole() ? 1000 : 100,
                          .damage = flip,
                          .describe = describe};
    static struct image with_log;
    struct transcript after = {0};
    paua_open_opts opts = {.read_only = true};
    uint32_t log = 0;
    char path[64], copy[96];
    paua_db *db;

    (void)state;
    world_make(path);
    image_put(&image, path);
    db = world_open(path, (paua_open_opts){.no_background = true});
    small_write_more(db);
    snprintf(copy, sizeof copy, "%s-copy", path);
    world_copy(path, copy);
    paua_close(db);
    image_take(&with_log, copy);
    MUST(transcript_read(&after, copy, opts, ROWS_IN_ORDER, &err));
    world_remove(path);
    world_remove(copy);
    sweep.image = &with_log;
    while (strcmp(with_log.files[log].name, "catalog.sqlite-wal") != 0)
        log++;
    for (uint32_t i = 0; i < sweep.count; i++) {
        positions[i] = (struct position){.file = log, .bit = (uint8_t)random_below(8)};
        positions[i].offset = (size_t)random_below(with_log.files[log].nbytes);
    }
    sweep.reference = &after;
    sweep.also = &reference;
    assert_false(transcript_equal(&after, &reference));
    assert_true(sweep_run(&sweep));
    image_free(&with_log);
    transcript_free(&after);
}

static int set_up(void **state)
{
    paua_open_opts opts = {.read_only = true};
    char path[64];

    (void)state;
    world_make(path);
    small_make(path, NULL);
    image_take(&image, path);
    MUST(transcript_read(&reference, path, opts, ROWS_IN_ORDER, &err));
    MUST(transcript_read(&reference_by_key, path, opts, ROWS_BY_KEY, &err));
    world_check(path);
    world_remove(path);
    fprintf(stderr, "%zu files, %zu bytes, %zu bytes read from them\n", image.count,
            image_nbytes(&image), reference.nbytes);
    return image_nbytes(&image) < 200000 ? 0 : -1;
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
        cmocka_unit_test(every_flipped_bit_is_noticed_or_harmless),
        cmocka_unit_test(a_flipped_bit_in_the_log_is_noticed_or_leaves_a_committed_state),
        cmocka_unit_test(no_bit_of_a_page_header_makes_a_writer_remove_a_file),
        cmocka_unit_test(a_writer_on_flipped_bits_removes_no_file_and_changes_no_row),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
