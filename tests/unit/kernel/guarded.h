/* guarded.h - memory whose end is watched: one byte past it, read or written, is a fault. */
#ifndef PAUA_TESTS_KERNEL_GUARDED_H
#define PAUA_TESTS_KERNEL_GUARDED_H

#include <stddef.h>
#include <stdint.h>

/* Maps room for nbytes with a forbidden page behind it and returns its end: the caller lays its
 * data out right before that. Ends the process when there is no memory. Never freed. */
char *guarded_end(size_t nbytes);

/* Uniform in [-1, 1); the same sequence for the same seed. */
float next_float(uint32_t *state);

#endif
