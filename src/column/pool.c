/* pool.c - byte strings that stay where they are: filling blocks. See pool.h. */
#include "column/pool.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define BLOCK_FIRST 256u
#define BLOCK_MAX 65536u
#define BLOCKS_MAX 65536u
#define OWN_BLOCK_NBYTES 16384u /* more than this is not put among others */
#define LENGTH_NBYTES_MAX 10u

static uint8_t *block_add(struct pool *pool, size_t nbytes)
{
    void *blocks = pool->blocks;
    uint8_t *block;

    if (pool->count == BLOCKS_MAX) return NULL;
    if (mem_grow(&blocks, &pool->capacity, pool->count + 1, sizeof pool->blocks[0]) != 0)
        return NULL;
    pool->blocks = blocks;
    block = mem_alloc(nbytes);
    if (block == NULL) return NULL;
    pool->blocks[pool->count++] = block;
    pool->nbytes += nbytes;
    return block;
}

static bool current_make(struct pool *pool, size_t needed)
{
    size_t room = pool->room == 0 ? BLOCK_FIRST : pool->room * 2;

    while (room < needed)
        room *= 2;
    if (room > BLOCK_MAX) room = BLOCK_MAX;
    if (block_add(pool, room) == NULL) return false;
    pool->current = pool->count - 1;
    pool->room = room;
    pool->used = 0;
    return true;
}

static uint8_t *put_length(uint8_t *at, size_t length)
{
    for (; length >= 0x80; length >>= 7)
        *at++ = (uint8_t)(length | 0x80);
    *at++ = (uint8_t)length;
    return at;
}

bool pool_add(struct pool *pool, const uint8_t *data, size_t nbytes, uint32_t *place)
{
    uint8_t length[LENGTH_NBYTES_MAX], *at;
    size_t length_nbytes = (size_t)(put_length(length, nbytes) - length);
    size_t needed = length_nbytes + nbytes;

    if (needed > OWN_BLOCK_NBYTES) {
        at = block_add(pool, needed);
        if (at == NULL) return false;
        *place = (pool->count - 1) << 16;
    } else {
        if (pool->room - pool->used < needed && !current_make(pool, needed)) return false;
        at = pool->blocks[pool->current] + pool->used;
        *place = pool->current << 16 | (uint32_t)pool->used;
        pool->used += needed;
    }
    memcpy(at, length, length_nbytes);
    if (nbytes > 0) memcpy(at + length_nbytes, data, nbytes);
    return true;
}

struct pool_mark pool_mark(const struct pool *pool)
{
    return (struct pool_mark){pool->count, pool->current, pool->room, pool->used, pool->nbytes};
}

void pool_rewind(struct pool *pool, struct pool_mark mark)
{
    assert(mark.count <= pool->count);
    while (pool->count > mark.count)
        mem_free(pool->blocks[--pool->count]);
    pool->current = mark.current;
    pool->room = mark.room;
    pool->used = mark.used;
    pool->nbytes = mark.nbytes;
}

void pool_free(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        mem_free(pool->blocks[i]);
    mem_free(pool->blocks);
    *pool = (struct pool){0};
}
