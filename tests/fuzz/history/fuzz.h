/* fuzz.h - what the fuzz targets of histories share. */
#ifndef PAUA_TESTS_FUZZ_HISTORY_H
#define PAUA_TESTS_FUZZ_HISTORY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Holds in every build, unlike assert(). */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A copy of exactly the input's size; freed by the caller. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = calloc(size == 0 ? 1 : size, 1);

    FUZZ_REQUIRE(copy != NULL);
    if (size > 0) memcpy(copy, data, size);
    return copy;
}

#endif
