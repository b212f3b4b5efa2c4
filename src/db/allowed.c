/* allowed.c - see allowed.h. A filter that lets every live row pass is no restriction, so that it
 * costs no more than having run it. What a filter finds stays bits, which is all that a walk asks
 * for; a list of rows is made only for plans that go through it. */
#include "db/allowed.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/filtered.h"

static int by_row(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static bool may_be_found(const struct allowed *allowed, uint32_t row)
{
    return allowed->bits == NULL || (allowed->bits[row / 64] >> row % 64 & 1) != 0;
}

/* Sorted, each row once, though a key may be given twice, and only those that the filter finds. */
static void keys_finish(struct allowed *allowed)
{
    size_t kept = 0;

    if (allowed->count > 0) qsort(allowed->rows, allowed->count, sizeof allowed->rows[0], by_row);
    for (size_t i = 0; i < allowed->count; i++)
        if ((kept == 0 || allowed->rows[i] != allowed->rows[kept - 1]) &&
            may_be_found(allowed, allowed->rows[i]))
            allowed->rows[kept++] = allowed->rows[i];
    allowed->count = kept;
    allowed->all = false;
    mem_free(allowed->bits);
    allowed->bits = NULL;
}

static paua_status keys_find(const struct view *view, const paua_keys *keys,
                             struct allowed *allowed, paua_error *err)
{
    struct writer scratch = {0};
    paua_status status = keys_check(view->schema, keys, err);

    for (uint32_t s = 0; s < view_sources(view); s++)
        allowed[s].count = 0; /* what the filter alone would give */
    for (size_t i = 0; i < keys->count && status == PAUA_OK; i++) {
        struct place place;
        struct allowed *a;
        struct key key;

        status = key_from_caller(view->schema, keys, i, &scratch, &key, err);
        if (status == PAUA_OK) status = view_find(view, key, &place, err);
        if (status != PAUA_OK || place_is_none(place)) continue;
        a = &allowed[place.source];
        if (mem_grow((void **)&a->rows, &a->capacity, a->count + 1, sizeof a->rows[0]) != 0)
            status = error_set_nomem(err);
        else
            a->rows[a->count++] = place.row;
    }
    writer_free(&scratch);
    for (uint32_t s = 0; s < view_sources(view) && status == PAUA_OK; s++)
        keys_finish(&allowed[s]);
    return status;
}

static uint64_t live_rows(const struct view *view, uint32_t source)
{
    const roaring_bitmap_t *deleted = view_source_deleted(view, source);
    uint64_t rows = view_source_rows(view, source);

    return deleted == NULL ? rows : rows - roaring_bitmap_get_cardinality(deleted);
}

bool allowed_list(struct allowed *allowed)
{
    size_t listed = 0;

    if (mem_grow((void **)&allowed->rows, &allowed->capacity, allowed->count,
                 sizeof allowed->rows[0]) != 0)
        return false;
    for (uint32_t word = 0; listed < allowed->count; word++)
        for (uint64_t bits = allowed->bits[word]; bits != 0; bits &= bits - 1)
            allowed->rows[listed++] = 64 * word + (uint32_t)__builtin_ctzll(bits);
    return true;
}

void allowed_pick_seeds(struct allowed *allowed)
{
    uint32_t most = allowed->count < ALLOWED_SEEDS ? (uint32_t)allowed->count : ALLOWED_SEEDS;
    size_t passed = 0; /* set bits of the words before */

    allowed->seed_count = 0;
    for (uint32_t word = 0; allowed->seed_count < most; word++) {
        uint64_t bits = allowed->bits[word];
        size_t count = (size_t)__builtin_popcountll(bits), at = passed;

        for (; allowed->seed_count < most; allowed->seed_count++) {
            size_t next = allowed->count * allowed->seed_count / most;

            if (next >= passed + count) break;
            for (; at < next; at++)
                bits &= bits - 1;
            allowed->seeds[allowed->seed_count] = 64 * word + (uint32_t)__builtin_ctzll(bits);
        }
        passed += count;
    }
}

static paua_status filter_find(const struct view *view, const struct bound_filter *filter,
                               struct allowed *allowed, uint32_t *indexed, paua_error *err)
{
    struct filter_scratch scratch = {0};
    paua_status status = PAUA_OK;

    for (uint32_t s = 0; s < view_sources(view) && status == PAUA_OK; s++) {
        size_t words = ((size_t)view_source_rows(view, s) + 63) / 64;
        struct allowed *a = &allowed[s];
        uint64_t count;

        a->bits = mem_alloc((words + 1) * sizeof a->bits[0]);
        if (a->bits == NULL) status = error_set_nomem(err);
        if (status == PAUA_OK)
            status = filtered_rows(view, s, filter, a->bits, &count, &scratch, err);
        if (status != PAUA_OK) break;
        a->all = count == live_rows(view, s);
        a->count = (size_t)count;
    }
    *indexed = scratch.indexed;
    filter_scratch_free(&scratch);
    return status;
}

static uint64_t matched_count(const struct view *view, const struct allowed *allowed)
{
    uint64_t matched = 0;

    for (uint32_t s = 0; s < view_sources(view); s++)
        matched += allowed[s].all ? live_rows(view, s) : allowed[s].count;
    return matched;
}

paua_status allowed_find(const struct view *view, const paua_keys *keys, const paua_filter *filter,
                         struct allowed **allowed, paua_plan *plan, paua_error *err)
{
    struct bound_filter *bound = NULL;
    struct allowed *a;
    paua_status status = PAUA_OK;

    *allowed = NULL;
    plan->matched = view->live_rows;
    plan->indexed = 0;
    if (keys == NULL && filter == NULL) return PAUA_OK;
    a = mem_zalloc(view_sources(view) + 1u, sizeof a[0]);
    if (a == NULL) return error_set_nomem(err);
    if (filter != NULL) status = filtered_bind(view, filter, &bound, err);
    if (status == PAUA_OK && filter != NULL)
        status = filter_find(view, bound, a, &plan->indexed, err);
    if (status == PAUA_OK && keys != NULL) status = keys_find(view, keys, a, err);
    bound_filter_free(bound);
    if (status == PAUA_OK) plan->matched = matched_count(view, a);
    if (status == PAUA_OK && plan->matched < view->live_rows)
        *allowed = a;
    else
        allowed_free(view, a);
    return status;
}

void allowed_free(const struct view *view, struct allowed *allowed)
{
    for (uint32_t s = 0; allowed != NULL && s < view_sources(view); s++) {
        mem_free(allowed[s].rows);
        mem_free(allowed[s].bits);
    }
    mem_free(allowed);
}
