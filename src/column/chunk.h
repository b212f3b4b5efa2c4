/* chunk.h - what all that reads or makes chunks shares: sizes, and one value of a chunk. */
#ifndef PAUA_COLUMN_CHUNK_H
#define PAUA_COLUMN_CHUNK_H

#include "column/view.h"
#include "kernel/packed_codes.h"

#define CHUNK_KEY_BITS 64u /* width of sparse codes that are keys */

/* The largest code of a width up to 32. */
static inline uint32_t code_max(uint32_t width)
{
    return width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1;
}

static inline size_t codes_nbytes(size_t n, uint32_t width) { return (n * width + 7) / 8; }

/* The least width that has codes for `span` + 1 keys besides 0; 0: there is none. */
uint32_t width_for(uint64_t span);

/* Sets a code that may have been another before. */
static inline void packed_set(uint8_t *codes, uint32_t width, size_t i, uint32_t code)
{
    unsigned shift = (unsigned)(i * width % 8);
    uint8_t *at = codes + i * width / 8;

    if (width >= 8)
        memcpy(at, &code, width / 8);
    else
        *at = (uint8_t)((*at & ~(code_max(width) << shift)) | code << shift);
}

static inline uint32_t sparse_place(const struct column_chunk *chunk, uint32_t i)
{
    return (uint32_t)chunk->places[2 * i] | (uint32_t)chunk->places[2 * i + 1] << 8;
}

static inline uint64_t sparse_key(const struct column_chunk *chunk, uint32_t i)
{
    if (chunk->width == CHUNK_KEY_BITS) return packed_load64(chunk->codes + 8 * (size_t)i);
    return chunk->base + packed_get(chunk->codes, chunk->width, i) - 1;
}

static inline bool raw_present(const struct column_chunk *chunk, uint32_t at)
{
    return chunk->places == NULL || packed_bit(chunk->places, at);
}

/* The first entry of a sparse chunk that is not before row `at`. */
uint32_t sparse_entry(const struct column_chunk *chunk, uint32_t at);

/* The cell of a key, or of a code. */
void cell_of_key(const struct column_view *view, uint64_t key, struct cell *cell);

/* Key or code of a row of any chunk but an unrepeated one; false: NULL. */
bool chunk_key(const struct column_chunk *chunk, uint32_t at, uint64_t *key);

#endif
