/* encode_dispatch.c - which kernels that make codes go with a tier of kernel.h. */
#include "kernel/encode.h"
#include "kernel/kernel.h"

static const struct encode_kernels *table_of(const struct kernels *tier)
{
#if defined(__x86_64__)
    if (tier == &kernels_avx512 && __builtin_cpu_supports("avx512dq"))
        return &encode_kernels_avx512;
    if (tier == &kernels_avx512 || tier == &kernels_avx2) return &encode_kernels_avx2;
#else
    (void)tier;
#endif
    return &encode_kernels_portable;
}

const struct encode_kernels *encode_kernels_best(void) { return table_of(kernels_best()); }

const struct encode_kernels *encode_kernels_at(size_t index)
{
    const struct kernels *tier = kernels_at(index);

    return tier != NULL ? table_of(tier) : NULL;
}
