/* patch_edit.c - collecting changes on top of a set of patches.
 *
 * Changes are kept in their order; an open-addressed table finds the last one of a field and row,
 * and each change knows the one that it hides, so that the newest can be taken back: entries leave
 * the table in the reverse of the order in which they came, which keeps linear probing right
 * without marks for deleted entries (growing enters them in that order again). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "column/patch_list.h"

#define NOTHING UINT32_MAX
#define SLOTS_FIRST 16u

struct change {
    uint32_t field, row;
    uint32_t hidden; /* the change before it of the same field and row, or NOTHING */
    struct cell cell;
    uint8_t *bytes; /* of the arena: where the cell's are */
    size_t room;
};

struct patch_edit {
    struct patches *base; /* borrowed */
    struct change *changes;
    size_t count, capacity;
    uint32_t *slots; /* index of a change, or NOTHING */
    uint32_t slot_count;
    struct arena bytes;
};

struct patch_edit *patch_edit_begin(struct patches *base)
{
    struct patch_edit *edit = mem_zalloc(1, sizeof *edit);

    if (edit != NULL) edit->base = base;
    return edit;
}

void patch_edit_end(struct patch_edit *edit)
{
    if (edit == NULL) return;
    mem_free(edit->changes);
    mem_free(edit->slots);
    arena_free(&edit->bytes);
    mem_free(edit);
}

size_t patch_edit_count(const struct patch_edit *edit) { return edit->count; }

/* The slot of a field and row: its last change, or NOTHING. */
static uint32_t *slot_of(const struct patch_edit *edit, uint32_t field, uint32_t row)
{
    uint64_t mixed = ((uint64_t)field << 32 | row) * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t mask = edit->slot_count - 1, at = (uint32_t)(mixed >> 32) & mask;

    for (;; at = (at + 1) & mask) {
        const struct change *change;

        if (edit->slots[at] == NOTHING) return &edit->slots[at];
        change = &edit->changes[edit->slots[at]];
        if (change->field == field && change->row == row) return &edit->slots[at];
    }
}

static bool room_make(struct patch_edit *edit)
{
    uint32_t wanted = edit->slot_count == 0 ? SLOTS_FIRST : edit->slot_count * 2;
    void *changes = edit->changes;
    uint32_t *slots;

    if (edit->count >= UINT32_MAX / 4) return false;
    if (mem_grow(&changes, &edit->capacity, edit->count + 1, sizeof edit->changes[0]) != 0)
        return false;
    edit->changes = changes;
    if ((edit->count + 1) * 2 <= edit->slot_count) return true;
    slots = mem_alloc(wanted * sizeof slots[0]);
    if (slots == NULL) return false;
    memset(slots, 0xFF, wanted * sizeof slots[0]);
    mem_free(edit->slots);
    edit->slots = slots;
    edit->slot_count = wanted;
    for (uint32_t i = 0; i < edit->count; i++)
        *slot_of(edit, edit->changes[i].field, edit->changes[i].row) = i;
    return true;
}

/* Gives a change its cell, in the room that it has if that is enough. */
static bool cell_keep(struct patch_edit *edit, struct change *change, const struct cell *cell)
{
    assert(!cell->present || cell->data != NULL || cell->nbytes == 0);
    if (cell->present && cell->data != NULL) {
        if (change->bytes == NULL || change->room < cell->nbytes) {
            uint8_t *bytes = arena_alloc(&edit->bytes, cell->nbytes);

            if (bytes == NULL) return false;
            change->bytes = bytes;
            change->room = cell->nbytes;
        }
        if (cell->nbytes > 0) memcpy(change->bytes, cell->data, cell->nbytes);
    }
    change->cell = *cell;
    if (cell->data != NULL) change->cell.data = change->bytes;
    return true;
}

paua_status patch_edit_put(struct patch_edit *edit, uint32_t field, uint32_t row,
                           const struct cell *cell)
{
    struct change change = {.field = field, .row = row};
    uint32_t *slot;

    if (!room_make(edit) || !cell_keep(edit, &change, cell)) return PAUA_ENOMEM;
    slot = slot_of(edit, field, row);
    change.hidden = *slot;
    edit->changes[edit->count] = change;
    *slot = (uint32_t)edit->count++;
    return PAUA_OK;
}

paua_status patch_edit_replace(struct patch_edit *edit, uint32_t field, uint32_t row,
                               const struct cell *cell)
{
    uint32_t last = edit->slot_count > 0 ? *slot_of(edit, field, row) : NOTHING;

    if (last == NOTHING) return patch_edit_put(edit, field, row, cell);
    return cell_keep(edit, &edit->changes[last], cell) ? PAUA_OK : PAUA_ENOMEM;
}

void patch_edit_undo(struct patch_edit *edit, size_t count)
{
    while (edit->count > count) {
        const struct change *change = &edit->changes[edit->count - 1];

        *slot_of(edit, change->field, change->row) = change->hidden;
        edit->count--;
    }
}

bool patch_edit_find(const struct patch_edit *edit, uint32_t field, uint32_t row, struct cell *cell)
{
    uint32_t last = edit->slot_count > 0 ? *slot_of(edit, field, row) : NOTHING;

    if (last == NOTHING) return patches_find(edit->base, field, row, cell);
    *cell = edit->changes[last].cell;
    return true;
}

static int by_field_row(const void *a, const void *b)
{
    const struct change *x = *(const struct change *const *)a,
                        *y = *(const struct change *const *)b;

    if (x->field != y->field) return x->field < y->field ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* A field's list: the base's (may be NULL) with n changes over it. */
static bool list_merge(const struct patch_list *base, struct change *const *changes, size_t n,
                       struct patch_list **merged)
{
    struct patch_maker maker = {0};
    uint32_t base_count = base != NULL ? base->count : 0;

    for (;;) {
        uint32_t i = 0;

        for (size_t j = 0; j < n || i < base_count;) {
            struct cell cell;

            if (j == n || (i < base_count && base->rows[i] < changes[j]->row)) {
                patch_list_cell(base, i, &cell);
                patch_make_add(&maker, base->rows[i++], &cell);
                continue;
            }
            if (i < base_count && base->rows[i] == changes[j]->row) i++;
            patch_make_add(&maker, changes[j]->row, &changes[j]->cell);
            j++;
        }
        if (maker.list != NULL) break;
        if (!patch_make_list(&maker, changes[0]->field)) return false;
    }
    *merged = maker.list;
    return true;
}

/* The base's lists below `field`, shared. */
static uint32_t share_below(const struct patches *base, uint32_t next, uint32_t field,
                            struct patches *draft)
{
    while (base != NULL && next < base->count && base->lists[next]->field < field)
        patches_add(draft, patch_list_ref(base->lists[next++]));
    return next;
}

/* All lists; `changes` are sorted, and the last of their field and row. */
static bool merge(const struct patch_edit *edit, struct change *const *changes, size_t n,
                  struct patches *draft)
{
    uint32_t next = 0;

    for (size_t i = 0, end; i < n; i = end) {
        uint32_t field = changes[i]->field;
        struct patch_list *list;

        for (end = i; end < n && changes[end]->field == field;)
            end++;
        next = share_below(edit->base, next, field, draft);
        if (!list_merge(patches_list(edit->base, field), changes + i, end - i, &list)) return false;
        patches_add(draft, list);
        if (edit->base != NULL && next < edit->base->count &&
            edit->base->lists[next]->field == field)
            next++;
    }
    share_below(edit->base, next, NOTHING, draft);
    return true;
}

paua_status patch_edit_apply(struct patch_edit *edit, struct patches **patches)
{
    size_t n = 0, most = edit->count + (edit->base != NULL ? edit->base->count : 0);
    struct patches *draft;
    struct change **last;

    if (edit->count == 0) {
        *patches = patches_ref(edit->base);
        return PAUA_OK;
    }
    last = mem_alloc(edit->count * sizeof(struct change *));
    draft = patches_new((uint32_t)most);
    if (last == NULL || draft == NULL) goto nomem;
    for (uint32_t i = 0; i < edit->count; i++)
        if (*slot_of(edit, edit->changes[i].field, edit->changes[i].row) == i)
            last[n++] = &edit->changes[i];
    qsort(last, n, sizeof(struct change *), by_field_row);
    if (!merge(edit, last, n, draft)) goto nomem;
    mem_free(last);
    *patches = patches_done(draft);
    return PAUA_OK;

nomem:
    mem_free(last);
    patches_unref(draft);
    return PAUA_ENOMEM;
}
