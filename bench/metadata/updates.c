/* updates.c - the metadata benchmark's loop of updates: a tenth of the rows get other values, again
 * and again, as patches over their columns; when a quarter of the rows is patched, the patches are
 * folded into new columns, as optimizing does. Memory after the last round must be what it was
 * early on. */
#include "updates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "column/column.h"
#include "column/patches.h"
#include "workload.h"

#define ROUNDS 60u
#define EARLY 20u   /* rounds, in which all patches are folded in at least once */
#define FOLD 4u     /* patched rows, one in so many, that are folded in */
#define CHANGED 10u /* a row in so many a round */

struct world {
    const struct workload *workload;
    uint32_t values;
    struct column **columns;
    struct patches *patches;
    uint64_t random;
};

static void require(bool ok)
{
    if (!ok) checked(NULL);
}

/* The columns with their patches in place of the values that they replace. */
static void fold(struct world *world)
{
    const struct workload *w = world->workload;

    for (uint32_t key = 0; key < w->keys; key++) {
        struct column *folded = checked(column_new(PAUA_TYPE_STRING));
        struct column_view view;

        column_look(world->columns[key], &view);
        for (uint32_t row = 0; row < w->rows; row++) {
            struct cell cell;

            if (!patches_find(world->patches, key, row, &cell)) column_cell(&view, row, &cell);
            require(column_put(folded, row, &cell) == PAUA_OK);
        }
        column_free(world->columns[key]);
        world->columns[key] = folded;
    }
    patches_unref(world->patches);
    world->patches = NULL;
}

static void update(struct world *world)
{
    const struct workload *w = world->workload;
    struct patch_edit *edit = checked(patch_edit_begin(world->patches));
    struct patches *patches;
    char text[32];

    for (uint32_t i = 0; i < w->rows / CHANGED; i++) {
        uint32_t row = (uint32_t)(next_random(&world->random) % w->rows);
        uint32_t key = (uint32_t)(next_random(&world->random) % w->keys);
        struct cell cell = {.present = true, .data = (const uint8_t *)text};

        cell.nbytes = (size_t)snprintf(text, sizeof text, "meta_value_%u_%u", key,
                                       (unsigned)(next_random(&world->random) % world->values));
        require(patch_edit_put(edit, key, row, &cell) == PAUA_OK);
    }
    require(patch_edit_apply(edit, &patches) == PAUA_OK);
    patch_edit_end(edit);
    patches_unref(world->patches);
    world->patches = patches;
    if (patches_count(patches) * FOLD > (uint64_t)w->rows * w->keys) fold(world);
}

static size_t nbytes(const struct world *world)
{
    size_t sum = patches_nbytes(world->patches);

    for (uint32_t key = 0; key < world->workload->keys; key++)
        sum += column_nbytes(world->columns[key]);
    return sum;
}

static void fill(struct world *world)
{
    const struct workload *w = world->workload;

    world->columns = checked(calloc(w->keys, sizeof world->columns[0]));
    for (uint32_t key = 0; key < w->keys; key++) {
        world->columns[key] = checked(column_new(PAUA_TYPE_STRING));
        for (uint32_t row = 0; row < w->rows; row++) {
            paua_bytes value = workload_value(w, row, key);
            struct cell cell = {.present = true, .data = value.data, .nbytes = value.nbytes};

            require(column_put(world->columns[key], row, &cell) == PAUA_OK);
        }
    }
}

struct update_figures updates_run(const struct workload *workload, uint32_t values)
{
    struct world world = {.workload = workload, .values = values, .random = 7};
    struct update_figures figures = {0};
    struct timespec begin, end;

    fill(&world);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        size_t now;

        update(&world);
        now = nbytes(&world);
        if (round < EARLY && now > figures.early_nbytes) figures.early_nbytes = now;
        if (round >= EARLY && now > figures.late_nbytes) figures.late_nbytes = now;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    figures.round_ms =
        ((double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6) /
        ROUNDS;
    patches_unref(world.patches);
    for (uint32_t key = 0; key < workload->keys; key++)
        column_free(world.columns[key]);
    free(world.columns);
    return figures;
}
