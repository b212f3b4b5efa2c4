/* arena.h - many small blocks that live and die together; their addresses never move. */
#ifndef PAUA_BASE_ARENA_H
#define PAUA_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *newest; /* zero-initialized: empty */
    size_t nbytes;              /* held from the heap */
};

/* Uninitialized, 8-byte aligned, valid until arena_reset or arena_free; NULL when out of memory. */
void *arena_alloc(struct arena *arena, size_t nbytes);
void *arena_copy(struct arena *arena, const void *bytes, size_t nbytes);

/* Forgets every block but keeps the newest one's memory for the next use. */
void arena_reset(struct arena *arena);
void arena_free(struct arena *arena);

#endif
