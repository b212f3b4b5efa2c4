/* code_dispatch.c - which kernels over codes go with a tier of kernel.h. */
#include "kernel/code.h"
#include "kernel/kernel.h"

#if defined(__x86_64__)
static const struct code_kernels *table_of(const struct kernels *tier)
{
    if (tier == &kernels_avx512 && __builtin_cpu_supports("avx512vnni"))
        return &code_kernels_avx512;
    if (tier == &kernels_avx512 || tier == &kernels_avx2) return &code_kernels_avx2;
    return &code_kernels_portable;
}
#elif defined(__aarch64__)
static const struct code_kernels *table_of(const struct kernels *tier)
{
    return tier == &kernels_neon ? &code_kernels_neon : &code_kernels_portable;
}
#else
static const struct code_kernels *table_of(const struct kernels *tier)
{
    (void)tier;
    return &code_kernels_portable;
}
#endif

const struct code_kernels *code_kernels_best(void) { return table_of(kernels_best()); }

const struct code_kernels *code_kernels_at(size_t index)
{
    const struct kernels *tier = kernels_at(index);

    return tier != NULL ? table_of(tier) : NULL;
}
