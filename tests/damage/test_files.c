/* test_files.c - whole files cut, swapped, deleted, replaced by older ones, blanked in places or
 * made longer: each is noticed or harmless, as with flipped bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/filehead.h"
#include "damage/sweep.h"

#define DAMAGES_MAX 65536u

struct one {
    uint32_t file;
    uint32_t other; /* to swap with */
    size_t at;      /* length, or offset */
    size_t nbytes;
};

static struct image image, early;
static struct transcript reference, early_reference;
static struct one *damages;
static uint32_t damage_count;

static void add(struct one one)
{
    assert_true(damage_count < DAMAGES_MAX);
    damages[damage_count++] = one;
}

static const struct image_file *file_of(const struct sweep *sweep, uint32_t index)
{
    return &sweep->image->files[damages[index].file];
}

static void describe(const struct sweep *sweep, uint32_t index, char text[160])
{
    const struct one *d = &damages[index];

    snprintf(text, 160, "%s of %zu bytes, at %zu, %zu bytes, with %s", file_of(sweep, index)->name,
             file_of(sweep, index)->nbytes, d->at, d->nbytes, sweep->image->files[d->other].name);
}

static bool run(const char *name,
                bool (*damage)(const struct sweep *sweep, uint32_t index, const char *path),
                const struct transcript *also, struct sweep *sweep)
{
    *sweep = (struct sweep){.name = name,
                            .image = &image,
                            .reference = &reference,
                            .also = also,
                            .count = damage_count,
                            .damage = damage,
                            .describe = describe};
    return sweep_run(sweep);
}

static bool cut(const struct sweep *sweep, uint32_t index, const char *path)
{
    const struct image_file *file = file_of(sweep, index);

    image_put_file(path, file->name, file->bytes, damages[index].at);
    return true;
}

/* Every length near both ends; in between every one, or every so many. */
static void add_lengths(uint32_t f, size_t step)
{
    size_t nbytes = image.files[f].nbytes;

    for (size_t length = 0; length < nbytes;) {
        bool near = length < 2 || (length > 62 && length < 66) || length + 2 >= nbytes ||
                    (world_whole() && (nbytes < 2048 || length + 300 > nbytes));

        add((struct one){.file = f, .at = length});
        length += near ? 1 : step - length % step;
        if (!near && length + 2 > nbytes) length = nbytes - 1;
    }
}

static void every_shorter_data_file_is_noticed(void **state)
{
    struct sweep sweep;

    (void)state;
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++)
        if (image_is_data(&image.files[f])) add_lengths(f, world_whole() ? 11 : 401);
    assert_true(run("cut files", cut, NULL, &sweep));
    assert_int_equal(sweep.tally[READ_ERROR], sweep.tried);
}

/* SQLite takes what is missing of its last page for zeros, which it may be. */
static void a_shorter_catalogue_is_noticed_or_harmless(void **state)
{
    struct sweep sweep;
    uint32_t in_last_page = 0;

    (void)state;
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++)
        if (image_is_catalog(&image.files[f])) add_lengths(f, world_whole() ? 64 : 2048);
    for (uint32_t d = 0; d < damage_count; d++)
        in_last_page += damages[d].at + 4096 > image.files[damages[d].file].nbytes;
    assert_true(run("cut catalogue", cut, NULL, &sweep));
    assert_true(sweep.tally[READ_ERROR] + in_last_page >= sweep.tried);
}

static bool swap(const struct sweep *sweep, uint32_t index, const char *path)
{
    const struct image_file *a = file_of(sweep, index);
    const struct image_file *b = &sweep->image->files[damages[index].other];

    image_put_file(path, a->name, b->bytes, b->nbytes);
    image_put_file(path, b->name, a->bytes, a->nbytes);
    return true;
}

static void files_swapped_with_each_other_are_noticed(void **state)
{
    struct sweep sweep;

    (void)state;
    damage_count = 0;
    for (uint32_t a = 0; a < image.count; a++)
        for (uint32_t b = a + 1; b < image.count; b++)
            if (image_is_data(&image.files[a]) || image_is_catalog(&image.files[a]))
                add((struct one){.file = a, .other = b});
    assert_true(run("swapped files", swap, NULL, &sweep));
    assert_int_equal(sweep.tally[READ_ERROR], sweep.tried);
}

static bool delete_one(const struct sweep *sweep, uint32_t index, const char *path)
{
    char full[320];

    snprintf(full, sizeof full, "%s/%s", path, file_of(sweep, index)->name);
    CHECK(unlink(full) == 0);
    return true;
}

static void deleted_files_are_noticed(void **state)
{
    struct sweep sweep;

    (void)state;
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++)
        add((struct one){.file = f});
    assert_true(run("deleted files", delete_one, NULL, &sweep));
    assert_int_equal(sweep.tally[HARMLESS], 1); /* "locks" */
}

static bool age(const struct sweep *sweep, uint32_t index, const char *path)
{
    const struct image_file *file = file_of(sweep, index);
    const struct image_file *old = image_find(&early, file->name);

    if (old == NULL ||
        (old->nbytes == file->nbytes && memcmp(old->bytes, file->bytes, old->nbytes) == 0))
        return false;
    image_put_file(path, old->name, old->bytes, old->nbytes);
    return true;
}

/* An older catalogue whose files are all still there could only show the state of then. */
static void older_copies_of_files_are_noticed(void **state)
{
    struct sweep sweep;

    (void)state;
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++)
        add((struct one){.file = f});
    assert_true(run("older files", age, &early_reference, &sweep));
    assert_true(sweep.tally[READ_ERROR] > 0);
}

static bool blank(const struct sweep *sweep, uint32_t index, const char *path)
{
    struct image_file *file = &sweep->image->files[damages[index].file];
    const struct one *d = &damages[index];
    uint8_t *copy = malloc(file->nbytes);

    CHECK(copy != NULL);
    memcpy(copy, file->bytes, file->nbytes);
    memset(copy + d->at, 0, d->nbytes);
    image_put_file(path, file->name, copy, file->nbytes);
    free(copy);
    return true;
}

static bool zeros(const uint8_t *bytes, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        if (bytes[i] != 0) return false;
    return true;
}

static void pages_of_zeros_are_noticed(void **state)
{
    static const size_t sizes[] = {64, 512, 4096};
    struct sweep sweep;

    (void)state;
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++)
        for (size_t s = 0; s < 3; s++)
            for (size_t at = 0; at < image.files[f].nbytes; at += sizes[s]) {
                size_t left = image.files[f].nbytes - at;

                if (!world_whole() && sizes[s] < 4096 && (at / sizes[s] + f) % 7 != 0) continue;
                left = left < sizes[s] ? left : sizes[s];
                if (!zeros(image.files[f].bytes + at, left))
                    add((struct one){.file = f, .at = at, .nbytes = left});
            }
    assert_true(run("zeroed pages", blank, NULL, &sweep));
    assert_true(sweep.tally[READ_ERROR] > sweep.tried / 3);
}

static bool lengthen(const struct sweep *sweep, uint32_t index, const char *path)
{
    const struct image_file *file = file_of(sweep, index);
    size_t more = damages[index].nbytes;
    uint8_t *copy = malloc(file->nbytes + more);

    CHECK(copy != NULL);
    memcpy(copy, file->bytes, file->nbytes);
    memset(copy + file->nbytes, 0xA5, more);
    image_put_file(path, file->name, copy, file->nbytes + more);
    free(copy);
    return true;
}

/* What follows the committed end of a growing file is what a crash leaves. */
static void garbage_after_sealed_files_is_noticed_and_after_growing_ones_harmless(void **state)
{
    static const size_t sizes[] = {1, 64, 4096, 70000};
    struct sweep sweep;
    uint32_t sealed = 0;

    (void)state;
    damage_count = 0;
    for (uint32_t f = 0; f < image.count; f++)
        for (size_t s = 0; s < 4; s++) {
            if (image_is_sealed(&image.files[f])) sealed++;
            add((struct one){.file = f, .nbytes = sizes[s]});
        }
    assert_true(run("longer files", lengthen, NULL, &sweep));
    assert_true(sealed > 0 && sweep.tally[READ_ERROR] >= sealed);
}

static int set_up(void **state)
{
    paua_open_opts opts = {.read_only = true};
    char path[64];

    (void)state;
    damages = malloc(DAMAGES_MAX * sizeof damages[0]);
    world_make_fast(path);
    small_make(path, &early);
    image_take(&image, path);
    MUST(transcript_read(&reference, path, opts, ROWS_IN_ORDER, &err));
    image_put(&early, path);
    MUST(transcript_read(&early_reference, path, opts, ROWS_IN_ORDER, &err));
    world_remove(path);
    return damages != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    image_free(&image);
    image_free(&early);
    transcript_free(&reference);
    transcript_free(&early_reference);
    free(damages);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shorter_data_file_is_noticed),
        cmocka_unit_test(a_shorter_catalogue_is_noticed_or_harmless),
        cmocka_unit_test(files_swapped_with_each_other_are_noticed),
        cmocka_unit_test(deleted_files_are_noticed),
        cmocka_unit_test(older_copies_of_files_are_noticed),
        cmocka_unit_test(pages_of_zeros_are_noticed),
        cmocka_unit_test(garbage_after_sealed_files_is_noticed_and_after_growing_ones_harmless),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
