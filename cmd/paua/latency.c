/* latency.c - how long many calls took, in little memory.
 *
 * What      A histogram over nanoseconds: exact below 64, then each power of two is split evenly
 *           into 64 buckets. A bucket's middle stands for all that fell into it, so a quantile is
 *           off by at most 1/128 of itself.
 * Cost      9.5 KiB and a few instructions a call, however many calls; one a thread, merged at the
 *           end, so that threads share nothing while they are measured.
 * Rejected  An array of all times: a minute of eight threads is tens of megabytes, which would
 *           count as the library's memory. */
#include "latency.h"

#include <assert.h>

#define SPLIT (1u << LATENCY_SPLIT_BITS)

static size_t bucket_of(uint64_t ns)
{
    unsigned doubling;
    size_t bucket;

    if (ns < SPLIT) return (size_t)ns;
    doubling = 63u - (unsigned)__builtin_clzll(ns) - LATENCY_SPLIT_BITS;
    bucket = ((size_t)(doubling + 1) << LATENCY_SPLIT_BITS) + ((ns >> doubling) & (SPLIT - 1));
    return bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
}

static double bucket_middle_ns(size_t bucket)
{
    size_t doubling = bucket >> LATENCY_SPLIT_BITS;
    double first = (double)(SPLIT + (bucket & (SPLIT - 1)));

    if (doubling == 0) return (double)bucket;
    return (first + 0.5) * (double)((uint64_t)1 << (doubling - 1));
}

void latency_add(struct latency *latency, double seconds)
{
    uint64_t ns = seconds > 0 ? (uint64_t)(1e9 * seconds) : 0;

    latency->buckets[bucket_of(ns)]++;
    latency->count++;
    latency->sum_s += seconds;
}

void latency_merge(struct latency *latency, const struct latency *more)
{
    for (size_t i = 0; i < LATENCY_BUCKETS; i++)
        latency->buckets[i] += more->buckets[i];
    latency->count += more->count;
    latency->sum_s += more->sum_s;
}

double latency_quantile_ms(const struct latency *latency, double share)
{
    uint64_t rank = (uint64_t)(share * (double)latency->count);
    uint64_t below = 0;
    size_t bucket = 0;

    if (latency->count == 0) return 0;
    if (rank >= latency->count) rank = latency->count - 1;
    while (below + latency->buckets[bucket] <= rank) {
        below += latency->buckets[bucket];
        bucket++;
        assert(bucket < LATENCY_BUCKETS);
    }
    return 1e-6 * bucket_middle_ns(bucket);
}

double latency_mean_ms(const struct latency *latency)
{
    return latency->count == 0 ? 0 : 1e3 * latency->sum_s / (double)latency->count;
}
