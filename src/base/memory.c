/* memory.c - malloc and its kin behind one switch that makes them fail.
 *
 * The switch is one number: 0 while off, otherwise the allocations left until the first failure,
 * that one included; it counts down to 1 and stays there, so that all later ones fail too. While
 * off it costs one relaxed load. An allocation of nothing still gives a block, so that NULL always
 * means failure. Large blocks are mappings (large.h), the others malloc's. */
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/large.h"

static _Atomic uint64_t allocations_left;

static bool refused(void)
{
    uint64_t left = atomic_load_explicit(&allocations_left, memory_order_relaxed);

    while (left > 1)
        if (atomic_compare_exchange_weak_explicit(&allocations_left, &left, left - 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return false;
    if (left == 0) return false;
    errno = ENOMEM;
    return true;
}

void mem_fail_after(uint64_t n)
{
    atomic_store_explicit(&allocations_left, n, memory_order_relaxed);
}

void *mem_alloc(size_t nbytes)
{
    void *block = NULL;

    if (refused()) return NULL;
    if (nbytes >= LARGE_NBYTES) block = large_alloc(nbytes);
    return block != NULL ? block : malloc(nbytes > 0 ? nbytes : 1);
}

void *mem_plain(size_t nbytes) { return refused() ? NULL : malloc(nbytes > 0 ? nbytes : 1); }

void *mem_zalloc(size_t count, size_t nbytes)
{
    void *block = NULL;

    if (refused()) return NULL;
    if (count == 0 || nbytes == 0) return calloc(1, 1);
    if (count > SIZE_MAX / nbytes) return NULL;
    if (count * nbytes >= LARGE_NBYTES) block = large_alloc(count * nbytes);
    return block != NULL ? block : calloc(count, nbytes);
}

/* Another block for these bytes, on the other side of the threshold. */
static void *moved(void *block, size_t had, size_t nbytes)
{
    void *other = nbytes >= LARGE_NBYTES ? large_alloc(nbytes) : malloc(nbytes);

    if (other == NULL) return NULL;
    memcpy(other, block, had < nbytes ? had : nbytes);
    mem_free(block);
    return other;
}

void *mem_realloc(void *block, size_t nbytes)
{
    size_t large = large_nbytes(block);
    void *other = NULL;

    if (refused()) return NULL;
    if (nbytes == 0) nbytes = 1;
    if (large > 0)
        return nbytes >= LARGE_NBYTES ? large_resize(block, nbytes) : moved(block, large, nbytes);
    if (block != NULL && nbytes >= LARGE_NBYTES)
        other = moved(block, malloc_usable_size(block), nbytes);
    return other != NULL ? other : realloc(block, nbytes);
}

void *mem_aligned(size_t alignment, size_t nbytes)
{
    void *block = NULL;

    assert(alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0);
    if (refused()) return NULL;
    if (nbytes >= LARGE_NBYTES && alignment <= 4096) block = large_alloc(nbytes);
    if (block != NULL) return block;
    return posix_memalign(&block, alignment, nbytes > 0 ? nbytes : 1) == 0 ? block : NULL;
}

void *mem_trim(void *block, size_t alignment, size_t nbytes)
{
    void *shorter = mem_realloc(block, nbytes), *aligned;

    if (shorter == NULL) {
        mem_free(block);
        return NULL;
    }
    if (((uintptr_t)shorter & (alignment - 1)) == 0) return shorter;
    aligned = mem_aligned(alignment, nbytes);
    if (aligned != NULL) memcpy(aligned, shorter, nbytes);
    mem_free(shorter);
    return aligned;
}

char *mem_strdup(const char *text) { return mem_dup(text, strlen(text) + 1); }

void *mem_dup(const void *bytes, size_t nbytes)
{
    void *copy = mem_alloc(nbytes);

    assert(bytes != NULL || nbytes == 0);
    if (copy != NULL && nbytes > 0) memcpy(copy, bytes, nbytes);
    return copy;
}

void mem_free(void *block)
{
    if (large_nbytes(block) > 0)
        large_free(block);
    else
        free(block);
}

int mem_grow(void **block, size_t *capacity, size_t needed, size_t each)
{
    size_t room = *capacity <= SIZE_MAX / 2 ? 2 * *capacity : SIZE_MAX;
    void *old, *grown;

    assert(each > 0);
    if (needed <= *capacity) return 0;
    if (room < needed) room = needed;
    if (room < 8) room = 8;
    if (room > PTRDIFF_MAX / each) return -1;

    /* Copied, since the caller's pointer may be of another type than void *. */
    memcpy(&old, block, sizeof old);
    grown = mem_realloc(old, room * each);
    if (grown == NULL) return -1;
    memcpy(block, &grown, sizeof grown);
    *capacity = room;
    return 0;
}
