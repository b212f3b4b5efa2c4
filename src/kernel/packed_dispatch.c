/* packed_dispatch.c - which scans of packed codes go with a tier of kernel.h. */
#include "kernel/kernel.h"
#include "kernel/packed.h"

#if defined(__x86_64__)
static const struct packed_kernels *table_of(const struct kernels *tier)
{
    if (tier == &kernels_avx512) return &packed_kernels_avx512;
    return tier == &kernels_avx2 ? &packed_kernels_avx2 : &packed_kernels_portable;
}
#elif defined(__aarch64__)
static const struct packed_kernels *table_of(const struct kernels *tier)
{
    return tier == &kernels_neon ? &packed_kernels_neon : &packed_kernels_portable;
}
#else
static const struct packed_kernels *table_of(const struct kernels *tier)
{
    (void)tier;
    return &packed_kernels_portable;
}
#endif

const struct packed_kernels *packed_kernels(void) { return table_of(kernels_best()); }

const struct packed_kernels *packed_kernels_at(size_t index)
{
    const struct kernels *tier = kernels_at(index);

    return tier != NULL ? table_of(tier) : NULL;
}
