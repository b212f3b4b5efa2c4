/* group_hits.c - see group_hits.h. One pass from the nearest on, with a table of the values seen:
 * open addressing by hash, at most half full. */
#include "db/group_hits.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/key.h"

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

paua_status group_hits(const struct view *view, uint32_t field, uint32_t most, uint32_t k,
                       struct topk *list, paua_error *err)
{
    size_t slots = 16, kept = 0;
    struct group *groups;
    paua_status status = PAUA_OK;

    while (slots < 2 * list->count)
        slots *= 2;
    groups = mem_zalloc(slots, sizeof groups[0]);
    if (groups == NULL) return error_set_nomem(err);
    for (size_t i = 0; i < list->count && kept < k; i++) {
        struct candidate c = list->heap[i];
        struct group *group;
        struct cell cell;

        status = view_cell(view, field, (struct place){c.source, c.row}, &cell, err);
        if (status != PAUA_OK) break;
        group = slot_of(groups, slots - 1, &cell);
        if (group->count >= most) continue;
        group->cell = cell;
        group->count++;
        list->heap[kept++] = c;
    }
    mem_free(groups);
    if (status == PAUA_OK) list->count = kept;
    return status;
}
