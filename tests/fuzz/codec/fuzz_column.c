/* fuzz_column.c - directories of files of columns. How long the columns are is not in the record:
 * the segment's number stands for it. */
#include "fuzz.h"

#include "codec/column_record.h"

#define MAGIC 0x4C4F4350u /* "PCOL" */

static void try_bytes(const uint8_t *data, size_t size)
{
    struct column_directory value;
    struct writer w = {0};
    uint64_t nbytes = size >= 20 ? bytes_get(data + 12, 8) : 0;

    if (column_directory_decode(data, size, nbytes, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(column_directory_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
    column_directory_free(&value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
