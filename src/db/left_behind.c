/* left_behind.c - see left_behind.h. */
#include "db/left_behind.h"

static bool in_both(const struct view *next, uint32_t segment, const struct artifact *artifact)
{
    return artifacts_find(next->segments[segment].artifacts, artifact->field, artifact->index) !=
           NULL;
}

paua_status left_behind_delete(struct catalog *catalog, const struct view *now,
                               const struct view *next, paua_error *err)
{
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; i < now->segment_count; i++) {
        const struct artifacts *a = now->segments[i].artifacts;

        for (uint32_t j = 0; a != NULL && j < a->count && status == PAUA_OK; j++) {
            const struct artifact *gone = &a->files[j]->record;
            uint64_t id = CATALOG_ID(gone->collection, gone->file.number);

            if (!in_both(next, i, gone))
                status = catalog_delete(catalog, TABLE_ARTIFACT, id, id, err);
        }
    }
    return status;
}

void left_behind_unlink(struct dir *dir, const struct view *now, const struct view *next)
{
    for (uint32_t i = 0; i < now->segment_count; i++) {
        const struct artifacts *a = now->segments[i].artifacts;

        for (uint32_t j = 0; a != NULL && j < a->count; j++)
            if (!in_both(next, i, &a->files[j]->record)) artifact_unlink(dir, &a->files[j]->record);
    }
}

bool slot_drop_values(struct view_segment *slot, uint32_t field)
{
    struct artifacts *left;

    if (slot->artifacts == NULL) return true;
    left = artifacts_without_values(slot->artifacts, field);
    if (left == NULL) return false;
    artifacts_unref(slot->artifacts);
    slot->artifacts = left;
    return true;
}
