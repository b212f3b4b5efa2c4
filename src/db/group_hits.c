/* group_hits.c - see group_hits.h.
 *
 * Rounds    A search for more than k candidates, each list shortened to groups; then again, for
 *           ever more, for those queries alone whose list is short and may not be all there is.
 *           These are moved to the front for a round, and all are put back in their places in the
 *           end: a list then says nothing of which other queries it was searched with.
 * Groups    One pass from the nearest on, with a table of the values seen: open addressing by hash,
 *           at most half full. */
#include "db/group_hits.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/key.h"

#define GROUP_WIDEN 4u /* candidates for groups: so many times as many a round */

struct group {
    struct cell cell;
    uint32_t count; /* 0: an empty slot */
};

static bool same(const struct cell *a, const struct cell *b)
{
    if (a->present != b->present || a->key != b->key || a->nbytes != b->nbytes) return false;
    return a->nbytes == 0 || memcmp(a->data, b->data, a->nbytes) == 0;
}

/* The slot of a value. Values of one field are all numbers or all byte strings. */
static struct group *slot_of(struct group *groups, size_t mask, const struct cell *cell)
{
    struct key key = {cell->data, cell->nbytes};
    size_t at;

    if (cell->data == NULL) key = (struct key){(const uint8_t *)&cell->key, sizeof cell->key};
    for (at = key_hash(key) & mask; groups[at].count > 0; at = (at + 1) & mask)
        if (same(&groups[at].cell, cell)) break;
    return &groups[at];
}

/* Shortens a sorted list to groups. */
static paua_status list_group(const struct view *view, const struct grouping *grouping,
                              struct topk *list, paua_error *err)
{
    size_t slots = 16, kept = 0;
    struct group *groups;
    paua_status status = PAUA_OK;

    while (slots < 2 * list->count)
        slots *= 2;
    groups = mem_zalloc(slots, sizeof groups[0]);
    if (groups == NULL) return error_set_nomem(err);
    for (size_t i = 0; i < list->count && kept < grouping->k; i++) {
        struct candidate c = list->heap[i];
        struct group *group;
        struct cell cell;

        status = view_cell(view, grouping->field->id, (struct place){c.source, c.row}, &cell, err);
        if (status != PAUA_OK) break;
        group = slot_of(groups, slots - 1, &cell);
        if (group->count >= grouping->most) continue;
        group->cell = cell;
        group->count++;
        list->heap[kept++] = c;
    }
    mem_free(groups);
    if (status == PAUA_OK) list->count = kept;
    return status;
}

/* The queries of a search in the order of its rounds. */
struct rounds {
    struct search *search;
    struct topk *best;
    size_t *query; /* which one stands where */
};

static void rounds_swap(struct rounds *r, size_t a, size_t b)
{
    struct flat_query query = r->search->queries[a];
    struct topk list = r->best[a];
    size_t number = r->query[a];

    r->search->queries[a] = r->search->queries[b];
    r->search->queries[b] = query;
    r->best[a] = r->best[b];
    r->best[b] = list;
    r->query[a] = r->query[b];
    r->query[b] = number;
}

/* Shortens the lists of a round, and moves those that need more candidates to the front; *left
 * becomes how many. */
static paua_status lists_group(struct rounds *r, const struct grouping *grouping, size_t *left,
                               paua_error *err)
{
    size_t more = 0;

    for (size_t q = 0; q < r->search->n; q++) {
        bool others = r->best[q].count == r->search->k; /* there may be others, farther away */
        paua_status status = list_group(r->search->view, grouping, &r->best[q], err);

        if (status != PAUA_OK) return status;
        if (others && r->best[q].count < grouping->k) rounds_swap(r, q, more++);
    }
    *left = more;
    return PAUA_OK;
}

paua_status group_search(struct search *search, const struct grouping *grouping, struct topk *best,
                         struct topk *spare, struct search_workers *workers, paua_error *err)
{
    struct rounds r = {search, best, mem_alloc((search->n + 1) * sizeof *r.query)};
    size_t n = search->n;
    paua_status status = PAUA_OK;

    if (r.query == NULL) return error_set_nomem(err);
    for (size_t q = 0; q < n; q++)
        r.query[q] = q;
    for (uint64_t k = grouping->k; search->n > 0 && status == PAUA_OK;) {
        size_t left = 0;

        k = k * GROUP_WIDEN < grouping->rows ? k * GROUP_WIDEN : grouping->rows;
        search->k = k < INT32_MAX ? (uint32_t)k : INT32_MAX;
        if (search->k < grouping->k) search->k = grouping->k;
        if (search->ef < search->k) search->ef = search->k;
        status = search_run(search, best, spare, workers, err);
        if (status == PAUA_OK) status = lists_group(&r, grouping, &left, err);
        search->n = search->k >= grouping->rows || search->k == INT32_MAX ? 0 : left;
    }
    search->n = n;
    for (size_t q = 0; q < n; q++)
        while (r.query[q] != q)
            rounds_swap(&r, q, r.query[q]);
    mem_free(r.query);
    return status;
}
