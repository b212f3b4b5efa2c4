/* pool.h - byte strings that stay where they are, each found by a 32-bit place.
 *
 * A place is the number of a block and an offset in it (16 bits each); there lie a LEB128 length
 * and the bytes. Blocks double from 256 bytes to 64 KiB; a string of more than 16 KiB has its own.
 * Strings are never taken out but all that came after a mark. */
#ifndef PAUA_COLUMN_POOL_H
#define PAUA_COLUMN_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool {
    uint8_t **blocks; /* this array may move, what it points to does not */
    size_t capacity;
    uint32_t count;    /* blocks */
    uint32_t current;  /* block that is being filled */
    size_t room, used; /* of it */
    size_t nbytes;     /* of all blocks */
};

/* False when out of memory, or of blocks: nothing changed. */
bool pool_add(struct pool *pool, const uint8_t *data, size_t nbytes, uint32_t *place);
void pool_free(struct pool *pool);

/* How full a pool is, and going back to that. */
struct pool_mark {
    uint32_t count, current;
    size_t room, used, nbytes;
};
struct pool_mark pool_mark(const struct pool *pool);
void pool_rewind(struct pool *pool, struct pool_mark mark);

static inline void pool_value(const uint8_t *const *blocks, uint32_t place, const uint8_t **data,
                              size_t *nbytes)
{
    const uint8_t *at = blocks[place >> 16] + (place & 0xFFFF);
    size_t length = *at & 0x7F;

    for (unsigned shift = 7; *at++ & 0x80; shift += 7)
        length |= (size_t)(*at & 0x7F) << shift;
    *data = at;
    *nbytes = length;
}

#endif
