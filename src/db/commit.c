/* commit.c - a staged group becomes durable: append, sync, one record, one commit, a new view.
 *
 * Everything that can fail for want of memory is done before the commit; after it only pointers are
 * set. A failure before the commit takes the files back to their marks. A failed sync leaves
 * unknown what is on the disk, so it poisons the handle; so does a commit that fails with an I/O
 * error. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "codec/rowset.h"
#include "db/write.h"

/* A row's vector in stored form: given by its request, or that of the row it replaces, which may
 * itself be staged. */
static paua_status staged_vector(struct group *g, uint32_t field, size_t i, const uint8_t **bytes,
                                 paua_error *err)
{
    const struct schema_field *f = &g->c->schema.fields[field];
    const struct staged *s = &g->staged[i];
    uint32_t one = 1;
    uint8_t *room;

    while (field >= s->request->rows->vectors_count ||
           s->request->rows->vectors[field].data == NULL) {
        assert(!place_is_none(s->old)); /* new rows give every vector: checked when staged */
        if (s->old.source < g->view->segment_count || s->old.row < g->first)
            return view_vectors(g->view, field, s->old, &one, &g->row, bytes, err);
        s = &g->staged[s->old.row - g->first];
    }
    g->row.length = 0;
    room = writer_room(&g->row, schema_row_nbytes(f));
    if (room == NULL) return error_set_nomem(err);
    *bytes = room;
    return vector_store(f,
                        s->request->rows->vectors[field].data +
                            s->index * (s->request->rows->vectors[field].stride == 0
                                            ? f->dim
                                            : s->request->rows->vectors[field].stride),
                        s->index, room, err);
}

/* Rows from i on that lie in a caller's array just as they will in the file. */
static size_t run_length(const struct group *g, uint32_t field, size_t i)
{
    const struct schema_field *f = &g->c->schema.fields[field];
    const struct staged *s = &g->staged[i];
    const paua_rows *rows = s->request->rows;
    size_t n = 1;

    if (f->originals == PAUA_ORIGINALS_FP16 || field >= rows->vectors_count) return 0;
    if (rows->vectors[field].data == NULL) return 0;
    if (rows->vectors[field].stride != 0 && rows->vectors[field].stride != f->dim) return 0;
    while (i + n < g->count && s[n].request == s->request && s[n].index == s->index + n)
        n++;
    return n;
}

static paua_status vectors_append(struct group *g, uint32_t field, paua_error *err)
{
    const struct schema_field *f = &g->c->schema.fields[field];
    struct file_writer *writer = g->c->vectors[field];
    size_t row_nbytes = schema_row_nbytes(f), n;
    paua_status status = PAUA_OK;

    for (size_t i = 0; i < g->count && status == PAUA_OK; i += n) {
        const struct staged *s = &g->staged[i];
        const uint8_t *bytes;

        n = run_length(g, field, i);
        if (n > 0) {
            status = file_writer_append(writer,
                                        s->request->rows->vectors[field].data + s->index * f->dim,
                                        n * row_nbytes, err);
            continue;
        }
        n = 1;
        status = staged_vector(g, field, i, &bytes, err);
        if (status == PAUA_OK) status = file_writer_append(writer, bytes, row_nbytes, err);
    }
    return status;
}

static paua_status staged_document(struct group *g, size_t i, paua_bytes *document, paua_error *err)
{
    const struct staged *s = &g->staged[i];

    while (s->request->rows->documents == NULL ||
           s->request->rows->documents[s->index].data == NULL) {
        *document = (paua_bytes){0};
        if (place_is_none(s->old)) return PAUA_OK;
        if (s->old.source < g->view->segment_count || s->old.row < g->first)
            return view_document(g->view, s->old, &g->row, document, err);
        s = &g->staged[s->old.row - g->first];
    }
    *document = s->request->rows->documents[s->index];
    return PAUA_OK;
}

static paua_status documents_append(struct group *g, paua_error *err)
{
    paua_status status = PAUA_OK;

    for (size_t i = 0; i < g->count && status == PAUA_OK; i++) {
        paua_bytes document;
        uint32_t nbytes;

        status = staged_document(g, i, &document, err);
        if (status != PAUA_OK) break;
        nbytes = document.data == NULL ? BATCH_NO_DOCUMENT : (uint32_t)document.nbytes;
        assert(nbytes == tail_document_length(g->view->tail, g->first + (uint32_t)i));
        writer_u32(&g->lengths, nbytes);
        if (document.nbytes > 0)
            status = file_writer_append(g->c->heap, document.data, document.nbytes, err);
    }
    return status;
}

static paua_status keys_collect(struct group *g, paua_error *err)
{
    paua_key_kind kind = g->c->schema.key_kind;
    struct writer scratch = {0};

    for (size_t i = 0; i < g->count && kind != PAUA_KEY_VECTOR; i++) {
        struct key key;
        paua_key stored;
        paua_status status = tail_key(g->view->tail, g->first + (uint32_t)i, &scratch, &key, err);

        if (status != PAUA_OK) return status;
        stored = key_public(&g->c->schema, key);
        batch_put_key(&g->keys, kind, &stored);
    }
    return PAUA_OK;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Row ids of the deletions, rising, in stored form, in g->scratch. A staged row has no place in the
 * view yet, but its id is known. */
static paua_status deletes_collect(struct group *g, paua_error *err)
{
    uint64_t *ids = mem_alloc((g->delete_count + 1) * sizeof ids[0]);

    if (ids == NULL) return error_set_nomem(err);
    for (size_t i = 0; i < g->delete_count; i++)
        ids[i] = view_row_id(g->view, g->deletes[i]);
    qsort(ids, g->delete_count, sizeof ids[0], by_id);
    g->scratch.length = 0;
    for (size_t i = 0; i < g->delete_count; i++)
        writer_u64(&g->scratch, ids[i]);
    mem_free(ids);
    return g->scratch.failed ? error_set_nomem(err) : PAUA_OK;
}

static void writers_mark(struct group *g, bool rewind)
{
    for (uint32_t f = 0; f <= g->c->schema.field_count; f++) {
        struct file_writer *writer = f < g->c->schema.field_count ? g->c->vectors[f] : g->c->heap;

        if (writer == NULL) continue;
        if (rewind)
            file_writer_rewind(writer);
        else
            file_writer_mark(writer);
    }
}

static paua_status writers_flush(struct group *g, paua_error *err)
{
    bool full = g->c->db->opts.durability == PAUA_FULL;
    uint32_t files = g->c->schema.field_count + 1;
    paua_status status = PAUA_OK;

    for (uint32_t pass = 0; pass < (full ? 2u : 1u) && status == PAUA_OK; pass++)
        for (uint32_t f = 0; f < files && status == PAUA_OK; f++) {
            struct file_writer *writer = f + 1 < files ? g->c->vectors[f] : g->c->heap;

            if (writer == NULL) continue;
            status = pass == 0 ? file_writer_flush(writer, err) : file_writer_sync(writer, err);
            if (status != PAUA_OK && pass == 1) db_poison(g->c->db);
        }
    return status;
}

/* The record of a commit under PAUA_FULL says that all before it is synced too, so a group that
 * only deletes syncs what a writer under PAUA_BATCH may have left unsynced. */
static bool flush_due(const struct group *g)
{
    return g->count > 0 || g->c->durable_sequence < g->view->head.last_sequence;
}

static paua_status append_all(struct group *g, paua_error *err)
{
    paua_status status = keys_collect(g, err);

    for (uint32_t f = 0; f < g->c->schema.field_count && status == PAUA_OK; f++)
        status = vectors_append(g, f, err);
    if (status == PAUA_OK && g->c->heap != NULL) status = documents_append(g, err);
    if (status == PAUA_OK) status = deletes_collect(g, err);
    if (status == PAUA_OK && (g->keys.failed || g->lengths.failed)) status = error_set_nomem(err);
    return status == PAUA_OK && flush_due(g) ? writers_flush(g, err) : status;
}

static paua_status record_make(struct group *g, struct view *next, struct writer *w,
                               paua_error *err)
{
    struct paua_collection *c = g->c;
    struct batch b = {
        .collection = c->schema.collection,
        .sequence = next->head.last_sequence,
        .durable_sequence =
            c->db->opts.durability == PAUA_FULL ? next->head.last_sequence : c->durable_sequence,
        .first_row = g->view->head.next_row,
        .row_count = (uint32_t)g->count,
        .delete_count = (uint32_t)g->delete_count,
        .key_kind = c->schema.key_kind,
        .has_documents = c->heap != NULL && g->count > 0,
        .field_count = c->schema.field_count,
        .keys = g->keys.bytes,
        .keys_nbytes = g->keys.length,
        .lengths = g->lengths.bytes,
        .deletes = g->scratch.bytes,
        .columns = {g->columns.length > 0 ? g->columns.bytes : NULL, g->columns.length}};

    for (uint32_t f = 0; f < c->schema.field_count; f++)
        b.vectors[f] = file_writer_extent(c->vectors[f]);
    if (b.has_documents) b.heap = file_writer_extent(c->heap);
    return batch_encode(&b, w) == PAUA_OK ? PAUA_OK : error_set_nomem(err);
}

/* New fields join the view, and their records the catalogue. */
static paua_status new_fields_store(struct group *g, struct view *next, paua_error *err)
{
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; i < g->new_field_count && status == PAUA_OK; i++)
        status = field_store(g->c->db->writer, &g->new_fields[i], err);
    for (uint32_t i = 0; i < g->new_field_count; i++)
        next->fields->items[next->fields->count - g->new_field_count + i].record_crc =
            g->new_fields[i].record_crc;
    return status;
}

static paua_status new_fields_join(struct group *g, struct view *next, paua_error *err)
{
    struct field_list *list;

    if (g->new_field_count == 0) return PAUA_OK;
    list = field_list_with(g->view->fields, g->new_fields, g->new_field_count);
    if (list == NULL) return error_set_nomem(err);
    field_list_unref(next->fields);
    next->fields = list;
    next->head.generation++;
    return PAUA_OK;
}

static paua_status record_commit(struct group *g, struct view *next, const struct writer *w,
                                 paua_error *err)
{
    uint64_t id = CATALOG_ID(g->c->schema.collection, next->head.last_sequence);
    paua_status status = db_begin(g->c->db, err);

    if (status != PAUA_OK) return status;
    status = catalog_put(g->c->db->writer, TABLE_BATCH, id, w->bytes, w->length, err);
    if (status == PAUA_OK) status = new_fields_store(g, next, err);
    if (g->new_field_count > 0) next->head.segments_digest = view_digest(next);
    if (status == PAUA_OK) status = head_put(g->c->db->writer, &next->head, err);
    return db_finish(g->c->db, status, err);
}

paua_status group_commit(struct group *g, paua_error *err)
{
    struct view *next = view_copy(g->view);
    struct writer record = {0};
    paua_status status;

    if (next == NULL) return error_set_nomem(err);
    writers_mark(g, false);
    status = append_all(g, err);
    next->tail_rows = g->first + (uint32_t)g->count;
    next->head.next_row += g->count;
    next->head.last_sequence++;
    if (status == PAUA_OK && edit_apply(&g->edit, next) != PAUA_OK) status = error_set_nomem(err);
    if (status == PAUA_OK) status = new_fields_join(g, next, err);
    if (status == PAUA_OK) status = commit_fields(g, next, err);
    view_count(next);
    if (status == PAUA_OK) status = record_make(g, next, &record, err);
    if (status == PAUA_OK) status = record_commit(g, next, &record, err);
    next->batch_nbytes += record.length;
    writer_free(&record);
    if (status != PAUA_OK) {
        writers_mark(g, true);
        view_unref(next);
        return status;
    }
    if (g->c->db->opts.durability == PAUA_FULL) g->c->durable_sequence = next->head.last_sequence;
    /* Readers of the new view must find vector keys in the file: those staged are about to go. */
    next->tail->staged_first = UINT32_MAX;
    collection_publish(g->c, next);
    return PAUA_OK;
}
