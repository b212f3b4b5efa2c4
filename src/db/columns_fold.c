/* columns_fold.c - folding patches into column files: only those files are rewritten.
 *
 * Built off to the side on a view; the commit that exchanges the file keeps what was patched
 * meanwhile. Indexes of the old file go with it; they are built again after all folding. */
#include "base/error.h"
#include "db/columns.h"
#include "db/files.h"
#include "db/left_behind.h"

#define BACKGROUND_PATCHES_MIN 65536u

struct folding {
    struct paua_collection *c;
    struct view *view; /* folded from; referenced */
    uint32_t segment;  /* index in it */
    struct file_ref columns;
};

static bool has_dropped(const struct view *view, const struct view_segment *slot)
{
    const struct column_file_field *fields;
    uint32_t count;

    if (slot->columns == NULL) return false;
    fields = column_file_fields(slot->columns, &count);
    for (uint32_t f = 0; f < count; f++)
        if (field_list_id(view->fields, fields[f].id) == NULL) return true;
    return false;
}

static bool fold_due(const struct view *view, const struct view_segment *slot,
                     enum merge_policy policy)
{
    uint64_t patches = patches_count(slot->patches);

    if (policy == MERGE_BACKGROUND) return patches >= BACKGROUND_PATCHES_MIN;
    return patches > 0 || has_dropped(view, slot);
}

bool columns_fold_due(const struct view *view, enum merge_policy policy)
{
    for (uint32_t i = 0; i < view->segment_count; i++)
        if (fold_due(view, &view->segments[i], policy)) return true;
    return false;
}

static struct place same_place(const void *folding, uint32_t row)
{
    return (struct place){((const struct folding *)folding)->segment, row};
}

static uint32_t same_row(const void *arg, uint32_t row)
{
    (void)arg;
    return row;
}

/* `now` with the new file in place of the old one and its patches. */
static paua_status view_folded(const struct folding *f, struct view *now, uint32_t at,
                               struct view **next, paua_error *err)
{
    struct view *n = view_copy(now);
    struct view_segment *slot;
    struct patch_edit *edit;
    paua_status status;

    if (n == NULL) return error_set_nomem(err);
    slot = &n->segments[at];
    column_file_unref(slot->columns);
    patches_unref(slot->patches);
    slot->columns = NULL;
    slot->columns_ref = (struct file_ref){0};
    slot->patches = NULL;
    n->head.generation++;
    status = slot_drop_values(slot, 0) ? columns_open(f->c, &f->columns, slot, err)
                                       : error_set_nomem(err);
    edit = patch_edit_begin(NULL);
    if (status == PAUA_OK && edit == NULL) status = error_set_nomem(err);
    if (status == PAUA_OK)
        status = columns_carry(edit, now->segments[at].patches,
                               f->view->segments[f->segment].patches, same_row, NULL, err);
    if (status == PAUA_OK && patch_edit_apply(edit, &slot->patches) != PAUA_OK)
        status = error_set_nomem(err);
    patch_edit_end(edit);
    if (status != PAUA_OK) {
        view_unref(n);
        return status;
    }
    *next = n;
    return PAUA_OK;
}

static paua_status fold_commit(struct paua_collection *c, const struct view *now, struct view *next,
                               uint32_t at, paua_error *err)
{
    paua_status status = writer_begin_commit(c, err);

    if (status != PAUA_OK) return status;
    status = columns_store(c->db->writer, &next->segments[at], err);
    if (status == PAUA_OK) status = left_behind_delete(c->db->writer, now, next, err);
    if (status == PAUA_OK) status = catalog_put_view(c->db->writer, next, err);
    return db_finish(c->db, status, err);
}

/* With write_mutex held. A segment goes only by a merge, and merges exclude folding. */
static paua_status fold_publish(struct folding *f, paua_error *err)
{
    const struct view_segment *old = &f->view->segments[f->segment];
    struct view *now = collection_peek(f->c), *next = NULL;
    uint32_t at = 0;
    paua_status status = db_check_writable(f->c->db, err);

    if (status == PAUA_OK && !atomic_load(&f->c->writing))
        status =
            error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has been dropped", f->c->schema.name);
    while (now->segments[at].segment != old->segment)
        at++;
    if (status == PAUA_OK) status = view_folded(f, now, at, &next, err);
    if (status == PAUA_OK) status = fold_commit(f->c, now, next, at, err);
    if (status == PAUA_OK) {
        collection_publish(f->c, view_ref(next));
        if (db_settle(f->c->db) == PAUA_OK) {
            files_unlink(f->c->db->dir, old->columns_ref.number, FILE_COLUMNS);
            left_behind_unlink(f->c->db->dir, now, next);
        }
    } else if (!db_poisoned(f->c->db)) {
        files_unlink(f->c->db->dir, f->columns.number, FILE_COLUMNS);
    }
    view_unref(next);
    view_unref(now);
    return status;
}

static paua_status fold_one(struct folding *f, const paua_optimize_opts *opts, paua_error *err)
{
    const struct segment *segment = f->view->segments[f->segment].segment;
    const struct column_rows rows = {
        .view = f->view, .rows = segment->rows, .place_of = same_place, .arg = f};
    paua_status status =
        columns_write(f->c, &rows, segment->manifest.segment, opts, &f->columns, err);

    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&f->c->write_mutex);
    status = fold_publish(f, err);
    pthread_mutex_unlock(&f->c->write_mutex);
    return status;
}

paua_status columns_fold(struct paua_collection *c, enum merge_policy policy,
                         const paua_optimize_opts *opts, paua_error *err)
{
    struct folding f = {.c = c, .view = collection_peek(c)};
    paua_status status = PAUA_OK;

    for (; f.segment < f.view->segment_count && status == PAUA_OK; f.segment++)
        if (fold_due(f.view, &f.view->segments[f.segment], policy))
            status = fold_one(&f, opts, err);
    view_unref(f.view);
    return status;
}
