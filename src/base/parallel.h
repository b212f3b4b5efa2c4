/* parallel.h - the same function on several threads, and done. */
#ifndef PAUA_BASE_PARALLEL_H
#define PAUA_BASE_PARALLEL_H

#include <stdint.h>

/* Cores this process may run on, at least 1. */
uint32_t parallel_cores(void);

/* Runs work(arg, 0) .. work(arg, threads - 1), the last on the calling thread, and waits for all.
 * Where a thread cannot be started its share runs on the calling thread. Worker indices are passed
 * once each. work divides the load itself (an atomic cursor). Signals are blocked in workers. */
void parallel_run(uint32_t threads, void (*work)(void *arg, uint32_t worker), void *arg);

#endif
