#include "guarded.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

char *guarded_end(size_t nbytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (nbytes + page - 1) / page * page;
    char *block =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (block == MAP_FAILED || mprotect(block + room, page, PROT_NONE) != 0) abort();
    return block + room;
}

float next_float(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)(*state & 0xffffff00u) / 2147483648.0f;
}
