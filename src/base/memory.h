/* memory.h - the only way to the heap, so that tests can make the n-th allocation fail. */
#ifndef PAUA_BASE_MEMORY_H
#define PAUA_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t nbytes);                     /* uninitialized; NULL on failure */
void *mem_zalloc(size_t count, size_t nbytes);      /* zeroed; overflow-checked */
void *mem_realloc(void *block, size_t nbytes);      /* block stays valid on failure */
void *mem_aligned(size_t alignment, size_t nbytes); /* freed by mem_free */
char *mem_strdup(const char *text);
void *mem_dup(const void *bytes, size_t nbytes);
/* Shortens a block of mem_aligned, which may move and keeps its alignment. NULL when out of memory:
 * the block is then gone. */
void *mem_trim(void *block, size_t alignment, size_t nbytes);
void mem_free(void *block);

/* For what a user of the library is to free(): malloc's own block, whatever its size. */
void *mem_plain(size_t nbytes);

/* Grows *block (elements of `each` bytes, *capacity of them) to hold at least `needed`, doubling.
 * Returns 0, or -1 with nothing changed. */
int mem_grow(void **block, size_t *capacity, size_t needed, size_t each);

/* Tests only: the n-th allocation from now on (1 = the next), and all after it, fail; 0 stops. */
void mem_fail_after(uint64_t n);

#endif
