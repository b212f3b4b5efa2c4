/* crc32c.h - the Castagnoli CRC (RFC 3720, appendix B.4), in hardware where there is some. */
#ifndef PAUA_BASE_CRC32C_H
#define PAUA_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC of the bytes seen so far followed by these; start with crc = 0. Pure; any thread. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t length);

/* The same by tables alone: what the hardware is compared with in tests. */
uint32_t crc32c_portable(uint32_t crc, const void *bytes, size_t length);

#endif
