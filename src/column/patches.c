/* patches.c - sets of patches: lookup, and new sets from old ones.
 *
 * A set is an array of lists, one a field, each in one block of memory: values, rows, lengths and
 * bytes. Sets share lists; nothing in either ever changes, so readers need no lock. Making a list
 * first counts, so that it holds exactly its values.
 *
 * Cost      16 bytes a patch and its bytes; finding one is two binary searches.
 * Rejected  A tree of patches with shared paths: an update would copy less, but a value costs
 *           several times the memory, and `optimize` keeps the lists short. */
#include "column/patches.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "column/patch_list.h"

void patch_make_add(struct patch_maker *maker, uint32_t row, const struct cell *cell)
{
    struct patch_list *list = maker->list;
    bool bytes = cell->present && cell->data != NULL;
    uint32_t i = maker->count++;
    uint64_t at = maker->nbytes;

    if (bytes) maker->nbytes += cell->nbytes;
    if (list == NULL) return;
    assert(i < list->count && (i == 0 || list->rows[i - 1] < row));
    list->rows[i] = row;
    list->values[i] = bytes ? at : cell->key;
    list->lengths[i] = bytes ? (uint32_t)cell->nbytes : cell->present ? PATCH_KEY : PATCH_NULL;
    if (bytes && cell->nbytes > 0) memcpy(list->bytes + at, cell->data, cell->nbytes);
}

bool patch_make_list(struct patch_maker *maker, uint32_t field)
{
    size_t each = sizeof(uint64_t) + 2 * sizeof(uint32_t);
    struct patch_list *list = mem_alloc(sizeof *list + maker->count * each + maker->nbytes + 1);

    assert(maker->list == NULL);
    if (list == NULL) return false;
    *list = (struct patch_list){.field = field, .count = maker->count, .nbytes = maker->nbytes};
    atomic_init(&list->refs, 1);
    list->values = (uint64_t *)(list + 1);
    list->rows = (uint32_t *)(list->values + list->count);
    list->lengths = list->rows + list->count;
    list->bytes = (uint8_t *)(list->lengths + list->count);
    *maker = (struct patch_maker){.list = list};
    return true;
}

void patch_list_unref(struct patch_list *list)
{
    if (list == NULL) return;
    if (atomic_fetch_sub_explicit(&list->refs, 1, memory_order_acq_rel) == 1) mem_free(list);
}

void patch_list_cell(const struct patch_list *list, uint32_t i, struct cell *cell)
{
    uint32_t length = list->lengths[i];

    *cell = (struct cell){.present = length != PATCH_NULL};
    if (length == PATCH_KEY) {
        cell->key = list->values[i];
    } else if (length != PATCH_NULL) {
        cell->data = list->bytes + list->values[i];
        cell->nbytes = length;
    }
}

uint32_t patch_list_at(const struct patch_list *list, uint32_t row)
{
    uint32_t first = 0, end = list->count;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;

        if (list->rows[middle] < row)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

struct patches *patches_new(uint32_t count)
{
    struct patches *patches = mem_alloc(sizeof *patches + count * sizeof patches->lists[0]);

    if (patches == NULL) return NULL;
    *patches = (struct patches){.count = 0};
    atomic_init(&patches->refs, 1);
    return patches;
}

void patches_add(struct patches *patches, struct patch_list *list)
{
    if (list == NULL) return;
    if (list->count == 0) {
        patch_list_unref(list);
        return;
    }
    assert(patches->count == 0 || patches->lists[patches->count - 1]->field < list->field);
    patches->lists[patches->count++] = list;
}

struct patches *patches_done(struct patches *patches)
{
    if (patches->count > 0) return patches;
    patches_unref(patches);
    return NULL;
}

struct patches *patches_ref(struct patches *patches)
{
    if (patches != NULL) atomic_fetch_add_explicit(&patches->refs, 1, memory_order_relaxed);
    return patches;
}

void patches_unref(struct patches *patches)
{
    if (patches == NULL) return;
    if (atomic_fetch_sub_explicit(&patches->refs, 1, memory_order_acq_rel) != 1) return;
    for (uint32_t i = 0; i < patches->count; i++)
        patch_list_unref(patches->lists[i]);
    mem_free(patches);
}

struct patch_list *patches_list(const struct patches *patches, uint32_t field)
{
    uint32_t first = 0, end = patches != NULL ? patches->count : 0;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;

        if (patches->lists[middle]->field == field) return patches->lists[middle];
        if (patches->lists[middle]->field < field)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

/* One list at its new rows; *moved becomes NULL if nothing is left. */
static bool list_map(const struct patch_list *list, uint32_t (*map)(void *arg, uint32_t row),
                     void *arg, struct patch_list **moved)
{
    struct patch_maker maker = {0};

    for (;;) {
        for (uint32_t i = 0; i < list->count; i++) {
            uint32_t row = map(arg, list->rows[i]);
            struct cell cell;

            patch_list_cell(list, i, &cell);
            if (row != UINT32_MAX) patch_make_add(&maker, row, &cell);
        }
        if (maker.list != NULL || maker.count == 0) break;
        if (!patch_make_list(&maker, list->field)) return false;
    }
    *moved = maker.list;
    return true;
}

paua_status patches_map(struct patches *patches, uint32_t (*map)(void *arg, uint32_t row),
                        void *arg, struct patches **mapped)
{
    struct patches *draft;

    if (patches == NULL || map == NULL) {
        *mapped = patches_ref(patches);
        return PAUA_OK;
    }
    draft = patches_new(patches->count);
    if (draft == NULL) return PAUA_ENOMEM;
    for (uint32_t i = 0; i < patches->count; i++) {
        struct patch_list *list;

        if (!list_map(patches->lists[i], map, arg, &list)) {
            patches_unref(draft);
            return PAUA_ENOMEM;
        }
        patches_add(draft, list);
    }
    *mapped = patches_done(draft);
    return PAUA_OK;
}

static bool same_value(const struct patch_list *a, uint32_t i, const struct patch_list *b,
                       uint32_t j)
{
    if (a->lengths[i] != b->lengths[j]) return false;
    if (a->lengths[i] == PATCH_NULL) return true;
    if (a->lengths[i] == PATCH_KEY) return a->values[i] == b->values[j];
    return memcmp(a->bytes + a->values[i], b->bytes + b->values[j], a->lengths[i]) == 0;
}

/* The patches of `newer` that differ from those of `older` (may be NULL). */
static bool list_since(const struct patch_list *newer, const struct patch_list *older,
                       struct patch_list **since)
{
    struct patch_maker maker = {0};

    for (;;) {
        for (uint32_t i = 0, j = 0; i < newer->count; i++) {
            struct cell cell;

            while (older != NULL && j < older->count && older->rows[j] < newer->rows[i])
                j++;
            if (older != NULL && j < older->count && older->rows[j] == newer->rows[i] &&
                same_value(newer, i, older, j))
                continue;
            patch_list_cell(newer, i, &cell);
            patch_make_add(&maker, newer->rows[i], &cell);
        }
        if (maker.list != NULL || maker.count == 0) break;
        if (!patch_make_list(&maker, newer->field)) return false;
    }
    *since = maker.list;
    return true;
}

paua_status patches_since(struct patches *newer, const struct patches *older,
                          struct patches **since)
{
    struct patches *draft;

    if (newer == NULL || older == NULL) {
        *since = patches_ref(newer);
        return PAUA_OK;
    }
    draft = patches_new(newer->count);
    if (draft == NULL) return PAUA_ENOMEM;
    for (uint32_t i = 0; i < newer->count; i++) {
        struct patch_list *list = newer->lists[i], *old = patches_list(older, list->field);

        if (list == old) continue;
        if (!list_since(list, old, &list)) {
            patches_unref(draft);
            return PAUA_ENOMEM;
        }
        patches_add(draft, list);
    }
    *since = patches_done(draft);
    return PAUA_OK;
}

uint64_t patches_count(const struct patches *patches)
{
    uint64_t count = 0;

    for (uint32_t i = 0; patches != NULL && i < patches->count; i++)
        count += patches->lists[i]->count;
    return count;
}

uint32_t patches_field_count(const struct patches *patches, uint32_t field)
{
    const struct patch_list *list = patches_list(patches, field);

    return list != NULL ? list->count : 0;
}

uint32_t patches_row(const struct patches *patches, uint32_t field, uint32_t i)
{
    return patches_list(patches, field)->rows[i];
}

void patches_cell(const struct patches *patches, uint32_t field, uint32_t i, struct cell *cell)
{
    patch_list_cell(patches_list(patches, field), i, cell);
}

bool patches_find(const struct patches *patches, uint32_t field, uint32_t row, struct cell *cell)
{
    const struct patch_list *list = patches_list(patches, field);
    uint32_t i = list != NULL ? patch_list_at(list, row) : 0;

    if (list == NULL || i == list->count || list->rows[i] != row) return false;
    patch_list_cell(list, i, cell);
    return true;
}

uint32_t patches_field(const struct patches *patches, uint32_t i)
{
    return patches != NULL && i < patches->count ? patches->lists[i]->field : UINT32_MAX;
}

size_t patches_nbytes(const struct patches *patches)
{
    size_t each = sizeof(uint64_t) + 2 * sizeof(uint32_t), nbytes = 0;

    if (patches == NULL) return 0;
    nbytes = sizeof *patches + patches->count * sizeof patches->lists[0];
    for (uint32_t i = 0; i < patches->count; i++)
        nbytes +=
            sizeof *patches->lists[i] + patches->lists[i]->count * each + patches->lists[i]->nbytes;
    return nbytes;
}
