/* growing.h - the chunk that rows are added to, and making a chunk complete. */
#ifndef PAUA_COLUMN_GROWING_H
#define PAUA_COLUMN_GROWING_H

#include "column/chunk.h"
#include "column/dictionary.h"

/* A block of bytes; those past what is used are 0. */
struct chunk_block {
    uint8_t *bytes;
    size_t room;
};

/* What a chunk of a column that grows owns. */
struct chunk_memory {
    struct chunk_block codes;  /* unrepeated: places in the pool */
    struct chunk_block places; /* sparse: positions; raw: presence */
    struct chunk_block hashes;
    uint32_t first_code; /* codes above it came with this chunk */
};

struct growing {
    struct column_chunk *chunk;
    struct chunk_memory *memory;
    bool numbers; /* keys, not codes of a dictionary */
};

void growing_begin(struct growing g, uint32_t first_code);
/* Sets row `at`, not below the chunk's rows, of any chunk but an unrepeated one. False when out of
 * memory: no value changed. */
bool growing_add(struct growing g, uint32_t at, uint64_t key);
/* The same where it is quick: the chunk is packed, has a code for the key, and room. False: it is
 * not, and nothing was done. */
static inline bool growing_add_quickly(struct column_chunk *chunk, struct chunk_memory *memory,
                                       uint32_t at, uint64_t key)
{
    if (chunk->kind != CHUNK_PACKED || key - chunk->base >= code_max(chunk->width) ||
        codes_nbytes((size_t)at + 1, chunk->width) > memory->codes.room)
        return false;
    packed_set(memory->codes.bytes, chunk->width, at, (uint32_t)(key - chunk->base + 1));
    chunk->nulls += at - chunk->rows;
    chunk->rows = at + 1;
    if (key < chunk->least) chunk->least = key;
    if (key > chunk->most) chunk->most = key;
    return true;
}
/* The same for rows from `at` on of a packed chunk of byte strings whose codes (0: NULL) fit. */
bool growing_add_codes(struct growing g, uint32_t at, const uint32_t *codes, uint32_t n);
/* The same for an unrepeated chunk. */
bool growing_add_unrepeated(struct growing g, uint32_t at, uint32_t place, uint32_t hash);
/* Makes a packed chunk of codes unrepeated. */
bool growing_unrepeat(struct growing g, const struct dictionary *dictionary);
/* Makes it COLUMN_CHUNK_ROWS long, in the form that takes least. */
bool growing_finish(struct growing g);
void growing_truncate(struct growing g, uint32_t rows);
size_t chunk_memory_nbytes(const struct chunk_memory *memory);
void chunk_memory_free(struct chunk_memory *memory);

#endif
