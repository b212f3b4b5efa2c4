/* run.c - runs a bound filter over columns, one bitmap a node, or over one row.
 *
 * A step writes its result into the bitmap that it is given. ALL and ANY let their first child
 * write there, and each further child into the next bitmap of the scratch, which is then combined;
 * so a chain of comparisons needs one bitmap besides the result's, however long it is.
 * ALL ends when no row is left, ANY when all rows are in.
 * Cost: a column scan a test at most (column/match.h); no allocation once the scratch is grown. */
#include "filter/bind.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct run {
    const struct filter_source *source;
    struct filter_scratch *scratch;
    size_t words; /* of a bitmap */
    paua_error *err;
};

static void fill(const struct run *run, bool every, uint64_t *bitmap)
{
    uint32_t rest = run->source->rows % 64;

    if (run->words == 0) return;
    memset(bitmap, every ? 0xFF : 0, run->words * sizeof *bitmap);
    if (every && rest != 0) bitmap[run->words - 1] = (UINT64_C(1) << rest) - 1;
}

static bool is_empty(const struct run *run, const uint64_t *bitmap)
{
    uint64_t any = 0;

    for (size_t i = 0; i < run->words; i++)
        any |= bitmap[i];
    return any == 0;
}

static bool is_full(const struct run *run, const uint64_t *bitmap)
{
    uint32_t rest = run->source->rows % 64;
    uint64_t all = UINT64_MAX;
    size_t whole = run->words - (rest != 0);

    for (size_t i = 0; i < whole; i++)
        all &= bitmap[i];
    if (rest != 0) all &= bitmap[whole] | UINT64_MAX << rest;
    return all == UINT64_MAX;
}

static paua_status run_test(struct run *run, const struct step *step, uint64_t *bitmap)
{
    const struct filter_source *source = run->source;
    const struct column_view *view = NULL;
    bool done = false;
    paua_status status = source->column(source->arg, step->field, &view, run->err);

    if (status == PAUA_OK && view != NULL && source->index != NULL)
        status =
            source->index(source->arg, step->field, view, &step->as.test, bitmap, &done, run->err);
    if (status != PAUA_OK) return status;
    if (done) {
        run->scratch->indexed++;
        column_match_patches(source->patches, step->field, &step->as.test, source->rows, bitmap);
        return PAUA_OK;
    }
    status = column_match(view, source->patches, step->field, &step->as.test, source->rows, bitmap,
                          &run->scratch->match);
    return status == PAUA_OK ? status : error_set_nomem(run->err);
}

/* temporary: the bitmaps of the scratch that are free, step->temporary of them. */
static paua_status run_step(struct run *run, const struct step *step, uint64_t *bitmap,
                            uint64_t *temporary)
{
    const struct step *child;
    paua_status status;

    if (step->kind == STEP_TEST) return run_test(run, step, bitmap);
    if (step->kind == STEP_NONE || step->kind == STEP_EVERY) {
        fill(run, step->kind == STEP_EVERY, bitmap);
        return PAUA_OK;
    }
    child = step->as.first;
    status = run_step(run, child, bitmap, temporary);
    for (child = child->next; child != NULL && status == PAUA_OK; child = child->next) {
        if (step->kind == STEP_ALL ? is_empty(run, bitmap) : is_full(run, bitmap)) break;
        status = run_step(run, child, temporary, temporary + run->words);
        for (size_t i = 0; i < run->words && step->kind == STEP_ALL; i++)
            bitmap[i] &= temporary[i];
        for (size_t i = 0; i < run->words && step->kind == STEP_ANY; i++)
            bitmap[i] |= temporary[i];
    }
    return status;
}

paua_status filter_run(const struct bound_filter *bound, const struct filter_source *source,
                       uint64_t *bitmap, struct filter_scratch *scratch, paua_error *err)
{
    struct run run = {.source = source,
                      .scratch = scratch,
                      .words = ((size_t)source->rows + 63) / 64,
                      .err = err};

    if (run.words == 0) return PAUA_OK;
    if (mem_grow((void **)&scratch->words, &scratch->words_capacity,
                 bound->root->temporary * run.words, sizeof *scratch->words) != 0)
        return error_set_nomem(err);
    return run_step(&run, bound->root, bitmap, scratch->words);
}

void filter_scratch_free(struct filter_scratch *scratch)
{
    match_scratch_free(&scratch->match);
    mem_free(scratch->words);
    *scratch = (struct filter_scratch){.words = NULL};
}

static bool step_passes(const struct step *step,
                        void (*cell)(void *arg, uint32_t field, struct cell *cell), void *arg)
{
    struct cell value = {.present = false};

    switch (step->kind) {
    case STEP_NONE:
    case STEP_EVERY:
        return step->kind == STEP_EVERY;
    case STEP_TEST:
        cell(arg, step->field, &value);
        return test_passes(&step->as.test, &value);
    default:
        for (const struct step *child = step->as.first; child != NULL; child = child->next)
            if (step_passes(child, cell, arg) == (step->kind == STEP_ANY))
                return step->kind == STEP_ANY;
        return step->kind == STEP_ALL;
    }
}

bool filter_passes(const struct bound_filter *bound,
                   void (*cell)(void *arg, uint32_t field, struct cell *cell), void *arg)
{
    return step_passes(bound->root, cell, arg);
}
