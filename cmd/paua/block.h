/* block.h - a batch of rows in the shape that the library's writes take. */
#ifndef PAUA_CMD_BLOCK_H
#define PAUA_CMD_BLOCK_H

#include <paua/paua.h>

#include "field_table.h"
#include "keys.h"
#include "reader.h"

struct document_span {
    size_t at;
    size_t nbytes;
    bool present;
};

/* One field of a block's rows. */
struct block_column {
    const char *name; /* of the table of fields */
    paua_value *values;
};

struct row_block {
    const paua_schema *schema;
    size_t count;
    size_t capacity;
    float *vectors[PAUA_VECTOR_FIELDS_MAX]; /* capacity x dim */
    uint32_t given;                         /* fields that every row of the block gives */
    struct key_list keys;                   /* empty for vector keys */
    uint64_t *ordinals;                     /* number of each row in the whole import */
    struct document_span *spans;
    paua_bytes *documents; /* made from the spans by block_rows */
    uint8_t *bytes;
    size_t bytes_used, bytes_room;
    bool any_document;
    paua_vectors library_vectors[PAUA_VECTOR_FIELDS_MAX];
    struct block_column *columns;
    paua_column *library_columns;
    size_t column_count, column_capacity;
    size_t column_next; /* where the next field is looked for first: rows give them in one order */
    struct value_room room; /* of the values */
    bool any_value;
};

void block_begin(struct row_block *block, const paua_schema *schema, size_t capacity);
void block_free(struct row_block *block);
void block_reset(struct row_block *block);

/* Whether it has as many rows, or as large ones, as go into one write. */
bool block_full(const struct row_block *block);

/* Where field f of the next row goes. */
float *block_slot(const struct row_block *block, size_t field);

/* Where the next row's value of a field goes: "not given" until it is set. A field's name is the
 * same string in every call. */
paua_value *block_value(struct row_block *block, const char *name);

/* Takes back what a row that is refused gave. */
void block_forget_values(struct row_block *block);

/* Takes the row whose vectors and key were put into the block. */
void block_take(struct row_block *block, uint64_t ordinal, uint32_t given, paua_bytes document);

/* The whole block for paua_insert or paua_upsert; valid until the block changes. */
paua_rows block_rows(struct row_block *block);

/* Rows that make about 4 MiB of vectors. */
size_t block_default_rows(const paua_schema *schema);

#endif
