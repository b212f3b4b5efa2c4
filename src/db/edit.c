/* edit.c - see edit.h. A set is copied once a group of writes, however many rows it deletes. */
#include "db/edit.h"

#include "base/memory.h"

paua_status edit_begin(struct edit *edit, const struct view *view)
{
    edit->view = view;
    edit->sets = mem_zalloc(view->segment_count + 1u, sizeof(roaring_bitmap_t *));
    return edit->sets == NULL ? PAUA_ENOMEM : PAUA_OK;
}

void edit_end(struct edit *edit)
{
    for (uint32_t i = 0; edit->sets != NULL && i <= edit->view->segment_count; i++)
        if (edit->sets[i] != NULL) roaring_bitmap_free(edit->sets[i]);
    mem_free(edit->sets);
    edit->sets = NULL;
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

static const roaring_bitmap_t *deleted_as_edited(const void *edit, uint32_t source)
{
    return edit_deleted(edit, source);
}

paua_status edit_find(const struct edit *edit, uint32_t tail_rows, struct key key,
                      struct place *place, paua_error *err)
{
    return view_find_with(edit->view, tail_rows, deleted_as_edited, edit, key, place, err);
}

paua_status edit_apply(struct edit *edit, struct view *copy)
{
    for (uint32_t i = 0; i <= edit->view->segment_count; i++) {
        struct deleted **at =
            i < copy->segment_count ? &copy->segments[i].deleted : &copy->tail_deleted;
        struct deleted *now;

        if (edit->sets[i] == NULL) continue;
        now = deleted_new(edit->sets[i]);
        edit->sets[i] = NULL;
        if (now == NULL) return PAUA_ENOMEM;
        deleted_unref(*at);
        *at = now;
    }
    return PAUA_OK;
}
