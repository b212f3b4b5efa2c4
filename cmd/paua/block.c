/* block.c - a batch of rows in the shape that the library's writes take. */
#include "block.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

/* Enough that one sync a batch costs little, small enough that memory stays small. */
#define BATCH_NBYTES ((size_t)4 << 20)
#define BATCH_ROWS_MAX 65536u
#define BATCH_VALUES_MAX 262144u

static size_t row_nbytes(const paua_schema *schema)
{
    size_t nbytes = 0;

    for (size_t f = 0; f < schema->field_count; f++)
        nbytes += schema->fields[f].dim * sizeof(float);
    return nbytes;
}

size_t block_default_rows(const paua_schema *schema)
{
    size_t rows = BATCH_NBYTES / row_nbytes(schema);

    if (rows < 1) return 1;
    return rows < BATCH_ROWS_MAX ? rows : BATCH_ROWS_MAX;
}

void block_begin(struct row_block *block, const paua_schema *schema, size_t capacity)
{
    *block = (struct row_block){.schema = schema, .capacity = capacity};
    for (size_t f = 0; f < schema->field_count; f++)
        block->vectors[f] = cmd_alloc(capacity, schema->fields[f].dim * sizeof(float));
    block->ordinals = cmd_alloc(capacity, sizeof *block->ordinals);
    block->spans = cmd_alloc(capacity, sizeof *block->spans);
    block->documents = cmd_alloc(capacity, sizeof *block->documents);
    key_list_begin(&block->keys, schema);
}

void block_free(struct row_block *block)
{
    for (size_t f = 0; f < PAUA_VECTOR_FIELDS_MAX; f++)
        free(block->vectors[f]);
    free(block->ordinals);
    free(block->spans);
    free(block->documents);
    free(block->bytes);
    for (size_t c = 0; c < block->column_count; c++)
        free(block->columns[c].values);
    free(block->columns);
    free(block->library_columns);
    value_room_free(&block->room);
    key_list_free(&block->keys);
    *block = (struct row_block){0};
}

void block_reset(struct row_block *block)
{
    const size_t used = block->count;

    block->count = 0;
    block->given = 0;
    block->bytes_used = 0;
    block->any_document = block->any_value = false;
    value_room_reset(&block->room);
    for (size_t c = 0; c < block->column_count; c++)
        memset(block->columns[c].values, 0, used * sizeof(paua_value));
    key_list_reset(&block->keys);
}

bool block_full(const struct row_block *block)
{
    return block->count == block->capacity || block->bytes_used >= BATCH_NBYTES ||
           block->room.nbytes >= BATCH_NBYTES ||
           block->count * block->column_count >= BATCH_VALUES_MAX;
}

float *block_slot(const struct row_block *block, size_t field)
{
    return block->vectors[field] + block->count * block->schema->fields[field].dim;
}

paua_value *block_value(struct row_block *block, const char *name)
{
    struct block_column *column;

    block->any_value = true;
    for (size_t i = 0; i < block->column_count; i++) {
        size_t c = (block->column_next + i) % block->column_count;

        if (block->columns[c].name != name) continue;
        block->column_next = c + 1;
        return &block->columns[c].values[block->count];
    }
    if (block->column_count == block->column_capacity) {
        block->column_capacity = 2 * block->column_capacity + 16;
        block->columns = cmd_grow(block->columns, block->column_capacity, sizeof *block->columns);
        block->library_columns = cmd_grow(block->library_columns, block->column_capacity,
                                          sizeof *block->library_columns);
    }
    column = &block->columns[block->column_count++];
    *column = (struct block_column){name, cmd_alloc(block->capacity, sizeof(paua_value))};
    return &column->values[block->count];
}

void block_forget_values(struct row_block *block)
{
    for (size_t c = 0; c < block->column_count; c++)
        block->columns[c].values[block->count] = (paua_value){.type = PAUA_TYPE_NONE};
}

void block_take(struct row_block *block, uint64_t ordinal, uint32_t given, paua_bytes document)
{
    struct document_span *span = &block->spans[block->count];

    *span = (struct document_span){
        .at = block->bytes_used, .nbytes = document.nbytes, .present = document.data != NULL};
    if (block->bytes_used + document.nbytes + 1 > block->bytes_room) {
        block->bytes_room = 2 * block->bytes_used + document.nbytes + 4096;
        block->bytes = cmd_grow(block->bytes, block->bytes_room, 1);
    }
    if (document.nbytes > 0) memcpy(block->bytes + span->at, document.data, document.nbytes);
    block->bytes_used += document.nbytes;
    block->any_document |= span->present;
    block->ordinals[block->count] = ordinal;
    block->given = given;
    block->count++;
}

paua_rows block_rows(struct row_block *block)
{
    const paua_schema *schema = block->schema;
    paua_rows rows = {.size = sizeof rows, .keys = {.count = block->count}};

    if (schema->key_kind != PAUA_KEY_VECTOR)
        rows.keys = key_list_view(&block->keys, 0, block->count);
    for (size_t f = 0; f < schema->field_count; f++) {
        bool given = (block->given & 1u << f) != 0;
        block->library_vectors[f] = (paua_vectors){.data = given ? block->vectors[f] : NULL};
    }
    rows.vectors = block->library_vectors;
    rows.vectors_count = schema->field_count;
    for (size_t i = 0; i < block->count; i++) {
        const struct document_span *span = &block->spans[i];
        block->documents[i] = (paua_bytes){.data = span->present ? block->bytes + span->at : NULL,
                                           .nbytes = span->nbytes};
    }
    if (block->any_document) rows.documents = block->documents;
    for (size_t c = 0; c < block->column_count; c++)
        block->library_columns[c] = (paua_column){block->columns[c].name, block->columns[c].values};
    rows.columns = block->library_columns;
    rows.column_count = block->any_value ? block->column_count : 0;
    return rows;
}
