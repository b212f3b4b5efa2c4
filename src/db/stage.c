/* stage.c - deciding, row by row, what a write does, before a byte is written.
 *
 * Rows are decided in order against the view plus what is staged so far, so a key that comes twice
 * acts twice. Accepted rows join the in-memory tail past its committed end, where only the writer
 * looks; a request that wants all or nothing is undone by taking its rows and deletions back. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "codec/batch.h"
#include "db/filtered.h"
#include "db/write.h"

paua_status group_begin(struct group *g, struct paua_collection *c, paua_error *err)
{
    *g = (struct group){.c = c, .view = collection_peek(c)};
    g->first = g->view->tail_rows;
    g->heap_nbytes = g->view->tail->heap_nbytes;
    g->view->tail->staged_first = g->first;
    if (edit_begin(&g->edit, g->view) == PAUA_OK) return PAUA_OK;
    group_end(g, false);
    return error_set_nomem(err);
}

void group_end(struct group *g, bool committed)
{
    struct tail *tail = g->view->tail;

    if (!committed) tail_truncate(tail, g->first, g->heap_nbytes);
    tail->staged_keys = NULL;
    tail->staged_first = UINT32_MAX;
    edit_end(&g->edit);
    mem_free(g->staged);
    mem_free(g->deletes);
    mem_free(g->key_bytes);
    arena_free(&g->arena);
    arena_free(&g->cell_arena);
    mem_free(g->new_fields);
    mem_free(g->patched);
    mem_free(g->cells);
    writer_free(&g->columns);
    writer_free(&g->values);
    writer_free(&g->keys);
    writer_free(&g->lengths);
    writer_free(&g->scratch);
    writer_free(&g->row);
    view_unref(g->view);
}

static bool field_given(const paua_rows *rows, uint32_t field)
{
    return field < rows->vectors_count && rows->vectors[field].data != NULL;
}

static bool document_given(const paua_rows *rows, size_t i)
{
    return rows->documents != NULL && rows->documents[i].data != NULL;
}

static paua_status document_check(const struct schema *schema, const paua_bytes *document, size_t i,
                                  paua_error *err)
{
    size_t valid;

    if (schema->document == PAUA_DOCUMENT_NONE)
        return error_set_row(err, PAUA_EINVAL, i,
                             "row %zu: collection \"%s\" has no documents; create one that has", i,
                             schema->name);
    if (document->nbytes > PAUA_DOCUMENT_NBYTES_MAX)
        return error_set_row(err, PAUA_EINVAL, i,
                             "row %zu: the document has %zu bytes; at most %u are allowed", i,
                             document->nbytes, PAUA_DOCUMENT_NBYTES_MAX);
    if (schema->document != PAUA_DOCUMENT_TEXT) return PAUA_OK;
    valid = utf8_valid_prefix(document->data, document->nbytes);
    if (valid < document->nbytes)
        return error_set_row(err, PAUA_EINVAL, i,
                             "row %zu: the document is not UTF-8 at byte %zu; create the "
                             "collection with documents of bytes to store it",
                             i, valid);
    return PAUA_OK;
}

/* Everything about a row that does not depend on what is stored. */
static paua_status row_check(const struct schema *schema, const paua_rows *rows, size_t i,
                             bool whole, paua_error *err)
{
    for (uint32_t f = 0; f < schema->field_count; f++) {
        const struct schema_field *field = &schema->fields[f];
        paua_status status;

        if (!field_given(rows, f)) {
            if (!whole) continue;
            return error_set_row(err, PAUA_EINVAL, i,
                                 "row %zu: a new row needs vector \"%s\"; give every field", i,
                                 field->name);
        }
        status = vector_check(field,
                              rows->vectors[f].data + i * (rows->vectors[f].stride == 0
                                                               ? field->dim
                                                               : rows->vectors[f].stride),
                              i, err);
        if (status != PAUA_OK) return status;
    }
    if (document_given(rows, i)) return document_check(schema, &rows->documents[i], i, err);
    return PAUA_OK;
}

static paua_status key_take(struct group *g, const struct write_request *r, size_t i,
                            struct key *key, paua_error *err)
{
    const struct schema *schema = &g->c->schema;
    paua_keys keys = *r->keys;

    if (schema->key_kind == PAUA_KEY_VECTOR && r->rows != NULL) {
        if (!field_given(r->rows, 0))
            return error_set_row(err, PAUA_EINVAL, i, "row %zu: vector \"%s\" is the key; give it",
                                 i, schema->fields[0].name);
        keys.vectors = r->rows->vectors[0].data;
        keys.stride = r->rows->vectors[0].stride;
    }
    return key_from_caller(schema, &keys, i, &g->scratch, key, err);
}

static paua_status delete_place(struct group *g, struct place place)
{
    if (mem_grow((void **)&g->deletes, &g->delete_capacity, g->delete_count + 1,
                 sizeof g->deletes[0]) != 0 ||
        edit_delete(&g->edit, place) != PAUA_OK)
        return PAUA_ENOMEM;
    g->deletes[g->delete_count++] = place;
    return PAUA_OK;
}

static paua_status document_length(const struct group *g, const struct write_request *r, size_t i,
                                   struct place old, uint32_t *nbytes)
{
    paua_bytes document = {0};
    struct writer scratch = {0};
    paua_status status;

    *nbytes = BATCH_NO_DOCUMENT;
    if (document_given(r->rows, i)) {
        *nbytes = (uint32_t)r->rows->documents[i].nbytes;
        return PAUA_OK;
    }
    if (place_is_none(old)) return PAUA_OK;
    if (old.source == g->view->segment_count) {
        *nbytes = tail_document_length(g->view->tail, old.row);
        return PAUA_OK;
    }
    status = view_document(g->view, old, &scratch, &document, NULL);
    if (status == PAUA_OK && document.data != NULL) *nbytes = (uint32_t)document.nbytes;
    writer_free(&scratch);
    return status;
}

/* Vector keys are compared with rows that are not in a file yet: their bytes are kept. */
static paua_status key_keep(struct group *g, struct key key)
{
    uint8_t *copy;

    if (g->c->schema.key_kind != PAUA_KEY_VECTOR) return PAUA_OK;
    if (mem_grow((void **)&g->key_bytes, &g->key_capacity, g->count + 1, sizeof g->key_bytes[0]))
        return PAUA_ENOMEM;
    g->view->tail->staged_keys = g->key_bytes; /* it may have moved, even if the rest fails */
    copy = arena_copy(&g->arena, key.bytes, key.nbytes);
    if (copy == NULL) return PAUA_ENOMEM;
    g->key_bytes[g->count] = copy;
    return PAUA_OK;
}

/* A new row, in place of `old` if there is one. On failure nothing of it is left. */
static paua_status stage_row(struct group *g, const struct write_request *r, size_t i,
                             struct key key, struct place old, paua_error *err)
{
    struct tail *tail = g->view->tail;
    uint32_t nbytes;
    paua_status status = document_length(g, r, i, old, &nbytes);

    if (status != PAUA_OK)
        return error_set_row(err, status, i, "row %zu: its old document cannot be read", i);
    if (mem_grow((void **)&g->staged, &g->capacity, g->count + 1, sizeof g->staged[0]) != 0 ||
        key_keep(g, key) != PAUA_OK || tail_append(tail, key, key_hash(key), nbytes) != PAUA_OK)
        return error_set_nomem(err);
    status = stage_fields_put(g, r, i, tail->rows - 1, old, err);
    if (status == PAUA_OK && !place_is_none(old) && delete_place(g, old) != PAUA_OK)
        status = error_set_nomem(err);
    if (status != PAUA_OK) {
        tail_truncate(tail, tail->rows - 1,
                      tail->heap_nbytes - (nbytes == BATCH_NO_DOCUMENT ? 0 : nbytes));
        return status;
    }
    g->staged[g->count++] = (struct staged){r, i, old};
    return PAUA_OK;
}

/* An update or upsert of an existing row that changes no more than its fields. */
static bool stays_in_place(const struct schema *schema, const paua_rows *rows, size_t i)
{
    uint32_t first = schema->key_kind == PAUA_KEY_VECTOR ? 1 : 0; /* the key itself */

    for (uint32_t f = first; f < schema->field_count; f++)
        if (field_given(rows, f)) return false;
    return !document_given(rows, i);
}

static paua_status decide_row(struct group *g, const struct write_request *r, size_t i,
                              paua_error *err)
{
    struct place old;
    struct key key;
    paua_status status = key_take(g, r, i, &key, err);

    if (status == PAUA_OK) status = edit_find(&g->edit, g->view->tail->rows, key, &old, err);
    if (status != PAUA_OK) return status;
    if (place_is_none(old) && (r->op == WRITE_UPDATE || r->op == WRITE_DELETE))
        return error_set_row(err, PAUA_ENOTFOUND, i, "row %zu: there is no row with this key", i);
    if (!place_is_none(old) && r->op == WRITE_INSERT)
        return error_set_row(err, PAUA_EEXISTS, i,
                             "row %zu: a row with this key exists; use upsert to replace it", i);
    if (r->op == WRITE_DELETE)
        return delete_place(g, old) == PAUA_OK ? PAUA_OK : error_set_nomem(err);
    status = row_check(&g->c->schema, r->rows, i, place_is_none(old), err);
    if (status == PAUA_OK) status = stage_fields_take(g, r, i, err);
    if (status == PAUA_OK && !place_is_none(old) && stays_in_place(&g->c->schema, r->rows, i))
        return stage_fields_patch(g, r, i, old, err);
    return status == PAUA_OK ? stage_row(g, r, i, key, old, err) : status;
}

struct stage_mark {
    size_t count, delete_count, patched_count;
    uint32_t tail_rows, new_field_count;
    uint64_t heap_nbytes;
};

static void undo(struct group *g, const struct stage_mark *mark)
{
    while (g->delete_count > mark->delete_count)
        edit_restore(&g->edit, g->deletes[--g->delete_count]);
    while (g->patched_count > mark->patched_count)
        edit_patch_undo(&g->edit, g->patched[--g->patched_count]);
    g->new_field_count = mark->new_field_count;
    g->count = mark->count;
    tail_truncate(g->view->tail, mark->tail_rows, mark->heap_nbytes);
}

static void status_set(struct write_request *r, size_t i, paua_status status)
{
    if (r->row_status != NULL) r->row_status[i] = status;
}

/* Is it this row's own fault? Otherwise nothing of the request is written. */
static bool refuses_row(paua_status status)
{
    return status == PAUA_EINVAL || status == PAUA_EEXISTS || status == PAUA_ENOTFOUND ||
           status == PAUA_ECORRUPT;
}

/* All rows that the filter finds in the view that the group began on: such a request is a group of
 * its own. The filter is bound here, since a field may have been dropped or got another type while
 * the request was waiting. */
static void stage_where(struct group *g, struct write_request *r)
{
    paua_error err = {.row = PAUA_NO_ROW};
    struct place_list found = {0};
    struct bound_filter *filter = NULL;
    paua_status status = filtered_bind(g->view, r->filter, &filter, &err);

    if (status == PAUA_OK) status = filtered_places(g->view, filter, &found, &err);
    bound_filter_free(filter);
    for (size_t i = 0; i < found.count && status == PAUA_OK; i++)
        if (delete_place(g, found.items[i]) != PAUA_OK) status = error_set_nomem(&err);
    mem_free(found.items);
    r->result = status;
    r->refusal = err;
    r->deleted = g->delete_count;
}

/* Every row of a request is refused for the same reason. */
static void refuse_all(struct write_request *r, const paua_error *err)
{
    r->result = err->status;
    r->refusal = *err;
    r->refused = r->keys->count;
    for (size_t i = 0; i < r->keys->count; i++)
        status_set(r, i, err->status);
}

void stage_request(struct group *g, struct write_request *r)
{
    const struct tail *tail = g->view->tail;
    struct stage_mark mark = {g->count,   g->delete_count,    g->patched_count,
                              tail->rows, g->new_field_count, tail->heap_nbytes};
    paua_error first;
    bool nothing = false;

    if (r->op == WRITE_DELETE_WHERE) {
        stage_where(g, r);
        if (r->result != PAUA_OK) undo(g, &mark);
        return;
    }
    tail_columns_mark(&g->view->tail->columns);
    if (stage_fields_begin(g, r, &first) != PAUA_OK) {
        refuse_all(r, &first);
        return;
    }

    for (size_t i = 0; i < r->keys->count; i++) {
        paua_error local;
        paua_status status = decide_row(g, r, i, &local);

        status_set(r, i, status);
        if (status == PAUA_OK) continue;
        nothing = r->all_or_nothing || !refuses_row(status);
        if (r->refused++ == 0 || nothing) first = local;
        if (!nothing) continue;
        undo(g, &mark);
        for (size_t other = 0; other < r->keys->count; other++)
            if (other != i) status_set(r, other, PAUA_ECANCELED);
        break;
    }
    r->result = PAUA_OK;
    if (r->refused == 0) return;
    r->refusal = first;
    r->result = nothing ? first.status : PAUA_EPARTIAL;
}
