/* large.c - see large.h.
 *
 * malloc raises its threshold for mappings to the size of what was last freed, up to 32 MiB; then a
 * build's arrays come from the heap, and stay there when they are freed: 28 MiB after a graph of
 * 100,000 rows. The threshold belongs to the program, so a library does not set it.
 *
 * The few large blocks there are stand in one table. Mappings are aligned to pages, which blocks of
 * malloc seldom are: only one free in 256 looks into the table.
 * Under AddressSanitizer there are no large blocks, so that every one has its red zones. */
#include "base/large.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#define BLOCKS_MAX 256
#define PAGE_NBYTES 4096u

#if defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static struct {
    const void *block; /* NULL: a free place */
    size_t nbytes;
} table[BLOCKS_MAX];
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;

/* The place of a block; NULL: the first free one; BLOCKS_MAX: there is none. With the mutex. */
static int place_of(const void *block)
{
    int place = 0;

    while (place < BLOCKS_MAX && table[place].block != block)
        place++;
    return place;
}

void *large_alloc(size_t nbytes)
{
    void *block = NULL;
    int place;

    if (SANITIZED) return NULL;
    pthread_mutex_lock(&table_mutex);
    place = place_of(NULL);
    if (place < BLOCKS_MAX) {
        block = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) block = NULL;
    }
    if (block != NULL) {
        table[place].block = block;
        table[place].nbytes = nbytes;
    }
    pthread_mutex_unlock(&table_mutex);
    return block;
}

size_t large_nbytes(const void *block)
{
    size_t nbytes = 0;
    int place;

    if (block == NULL || (uintptr_t)block % PAGE_NBYTES != 0) return 0;
    pthread_mutex_lock(&table_mutex);
    place = place_of(block);
    if (place < BLOCKS_MAX) nbytes = table[place].nbytes;
    pthread_mutex_unlock(&table_mutex);
    return nbytes;
}

void *large_resize(void *block, size_t nbytes)
{
    void *moved;
    int place;

    pthread_mutex_lock(&table_mutex);
    place = place_of(block);
    moved = mremap(block, table[place].nbytes, nbytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) {
        moved = NULL;
    } else {
        table[place].block = moved;
        table[place].nbytes = nbytes;
    }
    pthread_mutex_unlock(&table_mutex);
    return moved;
}

void large_free(void *block)
{
    int place;

    pthread_mutex_lock(&table_mutex);
    place = place_of(block);
    munmap(block, table[place].nbytes);
    table[place].block = NULL;
    pthread_mutex_unlock(&table_mutex);
}
