/* arena.c - blocks of at least 4 KiB, doubling up to 256 KiB; a larger request gets its own. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

#define BLOCK_FIRST 4096u
#define BLOCK_MAX (256u << 10)

struct arena_block {
    struct arena_block *older;
    size_t capacity;
    size_t used;
    max_align_t bytes[];
};

static struct arena_block *block_add(struct arena *arena, size_t needed)
{
    size_t capacity = arena->newest == NULL ? BLOCK_FIRST : arena->newest->capacity * 2;
    struct arena_block *block;

    if (capacity > BLOCK_MAX) capacity = BLOCK_MAX;
    if (capacity < needed) capacity = needed;
    block = mem_alloc(sizeof *block + capacity);
    if (block == NULL) return NULL;
    *block = (struct arena_block){.older = arena->newest, .capacity = capacity};
    arena->newest = block;
    arena->nbytes += sizeof *block + capacity;
    return block;
}

void *arena_alloc(struct arena *arena, size_t nbytes)
{
    struct arena_block *block = arena->newest;
    size_t rounded = (nbytes + 7) & ~(size_t)7;
    uint8_t *at;

    if (rounded < nbytes) return NULL;
    if (block == NULL || block->capacity - block->used < rounded) block = block_add(arena, rounded);
    if (block == NULL) return NULL;
    at = (uint8_t *)block->bytes + block->used;
    block->used += rounded;
    return at;
}

void *arena_copy(struct arena *arena, const void *bytes, size_t nbytes)
{
    void *copy = arena_alloc(arena, nbytes);

    if (copy != NULL && nbytes > 0) memcpy(copy, bytes, nbytes);
    return copy;
}

static void free_from(struct arena *arena, struct arena_block *block)
{
    while (block != NULL) {
        struct arena_block *older = block->older;

        arena->nbytes -= sizeof *block + block->capacity;
        mem_free(block);
        block = older;
    }
}

void arena_reset(struct arena *arena)
{
    if (arena->newest == NULL) return;
    free_from(arena, arena->newest->older);
    arena->newest->older = NULL;
    arena->newest->used = 0;
}

void arena_free(struct arena *arena)
{
    free_from(arena, arena->newest);
    arena->newest = NULL;
}
