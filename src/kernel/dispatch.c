/* dispatch.c - the only file that asks what the CPU can do. */
#include "kernel/kernel.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <paua/paua.h>

static bool always(void) { return true; }

#if defined(__x86_64__)
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}

static bool has_avx2(void)
{
    unsigned a, b, c = 0, d; /* clang 14 knows no name for F16C */

    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

/* Best first. A new instruction set is one new file and one new line here. */
static const struct {
    bool (*runs_here)(void);
    const struct kernels *table;
} tiers[] = {
#if defined(__x86_64__)
    {has_avx512, &kernels_avx512},
    {has_avx2, &kernels_avx2},
#elif defined(__aarch64__)
    {always, &kernels_neon}, /* part of the base architecture */
#endif
    {always, &kernels_portable},
};

const struct kernels *kernels_at(size_t index)
{
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++)
        if (tiers[i].runs_here() && index-- == 0) return tiers[i].table;
    return NULL;
}

static const struct kernels *choose(void)
{
    const char *wanted = getenv("PAUA_TIER");

    for (size_t i = 0; wanted != NULL && kernels_at(i) != NULL; i++)
        if (strcmp(kernels_at(i)->tier, wanted) == 0) return kernels_at(i);
    return kernels_at(0);
}

const struct kernels *kernels_best(void)
{
    static _Atomic(const struct kernels *) chosen;
    const struct kernels *table = atomic_load_explicit(&chosen, memory_order_acquire);

    if (table == NULL) { /* two threads may both choose; they choose alike */
        table = choose();
        atomic_store_explicit(&chosen, table, memory_order_release);
    }
    return table;
}

const char *paua_tier(void) { return kernels_best()->tier; }
