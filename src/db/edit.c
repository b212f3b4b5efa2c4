/* edit.c - see edit.h. A set is copied once a group of writes, however many rows it deletes. */
#include "db/edit.h"

#include "base/memory.h"

paua_status edit_begin(struct edit *edit, const struct view *view)
{
    edit->view = view;
    edit->sets = mem_zalloc(view->segment_count + 1u, sizeof(roaring_bitmap_t *));
    edit->patches = mem_zalloc(view->segment_count + 1u, sizeof(struct patch_edit *));
    if (edit->sets != NULL && edit->patches != NULL) return PAUA_OK;
    edit_end(edit);
    return PAUA_ENOMEM;
}

void edit_end(struct edit *edit)
{
    for (uint32_t i = 0; edit->sets != NULL && i <= edit->view->segment_count; i++)
        if (edit->sets[i] != NULL) roaring_bitmap_free(edit->sets[i]);
    for (uint32_t i = 0; edit->patches != NULL && i <= edit->view->segment_count; i++)
        patch_edit_end(edit->patches[i]);
    mem_free(edit->sets);
    mem_free(edit->patches);
    edit->sets = NULL;
    edit->patches = NULL;
}

const roaring_bitmap_t *edit_deleted(const struct edit *edit, uint32_t source)
{
    if (edit->sets[source] != NULL) return edit->sets[source];
    return view_source_deleted(edit->view, source);
}

paua_status edit_delete(struct edit *edit, struct place place)
{
    roaring_bitmap_t **set = &edit->sets[place.source];
    const roaring_bitmap_t *base = view_source_deleted(edit->view, place.source);

    if (*set == NULL) *set = base == NULL ? roaring_bitmap_create() : roaring_bitmap_copy(base);
    if (*set == NULL) return PAUA_ENOMEM;
    roaring_bitmap_add(*set, place.row);
    return PAUA_OK;
}

void edit_restore(struct edit *edit, struct place place)
{
    if (edit->sets[place.source] != NULL)
        roaring_bitmap_remove(edit->sets[place.source], place.row);
}

static struct patches *patches_as_viewed(const struct view *view, uint32_t source)
{
    return source < view->segment_count ? view->segments[source].patches : view->tail_patches;
}

/* What changes a source's patches; NULL when out of memory. */
static struct patch_edit *patches_edit(struct edit *edit, uint32_t source)
{
    struct patch_edit **patches = &edit->patches[source];

    if (*patches == NULL) *patches = patch_edit_begin(patches_as_viewed(edit->view, source));
    return *patches;
}

paua_status edit_patch(struct edit *edit, struct place place, uint32_t field,
                       const struct cell *cell)
{
    struct patch_edit *patches = patches_edit(edit, place.source);

    return patches != NULL ? patch_edit_put(patches, field, place.row, cell) : PAUA_ENOMEM;
}

paua_status edit_patch_replace(struct edit *edit, struct place place, uint32_t field,
                               const struct cell *cell)
{
    struct patch_edit *patches = patches_edit(edit, place.source);

    return patches != NULL ? patch_edit_replace(patches, field, place.row, cell) : PAUA_ENOMEM;
}

void edit_patch_undo(struct edit *edit, uint32_t source)
{
    patch_edit_undo(edit->patches[source], patch_edit_count(edit->patches[source]) - 1);
}

paua_status edit_cell(const struct edit *edit, struct place place, uint32_t field,
                      struct cell *cell, paua_error *err)
{
    const struct patch_edit *patches = edit->patches[place.source];

    if (patches != NULL && patch_edit_find(patches, field, place.row, cell)) return PAUA_OK;
    return view_cell(edit->view, field, place, cell, err);
}

static const roaring_bitmap_t *deleted_as_edited(const void *edit, uint32_t source)
{
    return edit_deleted(edit, source);
}

paua_status edit_find(const struct edit *edit, uint32_t tail_rows, struct key key,
                      struct place *place, paua_error *err)
{
    return view_find_with(edit->view, tail_rows, deleted_as_edited, edit, key, place, err);
}

static bool patches_apply(struct edit *edit, uint32_t source, struct view *copy)
{
    struct patches **at =
        source < copy->segment_count ? &copy->segments[source].patches : &copy->tail_patches;
    struct patches *now;

    if (edit->patches[source] == NULL) return true;
    if (patch_edit_apply(edit->patches[source], &now) != PAUA_OK) return false;
    patches_unref(*at);
    *at = now;
    return true;
}

paua_status edit_apply(struct edit *edit, struct view *copy)
{
    for (uint32_t i = 0; i <= edit->view->segment_count; i++) {
        struct deleted **at =
            i < copy->segment_count ? &copy->segments[i].deleted : &copy->tail_deleted;
        struct deleted *now;

        if (!patches_apply(edit, i, copy)) return PAUA_ENOMEM;
        if (edit->sets[i] == NULL) continue;
        now = deleted_new(edit->sets[i]);
        edit->sets[i] = NULL;
        if (now == NULL) return PAUA_ENOMEM;
        deleted_unref(*at);
        *at = now;
    }
    return PAUA_OK;
}
