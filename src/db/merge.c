/* merge.c - running merges: planned and built off to the side on a view, published in one commit.
 *
 * Only the publishing excludes writers. Rows that were deleted while the files were built are found
 * again in the new segment: their old positions are those of the view that was planned on, since a
 * segment is changed by nothing but a merge, and merges exclude each other. */
#include "db/merge.h"

#include "base/error.h"
#include "base/memory.h"
#include "codec/record.h"
#include "db/columns.h"
#include "db/files.h"
#include "db/index.h"

#define BACKGROUND_ROWS_MIN 65536u

/* Where an old row went: UINT32_MAX if it was dead already when the merge began. */
static uint32_t new_position(const struct merge *m, uint32_t segment, uint32_t position)
{
    for (size_t i = 0; i < m->piece_count; i++) {
        const struct piece *piece = &m->pieces[i];
        const struct segment *old = m->view->segments[piece->segment].segment;
        uint32_t rows = old->parts[piece->part]->part.row_count, low = 0, high = piece->count;

        if (piece->segment != segment || position < piece->first_old ||
            position - piece->first_old >= rows)
            continue;
        if (piece->positions == NULL) return piece->first_new + (position - piece->first_old);
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (piece->positions[middle] < position)
                low = middle + 1;
            else
                high = middle;
        }
        return low < piece->count && piece->positions[low] == position ? piece->first_new + low
                                                                       : UINT32_MAX;
    }
    return UINT32_MAX;
}

struct carrying {
    const struct merge *m;
    uint32_t segment;
};

static uint32_t carried_position(const void *carrying, uint32_t row)
{
    const struct carrying *c = carrying;

    return new_position(c->m, c->segment, row);
}

/* The new segment's dead rows as of `now`, in which the old segments start at index `at`. */
static paua_status deleted_carry(const struct merge *m, const struct view *now, uint32_t at,
                                 struct deleted **deleted, paua_error *err)
{
    roaring_bitmap_t *set = roaring_bitmap_create();

    *deleted = NULL;
    if (set == NULL) return error_set_nomem(err);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct deleted *old = now->segments[at + i].deleted;
        roaring_uint32_iterator_t it;

        if (old == NULL) continue;
        for (roaring_init_iterator(old->set, &it); it.has_value;
             roaring_advance_uint32_iterator(&it)) {
            uint32_t position = new_position(m, m->first + i, it.current_value);

            if (position != UINT32_MAX) roaring_bitmap_add(set, position);
        }
    }
    if (roaring_bitmap_is_empty(set)) {
        roaring_bitmap_free(set);
        return PAUA_OK;
    }
    *deleted = deleted_new(set);
    return *deleted == NULL ? error_set_nomem(err) : PAUA_OK;
}

/* What was patched in the old segments while the new one was built. */
static paua_status patches_carry(const struct merge *m, const struct view *now, uint32_t at,
                                 struct patches **patches, paua_error *err)
{
    struct patch_edit *edit = patch_edit_begin(NULL);
    paua_status status = edit == NULL ? error_set_nomem(err) : PAUA_OK;

    for (uint32_t i = 0; i < m->count && status == PAUA_OK; i++) {
        const struct carrying carrying = {m, m->first + i};

        status = columns_carry(edit, now->segments[at + i].patches,
                               m->view->segments[m->first + i].patches, carried_position, &carrying,
                               err);
    }
    if (status == PAUA_OK && patch_edit_apply(edit, patches) != PAUA_OK)
        status = error_set_nomem(err);
    patch_edit_end(edit);
    return status;
}

/* `now` with the old segments at `at` exchanged for the new one (none if nothing lives). */
static paua_status view_merged(struct merge *m, const struct view *now, uint32_t at,
                               struct segment *const *old, struct view **next, paua_error *err)
{
    uint32_t added = m->rows > 0 ? 1 : 0;
    struct view *n = view_new(now->schema, now->owner, now->segment_count - m->count + added);
    paua_status status = PAUA_OK;

    if (n == NULL) return error_set_nomem(err);
    n->head = now->head;
    n->head.generation++;
    n->durable_sequence = now->durable_sequence;
    n->batch_nbytes = now->batch_nbytes;
    n->tail = tail_ref(now->tail);
    n->tail_rows = now->tail_rows;
    n->tail_deleted = deleted_ref(now->tail_deleted);
    n->tail_patches = patches_ref(now->tail_patches);
    n->indexes = index_list_ref(now->indexes);
    n->fields = field_list_ref(now->fields);
    for (uint32_t i = 0; i < at; i++)
        view_slot_share(&n->segments[i], &now->segments[i]);
    for (uint32_t i = at + m->count; i < now->segment_count; i++)
        view_slot_share(&n->segments[i - m->count + added], &now->segments[i]);
    if (added > 0) {
        status = segment_open(m->c->db->dir, now->schema, &m->manifest, record_crc(m->record.bytes),
                              m->c->db->file_opts, old, m->count, &n->segments[at].segment, err);
        if (status == PAUA_OK) status = deleted_carry(m, now, at, &n->segments[at].deleted, err);
        if (status == PAUA_OK) status = columns_open(m->c, &m->columns, &n->segments[at], err);
        if (status == PAUA_OK) status = patches_carry(m, now, at, &n->segments[at].patches, err);
    }
    if (status != PAUA_OK) {
        view_unref(n);
        return status;
    }
    view_count(n);
    *next = n;
    return PAUA_OK;
}

/* The records of codes and graphs that go with their segment. */
static paua_status artifacts_delete(struct catalog *catalog, const struct artifacts *artifacts,
                                    paua_error *err)
{
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; artifacts != NULL && i < artifacts->count && status == PAUA_OK; i++) {
        const struct artifact *record = &artifacts->files[i]->record;
        uint64_t id = CATALOG_ID(record->collection, record->file.number);

        status = catalog_delete(catalog, TABLE_ARTIFACT, id, id, err);
    }
    return status;
}

static paua_status records_exchange(struct merge *m, struct view *next, uint32_t at,
                                    paua_error *err)
{
    uint32_t collection = m->c->schema.collection;
    struct catalog *catalog = m->c->db->writer;
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; i < m->count && status == PAUA_OK; i++) {
        uint64_t id =
            CATALOG_ID(collection, m->view->segments[m->first + i].segment->manifest.segment);

        status = catalog_delete(catalog, TABLE_SEGMENT, id, id, err);
        if (status == PAUA_OK) status = catalog_delete(catalog, TABLE_DELETED, id, id, err);
        if (status == PAUA_OK) status = catalog_delete(catalog, TABLE_COLUMNS, id, id, err);
        if (status == PAUA_OK) status = catalog_delete(catalog, TABLE_PATCH, id, id, err);
        if (status == PAUA_OK)
            status = artifacts_delete(catalog, m->view->segments[m->first + i].artifacts, err);
    }
    if (status == PAUA_OK && m->rows > 0)
        status = catalog_put(catalog, TABLE_SEGMENT,
                             CATALOG_ID(collection, next->segments[at].segment->manifest.segment),
                             m->record.bytes, m->record.length, err);
    if (status == PAUA_OK && m->rows > 0) status = columns_store(catalog, &next->segments[at], err);
    return status == PAUA_OK ? catalog_put_view(catalog, next, err) : status;
}

static paua_status merge_commit(struct merge *m, struct view *next, uint32_t at, paua_error *err)
{
    paua_status status = writer_begin_commit(m->c, err);

    if (status != PAUA_OK) return status;
    return db_finish(m->c->db, records_exchange(m, next, at, err), err);
}

/* Files that only the old segments had. */
static void old_unlink(const struct merge *m)
{
    struct dir *dir = m->c->db->dir;

    for (uint32_t i = m->first; i < m->first + m->count; i++) {
        const struct artifacts *artifacts = m->view->segments[i].artifacts;

        files_unlink(dir, m->view->segments[i].segment->manifest.keys.number, FILE_KEYS);
        files_unlink(dir, m->view->segments[i].columns_ref.number, FILE_COLUMNS);
        for (uint32_t a = 0; artifacts != NULL && a < artifacts->count; a++)
            artifact_unlink(dir, &artifacts->files[a]->record);
    }
    for (size_t i = 0; i < m->piece_count; i++) {
        const struct segment *old = m->view->segments[m->pieces[i].segment].segment;

        if (m->pieces[i].rewrite)
            files_unlink_part(dir, &m->c->schema, &old->manifest.parts[m->pieces[i].part]);
    }
}

static uint32_t index_now(const struct merge *m, const struct view *now)
{
    uint32_t at = 0;

    while (now->segments[at].segment != m->view->segments[m->first].segment)
        at++;
    return at;
}

/* With write_mutex held. */
static paua_status merge_publish(struct merge *m, paua_error *err)
{
    struct view *now = collection_peek(m->c), *next = NULL;
    uint32_t at = index_now(m, now);
    struct segment **old = mem_alloc(m->count * sizeof(struct segment *));
    struct manifest built = m->manifest;
    paua_status status = old == NULL ? error_set_nomem(err) : db_check_writable(m->c->db, err);

    if (status == PAUA_OK && !atomic_load(&m->c->writing))
        status =
            error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has been dropped", m->c->schema.name);
    for (uint32_t i = 0; old != NULL && i < m->count; i++)
        old[i] = now->segments[at + i].segment;
    if (status == PAUA_OK && m->rows > 0) { /* segment_open takes the manifest: keep one */
        built.parts = mem_dup(built.parts, built.part_count * sizeof built.parts[0]);
        if (built.parts == NULL) status = error_set_nomem(err);
    }
    if (status == PAUA_OK) {
        status = view_merged(m, now, at, old, &next, err);
        if (m->rows > 0) {
            manifest_free(&m->manifest); /* if it was not taken after all */
            m->manifest = built;
        }
    }
    if (status == PAUA_OK) status = merge_commit(m, next, at, err);
    if (status == PAUA_OK) {
        collection_publish(m->c, next);
        if (db_settle(m->c->db) == PAUA_OK) old_unlink(m); /* or the next sweep removes them */
    } else {
        view_unref(next);
        if (m->rows > 0 && !db_poisoned(m->c->db)) merge_unbuild(m);
    }
    mem_free(old);
    view_unref(now);
    return status;
}

/* Becomes the writer and, for paua_optimize, seals what can be sealed. */
static paua_status merge_prepare(struct paua_collection *c, enum merge_policy policy,
                                 paua_error *err)
{
    paua_status status;

    pthread_mutex_lock(&c->write_mutex);
    status = db_check_writable(c->db, err);
    if (status == PAUA_OK) status = writer_begin(c, err);
    if (status == PAUA_OK && policy == MERGE_ALL) status = seal_tail(c, err);
    pthread_mutex_unlock(&c->write_mutex);
    return status;
}

/* One merge, from `from` on; *next: where to look for more. */
static paua_status merge_one(struct paua_collection *c, enum merge_policy policy,
                             const paua_optimize_opts *opts, uint32_t from, uint32_t *next,
                             paua_error *err)
{
    struct merge m = {.c = c, .opts = opts};
    paua_status status;

    *next = UINT32_MAX;
    m.view = collection_peek(c);
    merge_plan(m.view, policy, from, &m.first, &m.count);
    if (m.count == 0) {
        merge_free(&m);
        return PAUA_OK;
    }
    status = merge_cut(&m, policy, err);
    if (status == PAUA_OK) status = merge_build(&m, err);
    if (status == PAUA_OK) {
        pthread_mutex_lock(&c->write_mutex);
        status = merge_publish(&m, err);
        pthread_mutex_unlock(&c->write_mutex);
    }
    if (status == PAUA_OK) *next = m.rows > 0 ? m.first + 1 : m.first;
    merge_free(&m);
    return status;
}

/* Segments of more rows get their indexes. In the background only those that will not soon be part
 * of a larger one. */
static uint32_t rows_indexed(enum merge_policy policy)
{
    return policy == MERGE_ALL ? PAUA_INDEX_ROWS_MIN : BACKGROUND_ROWS_MIN;
}

/* Does any segment or tail give optimize something to do? Asked of the view, before any lock. */
static bool worth_it(const struct view *view, enum merge_policy policy)
{
    uint32_t first, count;

    if (policy == MERGE_ALL &&
        (view->tail_rows > 0 || view->head.first_sequence <= view->head.last_sequence))
        return true;
    if (index_build_due(view, rows_indexed(policy)) || columns_fold_due(view, policy)) return true;
    merge_plan(view, policy, 0, &first, &count);
    return count > 0;
}

/* A caller who wants everything done does not wait for one background thread to do some of it. */
static void optimize_lock(struct paua_collection *c, enum merge_policy policy)
{
    if (policy == MERGE_ALL) paua_cancel_request(&c->background);
    pthread_mutex_lock(&c->optimize_mutex);
    if (policy == MERGE_ALL) __atomic_store_n(&c->background.requested, 0, __ATOMIC_RELAXED);
}

paua_status merge_run(struct paua_collection *c, enum merge_policy policy,
                      const paua_optimize_opts *opts, bool *did, paua_error *err)
{
    struct view *view;
    uint32_t from = 0;
    paua_status status = collection_view(c, &view, err);

    if (status != PAUA_OK) return status;
    *did = worth_it(view, policy);
    view_unref(view);
    if (!*did) return PAUA_OK;
    optimize_lock(c, policy);
    status = merge_prepare(c, policy, err);
    while (status == PAUA_OK && from != UINT32_MAX)
        status = merge_one(c, policy, opts, from, &from, err);
    if (status == PAUA_OK) status = columns_fold(c, policy, opts, err);
    if (status == PAUA_OK) status = index_build(c, rows_indexed(policy), opts, err);
    pthread_mutex_unlock(&c->optimize_mutex);
    return status;
}

paua_status paua_optimize(paua_collection *collection, const paua_optimize_opts *opts,
                          paua_error *err)
{
    bool did = false;
    paua_status status = collection == NULL
                             ? error_set(err, PAUA_EINVAL, "the collection handle is NULL")
                             : db_check_writable(collection->db, err);

    if (status == PAUA_OK && opts != NULL && opts->size < sizeof *opts)
        status = error_set(err, PAUA_EINVAL, "paua_optimize_opts.size is not set");
    if (status == PAUA_OK) status = merge_run(collection, MERGE_ALL, opts, &did, err);
    if (status != PAUA_OK || !did) return status;
    pthread_mutex_lock(&collection->db->writer_mutex);
    catalog_checkpoint(collection->db->writer, NULL); /* best effort: a reader may be in the way */
    catalog_vacuum(collection->db->writer, NULL);
    pthread_mutex_unlock(&collection->db->writer_mutex);
    return PAUA_OK;
}
