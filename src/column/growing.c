/* growing.c - the chunk that rows are added to.
 *
 * It begins as constant; the first row that differs makes it packed, and a row that leaves NULLs
 * before the first value makes it sparse, until more than one row of eight has a value. Codes begin
 * with the least width; a code that does not fit makes all of them wider, or moves the base, with
 * equal room below and above, so that keys that wander recode a logarithmic number of times. Keys
 * that span more than 32 bits make it raw (sparse: 64 bits wide).
 *
 * Invariants  Bytes of a block past those in use are 0, so that skipped rows read as NULL. A
 *             constant chunk that has no value has no rows.
 * Cost        A row: a few nanoseconds. Blocks grow by a quarter: five copies of a byte, and less
 *             than a fifth of a chunk unused.
 * Rejected    Doubling: at 100,000 rows up to half of the memory is room. */
#include "column/growing.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define SPARSE_ROWS_MIN 32u /* as few values are sparse whatever the rows */
#define SPARSE_SHARE 8u     /* at most a value in so many rows */
#define ROOM_EXTRA 16u

static bool block_grow(struct chunk_block *block, size_t needed)
{
    size_t room = needed + needed / 4 + ROOM_EXTRA;
    uint8_t *bytes;

    if (needed <= block->room) return true;
    bytes = mem_realloc(block->bytes, room);
    if (bytes == NULL) return false;
    memset(bytes + block->room, 0, room - block->room);
    *block = (struct chunk_block){.bytes = bytes, .room = room};
    return true;
}

static bool block_make(struct chunk_block *block, size_t needed)
{
    *block = (struct chunk_block){0};
    return block_grow(block, needed > 0 ? needed : 1);
}

static void block_trim(struct chunk_block *block, size_t nbytes)
{
    uint8_t *bytes;

    if (block->bytes == NULL || nbytes == 0 || nbytes >= block->room) return;
    bytes = mem_realloc(block->bytes, nbytes);
    if (bytes != NULL) *block = (struct chunk_block){.bytes = bytes, .room = nbytes};
}

static void block_free(struct chunk_block *block)
{
    mem_free(block->bytes);
    *block = (struct chunk_block){0};
}

/* The chunk's pointers after blocks have moved. */
static void borrow(struct growing g)
{
    bool unrepeated = g.chunk->kind == CHUNK_UNREPEATED;

    g.chunk->codes = unrepeated ? NULL : g.memory->codes.bytes;
    g.chunk->places = g.memory->places.bytes;
    g.chunk->ends = unrepeated ? g.memory->codes.bytes : NULL;
    g.chunk->hashes = g.memory->hashes.bytes;
}

/* Takes over new blocks for codes and places. */
static void replace(struct growing g, struct chunk_block codes, struct chunk_block places)
{
    block_free(&g.memory->codes);
    block_free(&g.memory->places);
    g.memory->codes = codes;
    g.memory->places = places;
}

void growing_begin(struct growing g, uint32_t first_code)
{
    *g.chunk = (struct column_chunk){.kind = CHUNK_CONSTANT, .base = 1, .least = 1};
    *g.memory = (struct chunk_memory){.first_code = first_code};
}

struct shape {
    uint32_t width;
    uint64_t base;
};

/* How keys of this range, and `key`, are packed; false: they are not. */
static bool shape_for(struct growing g, uint64_t key, struct shape *shape)
{
    bool any = g.chunk->least <= g.chunk->most;
    uint64_t least = any && g.chunk->least < key ? g.chunk->least : key;
    uint64_t most = any && g.chunk->most > key ? g.chunk->most : key;
    uint64_t below;

    if (!g.numbers) {
        *shape = (struct shape){.width = width_for(most - 1), .base = 1};
        return true;
    }
    shape->width = width_for(most - least);
    if (shape->width == 0) return false;
    below = (code_max(shape->width) - (most - least) - 1) / 2;
    shape->base = least - (below < least ? below : least);
    return true;
}

static void zone_add(struct column_chunk *chunk, uint64_t key)
{
    bool any = chunk->least <= chunk->most;

    if (!any || key < chunk->least) chunk->least = key;
    if (!any || key > chunk->most) chunk->most = key;
}

/* Counts row `at`, which has this key, and the NULLs before it. */
static bool row_added(struct growing g, uint32_t at, uint64_t key)
{
    g.chunk->nulls += at - g.chunk->rows;
    g.chunk->rows = at + 1;
    zone_add(g.chunk, key);
    borrow(g);
    return true;
}

static void code_set(struct chunk_block *codes, struct shape shape, size_t i, uint64_t key)
{
    if (shape.width == CHUNK_KEY_BITS)
        memcpy(codes->bytes + 8 * i, &key, 8);
    else
        packed_set(codes->bytes, shape.width, i, (uint32_t)(key - shape.base + 1));
}

/* Makes the chunk packed or raw with the rows that it has; `key` is what comes next. */
static bool densify(struct growing g, uint64_t key)
{
    struct chunk_block codes, places = {0};
    struct column_chunk *c = g.chunk;
    struct shape shape = {.width = CHUNK_KEY_BITS};
    bool packed = shape_for(g, key, &shape);
    uint64_t old;

    if (!packed) shape = (struct shape){.width = CHUNK_KEY_BITS};
    if (!block_make(&codes, codes_nbytes(c->rows, shape.width))) return false;
    if (!packed && c->nulls > 0 && !block_make(&places, (c->rows + 7) / 8)) {
        block_free(&codes);
        return false;
    }
    for (uint32_t at = 0; at < c->rows; at++) {
        if (!chunk_key(c, at, &old)) continue;
        code_set(&codes, shape, at, old);
        if (places.bytes != NULL) packed_set(places.bytes, 1, at, 1);
    }
    replace(g, codes, places);
    c->kind = packed ? CHUNK_PACKED : CHUNK_RAW;
    c->width = packed ? shape.width : 0;
    c->base = packed ? shape.base : 1;
    c->entries = 0;
    borrow(g);
    return true;
}

/* Sparse or packed: makes room for `key` among the codes. */
static bool widen(struct growing g, uint64_t key)
{
    struct column_chunk *c = g.chunk;
    struct chunk_block codes;
    bool sparse = c->kind == CHUNK_SPARSE;
    uint32_t n = sparse ? c->entries : c->rows;
    struct shape shape;

    if (!shape_for(g, key, &shape)) {
        if (!sparse) return densify(g, key);
        shape = (struct shape){.width = CHUNK_KEY_BITS, .base = 1};
    }
    if (!block_make(&codes, codes_nbytes(n, shape.width))) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (sparse)
            code_set(&codes, shape, i, sparse_key(c, i));
        else if (packed_get(c->codes, c->width, i) != 0)
            code_set(&codes, shape, i, c->base + packed_get(c->codes, c->width, i) - 1);
    }
    block_free(&g.memory->codes);
    g.memory->codes = codes;
    c->width = shape.width;
    c->base = shape.base;
    borrow(g);
    return true;
}

static bool fits(const struct column_chunk *c, uint64_t key)
{
    return c->width == CHUNK_KEY_BITS || key - c->base < code_max(c->width);
}

static bool sparse_add(struct growing g, uint32_t at, uint64_t key)
{
    struct column_chunk *c = g.chunk;
    uint16_t place = (uint16_t)at;

    if ((c->width == 0 || !fits(c, key)) && !widen(g, key)) return false;
    if (!block_grow(&g.memory->codes, codes_nbytes((size_t)c->entries + 1, c->width)) ||
        !block_grow(&g.memory->places, 2 * ((size_t)c->entries + 1)))
        return false;
    code_set(&g.memory->codes, (struct shape){c->width, c->base}, c->entries, key);
    memcpy(g.memory->places.bytes + 2 * (size_t)c->entries, &place, 2);
    c->entries++;
    return row_added(g, at, key);
}

static bool raw_add(struct growing g, uint32_t at, uint64_t key)
{
    struct column_chunk *c = g.chunk;
    bool gap = at > c->rows && g.memory->places.bytes == NULL;

    if (!block_grow(&g.memory->codes, 8 * ((size_t)at + 1))) return false;
    if ((gap || g.memory->places.bytes != NULL) &&
        !block_grow(&g.memory->places, (size_t)at / 8 + 1))
        return false;
    for (uint32_t i = 0; gap && i < c->rows; i++)
        packed_set(g.memory->places.bytes, 1, i, 1);
    if (g.memory->places.bytes != NULL) packed_set(g.memory->places.bytes, 1, at, 1);
    memcpy(g.memory->codes.bytes + 8 * (size_t)at, &key, 8);
    return row_added(g, at, key);
}

static bool packed_add(struct growing g, uint32_t at, uint64_t key)
{
    struct column_chunk *c = g.chunk;

    if (!fits(c, key) && !widen(g, key)) return false;
    if (c->kind == CHUNK_RAW) return raw_add(g, at, key);
    if (!block_grow(&g.memory->codes, codes_nbytes((size_t)at + 1, c->width))) return false;
    packed_set(g.memory->codes.bytes, c->width, at, (uint32_t)(key - c->base + 1));
    return row_added(g, at, key);
}

bool growing_add(struct growing g, uint32_t at, uint64_t key)
{
    struct column_chunk *c = g.chunk;

    assert(at >= c->rows && at < COLUMN_CHUNK_ROWS && c->kind != CHUNK_UNREPEATED);
    if (growing_add_quickly(c, g.memory, at, key)) return true;
    if (c->kind == CHUNK_CONSTANT) {
        if (at == c->rows && (at == 0 || key == c->least)) return row_added(g, at, key);
        if (c->rows == 0) {
            c->kind = CHUNK_SPARSE;
            c->width = 0;
        } else if (!densify(g, key)) {
            return false;
        }
    }
    if (c->kind == CHUNK_SPARSE) {
        if (c->entries < SPARSE_ROWS_MIN || c->entries < at / SPARSE_SHARE)
            return sparse_add(g, at, key);
        if (!densify(g, key)) return false;
    }
    return c->kind == CHUNK_PACKED ? packed_add(g, at, key) : raw_add(g, at, key);
}

/* With a constant width the compiler leaves little of packed_set(). */
static inline __attribute__((always_inline)) void
put_codes(uint8_t *bytes, uint32_t width, uint32_t at, const uint32_t *codes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        packed_set(bytes, width, (size_t)at + i, codes[i]);
}

/* The most usual width: two codes a byte. */
static void put_halves(uint8_t *bytes, uint32_t at, const uint32_t *codes, uint32_t n)
{
    uint32_t i = at % 2;

    if (i > 0) packed_set(bytes, 4, at, codes[0]);
    for (; i + 1 < n; i += 2)
        bytes[(at + i) / 2] = (uint8_t)(codes[i] | codes[i + 1] << 4);
    if (i < n) packed_set(bytes, 4, (size_t)at + i, codes[i]);
}

bool growing_add_codes(struct growing g, uint32_t at, const uint32_t *codes, uint32_t n)
{
    struct column_chunk *c = g.chunk;
    uint32_t nulls = at - c->rows, less = UINT32_MAX, most = 0; /* less: the least, less 1 */
    uint8_t *bytes;

    assert(n > 0 && c->kind == CHUNK_PACKED && !g.numbers && at >= c->rows);
    if (!block_grow(&g.memory->codes, codes_nbytes((size_t)at + n, c->width))) return false;
    bytes = g.memory->codes.bytes;
    if (c->width == 4)
        put_halves(bytes, at, codes, n);
    else if (c->width == 8)
        put_codes(bytes, 8, at, codes, n);
    else
        put_codes(bytes, c->width, at, codes, n);
    for (uint32_t i = 0; i < n; i++) {
        nulls += codes[i] == 0;
        less = codes[i] - 1 < less ? codes[i] - 1 : less;
        most = codes[i] > most ? codes[i] : most;
    }
    if (most > 0) {
        zone_add(c, (uint64_t)less + 1);
        zone_add(c, most);
    }
    c->nulls += nulls;
    c->rows = at + n;
    borrow(g);
    return true;
}

bool growing_add_unrepeated(struct growing g, uint32_t at, uint32_t place, uint32_t hash)
{
    assert(at >= g.chunk->rows && g.chunk->kind == CHUNK_UNREPEATED && hash != 0);
    if (!block_grow(&g.memory->codes, 4 * ((size_t)at + 1)) ||
        !block_grow(&g.memory->hashes, 4 * ((size_t)at + 1)))
        return false;
    memcpy(g.memory->codes.bytes + 4 * (size_t)at, &place, 4);
    memcpy(g.memory->hashes.bytes + 4 * (size_t)at, &hash, 4);
    g.chunk->nulls += at - g.chunk->rows;
    g.chunk->rows = at + 1;
    borrow(g);
    return true;
}

bool growing_unrepeat(struct growing g, const struct dictionary *dictionary)
{
    struct chunk_block places, hashes;
    struct column_chunk *c = g.chunk;

    assert(c->kind == CHUNK_PACKED && !g.numbers);
    if (!block_make(&places, 4 * (size_t)c->rows)) return false;
    if (!block_make(&hashes, 4 * (size_t)c->rows)) {
        block_free(&places);
        return false;
    }
    for (uint32_t at = 0; at < c->rows; at++) {
        uint32_t code = packed_get(c->codes, c->width, at), hash;
        const uint8_t *data;
        size_t nbytes;

        if (code == 0) continue;
        pool_value((const uint8_t *const *)dictionary->pool->blocks, dictionary->places[code - 1],
                   &data, &nbytes);
        hash = value_hash(data, nbytes);
        memcpy(places.bytes + 4 * (size_t)at, &dictionary->places[code - 1], 4);
        memcpy(hashes.bytes + 4 * (size_t)at, &hash, 4);
    }
    replace(g, places, (struct chunk_block){0});
    g.memory->hashes = hashes;
    c->kind = CHUNK_UNREPEATED;
    c->width = 0;
    c->least = 0;
    c->most = UINT64_MAX;
    borrow(g);
    return true;
}

/* Makes a packed or raw chunk sparse. */
static bool sparsify(struct growing g)
{
    struct chunk_block codes, places;
    struct column_chunk *c = g.chunk;
    uint32_t entries = c->rows - c->nulls, i = 0;
    struct shape shape = {.width = c->kind == CHUNK_RAW ? CHUNK_KEY_BITS : c->width,
                          .base = c->base};
    uint64_t key;

    if (!block_make(&codes, codes_nbytes(entries, shape.width))) return false;
    if (!block_make(&places, 2 * (size_t)entries)) {
        block_free(&codes);
        return false;
    }
    for (uint32_t at = 0; at < c->rows; at++) {
        uint16_t place = (uint16_t)at;

        if (!chunk_key(c, at, &key)) continue;
        code_set(&codes, shape, i, key);
        memcpy(places.bytes + 2 * (size_t)i++, &place, 2);
    }
    replace(g, codes, places);
    c->kind = CHUNK_SPARSE;
    c->width = shape.width;
    c->entries = entries;
    return true;
}

/* Bytes that the chunk's blocks need, exactly. */
static void trim(struct growing g)
{
    const struct column_chunk *c = g.chunk;
    size_t codes = 0, places = 0;

    if (c->kind == CHUNK_SPARSE) {
        codes = codes_nbytes(c->entries, c->width);
        places = 2 * (size_t)c->entries;
    } else if (c->kind == CHUNK_PACKED) {
        codes = codes_nbytes(c->rows, c->width);
    } else if (c->kind == CHUNK_RAW) {
        codes = 8 * (size_t)c->rows;
        places = c->rows / 8;
    } else if (c->kind == CHUNK_UNREPEATED) {
        codes = 4 * (size_t)c->rows;
    }
    block_trim(&g.memory->codes, codes);
    block_trim(&g.memory->places, places);
    block_trim(&g.memory->hashes, codes);
}

/* NULL up to the last row. */
static bool pad(struct growing g)
{
    struct column_chunk *c = g.chunk;
    uint32_t missing = COLUMN_CHUNK_ROWS - c->rows;

    if (c->kind == CHUNK_CONSTANT && c->rows > 0 && missing > 0 && !densify(g, c->least))
        return false;
    if (c->kind == CHUNK_RAW && c->nulls + missing > 0) {
        bool first = g.memory->places.bytes == NULL;

        if (!block_grow(&g.memory->places, COLUMN_CHUNK_ROWS / 8)) return false;
        for (uint32_t i = 0; first && i < c->rows; i++)
            packed_set(g.memory->places.bytes, 1, i, 1);
        if (!block_grow(&g.memory->codes, 8 * (size_t)COLUMN_CHUNK_ROWS)) return false;
    }
    if (c->kind == CHUNK_PACKED &&
        !block_grow(&g.memory->codes, codes_nbytes(COLUMN_CHUNK_ROWS, c->width)))
        return false;
    if (c->kind == CHUNK_UNREPEATED &&
        (!block_grow(&g.memory->codes, 4 * (size_t)COLUMN_CHUNK_ROWS) ||
         !block_grow(&g.memory->hashes, 4 * (size_t)COLUMN_CHUNK_ROWS)))
        return false;
    c->nulls += missing;
    c->rows = COLUMN_CHUNK_ROWS;
    borrow(g);
    return true;
}

bool growing_finish(struct growing g)
{
    struct column_chunk *c = g.chunk;
    uint64_t present, width = c->kind == CHUNK_RAW ? CHUNK_KEY_BITS : c->width;

    if (!pad(g)) return false;
    present = c->rows - c->nulls;
    if ((c->kind == CHUNK_PACKED || c->kind == CHUNK_RAW) &&
        4 * present * (16 + width) < 3 * c->rows * width && !sparsify(g))
        return false;
    trim(g);
    borrow(g);
    return true;
}

/* Zone and NULLs anew; none of an unrepeated chunk's zone. */
static void recount(struct growing g)
{
    struct column_chunk *c = g.chunk;
    uint64_t key;

    c->nulls = 0;
    if (c->kind == CHUNK_UNREPEATED) {
        for (uint32_t at = 0; at < c->rows; at++)
            c->nulls += packed_load32(c->hashes + 4 * (size_t)at) == 0;
        return;
    }
    c->least = 1;
    c->most = 0;
    for (uint32_t at = 0; at < c->rows; at++) {
        if (chunk_key(c, at, &key))
            zone_add(c, key);
        else
            c->nulls++;
    }
}

static void zero_from(struct chunk_block *block, size_t bits)
{
    size_t at = bits / 8;

    if (at >= block->room) return;
    block->bytes[at] = (uint8_t)(block->bytes[at] & ((1u << bits % 8) - 1));
    memset(block->bytes + at + 1, 0, block->room - at - 1);
}

void growing_truncate(struct growing g, uint32_t rows)
{
    struct column_chunk *c = g.chunk;
    uint32_t first_code = g.memory->first_code;

    if (rows >= c->rows) return;
    while (c->kind == CHUNK_SPARSE && c->entries > 0 && sparse_place(c, c->entries - 1) >= rows)
        c->entries--;
    if (rows == 0 || (c->kind == CHUNK_CONSTANT && c->nulls > 0) ||
        (c->kind == CHUNK_SPARSE && c->entries == 0)) {
        chunk_memory_free(g.memory);
        growing_begin(g, first_code);
        return;
    }
    c->rows = rows;
    if (c->kind == CHUNK_SPARSE) {
        zero_from(&g.memory->codes, (size_t)c->entries * c->width);
    } else if (c->kind == CHUNK_UNREPEATED) {
        zero_from(&g.memory->codes, 32 * (size_t)rows);
        zero_from(&g.memory->hashes, 32 * (size_t)rows);
    } else {
        zero_from(&g.memory->codes, (size_t)rows * (c->kind == CHUNK_RAW ? 64 : c->width));
        zero_from(&g.memory->places, rows);
    }
    recount(g);
}

size_t chunk_memory_nbytes(const struct chunk_memory *memory)
{
    return memory->codes.room + memory->places.room + memory->hashes.room;
}

void chunk_memory_free(struct chunk_memory *memory)
{
    block_free(&memory->codes);
    block_free(&memory->places);
    block_free(&memory->hashes);
}
