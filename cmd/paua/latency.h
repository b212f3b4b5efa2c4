/* latency.h - how long many calls took, in little memory. */
#ifndef PAUA_CMD_LATENCY_H
#define PAUA_CMD_LATENCY_H

#include <stddef.h>
#include <stdint.h>

/* 64 buckets for each doubling from 64 ns up to an hour: a quantile is right within 1 %. */
#define LATENCY_SPLIT_BITS 6u
#define LATENCY_DOUBLINGS 36u
#define LATENCY_BUCKETS ((LATENCY_DOUBLINGS + 1u) << LATENCY_SPLIT_BITS)

struct latency {
    uint64_t count;
    double sum_s;
    uint32_t buckets[LATENCY_BUCKETS];
};

void latency_add(struct latency *latency, double seconds);

/* Adds all of `more`. */
void latency_merge(struct latency *latency, const struct latency *more);

/* Milliseconds that a share (0 to 1) of the calls did not exceed, and of the mean; 0 if none. */
double latency_quantile_ms(const struct latency *latency, double share);
double latency_mean_ms(const struct latency *latency);

#endif
