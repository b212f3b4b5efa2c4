/* packed.h - scans of packed codes into bitmaps.
 *
 * Codes of `width` bits (1, 2, 4, 8, 16 or 32), lowest bits first, little-endian; n of them from
 * the start of `codes`. Bit i of the bitmap (word i / 64) tells whether code i passes. All (n + 63)
 * / 64 words are written, bits past n are 0. No alignment is needed, and no byte past the last code
 * is read. */
#ifndef PAUA_KERNEL_PACKED_H
#define PAUA_KERNEL_PACKED_H

#include <stddef.h>
#include <stdint.h>

struct packed_kernels {
    const char *tier;
    /* low <= code <= high, unsigned; both below 2^width. */
    void (*range)(const uint8_t *codes, uint32_t width, size_t n, uint32_t low, uint32_t high,
                  uint64_t *bitmap);
    /* Bit `code` of table is set; table has 2^width bits for width <= 16, else `table_bits`, and
     * codes at or past them do not pass. */
    void (*table)(const uint8_t *codes, uint32_t width, size_t n, const uint8_t *table,
                  uint32_t table_bits, uint64_t *bitmap);
    /* low <= key <= high for little-endian u64 keys. */
    void (*keys)(const uint8_t *keys, size_t n, uint64_t low, uint64_t high, uint64_t *bitmap);
    /* Hashes equal to one value: u32 little-endian. */
    void (*equal32)(const uint8_t *values, size_t n, uint32_t value, uint64_t *bitmap);
};

/* The kernels of the tier that runs, or of kernels_at(index) (kernel/kernel.h). */
const struct packed_kernels *packed_kernels(void);
const struct packed_kernels *packed_kernels_at(size_t index);

extern const struct packed_kernels packed_kernels_portable;
extern const struct packed_kernels packed_kernels_avx2;
extern const struct packed_kernels packed_kernels_avx512;
extern const struct packed_kernels packed_kernels_neon;

#endif
