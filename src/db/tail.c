/* tail.c - see tail.h.
 *
 * Table     open addressing, linear probing, at most half full; a slot is a u64: the hash's high 32
 *           bits, then row + 1 (0: empty). Slots are written once, emptied again only for rows that
 *           are taken back, newest first, and read with atomics.
 * Rejected  a lock around look-ups: a query would wait for a writer. */
#include "db/tail.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "db/files.h"

#define CHUNK_FIRST 1024u
#define TABLE_FIRST 2048u

struct tail_document {
    uint64_t offset;
    uint32_t nbytes; /* BATCH_NO_DOCUMENT: none */
};

struct tail_table {
    struct tail_table *older;
    uint32_t mask;
    uint32_t used;
    _Atomic uint64_t slots[];
};

/* Chunk c holds rows 1,024 (2^c - 1) .. 1,024 (2^(c+1) - 1) - 1. */
static uint32_t chunk_of(uint32_t row, uint32_t *offset)
{
    uint64_t scaled = (uint64_t)row / CHUNK_FIRST + 1;
    uint32_t chunk = 63u - (uint32_t)__builtin_clzll(scaled);

    *offset = row - CHUNK_FIRST * ((1u << chunk) - 1u);
    return chunk;
}

static void tail_free(struct tail *tail)
{
    struct tail_table *table = atomic_load(&tail->table);

    for (uint32_t f = 0; f < tail->schema->field_count; f++)
        data_file_unref(tail->vectors[f]);
    data_file_unref(tail->heap);
    for (uint32_t c = 0; c < TAIL_CHUNKS; c++) {
        mem_free(tail->keys[c]);
        mem_free(tail->documents[c]);
    }
    while (table != NULL) {
        struct tail_table *older = table->older;
        mem_free(table);
        table = older;
    }
    tail_columns_free(&tail->columns);
    arena_free(&tail->arena);
    mem_free(tail);
}

struct tail *tail_ref(struct tail *tail)
{
    if (tail != NULL) atomic_fetch_add(&tail->refs, 1);
    return tail;
}

void tail_unref(struct tail *tail)
{
    if (tail != NULL && atomic_fetch_sub(&tail->refs, 1) == 1) tail_free(tail);
}

paua_status tail_open(struct dir *dir, const struct schema *schema, const struct head *head,
                      struct data_file_opts opts, struct tail **tail, paua_error *err)
{
    struct tail *t = mem_zalloc(1, sizeof *t);
    paua_status status = PAUA_OK;

    if (t == NULL) return error_set_nomem(err);
    t->refs = 1;
    t->schema = schema;
    t->first_row = head->tail_first_row;
    t->staged_first = UINT32_MAX;
    tail_columns_init(&t->columns);
    for (uint32_t f = 0; f < schema->field_count && status == PAUA_OK; f++) {
        struct file_header header = files_vector_header(schema, f, head->tail_vectors[f]);
        status = data_file_open_growing(dir, &header, opts, &t->vectors[f], err);
    }
    if (status == PAUA_OK && head->tail_heap != 0) {
        struct file_header header = files_heap_header(schema, head->tail_heap);
        status = data_file_open_growing(dir, &header, opts, &t->heap, err);
    }
    if (status != PAUA_OK) {
        tail_unref(t);
        return status;
    }
    *tail = t;
    return PAUA_OK;
}

static uint64_t slot_of(uint64_t hash, uint32_t row)
{
    return (hash >> 32) << 32 | ((uint64_t)row + 1);
}

static void table_put(struct tail_table *table, uint64_t hash, uint64_t slot)
{
    uint32_t at = (uint32_t)hash & table->mask;

    while (atomic_load_explicit(&table->slots[at], memory_order_relaxed) != 0)
        at = (at + 1) & table->mask;
    atomic_store_explicit(&table->slots[at], slot, memory_order_release);
    table->used++;
}

static paua_status row_hash(const struct tail *tail, uint32_t row, struct writer *scratch,
                            uint64_t *hash)
{
    struct key key;
    paua_status status = tail_key(tail, row, scratch, &key, NULL);

    if (status == PAUA_OK) *hash = key_hash(key);
    return status;
}

/* Makes room for one more entry: a table twice the size, filled from the rows' keys. */
static paua_status table_reserve(struct tail *tail)
{
    struct tail_table *old = atomic_load_explicit(&tail->table, memory_order_relaxed), *table;
    uint32_t slots = old == NULL ? TABLE_FIRST : (old->mask + 1) * 2;
    struct writer scratch = {0};
    paua_status status = PAUA_OK;

    if (old != NULL && old->used < (old->mask + 1) / 2) return PAUA_OK;
    table = mem_zalloc(1, sizeof *table + slots * sizeof table->slots[0]);
    if (table == NULL) return PAUA_ENOMEM;
    table->older = old;
    table->mask = slots - 1;
    for (uint32_t row = 0; row < tail->rows && status == PAUA_OK; row++) {
        uint64_t hash = 0;
        status = row_hash(tail, row, &scratch, &hash);
        if (status == PAUA_OK) table_put(table, hash, slot_of(hash, row));
    }
    writer_free(&scratch);
    if (status != PAUA_OK) {
        mem_free(table);
        return status;
    }
    tail->memory_nbytes += sizeof *table + slots * sizeof table->slots[0];
    atomic_store_explicit(&tail->table, table, memory_order_release);
    return PAUA_OK;
}

static paua_status chunk_reserve(struct tail *tail, uint32_t chunk)
{
    size_t count = (size_t)CHUNK_FIRST << chunk;

    if (tail->schema->key_kind != PAUA_KEY_VECTOR && tail->keys[chunk] == NULL) {
        tail->keys[chunk] = mem_zalloc(count, sizeof tail->keys[0][0]);
        if (tail->keys[chunk] == NULL) return PAUA_ENOMEM;
        tail->memory_nbytes += count * sizeof tail->keys[0][0];
    }
    if (tail->heap != NULL && tail->documents[chunk] == NULL) {
        tail->documents[chunk] = mem_alloc(count * sizeof tail->documents[0][0]);
        if (tail->documents[chunk] == NULL) return PAUA_ENOMEM;
        tail->memory_nbytes += count * sizeof tail->documents[0][0];
    }
    return PAUA_OK;
}

static paua_status key_put(struct tail *tail, uint64_t *slot, struct key key)
{
    size_t held = tail->arena.nbytes;
    uint8_t *text;

    if (tail->schema->key_kind == PAUA_KEY_U64) {
        *slot = bytes_get(key.bytes, 8);
        return PAUA_OK;
    }
    text = (uint8_t *)(uintptr_t)*slot; /* of a row that was taken back: nobody looks at it */
    if (text == NULL || bytes_get(text, 2) < key.nbytes)
        text = arena_alloc(&tail->arena, 2 + key.nbytes);
    if (text == NULL) return PAUA_ENOMEM;
    tail->memory_nbytes += tail->arena.nbytes - held;
    bytes_put(text, key.nbytes, 2);
    memcpy(text + 2, key.bytes, key.nbytes);
    *slot = (uint64_t)(uintptr_t)text;
    return PAUA_OK;
}

paua_status tail_append(struct tail *tail, struct key key, uint64_t hash, uint32_t document_nbytes)
{
    uint32_t offset, chunk = chunk_of(tail->rows, &offset);
    paua_status status = chunk_reserve(tail, chunk);

    if (status == PAUA_OK) status = table_reserve(tail);
    if (status == PAUA_OK && tail->schema->key_kind != PAUA_KEY_VECTOR)
        status = key_put(tail, &tail->keys[chunk][offset], key);
    if (status != PAUA_OK) return status;
    if (tail->heap != NULL) {
        tail->documents[chunk][offset] = (struct tail_document){tail->heap_nbytes, document_nbytes};
        if (document_nbytes != BATCH_NO_DOCUMENT) tail->heap_nbytes += document_nbytes;
    }
    table_put(atomic_load_explicit(&tail->table, memory_order_relaxed), hash,
              slot_of(hash, tail->rows));
    tail->rows++;
    return PAUA_OK;
}

/* Empties the slot that the newest row was given. Nothing was put behind it since, so the table is
 * again what it was before, and no look-up of another row meets a hole. */
static void table_drop(struct tail_table *table, uint64_t hash, uint64_t slot)
{
    uint32_t at = (uint32_t)hash & table->mask, last = UINT32_MAX;
    uint64_t seen;

    while ((seen = atomic_load_explicit(&table->slots[at], memory_order_relaxed)) != 0) {
        if (seen == slot) last = at;
        at = (at + 1) & table->mask;
    }
    if (last == UINT32_MAX) return;
    atomic_store_explicit(&table->slots[last], 0, memory_order_release);
    table->used--;
}

/* A slot whose key cannot be read any more stays: it is skipped, and goes when the table grows. */
void tail_truncate(struct tail *tail, uint32_t rows, uint64_t heap_nbytes)
{
    struct writer scratch = {0};

    assert(rows <= tail->rows);
    while (tail->rows > rows) {
        uint32_t row = tail->rows - 1;
        uint64_t hash;

        if (row_hash(tail, row, &scratch, &hash) != PAUA_OK) break;
        table_drop(atomic_load_explicit(&tail->table, memory_order_relaxed), hash,
                   slot_of(hash, row));
        tail->rows = row;
    }
    writer_free(&scratch);
    tail_columns_truncate(&tail->columns, rows);
    tail->rows = rows;
    tail->heap_nbytes = heap_nbytes;
}

paua_status tail_vectors(const struct tail *tail, uint32_t field, uint32_t row, uint32_t n,
                         struct writer *scratch, const uint8_t **bytes, paua_error *err)
{
    size_t row_nbytes = schema_row_nbytes(&tail->schema->fields[field]);
    struct data_file *file = tail->vectors[field];
    void *room; /* even when mapped: the file may have outgrown its map */

    scratch->length = 0;
    room = writer_room(scratch, n * row_nbytes);
    if (room == NULL) return error_set_nomem(err);
    return data_file_read(file, (uint64_t)row * row_nbytes, n * row_nbytes, room, bytes, err);
}

paua_status tail_key(const struct tail *tail, uint32_t row, struct writer *scratch, struct key *key,
                     paua_error *err)
{
    uint32_t offset, chunk = chunk_of(row, &offset);
    const uint8_t *bytes;
    paua_status status;

    if (tail->schema->key_kind == PAUA_KEY_U64) {
        *key = (struct key){(const uint8_t *)&tail->keys[chunk][offset], 8};
        return PAUA_OK;
    }
    if (tail->schema->key_kind == PAUA_KEY_STRING) {
        bytes = (const uint8_t *)(uintptr_t)tail->keys[chunk][offset];
        *key = (struct key){bytes + 2, (size_t)bytes_get(bytes, 2)};
        return PAUA_OK;
    }
    if (row >= atomic_load_explicit(&tail->staged_first, memory_order_relaxed)) {
        *key = (struct key){tail->staged_keys[row - tail->staged_first],
                            schema_row_nbytes(&tail->schema->fields[0])};
        return PAUA_OK;
    }
    status = tail_vectors(tail, 0, row, 1, scratch, &bytes, err);
    if (status == PAUA_OK) *key = (struct key){bytes, schema_row_nbytes(&tail->schema->fields[0])};
    return status;
}

paua_status tail_find(const struct tail *tail, uint32_t rows, const roaring_bitmap_t *deleted,
                      struct key key, uint64_t hash, uint32_t *position, paua_error *err)
{
    struct tail_table *table = atomic_load_explicit(&tail->table, memory_order_acquire);
    struct writer scratch = {0};
    paua_status status = PAUA_OK;
    uint32_t found = UINT32_MAX;

    for (uint32_t at = (uint32_t)hash; table != NULL && found == UINT32_MAX; at++) {
        uint64_t slot = atomic_load_explicit(&table->slots[at & table->mask], memory_order_acquire);
        uint32_t row = (uint32_t)slot - 1;
        struct key stored;

        if (slot == 0) break;
        if (slot >> 32 != hash >> 32 || row >= rows) continue;
        if (deleted != NULL && roaring_bitmap_contains(deleted, row)) continue;
        status = tail_key(tail, row, &scratch, &stored, err);
        if (status != PAUA_OK) break;
        if (key_equal(stored, key)) found = row;
    }
    writer_free(&scratch);
    if (status == PAUA_OK) *position = found;
    return status;
}

uint32_t tail_document_length(const struct tail *tail, uint32_t row)
{
    uint32_t offset, chunk = chunk_of(row, &offset);

    return tail->heap == NULL ? BATCH_NO_DOCUMENT : tail->documents[chunk][offset].nbytes;
}

paua_status tail_document(const struct tail *tail, uint32_t row, struct writer *scratch,
                          paua_bytes *document, paua_error *err)
{
    uint32_t offset, chunk = chunk_of(row, &offset);
    const struct tail_document *place;
    const uint8_t *bytes;
    paua_status status;
    void *room;

    *document = (paua_bytes){0};
    if (tail_document_length(tail, row) == BATCH_NO_DOCUMENT) return PAUA_OK;
    place = &tail->documents[chunk][offset];
    scratch->length = 0;
    room = writer_room(scratch, place->nbytes == 0 ? 1 : place->nbytes);
    if (room == NULL) return error_set_nomem(err);
    bytes = room;
    status = data_file_read(tail->heap, place->offset, place->nbytes, room, &bytes, err);
    if (status == PAUA_OK) *document = (paua_bytes){bytes, place->nbytes};
    return status;
}
