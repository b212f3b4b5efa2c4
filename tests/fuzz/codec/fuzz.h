/* fuzz.h - what the fuzz targets of decoders share.
 *
 * Each input is tried as it is and once more with its checksum mended (and, for records, its magic
 * and version), since no fuzzer finds a checksum. A decoder either refuses, or what it gives must
 * encode to the very bytes it was given. */
#ifndef PAUA_TESTS_FUZZ_H
#define PAUA_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "codec/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Holds in every build, unlike assert(). */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static inline void fuzz_require_same(const struct writer *w, const uint8_t *data, size_t size)
{
    FUZZ_REQUIRE(w->length == size);
    FUZZ_REQUIRE(memcmp(w->bytes, data, size) == 0);
}

/* Room for a copy of exactly the input's size; freed by the caller. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + (size == 0));

    FUZZ_REQUIRE(copy != NULL);
    if (size > 0) memcpy(copy, data, size);
    return copy;
}

/* Tries a record as it is, and with its header made right. */
static inline void fuzz_record(const uint8_t *data, size_t size, uint32_t magic,
                               void (*try_bytes)(const uint8_t *data, size_t size))
{
    uint8_t *mended;

    try_bytes(data, size);
    if (size < RECORD_HEADER_NBYTES) return;
    mended = fuzz_copy(data, size);
    bytes_put(mended, magic, 4);
    bytes_put(mended + 4, 1, 4);
    bytes_put(mended + 8, crc32c(0, data + RECORD_HEADER_NBYTES, size - RECORD_HEADER_NBYTES), 4);
    try_bytes(mended, size);
    free(mended);
}

#endif
