/* keys_dispatch.c - which sorting and merging of keys goes with a tier of kernel.h. */
#include "kernel/kernel.h"
#include "kernel/keys.h"

static const struct keys_kernels *table_of(const struct kernels *tier)
{
#if defined(__x86_64__)
    if (tier == &kernels_avx512) return &keys_kernels_avx512;
#endif
    (void)tier;
    return &keys_kernels_portable;
}

const struct keys_kernels *keys_kernels_best(void) { return table_of(kernels_best()); }

const struct keys_kernels *keys_kernels_at(size_t index)
{
    const struct kernels *tier = kernels_at(index);

    return tier != NULL ? table_of(tier) : NULL;
}
