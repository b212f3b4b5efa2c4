/* large.h - blocks of a mebibyte and more, each a mapping of its own: what is freed goes back to
 * the system at once, whatever the allocator's thresholds have become. Any thread. */
#ifndef PAUA_BASE_LARGE_H
#define PAUA_BASE_LARGE_H

#include <stdbool.h>
#include <stddef.h>

#define LARGE_NBYTES ((size_t)1 << 20)

/* A zeroed block aligned to a page, or NULL: no memory, or as many blocks as there may be. */
void *large_alloc(size_t nbytes);

/* The length of a large block; 0 if the block (any from malloc, or NULL) is none. */
size_t large_nbytes(const void *block);

/* Resizes a large block, which may move; NULL with the block as it was when out of memory. */
void *large_resize(void *block, size_t nbytes);
void large_free(void *block); /* a large block */

#endif
