/* fuzz_header.c - headers of data files: no records, with a checksum of their own. */
#include "fuzz.h"

#include "codec/filehead.h"

#define AT_CRC 60

static void try_bytes(const uint8_t *data, size_t size)
{
    struct file_header value;
    uint8_t again[FILE_HEADER_NBYTES];

    if (file_header_decode(data, size, &value) != PAUA_OK) return;
    file_header_encode(&value, again);
    FUZZ_REQUIRE(memcmp(again, data, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *mended = fuzz_copy(data, size);

    try_bytes(data, size);
    if (size >= FILE_HEADER_NBYTES) bytes_put(mended + AT_CRC, crc32c(0, data, AT_CRC), 4);
    try_bytes(mended, size);
    free(mended);
    return 0;
}
